# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done beside a wait: for a reason, once or again, and never in its way."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.background import (
    BackgroundJob,
    BackgroundResult,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._kube.watch import Bell

SOON = 0.01
NEVER = 3600.0
# Longer than a thread needs, on a machine that has much to do.
LIMIT = 20.0


def sight(name: str) -> ClusterSnapshot:
    return ClusterSnapshot("clusters", name)


class Work:
    """Does what its outcomes say, one after the other, the last one for ever; remembers for whom."""

    def __init__(self, *outcomes: BackgroundResult | Exception) -> None:
        self.outcomes = list(outcomes)
        self.did: list[str] = []
        self._news = threading.Condition()

    def __call__(self, seen: ClusterSnapshot) -> BackgroundResult:
        with self._news:
            self.did.append(seen.name)
            self._news.notify_all()
            outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def times(self, count: int, limit: float = LIMIT) -> bool:
        with self._news:
            return self._news.wait_for(lambda: len(self.did) >= count, limit)


@pytest.fixture
def send() -> Iterator[Callable[..., tuple[BackgroundJob, Bell]]]:
    begun: list[BackgroundJob] = []

    def begin(work: Work, rest: float = SOON) -> tuple[BackgroundJob, Bell]:
        bell = Bell()
        # Who has no name is no reason.
        begun.append(BackgroundJob("errand", lambda seen: seen.name or None, work, bell, rest))
        return begun[-1], bell

    yield begin
    for each in begun:
        each.close()


Send = Callable[..., tuple[BackgroundJob, Bell]]


def test_without_a_reason_nothing_is_done(send: Send) -> None:
    work = Work(BackgroundResult())
    errand, _bell = send(work)
    errand.offer(sight(""))
    assert not work.times(1, limit=0.2)


def test_one_reason_is_followed_once(send: Send) -> None:
    work = Work(BackgroundResult({"a": "done"}))
    errand, bell = send(work)
    errand.offer(sight("one"))
    assert bell.heard(LIMIT)
    assert errand.lines == {"a": "done"}
    errand.offer(sight("one"))
    assert not work.times(2, limit=0.2)


def test_a_new_reason_does_not_wait_for_the_rest(send: Send) -> None:
    work = Work(BackgroundResult(again=True))
    errand, _bell = send(work, rest=NEVER)
    errand.offer(sight("one"))
    assert work.times(1)
    errand.offer(sight("two"))
    assert work.times(2)
    assert work.did == ["one", "two"]


def test_what_is_not_done_is_tried_again_as_long_as_there_is_a_reason(send: Send) -> None:
    work = Work(BackgroundResult(again=True))
    errand, _bell = send(work)
    errand.offer(sight("one"))
    assert work.times(3)
    errand.offer(sight(""))
    work.times(len(work.did) + 1, limit=0.1)
    done = len(work.did)
    assert not work.times(done + 1, limit=0.2)


def test_the_same_lines_again_are_no_news(send: Send) -> None:
    work = Work(BackgroundResult({"a": "as ever"}, again=True))
    errand, bell = send(work)
    errand.offer(sight("one"))
    assert bell.heard(LIMIT)
    assert work.times(4)
    assert not bell.heard(0.1)


def test_a_server_that_does_not_answer_is_a_line_and_tried_again(send: Send) -> None:
    work = Work(Failure("unreachable", "It does not answer."), BackgroundResult({"a": "done"}))
    errand, bell = send(work)
    errand.offer(sight("one"))
    assert bell.heard(LIMIT)
    assert work.times(2)
    while errand.lines != {"a": "done"}:
        assert bell.heard(LIMIT)


@pytest.mark.parametrize("error", [Failure("credentials", "No."), KeyError("a defect")])
def test_any_other_failure_is_raised_to_whoever_asks(send: Send, error: Exception) -> None:
    work = Work(error)
    errand, bell = send(work)
    errand.offer(sight("one"))
    assert bell.heard(LIMIT)
    with pytest.raises(type(error)):
        assert errand.lines
    assert not work.times(2, limit=0.2)


def test_nothing_is_begun_after_the_end(send: Send) -> None:
    work = Work(BackgroundResult(again=True))
    errand, _bell = send(work, rest=NEVER)
    errand.offer(sight("one"))
    assert work.times(1)
    errand.close()
    errand.offer(sight("two"))
    assert not work.times(2, limit=0.2)
