# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done beside a wait, so that it keeps nobody from telling what changed.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import PASSING, Failure
from ansible_collections.metalshift.maas.plugins.module_utils._kube.watch import Bell

# Doing must not become the load: what takes two seconds is done every ten.
REST_PER_ERRAND = 5.0


@dataclass(frozen=True)
class BackgroundResult:
    """What came of an errand: lines by topic, and whether the same is to be tried again for the same reason."""

    lines: Mapping[str, str] = field(default_factory=dict)
    again: bool = False


class BackgroundJob:
    """One thing that is done for the latest sight, by a thread of its own, when there is a reason for it.

    `reason` says why it is to be done, or None. A new reason is followed at once; the same one, as long as the outcome
    asks for it, every `rest` seconds. A server that does not answer is a line; any other failure is the task's.
    """

    def __init__(
        self,
        name: str,
        reason: Callable[[ClusterSnapshot], Hashable | None],
        work: Callable[[ClusterSnapshot], BackgroundResult],
        bell: Bell,
        rest: float,
    ) -> None:
        self._name, self._reason, self._work, self._bell, self._rest = name, reason, work, bell, rest
        self._news = threading.Condition()
        self._offered: tuple[ClusterSnapshot, Hashable] | None = None
        self._done = BackgroundResult()
        self._failure: BaseException | None = None
        self._begun = self._closed = False

    def offer(self, sight: ClusterSnapshot) -> None:
        """This is how it is now. Returns at once."""
        reason = self._reason(sight)
        with self._news:
            self._offered = None if reason is None else (sight, reason)
            if self._offered is not None and not self._begun:
                self._begun = True
                threading.Thread(target=self._run, name=self._name, daemon=True).start()
            self._news.notify_all()

    @property
    def lines(self) -> Mapping[str, str]:
        """What came of it the last time; a failure that is the task's is raised."""
        if self._failure is not None:
            raise self._failure
        return self._done.lines

    def close(self) -> None:
        """Begin nothing new."""
        with self._news:
            self._closed = True
            self._news.notify_all()

    def _run(self) -> None:
        followed: Hashable | None = None
        rested = 0.0
        while True:
            with self._news:
                while not self._closed and not self._is_due(followed, rested):
                    waits_for_time = self._done.again and self._offered is not None
                    self._news.wait(max(rested - time.monotonic(), 0.01) if waits_for_time else None)
                if self._closed or self._offered is None:
                    return
                sight, followed = self._offered
            began = time.monotonic()
            if not self._do(sight):
                return
            ended = time.monotonic()
            rested = ended + max(self._rest, REST_PER_ERRAND * (ended - began))

    def _is_due(self, followed: Hashable | None, rested: float) -> bool:
        if self._offered is None:
            return False
        return self._offered[1] != followed or (self._done.again and time.monotonic() >= rested)

    def _do(self, sight: ClusterSnapshot) -> bool:
        before = self._done.lines
        try:
            self._done = self._work(sight)
        except Failure as failure:
            if failure.kind not in PASSING:
                return self._fail(failure)
            self._done = BackgroundResult(
                {**before, self._name: f"{self._name}: {failure.message.rstrip('.')}"}, again=True
            )
        except BaseException as defect:  # it is raised where somebody hears of it
            return self._fail(defect)
        if self._done.lines != before:
            self._bell.ring()
        return True

    def _fail(self, failure: BaseException) -> bool:
        if not self._closed:
            self._failure = failure
            self._bell.ring()
        return False
