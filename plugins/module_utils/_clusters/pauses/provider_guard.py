# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps the provider for MAAS from machines that are not its cluster's, while a task waits and after it gives up.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Hashable, Mapping

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.background import BackgroundResult
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.pure.stuck_machines import ObjectPatch
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.ownership.pure.machine_owner import marked_for
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pauses.pure.provider import (
    endless,
    is_paused,
    patches,
    pause,
    takeover,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.provider_id import system_id_of
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import MAAS_MACHINES, Object
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import name_of
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine

# What may have come to an end meanwhile, which is what is wanted.
OVER = frozenset({"not_found", "conflict"})


class ProviderGuard:
    """One wait's pauses of MaasMachines: those that it begins, and those of earlier runs that it ends."""

    def __init__(self, task: Task, pools: Collection[str]) -> None:
        self._task, self._pools = task, pools
        # The machines that were looked at in MAAS, by the MaasMachine that names them.
        self._checked: dict[str, str] = {}
        self._lines: dict[str, str] = {}
        self._ended = False
        # What works beside a wait may still be at it when the wait ends.
        self._lock = threading.Lock()

    # -- while a task waits ---------------------------------------------------------------------------------------

    def due(self, seen: ClusterSnapshot) -> Hashable | None:
        """The pauses to be begun or ended."""
        return tuple((patch.name, patch.said) for patch in patches(seen)) or None

    def keep(self, seen: ClusterSnapshot) -> BackgroundResult:
        """Pause what is tried without end and can never be a node; continue what may go on."""
        for patch in patches(seen):
            self._apply(patch, seen)
        return BackgroundResult(dict(self._lines), again=True)

    def unchecked(self, seen: ClusterSnapshot) -> list[Object]:
        """The MaasMachines whose machine has not been looked at in MAAS."""
        return [
            body
            for body in seen.maas_machines
            if (system_id := system_id_of(body))
            and not is_paused(body)
            and self._checked.get(name_of(body)) != system_id
        ]

    def check(self, seen: ClusterSnapshot, machines: Mapping[str, Machine]) -> Mapping[str, str]:
        """Pause what names a machine that MAAS has marked as somebody else's; what was done, by topic."""
        for body in seen.maas_machines:
            machine = machines.get(system_id_of(body))
            found = marked_for(machine, seen.label) if machine and not is_paused(body) else None
            if found is not None and found.verdict == "foreign":
                self._apply(takeover(body, found.reason), seen)
        self._checked |= {name_of(body): system_id_of(body) for body in seen.maas_machines}
        return dict(self._lines)

    def _apply(self, patch: ObjectPatch, seen: ClusterSnapshot) -> None:
        with self._lock:
            if self._ended:
                return
            try:
                self._task.kube.patch(patch.kind, patch.name, seen.control_plane_namespace, patch.body)
            except Failure as failure:
                if failure.kind == "forbidden":
                    self._lines[f"guard {patch.name}"] = (
                        f"{patch.said.partition(':')[0]}: not changed, as this user may not patch MaasMachines"
                    )
                elif failure.kind not in OVER:
                    raise
                return
        self._lines[f"guard {patch.name}"] = patch.said

    # -- when it gives up -----------------------------------------------------------------------------------------

    def give_up(self, seen: ClusterSnapshot | None) -> str:
        """Pause what the provider would go on with when nobody waits any more; what was done, as a sentence."""
        with self._lock:
            self._ended = True
        paused: list[str] = []
        refused: list[str] = []
        if seen is None:
            return ""
        for body in endless(seen, self._pools):
            patch = pause(body)
            try:
                self._task.kube.patch(MAAS_MACHINES, patch.name, seen.control_plane_namespace, patch.body)
                paused.append(patch.name)
            except Failure as failure:
                if failure.kind not in OVER:
                    refused.append(f"{patch.name} ({(failure.reason or failure.message).rstrip('.')})")
        said = ""
        if paused:
            said = (
                f"MaasMachine {' and '.join(paused)} {'is' if len(paused) == 1 else 'are'} paused until the next run: "
                "the provider would take and release machines of MAAS without end."
            )
        if refused:
            said = (
                f"{said} The provider goes on to take and release machines of MAAS, as these MaasMachines could not be "
                f"paused: {', '.join(refused)}."
            )
        return said.strip()
