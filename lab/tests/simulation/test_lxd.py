# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same LXD from both sides: through its own API with pylxd, and through MAAS."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pylxd
import pytest
import requests
from pylxd.client import get_session_for_url
from pylxd.exceptions import ClientConnectionFailed, LXDAPIException, NotFound

from metalshift_lab.authority import self_signed
from metalshift_lab.simulator import Simulator
from metalshift_lab.simulator.http import Request, Response
from metalshift_lab.simulator.lxd import Certificate, Server

ADDRESS = "127.0.0.1:8450"
SMALL = {"limits.cpu": "2", "limits.memory": "2GiB"}
ROOT = {"root": {"type": "disk", "path": "/", "pool": "default", "size": "8GB"}}
VM = {"source": {"type": "none"}, "config": SMALL, "devices": ROOT}


@pytest.fixture
def server(sim: Simulator) -> Server:
    return sim.lxd(address=ADDRESS, version="5.0.2", ip="10.99.0.241")


@pytest.fixture
def stranger(tmp_path: Path) -> tuple[str, str]:
    """The certificate and key of a client that nobody trusts yet."""
    certificate, key = tmp_path / "client.crt", tmp_path / "client.key"
    self_signed("stranger").write(certificate, key)
    return str(certificate), str(key)


def client(server: Server, pair: tuple[str, str] | None = None, project: str | None = None) -> Any:
    pair = pair or (server.client_cert, server.client_key)
    session = get_session_for_url(server.endpoint, cert=pair, verify=server.server_cert)
    session.trust_env = False
    return pylxd.Client(endpoint=server.endpoint, session=session, project=project)


def refusal(call: Callable[[], Any]) -> tuple[int, str]:
    with pytest.raises(LXDAPIException) as caught:
        call()
    return caught.value.response.status_code, str(caught.value)


def register(sim: Simulator, maas: Any, server: Server, project: str = "maas") -> str:
    form = {"type": "lxd", "power_address": server.endpoint, "project": project, "name": "kvm1"}
    pair = {"certificate": Path(server.client_cert).read_text(), "key": Path(server.client_key).read_text()}
    made = maas("POST", "vm-hosts/", {**form, **pair}).json()
    sim.forward(1)
    return f"vm-hosts/{made['id']}/"


# -- whom it trusts -------------------------------------------------------------------------------------------------


def test_the_certificate_that_comes_with_it_is_trusted_and_verified(server: Server) -> None:
    assert client(server).trusted
    with pytest.raises(requests.exceptions.SSLError):
        requests.get(server.endpoint, timeout=10)


def test_a_stranger_learns_nothing(server: Server, stranger: tuple[str, str]) -> None:
    found = client(server, stranger)
    assert (found.trusted, found.host_info.get("environment")) == (False, None)
    assert refusal(found.projects.all) == (403, "not authorized")


def test_a_password_lets_a_stranger_in(server: Server, stranger: tuple[str, str]) -> None:
    found = client(server, stranger)
    assert refusal(lambda: found.authenticate("wrong")) == (403, "not authorized")
    found.authenticate("sekret")
    assert found.trusted


@pytest.mark.parametrize("version", ["5.0.2", "5.21.3", "6.2"])
def test_a_token_lets_one_stranger_in_once(
    sim: Simulator, stranger: tuple[str, str], tmp_path: Path, version: str
) -> None:
    server = sim.lxd(address=ADDRESS, version=version)
    token = client(server).certificates.create_token("guest", projects=["default"], restricted=True)
    found = client(server, stranger)
    found.authenticate(token)
    assert found.trusted
    (made,) = [each for each in client(server).certificates.all() if each.name == "guest"]
    assert (made.restricted, made.projects) == (True, ["default"])
    self_signed("second").write(tmp_path / "second.crt", tmp_path / "second.key")
    second = client(server, (str(tmp_path / "second.crt"), str(tmp_path / "second.key")))
    assert refusal(lambda: second.authenticate(token))[0] in (403, 501)


