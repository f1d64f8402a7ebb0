# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How requests of a real MAAS hold up each other: a few workers, and transactions that cannot be serialised.

Measured on the API of MAAS 3.6.5. Who changes what another changes at the same time is rolled back and tried again
inside of MAAS, after pauses that grow, in its worker; after the tenth time the client is told to come again.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from metalshift_lab.simulator.errors import SERIALISATION_CONFLICT
from metalshift_lab.simulator.http import Request, Response
from metalshift_lab.simulator.state import State

WORKERS = 4
RETRY_AFTER = 5
TRIES = 10
# Seconds; each pause is a random part of it.
FIRST_PAUSE, GROWTH, LONGEST_PAUSE = 0.025, 2.5, 10.0


@dataclass(frozen=True)
class Cost:
    """What a request takes, in seconds of a worker, and with which others it cannot be serialised."""

    seconds: float
    exclusive: str = ""


ANY_READ, ANY_WRITE, PER_MACHINE = 0.008, 0.15, 0.014
COSTS = {
    "allocate": Cost(0.19, "allocations"),
    "deploy": Cost(0.75, "deployments"),
    "release": Cost(0.2),
}


def pauses() -> Iterator[float]:
    longest = FIRST_PAUSE
    for _try in range(TRIES - 1):
        yield random.uniform(0, longest)
        longest = min(longest * GROWTH, LONGEST_PAUSE)


def cost_of(request: Request, op: str | None, state: State) -> Cost:
    if request.method == "GET":
        listing = request.path.endswith("/machines/") and not op and "id" not in request.query
        return Cost(PER_MACHINE * sum(1 for _machine in state.machines) if listing else ANY_READ)
    if op == "allocate" and "system_id" in request.data:
        # Nobody else wants the rows that it looks at.
        return Cost(COSTS["allocate"].seconds)
    return COSTS.get(op or "", Cost(ANY_WRITE))


@dataclass
class Contention:
    """The workers of one MAAS. None: as many as there are requests, each done at once."""

    workers: threading.Semaphore | None = None
    sleep: Callable[[float], None] = time.sleep
    # How often MAAS rolled back, and how often it gave up, by what was exclusive.
    rolled_back: Counter[str] = field(default_factory=Counter)
    given_up: Counter[str] = field(default_factory=Counter)
    _committed: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, workers: int) -> None:
        """From now on requests take their time; 0 ends that."""
        self.workers = threading.Semaphore(workers) if workers else None

    def work(self, request: Request, op: str | None, state: State, act: Callable[[], Response]) -> Response:
        """Carry out a request when there is a worker for it, as often as it takes."""
        workers = self.workers
        if workers is None:
            return act()
        with workers:
            cost = cost_of(request, op, state)
            if not cost.exclusive:
                self.sleep(cost.seconds)
                return act()
            for pause in (*pauses(), None):
                before = self._committed[cost.exclusive]
                self.sleep(cost.seconds)
                with self._lock:
                    if self._committed[cost.exclusive] == before:
                        self._committed[cost.exclusive] += 1
                        return act()
                    self.rolled_back[cost.exclusive] += 1
                if pause is not None:
                    self.sleep(pause)
            self.given_up[cost.exclusive] += 1
            return Response(409, SERIALISATION_CONFLICT, "text/html; charset=utf-8", {"Retry-After": str(RETRY_AFTER)})
