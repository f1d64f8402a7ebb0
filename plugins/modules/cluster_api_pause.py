#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines that Cluster API leaves alone while they are worked on."""

from __future__ import annotations

DOCUMENTATION = r"""
module: cluster_api_pause
short_description: Keep Cluster API from machines of MAAS while they are worked on
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Pauses the Machine and the MaasMachine of each machine that Cluster API has, so that the provider for MAAS neither
    switches nor redeploys what it finds changed, and no MachineHealthCheck replaces it.
  - A pause has a O(name), which is written beside it. Only what was paused under that name goes on with
    O(state=absent). What somebody else has paused stays as it is.
  - Machines that Cluster API does not have are passed over. So are those that it is giving back already.
extends_documentation_fragment:
  - metalshift.maas.attributes
  - metalshift.maas.attributes.actiongroup_kubernetes
  - metalshift.maas.kubernetes
  - metalshift.maas.plan
options:
  name:
    description: The name of the pause, such as that of the host that is worked on.
    type: str
    required: true
  system_ids:
    description: The machines, by the system_id that MAAS knows them by. Needed unless O(state=absent).
    type: list
    elements: str
  state:
    description:
      - V(present) makes sure that these machines are paused. Others that are paused under the same name stay so.
      - V(absent) ends the pause of all that were paused under this name.
    type: str
    choices: [present, absent]
    default: present
notes:
  - A whole hosted cluster is paused by M(metalshift.maas.hosted_cluster), which also stops its upgrades and scaling.
  - It needs the rights to list and patch C(machines.cluster.x-k8s.io) and
    C(maasmachines.infrastructure.cluster.x-k8s.io) in all namespaces.
seealso:
  - module: metalshift.maas.hosted_cluster
  - module: metalshift.maas.machine
"""

EXAMPLES = r"""
- name: Nobody switches these machines on while their host is worked on
  metalshift.maas.cluster_api_pause:
    name: kvm1
    system_ids: [abc123, def456]

- name: From here on Cluster API sees to them again
  metalshift.maas.cluster_api_pause:
    name: kvm1
    state: absent
"""

RETURN = r"""
machines:
  description: Those of the machines that Cluster API has. Empty with O(state=absent).
  returned: success
  type: list
  elements: dict
  contains:
    system_id:
      description: The machine in MAAS.
      type: str
    namespace:
      description: The namespace of its objects.
      type: str
    cluster:
      description: The Cluster of Cluster API that it belongs to.
      type: str
    machine:
      description: Its Machine.
      type: str
    maas_machine:
      description: Its MaasMachine.
      type: str
    paused_by_others:
      description: Whether somebody else has paused it, so that the end of this pause changes nothing.
      type: bool
  sample:
    - system_id: abc123
      namespace: clusters-demo
      cluster: demo
      machine: demo-workers-x7k2p
      maas_machine: demo-workers-x7k2p
      paused_by_others: false
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

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pauses.pure.machines import (
    beginnings,
    ends,
    owned,
)
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import MAAS_MACHINES, MACHINES

SPEC = Spec(
    options={
        "name": {"type": "str", "required": True},
        "system_ids": {"type": "list", "elements": "str"},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    },
    kube=True,
    maas=False,
    required_if=[("state", "present", ["system_ids"])],
)


def converge(task: Task) -> Result:
    """Begin the pause, or end it."""
    name, kube = task.params["name"], task.kube
    maas_machines, machines = (kube.list(kind) if kube.serves(kind) else [] for kind in (MAAS_MACHINES, MACHINES))
    if task.params["state"] == "present":
        found = owned(maas_machines, machines, task.params["system_ids"])
        patches = beginnings(found, name)
    else:
        found, patches = [], ends(maas_machines, machines, name)
    told = [one.told(name) for one in found]
    plan = Plan([patch.step for patch in patches])
    if task.check and patches:
        told = [{**one, "predicted": True} for one in told]
    for patch in [] if task.check else patches:
        kube.patch(patch.part.kind, patch.part.name, patch.part.namespace, patch.body)
    return Result(changed=bool(plan), values={"machines": told}, plan=plan)


def main() -> None:
    run_as_module(SPEC, converge, "cluster_api_pause")


if __name__ == "__main__":
    main()
