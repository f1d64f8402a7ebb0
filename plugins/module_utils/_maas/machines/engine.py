# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine of machines that a task names.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Sequence

from ansible_collections.metalshift.maas.plugins.module_utils._core.contract import Outcome
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import several
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Options
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._core.wait import Patience
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.entries import (
    NamedMachine,
    carry_out,
    entries_of,
    find,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.fleet import (
    Fleet,
    FleetMember,
    MachineTarget,
    summary,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines, told_briefly
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.surroundings import Surroundings


class MachineEngine:
    """The machines that a task names. Who fails does so alone."""

    def __init__(self, task: Task, options: Options) -> None:
        self.task = task
        self.machines, self.around = Machines(task.maas), Surroundings(task.maas)
        self.patience = Patience.of(task)
        self.named = entries_of(task.params, options)

    def read(self) -> Sequence[NamedMachine]:
        find(self.named, self.machines)
        self.around.read_power_parameters(
            each.machine for each in self.named if each.machine and each.wished.power_parameters
        )
        for each in self.named:
            each.foresee(self.around, self.machines.me, self.task.params["wait"], self.task.check)
        return self.named

    def plan(self, current: Sequence[NamedMachine]) -> Plan:
        return Plan([step for each in current for step in each.shown_steps(self.around)])

    def predict(self, current: Sequence[NamedMachine], plan: Plan) -> Sequence[NamedMachine]:
        return current

    def apply(self, current: Sequence[NamedMachine], plan: Plan) -> Sequence[NamedMachine]:
        carry_out(current, self.around, self._fleet)
        return current

    def result(self, current: Sequence[NamedMachine]) -> Outcome:
        """Each machine, how many are in which status, and what went wrong with some."""
        if not self.machines.sees_all:
            for each in current:
                each.doubt_absence()
        full = self.task.params["full"]
        told = [each.result(full) for each in current]
        members = [
            FleetMember(each.name, MachineTarget(each.wish), each.then or None, failure=each.failure)
            for each in current
        ]
        failures = {each.label: each.failure for each in current if each.failure}
        brief, names = told_briefly(told, failures, full), {each.label: each.name for each in current}
        for group in brief.get("failures", ()):
            group["machines"] = [names[label] for label in group["machines"]]
        return Outcome(
            {
                **brief,
                **({"machine": told[0]} if len(told) == 1 else {}),
                "summary": summary(members),
            },
            list(dict.fromkeys(warning for each in current for warning in each.warnings)),
            several("machines", failures, len(current)) if failures else None,
        )

    def _fleet(self) -> Fleet:
        task, wait = self.task, self.task.params["wait"]
        return Fleet(task.maas, self.machines, self.patience, wait=wait, on_tick=task.trace_requests)
