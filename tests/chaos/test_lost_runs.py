# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A terminal is lost and only ansible-playbook dies with it: what it had begun writes nothing more.

METALSHIFT_CORES may name the Pythons of environments with other versions of ansible-core.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._core.parallel import AT_ONCE
from chaos.assassin import COMMITTED, RECEIVED, Door
from chaos.runs import Run, playbook
from chaos.test_machine_set import assert_nothing_left, furnish, succeed, wish
from metalshift_lab.simulator import Simulator

SIGNALS = (signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL)
PYTHONS = [sys.executable, *filter(None, os.environ.get("METALSHIFT_CORES", "").split(os.pathsep))]
# Of a whole run: while it allocates, while it deploys, and while it only waits.
MOMENTS = (6, 12, 18)
LONGEST = 10.0


def sampled() -> Iterator[Any]:
    """One of each on the core of this environment at every run of the tests; the rest with the thorough ones."""
    for number, python in enumerate(PYTHONS):
        for turn, end in enumerate(SIGNALS):
            for at in MOMENTS:
                often = number == 0 and at == MOMENTS[turn]
                core = "this" if number == 0 else Path(python).parents[1].name
                yield pytest.param(
                    python, end, at, id=f"{core}-{end.name}-{at}", marks=() if often else pytest.mark.thorough
                )


@pytest.fixture(autouse=True)
def mortal() -> Iterator[None]:
    """What runs in the background of a shell, or under nohup, ignores some of them, and so does what it starts."""
    before = {end: signal.signal(end, signal.SIG_DFL) for end in SIGNALS if end is not signal.SIGKILL}
    yield
    for end, handler in before.items():
        signal.signal(end, handler)


@pytest.mark.parametrize(("python", "end", "at"), [*sampled()])
def test_a_task_whose_playbook_has_died_writes_nothing_more(
    sim: Simulator, tmp_path: Path, python: str, end: signal.Signals, at: int
) -> None:
    furnish(sim)
    sim.auto(60)
    with Door(sim) as door:
        process = playbook(tmp_path, {"metalshift.maas.machine_set": wish(sim, door)}, python=python)
        struck: queue.SimpleQueue[tuple[list[int], int]] = queue.SimpleQueue()

        def strike() -> None:
            workers = children(process.pid)
            os.kill(process.pid, end)
            process.wait(LONGEST)
            struck.put((workers, len(writes(sim))))

        door.kill(strike, at, COMMITTED if at < MOMENTS[-1] else RECEIVED)
        output, _none = process.communicate(timeout=60)
        assert process.returncode == -end, output
        workers, before = struck.get(timeout=LONGEST)
        assert_gone(workers)
        # What its other threads had sent before it died may still arrive.
        after = len(writes(sim))
        assert after - before < AT_ONCE
        sim.auto(0.03)
        succeed(Run("machine_set", wish(sim, door, state="absent")))
        assert_nothing_left(sim)
        assert {entry.op for entry in writes(sim)[after:]} <= {"set_workload_annotations", "release"}


def writes(sim: Simulator) -> list[Any]:
    return [entry for entry in sim.requests if entry.method != "GET"]


def children(pid: int) -> list[int]:
    """The processes that this one has started."""
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(word) for word in found.stdout.split()]


def assert_gone(pids: list[int]) -> None:
    assert pids
    deadline = time.monotonic() + LONGEST
    while left := [pid for pid in pids if is_running(pid)]:
        assert time.monotonic() < deadline, f"{left} still work {LONGEST:g} seconds after ansible-playbook has died"
        time.sleep(0.01)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
