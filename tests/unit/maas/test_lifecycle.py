# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure import lifecycle, lifecycle_docs
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.lifecycle_table import (
    COLUMNS,
    EFFECTS,
    TABLE,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.refusals import RECOVERY
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
    FACTS,
    HELD,
    RECOVERABLE,
    STATUS_OF_WORD,
    Status,
    StatusKind,
)

S = Status
GUIDE = Path(__file__).parents[3] / "docs" / "docsite" / "rst" / "lifecycle_guide.rst"


def machine(word: str = "ready", **facts: object) -> Situation:
    """A machine of ours, if a machine of this status is somebody's."""
    status = STATUS_OF_WORD[word]
    return Situation(
        "node-7", status, **{"owner": OwnerKind.ME if status in HELD else OwnerKind.NONE, "power": Power.OFF, **facts}
    )


def wish(state: str = "present", **options: object) -> MachineSpec:
    return MachineSpec.from_params({"state": state, **options})


def ops(now: Situation, wished: MachineSpec) -> str:
    """The plan as words: `commission allocate deploy`, `wait` for a running transition, `!kind` for a refusal."""
    plan = lifecycle.plan(now, wished)
    words = [move.op.value if isinstance(move, LifecycleStep) else "wait" for move in plan.moves]
    return " ".join([*words, f"!{plan.end.kind}"] if isinstance(plan.end, LifecycleFailure) else words)


@pytest.mark.parametrize(
    ("status", "state", "expected"),
    [
        ("new", "present", ""),
        ("new", "ready", "commission"),
        ("new", "deployed", "commission allocate deploy"),
        ("new", "broken", "!conflict"),
        ("new", "absent", "delete"),
        ("commissioning", "present", ""),
        ("commissioning", "deployed", "wait allocate deploy"),
        ("commissioning", "absent", "abort delete"),
        ("ready", "ready", ""),
        ("ready", "allocated", "allocate"),
        ("ready", "deployed", "allocate deploy"),
        ("ready", "rescue", "rescue_mode"),
        ("ready", "broken", "allocate mark_broken"),
        ("allocated", "allocated", ""),
        ("allocated", "ready", "release"),
        ("allocated", "deployed", "deploy"),
        ("allocated", "absent", "release delete"),
        ("deploying", "deployed", "wait"),
        ("deploying", "allocated", "!conflict"),
        ("deploying", "ready", "release"),
        ("deployed", "present", ""),
        ("deployed", "deployed", ""),
        ("deployed", "allocated", "!conflict"),
        ("deployed", "ready", "release"),
        ("deployed", "broken", "mark_broken"),
        ("deployed", "rescue", "rescue_mode"),
        ("deployed", "absent", "release delete"),
        ("releasing", "ready", "wait"),
        ("releasing", "deployed", "wait allocate deploy"),
        ("disk_erasing", "ready", "wait"),
        ("disk_erasing", "absent", "wait delete"),
        ("rescue_mode", "rescue", ""),
        ("rescue_mode", "ready", "exit_rescue_mode"),
        ("entering_rescue_mode", "ready", "wait exit_rescue_mode"),
        ("testing", "ready", "wait"),
        ("broken", "broken", ""),
        ("broken", "absent", "delete"),
        ("retired", "ready", "!conflict"),
        ("failed_deployment", "ready", "release"),
        ("failed_deployment", "present", ""),
        ("releasing_failed", "ready", "release"),
        *((status.word, "deployed", "!failed_state") for status in RECOVERABLE),
    ],
)
def test_the_way_from_a_status_to_a_state(status: str, state: str, expected: str) -> None:
    assert ops(machine(status), wish(state)) == expected


@pytest.mark.parametrize(
    ("failed", "way"),
    [
        ("failed_commissioning", "commission allocate deploy"),
        ("missing", "test allocate deploy"),
        ("broken", "mark_fixed allocate deploy"),
        ("failed_deployment", "release allocate deploy"),
        ("releasing_failed", "release allocate deploy"),
        ("failed_to_enter_rescue_mode", "exit_rescue_mode allocate deploy"),
        ("failed_to_exit_rescue_mode", "exit_rescue_mode allocate deploy"),
        ("failed_testing", "override_failed_testing allocate deploy"),
        ("failed_disk_erasing", "!failed_state"),
    ],
)
def test_recover_names_what_may_be_recovered(failed: str, way: str) -> None:
    assert ops(machine(failed), wish("deployed", recover=[failed])) == way
    others = [status.word for status in RECOVERABLE if status.word != failed]
    assert ops(machine(failed), wish("deployed", recover=others)) == "!failed_state"


