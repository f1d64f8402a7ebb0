# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which VM host gets which VM: each rule, each sentence, and a brute force that no placement may be worse than."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.constraints import Constraints
from ansible_collections.metalshift.maas.plugins.module_utils._vms.pure.placement import (
    HostResource,
    PlacedVm,
    Placement,
    PlacementHost,
    Rules,
    Size,
    VmPlace,
    VmSpread,
    Volume,
    leaving,
    natural,
    place,
)

GIB, GB = 2**30, 10**9


def host(name: str = "host-1", **facts: Any) -> PlacementHost:
    """A host with 16 cores, 64 GiB and the pools `default` of 1 TB and `fast` of 100 GB, all free."""
    known: dict[str, Any] = {
        "cores": HostResource(16),
        "memory": HostResource(64 * GIB),
        "storage": {"default": HostResource(1000 * GB), "fast": HostResource(100 * GB)},
        "default_storage": "default",
        "zone": "az1",
        "pool": "default",
    }
    return PlacementHost(name, **{**known, **facts})


def size(cores: int = 1, gib: int = 1, *volumes: Volume, **more: Any) -> Size:
    return Size(cores, gib * GIB, volumes, **more)


def hosts_in(zones: str) -> list[PlacementHost]:
    """`a a b` is host-1 and host-2 in zone a, host-3 in zone b."""
    return [host(f"host-{number}", zone=zone) for number, zone in enumerate(zones.split(), 1)]


def chosen(placement: Placement) -> str:
    return " ".join(place.host for place in placement.places)


# -- why a host takes none ---------------------------------------------------------------------------------------------

NOWHERE = Constraints(zones=("az2", "az3"), pools=("kvm",), tags=("ssd",), names=("host-8",))


@pytest.mark.parametrize(
    ("facts", "wanted", "rules", "reason"),
    [
        ({"memory": HostResource(64 * GIB, 53 * GIB)}, size(1, 32), {}, "needs 32 GiB, 11 GiB free"),
        ({"memory": HostResource(64 * GIB, 53 * GIB - 2**28)}, size(1, 32), {}, "needs 32 GiB, 11.2 GiB free"),
        ({"cores": HostResource(16, 14)}, size(4), {}, "needs 4 cores, 2 free"),
        ({"cores": HostResource(16, 16)}, size(1), {}, "needs 1 core, 0 free"),
        ({"cores": HostResource(16, 24, 1.0)}, size(1), {}, "needs 1 core, 0 free"),
        ({"cores": HostResource(16, 31, 2.0)}, size(2), {}, "needs 2 cores, 1 free"),
        ({"cores": HostResource(16, 0, 0.5)}, size(9), {}, "needs 9 cores, 8 free"),
        ({"cores": HostResource(16, 0, 4.0)}, size(17), {}, "needs 17 cores, has 16"),
        (
            {"cores": HostResource(0), "memory": HostResource(0)},
            size(2, 4),
            {},
            "needs 2 cores, has 0, and needs 4 GiB, has 0 GiB",
        ),
        ({}, size(1, 1, Volume(2000 * GB)), {}, "needs 2 TB in storage pool default, has 1000 GB"),
        ({}, size(1, 1, *[Volume(60 * GB, "fast")] * 2), {}, "needs 120 GB in storage pool fast, has 100 GB"),
        (
            {"storage": {"default": HostResource(1000 * GB, 950 * GB)}},
            size(1, 1, Volume(60 * GB), Volume(1 * GB, "default")),
            {},
            "needs 61 GB in storage pool default, 50 GB free",
        ),
        ({}, size(1, 1, Volume(1 * GB, "ceph")), {}, "no storage pool ceph"),
        ({"default_storage": ""}, size(1, 1, Volume(1 * GB)), {}, "no default storage pool"),
        ({"hugepages": HostResource(8 * GIB)}, size(1, 16, hugepages=True), {}, "needs 16 GiB of hugepages, has 8 GiB"),
        (
            {"hugepages": HostResource(8 * GIB, 2 * GIB)},
            size(1, 8, hugepages=True),
            {},
            "needs 8 GiB of hugepages, 6 GiB free",
        ),
        ({"pinned": frozenset(range(13))}, size(4, pinned=True), {}, "needs 4 cores for itself, 3 not pinned"),
        ({"pinned": {3}}, size(2, on_cores=(2, 3)), {}, "needs core 2 and 3 for itself"),
        ({}, size(1, on_cores=(16,)), {}, "needs core 16 for itself"),
        ({"schedulable": False}, size(), {}, "unschedulable"),
        ({"unfit": ("powered off", "not on subnet 1")}, size(), {}, "powered off, and not on subnet 1"),
        ({}, size(), {"max_per_host": 0}, "has 0 of them (max_per_host: 0)"),
        (
            {"tags": frozenset({"hdd"})},
            size(),
            {"where": NOWHERE},
            "in zone az1, not az2 or az3, and in pool default, not kvm, and no tag ssd, and not named host-8",
        ),
        ({"schedulable": False, "cores": HostResource(0)}, size(), {}, "unschedulable"),
    ],
)
def test_what_keeps_a_vm_away_is_said_of_the_host(
    facts: dict[str, Any], wanted: Size, rules: dict[str, Any], reason: str
) -> None:
    assert place(1, wanted, [host(**facts)], Rules(**rules)) == Placement((), 1, {"host-1": reason})


