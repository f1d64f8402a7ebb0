# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many requests are under way at once, beside servers of several kinds."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._maas.lanes import Lanes, Pace

# Answers a second with so many at once.
Server = Callable[[int], float]


def limits(pace: Pace, server: Server, answers: int = 200) -> list[int]:
    """The limit after each answer of a server that is asked as much as it may be."""
    now, seen = 0.0, []
    for _answer in range(answers):
        now += 1 / server(pace.limit)
        pace.answered(now, others_wait=True)
        seen.append(pace.limit)
    return seen


@pytest.mark.parametrize(
    ("first", "most", "server", "reached"),
    [
        (1, 4, lambda _at_once: 1.3, {1, 2}),
        (1, 4, lambda at_once: 1.3 * min(at_once, 2), {2, 3}),
        (1, 4, lambda at_once: 10.0 * at_once, {4}),
        (1, 16, lambda at_once: 5.0 * min(at_once, 4), {4, 5}),
        (4, 4, lambda at_once: 5.0 * at_once, {4}),
    ],
    ids=["one after the other", "two", "any number", "four workers", "the bound"],
)
def test_as_many_as_the_server_gets_through_faster(first: int, most: int, server: Server, reached: set[int]) -> None:
    assert set(limits(Pace(first, most), server)[100:]) <= reached


def test_one_more_is_tried_now_and_then_only() -> None:
    seen = limits(Pace(1, 4), lambda _at_once: 1.3)
    assert seen.count(2) < len(seen) / 4


def test_a_complaint_halves_and_patience_follows() -> None:
    pace = Pace(8, 8)
    pace.complained()
    assert pace.limit == 4
    assert set(limits(pace, lambda at_once: 1.0 * at_once, 40)) == {4}
    for _complaint in range(5):
        pace.complained()
    assert pace.limit == 1


def test_without_a_queue_nothing_is_learnt() -> None:
    pace = Pace(1, 4)
    for now in range(100):
        pace.answered(float(now), others_wait=False)
    assert pace.limit == 1


@pytest.mark.parametrize(
    ("op", "fields", "most"),
    [
        ("allocate", {"zone", "agent_name"}, 1),
        ("allocate", {"system_id"}, 3),
        ("release", set(), 3),
        ("deploy", set(), 1),
    ],
)
def test_each_kind_of_write_begins_with_what_maas_gets_on_with(op: str, fields: set[str], most: int) -> None:
    lanes = Lanes(3, lambda: 0.0)
    inside, most_inside, lock = 0, 0, threading.Lock()

    def ask() -> None:
        nonlocal inside, most_inside
        with lanes.of(op, fields).slot():
            with lock:
                inside += 1
                most_inside = max(most_inside, inside)
            together.wait(20)
            with lock:
                inside -= 1

    together = threading.Barrier(most)
    threads = [threading.Thread(target=ask) for _thread in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most_inside == most
