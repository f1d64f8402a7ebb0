# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the machines of a claim become exactly as many as wished, whoever else runs the same task or died in it.

MAAS has no lock, but `allocate` is atomic and shows at once in the claim, and annotations show to everybody. So runs
take turns as in Lamport's bakery: a machine that is allocated and has no turn yet is one whose run is still choosing.
When a run has all that it wants, it looks, and gives its machines the turn after the highest one. Once nobody is
choosing, the machines with the first turns stay. A turn given later is higher than any that was seen, so no later run
pushes out a machine that an earlier look let stay; and each run gives back only what it took itself, so nobody releases
what another deploys.

Two runs that wish different things are another matter: a run that lost machines to somebody who gives them back takes
no others in their place, or it would undo what was asked for after it had begun.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.holders import is_hosted
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.spreading import (
    ZonedMachine,
    ZoneSpread,
    victims,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import Status

# Workload annotation with a machine's turn.
TURN = "metalshift_turn"

# As many looks that show the same, and the run that has not finished what it began is taken for dead.
DEAD_AFTER = 4
# The same, where it may well be this run itself that has begun it, and lost the answer.
LOST_AFTER = 1
LOST = "the answer to an allocation was lost; waiting to see whose machine it took"

# The machines that count. Those that somebody tests or repairs do, and are left alone; a failed one does until its run
# gives it up.
SERVING = frozenset(
    {
        Status.ALLOCATED,
        Status.RESERVED,
        Status.DEPLOYING,
        Status.DEPLOYED,
        Status.FAILED_DEPLOYMENT,
        Status.TESTING,
        Status.FAILED_TESTING,
        Status.ENTERING_RESCUE_MODE,
        Status.RESCUE_MODE,
        Status.EXITING_RESCUE_MODE,
        Status.FAILED_ENTERING_RESCUE_MODE,
        Status.FAILED_EXITING_RESCUE_MODE,
    }
)
AT_WORK = frozenset({Status.DEPLOYING, Status.DEPLOYED})
HELD_ONLY = frozenset({Status.ALLOCATED, Status.RESERVED})
# `release` clears agent_name, and the annotations only at its end; `mark_broken` clears agent_name too.
NAMELESS = (Status.RELEASING, Status.FAILED_RELEASING, Status.DISK_ERASING, Status.FAILED_DISK_ERASING, Status.BROKEN)


@dataclass(frozen=True)
class Seat:
    """A machine of a claim, as far as the choice between them needs it."""

    system_id: str
    zone: str
    status: Status
    turn: int | None = None
    # Of a hosted cluster, which would have to give it up first.
    hosted: bool = False

    @classmethod
    def of(cls, machine: Mapping[str, Any]) -> Seat:
        turn = str((machine.get("workload_annotations") or {}).get(TURN, ""))
        return cls(
            system_id=machine["system_id"],
            zone=str((machine.get("zone") or {}).get("name", "")),
            status=Status(machine["status"]),
            turn=int(turn) if turn.isdecimal() else None,
            hosted=is_hosted(machine),
        )

    @property
    def idle(self) -> bool:
        """Held, and of no use to anybody yet."""
        return self.status in HELD_ONLY and not self.hosted

    @property
    def choosing(self) -> bool:
        """Its run may still want more machines, and has not looked which of them stay."""
        return self.turn is None and self.idle


@dataclass
class RunRecord:
    """What one run knows besides what it sees."""

    # Allocated by this run.
    mine: set[str] = field(default_factory=set)
    # Given up. They are held until the end, so that MAAS cannot offer them again.
    failed: set[str] = field(default_factory=set)
    # What nobody but who wishes fewer machines gives back: this run's own, and what was seen at work.
    lasting: set[str] = field(default_factory=set)
    # Allocated once more, although this run held them: somebody gave them back in between.
    again: set[str] = field(default_factory=set)
    # So many allocations of this run ended without an answer: each may have taken a machine.
    lost: int = 0
    # Nothing more is wished than Allocated.
    idle_is_rest: bool = False
    # False when there is nothing more to be had, or nothing more is allowed.
    may_allocate: bool = True

    def serves(self, seat: Seat) -> bool:
        return seat.status in SERVING and seat.system_id not in self.failed

    def look_at(self, seats: Iterable[Seat]) -> None:
        self.lasting.update(seat.system_id for seat in seats if seat.status in AT_WORK)

    def take(self, system_ids: Iterable[str]) -> None:
        for system_id in system_ids:
            if system_id in self.lasting:
                self.again.add(system_id)
            self.lasting.add(system_id)
            self.mine.add(system_id)

    def let_go(self, system_ids: Iterable[str]) -> None:
        """Expect machines no longer."""
        self.lasting.difference_update(system_ids)
        self.again.difference_update(system_ids)

    def taken_away(self, seats: Iterable[Seat]) -> tuple[str, ...]:
        gone = self.lasting - self.failed - {seat.system_id for seat in seats}
        return tuple(sorted(gone))


# -- what a run asks of the world --------------------------------------------------------------------------------------


class MembershipRequest:
    """A request to the world outside of the decision."""


@dataclass(frozen=True)
class Look(MembershipRequest):
    """The machines of the claim now."""


@dataclass(frozen=True)
class Allocate(MembershipRequest):
    """That many more machines, into the zones of those that serve already. Answered with the ids of what was got."""

    number: int
    serving: Mapping[str, int]


@dataclass(frozen=True)
class Announce(MembershipRequest):
    """Annotate these machines with the claim and a turn."""

    system_ids: tuple[str, ...]
    turn: int


@dataclass(frozen=True)
class GiveBack(MembershipRequest):
    """Release these machines, which nobody has deployed."""

    system_ids: tuple[str, ...]


@dataclass(frozen=True)
class AskWhy(MembershipRequest):
    """Why these machines are not under the claim any more. Who gave them back ends the run."""

    system_ids: tuple[str, ...]


@dataclass(frozen=True)
class Rest(MembershipRequest):
    """Let other runs proceed."""

    reason: str


@dataclass(frozen=True)
class Gathered:
    """The end: who stays, who has to go because fewer are wished, and how many are not to be had."""

    stay: tuple[Seat, ...]
    surplus: tuple[Seat, ...] = ()
    missing: int = 0


def gathering(
    count: int, memory: RunRecord, spread: ZoneSpread = ZoneSpread.EVEN
) -> Generator[MembershipRequest, Any, Gathered]:
    """Look, decide and act until exactly `count` machines serve, or no more can be had. Yields what it asks for."""
    before: frozenset[Seat] | None = None
    alike = 0
    while True:
        seats: list[Seat] = yield Look()
        memory.look_at(seats)
        alike = alike + 1 if frozenset(seats) == before else 0
        before = frozenset(seats)
        ask = decide(seats, count, memory, alike, spread)
        if isinstance(ask, Gathered):
            return ask
        answer = yield ask
        if isinstance(ask, Allocate):
            memory.take(answer)
            before = None
        elif isinstance(ask, (GiveBack, AskWhy)):
            memory.let_go(ask.system_ids)


def decide(
    seats: Iterable[Seat], count: int, memory: RunRecord, alike: int, spread: ZoneSpread
) -> MembershipRequest | Gathered:
    """What to ask for next. `alike`: how many looks in a row have shown nothing new."""
    everyone = list(seats)
    serving = in_turn((seat for seat in everyone if memory.serves(seat)), spread)
    missing = count - len(serving)
    if memory.again:
        return AskWhy(tuple(sorted(memory.again)))
    if missing > 0 and memory.may_allocate:
        if gone := memory.taken_away(everyone):
            return AskWhy(gone)
        return Allocate(missing, _by_zone(serving))
    choosing = [seat.system_id for seat in everyone if seat.choosing]
    if own := memory.mine.intersection(choosing):
        return Announce(tuple(sorted(own)), _next_turn(everyone))
    if choosing:
        # As many as answers were lost: most likely they are this run's own, which need not wait for itself to die.
        own_lost = len(choosing) <= memory.lost
        if alike < (LOST_AFTER if own_lost else DEAD_AFTER):
            return Rest(LOST if own_lost else "another run of this claim is choosing its machines")
        return Announce(tuple(sorted(choosing)), _next_turn(everyone))
    return _trimmed(serving, count, memory, alike, spread)


def _trimmed(
    serving: list[Seat], count: int, memory: RunRecord, alike: int, spread: ZoneSpread
) -> MembershipRequest | Gathered:
    over = serving[count:]
    idle = [seat.system_id for seat in over if seat.idle]
    # Only this run's own, for as long as the others may live: nobody releases what another deploys.
    if own := memory.mine.intersection(idle):
        return GiveBack(tuple(sorted(own)))
    if memory.mine and idle:
        return GiveBack(tuple(sorted(idle))) if alike >= DEAD_AFTER else Rest("another run of this claim has too many")
    if memory.mine or not over:
        # What runs something is never given back by a run that took machines itself.
        return Gathered(tuple(serving), missing=max(0, count - len(serving)))
    if idle and alike < (1 if memory.idle_is_rest else DEAD_AFTER):
        return Rest("another run of this claim has too many")
    going = {victim.system_id for victim in victims(map(_as_member, serving), len(over), spread)}
    return Gathered(
        tuple(seat for seat in serving if seat.system_id not in going),
        tuple(seat for seat in serving if seat.system_id in going),
    )


def in_turn(seats: Iterable[Seat], spread: ZoneSpread = ZoneSpread.EVEN) -> list[Seat]:
    """In the order in which they may stay: what runs something, then by turns; what has no turn yet comes last.

    Of one turn, each time the next of the zone that has the fewest so far. Whoever looks while the last ones in this
    order are being given back, and the first ones begin to run, finds the same ones at its head.
    """
    turns: dict[tuple[bool, bool, int], list[Seat]] = {}
    for seat in sorted(seats, key=lambda seat: seat.system_id):
        idle = seat.idle
        turns.setdefault((idle, idle and seat.turn is None, (seat.turn or 0) if idle else 0), []).append(seat)
    ordered: list[Seat] = []
    have: Counter[str] = Counter()
    for turn in sorted(turns):
        waiting = turns[turn]
        while waiting:
            following = min(waiting, key=lambda seat: _after(seat, have, spread))
            waiting.remove(following)
            have[following.zone] += 1
            ordered.append(following)
    return ordered


def _after(seat: Seat, have: Mapping[str, int], spread: ZoneSpread) -> tuple[int, str, str]:
    return (0, "", seat.system_id) if spread is ZoneSpread.NONE else (have.get(seat.zone, 0), seat.zone, seat.system_id)


def _next_turn(seats: Collection[Seat]) -> int:
    return 1 + max((seat.turn or 0 for seat in seats), default=0)


def _by_zone(seats: Iterable[Seat]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for seat in seats:
        counts[seat.zone] = counts.get(seat.zone, 0) + 1
    return counts


def _as_member(seat: Seat) -> ZonedMachine:
    return ZonedMachine(seat.system_id, seat.zone, seat.status, seat.hosted)
