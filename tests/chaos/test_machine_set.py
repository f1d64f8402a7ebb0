# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever kills or disturbs runs of `machine_set`: another run repairs it, and nothing leaks."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chaos.assassin import ANSWERED, COMMITTED, RECEIVED, Door
from chaos.runs import Run, playbook
from integration.arranging import client
from integration.harness import kill_group
from metalshift_lab.simulator import Simulator
from metalshift_lab.simulator.http import Request, Response
from metalshift_lab.simulator.model import Machine, Status
from metalshift_lab.simulator.server import Answer

ZONES = ("az1", "az2", "az3")
TURN = "metalshift_turn"
CLAIM = "web"
COUNT = 5
TICK = 0.02
MOMENTS = (RECEIVED, COMMITTED, ANSWERED)


def wish(sim: Simulator, door: Door, **options: Any) -> dict[str, Any]:
    reach = {"maas_endpoint": door.url, "maas_api_key": sim.api_key, "maas_timeout": 10}
    return {**reach, "claim": CLAIM, "count": COUNT, "wait_sleep": TICK, "wait_timeout": 30, **options}


def furnish(sim: Simulator) -> None:
    """Nine machines over three zones, and one that belongs to somebody else."""
    sim.clear()
    sim.reset()
    sim.machines(9, zones=ZONES, prefix="node")
    sim.machine("foreign", zone="az1", status="Deployed", agent_name="db", annotations={"metalshift_claim": "db"})
    sim.auto(0.03)


def held(sim: Simulator) -> list[Machine]:
    """Every machine that is not free, but for the foreign one."""
    free = (Status.READY, Status.NEW)
    return [machine for machine in sim.state.machines if machine.hostname != "foreign" and machine.status not in free]


def assert_deployed(sim: Simulator, count: int = COUNT) -> None:
    machines = held(sim)
    assert [machine.status.label for machine in machines] == ["Deployed"] * count
    assert {machine.agent_name for machine in machines} <= {CLAIM}
    assert {machine.annotations.get("metalshift_claim") for machine in machines} <= {CLAIM}
    zones = Counter(machine.zone.name for machine in machines)
    assert max(zones.values()) - min(zones[zone] for zone in ZONES) <= 1


def assert_nothing_left(sim: Simulator) -> None:
    assert not held(sim)
    for machine in sim.state.machines:
        if machine.hostname == "foreign":
            assert (machine.status.label, machine.agent_name) == ("Deployed", "db")
        else:
            assert (machine.owner, machine.agent_name, machine.annotations) == (None, "", {})


def succeed(run: Run) -> dict[str, Any]:
    result = run.end()
    assert result is not None
    assert not result.get("failed"), result["msg"]
    return result


def killed_everywhere(sim: Simulator, door: Door, moment: str, before: Any, **options: Any) -> Iterator[int]:
    """Kill a run at each of its requests in turn, each time after `before`; yields when it is dead."""
    before(sim)
    count = requests_of(sim, door, **options)
    dead = 0
    for at in range(1, count + 1):
        before(sim)
        run = Run("machine_set", wish(sim, door, **options))
        door.kill(run.kill, at, moment)
        dead += run.end() is None
        door.spare()
        yield at
    # How often a run looks while it waits varies a little.
    assert dead >= count - 3


def requests_of(sim: Simulator, door: Door, **options: Any) -> int:
    """How many requests a run sends that nobody disturbs."""
    door.count = 0
    succeed(Run("machine_set", wish(sim, door, **options)))
    return door.count


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_deployment_is_repaired_by_another_run(sim: Simulator, moment: str) -> None:
    with Door(sim) as door:
        for _at in killed_everywhere(sim, door, moment, furnish):
            succeed(Run("machine_set", wish(sim, door)))
            assert_deployed(sim)


def test_what_a_killed_deployment_leaves_can_be_given_back_at_once(sim: Simulator) -> None:
    with Door(sim) as door:
        for _at in killed_everywhere(sim, door, COMMITTED, furnish):
            succeed(Run("machine_set", wish(sim, door, state="absent")))
            assert_nothing_left(sim)


@pytest.mark.parametrize("erase", [False, True])
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_release_is_completed_by_another_run(sim: Simulator, moment: str, erase: bool) -> None:
    options = {"state": "absent", **({"erase": True} if erase else {})}
    with Door(sim) as door:
        for _at in killed_everywhere(sim, door, moment, claimed, **options):
            succeed(Run("machine_set", wish(sim, door, **options)))
            assert_nothing_left(sim)


