#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines of MAAS, by name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: machine
short_description: Bring machines of MAAS to a wished state
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Enlists, changes, commissions, tests, allocates, deploys, releases, repairs and removes machines, from whatever
    state they are in, many in one task.
  - Each machine comes out with a result of its own. One that cannot get what is wished fails alone; the others proceed,
    and the task fails at the end.
  - It works on the machines that it is told, and never picks one. M(metalshift.maas.machine_set) picks.
  - Input that is wrong for a machine, and a state that cannot be reached, are refused before anything is done to it.
  - A machine that a hosted cluster uses is refused as soon as anything would have to be done to it, and so is a change
    of its hostname, domain or zone. Cluster API would only put another one in its place. Scale the node pool with
    M(metalshift.maas.node_pool), or pause the cluster with M(metalshift.maas.hosted_cluster) for a repair.
    O(take_over=true) does it all the same.
extends_documentation_fragment:
  - metalshift.maas.attributes
  - metalshift.maas.attributes.actiongroup_maas
  - metalshift.maas.maas
  - metalshift.maas.machine_options.commission
  - metalshift.maas.machine_options.deploy
  - metalshift.maas.machine_options.release
  - metalshift.maas.machine_options.comment
  - metalshift.maas.wait
  - metalshift.maas.plan
attributes:
  idempotent:
    support: partial
    details: What O(act) names is done each time the task runs. Without it, a second run changes nothing.
options:
  machines:
    description:
      - The machines, each by its hostname, FQDN, system_id or MAC address.
      - Plans, diffs and messages call a machine by its hostname if it is named by its system_id.
      - An element may also be a dictionary with such a C(name) and any option of this module but O(full), those of
        waiting and those that reach MAAS. The task's options are the defaults of all machines; O(power_parameters) and
        O(annotations) of an element complete those of the task.
      - A machine that is not found by its name is looked for by O(hostname) and O(mac_addresses), and adopted.
      - One that is not found at all is enlisted, if O(architecture) and what MAAS needs beside it are given.
    type: list
    elements: raw
    required: true
  state:
    description:
      - V(present) makes sure that MAAS knows the machine, and otherwise leaves its status alone.
      - V(ready) makes it Ready, that is free and commissioned. It releases a machine that is held.
      - V(allocated) holds it for the user of the API key.
      - V(deployed) installs an operating system.
      - V(rescue) boots it into a system in memory, for repair. Another state ends that.
      - V(broken) takes it out of service. A Ready machine is allocated first, for MAAS wants it so.
      - V(absent) makes MAAS forget it. It releases a machine that is held.
    type: str
    choices: [present, ready, allocated, deployed, rescue, broken, absent]
    default: present
  act:
    description:
      - Something that is done once. The task is then always changed.
      - V(test) runs hardware tests, V(recommission) discovers the hardware anew, V(power_cycle) switches the machine
        off and on, V(abort) stops the commissioning, testing, deployment or erasing that runs.
      - V(abort) and V(recommission) come before O(state) is aimed at, the others after it is reached.
    type: str
    choices: [test, recommission, power_cycle, abort]
  power:
    description: Whether the machine is on or off once its state is reached. Kept as it is if not set.
    type: str
    choices: ['on', 'off']
  locked:
    description:
      - Whether the machine is locked, which protects a deployed machine from changes. Kept as it is if not set.
      - A locked machine is changed only if this is V(false), which unlocks it first.
    type: bool
  recover:
    description:
      - The failed statuses that the task may lead a machine out of.
      - A machine in another failed status is refused, with what MAAS says about it.
      - V(failed_commissioning) commissions again, V(failed_deployment) and V(releasing_failed) release,
        V(failed_disk_erasing) releases as O(erase) says, V(failed_testing) accepts the failed tests, V(broken) marks as
        fixed, V(missing) tests, V(failed_to_enter_rescue_mode) and V(failed_to_exit_rescue_mode) try again.
      - With O(state=ready), a machine in V(Failed deployment) or V(Releasing failed) is released without this option.
    type: list
    elements: str
    choices:
      - failed_commissioning
      - missing
      - broken
      - failed_deployment
      - releasing_failed
      - failed_disk_erasing
      - failed_to_enter_rescue_mode
      - failed_to_exit_rescue_mode
      - failed_testing
  claim:
    description:
      - The claim under which a machine is allocated, and under which it may be held already.
      - A machine under another claim is refused, unless O(take_over=true).
    type: str
  hostname:
    description: The host name. Needed only to rename a machine, or to name one that is found by its MAC address.
    type: str
  domain:
    description: The DNS domain, by name. Kept as it is if not set.
    type: str
  zone:
    description: The availability zone, by name. Kept as it is if not set.
    type: str
  pool:
    description: The resource pool, by name. Kept as it is if not set.
    type: str
  tags:
    description: Tags, by name, that the machine carries. The tags must exist; M(metalshift.maas.tag) makes them.
    type: list
    elements: str
  purge_tags:
    description: Whether other tags are taken from the machine, save those that MAAS gives by a definition.
    type: bool
    default: false
  description:
    description: A text about the machine. Kept as it is if not set.
    type: str
  annotations:
    description:
      - Workload annotations. MAAS keeps them while the machine is held and forgets them at its release.
      - An empty value removes a key; keys that are not named stay. Keys that begin with C(metalshift_) are reserved.
    type: dict
  architecture:
    description:
      - The architecture, such as V(amd64) or V(arm64/generic). Needed to enlist, unless O(power_type=ipmi).
      - The task warns if it changes that of a deployed machine, because the next deployment may fail.
    type: str
    aliases: [arch]
  min_hwe_kernel:
    description: The oldest kernel to boot the machine with, such as V(ga-22.04). An empty text takes the demand back.
    type: str
  mac_addresses:
    description:
      - MAC addresses by which the machine is found, or enlisted. Needed to enlist, unless O(power_type=ipmi).
      - A machine that is found keeps the addresses that it has; one that lacks an address of the list is refused.
    type: list
    elements: str
  power_type:
    description: How MAAS switches the machine, such as V(ipmi), V(redfish), V(lxd) or V(manual).
    type: str
  power_parameters:
    description:
      - What MAAS needs for the O(power_type), such as C(power_address), C(power_user) and C(power_pass) for V(ipmi).
      - Compared with what MAAS has, which needs the key of an administrator. Parameters that are not named stay.
      - Never shown.
    type: dict
  full:
    description: Whether results hold everything that MAAS says about a machine, some 9 kB each.
    type: bool
    default: false
