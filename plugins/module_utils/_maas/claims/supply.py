# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines for a claim: asked of MAAS one by one, in the zone that has the fewest, several at once.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.parallel import each
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import PASSING, Failure
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.constraints import (
    Constraints,
    shortfall,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.spreading import ZoneSpread, shares
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import Status
from ansible_collections.metalshift.maas.plugins.module_utils._maas.named.tags import refuse_unknown

# An answer that was lost, or a MAAS that is not well: whether something was allocated, the claim will show.
BEARABLE = PASSING | {"uncertain"}
# Of these the answers were lost, or came after a commit.
IN_DOUBT = frozenset({"uncertain", "unavailable"})
ROLLED_BACK = frozenset({409, 429})
# To `allocate` a parameter is called so, to the listing otherwise.
FILTERS: Mapping[str, str] = {"name": "hostname", "system_id": "id"}


@dataclass(frozen=True)
class SupplyPlace:
    """Where to take a machine from. No zone: MAAS chooses; a system_id: this one or none."""

    zone: str = ""
    system_id: str = ""


@dataclass
class Places:
    """Places in the order in which they are to be filled. Used by several threads at once."""

    spread: ZoneSpread
    zones: Sequence[str]
    # By zone: what there may be. Endless, until MAAS says that there is nothing more.
    stock: dict[str, float]
    have: Counter[str]
    # By zone: the machines to be had, if they have to be named.
    named: Mapping[str, list[str]] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self) -> SupplyPlace | None:
        """The next place, as if it had been filled; None when there is none."""
        with self._lock:
            endless = len(self.have) + sum(self.have.values()) + 1
            free = {zone: int(min(number, endless)) for zone, number in self.stock.items()}
            add = shares(sum(self.have.values()) + 1, self.have, free, self.zones, self.spread).add
            if not add:
                return None
            zone = next(iter(add))
            self.have[zone] += 1
            self.stock[zone] -= 1
            return SupplyPlace(zone, self.named[zone].pop(0) if self.named is not None else "")

    def failed(self, place: SupplyPlace) -> None:
        """There is no machine for it."""
        with self._lock:
            self.have[place.zone] -= 1
            if not place.system_id:
                self.stock[place.zone] = 0