def test_the_failure_says_of_every_host_why_not() -> None:
    hosts = [
        host("host-10", schedulable=False),
        host("host-3", memory=HostResource(64 * GIB, 53 * GIB)),
        host("host-2", memory=HostResource(64 * GIB)),
        host("host-1", zone="az9"),
    ]
    failure = place(5, size(1, 32), hosts, Rules(Constraints(zones=("az1",)))).failure("3 of 5 VMs")
    assert (failure.kind, failure.message) == (
        "capacity",
        "3 of 5 VMs cannot be placed: host-1: in zone az9, not az1; host-2: needs 32 GiB, 0 GiB free after 2 of them; "
        "host-3: needs 32 GiB, 11 GiB free; host-10: unschedulable.",
    )


def test_a_shortage_without_any_host_says_so() -> None:
    assert place(1, size(), []).failure("cp-1").message == "cp-1 cannot be placed: there is no VM host."


def test_hosts_that_are_called_the_same_are_refused() -> None:
    with pytest.raises(Failure, match="Several VM hosts are called host-1") as caught:
        place(1, size(), [host(), host(zone="az2")])
    assert caught.value.kind == "invalid"


@pytest.mark.parametrize(
    ("facts", "wanted", "most"),
    [
        ({}, size(3, 1), 5),
        ({"cores": HostResource(16, 2, 1.5)}, size(2), 11),
        ({"cores": HostResource(100, 0, 1.15)}, size(1), 64),
        ({"memory": HostResource(64 * GIB, 0, 1.5)}, size(1, 64), 1),
        ({}, size(1, 1, Volume(30 * GB, "fast"), Volume(10 * GB)), 3),
        ({"hugepages": HostResource(5 * GIB)}, size(1, 2, hugepages=True), 2),
        ({"hugepages": None}, size(1, 8, hugepages=True), 8),
        ({"pinned": {0, 5}}, size(4, pinned=True), 3),
        ({"pinned": {0, 5}}, size(2, on_cores=(1, 2)), 1),
    ],
)
def test_a_host_takes_as_many_as_it_has_room_for(facts: dict[str, Any], wanted: Size, most: int) -> None:
    assert len(place(99, wanted, [host(**facts)]).places) == most


def test_over_commit_is_counted_as_maas_counts_it() -> None:
    """MAAS compares with a product of floats: 100 * 1.15 is a little less than 115 there."""
    assert HostResource(100, 0, 1.15).free == 114


def test_vms_are_pinned_to_the_lowest_cores_that_are_free() -> None:
    placement = place(2, size(3, pinned=True), [host(pinned={0, 2})])
    assert placement.places == (VmPlace("host-1", (1, 3, 4)), VmPlace("host-1", (5, 6, 7)))


# -- spread, then balance ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("zones", "running", "spread", "number", "places"),
    [
        ("a b c", {}, "zone", 3, "host-1 host-2 host-3"),
        ("a b c", {}, "zone", 5, "host-1 host-2 host-3 host-1 host-2"),
        ("a a a b", {}, "zone", 4, "host-1 host-4 host-2 host-4"),
        ("a a a b", {}, "host", 4, "host-1 host-4 host-2 host-3"),
        ("a a b b", {"host-1": 1}, "zone", 3, "host-3 host-2 host-4"),
        ("a a b b", {"host-1": 2}, "host", 4, "host-3 host-4 host-2 host-3"),
        ("a a b", {"host-2": 1}, "zone", 2, "host-3 host-1"),
        ("a b", {"host-1": 3}, "zone", 2, "host-2 host-2"),
        ("a b", {"host-1": 3}, "none", 2, "host-1 host-2"),
        ("a b", {"elsewhere": 3}, "zone", 1, "host-1"),
        ("a a b b", {}, "none", 4, "host-1 host-2 host-3 host-4"),
        ("a b", {}, "zone", 0, ""),
    ],
)
def test_vms_go_to_where_the_fewest_are(
    zones: str, running: dict[str, int], spread: str, number: int, places: str
) -> None:
    assert chosen(place(number, size(), hosts_in(zones), Rules(spread=VmSpread(spread)), running)) == places


