# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many writes of one kind are under way at MAAS at once: as many as it gets through faster.

Measured on MAAS 3.6: allocations by constraints, side by side, roll back each other and take three times as long as one
after the other; deployments gain nothing beyond two at once; all else does. How many are best depends on the server, so
a lane that may grow does, for as long as that brings more answers a second, and one that MAAS complains of shrinks.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

USUAL, MOST = 4, 64

# Nobody else wants the rows of a machine that is allocated by its system_id.
BY_CONSTRAINTS, BY_SYSTEM_ID = "allocate", "allocate by system_id"
# What never gains anything, and what has to show first that it does.
ALONE = frozenset({BY_CONSTRAINTS})
CAREFUL = frozenset({"deploy"})

# So much faster it has to be with one more at once.
WORTH_IT = 1.15
# After one more was not worth it, the limit stays for so many times the answers that it takes to see that.
CONTENT = 8


class Pace:
    """How many may be under way at once, learnt from when answers come."""

    def __init__(self, limit: int, most: int) -> None:
        self.limit = limit
        self._most = most
        self._content = 0
        # Answers a second with one less at once.
        self._before: float | None = None
        self._began: float | None = None
        self._answers = 0

    def answered(self, now: float, others_wait: bool) -> None:
        """Count an answer. Without others that wait, how fast it goes is not for the limit to say."""
        if not others_wait or self._began is None:
            self._forget()
            self._began = now if others_wait else None
            return
        self._answers += 1
        if self._answers < 2 * self.limit:
            return
        rate = self._answers / max(now - self._began, 1e-6)
        before, self._before = self._before, None
        if before is not None and rate < WORTH_IT * before:
            self.limit -= 1
            self._content = CONTENT
        elif self._content:
            self._content -= 1
        elif self.limit < self._most:
            self.limit += 1
            self._before = rate
        self._began, self._answers = now, 0

    def complained(self) -> None:
        """MAAS could not get on with so many at once."""
        self.limit = max(1, self.limit // 2)
        self._content = CONTENT
        self._forget()

    def _forget(self) -> None:
        self._began, self._answers, self._before = None, 0, None


class Lane:
    """The requests of one kind. Used by several threads at once."""

    def __init__(self, pace: Pace, now: Callable[[], float]) -> None:
        self._pace = pace
        self._now = now
        self._busy = 0
        self._waiting = 0
        self._turn = threading.Condition()

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Wait until one more request may be under way."""
        with self._turn:
            self._waiting += 1
            self._turn.wait_for(lambda: self._busy < self._pace.limit)
            self._waiting -= 1
            self._busy += 1
        try:
            yield
        finally:
            with self._turn:
                self._busy -= 1
                self._pace.answered(self._now(), self._waiting > 0)
                self._turn.notify_all()

    def complain(self) -> None:
        with self._turn:
            self._pace.complained()


class Lanes:
    """A lane for each kind of write, made when it is first needed."""

    def __init__(self, most: int, now: Callable[[], float]) -> None:
        self.most = most
        self._now = now
        self._lanes: dict[str, Lane] = {}
        self._lock = threading.Lock()

    def of(self, op: str, fields: Collection[str]) -> Lane:
        """The lane for a write; `fields` are the names in its form."""
        kind = BY_SYSTEM_ID if op == BY_CONSTRAINTS and "system_id" in fields else op
        with self._lock:
            return self._lanes.setdefault(kind, self._made(kind))

    def _made(self, kind: str) -> Lane:
        if kind in ALONE:
            return Lane(Pace(1, 1), self._now)
        return Lane(Pace(1 if kind in CAREFUL else self.most, self.most), self._now)