def claimed(sim: Simulator) -> None:
    """Five machines of the claim, as a run leaves them; one without its annotation."""
    furnish(sim)
    for number, machine in enumerate(list(sim.state.machines)[:COUNT]):
        machine.owner = sim.state.users.only(username="admin")
        machine.agent_name = CLAIM
        machine.annotations.update({"metalshift_claim": CLAIM, "metalshift_turn": "1"} if number else {})
        machine.power_state = "on"
        sim.world.engine.enter(machine, Status.DEPLOYED)


def test_a_run_killed_while_it_replaces_a_machine_is_repaired(sim: Simulator) -> None:
    def one_fails(sim: Simulator) -> None:
        furnish(sim)
        sim.fault("machine", hostname="node0[1-3]", action="deploy", times=1)

    with Door(sim) as door:
        for _at in killed_everywhere(sim, door, COMMITTED, one_fails):
            succeed(Run("machine_set", wish(sim, door)))
            assert_deployed(sim)


@pytest.mark.parametrize("how", ["forget", "keep"])
def test_a_run_killed_while_disks_were_erased_is_completed(sim: Simulator, how: str) -> None:
    """Whether MAAS forgets agent_name when erasing begins or when it ends: the annotation stays to the end."""
    with Door(sim) as door:
        claimed(sim)
        sim.auto(0, erase=0.3, release=0.01)
        run = Run("machine_set", wish(sim, door, state="absent", erase=True))
        while sum(machine.status is Status.DISK_ERASING for machine in held(sim)) < COUNT:
            time.sleep(0.005)
        run.kill()
        if how == "forget":
            for machine in held(sim):
                machine.agent_name = ""
        result = succeed(Run("machine_set", wish(sim, door, state="absent", erase=True)))
        assert result["summary"] == {"ready": COUNT}
        assert_nothing_left(sim)


def test_a_machine_whose_erasing_failed_is_found_and_erased_again(sim: Simulator) -> None:
    with Door(sim) as door:
        claimed(sim)
        sim.fault("machine", hostname="node02", action="erase", times=1)
        failed = Run("machine_set", wish(sim, door, state="absent", erase=True)).end()
        assert failed is not None
        assert failed["failed"]
        assert "node02" in failed["msg"]
        assert "Failed disk erasing" in failed["msg"]
        sim.find("node02").agent_name = ""
        plain = Run("machine_set", wish(sim, door, state="absent")).end()
        assert plain is not None
        assert "its disks may still hold data" in plain["msg"] or "recover" in plain["msg"]
        succeed(Run("machine_set", wish(sim, door, state="absent", erase=True)))
        assert_nothing_left(sim)


@pytest.mark.parametrize("seed", range(20))
def test_two_runs_at_once_end_with_the_machines_of_one(sim: Simulator, seed: int) -> None:
    furnish(sim)
    sim.auto(0.4)
    with Door(sim, jitter=0.03, seed=seed) as door:
        chance = random.Random(seed)
        runs = []
        for _each in range(2 + seed % 2):
            runs.append(Run("machine_set", wish(sim, door, wait_sleep=0.25)))
            time.sleep(chance.choice([0, 0, 0.05, 0.15]))
        for run in runs:
            succeed(run)
    assert_deployed(sim)
    deployed_once = [entry for entry in sim.requests if entry.op == "release"]
    began = {entry.path for entry in sim.requests if entry.op == "deploy" and entry.status == 200}
    assert not began.intersection(entry.path for entry in deployed_once)


class Sleeper(Door):
    """At it stands a run that is held up twice: while it allocates, and after its last look before it gives back."""

    def __init__(self, sim: Simulator, allocating: Callable[[], None], leaving: Callable[[str], None]) -> None:
        super().__init__(sim)
        self._acts = [allocating, leaving]
        self._announced: list[str] = []

    def stand(self, request: Request, answer: Answer) -> Response | None:
        if len(self._acts) == 2 and request.query.get("op") == "allocate":
            self._acts.pop(0)()
        response = super().stand(request, answer)
        if request.data.get(TURN):
            self._announced.append(request.path.rstrip("/").rpartition("/")[2])
        elif request.method == "GET" and self._announced and self._acts:
            self._acts.pop()(min(self._announced))  # type: ignore[call-arg]
        return response


