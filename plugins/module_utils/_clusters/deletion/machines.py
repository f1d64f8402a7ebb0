# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machines of a hosted cluster on their way back to Ready, seen from MAAS.

The provider lets a MaasMachine go as soon as MAAS has accepted the release, so MAAS is asked for the end. A machine
that is Ready may be somebody else's a second later: what has lost the cluster's mark is never touched.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.erasure import MachineErasure
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.ownership.pure.machine_owner import (
    LEAVING,
    MachineOwner,
)
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import PASSING, Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._core.wait import Patience
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.holders import (
    CLUSTER,
    NODE_POOL,
    holder,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines, address
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure import lifecycle
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.changes import (
    annotation_change,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.spec import (
    LifecycleFailure,
    LifecycleStep,
    MachineOp,
    MachineSpec,
    Situation,
    State,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import HELD, Status
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.requests import Requests

# What a machine has come to:
#   ready       nobody holds it
#   gone        MAAS does not know it any more, as with a virtual machine that goes when it is released
#   taken       it was free, and somebody else has it by now
#   left_alone  it was never the cluster's, although a MaasMachine named it
#   held        it is the cluster's still
#   failed      its release failed
#   leaving     it is on its way, and the task does not wait for that any longer
FREE = frozenset({"ready", "gone", "taken", "left_alone"})


@dataclass(frozen=True)
class NotedMachine:
    """A machine as it was noted before anything was deleted, and what became of it."""

    system_id: str
    hostname: str
    node_pool: str
    status: str
    belonging: MachineOwner
    # The MaasMachine that names it; empty when none does any more.
    maas_machine: str = ""
    outcome: str = ""
    reason: str = ""
    # MAAS did not let it be marked, so nothing will tell the cluster's machine from somebody else's.
    unmarked: bool = False

    @classmethod
    def of(
        cls, system_id: str, machine: Mapping[str, Any] | None, pool: str, found: MachineOwner, maas_machine: str
    ) -> NotedMachine:
        known = machine or {}
        pool = pool or str((known.get("workload_annotations") or {}).get(NODE_POOL) or "")
        status = str(known.get("status_name") or "unknown")
        return cls(system_id, str(known.get("hostname") or ""), pool, status, found, maas_machine)

    @property
    def title(self) -> str:
        return f"machine {self.hostname} ({self.system_id})" if self.hostname else f"machine {self.system_id}"

    @property
    def release_failed(self) -> bool:
        """Whether MAAS could not release it, and nobody asks for that any more."""
        return self.status == Status.FAILED_RELEASING.label

    @property
    def is_foreign(self) -> bool:
        return self.belonging.verdict in ("foreign", "unsure")

    def to_dict(self) -> dict[str, Any]:
        return {
            "system_id": self.system_id,
            "hostname": self.hostname or None,
            "node_pool": self.node_pool or None,
            "outcome": self.outcome or None,
            "reason": self.reason or self.belonging.reason,
        }


def with_erasures(noted: Sequence[NotedMachine], erasures: Iterable[MachineErasure]) -> list[NotedMachine]:
    """What became of machines that were erased then, and of those that an earlier run gave back."""
    by_id = {one.system_id: one for one in erasures}
    known = {one.system_id for one in noted}
    earlier = MachineOwner("free", "an earlier run gave it back")
    return [
        replace(one, outcome=by_id[one.system_id].outcome, reason=by_id[one.system_id].reason)
        if one.system_id in by_id and one.outcome in ("", "ready", "taken")
        else one
        for one in noted
    ] + [
        NotedMachine(one.system_id, one.hostname, "", "Ready", earlier, "", one.outcome, one.reason)
        for one in by_id.values()
        if one.system_id not in known
    ]


def outcome_of(machine: Mapping[str, Any] | None, one: NotedMachine, cluster: str) -> tuple[str, str]:
    """What has become of a noted machine, and the reason: pure, from what MAAS says of it now."""
    if machine is None:
        return "gone", "MAAS does not know it any more"
    if one.is_foreign:
        return "left_alone", one.belonging.reason
    status = Status(machine["status"])
    if status in LEAVING:
        return "leaving", f"it is {status.label}"
    if status not in HELD or not machine.get("owner"):
        return "ready", f"it is {status.label}"
    marked = str((machine.get("workload_annotations") or {}).get(CLUSTER) or "")
    if marked not in ("", cluster):
        return "taken", f"{holder(machine)} has it by now"
    said = str(machine.get("status_message") or "").rstrip(".")
    if status in (Status.FAILED_RELEASING, Status.FAILED_DISK_ERASING):
        return "failed", f"it is in {status.label}" + (f" ({said})" if said and said != status.label else "")
    if marked == cluster:
        return "held", f"it is still {status.label}"
    if one.unmarked:
        return "held", f"it is {status.label}, and whose it is now cannot be told: MAAS did not let it be marked"
    if one.belonging.verdict in ("ours", "leaving", "free"):
        return "taken", f"{holder(machine) or 'the MAAS user ' + str(machine['owner'])} has it by now"
    return "left_alone", one.belonging.reason


class MachineReturn:
    """Waits for the machines of one cluster, and releases those that are still its own if it is told to."""

    def __init__(self, task: Task, patience: Patience, cluster: str, *, release: bool = False) -> None:
        self._task, self._patience, self._cluster = task, patience, cluster
        self._release = release
        self._machines = Machines(task.maas)
        self._requests = Requests(task.maas, self._machines)
        self._released: dict[str, str] = {}
        self.changed = False

    @staticmethod
    def marked(machines: Machines, cluster: str, pool: str = "") -> list[dict[str, Any]]:
        """The machines that MAAS has marked as a cluster's. MAAS cannot filter for a mark, but for who is held."""
        found = machines.listed(status=[status.filter for status in sorted(HELD)])
        notes = [(machine, machine.get("workload_annotations") or {}) for machine in found]
        return [
            machine
            for machine, note in notes
            if note.get(CLUSTER) == cluster and pool in ("", str(note.get(NODE_POOL) or ""))
        ]

    def mark(self, one: NotedMachine) -> NotedMachine:
        """Write down in MAAS whose the machine is."""
        machine = self._machines.get(one.system_id)
        notes = {CLUSTER: self._cluster, **({NODE_POOL: one.node_pool} if one.node_pool else {})}
        present = (machine or {}).get("workload_annotations") or {}
        if machine is None or notes.items() <= present.items() or present.get(CLUSTER, self._cluster) != self._cluster:
            return one
        try:
            self._requests.change(machine, annotation_change(notes), one.title)
        except Failure as failure:
            # Not allowed, or given back this very moment: without a mark this task will not release it.
            if failure.kind not in ("forbidden", "conflict", "rejected", "not_found"):
                raise
            return replace(one, unmarked=True)
        self.changed = True
        return one

    # -- waiting ----------------------------------------------------------------------------------------------

    def until_free(self, noted: Sequence[NotedMachine]) -> list[NotedMachine]:
        """All of them as they are when each has come to an end, or the time is up."""
        if not noted:
            return []
        trouble = ""

        def look() -> list[NotedMachine]:
            nonlocal trouble
            try:
                found, trouble = self._looked(noted), ""
            except Failure as failure:
                if failure.kind not in PASSING:
                    raise
                trouble = failure.reason or failure.message
                found = list(noted)
            self._task.trace_requests()
            return found

        def settled(found: list[NotedMachine]) -> bool:
            return not trouble and all(one.outcome != "leaving" for one in found)

        def tell(found: list[NotedMachine]) -> str:
            if trouble:
                return f"MAAS does not answer: {trouble}"
            counted = Counter(one.outcome.replace("_", " ") for one in found if one.outcome != "ready")
            ready = sum(one.outcome == "ready" for one in found)
            rest = "".join(f", {number} {word}" for word, number in sorted(counted.items()))
            return f"{ready}/{len(found)} machines ready{rest}"

        last = self._patience.until(look, settled, tell)
        return last if last is not None else self._looked(noted)

    def outcomes(self, noted: Sequence[NotedMachine]) -> list[NotedMachine]:
        """What has become of them by now, without a hand in it."""
        known = self._machines.read(one.system_id for one in noted)
        found = ((one, outcome_of(known.get(one.system_id), one, self._cluster)) for one in noted)
        return [replace(one, outcome=outcome, reason=reason) for one, (outcome, reason) in found]

    def _looked(self, noted: Sequence[NotedMachine]) -> list[NotedMachine]:
        known = self._machines.read(one.system_id for one in noted)
        return [self._judged(known.get(one.system_id), one) for one in noted]

    def _judged(self, machine: dict[str, Any] | None, one: NotedMachine) -> NotedMachine:
        if machine is None:
            # A plain user does not see what others hold: MAAS says which it is when asked for the machine itself.
            try:
                machine = self._machines.get(one.system_id)
            except Failure as failure:
                if failure.kind != "forbidden":
                    raise
                return replace(one, outcome="taken", reason="somebody else has it by now")
        outcome, reason = outcome_of(machine, one, self._cluster)
        # A release that failed is asked for once more: nobody else does, and MAAS may be healed by now. An erasure that
        # failed is not: its disks may still hold what was to be erased.
        again = machine is not None and Status(machine["status"]) is Status.FAILED_RELEASING and outcome == "failed"
        if machine is not None and (again or (outcome in ("held", "failed") and self._release)):
            if self._released.get(one.system_id) == "":
                # It was released, and came back to this: once more would be a circle.
                return replace(one, outcome=outcome, reason=f"it was released once more, and {reason}")
            reason = self._release_machine(machine, one) or reason
            outcome = "leaving" if self._released.get(one.system_id) == "" else outcome
        return replace(one, outcome=outcome, reason=reason)

    def _release_machine(self, machine: dict[str, Any], one: NotedMachine) -> str:
        """Release the machine, once; why that cannot be."""
        if one.system_id in self._released:
            return self._released[one.system_id]
        status = Status(machine["status"])
        if str((machine.get("workload_annotations") or {}).get(CLUSTER) or "") != self._cluster:
            return ""
        wish = MachineSpec(state=State.READY, take_over=True, erase=False, recover=frozenset({status}) & RELEASABLE)
        step = lifecycle.next_step(Situation.of(machine, self._machines.me), wish)
        if (
            isinstance(step, LifecycleFailure)
            or not isinstance(step, LifecycleStep)
            or step.op is not MachineOp.RELEASE
        ):
            why = (
                step.reason.rstrip(".")
                if isinstance(step, LifecycleFailure)
                else f"it is {status.label}, which no release ends"
            )
            self._released[one.system_id] = why
            return why
        try:
            self._requests.send(step, machine, step.params, "", address(machine))
            self._released[one.system_id] = ""
            self.changed = True
            self._task.say(f"{one.title}: released")
        except Failure as failure:
            self._released[one.system_id] = str(failure).rstrip(".")
        return self._released[one.system_id]

    # -- telling ----------------------------------------------------------------------------------------------

    def failure(self, done: str, noted: Iterable[NotedMachine]) -> Failure | None:
        """What the task fails with when machines are not free in the end; `done` says what was to free them."""
        listed = list(noted)
        stuck = [one for one in listed if one.outcome not in FREE]
        if not stuck:
            return None
        told = "; ".join(f"{one.title}: {one.reason}" for one in stuck)
        only_late = all(one.outcome == "leaving" for one in stuck)
        hint = (
            "Run the task again to continue waiting."
            if only_late
            else (
                "Look at its events in MAAS, then run the task again."
                if self._release or all(self._released.get(one.system_id) == "" for one in stuck)
                else "Set force: true to have the machines released through MAAS itself."
            )
        )
        return Failure(
            "timeout" if only_late else "failed_state",
            f"{done}, and {len(stuck)} of {len(listed)} machines are not free again: {told}.",
            object=", ".join(one.hostname or one.system_id for one in stuck),
            reason=told,
            hint=hint,
        )


RELEASABLE = frozenset({Status.FAILED_RELEASING, Status.FAILED_DISK_ERASING, Status.BROKEN, Status.FAILED_DEPLOYMENT})
