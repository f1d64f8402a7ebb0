# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of a set of VMs: which exist, which are made on which host, and which go.

A VM of a set is one by its hostname, CLAIM-NUMBER, so that a run finds what a killed one made, even where the answer
was lost. Its claim, which MAAS keeps only while a machine has an owner, confirms that: a VM of that name that another
claim or another user has is never touched, and only in the way if its number is needed.

    Found.of          a machine of MAAS, of those that may have such a name
    census            those that are of the set, those that exist twice, and the numbers that others have
    plan              keep, make and remove; raises what stands in the way before anything is done
    SetPlan.steps     the same, to be shown

Free numbers are filled from 1 up, so hostnames do not depend on what was lost. Placement is by `_placement`, static
addresses by `_static_addresses`; hosts count the VMs that exist as used.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count as counting_from
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid, several
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Step
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.constraints import is_virtual
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.holders import (
    claim_of,
    holder,
    is_hosted,
)
from ansible_collections.metalshift.maas.plugins.module_utils._vms.pure.placement import (
    PlacedVm,
    PlacementHost,
    Rules,
    Size,
    VmPlace,
    leaving,
    natural,
    place,
)
from ansible_collections.metalshift.maas.plugins.module_utils._vms.pure.static_addresses import assigned

# LXD takes no instance that begins with a digit; MAAS compares hostnames to the letter.
NAME = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")
LONGEST = 63


# -- names -------------------------------------------------------------------------------------------------------------


def checked(claim: str, count: int) -> str:
    """The claim, if the hostnames of that many VMs can be made of it."""
    if not NAME.fullmatch(claim) or len(hostname(claim, count)) > LONGEST:
        raise invalid(
            f"{claim!r} cannot be the claim of VMs: their hostnames begin with it.",
            f"Begin with a small letter and go on with small letters, digits and -, up to {LONGEST} with the number.",
        )
    return claim


def hostname(claim: str, number: int) -> str:
    return f"{claim}-{number}"


def number_of(claim: str, name: str) -> int | None:
    """The number in a hostname; None if it is not one of the claim's."""
    found = re.fullmatch(rf"{re.escape(claim)}-([1-9][0-9]*)", name)
    return int(found[1]) if found else None


# -- what there is -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FoundVm:
    """A machine of MAAS, or a VM of an LXD that MAAS does not know."""

    name: str
    # Its VM host; empty if that is not known.
    host: str
    # What it says itself: its annotation in MAAS, or the user key of an instance.
    claim: str = ""
    # The user who has it, if that is not this one.
    owner: str = ""
    # The hosted cluster that uses it, in words: Cluster API would have to give it up first.
    cluster: str = ""
    virtual: bool = True
    known: bool = True
    # Of a VM that MAAS does not know: whether it proves to be what a run left, so that nothing is lost with it.
    half_made: bool = False
    # Why nobody can say which VM the machine is, in words.
    doubt: str = ""
    # What the VM of a machine says of itself in LXD: for what it was made. MAAS forgets the claim of a machine that
    # nobody has.
    made_for: str = ""
    # Whether MAAS switches the machine on a host that has no VM of its name.
    lost: bool = False
    # The volumes that are all that is left of a VM.
    disks: tuple[str, ...] = ()

    @classmethod
    def of(cls, machine: Mapping[str, Any], me: str, *, host: str = "", doubt: str = "") -> FoundVm:
        """A machine as MAAS's JSON tells; `me` is the user of the key, who owns what this run commissions.

        `host` is for VMs that were added to MAAS as machines: MAAS has no VM host for them.
        """
        owner = machine.get("owner") or ""
        return cls(
            name=machine["hostname"],
            host=host or (machine.get("pod") or {}).get("name", ""),
            claim=claim_of(machine),
            owner="" if owner == me else owner,
            cluster=holder(machine) if is_hosted(machine) else "",
            virtual=is_virtual(machine),
            doubt=doubt,
        )

    @property
    def vm(self) -> PlacedVm:
        return PlacedVm(self.name, self.host)

    @property
    def loss(self) -> str:
        """That the machine has no VM any more, as a sentence; empty if it has one."""
        return (
            f"{self.name} is a machine in MAAS, and its VM on {self.host} is gone. A smaller count removes it first; "
            "metalshift.maas.vm with state: absent removes it now."
            if self.lost
            else ""
        )


