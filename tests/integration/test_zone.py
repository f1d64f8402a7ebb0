# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What removing a zone does to the machines in it."""

from __future__ import annotations

import pytest

from integration.harness import run_task
from metalshift_lab.simulator import Simulator

REMOVED = {"name": "az1", "state": "absent"}


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize(
    ("count", "told"),
    [
        (1, "1 machine to the default zone: node-1."),
        (3, "3 machines to the default zone: node-1, node-2 and node-3."),
        (5, "5 machines to the default zone: node-1, node-2, node-3 and 2 more."),
    ],
)
def test_a_zone_that_is_removed_tells_which_machines_move(sim: Simulator, count: int, told: str, check: bool) -> None:
    for number in range(1, count + 1):
        sim.machine(f"node-{number}", zone="az1")
    sim.machine("node-9", zone="az2")
    came = run_task(sim, "zone", REMOVED, check=check)
    assert came.changed
    assert came["warnings"] == [f"Removing zone az1 moves {told}"]


def test_nothing_is_told_of_a_zone_that_is_empty_or_absent(sim: Simulator) -> None:
    run_task(sim, "zone", {"name": "az1"})
    assert "warnings" not in run_task(sim, "zone", REMOVED)
    sim.requests.clear()
    assert "warnings" not in run_task(sim, "zone", REMOVED)
    assert not [entry for entry in sim.requests if "machines" in entry.path]


def test_a_zone_is_removed_though_its_machines_cannot_be_listed(sim: Simulator) -> None:
    sim.machine("node-1", zone="az1")
    sim.fault(method="GET", path="machines/", status=403, hits=0)
    came = run_task(sim, "zone", REMOVED)
    assert (came.failed, came.changed) == (False, True)
    assert "warnings" not in came
    assert 403 in [entry.status for entry in sim.requests]
