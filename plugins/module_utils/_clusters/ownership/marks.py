# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines that hosted clusters use, marked in MAAS: the way back to cluster and pool, and the guard against release.

MAAS forgets annotations when a machine is released, so that what goes its usual way needs no hand here.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field, replace

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.controllers import Controllers
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.ownership.pure.machine_owner import (
    MachineNames,
    belonging,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import (
    has_maas,
    maas_machine_name_of,
    node_name_of,
    pool_name_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.provider_id import system_id_of
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from ansible_collections.metalshift.maas.plugins.module_utils._core.parallel import each
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import PASSING, Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Step
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import Object
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import name_of
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.holders import CLUSTER, NODE_POOL
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines, address
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine

MARKS = (CLUSTER, NODE_POOL)
# Refused because the machine went another way while it was looked at.
GONE_MEANWHILE = frozenset({"conflict", "not_found", "forbidden"})


@dataclass(frozen=True)
class Marking:
    """What one machine is to be annotated with; empty texts take an annotation away."""

    system_id: str
    name: str
    before: Mapping[str, str]
    after: Mapping[str, str]

    @property
    def step(self) -> Step:
        return Step("annotate", f"machine {self.name}", "hosted cluster", dict(self.before), dict(self.after))


@dataclass
class MarkingResult:
    """What came of marking: the machines that are this cluster's now, what was changed, and what was not to be."""

    ours: Mapping[str, Machine] = field(default_factory=dict)
    done: list[Marking] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    # Whether something had been marked earlier in the same wait.
    before: bool = False

    @property
    def changed(self) -> bool:
        return self.before or bool(self.done)


def mark(
    task: Task, seen: ClusterSnapshot, *, machines: Mapping[str, Machine] | None = None, sweep: bool = False
) -> MarkingResult:
    """Annotate the cluster's machines with cluster and pool, and take that from those that are no longer its own.

    One listing, and one request for each machine that is not as it should be. `machines` are those of MAAS by
    system_id, if somebody has read them already. `sweep` looks among all machines that are held for marks of this
    cluster, for the end of a scale-down or removal; without it only what the cluster names is looked at. A machine that
    is held and marked but not named has leaked: look for leaks before the marks are swept away.
    """
    if machines is None:
        machines = _read(task, seen, sweep)
    owners: frozenset[str] = frozenset()
    todo = markings(seen, machines)
    if todo:
        # A wrong mark is worse than none: by it, machines are released when the cluster is removed.
        owners = Controllers(task, seen.namespace, seen.name).owners(Machines(task.maas).me)
        todo = markings(seen, machines, owners)
    outcome = MarkingResult({one: machines[one] for one in _wanted(seen, machines, owners)})
    if task.check:
        outcome.done = todo
        return outcome
    by_id = {marking.system_id: marking for marking in todo}
    for system_id, answer in each(by_id, lambda system_id: _annotate(task, by_id[system_id])):
        marking = by_id[system_id]
        if not isinstance(answer, Failure):
            outcome.done.append(marking)
        elif answer.kind in GONE_MEANWHILE:
            outcome.warnings.append(f"{marking.name} could not be marked as a machine of {seen.label}: {answer}")
        else:
            raise answer
    return outcome


class Marker:
    """Marks what a task waits for: machines as soon as the cluster names them, and once more at the end.

    MAAS is asked only when the cluster names a machine that was not marked before. That MAAS cannot be asked now, or is
    not spoken of, fails no task.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._known: frozenset[str] = frozenset()
        self._marked = False
        self._seen: ClusterSnapshot | None = None
        # A wait that ends does not wait for those who work beside it.
        self._lock = threading.Lock()

    def due(self, seen: ClusterSnapshot) -> Hashable | None:
        """The machines that are named and not marked yet."""
        self._seen = seen
        named = frozenset(_named(seen))
        # What the cluster has given back may come again, with its marks gone.
        self._known &= named
        return (named - self._known) or None

    def tick(self, seen: ClusterSnapshot) -> bool:
        """Mark what is due; whether all of it is the cluster's now."""
        with self._lock:
            marked = mark(self._task, seen)
            self._marked = self._marked or marked.changed
            self._known |= set(marked.ours)
        return set(_named(seen)) <= self._known

    def finish(self, seen: ClusterSnapshot | None = None) -> MarkingResult:
        """What came of it, with what is named at the end. Without `seen`, what was seen last: the wait has failed."""
        last = seen or self._seen
        if last is None or not has_maas(self._task.params):
            return MarkingResult()
        try:
            with self._lock:
                marked = mark(self._task, last)
        except Failure as failure:
            if seen is not None and failure.kind not in PASSING:
                raise
            marked = MarkingResult(warnings=[f"The machines of {last.label} are not marked in MAAS: {failure}"])
        return replace(marked, before=self._marked)


def markings(seen: ClusterSnapshot, machines: Mapping[str, Machine], owners: Collection[str] = ()) -> list[Marking]:
    """What has to be changed of which machine. Only what is certainly this cluster's gets its mark.

    `owners` are the users of MAAS in whose name the cluster's provider may act, as far as they are known.
    """
    wanted = _wanted(seen, machines, owners)
    found = []
    for system_id, machine in sorted(machines.items()):
        before = _marks(machine)
        after = wanted.get(system_id, {})
        if not after and (before.get(CLUSTER) != seen.label or system_id in _named(seen)):
            # Marked by another cluster, or not at all; or named still, and going its way.
            continue
        if before != after:
            differing = {key: after.get(key, "") for key in MARKS if before.get(key, "") != after.get(key, "")}
            old = {key: before.get(key, "") for key in differing}
            found.append(Marking(system_id, address(machine), old, differing))
    return found


def _wanted(
    seen: ClusterSnapshot, machines: Mapping[str, Machine], owners: Collection[str]
) -> dict[str, dict[str, str]]:
    """The marks of every machine that is this cluster's."""
    nodes = {maas_machine_name_of(body): node_name_of(body) for body in seen.machines}
    pools = {maas_machine_name_of(body): pool_name_of(body) for body in seen.machines}
    wanted = {}
    for system_id, bodies in _named(seen).items():
        body, name = bodies[0], name_of(bodies[0])
        rivals = [f"{one['metadata'].get('namespace', '')}/{name_of(one)}" for one in bodies[1:]]
        named = MachineNames(body, seen.label, nodes.get(name, ""), rivals)
        machine = machines.get(system_id)
        # What could not be deployed was given back, and is still named: whoever takes it next would bear our mark.
        if rivals or named.deployment_failed or belonging(machine, named, owners).verdict != "ours":
            continue
        pool = pools.get(name) or pool_name_of(body)
        wanted[system_id] = {CLUSTER: seen.label, **({NODE_POOL: pool} if pool else {})}
    return wanted


def _read(task: Task, seen: ClusterSnapshot, sweep: bool) -> dict[str, Machine]:
    machines = Machines(task.maas)
    found = machines.read(_named(seen))
    if sweep and not seen.troubles:
        # MAAS cannot filter by annotations; a hosted cluster's machines are Deployed, or on their way there.
        for machine in machines.listed(status=["deployed", "deploying", "failed_deployment", "allocated"]):
            if _marks(machine).get(CLUSTER) == seen.label:
                found[machine["system_id"]] = machine
    return found


def _annotate(task: Task, marking: Marking) -> Machine:
    return Machines(task.maas).annotate(marking.system_id, marking.after)


def _marks(machine: Machine) -> dict[str, str]:
    annotations = machine.get("workload_annotations") or {}
    return {key: str(annotations[key]) for key in MARKS if annotations.get(key)}


def _named(seen: ClusterSnapshot) -> dict[str, list[Object]]:
    """The MaasMachines of the cluster, by the machine that they name."""
    found: dict[str, list[Object]] = defaultdict(list)
    for body in seen.maas_machines:
        if system_id := system_id_of(body):
            found[system_id].append(body)
    return dict(found)