@dataclass(frozen=True)
class Census:
    """What there is of the names of one claim."""

    claim: str
    # By number, in its order.
    members: Mapping[int, FoundVm] = field(default_factory=dict)
    # What runs that were killed left half made beside another VM of the name.
    doubles: tuple[FoundVm, ...] = ()
    # By number: why its hostname cannot be had.
    taken: Mapping[int, Failure] = field(default_factory=dict)
    # VMs of the claim that nobody takes or removes, because they may be somebody's.
    doubtful: tuple[Doubtful, ...] = ()


@dataclass(frozen=True)
class Doubtful:
    """A VM that is left alone, and the sentence that says so with all places that it is in."""

    name: str
    host: str
    text: str
    # Whether it says that it is of this claim.
    is_own: bool = True
    hint: str = "See which one is needed, remove the other in its LXD, and run the task again."

    @property
    def failure(self) -> Failure:
        return Failure("conflict", self.text, self.name, hint=self.hint)


@dataclass(frozen=True)
class Namesakes:
    """What there is of one name: the VM that is meant, what goes, what is left alone, and what is in the way."""

    member: FoundVm | None = None
    doubles: tuple[FoundVm, ...] = ()
    doubtful: tuple[Doubtful, ...] = ()
    taken: Failure | None = None


def census(claim: str, found: Iterable[FoundVm]) -> Census:
    """Sort what was found; names that are not of the claim do not matter."""
    named: dict[int, list[FoundVm]] = {}
    for one in found:
        number = number_of(claim, one.name)
        if number is not None:
            named.setdefault(number, []).append(one)
    sorted_out = {number: namesakes(claim, named[number]) for number in sorted(named)}
    return Census(
        claim,
        {number: one.member for number, one in sorted_out.items() if one.member},
        tuple(double for one in sorted_out.values() for double in one.doubles),
        {number: one.taken for number, one in sorted_out.items() if one.taken},
        tuple(doubtful for one in sorted_out.values() for doubtful in one.doubtful),
    )


def namesakes(claim: str, found: Iterable[FoundVm]) -> Namesakes:
    """Sort what was found under one name. What is on disks without a VM, nobody knows: they are no VM of it."""
    listed = tuple(found)
    disks = [one for one in listed if one.disks and refusal(one, claim) is None]
    vms = [one for one in listed if one not in disks]
    sorted_out = _namesakes(claim, vms) if vms else Namesakes()
    left = tuple(_without_vm(one) for one in sorted(disks, key=lambda one: natural(one.host)))
    is_free = sorted_out.member is None and sorted_out.taken is None
    return replace(
        sorted_out,
        doubtful=(*sorted_out.doubtful, *left),
        taken=left[0].failure if left and is_free else sorted_out.taken,
    )


def _namesakes(claim: str, found: Iterable[FoundVm]) -> Namesakes:
    # The machine of MAAS first: there a hostname exists once. What has been in use before what never was.
    ordered = sorted(found, key=lambda one: (not one.known, one.half_made, natural(one.host)))
    refusals = [(one, refusal(one, claim)) for one in ordered]
    own = [one for one, why in refusals if why is None]
    others = [(one, why) for one, why in refusals if why is not None]
    if others and (others[0][0].known or not own):
        (first, taken), (halves, rest) = others[0], _halves(own)
        return Namesakes(None, halves, tuple(_beside(one, first) for one in rest), taken)
    first, *more = own
    halves, rest = _halves(more)
    if rest and not first.known:
        doubtful = tuple(_nowhere_known(one, [first, *rest]) for one in (first, *rest))
        return Namesakes(None, halves, doubtful, doubtful[0].failure)
    strangers = [replace(_beside(one, first), is_own=False) for one, _why in others if one.host != first.host]
    return Namesakes(first, halves, (*_in_doubt(first), *(_beside(one, first) for one in rest), *strangers))


