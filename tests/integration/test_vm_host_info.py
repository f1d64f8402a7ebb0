# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""VM hosts are found by what they are like, and show their capacity and who has the VMs on them."""

from __future__ import annotations

from typing import Any

import pytest

from integration.arranging import client
from integration.cases import two_vms_on_kvm1
from integration.harness import run_task
from metalshift_lab.simulator import Simulator
from metalshift_lab.simulator.lxd import Disk, Instance, Nic, Server

NO_SCHEDULE = "maas-lxd-host-noschedule"


def another_host(sim: Simulator, name: str = "kvm2", **form: Any) -> Server:
    """One more VM host, on an LXD of its own; its VMs are those that the LXD gets here."""
    number = len(list(sim.state.vm_hosts))
    address = f"127.0.0.1:900{number}"
    server = sim.lxd(address=address, password="sekret", mac=f"52:54:00:00:77:0{number}")
    lxd = {"type": "lxd", "power_address": address, "password": "sekret", "project": "maas"}
    client(sim).post("vm-hosts/", {**lxd, "name": name, **form})
    sim.forward(1)
    sim.requests.clear()
    return server


def test_the_capacity_has_over_commit_applied(sim: Simulator) -> None:
    two_vms_on_kvm1(sim)
    client(sim).put("vm-hosts/1/", {"cpu_over_commit_ratio": "2.5"})
    found = run_task(sim, "vm_host_info")
    (host,) = found["vm_hosts"]
    assert host["capacity"]["cores"] == {"total": 16, "used": 2, "limit": 40, "available": 38}
    assert host["capacity"]["memory"] == {"total": 65536, "used": 4096, "limit": 65536, "available": 61440}
    assert host["storage_pools"][0]["available"] == 484_000_000_000
    assert found["summary"]["cores"] == host["capacity"]["cores"]


def test_who_has_which_vm_is_told(sim: Simulator) -> None:
    two_vms_on_kvm1(sim)
    run_task(sim, "machine", {"machines": ["vm1"], "state": "allocated", "claim": "web"})
    found = run_task(sim, "vm_host_info", {"names": ["kvm1", "kvm9"], "gather": ["virtual_machines", "parameters"]})
    assert found["warnings"] == ["MAAS has no such VM host kvm9."]
    (host,) = found["vm_hosts"]
    vms = {vm["name"]: (vm["owner"], vm["claim"], vm["cores"]) for vm in host["virtual_machines"]}
    assert vms == {"vm1": ("admin", "web", 1), "vm2": (None, None, 1)}
    assert (host["power_address"], host["project"]) == ("127.0.0.1:8449", "maas")


def test_the_hosts_of_a_claim_are_found_where_only_agent_name_holds_it(sim: Simulator) -> None:
    two_vms_on_kvm1(sim)
    another_host(sim)
    client(sim).post("machines/", {"name": "vm1", "agent_name": "web"}, op="allocate")
    found = run_task(sim, "vm_host_info", {"claim": "web", "gather": ["virtual_machines"]})
    assert [host["name"] for host in found["vm_hosts"]] == ["kvm1"]
    assert [vm["claim"] for vm in found["vm_hosts"][0]["virtual_machines"]] == ["web", None]


FILTERS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "all": ({}, ["kvm1", "kvm2"]),
    "zone": ({"zone": ["az1", "az9"]}, ["kvm2"]),
    "pool": ({"pool": ["default"]}, ["kvm1", "kvm2"]),
    "tags": ({"tags": ["fast", "pod-console-logging"]}, ["kvm2"]),
    "open": ({"schedulable": True}, ["kvm1"]),
    "closed": ({"schedulable": False}, ["kvm2"]),
    "machines": ({"machines": ["kvm2", "node-9"]}, ["kvm2"]),
    "no names": ({"names": []}, []),
}


