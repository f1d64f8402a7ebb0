# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What would be done to a machine, and what it would be then: for check mode, for diff, and for refusing in time.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure import plan as shown
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.holders import holder, marked
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.fleet import FleetMember, MachineTarget
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure import lifecycle
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.changes import MachineChange
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.spec import (
    LifecycleFailure,
    LifecyclePlan,
    LifecycleStep,
    MachineOp,
    OwnerKind,
    Power,
    Situation,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import Status

Form = Mapping[str, Any]
# What says nothing about the machine.
UNTOLD = frozenset({"comment", "commission", "user_data"})
POWER = "power_parameters_"
ERASES_AS_MAAS = "as MAAS is set up"

# What a request does to these, only MAAS knows in advance.
UNFORESEEN: Mapping[MachineOp, Sequence[str]] = {
    MachineOp.ENLIST: ("system_id", "resource_uri", "power_state"),
    MachineOp.COMMISSION: ("power_state", "cpu_count", "memory", "storage", "tag_names", "ip_addresses"),
    MachineOp.DEPLOY: ("power_state", "ip_addresses", "osystem", "distro_series", "hwe_kernel"),
    MachineOp.RELEASE: ("power_state", "ip_addresses", "osystem", "distro_series", "hwe_kernel"),
    MachineOp.MARK_BROKEN: ("power_state", "ip_addresses", "osystem", "distro_series", "hwe_kernel"),
    MachineOp.ABORT: ("power_state", "ip_addresses"),
    MachineOp.TEST: ("power_state",),
    MachineOp.RESCUE_MODE: ("power_state",),
    MachineOp.EXIT_RESCUE_MODE: ("power_state",),
}


def forecast(member: FleetMember, me: str, wait: bool = True) -> tuple[LifecyclePlan, Machine]:
    """The way of a machine to its goal, and the machine as it would be there. Sends nothing."""
    goal, machine = member.goal, member.machine
    if machine is None:
        now = Situation(member.name, None, can_enlist=goal.can_enlist)
    else:
        now = Situation.of(machine, me, claim=holder(machine, goal.claim))
    plan = lifecycle.plan(now, goal.wish)
    if isinstance(plan.end, LifecycleFailure) or not plan.moves:
        return plan, dict(machine or {})
    for move in plan.moves:
        now = lifecycle.after(now, move)
    then = _then(machine or {}, now, me, goal)
    if then and not wait and any(move for move in plan.moves if not isinstance(move, LifecycleStep) or move.via):
        then.update(status=None, status_name=None)
    return plan, then


def forecast_deployed(member: FleetMember, me: str, wait: bool = True) -> tuple[LifecyclePlan, Machine]:
    """The same, for a machine that an earlier task of the play is to deploy."""
    known = member.machine or {"system_id": "", "hostname": member.name}
    deployed = {**known, "status": int(Status.DEPLOYED), "owner": me, "power_state": Power.ON.value}
    plan, then = forecast(replace(member, machine=deployed), me, wait)
    if member.machine is None:
        then = {key: value for key, value in then.items() if key not in known}
    return plan, then


def steps_of(
    name: str, plan: LifecyclePlan, changes: Iterable[MachineChange] = (), forms: Mapping[MachineOp, Form] | None = None
) -> list[shown.Step]:
    """A machine's part of a task's plan, as check mode and diff show it, in the order of what happens.

    What is changed of it comes first, but for a machine that is enlisted before. `forms` are those of the requests.
    """
    made = [shown.Step(change.verb, name, ", ".join(change.shown), change.before, change.shown) for change in changes]
    way = [_shown(name, step, (forms or {}).get(step.op, {})) for step in plan.steps]
    begins = int(bool(plan.steps) and plan.steps[0].op is MachineOp.ENLIST)
    return [*way[:begins], *made, *way[begins:]]


def _shown(name: str, step: LifecycleStep, form: Form) -> shown.Step:
    after: dict[str, Any] = {"status": step.good[0].label if step.good[0] is not None else "absent"}
    before: dict[str, Any] = {"status": step.before.label if step.before is not None else "absent"}
    if step.power is not None:
        before, after = {"power": None}, {"power": step.power.value}
    if step.op in (MachineOp.LOCK, MachineOp.UNLOCK):
        before, after = {"locked": step.op is MachineOp.UNLOCK}, {"locked": step.op is MachineOp.LOCK}
    return shown.Step(step.op.value, name, step.reason, before, {**after, **_carried({**form, **step.params}, step.op)})


def _carried(form: Form, op: MachineOp) -> dict[str, Any]:
    """What a request carries, as it may be shown: of user data a hash, of power parameters that there are some."""
    told = {name: value for name, value in form.items() if name not in UNTOLD and not name.startswith(POWER)}
    if any(name.startswith(POWER) for name in form):
        told["power_parameters"] = "as given"
    if "user_data" in form:
        told["user_data"] = f"sha256:{sha256(b64decode(form['user_data'])).hexdigest()}"
    if op is MachineOp.RELEASE:
        told["erase"] = _as_boolean(form.get("erase"))
    return told


def _as_boolean(value: Any) -> bool | str:
    """Whether a release erases the disks, which MAAS decides where nobody says it."""
    return ERASES_AS_MAAS if value is None else value in (True, "true")


def _then(machine: Mapping[str, Any], now: Situation, me: str, goal: MachineTarget) -> Machine:
    if now.status is None:
        return {}
    owner = me if now.owner is OwnerKind.ME else None if now.owner is OwnerKind.NONE else machine.get("owner")
    then: Machine = {
        **machine,
        "status": int(now.status),
        "status_name": now.status.label,
        "power_state": now.power.value,
        "owner": owner,
        "locked": now.locked,
        "predicted": True,
    }
    if owner is None:
        then["workload_annotations"] = {}
    ops: Sequence[MachineOp] = [step.op for step in now.history]
    if MachineOp.ALLOCATE in ops and goal.claim:
        then["workload_annotations"] = marked(goal.claim)
    for op in ops:
        then.update(dict.fromkeys((*UNFORESEEN.get(op, ()), "status_message"), None))
    if ops and ops[-1] in (MachineOp.POWER_ON, MachineOp.POWER_OFF):
        then["power_state"] = now.power.value
    if MachineOp.DEPLOY in ops:
        osystem, _slash, series = str(goal.forms.get(MachineOp.DEPLOY, {}).get("distro_series") or "").rpartition("/")
        then.update(osystem=osystem or None, distro_series=series or None)
    return then
