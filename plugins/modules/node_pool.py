#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Node pools of hosted clusters."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_pool
short_description: Create, change and remove node pools of hosted clusters
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Brings a NodePool of HyperShift to what the task says. Its nodes are machines of MAAS, which the provider allocates
    and deploys.
  - What the task does not mention stays as it is. Null in O(spec_overrides) takes a field away.
  - What cannot be changed is compared first. A task that would change it, or take it away, fails with the name of the
    field and both values, before anything is written.
  - Fields are written by server-side apply under the name C(metalshift.maas), and not taken from somebody else. A
    conflict names who keeps the field, and O(take_over) takes it.
  - While a task waits, machines of the cluster get the annotations C(metalshift_cluster) and C(metalshift_node_pool) in
    MAAS as soon as they are held, until they are released. M(metalshift.maas.machine) and
    M(metalshift.maas.machine_set) leave such machines to the cluster. Machines that come when no task waits have no
    such annotations until the next task that does.
extends_documentation_fragment:
  - metalshift.maas.attributes
  - metalshift.maas.attributes.actiongroup_k8s
  - metalshift.maas.wait
  - metalshift.maas.kubernetes
  - metalshift.maas.maas
  - metalshift.maas.plan
options:
  name:
    description: The name of the node pool.
    type: str
    required: true
  namespace:
    description: The namespace of the node pool, which is that of its HostedCluster.
    type: str
    default: clusters
  cluster:
    description: The hosted cluster that the pool belongs to. Needed for a new pool. It cannot be changed.
    type: str
  state:
    description:
      - V(present) makes sure that the pool is there, with what the task says.
      - V(absent) takes it away, and gives its machines back to MAAS.
    type: str
    choices: [present, absent]
    default: present
  platform:
    description: The platform. If not set, that of the cluster.
    type: str
    choices: [maas, none]
  release:
    description:
      - The release image of the nodes. If not set, a new pool gets that of its cluster, and another one keeps its own.
      - The operating system that boots first is O(image), whatever the release is.
    type: str
  replicas:
    description: How many nodes there are to be. If neither this nor O(autoscaling) is set, a new pool has none.
    type: int
  autoscaling:
    description: Between which numbers of nodes HyperShift scales by itself, in place of O(replicas).
    type: dict
    suboptions:
      min:
        description: The least number of nodes, at least 1.
        type: int
        required: true
      max:
        description: The greatest number of nodes.
        type: int
        required: true
  arch:
    description: The architecture. Platform V(maas) has only V(amd64). It cannot be changed.
    type: str
    choices: [amd64, arm64]
    aliases: [architecture]
  upgrade_type:
    description:
      - V(Replace) upgrades with other machines, V(InPlace) on the same ones. It cannot be changed.
      - If not set, a new pool has V(Replace).
    type: str
    choices: [Replace, InPlace]
  strategy:
    description:
      - V(RollingUpdate) replaces nodes by itself, V(OnDelete) when somebody deletes their Machines.
      - For O(upgrade_type=Replace). If not set, a new pool has V(RollingUpdate).
    type: str
    choices: [RollingUpdate, OnDelete]
  max_surge:
    description:
      - How many machines more than wished there may be while nodes are replaced, as a number or in percent. If not set,
        a new pool has V(1), which needs a spare machine in MAAS.
    type: str
  max_unavailable:
    description: How many nodes may be missing while nodes are replaced or upgraded, as a number or in percent.
    type: str
  auto_repair:
    description:
      - Whether machines whose node is unhealthy are replaced. If not set, those of a new pool are not.
    type: bool
  node_startup_timeout:
    description:
      - With O(auto_repair=true), how long a machine may take to become a node, such as V(45m). If not set, a pool
        that begins to repair itself gets V(60m), because HyperShift's own 20 minutes are shorter than MAAS takes.
    type: str
  unhealthy_timeout:
    description:
      - With O(auto_repair=true), how long a node may be unhealthy, such as V(10m). If not set, a pool that begins to
        repair itself gets V(15m).
    type: str
  node_drain_timeout:
    description:
      - How long a node that goes is drained at most, such as V(15m); V(0s) means for ever. If not set, a new pool has
        V(20m).
    type: str
  node_volume_detach_timeout:
    description:
      - How long its volumes are waited for at most; V(0s) means for ever. If not set, a new pool has V(10m).
    type: str
  node_deletion_timeout:
    description:
      - How long the removal of its Node object is tried at most, so that a hosted API that cannot be reached does not
        hold back the machine for ever; V(0s) means for ever. If not set, a new pool has V(5m).
      - A NodePool has no field for it. It is kept as an annotation, by which this collection goes while it waits.
    type: str
  node_labels:
    description: Labels of the nodes. Only nodes that come later get changed ones.
    type: dict
  taints:
    description: Taints of the nodes. Only nodes that come later get changed ones.
    type: list
    elements: dict
    suboptions:
      key:
        description: The key.
        type: str
        required: true
      value:
        description: The value.
        type: str
      effect:
        description: The effect.
        type: str
        required: true
        choices: [NoSchedule, PreferNoSchedule, NoExecute]
  config:
    description:
      - Configuration of the nodes, such as MachineConfigs. A change of it replaces or upgrades all nodes.
      - An empty list means none.
    type: list
    elements: dict
    suboptions:
      name:
        description:
          - With O(config[].content), what the ConfigMap is called after the name of the pool and a hyphen. Without, the
            name of a ConfigMap of the same namespace that has a manifest under C(config).
        type: str
        required: true
      content:
        description: The manifest, as text.
        type: str
  tuning_config:
    description: The names of ConfigMaps with Tuned or PerformanceProfile manifests.
    type: list
    elements: str
  image:
    description:
      - The image in MAAS that the machines boot, such as V(custom/rhcos-4.20). Needed for a new pool on platform
        V(maas).
    type: str
  min_cpu:
    description: The least number of cores of a machine.
    type: int
  min_memory:
    description: The least memory of a machine, such as V(64GiB). A number without a unit is MiB.
    type: str
  zone:
    description: The availability zone from which machines are taken.
    type: str
    aliases: [failure_domain]
  resource_pool:
    description: The resource pool of MAAS from which machines are taken.
    type: str
    aliases: [pool]
  tags:
    description:
      - Tags in MAAS that the machines must have, ten at most. Some versions of the provider ask for the last one only.
    type: list
    elements: str
  machine_type:
    description: Accepted by HyperShift and ignored, see O(allow_ignored).
    type: str
  min_disk_size:
    description: Accepted by HyperShift and ignored, see O(allow_ignored). In GB.
    type: int
  lxd:
    description: Accepted by HyperShift and ignored, see O(allow_ignored).
    type: dict
  static_ip:
    description: Accepted by HyperShift and ignored, see O(allow_ignored).
    type: dict
  allow_ignored:
    description:
      - Whether options are written that HyperShift takes and ignores. Without it they are refused, with what to use
        instead.
    type: bool
    default: false
  paused:
    description: Whether HyperShift leaves the pool alone. It stays as it is if not set.
    type: bool
  labels:
    description: Labels of the NodePool. They take the place of those that an earlier task gave.
    type: dict
  annotations:
    description: Annotations of the NodePool. They take the place of those that an earlier task gave.
    type: dict
  spec_overrides:
    description:
      - What else is in the C(spec) of the NodePool. It is merged last, as RFC 7386 says, where null takes a field away.
      - Fields that the management cluster does not know are refused.
    type: dict
  allow_downgrade:
    description:
      - Whether O(release) may be older than the version that the pool has. OpenShift does not support that.
      - The version of a release is known by its tag, or by what the cluster has noted of its image.
    type: bool
    default: false
  take_over:
    description:
      - Fields that are taken from whoever keeps them, such as V(spec.replicas), as a conflict names them.
      - A name stands for all that is in it.
      - Everything else that somebody else keeps stays theirs, and is a conflict if the task asks for another value.
    type: list
    elements: str
    default: []
  wait_for:
    description:
      - What is waited for while O(wait=true).
      - V(nodes) are all nodes that the pool asks for, Ready, with the version and the configuration that it asks for.
        Platform V(none) has none that could be waited for.
      - V(complete) are these nodes, and the rollout of the cluster's release with all its operators as well.
      - What is paused is not waited for.
    type: str
    choices: [nodes, complete]
    default: nodes
  approve_csrs:
    description:
      - Whether requests for certificates are approved while the task waits, those that belong to machines of this
        cluster and no others, as M(metalshift.maas.node_csr) does.
      - Nodes are waited for until each has its serving certificate as well. Without it there are no logs and no shells
        of its pods, and nobody approves it later. A node whose request is refused ends the wait with the reason.
      - It needs access to MAAS.
    type: bool
    default: true
  force:
    description: With O(state=absent), whether finalizers that nobody removes are removed, after O(stall_timeout).
    type: bool
    default: false
  stall_timeout:
    description: How many seconds a removal may stand still before the task fails, or before O(force) acts.
    type: float
    default: 300.0
  drain:
    description: With O(state=absent), whether nodes are drained. If not set, they are.
    type: bool
  erase:
    description:
      - Whether the disks of machines are erased that the pool gives back, when it goes, gets smaller or takes other
        machines. Each is claimed as soon as it is free; of one that somebody else was faster to take it is said who.
      - A tag in MAAS remembers them. What a run did not come to is erased by the next that waits, also when there is
        nothing else to do.
    type: bool