def test_a_later_version_takes_no_password(sim: Simulator, stranger: tuple[str, str]) -> None:
    server = sim.lxd(address=ADDRESS, version="6.2")
    words = "Password authentication is no longer supported, please update your client"
    assert refusal(lambda: client(server, stranger).authenticate("sekret")) == (501, words)
    api = client(server).api
    assert refusal(lambda: api.patch(json={"config": {"core.trust_password": "x"}}))[0] == 400


@pytest.mark.parametrize(("version", "words"), [("5.0.2", "not authorized"), ("6.2", "Certificate is restricted")])
def test_a_restricted_certificate_stays_in_its_projects(
    sim: Simulator, stranger: tuple[str, str], version: str, words: str
) -> None:
    server = sim.lxd(address=ADDRESS, version=version)
    client(server).projects.create("mine")
    server.trust(Path(stranger[0]).read_text(), Certificate("guest", restricted=True, projects=["mine"]))
    found = client(server, stranger, project="mine")
    assert [each.name for each in found.projects.all()] == ["mine"]
    assert found.instances.all() == []
    assert found.storage_pools.get("default").config is None
    assert refusal(client(server, stranger).instances.all) == (403, words)
    assert refusal(lambda: found.projects.create("other")) == (403, words)


def test_maas_is_kept_out_of_other_projects_too(sim: Simulator, maas: Any, server: Server) -> None:
    certificate = Path(server.client_cert).read_text()
    server.trust(certificate, Certificate("maas", restricted=True, projects=["mine"]))
    host = register(sim, maas, server, project="other")
    refused = maas("POST", f"{host}?op=refresh")
    assert (refused.status_code, "not authorized" in refused.text) == (503, True)


# -- one LXD, two sides ---------------------------------------------------------------------------------------------


def test_a_vm_that_maas_composes_is_seen_in_lxd(sim: Simulator, maas: Any, server: Server) -> None:
    host = register(sim, maas, server)
    asked = {"hostname": "vm1", "cores": "2", "memory": "4096", "storage": "root:8,data:4"}
    made = maas("POST", f"{host}?op=compose", asked)
    assert made.ok, made.text
    lxd = client(server, project="maas")
    found = lxd.virtual_machines.get("vm1")
    assert (found.config["limits.cpu"], found.config["limits.memory"]) == ("2", str(4096 << 20))
    assert (found.devices["root"]["size"], found.status) == ("8000000000", "Running")
    (volume,) = [each for each in lxd.storage_pools.get("default").volumes.all() if each.type == "custom"]
    # pylxd takes the project for a part of the name.
    assert found.devices["disk1"]["source"] == volume.name.partition("?")[0]
    system_id = made.json()["system_id"]
    assert maas("DELETE", f"machines/{system_id}/").ok
    assert lxd.instances.all() == lxd.storage_pools.get("default").volumes.all() == []


def test_a_vm_made_in_lxd_is_seen_by_maas_after_a_refresh(sim: Simulator, maas: Any, server: Server) -> None:
    host = register(sim, maas, server)
    lxd = client(server, project="maas")
    nic = {"eth0": {"type": "nic", "nictype": "bridged", "parent": "lxdbr0", "hwaddr": "00:16:3e:00:00:01"}}
    lxd.virtual_machines.create({**VM, "name": "vm1", "profiles": [], "devices": {**ROOT, **nic}}, wait=True)
    assert maas("POST", f"{host}?op=refresh").ok
    (found,) = maas("GET", "machines/?hostname=vm1").json()
    assert (found["cpu_count"], found["memory"], found["pod"]["name"]) == (2, 2048, "kvm1")
    assert found["interface_set"][0]["mac_address"] == "00:16:3e:00:00:01"
    lxd.virtual_machines.get("vm1").stop(wait=True)
    assert maas("GET", f"machines/{found['system_id']}/?op=query_power_state").json() == {"state": "off"}
    assert maas("POST", f"machines/{found['system_id']}/?op=power_on").ok
    assert lxd.virtual_machines.get("vm1").status == "Running"


