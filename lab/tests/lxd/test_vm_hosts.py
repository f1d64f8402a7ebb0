# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated MAAS drives a real LXD: what it composes, switches and deletes is so in LXD."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from caller import Caller
from metalshift_lab.authority import self_signed
from metalshift_lab.lxd.local import Refused
from metalshift_lab.lxd.places import place_for_tests
from metalshift_lab.lxd.server import RealLxd
from metalshift_lab.simulator import Simulator

PROJECT = "maas"


@pytest.fixture(scope="module")
def lxd(real_lxd: RealLxd) -> Iterator[RealLxd]:
    """One of its own: it is killed now and then."""
    if "qemu" not in real_lxd.drivers:
        pytest.skip("LXD has no virtual machines where there is no /dev/kvm.")
    with place_for_tests() as place, RealLxd.start(place) as started:
        yield started


@pytest.fixture
def maas(sim: Simulator, lxd: RealLxd) -> Caller:
    """A MAAS with a machine that LXD runs on."""
    sim.real_lxd(lxd.endpoint)
    cards = lxd.local.get("/1.0/resources")["network"]["cards"]
    sim.machine("kvm-host", status="Deployed", mac_addresses=[cards[0]["ports"][0]["address"]])
    return Caller(sim, sim.api_key)


@pytest.fixture
def host(sim: Simulator, maas: Caller, lxd: RealLxd) -> Iterator[str]:
    made = maas("POST", "vm-hosts/", told(lxd)).json()
    sim.forward(1)
    yield f"vm-hosts/{made['id']}/"
    maas("DELETE", f"vm-hosts/{made['id']}/?decompose=true")
    assert names(lxd) == []


def told(lxd: RealLxd, **more: str) -> dict[str, str]:
    pair = {"certificate": Path(lxd.client_cert).read_text(), "key": Path(lxd.client_key).read_text()}
    return {"type": "lxd", "power_address": lxd.endpoint, "project": PROJECT, "name": "kvm1", **pair, **more}


def names(lxd: RealLxd) -> list[str]:
    return sorted(each["name"] for each in lxd.local.get(f"/1.0/instances?recursion=1&project={PROJECT}"))


def vm(lxd: RealLxd, name: str) -> dict[str, Any]:
    found: dict[str, Any] = lxd.local.get(f"/1.0/instances/{name}?project={PROJECT}")
    return found


def composed(maas: Caller, host: str, **wish: str) -> str:
    made = maas("POST", f"{host}?op=compose", {"hostname": "vm1", "memory": "1024", "storage": "root:1", **wish})
    assert made.ok, made.text
    return f"machines/{made.json()['system_id']}/"


def test_a_registered_host_has_what_lxd_has(sim: Simulator, lxd: RealLxd, maas: Caller, host: str) -> None:
    found = maas("GET", host).json()
    assert found["host"]["system_id"] == sim.find("kvm-host").system_id
    resources = lxd.local.get("/1.0/resources")
    assert found["version"] == lxd.local.get("/1.0")["environment"]["server_version"]
    assert found["total"]["cores"] == resources["cpu"]["total"]
    assert found["total"]["memory"] == resources["memory"]["total"] >> 20
    assert [pool["name"] for pool in found["storage_pools"]] == ["default"]
    assert PROJECT in {each["name"] for each in lxd.local.get("/1.0/projects?recursion=1")}


def test_the_life_of_a_vm(lxd: RealLxd, maas: Caller, host: str) -> None:
    machine = composed(maas, host, cores="1", storage="root:1,data:1")
    found = vm(lxd, "vm1")
    assert (found["status"], found["config"]["limits.cpu"]) == ("Running", "1")
    assert found["devices"]["eth0"]["parent"] == lxd.bridge
    assert found["devices"]["eth0"]["hwaddr"] == maas("GET", machine).json()["interface_set"][0]["mac_address"]
    assert found["devices"]["disk1"]["source"]
    for op, status, state in (("power_off", "Stopped", "off"), ("power_on", "Running", "on")):
        assert maas("POST", f"{machine}?op={op}").ok
        assert vm(lxd, "vm1")["status"] == status
        assert maas("GET", f"{machine}?op=query_power_state").json() == {"state": state}
    assert maas("DELETE", machine).status_code == 204
    assert names(lxd) == []
    assert lxd.local.get(f"/1.0/storage-pools/default/volumes?project={PROJECT}") == []


def test_a_vm_that_somebody_made_in_lxd_becomes_a_machine(lxd: RealLxd, maas: Caller, host: str) -> None:
    nic = {"type": "nic", "nictype": "bridged", "parent": lxd.bridge}
    devices = {"root": {"type": "disk", "path": "/", "pool": "default", "size": "64MiB"}, "eth0": nic}
    wish = {"name": "made", "type": "virtual-machine", "source": {"type": "none"}, "devices": devices, "profiles": []}
    lxd.local("POST", f"/1.0/instances?project={PROJECT}", {**wish, "config": {"limits.memory": "512MiB"}})
    assert maas("POST", f"{host}?op=refresh").ok
    (machine,) = maas("GET", "machines/?hostname=made").json()
    mac = vm(lxd, "made")["config"]["volatile.eth0.hwaddr"]
    assert (machine["memory"], machine["interface_set"][0]["mac_address"]) == (512, mac)
    assert maas("DELETE", f"machines/{machine['system_id']}/").status_code == 204
    assert names(lxd) == []


