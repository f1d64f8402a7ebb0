# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.spreading import (
    ZonedMachine,
    ZoneSpread,
    shares,
    victims,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import Status

ZONES = ("az1", "az2", "az3", "az4")
counts = st.dictionaries(st.sampled_from(ZONES), st.integers(0, 6))
spreads = st.sampled_from(ZoneSpread)
some_zones = st.none() | st.sets(st.sampled_from(ZONES))
sets_of_members = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=3),
    st.tuples(st.sampled_from(ZONES), st.sampled_from(Status)),
    max_size=14,
).map(lambda found: frozenset(ZonedMachine(system_id, zone, status) for system_id, (zone, status) in found.items()))


@pytest.mark.parametrize(
    ("count", "members", "candidates", "zones", "spread", "add", "missing"),
    [
        (6, {}, {"a": 5, "b": 5, "c": 5}, None, "even", {"a": 2, "b": 2, "c": 2}, 0),
        (6, {"a": 2}, {"a": 5, "b": 5, "c": 5}, None, "even", {"b": 2, "c": 2}, 0),
        (6, {}, {"a": 1, "b": 9, "c": 9}, None, "even", {"a": 1, "b": 3, "c": 2}, 0),
        (6, {}, {"a": 1, "b": 1}, None, "even", {"a": 1, "b": 1}, 4),
        (4, {}, {"a": 5, "b": 5, "c": 5}, ["a", "b"], "even", {"a": 2, "b": 2}, 0),
        (4, {"c": 3}, {"a": 5, "c": 5}, ["a"], "even", {"a": 1}, 0),
        (2, {"a": 3}, {"b": 5}, None, "even", {}, 0),
        (3, {}, {}, ["a"], "even", {}, 3),
        (4, {}, {"a": 1, "b": 9}, None, "strict", {"a": 1, "b": 2}, 1),
        (6, {}, {"a": 3, "b": 3}, None, "strict", {"a": 3, "b": 3}, 0),
        (2, {}, {"b": 9}, ["a", "b"], "strict", {"b": 1}, 1),
        (3, {"a": 1}, {"b": 9}, None, "strict", {"b": 2}, 0),
        (3, {}, {"a": 1, "b": 9}, None, "none", {"b": 3}, 0),
        (1, {}, {"a": 2, "b": 2}, None, "even", {"a": 1}, 0),
        (1, {}, {"a": 2, "b": 3}, None, "even", {"b": 1}, 0),
    ],
)
def test_where_machines_are_added(
    count: int,
    members: dict[str, int],
    candidates: dict[str, int],
    zones: list[str] | None,
    spread: str,
    add: dict[str, int],
    missing: int,
) -> None:
    found = shares(count, members, candidates, zones, ZoneSpread(spread))
    assert (found.add, found.missing) == (add, missing)
    assert bool(found.reason) is (missing > 0)


@pytest.mark.parametrize(
    ("count", "candidates", "zones", "spread", "reason"),
    [
        (3, {}, None, "even", "3 too few: no zone has a machine that fits"),
        (3, {"a": 1}, ["a", "b"], "even", "2 too few: no further machine fits in a, b"),
        (
            5,
            {"a": 1, "b": 9},
            None,
            "strict",
            "2 too few: a has no further machine that fits, and spread: strict keeps 7 in other zones from being taken",
        ),
    ],
)
def test_a_shortage_is_explained(
    count: int, candidates: dict[str, int], zones: list[str] | None, spread: str, reason: str
) -> None:
    assert shares(count, {}, candidates, zones, ZoneSpread(spread)).reason == reason


@given(st.integers(0, 20), counts, counts, some_zones, spreads)
def test_exactly_what_is_wanted_is_added_or_told_as_missing(
    count: int, members: dict[str, int], candidates: dict[str, int], zones: set[str] | None, spread: ZoneSpread
) -> None:
    found = shares(count, members, candidates, zones, spread)
    assert sum(found.add.values()) + found.missing == max(0, count - sum(members.values()))
    assert all(0 < number <= candidates.get(zone, 0) for zone, number in found.add.items())
    assert zones is None or set(found.add) <= zones
    if spread is not ZoneSpread.STRICT and found.missing:
        assert sum(found.add.values()) == sum(
            candidates.get(zone, 0) for zone in (candidates if zones is None else zones)
        )


@given(st.integers(0, 20), counts, counts, some_zones)
def test_no_spread_could_be_more_even(
    count: int, members: dict[str, int], candidates: dict[str, int], zones: set[str] | None
) -> None:
    found = shares(count, members, candidates, zones)
    have = {zone: members.get(zone, 0) + found.add.get(zone, 0) for zone in zones or ZONES}
    for giver in found.add:
        for taker, number in have.items():
            # Moving one from a fuller zone to an emptier one would help: then the emptier one must be out of machines.
            if have[giver] - number > 1:
                assert candidates.get(taker, 0) == found.add.get(taker, 0)


@given(st.integers(0, 20), counts, counts, some_zones)
def test_a_strict_spread_adds_nowhere_that_is_ahead(
    count: int, members: dict[str, int], candidates: dict[str, int], zones: set[str] | None
) -> None:
    found = shares(count, members, candidates, zones, ZoneSpread.STRICT)
    known = zones if zones is not None else {zone for zone in ZONES if members.get(zone) or candidates.get(zone)}
    have = {zone: members.get(zone, 0) + found.add.get(zone, 0) for zone in known}
    assert all(have[zone] <= min(have.values()) + 1 for zone in found.add)


