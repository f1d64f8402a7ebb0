# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machines that a node pool gives back while it stays: when it gets smaller, or takes other machines.

Which of them leave is decided by Cluster API. So all of them are written down in MAAS before the pool is changed, and
afterwards those have left that no MaasMachine names any more.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.pool_progress import (
    maas_machine_of,
    machines_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.erasure import (
    DiskErasure,
    claim_to_erase,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.machines import (
    MachineReturn,
    NotedMachine,
    with_erasures,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.listing import sight
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.ownership.marks import Marker, mark
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.ownership.pure.machine_owner import MachineOwner
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import pool_of
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.provider_id import system_id_of
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Step
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._core.wait import Patience
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import MAAS_MACHINES
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import is_deleted
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import address
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine

PARTS = ("machines", "maas_machines")


class PoolMachines:
    """Notes the machines of one pool, and sees off those that leave it: until they are free again, or erased."""

    def __init__(self, task: Task, patience: Patience, namespace: str, cluster: str, pool: str) -> None:
        self._task, self._patience, self._namespace = task, patience, namespace
        self._cluster, self._pool = cluster, pool
        self._owner = f"{namespace}/{cluster}"
        self._erase = bool(task.params.get("erase"))
        self._noted: Sequence[NotedMachine] = ()
        self.gone: Sequence[NotedMachine] = ()
        self.warnings: list[str] = []
        self.changed = False

    def steps(self) -> list[Step]:
        """What is to be done for earlier runs; whom this one will send away is Cluster API's choice."""
        if not self._erase:
            return []
        seen = sight(self._task.kube, self._namespace, self._cluster, PARTS)
        if seen.troubles:
            raise self._unseen(seen)
        due = self._due(self._erasing().remembered(), seen)
        return [Step("erase", address(machine), "an earlier run did not come to it") for machine in due]

    # -- before ---------------------------------------------------------------------------------------------------

    def note(self, *, changes: bool) -> None:
        """Write down which machines may leave: all when the pool changes, else those that are leaving already."""
        if not (changes or self._erase):
            return
        seen = sight(self._task.kube, self._namespace, self._cluster, PARTS)
        pool = seen.pools.get(self._pool)
        machines = [one for one in machines_of(seen, pool) if changes or is_deleted(one)] if pool else []
        if self._erase and seen.troubles:
            raise self._unseen(seen)
        if not machines:
            return
        marked = mark(self._task, seen) if self._erase else Marker(self._task).finish(seen)
        self.changed, self.warnings = marked.changed, list(marked.warnings)
        mine = {system_id_of(body) for one in machines if (body := maas_machine_of(seen, one))}
        why = MachineOwner("ours", "the node pool had it")
        self._noted = [
            NotedMachine.of(system_id, machine, self._pool, why, "")
            for system_id, machine in sorted(marked.ours.items())
            if system_id in mine
        ]
        if self._erase:
            self._erasing().remember(one.system_id for one in self._noted)

    # -- afterwards -----------------------------------------------------------------------------------------------

    def see_off(self, seen: ClusterSnapshot) -> Failure | None:
        """Wait until those that have left are free, and erase them if that is wished; why one is not."""
        named = _named(seen)
        self.gone = [one for one in self._noted if one.system_id not in named]
        failure = self._erased(seen) if self._erase else self._free()
        self.gone = [self._with_rival(one) for one in self.gone]
        return failure

    def _free(self) -> Failure | None:
        back = MachineReturn(self._task, self._patience, self._owner)
        self.gone = back.until_free(self.gone)
        return back.failure(f"Node pool {self._namespace}/{self._pool} has given its machines back", self.gone)

    def _erased(self, seen: ClusterSnapshot) -> Failure | None:
        if seen.troubles:
            return self._unseen(seen)
        erasing = self._erasing()
        remembered = erasing.remembered()
        own = _named(seen, self._pool)
        stay = [machine["system_id"] for machine in remembered if machine["system_id"] in own]
        ended = erasing.erase(self._due(remembered, seen))
        if stay:
            erasing.forget(stay)
        self.changed = self.changed or erasing.changed
        self.gone = with_erasures(self.gone, ended)
        self.warnings += erasing.warnings(ended)
        return erasing.failure(ended)

    def _due(self, remembered: Iterable[Machine], seen: ClusterSnapshot) -> list[Machine]:
        """Those that have left this pool, or another of the cluster."""
        named = _named(seen)
        return [machine for machine in remembered if machine["system_id"] not in named]

    def _with_rival(self, one: NotedMachine) -> NotedMachine:
        """With the MaasMachine for which somebody was faster, for all providers may be one user of MAAS."""
        if one.outcome != "taken":
            return one
        try:
            bodies = self._task.kube.list(MAAS_MACHINES)
        except Failure as failure:
            if failure.kind != "forbidden":
                raise
            return one
        rivals = [
            f"{body['metadata']['namespace']}/{body['metadata']['name']}"
            for body in bodies
            if system_id_of(body) == one.system_id
        ]
        named = f"; MaasMachine {' and '.join(rivals)} names it now" if rivals else ""
        return replace(one, reason=f"{one.reason}{named}")

    def _unseen(self, seen: ClusterSnapshot) -> Failure:
        """Without all MaasMachines, a machine that is in use looks like one that has left."""
        return Failure(
            "failed_state",
            f"Which machines leave node pool {self._namespace}/{self._pool} cannot be told, so none is erased: "
            f"{'; '.join(seen.troubles)}.",
            object=f"NodePool {self._namespace}/{self._pool}",
            reason="; ".join(seen.troubles),
            hint="Run the task again when they can be read.",
        )

    def _erasing(self) -> DiskErasure:
        return DiskErasure(self._task, self._patience, claim_to_erase(self._owner), self._owner)


def _named(seen: ClusterSnapshot, pool: str = "") -> set[str]:
    """The machines that MaasMachines of the cluster name, or those of one pool."""
    return {
        system_id_of(body)
        for body in seen.maas_machines
        if system_id_of(body) and pool in ("", pool_of(body).rpartition("/")[2])
    }
