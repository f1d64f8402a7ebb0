# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which VM host gets which virtual machine, and which of them go when there are too many.

`place` decides for a number of VMs of one size, of which some may exist already: hosts that may not take them are left
out, the others count how many they have room for, and each VM goes to where the fewest are, then to where the load
stays least. What exists never moves. VMs of one size count as whole numbers on a host, so that filling up one by one
finds every place there is, and is as even as any other way. `leaving` orders those that a smaller set gives up.

    hosts = [Host.of(vm_host, schedulable=...) for vm_host in maas.get("vm-hosts/")]
    placement = place(3, Size(cores=4, memory=16 * 2**30, volumes=(Volume(10**11),)), hosts, Rules(spread=Spread.ZONE))
    if placement.missing:
        raise placement.failure("2 of 3 VMs of the claim cp")

The same input gives the same answer whatever its order. Sizes are bytes.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.constraints import Constraints
from ansible_collections.metalshift.maas.plugins.module_utils._maas.pure import sizes


class VmSpread(Enum):
    ZONE = "zone"  # as even over the zones as there is room, and over the hosts of each
    HOST = "host"  # as even over the hosts as there is room, whatever their zones
    NONE = "none"  # wherever the load stays least


# What is to be least before the load: how many of the set are in the zone, and on the host.
EVENNESS: Mapping[VmSpread, Callable[[int, int], tuple[int, int]]] = {
    VmSpread.ZONE: lambda zone, host: (zone, host),
    VmSpread.HOST: lambda zone, host: (host, zone),
    VmSpread.NONE: lambda zone, host: (0, 0),
}


# -- what is asked for -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Volume:
    """A disk of a VM: in a storage pool by name, or in its host's default one."""

    size: int
    pool: str = ""


@dataclass(frozen=True)
class Size:
    """What one VM takes from its host."""

    cores: int
    memory: int
    volumes: tuple[Volume, ...] = ()
    # Cores that no other VM is pinned to: any, or those with these numbers.
    pinned: bool = False
    on_cores: tuple[int, ...] = ()
    hugepages: bool = False


@dataclass(frozen=True)
class Rules:
    """Where the VMs of a set may go."""

    # Of a host: its zones, pools, tags and names.
    where: Constraints = field(default_factory=Constraints)
    spread: VmSpread = VmSpread.ZONE
    max_per_host: int | None = None


# -- what there is -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HostResource:
    """How much of something a host has, what its VMs were given of it, and how far it may be promised twice."""

    total: int
    used: int = 0
    over_commit: float = 1.0

    @property
    def limit(self) -> int:
        # As MAAS counts, floats and all: rounded otherwise, the last VM would be refused.
        return int(self.total * self.over_commit)

    @property
    def free(self) -> int:
        return max(0, self.limit - self.used)


@dataclass(frozen=True)
class PlacementHost:
    """A VM host. Its name is what VMs refer to it by."""

    name: str
    cores: HostResource
    memory: HostResource
    # By the name of the storage pool.
    storage: Mapping[str, HostResource] = field(default_factory=dict)
    default_storage: str = ""
    zone: str = ""
    pool: str = ""
    tags: frozenset[str] = frozenset()
    schedulable: bool = True
    # What else keeps these VMs away, in words: it is off, or not on their subnet.
    unfit: tuple[str, ...] = ()
    # The cores that VMs are pinned to.
    pinned: frozenset[int] = frozenset()
    # None: nobody knows.
    hugepages: HostResource | None = None
    # What its LXD lets the project of these VMs have in all: cores, memory, storage, VMs, instances.
    limits: Mapping[str, HostResource] = field(default_factory=dict)
    # Whether it does not answer, so that nobody knows what it has.
    away: bool = False

    @classmethod
    def of(cls, vm_host: Mapping[str, Any], *, schedulable: bool = True, unfit: Sequence[str] = ()) -> PlacementHost:
        """The host that MAAS's JSON tells. Its `available` is no help: it knows nothing of over-commit."""
        total, used = vm_host["total"], vm_host["used"]
        pools = vm_host.get("storage_pools") or ()
        mib = sizes.UNITS["MiB"]
        return cls(
            name=vm_host["name"],
            cores=HostResource(total["cores"], used["cores"], vm_host["cpu_over_commit_ratio"]),
            memory=HostResource(total["memory"] * mib, used["memory"] * mib, vm_host["memory_over_commit_ratio"]),
            storage={pool["name"]: HostResource(pool["total"], pool["used"]) for pool in pools},
            default_storage=next((pool["name"] for pool in pools if pool.get("default")), ""),
            zone=vm_host["zone"]["name"],
            pool=vm_host["pool"]["name"],
            tags=frozenset(vm_host.get("tags") or ()),
            schedulable=schedulable,
            unfit=tuple(unfit),
        )


