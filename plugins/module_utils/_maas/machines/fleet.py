# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many machines on their way to what is wished of them: driven in parallel, watched together.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.clock import in_words
from ansible_collections.metalshift.maas.plugins.module_utils._core.parallel import each
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import PASSING, Failure, by_reason
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.names import few
from ansible_collections.metalshift.maas.plugins.module_utils._core.wait import Patience
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.holders import holder
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import (
    IDS_PER_REQUEST,
    Machines,
    address,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure import lifecycle
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.changes import (
    MachineChange,
    annotation_change,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.spec import (
    Answer,
    LifecycleDone,
    LifecycleFailure,
    LifecycleStep,
    MachineOp,
    MachineSpec,
    Move,
    Situation,
    State,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import HELD, Status
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.requests import Requests

Adjust = Callable[[Machine, Answer], Sequence[MachineChange]]
# Looks at a machine before and after a request, and raises what speaks against going on.
Review = Callable[[LifecycleStep, Machine, Machine], None]

# The status that fulfils a state, where one does.
FULFILLED_BY: Mapping[State, Status | None] = {
    State.READY: Status.READY,
    State.ALLOCATED: Status.ALLOCATED,
    State.DEPLOYED: Status.DEPLOYED,
    State.RESCUE: Status.RESCUE_MODE,
    State.BROKEN: Status.BROKEN,
}

# Refused because the machine is not in the status that it was last seen in: worth a look.
MAY_HAVE_MOVED_ON = frozenset({"conflict", "rejected", "forbidden", "not_found"})


def _nothing(_machine: Machine, _answer: Answer) -> Sequence[MachineChange]:
    return ()


def _no_objection(_step: LifecycleStep, _before: Machine, _after: Machine) -> None:
    return


def _nobody(_member: FleetMember) -> Iterable[FleetMember]:
    return ()


@dataclass(frozen=True)
class MachineTarget:
    """What one machine is to become, and what the requests on the way carry."""

    wish: MachineSpec
    forms: Mapping[MachineOp, Mapping[str, Any]] = field(default_factory=dict)
    claim: str = ""
    # What has to be changed of a machine before the next move; asked again whenever something is known anew.
    adjust: Adjust = _nothing
    can_enlist: bool = False
    review: Review = _no_objection

    def form(self, step: LifecycleStep) -> dict[str, Any]:
        claimed = {"agent_name": self.claim} if self.claim and step.op in (MachineOp.ALLOCATE, MachineOp.DEPLOY) else {}
        return {**claimed, **self.forms.get(step.op, {}), **step.params}


@dataclass(eq=False)
class FleetMember:
    """One machine of a fleet, and how far it has come."""

    name: str
    goal: MachineTarget
    machine: Machine | None = None
    # How a place gets its machine, if it has none yet: returns its JSON.
    obtain: Callable[[], Machine] | None = None
    # Not one of those that the task is about: cleaned up, or replaced by another.
    aside: bool = False
    changed: bool = False
    done: bool = False
    failure: Failure | None = None
    under_way: Move | None = None
    situation: Situation | None = None
    since: float = 0.0
    sent: list[MachineChange] = field(default_factory=list)
    looked_again: int = 0

    @property
    def open(self) -> bool:
        """Whether the next move is ours."""
        return not self.done and self.failure is None and self.under_way is None

    @property
    def now(self) -> Situation:
        return self.situation or Situation(self.name, None, can_enlist=self.goal.can_enlist)

    @property
    def history(self) -> tuple[LifecycleStep, ...]:
        return self.now.history

    @property
    def system_id(self) -> str:
        return str(self.machine["system_id"]) if self.machine else ""

    @property
    def status(self) -> str:
        """In a word, for counting."""
        if self.failure:
            return "failed"
        return (
            "absent"
            if self.machine is None
            else str(self.machine.get("status_name") or "unknown").lower().replace(" ", "_")
        )


class Fleet:
    """Drives machines to their goals: requests of independent machines at once, one listing a tick for all."""

    def __init__(
        self,
        maas: Client,
        machines: Machines,
        patience: Patience,
        *,
        wait: bool = True,
        instead: Callable[[FleetMember], Iterable[FleetMember]] = _nobody,
        on_tick: Callable[[], None] = lambda: None,
    ) -> None:
        self._machines = machines
        self._requests = Requests(maas, machines)
        self._at_once = maas.most_at_once
        self._patience = patience
        self._wait = wait
        self._instead = instead
        self._on_tick = on_tick
        self._members: list[FleetMember] = []
        self._told = ""
        self._trouble = ""
        # Why machines failed whose failure nothing has been said of yet.
        self._fallen: dict[str, str] = {}

    def add(self, member: FleetMember) -> None:
        """Drive one more machine. For the main thread, at any time."""
        member.since = self._patience.clock.now()
        self._members.append(member)

    def drive(self, members: Iterable[FleetMember]) -> list[FleetMember]:
        """Bring every machine to its goal, or to its failure. Returns them all, those added on the way last."""
        for member in members:
            self.add(member)
        while self._act():
            waiting = self._under_way
            if not waiting or not self._wait:
                break
            if self._watch() is None:
                self._give_up()
        return self._members

    # -- acting -----------------------------------------------------------------------------------------

    @property
    def _under_way(self) -> list[FleetMember]:
        return [member for member in self._members if member.under_way and not member.failure]

    def _act(self) -> bool:
        """Send all that can be sent now; False if nothing could be, and nothing is left to watch."""
        while True:
            ready = [member for member in self._members if member.open]
            if not ready:
                break
            # Read once, here: several threads would each ask for it.
            _me = self._machines.me
            for member, outcome in each(ready, self._advance, self._at_once):
                if isinstance(outcome, Failure):
                    self._fail(member, outcome)
                self._on_tick()
        self._tell()
        return bool(self._under_way)

    def _fail(self, member: FleetMember, failure: Failure) -> None:
        member.failure, member.under_way = failure, None
        instead = list(self._instead(member))
        if not instead and len(self._members) > 1:
            self._fallen[member.name] = failure.message
        for other in instead:
            self.add(other)

    def _advance(self, member: FleetMember) -> None:
        """Send one machine's requests until it is under way or at its end. Runs in a thread."""
        try:
            self._begin(member)
            while not self._moved(member):
                pass
        except Failure as failure:
            raise self._explained(member, failure) from failure

    def _begin(self, member: FleetMember) -> None:
        if member.machine is None and member.obtain is not None:
            obtain, member.obtain = member.obtain, None
            machine = obtain()
            member.name = address(machine)
            self._learn(member, machine)
            member.changed = True
        elif member.situation is None:
            self._learn(member, member.machine)

    def _moved(self, member: FleetMember) -> bool:
        """One move. True when there is no more to send for now."""
        answer = lifecycle.next_step(member.now, member.goal.wish)
        if isinstance(answer, LifecycleFailure):
            raise answer.failure(member.name)
        if self._adjusted(member, answer):
            return False
        if isinstance(answer, LifecycleDone):
            member.done = True
            return True
        if isinstance(answer, LifecycleStep) and not self._send_step(member, answer):
            return False
        pending = answer.pending(member.now)
        member.under_way = answer if pending else None
        return pending

    def _adjusted(self, member: FleetMember, answer: Answer) -> bool:
        """Send what the machine needs before the next move; each change once, for MAAS may see a value differently."""
        if member.machine is None:
            return False
        due = [change for change in member.goal.adjust(member.machine, answer) if change not in member.sent]
        for change in due:
            member.sent.append(change)
            self._learn(member, self._requests.change(member.machine, change, member.name))
            member.changed = True
        return bool(due)

    def _send_step(self, member: FleetMember, step: LifecycleStep) -> bool:
        """Send the request of a step. False if the machine turned out not to be where it was thought to be."""
        before, known = member.now, member.machine
        try:
            machine = self._requests.send(step, member.machine, member.goal.form(step), member.goal.claim, member.name)
        except Failure as failure:
            if step.op in (MachineOp.ALLOCATE, MachineOp.ENLIST) or failure.kind not in MAY_HAVE_MOVED_ON:
                raise
            return self._followed(member, step, failure)
        member.changed = True
        self._learn(member, machine)
        self._remember(member, before, step)
        if known is not None and machine is not None:
            member.goal.review(step, known, machine)
        return True

    def _followed(self, member: FleetMember, step: LifecycleStep, failure: Failure) -> bool:
        """After a refusal: raise it, unless the machine has moved on meanwhile, by itself or by somebody else."""
        before = member.now
        member.looked_again += 1
        self._learn(member, self._machines.get(member.system_id))
        now = member.now
        if member.looked_again > 2 or (now.status, now.locked, now.power) == (
            before.status,
            before.locked,
            before.power,
        ):
            raise failure
        if self._requests.took_effect(step, now):
            self._remember(member, before, step)
        return False

    def _learn(self, member: FleetMember, machine: Machine | None) -> None:
        """What MAAS says of a machine now; None when it does not know it any more."""
        before = member.situation
        if machine is None:
            now = before.vanished() if before else Situation(member.name, None, can_enlist=member.goal.can_enlist)
        else:
            claim = holder(machine, member.goal.claim)
            now = Situation.of(machine, self._machines.me, claim=claim, history=before.history if before else ())
            if before is not None and now.previous is None and before.previous is not None:
                now = replace(now, previous=before.previous)
        if before is None or before.status is not now.status:
            member.since = self._patience.clock.now()
        member.machine, member.situation = machine, now

    def _remember(self, member: FleetMember, before: Situation, step: LifecycleStep) -> None:
        member.situation = before.after(step, member.now)

    def _explained(self, member: FleetMember, failure: Failure) -> Failure:
        """A failure with what MAAS knows of its cause."""
        failure = failure.about(member.name)
        is_asked = failure.kind in ("failed_state", "timeout") and member.machine and not failure.events
        # A MAAS that does not answer is not asked why.
        if is_asked and not self._trouble:
            failed = self._machines.failed_scripts(member.system_id)
            return replace(failure, events=[*self._machines.last_events(member.system_id), *failed])
        return failure

    # -- watching -----------------------------------------------------------------------------------------

    def _watch(self) -> list[FleetMember] | None:
        """Look at all that are under way until the next move of one of them is ours; None when the time is up."""
        fresh = True

        def look() -> list[FleetMember]:
            nonlocal fresh
            # The answers to our own requests have just told how things are.
            if not fresh:
                self._look(self._under_way)
                self._on_tick()
            fresh = False
            return self._members

        def ours(members: list[FleetMember]) -> bool:
            return any(member.open for member in members)

        return self._patience.until(look, ours, lambda _members: self._line())

    def _look(self, waiting: Sequence[FleetMember]) -> None:
        """One listing for all, and what it means for each."""
        try:
            found = self._listing(waiting)
            self._trouble = ""
        except Failure as failure:
            if failure.kind in PASSING:
                self._trouble = failure.reason or failure.message
                return
            for member in waiting:
                self._fail(member, replace(failure, object=member.name))
            return
        for member in waiting:
            try:
                # A machine that others took is missing for a plain user, too: MAAS says which it is when asked for it.
                self._learn(member, found.get(member.system_id) or self._machines.get(member.system_id))
            except Failure as failure:
                if failure.kind not in PASSING:
                    self._fail(member, self._explained(member, failure))
                continue
            if member.under_way and not member.under_way.pending(member.now):
                member.under_way = None

    def _listing(self, waiting: Sequence[FleetMember]) -> dict[str, Machine]:
        claims = {member.goal.claim if _keeps_claim(member) else "" for member in waiting}
        claim = claims.pop() if len(claims) == 1 else ""
        if claim and len(waiting) > IDS_PER_REQUEST:
            return self._machines.of_claim(claim)
        return self._machines.read(member.system_id for member in waiting)

    def _give_up(self) -> None:
        """The time is up: say of each machine what it was doing."""
        waiting = self._under_way
        late = {id(member): self._late(member) for member in waiting}
        for member, failure in each(waiting, lambda member: self._explained(member, late[id(member)])):
            member.failure, member.under_way = failure, None

    def _late(self, member: FleetMember) -> Failure:
        status = member.now.status
        said = str((member.machine or {}).get("status_message") or "")
        label = status.label if status is not None else "unknown"
        spent = in_words(self._patience.clock.now() - member.since)
        power = member.under_way.power if isinstance(member.under_way, LifecycleStep) else None
        doing = f"{label} for {spent}" if power is None else f"{label} and not yet powered {power.value} after {spent}"
        doing = f"it has been {doing}" + (f" ({said})" if said and said != label else "")
        if self._trouble:
            doing = f"MAAS does not answer ({self._trouble}); it was last seen {label}"
        return Failure(
            "timeout",
            f"{member.name} is not {_wished(member)} after {in_words(self._patience.timeout)}: {doing}.",
            object=member.name,
            reason=f"{label} for {spent}",
            hint="Run the task again to continue waiting, with a longer wait_timeout if that is normal for this "
            "hardware.",
        )

    # -- telling ------------------------------------------------------------------------------------------

    def _tell(self) -> None:
        """Say which machines have failed, and how it stands once something has been waited for."""
        for names, why in by_reason(self._fallen):
            self._patience.say(f"failed: {f'{few(names)}: ' if len(names) > 1 else ''}{why}")
        self._fallen.clear()
        line = self._line() if self._told else ""
        if line:
            self._patience.say(f"{line}, {in_words(self._patience.waited)}")

    def _line(self) -> str:
        """How it stands, if that is news: `3/10 deployed, 7 deploying`."""
        counted = [member for member in self._members if not member.aside]
        if any(member.open and not _has_reached(member, _goal_word(counted)) for member in counted):
            # It is about to go on from there: that is the news.
            return ""
        line = tally(counted) + (f", MAAS does not answer: {self._trouble}" if self._trouble else "")
        if line == self._told:
            return ""
        self._told = line
        return line


def tally(members: Iterable[FleetMember]) -> str:
    """How many have come how far."""
    counted = [member for member in members if not member.aside]
    word = _goal_word(counted)
    reached = sum(_has_reached(member, word) for member in counted)
    rest = Counter(_doing(member) for member in counted if not _has_reached(member, word))
    return ", ".join([f"{reached}/{len(counted)} {word}", *(f"{count} {status}" for status, count in rest.items())])


def summary(members: Iterable[FleetMember]) -> dict[str, int]:
    """How many are in which status, failed ones apart."""
    return dict(sorted(Counter(member.status for member in members if not member.aside).items()))


def annotating(annotations: Mapping[str, str]) -> Adjust:
    """Annotations for machines that are, or have just become, this user's own."""

    def adjust(machine: Machine, answer: Answer) -> Sequence[MachineChange]:
        leaving = isinstance(answer, LifecycleStep) and answer.op in (
            MachineOp.RELEASE,
            MachineOp.DELETE,
            MachineOp.ALLOCATE,
            MachineOp.UNLOCK,
        )
        present = machine.get("workload_annotations") or {}
        differing = {key: value for key, value in annotations.items() if str(present.get(key) or "") != value}
        # Who commissions or tests a free machine owns it until that ends: what were written then would outlast it.
        held = bool(machine.get("owner")) and machine["status"] in HELD
        if leaving or not held or not differing:
            return ()
        before = {key: present.get(key) for key in differing}
        return [annotation_change(differing, before)]

    return adjust


def _goal_word(members: Sequence[FleetMember]) -> str:
    goals = {FULFILLED_BY.get(member.goal.wish.state) for member in members}
    status = goals.pop() if len(goals) == 1 else None
    return status.word.replace("_", " ") if status is not None else "done"


def _doing(member: FleetMember) -> str:
    move = member.under_way
    if isinstance(move, LifecycleStep) and move.power is not None and not member.failure:
        return f"being powered {move.power.value}"
    return member.status.replace("_", " ")


def _has_reached(member: FleetMember, word: str) -> bool:
    return not member.failure and (member.done or (not member.under_way and member.status.replace("_", " ") == word))


def _wished(member: FleetMember) -> str:
    wish = member.goal.wish
    if member.under_way and isinstance(member.under_way, LifecycleStep) and member.under_way.act:
        return f"through with act: {member.under_way.act.value}"
    status = FULFILLED_BY.get(wish.state)
    if status is not None:
        return status.label
    return "absent" if wish.state is State.ABSENT else "as wished"


def _keeps_claim(member: FleetMember) -> bool:
    return isinstance(member.under_way, LifecycleStep) and member.under_way.op is MachineOp.DEPLOY
