#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosted clusters as trees, from the HostedCluster to machines in MAAS, and the way back."""

from __future__ import annotations

DOCUMENTATION = r"""
module: hosted_cluster_info
short_description: Read hosted clusters from the HostedCluster down to the machines in MAAS
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Tells of one hosted cluster or of many what they are made of, as one tree each. It has the conditions with what they
    mean, the versions, the node pools, and of each machine what Kubernetes, the provider and MAAS know of it.
  - Finds the way back too, from a machine in MAAS or a node to the cluster and the node pool that it belongs to.
  - The management cluster is asked once for each kind of object, however many clusters there are, and MAAS once for a
    hundred machines. What cannot be read is named in C(troubles), and does not keep the rest from being told.
  - It does not write anything, neither to Kubernetes nor to MAAS.
extends_documentation_fragment:
  - metalshift.maas.attributes.info
  - metalshift.maas.attributes.actiongroup_k8s
  - metalshift.maas.kubernetes
  - metalshift.maas.maas
options:
  name:
    description: The name of a hosted cluster. If not set, all are told of.
    type: str
  namespace:
    description:
      - The namespace of the HostedCluster.
      - If not set, V(clusters) for a cluster that is named, and all namespaces otherwise.
    type: str
  system_id:
    description:
      - A machine of MAAS. Only the cluster that it belongs to is told of, and C(owners) says how it belongs to it.
      - Several owners mean that several clusters or node pools take the machine for theirs.
    type: str
  node:
    description:
      - The name of a node, or of the machine that it runs on, with or without its domain. As O(system_id) otherwise.
    type: str
  gather:
    description:
      - What to tell beyond the clusters and their node pools.
      - V(machines) are the Machines and MaasMachines of the pools, and V(maas) the machines of MAAS behind them, if the
        task says how MAAS is reached.
      - V(nodes) are the nodes, and V(certificate_requests) the requests for certificates that wait, each with what
        M(metalshift.maas.node_csr) would do with it. Both are asked of the API of each hosted cluster, through the
        kubeconfig that it publishes. One that does not answer is a trouble of its tree.
      - V(infrastructure) is the platform that the control-plane operator writes into the Infrastructure of the hosted
        cluster. OpenShift refuses V(MAAS) there, which the control-plane operator of a stock release writes.
      - V(all) means all of these.
      - V(kubeconfig) is the administrator's kubeconfig of each cluster. It is a secret, set C(no_log) on the task. It
        comes only when it is named here.
    type: list
    elements: str
    choices: [all, machines, maas, nodes, certificate_requests, infrastructure, kubeconfig]
    default: [machines, maas]
seealso:
  - module: metalshift.maas.hosted_cluster
  - module: metalshift.maas.hosted_cluster_diagnosis_info
  - module: metalshift.maas.node_csr
"""

EXAMPLES = r"""
- name: All hosted clusters of a management cluster
  metalshift.maas.hosted_cluster_info:
    gather: []
  register: all

- name: Which are not available?
  ansible.builtin.debug:
    msg: "{{ all.hosted_clusters | rejectattr('available') | map(attribute='name') }}"

- name: One with its machines, nodes and certificate requests
  metalshift.maas.hosted_cluster_info:
    name: demo
    gather: [all]
  register: demo

- name: Whose machine is it?
  metalshift.maas.hosted_cluster_info:
    system_id: 4y3h7n
  register: machine

- name: Say it
  ansible.builtin.debug:
    msg: "{{ machine.owners | map(attribute='hosted_cluster') | join(', ') or 'No cluster has it.' }}"

- name: The kubeconfig of a hosted cluster
  metalshift.maas.hosted_cluster_info:
    name: demo
    gather: [kubeconfig]
  register: demo
  no_log: true
"""