class Supply:
    """What MAAS has to offer for a claim."""

    def __init__(
        self,
        maas: Client,
        machines: Machines,
        constraints: Constraints,
        spread: ZoneSpread,
        claim: str,
        form: Mapping[str, Any],
    ) -> None:
        self._maas = maas
        self._machines = machines
        self._constraints = constraints
        self._spread = spread
        self._form = {**form, "agent_name": claim}
        # The last failure that says nothing about whether machines are to be had, and how many may have taken one.
        self.trouble: Failure | None = None
        self.lost = 0

    def take(self, number: int, have: Mapping[str, int]) -> list[Machine]:
        """Allocate up to that many machines beside what each zone has. Fewer: there are no more, or `trouble`."""
        places = self._places(have)
        got: list[Machine] = []
        self.trouble, self.lost = None, 0
        at_once = self._maas.most_at_once if places.named is not None else 1
        for _number, outcome in each(range(number), lambda _number: self._allocate_one(places), at_once):
            if isinstance(outcome, Failure):
                if outcome.kind not in BEARABLE:
                    raise outcome
                self.trouble = outcome
                self.lost += outcome.kind in IN_DOUBT and outcome.status not in ROLLED_BACK
            elif outcome is not None:
                got.append(outcome)
        return got

    def _allocate_one(self, places: Places) -> Machine | None:
        """One machine; None when no place is left to take it from."""
        while (place := places.next()) is not None:
            wanted = self._constraints.to_allocate(zone=place.zone, system_id=place.system_id)
            try:
                machine: Machine = self._maas.post("machines/", [*wanted, *self._form.items()], op="allocate")
            except Failure as failure:
                if failure.kind == "rejected":
                    raise self._not_taken(failure) from failure
                # Of any other failure nobody knows whether it took a machine: for now the place counts as filled.
                if failure.kind != "conflict":
                    raise
                places.failed(place)
            else:
                return machine
        return None

    def _places(self, have: Mapping[str, int]) -> Places:
        if self._constraints.needs_system_id or self._spread is ZoneSpread.STRICT:
            # To keep zones even or to name machines, what there is has to be known beforehand.
            stock = self.candidates()
            named = {zone: [machine["system_id"] for machine in machines] for zone, machines in stock.items()}
            zones = self._zones if self._spread is ZoneSpread.STRICT else sorted(stock)
            free = {zone: float(len(named.get(zone, ()))) for zone in zones}
            return Places(self._spread, zones, free, Counter(have), named)
        if self._spread is ZoneSpread.NONE:
            return Places(self._spread, [""], {"": float("inf")}, Counter({"": sum(have.values())}))
        return Places(self._spread, self._zones, dict.fromkeys(self._zones, float("inf")), Counter(have))

    @cached_property
    def _zones(self) -> list[str]:
        """The zones in which machines may be."""
        if self._constraints.zones:
            return sorted(self._constraints.zones)
        known = self._maas.get("zones/")
        return sorted(zone["name"] for zone in known if zone["name"] not in self._constraints.not_zones)

    def check(self) -> None:
        """Refuse tags that MAAS does not know: it would take the very machines that were to be left out."""
        try:
            refuse_unknown(self._maas, {"not_tags": self._constraints.not_tags})
        except Failure as failure:
            raise (self._not_taken(failure) if failure.kind == "rejected" else failure) from failure

    def candidates(self) -> dict[str, list[Machine]]:
        """By zone: the Ready machines that fit, in the order in which MAAS would take them."""
        found: dict[str, list[Machine]] = {}
        for machine in sorted(self._ready(list(self._filters())), key=_cost):
            if self._constraints.matches(machine):
                found.setdefault(machine["zone"]["name"], []).append(machine)
        return found

    def _filters(self) -> Iterator[tuple[str, str]]:
        for name, value in self._constraints.to_allocate(system_id="-")[:-1]:
            yield FILTERS.get(name, name), value
        yield from (("hostname", name.split(".")[0]) for name in self._constraints.names)
        yield from (("id", system_id) for system_id in self._constraints.system_ids)

    def _ready(self, filters: Sequence[tuple[str, str]]) -> list[Machine]:
        try:
            found: list[Machine] = self._maas.get("machines/", [("status", Status.READY.filter), *filters])
        except Failure as failure:
            if failure.kind != "rejected":
                raise
            raise self._not_taken(failure) from failure
        return found

    def _not_taken(self, failure: Failure) -> Failure:
        """Constraints that no machine can be looked for with: they name something that MAAS does not have."""
        claim = f"claim {self._form['agent_name']}"
        said = f"MAAS does not take what the {claim} asks for: {failure.reason.rstrip('.')}."
        hint = failure.hint or "Check the spelling, or make it first."
        return replace(failure, message=said, object=claim, hint=hint)

    def predicted(self, number: int, have: Mapping[str, int]) -> list[Machine]:
        """The Ready machines that would be taken, as far as that can be known."""
        self.check()
        candidates = self.candidates()
        if self._spread is ZoneSpread.NONE:
            return sorted((machine for machines in candidates.values() for machine in machines), key=_cost)[:number]
        free = {zone: len(machines) for zone, machines in candidates.items()}
        zones = self._zones if self._spread is ZoneSpread.STRICT else None
        share = shares(number + sum(have.values()), have, free, zones, self._spread)
        return [machine for zone, wanted in share.add.items() for machine in candidates[zone][:wanted]]

    def why_not(self) -> str:
        """Why there are no more machines to be had, zone by zone."""
        zones = [("zone", zone) for zone in self._constraints.zones]
        ready = self._ready(zones)
        lines = shortfall(ready, self._constraints)
        if self._spread is ZoneSpread.STRICT:
            told = {line.partition(":")[0] for line in lines}
            empty = [f"{zone}: 0 ready" for zone in self._zones if zone not in told]
            return "; ".join([*lines, *empty, "spread: strict takes no more from a zone than one above the emptiest"])
        if any(map(self._constraints.matches, ready)):
            lines.append("those that fit were not free when this task asked for them")
        if not lines:
            return f"the {len(ready)} Ready machines are in other zones" if ready else "no machine is Ready"
        return "; ".join(lines)


def _cost(machine: Mapping[str, Any]) -> float:
    """MAAS offers the smallest machine first (node_constraint_filter_forms.py, reorder_nodes_by_cost)."""
    return float((machine.get("cpu_count") or 0) + (machine.get("memory") or 0) / 1024)
