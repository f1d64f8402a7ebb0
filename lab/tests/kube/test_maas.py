# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import base64
from collections import Counter

from caller import Caller
from metalshift_lab.kube import maas as stocked
from metalshift_lab.kube.speed import Speed
from metalshift_lab.simulator import Simulator


def test_a_dozen_machines_are_ready_in_three_zones(sim: Simulator) -> None:
    machines = stocked.stock(sim)
    assert Counter(machine.zone.name for machine in machines) == {"az1": 4, "az2": 4, "az3": 4}
    assert {machine.status.label for machine in machines} == {"Ready"}


def test_the_provider_finds_a_machine_and_deploys_the_image(sim: Simulator, maas: Caller) -> None:
    stocked.stock(sim, 3)
    wanted = {"cpu_count": 4, "mem": 8192, "zone": "az2", "pool": stocked.POOL, "tags": "worker"}
    machine = maas("POST", "machines/?op=allocate", wanted).json()
    order = {"osystem": "custom", "distro_series": stocked.IMAGE, "user_data": base64.b64encode(b"{}").decode()}
    answer = maas.op(machine["hostname"], "deploy", **order)
    assert answer.ok, answer.text
    deployed = sim.find(machine["hostname"])
    assert (deployed.osystem, deployed.distro_series, deployed.user_data) == ("custom", stocked.IMAGE, b"{}")


def test_stocking_twice_adds_machines_but_no_second_image(sim: Simulator) -> None:
    stocked.stock(sim, 2)
    stocked.stock(sim, 2)
    assert len(list(sim.state.machines)) == 4
    assert len(list(sim.state.boot_resources.where(name=stocked.IMAGE))) == 1


def test_real_time_passes_at_the_lab_s_speed(sim: Simulator, maas: Caller) -> None:
    stocked.stock(sim, 1)
    stocked.pace(sim, Speed(60))
    assert maas.op("worker01", "deploy", osystem="custom", distro_series=stocked.IMAGE).ok
    sim.forward(11)
    assert maas.status("worker01") == "Deploying"
    sim.forward(2)
    assert maas.status("worker01") == "Deployed"
