# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How far node pools and their machines are.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.findings import (
    Finding,
    finding,
    found,
    is_stale,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.meanings import Meaning
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.table import (
    condition,
    meaning_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import (
    CLONED_FROM,
    NOT_OURS,
    OF_DEPLOYMENT,
    OF_MACHINE_SET,
    PAUSED,
    maas_machine_name_of,
    pool_name_of,
    pool_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.provider_id import system_id_of
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.fields import at, number, text
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import MAAS_MACHINES, NODE_POOLS, Object
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import is_deleted, name_of

KIND = "NodePool"

#: What must be right before there can be machines, in the order in which it is looked for.
CHECKS = (
    "ReconciliationActive",
    "UpdateManagementEnabled",
    "ValidReleaseImage",
    "ValidArchPlatform",
    "ValidMachineConfig",
    "ValidTuningConfig",
    "ValidPlatformConfig",
    "ValidMachineTemplate",
    "ClusterNetworkCIDRConflict",
    "IgnitionEndpointAvailable",
    "ValidGeneratedPayload",
)
UPDATES = ("UpdatingVersion", "UpdatingConfig", "UpdatingPlatformMachineTemplate")

NONE_HINT = "Wait for control_plane instead: the machines of such a node pool join by hand."
OUTDATED = "made from earlier settings of the node pool, goes when its successor is Ready"
NOT_OURS_HINT = (
    "Delete the Machine of this name, and run the task again: the machine stays where it is, and another one takes its "
    "place in the node pool."
)
CERTIFICATE_HINT = (
    "metalshift.maas.node_csr lists the certificate requests of nodes, and why each is not approved. What a node asks "
    "for and what MAAS knows of its machine must agree."
)
TOUCH_HINT = "The operator has not looked again since; any change of the node pool, even an annotation, makes it."


def wanted(pool: Object, owner: Object | None) -> int:
    """How many nodes the pool is to have: with autoscaling, what is asked for at this moment."""
    scaling = at(pool, "spec", "autoScaling")
    if scaling is None:
        return number(pool, "spec", "replicas")
    least, most = number(scaling, "min"), max(number(scaling, "max"), number(scaling, "min"))
    return min(max(number(owner, "spec", "replicas"), least), most)


def available(pool: Object) -> int:
    return number(pool, "status", "replicas")


def is_reached(sight: ClusterSnapshot, pool: Object) -> bool:
    """Whether the pool has exactly the nodes that it is to have, as they are to be."""
    owner = _owner(sight, pool)
    if is_deleted(pool) or _platform(pool) == "None" or owner is None:
        return False
    count = wanted(pool, owner)
    machines = machines_of(sight, pool)
    return (
        available(pool) == count == number(owner, "spec", "replicas") == number(owner, "status", "availableReplicas")
        and number(owner, "status", "observedGeneration") >= number(owner, "metadata", "generation")
        and all(_is_past(pool, which) for which in UPDATES)
        and len(machines) == count
        and not any(is_deleted(machine) for machine in machines)
        and all(_has_node(sight, machine) for machine in machines)
        and sight.certificates is not None
        and not any(name_of(machine) in sight.certificates for machine in machines)
    )


def is_by_hand(sight: ClusterSnapshot, name: str) -> bool:
    """Whether the machines of this pool join by hand."""
    return _platform(sight.pools.get(name) or {}) == "None"


def nodes_ready(sight: ClusterSnapshot) -> int:
    """How many nodes of the hosted cluster are Ready, as far as it is known."""
    if sight.nodes is None:
        return sum(available(pool) for pool in sight.pools.values())
    return sum(text(condition(node, "Ready"), "status") == "True" for node in sight.nodes)


def pool_findings(sight: ClusterSnapshot, name: str, serving: bool) -> Iterator[Finding]:
    """What is to say about a pool and its machines."""
    subject = f"node pool {name}"
    pool = sight.pools.get(name)
    if pool is None:
        yield finding(subject, subject, "there is none", "grace", "Create it, or correct its name.")
        return
    if is_deleted(pool):
        yield finding(subject, subject, "being deleted", "stop", "Wait till it is gone, and create it anew.")
        return
    if _platform(pool) == "None":
        yield finding(subject, subject, "of platform None, which never gets nodes by itself", "stop", NONE_HINT)
        return
    paused = found(KIND, pool, "ReconciliationActive")
    if not serving and (paused is None or paused.is_fine):
        yield finding(subject, subject, "waiting for the control plane")
        return
    wrong = [*_checks(sight, pool, subject)]
    owner = _owner(sight, pool)
    if owner is None:
        yield from _unowned(sight, name, wrong)
        return
    yield from wrong
    yield _count(sight, pool, owner, subject)
    for machine in sorted(machines_of(sight, pool), key=name_of):
        yield machine_finding(sight, machine)


def _unowned(sight: ClusterSnapshot, name: str, wrong: Sequence[Finding]) -> Iterator[Finding]:
    """Nobody asks for machines yet. A pass that misses something ends quietly, and nothing may begin the next one."""
    subject = f"node pool {name}"
    said = "waiting for the operator to ask for machines"
    ready = text(condition(sight.cluster, "IgnitionEndpointAvailable"), "status") == "True"
    for one in wrong or [finding(f"{subject} silence", subject, said, hint=TOUCH_HINT)]:
        yield replace(one, touch=(NODE_POOLS, name)) if ready and one.meaning.verdict == "wait" else one


def machines_of(sight: ClusterSnapshot, pool: Object) -> list[Object]:
    """The Machines of a pool, those that are being removed among them."""
    name, namespace = name_of(pool), text(pool, "metadata", "namespace") or sight.namespace
    return [machine for machine in sight.machines if _is_of(machine, namespace, name)]


def machine_finding(sight: ClusterSnapshot, machine: Object) -> Finding:
    """Where a machine is on its way to be a node, or on its way out."""
    name = name_of(machine)
    maas_machine = maas_machine_of(sight, machine)
    host = text(maas_machine, "status", "hostname")
    subject = f"machine {name} ({host})" if host else f"machine {name}"
    topic = f"machine {name}"
    said = replace(_machine(sight, machine, maas_machine, topic).called(subject), topic=topic)
    stays = not is_deleted(machine)
    return _of_earlier_settings(said) if stays and is_outdated(sight, machine, maas_machine) else said


def is_outdated(sight: ClusterSnapshot, machine: Object, maas_machine: Object | None) -> bool:
    """Whether a machine was made from what its node pool asked for earlier. It is replaced, whatever becomes of it."""
    deployment = _deployment_of(sight, machine)
    return any(
        was and now and was != now
        for was, now in (
            (
                text(maas_machine, "metadata", "annotations", CLONED_FROM),
                text(deployment, "spec", "template", "spec", "infrastructureRef", "name"),
            ),
            (
                text(machine, "spec", "bootstrap", "dataSecretName"),
                text(deployment, "spec", "template", "spec", "bootstrap", "dataSecretName"),
            ),
        )
    )


def _deployment_of(sight: ClusterSnapshot, machine: Object) -> Object | None:
    name = text(machine, "metadata", "labels", OF_DEPLOYMENT)
    name = name or pool_name_of(machine)
    return next((each for each in sight.machine_deployments if name_of(each) == name), None)


def _of_earlier_settings(said: Finding) -> Finding:
    """What is wrong with a machine that is replaced anyhow is no reason to stop."""
    if said.is_fine:
        return said
    meaning = replace(said.meaning, text=f"{said.meaning.text} ({OUTDATED})", hint="")
    return replace(said, meaning=meaning, touch=None).softened()


def maas_machine_of(sight: ClusterSnapshot, machine: Object) -> Object | None:
    return next((each for each in sight.maas_machines if name_of(each) == maas_machine_name_of(machine)), None)


def _machine(sight: ClusterSnapshot, machine: Object, maas_machine: Object | None, topic: str) -> Finding:
    if is_deleted(machine):
        return _leaving(machine, topic)
    failure = text(machine, "status", "failureMessage") or text(machine, "status", "failureReason")
    if failure or text(machine, "status", "phase") == "Failed":
        hint = "Delete the Machine: another one takes its place."
        return finding(topic, topic, f"has failed for good: {failure or 'no reason is given'}", "grace", hint)
    replaced = found("Machine", machine, "HealthCheckSucceeded", topic)
    if replaced is not None and not replaced.is_fine:
        return replaced
    if maas_machine is None:
        return finding(topic, topic, "waiting for Cluster API to make its MaasMachine")
    if is_not_ours(maas_machine):
        said = f"names {text(maas_machine, 'metadata', 'annotations', NOT_OURS)}, which is not this cluster's; paused"
        return finding(topic, topic, said, "grace", NOT_OURS_HINT)
    deployed = found("MaasMachine", maas_machine, "MachineDeployed", topic)
    if deployed is None:
        hint = "When this lasts: look whether capi-provider runs in the control plane's namespace."
        return finding(topic, topic, "waiting for the provider", hint=hint)
    if deployed.is_fine:
        return _joining(sight, machine, topic)
    return replace(deployed, touch=(MAAS_MACHINES, name_of(maas_machine))) if _sleeps(maas_machine) else deployed


def is_not_ours(maas_machine: Object) -> bool:
    """Whether we have paused it because it names a machine of somebody else."""
    notes = at(maas_machine, "metadata", "annotations") or {}
    return PAUSED in notes and bool(notes.get(NOT_OURS)) and notes[NOT_OURS] == system_id_of(maas_machine)


def _sleeps(maas_machine: Object) -> bool:
    """Whether the provider waits up to 1000 seconds for what may be over: a MAAS that failed, or had no machine."""
    shown = condition(maas_machine, "MachineDeployed")
    if text(shown, "reason") not in ("MachineDeployFailed", "MachineNotFound"):
        return False
    meaning = meaning_of("MaasMachine", shown or {}, maas_machine)
    return meaning.verdict == "wait" and not meaning.loops


def _joining(sight: ClusterSnapshot, machine: Object, topic: str) -> Finding:
    """From its deployment to its node."""
    node = node_of(sight, machine)
    missing = (sight.certificates or {}).get(name_of(machine))
    if node is not None:
        ready = condition(node, "Ready")
        if text(ready, "status") == "True" and missing:
            hint = CERTIFICATE_HINT if missing.refused else ""
            return finding(
                topic, topic, f"its node is Ready, {missing.text}", "grace" if missing.refused else "wait", hint
            )
        if text(ready, "status") == "True":
            return finding(topic, topic, "its node is Ready", "fine")
        meaning = meaning_of("Node", ready or {}, node)
        return Finding(
            topic, Meaning(topic, f"its node is {meaning.text}" if ready else "its node is new", "wait", meaning.hint)
        )
    health = found("Machine", machine, "NodeHealthy", topic)
    if text(machine, "status", "nodeRef", "name"):
        return finding(topic, topic, "its node has joined", "fine") if health is None or health.is_fine else health
    if missing:
        return finding(topic, topic, f"deployed, {missing.text}", hint=CERTIFICATE_HINT)
    booting = _booting(sight, machine, topic)
    if booting is not None:
        return booting
    if health is not None and not health.is_fine and text(condition(machine, "NodeHealthy"), "status") == "False":
        return health
    return finding(topic, topic, "deployed, waiting for its node to join")


def _booting(sight: ClusterSnapshot, machine: Object, topic: str) -> Finding | None:
    """The pool tells whether any of its machines has come so far as to ask for its ignition configuration."""
    pool = next((pool for pool in sight.pools.values() if machine in machines_of(sight, pool)), None)
    reached = found(KIND, pool, "ReachedIgnitionEndpoint", topic)
    if reached is None or reached.is_fine:
        return None
    said = "deployed, has not fetched its ignition configuration yet"
    return finding(topic, topic, said, hint=reached.meaning.hint)


def _leaving(machine: Object, topic: str) -> Finding:
    for which in ("DrainingSucceeded", "VolumeDetachSucceeded", "Deleting"):
        one = found("Machine", machine, which, topic)
        if one is not None and not one.is_fine:
            return one
    return finding(topic, topic, "being removed")


def node_of(sight: ClusterSnapshot, machine: Object) -> Object | None:
    name = text(machine, "status", "nodeRef", "name")
    return next((node for node in sight.nodes or () if name and name_of(node) == name), None)


def _has_node(sight: ClusterSnapshot, machine: Object) -> bool:
    if not text(machine, "status", "nodeRef", "name"):
        return False
    node = node_of(sight, machine)
    return sight.nodes is None or text(condition(node, "Ready"), "status") == "True"


def _checks(sight: ClusterSnapshot, pool: Object, subject: str) -> Iterator[Finding]:
    """The first thing that is wrong: what comes after it is not looked at yet."""
    for which in CHECKS:
        one = found(KIND, pool, which, f"{subject} {which}")
        if one is None or one.is_fine:
            continue
        yield _without_end(sight, pool, one) if which == "ValidReleaseImage" else one
        return
    for which in UPDATES:
        if text(condition(pool, which), "reason") == "InplaceUpgradeFailed":
            one = found(KIND, pool, which, f"{subject} {which}")
            if one is not None:
                yield one
            return


def _without_end(sight: ClusterSnapshot, pool: Object, one: Finding) -> Finding:
    """A pool waits for the hosted cluster's own upgrade; when that has none to do, for nothing."""
    message = text(condition(pool, "ValidReleaseImage"), "message")
    if "latest version supported" not in message or one.meaning.verdict != "wait":
        return one
    history = at(sight.cluster, "status", "version", "history")
    newest = history[0] if isinstance(history, list) and history else None
    asked = condition(sight.cluster, "Progressing")
    if (
        text(newest, "state") != "Completed"
        or text(asked, "status") == "True"
        or is_stale(asked or {}, sight.cluster or {})
    ):
        return one
    return replace(one, meaning=replace(one.meaning, verdict="grace"))


def _count(sight: ClusterSnapshot, pool: Object, owner: Object, subject: str) -> Finding:
    count, there = wanted(pool, owner), available(pool)
    if is_reached(sight, pool):
        return finding(subject, subject, f"{there} of {count} nodes are Ready", "fine")
    said = f"{there} nodes are Ready, {count} wanted" if there > count else f"{there} of {count} nodes are Ready"
    # During the first installation all of them say that they update.
    if text(pool, "status", "version"):
        changing = [one for which in UPDATES if (one := found(KIND, pool, which)) is not None and not one.is_fine]
        said += f", {changing[0].meaning.text}" if changing else ""
    lacking = sum(name_of(machine) in (sight.certificates or ()) for machine in machines_of(sight, pool))
    said += f", {lacking} without a certificate" if lacking and there == count else ""
    leaving = sum(is_deleted(machine) for machine in machines_of(sight, pool))
    said += f", {leaving} on the way out" if leaving else ""
    return finding(subject, subject, said)


def _is_past(pool: Object, which: str) -> bool:
    """Whether the pool's newest change of this kind is done."""
    shown = condition(pool, which)
    return shown is not None and text(shown, "status") == "False" and not is_stale(shown, pool)


def _owner(sight: ClusterSnapshot, pool: Object) -> Object | None:
    """What has the machines of the pool made: a MachineDeployment, or a MachineSet when nodes are upgraded in place."""
    in_place = text(pool, "spec", "management", "upgradeType") == "InPlace"
    known = sight.machine_sets if in_place else sight.machine_deployments
    return next((each for each in known if name_of(each) == name_of(pool)), None)


def _platform(pool: Object) -> str:
    return text(pool, "spec", "platform", "type")


def _is_of(machine: Object, namespace: str, name: str) -> bool:
    noted = pool_of(machine)
    if noted:
        return noted == f"{namespace}/{name}"
    labels = at(machine, "metadata", "labels")
    found_labels: Mapping[str, object] = labels if isinstance(labels, Mapping) else {}
    return name in (found_labels.get(OF_DEPLOYMENT), found_labels.get(OF_MACHINE_SET))
