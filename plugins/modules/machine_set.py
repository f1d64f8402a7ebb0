#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sets of machines under a claim."""

from __future__ import annotations

DOCUMENTATION = r"""
module: machine_set
short_description: Claim, deploy and give back a number of machines
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Takes as many machines as wished out of those that MAAS has ready and that fit, deploys them, and gives them back.
  - The machines of a set are found by its O(claim), which is written in the same request that allocates a machine. A
    run that was killed, wherever that was, is repaired by running the task again. There is no state file.
  - Two runs of the same claim at once end with O(count) machines, and none releases what the other deploys.
  - Machines are picked by what they are like, never by name, and never enlisted. For named machines there is
    M(metalshift.maas.machine).
  - A machine that a hosted cluster uses is never picked and never given back. A set that would have to give one back
    gives back the others first, and then fails with what to do. Scale the node pool with M(metalshift.maas.node_pool).
extends_documentation_fragment:
  - metalshift.maas.attributes
  - metalshift.maas.attributes.actiongroup_maas
  - metalshift.maas.machine_options.deploy
  - metalshift.maas.machine_options.release
  - metalshift.maas.wait
  - metalshift.maas.maas
  - metalshift.maas.plan
options:
  claim:
    description:
      - The name of the set. MAAS keeps it as C(agent_name), by which the set is found again, and the annotation
        C(metalshift_claim) of each machine shows it to people.
      - It belongs to the MAAS user of the key. Two users cannot share a claim.
    type: str
    required: true
  count:
    description:
      - How many machines the set is to have, at most 10000. Needed unless O(state=absent).
      - If it has more, those furthest from deployed are given back first, then those from the zone that has the most.
    type: int
  state:
    description:
      - V(allocated) holds the machines, and leaves it open what runs on them.
      - V(deployed) installs an operating system on them.
      - V(absent) gives back every machine of the claim, also those that an earlier run left while they were erased, and
        waits until they are V(Ready). A virtual machine that MAAS had composed for the claim is removed by that.
    type: str
    choices: [allocated, deployed, absent]
    default: deployed
  zones:
    description:
      - The zones from which machines are taken. If not set, all but those in O(not_zones).
    type: list
    elements: str
    aliases: [zone]
  not_zones:
    description: Zones from which no machine is taken.
    type: list
    elements: str
  spread:
    description:
      - V(even) takes each machine from the zone where the set has the fewest, as long as there are any that fit.
      - V(strict) takes fewer machines rather than two more in one zone than in another. A zone that has none that fit
        holds back the others, so name the O(zones).
      - V(none) leaves the zone to MAAS.
    type: str
    choices: [even, strict, none]
    default: even
  pools:
    description: The resource pools from which machines are taken.
    type: list
    elements: str
    aliases: [pool]
  not_pools:
    description: Resource pools from which no machine is taken.
    type: list
    elements: str
  tags:
    description: Tags that each machine must have, all of them.
    type: list
    elements: str
  not_tags:
    description: Tags of which a machine must have none. One that MAAS does not know is an error.
    type: list
    elements: str
  architecture:
    description: Architectures, any of which will do, such as V(amd64) or V(arm64/generic).
    type: list
    elements: str
    aliases: [arch]
  cores:
    description: The least number of cores.
    type: float
    aliases: [cpu]
  memory:
    description: The least memory, such as V(64GiB). A number without a unit is MiB.
    type: str
  storage:
    description:
      - The disks that a machine must have, each with the least size and the tags that it must carry, such as
        V(500GB) or V(1TB(ssd\)). The first one is the disk that the operating system is installed on.
      - A number without a unit is GB.
    type: list
    elements: raw
  subnets:
    description:
      - Subnets to which a machine must be linked, all of them, by name, CIDR (V(cidr:10.0.0.0/24)) or id (V(id:3)).
    type: list
    elements: str
  not_subnets:
    description: Subnets to which a machine must not be linked.
    type: list
    elements: str
  fabrics:
    description: Fabrics to any of which a machine must be attached.
    type: list
    elements: str
  vlans:
    description: VLANs to any of which a machine must be attached, such as V(vid:20) or V(fabric:fabric-1).
    type: list
    elements: str
  names:
    description:
      - The hostnames out of which machines are taken. Which of them are, stays open.
      - An empty list is refused, here and in O(system_ids), O(zones), O(pools) and O(vm_hosts).
        Leave it out to allow any.
    type: list
    elements: str
  system_ids:
    description: The system_ids out of which machines are taken.
    type: list
    elements: str
  virtual:
    description: Whether virtual machines that exist on a VM host may be taken. Naming O(vm_hosts) says so too.
    type: bool
    default: false
  vm_hosts:
    description: VM hosts whose virtual machines are taken.
    type: list
    elements: str
  not_vm_hosts:
    description: VM hosts whose virtual machines are not taken.
    type: list
    elements: str
  allow_compose:
    description:
      - Whether MAAS may make new virtual machines on a VM host when nothing else fits. It would do so unasked.
      - A virtual machine that was made so is removed when it is given back.
    type: bool
    default: false
  on_failure:
    description:
      - V(replace) lets another machine take the place of one that fails to deploy. The failed one is held until the end
        of the run, so that MAAS cannot offer it again, and is then given back.
      - A machine that somebody releases meanwhile, such as another run with O(state=absent), is not replaced. The task
        fails and takes nothing more.
      - V(keep) keeps it under the claim for whoever looks for the cause. It counts as one of the set, and the task
        fails.
    type: str
    choices: [replace, keep]
    default: replace
  max_replacements:
    description:
      - How many machines one run replaces at most. A failing image would otherwise wear out all that there are.
      - What fails beyond that stays under the claim, and the task fails. A later run begins to count anew.
    type: int
    default: 3
  on_shortage:
    description:
      - What becomes of the machines that were got when there are not O(count) of them. The task fails either way.
      - V(keep) keeps and deploys them, so that a later run needs only the missing ones.
      - V(release) gives back those that this run took, before anything is deployed on them.
    type: str
    choices: [keep, release]
    default: keep
  recover:
    description:
      - Statuses of machines of the claim from which they may be given back although something went wrong there.
      - A machine whose erasing failed may still hold data. With O(erase=true) it is erased once more without further
        word, with V(failed_disk_erasing) here and O(erase=false) it is given back as it is.
    type: list
    elements: str
    choices: [broken, failed_disk_erasing, releasing_failed]
  comment:
    description: A reason, kept in the events that MAAS records of what is done to the machines.
    type: str
  full:
    description: Whether each machine is returned with all that MAAS says of it, some 9 kB.
    type: bool
    default: false
notes:
  - MAAS's API cannot lock a machine while somebody decides about it. What several runs of one claim do at once is
    ordered by the annotation C(metalshift_turn).
  - In check mode the machines that MAAS would offer are guessed from those that are ready. MAAS may choose others.
  - MAAS forgets the claim of a machine that somebody marks as broken. Its annotation still shows it; another machine
    takes its place, and the task warns.
seealso:
  - module: metalshift.maas.machine
  - module: metalshift.maas.machine_info
  - module: metalshift.maas.node_pool
"""

