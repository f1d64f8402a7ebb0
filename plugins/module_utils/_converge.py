# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bringing one named object to the wished state: the same for every kind of object that is present or absent.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.named import NamedObjects
from ansible_collections.metalshift.maas.plugins.module_utils._plan import Plan, to_make, to_remove
from ansible_collections.metalshift.maas.plugins.module_utils._task import Result, Task


def converge_named(task: Task, objects: NamedObjects) -> Result:
    """Bring the object that the task names to the wished state."""
    name = task.params["name"]
    found = objects.find(task.maas, name)
    label = f"{objects.noun} {name}"
    if task.params["state"] == "absent":
        plan = to_remove(label, found, ("name", *objects.fields))
    else:
        plan = to_make(label, {field: task.params[field] for field in ("name", *objects.fields)}, found)
    now = predicted(plan, found) if task.check else _act(task.maas, objects, name, plan, found)
    return Result(changed=bool(plan), values={objects.noun: now}, plan=plan)


def _act(maas: Client, objects: NamedObjects, name: str, plan: Plan, found: dict[str, Any] | None) -> dict[str, Any]:
    now = found or {}
    for step in plan.steps:
        if step.verb == "create":
            now = objects.create(maas, name, step.after)
        elif step.verb == "update":
            now = objects.update(maas, name, step.changes)
        else:
            objects.delete(maas, name)
            now = {}
    return now


def predicted(plan: Plan, found: Mapping[str, Any] | None) -> dict[str, Any]:
    """The object as it would be after the plan: the same keys, unknown values null."""
    now = dict(found or {})
    for step in plan.steps:
        if step.verb == "delete":
            now = {}
        else:
            unknown = {} if now else {"id": None, "resource_uri": None}
            now = {**unknown, **now, **step.after, "predicted": True}
    return now