@pytest.mark.parametrize("spread", VmSpread)
@pytest.mark.parametrize(
    "better",
    [
        {},
        {"cores": HostResource(16, 9, 2.0)},
        {"cores": HostResource(32, 12)},
        {"cores": HostResource(16, 4), "memory": HostResource(64 * GIB, 32 * GIB)},
    ],
)
def test_of_equals_the_least_loaded_takes_the_next(spread: VmSpread, better: dict[str, Any]) -> None:
    hosts = [
        host("host-1", cores=HostResource(16, 6)),
        host("host-2", memory=HostResource(64 * GIB, 40 * GIB)),
        host("host-3", storage={"default": HostResource(1000 * GB, 700 * GB)}),
        host("host-4", **better),
    ]
    assert chosen(place(1, size(4, 1, Volume(GB)), hosts, Rules(spread=spread))) == "host-4"


def test_without_a_spread_larger_hosts_get_more() -> None:
    hosts = [host("host-1", cores=HostResource(4)), host("host-2", cores=HostResource(12))]
    assert Counter(chosen(place(8, size(), hosts, Rules(spread=VmSpread.NONE))).split()) == {"host-1": 2, "host-2": 6}


def test_what_runs_on_an_unschedulable_host_counts_for_its_zone() -> None:
    hosts = [host("host-1", schedulable=False), host("host-2"), host("host-3", zone="az2")]
    assert chosen(place(1, size(), hosts, running={"host-1": 1})) == "host-3"


def test_a_host_counts_as_people_count() -> None:
    assert sorted(["b-1", "a-10", "a-9", "a-09", "a", "9", "10-a"], key=natural) == [
        *("9", "10-a", "a", "a-09", "a-9", "a-10", "b-1")
    ]


# -- who leaves --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("vms", "number", "gone"),
    [
        ("cp-1:open cp-2:open cp-3:open", 2, "cp-3 cp-2"),
        ("cp-1:shut cp-2:open cp-3:open", 2, "cp-1 cp-3"),
        ("cp-1:shut cp-2:open cp-3:shut", 2, "cp-3 cp-1"),
        ("cp-2:open cp-10:open cp-9:open", 2, "cp-10 cp-9"),
        ("cp-1:lost cp-2:open", 1, "cp-2"),
        ("cp-1:open", 5, "cp-1"),
        ("cp-1:open", 0, ""),
        ("cp-1:open", -1, ""),
        ("", 1, ""),
    ],
)
def test_those_on_unschedulable_hosts_leave_first_then_the_highest_numbers(vms: str, number: int, gone: str) -> None:
    known = [PlacedVm(name, on) for name, on in (vm.split(":") for vm in vms.split())]
    hosts = [host("open"), host("shut", schedulable=False)]
    assert " ".join(vm.name for vm in leaving(known, number, hosts)) == gone


# -- what MAAS says of a host ------------------------------------------------------------------------------------------

VM_HOST = {
    "name": "lxd1",
    "cpu_over_commit_ratio": 3.0,
    "memory_over_commit_ratio": 1.5,
    "total": {"cores": 16, "memory": 65536, "local_storage": 500 * GB},
    "used": {"cores": 24, "memory": 25528, "local_storage": 96 * GB},
    # As MAAS counts it, without the ratio.
    "available": {"cores": -8, "memory": 40008, "local_storage": 404 * GB},
    "storage_pools": [
        {"name": "default", "total": 500 * GB, "used": 96 * GB, "available": 404 * GB, "default": True},
        {"name": "fast", "total": 100 * GB, "used": 0, "available": 100 * GB, "default": False},
    ],
    "zone": {"name": "az1"},
    "pool": {"name": "kvm"},
    "tags": ["pod-console-logging", "ssd"],
}


