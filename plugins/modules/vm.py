#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual machines on LXD hosts."""

from __future__ import annotations

DOCUMENTATION = r"""
module: vm
short_description: Make and remove one VM on an LXD host
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Makes a VM on a host that has room for it, has MAAS commission it, and removes it from MAAS and LXD.
  - The hostname is its identity. A run that was killed, wherever that was, is repaired by running the task again.
  - A VM of an LXD host that runs and that MAAS does not know is left alone, and named, since MAAS would restart it. So
    are the disks of a VM that somebody removed in LXD.
  - A VM that exists stays where it is. Its zone, pool, domain and tags are changed.
  - Its cores, memory, pinned cores and huge pages are changeable with O(via=lxd) when it is stopped. MAAS learns the
    new size by commissioning it, which is done at once if it is ready, and by the next run when it is ready again.
  - Disks are not changeable, and with O(via=maas) no size is, because MAAS cannot change it. What cannot be changed is
    refused with what there is.
  - For several VMs of a kind there is M(metalshift.maas.vm_set), which spreads them. To deploy a VM, use
    M(metalshift.maas.machine).
extends_documentation_fragment:
  - metalshift.maas.attributes
  - metalshift.maas.attributes.actiongroup_maas_lxd
  - metalshift.maas.vm_options
  - metalshift.maas.wait
  - metalshift.maas.maas
  - metalshift.maas.lxd
  - metalshift.maas.plan
options:
  hostname:
    description: The hostname, without a domain. LXD takes small letters, digits and hyphens, and a letter first.
    type: str
    required: true
  state:
    description:
      - V(present) makes the VM if there is none, and waits until MAAS has commissioned it.
      - V(absent) releases and removes it, with its disks and its addresses.
    type: str
    choices: [present, absent]
    default: present
  pinned_cores:
    description: The cores of the host, by number, that the VM gets for itself. They say O(cores), too.
    type: list
    elements: int
  interfaces:
    description:
      - The interfaces. If not set, a new VM has one on a network of its host that has DHCP.
      - Where each is attached is said by one of O(interfaces[].subnet), O(interfaces[].vlan) and
        O(interfaces[].space), or by a static address alone. Only hosts that are on all of these networks are chosen.
    type: list
    elements: dict
    suboptions:
      subnet:
        description: The subnet, by its CIDR, name or id.
        type: str
      vlan:
        description: The VLAN, by its name, C(vid:10) or id.
        type: str
      space:
        description: The space, by its name.
        type: str
      ip_address:
        description:
          - V(auto) is an address that MAAS chooses when the VM is deployed, V(dhcp) one by DHCP.
          - An address is static, and stays with the VM until it is removed. One that somebody has is refused with the
            name of who it is, before anything is made.
        type: str
        default: auto
        aliases: [ip]
      parent:
        description:
          - The interface of the host, or with O(via=lxd) the network of LXD, that it hangs on. If not set, a bridge on
            the network that is asked for, before any other interface there.
          - With O(via=lxd), an interface that is a port of a bridge stands for the bridge.
        type: str
  take_over:
    description:
      - Whether a VM is removed although another claim or a hosted cluster holds it.
    type: bool
    default: false
seealso:
  - module: metalshift.maas.vm_set
  - module: metalshift.maas.vm_host
  - module: metalshift.maas.machine
"""

EXAMPLES = r"""
- name: A VM with two disks and a static address
  metalshift.maas.vm:
    hostname: bastion
    cores: 2
    memory: 4GiB
    disks:
      - size: 20GB
      - {size: 100GB, tags: [data]}
    interfaces:
      - ip_address: 10.99.0.61

- name: One that has cores of its own, on a host of a certain zone
  metalshift.maas.vm:
    hostname: router
    cores: 2
    pinned: true
    host_zones: [az1]
    tags: [network]

- name: Remove it, with its disks
  metalshift.maas.vm:
    hostname: bastion
    state: absent
"""