@pytest.mark.parametrize(
    ("erase", "recover", "state", "expected"),
    [
        (None, ["failed_disk_erasing"], "ready", "!failed_state"),
        (False, [], "ready", "!failed_state"),
        (False, ["failed_disk_erasing"], "ready", "release"),
        (True, [], "ready", "release"),
        (True, [], "absent", "release delete"),
        (True, [], "deployed", "!failed_state"),
        (True, ["failed_disk_erasing"], "deployed", "release allocate deploy"),
    ],
)
def test_after_a_failed_erasure_the_task_has_to_say_what_becomes_of_the_data(
    erase: bool | None, recover: list[str], state: str, expected: str
) -> None:
    now, wished = machine("failed_disk_erasing"), wish(state, erase=erase, recover=recover)
    assert ops(now, wished) == expected
    for step in lifecycle.plan(now, wished).steps:
        assert ("erase" in step.params) is (step.op is MachineOp.RELEASE and erase is True)


@pytest.mark.parametrize(
    ("status", "act", "state", "expected"),
    [
        ("ready", "test", "present", "test"),
        ("deployed", "test", "present", "test"),
        ("deployed", "test", "ready", "release test"),
        ("new", "test", "ready", "commission test"),
        ("testing", "test", "present", "wait test"),
        ("new", "recommission", "ready", "commission"),
        ("ready", "recommission", "ready", "commission"),
        ("broken", "recommission", "present", "commission"),
        ("failed_commissioning", "recommission", "ready", "commission"),
        ("deployed", "recommission", "ready", "release commission"),
        ("deployed", "recommission", "present", "!conflict"),
        ("deploying", "abort", "present", "abort"),
        ("deploying", "abort", "ready", "abort release"),
        ("commissioning", "abort", "present", "abort"),
        # Aborted, it is new: its number is 0.
        ("commissioning", "abort", "ready", "abort commission"),
        ("ready", "abort", "present", "!conflict"),
    ],
)
def test_an_act_is_done_once_at_its_time(status: str, act: str, state: str, expected: str) -> None:
    assert ops(machine(status), wish(state, act=act)) == expected


@pytest.mark.parametrize(
    ("status", "facts", "options", "expected"),
    [
        ("deployed", {"power": Power.OFF}, {"power": "on"}, "power_on"),
        ("deployed", {"power": Power.ON}, {"power": "on"}, ""),
        ("deployed", {"power": Power.ON}, {"act": "power_cycle"}, "power_off power_on"),
        ("deployed", {"power": Power.OFF}, {"act": "power_cycle"}, "power_on"),
        ("deployed", {"power": Power.UNKNOWN}, {"power": "on"}, "!conflict"),
        ("ready", {"power": Power.ON}, {"power": "off"}, "power_off"),
        ("ready", {"power": Power.ON}, {"act": "power_cycle"}, "!conflict"),
        ("allocated", {}, {"power": "on"}, "!conflict"),
        ("deployed", {}, {"locked": True}, "lock"),
        ("deployed", {"locked": True}, {"locked": True}, ""),
        ("deployed", {"locked": True}, {"locked": False}, "unlock"),
        ("deployed", {"locked": True}, {"locked": False, "state": "ready"}, "unlock release"),
        ("deployed", {"locked": True}, {"state": "ready"}, "!conflict"),
        ("deployed", {"locked": True}, {"locked": True, "power": "on"}, "!conflict"),
        ("deployed", {"power": Power.ON}, {"locked": True, "power": "off"}, "power_off lock"),
        ("ready", {}, {"state": "deployed", "locked": True}, "allocate deploy lock"),
        ("ready", {}, {"locked": True}, "!conflict"),
    ],
)
def test_power_and_lock(status: str, facts: dict[str, object], options: dict[str, object], expected: str) -> None:
    assert ops(machine(status, **facts), wish(**options)) == expected


@pytest.mark.parametrize(
    ("status", "facts", "options", "expected"),
    [
        ("deployed", {"owner": OwnerKind.OTHER}, {"state": "ready"}, "!claimed"),
        ("deployed", {"owner": OwnerKind.OTHER}, {"state": "ready", "take_over": True}, "release"),
        ("deployed", {"owner": OwnerKind.OTHER}, {"state": "deployed"}, ""),
        ("deployed", {"claim": "claim web"}, {"state": "ready"}, "!claimed"),
        ("deployed", {"claim": "claim web"}, {"power": "on"}, "!claimed"),
        ("deployed", {"claim": "claim web"}, {"state": "deployed"}, ""),
        ("allocated", {"owner": OwnerKind.OTHER}, {"state": "allocated"}, "!claimed"),
        ("allocated", {"claim": "claim web"}, {"state": "deployed"}, "!claimed"),
        ("allocated", {"claim": "claim web"}, {"state": "deployed", "take_over": True}, "release allocate deploy"),
        ("failed_commissioning", {"owner": OwnerKind.OTHER}, {"state": "absent"}, "delete"),
        ("failed_testing", {"owner": OwnerKind.OTHER, "previous": S.DEPLOYED}, {"state": "absent"}, "!claimed"),
        ("deployed", {"owner": OwnerKind.OTHER}, {"state": "broken", "take_over": True}, "!conflict"),
    ],
)
def test_whose_machine_it_is(status: str, facts: dict[str, object], options: dict[str, object], expected: str) -> None:
    assert ops(machine(status, **facts), wish(**options)) == expected