def test_a_machine_of_its_own_is_switched_through_lxd(sim: Simulator, maas: Any, server: Server) -> None:
    """As on a MAAS without VM hosts."""
    sim.set_version("no-vmhosts")
    lxd = client(server)
    lxd.virtual_machines.create({**VM, "name": "vm1"}, wait=True)
    pair = {"certificate": Path(server.client_cert).read_text(), "key": Path(server.client_key).read_text()}
    told = {"power_address": server.endpoint, "instance_name": "vm1", "project": "default", **pair}
    machine = sim.machine("vm1", status="Deployed", power="off", power_type="lxd", power_parameters=told)
    for op, state in (("power_on", "Running"), ("power_off", "Stopped")):
        assert maas("POST", f"machines/{machine.system_id}/?op={op}").ok
        assert lxd.virtual_machines.get("vm1").status == state
    lxd.virtual_machines.get("vm1").delete(wait=True)
    gone = maas("POST", f"machines/{machine.system_id}/?op=power_on")
    assert (gone.status_code, gone.text) == (500, "LXD VM vm1 not found.")


# -- versions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "has", "has_not"),
    [
        ("5.0.2", {"projects", "virtual-machines", "custom_block_volumes"}, {"explicit_trust_token"}),
        ("5.21.3", {"explicit_trust_token", "access_management_tls"}, {"instance_boot_mode"}),
        ("6.8", {"instance_boot_mode", "storage_and_network_operations"}, set()),
        ("6.9", {"instance_boot_mode"}, {"candid_config", "maas_network"}),
    ],
)
def test_versions_differ_in_what_they_can(sim: Simulator, version: str, has: set[str], has_not: set[str]) -> None:
    told = client(sim.lxd(address=ADDRESS, version=version)).host_info
    assert told["environment"]["server_version"] == version
    assert has <= set(told["api_extensions"])
    assert not has_not & set(told["api_extensions"])


def test_a_later_version_makes_pools_and_networks_in_the_background(sim: Simulator) -> None:
    server = sim.lxd(address=ADDRESS, version="6.8")
    lxd = client(server)
    lxd.storage_pools.create({"name": "fast", "driver": "dir"})
    lxd.networks.create("br1", config={"ipv4.address": "none", "ipv6.address": "none"})
    assert [entry.status for entry in server.door.requests if entry.method == "POST"] == [202, 202]
    words = "Failed creating instance record: Unknown configuration key: security.secureboot"
    wish = {**VM, "name": "vm1", "config": {"security.secureboot": "false"}}
    assert refusal(lambda: lxd.virtual_machines.create(wish, wait=True)) == (200, words)


def test_the_order_of_drivers_is_not_reliable(server: Server) -> None:
    seen = {client(server).host_info["environment"]["driver"] for _ignored in range(40)}
    assert seen == {"lxc | qemu", "qemu | lxc"}


def test_an_lxd_without_qemu_has_no_virtual_machines(sim: Simulator) -> None:
    server = sim.lxd(address=ADDRESS, drivers=["lxc"])
    assert client(server).host_info["environment"]["driver"] == "lxc"
    assert refusal(lambda: client(server).virtual_machines.create({**VM, "name": "vm1"}))[0] == 400


# -- faults and what is logged --------------------------------------------------------------------------------------


def test_an_answer_is_lost_after_the_commit(server: Server) -> None:
    lxd = client(server)
    server.fault("drop", when="after", method="POST", path="^/1.0/projects")
    with pytest.raises(requests.exceptions.ConnectionError):
        lxd.projects.create("p1")
    assert lxd.projects.exists("p1")


def test_a_status_on_demand(server: Server) -> None:
    lxd = client(server)
    server.fault(status=503, text="LXD is starting", path="profiles")
    assert refusal(lxd.profiles.all) == (503, "LXD is starting")
    assert lxd.profiles.all()