@given(st.integers(0, 20), counts, counts, some_zones, spreads, st.randoms())
def test_shares_depend_on_no_order_and_a_run_after_them_adds_nothing(
    count: int,
    members: dict[str, int],
    candidates: dict[str, int],
    zones: set[str] | None,
    spread: ZoneSpread,
    random: object,
) -> None:
    found = shares(count, members, candidates, zones, spread)
    shuffled = [*members.items()]
    random.shuffle(shuffled)
    assert shares(count, dict(shuffled), dict(reversed(candidates.items())), zones, spread) == found
    then = {zone: members.get(zone, 0) + found.add.get(zone, 0) for zone in {*members, *found.add}}
    left = {zone: number - found.add.get(zone, 0) for zone, number in candidates.items()}
    assert shares(count, then, left, zones, spread).add == {}


@given(st.integers(0, 20), counts, counts, some_zones, st.sampled_from([ZoneSpread.EVEN, ZoneSpread.NONE]), st.data())
def test_a_run_killed_half_way_is_completed_by_the_next(
    count: int,
    members: dict[str, int],
    candidates: dict[str, int],
    zones: set[str] | None,
    spread: ZoneSpread,
    data: st.DataObject,
) -> None:
    found = shares(count, members, candidates, zones, spread)
    done = {zone: data.draw(st.integers(0, number)) for zone, number in found.add.items()}
    then = {zone: members.get(zone, 0) + done.get(zone, 0) for zone in {*members, *done}}
    left = {zone: number - done.get(zone, 0) for zone, number in candidates.items()}
    rest = shares(count, then, left, zones, spread)
    assert sum(done.values()) + sum(rest.add.values()) == sum(found.add.values())
    if spread is ZoneSpread.EVEN:
        ends = sorted(then.get(zone, 0) + rest.add.get(zone, 0) for zone in {*then, *rest.add})
        assert [number for number in ends if number] == sorted(
            number for zone in {*members, *found.add} if (number := members.get(zone, 0) + found.add.get(zone, 0))
        )


def members(*words: str) -> list[ZonedMachine]:
    """`a1:az1:deployed` is machine a1 in zone az1."""
    parts = [word.split(":") for word in words]
    return [ZonedMachine(system_id, zone, Status[status.upper()]) for system_id, zone, status in parts]


@pytest.mark.parametrize(
    ("found", "number", "gone"),
    [
        (("a:z1:deployed", "b:z1:allocated", "c:z2:deploying", "d:z2:failed_deployment"), 4, "dbca"),
        (("a:z1:deployed", "b:z1:deployed", "c:z2:deployed", "d:z1:deployed"), 3, "dba"),
        (("a:z1:deployed", "b:z2:deployed"), 1, "a"),
        (("a:z1:deployed", "b:z2:rescue_mode"), 1, "b"),
        (("a:z1:deployed",), 5, "a"),
        (("a:z1:deployed",), 0, ""),
        ((), 3, ""),
    ],
)
def test_the_furthest_from_deployed_goes_first_then_the_fullest_zone(
    found: tuple[str, ...], number: int, gone: str
) -> None:
    assert "".join(member.system_id for member in victims(members(*found), number)) == gone


@given(sets_of_members, st.integers(0, 16), spreads)
def test_what_goes_first_is_never_closer_to_deployed_than_what_stays(
    found: frozenset[ZonedMachine], number: int, spread: ZoneSpread
) -> None:
    gone = victims(found, number, spread)
    assert len(gone) == len(set(gone)) == min(number, len(found))
    if any(member.status is Status.DEPLOYED for member in gone):
        assert all(member.status is Status.DEPLOYED for member in found - set(gone))


@given(st.lists(st.sampled_from(ZONES), max_size=14), st.integers(0, 16))
def test_the_fullest_zone_gives_first(zones: list[str], number: int) -> None:
    found = {ZonedMachine(f"m{index}", zone, Status.DEPLOYED) for index, zone in enumerate(zones)}
    gone = victims(found, number)
    for index, victim in enumerate(gone):
        left = [member.zone for member in found - set(gone[:index])]
        assert left.count(victim.zone) == max(map(left.count, left))


@given(sets_of_members, st.integers(0, 16), spreads, st.data())
def test_two_runs_at_once_take_the_same_machines(
    found: frozenset[ZonedMachine], number: int, spread: ZoneSpread, data: st.DataObject
) -> None:
    going = victims(found, number, spread)
    # The other run sees the set while some of them, no matter which, have gone already.
    gone = data.draw(st.sets(st.sampled_from(going))) if going else set()
    assert set(victims(found - gone, number - len(gone), spread)) == set(going) - gone


def test_what_is_in_use_goes_last() -> None:
    members = [
        ZonedMachine("used", "az1", Status.ALLOCATED, in_use=True),
        ZonedMachine("full", "az1", Status.DEPLOYED),
        ZonedMachine("other", "az2", Status.DEPLOYED),
    ]
    assert [victim.system_id for victim in victims(members, 3)] == ["full", "other", "used"]
