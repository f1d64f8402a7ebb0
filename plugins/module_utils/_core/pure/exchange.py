# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One request and its answer, as they are counted and shown at `-vvv`.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from dataclasses import dataclass


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
