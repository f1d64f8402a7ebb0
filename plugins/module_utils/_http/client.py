# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the clients of MAAS, LXD and Kubernetes have in common: when a request is sent again, and when it is looked up.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from ansible_collections.metalshift.maas.plugins.module_utils._core.clock import Clock
from ansible_collections.metalshift.maas.plugins.module_utils._core.deadline import (
    LEAST_FOR_READS,
    LEAST_FOR_WRITES,
    Deadline,
)
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.exchange import Exchange
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._http.pure.answer import Answer

Answered = TypeVar("Answered", bound=Answer)
Settled = TypeVar("Settled")

ATTEMPTS = 5
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 8.0
LONGEST_RETRY_AFTER = 30.0
# Attempts end when this many time-outs have passed: a server that hangs is not asked five times.
TIMEOUTS_TO_SPEND = 2
LEAST_TO_SPEND = 30.0


class Attempts:
    """How often one request may be sent, and how long all of that may take."""

    def __init__(self, clock: Clock, deadline: Deadline, seconds: float, most: int) -> None:
        self.made = 0
        self._clock = clock
        self._deadline = deadline
        self._most = most
        self._until = clock.now() + max(TIMEOUTS_TO_SPEND * seconds, LEAST_TO_SPEND)

    def another(self, retry_after: float | None) -> bool:
        """Whether there may be another one; if so, after a pause."""
        self.made += 1
        if self.made >= self._most or self._clock.now() >= self._until or self._deadline.has_passed:
            return False
        if retry_after is not None:
            pause = min(retry_after, LONGEST_RETRY_AFTER)
        else:
            longest = min(FIRST_PAUSE * 2 ** (self.made - 1), LONGEST_PAUSE)
            # Spread out, so that many clients that failed together do not come back together.
            pause = random.uniform(longest / 2, longest)
        self._clock.sleep(self._deadline.cut(pause))
        return True


class HttpClient:
    """Sends requests again where that can help and does no harm, and counts them. Safe to use from several threads.

    One request may take so many `seconds`, and no longer than the task that sends it may still wait.
    """

    def __init__(self, clock: Clock, seconds: float, deadline: Deadline | None, attempts: int = ATTEMPTS) -> None:
        self.exchanges: list[Exchange] = []
        self.wrote = False
        self._clock = clock
        self._longest = seconds
        self._deadline = deadline or Deadline(clock)
        self._most_attempts = attempts
        self._lock = threading.Lock()

    def _seconds_for(self, method: str) -> float:
        """How long one attempt may take now."""
        return self._deadline.cut(self._longest, LEAST_FOR_READS if method == "GET" else LEAST_FOR_WRITES)

    def _attempts(self) -> Attempts:
        return Attempts(self._clock, self._deadline, self._longest, self._most_attempts)

    def _read(self, send: Callable[[], Answered]) -> Answered:
        """The answer to what may be sent as often as one likes; the last one if all are bad."""
        attempts = self._attempts()
        while True:
            answer = send()
            if answer.ok or not answer.is_passing or not attempts.another(answer.retry_after):
                return answer

    def _write(
        self,
        send: Callable[[], Answered],
        *,
        uncertain: Callable[[Answered], Failure],
        settled: Callable[[], Settled | None] | None = None,
        repeatable: bool = False,
        deletes: bool = False,
        once_more: Callable[[Answered], bool] = lambda _answer: False,
    ) -> Answered | Settled:
        """Write once, in effect: the answer, good or bad, or what `settled` found.

        A write that never left, or that was rolled back, is sent again. One whose answer was lost may have taken
        effect, or may yet: `settled` looks the object up and returns it if so, else the write is sent again. Without
        `settled` only a `repeatable` write is sent again, and another one is a failure that says so. After the first
        attempt, `once_more` may find that what looks final is worth a second one.
        """
        attempts = self._attempts()
        is_safe = repeatable or settled is not None
        in_doubt = False
        while True:
            answer = send()
            in_doubt = in_doubt or answer.in_doubt
            if answer.ok:
                return answer
            if in_doubt and deletes and answer.status == 404:
                # It was there when it was asked for first.
                return replace(answer, status=204)
            # Also when a repetition is refused: the first one may have arrived in the meantime.
            found = self._look_up(settled, uncertain, answer) if in_doubt and settled else None
            if found is not None:
                return found
            again = (answer.is_passing and (is_safe or not answer.in_doubt)) or (
                attempts.made == 0 and once_more(answer)
            )
            if not again or not attempts.another(answer.retry_after):
                break
        if not answer.is_final_word and not is_safe:
            raise uncertain(answer)
        return answer

    def _look_up(
        self, settled: Callable[[], Settled | None], uncertain: Callable[[Answered], Failure], answer: Answered
    ) -> Settled | None:
        try:
            return settled()
        except Failure as failure:
            raise uncertain(answer) from failure

    def _count(self, exchange: Exchange) -> int:
        """Keep what went over the wire; returns its place."""
        with self._lock:
            self.exchanges.append(exchange)
            return len(self.exchanges) - 1