@pytest.mark.parametrize(
    ("previous", "state", "expected"),
    [
        (None, "ready", "exit_rescue_mode"),
        (S.DEPLOYED, "deployed", "exit_rescue_mode"),
        (S.DEPLOYED, "ready", "exit_rescue_mode release"),
        (S.DEPLOYED, "allocated", "!conflict"),
    ],
)
def test_what_was_before_rescue_mode_is_where_its_end_leads(previous: Status, state: str, expected: str) -> None:
    assert ops(machine("rescue_mode", previous=previous), wish(state)) == expected


def step_then(now: Situation, wished: MachineSpec, word: str) -> Situation:
    """Take the next step, and see the machine in another status afterwards."""
    step = lifecycle.next_step(now, wished)
    assert isinstance(step, LifecycleStep)
    return now.after(step, machine(word))


def test_a_failure_of_this_run_is_not_tried_again_unless_recover_names_it() -> None:
    released = step_then(machine("deployed"), wish("ready"), "releasing_failed")
    assert ops(released, wish("ready")) == "!failed_state"
    assert ops(released, wish("ready", recover=["releasing_failed"])) == "release"


def test_what_failed_again_after_its_recovery_is_reported() -> None:
    wished = wish("deployed", recover=["failed_deployment"])
    now = step_then(machine("failed_deployment"), wished, "failed_deployment")
    refusal = lifecycle.next_step(now, wished)
    assert isinstance(refusal, LifecycleFailure)
    assert "again" in refusal.reason


@pytest.mark.parametrize(("start", "end"), [("allocated", "allocated"), ("allocated", "ready"), ("new", "new")])
def test_what_somebody_stopped_is_not_started_again(start: str, end: str) -> None:
    refusal = lifecycle.next_step(step_then(machine(start), wish("deployed"), end), wish("deployed"))
    assert isinstance(refusal, LifecycleFailure)
    assert "somebody stopped" in refusal.reason


def test_a_machine_that_somebody_keeps_taking_back_is_given_up() -> None:
    now = machine("ready")
    for _ignored in range(lifecycle.PATIENCE):
        now = step_then(now, wish("allocated"), "ready")
    assert ops(now, wish("allocated")) == "!conflict"


def test_a_failed_test_fails_a_task_that_only_tests() -> None:
    now = step_then(machine("ready"), wish(act="test"), "failed_testing")
    assert ops(now, wish(act="test")) == "!failed_state"


@pytest.mark.parametrize(
    ("state", "expected"), [("ready", LifecycleDone(None)), ("absent", LifecycleDone(None)), ("deployed", "not_found")]
)
def test_a_composed_machine_is_gone_after_its_release(state: str, expected: LifecycleDone | str) -> None:
    releasing = machine("releasing").vanished()
    released = step_then(machine("allocated"), wish("ready"), "releasing").vanished()
    for now in (releasing, released):
        answer = lifecycle.next_step(now, wish(state))
        assert (answer.kind if isinstance(answer, LifecycleFailure) else answer) == expected


@pytest.mark.parametrize(
    ("can_enlist", "state", "expected"),
    [
        (True, "deployed", "enlist commission allocate deploy"),
        (True, "present", "enlist"),
        (False, "present", "!not_found"),
        (True, "absent", ""),
    ],
)
def test_an_unknown_machine_is_enlisted_if_the_task_says_how(can_enlist: bool, state: str, expected: str) -> None:
    assert ops(Situation("node-7", None, can_enlist=can_enlist), wish(state)) == expected


def test_the_error_reads_as_the_style_guide_wants_it() -> None:
    now = machine("failed_deployment", message="curtin: no space left on sda")
    refusal = lifecycle.next_step(now, wish("deployed"))
    assert isinstance(refusal, LifecycleFailure)
    assert str(refusal.failure("node-7")) == (
        "node-7 cannot be deployed: it is in Failed deployment (curtin: no space left on sda). "
        "Release it with state: ready, or allow it with recover: [failed_deployment], "
        "which releases it and goes on from Ready."
    )


@pytest.mark.parametrize(
    ("now", "wishes", "ends"),
    [
        ("commissioning", {"act": "abort"}, S.NEW),
        ("new", {"act": "test"}, S.NEW),
        ("deploying", {"act": "abort"}, S.ALLOCATED),
        ("ready", {"act": "test"}, S.READY),
    ],
)
def test_a_plan_ends_where_the_machine_will_be(now: str, wishes: dict[str, Any], ends: Status) -> None:
    assert lifecycle.plan(machine(now), wish(**wishes)).end == LifecycleDone(ends)