def test_a_host_is_what_maas_says_of_it() -> None:
    found = PlacementHost.of(VM_HOST, schedulable=False, unfit=["powered off"])
    assert (found.cores.free, found.memory.free) == (24, (98304 - 25528) * 2**20)
    assert found == host(
        "lxd1",
        cores=HostResource(16, 24, 3.0),
        memory=HostResource(64 * GIB, 25528 * 2**20, 1.5),
        storage={"default": HostResource(500 * GB, 96 * GB), "fast": HostResource(100 * GB)},
        pool="kvm",
        tags=frozenset({"pod-console-logging", "ssd"}),
        schedulable=False,
        unfit=("powered off",),
    )


def test_a_host_that_was_never_discovered_takes_nothing() -> None:
    nothing = {"cores": 0, "memory": 0, "local_storage": 0}
    found = PlacementHost.of({**VM_HOST, "total": nothing, "used": nothing, "storage_pools": []})
    assert place(1, size(2, 4, Volume(GB)), [found]).why_not == {"lxd1": "no default storage pool"}


# -- any fleet, compared with a brute force ----------------------------------------------------------------------------

NAMES = ("h1", "h2", "h3", "h4")
# Most have room for some: of hosts that refuse everything there is little to learn. One draw for each, which is fast.
FREE = [
    HostResource(12),
    HostResource(9, 1),
    HostResource(15, 3),
    HostResource(8),
    HostResource(6, 0, 2.0),
    HostResource(7, 4, 1.5),
    HostResource(5),
    HostResource(12, 0, 0.5),
]
rooms = st.sampled_from([*FREE, HostResource(12, 11), HostResource(12, 15, 1.5), HostResource(2), HostResource(0)])
STORES = [{"a": a, "b": b} for a in FREE for b in FREE[::2]] + [{"a": HostResource(4)}, {"b": HostResource(9)}, {}]
VOLUMES = [(), (Volume(1),), (Volume(2),), (Volume(1), Volume(2, "b")), (Volume(2, "a"), Volume(1)), (Volume(1, "b"),)]
sizes_of_vms = st.builds(
    Size,
    cores=st.sampled_from([1, 2, 3]),
    memory=st.sampled_from([1, 2, 3]),
    volumes=st.sampled_from(VOLUMES),
    pinned=st.sampled_from([False, False, True]),
    hugepages=st.sampled_from([False, False, True]),
)


def fleet_of(names: Sequence[str]) -> st.SearchStrategy[list[PlacementHost]]:
    return st.tuples(
        *(
            st.builds(
                PlacementHost,
                st.just(name),
                cores=rooms,
                memory=rooms,
                storage=st.sampled_from(STORES),
                default_storage=st.sampled_from(["a", "a", "a", "b", "b", ""]),
                zone=st.sampled_from(["z1", "z2", "z3"]),
                schedulable=st.sampled_from([True] * 7 + [False]),
                pinned=st.sampled_from([frozenset(), frozenset({0}), frozenset({2, 3})]),
                hugepages=st.sampled_from([None, None, HostResource(9), HostResource(3)]),
            )
            for name in names
        )
    ).map(list)


fleets = st.sampled_from(range(len(NAMES), 0, -1)).flatmap(lambda number: fleet_of(NAMES[:number]))
all_rules = st.builds(
    Rules,
    where=st.sampled_from([Constraints(), Constraints(), Constraints(), Constraints(zones=("z1", "z2"))]),
    spread=st.sampled_from(VmSpread),
    max_per_host=st.sampled_from([None, None, 3, 2, 1, 0]),
)
runnings = st.dictionaries(st.sampled_from([*NAMES, "gone"]), st.integers(0, 2), max_size=3)
numbers = st.sampled_from([5, 4, 3, 2, 1, 6, 0])


def holds(host: PlacementHost, number: int, wanted: Size, rules: Rules, running: Mapping[str, int]) -> bool:
    """Whether a host could be given so many: as one would check it by hand."""
    if number == 0:
        return True
    given = Counter({"cores": wanted.cores, "memory": wanted.memory, "huge": wanted.memory * wanted.hugepages})
    for volume in wanted.volumes:
        given["on " + (volume.pool or host.default_storage)] += volume.size
    has = {"cores": host.cores, "memory": host.memory, "huge": host.hugepages or HostResource(10**6)}
    has.update({f"on {name}": room for name, room in host.storage.items()})
    unpinned = sum(core not in host.pinned for core in range(host.cores.total))
    return (
        host.schedulable
        and (not rules.where.zones or host.zone in rules.where.zones)
        and (rules.max_per_host is None or running.get(host.name, 0) + number <= rules.max_per_host)
        and (not wanted.pinned or number * wanted.cores <= unpinned)
        and all(name in has for name in given)
        and all(
            has[name].used + number * amount <= has[name].total * has[name].over_commit and amount <= has[name].total
            for name, amount in given.items()
        )
    )


