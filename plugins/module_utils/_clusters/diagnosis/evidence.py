# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All that a diagnosis looks at, read once: where each part of a hosted cluster says the truth about itself.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters import listing
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.audit.leaks import Leak, find
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates.pure.judgement import CsrVerdict
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.controllers import (
    OPERATOR,
    Controllers,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.pure.blockers import DeletionState
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.diagnosis.infrastructure import CONFIG_MAP
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.diagnosis.names import NamesInMaas, read_names
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.listing import InMaas, Listed
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import (
    OPERATOR_LABEL,
    OPERATOR_NAMESPACE,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import PASSING, Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.fields import at, objects, text
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    CLUSTER_OPERATORS,
    CLUSTERS,
    CONFIG_MAPS,
    CSRS,
    DEPLOYMENTS,
    HOSTED_CLUSTERS,
    HOSTED_CONTROL_PLANES,
    LEASES,
    MAAS_CLUSTERS,
    MAAS_MACHINES,
    MACHINE_DEPLOYMENTS,
    MACHINE_SETS,
    MACHINES,
    NAMESPACES,
    NODE_POOLS,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    STATEFUL_SETS,
    STORAGE_CLASSES,
    Object,
    ObjectKind,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import is_deleted, name_of
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import RECOVERABLE, Status

WORKLOADS = (DEPLOYMENTS, STATEFUL_SETS, PODS)
# What is read of the control plane's namespace beside what every sight has.
BESIDE = (*WORKLOADS, LEASES, PERSISTENT_VOLUME_CLAIMS, CLUSTERS, MAAS_CLUSTERS)
# Where the API servers of the management cluster have theirs: leases that are renewed whatever happens to ours.
SYSTEM = "kube-system"
# Events cost MAAS one request a machine: of more than a few, the first ones tell what is wrong.
MOST_WITH_EVENTS = 5
# What is wrong with MAAS, or with our way to it, is a part of the diagnosis.
TOLERATED = PASSING | {"credentials", "forbidden", "tls"}


@dataclass(frozen=True)
class Evidence:
    """What was found at one moment. What could not be read is None, and a sentence in the troubles of the sight."""

    seen: ClusterSnapshot
    now: float
    # By kind: what the control plane's namespace holds, and where the operator runs.
    beside: Mapping[ObjectKind, Sequence[Object] | None] = field(default_factory=dict)
    operators: Mapping[ObjectKind, Sequence[Object] | None] = field(default_factory=dict)
    operator_namespace: str = OPERATOR_NAMESPACE
    leases: Sequence[Object] = ()
    storage_classes: Sequence[Object] | None = None
    place: Object | None = None
    # What the control-plane operator tells machines of the hosted cluster.
    machine_config_server: Object | None = None
    cluster_operators: Sequence[Object] | None = None
    # Why the hosted API did not answer, if it should have.
    hosted_failure: Failure | None = None
    in_maas: InMaas | None = None
    # The newest events of machines that are not as they should be, by system_id.
    events: Mapping[str, Sequence[str]] = field(default_factory=dict)
    # What MAAS says to the provider's key, if it does not accept it.
    key_refused: str = ""
    verdicts: Sequence[CsrVerdict] = ()
    # What is being deleted, and who should finish that.
    scene: DeletionState | None = None
    # What belongs to nobody, or to somebody else.
    leaks: Sequence[Leak] = ()
    names: NamesInMaas = field(default_factory=NamesInMaas)

    @property
    def is_there(self) -> bool:
        """Whether anything is left to look at."""
        seen = self.seen
        return bool(seen.cluster or seen.pools or seen.control_plane or seen.machines or seen.maas_machines)

    def within(self, kind: ObjectKind) -> Sequence[Object]:
        return self.beside.get(kind) or ()


def evidence(task: Task, namespace: str, name: str, *, leaks: bool = True, noted: Any = None) -> Evidence:
    """Look at everything once. Only the HostedCluster itself must be readable; what else is not, is a trouble."""
    found = Evidence(listing.sight(task.kube, namespace, name, may_lack=task.check), time.time())
    if found.is_there:
        found = _names(task, _in_maas(task, _hosted(task, _management(task, found))))
    return _leaks(task, found, noted) if leaks else found


def _in_maas(task: Task, found: Evidence) -> Evidence:
    """What MAAS says of the machines, and why the provider does not come to its end with them."""
    in_maas = listing.machines_in_maas(task, [found.seen], TOLERATED)
    verdicts = listing.verdicts([found.seen], in_maas)[found.seen.label]
    found = replace(found, in_maas=in_maas, verdicts=verdicts, events=_events(task, in_maas))
    caretakers = Controllers(task, found.seen.namespace, found.seen.name)
    if _deleted(found.seen):
        scene = caretakers.detailed(_scene(found))
        return replace(found, scene=scene, key_refused=scene.key_refused)
    return replace(found, key_refused=caretakers.key_refused() if _asks_maas(found.seen) else "")


def _names(task: Task, found: Evidence) -> Evidence:
    if found.in_maas is None:
        return found
    return _tolerant(found, "the names in the DNS of MAAS", lambda: replace(found, names=read_names(task, found.seen)))


def _leaks(task: Task, found: Evidence, noted: Any) -> Evidence:
    return _tolerant(found, "what is left over", lambda: replace(found, leaks=find(task, found.seen, noted)))


def _tolerant(found: Evidence, what: str, look: Callable[[], Evidence]) -> Evidence:
    """One more look into MAAS. That MAAS cannot be asked is said once, and what it does not show is a trouble."""
    if found.in_maas is not None and found.in_maas.trouble:
        return found
    try:
        return look()
    except Failure as failure:
        if failure.kind not in TOLERATED:
            raise
        trouble = listing.could_not_read(what, failure)
        return replace(found, seen=replace(found.seen, troubles=[*found.seen.troubles, trouble]))


def _management(task: Task, found: Evidence) -> Evidence:
    kube, inner = task.kube, found.seen.control_plane_namespace
    looks: dict[str, Callable[[], Listed]] = {
        **{f"beside {kind.plural}": listing.look_of(kube, kind, inner) for kind in BESIDE},
        **{
            f"operator {kind.plural}": listing.look_of(kube, kind, OPERATOR_NAMESPACE)
            for kind in (DEPLOYMENTS, PODS, LEASES)
        },
        "system": listing.look_of(kube, LEASES, SYSTEM),
        "storage": listing.look_of(kube, STORAGE_CLASSES, ""),
        "place": lambda: listing.single(kube, NAMESPACES, inner, ""),
        "configuration": lambda: listing.single(kube, CONFIG_MAPS, CONFIG_MAP, inner),
    }
    answers = dict(listing.answers(looks, lambda key: looks[key]()))
    # The leases of the system are but a clock: nobody misses them.
    troubles = [listed.trouble for key, listed in answers.items() if listed.trouble and key != "system"]
    own = {key: None if listed.trouble else listed.items for key, listed in answers.items()}
    leases = [body for key in ("beside leases", "operator leases", "system") for body in own[key] or ()]
    found = replace(
        found,
        seen=replace(found.seen, troubles=[*found.seen.troubles, *troubles]),
        beside={kind: own[f"beside {kind.plural}"] for kind in BESIDE},
        operators={kind: own[f"operator {kind.plural}"] for kind in (DEPLOYMENTS, PODS)},
        leases=leases,
        storage_classes=own["storage"],
        place=next(iter(own["place"] or ()), None),
        machine_config_server=next(iter(own["configuration"] or ()), None),
    )
    return found if _operator(found) or own["operator deployments"] is None else _elsewhere(task, found)


def _operator(found: Evidence) -> Object | None:
    return next((body for body in found.operators.get(DEPLOYMENTS) or () if name_of(body) == OPERATOR), None)


def _elsewhere(task: Task, found: Evidence) -> Evidence:
    """The operator, when it was installed in another namespace than the usual one."""
    try:
        named = task.kube.list(DEPLOYMENTS, fields=f"metadata.name={OPERATOR}")
        own = [body for body in named if at(body, "spec", "template", "metadata", "labels", OPERATOR_LABEL)]
        if not own:
            return found
        namespace = text(own[0], "metadata", "namespace")
        pods, leases = (task.kube.list(kind, namespace) for kind in (PODS, LEASES))
    except Failure:
        return replace(found, operators={**found.operators, DEPLOYMENTS: None})
    return replace(
        found,
        operators={DEPLOYMENTS: own[:1], PODS: pods},
        operator_namespace=namespace,
        leases=[*found.leases, *leases],
    )


def _hosted(task: Task, found: Evidence) -> Evidence:
    """What the hosted API says. That there is none yet is no trouble: the control plane is asked about it."""
    if found.seen.cluster is None:
        return found
    try:
        hosted = listing.hosted_api(task, found.seen)
        if hosted is None:
            return found
        # The first one alone: an API that does not answer is asked once.
        nodes = hosted.list(NODES)
        requests, operators = hosted.list(CSRS), hosted.list(CLUSTER_OPERATORS)
    except Failure as failure:
        return replace(found, hosted_failure=failure)
    return replace(found, seen=replace(found.seen, nodes=nodes, requests=requests), cluster_operators=operators)


def _events(task: Task, in_maas: InMaas | None) -> dict[str, list[str]]:
    if in_maas is None:
        return {}
    troubled = [
        system_id for system_id, machine in in_maas.machines.items() if Status(machine["status"]) in RECOVERABLE
    ]
    machines = Machines(task.maas)
    return {system_id: machines.last_events(system_id) for system_id in sorted(troubled)[:MOST_WITH_EVENTS]}


def _asks_maas(seen: ClusterSnapshot) -> bool:
    """Whether the provider is waiting for anything of MAAS."""
    return any(
        one.get("type") == "MachineDeployed" and one.get("status") != "True"
        for body in seen.maas_machines
        for one in objects(body, "status", "conditions")
    )


# -- what is being deleted -------------------------------------------------------------------------------------------


def _deleted(seen: ClusterSnapshot) -> bool:
    every = (seen.cluster, seen.control_plane, *seen.pools.values(), *seen.machines, *seen.maas_machines)
    return any(is_deleted(body) for body in every)


def _scene(found: Evidence) -> DeletionState:
    seen = found.seen
    return DeletionState(
        seen.namespace,
        seen.name,
        {
            HOSTED_CLUSTERS: [seen.cluster] if seen.cluster else [],
            HOSTED_CONTROL_PLANES: [seen.control_plane] if seen.control_plane else [],
            NODE_POOLS: list(seen.pools.values()),
            MACHINE_DEPLOYMENTS: seen.machine_deployments,
            MACHINE_SETS: seen.machine_sets,
            MACHINES: seen.machines,
            MAAS_MACHINES: seen.maas_machines,
            CLUSTERS: found.within(CLUSTERS),
            MAAS_CLUSTERS: found.within(MAAS_CLUSTERS),
        },
        found.place,
    )
