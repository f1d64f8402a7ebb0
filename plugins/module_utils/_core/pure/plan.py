# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task is going to do, as plain data: shown by diff, counted by check mode, carried out otherwise.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.printable import line


@dataclass(frozen=True)
class Step:
    """One thing to do to one object, and why."""

    verb: str
    object: str
    reason: str = ""
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)

    @property
    def changes(self) -> dict[str, Any]:
        """The fields of `after` that are not already so."""
        return {name: value for name, value in self.after.items() if self.before.get(name) != value}


@dataclass(frozen=True)
class Plan:
    """The steps in the order in which they will be taken. An empty plan is idempotence."""

    steps: Sequence[Step] = ()

    def __bool__(self) -> bool:
        return bool(self.steps)

    def diff(self) -> list[dict[str, Any]]:
        """As Ansible shows differences: one entry an object."""
        return [
            {
                "before_header": line(step.object),
                "after_header": line(f"{step.object} ({step.verb}{': ' + step.reason if step.reason else ''})"),
                "before": dict(step.before),
                "after": dict(step.after),
            }
            for step in self.steps
        ]


def to_make(label: str, wished: Mapping[str, Any], found: Mapping[str, Any] | None) -> Plan:
    """The plan that makes one object as wished: nothing, its creation, or the change of what differs.

    A wish of None means: as it is.
    """
    asked = {name: value for name, value in wished.items() if value is not None}
    if found is None:
        return Plan([Step("create", label, after=asked)])
    differing = [name for name, value in asked.items() if found.get(name) != value]
    if not differing:
        return Plan()
    before = {name: found.get(name) for name in asked}
    return Plan([Step("update", label, reason=", ".join(differing), before=before, after=asked)])


def to_remove(label: str, found: Mapping[str, Any] | None, shown: Sequence[str]) -> Plan:
    """The plan that makes one object absent; `shown` are the fields worth showing of what goes."""
    if found is None:
        return Plan()
    return Plan([Step("delete", label, before={name: found.get(name) for name in shown})])
