#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sets of virtual machines, spread over LXD hosts."""

from __future__ import annotations

DOCUMENTATION = r"""
module: vm_set
short_description: Make, scale and remove a number of VMs, spread over LXD hosts
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Makes as many VMs as wished, spread over the hosts that have room for them, has MAAS commission them, and removes
    those that are too many.
  - The VMs are called like the set with a number, C(cp-1), C(cp-2) and so on. By these names a run finds what an
    earlier one made, also one that was killed, wherever that was. There is no state file.
  - Where the VMs go is decided before anything is made. Check mode shows it. The same question always has the same
    answer, and nothing that exists is moved or made anew.
  - A host is never filled beyond its cores, memory and storage pools, over-commit included. If there is not room for
    all, nothing is made, and the message says for every host why not.
  - A VM of the same name that another claim or another user holds is never touched. With O(via=lxd) this is also true
    of a VM that M(metalshift.maas.vm) made.
  - Where two LXD hosts have a VM of one name, the one that MAAS means is the one of the set. Of the others only those
    are removed that a killed run left half made. All else is left alone, and named with both places.
  - A VM of an LXD host that runs and that MAAS does not know is left alone, and named, since MAAS would restart it. So
    are the disks of a VM that somebody removed in LXD. Its machine is named in a warning, and is the first that a
    smaller O(count) removes.
extends_documentation_fragment:
  - metalshift.maas.attributes
  - metalshift.maas.attributes.actiongroup_maas_lxd
  - metalshift.maas.vm_options
  - metalshift.maas.wait
  - metalshift.maas.maas
  - metalshift.maas.lxd
  - metalshift.maas.plan
options:
  claim:
    description:
      - The name of the set. The hostnames of its VMs begin with it, so it is made of small letters, digits and hyphens.
      - A claim under which M(metalshift.maas.machine) then deploys the VMs must be the same.
    type: str
    required: true
  count:
    description:
      - How many VMs the set is to have, at most 10000. Needed unless O(state=absent).
      - If it has more, those on hosts that are closed to new VMs are removed first, then those with the
        highest numbers, which as a rule are the newest. One that a hosted cluster uses is never removed.
    type: int
  state:
    description:
      - V(present) brings the set to O(count) VMs.
      - V(absent) removes all of them, with their disks and their addresses. With O(via=lxd) it also removes the
        machines in MAAS whose VMs do not exist any more on the hosts of O(lxd_hosts), if the API key may read power
        parameters.
    type: str
    choices: [present, absent]
    default: present
  interfaces:
    description:
      - The interfaces of each VM. If not set, a new VM has one on a network of its host that has DHCP.
      - Where each is attached is said by one of O(interfaces[].subnet), O(interfaces[].vlan) and
        O(interfaces[].space), or by O(interfaces[].addresses) alone. Only hosts that are on all of these networks are
        chosen.
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
        description: V(auto) is an address that MAAS chooses when a VM is deployed, V(dhcp) one by DHCP.
        type: str
        default: auto
        aliases: [ip]
      addresses:
        description:
          - Static addresses that the VMs share out. An element is an address, a range such as V(10.0.0.10-10.0.0.19),
            or a network.
          - A VM has the one that is its number in the list, or the first free one if somebody has that. Who has them is
            looked up before anything is made. They are given back when the VM is removed.
        type: list
        elements: str
      parent:
        description:
          - The interface of the host, or with O(via=lxd) the network of LXD, that it hangs on. If not set, a bridge on
            the network that is asked for, before any other interface there.
          - With O(via=lxd), an interface that is a port of a bridge stands for the bridge.
        type: str
  spread:
    description:
      - V(zone) places the VMs as evenly over the zones as there is room, and over the hosts of each.
      - V(host) places them as evenly over the hosts as there is room, whatever their zones.
      - V(none) places each where the load stays least.
    type: str
    choices: [zone, host, none]
    default: zone
  max_per_host:
    description: How many VMs of the set a host may have.
    type: int
  evacuate:
    description:
      - Hosts that the VMs of the set leave, by name. Each VM there is removed with its disks, B(and all that is on them
        is lost); it is made again on another host, under the same name, as large as the task says, with the same
        address of O(interfaces[].addresses).
      - Nothing is removed unless there is room for all of them elsewhere. Nothing new goes to these hosts.
      - One that a hosted cluster uses is refused.
    type: list
    elements: str
seealso:
  - module: metalshift.maas.vm
  - module: metalshift.maas.vm_host
  - module: metalshift.maas.machine_set
"""