@pytest.mark.parametrize("status", Status)
def test_waiting_goes_on_exactly_while_the_transition_runs(status: Status) -> None:
    wait = lifecycle.next_step(machine("commissioning"), wish("ready"))
    deploy = lifecycle.next_step(machine("allocated"), wish("deployed"))
    abort = lifecycle.next_step(machine("deploying"), wish(act="abort"))
    assert isinstance(wait, LifecycleWait)
    assert isinstance(deploy, LifecycleStep)
    assert isinstance(abort, LifecycleStep)
    now = Situation("node-7", status)
    assert wait.pending(now) is (status is S.COMMISSIONING)
    assert deploy.pending(now) is (status is S.DEPLOYING)
    assert abort.pending(now) is (status is S.DEPLOYING)


def test_a_power_request_waits_for_the_power_and_not_for_a_broken_bmc() -> None:
    step = lifecycle.next_step(machine("deployed"), wish(power="on"))
    assert isinstance(step, LifecycleStep)
    assert [step.pending(machine("deployed", power=power)) for power in (Power.OFF, Power.ON, Power.ERROR)] == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({}, (S.DEPLOYED, OwnerKind.ME, Power.ON, S.DEPLOYED)),
        ({"owner": "bob"}, (S.DEPLOYED, OwnerKind.OTHER, Power.ON, S.DEPLOYED)),
        ({"status": 16}, (S.RESCUE_MODE, OwnerKind.ME, Power.ON, S.DEPLOYED)),
        ({"status": 16, "netboot": True}, (S.RESCUE_MODE, OwnerKind.ME, Power.ON, None)),
        ({"status": 4, "owner": None, "osystem": "", "netboot": True}, (S.READY, OwnerKind.NONE, Power.ON, None)),
        ({"power_state": "strange"}, (S.DEPLOYED, OwnerKind.ME, Power.UNKNOWN, S.DEPLOYED)),
        ({"power_state": None}, (S.DEPLOYED, OwnerKind.ME, Power.UNKNOWN, S.DEPLOYED)),
    ],
)
def test_what_a_machine_document_tells(facts: dict[str, object], expected: tuple[object, ...]) -> None:
    document = {
        "system_id": "abc123",
        "hostname": "node-7",
        "status": 6,
        "owner": "admin",
        "locked": False,
        "power_state": "on",
        "netboot": False,
        "osystem": "ubuntu",
        **facts,
    }
    now = Situation.of(document, "admin")
    assert (now.status, now.owner, now.power, now.previous) == expected


def test_a_status_of_a_later_maas_is_said_to_be_unknown() -> None:
    with pytest.raises(Failure) as failure:
        Situation.of({"system_id": "abc123", "status": 99, "status_name": "Dreaming"}, "admin")
    assert str(failure.value) == "abc123 has a status that is not known here: Dreaming."


@pytest.mark.parametrize("word", ["ready", "failed", "Failed testing"])
def test_recover_takes_only_failed_statuses(word: str) -> None:
    with pytest.raises(Failure) as failure:
        wish(recover=[word])
    assert failure.value.kind == "invalid"
    assert str(failure.value).startswith(f"recover cannot contain {word!r}.")


def test_the_tables_cover_every_status_and_request() -> None:
    assert list(TABLE) == list(FACTS) == list(Status)
    assert set(RECOVERY) == set(RECOVERABLE)
    assert set(EFFECTS) == set(MachineOp)
    for status in Status:
        assert (status.kind is StatusKind.TRANSITIONAL) is (status.fails_as is not None)
        assert len(TABLE[status]) == len(COLUMNS)


@pytest.mark.parametrize("act", [None, *MachineAct])
@pytest.mark.parametrize("state", [State.PRESENT, State.ALLOCATED, State.DEPLOYED, State.RESCUE])
def test_nothing_that_keeps_a_machine_releases_a_deployed_one(state: State, act: MachineAct | None) -> None:
    plan = lifecycle.plan(
        machine("deployed"), MachineSpec(state, act=act, recover=frozenset(RECOVERABLE), take_over=True)
    )
    assert not {MachineOp.RELEASE, MachineOp.DELETE, MachineOp.COMMISSION, MachineOp.MARK_BROKEN} & {
        step.op for step in plan.steps
    }


def test_the_guide_is_the_table() -> None:
    """When this fails, write what page() returns to that file."""
    assert GUIDE.read_text(encoding="utf-8") == lifecycle_docs.page()
    assert all(f"* - {status.label}\n" in lifecycle_docs.page() for status in Status)
