# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Time as something that tests can hold in their hands.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """What waiting and retrying need of time."""

    def now(self) -> float:
        """Seconds since some moment; never goes back."""

    def sleep(self, seconds: float) -> None:
        """Return when that many seconds have passed."""


class WallClock:
    """The clock on the wall."""

    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


WALL_CLOCK = WallClock()


def in_words(seconds: float) -> str:
    """A duration as people write it: `4m10s`."""
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    if hours:
        return f"{hours}h{minutes:02}m"
    return f"{minutes}m{left:02}s" if minutes else f"{left}s"