EXAMPLES = r"""
- name: Six machines for storage, two in each zone
  metalshift.maas.machine_set:
    claim: storage
    count: 6
    zones: [az1, az2, az3]
    spread: strict
    tags: [nvme]
    memory: 128GiB
    storage: [400GB, "1TB(ssd)"]
    distro_series: noble
    user_data: "{{ lookup('ansible.builtin.template', 'storage.yaml.j2') }}"
  register: storage

- name: Use them
  ansible.builtin.add_host:
    name: "{{ item.fqdn }}"
    groups: storage
    zone: "{{ item.zone }}"
  loop: "{{ storage.machines }}"
  when: not ansible_check_mode

- name: Four will do
  metalshift.maas.machine_set:
    claim: storage
    count: 4
    erase: true
    quick_erase: true

- name: Hold three machines without installing anything, or none
  metalshift.maas.machine_set:
    claim: burn-in
    count: 3
    state: allocated
    on_shortage: release

- name: Give everything back, with the disks erased
  metalshift.maas.machine_set:
    claim: storage
    state: absent
    erase: true
"""

RETURN = r"""
claim:
  description: The claim.
  returned: success
  type: str
  sample: storage
machines:
  description:
    - The machines of the set as they are now, or as they would be in check mode. With O(state=absent), those that could
      not be given back.
    - One that failed has a C(failure) with the reason and MAAS's last events of it.
    - Of a task that failed and has more than ten machines, each is there with its C(hostname), C(system_id),
      C(status_name) and C(failed) alone, unless O(full=true), since Ansible prints such a result as one line.
    - In check mode those that are not known yet are there with null values. What is guessed carries C(predicted).
  returned: always, if MAAS could be reached
  type: list
  elements: dict
  contains:
    predicted:
      description: "True in check mode for what would change."
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
    - system_id: abc123
      hostname: node-1
      fqdn: node-1.maas
      status_name: Deployed
      zone: az1
      pool: default
      ip_addresses: [10.0.0.21]
      claim: storage
failures:
  description: Each reason for which machines failed, with the C(machines) that it holds for, C(kind) and C(hint).
  returned: when some of more than ten machines failed, unless O(full=true)
  type: list
  elements: dict
  sample: []
released:
  description: The machines that this run gave back, as they are now.
  returned: always, if MAAS could be reached
  type: list
  elements: dict
  sample: []
replaced:
  description: The machines that failed to deploy in this run and whose place another one took, with MAAS's reason.
  returned: always, if MAAS could be reached
  type: list
  elements: dict
  sample:
    - name: node-3
      system_id: def456
      reason: "Marking node failed - Installation failed"
summary:
  description: How many machines are in which status. With O(state=absent) of those that were given back.
  returned: always, if MAAS could be reached
  type: dict
  sample: {"deployed": 6}
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
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.machine_set import machine_set
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.options import (
    DEPLOY_OPTIONS,
    RELEASE_OPTIONS,
)

CONSTRAINTS: Options = {
    "zones": {"type": "list", "elements": "str", "aliases": ["zone"]},
    "not_zones": {"type": "list", "elements": "str"},
    "spread": {"type": "str", "choices": ["even", "strict", "none"], "default": "even"},
    "pools": {"type": "list", "elements": "str", "aliases": ["pool"]},
    "not_pools": {"type": "list", "elements": "str"},
    "tags": {"type": "list", "elements": "str"},
    "not_tags": {"type": "list", "elements": "str"},
    "architecture": {"type": "list", "elements": "str", "aliases": ["arch"]},
    "cores": {"type": "float", "aliases": ["cpu"]},
    "memory": {"type": "str"},
    "storage": {"type": "list", "elements": "raw"},
    "subnets": {"type": "list", "elements": "str"},
    "not_subnets": {"type": "list", "elements": "str"},
    "fabrics": {"type": "list", "elements": "str"},
    "vlans": {"type": "list", "elements": "str"},
    "names": {"type": "list", "elements": "str"},
    "system_ids": {"type": "list", "elements": "str"},
    "virtual": {"type": "bool", "default": False},
    "vm_hosts": {"type": "list", "elements": "str"},
    "not_vm_hosts": {"type": "list", "elements": "str"},
    "allow_compose": {"type": "bool", "default": False},
}

SPEC = Spec(
    options={
        "claim": {"type": "str", "required": True},
        "count": {"type": "int"},
        "state": {"type": "str", "choices": ["allocated", "deployed", "absent"], "default": "deployed"},
        **CONSTRAINTS,
        "on_failure": {"type": "str", "choices": ["replace", "keep"], "default": "replace"},
        "max_replacements": {"type": "int", "default": 3},
        "on_shortage": {"type": "str", "choices": ["keep", "release"], "default": "keep"},
        "recover": {
            "type": "list",
            "elements": "str",
            "choices": ["broken", "failed_disk_erasing", "releasing_failed"],
        },
        "comment": {"type": "str"},
        "full": {"type": "bool", "default": False},
        **DEPLOY_OPTIONS,
        **RELEASE_OPTIONS,
        **WAIT_OPTIONS,
    },
    required_if=[("state", "allocated", ["count"]), ("state", "deployed", ["count"])],
)


def converge(task: Task) -> Result:
    """Bring the set to the wished number and state."""
    return run(machine_set(task), task)


def main() -> None:
    run_as_module(SPEC, converge, "machine_set")


if __name__ == "__main__":
    main()
