#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Links of interfaces of MAAS's machines and devices."""

from __future__ import annotations

DOCUMENTATION = r"""
module: interface_link
short_description: Link interfaces of machines to subnets of MAAS
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Gives an interface of a machine or device its link to a subnet, with a static address, one that MAAS chooses at the
    deployment, or one by DHCP.
  - An interface has one link to a subnet. Another mode or address takes the place of the present one. Links to other
    subnets stay, unless O(purge_links=true).
  - An address that somebody has is refused with the name of who it is. So are the network and broadcast address and the
    gateway of a subnet, and addresses in a dynamic range.
  - MAAS changes links only while a machine is New, Ready, Allocated or Broken. A link that is as wished is fine in any
    state.
  - Commissioning configures a machine's interfaces anew, so links are made after it. A release keeps them; they go with
    the machine, and their addresses with them.
extends_documentation_fragment:
  - metalshift.maas.attributes
  - metalshift.maas.attributes.actiongroup_maas
  - metalshift.maas.maas
  - metalshift.maas.plan
options:
  machine:
    description: The machine, by its hostname, FQDN, system_id or MAC address.
    type: str
  device:
    description: A device of MAAS in place of a machine, named alike. It takes O(mode=static) only.
    type: str
  interface:
    description: The interface, by its name or MAC address.
    type: str
    required: true
  subnet:
    description:
      - The subnet, by its CIDR, name or id, or another of MAAS's specifiers such as V(vid:10).
      - Not needed with O(ip_address), which is looked for among the subnets of MAAS.
    type: str
  mode:
    description:
      - V(static) is one address from now on, O(ip_address) or one that MAAS chooses.
      - V(auto) is an address that MAAS chooses at each deployment.
      - V(dhcp) is an address by DHCP. An interface has one such link.
      - V(link_up) switches the interface on without an address, and takes no O(subnet). It stands alone.
      - Required for O(state=present).
    type: str
    choices: [static, auto, dhcp, link_up]
  ip_address:
    description:
      - The address of a static link. If not set, MAAS chooses one, and a later run keeps it.
      - With O(state=absent), only a link with this address is removed.
    type: str
    aliases: [ip]
  default_gateway:
    description:
      - Whether the gateway of the subnet becomes the machine's default one. V(false) leaves that as it is.
      - A link that takes the place of the default one becomes that itself.
    type: bool
    default: false
  take_reserved:
    description:
      - Whether an address that the user of the API key has reserved is released for the link. MAAS gives no reserved
        address to an interface, and does not do both in one request.
      - A reservation that has a name in DNS other than the machine's own is refused even so, for MAAS drops the name
        with it.
    type: bool
    default: false
  change_vlan:
    description:
      - Whether the interface is moved to the VLAN of the subnet, if MAAS has it on another. All its links go then.
      - This tells MAAS what is plugged in where. It changes no switch.
    type: bool
    default: false
  purge_links:
    description:
      - Whether all other links of the interface are removed.
      - With O(state=absent), all links are.
    type: bool
    default: false
    aliases: [purge]
  state:
    description:
      - V(present) makes sure that there is such a link.
      - V(absent) makes sure that there is none with O(subnet) and O(ip_address), of which one is enough.
    type: str
    choices: [present, absent]
    default: present
seealso:
  - module: metalshift.maas.ip_reservation
  - module: metalshift.maas.machine
"""

EXAMPLES = r"""
- name: A fixed address, which is also the way out
  metalshift.maas.interface_link:
    machine: node-1
    interface: eth0
    mode: static
    ip_address: 10.99.0.51
    default_gateway: true

- name: The second interface gets an address from MAAS at each deployment, and has no other link
  metalshift.maas.interface_link:
    machine: node-1
    interface: "52:54:00:12:34:02"
    subnet: 10.20.0.0/24
    mode: auto
    purge_links: true

- name: Each of three machines gets the address that was reserved for it
  metalshift.maas.interface_link:
    machine: "{{ item.machine }}"
    interface: eth0
    mode: static
    ip_address: "{{ item.ip }}"
    take_reserved: true
  loop:
    - {machine: cp-1, ip: 10.99.0.61}
    - {machine: cp-2, ip: 10.99.0.62}
    - {machine: cp-3, ip: 10.99.0.63}

- name: No link to the storage network
  metalshift.maas.interface_link:
    machine: node-1
    interface: eth1
    subnet: storage
    state: absent
"""

