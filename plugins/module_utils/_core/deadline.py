# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long one request may take: the whole of it, and no longer than the task that sends it may still wait.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import TypeVar

from ansible_collections.metalshift.maas.plugins.module_utils._core.clock import Clock

Value = TypeVar("Value")

# A server that is well answers in this time: a request that is sent at the very end is not cut shorter. A write whose
# answer does not come leaves more behind than a read.
LEAST_FOR_READS = 5.0
LEAST_FOR_WRITES = 15.0


class TooLong(OSError):
    """A request was not through in its time."""


class Deadline:
    """Until when a task waits, all its waits together. A task that does not wait has none."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._at: float | None = None

    def set(self, seconds: float) -> None:
        """From now on the task waits, this long at most."""
        self._at = self._clock.now() + seconds

    @property
    def has_passed(self) -> bool:
        return self._at is not None and self._clock.now() >= self._at

    def cut(self, seconds: float, least: float = 0.0) -> float:
        """What is left of so many seconds, but not less than `least` of them."""
        return seconds if self._at is None else min(seconds, max(self._at - self._clock.now(), least))


def within(seconds: float, act: Callable[[], Value]) -> Value:
    """What `act` returns, or TooLong.

    HTTP libraries bound the silence between two pieces. A server that drips, a name that is slow to resolve and a
    handshake that does not end are bounded by who waits for them only.
    """
    done: queue.SimpleQueue[tuple[Value | None, BaseException | None]] = queue.SimpleQueue()

    def work() -> None:
        try:
            done.put((act(), None))
        except BaseException as error:
            done.put((None, error))

    threading.Thread(target=work, daemon=True).start()
    try:
        value, error = done.get(timeout=seconds)
    except queue.Empty:
        raise TooLong from None
    if error is not None:
        raise error
    return value  # type: ignore[return-value]
