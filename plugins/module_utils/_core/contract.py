# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The contract of a module that writes: an engine reads, plans, applies and tells, and `run` does the rest for all.

Check mode ends before anything is applied, and what would be is predicted; the plan that diff and `plan` show is the
object that is applied; and whether a task changed something is computed here and nowhere else.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task

Current = TypeVar("Current")

# As often is planned anew when others change the same object at the same time.
ATTEMPTS = 4


class Stale(Exception):
    """What there is, is no longer what the plan was made for; nothing was written since."""


@dataclass(frozen=True)
class Outcome:
    """What an engine returns: the objects by their noun, and what went wrong with some of them."""

    values: Mapping[str, Any]
    warnings: Sequence[str] = ()
    failure: Failure | None = None
    # The plan with what only applying it made known, such as which machines MAAS gave.
    plan: Plan | None = None
    # Whether what was written has been taken back, and nothing is otherwise than before.
    undone: bool = False


class Engine(Protocol[Current]):
    """One kind of object. What is asked for is given to it when it is made."""

    def read(self) -> Current:
        """What there is. Sends only requests that read, and raises the failure for what cannot be asked for."""

    def plan(self, current: Current) -> Plan:
        """What makes it as it is asked for. Sends nothing."""

    def predict(self, current: Current, plan: Plan) -> Current:
        """What there would be after a plan that is not empty: the same keys, unknown values null."""

    def apply(self, current: Current, plan: Plan) -> Current:
        """Do what the plan says, wait for what has been begun, and return what there is then.

        Also asked for an empty plan: an earlier run may have begun what this one still waits for.
        """

    def result(self, current: Current) -> Outcome:
        """What the task returns."""


def run(engine: Engine[Current], task: Task) -> Result:
    """Bring what the engine is of to what is asked for; in check mode, say what that would take."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return _run(engine, task)
        except Stale as stale:
            if attempt == ATTEMPTS:
                raise _unsteady(str(stale)) from None
    raise AssertionError("the last attempt returns or raises")


def _run(engine: Engine[Current], task: Task) -> Result:
    current = engine.read()
    plan = engine.plan(current)
    if task.check:
        outcome = engine.result(engine.predict(current, plan) if plan else current)
        return Result(bool(plan), outcome.values, plan, outcome.failure, outcome.warnings)
    try:
        outcome = engine.result(engine.apply(current, plan))
    except Failure as failure:
        outcome = Outcome({}, failure=failure)
    # Not by the plan: a run that failed may have begun, or not, and others may have done meanwhile what was planned.
    changed = task.wrote and not outcome.undone
    shown = plan if outcome.plan is None else outcome.plan
    return Result(changed, outcome.values, shown, outcome.failure, outcome.warnings)


def _unsteady(label: str) -> Failure:
    return Failure(
        "conflict",
        f"The {label} was changed by others each time before it could be changed here.",
        object=label,
        reason="others kept changing the same object",
        hint="Run the task again.",
    )
