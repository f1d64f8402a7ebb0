# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deleting what a hosted cluster or a node pool is in Kubernetes, and waiting until it is gone.

When nothing moves any more, what it hangs at is said; after long enough that is a failure, or what force is for.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.pool_progress import is_not_ours
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.controllers import Controllers
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.pure.blockers import (
    BEFORE_INFRASTRUCTURE,
    KINDS,
    Blocker,
    DeletionState,
    ForcedAction,
    finalizers,
    footprint,
    obstacles,
    runs,
    stage,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.pure.stuck_machines import patches
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.ownership.namesakes import (
    namesakes_in,
    owners_in,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.ownership.pure.control_plane_owner import (
    ControlPlaneOwner,
    clusters_of_pools,
    infrastructures,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pauses.pure.provider import (
    is_given_up,
    resumption,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import (
    HOSTED_CONTROL_PLANE_LABEL,
    KEEPS_NAMESPACE,
    MAAS_MACHINE_FINALIZER,
    NO_DETACH,
    NO_DRAIN,
    PAUSED,
    pool_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import control_plane_namespace
from ansible_collections.metalshift.maas.plugins.module_utils._core.clock import in_words
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import PASSING, Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._core.wait import Patience
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.fields import text
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    CLUSTERS,
    HOSTED_CLUSTERS,
    HOSTED_CONTROL_PLANES,
    MAAS_CLUSTERS,
    MAAS_MACHINES,
    MACHINE_DEPLOYMENTS,
    MACHINE_SETS,
    MACHINES,
    NAMESPACES,
    NODE_POOLS,
    Object,
    ObjectKind,
    kind_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import is_deleted, name_of, title_of

if TYPE_CHECKING:
    from ansible_collections.metalshift.maas.plugins.module_utils._kube.watch import Watching


TICK = 1.0
# When nothing has moved for so long, what it hangs at is said; it may still get better.
HANGS = 30.0
GO_ON = "Run the task again to continue from here, with a longer wait_timeout if that is normal here."
# Force has waited once. What its own acts set free needs no long wait each time.
AFTER_FORCE = 10.0


@dataclass(frozen=True)
class DeletionSpec:
    """What the options of a task ask for."""

    namespace: str
    cluster: str
    # The one node pool that is to go; empty for the whole cluster.
    pool: str
    drain: bool
    force: bool
    stall: float
    erase: bool
    wait: bool
    remove_credentials: bool = False

    @property
    def label(self) -> str:
        noun, name = ("node_pool", self.pool) if self.pool else ("hosted_cluster", self.cluster)
        return f"{noun} {self.namespace}/{name}"

    @property
    def owner(self) -> str:
        return f"{self.namespace}/{self.cluster}"

    @property
    def place(self) -> str:
        return control_plane_namespace(self.namespace, self.cluster)


@dataclass
class KubernetesDeletion:
    """What is left of one cluster or pool in Kubernetes, on its way out."""

    task: Task
    wanted: DeletionSpec
    patience: Patience
    caretakers: Controllers
    # What force did, as people read it.
    forced: list[str] = field(default_factory=list)
    changed: bool = False
    # Whose the control plane's namespace and what is in it is, as the first look found it.
    owner: ControlPlaneOwner = field(init=False)
    # What keeps the namespace from being touched, as the end of a sentence; empty if it is this cluster's.
    not_ours: str = ""
    _place: Object | None = None

    def __post_init__(self) -> None:
        self.owner = ControlPlaneOwner(self.wanted.namespace, self.wanted.cluster)
        self._told: dict[str, str] = {}
        self._explained = self.task.clock.now() - HANGS
        # How long nothing may move before something is done about it.
        self._limit = self.wanted.stall
        # The programs that force has waited for once; an empty name stands for whoever is not known.
        self._given_up: set[str] = set()

    # -- reading --------------------------------------------------------------------------------------------

    def look(self) -> DeletionState:
        """What is left, read once."""
        kube, wanted = self.task.kube, self.wanted
        objects = {
            kind: kube.list(kind, wanted.namespace if kind in (HOSTED_CLUSTERS, NODE_POOLS) else wanted.place)
            for kind in KINDS
        }
        found = next((body for body in objects[HOSTED_CLUSTERS] if name_of(body) == wanted.cluster), None)
        owner = ControlPlaneOwner(
            wanted.namespace,
            wanted.cluster,
            found,
            clusters_of_pools(objects[NODE_POOLS], wanted.namespace),
            infrastructures(objects[CLUSTERS]),
        )
        namesakes = namesakes_in(kube, wanted.namespace, wanted.cluster)
        if namesakes is None:
            within = [body for kind in KINDS if kind not in (HOSTED_CLUSTERS, NODE_POOLS) for body in objects[kind]]
            namesakes = sorted({stated for body in within if (stated := owner.stated(body))} - {owner.label})
        self.owner = replace(owner, namesakes=namesakes)
        self._place = kube.get(NAMESPACES, wanted.place)
        self.not_ours = "" if wanted.pool or self._place is None else self._whose(self._place)
        return self._scene(objects, self._place)

    def _whose(self, place: Object) -> str:
        """Why the control plane's namespace is not this cluster's; empty if it is."""
        owner = self.owner
        if HOSTED_CONTROL_PLANE_LABEL not in (place["metadata"].get("labels") or {}):
            return "HyperShift did not make it"
        if owner.namesakes:
            return f"it is that of hosted cluster {' and '.join(owner.namesakes)}"
        if owner.cluster is not None:
            return f"the annotation {KEEPS_NAMESPACE} keeps it" if keeps_namespace(owner.cluster) else ""
        stated = owners_in(self.task.kube, owner)
        if others := sorted(set(stated) - {owner.label}):
            return f"what is in it is of hosted cluster {' and '.join(others)}"
        return "" if stated else "nothing in it says whose it was"

    def _scene(self, objects: Mapping[ObjectKind, Iterable[Object]], place: Object | None) -> DeletionState:
        """Only what belongs to this cluster, or to this pool."""
        wanted = self.wanted
        own = {kind: [body for body in bodies if self._is_part(kind, body)] for kind, bodies in objects.items()}
        # The last moment at which a node pool is of interest is when its machines are gone.
        return DeletionState(wanted.namespace, wanted.cluster, own, None if wanted.pool or self.not_ours else place)

    def _is_part(self, kind: ObjectKind, body: Object) -> bool:
        wanted = self.wanted
        if kind is HOSTED_CLUSTERS:
            return not wanted.pool and name_of(body) == wanted.cluster
        if kind is NODE_POOLS:
            named = (body.get("spec") or {}).get("clusterName") == wanted.cluster
            return named and wanted.pool in ("", name_of(body))
        if not self.owner.owns(body) or (self.owner.namesakes and self.owner.cluster is None):
            return False
        # The Cluster is looked at for its pause alone.
        return not wanted.pool or kind is CLUSTERS or pool_of(body) == f"{wanted.namespace}/{wanted.pool}"

    def left_over(self, scene: DeletionState) -> list[Object]:
        """What there is to delete where nothing is left that would delete it; what owns others first."""
        workers = (MACHINE_DEPLOYMENTS, MACHINE_SETS, MACHINES, MAAS_MACHINES)
        kinds = workers if self.wanted.pool else (CLUSTERS, *workers, HOSTED_CONTROL_PLANES, MAAS_CLUSTERS)
        return [*(body for kind in kinds for body in scene.of(kind)), *([scene.place] if scene.place else [])]

    def _next_left_over(self, scene: DeletionState) -> list[Object]:
        """The first of them: all of one kind."""
        found = self.left_over(scene)
        return [body for body in found if body["kind"] == found[0]["kind"]]

    # -- acting ---------------------------------------------------------------------------------------------

    def take_down(self, scene: DeletionState, before_cluster: Callable[[], None] = lambda: None) -> None:
        """Until nothing is left. `before_cluster` is done when the node pools are gone, and the cluster is there."""
        if scene.empty or (self.wanted.pool and not self.parts_of_pool(scene)):
            return
        pools = scene.of(NODE_POOLS)
        with self._watched() as watching:
            if pools:
                self.ask(pools)
                self._until(watching, lambda now: not self.parts_of_pool(now))
            if not self.wanted.pool:
                before_cluster()
                self.ask(scene.of(HOSTED_CLUSTERS))
            self._until(watching, self._is_gone)

    def parts_of_pool(self, scene: DeletionState) -> list[Object]:
        """What a node pool is: itself, and what Cluster API has of it."""
        kinds = (NODE_POOLS, MACHINE_DEPLOYMENTS, MACHINE_SETS, MACHINES, MAAS_MACHINES)
        return [body for kind in kinds for body in scene.of(kind)]

    def _is_gone(self, scene: DeletionState) -> bool:
        return not self.parts_of_pool(scene) if self.wanted.pool else scene.empty

    def ask(self, bodies: Iterable[Object]) -> None:
        """Delete, whatever is not being deleted already."""
        for body in bodies:
            if not is_deleted(body):
                metadata = body["metadata"]
                namespace = str(metadata.get("namespace", ""))
                gone = self.task.kube.delete(kind_of(body), name_of(body), namespace, uid=metadata["uid"])
                self.changed = self.changed or gone
                self.task.say(f"{title_of(body)}: deletion asked for")

    def patch(self, body: Object, patch: Mapping[str, Any], said: str = "") -> None:
        try:
            self.task.kube.patch(kind_of(body), name_of(body), str(body["metadata"].get("namespace", "")), patch)
        except Failure as failure:
            # It may be gone by now, which is what is wanted.
            if failure.kind not in ("not_found", "conflict"):
                raise
            return
        self.changed = True
        if said:
            self.task.say(f"{title_of(body)}: {said}")

    def skip_drain(self, body: Object) -> None:
        present = body["metadata"].get("annotations") or {}
        if not {NO_DRAIN, NO_DETACH} <= present.keys():
            self.patch(body, {"metadata": {"annotations": {NO_DRAIN: "true", NO_DETACH: "true"}}})

    # -- waiting --------------------------------------------------------------------------------------------

    def _watched(self) -> Watching:
        from ansible_collections.metalshift.maas.plugins.module_utils._kube.watch import Watching

        wanted = self.wanted
        places = [(kind, wanted.namespace if kind in (HOSTED_CLUSTERS, NODE_POOLS) else wanted.place) for kind in KINDS]
        return Watching(self.task.kube, places)

    def _until(self, watching: Watching, gone: Callable[[DeletionState], bool]) -> None:
        """Wait until that is gone; act when nothing moves, if the task says so."""
        clock = self.task.clock
        seen, since = None, clock.now()
        while True:
            scene = self._now(watching)
            if scene is not None:
                if gone(scene):
                    return
                self._tell(self._line(scene))
                self._cure(scene)
                if not scene.of(HOSTED_CLUSTERS) and not scene.of(NODE_POOLS):
                    # Nobody is left who would do it.
                    self.ask(self._next_left_over(scene))
                mark = footprint(scene)
                if mark != seen:
                    seen, since, self._limit = mark, clock.now(), min(self._limit, self.wanted.stall)
                stalled, limit = clock.now() - since, self._limit
                late = self.patience.left <= 0
                # What explains a hang takes a hundred requests.
                due = stalled >= min(HANGS, limit) and clock.now() - self._explained >= HANGS
                if due or stalled >= limit or late:
                    self._explained = clock.now()
                    self._limit, acted = self._hanging(scene, stalled, limit, late)
                    since = clock.now() if acted else since
            elif self.patience.left <= 0:
                raise self._unread(watching)
            self.task.trace_requests()
            watching.changed(TICK)

    def _now(self, watching: Watching) -> DeletionState | None:
        """What is there now; None while it cannot be read."""
        if watching.lost or not watching.complete:
            return None
        refused = [trouble for trouble in watching.troubles.values() if trouble.failure.kind not in PASSING]
        if refused:
            raise refused[0].failure
        wanted = self.wanted
        objects = {
            kind: list(
                watching.snapshot(
                    kind, wanted.namespace if kind in (HOSTED_CLUSTERS, NODE_POOLS) else wanted.place
                ).values()
            )
            for kind in KINDS
        }
        try:
            # As long as something is in it, the namespace stays.
            if not wanted.pool and not any(
                objects[kind] for kind in KINDS if kind not in (HOSTED_CLUSTERS, NODE_POOLS)
            ):
                self._place = self.task.kube.get(NAMESPACES, wanted.place)
        except Failure as failure:
            if failure.kind not in PASSING:
                raise
            return None
        return self._scene(objects, self._place)

    def _cure(self, scene: DeletionState) -> None:
        """What nobody else does any more once the deletion has begun, and what harms nothing."""
        going = any(is_deleted(body) for kind in (HOSTED_CLUSTERS, NODE_POOLS, CLUSTERS) for body in scene.of(kind))
        if going and not self.wanted.pool:
            for body in scene.of(CLUSTERS):
                if (body.get("spec") or {}).get("paused"):
                    self.patch(body, {"spec": {"paused": False}}, "continued")
        for kind in (MACHINE_DEPLOYMENTS, MACHINE_SETS, MACHINES, MAAS_MACHINES):
            for body in scene.of(kind):
                paused = PAUSED in (body["metadata"].get("annotations") or {})
                # A MaasMachine whose machine is somebody else's: the provider must not see it any more.
                abandoned = kind is MAAS_MACHINES and is_not_ours(body)
                if paused and not abandoned and (going or is_deleted(body)):
                    self._continue(body)
                if abandoned and is_deleted(body) and MAAS_MACHINE_FINALIZER in finalizers(body):
                    self._unfinalize(
                        body,
                        [one for one in finalizers(body) if one != MAAS_MACHINE_FINALIZER],
                        [MAAS_MACHINE_FINALIZER],
                    )
                if kind is MACHINES and not self.wanted.drain:
                    self.skip_drain(body)
        for patch in patches(scene.of(NODE_POOLS), scene.of(MACHINE_SETS), scene.of(MACHINES), time.time()):
            for body in scene.of(patch.kind):
                if name_of(body) == patch.name:
                    self.patch(body, patch.body, patch.said)

    def _continue(self, body: Object) -> None:
        """End a pause, of a MaasMachine that was given up without the machine that it only thinks it has."""
        if is_given_up(body):
            self.patch(body, resumption(body, going=True).body, "continued, so that it can go")
        else:
            self.patch(body, {"metadata": {"annotations": {PAUSED: None}}}, "continued")

    # -- hanging --------------------------------------------------------------------------------------------

    def _hanging(self, scene: DeletionState, stalled: float, limit: float, late: bool) -> tuple[float, bool]:
        """Say what it hangs at, and after long enough act or fail. The time to wait next, and whether it acted."""
        detailed = self.caretakers.detailed(scene)
        found = obstacles(detailed)
        for one in found:
            if self._told.get(one.label) != one.text:
                self._told[one.label] = one.text
                self.task.say(f"hangs: {one.text}")
        if late:
            raise self._stuck(found, "timeout", f"after {in_words(self.patience.timeout)}")
        if stalled < limit:
            return limit, False
        if not self.wanted.force:
            # A drain that is wished may take as long as the task is given.
            if found and all(_is_draining(one) for one in found):
                return self.patience.timeout, False
            raise self._stuck(found, "failed_state", f"and nothing has moved for {in_words(stalled)}")
        hopeless = all(self._is_hopeless(detailed, one) for one in found)
        if self._given_up and not hopeless and stalled < self.wanted.stall:
            # Who runs, and has not been waited for yet, is given the whole time.
            return self.wanted.stall, False
        self._given_up.update(one.program for one in found)
        # Two obstacles may ask for the same.
        acts = {f"{act.verb} {act.label}": act for one in found for act in one.acts}
        for act in acts.values():
            self._force(act)
        return min(AFTER_FORCE, self.wanted.stall), True

    def _is_hopeless(self, scene: DeletionState, obstacle: Blocker) -> bool:
        return obstacle.program in self._given_up or not runs(scene, obstacle.program)

    def _force(self, act: ForcedAction) -> None:
        body = act.body
        if act.verb == "no_drain":
            self.skip_drain(body)
            self.forced.append(f"{act.label}: not drained")
        elif act.verb == "delete":
            self.ask([body])
            self.forced.append(f"{act.label}: deleted")
        else:
            self._unfinalize(body, [], act.finalizers)

    def _unfinalize(self, body: Object, rest: Sequence[str], gone: Sequence[str]) -> None:
        """Take finalizers from the object as it was read: one that somebody changed meanwhile is looked at again."""
        metadata = {"finalizers": list(rest) or None, "resourceVersion": body["metadata"]["resourceVersion"]}
        kind = self.caretakers.kind_of(body)
        namespace = str(body["metadata"].get("namespace", ""))
        try:
            self.task.kube.patch(kind, name_of(body), namespace, {"metadata": metadata})
        except Failure as failure:
            if failure.kind not in ("not_found", "conflict"):
                raise
            return
        self.changed = True
        self.forced.append(f"{title_of(body)}: {', '.join(gone)} removed")
        self.task.say(f"{title_of(body)}: finalizer {' and '.join(gone)} removed")

    def _stuck(self, found: Sequence[Blocker], kind: str, since: str) -> Failure:
        texts = " ".join(one.text for one in found) or "None of the remaining objects reports a reason."
        return Failure(
            kind,
            f"{self.wanted.label} is not gone {since}. {texts}",
            object=found[0].label if found else self.wanted.label,
            reason=texts,
            hint=found[0].hint if found and not self.wanted.force else GO_ON,
            events=list(self._told.values()),
        )

    def _unread(self, watching: Watching) -> Failure:
        trouble = watching.lost
        return (
            trouble.failure
            if trouble
            else Failure("timeout", f"{self.wanted.label}: the API did not list its objects.")
        )

    # -- telling --------------------------------------------------------------------------------------------

    def _line(self, scene: DeletionState) -> str:
        counted = [
            (len(scene.of(kind)), noun)
            for kind, noun in ((NODE_POOLS, "node pools"), (MACHINES, "machines"), (MAAS_MACHINES, "MaasMachines"))
        ]
        words = [f"{number} {noun if number > 1 else noun.removesuffix('s')}" for number, noun in counted if number]
        rest = [
            kind.name
            for kind in (CLUSTERS, HOSTED_CONTROL_PLANES, MAAS_CLUSTERS, HOSTED_CLUSTERS)
            if scene.of(kind) and not self.wanted.pool
        ]
        words += [*rest, *(["Namespace"] if scene.place else [])]
        return f"still there: {', '.join(words)}" if words else ""

    def _tell(self, line: str) -> None:
        if line and self._told.get("") != line:
            self._told[""] = line
            self.task.say(f"{line}, {in_words(self.patience.waited)}")


def keeps_namespace(cluster: Object | None) -> bool:
    """Whether HyperShift leaves the namespace of the control plane when it deletes this HostedCluster."""
    return text(cluster, "metadata", "annotations", KEEPS_NAMESPACE) == "true"


def _is_draining(obstacle: Blocker) -> bool:
    return stage(obstacle.body)[0] in BEFORE_INFRASTRUCTURE
