# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest

from metalshift_lab.simulator import Simulator

LXD = {"type": "lxd", "power_address": "127.0.0.1:8449", "password": "sekret", "project": "maas"}
CERTIFICATE = "-----BEGIN CERTIFICATE-----\nbGFi\n-----END CERTIFICATE-----\n"
KEY = "-----BEGIN PRIVATE KEY-----\nbGFi\n-----END PRIVATE KEY-----\n"


@pytest.fixture
def host(sim: Simulator, maas: Any) -> str:
    """A registered host whose size is known."""
    made = maas("POST", "vm-hosts/", {**LXD, "name": "kvm1"}).json()
    sim.forward(1)
    return f"vm-hosts/{made['id']}/"


def compose(maas: Any, host: str, **form: Any) -> Any:
    return maas("POST", f"{host}?op=compose", form)


def machine(maas: Any, composed: Any) -> Any:
    return maas("GET", f"machines/{composed.json()['system_id']}/").json()


def test_a_host_knows_its_size_only_a_moment_later(sim: Simulator, maas: Any) -> None:
    made = maas("POST", "vm-hosts/", LXD).json()
    assert made["total"] == {"cores": 0, "memory": 0, "local_storage": 500_000_000_000}
    refused = compose(maas, f"vm-hosts/{made['id']}/", cores="1")
    assert refused.json()["cores"] == ["Ensure this value is less than or equal to 0."]
    sim.forward(1)
    assert maas("GET", f"vm-hosts/{made['id']}/").json()["total"]["cores"] == 16


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ({"password": "wrong"}, "Password authentication failed"),
        ({"password": ""}, "Certificate is not trusted"),
        ({"power_address": "127.0.0.1:9"}, "Connection refused"),
    ],
)
def test_a_failed_discovery_leaves_an_empty_host(maas: Any, form: dict[str, str], reason: str) -> None:
    made = maas("POST", "vm-hosts/", {**LXD, **form})
    assert made.ok
    assert made.json()["version"] == ""
    refreshed = maas("POST", f"vm-hosts/{made.json()['id']}/?op=refresh")
    assert refreshed.status_code == 503
    assert reason in refreshed.text


def test_an_lxd_without_storage_pools_is_not_discovered(sim: Simulator, maas: Any) -> None:
    sim.lxd(address="127.0.0.1:8450", password="sekret", pools=[])
    made = maas("POST", "vm-hosts/", {**LXD, "power_address": "127.0.0.1:8450"})
    assert (made.status_code, made.json()["version"]) == (200, "")
    refreshed = maas("POST", f"vm-hosts/{made.json()['id']}/?op=refresh")
    assert (refreshed.status_code, "No storage pools exists" in refreshed.text) == (503, True)


def test_the_same_certificate_registers_a_project_once(maas: Any) -> None:
    pair = {"certificate": CERTIFICATE, "key": KEY}
    assert maas("POST", "vm-hosts/", {**LXD, **pair, "name": "kvm1"}).ok
    again = maas("POST", "vm-hosts/", {**LXD, **pair, "password": ""})
    assert (again.status_code, again.text) == (400, "Pod kvm1 with type and parameters already exist.")
    elsewhere = maas("POST", "vm-hosts/", {**LXD, **pair, "project": "other", "password": ""})
    assert elsewhere.json()["version"], "a certificate that is trusted needs no password"


def test_a_composed_machine_is_what_was_asked_for(maas: Any, host: str) -> None:
    maas("POST", "zones/", {"name": "az2"})
    asked = {"hostname": "vm1", "cores": "2", "memory": "4096", "storage": "root:8,data:4(default)", "zone": "2"}
    made = machine(maas, compose(maas, host, **asked, interfaces="eth0:subnet=10.99.0.0/24"))
    assert (made["cpu_count"], made["memory"], made["storage"]) == (2, 4096, 12000.0)
    assert (made["status_name"], made["power_state"], made["zone"]["name"]) == ("Commissioning", "on", "az2")
    assert made["interface_set"][0]["links"][0]["mode"] == "auto"
    assert made["pod"]["name"] == "kvm1"


def test_a_vm_keeps_its_disks_when_it_commissions_itself(sim: Simulator, maas: Any, host: str) -> None:
    sim.auto(5)
    made = compose(maas, host, hostname="vm1", storage="root:20")
    sim.forward(5)
    found = machine(maas, made)
    assert (found["status_name"], found["storage"]) == ("Ready", 20000.0)
    assert [p["filesystem"]["mount_point"] for p in found["boot_disk"]["partitions"]] == ["/boot/efi", "/"]


def test_what_is_free_times_the_ratio_is_the_limit(maas: Any, host: str) -> None:
    assert compose(maas, host, cores="16").ok
    full = compose(maas, host, cores="1")
    assert full.status_code == 503
    assert full.text == (
        "Unable to compose KVM instance in 'kvm1'. "
        "CPU overcommit ratio is 1.0 and there are 0 available resources; 1 requested."
    )
    maas("PUT", host, {"cpu_over_commit_ratio": "2"})
    assert compose(maas, host, cores="16").ok


