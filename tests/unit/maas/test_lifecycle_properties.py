# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever a machine is and whatever is wished: the steps are taken, the machine does as it likes, and it ends."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import KINDS
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure import lifecycle
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.spec import (
    LifecycleDone,
    LifecycleFailure,
    LifecycleStep,
    LifecycleWait,
    MachineAct,
    MachineOp,
    MachineSpec,
    OwnerKind,
    Power,
    Situation,
    State,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import (
    HELD,
    RECOVERABLE,
    Status,
    StatusKind,
)
from unit.maas.modelled_machine import ENDS, PASSING, ModelledMachine

# New to Deployed with every failure recovered once takes some twenty steps; what takes this many goes in circles.
PLENTY = 60
REACHED = {
    State.READY: (Status.READY, None),
    State.ALLOCATED: (Status.ALLOCATED,),
    State.DEPLOYED: (Status.DEPLOYED,),
    State.RESCUE: (Status.RESCUE_MODE,),
    State.BROKEN: (Status.BROKEN,),
    State.ABSENT: (None,),
}

wishes = st.builds(
    MachineSpec,
    state=st.sampled_from(State),
    act=st.none() | st.sampled_from(MachineAct),
    locked=st.none() | st.booleans(),
    power=st.none() | st.sampled_from([Power.ON, Power.OFF]),
    recover=st.frozensets(st.sampled_from(RECOVERABLE)),
    erase=st.none() | st.booleans(),
    take_over=st.booleans(),
)


@st.composite
def machines(draw: st.DrawFn) -> ModelledMachine:
    status = draw(st.sampled_from(Status))
    before = draw(st.sampled_from([Status.READY, Status.ALLOCATED, Status.DEPLOYED])) if status in PASSING else None
    held = status in HELD or before in HELD
    owners = [OwnerKind.ME, OwnerKind.OTHER] if held else [OwnerKind.NONE]
    if status in (Status.COMMISSIONING, Status.FAILED_COMMISSIONING, Status.FAILED_TESTING):
        owners = [OwnerKind.ME, OwnerKind.OTHER]
    return ModelledMachine(
        status,
        owner=draw(st.sampled_from(owners)),
        locked=status in (Status.DEPLOYED, Status.DEPLOYING) and draw(st.booleans()),
        power=draw(st.sampled_from([Power.ON, Power.OFF])),
        before=before or Status.READY,
        installed=Status.DEPLOYED in (status, before),
        commissioned=status is not Status.NEW and draw(st.booleans()),
        composed=draw(st.booleans()),
    )


def follow(
    machine: ModelledMachine, wish: MachineSpec, well: st.DataObject | None = None, claim: str = ""
) -> list[object]:
    """All answers up to the last, while the machine's transitions end well or badly."""
    answers: list[object] = []
    now = machine.seen(claim=claim)
    for _ignored in range(PLENTY):
        answer = lifecycle.next_step(now, wish)
        answers.append(answer)
        if isinstance(answer, LifecycleDone | LifecycleFailure):
            return answers
        if isinstance(answer, LifecycleStep):
            machine.do(answer.op.value, dict(answer.params))
        while machine.status in ENDS and answer.pending(machine.seen()):
            machine.finish(well is None or well.draw(st.booleans()))
        assert not answer.pending(machine.seen()), f"{answer} would wait for ever"
        if machine.status is None:
            fresh = now.vanished()
        else:
            fresh = machine.seen(claim=claim if machine.owner is not OwnerKind.NONE else "", history=now.history)
        now = now.after(answer, fresh) if isinstance(answer, LifecycleStep) else fresh
    raise AssertionError(f"it goes in circles: {answers}")


def steps(answers: list[object]) -> list[LifecycleStep]:
    return [answer for answer in answers if isinstance(answer, LifecycleStep)]


@settings(max_examples=500)
@given(machines(), wishes, st.data())
def test_every_wish_ends_and_no_step_is_one_that_maas_refuses(
    machine: ModelledMachine, wish: MachineSpec, data: st.DataObject
) -> None:
    end = follow(machine, wish, data)[-1]
    if isinstance(end, LifecycleDone) and wish.state in REACHED:
        assert machine.status in REACHED[wish.state]


@given(machines(), wishes)
def test_when_all_goes_well_the_plan_is_what_is_done(machine: ModelledMachine, wish: MachineSpec) -> None:
    foreseen = lifecycle.plan(machine.seen(), wish)
    knowable = machine.commissioned and not machine.composed and machine.status not in (*PASSING, Status.BROKEN)
    answers = follow(machine, wish)
    if knowable:
        assert type(answers[-1]) is type(foreseen.end)
        assert isinstance(answers[-1], LifecycleFailure) or [step.op for step in steps(answers)] == [
            step.op for step in foreseen.steps
        ]
        assert isinstance(answers[-1], LifecycleFailure) or machine.status is foreseen.end.status


@given(machines(), wishes)
def test_a_foreseeable_refusal_comes_before_the_first_step(machine: ModelledMachine, wish: MachineSpec) -> None:
    now = machine.seen()
    plan = lifecycle.plan(now, wish)
    if isinstance(plan.end, LifecycleFailure):
        assert plan.moves == ()
        assert lifecycle.next_step(now, wish) == plan.end


@given(machines(), wishes, st.data())
def test_a_deployed_machine_is_never_given_up_unasked(
    machine: ModelledMachine, wish: MachineSpec, data: st.DataObject
) -> None:
    if wish.state in (State.READY, State.ABSENT, State.BROKEN):
        wish = replace(wish, state=State.DEPLOYED)
    harmful = {MachineOp.RELEASE, MachineOp.DELETE, MachineOp.DEPLOY, MachineOp.COMMISSION, MachineOp.MARK_BROKEN}
    taken = steps(follow(machine, wish, data))
    assert not [step for step in taken if step.before is Status.DEPLOYED and step.op in harmful]


@given(machines(), wishes, st.data())
def test_present_touches_no_status(machine: ModelledMachine, wish: MachineSpec, data: st.DataObject) -> None:
    taken = steps(follow(machine, replace(wish, state=State.PRESENT, act=None), data))
    assert {step.op for step in taken} <= {MachineOp.LOCK, MachineOp.UNLOCK, MachineOp.POWER_ON, MachineOp.POWER_OFF}


@given(machines(), wishes, st.data())
def test_another_holder_keeps_the_machine_unless_told(
    machine: ModelledMachine, wish: MachineSpec, data: st.DataObject
) -> None:
    if machine.status in HELD and machine.owner is OwnerKind.OTHER:
        assert not steps(follow(machine, replace(wish, take_over=False), data))
    machine.owner = OwnerKind.ME
    if machine.status in HELD:
        assert not steps(follow(machine, replace(wish, take_over=False), data, claim="claim web"))


@given(machines(), wishes, st.data())
def test_a_locked_machine_is_unlocked_first_or_left_alone(
    machine: ModelledMachine, wish: MachineSpec, data: st.DataObject
) -> None:
    if machine.locked:
        taken = steps(follow(machine, wish, data))
        assert not taken or (taken[0].op is MachineOp.UNLOCK) is (wish.locked is False)
        assert wish.locked is False or not taken


@given(machines(), wishes, st.data())
def test_a_failed_status_is_recovered_only_if_named_and_only_once(
    machine: ModelledMachine, wish: MachineSpec, data: st.DataObject
) -> None:
    recovered = [step.recovers for step in steps(follow(machine, wish, data)) if step.recovers]
    assert len(recovered) == len(set(recovered))
    unnamed = set(recovered) - wish.recover
    # Asking for the same erasure again is asking, too.
    assert not unnamed or (unnamed == {Status.FAILED_DISK_ERASING} and wish.erase)


@given(machines(), wishes, st.data())
def test_data_stay_on_disks_only_if_that_is_said(
    machine: ModelledMachine, wish: MachineSpec, data: st.DataObject
) -> None:
    for step in steps(follow(machine, wish, data)):
        if step.before is Status.FAILED_DISK_ERASING and step.op is MachineOp.RELEASE:
            assert step.params.get("erase") == "true" or wish.erase is False


@given(machines(), wishes, st.data())
def test_what_was_reached_stays_reached(machine: ModelledMachine, wish: MachineSpec, data: st.DataObject) -> None:
    wish = replace(wish, act=None)
    if isinstance(follow(machine, wish, data)[-1], LifecycleDone) and machine.status is not None:
        assert lifecycle.plan(machine.seen(), wish).moves == ()


@given(machines(), wishes, st.data())
def test_a_refusal_is_a_sentence_with_a_way_out(
    machine: ModelledMachine, wish: MachineSpec, data: st.DataObject
) -> None:
    end = follow(machine, wish, data)[-1]
    if isinstance(end, LifecycleFailure):
        assert end.kind in KINDS
        assert end.reason.startswith("node-7 ")
        assert end.reason.endswith(".")
        assert end.hint.endswith(".")
        assert "{" not in end.reason + end.hint
        assert "  " not in end.reason + end.hint
        assert str(end.failure("node-7")) == f"{end.reason} {end.hint}"


@given(machines())
def test_waiting_ends_exactly_where_no_transition_runs(machine: ModelledMachine) -> None:
    answer = lifecycle.next_step(
        machine.seen(), MachineSpec(State.RESCUE, recover=frozenset(RECOVERABLE), take_over=True)
    )
    if isinstance(answer, LifecycleWait):
        for status in Status:
            assert answer.pending(Situation("x", status)) is (status is machine.status)
    elif isinstance(answer, LifecycleStep):
        assert all(status.kind is StatusKind.TRANSITIONAL for status in answer.via)