def _halves(several: Iterable[FoundVm]) -> tuple[tuple[FoundVm, ...], tuple[FoundVm, ...]]:
    """Those that prove to be half made, and the others."""
    listed = tuple(several)
    return tuple(one for one in listed if one.half_made), tuple(one for one in listed if not one.half_made)


def _in_doubt(machine: FoundVm) -> tuple[Doubtful, ...]:
    return (Doubtful(machine.name, machine.host, f"{machine.doubt}. Neither is touched."),) if machine.doubt else ()


def _beside(found: FoundVm, first: FoundVm) -> Doubtful:
    """A VM on a host, beside the one that has the name."""
    place = f" as well as on {first.host}" if first.host else ""
    meant = f"MAAS's machine is the VM on {first.host}" if first.host else f"MAAS's machine {first.name} is another one"
    if not first.known:
        meant = f"the VM on {first.host} is the one of this task"
    text = f"{found.name} is on {found.host}{place}: {meant}. The VM on {found.host} is left alone."
    return Doubtful(found.name, found.host, text)


def _nowhere_known(found: FoundVm, several: Sequence[FoundVm]) -> Doubtful:
    places = " and on ".join(sorted(one.host for one in several))
    text = f"{found.name} is on {places}, and MAAS does not know either. Both are left alone."
    return Doubtful(found.name, found.host, text)


def _without_vm(found: FoundVm) -> Doubtful:
    """Disks of a VM that somebody removed."""
    are, left = ("are disks", "They are") if len(found.disks) > 1 else ("is a disk", "It is")
    text = f"{' and '.join(found.disks)} on {found.host} {are} of {found.name}, whose VM is gone. {left} left alone."
    hint = "If nobody needs what is on it, remove it in its LXD; or rename it there. Then run the task again."
    return Doubtful(found.name, found.host, text, hint=hint)


def _in_use(found: FoundVm) -> Doubtful:
    """A VM that MAAS does not know, although it has been started: nobody knows what is on its disks."""
    text = f"{found.name} on {found.host} has been in use, and MAAS does not know it. It is left alone."
    return Doubtful(found.name, found.host, text)


def refusal(found: FoundVm, claim: str) -> Failure | None:
    """Why somebody else has a name; None if the set has it."""
    name = found.name
    if not found.virtual:
        return Failure("conflict", f"{name} is the hostname of a machine that is no VM.", name, hint="Rename it.")
    if found.claim == claim:
        return None
    if found.claim:
        return Failure("claimed", f"{name} is held by claim {found.claim}.", name, hint="Choose another claim.")
    if found.made_for not in ("", claim):
        sentence = f"{name} on {found.host} was made for {found.made_for}, and not for the claim {claim}."
        return Failure("claimed", sentence, name, hint="Choose another claim, or remove that VM first.")
    if found.owner and not found.cluster:
        hint = "Choose another claim, or release it first."
        return Failure("claimed", f"{name} is held by user {found.owner}, under no claim.", name, hint=hint)
    if not found.known:
        sentence = f"{name} on {found.host} is a VM that MAAS does not know and that says nothing of a claim."
        return Failure("conflict", sentence, name, hint="Remove or rename it there, or choose another claim.")
    return None


# -- what is to be -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class VmCountSpec:
    """What a task asks for."""

    claim: str
    count: int
    size: Size
    rules: Rules
    # By interface of the template: the static addresses that the VMs share out, in their order.
    addresses: Mapping[str, Sequence[str]] = field(default_factory=dict)
    # The hosts that its VMs leave.
    evacuated: frozenset[str] = frozenset()


