# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What would be done to a machine, and what it would be then: for check mode, for diff, and for refusing in time.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure import plan as shown
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.holders import holder, marked
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.fleet import Goal, Member
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure import lifecycle
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.changes import Change
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.wishes import (
    Op,
    Owner,
    Plan,
    Refusal,
    Situation,
    Step,
)

# What a request does to these, only MAAS knows in advance.
UNFORESEEN: Mapping[Op, Sequence[str]] = {
    Op.ENLIST: ("system_id", "resource_uri", "power_state"),
    Op.COMMISSION: ("power_state", "cpu_count", "memory", "storage", "tag_names", "ip_addresses"),
    Op.DEPLOY: ("power_state", "ip_addresses", "osystem", "distro_series", "hwe_kernel"),
    Op.RELEASE: ("power_state", "ip_addresses", "osystem", "distro_series", "hwe_kernel"),
    Op.MARK_BROKEN: ("power_state", "ip_addresses", "osystem", "distro_series", "hwe_kernel"),
    Op.ABORT: ("power_state", "ip_addresses"),
    Op.TEST: ("power_state",),
    Op.RESCUE_MODE: ("power_state",),
    Op.EXIT_RESCUE_MODE: ("power_state",),
}


def forecast(member: Member, me: str, wait: bool = True) -> tuple[Plan, Machine]:
    """The way of a machine to its goal, and the machine as it would be there. Sends nothing."""
    goal, machine = member.goal, member.machine
    if machine is None:
        now = Situation(member.name, None, can_enlist=goal.can_enlist)
    else:
        now = Situation.of(machine, me, claim=holder(machine, goal.claim))
    plan = lifecycle.plan(now, goal.wish)
    if isinstance(plan.end, Refusal) or not plan.moves:
        return plan, dict(machine or {})
    for move in plan.moves:
        now = lifecycle.after(now, move)
    then = _then(machine or {}, now, me, goal)
    if then and not wait and any(move for move in plan.moves if not isinstance(move, Step) or move.via):
        then.update(status=None, status_name=None)
    return plan, then


def steps_of(name: str, plan: Plan, changes: Iterable[Change] = ()) -> list[shown.Step]:
    """A machine's part of a task's plan, as check mode and diff show it: what is changed of it, then where it goes."""
    made = [shown.Step(change.verb, name, ", ".join(change.shown), change.before, change.shown) for change in changes]
    return [*made, *(_shown(name, step) for step in plan.steps)]


def _shown(name: str, step: Step) -> shown.Step:
    after: dict[str, Any] = {"status": step.good[0].label if step.good[0] is not None else "absent"}
    before: dict[str, Any] = {"status": step.before.label if step.before is not None else "absent"}
    if step.power is not None:
        before, after = {"power": None}, {"power": step.power.value}
    if step.op in (Op.LOCK, Op.UNLOCK):
        before, after = {"locked": step.op is Op.UNLOCK}, {"locked": step.op is Op.LOCK}
    return shown.Step(step.op.value, name, step.reason, before, after)


def _then(machine: Mapping[str, Any], now: Situation, me: str, goal: Goal) -> Machine:
    if now.status is None:
        return {}
    owner = me if now.owner is Owner.ME else None if now.owner is Owner.NONE else machine.get("owner")
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
    ops: Sequence[Op] = [step.op for step in now.history]
    if Op.ALLOCATE in ops and goal.claim:
        then["workload_annotations"] = marked(goal.claim)
    for op in ops:
        then.update(dict.fromkeys((*UNFORESEEN.get(op, ()), "status_message"), None))
    if ops and ops[-1] in (Op.POWER_ON, Op.POWER_OFF):
        then["power_state"] = now.power.value
    if Op.DEPLOY in ops:
        osystem, _slash, series = str(goal.forms.get(Op.DEPLOY, {}).get("distro_series") or "").rpartition("/")
        then.update(osystem=osystem or None, distro_series=series or None)
    return then
