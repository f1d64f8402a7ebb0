# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task is going to do, as plain data: shown by diff, counted by check mode, carried out otherwise.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.printable import line

# Of a verb in the words of people what it has been when it is done, where that is not its ending alone.
DONE: Mapping[str, str] = {
    "abort": "aborted",
    "commission": "commissioned",
    "exit rescue mode": "taken out of rescue mode",
    "forget": "forgotten",
    "make default": "made default",
    "mark broken": "marked broken",
    "mark fixed": "marked fixed",
    "power off": "powered off",
    "power on": "powered on",
    "put into rescue mode": "put into rescue mode",
    "tag": "tagged",
}
# Said of what somebody may think would go, and what stays.
LEAVE_ALONE = "leave alone"
# What the verbs of requests are called among people.
IN_WORDS: Mapping[str, str] = {"update": "change", "rescue_mode": "put into rescue mode"}


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

    @property
    def word(self) -> str:
        """The verb as people say it."""
        word = IN_WORDS.get(self.verb, self.verb.replace("_", " "))
        return f"erase and {word}" if self.verb == "release" and self.after.get("erase") is True else word

    def as_result(self) -> dict[str, Any]:
        """As the `plan` of a result shows it: what stays is left out."""
        before, after = without_what_stays(self.before, self.after)
        return {
            "action": self.verb,
            "object": line(self.object),
            "reason": line(self.reason),
            "before": before,
            "after": after,
        }


@dataclass(frozen=True)
class Plan:
    """The steps in the order in which they will be taken. An empty plan is idempotence."""

    steps: Sequence[Step] = ()

    def __bool__(self) -> bool:
        """Whether anything is done; what is only named to be left alone is not."""
        return any(step.verb != LEAVE_ALONE for step in self.steps)

    def as_result(self) -> list[dict[str, Any]]:
        """The `plan` of a result."""
        return [step.as_result() for step in self.steps]

    def diff(self) -> list[dict[str, Any]]:
        """As Ansible shows differences: one entry an object, all that happens to it together."""
        return [_hunk(object, steps) for object, steps in self._by_object().items()]

    def totals(self, *, done: bool = False) -> str:
        """How many objects what is done to, in one line: `to create 4, to change 1, to erase and release 2`."""
        return totals_in_words(
            [
                (" and ".join(words), 1)
                for steps in self._by_object().values()
                if (words := unique(step.word for step in steps if step.verb != LEAVE_ALONE))
            ],
            done=done,
        )

    def _by_object(self) -> dict[str, list[Step]]:
        grouped: dict[str, list[Step]] = {}
        for step in self.steps:
            grouped.setdefault(step.object, []).append(step)
        return grouped


def _hunk(object: str, steps: Sequence[Step]) -> dict[str, Any]:
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    for step in steps:
        before = {**step.before, **before}
        after.update(step.after)
    what = "; ".join(unique(f"{step.verb}{': ' + step.reason if step.reason else ''}" for step in steps))
    before, after = without_what_stays(before, after)
    return {
        "before_header": line(object),
        "after_header": line(f"{object} ({what})"),
        "before": before,
        "after": after,
    }


def without_what_stays(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both sides without the fields that are alike on both."""
    same = {name for name, value in before.items() if name in after and after[name] == value}
    kept = [{name: value for name, value in side.items() if name not in same} for side in (before, after)]
    return kept[0], kept[1]


def totals_in_words(counted: Iterable[tuple[str, int]], *, done: bool = False) -> str:
    """What is done to how many objects, in one line; the same words are counted together."""
    numbers: dict[str, int] = {}
    for words, number in counted:
        numbers[words] = numbers.get(words, 0) + number
    if done:
        return ", ".join(f"{number} {_done(words)}" for words, number in numbers.items())
    return ", ".join(f"to {words} {number}" for words, number in numbers.items())


def _done(words: str) -> str:
    return " and ".join(
        DONE.get(word, f"{word}d" if word.endswith("e") else f"{word}ed") for word in words.split(" and ")
    )


def unique(texts: Iterable[str]) -> list[str]:
    """Each of them once, in their order."""
    return list(dict.fromkeys(texts))


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
    return Plan([Step("update", label, ", ".join(differing), before, asked)])


def to_remove(label: str, found: Mapping[str, Any] | None, shown: Sequence[str]) -> Plan:
    """The plan that makes one object absent; `shown` are the fields worth showing of what goes."""
    if found is None:
        return Plan()
    return Plan([Step("delete", label, before={name: found.get(name) for name in shown})])