@dataclass(frozen=True)
class NewVm:
    """A VM to be made, and the cores it is pinned to."""

    name: str
    host: str
    cores: tuple[int, ...] = ()


@dataclass(frozen=True)
class SurplusVm:
    """A VM to be removed, and why."""

    found: FoundVm
    reason: str

    @property
    def step(self) -> Step:
        return Step("delete", self.found.name, self.reason, before={"host": self.found.host})


@dataclass(frozen=True)
class SetPlan:
    """What is to be done. Carried out in part and made anew, it comes to the same."""

    keep: tuple[FoundVm, ...]
    make: tuple[NewVm, ...]
    remove: tuple[SurplusVm, ...]
    # By hostname and interface, of all that are there in the end.
    addresses: Mapping[str, Mapping[str, str]]
    # Removed before anything is made, because they are made again under the same names.
    moved: tuple[SurplusVm, ...] = ()
    # What would be removed if it were not in doubt.
    left: tuple[Doubtful, ...] = ()
    # Why there is no room for all. The VMs without a host are not made.
    shortage: Failure | None = None

    @property
    def gone(self) -> tuple[SurplusVm, ...]:
        """All that is removed, in this order."""
        return (*self.moved, *self.remove)

    def steps(self, size: Mapping[str, Any] | None = None) -> list[Step]:
        """The making and removing of VMs, as diff and check mode show it."""
        return [
            *(one.step for one in self.moved),
            *(
                Step("create", new.name, on_host(new.host), after={**self._shown(new), **(size or {})})
                for new in self.make
            ),
            *(one.step for one in self.remove),
        ]

    def _shown(self, new: NewVm) -> dict[str, Any]:
        pinned = {"pinned_cores": list(new.cores)} if new.cores else {}
        addresses = self.addresses.get(new.name)
        return {"host": new.host or None, **pinned, **({"addresses": dict(addresses)} if addresses else {})}


def plan(
    wish: VmCountSpec, hosts: Sequence[PlacementHost], found: Census, held: Mapping[str, str] | None = None
) -> SetPlan:
    """What brings a set to its number. `held`: by address, the VM that has it, or what else it is."""
    members = {one.name: one for one in found.members.values()}
    hosts = [replace(host, schedulable=False) if host.name in wish.evacuated else host for host in hosts]
    going = _removed(wish, hosts, members)
    remove, left = _certain(going)
    staying = _without(members, going)
    moved = _moved(wish, staying)
    keep = tuple(_without(staying, moved).values())
    make, shortage = _made(wish, hosts, found, keep, moved)
    names = [*(one.name for one in keep), *(new.name for new in make)]
    return SetPlan(
        keep,
        make,
        (*remove, *(SurplusVm(double, f"there is another {double.name}") for double in found.doubles)),
        _addresses(wish, names, held or {}),
        moved,
        tuple(dict.fromkeys((*left, *(one for one in found.doubtful if one.is_own)))) if wish.count == 0 else left,
        shortage,
    )


def on_host(name: str) -> str:
    """Where a VM is to be made, as the reason of a step."""
    return f"on {name}" if name else "on a host that is not known yet"


def _certain(going: Iterable[SurplusVm]) -> tuple[tuple[SurplusVm, ...], tuple[Doubtful, ...]]:
    """Those that are known well enough to be removed, and what is said of the others."""
    doubts = [(leaving, certain(leaving.found)[1]) for leaving in going]
    return tuple(one for one, doubt in doubts if not doubt), tuple(doubt for _one, doubt in doubts if doubt)


def certain(found: FoundVm | None) -> tuple[FoundVm | None, Doubtful | None]:
    """A VM that is to be removed, or what is said if nobody knows whose it is."""
    if found is None:
        return None, None
    if found.doubt:
        return None, _in_doubt(found)[0]
    return (found, None) if found.known or found.half_made else (None, _in_use(found))


