# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The request log: what clients asked, without their secrets."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, overload

from metalshift_lab.simulator.http import Request

SECRET = re.compile(r"pass|secret|token|key|certificate|user_data|power_parameters|oauth_|content", re.IGNORECASE)
PUBLIC = {"keyring_filename", "token_name"}
HIDDEN = "<hidden>"
KEPT = 100_000  # one that runs for days forgets its oldest requests


@dataclass(frozen=True)
class Entry:
    """One answered request. `status` 0: the connection was dropped instead."""

    number: int
    time: float
    method: str
    path: str
    op: str | None
    params: dict[str, list[str]]
    status: int
    bytes: int
    user: str | None
    user_agent: str
    concurrent: int
    seconds: float
    fault: str | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


class RequestLog(Sequence[Entry]):
    """Entries in the order of their answers; `number` counts requests as they arrived."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: list[Entry] = []
        self._arrived = 0
        self._running = 0

    def arrive(self) -> tuple[int, int]:
        """The number of a new request and how many are being answered now, itself included."""
        with self._lock:
            self._arrived += 1
            self._running += 1
            return self._arrived, self._running

    def answered(self, entry: Entry) -> None:
        with self._lock:
            self._running -= 1
            self._entries.append(entry)
            if len(self._entries) > 2 * KEPT:
                del self._entries[:KEPT]

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()

    def writes(self) -> list[Entry]:
        """All but GET."""
        return [e for e in self if e.method != "GET"]

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def __getitem__(self, index: int) -> Entry:
        """One entry."""

    @overload
    def __getitem__(self, index: slice) -> list[Entry]:
        """Several entries."""

    def __getitem__(self, index: int | slice) -> Entry | list[Entry]:
        with self._lock:
            return self._entries[index]

    def __iter__(self) -> Iterator[Entry]:
        with self._lock:
            return iter(list(self._entries))


def shown_params(request: Request) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for key, value in [*request.query.pairs(), *request.data.pairs()]:
        hidden = SECRET.search(key) and key not in PUBLIC
        out.setdefault(key, []).append(HIDDEN if hidden else value)
    out.pop("op", None)
    return out