seealso:
  - module: metalshift.maas.machine_info
  - module: metalshift.maas.machine_set
  - module: metalshift.maas.node_pool
  - module: metalshift.maas.tag
"""

EXAMPLES = r"""
- name: MAAS knows the machines of rack 7 and has commissioned them
  metalshift.maas.machine:
    machines:
      - name: node-1
        mac_addresses: ["52:54:00:12:34:01"]
        power_parameters: {power_address: 10.1.0.1}
      - name: node-2
        mac_addresses: ["52:54:00:12:34:02"]
        power_parameters: {power_address: 10.1.0.2}
    architecture: amd64
    power_type: ipmi
    power_parameters:
      power_user: maas
      power_pass: "{{ bmc_password }}"
    zone: az1
    state: ready

- name: Two machines run Ubuntu
  metalshift.maas.machine:
    machines: [node-1, node-2]
    state: deployed
    distro_series: ubuntu/noble
    user_data: "{{ lookup('ansible.builtin.template', 'cloud-config.yml.j2') }}"
    annotations:
      service: web

- name: A machine whose deployment had failed gets another chance
  metalshift.maas.machine:
    machines: [node-1]
    state: deployed
    recover: [failed_deployment]

- name: The memory of a machine is tested
  metalshift.maas.machine:
    machines: [node-3]
    act: test
    testing_scripts: [memtester]

- name: Machines go back, with nothing left on their disks
  metalshift.maas.machine:
    machines: [node-1, node-2]
    state: ready
    erase: true
    quick_erase: true
    comment: End of the trial

