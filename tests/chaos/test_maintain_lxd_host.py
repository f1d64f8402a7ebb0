# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs that are killed while they maintain a host, or give it back: another run goes on, and all is as it was."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chaos.assassin import COMMITTED, Answer, Door
from integration.harness import begun, kill_group
from integration.maintaining import Maintenance
from metalshift_lab.simulator import Simulator
from metalshift_lab.simulator.http import Request, Response

STOP = {"vms": "stop", "shutdown": "hard"}
# A run makes two tags and gives each to the host, makes a third, gives it to the VM that runs, and switches that off:
# killed with the host half closed, with the tag on nothing, with the VM still on, and with it off.
BEFORE_THE_WORK = 7
DRAINS = (2, 5, 6, 7)
# It switches the VM on, removes its tag, and takes the two from the host.
RETURNS = (1, 2, 3)


class WriteDoor(Door):
    """Counts what writes. Between two writes a run has only looked."""

    def stand(self, request: Request, answer: Answer) -> Response | None:
        return answer(request) if request.method == "GET" else super().stand(request, answer)


@pytest.fixture
def at(sim: Simulator, tmp_path: Path) -> Maintenance:
    return Maintenance.at(sim, tmp_path)


@pytest.fixture
def door(at: Maintenance) -> Iterator[WriteDoor]:
    with WriteDoor(at.hosts.sim) as door:
        at.environment["MAAS_ENDPOINT"] = door.url
        yield door


def killed(at: Maintenance, door: Door, number: int, **given: Any) -> None:
    """A run that dies when its write of that number has taken effect."""
    command = at.command({f"lxd_maintenance_{name}": value for name, value in given.items()})
    with begun(command, at.folder, at.variables) as process:
        door.kill(lambda: kill_group(process), number, COMMITTED)
        said, _none = process.communicate(timeout=180)
    door.spare()
    assert process.returncode == -signal.SIGKILL, said[-3000:]


@pytest.mark.parametrize("number", DRAINS)
def test_a_killed_run_is_completed_by_another(at: Maintenance, door: WriteDoor, number: int) -> None:
    killed(at, door, number, **STOP)
    at.done(**STOP, tasks="work.yml")
    assert (at.worked_on, at.as_before()) == (["kvm1"], True)


@pytest.mark.parametrize("number", RETURNS)
def test_a_return_that_was_killed_is_completed_by_another(at: Maintenance, door: WriteDoor, number: int) -> None:
    killed(at, door, BEFORE_THE_WORK + number, **STOP, tasks="work.yml")
    assert at.worked_on == ["kvm1"]
    at.done(state="returned")
    assert at.as_before()