def test_what_another_run_has_deployed_by_now_is_not_given_back(sim: Simulator) -> None:
    """It took too many, and slept; the other one took it for dead, gave one back for it, and had use for it then."""
    furnish(sim)
    other = client(sim)

    def take(turn: int, **which: str) -> str:
        machine = other.post("machines/", {"agent_name": CLAIM, **which}, op="allocate")
        marks = {"metalshift_claim": CLAIM, TURN: str(turn)}
        other.post(f"machines/{machine['system_id']}/", marks, op="set_workload_annotations")
        return str(machine["system_id"])

    def take_as_many() -> None:
        for zone in ("az1", "az2", "az3", "az1"):
            take(1, zone=zone)

    def use(system_id: str) -> None:
        other.post(f"machines/{system_id}/", op="release")
        sim.forward(1)
        take(3, system_id=system_id)
        other.post(f"machines/{system_id}/", op="deploy")

    with Sleeper(sim, take_as_many, use) as door:
        succeed(Run("machine_set", wish(sim, door)))
    deployed = [entry.path for entry in sim.requests if entry.op == "deploy" and entry.status == 200]
    releases = [entry.path for entry in sim.requests if entry.op == "release"]
    # The other run's own release of what it used afterwards is the only one.
    assert Counter(releases)[deployed[0]] == 1
    assert [machine.status.label for machine in held(sim)] == ["Deployed"] * COUNT


def test_two_runs_at_once_replace_a_failed_machine_once(sim: Simulator) -> None:
    furnish(sim)
    sim.auto(0.3)
    sim.fault("machine", hostname="node0[1-5]", action="deploy", times=1)
    with Door(sim, jitter=0.02) as door:
        runs = [Run("machine_set", wish(sim, door, wait_sleep=0.25)) for _each in range(2)]
        for run in runs:
            succeed(run)
    assert_deployed(sim)


@pytest.mark.parametrize(
    "fault",
    [
        {"does": "error", "status": 503, "when": "before", "hits": 3, "retry_after": 0},
        {"does": "error", "status": 503, "when": "after", "hits": 3, "retry_after": 0},
        {"does": "error", "status": 500, "when": "after", "hits": 2},
        {"does": "drop", "when": "before", "hits": 3},
        {"does": "drop", "when": "after", "hits": 3},
        {"does": "retry", "when": "before", "hits": 3, "retry_after": 0},
    ],
    ids=lambda fault: f"{fault['does']}-{fault.get('status', '')}-{fault['when']}",
)
@pytest.mark.parametrize("op", ["allocate", "set_workload_annotations", "deploy", "release"])
def test_lost_answers_and_failures_of_maas_are_survived(sim: Simulator, op: str, fault: dict[str, Any]) -> None:
    furnish(sim) if op != "release" else claimed(sim)
    sim.fault(**{"op": op, "method": "POST", **fault})
    options = {"state": "absent"} if op == "release" else {}
    with Door(sim) as door:
        first = Run("machine_set", wish(sim, door, **options)).end()
        assert first is not None
        assert first.get("failure", {}).get("kind") in (None, "unavailable", "uncertain"), first
        if first.get("failed"):
            sim.world.faults.clear()
            succeed(Run("machine_set", wish(sim, door, **options)))
    if op == "release":
        assert_nothing_left(sim)
    else:
        assert_deployed(sim)


def test_a_storm_of_503_is_waited_out(sim: Simulator) -> None:
    furnish(sim)
    with Door(sim) as door:
        sim.fault("error", status=503, hits=4, retry_after=0)
        sim.fault("error", status=503, hits=6, skip=10, retry_after=0)
        succeed(Run("machine_set", wish(sim, door)))
    assert_deployed(sim)


def test_machines_that_fail_are_replaced_and_not_by_themselves(sim: Simulator) -> None:
    furnish(sim)
    sim.fault("machine", hostname="node0[12]", action="deploy", times=-1)
    with Door(sim) as door:
        result = succeed(Run("machine_set", wish(sim, door, zones=["az1", "az2"], count=3)))
        bad = {machine.system_id for machine in sim.state.machines if machine.hostname in ("node01", "node02")}
        assert {one["name"] for one in result["replaced"]} == {"node01", "node02"}
        taken = [entry.path for entry in sim.requests if entry.op == "deploy"]
        assert sum(any(system_id in path for system_id in bad) for path in taken) == 2
    assert {machine.hostname for machine in held(sim)}.isdisjoint({"node01", "node02"})
    assert len(held(sim)) == 3


# -- as users run it ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [7, 13, 18])
def test_a_killed_playbook_is_repaired_by_another_one(sim: Simulator, tmp_path: Path, at: int) -> None:
    furnish(sim)
    with Door(sim) as door:
        options = wish(sim, door)
        task = {"metalshift.maas.machine_set": options}
        first = playbook(tmp_path, task)
        # The worker dies with the group that the playbook leads.
        door.kill(lambda: kill_group(first), at, COMMITTED)
        assert first.wait(timeout=60) != 0
        door.spare()
        second = playbook(tmp_path, task)
        output, _none = second.communicate(timeout=60)
        assert second.returncode == 0, output
    assert_deployed(sim)
