# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest

from metalshift_lab.simulator import Simulator


def test_nothing_advances_by_itself(sim: Simulator, maas: Any) -> None:
    sim.machine("node01", status="Deploying")
    sim.forward(86400)
    assert maas.status("node01") == "Deploying"


def test_with_auto_a_transition_ends_when_its_time_has_come(sim: Simulator, maas: Any) -> None:
    sim.auto(60)
    sim.machine("node01")
    maas.op("node01", "deploy")
    sim.forward(59)
    assert maas.status("node01") == "Deploying"
    sim.forward(1)
    answer = maas("GET", "machines/?hostname=node01").json()[0]
    assert (answer["status_name"], answer["power_state"]) == ("Deployed", "on")


def test_auto_takes_up_what_runs_already(sim: Simulator, maas: Any) -> None:
    sim.machine("node01", status="Deploying")
    sim.auto(5)
    sim.forward(5)
    assert maas.status("node01") == "Deployed"


def test_transitions_may_take_different_times(sim: Simulator, maas: Any) -> None:
    sim.auto(10, erase=100)
    sim.machine("node01", status="Deploying")
    sim.machine("node02", status="Disk erasing")
    sim.forward(10)
    assert (maas.status("node01"), maas.status("node02")) == ("Deployed", "Disk erasing")
    sim.forward(90)
    assert maas.status("node02") == "Ready"


def test_reset_and_auto_0_stop_the_clockwork(sim: Simulator, maas: Any) -> None:
    sim.auto(1)
    sim.machine("node01", status="Deploying")
    sim.auto(0)
    sim.forward(10)
    assert maas.status("node01") == "Deploying"
    sim.auto(1)
    sim.reset()
    sim.machine("node02", status="Deploying")
    sim.forward(10)
    assert maas.status("node02") == "Deploying"


def test_a_whole_life(sim: Simulator, maas: Any) -> None:
    sim.auto(1)
    form = {
        "hostname": "node01",
        "architecture": "amd64/generic",
        "mac_addresses": "52:54:00:00:00:01",
        "power_type": "ipmi",
        "power_parameters_power_address": "10.0.0.1",
    }
    seen = [maas("POST", "machines/", form).json()["status_name"]]

    def later() -> None:
        sim.forward(1)
        seen.append(maas.status("node01"))

    later()
    maas("POST", "machines/?op=allocate")
    maas.op("node01", "deploy")
    later()
    maas.op("node01", "release")
    seen.append(maas.status("node01"))
    later()
    assert seen == ["Commissioning", "Ready", "Deployed", "Releasing", "Ready"]


def test_an_unknown_transition_is_refused_with_a_sentence(sim: Simulator) -> None:
    with pytest.raises(ValueError, match="There is no transition fly; there are commission, test, deploy"):
        sim.auto(1, fly=2)
