# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Taking away a hosted cluster, or one node pool of it, until its machines are Ready in MAAS.

Nothing is kept between runs. Which machines are concerned is read from the MaasMachines, and from marks in MAAS that
are written before anything is deleted: MAAS forgets a mark when the machine is released, so whatever still has it is
still the cluster's, however far an earlier run has come.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ansible_collections.metalshift.maas.plugins.module_utils._clock import in_words
from ansible_collections.metalshift.maas.plugins.module_utils._failure import PASSING, Failure
from ansible_collections.metalshift.maas.plugins.module_utils._journey.belonging import Belonging, Named, belonging
from ansible_collections.metalshift.maas.plugins.module_utils._journey.caretakers import Caretakers
from ansible_collections.metalshift.maas.plugins.module_utils._journey.erasing import Erasing
from ansible_collections.metalshift.maas.plugins.module_utils._journey.giving_back import GivingBack, Noted
from ansible_collections.metalshift.maas.plugins.module_utils._kube.kinds import (
    CLUSTERS,
    CONFIG_MAPS,
    HOSTED_CLUSTERS,
    HOSTED_CONTROL_PLANES,
    MAAS_CLUSTERS,
    MAAS_MACHINES,
    MACHINE_DEPLOYMENTS,
    MACHINE_SETS,
    MACHINES,
    NAMESPACES,
    NODE_POOLS,
    SECRETS,
    Kind,
    Object,
    kind_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.letting_go import patches
from ansible_collections.metalshift.maas.plugins.module_utils._kube.provider_id import system_id_of
from ansible_collections.metalshift.maas.plugins.module_utils._kube.removal import (
    BEFORE_INFRASTRUCTURE,
    HOSTED_CONTROL_PLANE_LABEL,
    KINDS,
    NO_DETACH,
    NO_DRAIN,
    PAUSED,
    Act,
    Obstacle,
    Scene,
    deleting,
    finalizers,
    footprint,
    label,
    name_of,
    obstacles,
    pool_of,
    stage,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.sight import control_plane_namespace
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines import Machines, address
from ansible_collections.metalshift.maas.plugins.module_utils._plan import Plan, Step
from ansible_collections.metalshift.maas.plugins.module_utils._spec import Options
from ansible_collections.metalshift.maas.plugins.module_utils._task import Result, Task
from ansible_collections.metalshift.maas.plugins.module_utils._wait import Patience

if TYPE_CHECKING:
    from ansible_collections.metalshift.maas.plugins.module_utils._kube.watching import Watching

# For both modules; `remove_credentials` is for hosted_cluster alone.
REMOVAL_OPTIONS: Options = {
    "force": {"type": "bool", "default": False},
    "stall_timeout": {"type": "float", "default": 300.0},
    "drain": {"type": "bool"},
    "erase": {"type": "bool"},
}
CREDENTIALS_OPTION: Options = {"remove_credentials": {"type": "bool", "default": False}}

MANAGED = "app.kubernetes.io/managed-by=metalshift.maas,metalshift.maas/hosted-cluster={}"
# A MaasMachine whose machine is somebody else's: the provider must not see it any more.
NOT_OURS = "metalshift.maas/not-ours"
PROVIDERS_FINALIZER = "maasmachine.infrastructure.cluster.x-k8s.io"

TICK = 1.0
# When nothing has moved for so long, what it hangs at is said; it may still get better.
HANGS = 30.0
# Force has waited once. What its own acts set free needs no long wait each time.
AFTER_FORCE = 10.0
CONTENT_AT_ONCE = 6


@dataclass(frozen=True)
class Wanted:
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
class Removal:
    """One run."""

    task: Task
    wanted: Wanted
    forced: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    noted: list[Noted] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    changed: bool = False
    _concerns_maas: bool = False
    _place: Object | None = None

    def __post_init__(self) -> None:
        task = self.task
        self.patience = Patience.from_params(task.params, task.clock, task.say)
        self.caretakers = Caretakers(task, self.wanted.namespace, self.wanted.cluster)
        self._told: dict[str, str] = {}
        self._explained = task.clock.now() - HANGS

    # -- the whole ------------------------------------------------------------------------------------------

    def converge(self) -> Result:
        scene = self.look()
        on_maas = self._concerns_maas = self._on_maas(scene)
        if self.wanted.pool:
            self._refuse_pause(scene)
        if on_maas:
            self._note(scene)
        mine = self._made_by_us()
        self.plan = self._planned(scene, mine)
        if self.task.check:
            return self._result(changed=bool(self.plan))
        self._prepare(scene)
        if not self.wanted.wait:
            self._ask(scene, (*self._pools(scene), *scene.of(HOSTED_CLUSTERS)))
            if scene.of(HOSTED_CLUSTERS) and mine:
                self.warnings.append("The Secrets stay: the cluster needs them until it is gone, and wait is false.")
            return self._result()
        self._take_down(scene)
        stays = self._give_back() if on_maas else None
        if on_maas and self.wanted.erase:
            stays = self._erase() or stays
        for body in mine:
            self._drop(body)
        return self._result(failure=stays)

    def _result(self, *, changed: bool = False, failure: Failure | None = None) -> Result:
        self.task.trace_requests()
        return Result(
            changed=changed or self.changed,
            values={
                "node_pool" if self.wanted.pool else "hosted_cluster": {},
                "machines": [one.to_dict() for one in self.noted],
                "removed": self.removed,
                "forced": self.forced,
            },
            plan=self.plan,
            failure=failure,
            warnings=self.warnings,
        )

    # -- reading --------------------------------------------------------------------------------------------

    def look(self) -> Scene:
        """What is left, read once."""
        kube, wanted = self.task.kube, self.wanted
        objects = {
            kind: kube.list(kind, wanted.namespace if kind in (HOSTED_CLUSTERS, NODE_POOLS) else wanted.place)
            for kind in KINDS
        }
        self._place = kube.get(NAMESPACES, wanted.place)
        return self._scene(objects, self._place)

    def _scene(self, objects: Mapping[Kind, Iterable[Object]], place: Object | None) -> Scene:
        """Only what belongs to this cluster, or to this pool."""
        wanted = self.wanted
        own = {kind: [body for body in bodies if self._is_part(kind, body)] for kind, bodies in objects.items()}
        if wanted.pool:
            # The last moment at which a node pool is of interest is when its machines are gone.
            place = None
        elif place is not None and HOSTED_CONTROL_PLANE_LABEL not in (place["metadata"].get("labels") or {}):
            # Somebody's own namespace that happens to be called so.
            place = None
        return Scene(wanted.namespace, wanted.cluster, own, place)

    def _is_part(self, kind: Kind, body: Object) -> bool:
        wanted = self.wanted
        if kind is HOSTED_CLUSTERS:
            return not wanted.pool and name_of(body) == wanted.cluster
        if kind is NODE_POOLS:
            named = (body.get("spec") or {}).get("clusterName") == wanted.cluster
            return named and wanted.pool in ("", name_of(body))
        if not wanted.pool:
            return True
        # The Cluster is looked at for its pause alone.
        return kind is CLUSTERS or pool_of(body) == f"{wanted.namespace}/{wanted.pool}"

    def _on_maas(self, scene: Scene) -> bool:
        platforms = {
            str(((body.get("spec") or {}).get("platform") or {}).get("type") or "")
            for kind in (HOSTED_CLUSTERS, NODE_POOLS)
            for body in scene.of(kind)
        }
        return "MAAS" in platforms or bool(scene.of(MAAS_MACHINES)) or (not platforms and self._knows_maas)

    @property
    def _knows_maas(self) -> bool:
        """Whether the task says where MAAS is: what an earlier run left there is worth a look then."""
        return bool(self.task.params.get("maas_endpoint") and self.task.params.get("maas_api_key"))

    # -- before anything is deleted -------------------------------------------------------------------------

    def _refuse_pause(self, scene: Scene) -> None:
        """A pool of a paused cluster stays for ever, and a cluster is not un-paused for one of its pools."""
        paused = [body for body in scene.of(CLUSTERS) if (body.get("spec") or {}).get("paused")]
        if paused and self._pools(scene):
            raise Failure(
                "conflict",
                f"{self.wanted.label} cannot go while the hosted cluster {self.wanted.owner} is paused: "
                "neither Cluster API nor the MAAS provider does anything then.",
                object=self.wanted.label,
                reason=f"{label(paused[0])} is paused",
                hint="Continue it first, with hosted_cluster and paused: false.",
            )

    def _note(self, scene: Scene) -> None:
        """Which machines are concerned, and whose each is."""
        machines = Machines(self.task.maas)
        named = self._named(scene)
        known = machines.read(named)
        owners = self.caretakers.owners(machines.me)
        for system_id, one in sorted(named.items()):
            machine = known.get(system_id) or machines.get(system_id)
            found = belonging(machine, one, owners)
            self.noted.append(
                Noted.of(system_id, machine, pool_of(one.maas_machine).rpartition("/")[2], found, one.name)
            )
        for machine in GivingBack.marked(machines, self.wanted.owner, self.wanted.pool):
            if machine["system_id"] not in named:
                why = Belonging("ours", "MAAS has it marked as this cluster's, and no MaasMachine names it")
                self.noted.append(Noted.of(machine["system_id"], machine, "", why, ""))
        self._refuse_foreign()

    def _named(self, scene: Scene) -> dict[str, Named]:
        """The MaasMachines by the machine that each names, with what else is known of it."""
        nodes = {
            str(((body.get("spec") or {}).get("infrastructureRef") or {}).get("name")): str(
                ((body.get("status") or {}).get("nodeRef") or {}).get("name") or ""
            )
            for body in scene.of(MACHINES)
        }
        everywhere = self._all_maas_machines(scene)
        found = {}
        for body in scene.of(MAAS_MACHINES):
            system_id = system_id_of(body)
            rivals = [
                f"{one['metadata'].get('namespace')}/{name_of(one)}"
                for one in everywhere
                if system_id_of(one) == system_id and one["metadata"].get("uid") != body["metadata"].get("uid")
            ]
            if system_id:
                found[system_id] = Named(body, self.wanted.owner, nodes.get(name_of(body), ""), tuple(rivals))
        return found

    def _all_maas_machines(self, scene: Scene) -> Sequence[Object]:
        try:
            return self.task.kube.list(MAAS_MACHINES)
        except Failure as failure:
            if failure.kind != "forbidden":
                raise
            return scene.of(MAAS_MACHINES)

    def _refuse_foreign(self) -> None:
        """The provider releases what a MaasMachine names, whoever holds it: that must not happen."""
        foreign = [one for one in self.noted if one.maas_machine and one.belonging.verdict in ("foreign", "unsure")]
        if not foreign or self.wanted.force:
            return
        told = "; ".join(f"{one.maas_machine} names {one.title}, but {one.belonging.reason}" for one in foreign)
        raise Failure(
            "claimed",
            f"{self.wanted.label} is not removed, because the MAAS provider would release a machine that is not, or "
            f"may not be, the cluster's: {told}.",
            object=self.wanted.label,
            reason=told,
            hint="Correct spec.providerID of that MaasMachine; or set force: true, which takes it out of the "
            "provider's hands and leaves the machine alone.",
        )

    def _made_by_us(self) -> list[Object]:
        """What the module hosted_cluster made besides the cluster; the credentials are needed until the very end."""
        if self.wanted.pool:
            return []
        selector = MANAGED.format(self.wanted.cluster)
        made = [
            body
            for kind in (SECRETS, CONFIG_MAPS)
            for body in self.task.kube.list(kind, self.wanted.namespace, labels=selector)
        ]
        credentials = f"{self.wanted.cluster}-maas-credentials"
        return [body for body in made if self.wanted.remove_credentials or name_of(body) != credentials]

    # -- planning -------------------------------------------------------------------------------------------

    def _pools(self, scene: Scene) -> list[Object]:
        return list(scene.of(NODE_POOLS))

    def _planned(self, scene: Scene, mine: Sequence[Object]) -> Plan:
        steps = [
            Step(
                "continue", label(body), "what is paused cannot be deleted", _paused_until(body), {"pausedUntil": None}
            )
            for body in (*scene.of(HOSTED_CLUSTERS), *self._pools(scene))
            if _paused_until(body)
        ]
        steps += [Step("leave alone", one.title, one.belonging.reason) for one in self.noted if one.is_foreign]
        whole = (*self._pools(scene), *scene.of(HOSTED_CLUSTERS))
        steps += [Step("delete", label(body), before={"name": name_of(body)}) for body in whole]
        if not whole:
            steps += [Step("delete", label(body), "it was left over") for body in self._left_over(scene)]
        steps += [
            Step("release", one.title, one.belonging.reason, {"status": one.status}, {"status": "Ready"})
            for one in self.noted
            if one.belonging.verdict == "ours" and (one.maas_machine or self.wanted.force)
        ]
        if self.wanted.erase and self._concerns_maas:
            going = [one.title for one in self.noted if one.belonging.verdict == "ours"]
            steps += [Step("erase", title, "once it is given back") for title in going]
            left = [machine for machine in self._erasing().remembered() if address(machine) not in " ".join(going)]
            steps += [Step("erase", address(machine), "an earlier run did not come to it") for machine in left]
        steps += [Step("delete", label(body), "it was made for the cluster") for body in mine]
        return Plan(steps)

    def _left_over(self, scene: Scene) -> list[Object]:
        """The next things to delete where nothing is left that would delete them; what owns others first."""
        workers = (MACHINE_DEPLOYMENTS, MACHINE_SETS, MACHINES, MAAS_MACHINES)
        for kind in workers if self.wanted.pool else (CLUSTERS, *workers, HOSTED_CONTROL_PLANES, MAAS_CLUSTERS):
            if scene.of(kind):
                return list(scene.of(kind))
        return [scene.place] if scene.place else []

    # -- acting ---------------------------------------------------------------------------------------------

    def _prepare(self, scene: Scene) -> None:
        """Write down whose the machines are, and clear what would make a deletion hang."""
        for one in self.noted:
            if one.is_foreign and one.maas_machine:
                self._protect(scene, one)
        if self.noted:
            back = GivingBack(self.task, self.patience, self.wanted.owner)
            self.noted = [back.mark(one) if one.belonging.verdict == "ours" else one for one in self.noted]
            self.changed = self.changed or back.changed
        ours = [one.system_id for one in self.noted if one.belonging.verdict == "ours"]
        if self.wanted.erase and ours:
            self._erasing().remember(ours)
        for body in (*scene.of(HOSTED_CLUSTERS), *self._pools(scene)):
            if _paused_until(body):
                self._patch(body, {"spec": {"pausedUntil": None}}, "continued")
        if not self.wanted.drain:
            for body in scene.of(MACHINES):
                self._skip_drain(body)

    def _protect(self, scene: Scene, one: Noted) -> None:
        for body in scene.of(MAAS_MACHINES):
            if name_of(body) == one.maas_machine and NOT_OURS not in (body["metadata"].get("annotations") or {}):
                said = (
                    f"taken out of the provider's hands, for {one.title} is not this cluster's: {one.belonging.reason}"
                )
                self._patch(body, {"metadata": {"annotations": {PAUSED: "true", NOT_OURS: one.system_id}}}, said)

    def _skip_drain(self, body: Object) -> None:
        present = body["metadata"].get("annotations") or {}
        if not {NO_DRAIN, NO_DETACH} <= present.keys():
            self._patch(body, {"metadata": {"annotations": {NO_DRAIN: "true", NO_DETACH: "true"}}})

    def _take_down(self, scene: Scene) -> None:
        if scene.empty or (self.wanted.pool and not self._of_pool(scene)):
            return
        pools = self._pools(scene)
        with self._watched() as watching:
            if pools:
                self._ask(scene, pools)
                self._until(watching, lambda now: not self._of_pool(now))
            if not self.wanted.pool:
                self._ask(scene, scene.of(HOSTED_CLUSTERS))
            self._until(watching, self._is_gone)

    def _of_pool(self, scene: Scene) -> list[Object]:
        """What a node pool is: itself, and what Cluster API has of it."""
        kinds = (NODE_POOLS, MACHINE_DEPLOYMENTS, MACHINE_SETS, MACHINES, MAAS_MACHINES)
        return [body for kind in kinds for body in scene.of(kind)]

    def _is_gone(self, scene: Scene) -> bool:
        return not self._of_pool(scene) if self.wanted.pool else scene.empty

    def _ask(self, scene: Scene, bodies: Iterable[Object]) -> None:
        """Delete, whatever is not being deleted already."""
        for body in bodies:
            if not deleting(body):
                metadata = body["metadata"]
                namespace = str(metadata.get("namespace", ""))
                gone = self.task.kube.delete(kind_of(body), name_of(body), namespace, uid=metadata["uid"])
                self.changed = self.changed or gone
                self.task.say(f"{label(body)}: deletion asked for")

    def _patch(self, body: Object, patch: Mapping[str, Any], said: str = "") -> None:
        try:
            self.task.kube.patch(kind_of(body), name_of(body), str(body["metadata"].get("namespace", "")), patch)
        except Failure as failure:
            # It may be gone by now, which is what is wanted.
            if failure.kind not in ("not_found", "conflict"):
                raise
            return
        self.changed = True
        if said:
            self.task.say(f"{label(body)}: {said}")

    def _drop(self, body: Object) -> None:
        if self.task.kube.delete(kind_of(body), name_of(body), self.wanted.namespace, uid=body["metadata"]["uid"]):
            self.changed = True
            self.removed.append(label(body))

    # -- waiting --------------------------------------------------------------------------------------------

    def _watched(self) -> Watching:
        from ansible_collections.metalshift.maas.plugins.module_utils._kube.watching import Watching

        wanted = self.wanted
        places = [(kind, wanted.namespace if kind in (HOSTED_CLUSTERS, NODE_POOLS) else wanted.place) for kind in KINDS]
        return Watching(self.task.kube, places)

    def _until(self, watching: Watching, gone: Callable[[Scene], bool]) -> None:
        """Wait until that is gone; act when nothing moves, if the task says so."""
        clock = self.task.clock
        seen, since, limit = None, clock.now(), self.wanted.stall
        while True:
            scene = self._now(watching)
            if scene is not None:
                if gone(scene):
                    return
                self._tell(self._line(scene))
                self._cure(scene)
                if not scene.of(HOSTED_CLUSTERS) and not scene.of(NODE_POOLS):
                    # Nobody is left who would do it.
                    self._ask(scene, self._left_over(scene))
                mark = footprint(scene)
                if mark != seen:
                    seen, since, limit = mark, clock.now(), min(limit, self.wanted.stall)
                stalled = clock.now() - since
                late = self.patience.left <= 0
                # What explains a hang takes a hundred requests.
                due = stalled >= min(HANGS, limit) and clock.now() - self._explained >= HANGS
                if due or stalled >= limit or late:
                    self._explained = clock.now()
                    limit, acted = self._hanging(scene, stalled, limit, late)
                    since = clock.now() if acted else since
            elif self.patience.left <= 0:
                raise self._unread(watching)
            self.task.trace_requests()
            watching.changed(TICK)

    def _now(self, watching: Watching) -> Scene | None:
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

    def _cure(self, scene: Scene) -> None:
        """What nobody else does any more once the deletion has begun, and what harms nothing."""
        going = any(deleting(body) for kind in (HOSTED_CLUSTERS, NODE_POOLS, CLUSTERS) for body in scene.of(kind))
        if going and not self.wanted.pool:
            for body in scene.of(CLUSTERS):
                if (body.get("spec") or {}).get("paused"):
                    self._patch(body, {"spec": {"paused": False}}, "continued")
        for kind in (MACHINE_DEPLOYMENTS, MACHINE_SETS, MACHINES, MAAS_MACHINES):
            for body in scene.of(kind):
                notes = body["metadata"].get("annotations") or {}
                if PAUSED in notes and NOT_OURS not in notes and (going or deleting(body)):
                    self._patch(body, {"metadata": {"annotations": {PAUSED: None}}}, "continued")
                if NOT_OURS in notes and deleting(body) and PROVIDERS_FINALIZER in finalizers(body):
                    rest = [one for one in finalizers(body) if one != PROVIDERS_FINALIZER]
                    self._unfinalize(body, rest, [PROVIDERS_FINALIZER])
                if kind is MACHINES and not self.wanted.drain:
                    self._skip_drain(body)
        for patch in patches(self._pools(scene), scene.of(MACHINE_SETS), scene.of(MACHINES), time.time()):
            for body in scene.of(patch.kind):
                if name_of(body) == patch.name:
                    self._patch(body, patch.body, patch.said)

    # -- hanging --------------------------------------------------------------------------------------------

    def _hanging(self, scene: Scene, stalled: float, limit: float, late: bool) -> tuple[float, bool]:
        """Say what it hangs at, and after long enough act or fail. The time to wait next, and whether it acted."""
        found = obstacles(self.caretakers.detailed(scene))
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
        # Two obstacles may ask for the same.
        acts = {f"{act.verb} {act.label}": act for one in found for act in one.acts}
        for act in acts.values():
            self._force(scene, act)
        return min(AFTER_FORCE, self.wanted.stall), True

    def _force(self, scene: Scene, act: Act) -> None:
        body = act.body
        if act.verb == "no_drain":
            self._skip_drain(body)
            self.forced.append(f"{act.label}: not drained")
        elif act.verb == "delete":
            self._ask(scene, [body])
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
        self.forced.append(f"{label(body)}: {', '.join(gone)} removed")
        self.task.say(f"{label(body)}: finalizer {' and '.join(gone)} removed")

    def _stuck(self, found: Sequence[Obstacle], kind: str, since: str) -> Failure:
        texts = " ".join(one.text for one in found) or "Nothing that is left says why."
        return Failure(
            kind,
            f"{self.wanted.label} is not gone {since}. {texts}",
            object=found[0].label if found else self.wanted.label,
            reason=texts,
            hint=found[0].hint if found else "Run the task again to wait on.",
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

    def _line(self, scene: Scene) -> str:
        counted = [
            (len(scene.of(kind)), noun)
            for kind, noun in ((NODE_POOLS, "node pools"), (MACHINES, "machines"), (MAAS_MACHINES, "MaasMachines"))
        ]
        words = [f"{number} {noun}" for number, noun in counted if number]
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

    # -- MAAS -----------------------------------------------------------------------------------------------

    def _give_back(self) -> Failure | None:
        """Wait in MAAS until every machine is free; what is still the cluster's is released, if the task says so."""
        back = GivingBack(self.task, self.patience, self.wanted.owner, release=self.wanted.force)
        self.noted = back.until_free(self.noted)
        self.changed = self.changed or back.changed
        return back.failure(self.wanted.label, self.noted)

    def _erasing(self) -> Erasing:
        return Erasing(self.task, self.patience, f"erase/{self.wanted.owner}")

    def _erase(self) -> Failure | None:
        """Erase what is free again, and what an earlier run did not come to."""
        erasing = self._erasing()
        ended = erasing.erase(erasing.remembered())
        self.changed = self.changed or erasing.changed
        self.warnings += erasing.warnings(ended)
        by_id = {one.system_id: one for one in ended}
        known = {one.system_id for one in self.noted}
        self.noted = [
            replace(one, outcome=by_id[one.system_id].outcome, reason=by_id[one.system_id].reason)
            if one.system_id in by_id and one.outcome in ("ready", "taken")
            else one
            for one in self.noted
        ]
        earlier = Belonging("free", "an earlier run gave it back")
        self.noted += [
            Noted(one.system_id, one.hostname, "", "Ready", earlier, "", one.outcome, one.reason)
            for one in ended
            if one.system_id not in known
        ]
        return erasing.failure(ended)


def _paused_until(body: Object) -> dict[str, Any]:
    value = (body.get("spec") or {}).get("pausedUntil")
    return {"pausedUntil": value} if value else {}


def _is_draining(obstacle: Obstacle) -> bool:
    return stage(obstacle.body)[0] in BEFORE_INFRASTRUCTURE


# -- what the modules call -------------------------------------------------------------------------------


def remove_cluster(task: Task) -> Result:
    """`hosted_cluster: state: absent`."""
    params = task.params
    wanted = _wanted(params, cluster=params["name"])
    # Its workloads go with it: draining would only move them from one node that goes to another.
    wanted = replace(wanted, drain=bool(params.get("drain")), remove_credentials=bool(params.get("remove_credentials")))
    return Removal(task, wanted).converge()


def remove_pool(task: Task) -> Result:
    """`node_pool: state: absent`."""
    params = task.params
    found = task.kube.get(NODE_POOLS, params["name"], params["namespace"])
    cluster = str(((found or {}).get("spec") or {}).get("clusterName") or params.get("cluster") or "")
    if not cluster:
        # Without a pool, and without the name of its cluster, there is nowhere to look for what it left.
        return Result(changed=False, values={"node_pool": {}, "machines": [], "removed": [], "forced": []})
    return Removal(task, _wanted(params, cluster=cluster, pool=params["name"])).converge()


def _wanted(params: Mapping[str, Any], *, cluster: str, pool: str = "") -> Wanted:
    return Wanted(
        namespace=params["namespace"],
        cluster=cluster,
        pool=pool,
        drain=params.get("drain") is not False,
        force=bool(params.get("force")),
        stall=float(params.get("stall_timeout") or 300.0),
        erase=bool(params.get("erase")),
        wait=bool(params["wait"]),
    )
