#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reserved IP addresses of MAAS."""

from __future__ import annotations

DOCUMENTATION = r"""
module: ip_reservation
short_description: Reserve IP addresses in MAAS
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Reserves addresses, so that MAAS gives them to no machine, or so that its DHCP gives each to one MAC address only.
  - An address that somebody has is refused with the name of who it is. So are the network and broadcast address and the
    gateway of a subnet, addresses in a dynamic range, and with O(type=user) those in a reserved range, which MAAS gives
    to nobody anyway.
  - With O(type=dhcp), the task warns of an address in a subnet to which the machine of O(mac_address) has no link, for
    MAAS refuses to deploy it then.
  - All addresses are looked up before the first one is reserved. One that is not available fails alone; the others
    proceed, and the task fails at the end.
extends_documentation_fragment:
  - metalshift.maas.attributes
  - metalshift.maas.attributes.actiongroup_maas
  - metalshift.maas.maas
  - metalshift.maas.plan
options:
  addresses:
    description:
      - The addresses. An element is one address, such as V(10.0.0.5), a range such as V(10.0.0.60-10.0.0.69), or all
        addresses of a network such as V(10.0.0.64/28).
      - An element may also be a dictionary with such an C(ip_address) (also C(ip)), and any other option of this module
        but those that reach MAAS. The task's options are the defaults of all addresses.
    type: list
    elements: raw
    required: true
  type:
    description:
      - V(user) reserves the address for the user of the API key, for use outside of MAAS or for later.
      - V(dhcp) makes MAAS's DHCP give the address to O(mac_address), and to nobody else. It needs MAAS 3.6 or later.
    type: str
    choices: [user, dhcp]
    default: user
  mac_address:
    description:
      - The MAC address that gets the address. Kept as it is if not set.
      - Required for O(type=dhcp). With O(type=user) it must not be one of a machine or device that MAAS has.
    type: str
  hostname:
    description:
      - A name that stands for the address in DNS, with its domain, or in MAAS's default domain.
      - The address keeps other names that it has, and the name other addresses. MAAS removes the address from all
        names when the reservation is removed.
      - Only for O(type=user).
    type: str
  comment:
    description: What the reservation is for. Kept as it is if not set. Only for O(type=dhcp).
    type: str
  replace:
    description:
      - Whether a reservation with another MAC address may be removed and made anew, since MAAS cannot change it.
      - Without it, such an address is refused.
    type: bool
    default: false
  state:
    description:
      - V(present) makes sure that the addresses are reserved.
      - V(absent) makes sure that they are not. An address that is reserved by another user is refused; one that a
        machine has is left to it. With O(mac_address), only a reservation for that one is removed.
    type: str
    choices: [present, absent]
    default: present
seealso:
  - module: metalshift.maas.interface_link
  - module: metalshift.maas.dns_record
"""

EXAMPLES = r"""
- name: Addresses for the load balancer, and some for later
  metalshift.maas.ip_reservation:
    addresses:
      - ip_address: 10.99.0.50
        hostname: api.lab.example.com
      - 10.99.0.60-10.99.0.69

- name: Printers get always the same addresses from DHCP
  metalshift.maas.ip_reservation:
    type: dhcp
    addresses:
      - ip_address: 10.99.0.80
        mac_address: "52:54:00:12:34:56"
        comment: second floor
      - ip_address: 10.99.0.81
        mac_address: "52:54:00:12:34:57"

- name: They are free again
  metalshift.maas.ip_reservation:
    addresses: [10.99.0.60-10.99.0.69]
    state: absent
"""

RETURN = r"""
ip_reservations:
  description:
    - The reservations as they are now, or as they would be in check mode, in the order in which they were named.
    - Each has C(ip), C(type), its C(subnet), the C(mac_address), its C(names) in DNS, the C(comment), and C(changed).
    - One that failed has C(failed) and a C(failure) with C(kind), C(object), C(reason), C(hint) and C(status).
    - Of an address that is not reserved, all but C(ip), C(type) and C(changed) is null or empty.
  returned: always
  type: list
  elements: dict
  sample:
    - ip: 10.99.0.50
      type: user
      subnet: 10.99.0.0/24
      mac_address:
      names: [api.lab.example.com]
      comment: ""
      changed: true
ip_reservation:
  description: The reservation, when the task names exactly one address.
  returned: when there is one
  type: dict
  sample:
    ip: 10.99.0.80
    type: dhcp
    subnet: 10.99.0.0/24
    mac_address: "52:54:00:12:34:56"
    names: []
    comment: second floor
    changed: false
summary:
  description: How many of the addresses are reserved (C(present)), are not (C(absent)), and C(failed).
  returned: always
  type: dict
  sample: {present: 11}
plan:
  description:
    - What the task did, in check mode what it would do; one element an action, in their order. Empty if there is
      nothing to change. A task that failed may not have come to all of them.
    - Fields whose values are secret are left out or masked, and so are those that stay as they are.
  returned: always, but for wrong input
  type: list
  elements: dict
  contains:
    action:
      description: What is done, such as V(create), V(update), V(delete), V(enlist), V(deploy) or V(release).
      type: str
    object:
      description: To which object.
      type: str
    reason:
      description: Why. Empty if the task asks for just that.
      type: str
    before:
      description: The fields that change, as they are.
      type: dict
    after:
      description: The same fields as they will be; null where only the server knows it in advance.
      type: dict
"""

from ansible_collections.metalshift.maas.plugins.module_utils._core.contract import run
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Options, Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.entries import AddressEngine

# What holds for each address: an option of the task is the default of all its addresses.
EACH: Options = {
    "type": {"type": "str", "choices": ["user", "dhcp"], "default": "user"},
    "mac_address": {"type": "str"},
    "hostname": {"type": "str"},
    "comment": {"type": "str"},
    "replace": {"type": "bool", "default": False},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
}

SPEC = Spec(
    options={"addresses": {"type": "list", "elements": "raw", "required": True}, **EACH},
    elements={"addresses": {"ip_address": {"type": "str"}, "ip": {"type": "str"}, **EACH}},
)


def converge(task: Task) -> Result:
    """Bring the reservations of the named addresses to the wished state."""
    return run(AddressEngine(task, EACH), task)


def main() -> None:
    run_as_module(SPEC, converge, "ip_reservation")


if __name__ == "__main__":
    main()