EXAMPLES = r"""
- name: Three control-plane nodes, each in another zone, with addresses of their own
  metalshift.maas.vm_set:
    claim: cp
    count: 3
    cores: 4
    memory: 8GiB
    disks:
      - size: 60GB
    interfaces:
      - addresses: [10.99.0.71-10.99.0.79]
    spread: zone
    max_per_host: 1
  register: control_plane

- name: Deploy them
  metalshift.maas.machine:
    machines: "{{ control_plane.vms | map(attribute='hostname') }}"
    claim: cp
    state: deployed
    distro_series: noble

- name: Those on kvm1 are made again elsewhere, empty
  metalshift.maas.vm_set:
    claim: cp
    count: 3
    cores: 4
    memory: 8GiB
    disks:
      - size: 60GB
    interfaces:
      - addresses: [10.99.0.71-10.99.0.79]
    evacuate: [kvm1]

- name: Remove them all, with their disks
  metalshift.maas.vm_set:
    claim: cp
    state: absent
"""

RETURN = r"""
claim:
  description: The name of the set.
  returned: success
  type: str
  sample: cp
vms:
  description:
    - The VMs of the set as MAAS has them now, or as they would be in check mode.
    - One that failed has a C(failure) with the reason.
  returned: always, if the set could be looked at
  type: list
  elements: dict
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
    - hostname: cp-1
      system_id: abc123
      status_name: Ready
      vm_host: kvm1
      zone: az1
      ip_addresses: [10.99.0.71]
      changed: true
removed:
  description: The VMs that this run removed, or would, each with its host and the reason.
  returned: always, if the set could be looked at
  type: list
  elements: dict
  sample:
    - hostname: cp-4
      vm_host: kvm2
      reason: "one of the last: 3 of 4 stay"
summary:
  description: How many VMs are in which status.
  returned: always, if the set could be looked at
  type: dict
  sample: {"ready": 3}
hosts:
  description: How many VMs of the set are on which host.
  returned: always, if the set could be looked at
  type: dict
  sample: {"kvm1": 1, "kvm2": 1, "kvm3": 1}
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
from ansible_collections.metalshift.maas.plugins.module_utils._vms.placement_rules import (
    PLACING_OPTIONS,
    SPREAD_OPTIONS,
)
from ansible_collections.metalshift.maas.plugins.module_utils._vms.template import INTERFACE_OPTIONS, TEMPLATE_OPTIONS
from ansible_collections.metalshift.maas.plugins.module_utils._vms.vm_set import VmSetEngine

SPEC = Spec(
    options={
        "claim": {"type": "str", "required": True},
        "count": {"type": "int"},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        **TEMPLATE_OPTIONS,
        "interfaces": {
            "type": "list",
            "elements": "dict",
            "options": {**INTERFACE_OPTIONS, "addresses": {"type": "list", "elements": "str"}},
        },
        **PLACING_OPTIONS,
        **SPREAD_OPTIONS,
        "evacuate": {"type": "list", "elements": "str"},
        **VIA_OPTIONS,
        **WAIT_OPTIONS,
    },
    lxd=True,
    required_if=[("state", "present", ["count"])],
)


def converge(task: Task) -> Result:
    """Bring the set to the wished number."""
    return run(VmSetEngine(task), task)


def main() -> None:
    run_as_module(SPEC, converge, "vm_set")


if __name__ == "__main__":
    main()
