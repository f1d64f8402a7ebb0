# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from metalshift_lab.simulator import Simulator

IPMI = {
    "hostname": "node01",
    "architecture": "amd64/generic",
    "mac_addresses": "52:54:00:00:00:01",
    "power_type": "ipmi",
    "power_parameters_power_address": "10.0.0.1",
}


def test_simultaneous_allocations_get_different_machines(sim: Simulator, maas: Any) -> None:
    from caller import Caller

    sim.machines(4)

    def allocate(_ignored: int) -> Any:
        return Caller(sim, sim.api_key)("POST", "machines/?op=allocate", {"agent_name": "me"})

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(allocate, range(6)))
    assert sorted(a.status_code for a in answers) == [200] * 4 + [409] * 2
    assert len({a.json()["system_id"] for a in answers if a.ok}) == 4
    assert {a.text for a in answers if not a.ok} == {"No machine available."}
    assert len(maas("GET", "machines/?agent_name=me").json()) == 4


def test_an_enlistment_whose_power_fails_answers_500_and_has_happened(sim: Simulator, maas: Any) -> None:
    sim.power_fault("power-on", "The BMC does not answer.")
    answer = maas("POST", "machines/", IPMI)
    assert (answer.status_code, answer.text) == (500, "The BMC does not answer.")
    left = maas("GET", "machines/?hostname=node01").json()[0]
    # It is nobody's to use, but whoever asks by owner takes it for held.
    assert (left["status_name"], left["owner"], left["power_state"]) == ("New", "admin", "unknown")
    again = maas("POST", "machines/", IPMI)
    assert again.json()["hostname"] == ["Node with this Hostname already exists."]


def test_a_bmc_of_ipmi_tells_nics_and_architecture_itself(sim: Simulator, maas: Any) -> None:
    bare = {key: text for key, text in IPMI.items() if key not in ("architecture", "mac_addresses")}
    assert maas("POST", "machines/", bare).json()["interface_set"] == []
    sim.advance("node01")
    told = maas("GET", "machines/?hostname=node01").json()[0]
    assert (told["status_name"], told["architecture"], len(told["interface_set"])) == ("Ready", "amd64/generic", 1)
    other = maas("POST", "machines/", {**bare, "hostname": "node02", "power_type": "manual"})
    assert {"architecture", "mac_addresses"} <= other.json().keys()


def test_a_misspelt_power_parameter_is_refused(maas: Any) -> None:
    answer = maas("POST", "machines/", {**IPMI, "power_parameters_power_pas": "sesame"})
    assert answer.json() == {"power_parameters": ["Unknown parameter(s): power_pas."]}


def test_an_erased_machine_is_off_and_runs_nothing(sim: Simulator, maas: Any) -> None:
    sim.machine("node01", status="Deployed").power_state = "on"
    maas.op("node01", "release", erase="true")
    sim.advance("node01")
    left = maas("GET", "machines/?hostname=node01").json()[0]
    assert [left[key] for key in ("status_name", "power_state", "osystem", "distro_series", "hwe_kernel")] == [
        "Ready", "off", "", "", None
    ]  # fmt: skip


def test_without_a_rack_nothing_can_be_switched(sim: Simulator, maas: Any) -> None:
    sim.machine("node01", status="Deployed")
    sim.set_rack(False)
    answer = maas.op("node01", "power_off")
    assert answer.status_code == 503
    assert answer.text.startswith("No rack controllers can access the BMC of node")


@pytest.mark.parametrize(
    ("constraint", "found"),
    [
        ({"cpu_count": "8"}, "big"),
        ({"mem": "32768"}, "big"),
        ({"zone": "az2"}, "far"),
        ({"not_in_zone": ["default", "az2"]}, "big"),
        ({"pool": "p1"}, "far"),
        ({"tags": "gpu,fast"}, "big"),
        ({"not_tags": "gpu", "zone": "az1"}, None),
        ({"name": "far.maas"}, "far"),
        ({"arch": "amd64"}, "small"),
        ({"storage": "root:400"}, "big"),
        ({"storage": "root:100,data:100(ssd)"}, "far"),
        ({"subnets": "10.99.0.0/24"}, "small"),
        ({"fabrics": "fabric-0"}, "small"),
        ({"interfaces": "lan:subnet_cidr=10.99.0.0/24"}, "small"),
        ({"power_state": "on"}, None),
        ({}, "small"),
    ],
)
def test_constraints_choose_the_cheapest_that_fits(
    sim: Simulator, maas: Any, constraint: dict[str, Any], found: str | None
) -> None:
    sim.machine("big", cpu=16, memory=65536, zone="az1", tags=["gpu", "fast"], disks=[500])
    sim.machine("small", cpu=2, memory=2048)
    sim.machine("far", zone="az2", pool="p1", disks=[100, 200])
    answer = maas("POST", "machines/?op=allocate", {**constraint, "dry_run": "true"})
    assert (answer.json()["hostname"] if answer.ok else None) == found
    if not answer.ok:
        assert answer.status_code == 409