def _without(members: Mapping[str, FoundVm], several: Sequence[SurplusVm]) -> dict[str, FoundVm]:
    names = {leaving.found.name for leaving in several}
    return {name: one for name, one in members.items() if name not in names}


def _moved(wish: VmCountSpec, members: Mapping[str, FoundVm]) -> tuple[SurplusVm, ...]:
    going = [one for one in members.values() if one.host in wish.evacuated]
    for one in going:
        _refuse_hosted(one)
        _certain_one, doubt = certain(one)
        if doubt:
            raise doubt.failure
    return tuple(SurplusVm(one, f"{one.host} is evacuated") for one in going)


def _made(
    wish: VmCountSpec,
    hosts: Sequence[PlacementHost],
    found: Census,
    keep: Sequence[FoundVm],
    moved: Sequence[SurplusVm],
) -> tuple[tuple[NewVm, ...], Failure | None]:
    """The VMs to be made; those that have no room, without a host."""
    missing = max(0, wish.count - len(keep))
    names = {leaving.found.name for leaving in moved}
    again = [number for number, one in found.members.items() if one.name in names]
    free = (number for number in counting_from(1) if number not in found.members)
    numbers = sorted([*again, *(next(free) for _missing in range(missing - len(again)))])
    in_the_way = {hostname(wish.claim, number): found.taken[number] for number in numbers if number in found.taken}
    if in_the_way:
        raise several("VMs", in_the_way, len(in_the_way))
    running = Counter(one.host for one in keep)
    placement = place(missing, wish.size, hosts, wish.rules, running)
    shortage = None
    if placement.missing:
        shortage = placement.failure(f"{placement.missing} of {wish.count} VMs of the claim {wish.claim}")
    places = [*placement.places, *([VmPlace("")] * placement.missing)]
    made = zip(numbers, places, strict=True)
    return tuple(NewVm(hostname(wish.claim, number), place.host, place.cores) for number, place in made), shortage


def _refuse_hosted(found: FoundVm) -> None:
    if found.cluster:
        raise Failure(
            "claimed",
            f"{found.name} cannot be removed: {found.cluster} uses it.",
            object=found.name,
            hint="Scale its node pool down with node_pool first: a set never takes what a hosted cluster uses.",
        )


def _removed(
    wish: VmCountSpec, hosts: Sequence[PlacementHost], members: Mapping[str, FoundVm]
) -> tuple[SurplusVm, ...]:
    number = len(members) - wish.count
    # A machine without a VM before one that somebody may use.
    lost = leaving((one.vm for one in members.values() if one.lost), number, hosts)
    live = leaving((one.vm for one in members.values() if not one.lost), number - len(lost), hosts)
    closed = {host.name for host in hosts if not host.schedulable}
    for vm in (*lost, *live):
        _refuse_hosted(members[vm.name])
    last = f"one of the last: {wish.count} of {len(members)} stay"
    return (
        *(SurplusVm(members[vm.name], f"its VM on {vm.host} is gone") for vm in lost),
        *(SurplusVm(members[vm.name], f"{vm.host} is unschedulable" if vm.host in closed else last) for vm in live),
    )


def _addresses(wish: VmCountSpec, names: Sequence[str], held: Mapping[str, str]) -> dict[str, dict[str, str]]:
    numbers = {name: number for name in names if (number := number_of(wish.claim, name))}
    found: dict[str, dict[str, str]] = {}
    listed = Counter(address for addresses in wish.addresses.values() for address in set(addresses))
    twice = [address for address, lists in listed.items() if lists > 1]
    if twice:
        raise invalid(f"{min(twice)} is listed for several interfaces.", "Give every interface addresses of its own.")
    for interface, addresses in wish.addresses.items():
        for name, address in assigned(numbers, addresses, held).items():
            found.setdefault(name, {})[interface] = address
    return found