- name: A machine is gone for good
  metalshift.maas.machine:
    machines: ["52:54:00:12:34:02"]
    state: absent
"""

RETURN = r"""
machines:
  description:
    - The machines as they are now, or as they would be in check mode, in the order in which they were named.
    - Each has the C(name) by which it was named and C(changed). One that failed has C(failed) and a C(failure) with
      C(kind), C(object), C(reason), C(hint), C(status), C(fields) and C(events), the last events and failed scripts.
    - Of a task that failed and has more than ten machines, each is there with its C(name), C(hostname), C(system_id),
      C(status_name) and C(failed) alone, unless O(full=true), since Ansible prints such a result as one line.
    - In check mode, values that only MAAS can know are null, and C(predicted) is true for a machine that would change.
  returned: always
  type: list
  elements: dict
  contains:
    name:
      description: "By what the task named it."
      type: str
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
    - name: node-1
      changed: true
      system_id: 4y3h7n
      hostname: node-1
      fqdn: node-1.maas
      status_name: Deployed
      power_state: "on"
      zone: az1
      pool: default
      ip_addresses: [10.0.0.11]
      tag_names: [fast]
      claim:
failures:
  description: Each reason for which machines failed, with the C(machines) that it holds for, C(kind) and C(hint).
  returned: when some of more than ten machines failed, unless O(full=true)
  type: list
  elements: dict
  sample: []
machine:
  description: The machine, when the task names exactly one.
  returned: when there is one
  type: dict
  sample:
    name: node-1
    changed: true
    system_id: 4y3h7n
    status_name: Ready
summary:
  description: How many of the machines are in which status; those that failed count as C(failed).
  returned: always
  type: dict
  sample: {deployed: 9, failed: 1}
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
from ansible_collections.metalshift.maas.plugins.module_utils._core.wait import WAIT_OPTIONS
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.engine import MachineEngine
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.options import (
    COMMENT_OPTIONS,
    COMMISSION_OPTIONS,
    DEPLOY_OPTIONS,
    RELEASE_OPTIONS,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.spec import MachineAct, State
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import RECOVERABLE

# What holds for each machine: an option of the task is the default of all its machines.
EACH: Options = {
    "state": {"type": "str", "choices": [state.value for state in State], "default": "present"},
    "act": {"type": "str", "choices": [act.value for act in MachineAct]},
    "power": {"type": "str", "choices": ["on", "off"]},
    "locked": {"type": "bool"},
    "recover": {"type": "list", "elements": "str", "choices": [status.word for status in RECOVERABLE]},
    "claim": {"type": "str"},
    "hostname": {"type": "str"},
    "domain": {"type": "str"},
    "zone": {"type": "str"},
    "pool": {"type": "str"},
    "tags": {"type": "list", "elements": "str"},
    "purge_tags": {"type": "bool", "default": False},
    "description": {"type": "str"},
    "annotations": {"type": "dict"},
    "architecture": {"type": "str", "aliases": ["arch"]},
    "min_hwe_kernel": {"type": "str"},
    "mac_addresses": {"type": "list", "elements": "str"},
    "power_type": {"type": "str"},
    "power_parameters": {"type": "dict", "no_log": True},
    **COMMISSION_OPTIONS,
    **DEPLOY_OPTIONS,
    **RELEASE_OPTIONS,
    **COMMENT_OPTIONS,
}

SPEC = Spec(
    options={
        "machines": {"type": "list", "elements": "raw", "required": True},
        "full": {"type": "bool", "default": False},
        **EACH,
        **WAIT_OPTIONS,
    },
    elements={"machines": {"name": {"type": "str"}, **EACH}},
    predictable=frozenset({"machines"}),
)


def converge(task: Task) -> Result:
    """Bring the named machines to the wished state."""
    return run(MachineEngine(task, EACH), task)


def main() -> None:
    run_as_module(SPEC, converge, "machine")


if __name__ == "__main__":
    main()