def test_a_label_says_which_disk_was_meant(sim: Simulator, maas: Any) -> None:
    machine = sim.machine("node01", disks=[100, 200])
    answer = maas("POST", "machines/?op=allocate", {"storage": "root:50,data:150", "verbose": "true"}).json()
    root, data = (d.id for d in machine.disks)
    assert answer["constraints_by_type"]["storage"] == {"root": [root], "data": [data]}


def test_a_release_clears_what_the_allocation_said(sim: Simulator, maas: Any) -> None:
    machine = sim.machine("node01")
    maas("POST", "machines/?op=allocate", {"agent_name": "me"})
    maas.op("node01", "set_workload_annotations", claim="mine")
    maas.op("node01", "release")
    assert (machine.agent_name, machine.annotations, machine.owner) == ("", {}, None)


def test_one_that_cannot_be_released_keeps_all_of_a_bulk_release(sim: Simulator, maas: Any) -> None:
    first, second = sim.machine("node01", status="Allocated"), sim.machine("node02", status="Commissioning")
    answer = maas("POST", "machines/?op=release", {"machines": [first.system_id, second.system_id]})
    assert answer.status_code == 409
    assert maas.status("node01") == "Allocated"


PLAIN_MAY = [
    ("GET", "machines/", {}, 200),
    ("GET", "machines/{mine}/", {}, 200),
    ("GET", "machines/{free}/", {}, 200),
    ("GET", "machines/{foreign}/", {}, 403),
    ("GET", "machines/?op=power_parameters", {}, 403),
    ("GET", "machines/{mine}/?op=power_parameters", {}, 403),
    ("PUT", "machines/{mine}/", {"description": "x"}, 403),
    ("DELETE", "machines/{mine}/", {}, 403),
    ("POST", "machines/", {**IPMI, "hostname": "new01"}, 200),
    ("POST", "machines/?op=allocate", {}, 200),
    ("POST", "machines/{free}/?op=deploy", {}, 200),
    ("POST", "machines/{foreign}/?op=release", {}, 403),
    ("POST", "machines/{mine}/?op=release", {}, 200),
    ("POST", "machines/{mine}/?op=lock", {}, 200),
    ("POST", "machines/{mine}/?op=power_off", {}, 200),
    ("POST", "machines/{mine}/?op=set_workload_annotations", {"a": "b"}, 200),
    ("POST", "machines/{mine}/?op=mark_broken", {}, 200),
    ("POST", "machines/{free}/?op=mark_broken", {}, 403),
    ("POST", "machines/{mine}/?op=mark_fixed", {}, 403),
    ("POST", "machines/{free}/?op=commission", {}, 403),
    ("POST", "machines/{mine}/?op=test", {}, 403),
    ("POST", "machines/{mine}/?op=rescue_mode", {}, 403),
    ("POST", "machines/{free}/?op=set_storage_layout", {"storage_layout": "flat"}, 403),
    ("POST", "zones/", {"name": "az9"}, 403),
    ("POST", "resourcepools/", {"name": "p9"}, 403),
    ("POST", "tags/", {"name": "t9"}, 403),
    ("POST", "users/", {"username": "x"}, 403),
    ("POST", "account/?op=create_authorisation_token", {}, 200),
]


@pytest.mark.parametrize(("method", "path", "form", "status"), PLAIN_MAY)
def test_what_a_plain_user_may_do(
    sim: Simulator, plain: Any, method: str, path: str, form: dict[str, str], status: int
) -> None:
    ids = {
        "mine": sim.machine("mine", status="Deployed", owner="alice").system_id,
        "foreign": sim.machine("foreign", status="Deployed").system_id,
        "free": sim.machine("free").system_id,
    }
    assert plain(method, path.format(**ids), form).status_code == status


def test_a_plain_user_does_not_see_what_others_have(sim: Simulator, plain: Any) -> None:
    sim.machine("foreign", status="Deployed")
    sim.machine("free")
    assert [m["hostname"] for m in plain("GET", "machines/").json()] == ["free"]


def test_a_plain_users_enlistment_waits_for_an_admin(sim: Simulator, plain: Any) -> None:
    assert plain("POST", "machines/", IPMI).json()["status_name"] == "New"
