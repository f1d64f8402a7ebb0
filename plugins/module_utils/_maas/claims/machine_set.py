# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bringing a set of machines under one claim to the wished number and state, and giving it back.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.contract import Outcome
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, several
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Step as Shown
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._core.wait import Patience
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.claimed import Claimed, OneAtATime
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.constraints import Constraints
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.holders import (
    HOSTED,
    check_count,
    checked,
    claim_of,
    marked,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.membership import (
    DEAD_AFTER,
    HELD_ONLY,
    Gathered,
    RunRecord,
    Seat,
    in_turn,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.spreading import (
    ZonedMachine as Candidate,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.spreading import ZoneSpread, victims
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.supply import Supply
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.fleet import (
    Fleet,
    FleetMember,
    MachineTarget,
    annotating,
    summary,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.images import uploaded_later
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import (
    Machines,
    address,
    shown,
    told_briefly,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.options import doubt_user_data, user_data
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.prediction import forecast, steps_of
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.changes import (
    MachineChange,
    annotation_change,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.forms import (
    deployed_otherwise,
    erasing,
    forms_from_params,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.spec import (
    Answer,
    LifecycleFailure,
    LifecycleStep,
    MachineOp,
    MachineSpec,
    State,
    recoverable,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import Status, StatusKind
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.surroundings import Surroundings

# What is on its way to the wished state, or there. The others somebody tests or repairs: they are left alone.
DRIVEN = frozenset({Status.ALLOCATED, Status.RESERVED, Status.DEPLOYING, Status.DEPLOYED, Status.FAILED_DEPLOYMENT})

# What another machine takes the place of.
LOST = frozenset({Status.FAILED_DEPLOYMENT, Status.BROKEN})

# The parameters of MAAS for what other modules of this collection make.
MADE_BY_TASKS = frozenset({"zone", "not_in_zone", "pool", "not_in_pool", "tags", "not_tags"})


@dataclass(frozen=True)
class MachineSetSpec:
    """What the options of a task ask for."""

    claim: str
    count: int
    state: str
    constraints: Constraints
    spread: ZoneSpread
    replacements: int
    give_back_when_short: bool
    goal: MachineTarget
    release: MachineTarget
    full: bool

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> MachineSetSpec:
        claim, absent = checked(params["claim"]), params["state"] == "absent"
        count = 0 if absent else params["count"]
        for option in ("count", "max_replacements"):
            check_count(params[option] or 0, option)
        forms = forms_from_params(params, user_data(params))
        marking = annotating(marked(claim))
        state = State.DEPLOYED if params["state"] == "deployed" else State.PRESENT
        release = MachineSpec(state=State.READY, erase=erasing(params), recover=recoverable(params["recover"] or ()))
        return cls(
            claim=claim,
            count=count,
            state=params["state"],
            constraints=Constraints.from_params({**params, "compose": params["allow_compose"]}),
            spread=ZoneSpread(params["spread"]),
            replacements=params["max_replacements"] if params["on_failure"] == "replace" else 0,
            give_back_when_short=params["on_shortage"] == "release",
            goal=MachineTarget(MachineSpec(state=state, held=True), forms, claim, marking),
            release=MachineTarget(release, forms, claim, marking_before_release(claim)),
            full=params["full"],
        )

    def goal_of(self, machine: Machine) -> MachineTarget:
        """Where a member is to be brought; those that somebody tests or repairs are left where they are."""
        if Status(machine["status"]) in DRIVEN:
            return self.goal
        return MachineTarget(MachineSpec(state=State.PRESENT), self.goal.forms, self.claim, self.goal.adjust)


def marking_before_release(claim: str) -> Any:
    """`release` clears agent_name first and annotations last: with its annotation nothing is lost in between."""

    def adjust(machine: Machine, answer: Answer) -> Sequence[MachineChange]:
        if not isinstance(answer, LifecycleStep) or answer.op is not MachineOp.RELEASE or claim_of(machine) == claim:
            return ()
        return [annotation_change(marked(claim))]

    return adjust


@dataclass
class MachineSetState:
    """What is there at the beginning, and what is to be done about it."""

    stay: list[Machine]
    surplus: list[Machine]
    # Failed deployments that other machines are to replace, and those that are one too many anyway.
    given_up: list[Machine]
    left_over: list[Machine]
    missing: int
    # How many of the missing ones replace a failed one.
    replaced: int


def outlook(
    claimed: Mapping[str, Machine], left_over: Mapping[str, Machine], wanted: MachineSetSpec
) -> MachineSetState:
    """Read the state of a claim, before anything is done."""
    memory = RunRecord()
    seats = in_turn((seat for seat in map(Seat.of, claimed.values()) if memory.serves(seat)), wanted.spread)
    failed = [seat for seat in seats if seat.status is Status.FAILED_DEPLOYMENT]
    sound = [seat for seat in seats if seat.status is not Status.FAILED_DEPLOYMENT]
    needed = max(0, wanted.count - len(sound))
    # The failed ones whose place nothing takes keep it; there is no need for those beyond.
    replaced = min(len(failed), needed, wanted.replacements)
    kept = failed[: min(len(failed), needed) - replaced]
    serving = [*sound, *kept]
    going = _going(serving, len(serving) - wanted.count, wanted.spread)
    staying = [seat.system_id for seat in serving if seat.system_id not in going]
    given_up = [seat.system_id for seat in failed if seat not in kept]
    others = [machine for system_id, machine in claimed.items() if not memory.serves(Seat.of(machine))]
    left = [*others, *left_over.values()]
    if wanted.state != "absent":
        # What is being released anyway needs nobody.
        left = [machine for machine in left if Status(machine["status"]).kind is not StatusKind.TRANSITIONAL]
    return MachineSetState(
        stay=[claimed[system_id] for system_id in staying],
        surplus=[claimed[system_id] for system_id in going],
        given_up=[claimed[system_id] for system_id in given_up],
        left_over=left,
        missing=max(0, wanted.count - len(staying)),
        replaced=replaced,
    )


def _going(serving: Iterable[Seat], number: int, spread: ZoneSpread) -> list[str]:
    candidates = [Candidate(seat.system_id, seat.zone, seat.status, seat.hosted) for seat in serving]
    return [victim.system_id for victim in victims(candidates, max(0, number), spread)]


@dataclass(frozen=True)
class MachineSetProgress:
    """What was there at the beginning, and what has become of it."""

    first: MachineSetState
    # In check mode the machines that MAAS would give, and why it gives none; else only trying tells.
    offered: Sequence[Machine] = ()
    doubts: Sequence[str] = ()
    # What was done: machines driven and given back, and how many there were not.
    driven: Sequence[FleetMember] = ()
    leaving: Sequence[FleetMember] = ()
    short: int = 0
    carried_out: Plan | None = None


@dataclass
class MachineSetEngine:
    """The machines of a claim."""

    task: Task
    wanted: MachineSetSpec
    memory: RunRecord = field(default_factory=RunRecord)
    # The machines that are given back because the set needs no more of them.
    surplus: list[str] = field(default_factory=list)
    # Those whose deployment failed and whose place another machine takes, in this order.
    given_up: list[str] = field(default_factory=list)
    replaced: list[dict[str, Any]] = field(default_factory=list)
    replacements: int = 0
    # Under the claim after all was given back.
    taken_again: list[str] = field(default_factory=list)
    # Deployed by this run when somebody had just given them back.
    revived: list[str] = field(default_factory=list)
    # What is to be said of the task itself.
    doubts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.wanted = replace(self.wanted, goal=replace(self.wanted.goal, review=self._review))
        task, wanted = self.task, self.wanted
        self.patience = Patience.of(task)
        self.machines = Machines(task.maas)
        self.claimed = Claimed(task.maas, self.machines, self.patience, wanted.claim)
        form = wanted.goal.forms[MachineOp.ALLOCATE]
        self.supply = Supply(task.maas, self.machines, wanted.constraints, wanted.spread, wanted.claim, form)
        self.memory.idle_is_rest = wanted.state != "deployed"

    # -- the whole ----------------------------------------------------------------------------------------

    def read(self) -> MachineSetProgress:
        first = outlook(self.claimed.look(), self.claimed.left_over(), self.wanted)
        self.check_before(first)
        if not self.task.check:
            return MachineSetProgress(first)
        have = Counter(Seat.of(machine).zone for machine in first.stay)
        ready, doubts = self._offered(first.missing, have)
        offered = {"status": int(Status.ALLOCATED), "status_name": Status.ALLOCATED.label, "owner": self.machines.me}
        new = [{**machine, **offered, "workload_annotations": marked(self.wanted.claim)} for machine in ready]
        return MachineSetProgress(first, new, doubts)

    def plan(self, current: MachineSetProgress) -> Plan:
        return self._plan(current.first, current.offered)

    def predict(self, current: MachineSetProgress, plan: Plan) -> MachineSetProgress:
        return current

    def apply(self, current: MachineSetProgress, plan: Plan) -> MachineSetProgress:
        first = current.first
        staying, short = self.gather(first)
        there = {machine["system_id"] for machine in first.stay}
        carried_out = self._plan(first, [machine for machine in staying if machine["system_id"] not in there])
        driven = self.drive(staying)
        empty = short + sum(member.machine is None for member in driven if member.failure)
        leaving = self.release(first, empty)
        return replace(current, driven=driven, leaving=leaving, short=short, carried_out=carried_out)

    def result(self, current: MachineSetProgress) -> Outcome:
        return self._predicted(current) if current.carried_out is None else self._done(current)

    def check_before(self, first: MachineSetState) -> None:
        """Refuse what would be found out only when machines are held."""
        if first.missing and not self.task.check:
            self.supply.check()
        idle = any(Status(machine["status"]) in HELD_ONLY for machine in first.stay)
        if self.wanted.state != "deployed" or not (first.missing or idle):
            return
        self.doubts += doubt_user_data(user_data(self.task.params))
        deployment = self.wanted.goal.forms[MachineOp.DEPLOY]
        wrong = Surroundings(self.task.maas).why_not_deployed(deployment)
        if wrong is None:
            return
        if not self.task.check or not uploaded_later(deployment.get("distro_series")):
            raise wrong
        self.doubts.append(f"MAAS has no such image yet: {wrong.reason}.")

    def gather(self, first: MachineSetState) -> tuple[list[Machine], int]:
        """The machines that stay, and how many are not to be had."""
        if self.wanted.state == "absent":
            return [], 0
        self.given_up = [machine["system_id"] for machine in first.given_up]
        self.memory.failed.update(self.given_up)
        self.replacements = first.replaced
        said: set[str] = set()

        def once(line: str) -> None:
            if line not in said:
                said.add(line)
                self.task.say(line)

        gathered = self._gathered(once)
        self.surplus = [seat.system_id for seat in gathered.surplus]
        stay = list(gathered.stay)
        if gathered.missing:
            # Whoever watches may free machines, or stop, before the others are deployed.
            count = self.wanted.count
            once(f"{count - gathered.missing} of {count} machines; {gathered.missing} short: {self.supply.why_not()}")
        if gathered.missing and self.wanted.give_back_when_short:
            idle = [seat for seat in stay if seat.system_id in self.memory.mine and seat.idle]
            self.surplus += [seat.system_id for seat in idle]
            stay = [seat for seat in stay if seat not in idle]
        self.task.trace_requests()
        return [self.claimed.seen[seat.system_id] for seat in stay], gathered.missing

    def _gathered(self, tell: Callable[[str], None] = lambda _line: None) -> Gathered:
        self.memory.may_allocate = True
        return self.claimed.gather(self.wanted.count, self.memory, self.supply, self.wanted.spread, tell)

    # -- deploying ----------------------------------------------------------------------------------------

    def drive(self, staying: Sequence[Machine]) -> list[FleetMember]:
        """Bring those that stay to the wished state, with others in the place of those that fail."""
        members = [FleetMember(address(machine), self.wanted.goal_of(machine), machine) for machine in staying]
        self.places = OneAtATime(self.claimed, self._gathered, [machine["system_id"] for machine in staying])
        return self._fleet(self._instead).drive(members) if members else []

    def _fleet(self, instead: Callable[[FleetMember], Iterable[FleetMember]] = lambda _member: ()) -> Fleet:
        task = self.task
        return Fleet(
            task.maas,
            self.machines,
            self.patience,
            wait=task.params["wait"],
            instead=instead,
            on_tick=task.trace_requests,
        )

    def _instead(self, member: FleetMember) -> Iterable[FleetMember]:
        """Another machine for the place of one that failed or that somebody took away."""
        if not self._is_lost(member) or self.replacements >= self.wanted.replacements:
            return ()
        self.replacements += 1
        if member.system_id:
            self.memory.failed.add(member.system_id)
            self.given_up.append(member.system_id)
        member.aside = True
        why = str((member.machine or {}).get("status_message") or "MAAS does not know it any more")
        self.replaced.append({"name": member.name, "system_id": member.system_id or None, "reason": why})
        self.task.say(f"{member.name} is replaced: {why}")
        return [
            FleetMember(f"the place of {member.name}", self.wanted.goal, obtain=lambda: self._another(member.name, why))
        ]

    def _is_lost(self, member: FleetMember) -> bool:
        """Whether the machine failed, or MAAS does not know it any more. What somebody gave back is not replaced."""
        if self.wanted.state != "deployed" or member.situation is None:
            return False
        return member.machine is None or Status(member.machine["status"]) in LOST

    def _review(self, step: LifecycleStep, before: Machine, after: Machine) -> None:
        """`deploy` also takes a free machine. One that has lost its turn was given back since it was looked at."""
        if step.op is MachineOp.DEPLOY and Seat.of(before).turn is not None and Seat.of(after).turn is None:
            self.revived.append(after["system_id"])
            raise Failure(
                "conflict",
                f"{address(after)} cannot be deployed: somebody gave it back when this run was about to deploy it.",
                object=address(after),
                reason="somebody gave it back when this run was about to deploy it",
                hint="This run gave it back, too. Run the task again if it is still wanted.",
            )

    def _another(self, failed: str, why: str) -> Machine:
        machine = self.places.another()
        if machine is None:
            raise Failure(
                "capacity",
                f"{failed} failed to deploy ({why}), and no machine can take its place: {self.supply.why_not()}.",
                object=failed,
                reason=why,
                hint="It stays under the claim, so that its cause can be found; a later run replaces it.",
            )
        return machine

    # -- giving back --------------------------------------------------------------------------------------

    def release(self, first: MachineSetState, empty: int) -> list[FleetMember]:
        """Give back what is not needed: surplus, failed machines that were replaced, what an earlier run left over.

        As many failed ones as there are places that nothing could fill stay, for whoever looks for the cause.
        """
        if self.wanted.state == "absent":
            leaving = self._release_machines([*first.surplus, *first.given_up, *first.left_over])
            self.taken_again = self._held_again(leaving)
            return leaving
        replaced = self.given_up[: max(0, len(self.given_up) - empty)]
        going = [*self.surplus, *replaced, *self.revived]
        # Others may have given them back meanwhile: releasing them twice could hit somebody else's machine.
        now = self.claimed.look() if going else {}
        return self._release_machines([*(now[system_id] for system_id in going if system_id in now), *first.left_over])

    def _held_again(self, leaving: Sequence[FleetMember]) -> list[str]:
        """What another run took meanwhile. One that was still taking machines notices, and gives them back itself."""
        refused = {member.system_id for member in leaving if member.failure}
        held: list[str] = []
        for _look in range(DEAD_AFTER if leaving else 0):
            now = self.claimed.look()
            held = sorted(address(machine) for system_id, machine in now.items() if system_id not in refused)
            if not held or self.patience.left <= 0:
                break
            self.patience.clock.sleep(min(self.patience.tick, self.patience.left))
        return held

    def _release_machines(self, machines: Iterable[Machine]) -> list[FleetMember]:
        members = [FleetMember(address(machine), self.wanted.release, machine) for machine in machines]
        return self._fleet().drive(members) if members else []

    # -- telling ------------------------------------------------------------------------------------------

    def _done(self, current: MachineSetProgress) -> Outcome:
        driven, leaving, short = current.driven, current.leaving, current.short
        absent = self.wanted.state == "absent"
        staying = [member for member in driven if not member.aside]
        # What an earlier run left over is no part of what this one was asked for.
        asked = {*self.surplus, *self.given_up}
        blamed = [*staying, *(member for member in leaving if absent or member.system_id in asked)]
        for member in blamed:
            member.failure = self._explained(member.failure) if member.failure else None
        failures = {member.name: member.failure for member in blamed if member.failure}
        if short:
            failures[f"claim {self.wanted.claim}"] = self._shortage(short)
        if self.taken_again:
            failures[f"claim {self.wanted.claim}"] = self._not_empty()
        values = self._values(
            [_outcome(member) for member in (leaving if absent else staying) if member.failure or not absent],
            [member.machine for member in leaving if member.machine and not member.failure],
            summary(leaving if absent else staying),
        )
        return Outcome(
            {**values, **told_briefly(values["machines"], failures, self.wanted.full)},
            plan=current.carried_out,
            failure=_together(failures, len(blamed)),
            warnings=[
                *self.doubts,
                *(str(member.failure) for member in leaving if member.failure and member not in blamed),
                *self._otherwise_deployed([member.machine for member in staying if member.machine]),
            ],
        )

    def _otherwise_deployed(self, machines: Iterable[Machine]) -> list[str]:
        """Machines that run something else than what is asked for, which a deployed machine is not moved by."""
        running: dict[tuple[str, str], list[str]] = {}
        for machine in machines:
            if machine["status"] == Status.DEPLOYED:
                for differing in deployed_otherwise(machine, self.wanted.goal.forms[MachineOp.DEPLOY]):
                    running.setdefault(differing, []).append(address(machine))
        return [
            f"Deployed with {present} and not with {asked}, and left so: {', '.join(sorted(names))}. "
            "Give them back first to have them deployed anew."
            for (present, asked), names in sorted(running.items())
        ]

    def _explained(self, failure: Failure) -> Failure:
        """A failure of one machine, with what can be done about it here: a hint may speak of options of `machine`."""
        if failure.kind == "failed_state" and self.wanted.state == "deployed":
            replaced = (
                f"max_replacements: {self.wanted.replacements} allowed no further replacement in this run."
                if self.wanted.replacements
                else "with on_failure: replace another machine would take its place."
            )
            return replace(failure, hint=f"It stays under the claim for whoever looks for the cause; {replaced}")
        if failure.kind == "claimed" and HOSTED in failure.message:
            hint = "Scale its node pool down with node_pool first: a set never gives back what a hosted cluster uses."
            return replace(failure, hint=hint)
        if failure.kind == "claimed":
            return replace(failure, hint="Take it out of there first.")
        if "locked: false" in failure.hint:
            return replace(failure, hint="Unlock it first, with the module machine and locked: false.")
        return failure

    def _shortage(self, short: int) -> Failure:
        claim, count = self.wanted.claim, self.wanted.count
        kept = "given back" if self.wanted.give_back_when_short else "kept under the claim"
        got = f"What this run got was {kept}. " if self.memory.mine else ""
        return Failure(
            "capacity",
            f"{short} of {count} machines for the claim {claim} cannot be had: {self.supply.why_not()}.",
            object=f"claim {claim}",
            reason=f"{short} of {count} machines cannot be had",
            hint=f"{got}Free machines or loosen the constraints, then run the task again.",
        )

    def _not_empty(self) -> Failure:
        claim, names = self.wanted.claim, ", ".join(self.taken_again)
        reason = f"another run took {names} while this one gave the machines of the claim back"
        return Failure(
            "conflict",
            f"The claim {claim} is not empty: {reason}.",
            object=f"claim {claim}",
            reason=reason,
            hint="Run the task again when nobody takes machines under this claim any more.",
        )

    def _values(
        self, machines: Iterable[Machine], released: Iterable[Machine], counts: Mapping[str, int]
    ) -> dict[str, Any]:
        def listed(some: Iterable[Machine]) -> list[dict[str, Any]]:
            told = [{**shown(machine, self.wanted.full), **_extra(machine)} for machine in some]
            return sorted(told, key=lambda one: (one["hostname"] is None, str(one["hostname"])))

        return {
            "claim": self.wanted.claim,
            "machines": listed(machines),
            "released": listed(released),
            "replaced": self.replaced,
            "summary": dict(counts),
        }

    # -- check mode and diff --------------------------------------------------------------------------------

    def _plan(self, first: MachineSetState, taken: Sequence[Machine]) -> Plan:
        """What is done to which machine; `taken` are those that MAAS has given, or would."""
        wanted = self.wanted
        steps: list[Shown] = []
        for machine in first.stay:
            if Seat.of(machine).choosing:
                steps.append(Shown("annotate", address(machine), "its claim", {}, marked(wanted.claim)))
        for member in self._staying(first.stay):
            steps += self._steps_of(member)
        for member in self._staying(sorted(taken, key=address)):
            steps += [self._allocation(member, first.missing), *self._steps_of(member)]
        for number in range(len(taken), first.missing):
            steps += self._steps_of_unknown(len(first.stay) + number + 1, first.missing)
        for member in self._going(first):
            steps += self._steps_of(member)
        return Plan(steps)

    def _steps_of(self, member: FleetMember) -> list[Shown]:
        way, _then = forecast(member, self.machines.me)
        return steps_of(member.name, way, forms=member.goal.forms)

    def _allocation(self, member: FleetMember, missing: int) -> Shown:
        """Which machine, and why this one."""
        machine = member.machine or {}
        zone, pool = ((machine.get(noun) or {}).get("name") for noun in ("zone", "pool"))
        where = f"in {zone} " if self.wanted.spread is not ZoneSpread.NONE else ""
        why = f"{missing} of {self.wanted.count} are missing; {where}MAAS takes the smallest that fits first"
        after = {"status": Status.ALLOCATED.label, "claim": self.wanted.claim, "zone": zone, "pool": pool}
        return Shown(MachineOp.ALLOCATE.value, member.name, why, {"status": Status.READY.label}, after)

    def _steps_of_unknown(self, number: int, missing: int) -> list[Shown]:
        """Of a machine that nobody has seen yet: an earlier task of the play may be the one that enlists it."""
        name, why = f"machine {number} of claim {self.wanted.claim}", f"{missing} of {self.wanted.count} are missing"
        ops = [MachineOp.ALLOCATE, *([MachineOp.DEPLOY] if self.wanted.state == "deployed" else [])]
        return [Shown(op.value, name, why if op is MachineOp.ALLOCATE else "") for op in ops]

    def _staying(self, machines: Iterable[Machine]) -> list[FleetMember]:
        return [FleetMember(address(machine), self.wanted.goal_of(machine), machine) for machine in machines]

    def _going(self, first: MachineSetState) -> list[FleetMember]:
        machines = [*first.surplus, *first.given_up, *first.left_over]
        return [FleetMember(address(machine), self.wanted.release, machine) for machine in machines]

    def _predicted(self, current: MachineSetProgress) -> Outcome:
        """The result as it would be, without a write."""
        wait, first, ready = self.task.params["wait"], current.first, current.offered
        staying = [*self._staying(first.stay), *self._staying(ready)]
        going = self._going(first)
        then = [forecast(member, self.machines.me, wait)[1] for member in staying]
        for machine in then[len(first.stay) :]:
            machine["predicted"] = True
        gone = [machine for member in going if (machine := forecast(member, self.machines.me, wait)[1])]
        unknown = first.missing - len(ready)
        absent = self.wanted.state == "absent"
        counts = Counter(_word(machine) for machine in (gone if absent else then))
        if unknown:
            counts[self.wanted.state] += unknown
        lacking = (
            f"Only {len(ready)} of {first.missing} further machines for the claim {self.wanted.claim} are Ready now."
        )
        return Outcome(
            self._values([*then, *({"predicted": True} for _each in range(unknown))], gone, counts),
            failure=self._refusals([*self._staying(first.stay), *going[: len(going) - len(first.left_over)]]),
            warnings=[
                *self.doubts,
                *current.doubts,
                *([lacking] if unknown else []),
                *self._otherwise_deployed(first.stay),
            ],
        )

    def _offered(self, missing: int, have: Mapping[str, int]) -> tuple[list[Machine], list[str]]:
        """The machines that MAAS would offer, and why it offers none."""
        try:
            return (self.supply.predicted(missing, have) if missing else []), []
        except Failure as failure:
            # An earlier task of the play may be the one that would have made it.
            if failure.kind != "rejected" or not failure.fields or not set(failure.fields) <= MADE_BY_TASKS:
                raise
            return [], [f"MAAS does not have all of it yet: {failure.reason}"]

    def _refusals(self, members: Sequence[FleetMember]) -> Failure | None:
        """What the run itself would be refused."""
        failures = {
            member.name: self._explained(way.end.failure(member.name))
            for member in members
            if isinstance((way := forecast(member, self.machines.me)[0]).end, LifecycleFailure)
        }
        return several("machines", failures, len(members)) if failures else None


def _word(machine: Machine) -> str:
    return str(machine.get("status_name") or "unknown").lower().replace(" ", "_")


def _outcome(member: FleetMember) -> Machine:
    """A machine as it is now, with what went wrong with it."""
    return {**(member.machine or {}), **({"failure": member.failure.to_dict()} if member.failure else {})}


def _extra(machine: Machine) -> dict[str, Any]:
    """What this module says of a machine, besides what MAAS says."""
    return {key: machine[key] for key in ("predicted", "failure") if key in machine}


def _together(failures: Mapping[str, Failure], total: int) -> Failure | None:
    """What the task fails with, if it does."""
    if len(failures) == 1:
        only = next(iter(failures.values()))
        return only if only.object.startswith("claim ") else several("machines", failures, total)
    return several("machines", failures, max(total, len(failures))) if failures else None


def machine_set(task: Task) -> MachineSetEngine:
    """The engine of the set that the task describes."""
    return MachineSetEngine(task, MachineSetSpec.from_params(task.params))
