# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a hosted cluster goes: what waits for what, who removes which finalizer, and why that does not happen.

Everything here reads a `Scene`, which is plain data: what is left of one cluster, and what is known of its caretakers.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import (
    MAAS_MACHINE_FINALIZER,
    NO_DETACH,
    NO_DRAIN,
    OPERATORS_FINALIZER,
    PAUSED,
    maas_machine_name_of,
    pool_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.provider_id import system_id_of
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import control_plane_namespace
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    CLUSTERS,
    HOSTED_CLUSTERS,
    HOSTED_CONTROL_PLANES,
    MAAS_CLUSTERS,
    MAAS_MACHINES,
    MACHINE_DEPLOYMENTS,
    MACHINE_SETS,
    MACHINES,
    NODE_POOLS,
    Object,
    ObjectKind,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import is_deleted, name_of, title_of

# What a removal looks at, the last to go last.
KINDS: Sequence[ObjectKind] = (
    MAAS_MACHINES,
    MACHINES,
    MACHINE_SETS,
    MACHINE_DEPLOYMENTS,
    MAAS_CLUSTERS,
    HOSTED_CONTROL_PLANES,
    CLUSTERS,
    NODE_POOLS,
    HOSTED_CLUSTERS,
)


# -- who removes what ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class FinalizerOwner:
    """A program that removes a finalizer when its work is done."""

    title: str
    # Its Deployment; without one it is a part of Kubernetes, or a person.
    deployment: str
    # Whether it runs beside the control plane that it serves, and not with the operator.
    beside: bool
    # What it does first, as a sentence goes on after "removes it once".
    once: str


PROVIDER = FinalizerOwner("the MAAS provider", "capi-provider", True, "its machine is released in MAAS")
PROVIDER_CLUSTER = FinalizerOwner("the MAAS provider", "capi-provider", True, "no MaasMachine is left")
CORE = FinalizerOwner("Cluster API", "cluster-api", True, "what it owns is gone")
CPO = FinalizerOwner("the control-plane-operator", "control-plane-operator", True, "the control plane is taken down")
OPERATOR = FinalizerOwner("the HyperShift operator", "operator", False, "what it made is gone")
CLI = FinalizerOwner("whoever runs hypershift destroy cluster", "", False, "that command has come to its end")
COLLECTOR = FinalizerOwner("Kubernetes' garbage collector", "", False, "its dependents are gone")
STORAGE = FinalizerOwner("Kubernetes' volume controllers", "", False, "no pod uses it")
BALANCERS = FinalizerOwner("the controller of load balancers", "", False, "the load balancer is given back")


# By kind and finalizer; an empty kind stands for any.
CARETAKERS: Mapping[tuple[str, str], FinalizerOwner] = {
    ("MaasMachine", MAAS_MACHINE_FINALIZER): PROVIDER,
    ("MaasCluster", "maascluster.infrastructure.cluster.x-k8s.io"): PROVIDER_CLUSTER,
    ("Machine", "machine.cluster.x-k8s.io"): CORE,
    ("MachineSet", "cluster.x-k8s.io/machineset"): CORE,
    ("MachineDeployment", "cluster.x-k8s.io/machinedeployment"): CORE,
    ("Cluster", "cluster.cluster.x-k8s.io"): CORE,
    ("HostedControlPlane", OPERATORS_FINALIZER): CPO,
    ("NodePool", OPERATORS_FINALIZER): OPERATOR,
    ("HostedCluster", OPERATORS_FINALIZER): OPERATOR,
    ("HostedCluster", "openshift.io/destroy-cluster"): CLI,
    ("", "foregroundDeletion"): COLLECTOR,
    ("", "orphan"): COLLECTOR,
    ("", "kubernetes.io/pvc-protection"): STORAGE,
    ("", "kubernetes.io/pv-protection"): STORAGE,
    ("", "service.kubernetes.io/load-balancer-cleanup"): BALANCERS,
}

# Who deletes the parts of something that is deleted itself.
DELETES: Mapping[str, FinalizerOwner] = {
    "HostedCluster": OPERATOR,
    "NodePool": OPERATOR,
    "Cluster": CORE,
    "MachineDeployment": CORE,
    "MachineSet": CORE,
}


def caretaker(kind: str, finalizer: str) -> FinalizerOwner | None:
    return CARETAKERS.get((kind, finalizer)) or CARETAKERS.get(("", finalizer))


# -- what is left --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DeletionState:
    """What is left of one hosted cluster, or of one node pool of it, and what is known of its surroundings."""

    namespace: str
    name: str
    objects: Mapping[ObjectKind, Sequence[Object]]
    # The control plane's namespace.
    place: Object | None = None
    # What keeps that namespace: objects with finalizers, of kinds that are not in KINDS.
    content: Sequence[Object] = ()
    # Deployments by name: those beside the control plane, and the operator. None: it could not be read.
    programs: Mapping[str, Object | None] | None = None
    # Where the operator runs, as far as that is known.
    operator_namespace: str = "hypershift"
    # What MAAS says to the key that the provider has, if it refuses it.
    key_refused: str = ""
    # What MAAS knows about machines that keeps their release from happening, by system_id.
    machine_troubles: Mapping[str, str] = field(default_factory=dict)

    @property
    def control_plane_namespace(self) -> str:
        return control_plane_namespace(self.namespace, self.name)

    def of(self, kind: ObjectKind) -> Sequence[Object]:
        return self.objects.get(kind, ())

    @property
    def empty(self) -> bool:
        return self.place is None and not any(self.objects.values())


def finalizers(body: Object) -> list[str]:
    return list(body["metadata"].get("finalizers") or ())


def footprint(scene: DeletionState) -> frozenset[tuple[Any, ...]]:
    """What changes whenever a removal makes progress, and only then: status and versions change without any."""
    rest = [*(body for kind in KINDS for body in scene.of(kind)), *([scene.place] if scene.place else [])]
    return frozenset(
        (title_of(body), body["metadata"].get("uid"), is_deleted(body), tuple(finalizers(body)), stage(body)[0])
        for body in [*rest, *scene.content]
    )


# -- what waits for what -------------------------------------------------------------------------------


def _owned(kind: ObjectKind, owner: str) -> Callable[[DeletionState, Object], list[Object]]:
    def children(scene: DeletionState, body: Object) -> list[Object]:
        return [
            one
            for one in scene.of(kind)
            if any(
                reference["kind"] == owner and reference["name"] == name_of(body)
                for reference in one["metadata"].get("ownerReferences") or ()
            )
        ]

    return children


def _of_pool(kind: ObjectKind) -> Callable[[DeletionState, Object], list[Object]]:
    def children(scene: DeletionState, pool: Object) -> list[Object]:
        return [one for one in scene.of(kind) if pool_of(one) == f"{scene.namespace}/{name_of(pool)}"]

    return children


def _all(kind: ObjectKind) -> Callable[[DeletionState, Object], list[Object]]:
    return lambda scene, _body: list(scene.of(kind))


def _infrastructure(scene: DeletionState, machine: Object) -> list[Object]:
    return [one for one in scene.of(MAAS_MACHINES) if name_of(one) == maas_machine_name_of(machine)]


def _namespace(scene: DeletionState, _body: Object) -> list[Object]:
    return [scene.place] if scene.place else []


# What goes before the object itself, group by group: the next group is not touched before the one before is gone.
PARTS: Mapping[str, Sequence[Sequence[Callable[[DeletionState, Object], list[Object]]]]] = {
    "HostedCluster": (
        (_all(NODE_POOLS), _all(CLUSTERS)),
        (_all(HOSTED_CONTROL_PLANES),),
        (_namespace,),
    ),
    "NodePool": ((_of_pool(MACHINE_DEPLOYMENTS),), (_of_pool(MACHINE_SETS),), (_of_pool(MACHINES),)),
    "Cluster": (
        (_all(MACHINE_DEPLOYMENTS), _all(MACHINE_SETS), _all(MACHINES)),
        (_all(HOSTED_CONTROL_PLANES),),
        (_all(MAAS_CLUSTERS),),
    ),
    "MachineDeployment": ((_owned(MACHINE_SETS, "MachineDeployment"),),),
    "MachineSet": ((_owned(MACHINES, "MachineSet"),),),
    "MaasCluster": ((_all(MAAS_MACHINES),),),
}


@dataclass(frozen=True)
class ForcedAction:
    """What force does to one object."""

    # delete · finalizers · no_drain
    verb: str
    body: Object
    finalizers: Sequence[str] = ()

    @property
    def label(self) -> str:
        return title_of(self.body)


@dataclass(frozen=True)
class Blocker:
    """One object that keeps everything above it: what it waits for, why that does not come, and what would."""

    body: Object
    finalizer: str
    text: str
    hint: str
    acts: Sequence[ForcedAction] = ()
    # The program that should do it; empty if nobody is known.
    program: str = ""

    @property
    def label(self) -> str:
        return title_of(self.body)


def obstacles(scene: DeletionState) -> list[Blocker]:
    """The objects at which a removal hangs, the deepest ones: whatever waits for them is not named."""
    found: dict[str, Blocker] = {}
    for root in roots(scene):
        for obstacle in _from(scene, root):
            found.setdefault(obstacle.label, obstacle)
    return list(found.values())


def roots(scene: DeletionState) -> list[Object]:
    """What is being deleted by its own, and not as a part of something that is deleted and still there."""
    tops: Sequence[ObjectKind] = (HOSTED_CLUSTERS, NODE_POOLS, CLUSTERS, HOSTED_CONTROL_PLANES)
    going = [body for kind in tops for body in scene.of(kind) if is_deleted(body)]
    lower: Sequence[ObjectKind] = (MAAS_CLUSTERS, MACHINE_DEPLOYMENTS, MACHINE_SETS, MACHINES, MAAS_MACHINES)
    place = [scene.place] if scene.place and is_deleted(scene.place) else []
    return [*going, *(body for kind in lower for body in scene.of(kind) if is_deleted(body)), *place]


def _from(scene: DeletionState, body: Object) -> Iterator[Blocker]:
    for group in PARTS.get(body["kind"], ()):
        parts = [part for children in group for part in children(scene, body)]
        idle = [part for part in parts if not is_deleted(part)]
        for part in idle:
            yield _idle(scene, body, part)
        for part in parts:
            if part not in idle:
                yield from _from(scene, part)
        if parts:
            return
    if body["kind"] == "Machine":
        inner = _infrastructure(scene, body)
        if any(is_deleted(one) for one in inner):
            yield from (_leaf(scene, one) for one in inner)
            return
    yield _leaf(scene, body)


# -- why -----------------------------------------------------------------------------------------------


def _idle(scene: DeletionState, body: Object, part: Object) -> Blocker:
    """Something that should have been deleted as a part of something that is deleted."""
    who = DELETES[body["kind"]]
    why = _paused(scene, part) or _paused(scene, body) or _not_running(scene, who) or _said(body)
    reason, hint = why or (f"{_it(scene, who)} runs, and has not done so", f"Look into the log of {_it(scene, who)}.")
    text = f"{title_of(part)} is not deleted although {title_of(body)} is: {who.title} should do it, and {reason}."
    return Blocker(part, "", text, hint, (ForcedAction("delete", part),), who.deployment)


def _leaf(scene: DeletionState, body: Object) -> Blocker:
    """Something that is deleted and stays, although nothing is left for it to wait for."""
    if body["kind"] == "Namespace":
        return _of_namespace(scene, body)
    held = finalizers(body)
    known = [(name, who) for name in held for who in [caretaker(body["kind"], name)] if who]
    if not held:
        text = f"{title_of(body)} is deleted and has no finalizer, and is still there."
        return Blocker(body, "", text, "Look at kube-controller-manager and etcd of the management cluster.")
    if not known:
        return _unknown(body, held)
    finalizer, who = known[0]
    reason, hint = _why(scene, body, who)
    text = f"{title_of(body)} keeps its finalizer {finalizer}: {who.title} removes it once {who.once}, and {reason}."
    return Blocker(body, finalizer, text, hint, _acts(scene, body, held), who.deployment)


def _unknown(body: Object, held: Sequence[str]) -> Blocker:
    return Blocker(
        body,
        held[0],
        f"{title_of(body)} keeps the finalizer {' and '.join(held)}, which nothing that this collection knows removes.",
        "Find out who put it there (metadata.managedFields names them); force: true removes it.",
        (ForcedAction("finalizers", body, held),),
    )


def _acts(scene: DeletionState, body: Object, held: Sequence[str]) -> Sequence[ForcedAction]:
    """The mildest thing first that has not been tried: a drain that is skipped, a machine that is deleted, and then."""
    if body["kind"] == "Machine" and is_deleted(body):
        annotations = body["metadata"].get("annotations") or {}
        if not {NO_DRAIN, NO_DETACH} <= annotations.keys() and stage(body)[0] in (*BEFORE_INFRASTRUCTURE, ""):
            return (ForcedAction("no_drain", body),)
        waiting = [one for one in _infrastructure(scene, body) if not is_deleted(one)]
        if waiting:
            return tuple(ForcedAction("delete", one) for one in waiting)
    return (ForcedAction("finalizers", body, held),)


def _why(scene: DeletionState, body: Object, who: FinalizerOwner) -> tuple[str, str]:
    """Why a caretaker does not come to its end, as the end of a sentence, and what to do."""
    for clue in (_paused(scene, body), _not_running(scene, who), _said(body), _of_machine(scene, body, who)):
        if clue is not None:
            return clue
    it = _it(scene, who)
    return f"{it} runs, and does not say why that is not so", f"Look into the log of {it}; force: true removes it."


def _it(scene: DeletionState, who: FinalizerOwner) -> str:
    return f"Deployment {_where(scene, who)}/{who.deployment}" if who.deployment else who.title


def _where(scene: DeletionState, who: FinalizerOwner) -> str:
    return scene.control_plane_namespace if who.beside else scene.operator_namespace


def _paused(scene: DeletionState, body: Object) -> tuple[str, str] | None:
    cluster = next((one for one in scene.of(CLUSTERS) if (one.get("spec") or {}).get("paused")), None)
    if PAUSED in (body["metadata"].get("annotations") or {}):
        return f"it is paused (annotation {PAUSED})", "Remove the annotation; the next run does."
    if cluster is not None and body["kind"] in PAUSED_WITH_CLUSTER:
        return f"{title_of(cluster)} is paused", "Set its spec.paused to false; the next run does."
    return None


PAUSED_WITH_CLUSTER = frozenset({"Cluster", "Machine", "MachineSet", "MachineDeployment", "MaasMachine", "MaasCluster"})


def _not_running(scene: DeletionState, who: FinalizerOwner) -> tuple[str, str] | None:
    if not who.deployment or scene.programs is None or who.deployment not in scene.programs:
        return None
    it, found = _it(scene, who), scene.programs[who.deployment]
    if found is None:
        return f"{it} does not exist", "Bring it back, then run the task again; or set force: true."
    if (found.get("spec") or {}).get("replicas") == 0:
        return f"{it} is scaled to 0", "Scale it up, then run the task again; or set force: true."
    if not (found.get("status") or {}).get("availableReplicas"):
        return (
            f"{it} does not run: none of its pods is available",
            "Find out why its pods do not start, then run the task again; or set force: true.",
        )
    return None


def runs(scene: DeletionState, program: str) -> bool:
    """Whether a program that should do something can, as far as that is known."""
    if scene.programs is None or program not in scene.programs:
        return True
    return bool(((scene.programs[program] or {}).get("status") or {}).get("availableReplicas"))


def _said(body: Object) -> tuple[str, str] | None:
    """What the object's own conditions say."""
    at, message = stage(body)
    if at in STAGES:
        return STAGES[at](message)
    for kind, status, reason in TELLING.get(body["kind"], ()):
        found = _condition(body, kind)
        if found and found.get("status") == status and reason in ("", found.get("reason")):
            text = " ".join(str(found.get("message") or found.get("reason") or "").split()).rstrip(".")
            return f"{kind} says: {text}", "What it names has to go first; force: true does not wait for it."
    return None


TELLING: Mapping[str, Sequence[tuple[str, str, str]]] = {
    "HostedControlPlane": (("CloudResourcesDestroyed", "False", ""),),
    "HostedCluster": (
        ("ReconciliationSucceeded", "False", ""),
        ("HostedClusterDestroyed", "True", "WaitingForGracePeriod"),
        ("CloudResourcesDestroyed", "False", ""),
    ),
}


def _condition(body: Object, kind: str) -> Mapping[str, Any] | None:
    status = body.get("status") or {}
    newer = (status.get("v1beta2") or {}).get("conditions") or []
    return next((one for one in [*newer, *(status.get("conditions") or [])] if one["type"] == kind), None)


def stage(body: Object) -> tuple[str, str]:
    """How far the deletion of a Machine has come, in Cluster API's words, and what it says about it."""
    if body["kind"] != "Machine" or not is_deleted(body):
        return "", ""
    found = _condition(body, "Deleting") or {}
    draining = _condition(body, "DrainingSucceeded") or {}
    reason = str(found.get("reason") or "")
    message = str(found.get("message") or "")
    # The newer condition hides what went wrong with a drain; the older one has it.
    if reason == "DrainingNode" and draining.get("status") == "False" and draining.get("reason") == "DrainingFailed":
        message = str(draining.get("message") or message)
    return reason, message


def _draining(message: str) -> tuple[str, str]:
    budget = re.search(r"[Tt]he disruption budget (\S+) (needs[^\n]*)", message)
    text = " ".join(message.split()).rstrip(".")
    way = "exclude it from draining with drain: false, or set force: true."
    if budget or "disruption budget" in message:
        which = f" {budget[1]}" if budget else ""
        return (
            f"its node cannot be drained because of the disruption budget{which} ({text})",
            f"Give the pods that the budget{which} protects a place on another node or relax the budget; {way}",
        )
    if "connection to the workload cluster is down" in message or "Timeout exceeded" in message:
        return (
            f"its node cannot be drained because the API of the hosted cluster does not answer ({text})",
            f"Bring the control plane back; {way}",
        )
    return (
        f"its node cannot be drained ({text or 'Cluster API does not say why'})",
        f"Look at the pods it names; {way}",
    )


def _detaching(message: str) -> tuple[str, str]:
    text = " ".join(message.split()).rstrip(".")
    return (
        f"volumes are still attached to its node ({text or 'Cluster API does not say which'})",
        "Look at the VolumeAttachments of the hosted cluster; force: true does not wait for them.",
    )


def _node(message: str) -> tuple[str, str]:
    text = " ".join(message.split()).rstrip(".")
    return (
        f"its Node cannot be deleted, most likely because the API of the hosted cluster does not answer ({text})",
        "Bring the control plane back, wait for node_deletion_timeout of the node pool, or set force: true.",
    )


def _hook(message: str) -> tuple[str, str]:
    text = " ".join(message.split()).rstrip(".")
    return (f"a hook holds it ({text})", "Whoever set the hook removes its annotation; force: true does not wait.")


STAGES: Mapping[str, Callable[[str], tuple[str, str]]] = {
    "DrainingNode": _draining,
    "WaitingForVolumeDetach": _detaching,
    "DeletingNode": _node,
    "WaitingForPreDrainHook": _hook,
    "WaitingForPreTerminateHook": _hook,
}
# The stages that come before the machine is given back.
BEFORE_INFRASTRUCTURE = (
    "DrainingNode",
    "WaitingForVolumeDetach",
    "WaitingForPreDrainHook",
    "WaitingForPreTerminateHook",
)


def _of_machine(scene: DeletionState, body: Object, who: FinalizerOwner) -> tuple[str, str] | None:
    """What MAAS knows of the machine that a MaasMachine names."""
    if body["kind"] != "MaasMachine":
        return None
    it = _it(scene, who)
    if scene.key_refused:
        return (
            f"MAAS does not accept the key that it has ({scene.key_refused})",
            f"Give {it} a key that MAAS accepts: the Secret in {scene.control_plane_namespace} is read at its start; "
            "or set force: true.",
        )
    system_id = system_id_of(body)
    if not system_id:
        return (
            "it never had a machine: the provider keeps such a one for two minutes",
            "Wait, or set force: true.",
        )
    trouble = scene.machine_troubles.get(system_id)
    if trouble:
        return trouble, "Mend that in MAAS, or set force: true."
    return (
        f"machine {system_id} is not released, and the provider says why in its log alone",
        f"Look into the log of {it}, and whether MAAS answers it; or set force: true.",
    )


def _of_namespace(scene: DeletionState, body: Object) -> Blocker:
    held = [body_ for body_ in scene.content if finalizers(body_)]
    if held:
        first = held[0]
        names = ", ".join(f"{title_of(one)} ({', '.join(finalizers(one))})" for one in held[:5])
        more = f" and {len(held) - 5} more" if len(held) > 5 else ""
        who = caretaker(first["kind"], finalizers(first)[0])
        whose = f"{who.title} removes it once {who.once}" if who else "nothing that this collection knows removes it"
        return Blocker(
            first,
            finalizers(first)[0],
            f"{title_of(body)} cannot go because of what is in it: {names}{more} keeps its finalizer, and {whose}.",
            "Find out why that does not happen; force: true removes these finalizers.",
            tuple(ForcedAction("finalizers", one, finalizers(one)) for one in held),
        )
    own = finalizers(body)
    if own:
        return _unknown(body, own)
    said = [
        str(one.get("message") or one.get("reason"))
        for one in (body.get("status") or {}).get("conditions") or ()
        if one.get("status") == "True"
    ]
    return Blocker(
        body,
        "",
        f"{title_of(body)} is not gone yet: {' '.join(said).rstrip('.') or 'Kubernetes does not say why'}.",
        "Look at kube-controller-manager, and at API services that do not answer (kubectl get apiservices).",
    )