RETURN = r"""
vm:
  description:
    - The VM as MAAS has it now, or as it would be in check mode. Empty when it is absent.
  returned: success, and where MAAS knows more about a failure
  type: dict
  contains:
    changed:
      description: "Whether this task changed it."
      type: bool
    predicted:
      description: "True in check mode for what would change."
      type: bool
    failed:
      description: "True if it failed."
      type: bool
    failure:
      description: "Why it failed, with C(kind), C(object), C(reason), C(hint), C(status), C(fields) and C(events)."
      type: dict
    vm_host:
      description: "The VM host or LXD that it is on."
      type: str
    system_id:
      description: "MAAS's own name of it."
      type: str
    hostname:
      description: "The host name."
      type: str
    fqdn:
      description: "The host name with its domain."
      type: str
    status_name:
      description: "The status, as MAAS shows it."
      type: str
    status_message:
      description: "What MAAS says of the status."
      type: str
    power_state:
      description: "Whether it is on, as far as MAAS knows."
      type: str
    power_type:
      description: "How MAAS switches it."
      type: str
    owner:
      description: "The user of MAAS who holds it."
      type: str
    architecture:
      description: "Such as V(amd64/generic)."
      type: str
    cpu_count:
      description: "The number of its cores."
      type: int
    memory:
      description: "Its memory in MiB."
      type: int
    storage:
      description: "The size of its disks in MB."
      type: float
    osystem:
      description: "The operating system that it runs or is deployed with."
      type: str
    distro_series:
      description: "The release of that, such as V(noble)."
      type: str
    hwe_kernel:
      description: "The kernel of that."
      type: str
    ip_addresses:
      description: "Its addresses. Empty if there is none, or in check mode if none is known yet."
      type: list
      elements: str
    tag_names:
      description: "Its tags. In check mode those that MAAS gives by itself are not known yet."
      type: list
      elements: str
    locked:
      description: "Whether it is locked."
      type: bool
    description:
      description: "What somebody wrote of it."
      type: str
    workload_annotations:
      description: "The annotations of its workload."
      type: dict
    zone:
      description: "Its availability zone."
      type: str
    pool:
      description: "Its resource pool."
      type: str
    domain:
      description: "Its domain in DNS."
      type: str
    mac_addresses:
      description: "The MAC addresses of its interfaces."
      type: list
      elements: str
    claim:
      description: "The claim that it is marked with."
      type: str
  sample:
    hostname: bastion
    system_id: abc123
    status_name: Ready
    vm_host: kvm1
    cpu_count: 2
    memory: 4096
    zone: az1
    pool: default
    ip_addresses: [10.99.0.61]
    changed: true
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
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module
from ansible_collections.metalshift.maas.plugins.module_utils._core.wait import WAIT_OPTIONS
from ansible_collections.metalshift.maas.plugins.module_utils._vms.choice import VIA_OPTIONS
from ansible_collections.metalshift.maas.plugins.module_utils._vms.placement_rules import PLACING_OPTIONS
from ansible_collections.metalshift.maas.plugins.module_utils._vms.template import INTERFACE_OPTIONS, TEMPLATE_OPTIONS
from ansible_collections.metalshift.maas.plugins.module_utils._vms.vm import vm

SPEC = Spec(
    options={
        "hostname": {"type": "str", "required": True},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        **TEMPLATE_OPTIONS,
        "pinned_cores": {"type": "list", "elements": "int"},
        "interfaces": {"type": "list", "elements": "dict", "options": INTERFACE_OPTIONS},
        **PLACING_OPTIONS,
        **VIA_OPTIONS,
        "take_over": {"type": "bool", "default": False},
        **WAIT_OPTIONS,
    },
    lxd=True,
)


def converge(task: Task) -> Result:
    """Bring the VM to what is wished of it."""
    return run(vm(task), task)


def main() -> None:
    run_as_module(SPEC, converge, "vm")


if __name__ == "__main__":
    main()
