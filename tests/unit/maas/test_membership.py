# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of one claim at once, in any order of their requests and killed anywhere, end with exactly `count` machines."""

from __future__ import annotations

import random
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.membership import (
    DEAD_AFTER,
    LOST,
    LOST_AFTER,
    Allocate,
    Announce,
    AskWhy,
    Gathered,
    GiveBack,
    Look,
    MembershipRequest,
    Rest,
    RunRecord,
    Seat,
    decide,
    gathering,
    in_turn,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.spreading import ZoneSpread
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import Status

ZONES = ("az1", "az2", "az3")


@dataclass
class Machines:
    """What the protocol sees of MAAS: requests that take effect one at a time."""

    free: list[str]
    seats: dict[str, Seat] = field(default_factory=dict)
    wrongs: list[str] = field(default_factory=list)
    losses: int = 0

    def allocate(self) -> list[str]:
        if not self.free:
            return []
        system_id = self.free.pop()
        self.seats[system_id] = Seat(system_id, ZONES[int(system_id[1:]) % 3], Status.ALLOCATED)
        return [system_id]

    def announce(self, system_id: str, turn: int) -> None:
        if system_id in self.seats:
            self.seats[system_id] = replace(self.seats[system_id], turn=turn)

    def release(self, system_id: str) -> None:
        seat = self.seats.pop(system_id, None)
        if seat is None:
            return
        if seat.status is not Status.ALLOCATED:
            self.wrongs.append(f"{system_id} was released while {seat.status.label}")
        self.free.insert(0, system_id)

    def deploy(self, system_id: str) -> None:
        if system_id in self.seats:
            self.seats[system_id] = replace(self.seats[system_id], status=Status.DEPLOYING)
        else:
            self.wrongs.append(f"{system_id} was deployed after it had been given back")


Steps = Generator[str, None, None]


def finish(maas: Machines, gathered: Gathered) -> Steps:
    """Give back what is too much, and deploy what stays."""
    for seat in gathered.surplus:
        maas.release(seat.system_id)
        yield "release"
    for seat in gathered.stay:
        if maas.seats.get(seat.system_id, seat).status is Status.ALLOCATED:
            maas.deploy(seat.system_id)
            yield "deploy"


def run(maas: Machines, count: int, loses: random.Random | None = None) -> Steps:
    """A run of the task, one request a step: gathers its machines and deploys them. It may lose answers."""
    memory = RunRecord()
    asks = gathering(count, memory)
    answer: Any = None
    while True:
        try:
            ask: MembershipRequest = asks.send(answer)
        except StopIteration as end:
            yield from finish(maas, end.value)
            return
        answer = None
        if isinstance(ask, Look):
            answer = list(maas.seats.values())
            yield "look"
        elif isinstance(ask, Allocate):
            answer = []
            for _each in range(ask.number):
                got = maas.allocate()
                yield "allocate"
                if loses is not None and loses.random() < 0.2:
                    memory.lost += 1
                    maas.losses += 1
                else:
                    answer += got
        elif isinstance(ask, Announce):
            for system_id in ask.system_ids:
                maas.announce(system_id, ask.turn)
                yield "announce"
        elif isinstance(ask, GiveBack):
            for system_id in ask.system_ids:
                maas.release(system_id)
                yield "release"
        else:
            yield "rest"


# A run that rests leaves the others time for so many requests, which is what waiting some seconds means.
REQUESTS_A_REST = 25


def interleave(runs: list[Steps], chance: random.Random, deaths: list[int]) -> None:
    """Proceed with the runs in a random order. `deaths`: after how many of all steps a random run is killed."""
    resting: dict[int, int] = {}
    alive = dict(enumerate(runs))
    steps = 0
    while alive:
        steps += 1
        assert steps < 20_000, "the runs wait for each other for ever"
        if steps in deaths and len(alive) > 1:
            alive.pop(chance.choice(list(alive))).close()
        awake = [number for number in alive if resting.get(number, 0) <= 0] or list(alive)
        number = chance.choice(awake)
        did = next(alive[number], None)
        if did is None:
            del alive[number]
        resting[number] = REQUESTS_A_REST if did == "rest" else 0
        for other in resting:
            if other != number:
                resting[other] -= 1


@pytest.mark.parametrize("runs", [1, 2, 3])
def test_runs_at_once_end_with_exactly_the_machines_wished(runs: int) -> None:
    for seed in range(300):
        chance = random.Random(seed)
        maas = Machines([f"m{number}" for number in range(chance.choice([5, 7, 12, 30]))])
        chance.shuffle(maas.free)
        interleave([run(maas, 5) for _each in range(runs)], chance, [])
        assert len(maas.seats) == 5, seed
        assert all(seat.status is Status.DEPLOYING for seat in maas.seats.values()), seed
        assert not maas.wrongs, seed


@pytest.mark.parametrize("runs", [1, 2, 3])
def test_runs_that_lose_answers_end_with_exactly_the_machines_wished(runs: int) -> None:
    lost = 0
    for seed in range(300):
        chance = random.Random(seed)
        maas = Machines([f"m{number}" for number in range(chance.choice([7, 12, 30]))])
        chance.shuffle(maas.free)
        interleave([run(maas, 5, chance) for _each in range(runs)], chance, [])
        assert len(maas.seats) == 5, seed
        assert all(seat.status is Status.DEPLOYING for seat in maas.seats.values()), seed
        assert not maas.wrongs, seed
        lost += maas.losses
    assert lost > 100


def test_the_order_does_not_depend_on_how_far_the_runs_are() -> None:
    for seed in range(500):
        chance = random.Random(seed)
        count = chance.randint(1, 8)
        seats = [
            seat(f"m{number:02}", turn=chance.randint(1, 2), zone=chance.choice(ZONES))
            for number in range(chance.randint(count, 14))
        ]
        stay = {one.system_id for one in in_turn(seats)[:count]}
        # Some of those that stay are deployed already, some of the others given back.
        later = [
            replace(one, status=DEPLOYING) if one.system_id in stay and chance.random() < 0.5 else one
            for one in seats
            if one.system_id in stay or chance.random() < 0.5
        ]
        assert {one.system_id for one in in_turn(later)[:count]} == stay, seed


def test_runs_that_die_leave_nothing_that_the_next_one_does_not_repair() -> None:
    for seed in range(300):
        chance = random.Random(seed)
        maas = Machines([f"m{number}" for number in range(chance.choice([5, 9, 30]))])
        chance.shuffle(maas.free)
        deaths = sorted(chance.sample(range(1, 60), chance.choice([1, 2])))
        interleave([run(maas, 5) for _each in range(3)], chance, deaths)
        interleave([run(maas, 5)], chance, [])
        assert len(maas.seats) == 5, seed
        assert all(seat.status is Status.DEPLOYING for seat in maas.seats.values()), seed
        assert not maas.wrongs, seed


def test_a_shortage_is_said_and_what_was_got_is_kept() -> None:
    maas = Machines(["m1", "m2", "m3"])
    memory = RunRecord()
    asks = gathering(5, memory)
    assert next(asks) == Look()
    assert asks.send([]) == Allocate(5, {})
    got = [system_id for _each in range(5) for system_id in maas.allocate()]
    memory.may_allocate = False
    assert asks.send(got) == Look()
    assert asks.send(list(maas.seats.values())) == Announce(("m1", "m2", "m3"), 1)
    for system_id in got:
        maas.announce(system_id, 1)
    assert asks.send(None) == Look()
    with pytest.raises(StopIteration) as end:
        asks.send(list(maas.seats.values()))
    assert end.value.value.missing == 2
    assert {seat.system_id for seat in end.value.value.stay} == {"m1", "m2", "m3"}


def seat(system_id: str, status: Status = Status.ALLOCATED, turn: int | None = 1, zone: str = "az1") -> Seat:
    return Seat(system_id, zone, status, turn)


DEPLOYED, DEPLOYING, FAILED = Status.DEPLOYED, Status.DEPLOYING, Status.FAILED_DEPLOYMENT

# The seats, the count, what the run knows, the looks that showed the same: what it asks for.
DECISIONS = {
    "nothing to do": ([seat("a", DEPLOYED)], 1, RunRecord(), 0, Gathered((seat("a", DEPLOYED),))),
    "one is missing": ([seat("a", DEPLOYED)], 2, RunRecord(), 0, Allocate(1, {"az1": 1})),
    "a failed one that is given up is replaced": ([seat("a", FAILED)], 1, RunRecord(failed={"a"}), 0, Allocate(1, {})),
    "a failed one counts until then": ([seat("a", FAILED)], 1, RunRecord(), 0, Gathered((seat("a", FAILED),))),
    "one that failed before does not serve again": ([seat("a")], 1, RunRecord(failed={"a"}), 0, Allocate(1, {})),
    "its own machines get the next turn": (
        [seat("a", turn=None), seat("b", DEPLOYED, turn=6)], 2, RunRecord(mine={"a"}), 0, Announce(("a",), 7)),
    "another run is choosing": (
        [seat("a", turn=None)], 1, RunRecord(), DEAD_AFTER - 1,
        Rest("another run of this claim is choosing its machines")),
    "a lost answer is said to be one": (
        [seat("a", turn=None)], 1, RunRecord(lost=1), 0, Rest(LOST)),
    "whose answer was lost does not wait for itself": (
        [seat("a", turn=None)], 1, RunRecord(lost=1), LOST_AFTER, Announce(("a",), 1)),
    "more than were lost are another run's": (
        [seat("a", turn=None), seat("b", turn=None)], 2, RunRecord(lost=1), LOST_AFTER,
        Rest("another run of this claim is choosing its machines")),
    "the other run is dead": ([seat("a", turn=None)], 1, RunRecord(), DEAD_AFTER, Announce(("a",), 1)),
    "a running machine needs no turn": (
        [seat("a", DEPLOYED, turn=None)], 1, RunRecord(), 0, Gathered((seat("a", DEPLOYED, turn=None),))),
    "too many of its own go back, the last turns first": (
        [seat("a", turn=2), seat("b"), seat("c")], 2, RunRecord(mine={"a", "c"}), 0, GiveBack(("a",))),
    "what another took is left to it": (
        [seat("a", turn=2), seat("b"), seat("c")], 2, RunRecord(mine={"b"}), 0,
        Rest("another run of this claim has too many")),
    "what a dead run took too many goes back": (
        [seat("a", turn=2), seat("b"), seat("c")], 2, RunRecord(mine={"b"}), DEAD_AFTER, GiveBack(("a",))),
    "what runs is never given back by a run that took machines": (
        [seat("a", DEPLOYED), seat("b", DEPLOYING)], 1, RunRecord(mine={"b"}), 0,
        Gathered((seat("a", DEPLOYED), seat("b", DEPLOYING)))),
    "scaling down takes the furthest from deployed": (
        [seat("a", DEPLOYING), seat("b", DEPLOYED)], 1, RunRecord(), 0,
        Gathered((seat("b", DEPLOYED),), (seat("a", DEPLOYING),))),
    "scaling down keeps the zones even": (
        [seat("a", DEPLOYED), seat("b", DEPLOYED, zone="az2"), seat("c", DEPLOYED, zone="az2")], 2, RunRecord(), 0,
        Gathered((seat("a", DEPLOYED), seat("b", DEPLOYED, zone="az2")), (seat("c", DEPLOYED, zone="az2"),))),
    "a machine under repair counts": (
        [seat("a", Status.RESCUE_MODE)], 1, RunRecord(), 0, Gathered((seat("a", Status.RESCUE_MODE),))),
    "what it took and does not find any more is asked after": (
        [seat("a")], 2, RunRecord(mine={"a", "b"}, lasting={"a", "b"}), 0, AskWhy(("b",))),
    "what is back was given back, too": (
        [seat("a")], 1, RunRecord(mine={"a"}, lasting={"a"}, again={"a"}), 0, AskWhy(("a",))),
    "what was at work, too": ([], 1, RunRecord(lasting={"c"}), 0, AskWhy(("c",))),
    "one that failed and went back is not": ([], 1, RunRecord(failed={"c"}, lasting={"c"}), 0, Allocate(1, {})),
    "nothing is asked while there are enough": (
        [seat("a", DEPLOYED)], 1, RunRecord(lasting={"b"}), 0, Gathered((seat("a", DEPLOYED),))),
    "a broken one does not": ([seat("a", Status.BROKEN)], 1, RunRecord(), 0, Allocate(1, {})),
}  # fmt: skip


@pytest.mark.parametrize(("seats", "count", "memory", "alike", "asked"), DECISIONS.values(), ids=DECISIONS)
def test_decisions(seats: list[Seat], count: int, memory: RunRecord, alike: int, asked: object) -> None:
    assert decide(seats, count, memory, alike, ZoneSpread.EVEN) == asked


def test_what_is_allocated_once_more_was_given_back_by_somebody_unless_this_run_did() -> None:
    memory = RunRecord()
    memory.take(["a", "b"])
    memory.let_go(["b"])
    memory.take(["b", "c"])
    assert (memory.again, memory.lasting) == (set(), {"a", "b", "c"})
    memory.let_go(["c"])
    memory.take(["d", "a", "d"])
    assert (memory.again, memory.lasting) == ({"a", "d"}, {"a", "b", "d"})


def test_a_turn_is_read_from_the_annotations() -> None:
    machine = {"system_id": "abc123", "zone": {"name": "az1"}, "status": 10}
    assert Seat.of({**machine, "workload_annotations": {"metalshift_turn": "7"}}) == Seat(
        "abc123", "az1", Status.ALLOCATED, 7
    )
    assert Seat.of({**machine, "workload_annotations": {"metalshift_turn": "soon"}}).turn is None
    assert Seat.of({**machine, "workload_annotations": None}).choosing


def test_the_order_is_what_runs_then_the_turns_then_those_without_one() -> None:
    seats = [seat("d", turn=None), seat("a", turn=2), seat("b"), seat("c", DEPLOYING, turn=9)]
    assert [one.system_id for one in in_turn(seats)] == ["c", "b", "a", "d"]
