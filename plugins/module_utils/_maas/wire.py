# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One request and one answer: how values are written, and what is kept of what came back.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Union

from ansible_collections.metalshift.maas.plugins.module_utils._failure import Failure

Fields = Union[Mapping[str, Any], Iterable[tuple[str, Any]]]


@dataclass(frozen=True)
class Exchange:
    """One request as it went over the wire; for counting and for `-vvv`. Holds no form values: they may be secret."""

    method: str
    path: str
    query: str
    status: int | None
    sent: int
    received: int
    seconds: float
    problem: str = ""

    def __str__(self) -> str:
        target = f"{self.path}?{self.query}" if self.query else self.path
        answer = f"{self.status}, {self.received} bytes" if self.status else self.problem
        return f"{self.method} {target} -> {answer}, {self.seconds * 1000:.0f} ms"


@dataclass(frozen=True)
class Answer:
    """What came back, or what kept it from coming."""

    status: int = 0
    text: str = ""
    content_type: str = ""
    retry_after: float | None = None
    failure: Failure | None = None
    never_sent: bool = False

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def passing_conflict(self) -> bool:
        """MAAS gave up on a serialisation conflict and rolled back; a conflict of state comes without Retry-After."""
        return self.status == 409 and self.retry_after is not None

    def body(self) -> Any:
        if self.content_type == "application/json" or self.text[:1] in ("{", "["):
            try:
                return json.loads(self.text)
            except ValueError:
                return self.text
        return self.text


def as_pairs(fields: Fields, op: str = "") -> list[tuple[str, str]]:
    """Fields as MAAS reads them: lists as repeated keys, booleans as true and false, None not at all.

    `0`, `no` and `off` are true to half of MAAS's boolean parsers (release erase=0 erases the disks).
    """
    pairs = [("op", op)] if op else []
    for name, value in fields.items() if isinstance(fields, Mapping) else fields:
        several = value if isinstance(value, (list, tuple, set, frozenset)) else [value]
        pairs += [(name, str(one).lower() if isinstance(one, bool) else str(one)) for one in several if one is not None]
    return pairs


def as_seconds(header: str | None) -> float | None:
    try:
        return max(0.0, float(header)) if header is not None else None
    except ValueError:
        return None
