# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bringing one named object to the wished state: the same for every kind of object that is present or absent.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan, to_make, to_remove
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.named.objects import Found, NamedObjects


def converge_named(task: Task, objects: NamedObjects) -> Result:
    """Bring the object that the task names to the wished state."""
    found = objects.find(task.maas, task.params["name"])
    plan = plan_named(task, objects, found)
    now = predicted(objects, plan, found) if task.check else carry_out_named(task.maas, objects, plan, found)
    return Result(changed=bool(plan), values={objects.noun: now}, plan=plan)


def plan_named(task: Task, objects: NamedObjects, found: Found | None) -> Plan:
    """What is to be done to the object itself; what cannot be done is said here."""
    label = f"{objects.label} {task.params['name']}"
    if task.params["state"] == "absent":
        if found is not None:
            objects.may_be_removed(task.maas, found)
        return to_remove(label, found, ("name", *objects.fields))
    return to_make(label, {field: _text(task.params[field]) for field in ("name", *objects.fields)}, found)


def carry_out_named(maas: Client, objects: NamedObjects, plan: Plan, found: Found | None) -> Found:
    """The object as it is afterwards; empty when it is gone."""
    now = dict(found or {})
    for step in plan.steps:
        if step.verb == "create":
            now = objects.create(maas, step.after)
        elif step.verb == "update":
            now = objects.update(maas, now, step.changes)
        else:
            objects.delete(maas, now)
            now = {}
    return now


def predicted(objects: NamedObjects, plan: Plan, found: Found | None) -> Found:
    """The object as it would be after the plan: the same keys, unknown values null."""
    now = dict(found or {})
    for step in plan.steps:
        now = {} if step.verb == "delete" else {**(now or objects.blank), **step.after, "predicted": True}
    return now


def _text(value: object) -> object:
    """MAAS strips texts: a final newline, which YAML's `|` adds, would be a change in every run."""
    return value.strip() if isinstance(value, str) else value
