# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Erasing the disks of machines that the MAAS provider has given back, for it never asks MAAS to erase.

A machine is Ready for a moment in between, and whoever asks MAAS then gets it with its data. So each is claimed as soon
as it is free, and only what MAAS gave under that claim is erased: what somebody else was faster to take is left alone.

A tag in MAAS says which machines are still to be erased. It stays with a machine through its release, so that a run
that was killed is repaired by the next.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.ownership.pure.machine_owner import LEAVING
from ansible_collections.metalshift.maas.plugins.module_utils._core.parallel import each
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import PASSING, Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._core.wait import Patience
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.holders import (
    CLUSTER,
    checked,
    claim_of,
    holder,
    marked,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines, address
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure import lifecycle
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.changes import (
    annotation_change,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine
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
from ansible_collections.metalshift.maas.plugins.module_utils._maas.named.tags import change_machines

# What became of a machine: erased and free again; taken by somebody else before it could be erased; failed; or still on
# its way when the time was up, back to whoever it was released by or through its erasure.
UNDER_WAY = ("leaving", "erasing")
# Nobody has taken these: MAAS stopped on the way.
UNERASED = frozenset({Status.FAILED_DISK_ERASING, Status.FAILED_RELEASING})


@dataclass(frozen=True)
class MachineErasure:
    """One machine, and how far its erasure has come."""

    system_id: str
    hostname: str = ""
    outcome: str = ""
    reason: str = ""

    @property
    def title(self) -> str:
        return f"machine {self.hostname} ({self.system_id})" if self.hostname else f"machine {self.system_id}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "system_id": self.system_id,
            "hostname": self.hostname or None,
            "outcome": self.outcome or None,
            "reason": self.reason,
        }


def tag_of(claim: str) -> str:
    """The tag of the machines that are still to be erased under a claim."""
    # No name in Kubernetes has a _, so that a/b-c and a-b/c differ.
    return f"metalshift-{re.sub(r'[^A-Za-z0-9_-]', '-', claim.replace('/', '_'))}"


def claim_to_erase(cluster: str) -> str:
    """The claim under which machines are erased that a hosted cluster has given back."""
    return f"erase/{cluster}"


def progress_of(machine: Mapping[str, Any] | None, one: MachineErasure, claim: str) -> MachineErasure:
    """How far a machine has come whose erasure was asked for: pure, from what MAAS says of it now."""
    if machine is None:
        return replace(one, outcome="erased", reason="it was a virtual machine, which goes when it is released")
    status = Status(machine["status"])
    if status in LEAVING:
        return replace(one, outcome="erasing", reason=f"it is {status.label}")
    if status in UNERASED:
        said = str(machine.get("status_message") or "").rstrip(".")
        why = f" ({said})" if said and said != status.label else ""
        return replace(one, outcome="failed", reason=f"it is in {status.label}{why}, and its disks may still hold data")
    if status in HELD and machine.get("owner") and holder(machine) == f"claim {claim}":
        return replace(
            one, outcome="failed", reason=f"it is {status.label} under the claim {claim}: it was not released"
        )
    return replace(one, outcome="erased", reason="its disks were erased")


class DiskErasure:
    """Claims machines that are free, and gives them back with their disks erased."""

    def __init__(self, task: Task, patience: Patience, claim: str, cluster: str = "") -> None:
        self._task, self._patience, self._cluster = task, patience, cluster
        self.claim = checked(claim)
        self.tag = tag_of(claim)
        self._machines = Machines(task.maas)
        self._requests = Requests(task.maas, self._machines)
        self.changed = False

    # -- remembering ------------------------------------------------------------------------------------------

    def remember(self, system_ids: Iterable[str]) -> None:
        """Tag machines as still to be erased, before they are given back."""
        wanted = sorted(set(system_ids) - {machine["system_id"] for machine in self.remembered()})
        if not wanted:
            return
        try:
            self._task.maas.post(
                "tags/", {"name": self.tag, "comment": "Still to be erased; metalshift.maas removes it."}
            )
        except Failure as failure:
            if failure.kind not in ("rejected", "conflict"):
                raise
        self._update_tag(add=wanted)

    def remembered(self) -> list[Machine]:
        """The machines that are tagged, by this run or an earlier one."""
        return self._tagged() or []

    def _tagged(self) -> list[Machine] | None:
        """None without such a tag."""
        try:
            found: list[Machine] = self._task.maas.get(f"tags/{self.tag}/", op="machines")
        except Failure as failure:
            if failure.kind != "not_found":
                raise
            return None
        return found

    def forget(self, system_ids: Iterable[str]) -> None:
        """Take the tag off, and away when nobody carries it any more."""
        gone = sorted(set(system_ids))
        if gone:
            self._update_tag(remove=gone)
        if self._tagged() != []:
            return
        try:
            self._task.maas.delete(f"tags/{self.tag}/")
        except Failure as failure:
            if failure.kind != "not_found":
                raise

    def _update_tag(self, **form: Sequence[str]) -> None:
        change_machines(self._task.maas, self.tag, form)

    # -- erasing ----------------------------------------------------------------------------------------------

    def erase(self, machines: Iterable[Machine], *, wait: bool = True) -> list[MachineErasure]:
        """Erase those that are free, and those that an earlier run left under the claim."""
        known = {machine["system_id"]: machine for machine in machines}
        left = self._machines.of_claim(self.claim)
        known.update(left)
        begun = [
            outcome if isinstance(outcome, MachineErasure) else self._failed(machine, outcome)
            for machine, outcome in each(list(known.values()), lambda machine: self._begun(machine, left))
        ]
        begun.sort(key=lambda one: one.hostname or one.system_id)
        ended = self._until_erased(begun) if wait else begun
        self.forget(one.system_id for one in ended if one.outcome in ("erased", "taken", "gone"))
        return ended

    def _failed(self, machine: Machine, failure: Failure) -> MachineErasure:
        if failure.kind in ("credentials", *PASSING):
            raise failure
        return MachineErasure(machine["system_id"], address(machine), "failed", str(failure).rstrip("."))

    def _begun(self, machine: Machine, left: Mapping[str, Machine]) -> MachineErasure:
        """Claim the machine and release it with erasure. Runs in a thread."""
        one = MachineErasure(machine["system_id"], address(machine))
        now = self._machines.get(one.system_id)
        if now is None:
            return replace(one, outcome="gone", reason="MAAS does not know it any more")
        if one.system_id not in left and Status(now["status"]) in LEAVING:
            return replace(one, outcome="leaving", reason=f"it is {Status(now['status']).label}")
        if one.system_id not in left:
            taken = self._claim_machine(now, one)
            if isinstance(taken, MachineErasure):
                return taken
            now = taken
        if Status(now["status"]) in LEAVING:
            return progress_of(now, one, self.claim)
        return self._release_machine(now, one)

    def _gone_on(self, machine: Machine | None, one: MachineErasure) -> MachineErasure:
        """What is to be said, or done, of a machine that was seen anew."""
        if one.outcome != "leaving":
            return progress_of(machine, one, self.claim)
        if machine is not None and Status(machine["status"]) in LEAVING:
            return one
        try:
            return self._begun(machine or {"system_id": one.system_id, "hostname": one.hostname}, {})
        except Failure as failure:
            return self._failed({"system_id": one.system_id, "hostname": one.hostname}, failure)

    def _claim_machine(self, machine: Machine, one: MachineErasure) -> Machine | MachineErasure:
        """The machine under our claim, or who has it. Only what is Ready is asked for: nobody loses anything."""
        status = Status(machine["status"])
        if status is not Status.READY:
            return self._not_to_be_had(machine, one)
        step = lifecycle.next_step(Situation.of(machine, self._machines.me), MachineSpec(state=State.ALLOCATED))
        if not isinstance(step, LifecycleStep) or step.op is not MachineOp.ALLOCATE:
            return self._not_to_be_had(machine, one)
        form = {"agent_name": self.claim, "comment": "Claimed to be erased"}
        try:
            held = self._requests.send(step, machine, form, self.claim, one.title)
        except Failure as failure:
            now = self._machines.get(one.system_id)
            if failure.kind not in ("conflict", "rejected") or now is None or now["status"] == Status.READY:
                raise
            return self._not_to_be_had(now, one)
        self.changed = True
        return self._requests.change(held or machine, annotation_change(marked(self.claim)), one.title)

    def _not_to_be_had(self, machine: Machine, one: MachineErasure) -> MachineErasure:
        """Who has a machine that was to be erased, or why nobody can have it."""
        status, claim = Status(machine["status"]), claim_of(machine)
        if status in UNERASED and not claim:
            return progress_of(machine, one, self.claim)
        if status not in HELD or not machine.get("owner"):
            return replace(one, outcome="failed", reason=f"it is {status.label}, from which MAAS does not give it")
        if self._cluster and (machine.get("workload_annotations") or {}).get(CLUSTER) == self._cluster:
            why = f"it is {status.label} for hosted cluster {self._cluster} still: it was not released"
            return replace(one, outcome="failed", reason=why)
        who = holder(machine) or f"the MAAS user {machine['owner']}"
        why = f"{who} has taken it meanwhile (it is {status.label}), so its disks were not erased"
        return replace(one, outcome="taken", reason=why)

    def _release_machine(self, machine: Machine, one: MachineErasure) -> MachineErasure:
        situation = replace(Situation.of(machine, self._machines.me), claim="")
        step = lifecycle.next_step(situation, MachineSpec(state=State.READY, erase=True, recover=UNERASED))
        if not isinstance(step, LifecycleStep) or step.op is not MachineOp.RELEASE:
            why = step.reason.rstrip(".") if isinstance(step, LifecycleFailure) else f"it is {situation.status}"
            return replace(one, outcome="failed", reason=why)
        now = self._requests.send(step, machine, step.params, "", one.title)
        self.changed = True
        return progress_of(now, one, self.claim)

    def _until_erased(self, begun: Sequence[MachineErasure]) -> list[MachineErasure]:
        """All of them, when none is being erased any more or the time is up."""
        found = list(begun)

        def look() -> list[MachineErasure]:
            nonlocal found
            waiting = [one.system_id for one in found if one.outcome in UNDER_WAY]
            if not waiting:
                return found
            try:
                known = self._machines.read(waiting)
            except Failure as failure:
                if failure.kind not in PASSING:
                    raise
                return found
            found = [self._gone_on(known.get(one.system_id), one) if one.outcome in UNDER_WAY else one for one in found]
            self._task.trace_requests()
            return found

        def line(seen: list[MachineErasure]) -> str:
            counted = Counter(one.outcome for one in seen)
            return ", ".join(f"{number}/{len(seen)} {word}" for word, number in sorted(counted.items()))

        self._patience.until(look, lambda seen: all(one.outcome not in UNDER_WAY for one in seen), line)
        return found

    # -- telling ----------------------------------------------------------------------------------------------

    @staticmethod
    def failure(ended: Iterable[MachineErasure]) -> Failure | None:
        """What a task fails with when something was not erased that it could have erased."""
        listed = list(ended)
        stuck = [one for one in listed if one.outcome == "failed" or one.outcome in UNDER_WAY]
        if not stuck:
            return None
        late = all(one.outcome in UNDER_WAY for one in stuck)
        told = "; ".join(f"{one.title}: {one.reason}" for one in stuck)
        return Failure(
            "timeout" if late else "failed_state",
            f"{len(stuck)} of {len(listed)} machines are not erased: {told}.",
            object=", ".join(one.hostname or one.system_id for one in stuck),
            reason=told,
            hint="Run the task again to continue waiting."
            if late
            else "Look at its events in MAAS, then run the task again.",
        )

    @staticmethod
    def warnings(ended: Iterable[MachineErasure]) -> list[str]:
        return [f"{one.title} was not erased: {one.reason}." for one in ended if one.outcome == "taken"]