@dataclass(frozen=True)
class PlacedVm:
    """A VM that exists."""

    name: str
    host: str


# -- the answer --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class VmPlace:
    """Where one VM goes, and the cores it is pinned to."""

    host: str
    cores: tuple[int, ...] = ()


@dataclass(frozen=True)
class Placement:
    """The places in the order in which they are filled, and how many are not to be had."""

    places: tuple[VmPlace, ...]
    missing: int = 0
    # If some are missing, for every host: why not one more.
    why_not: Mapping[str, str] = field(default_factory=dict)

    def failure(self, subject: str) -> Failure:
        """The failure for what is missing; `subject` says what that is."""
        why = "; ".join(f"{host}: {reason}" for host, reason in self.why_not.items()) or "there is no VM host"
        hint = "Make room on a host, add one, or loosen the constraints, then run the task again."
        return Failure("capacity", f"{subject} cannot be placed: {why}.", reason=why, hint=hint)


def place(
    number: int,
    size: Size,
    hosts: Iterable[PlacementHost],
    rules: Rules | None = None,
    running: Mapping[str, int] | None = None,
) -> Placement:
    """Places for that many VMs beside those of the set that are `running`, by host; hosts count these as used."""
    rules, running = rules or Rules(), running or {}
    ordered = _in_order(hosts)
    candidates = [_Candidate(rank, host, size, rules, running.get(host.name, 0)) for rank, host in enumerate(ordered)]
    zones: Counter[str] = Counter()
    for candidate in candidates:
        zones[candidate.zone] += candidate.here
    evenness = EVENNESS[rules.spread]
    places: list[VmPlace] = []
    while len(places) < number:
        open_ones = [candidate for candidate in candidates if candidate.room]
        if not open_ones:
            break
        chosen = min(open_ones, key=lambda one: (*evenness(zones[one.zone], one.here), one.load, one.rank))
        places.append(chosen.take())
        zones[chosen.zone] += 1
    missing = number - len(places)
    why_not = {candidate.host.name: candidate.why_not() for candidate in candidates} if missing else {}
    return Placement(tuple(places), missing, why_not)


def concerned(hosts: Iterable[PlacementHost], rules: Rules) -> list[str]:
    """The hosts that do not answer, and to which new VMs might go if they did."""
    return [host.name for host in hosts if host.away and not _refusals(host, rules.where)]


def leaving(vms: Iterable[PlacedVm], number: int, hosts: Iterable[PlacementHost]) -> tuple[PlacedVm, ...]:
    """The VMs to remove, in order: those on unschedulable hosts first, then those with the highest numbers.

    These are the newest as a rule. Several are made at a time, so that nothing else tells which came last.
    """
    closed = {host.name for host in hosts if not host.schedulable}
    ordered = sorted(vms, key=lambda vm: (vm.host in closed, natural(vm.name), vm.host), reverse=True)
    return tuple(ordered[: max(0, number)])


def natural(name: str) -> tuple[list[str | int], str]:
    """The order in which people count: host-9 before host-10."""
    return [int(part) if index % 2 else part for index, part in enumerate(re.split("([0-9]+)", name))], name


def _in_order(hosts: Iterable[PlacementHost]) -> list[PlacementHost]:
    ordered = sorted(hosts, key=lambda host: natural(host.name))
    twice = [name for name, number in Counter(host.name for host in ordered).items() if number > 1]
    if twice:
        hint = "Rename one of them: VMs are known by the name of their host."
        raise invalid(f"Several VM hosts are called {twice[0]}.", hint)
    return ordered


# -- one host ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Need:
    """What a VM takes of one thing that its host has."""

    amount: int
    room: HostResource
    # What follows the amount in a sentence.
    of: str = ""
    # The unit of size in which people think of it; none for what is counted.
    unit: str = ""

    def fits(self) -> int:
        """How many VMs. No single one gets more than there is: a ratio above 1 shares that among several."""
        return 0 if self.amount > self.room.total else self.room.free // self.amount

    def load(self, number: int) -> float:
        """The share that is promised with so many VMs more."""
        return (self.room.used + number * self.amount) / self.room.limit

    def shortage(self, number: int) -> str:
        """Why there is not one more beside so many; empty if there is."""
        needs = f"needs {sizes.text(self.amount) if self.unit else self.amount}{self.of}"
        if self.amount > self.room.total:
            return f"{needs}, has {self._roughly(self.room.total)}"
        if self.fits() > number:
            return ""
        return f"{needs}, {self._roughly(self.room.free - number * self.amount)} free{_after(number)}"

    def _roughly(self, amount: int) -> str:
        return sizes.tenths(amount, self.unit) if self.unit else str(amount)


