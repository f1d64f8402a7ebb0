# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many machines of a set each zone gets, and which ones go when there are too many.

The same input gives the same answer whatever its order: two runs at once come to the same decision.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import Status


class ZoneSpread(Enum):
    EVEN = "even"  # as even as the candidates allow
    STRICT = "strict"  # no zone may have two more than another: fewer machines rather than an uneven set
    NONE = "none"  # wherever there are candidates, the fullest supply first


@dataclass(frozen=True)
class Shares:
    """How many machines to add in each zone, and how many are not to be had."""

    add: Mapping[str, int]
    missing: int
    reason: str = ""


@dataclass(frozen=True)
class ZonedMachine:
    """A machine of the set."""

    system_id: str
    zone: str
    status: Status
    # Used by somebody who would have to give it up first: the last to go.
    in_use: bool = False


def shares(
    count: int,
    members: Mapping[str, int],
    candidates: Mapping[str, int],
    zones: Collection[str] | None = None,
    spread: ZoneSpread = ZoneSpread.EVEN,
) -> Shares:
    """Where to allocate, so that `count` machines exist. `zones` None: every zone with members or candidates.

    Members in other zones count towards `count`, but nothing is added there.
    """
    every = {zone for known in (members, candidates) for zone, number in known.items() if number > 0}
    allowed = sorted(set(zones) if zones is not None else every)
    wanted = max(0, count - sum(members.values()))
    have = {zone: members.get(zone, 0) for zone in allowed}
    free = {zone: max(0, candidates.get(zone, 0)) for zone in allowed}
    add = dict.fromkeys(allowed, 0)
    while sum(add.values()) < wanted:
        zone = _next_zone(have, free, spread)
        if zone is None:
            break
        add[zone] += 1
        have[zone] += 1
        free[zone] -= 1
    missing = wanted - sum(add.values())
    return Shares({zone: n for zone, n in add.items() if n}, missing, _shortage(missing, allowed, have, free, spread))


def _next_zone(have: Mapping[str, int], free: Mapping[str, int], spread: ZoneSpread) -> str | None:
    open_zones = [zone for zone in have if free[zone] > 0]
    if spread is ZoneSpread.STRICT:
        fewest = min(have.values(), default=0)
        open_zones = [zone for zone in open_zones if have[zone] == fewest]
    if not open_zones:
        return None
    if spread is ZoneSpread.NONE:
        return min(open_zones, key=lambda zone: (-free[zone], zone))
    # Of equally empty zones the one with the most candidates: the others may be needed by somebody else.
    return min(open_zones, key=lambda zone: (have[zone], -free[zone], zone))


def _shortage(
    missing: int, zones: Sequence[str], have: Mapping[str, int], free: Mapping[str, int], spread: ZoneSpread
) -> str:
    if not missing:
        return ""
    if not zones:
        return f"{missing} too few: no zone has a machine that fits"
    unused = sum(free.values())
    if spread is ZoneSpread.STRICT and unused:
        fewest = min(have.values())
        short = [zone for zone in zones if have[zone] == fewest and not free[zone]]
        return (
            f"{missing} too few: {', '.join(short)} has no further machine that fits, and spread: strict keeps "
            f"{unused} in other zones from being taken"
        )
    return f"{missing} too few: no further machine fits in {', '.join(zones)}"


# Scaling down takes the machines first whose loss costs least. What is not here is FARTHEST.
DISTANCE: Mapping[Status, int] = {
    Status.DEPLOYED: 0,
    Status.TESTING: 1,
    Status.RESCUE_MODE: 1,
    Status.ENTERING_RESCUE_MODE: 1,
    Status.EXITING_RESCUE_MODE: 1,
    Status.DEPLOYING: 2,
    Status.ALLOCATED: 3,
    Status.RESERVED: 3,
}
FARTHEST = 4


def victims(
    members: Iterable[ZonedMachine], number: int, spread: ZoneSpread = ZoneSpread.EVEN
) -> tuple[ZonedMachine, ...]:
    """The members to release, in order: the furthest from deployed first, then from the fullest zone."""
    ranked: list[tuple[bool, int, int, str, ZonedMachine]] = []
    fullness: dict[str, int] = {}
    for member in sorted(set(members), key=lambda member: (not member.in_use, _distance(member), member.system_id)):
        zone = member.zone if spread is not ZoneSpread.NONE else ""
        # The last of a zone is what makes it as full as it is. Unlike "take from the fullest, count again", this order
        # is the same for a run that sees some of the victims gone already.
        fullness[zone] = fullness.get(zone, 0) + 1
        ranked.append((member.in_use, -_distance(member), -fullness[zone], zone, member))
    ranked.sort(key=lambda rank: rank[:4])
    return tuple(member for *_ignored, member in ranked[: max(0, number)])


def _distance(member: ZonedMachine) -> int:
    return DISTANCE.get(member.status, FARTHEST)