@pytest.mark.parametrize("project", [PROJECT, "other"])
def test_a_certificate_that_lxd_does_not_trust_is_refused(maas: Caller, lxd: RealLxd, project: str) -> None:
    pair = self_signed("stranger")
    form = told(lxd, certificate=pair.certificate.decode(), key=pair.key.decode(), project=project)
    made = maas("POST", "vm-hosts/", form).json()
    assert made["version"] == ""
    refused = maas("POST", f"vm-hosts/{made['id']}/?op=refresh")
    assert (refused.status_code, "Certificate is not trusted" in refused.text) == (503, True)


def test_a_password_and_a_token_let_a_new_certificate_in(maas: Caller, lxd: RealLxd) -> None:
    lxd.local("PATCH", "/1.0", {"config": {"core.trust_password": "sekret"}})
    form = {key: value for key, value in told(lxd).items() if key not in ("certificate", "key")}
    assert maas("POST", "vm-hosts/", {**form, "password": "wrong"}).json()["version"] == ""
    assert maas("POST", "vm-hosts/", {**form, "password": "sekret"}).json()["version"]
    lxd.local("PATCH", "/1.0", {"config": {"core.trust_password": ""}})
    assert maas("POST", "vm-hosts/", {**form, "password": "sekret"}).json()["version"] == ""


def test_a_restricted_certificate_opens_its_project_alone(maas: Caller, lxd: RealLxd) -> None:
    pair = self_signed("restricted")
    text = "".join(pair.certificate.decode().splitlines()[1:-1])
    wish = {"type": "client", "name": "maas", "certificate": text, "restricted": True, "projects": ["default"]}
    lxd.local("POST", "/1.0/certificates", wish)
    form = told(lxd, certificate=pair.certificate.decode(), key=pair.key.decode())
    assert maas("POST", "vm-hosts/", {**form, "project": "default"}).json()["version"]
    made = maas("POST", "vm-hosts/", {**form, "project": "elsewhere"}).json()
    refused = maas("POST", f"vm-hosts/{made['id']}/?op=refresh")
    assert (refused.status_code, "not authorized" in refused.text) == (503, True)


def test_what_lxd_refuses_leaves_nothing(maas: Caller, lxd: RealLxd, host: str) -> None:
    composed(maas, host)
    before = lxd.local.get(f"/1.0/storage-pools/default/volumes?project={PROJECT}")
    config = lxd.local.get(f"/1.0/projects/{PROJECT}")["config"]
    lxd.local("PUT", f"/1.0/projects/{PROJECT}", {"config": {**config, "limits.virtual-machines": "1"}})
    wish = {"hostname": "vm2", "memory": "1024", "storage": "root:1,data:1"}
    refused = maas("POST", f"{host}?op=compose", wish)
    lxd.local("PUT", f"/1.0/projects/{PROJECT}", {"config": config})
    assert (refused.status_code, "Reached maximum number of instances" in refused.text) == (503, True)
    assert maas("GET", "machines/?hostname=vm2").json() == []
    assert lxd.local.get(f"/1.0/storage-pools/default/volumes?project={PROJECT}") == before


def test_an_lxd_that_was_killed_is_not_reached_until_it_is_back(maas: Caller, lxd: RealLxd, host: str) -> None:
    machine = composed(maas, host)
    lxd.kill()
    gone = maas("POST", f"{host}?op=refresh")
    assert (gone.status_code, "Failed to connect to the LXD REST API" in gone.text) == (503, True)
    assert maas("POST", f"{machine}?op=power_off").status_code == 500
    lxd.resume()
    assert maas("POST", f"{machine}?op=power_off").ok
    assert vm(lxd, "vm1")["status"] == "Stopped"


def test_a_machine_without_a_vm_host_is_switched_too(sim: Simulator, maas: Caller, lxd: RealLxd) -> None:
    sim.set_version("no-vmhosts")
    wish = {"name": "alone", "type": "virtual-machine", "source": {"type": "none"}}
    lxd.local("POST", "/1.0/instances", {**wish, "config": {"limits.memory": "512MiB"}})
    parameters = {**told(lxd, project="default"), "instance_name": "alone"}
    machine = sim.machine("alone", status="Deployed", power="off", power_type="lxd", power_parameters=parameters)
    for op, status in (("power_on", "Running"), ("power_off", "Stopped")):
        assert maas("POST", f"machines/{machine.system_id}/?op={op}").ok
        assert lxd.local.get("/1.0/instances/alone")["status"] == status
    lxd.local("DELETE", "/1.0/instances/alone")
    assert maas("POST", f"machines/{machine.system_id}/?op=power_on").text == "LXD VM alone not found."
    with pytest.raises(Refused):
        lxd.local.get("/1.0/instances/alone")


def test_addresses_elsewhere_stay_imaginary(maas: Caller, lxd: RealLxd) -> None:
    form = {"type": "lxd", "power_address": "127.0.0.1:8449", "password": "sekret", "project": "maas"}
    assert maas("POST", "vm-hosts/", form).json()["version"] == "5.21.3"
