# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest
import requests

from metalshift_lab.simulator import Simulator


def test_seed_makes_machines_with_hardware(control: Any, maas: Any) -> None:
    made = control(
        "seed", count=6, prefix="n", zones="az1,az2", pools="p1", tags="a,b", cpu=8, memory=16384, disk="100,50"
    )
    assert len(made.json()["system_ids"]) == 6
    machines = maas("GET", "machines/?zone=az2&pool=p1").json()
    assert [m["hostname"] for m in machines] == ["n02", "n04", "n06"]
    assert {(m["cpu_count"], m["memory"], m["storage"], m["status_name"]) for m in machines} == {
        (8, 16384, 150000.0, "Ready")
    }


def test_a_machine_that_stands_somewhere_is_known_once(control: Any, maas: Any) -> None:
    place = {"hostname": "kvm1", "mac": "00:16:3e:00:00:01", "ip": "10.1.2.21", "network": "10.1.2.0/24", "zone": "az2"}
    made = [control("standing", **place, cpu=8).json() for _ignored in range(2)]
    assert made[0] == made[1]
    (machine,) = maas("GET", "machines/").json()
    assert (machine["status_name"], machine["zone"]["name"], machine["cpu_count"]) == ("Deployed", "az2", 8)
    assert (machine["ip_addresses"], machine["boot_interface"]["mac_address"]) == (["10.1.2.21"], place["mac"])
    assert machine["boot_interface"]["links"][0]["subnet"]["cidr"] == "10.1.2.0/24"


def test_faults_can_be_set_from_outside(control: Any, maas: Any) -> None:
    control("fault", does="error", status=502, path="zones", hits=1)
    assert [maas("GET", "zones/").status_code for _ignored in range(2)] == [502, 200]
    control("fault", latency=1)
    assert maas("GET", "zones/").ok
    control("fault", does="drop", hits=0)
    control("fault")
    assert maas("GET", "zones/").ok


def test_advance_force_and_power(sim: Simulator, control: Any, maas: Any) -> None:
    machine = sim.machine("node01", status="Deploying")
    control("advance", system_id=machine.system_id, to="fail")
    assert maas.status("node01") == "Failed deployment"
    control("force", system_id=machine.system_id, status="BROKEN")
    assert maas.status("node01") == "Broken"
    control("power", system_id=machine.system_id, state="error")
    assert maas("GET", "machines/").json()[0]["power_state"] == "error"


def test_an_api_key_of_another_user(control: Any, plain: Any) -> None:
    assert control("apikey", username="alice").json()["apikey"] == plain.key


@pytest.mark.parametrize(
    ("name", "params", "sentence"),
    [
        ("nosuch", {}, "The control API has no POST 'nosuch'"),
        ("advance", {"system_id": "zzzzzz"}, "There is no machine zzzzzz."),
        ("force", {"system_id": "zzzzzz"}, "force needs the parameter 'status'."),
        ("version", {"version": "2.9"}, "There is no version 2.9; there are 3.3, 3.4"),
        ("fault", {"does": "explode"}, "A fault does one of latency"),
        ("seed", {"cont": "5"}, "seed has no parameter cont"),
        ("machine", {"hostname": "x", "action": "fly"}, "Machines cannot fail at 'fly'"),
    ],
)
def test_mistakes_are_answered_with_a_sentence(control: Any, name: str, params: dict[str, str], sentence: str) -> None:
    answer = control(name, **params)
    assert not answer.ok
    assert answer.json()["error"].startswith(sentence)


def test_status_tells_how_things_stand(sim: Simulator) -> None:
    sim.machines(2)
    seen = requests.get(f"{sim.control_url}/status", timeout=10).json()
    assert seen["machines"] == {"Ready": 2}
