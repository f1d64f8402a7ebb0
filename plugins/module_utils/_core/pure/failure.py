# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can go wrong, as one sentence for a person and one structure for a program.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.names import MOST_LISTED, few
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.printable import line

# The closed list of failure kinds. The documentation's table is made from it.
KINDS: Mapping[str, str] = {
    "invalid": "The task's input is wrong; nothing was sent.",
    "missing_library": "A Python library is missing where the task runs.",
    "unreachable": "Nothing usable answers at the endpoint.",
    "tls": "The server's certificate could not be verified.",
    "credentials": "The server does not accept the key.",
    "forbidden": "The key is good, but its user may not do this.",
    "not_found": "The object, or one it refers to, does not exist.",
    "rejected": "The server refused the values it was sent.",
    "conflict": "The object's present state does not allow the operation.",
    "claimed": "The object belongs to another claim.",
    "unsupported": "This version of the server cannot do it.",
    "unavailable": "The server failed or was overloaded, and repeating did not help.",
    "uncertain": "The answer to a write was lost, and whether it took effect could not be found out.",
    "failed_state": "The object ended in a state that does not get better by waiting.",
    "capacity": "There is less available than was asked for.",
    "timeout": "The wished state was not reached within the time allowed.",
    "drift": "Something is not as the task describes it, and O(fail_on_change) is set; nothing was changed.",
    "several": "Several objects of one task failed; each carries its own failure.",
    "bug": "A defect of this collection.",
}

# What may be gone by itself when the same is tried later.
PASSING = frozenset({"unreachable", "unavailable"})


@dataclass(eq=False)
class Failure(Exception):
    """An error that a user may read. `message` is a whole sentence and holds no secret."""

    kind: str
    message: str
    object: str = ""
    reason: str = ""
    hint: str = ""
    status: int | None = None
    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)
    events: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"{self.kind} is not in the closed list of failure kinds")
        # A sentence quotes what servers, tenants and machines say.
        self.message, self.object = line(self.message), line(self.object)
        self.reason, self.hint = line(self.reason), line(self.hint)
        super().__init__(self.message)

    def __str__(self) -> str:
        return self.message if not self.hint or self.hint in self.message else f"{self.message} {self.hint}"

    def about(self, name: str) -> Failure:
        """The same, of this object if it names none. A failure is never changed: who has it may have shown it."""
        return self if self.object else replace(self, object=name)

    def to_dict(self) -> dict[str, Any]:
        """The `failure` of a result."""
        return {
            "kind": self.kind,
            "object": self.object,
            "reason": self.reason or self.message,
            "hint": self.hint,
            "status": self.status,
            "fields": {line(name): [line(text) for text in texts] for name, texts in self.fields.items()},
            "events": [line(event) for event in self.events],
        }


def invalid(message: str, hint: str = "") -> Failure:
    """The failure for input that no server needs to see."""
    return Failure("invalid", message, hint=hint)


# The reasons that one message quotes of many failures; every object's own result has its own.
MOST_TOLD = 5
# How long something lasted differs from object to object, and is no other reason.
LASTED = re.compile(r"\b(\d+h)?(\d+m)?\d+[ms]\b")


def several(noun: str, failures: Mapping[str, Failure], total: int) -> Failure:
    """One failure for a task of which some objects failed; what several of them have in common is said once."""
    if len(failures) == total == 1:
        return next(iter(failures.values()))
    groups = by_reason({name: str(failure) for name, failure in failures.items()})
    failed = f"{len(failures)} of {total} {noun} failed"
    (names, text), *others = groups
    if others:
        told = [f"{_whose(noun, names)}{text}" for names, text in groups[:MOST_TOLD]]
        left_out = f" … and {len(groups) - MOST_TOLD} more reasons." if len(groups) > MOST_TOLD else ""
        said = f"{failed}: {' '.join(told)}{left_out}"
    else:
        said = f"{failed} ({few(names)}): {text}" if len(names) > 1 else f"{failed}: {text}"
    kinds = {failure.kind for failure in failures.values()}
    return Failure(
        kinds.pop() if len(kinds) == 1 else "several", said, object=few([*failures], MOST_LISTED), reason=failed
    )


def groups_as_result(noun: str, failures: Mapping[str, Failure]) -> list[dict[str, Any]]:
    """The same as data: each reason with all that it holds for."""
    texts = {name: failure.message for name, failure in failures.items()}
    return [
        {"kind": failures[names[0]].kind, "reason": line(text), "hint": failures[names[0]].hint, noun: names}
        for names, text in by_reason(texts)
    ]


def by_reason(texts: Mapping[str, str]) -> list[tuple[list[str], str]]:
    """Who is told the same, by name, and what that is: `each is locked` in the place of a name for each."""
    groups: dict[str, list[str]] = {}
    for name, text in texts.items():
        groups.setdefault(LASTED.sub("", _without(name, text)), []).append(name)
    return [
        (names, _without(names[0], texts[names[0]]) if len(names) > 1 else texts[names[0]]) for names in groups.values()
    ]


def _without(name: str, text: str) -> str:
    """A sentence about an object, as one about each of several."""
    named = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])")
    return named.sub("it", named.sub("each", text, count=1) if text.startswith(name) else text)


def _whose(noun: str, names: Sequence[str]) -> str:
    return f"{len(names)} {noun} ({few(names)}): " if len(names) > 1 else ""