@pytest.mark.parametrize(
    ("form", "status", "answer"),
    [
        ({"interfaces": "eth0:subnet=nosuch"}, 404, "No Subnet matches the given query."),
        ({"interfaces": "eth0:vid=77"}, 400, "This pod does not match the specified networks."),
        ({"interfaces": "eth0:color=blue"}, 400, "Unknown interfaces constraint: 'color"),
        ({"storage": "root:8(nvme"}, 400, "Malformed storage constraint"),
        ({"storage": "root:600"}, 500, "Not enough space in default storage pool: default"),
    ],
)
def test_impossible_wishes_are_refused(maas: Any, host: str, form: dict[str, str], status: int, answer: str) -> None:
    refused = compose(maas, host, **form)
    assert refused.status_code == status
    assert answer in refused.text
    assert maas("GET", host).json()["used"]["cores"] == 0


def test_deleting_a_machine_deletes_its_vm(maas: Any, host: str) -> None:
    made = compose(maas, host, hostname="vm1").json()
    assert maas("DELETE", made["resource_uri"].removeprefix("/MAAS/api/2.0/")).status_code == 204
    assert maas("GET", host).json()["used"]["cores"] == 0
    maas("DELETE", host)
    again = maas("POST", "vm-hosts/", LXD).json()
    assert again["used"]["cores"] == 0


def test_a_new_host_takes_over_the_vms_of_its_project(maas: Any, host: str) -> None:
    compose(maas, host, hostname="vm1")
    maas("DELETE", host)
    assert maas("GET", "machines/").json() == []
    maas("POST", "vm-hosts/", {**LXD, "name": "kvm2"})
    maas("POST", "vm-hosts/", {**LXD, "name": "elsewhere", "project": "other"})
    imported = {m["hostname"]: m for m in maas("GET", "machines/").json() if m["pod"]}
    assert set(imported) == {"vm1"}
    assert (imported["vm1"]["pod"]["name"], imported["vm1"]["status_name"]) == ("kvm2", "Commissioning")


def test_decompose_in_the_query_deletes_the_vms(maas: Any, host: str) -> None:
    compose(maas, host, hostname="vm1")
    maas("DELETE", f"{host}?decompose=true")
    maas("POST", "vm-hosts/", LXD)
    assert [m for m in maas("GET", "machines/").json() if m["pod"]] == []


def test_an_allocation_that_nothing_matches_makes_a_vm_and_its_release_deletes_it(maas: Any, host: str) -> None:
    made = maas("POST", "machines/?op=allocate", {"cpu_count": "4", "mem": "4096"}).json()
    assert (made["status_name"], made["cpu_count"], made["pod"]["name"]) == ("Allocated", 4, "kvm1")
    assert maas("POST", f"machines/{made['system_id']}/?op=release").ok
    assert maas("GET", f"machines/{made['system_id']}/").status_code == 404
    assert maas("GET", host).json()["used"]["cores"] == 0


@pytest.mark.parametrize("guard", [{"not_pod_type": "lxd"}, {"not_pod": "kvm1"}, {"pod": "nosuch"}, {"tags": "gpu"}])
def test_an_allocation_can_be_kept_from_making_a_vm(maas: Any, host: str, guard: dict[str, str]) -> None:
    maas("POST", "tags/", {"name": "gpu"})
    assert maas("POST", "machines/?op=allocate", {"cpu_count": "4", **guard}).status_code == 409


def test_a_machine_that_is_a_vm_host_stays_until_forced(maas: Any, host: str) -> None:
    compose(maas, host, hostname="vm1")
    below = f"machines/{maas('GET', host).json()['host']['system_id']}/"
    refused = maas("DELETE", below)
    assert refused.status_code == 400
    assert "must be removed first: kvm1" in refused.text
    assert maas("DELETE", f"{below}?force=true").status_code == 204
    assert maas("GET", "vm-hosts/").json() == maas("GET", "machines/").json() == []


def test_a_machine_deployed_as_a_vm_host_becomes_one(sim: Simulator, maas: Any) -> None:
    sim.machine("node01", cpu=32)
    assert maas.op("node01", "deploy", register_vmhost="true").ok
    assert maas("GET", "vm-hosts/").json() == []
    sim.advance("node01")
    sim.forward(1)
    (made,) = maas("GET", "vm-hosts/").json()
    assert (made["name"], made["total"]["cores"]) == ("node01", 32)
    assert made["host"]["system_id"] == sim.find("node01").system_id
    assert compose(maas, f"vm-hosts/{made['id']}/", hostname="vm1").ok


def test_an_lxd_on_a_deployed_machine_is_known_as_that_machine(sim: Simulator, maas: Any) -> None:
    sim.machine("node01", status="Deployed")
    server = sim.lxd("node01", password="pw")
    made = maas("POST", "vm-hosts/", {"type": "lxd", "power_address": server.address, "password": "pw"}).json()
    assert made["host"]["system_id"] == sim.find("node01").system_id


def test_plain_users_only_look(plain: Any, host: str) -> None:
    assert plain("GET", host).ok
    for method, op in (("POST", "?op=compose"), ("POST", "?op=refresh"), ("GET", "?op=parameters"), ("DELETE", "")):
        refused = plain(method, f"{host}{op}")
        assert (refused.status_code, refused.text) == (403, "This method is reserved for admin users.")


@pytest.mark.parametrize("path", ["vm-hosts/", "pods/", "vm-clusters/", "virtual-machines/"])
def test_a_version_without_vm_hosts_says_so(sim: Simulator, maas: Any, path: str) -> None:
    sim.set_version("no-vmhosts")
    assert maas("GET", path).status_code == 410
