# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A clock that tests may move."""

from __future__ import annotations

import time
from datetime import datetime, timezone


class Clock:
    """Real time plus an offset. `forward` moves it; nothing in the simulator sleeps on it."""

    def __init__(self) -> None:
        self._offset = 0.0

    def time(self) -> float:
        return time.time() + self._offset

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.time(), timezone.utc)

    def forward(self, seconds: float) -> None:
        self._offset += seconds
