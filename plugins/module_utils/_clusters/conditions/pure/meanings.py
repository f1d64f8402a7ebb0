# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the table of conditions is made of: entries for the types of conditions, and rows for what they say.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

Verdict = Literal["fine", "wait", "grace", "stop"]

# What the operators say can be a page long.
LONGEST = 200
# The provider gives the texts of errors to Go as formats, which spoils each percent sign.
_SPOILT = re.compile(r"(?:%!.?\([A-Z]+\))+", re.DOTALL)
_PLACEHOLDER = re.compile(r"\{(\w+)\}|…")


@dataclass(frozen=True)
class Meaning:
    """What a condition says to a person, and whether it can still get better by waiting."""

    subject: str
    text: str
    verdict: Verdict
    hint: str = ""
    # Whether who wrote it tries again at once and takes a machine of MAAS each time.
    loops: bool = False

    @property
    def line(self) -> str:
        return f"{self.subject}: {self.text}"


@dataclass(frozen=True)
class Row:
    """What a condition means that has this status and reason, and whose message holds one of these words.

    What is empty may be anything. In `words`, `{name}` stands for something that differs each time, which text and
    hint may quote, and `…` for something that does not matter. Text and hint may also quote `{message}` and `{reason}`.
    """

    status: str
    text: str
    verdict: Verdict = "wait"
    reason: str = ""
    words: Sequence[str] = ()
    hint: str = ""
    # Whether who wrote it tries again at once and takes a machine of MAAS each time.
    loops: bool = False

    def reads(self, status: str, reason: str, message: str) -> Mapping[str, str] | None:
        """What the placeholders stand for; None when the row is about something else."""
        if self.status != status or self.reason not in ("", reason):
            return None
        if not self.words:
            return {}
        found = (_pattern(words).search(message) for words in self.words)
        return next((match.groupdict() for match in found if match), None)


@dataclass(frozen=True)
class ConditionType:
    """A type of condition of a kind of object, what it is about, and the status that it has when all is well."""

    kind: str
    type: str
    subject: str
    rows: Sequence[Row] = field(default=())
    good: str = "True"

    def meaning(self, condition: Mapping[str, Any], name: str) -> Meaning:
        status, reason, message = (_text(condition.get(key)) for key in ("status", "reason", "message"))
        subject = self.subject.format(name=name)
        for row in self.rows:
            found = row.reads(status, reason, message)
            if found is not None:
                said = {"message": plain(message) or reason or "no reason is given", "reason": reason}
                said.update((key, plain(value)) for key, value in found.items() if value)
                return Meaning(subject, row.text.format_map(said), row.verdict, row.hint.format_map(said), row.loops)
        return Meaning(subject, *_of_any(status, reason, message, self.good))


def unknown(kind: str, condition: Mapping[str, Any]) -> Meaning:
    """Of a type that no entry is about: what it says itself."""
    status, reason, message = (_text(condition.get(key)) for key in ("status", "reason", "message"))
    return Meaning(_text(condition.get("type")) or f"a condition of {kind}", *_of_any(status, reason, message, "True"))


def plain(message: str) -> str:
    """A message in one line that can be read."""
    text = " ".join(_SPOILT.sub("…", message).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"


def _of_any(status: str, reason: str, message: str, good: str) -> tuple[str, Verdict]:
    if status == good:
        return "as it should be", "fine"
    return plain(message) or reason or "not known yet", "wait"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


@cache
def _pattern(words: str) -> re.Pattern[str]:
    """The words as an expression: a placeholder at the end takes all that is left, any other as little as it can."""
    parts = []
    end = 0
    for found in _PLACEHOLDER.finditer(words):
        parts.append(re.escape(words[end : found.start()]))
        end = found.end()
        some = ".+" if end == len(words) else ".+?"
        parts.append(f"(?P<{found[1]}>{some})" if found[1] else ".*?")
    parts.append(re.escape(words[end:]))
    return re.compile("".join(parts), re.DOTALL)