notes:
  - A task that gives up waiting pauses the MaasMachines whose deployment MAAS refuses, since the provider would take
    and release machines without end. The next task that waits continues them. What names a machine of somebody else is
    paused as well, and stays so.
seealso:
  - module: metalshift.maas.hosted_cluster
  - module: metalshift.maas.node_csr
  - module: metalshift.maas.hosted_cluster_info
"""

EXAMPLES = r"""
- name: Three workers in a zone
  metalshift.maas.node_pool:
    name: workers-az1
    cluster: demo
    replicas: 3
    image: custom/rhcos-4.20
    zone: az1
    resource_pool: openshift
    tags: [worker]
    min_cpu: 8
    min_memory: 32GiB
    node_labels:
      topology.example.com/rack: r1

- name: Two to five, with a MachineConfig and a taint
  metalshift.maas.node_pool:
    name: gpu
    cluster: demo
    autoscaling:
      min: 2
      max: 5
    image: custom/rhcos-4.20
    tags: [gpu]
    taints:
      - key: gpu
        value: "true"
        effect: NoSchedule
    config:
      - name: hugepages
        content: "{{ lookup('ansible.builtin.file', 'hugepages.yaml') }}"

- name: One more
  metalshift.maas.node_pool:
    name: workers-az1
    replicas: 4