@pytest.mark.parametrize(("options", "names"), FILTERS.values(), ids=FILTERS)
def test_hosts_are_filtered(sim: Simulator, options: dict[str, Any], names: list[str]) -> None:
    two_vms_on_kvm1(sim)
    sim.machine("other", zone="az1")
    another_host(sim, zone="az1", tags="fast")
    run_task(sim, "tag", {"name": NO_SCHEDULE, "machines": ["kvm2"]})
    found = run_task(sim, "vm_host_info", options)
    assert [host["name"] for host in found["vm_hosts"]] == names
    assert found["summary"]["vm_hosts"] == len(names)


def test_a_closed_host_counts_for_no_room(sim: Simulator) -> None:
    two_vms_on_kvm1(sim)
    run_task(sim, "tag", {"name": NO_SCHEDULE, "machines": ["kvm1"]})
    found = run_task(sim, "vm_host_info")
    assert found["vm_hosts"][0]["schedulable"] is False
    assert found["summary"]["cores"]["available"] == 0


def test_two_requests_tell_of_all_hosts(sim: Simulator) -> None:
    for number in range(4):
        another_host(sim, f"kvm{number}")
    assert len(run_task(sim, "vm_host_info")["vm_hosts"]) == 4
    assert len(sim.requests) == 2


def test_a_host_that_maas_could_not_talk_to_says_so(sim: Simulator) -> None:
    another_host(sim, password="wrong")
    (host,) = run_task(sim, "vm_host_info")["vm_hosts"]
    assert (host["discovered"], host["obstacles"]) == (False, ["MAAS could not discover it."])


def test_vms_of_other_projects_are_counted_and_listed(sim: Simulator) -> None:
    server = another_host(sim)
    disk, nic = Disk("root", server.pools[0], 10**9), Nic("eth0", "52:54:00:00:88:01")
    server.projects["private"] = {"mine": Instance("mine", 3, 1024, [disk], [nic])}
    client(sim).post("vm-hosts/1/", op="refresh")
    (host,) = run_task(sim, "vm_host_info", {"gather": ["virtual_machines"]})["vm_hosts"]
    assert host["capacity"]["cores"]["used"] == 3
    (vm,) = host["virtual_machines"]
    assert (vm["name"], vm["project"], vm["system_id"]) == ("mine", "private", None)


def test_a_plain_user_sees_all_but_the_addresses(sim: Simulator) -> None:
    two_vms_on_kvm1(sim)
    form = {"username": "plain", "password": "p", "email": "p@example.com", "is_superuser": "0"}
    client(sim).post("users/", form)
    key = {"maas_api_key": sim.key_of("plain")}
    (host,) = run_task(sim, "vm_host_info", {"gather": ["virtual_machines"], **key})["vm_hosts"]
    assert (host["name"], host["power_address"]) == ("kvm1", None)
    refused = run_task(sim, "vm_host_info", {"gather": ["parameters"], **key})
    assert refused["failure"]["kind"] == "forbidden"
    assert refused.msg.startswith("The addresses of VM hosts cannot be gathered: this key may not read them.")


def test_a_maas_without_vm_hosts_is_named_as_that(sim: Simulator) -> None:
    sim.set_version("no-vmhosts")
    try:
        came = run_task(sim, "vm_host_info")
    finally:
        sim.set_version("3.6")
    assert came["failure"]["kind"] == "unsupported"
    assert came.msg == (
        "This MAAS has no VM hosts any more: they went after MAAS 3.8. "
        "Make VMs with metalshift.maas.vm and via: lxd, which needs no VM host of MAAS."
    )


def test_certificates_and_keys_stay_in_maas(sim: Simulator) -> None:
    two_vms_on_kvm1(sim)
    came = run_task(sim, "vm_host_info", {"gather": ["parameters", "virtual_machines"]})
    parameters = next(iter(sim.state.vm_hosts)).parameters
    said = str(came.result) + "".join(came.screen.shown + came.screen.traced)
    for name in ("certificate", "key"):
        assert parameters[name].splitlines()[1] not in said
    assert len(came["vm_hosts"][0]["certificate_fingerprint"]) == 64
