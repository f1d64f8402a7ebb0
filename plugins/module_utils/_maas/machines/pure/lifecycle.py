# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a machine's status to its wished state: the next request, or the reason why there is none.

Driven as: read the machine, `next_step`, act, wait while `pending`, read again, until `Done` or `Refusal`.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.holders import HOSTED
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.lifecycle_table import (
    ABORT_ENDS,
    COLUMNS,
    COMMISSIONABLE,
    EFFECTS,
    POWER_AFTER,
    TABLE,
    TEST_KEEPS,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.refusals import refuse
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.spec import (
    Answer,
    LifecycleDone,
    LifecycleFailure,
    LifecyclePlan,
    LifecycleStep,
    LifecycleWait,
    MachineAct,
    MachineOp,
    MachineSpec,
    Move,
    OwnerKind,
    Power,
    Situation,
    State,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import (
    HELD,
    Status,
    StatusKind,
)

# The same request from the same status more often than this in one run is a circle.
PATIENCE = 2


def next_step(now: Situation, wish: MachineSpec) -> Answer:
    """What to do next."""
    foreseen = plan(now, wish)
    return foreseen.moves[0] if foreseen.moves else foreseen.end


def plan(now: Situation, wish: MachineSpec) -> LifecyclePlan:
    """Every step to the end, if all goes well. A wish that would end in a refusal has none: it is refused at once."""
    moves: list[Move] = []
    while True:
        answer = _decide(now, wish)
        if isinstance(answer, LifecycleFailure):
            return LifecyclePlan((), answer)
        if isinstance(answer, LifecycleDone):
            return LifecyclePlan(tuple(moves), answer)
        moves.append(answer)
        now = after(now, answer)


def after(now: Situation, move: Move) -> Situation:
    """The situation that a move leads to when all goes well."""
    status = move.good[0]
    free = status in (None, Status.NEW, Status.READY)
    then = replace(now, status=status)
    if free:
        then = replace(then, owner=OwnerKind.NONE, claim="", previous=None)
    if isinstance(move, LifecycleWait):
        return then
    op = move.op
    if op is MachineOp.ALLOCATE:
        then = replace(then, owner=OwnerKind.ME)
    if op in (MachineOp.LOCK, MachineOp.UNLOCK):
        then = replace(then, locked=op is MachineOp.LOCK)
    then = replace(then, power=POWER_AFTER.get(op, now.power))
    if op in (MachineOp.RESCUE_MODE, MachineOp.MARK_BROKEN, MachineOp.TEST) and now.previous is None:
        then = replace(then, previous=now.status)
    return then.after(move, then)


def _decide(now: Situation, wish: MachineSpec) -> Answer:
    if now.status is None:
        return _unknown(now, wish)
    if now.locked and wish.locked is False:
        return _permit(_step(MachineOp.UNLOCK, now), now, wish)
    answer = _early_act(now, wish) or _toward(now.status, now, wish)
    if isinstance(answer, LifecycleDone):
        answer = _late_act(now.status, now, wish) or _power(now.status, now, wish) or _lock(now, wish) or answer
    return _permit(answer, now, wish) if isinstance(answer, LifecycleStep) else answer


def _unknown(now: Situation, wish: MachineSpec) -> Answer:
    if wish.state is State.ABSENT:
        return LifecycleDone(None)
    if now.previous in (Status.RELEASING, Status.DISK_ERASING) or any(
        step.op is MachineOp.RELEASE for step in now.history
    ):
        if wish.state in (State.PRESENT, State.READY):
            return LifecycleDone(None)
        return refuse("gone", now, wish)
    if now.previous is not None or now.history:
        return refuse("removed", now, wish)
    return _step(MachineOp.ENLIST, now) if now.can_enlist else refuse("unknown", now, wish)


def _toward(status: Status, now: Situation, wish: MachineSpec) -> Answer:
    """The cell of the table, read for this machine."""
    failed_now = bool(now.history) and now.history[-1].failed(now)
    taken_away = wish.held and now.owner is not OwnerKind.ME and status.kind is not StatusKind.FAILED
    if taken_away or (failed_now and status.kind is StatusKind.STABLE):
        return refuse("stopped", now, wish)
    if wish.state is State.PRESENT:
        return refuse("act_failed", now, wish) if failed_now else LifecycleDone(status)
    word, _space, rest = TABLE[status][COLUMNS.index(wish.state)].partition(" ")
    foreign = now.owner is not OwnerKind.ME or bool(now.claim)
    if status is Status.ALLOCATED and foreign and wish.state in (State.ALLOCATED, State.DEPLOYED):
        # It becomes ours only by way of Ready: agent_name and owner are written by `allocate`.
        word = MachineOp.RELEASE.value
    if word == "done":
        return LifecycleDone(status)
    if word == "wait":
        return _wait(status, now)
    if word == "refuse":
        return refuse(rest, now, wish)
    if word == "recover" or (failed_now and status.kind is StatusKind.FAILED):
        return _recover(MachineOp(rest or word), status, now, wish)
    return _step(MachineOp(word), now, wish)


def _recover(op: MachineOp, status: Status, now: Situation, wish: MachineSpec) -> Answer:
    # The same release with the same erasure, asked for once more, needs no further word.
    retried = status is Status.FAILED_DISK_ERASING and bool(wish.erase) and not now.history
    allowed = status in wish.recover or (retried and wish.state in (State.READY, State.ABSENT))
    if any(step.recovers is status for step in now.history):
        return refuse("recovered", now, wish)
    if not allowed:
        return refuse("failed", now, wish)
    if status is Status.FAILED_DISK_ERASING and wish.erase is None:
        return refuse("unerased", now, wish)
    return replace(_step(op, now, wish), recovers=status, reason=f"it is in {status.label}, which recover names")


def _early_act(now: Situation, wish: MachineSpec) -> Answer | None:
    """The act, if it must run before the state is reached: afterwards it would have no object, or run twice."""
    if wish.act is None or any(step.act for step in now.history):
        return None
    if wish.act is MachineAct.ABORT:
        return _step(MachineOp.ABORT, now, act=wish.act) if now.status in ABORT_ENDS else refuse("idle", now, wish)
    if wish.act is MachineAct.RECOMMISSION and now.status in COMMISSIONABLE:
        return _step(MachineOp.COMMISSION, now, act=wish.act)
    return None


def _late_act(status: Status, now: Situation, wish: MachineSpec) -> Answer | None:
    if wish.act is None or any(step.act and step.op is not MachineOp.POWER_OFF for step in now.history):
        return None
    if status.kind is StatusKind.TRANSITIONAL:
        return _wait(status, now)
    if wish.act is MachineAct.RECOMMISSION:
        return refuse("not_commissionable", now, wish)
    if wish.act is MachineAct.TEST:
        return _step(MachineOp.TEST, now, act=wish.act)
    # MAAS's API has no power cycle: it is an off and an on.
    answer = _powered(Power.OFF if now.power is Power.ON else Power.ON, now, wish)
    return replace(answer, act=wish.act) if isinstance(answer, LifecycleStep) else answer


def _power(status: Status, now: Situation, wish: MachineSpec) -> Answer | None:
    if wish.power is None or wish.power is now.power:
        return None
    return _wait(status, now) if status.kind is StatusKind.TRANSITIONAL else _powered(wish.power, now, wish)


def _powered(power: Power, now: Situation, wish: MachineSpec) -> Answer:
    if now.power not in (Power.ON, Power.OFF):
        return refuse("power_unknown", now, wish)
    if power is Power.OFF:
        return _step(MachineOp.POWER_OFF, now)
    if now.owner is OwnerKind.NONE:
        return refuse("power_free", now, wish)
    # `power_on` of an Allocated machine starts a deployment (maasserver/models/node.py, _start).
    if now.status in (Status.ALLOCATED, Status.RESERVED):
        return refuse("power_allocated", now, wish)
    return _step(MachineOp.POWER_ON, now)


def _lock(now: Situation, wish: MachineSpec) -> Answer | None:
    if not wish.locked or now.locked:
        return None
    return (
        _step(MachineOp.LOCK, now)
        if now.status in (Status.DEPLOYED, Status.DEPLOYING)
        else refuse("not_lockable", now, wish)
    )


def _permit(step: LifecycleStep, now: Situation, wish: MachineSpec) -> LifecycleStep | LifecycleFailure:
    """A step, unless something about this machine forbids it."""
    held = now.status in HELD or now.previous in HELD
    if now.claim and not wish.take_over:
        return refuse("hosted" if now.claim.startswith(HOSTED) else "claimed", now, wish)
    if now.owner is OwnerKind.OTHER and held and not wish.take_over:
        return refuse("owned", now, wish)
    if now.locked and step.op is not MachineOp.UNLOCK:
        return refuse("locked", now, wish)
    if step.op is MachineOp.MARK_BROKEN and now.owner is not OwnerKind.ME:
        return refuse("unowned", now, wish)
    if sum(done.op is step.op and done.before is step.before for done in now.history) >= PATIENCE:
        return refuse("circle", now, wish)
    return step


def _step(
    op: MachineOp, now: Situation, wish: MachineSpec | None = None, act: MachineAct | None = None
) -> LifecycleStep:
    effect = EFFECTS[op]
    via = frozenset(effect.via)
    if op is MachineOp.ABORT and now.status is not None:
        via |= {now.status}
    params = {"erase": "true"} if op is MachineOp.RELEASE and wish is not None and wish.erase else {}
    return LifecycleStep(
        op,
        effect.reason,
        now.status,
        effect.good or _ends(op, now),
        via,
        frozenset(effect.bad),
        params,
        effect.power,
        act=act,
    )


def _ends(op: MachineOp, now: Situation) -> tuple[Status | None, ...]:
    """Where a request ends that returns the machine to what it was; the likeliest comes first."""
    status = now.status
    back = _was(now)
    if op in (MachineOp.LOCK, MachineOp.UNLOCK, MachineOp.POWER_ON, MachineOp.POWER_OFF):
        return (status,)
    if op is MachineOp.ABORT:
        end = ABORT_ENDS.get(status)
        return (back if end is None else end,)
    if op is MachineOp.TEST:
        return (status if status in TEST_KEEPS else Status.READY,)
    if op is MachineOp.EXIT_RESCUE_MODE:
        return (back,)
    return (Status.DEPLOYED, Status.READY) if back is Status.DEPLOYED else (Status.READY, Status.DEPLOYED)


def _was(now: Situation) -> Status:
    """What it was before, as far as that is known. New is 0, and as good as any other."""
    return Status.READY if now.previous is None else now.previous


def _wait(status: Status, now: Situation) -> LifecycleWait:
    good: tuple[Status | None, ...] = (status.leads_to or _was(now),)
    if status in (Status.RELEASING, Status.DISK_ERASING):
        good = EFFECTS[MachineOp.RELEASE].good
    return LifecycleWait(status, good, f"it is {status.label.lower()} already")