- name: A newer release, one node after the other, without a spare machine
  metalshift.maas.node_pool:
    name: workers-az1
    release: quay.io/openshift-release-dev/ocp-release:4.20.9-x86_64
    max_surge: "0"
    max_unavailable: "1"

- name: One fewer, with its disks erased
  metalshift.maas.node_pool:
    name: workers-az1
    replicas: 3
    erase: true

- name: Give its machines back
  metalshift.maas.node_pool:
    name: gpu
    state: absent
"""

RETURN = r"""
node_pool:
  description:
    - The NodePool as it is now, or as it would be in check mode. Empty when it is absent.
    - What is not known yet is null. What check mode foresees carries C(predicted).
  returned: success
  type: dict
  contains:
    namespace:
      description: The namespace of the NodePool.
      type: str
      returned: when it is present
    name:
      description: The name of the NodePool.
      type: str
      returned: when it is present
    cluster:
      description: The hosted cluster that it belongs to.
      type: str
      returned: when it is present
    paused:
      description: Whether HyperShift was told to leave it alone.
      type: bool
      returned: when it is present
    platform:
      description: The platform, V(MAAS) or V(None).
      type: str
      returned: when it is present
    release:
      description: The release image that is asked for.
      type: str
      returned: when it is present
    version:
      description: The version that all its nodes have.
      type: str
      returned: when it is present
    replicas:
      description: How many nodes are asked for. Null when HyperShift scales by itself.
      type: int
      returned: when it is present
    autoscaling:
      description: Between which numbers HyperShift scales by itself.
      type: dict
      returned: when it is present
    available_replicas:
      description: How many nodes are available.
      type: int
      returned: when it is present
    upgrade_type:
      description: How it is upgraded.
      type: str
      returned: when it is present
    labels:
      description: The labels of the NodePool.
      type: dict
      returned: when it is present
    annotations:
      description: The annotations of the NodePool.
      type: dict
      returned: when it is present
    spec:
      description: The C(spec) of the NodePool.
      type: dict
      returned: when it is present
    conditions:
      description:
        - The conditions, as HyperShift writes them. M(metalshift.maas.hosted_cluster_info) says what they mean.
      type: list
      elements: dict
      returned: when it is present
  sample:
    namespace: clusters
    name: workers-az1
    cluster: demo
    replicas: 3
    available_replicas: 3
