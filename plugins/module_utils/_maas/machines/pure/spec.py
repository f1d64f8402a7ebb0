# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked of a machine, what is known of it, and what the lifecycle answers.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Union

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.holders import claim_of
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import (
    RECOVERABLE,
    STATUS_OF_WORD,
    Status,
    StatusKind,
)


class State(Enum):
    """The option `state` of the module `machine`."""

    PRESENT = "present"
    READY = "ready"
    ALLOCATED = "allocated"
    DEPLOYED = "deployed"
    RESCUE = "rescue"
    BROKEN = "broken"
    ABSENT = "absent"


class MachineAct(Enum):
    """The option `act`: what is done once, whatever the state."""

    TEST = "test"
    RECOMMISSION = "recommission"
    POWER_CYCLE = "power_cycle"
    ABORT = "abort"


class OwnerKind(Enum):
    ME = "me"
    OTHER = "other"
    NONE = "none"


class Power(Enum):
    ON = "on"
    OFF = "off"
    UNKNOWN = "unknown"
    ERROR = "error"


class MachineOp(Enum):
    """A request to MAAS: the value is its `op`, but for `enlist` (POST machines/) and `delete` (DELETE)."""

    ENLIST = "enlist"
    COMMISSION = "commission"
    ALLOCATE = "allocate"
    DEPLOY = "deploy"
    RELEASE = "release"
    ABORT = "abort"
    TEST = "test"
    OVERRIDE_FAILED_TESTING = "override_failed_testing"
    RESCUE_MODE = "rescue_mode"
    EXIT_RESCUE_MODE = "exit_rescue_mode"
    MARK_BROKEN = "mark_broken"
    MARK_FIXED = "mark_fixed"
    LOCK = "lock"
    UNLOCK = "unlock"
    POWER_ON = "power_on"
    POWER_OFF = "power_off"
    DELETE = "delete"


@dataclass(frozen=True)
class MachineSpec:
    """What a task asks of one machine."""

    state: State = State.PRESENT
    act: MachineAct | None = None
    locked: bool | None = None
    power: Power | None = None
    recover: frozenset[Status] = frozenset()
    # None: the task does not say. It matters after a failed erasure: False accepts that data stay on the disks.
    erase: bool | None = None
    take_over: bool = False
    # It is held already: if it turns out to be free, somebody took it away, and it is not allocated again.
    held: bool = False

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> MachineSpec:
        """The wish in a task's options; a word that is not one of theirs is a failure of kind `invalid`."""
        return cls(
            state=State(params.get("state") or "present"),
            act=MachineAct(params["act"]) if params.get("act") else None,
            locked=params.get("locked"),
            power=Power(params["power"]) if params.get("power") else None,
            recover=recoverable(params.get("recover") or ()),
            erase=params.get("erase"),
            take_over=bool(params.get("take_over")),
        )


def recoverable(words: Iterable[str]) -> frozenset[Status]:
    """The failed statuses that `recover` names."""
    statuses = set()
    for word in words:
        status = STATUS_OF_WORD.get(word)
        if status not in RECOVERABLE:
            known = ", ".join(sorted(status.word for status in RECOVERABLE))
            raise invalid(f"recover cannot contain {word!r}.", f"It takes any of {known}.")
        statuses.add(status)
    return frozenset(statuses)


@dataclass(frozen=True)
class LifecycleStep:
    """One request, and how its end is told. `good` begins with what is expected; None is a machine that is gone."""

    op: MachineOp
    reason: str
    before: Status | None
    good: tuple[Status | None, ...]
    via: frozenset[Status] = frozenset()
    bad: frozenset[Status] = frozenset()
    params: Mapping[str, str] = field(default_factory=dict)
    power: Power | None = None
    recovers: Status | None = None
    act: MachineAct | None = None

    def pending(self, now: Situation) -> bool:
        """Whether to go on waiting. Any other status is an end, good or bad: it does not get better by itself."""
        return now.status in self.via or (self.power is not None and now.power not in (self.power, Power.ERROR))

    def failed(self, now: Situation) -> bool:
        return now.status in self.bad

    def __str__(self) -> str:
        return f"{self.op.value}: {self.reason}"