RETURN = r"""
hosted_clusters:
  description: The clusters, by namespace and name.
  returned: success
  type: list
  elements: dict
  contains:
    namespace:
      description: The namespace of the HostedCluster.
      type: str
      returned: always
    name:
      description: The name of the HostedCluster.
      type: str
      returned: always
    state:
      description:
        - One word for the whole. V(available) and V(unavailable) are about the control plane.
        - V(remains) stands for node pools whose HostedCluster is gone.
      type: str
      returned: always
      sample: available
    created:
      description: When it was created.
      type: str
      returned: always
    deleting_since:
      description: When its deletion was asked for.
      type: str
      returned: always
    paused:
      description: Whether HyperShift was told to leave it alone.
      type: bool
      returned: always
    available:
      description: Whether its control plane is available.
      type: bool
      returned: always
    platform:
      description: The platform, V(MAAS) or V(None) in most cases.
      type: str
      returned: always
    release:
      description: The image of the release that is asked for.
      type: str
      returned: always
    version:
      description: The newest version that was rolled out completely.
      type: str
      returned: always
      sample: 4.20.8
    desired_version:
      description: The version that the cluster is brought to.
      type: str
      returned: always
    history:
      description: The versions that were applied, the newest first.
      type: list
      elements: dict
      returned: always
      sample: [{"version": "4.20.8", "state": "Completed", "started": "2026-11-02T10:04:44Z",
                "completed": "2026-11-02T10:31:02Z", "image": "quay.io/openshift-release-dev/ocp-release@sha256:1efb"}]
    available_updates:
      description: The versions to which it could be upgraded, as far as a channel says so.
      type: list
      elements: str
      returned: always
    endpoint:
      description: The URL of its API.
      type: str
      returned: always
    console:
      description: >-
        The URL of its console, unless an administrator of the cluster has named another host.
        Null without a base domain.
      type: str
      returned: always
    ignition_endpoint:
      description: Host and port where machines fetch their configuration.
      type: str
      returned: always
    oauth_callback_url:
      description: What identity providers are to call back.
      type: str
      returned: always
    kubeconfig_secret:
      description: The Secret with its kubeconfig, in the namespace of the HostedCluster.
      type: str
      returned: always
    kubeadmin_password_secret:
      description: The Secret with the password of kubeadmin, in the namespace of the HostedCluster.
      type: str
      returned: always
    infra_id:
      description: The name under which Cluster API knows it.
      type: str
      returned: always
    cluster_id:
      description: Its UUID.
      type: str
      returned: always
    control_plane_namespace:
      description: Where its control plane runs.
      type: str
      returned: always
    conditions:
      description:
        - The conditions of the HostedCluster. Those of node pools, Machines and MaasMachines are told in the same way.
        - C(meaning) says what one means, and C(verdict) whether it is as it should be (V(fine)), gets better by waiting
          (V(wait)), does so only when something that is missing is created (V(grace)), or not without somebody's doing
          (V(stop)). C(hint) says what to do.
      type: list
      elements: dict
      returned: always
      sample: [{"type": "EtcdAvailable", "status": "False", "reason": "EtcdWaitingForQuorum",
                "message": "Waiting for etcd to reach quorum", "since": "2026-11-02T10:05:02Z",
                "meaning": "etcd: waiting for quorum", "verdict": "wait", "hint": null}]
    node_pools:
      description: The node pools, by name.
      type: list
      elements: dict
      returned: always
      contains:
        name:
          description: The name of the NodePool.
          type: str
        replicas:
          description: The number of nodes that is asked for; null with C(autoscaling).
          type: int
        available_replicas:
          description: The number of nodes that are available.
          type: int
        autoscaling:
          description: The least and the largest number of nodes.
          type: dict
        version:
          description: The version of its nodes.
          type: str
        release:
          description: The image of the release that is asked for.
          type: str
        upgrade_type:
          description: V(Replace) or V(InPlace).
          type: str
        platform:
          description: What is asked of machines in MAAS.
          type: dict
        paused:
          description: Whether HyperShift was told to leave it alone.
          type: bool
        created:
          description: When it was created.
          type: str
        deleting_since:
          description: When its deletion was asked for.
          type: str
        conditions:
          description: The conditions of the NodePool.
          type: list
          elements: dict
        machines:
          description:
            - The Machines of the pool. Each has its C(phase), C(node_name), C(provider_id), C(addresses) and
              C(conditions), and in C(maas_machine) what the provider knows of it.
            - In C(maas_machine), C(deployed) is the condition MachineDeployed, where the truth about a deployment is,
              and C(machine) the machine as MAAS has it, null if MAAS does not know it.
            - C(node) is the node, null while there is none.
          type: list
          elements: dict
          returned: when gathered
    other_machines:
      description: Machines of no node pool that is still there.
      type: list
      elements: dict
      returned: when machines are gathered
    other_maas_machines:
      description: MaasMachines that no Machine names.
      type: list
      elements: dict
      returned: when machines are gathered
    other_nodes:
      description: Nodes that Cluster API has not linked to a Machine.
      type: list
      elements: dict
      returned: when nodes are gathered and can be read
    certificate_requests:
      description:
        - The requests for certificates that wait, of a node that has asked several times the newest. C(approvable) says
          whether M(metalshift.maas.node_csr) would approve it, C(reason) and C(message) why not.
      type: list
      elements: dict
      returned: when gathered and readable
    superseded_requests:
      description: How many older requests there are that nobody waits for any more.
      type: int
      returned: when gathered and readable
    infrastructure_platform:
      description: The platform of its own Infrastructure; null as long as it is not known.
      type: str
      returned: when infrastructure is gathered
      sample: None
    kubeconfig:
      description: The administrator's kubeconfig; null as long as there is none. It is a secret.
      type: str
      returned: when gathered
    troubles:
      description: What could not be read, as sentences.
      type: list
      elements: str
      returned: always
owners:
  description:
    - The clusters and node pools that the machine or node belongs to. One in most cases, none if it is nobody's, and
      several if several take it for theirs.
  returned: when O(system_id) or O(node) is set
  type: list
  elements: dict
  sample: [{"namespace": "clusters", "hosted_cluster": "demo", "node_pool": "workers", "machine": "workers-zj82r-2hf2k",
            "maas_machine": "workers-zj82r-2hf2k", "system_id": "4y3h7n", "node": "node-1.maas"}]
summary:
  description: How many clusters are in which state.
  returned: success
  type: dict
  sample: {"available": 3, "deleting": 1}
"""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters import listing
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.listing import InMaas
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import has_maas
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.tree import (
    MachineUser,
    TreeSources,
    owners,
    tree,
)
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.holders import holder
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines

