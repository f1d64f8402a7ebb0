# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `machine_info` finds and tells."""

from __future__ import annotations

import json
from typing import Any

import pytest

from integration.harness import run_task
from metalshift_lab.simulator import Simulator


@pytest.fixture
def rack(sim: Simulator) -> Simulator:
    sim.machine("node-1", zone="az1", tags=["fast", "ssd"])
    sim.machine("node-2", zone="az2", pool="prod", tags=["fast"], status="Deployed", agent_name="web")
    sim.machine("node-3", status="Failed testing", architecture="arm64/generic")
    sim.machine("node-4", status="New")
    return sim


FOUND: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["node-1", "node-2", "node-3", "node-4"]),
    ({"machines": ["node-4", "node-1.maas"]}, ["node-1", "node-4"]),
    ({"machines": ["node-4", "node-1"], "zone": ["az1"]}, ["node-1"]),
    ({"machines": []}, []),
    ({"status": ["failed_testing", "new"]}, ["node-3", "node-4"]),
    ({"zone": ["az1", "az2"]}, ["node-1", "node-2"]),
    ({"pool": ["prod"]}, ["node-2"]),
    ({"tags": ["fast"]}, ["node-1", "node-2"]),
    ({"tags": ["fast", "ssd"]}, ["node-1"]),
    ({"not_tags": ["ssd"]}, ["node-2", "node-3", "node-4"]),
    ({"claim": "web"}, ["node-2"]),
    ({"owner": "admin", "status": ["deployed"]}, ["node-2"]),
    ({"domain": ["maas"], "zone": ["az1"]}, ["node-1"]),
    ({"architecture": ["arm64/generic"]}, ["node-3"]),
]


@pytest.mark.parametrize(("filters", "names"), FOUND)
def test_filters_choose(rack: Simulator, filters: dict[str, Any], names: list[str]) -> None:
    came = run_task(rack, "machine_info", filters)
    assert not came.failed, came.msg
    assert [machine["hostname"] for machine in came["machines"]] == names
    assert sum(came["summary"].values()) == len(names)


def test_filters_need_one_request(rack: Simulator) -> None:
    rack.requests.clear()
    run_task(rack, "machine_info", {"zone": ["az1"], "status": ["ready"], "tags": ["fast"]})
    assert len(rack.requests) == 1


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("zone", "zone: No such zone(s): nowhere."),
        ("pool", "pool: No such pool(s): nowhere."),
        ("tags", "tags: No such tag(s): 'nowhere'."),
        ("not_tags", "not_tags: No such tag(s): 'nowhere'."),
    ],
)
@pytest.mark.parametrize("check", [True, False])
def test_an_unknown_name_in_a_filter_is_told_alike(rack: Simulator, option: str, told: str, check: bool) -> None:
    """MAAS itself ignores one in not_tags, and so finds the very machines that were to be left out."""
    came = run_task(rack, "machine_info", {option: ["nowhere"]}, check=check)
    if check:
        assert (came["machines"], came["warnings"]) == ([], [f"MAAS does not have all of it yet: {told}"])
    else:
        assert came.msg == f"No machine can be looked for so: {told} Check the spelling, or make it first."


def test_unknown_machines_are_a_warning(rack: Simulator) -> None:
    came = run_task(rack, "machine_info", {"machines": ["node-1", "nobody"]})
    assert came["warnings"] == ["MAAS does not know nobody."]
    assert came["summary"] == {"ready": 1}


def test_what_may_be_secret_is_hidden(rack: Simulator) -> None:
    rack.find("node-1").power_parameters.update(power_pass="sesame", k_g="sesame", something_new="sesame")
    came = run_task(rack, "machine_info", {"machines": ["node-1"], "gather": ["power_parameters"]})
    shown = came["machines"][0]["power_parameters"]
    assert shown["power_user"] == "lab"
    assert {shown[key] for key in ("power_pass", "k_g", "something_new")} == {"HIDDEN"}
    assert "sesame" not in json.dumps(came.result)


def test_details_are_gathered_for_each_machine(rack: Simulator) -> None:
    gather = ["interfaces", "block_devices", "events", "results"]
    came = run_task(rack, "machine_info", {"machines": ["node-1", "node-3"], "gather": gather})
    assert not came.failed, came.msg
    for machine in came["machines"]:
        assert machine["interfaces"][0]["links"][0]["subnet"] == "10.99.0.0/24"
        assert machine["block_devices"][0]["size"] == 250 * 1000**3
        assert machine["events"][-1]["type"]
    assert {script["type"] for script in came["machines"][0]["results"]} >= {"commissioning"}


def test_full_is_all_that_maas_says(rack: Simulator) -> None:
    assert "interface_set" in run_task(rack, "machine_info", {"machines": ["node-1"], "full": True})["machines"][0]


def test_in_check_mode_what_is_not_made_yet_chooses_nothing(rack: Simulator) -> None:
    came = run_task(rack, "machine_info", {"zone": ["az9"]}, check=True)
    assert came["machines"] == []
    assert came["warnings"] == ["MAAS does not have all of it yet: zone: No such zone(s): az9."]