RETURN = r"""
interface_link:
  description:
    - The link as it is now, or as it would be in check mode. Empty when it is absent.
    - An address that MAAS has not chosen yet is null.
  returned: success
  type: dict
  contains:
    machine:
      description: The hostname of the machine or device.
      type: str
      sample: node-1
    system_id:
      description: Its id in MAAS.
      type: str
      sample: 4y3h7n
    interface:
      description: The name of the interface.
      type: str
      sample: eth0
    mac_address:
      description: The MAC address of the interface.
      type: str
      sample: "52:54:00:12:34:01"
    mode:
      description: How the interface gets its address.
      type: str
      sample: static
    ip_address:
      description: The address.
      type: str
      sample: 10.99.0.51
    subnet:
      description: The subnet, by its CIDR.
      type: str
      sample: 10.99.0.0/24
    default_gateway:
      description: Whether the machine's default gateway is set to that of this link.
      type: bool
      sample: true
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

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.contract import Outcome, run
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses import linking
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.pure import links
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.survey import AddressSurvey
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import lacking

SPEC = Spec(
    options={
        "machine": {"type": "str"},
        "device": {"type": "str"},
        "interface": {"type": "str", "required": True},
        "subnet": {"type": "str"},
        "mode": {"type": "str", "choices": ["static", "auto", "dhcp", "link_up"]},
        "ip_address": {"type": "str", "aliases": ["ip"]},
        "default_gateway": {"type": "bool", "default": False},
        "take_reserved": {"type": "bool", "default": False},
        "change_vlan": {"type": "bool", "default": False},
        "purge_links": {"type": "bool", "default": False, "aliases": ["purge"]},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    },
    required_one_of=[("machine", "device")],
    mutually_exclusive=[("machine", "device")],
    required_if=[("state", "present", ("mode",))],
    predictable=frozenset({"machine", "device", "ip_address"}),
)


@dataclass(frozen=True)
class LinkState:
    """What is decided for an interface, and its link as results show it."""

    decided: linking.InterfacePlan
    shown: dict[str, Any]
    warnings: Sequence[str] = ()


class LinkEngine:
    """The link of one interface of a machine or a device."""

    def __init__(self, task: Task) -> None:
        self.maas, self.params, self.check = task.maas, task.params, task.check
        links.check_options(task.params)
        self.survey = AddressSurvey(task.maas)
        self.linking = linking.Linking(task.maas, self.survey)

    def read(self) -> LinkState:
        options, nic = self.params, linking.find(self.maas, self.params, check=self.check)
        if options["state"] == "absent":
            decided = self.linking.foresee_removal(nic, options)
            return LinkState(decided, decided.shown)
        wished = linking.wished(self.survey, options, nic)
        decided = self.linking.foresee(nic, wished, take_reserved=options["take_reserved"])
        unknown = [] if nic.system_id else [lacking(nic.node, "device" if options["device"] else "machine")]
        return LinkState(decided, decided.shown, unknown)

    def plan(self, current: LinkState) -> Plan:
        return current.decided.plan

    def predict(self, current: LinkState, plan: Plan) -> LinkState:
        return replace(current, shown={**current.shown, "predicted": True} if current.shown else {})

    def apply(self, current: LinkState, plan: Plan) -> LinkState:
        return replace(current, shown=self.linking.carry_out(current.decided))

    def result(self, current: LinkState) -> Outcome:
        return Outcome({"interface_link": current.shown}, current.warnings)


def converge(task: Task) -> Result:
    """Bring the link of one interface to the wished state."""
    return run(LinkEngine(task), task)


def main() -> None:
    run_as_module(SPEC, converge, "interface_link")


if __name__ == "__main__":
    main()
