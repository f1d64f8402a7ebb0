# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting: how often is looked, and until when."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._core.wait import (
    HEARTBEAT,
    LONGEST,
    REST_PER_LOOK,
    Patience,
)


class Clock:
    """Time passes by sleeping only."""

    def __init__(self) -> None:
        self.time = 0.0
        self.rests: list[float] = []

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.rests.append(seconds)
        self.time += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


def waited(clock: Clock, look: Callable[[], int], until: int, timeout: float = 1000.0) -> int | None:
    patience = Patience(clock, lambda _line: None, timeout, 2.0)
    return patience.until(look, lambda seen: seen >= until, lambda _seen: "as ever")


def test_looks_become_rarer_up_to_a_bound(clock: Clock) -> None:
    looks = iter(range(20))
    assert waited(clock, lambda: next(looks), 12) == 12
    assert clock.rests[0] == 2.0
    assert clock.rests == sorted(clock.rests)
    assert clock.rests[-1] == 2.0 * LONGEST


def test_news_make_it_look_often_again(clock: Clock) -> None:
    seen = iter([0, 0, 0, 0, 1, 1, 2])
    patience = Patience(clock, lambda _line: None, 1000.0, 2.0)
    patience.until(lambda: next(seen), lambda now: now == 2, str)
    assert clock.rests[4] == 2.0


def test_a_slow_listing_is_asked_for_less_often(clock: Clock) -> None:
    looks = iter(range(10))

    def slow() -> int:
        clock.time += 10.0
        return next(looks)

    waited(clock, slow, 3)
    assert clock.rests == [10.0 * REST_PER_LOOK] * 3


def test_it_ends_in_time_with_a_last_look(clock: Clock) -> None:
    looks: list[float] = []

    def look() -> int:
        looks.append(clock.time)
        return 0

    assert waited(clock, look, 1, timeout=7.0) is None
    assert looks[-1] == pytest.approx(7.0)
    assert sum(clock.rests) == pytest.approx(7.0)


@pytest.mark.parametrize("again", ["2/5 deployed", ""], ids=["said again", "no news"])
def test_a_long_wait_gives_a_sign_of_life(clock: Clock, again: str) -> None:
    lines: list[str] = []
    tells = iter(["2/5 deployed"])
    patience = Patience(clock, lines.append, 3600.0, 5.0)
    patience.until(lambda: clock.time, lambda now: now > 3.5 * HEARTBEAT, lambda _now: next(tells, again))
    assert lines[0] == "2/5 deployed, 0s"
    assert len(lines) == 4
    assert [line.rpartition(" of ")[2] for line in lines[1:]] == ["1h00m"] * 3
    assert all(line.startswith("2/5 deployed, ") for line in lines)


def test_who_has_news_needs_no_sign_of_life(clock: Clock) -> None:
    lines: list[str] = []
    patience = Patience(clock, lines.append, 3600.0, 5.0)
    patience.until(lambda: clock.time, lambda now: now > 3 * HEARTBEAT, lambda now: f"at {now:g}")
    assert not [line for line in lines if " of " in line]
