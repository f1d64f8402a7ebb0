# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machines of one claim: found again, brought to their number, and given back.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.parallel import each
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import PASSING, Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.wait import Patience
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.holders import claim_of, marked
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.membership import (
    NAMELESS,
    TURN,
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
    gathering,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.spreading import ZoneSpread
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.supply import Supply
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines, address
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import Status, StatusKind

# Rounds of allocating that brought nothing but lost answers or errors of MAAS.
ATTEMPTS = 5
# What a machine that another run has just given back, or that somebody released, is refused with.
GONE_MEANWHILE = frozenset({"conflict", "not_found", "forbidden"})


class Claimed:
    """What MAAS holds under a claim, for the user of this key."""

    def __init__(self, maas: Client, machines: Machines, patience: Patience, claim: str) -> None:
        self.claim = claim
        self.seen: dict[str, Machine] = {}
        self.changed = False
        self._news = False
        self._refused: set[str] = set()
        self._maas = maas
        self._machines = machines
        self._patience = patience

    def look(self) -> dict[str, Machine]:
        """The machines that are allocated under the claim now, in one request."""
        self.seen = self._machines.of_claim(self.claim)
        self._news = True
        for machine in self.seen.values():
            self._check(machine)
        return self.seen

    def left_over(self) -> dict[str, Machine]:
        """The machines that only their annotation shows: being released, stuck in that, or marked as broken."""
        nameless = self._machines.listed(owner=self._machines.me, status=[status.filter for status in NAMELESS])
        found = {machine["system_id"]: machine for machine in nameless if claim_of(machine) == self.claim}
        return {system_id: machine for system_id, machine in found.items() if system_id not in self.seen}

    def _check(self, machine: Machine) -> None:
        """Whether the machine is this user's, and of no other claim."""
        name, owner, other = address(machine), machine.get("owner"), claim_of(machine)
        if owner and owner != self._machines.me:
            raise Failure(
                "claimed",
                f"The claim {self.claim} is another user's: {owner} holds {name} under it.",
                object=name,
                hint="Choose another claim, or use that user's key.",
            )
        if other and other != self.claim:
            raise Failure(
                "claimed",
                f"{name} was allocated under the claim {self.claim}, but its annotation says {other}.",
                object=name,
                hint="Correct its annotation metalshift_claim, or release it by name.",
            )

    # -- bringing them to their number ------------------------------------------------------------------

    def gather(
        self, count: int, memory: RunRecord, supply: Supply, spread: ZoneSpread, tell: Callable[[str], None]
    ) -> Gathered:
        """Allocate what is missing and give back what was taken too much. `tell` is told why it has to wait."""
        asks = gathering(count, memory, spread)
        answer: Any = None
        fruitless = 0
        while True:
            try:
                ask = asks.send(answer)
            except StopIteration as end:
                gathered: Gathered = end.value
                return gathered
            if isinstance(ask, Allocate):
                got = supply.take(ask.number, ask.serving)
                memory.lost += supply.lost
                self.changed |= bool(got)
                if supply.trouble is None:
                    # Without an end, somebody who takes every machine away would keep this run for ever.
                    memory.may_allocate = len(got) == ask.number and self._patience.left > 0
                else:
                    fruitless = 0 if got else fruitless + 1
                    self._bear(supply.trouble, fruitless)
                answer = [machine["system_id"] for machine in got]
            elif isinstance(ask, AskWhy):
                self._ask_why(ask.system_ids, memory)
                answer = None
            else:
                answer = self._answer(ask, tell)

    def _bear(self, trouble: Failure, fruitless: int) -> None:
        """Go on after an error that may pass; what it has taken effect on will show in the claim."""
        if fruitless >= ATTEMPTS or self._patience.left <= 0:
            raise Failure(
                trouble.kind,
                f"The machines of the claim {self.claim} cannot be got: {trouble.reason or trouble.message}",
                object=self.claim,
                reason=trouble.reason,
                hint="Run the task again when MAAS is well: it finds what it has allocated.",
                status=trouble.status,
            )
        self._patience.clock.sleep(min(self._patience.tick, self._patience.left))

    def _looked(self) -> list[Seat]:
        """What is there, also if MAAS has to recover first."""
        fruitless = 0
        # What the task has looked at before it decided to gather needs no second look.
        while not self._news:
            try:
                self.look()
            except Failure as failure:
                if failure.kind not in PASSING:
                    raise
                fruitless += 1
                self._bear(failure, fruitless)
        self._news = False
        return [Seat.of(machine) for machine in self.seen.values()]

    def _answer(self, ask: MembershipRequest, tell: Callable[[str], None]) -> Any:
        if isinstance(ask, Look):
            return self._looked()
        if isinstance(ask, Announce):
            return self._all(ask.system_ids, lambda system_id: self._announce(system_id, ask.turn))
        if isinstance(ask, GiveBack):
            return self._all(ask.system_ids, self._give_back)
        return self._rest(ask.reason, tell) if isinstance(ask, Rest) else None

    def _rest(self, reason: str, tell: Callable[[str], None]) -> None:
        if self._patience.left <= 0:
            raise Failure(
                "timeout",
                f"The claim {self.claim} does not come to rest within the time allowed: {reason}.",
                object=self.claim,
                reason=reason,
                hint="Run the task again, and not several times at once.",
            )
        tell(f"claim {self.claim}: {reason}")
        self._patience.clock.sleep(min(self._patience.tick, self._patience.left))

    def _all(self, system_ids: Iterable[str], act: Callable[[str], Mapping[str, Any]]) -> None:
        for system_id, outcome in each(system_ids, act, self._maas.most_at_once):
            if not isinstance(outcome, Failure):
                self.changed = True
            elif outcome.kind not in GONE_MEANWHILE or system_id in self._refused:
                raise outcome
            else:
                # Another run may have given it back. If it is asked for again, it is still there.
                self._refused.add(system_id)

    def _ask_why(self, system_ids: Iterable[str], memory: RunRecord) -> None:
        """Machines that broke or were removed may be replaced. Those that somebody gave back may not."""
        for system_id in system_ids:
            machine = self._machines.get(system_id)
            if machine is not None and Status(machine["status"]).kind is not StatusKind.FAILED:
                idle = {seat.system_id for seat in map(Seat.of, self.seen.values()) if seat.idle}
                self._all(memory.mine & idle, self._give_back)
                raise self._given_back_meanwhile(address(machine))

    def _given_back_meanwhile(self, name: str) -> Failure:
        reason = f"somebody released {name} while this run was taking machines for it"
        return Failure(
            "conflict",
            f"The claim {self.claim} cannot be brought to its number: {reason}.",
            object=name,
            reason=reason,
            hint="What this run had taken was given back. Run the task again if the machines are still wanted.",
        )

    def _announce(self, system_id: str, turn: int) -> Machine:
        return self._machines.annotate(system_id, {**marked(self.claim), TURN: str(turn)})

    def _give_back(self, system_id: str) -> Machine:
        """Release a machine of which nobody has made use since it was looked at: this run may have slept."""
        now = self._machines.get(system_id)
        if now is None or Seat.of(now) != Seat.of(self.seen[system_id]):
            raise Failure("conflict", f"{system_id} is not as this run has seen it.", object=system_id)

        def released() -> Machine | None:
            """What a lost answer may have done: the claim shows it. Never a second release of what is not ours."""
            mine = self._machines.of_claim(self.claim)
            return None if system_id in mine else {}

        comment = {"comment": f"More than the claim {self.claim} needs"}
        answer: Machine = self._maas.post(f"machines/{system_id}/", comment, op="release", settled=released)
        return answer


class OneAtATime:
    """Gathering in the threads of a fleet: one after the other, and silent, for only the main thread may display."""

    def __init__(self, claimed: Claimed, gather: Callable[[], Gathered], placed: Iterable[str]) -> None:
        self._claimed = claimed
        self._gather = gather
        self._placed = set(placed)
        self._lock = threading.Lock()

    def another(self) -> Machine | None:
        """A machine of the claim that nobody drives yet, allocated if need be; None when there are no more."""
        with self._lock:
            for seat in self._gather().stay:
                if seat.system_id not in self._placed:
                    self._placed.add(seat.system_id)
                    return self._claimed.seen[seat.system_id]
            return None