@dataclass(frozen=True)
class LifecycleWait:
    """A transition that runs already, started by somebody else or by an earlier run."""

    status: Status
    good: tuple[Status | None, ...]
    reason: str

    def pending(self, now: Situation) -> bool:
        return now.status is self.status


@dataclass(frozen=True)
class LifecycleDone:
    """Nothing is left to do. No status: it is gone, deleted or removed by its release."""

    status: Status | None


@dataclass(frozen=True)
class LifecycleFailure:
    """Why the wish cannot be fulfilled: a sentence, what to do, and a kind of failure."""

    reason: str
    hint: str
    kind: str
    # Whether the machine only has to be deployed first, which an earlier task of a play may do.
    awaits_deployment: bool = False

    def failure(self, name: str) -> Failure:
        return Failure(self.kind, self.reason, object=name, hint=self.hint)


# `|` between classes is refused by the pylint of ansible-core 2.16 and 2.17.
Move = Union[LifecycleStep, LifecycleWait]  # noqa: UP007
Answer = Union[LifecycleStep, LifecycleWait, LifecycleDone, LifecycleFailure]  # noqa: UP007


@dataclass(frozen=True)
class Situation:
    """What is known of one machine, and what this run has done to it. No status: MAAS does not know it."""

    name: str
    status: Status | None
    owner: OwnerKind = OwnerKind.NONE
    locked: bool = False
    power: Power = Power.UNKNOWN
    # Somebody else's claim or hosted cluster that holds it, in words; empty when it is free or this task's own.
    claim: str = ""
    # The claim in its annotation, whoever holds it: who is to give it back has to name that.
    annotated: str = ""
    # What the machine was before rescue mode, testing or breaking, as far as it shows.
    previous: Status | None = None
    message: str = ""
    can_enlist: bool = False
    history: tuple[LifecycleStep, ...] = ()

    @classmethod
    def of(
        cls, machine: Mapping[str, Any], me: str, *, claim: str = "", history: tuple[LifecycleStep, ...] = ()
    ) -> Situation:
        """The situation that a machine's JSON tells; `me` is the user that the key belongs to."""
        name = str(machine.get("hostname") or machine["system_id"])
        number = machine["status"]
        if number not in iter(Status):
            label = machine.get("status_name") or number
            raise Failure("unsupported", f"{name} has a status that is not known here: {label}.", object=name)
        status = Status(number)
        owner = machine.get("owner")
        power = str(machine.get("power_state") or "unknown")
        # The JSON has no previous status. An installed machine boots from its disk: netboot is off from the end of
        # its deployment until it is released or marked broken.
        installed = machine.get("netboot") is False and bool(machine.get("osystem"))
        words = machine.get("error_description") if status is Status.BROKEN else machine.get("status_message")
        return cls(
            name=name,
            status=status,
            owner=OwnerKind.NONE if not owner else OwnerKind.ME if owner == me else OwnerKind.OTHER,
            locked=bool(machine.get("locked")),
            power=Power(power) if power in {known.value for known in Power} else Power.UNKNOWN,
            claim=claim,
            annotated=claim_of(machine),
            previous=Status.DEPLOYED if installed else None,
            message=str(words or "") if status.kind is StatusKind.FAILED else "",
            history=history,
        )

    def vanished(self) -> Situation:
        """The situation after MAAS answered 404 for a machine that it knew."""
        return replace(self, status=None, previous=self.status, owner=OwnerKind.NONE, claim="", locked=False)

    def after(self, step: LifecycleStep, now: Situation) -> Situation:
        """The situation `now`, remembering that this run has taken a step."""
        return replace(now, history=(*self.history, step))


@dataclass(frozen=True)
class LifecyclePlan:
    """All that would be done, and how it would end."""

    moves: tuple[Move, ...]
    end: LifecycleDone | LifecycleFailure

    @property
    def steps(self) -> tuple[LifecycleStep, ...]:
        return tuple(move for move in self.moves if isinstance(move, LifecycleStep))
