# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How people spell and repeat what they mean."""

from __future__ import annotations

from typing import Any

import pytest

from integration.harness import Outcome, run_task
from metalshift_lab.simulator import Simulator

HARDWARE = {"architecture": "amd64", "power_type": "manual"}


def machine(sim: Simulator, *names: Any, check: bool = False, **options: Any) -> Outcome:
    waiting = {"wait_sleep": 0.02, "wait_timeout": 5}
    return run_task(sim, "machine", {"machines": list(names), **waiting, **options}, check=check)


def test_a_description_may_be_a_block_of_yaml(sim: Simulator) -> None:
    """MAAS takes away the final newline: it is no change."""
    sim.machine("node-1")
    assert machine(sim, "node-1", description="Rack 7\nslot 3\n").changed
    assert not machine(sim, "node-1", description="Rack 7\nslot 3\n").changed
    new = {"name": "node-9", "mac_addresses": ["52:54:00:00:99:01"], "description": "Rack 7\n", **HARDWARE}
    sim.requests.clear()
    machine(sim, new)
    assert [entry.method for entry in sim.requests.writes()] == ["POST"]


@pytest.mark.parametrize("name", ["Node-A", "node-a", "NODE-A.MAAS"])
def test_a_hostname_with_capitals_is_found(sim: Simulator, name: str) -> None:
    """MAAS's filter compares to the letter, so only the machine's own spelling or the task's can be asked for."""
    sim.machine("Node-A" if name == "Node-A" else "node-a")
    assert not machine(sim, name).failed


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize(
    ("again", "says"),
    [
        ({"name": "node-9", "mac_addresses": ["52:54:00:00:99:02"]}, "node-9 is named twice. Name it once."),
        ({"name": "node-8", "mac_addresses": ["52-54-00-00-99-01"]}, "node-8 and node-9 are the same machine."),
    ],
)
def test_what_is_enlisted_twice_is_refused_the_second_time(
    sim: Simulator, again: dict[str, Any], says: str, check: bool
) -> None:
    first = {"name": "node-9", "mac_addresses": ["52:54:00:00:99:01"]}
    came = machine(sim, first, again, check=check, **HARDWARE)
    assert says in came.msg
    assert ["failure" in one for one in came["machines"]] == [False, True]
    assert len(sim.requests.writes()) == (0 if check else 1)


def test_check_mode_tags_what_an_earlier_task_would_have_enlisted(sim: Simulator) -> None:
    sim.machine("node-1")
    wanted = {"name": "fast", "machines": ["node-1", "node-9"]}
    foreseen = run_task(sim, "tag", wanted, check=True)
    assert foreseen["tag"]["machines"] == ["node-1", "node-9"]
    assert foreseen["warnings"] == ["MAAS does not know node-9 yet."]
    assert "MAAS does not know node-9." in run_task(sim, "tag", wanted).msg
    assert not sim.requests.writes()


@pytest.mark.parametrize("option", ["zone", "pool", "domain"])
def test_an_empty_name_is_no_wish(sim: Simulator, option: str) -> None:
    sim.machine("node-1")
    came = machine(sim, "node-1", **{option: ""})
    assert came.msg == f"{option} must not be empty. Leave out what is not to be set."
    assert not sim.requests.writes()


@pytest.mark.parametrize("claim", ["two words", " web", "grün", "w" * 256])
def test_what_no_set_can_be_called_is_no_claim_of_a_machine(sim: Simulator, claim: str) -> None:
    sim.machine("node-1")
    came = machine(sim, "node-1", state="allocated", claim=claim)
    assert came["machine"]["failure"]["kind"] == "invalid"
    assert f"{claim!r} cannot be a claim." in came.msg
    assert not sim.requests.writes()
