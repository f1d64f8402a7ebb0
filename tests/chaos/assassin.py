# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A second door to a simulated MAAS, at which a run is killed after a chosen request."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from types import TracebackType

from metalshift_lab.simulator import Simulator
from metalshift_lab.simulator.http import Request, Response
from metalshift_lab.simulator.server import Answer, Server

# What has become of the request when the run dies.
RECEIVED, COMMITTED, ANSWERED = "received", "committed", "answered"
# Nobody dies: the request waits until something else has happened, and is then answered.
HELD = "held"
# Long enough for an answer to arrive, and shorter than a run takes to send the next request.
ANSWER_ARRIVES = 0.002


class Door:
    """Where runs reach the simulator. Counts their requests, and lets each take a random time."""

    def __init__(self, sim: Simulator, *, jitter: float = 0.0, seed: int = 0) -> None:
        self._world = sim.world
        self._server = Server("127.0.0.1", 0, lambda request: self.stand(request, self._world.answer))
        self._lock = threading.Lock()
        self._jitter = jitter
        self._chance = random.Random(seed)
        self._strike: Callable[[], None] | None = None
        self._at, self._when = 0, RECEIVED
        self.count = 0

    def __enter__(self) -> Door:
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.stop()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.port}/MAAS"

    def kill(self, strike: Callable[[], None], at: int, when: str) -> None:
        """Strike at the request of that number, counted from now."""
        with self._lock:
            self.count, self._strike, self._at, self._when = 0, strike, at, when

    def spare(self) -> None:
        """Strike nobody any more."""
        with self._lock:
            self._strike = None

    def stand(self, request: Request, answer: Answer) -> Response | None:
        """Let somebody answer a request, and strike before or after. Other doors may lead here, too."""
        with self._lock:
            self.count += 1
            struck = self._strike if self.count == self._at else None
            pause = self._chance.uniform(0, self._jitter)
        if struck and self._when == RECEIVED:
            struck()
            return None
        if struck and self._when == HELD:
            struck()
            struck = None
        time.sleep(pause)
        response = answer(request)
        if struck and self._when == COMMITTED:
            struck()
            return None
        if struck:
            threading.Timer(ANSWER_ARRIVES, struck).start()
        return response
