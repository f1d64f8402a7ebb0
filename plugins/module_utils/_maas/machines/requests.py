# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The requests that change one machine, each with the way to find out whether it took effect when its answer is lost.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.errors import about
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines, address
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.changes import MachineChange
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.power_types import explained
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.spec import (
    LifecycleStep,
    MachineOp,
    Situation,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import HELD, Status

# What a request is about, as a sentence goes on after "node-7 cannot be".
CANNOT_BE: Mapping[MachineOp, str] = {
    MachineOp.ENLIST: "enlisted",
    MachineOp.COMMISSION: "commissioned",
    MachineOp.ALLOCATE: "allocated",
    MachineOp.DEPLOY: "deployed",
    MachineOp.RELEASE: "released",
    MachineOp.ABORT: "aborted",
    MachineOp.TEST: "tested",
    MachineOp.OVERRIDE_FAILED_TESTING: "freed of its failed tests",
    MachineOp.RESCUE_MODE: "put into rescue mode",
    MachineOp.EXIT_RESCUE_MODE: "taken out of rescue mode",
    MachineOp.MARK_BROKEN: "marked as broken",
    MachineOp.MARK_FIXED: "marked as fixed",
    MachineOp.LOCK: "locked",
    MachineOp.UNLOCK: "unlocked",
    MachineOp.POWER_ON: "powered on",
    MachineOp.POWER_OFF: "powered off",
    MachineOp.DELETE: "deleted",
}

# The fields of a machine that MAAS lets nobody else have.
TAKEN = frozenset({"hostname", "mac_addresses"})

# What the power drivers of MAAS ask for.
POWER_FIELDS = frozenset({"power_type", "power_parameters"})

# What helps where MAAS only says what is wrong.
HINTS: Mapping[str, str] = {
    "does not have a link to that subnet": (
        "Link it to that subnet with interface_link, or remove the reservation with ip_reservation, type: dhcp."
    ),
}

# A request that has been looked for and was found to have removed its machine.
GONE: Machine = {}


class Requests:
    """Sends what the lifecycle decides. Each answer is the machine as it is then."""

    def __init__(self, maas: Client, machines: Machines) -> None:
        self._maas = maas
        self._machines = machines

    def send(
        self, step: LifecycleStep, machine: Machine | None, form: Mapping[str, Any], claim: str, name: str
    ) -> Machine | None:
        """Take a step. None when the machine is gone by it."""
        try:
            answer = self._send(step, machine, form, claim)
        except Failure as failure:
            raise self._explained(about(failure, name, CANNOT_BE[step.op], HINTS), machine, form) from failure
        if answer is GONE:
            return None
        # A release can remove a machine that MAAS had composed, and answers as if it had not.
        vanishing = step.op is MachineOp.RELEASE and bool((machine or {}).get("pod"))
        if not isinstance(answer, dict) or "system_id" not in answer or vanishing:
            # `power_off` of a machine without power control answers null.
            return self._machines.get(str((machine or {})["system_id"]))
        return answer

    def change(self, machine: Machine, change: MachineChange, name: str) -> Machine:
        """Change a machine without moving it. Repeating that does no harm."""
        path = f"machines/{machine['system_id']}/"
        try:
            if change.op:
                answer = self._maas.post(path, change.form, op=change.op, repeatable=True)
            else:
                answer = self._maas.put(path, change.form)
        except Failure as failure:
            raise self._explained(about(failure, name, "changed", HINTS), machine, change.form) from failure
        changed: Machine = answer
        return changed

    def _send(self, step: LifecycleStep, machine: Machine | None, form: Mapping[str, Any], claim: str) -> Any:
        if step.op is MachineOp.ENLIST:
            return self._enlist(form)
        system_id = str((machine or {})["system_id"])
        path = f"machines/{system_id}/"
        if step.op is MachineOp.DELETE:
            self._maas.delete(path, form)
            return GONE
        if step.op is MachineOp.ALLOCATE:
            return self._allocate({**form, "system_id": system_id}, system_id, claim)
        untouched = (lambda: self._is_still(step.before, system_id)) if step.op is MachineOp.DEPLOY else None
        return self._maas.post(
            path, form, op=step.op.value, settled=self._settled(step, system_id), untouched=untouched
        )

    def _is_still(self, status: Status | None, system_id: str) -> bool:
        machine = self._machines.get(system_id)
        return machine is not None and machine["status"] == status

    def _explained(self, failure: Failure, machine: Machine | None, form: Mapping[str, Any]) -> Failure:
        """What MAAS says of power parameters by their labels, in their names, and with what there is to choose from."""
        if not POWER_FIELDS.intersection(failure.fields):
            return failure
        power_type = str(form.get("power_type") or (machine or {}).get("power_type") or "")
        try:
            described = self._maas.get("rackcontrollers/", op="describe_power_types")
        except Failure:
            return failure
        return explained(failure, power_type, described)

    def _enlist(self, form: Mapping[str, Any]) -> Any:
        try:
            return self._maas.post("machines/", form, settled=lambda: self._enlisted(form))
        except Failure as failure:
            # Another host of the play, or another run, may have enlisted it since it was looked for.
            found = self._enlisted(form) if TAKEN.intersection(failure.fields) else None
            macs = {str(link.get("mac_address")).lower() for link in (found or {}).get("interface_set") or []}
            if found is None or not macs.issuperset(form.get("mac_addresses", ())):
                raise
            return found

    def _enlisted(self, form: Mapping[str, Any]) -> Machine | None:
        found = self._machines.find([*form.get("mac_addresses", ()), *filter(None, [form.get("hostname")])])
        known = [machine for machine in found.values() if machine is not None]
        return known[0] if known else None

    def _allocate(self, form: Mapping[str, Any], system_id: str, claim: str) -> Any:
        try:
            return self._maas.post(
                "machines/", form, op="allocate", settled=lambda: self._held(system_id, claim, {Status.ALLOCATED})
            )
        except Failure as failure:
            if failure.kind != "conflict":
                raise
            # Another run of the same claim may have been faster.
            faster = self._held(system_id, claim, HELD) if claim else None
            if faster is not None:
                return faster
            raise self._taken_meanwhile(failure, system_id) from failure

    def _taken_meanwhile(self, failure: Failure, system_id: str) -> Failure:
        """MAAS only says that no machine of that id is available."""
        machine = self._machines.get(system_id)
        if machine is None or machine["status"] == Status.READY:
            return failure
        owner = machine.get("owner")
        reason = f"it is {machine.get('status_name')}{f' and held by {owner}' if owner else ''} since a moment ago"
        message = f"{address(machine)} cannot be allocated: {reason}."
        return replace(
            failure,
            message=message,
            reason=reason,
            object=address(machine),
            hint="Run the task again if it is still to be taken.",
        )

    def _held(self, system_id: str, claim: str, statuses: Collection[Status]) -> Machine | None:
        """The machine, if this user holds it under this claim, which is in no answer, but can be filtered for."""
        filters = {"agent_name": claim} if claim else {}
        for machine in self._machines.listed(id=[system_id], **filters):
            if machine["status"] in statuses and machine.get("owner") == self._machines.me:
                return machine
        return None

    def _settled(self, step: LifecycleStep, system_id: str) -> Callable[[], Machine | None]:
        def look() -> Machine | None:
            machine = self._machines.get(system_id)
            if machine is None:
                return GONE if None in step.good else None
            return machine if self.took_effect(step, Situation.of(machine, self._machines.me)) else None

        return look

    def took_effect(self, step: LifecycleStep, now: Situation) -> bool:
        """Whether a machine is where a step leads to, or on its way there."""
        if step.op in (MachineOp.LOCK, MachineOp.UNLOCK):
            return now.locked == (step.op is MachineOp.LOCK)
        if step.power is not None:
            return now.power is step.power
        if now.status is None:
            return None in step.good
        return now.status is not step.before and (now.status in step.via or now.status in step.good)
