# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bringing one named object of an LXD to the wished state: the same for pools, networks, projects and profiles.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Options
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.client import Lxd, Seen
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.objects import Objects, Stale
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure import errors, kinds
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.kinds import Kind, Wish

# The options that all of them have.
NAMED_OPTIONS: Options = {
    "name": {"type": "str", "required": True},
    "description": {"type": "str"},
    "config": {"type": "dict", "no_log": True},
    "purge": {"type": "bool", "default": False},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
}

# As often it is planned anew when others change the same object at the same time.
ATTEMPTS = 4


def nothing_else(_lxd: Lxd, _wish: Wish, _found: Mapping[str, Any] | None) -> None:
    """What every LXD can do."""


Check = Callable[[Lxd, Wish, "Mapping[str, Any] | None"], None]


def converge_lxd(
    task: Task, kind: Kind, *, must_be_able: Check = nothing_else, removal: Mapping[str, Any] | None = None
) -> Result:
    """Bring the object that the task names to the wished state.

    `must_be_able` raises the failure for a wish that this LXD cannot fulfil; `removal` is told to LXD with the removal,
    and what is in the way then goes as well.
    """
    wish, objects = Wish.from_params(kind, task.params), Objects(task.lxd, kind)
    if not objects.has_project():
        if task.params["state"] == "absent":
            return _in_no_project(task, kind, wish)
        if not task.check:
            raise objects.no_project
        return _in_a_project_to_come(task, kind, wish)
    for attempt in range(1, ATTEMPTS + 1):
        try:
            if task.params["state"] == "absent":
                return _remove(task, objects, wish.name, removal)
            return _make(task, objects, wish, must_be_able)
        except Stale:
            if attempt == ATTEMPTS:
                raise _unsteady(kind, wish.name) from None
    raise AssertionError("the last attempt returns or raises")


def _in_no_project(task: Task, kind: Kind, wish: Wish) -> Result:
    """What is to be gone went with its project; or the project is misspelt."""
    said = f"LXD has no project {task.lxd.project}, and so no {kind.label} {wish.name} in it."
    return Result(changed=False, values={kind.noun: {}}, warnings=[said])


def _in_a_project_to_come(task: Task, kind: Kind, wish: Wish) -> Result:
    """In check mode an earlier task may have said that it would make the project."""
    found = kinds.with_which_a_project_begins(kind, wish.name, task.lxd.project)
    missing = f"LXD has no project {task.lxd.project} yet. In check mode, it is taken for one that a task before makes."
    plan = kinds.plan(kind, wish, found)
    now = kinds.predicted(kind, wish, found)
    return Result(changed=bool(plan), values={kind.noun: now}, plan=plan, warnings=[missing])


def _make(task: Task, objects: Objects, wish: Wish, must_be_able: Check) -> Result:
    kind, seen = objects.kind, objects.find(wish.name)
    found = seen.body if seen else None
    must_be_able(task.lxd, wish, found)
    if found is not None:
        _must_see_settings(task.lxd, kind, wish, found)
        kinds.must_be_possible(kind, wish, found, task.lxd.capabilities)
    plan = kinds.plan(kind, wish, found)
    if plan and task.check:
        return _told(task, kind, plan, kinds.predicted(kind, wish, found))
    if plan:
        body = kinds.to_be(kind, wish, found)
        if seen:
            objects.replace(wish.name, body, seen)
        else:
            objects.create(wish.name, {**body, **({kind.fixed: wish.fixed} if wish.fixed else {})})
        seen = objects.find(wish.name)
        if found is None and seen:
            seen = _as_wished_from_the_start(objects, wish, seen)
    return _told(task, kind, plan, kinds.told(kind, seen.body if seen else {}))


def _as_wished_from_the_start(objects: Objects, wish: Wish, seen: Seen) -> Seen | None:
    """A new object without what LXD gave it unasked, such as addresses that were to be unset; else the next run did."""
    if not kinds.plan(objects.kind, wish, seen.body):
        return seen
    objects.replace(wish.name, kinds.to_be(objects.kind, wish, seen.body), seen)
    return objects.find(wish.name)


def _must_see_settings(lxd: Lxd, kind: Kind, wish: Wish, found: Mapping[str, Any]) -> None:
    """Raises the failure for settings that LXD hides."""
    of_all = kind.collection == "storage-pools" or (kind.collection == "networks" and lxd.project == "default")
    if lxd.restricted and of_all and not found.get("config"):
        raise errors.withheld(f"the {kind.label} {wish.name}", lxd.connection.endpoint)


def _remove(task: Task, objects: Objects, name: str, removal: Mapping[str, Any] | None) -> Result:
    kind, seen = objects.kind, objects.find(name)
    found = seen.body if seen and kinds.is_lxds(seen.body) else None
    if found is not None and (removal is None or name == kind.undying):
        kinds.must_be_removable(kind, found)
    plan = kinds.plan_removal(kind, name, found)
    if plan and not task.check:
        objects.delete(name, removal)
    return _told(task, kind, plan, {})


def _told(task: Task, kind: Kind, plan: Plan, now: Mapping[str, Any]) -> Result:
    # A change whose answer was lost may leave nothing to do for the plan that is made after it.
    changed = bool(plan) if task.check else task.wrote
    return Result(changed=changed, values={kind.noun: now}, plan=plan)


def _unsteady(kind: Kind, name: str) -> Failure:
    return Failure(
        "conflict",
        f"The {kind.label} {name} was changed by others each time before it could be changed here.",
        object=f"{kind.label} {name}",
        reason="others kept changing the same object",
        hint="Run the task again.",
    )
