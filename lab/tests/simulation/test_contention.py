# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests that hold up each other."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from caller import Caller
from metalshift_lab.simulator import Simulator
from metalshift_lab.simulator.contention import TRIES, Contention


@pytest.fixture
def busy(sim: Simulator) -> Contention:
    """Four workers whose time passes at once."""
    sim.machines(8)
    contention = sim.workers()
    contention.sleep = lambda _seconds: None
    return contention


def meanwhile(contention: Contention, act: Callable[[], object], times: int) -> None:
    """Let something happen while a request is being worked on, so many times."""
    left = [times]

    def sleep(_seconds: float) -> None:
        if left[0] > 0:
            left[0] -= 1
            before, contention.sleep = contention.sleep, lambda _seconds: None
            act()
            contention.sleep = before

    contention.sleep = sleep


def test_allocations_that_come_together_roll_back_each_other(sim: Simulator, busy: Contention, maas: Caller) -> None:
    other = Caller(sim, sim.api_key)
    meanwhile(busy, lambda: other("POST", "machines/?op=allocate"), times=1)
    assert maas("POST", "machines/?op=allocate").ok
    assert (busy.rolled_back["allocations"], busy.given_up.total()) == (1, 0)
    assert sum(machine.owner is not None for machine in sim.state.machines) == 2


def test_what_is_rolled_back_again_and_again_is_given_up_late(sim: Simulator, busy: Contention, maas: Caller) -> None:
    other, machine = Caller(sim, sim.api_key), sim.machine("node-1")
    for_ever = 10 * TRIES
    meanwhile(busy, lambda: other("POST", "machines/?op=allocate", {"agent_name": "other"}), times=for_ever)
    answer = maas("POST", "machines/?op=allocate")
    assert (answer.status_code, answer.headers["Retry-After"]) == (409, "5")
    assert "Conflict error. Try your request again" in answer.text
    # Who names the machine meets nobody.
    named = maas("POST", "machines/?op=allocate", {"system_id": machine.system_id})
    assert named.status_code in (200, 409)
    assert "Conflict error" not in named.text


def test_there_are_so_many_workers_and_no_more(sim: Simulator, busy: Contention) -> None:
    inside, most, lock, full = [0], [0], threading.Lock(), threading.Barrier(4)

    def sleep(_seconds: float) -> None:
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        full.wait(20)
        with lock:
            inside[0] -= 1

    busy.sleep = sleep
    threads = [threading.Thread(target=lambda: Caller(sim, sim.api_key)("GET", "zones/")) for _thread in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [4]


def test_without_workers_nothing_takes_time(sim: Simulator, busy: Contention, maas: Caller) -> None:
    sim.workers(0)
    busy.sleep = lambda _seconds: pytest.fail("it slept")
    assert maas("POST", "machines/?op=allocate").ok
