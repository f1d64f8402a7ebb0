# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What may be wrong with a hosted control plane, and with the programs that make and remove it. Pure.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure import (
    cluster_progress,
    pool_progress,
    removal_progress,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.findings import Finding
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.programs import (
    LEASES,
    Outage,
    missing,
    outages,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.table import (
    condition,
    meaning_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.pure.blockers import (
    Blocker,
    FinalizerOwner,
    caretaker,
    obstacles,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.diagnosis import infrastructure
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.diagnosis.evidence import Evidence
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.diagnosis.pure.findings import (
    DiagnosisFinding,
    complaint,
    severity_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pauses.pure import provider
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import (
    DEFAULT_CLASS,
    HAS_BEEN_AVAILABLE,
    PAUSED,
    is_default_class,
    is_paused,
    pool_name_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.provider_id import system_id_of
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.fields import at, text
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    CLUSTERS,
    DEPLOYMENTS,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    STATEFUL_SETS,
    Object,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import is_deleted, name_of, title_of

# Programs whose turn it is when they do not run; all others are parts of the control plane, which the operators run.
PROVIDERS = frozenset({"capi-provider", "cluster-api"})
# Without these nothing of the control plane works: each is told by itself, the others are counted.
VITAL: Mapping[str, str] = {
    "etcd": "EtcdAvailable",
    "kube-apiserver": "KubeAPIServerAvailable",
    "ignition-server": "IgnitionEndpointAvailable",
    "ignition-server-proxy": "IgnitionEndpointAvailable",
    "hosted-cluster-config-operator": "rollout",
    "cluster-version-operator": "rollout",
}
# What keeps pods from starting, and only a person can change.
BY_HAND = re.compile(r"Unschedulable|ImagePull|InvalidImageName|CreateContainer|exceeded quota|denied request")
# The turn in which an obstacle to a removal is, by words of what is said about it.
OBSTACLES: Sequence[tuple[str, str]] = (
    (r"API of the hosted cluster does not answer", "operator"),
    (r"disruption budget|a hook holds|is paused|is scaled to 0|nothing that this collection knows", "user"),
    (r"does not accept the key", "user"),
    (r"cannot be drained|volumes are still attached", "node"),
    (r"locked in MAAS|MAAS does not", "maas"),
)


# -- the programs ----------------------------------------------------------------------------------------------------


def programs(found: Evidence) -> Iterator[DiagnosisFinding]:
    """The operator, Cluster API and the provider, and what runs beside the control plane."""
    operators = found.operators.get(DEPLOYMENTS)
    if operators is not None:
        own = [body for body in operators if name_of(body) == "operator"]
        gone = [] if own else [missing("operator", found.operator_namespace)]
        for outage in (*gone, *outages(own, found.operators.get(PODS) or (), found.leases)):
            yield _outage(found, outage, ("operator",))
    beside = [*found.within(DEPLOYMENTS), *found.within(STATEFUL_SETS)]
    others = []
    for outage in outages(beside, found.within(PODS), found.leases):
        if outage.name in LEASES or outage.name in VITAL:
            yield _outage(found, outage, (VITAL.get(outage.name, ""),))
        elif not is_deleted(found.seen.cluster):
            others.append(outage)
    if others:
        yield _several(found, others)


def _outage(found: Evidence, outage: Outage, instead_of: Sequence[str]) -> DiagnosisFinding:
    turn = _turn_of_program(outage)
    why = f" ({outage.why})" if outage.why else ""
    return DiagnosisFinding(
        outage.label,
        f"{outage.label} {outage.how}{why}.",
        turn,
        _weight(found, outage, turn),
        _cure(outage),
        outage.since,
        instead_of=frozenset(instead_of) - {""},
    )


def _turn_of_program(outage: Outage) -> str:
    if outage.wanted or BY_HAND.search(outage.why):
        return "user"
    return "provider" if outage.name in PROVIDERS else "operator"


def _weight(found: Evidence, outage: Outage, turn: str) -> str:
    """What has just been made is on its way, longer in a control plane that has never been available."""
    if turn == "user" or not outage.since or not outage.how.startswith(("does not run", "has ")):
        return "error"
    annotations = at(found.seen.cluster, "metadata", "annotations") or {}
    starting = HAS_BEEN_AVAILABLE not in annotations and outage.name != "operator"
    return severity_of("wait" if starting else "grace", turn, outage.since, found.now)


def _cure(outage: Outage) -> str:
    where = f"-n {outage.namespace}"
    if outage.how == "does not exist":
        return "Install the operator again: metalshift.maas.hypershift_operator does it."
    if outage.wanted:
        return f"Scale it up: kubectl {where} scale deployment/{outage.name} --replicas=1."
    if outage.how.startswith("seems"):
        return f"Restart it: kubectl {where} rollout restart deployment/{outage.name}."
    return f"Look at its pods: kubectl {where} get pods, and kubectl {where} logs {outage.kind.lower()}/{outage.name}."


def _several(found: Evidence, several: Sequence[Outage]) -> DiagnosisFinding:
    names = sorted(outage.name for outage in several)
    few = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    reasons = sorted({outage.why for outage in several if outage.why})
    why = f" ({reasons[0]})" if reasons else ""
    since = min((outage.since for outage in several if outage.since), default="")
    verb = "does" if len(names) == 1 else "do"
    return DiagnosisFinding(
        f"Namespace {several[0].namespace}",
        f"Of the control plane, {few} {verb} not run as {'it' if len(names) == 1 else 'they'} should{why}.",
        "user" if any(BY_HAND.search(reason) for reason in reasons) else "operator",
        min((_weight(found, outage, "operator") for outage in several), key=("error", "waiting").index),
        f"Look at the pods: kubectl -n {several[0].namespace} get pods.",
        since,
        instead_of=frozenset({"Degraded"}),
    )


# -- pauses ----------------------------------------------------------------------------------------------------------


def pauses(found: Evidence) -> Iterator[DiagnosisFinding]:
    """What somebody has told the operators to leave alone, and how that shows."""
    seen = found.seen
    for kind, body in (("HostedCluster", seen.cluster), *(("NodePool", pool) for pool in seen.pools.values())):
        if body is not None and is_paused(body.get("spec"), found.now):
            until = text(body, "spec", "pausedUntil")
            yield DiagnosisFinding(
                f"{kind} {seen.namespace}/{name_of(body)}",
                f"{kind} {seen.namespace}/{name_of(body)} is paused{'' if until == 'true' else f' until {until}'}: "
                f"{'it is not removed' if is_deleted(body) else 'no change of it has an effect'}.",
                "user",
                "error" if is_deleted(body) or not _is_well(body) else "warning",
                "Un-pause it: paused: false.",
                text(condition(body, "ReconciliationActive"), "lastTransitionTime"),
                instead_of=frozenset({"ReconciliationActive", f"node pool {name_of(body)} ReconciliationActive"}),
            )
    paused = is_paused((seen.cluster or {}).get("spec"), found.now)
    for cluster in found.within(CLUSTERS):
        if at(cluster, "spec", "paused") and not paused:
            yield _held(
                cluster, f"{title_of(cluster)} is paused, and its HostedCluster is not", "its spec.paused to false"
            )
    held = (*seen.machine_deployments, *seen.machine_sets, *seen.machines, *seen.maas_machines)
    for body in held:
        ours = _paused_by_us(body)
        if ours is not None:
            yield ours
            continue
        pool = seen.pools.get(pool_name_of(body))
        if at(body, "metadata", "annotations", PAUSED) is not None and not is_paused(
            (pool or {}).get("spec"), found.now
        ):
            yield _held(body, f"{title_of(body)} has the annotation {PAUSED}", "")


def _paused_by_us(body: Object) -> DiagnosisFinding | None:
    """What a task has paused to keep the provider from machines: it is continued by the next one."""
    about = frozenset({f"machine {name_of(body)}"})
    if provider.is_given_up(body):
        why = meaning_of(body["kind"], condition(body, "MachineDeployed") or {}, body)
        what = (
            f"{title_of(body)} is paused since a task gave up waiting for it, so that the provider does not take and "
            f"release machines without end: {why.text.rstrip('.')}"
        )
        step = f"{why.hint} Then run the task again, which continues it.".strip()
    elif pool_progress.is_not_ours(body):
        what = f"{title_of(body)} is paused, as it names {system_id_of(body)}, which is not this cluster's"
        step = pool_progress.NOT_OURS_HINT
    else:
        return None
    return DiagnosisFinding(title_of(body), f"{what}.", "user", "error", step, instead_of=about)


def _held(body: Object, what: str, setting: str) -> DiagnosisFinding:
    step = f"Set {setting}." if setting else "Remove the annotation."
    return DiagnosisFinding(title_of(body), f"{what}: Cluster API leaves it alone.", "user", "error", step)


def _is_well(body: Object) -> bool:
    """What is paused is not looked at any more, so that its conditions are about what it was before."""
    if body["kind"] == "HostedCluster":
        return cluster_progress.is_true(body, "Available")
    return pool_progress.available(body) >= pool_progress.wanted(body, None)


# -- storage ---------------------------------------------------------------------------------------------------------


def storage(found: Evidence) -> Iterator[DiagnosisFinding]:
    """Volumes of etcd that do not come: nobody says why when it is for want of a default storage class."""
    for claim in found.within(PERSISTENT_VOLUME_CLAIMS):
        if text(claim, "status", "phase") != "Pending":
            continue
        what, step = _why_pending(found, claim)
        yield DiagnosisFinding(
            title_of({**claim, "kind": "PersistentVolumeClaim"}),
            f"Volume {name_of(claim)} of the control plane is pending: {what}.",
            "user",
            "error",
            step,
            text(claim, "metadata", "creationTimestamp"),
            instead_of=frozenset({"EtcdAvailable", "Available"}),
        )


def _why_pending(found: Evidence, claim: Object) -> tuple[str, str]:
    described = f"kubectl -n {text(claim, 'metadata', 'namespace')} describe pvc {name_of(claim)}"
    wanted = text(claim, "spec", "storageClassName")
    if found.storage_classes is None:
        return "nobody has provided it", f"Look at its events: {described}."
    names = {name_of(body) for body in found.storage_classes}
    if wanted and wanted not in names:
        known = ", ".join(sorted(names)) or "none"
        return f"there is no storage class {wanted}", f"Create the storage class {wanted}; those that exist: {known}."
    if not wanted and not any(is_default_class(body) for body in found.storage_classes):
        return (
            "it names no storage class, and none is the default",
            f"Give one of the storage classes the annotation {DEFAULT_CLASS}=true.",
        )
    return "its storage class does not provide it", f"Look at its events: {described}, and at the storage itself."


# -- the control plane -----------------------------------------------------------------------------------------------


def stages(found: Evidence) -> Iterator[DiagnosisFinding]:
    """What is wrong with it, and at which of its stages it is."""
    seen = found.seen
    if is_deleted(seen.cluster):
        return
    for one in cluster_progress.control_plane(seen):
        if not one.is_fine:
            yield complaint(one, f"HostedCluster {seen.label}", _since(found, one), found.now)


def _since(found: Evidence, one: Finding) -> str:
    """Since when a condition says so; without one, since the object is there."""
    for body in (found.seen.control_plane, found.seen.cluster):
        shown = condition(body, one.topic)
        if shown is not None:
            return text(shown, "lastTransitionTime")
    return text(found.seen.cluster, "metadata", "creationTimestamp")


def hosted_api(found: Evidence) -> Iterator[DiagnosisFinding]:
    """An API that should answer, and does not answer us: the operators look at it from within only."""
    failure = found.hosted_failure
    if failure is None or is_deleted(found.seen.cluster):
        return
    if failure.kind == "failed_state":
        # Not its API: the kubeconfig that names it.
        yield DiagnosisFinding(f"HostedCluster {found.seen.label}", failure.message, "user", "error", failure.hint)
        return
    if not cluster_progress.is_true(found.seen.cluster, "Available"):
        return
    endpoint = at(found.seen.cluster, "status", "controlPlaneEndpoint") or {}
    where = f"{endpoint.get('host')}:{endpoint.get('port')}"
    yield DiagnosisFinding(
        f"HostedCluster {found.seen.label}",
        f"Its control plane is said to be available, and its API at {where} cannot be used from here: "
        f"{(failure.reason or failure.message).rstrip('.')}.",
        "user",
        "error",
        "Look whether the pods of kube-apiserver answer, and whether its address and port can be reached from here and "
        "from the machines: nobody checks that.",
    )


# -- the rollout -----------------------------------------------------------------------------------------------------


def rollout(found: Evidence) -> Iterator[DiagnosisFinding]:
    """How far the release is, and which operators of the hosted cluster are not well."""
    seen = found.seen
    if seen.cluster is None or is_deleted(seen.cluster) or not cluster_progress.serves(seen):
        return
    newest = (at(seen.control_plane, "status", "versionStatus", "history") or [{}])[0]
    since = text(newest, "startedTime")
    for one in (*cluster_progress.frozen(seen), *cluster_progress.rollout(seen, pool_progress.nodes_ready(seen))):
        if not one.is_fine:
            yield complaint(one, f"HostedCluster {seen.label}", since, found.now)
    if not cluster_progress.is_complete(seen):
        return
    for body in found.cluster_operators or ():
        available, degraded = condition(body, "Available"), condition(body, "Degraded")
        bad = next(
            (shown for shown, good in ((available, "True"), (degraded, "False")) if text(shown, "status") != good), None
        )
        if bad:
            yield DiagnosisFinding(
                f"ClusterOperator {name_of(body)}",
                f"Its operator {name_of(body)} is {'degraded' if bad is degraded else 'not available'}: "
                f"{text(bad, 'message') or text(bad, 'reason')}.",
                "operator",
                "error" if bad is available else "warning",
                f"In the hosted cluster: kubectl describe clusteroperator {name_of(body)}.",
                text(bad, "lastTransitionTime"),
            )


def platform(found: Evidence) -> Iterator[DiagnosisFinding]:
    """What OpenShift refuses, as nobody says who only looks at conditions."""
    seen = found.seen
    if text(seen.cluster, "spec", "platform", "type") != infrastructure.REFUSED or is_deleted(seen.cluster):
        return
    if infrastructure.platform_of(found.machine_config_server) == infrastructure.REFUSED:
        yield DiagnosisFinding(f"HostedCluster {seen.label}", infrastructure.SAID, "user", "error", infrastructure.CURE)


# -- removal ---------------------------------------------------------------------------------------------------------


def removal(found: Evidence) -> Iterator[DiagnosisFinding]:
    """What keeps that which is being deleted: whose finalizer it is, and why its owner does not remove it."""
    if found.scene is None:
        return
    told = False
    for one in obstacles(found.scene):
        told = True
        since = text(one.body, "metadata", "deletionTimestamp")
        turn = _turn_of_obstacle(one)
        yield DiagnosisFinding(
            one.label,
            one.text,
            turn,
            "error" if turn == "user" else severity_of("grace", turn, since, found.now),
            one.hint,
            since,
            instead_of=frozenset({f"machine {name_of(one.body)}"}),
        )
    if not told and is_deleted(found.seen.cluster):
        since = text(found.seen.cluster, "metadata", "deletionTimestamp")
        for finding in removal_progress.removal(found.seen, (), found.now):
            if not finding.topic.startswith("machine ") and not finding.is_fine:
                yield complaint(finding, f"HostedCluster {found.seen.label}", since, found.now)


def _turn_of_obstacle(one: Blocker) -> str:
    by_words = next((turn for words, turn in OBSTACLES if re.search(words, one.text)), "")
    who = caretaker(one.body["kind"], one.finalizer)
    return by_words or (_turn_of_caretaker(who) if who else "user")


def _turn_of_caretaker(who: FinalizerOwner) -> str:
    if not who.deployment:
        return "user" if "hypershift destroy" in who.title else "operator"
    return "provider" if who.deployment in PROVIDERS else "operator"