class _Candidate:
    """A host while places on it are given away."""

    def __init__(self, rank: int, host: PlacementHost, size: Size, rules: Rules, here: int) -> None:
        self.rank = rank
        self.host = host
        self.zone = host.zone
        # How many of the set are on it.
        self.here = here
        self._taken = 0
        self._size = size
        self._most = rules.max_per_host
        self._against = (*_refusals(host, rules.where), *_lacks(host, size))
        self._needs = _needs(host, size)
        self._pins = _pins(host, size)
        self.room = self._room()
        self.load = self._next_load()

    def take(self) -> VmPlace:
        cores = self._pins[self._taken] if self._pins is not None else ()
        self._taken += 1
        self.here += 1
        self.room -= 1
        self.load = self._next_load()
        return VmPlace(self.host.name, cores)

    def _room(self) -> int:
        if self._against:
            return 0
        limits = [need.fits() for need in self._needs]
        if self._pins is not None:
            limits.append(len(self._pins))
        if self._most is not None:
            limits.append(max(0, self._most - self.here))
        return min(limits)

    def _next_load(self) -> float:
        return max(need.load(self._taken + 1) for need in self._needs) if self.room else 0.0

    def why_not(self) -> str:
        """What keeps one more VM away."""
        if self._against:
            return ", and ".join(self._against)
        told = [need.shortage(self._taken) for need in self._needs]
        if self._pins is not None and len(self._pins) == self._taken:
            told.append(_no_pins(self.host, self._size, self._taken))
        if self._most is not None and self.here >= self._most:
            told.append(f"has {self.here} of them (max_per_host: {self._most})")
        return ", and ".join(filter(None, told))


def _refusals(host: PlacementHost, where: Constraints) -> list[str]:
    """Why a host is not one of those that may be taken at all."""
    machine = {
        "zone": {"name": host.zone},
        "pool": {"name": host.pool},
        "tag_names": host.tags,
        "hostname": host.name,
    }
    closed = [] if host.schedulable else ["unschedulable"]
    return [*where.why_not(machine), *closed, *host.unfit]


def _lacks(host: PlacementHost, size: Size) -> list[str]:
    pools = dict.fromkeys(volume.pool or host.default_storage for volume in size.volumes)
    lacking = [pool for pool in pools if pool not in host.storage]
    told = [f"no storage pool {pool}" if pool else "no default storage pool" for pool in lacking]
    if "cores" in host.limits and (size.pinned or size.on_cores):
        told.append("its project limits cores, and LXD pins none then")
    return told


def _needs(host: PlacementHost, size: Size) -> list[_Need]:
    needs = [
        _Need(size.cores, host.cores, _cores(size.cores)),
        _Need(size.memory, host.memory, unit="GiB"),
    ]
    if size.hugepages and host.hugepages is not None:
        needs.append(_Need(size.memory, host.hugepages, " of hugepages", "GiB"))
    stored: Counter[str] = Counter()
    for volume in size.volumes:
        stored[volume.pool or host.default_storage] += volume.size
    for pool, amount in stored.items():
        if pool in host.storage:
            needs.append(_Need(amount, host.storage[pool], f" in storage pool {pool}", "GB"))
    return [*needs, *_needs_of_project(host, size, sum(stored.values()))]


def _needs_of_project(host: PlacementHost, size: Size, stored: int) -> list[_Need]:
    within = " within the limits of its project"
    amounts = {
        "cores": (size.cores, f"{_cores(size.cores)}{within}", ""),
        "memory": (size.memory, f" of memory{within}", "GiB"),
        "storage": (stored, f" of storage{within}", "GB"),
        "VMs": (1, f" VM{within}", ""),
        "instances": (1, f" instance{within}", ""),
    }
    return [
        _Need(amount, host.limits[key], of, unit) for key, (amount, of, unit) in amounts.items() if key in host.limits
    ]


def _pins(host: PlacementHost, size: Size) -> Sequence[tuple[int, ...]] | None:
    """The cores for each VM that is pinned to some; None if they need not be."""
    if not size.pinned and not size.on_cores:
        return None
    free = _unpinned(host)
    if size.on_cores:
        return [size.on_cores] if set(size.on_cores) <= set(free) else []
    return [tuple(free[at : at + size.cores]) for at in range(0, len(free) - size.cores + 1, size.cores)]


def _unpinned(host: PlacementHost) -> list[int]:
    return [core for core in range(host.cores.total) if core not in host.pinned]


def _no_pins(host: PlacementHost, size: Size, number: int) -> str:
    if size.on_cores:
        return f"needs core {' and '.join(map(str, size.on_cores))} for itself{_after(number)}"
    free = len(_unpinned(host)) - number * size.cores
    return f"needs {size.cores}{_cores(size.cores)} for itself, {free} not pinned{_after(number)}"


def _cores(number: int) -> str:
    return " core" if number == 1 else " cores"


def _after(number: int) -> str:
    return f" after {number} of them" if number else ""