GATHER = ["machines", "maas", "nodes", "certificate_requests", "infrastructure"]

SPEC = Spec(
    writes=False,
    kube=True,
    options={
        "name": {"type": "str"},
        "namespace": {"type": "str"},
        "system_id": {"type": "str"},
        "node": {"type": "str"},
        "gather": {
            "type": "list",
            "elements": "str",
            "choices": ["all", *GATHER, "kubeconfig"],
            "default": ["machines", "maas"],
        },
    },
    mutually_exclusive=[["system_id", "node"]],
)


def converge(task: Task) -> Result:
    """Tell of the clusters that are asked for, and whose a machine is."""
    gather = wished(task)
    seen = looked_at(task, gather)
    values: dict[str, Any] = {}
    warnings: list[str] = []
    if task.params["system_id"] or task.params["node"]:
        found = owners(seen, system_id=task.params["system_id"] or "", node=task.params["node"] or "")
        seen = [one for one in seen if any((one.namespace, one.name) == each.cluster for each in found)]
        values["owners"] = [owner.to_dict() for owner in found]
        warnings += marked_only(task, found)
    in_maas = listing.machines_in_maas(task, seen) if "maas" in gather else None
    kubeconfigs = None
    if "kubeconfig" in gather:
        seen, kubeconfigs = with_kubeconfigs(task, seen)
    platforms = None
    if "infrastructure" in gather:
        seen, platforms = listing.with_platforms(task.kube, seen)
    grove = TreeSources(
        now=time.time(),
        machines="machines" in gather,
        maas=in_maas.machines if in_maas else None,
        verdicts=listing.verdicts(seen, in_maas) if "certificate_requests" in gather else None,
        kubeconfigs=kubeconfigs,
        platforms=platforms,
    )
    trees = [tree(one, grove) for one in with_troubles(seen, in_maas)]
    states = Counter(each["state"] for each in trees)
    values |= {"hosted_clusters": trees, "summary": dict(sorted(states.items()))}
    return Result(changed=False, values=values, warnings=warnings)


def with_kubeconfigs(task: Task, seen: Sequence[ClusterSnapshot]) -> tuple[list[ClusterSnapshot], dict[str, str]]:
    """The kubeconfigs by cluster; one that is not taken is a trouble of its own cluster, not of the others."""
    found, after = {}, []
    for one in seen:
        try:
            published = listing.kubeconfig_of(task.kube, one)
        except Failure as failure:
            if failure.kind != "failed_state":
                raise
            after.append(replace(one, troubles=list(dict.fromkeys([*one.troubles, failure.message]))))
            continue
        after.append(one)
        if published is not None:
            found[one.label] = published.text(one.name)
    return after, found


def wished(task: Task) -> set[str]:
    """What is gathered. MAAS is behind machines, and says of certificate requests whether they are a machine's."""
    gather = set(task.params["gather"])
    if "all" in gather:
        gather |= set(GATHER)
    if gather & {"maas", "certificate_requests"}:
        gather |= {"machines", "maas"}
    return gather


def looked_at(task: Task, gather: set[str]) -> list[ClusterSnapshot]:
    """The clusters that the options name."""
    name, namespace = task.params["name"], task.params["namespace"]
    needs_machines = gather & {"machines", "nodes"} or task.params["system_id"] or task.params["node"]
    parts = {"machines", "maas_machines"} if needs_machines else set()
    if name:
        one = listing.sight(task.kube, namespace or "clusters", name, parts, may_lack=task.check)
        seen = [one] if one.cluster or one.pools or one.machines or one.maas_machines else []
    else:
        seen = listing.sights(task.kube, namespace or "", parts, may_lack=task.check)
    hosted = {"nodes": "nodes" in gather, "requests": "certificate_requests" in gather}
    return listing.all_with_hosted(task, seen, **hosted) if any(hosted.values()) else seen


def marked_only(task: Task, found: Sequence[MachineUser]) -> list[str]:
    """What MAAS itself has to say of a machine that no cluster names."""
    named = task.params["system_id"] or task.params["node"]
    if found or not has_maas(task.params):
        return []
    try:
        machine = Machines(task.maas).find([named])[named]
    except Failure as failure:
        return [listing.could_not_read(f"{named} from MAAS", failure)]
    if machine is None:
        return [f"MAAS does not know {named}, and no cluster names it."]
    held_by = holder(machine)
    return [f"No cluster names {named}, but MAAS has it marked as held for {held_by}."] if held_by else []


def with_troubles(seen: Sequence[ClusterSnapshot], in_maas: InMaas | None) -> list[ClusterSnapshot]:
    """A MAAS that did not answer is a trouble of each tree that lacks its machines."""
    if in_maas is None or not in_maas.trouble:
        return list(seen)
    return [replace(one, troubles=[*one.troubles, in_maas.trouble]) for one in seen]


def main() -> None:
    run_as_module(SPEC, converge, "hosted_cluster_info")


if __name__ == "__main__":
    main()