machines:
  description:
    - The machines of MAAS that the pool has given back, and what became of each. They are free again, or it is said why
      one is not.
    - With O(state=present), empty for a task that does not say how MAAS is reached.
  returned: success
  type: list
  elements: dict
removed:
  description: With O(state=absent), what this run asked to be removed.
  returned: success, with O(state=absent)
  type: list
  elements: str
forced:
  description: With O(state=absent), what O(force) did.
  returned: success, with O(state=absent)
  type: list
  elements: str
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

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.teardown import REMOVAL_OPTIONS
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.node_pool import converge_pool
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Options, Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module
from ansible_collections.metalshift.maas.plugins.module_utils._core.wait import WAIT_OPTIONS

REPLACING: Options = {
    "upgrade_type": {"type": "str", "choices": ["Replace", "InPlace"]},
    "strategy": {"type": "str", "choices": ["RollingUpdate", "OnDelete"]},
    "max_surge": {"type": "str"},
    "max_unavailable": {"type": "str"},
    "auto_repair": {"type": "bool"},
    "node_startup_timeout": {"type": "str"},
    "unhealthy_timeout": {"type": "str"},
    "node_drain_timeout": {"type": "str"},
    "node_volume_detach_timeout": {"type": "str"},
    "node_deletion_timeout": {"type": "str"},
}

NODES: Options = {
    "node_labels": {"type": "dict"},
    "taints": {
        "type": "list",
        "elements": "dict",
        "options": {
            "key": {"type": "str", "required": True, "no_log": False},
            "value": {"type": "str"},
            "effect": {"type": "str", "required": True, "choices": ["NoSchedule", "PreferNoSchedule", "NoExecute"]},
        },
    },
    "config": {
        "type": "list",
        "elements": "dict",
        "options": {"name": {"type": "str", "required": True}, "content": {"type": "str"}},
    },
    "tuning_config": {"type": "list", "elements": "str"},
}

FOR_MAAS: Options = {
    "image": {"type": "str"},
    "min_cpu": {"type": "int"},
    "min_memory": {"type": "str"},
    "zone": {"type": "str", "aliases": ["failure_domain"]},
    "resource_pool": {"type": "str", "aliases": ["pool"]},
    "tags": {"type": "list", "elements": "str"},
    "machine_type": {"type": "str"},
    "min_disk_size": {"type": "int"},
    "lxd": {"type": "dict"},
    "static_ip": {"type": "dict"},
    "allow_ignored": {"type": "bool", "default": False},
}

SPEC = Spec(
    kube=True,
    options={
        "name": {"type": "str", "required": True},
        "namespace": {"type": "str", "default": "clusters"},
        "cluster": {"type": "str"},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        "platform": {"type": "str", "choices": ["maas", "none"]},
        "release": {"type": "str"},
        "replicas": {"type": "int"},
        "autoscaling": {
            "type": "dict",
            "options": {"min": {"type": "int", "required": True}, "max": {"type": "int", "required": True}},
        },
        "arch": {"type": "str", "choices": ["amd64", "arm64"], "aliases": ["architecture"]},
        **REPLACING,
        **NODES,
        **FOR_MAAS,
        "paused": {"type": "bool"},
        "labels": {"type": "dict"},
        "annotations": {"type": "dict"},
        "spec_overrides": {"type": "dict"},
        "take_over": {"type": "list", "elements": "str", "default": []},
        "allow_downgrade": {"type": "bool", "default": False},
        **WAIT_OPTIONS,
        "wait_for": {"type": "str", "choices": ["nodes", "complete"], "default": "nodes"},
        "approve_csrs": {"type": "bool", "default": True},
        **REMOVAL_OPTIONS,
    },
)


def converge(task: Task) -> Result:
    """Bring the node pool to the wished state."""
    return converge_pool(task)


def main() -> None:
    run_as_module(SPEC, converge, "node_pool")


if __name__ == "__main__":
    main()
