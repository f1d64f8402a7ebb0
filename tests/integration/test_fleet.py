# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many machines at once: in parallel, with few requests, each to its own end. The clock moves when somebody waits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task, carry_out
from ansible_collections.metalshift.maas.plugins.module_utils._core.wait import Patience
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.holders import marked
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.connection import ApiKey, MaasConnection
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.fleet import (
    Fleet,
    FleetMember,
    MachineTarget,
    annotating,
    summary,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.spec import (
    MachineOp,
    MachineSpec,
    Power,
    State,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import Status
from ansible_collections.metalshift.maas.plugins.modules.machine import SPEC, converge
from metalshift_lab.simulator import Simulator


class LabClock:
    """The simulator's clock: waiting for it moves it."""

    def __init__(self, sim: Simulator) -> None:
        self._sim = sim
        self._now = 0.0

    def now(self) -> float:
        return self._now

    def sleep(self, seconds: float) -> None:
        self._now += seconds
        self._sim.forward(seconds)


class Drive:
    """A fleet on a simulator, and what it said."""

    def __init__(self, sim: Simulator) -> None:
        self.sim = sim
        self.lines: list[str] = []
        self.clock = LabClock(sim)
        connection = MaasConnection(base=sim.url, key=ApiKey.parse(sim.api_key))
        self.client = Client(connection, clock=self.clock)
        self.machines = Machines(self.client)

    def __call__(self, *members: FleetMember, timeout: float = 3600, **settings: Any) -> list[FleetMember]:
        self.sim.requests.clear()
        patience = Patience(self.clock, self.lines.append, timeout, 5.0)
        return Fleet(self.client, self.machines, patience, **settings).drive(members)

    def member(self, name: str, state: str = "deployed", **values: Any) -> FleetMember:
        wish = MachineSpec(**{"state": State(state), **values.pop("wish", {})})
        machine = self.machines.find([name])[name]
        return FleetMember(name, MachineTarget(wish, **values), machine)

    def counted(self) -> Counter[str]:
        return Counter(f"{entry.method} {entry.op or ''}".strip() for entry in self.sim.requests)


@pytest.fixture
def drive(sim: Simulator) -> Drive:
    sim.auto(60)
    return Drive(sim)


def names(count: int) -> list[str]:
    return [f"node{number:02}" for number in range(1, count + 1)]


def test_ten_machines_are_deployed_with_two_requests_each_and_one_a_tick(sim: Simulator, drive: Drive) -> None:
    sim.machines(10)
    members = drive(*[drive.member(name) for name in names(10)])
    assert summary(members) == {"deployed": 10}
    counted = drive.counted()
    assert counted["POST allocate"] == counted["POST deploy"] == 10
    assert set(counted) == {"POST allocate", "POST deploy", "GET", "GET whoami"}
    # 60 seconds in ticks that grow from 5 to 20
    assert counted["GET"] <= 8


def test_it_says_what_is_going_on_when_something_changes(sim: Simulator, drive: Drive) -> None:
    sim.machines(3)
    drive(*[drive.member(name) for name in names(3)])
    assert drive.lines[0] == "0/3 deployed, 3 deploying, 0s"
    assert drive.lines[-1].startswith("3/3 deployed, 1m")
    assert len(drive.lines) == 2


def test_annotations_are_set_between_allocation_and_deployment(sim: Simulator, drive: Drive) -> None:
    sim.machine("node01")
    drive(drive.member("node01", claim="web", adjust=annotating(marked("web"))))
    ops = [entry.op for entry in sim.requests.writes()]
    assert ops == ["allocate", "set_workload_annotations", "deploy"]
    assert sim.find("node01").agent_name == "web"
    assert sim.find("node01").annotations == marked("web")


def test_annotations_wait_until_a_machine_is_held(sim: Simulator, drive: Drive) -> None:
    """While it is commissioned somebody owns it, but what is written then would stay on a free machine."""
    made = sim.machine("node01", status="Commissioning")
    made.owner = sim.machine("other", status="Deployed").owner
    drive(drive.member("node01", adjust=annotating({"team": "blue"})))
    assert [entry.op for entry in sim.requests.writes()] == ["allocate", "set_workload_annotations", "deploy"]


def test_without_waiting_it_ends_after_the_writes(sim: Simulator, drive: Drive) -> None:
    sim.machines(2)
    members = drive(*[drive.member(name) for name in names(2)], wait=False)
    assert summary(members) == {"deploying": 2}
    assert all(member.under_way and not member.failure for member in members)
    assert "GET" not in drive.counted()
    assert drive.lines == []


def test_a_machine_goes_all_the_way_from_new(sim: Simulator, drive: Drive) -> None:
    sim.machine("node01", status="New")
    (member,) = drive(drive.member("node01"))
    assert member.done
    assert [step.op for step in member.history] == [MachineOp.COMMISSION, MachineOp.ALLOCATE, MachineOp.DEPLOY]
    # The second one is a sign of life: the clock of these tests has gone on by more than a minute.
    assert [line.rsplit(",", 1)[0] for line in drive.lines] == [
        "0/1 deployed, 1 commissioning",
        "0/1 deployed, 1 commissioning",
        "0/1 deployed, 1 deploying",
        "1/1 deployed",
    ]
    assert " of " in drive.lines[1].rsplit(",", 1)[1]


def test_one_that_fails_does_so_at_once_with_its_reasons_and_the_others_arrive(sim: Simulator, drive: Drive) -> None:
    sim.machines(3)
    sim.fault("machine", hostname="node02", action="deploy", reason="The disk is on fire.")
    members = drive(*[drive.member(name) for name in names(3)])
    assert summary(members) == {"deployed": 2, "failed": 1}
    failure = members[1].failure
    assert failure is not None
    assert failure.kind == "failed_state"
    assert "node02 cannot be deployed: it is in Failed deployment" in str(failure)
    assert "The disk is on fire" in str(failure)
    assert any("The disk is on fire." in event for event in failure.events)


def test_another_takes_the_place_of_one_that_failed(sim: Simulator, drive: Drive) -> None:
    sim.machines(2)
    sim.fault("machine", hostname="node01", action="deploy")

    def instead(member: FleetMember) -> Iterable[FleetMember]:
        member.aside = True
        back = FleetMember(member.name, MachineTarget(MachineSpec(State.READY)), member.machine, aside=True)
        return [back, drive.member("node02")]

    members = drive(drive.member("node01"), instead=instead)
    assert summary(members) == {"deployed": 1}
    assert sim.find("node01").status.label == "Ready"
    assert drive.lines[-1].startswith("1/1 deployed")


def test_a_place_gets_its_machine_by_a_request_of_the_caller(sim: Simulator, drive: Drive) -> None:
    sim.machines(2)

    def obtain() -> dict[str, Any]:
        machine: dict[str, Any] = drive.client.post("machines/", {"agent_name": "web"}, op="allocate")
        return machine

    places = [
        FleetMember(f"web {number}", MachineTarget(MachineSpec(State.DEPLOYED), claim="web"), obtain=obtain)
        for number in range(3)
    ]
    members = drive(*places)
    assert summary(members) == {"deployed": 2, "failed": 1}
    assert {str(member.failure.status) for member in members if member.failure} == {"409"}


def test_when_the_time_is_up_it_says_what_each_was_doing(sim: Simulator, drive: Drive) -> None:
    sim.auto(0)
    sim.machines(2)
    members = drive(*[drive.member(name) for name in names(2)], timeout=90)
    failure = members[0].failure
    assert failure is not None
    assert failure.kind == "timeout"
    assert str(failure).startswith("node01 is not Deployed after 1m30s: it has been Deploying for 1m30s")
    assert failure.events


def test_what_runs_already_is_waited_for_and_not_started_again(sim: Simulator, drive: Drive) -> None:
    sim.machine("node01", status="Deploying")
    sim.auto(60)
    (member,) = drive(drive.member("node01"))
    assert member.done
    assert not member.changed
    assert not sim.requests.writes()


LOST: list[tuple[str, str, str]] = [
    ("Ready", "allocated", "allocate"),
    ("Allocated", "deployed", "deploy"),
    ("Deployed", "ready", "release"),
    ("New", "ready", "commission"),
    ("Ready", "rescue", "rescue_mode"),
    ("Allocated", "broken", "mark_broken"),
]


@pytest.mark.parametrize("fault", [{"does": "drop"}, {"status": 503}, {"status": 500}], ids=["drop", "503", "500"])
@pytest.mark.parametrize(("status", "state", "op"), LOST, ids=[case[2] for case in LOST])
def test_a_lost_answer_is_looked_up_and_nothing_is_sent_twice(
    sim: Simulator, drive: Drive, status: str, state: str, op: str, fault: dict[str, Any]
) -> None:
    sim.machine("node01", status=status)
    sim.auto(60)
    sim.fault(**{"does": "error", **fault}, op=op, when="after")
    (member,) = drive(drive.member("node01", state, claim="web"))
    assert member.failure is None
    assert member.done
    assert drive.counted()[f"POST {op}"] == 1


def test_a_request_that_never_arrived_is_sent_again(sim: Simulator, drive: Drive) -> None:
    sim.machine("node01")
    sim.fault("drop", op="deploy")
    (member,) = drive(drive.member("node01"))
    assert member.done
    assert drive.counted()["POST deploy"] == 2


def test_an_allocation_that_somebody_else_got_first_is_not_taken_for_ours(sim: Simulator, drive: Drive) -> None:
    sim.machine("node01")
    member = drive.member("node01", claim="web")
    drive.client.post("machines/", {"system_id": member.system_id, "agent_name": "other"}, op="allocate")
    (member,) = drive(member)
    assert member.failure is not None
    assert member.failure.kind == "conflict"
    assert sim.find("node01").agent_name == "other"
    assert not [entry for entry in sim.requests if entry.op == "deploy"]


def test_a_machine_that_moved_on_meanwhile_is_followed(sim: Simulator, drive: Drive) -> None:
    sim.machine("node01", status="New")
    member = drive.member("node01", "ready")
    drive.client.post(f"machines/{member.system_id}/", op="commission")
    (member,) = drive(member)
    assert member.done


def test_maas_may_be_away_while_it_waits(sim: Simulator, drive: Drive) -> None:
    sim.machine("node01")
    member = drive.member("node01")
    sim.fault("error", status=503, method="GET", path="machines/$", hits=7)
    (member,) = drive(member)
    assert member.done
    assert any("MAAS does not answer" in line for line in drive.lines)


def test_a_machine_that_is_removed_meanwhile_is_told_so(sim: Simulator, drive: Drive) -> None:
    sim.machines(2)
    ticks: list[Callable[[], None]] = [lambda: None] * 3 + [lambda: _remove(sim, "node01")]
    members = drive(*[drive.member(name) for name in names(2)], on_tick=lambda: ticks.pop(0)() if ticks else None)
    assert summary(members) == {"deployed": 1, "failed": 1}
    assert members[0].failure is not None
    assert members[0].failure.kind == "not_found"
    assert "somebody removed it from MAAS while this task worked on it" in str(members[0].failure)


def _remove(sim: Simulator, name: str) -> None:
    machine = sim.find(name)
    sim.state.remove_node(machine)


def test_more_machines_than_fit_into_one_request_are_listed_by_their_claim(sim: Simulator, drive: Drive) -> None:
    sim.machines(120)
    everyone = {machine["hostname"]: machine for machine in drive.machines.listed()}
    goal = MachineTarget(MachineSpec(State.DEPLOYED), claim="web")
    members = drive(*[FleetMember(name, goal, machine) for name, machine in everyone.items()])
    assert summary(members) == {"deployed": 120}
    assert {tuple(entry.params) for entry in sim.requests if entry.method == "GET" and not entry.op} == {
        ("agent_name",)
    }


def test_power_is_waited_for(sim: Simulator, drive: Drive) -> None:
    sim.machine("node01", status="Deployed", power="off")
    (member,) = drive(drive.member("node01", "deployed", wish={"power": Power.ON}))
    assert member.done
    assert sim.find("node01").power_state == "on"
    assert drive.lines[0].startswith("0/1 deployed, 1 being powered on")


def test_a_bmc_that_does_not_answer_is_reported_in_maas_own_words(sim: Simulator, drive: Drive) -> None:
    sim.machine("node01")
    sim.power_fault("power-on", "No route to the BMC.")
    (member,) = drive(drive.member("node01"))
    assert isinstance(member.failure, Failure)
    assert "No route to the BMC" in str(member.failure)


def test_every_status_has_a_word_for_the_summary() -> None:
    member = FleetMember("x", MachineTarget(MachineSpec()), {"status_name": Status.FAILED_RELEASING.label})
    assert member.status == Status.FAILED_RELEASING.word


# -- the whole way of `machine`, with the answer to any one request lost ------------------------------------------

WHOLE_WAY: Mapping[str, Any] = {
    "machines": [{"name": "node-9", "mac_addresses": ["52:54:00:00:99:01"]}, "node-1"],
    "architecture": "amd64",
    "power_type": "manual",
    "state": "deployed",
    "zone": "az1",
    "tags": ["fast"],
    "claim": "web",
    "annotations": {"team": "blue"},
}
REQUESTS_ON_THE_WAY = 28
LOSSES: list[dict[str, Any]] = [
    {"does": "drop", "when": "before"},
    {"does": "drop", "when": "after"},
    {"does": "error", "when": "after", "status": 503},
]


def run_machine(sim: Simulator) -> dict[str, Any]:
    reach = {"maas_endpoint": sim.url, "maas_api_key": sim.api_key}
    checked = ArgumentSpecValidator(SPEC.argument_spec).validate({**reach, **WHOLE_WAY})
    return carry_out(converge, Task(checked.validated_parameters, clock=LabClock(sim)), "machine")


@pytest.fixture
def found(sim: Simulator) -> Simulator:
    sim.machine("other", zone="az1", tags=["fast"])
    sim.machine("node-1", power_type="manual")
    sim.auto(60)
    return sim


@pytest.mark.parametrize("loss", LOSSES, ids=["dropped before", "dropped after", "503 after"])
@pytest.mark.parametrize("number", range(REQUESTS_ON_THE_WAY))
def test_any_one_lost_answer_changes_nothing_about_the_end(found: Simulator, number: int, loss: dict[str, Any]) -> None:
    found.fault(**loss, skip=number)
    came = run_machine(found)
    assert not came.get("failed"), came["msg"]
    assert came["summary"] == {"deployed": 2}
    assert len(list(found.state.machines)) == 3
    for name in ("node-9", "node-1"):
        machine = found.find(name)
        assert (machine.agent_name, machine.zone.name, [tag.name for tag in machine.tags]) == ("web", "az1", ["fast"])
        assert machine.annotations == {"metalshift_claim": "web", "team": "blue"}
    assert not run_machine(found)["changed"]


def test_the_whole_way_has_no_more_requests_than_were_lost_in_turn(found: Simulator) -> None:
    run_machine(found)
    assert len(found.requests) <= REQUESTS_ON_THE_WAY