def all_ways(
    number: int, wanted: Size, hosts: Sequence[PlacementHost], rules: Rules, running: Mapping[str, int]
) -> Iterator[dict[str, int]]:
    """Every way to place exactly that many."""
    if not hosts:
        if not number:
            yield {}
        return
    first, *others = hosts
    for count in range(number + 1):
        if holds(first, count, wanted, rules, running):
            for way in all_ways(number - count, wanted, others, rules, running):
                yield {**way, first.name: count}


def unevenness(
    counts: Mapping[str, int],
    wanted: Size,
    hosts: Sequence[PlacementHost],
    spread: VmSpread,
    running: Mapping[str, int],
) -> Any:
    """The smaller, the better: how many are where, the fullest first; or the load of the most loaded that got any."""
    on_hosts = {host.name: running.get(host.name, 0) + counts.get(host.name, 0) for host in hosts}
    in_zones: Counter[str] = Counter()
    for host in hosts:
        in_zones[host.zone] += on_hosts[host.name]
    by_host, by_zone = (sorted(count.values(), reverse=True) for count in (on_hosts, in_zones))
    loads = [load(host, counts[host.name], wanted) for host in hosts if counts.get(host.name)]
    return {VmSpread.ZONE: (by_zone, by_host), VmSpread.HOST: (by_host, by_zone), VmSpread.NONE: max(loads, default=0)}[
        spread
    ]


def load(host: PlacementHost, number: int, wanted: Size) -> float:
    stored: Counter[str] = Counter()
    for volume in wanted.volumes:
        stored[volume.pool or host.default_storage] += volume.size
    taken = [(host.cores, wanted.cores), (host.memory, wanted.memory)]
    taken += [(host.storage[name], amount) for name, amount in stored.items()]
    taken += [(host.hugepages, wanted.memory)] if wanted.hugepages and host.hugepages else []
    return max((room.used + number * amount) / int(room.total * room.over_commit) for room, amount in taken)


def counted(placement: Placement) -> Counter[str]:
    return Counter(place.host for place in placement.places)


def after(hosts: Sequence[PlacementHost], placement: Placement, wanted: Size) -> list[PlacementHost]:
    """The hosts once these VMs run there."""
    return [_with(host, [p.cores for p in placement.places if p.host == host.name], wanted) for host in hosts]


def _with(host: PlacementHost, pinned: Sequence[tuple[int, ...]], wanted: Size) -> PlacementHost:
    number = len(pinned)
    storage = dict(host.storage)
    for volume in wanted.volumes:
        name = volume.pool or host.default_storage
        if number:
            storage[name] = replace(storage[name], used=storage[name].used + number * volume.size)
    huge = host.hugepages and replace(
        host.hugepages, used=host.hugepages.used + number * wanted.memory * wanted.hugepages
    )
    return replace(
        host,
        cores=replace(host.cores, used=host.cores.used + number * wanted.cores),
        memory=replace(host.memory, used=host.memory.used + number * wanted.memory),
        storage=storage,
        hugepages=huge,
        pinned=host.pinned.union(*pinned),
    )


@given(st.integers(0, 40), sizes_of_vms, fleets, all_rules, runnings)
def test_no_host_is_ever_given_more_than_it_has(
    number: int, wanted: Size, hosts: list[PlacementHost], rules: Rules, running: dict[str, int]
) -> None:
    placement = place(number, wanted, hosts, rules, running)
    got = counted(placement)
    assert all(holds(host, got[host.name], wanted, rules, running) for host in hosts)
    assert sum(got.values()) + placement.missing == number
    pins = [(each.host, core) for each in placement.places for core in each.cores]
    assert len(pins) == len(set(pins)) == (len(placement.places) * wanted.cores if wanted.pinned else 0)
    assert not any(core in host.pinned for host in hosts for name, core in pins if name == host.name)


