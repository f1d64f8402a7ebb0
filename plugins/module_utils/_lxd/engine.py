# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine of one named object of an LXD: the same for pools, networks, projects and profiles.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.contract import Outcome
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Options
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.client import Lxd, TaggedObject
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.objects import Objects
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure import errors, kinds
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.kinds import LxdKind, LxdObjectSpec

# The options that all of them have.
NAMED_OPTIONS: Options = {
    "name": {"type": "str", "required": True},
    "description": {"type": "str"},
    "config": {"type": "dict", "no_log": True},
    "purge_config": {"type": "bool", "default": False, "aliases": ["purge"]},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
}


def nothing_else(_lxd: Lxd, _wish: LxdObjectSpec, _found: Mapping[str, Any] | None) -> None:
    """What every LXD can do."""


Check = Callable[[Lxd, LxdObjectSpec, "Mapping[str, Any] | None"], None]


@dataclass(frozen=True)
class LxdState:
    """An object as LXD has it, None while it is absent; what results show of it; and what was noticed on the way."""

    seen: TaggedObject | None
    body: Mapping[str, Any] | None
    shown: Mapping[str, Any]
    warnings: Sequence[str] = ()


class LxdEngine:
    """The object that a task names.

    `must_be_able` raises the failure for a wish that this LXD cannot fulfil; `removal` is told to LXD with the removal,
    and what is in the way then goes as well.
    """

    def __init__(
        self, task: Task, kind: LxdKind, *, must_be_able: Check = nothing_else, removal: Mapping[str, Any] | None = None
    ) -> None:
        self.lxd, self.kind, self.check = task.lxd, kind, task.check
        self.must_be_able, self.removal = must_be_able, removal
        self.wish, self.objects = LxdObjectSpec.from_params(kind, task.params), Objects(task.lxd, kind)
        self.removes = task.params["state"] == "absent"

    def read(self) -> LxdState:
        if not self.objects.has_project():
            return self._without_project()
        state = self._look()
        if not self.removes:
            self._must_be_possible(state.body)
        elif state.body is not None and (self.removal is None or self.wish.name == self.kind.undying):
            kinds.must_be_removable(self.kind, state.body)
        return state

    def plan(self, current: LxdState) -> Plan:
        if self.removes:
            return kinds.plan_removal(self.kind, self.wish.name, current.body)
        return kinds.plan(self.kind, self.wish, current.body)

    def predict(self, current: LxdState, plan: Plan) -> LxdState:
        shown = {} if self.removes else kinds.predicted(self.kind, self.wish, current.body)
        return replace(current, shown=shown)

    def apply(self, current: LxdState, plan: Plan) -> LxdState:
        if not plan:
            return current
        if self.removes:
            self.objects.delete(self.wish.name, self.removal)
            return LxdState(None, None, {})
        body = kinds.to_be(self.kind, self.wish, current.body)
        if current.seen:
            self.objects.replace(self.wish.name, body, current.seen)
            return self._look()
        fixed = {self.kind.fixed: self.wish.fixed} if self.kind.fixed and self.wish.fixed else {}
        self.objects.create(self.wish.name, {**body, **fixed})
        return self._unset_what_was_added(self._look())

    def result(self, current: LxdState) -> Outcome:
        return Outcome({self.kind.noun: current.shown}, current.warnings)

    def _look(self) -> LxdState:
        seen = self.objects.find(self.wish.name)
        if seen is None or (self.removes and not kinds.is_lxds(seen.body)):
            return LxdState(None, None, {})
        return LxdState(seen, seen.body, kinds.told(self.kind, seen.body))

    def _without_project(self) -> LxdState:
        kind, name, project = self.kind, self.wish.name, self.lxd.project
        if self.removes:
            # What is to be gone went with its project; or the project is misspelt.
            return LxdState(None, None, {}, [f"LXD has no project {project}, and so no {kind.label} {name} in it."])
        if not self.check:
            raise self.objects.no_project
        # In check mode an earlier task may have said that it would make the project.
        missing = f"LXD has no project {project} yet. In check mode, it is taken for one that a task before makes."
        body = kinds.with_which_a_project_begins(kind, name, project)
        return LxdState(None, body, kinds.predicted(kind, self.wish, body), [missing])

    def _must_be_possible(self, found: Mapping[str, Any] | None) -> None:
        self.must_be_able(self.lxd, self.wish, found)
        if found is not None:
            _must_see_settings(self.lxd, self.kind, self.wish, found)
            kinds.must_be_possible(self.kind, self.wish, found, self.lxd.capabilities)

    def _unset_what_was_added(self, state: LxdState) -> LxdState:
        """What LXD gave a new object unasked, such as addresses that were to be unset; else the next run did."""
        if not state.seen or not kinds.plan(self.kind, self.wish, state.body):
            return state
        self.objects.replace(self.wish.name, kinds.to_be(self.kind, self.wish, state.body), state.seen)
        return self._look()


def _must_see_settings(lxd: Lxd, kind: LxdKind, wish: LxdObjectSpec, found: Mapping[str, Any]) -> None:
    """Raises the failure for settings that LXD hides."""
    of_all = kind.collection == "storage-pools" or (kind.collection == "networks" and lxd.project == "default")
    if lxd.restricted and of_all and not found.get("config"):
        raise errors.withheld(f"the {kind.label} {wish.name}", lxd.connection.endpoint)
