# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine of objects that MAAS knows by name: the same for every kind that is present or absent.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.contract import Outcome
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan, Step, to_make, to_remove
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._maas.named.objects import Found, NamedObjects


class NamedEngine:
    """The object that a task names, as MAAS has it; empty while it is absent."""

    def __init__(self, task: Task, objects: NamedObjects) -> None:
        self.maas, self.params, self.objects = task.maas, task.params, objects
        self.label = f"{objects.label} {task.params['name']}"
        self.removes = task.params["state"] == "absent"
        self.warnings: list[str] = []

    def read(self) -> Found:
        found = self.objects.find(self.maas, self.params["name"])
        if found and self.removes:
            self.objects.may_be_removed(self.maas, found)
            self.warnings = self.objects.removal_warnings(self.maas, found)
        return found or {}

    def plan(self, current: Found) -> Plan:
        shown = ("name", *self.objects.fields)
        if self.removes:
            return to_remove(self.label, current or None, shown)
        return to_make(self.label, {field: _text(self.params[field]) for field in shown}, current or None)

    def predict(self, current: Found, plan: Plan) -> Found:
        for step in plan.steps:
            began = current or self.objects.blank
            current = {} if step.verb == "delete" else {**began, **step.after, "predicted": True}
        return current

    def apply(self, current: Found, plan: Plan) -> Found:
        for step in plan.steps:
            current = self.apply_one(current, step)
        return current

    def apply_one(self, current: Found, step: Step) -> Found:
        """Take one step, and return the object then."""
        if step.verb == "create":
            return self.objects.create(self.maas, step.after)
        if step.verb == "update":
            return self.objects.update(self.maas, current, step.changes)
        self.objects.delete(self.maas, current)
        return {}

    def result(self, current: Found) -> Outcome:
        return Outcome({self.objects.noun: current}, self.warnings)


def _text(value: Any) -> Any:
    """MAAS strips texts: a final newline, which YAML's `|` adds, would be a change in every run."""
    return value.strip() if isinstance(value, str) else value