@pytest.mark.parametrize(("when", "exists"), [("before", False), ("after", True)])
def test_an_operation_fails_on_demand(server: Server, when: str, exists: bool) -> None:
    lxd = client(server)
    server.fault("fail", text="No space left on device", method="POST", path="instances", when=when)
    create = refusal(lambda: lxd.virtual_machines.create({**VM, "name": "vm1"}, wait=True))
    assert create == (200, "No space left on device")
    assert [each.name for each in lxd.instances.all()] == (["vm1"] if exists else [])


def test_requests_and_operations_take_their_time(server: Server) -> None:
    lxd = client(server)
    server.door.faults.latency = 60
    began = time.monotonic()
    lxd.api.get()
    assert time.monotonic() - began > 0.06
    server.door.clear()
    server.door.api.operations.seconds = 0.2
    began = time.monotonic()
    lxd.virtual_machines.create({**VM, "name": "vm1"}, wait=True)
    assert time.monotonic() - began > 0.2


def test_neither_clients_nor_maas_reach_one_that_is_down(sim: Simulator, maas: Any, server: Server) -> None:
    host = register(sim, maas, server)
    lxd = client(server)
    server.door.down()
    with pytest.raises(ClientConnectionFailed):
        client(server)
    refused = maas("POST", f"{host}?op=refresh")
    assert (refused.status_code, "Connection refused" in refused.text) == (503, True)
    server.door.up()
    assert lxd.trusted
    assert client(server).trusted
    assert maas("POST", f"{host}?op=refresh").ok


def test_a_test_may_stand_at_the_door(server: Server) -> None:
    """It sees requests before they are carried out, and answers before they are sent."""
    lxd, seen = client(server), []

    def keep(request: Request) -> Response | None:
        seen.append((request.method, lxd_has_project(server)))
        server.door.answer(request)
        seen.append((request.method, lxd_has_project(server)))
        return None

    server.door.keeper = keep
    with pytest.raises(requests.exceptions.ConnectionError):
        lxd.projects.create("p1")
    assert seen == [("POST", False), ("POST", True)]


def lxd_has_project(server: Server) -> bool:
    return "p1" in server.projects


def test_the_log_has_no_secrets(server: Server, stranger: tuple[str, str]) -> None:
    found = client(server, stranger)
    refusal(lambda: found.authenticate("open sesame"))
    client(server).api.patch(json={"config": {"core.trust_password": "open sesame"}})
    logged = [entry.as_json() for entry in server.door.requests]
    assert "open sesame" not in str(logged)
    assert "core.trust_password" in str(logged)
    assert [entry.method for entry in server.door.requests.writes()] == ["POST", "PATCH"]


def test_nothing_listens_when_the_simulator_has_ended() -> None:
    with Simulator() as sim:
        server = sim.lxd(address=ADDRESS)
        endpoint, folder = server.endpoint, Path(server.client_cert).parent
    with pytest.raises(requests.exceptions.ConnectionError):
        requests.get(endpoint, timeout=5, verify=False)
    assert not folder.exists()


def test_the_control_api_opens_one(control: Any) -> None:
    told = control("lxd", address=ADDRESS, version="6.2", https="1").json()
    session = get_session_for_url(told["endpoint"], cert=(told["client_cert"], told["client_key"]))
    session.trust_env, session.verify = False, told["server_cert"]
    answer = session.get(f"{told['endpoint']}/1.0", timeout=10).json()["metadata"]
    assert (answer["auth"], answer["environment"]["server_version"]) == ("trusted", "6.2")


def test_a_reset_forgets_it(sim: Simulator, server: Server) -> None:
    endpoint = server.endpoint
    sim.reset()
    with pytest.raises(requests.exceptions.ConnectionError):
        requests.get(endpoint, timeout=5, verify=False)
    with pytest.raises(NotFound):
        client(sim.lxd(address=ADDRESS)).projects.get("nosuch")