@given(numbers, sizes_of_vms, fleets, all_rules, runnings)
def test_what_is_refused_cannot_be_placed_in_any_way(
    number: int, wanted: Size, hosts: list[PlacementHost], rules: Rules, running: dict[str, int]
) -> None:
    placement = place(number, wanted, hosts, rules, running)
    assert bool(placement.missing) is not any(True for _way in all_ways(number, wanted, hosts, rules, running))
    if placement.missing:
        assert not any(all_ways(len(placement.places) + 1, wanted, hosts, rules, running))


@given(numbers, sizes_of_vms, fleets, all_rules, runnings)
def test_no_way_is_more_even(
    number: int, wanted: Size, hosts: list[PlacementHost], rules: Rules, running: dict[str, int]
) -> None:
    placement = place(number, wanted, hosts, rules, running)
    ways = all_ways(len(placement.places), wanted, hosts, rules, running)
    best = min(unevenness(way, wanted, hosts, rules.spread, running) for way in ways)
    assert unevenness(counted(placement), wanted, hosts, rules.spread, running) == best


@given(numbers, sizes_of_vms, fleets, all_rules, runnings)
def test_a_reason_is_given_for_every_host_when_some_are_missing_and_else_for_none(
    number: int, wanted: Size, hosts: list[PlacementHost], rules: Rules, running: dict[str, int]
) -> None:
    placement = place(number, wanted, hosts, rules, running)
    assert list(placement.why_not) == (sorted(host.name for host in hosts) if placement.missing else [])
    assert all(placement.why_not.values())


@given(numbers, sizes_of_vms, fleets, all_rules, runnings, st.randoms(use_true_random=False))
def test_the_order_of_what_is_given_does_not_matter(
    number: int, wanted: Size, hosts: list[PlacementHost], rules: Rules, running: dict[str, int], chance: random.Random
) -> None:
    first = place(number, wanted, hosts, rules, running)
    chance.shuffle(hosts)
    assert place(number, wanted, hosts, rules, dict(reversed(running.items()))) == first


@given(numbers, numbers, sizes_of_vms, fleets, all_rules, runnings)
def test_a_run_that_was_interrupted_is_completed_by_the_next(
    some: int, more: int, wanted: Size, hosts: list[PlacementHost], rules: Rules, running: dict[str, int]
) -> None:
    """What was placed stays, the rest goes to where it would have gone, and another run finds nothing to do."""
    begun = place(some, wanted, hosts, rules, running)
    then, there = after(hosts, begun, wanted), {**Counter(running) + counted(begun)}
    rest = place(more, wanted, then, rules, there)
    assert begun.places + rest.places == place(some + more, wanted, hosts, rules, running).places or begun.missing
    assert place(0, wanted, after(then, rest, wanted), rules, Counter(there) + counted(rest)) == Placement(())


@given(numbers, sizes_of_vms, fleets, all_rules, runnings, st.data())
def test_whichever_a_killed_run_made_the_next_ends_as_even(
    number: int, wanted: Size, hosts: list[PlacementHost], rules: Rules, running: dict[str, int], data: st.DataObject
) -> None:
    """VMs are made several at a time: those that exist after a kill need not be the first ones."""
    planned = place(number, wanted, hosts, rules, running)
    made = [each for each in planned.places if data.draw(st.booleans())]
    begun = Placement(tuple(made))
    there = Counter(running) + counted(begun)
    rest = place(len(planned.places) - len(made), wanted, after(hosts, begun, wanted), rules, there)
    ends = [counted(planned), counted(begun) + counted(rest)]
    first, second = (unevenness(end, wanted, hosts, rules.spread, running) for end in ends)
    assert (rest.missing, second) == (0, first)


VMS = st.builds(PlacedVm, st.sampled_from([f"cp-{number}" for number in range(12)]), st.sampled_from(NAMES))


@given(st.lists(VMS, max_size=8, unique_by=lambda vm: vm.name), numbers, fleets, st.data())
def test_two_runs_at_once_remove_the_same_vms(
    vms: list[PlacedVm], number: int, hosts: list[PlacementHost], data: st.DataObject
) -> None:
    going = leaving(vms, number, hosts)
    assert len(going) == min(number, len(vms))
    # The other run sees the set while some of them, no matter which, have gone already.
    gone = data.draw(st.sets(st.sampled_from(going))) if going else set()
    left = [vm for vm in reversed(vms) if vm not in gone]
    assert set(leaving(left, number - len(gone), hosts)) == set(going) - gone
