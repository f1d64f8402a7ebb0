# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Linking interfaces: other links beside, addresses of others, and what a deployment makes of it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses import linking
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.pure import links as links_of
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.survey import AddressSurvey
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines
from ansible_collections.metalshift.maas.plugins.module_utils._vms.pure.static_addresses import assigned
from integration.arranging import client, link, reserve
from integration.cases import QUICK, lab_domain, other_vlan, two_nics
from integration.harness import Outcome, run_task
from metalshift_lab.simulator import Simulator


def run(sim: Simulator, check: bool = False, **options: Any) -> Outcome:
    return run_task(sim, "interface_link", {"machine": "node-1", "interface": "eth1", **options}, check=check)


def links(sim: Simulator, interface: int = 1) -> list[tuple[str, str | None]]:
    return [(one.mode, one.ip) for one in sim.find("node-1").interfaces[interface].links]


def beside(sim: Simulator) -> None:
    """A second subnet on the same VLAN."""
    two_nics(sim)
    vlan = next(one["vlan"]["id"] for one in client(sim).get("subnets/") if one["cidr"] == "10.99.0.0/24")
    client(sim).post("subnets/", {"cidr": "10.98.0.0/24", "gateway_ip": "10.98.0.1", "vlan": vlan})


def test_links_to_other_subnets_stay_unless_purged(sim: Simulator) -> None:
    beside(sim)
    run(sim, mode="static", ip_address="10.98.0.50")
    assert run(sim, mode="static", ip_address="10.99.0.50").changed
    assert links(sim) == [("static", "10.98.0.50"), ("static", "10.99.0.50")]
    assert run(sim, mode="static", ip_address="10.99.0.51").changed
    assert links(sim) == [("static", "10.98.0.50"), ("static", "10.99.0.51")]
    purged = run(sim, mode="static", ip_address="10.99.0.51", purge=True)
    assert [one["before"]["ip_address"] for one in purged["diff"]] == ["10.98.0.50"]
    assert links(sim) == [("static", "10.99.0.51")]


def test_the_only_link_changes_in_one_request(sim: Simulator) -> None:
    two_nics(sim)
    sim.requests.clear()
    run(sim, interface="eth0", mode="static", ip_address="10.99.0.50", default_gateway=True)
    (write,) = sim.requests.writes()
    assert write.op == "link_subnet"
    assert write.params["mode"] == ["STATIC"]
    assert links(sim, 0) == [("static", "10.99.0.50")]


def test_the_default_gateway_moves_with_the_link_and_to_another(sim: Simulator) -> None:
    beside(sim)
    run(sim, interface="eth0", mode="auto", subnet="10.99.0.0/24", default_gateway=True)
    changed = run(sim, interface="eth0", mode="static", ip_address="10.99.0.50")
    assert changed["interface_link"]["default_gateway"] is True
    assert gateway(sim) == "10.99.0.1"
    assert run(sim, mode="static", ip_address="10.98.0.50", default_gateway=True).changed
    assert gateway(sim) == "10.98.0.1"
    kept = run(sim, interface="eth0", mode="static", ip_address="10.99.0.50")
    assert (kept.changed, kept["interface_link"]["default_gateway"]) == (False, False)
    assert run(sim, interface="eth0", mode="static", ip_address="10.99.0.50", default_gateway=True).changed
    assert gateway(sim) == "10.99.0.1"


def gateway(sim: Simulator) -> str:
    found = client(sim).get("machines/", {"hostname": "node-1"})[0]["default_gateways"]["ipv4"]
    assert found["link_id"] is not None
    return str(found["gateway_ip"])


def test_an_address_on_another_interface_of_the_machine_is_named(sim: Simulator) -> None:
    two_nics(sim)
    run(sim, interface="eth0", mode="static", ip_address="10.99.0.50")
    done = run(sim, mode="static", ip_address="10.99.0.50")
    assert "10.99.0.50 cannot be given to eth1 of node-1: it is used by node-1 (eth0)." in done.msg


def test_an_address_moves_from_one_interface_to_another(sim: Simulator) -> None:
    two_nics(sim)
    run(sim, interface="eth0", mode="static", ip_address="10.99.0.50")
    run(sim, interface="eth0", ip_address="10.99.0.50", state="absent")
    assert run(sim, mode="static", ip_address="10.99.0.50").changed


def test_a_reserved_address_is_released_for_its_link_when_told(sim: Simulator) -> None:
    two_nics(sim)
    reserve(sim, "10.99.0.50", hostname="node-1")
    assert (
        "it is reserved by admin for node-1.maas. Set take_reserved: true"
        in run(sim, mode="static", ip_address="10.99.0.50").msg
    )
    wanted = {"mode": "static", "ip_address": "10.99.0.50", "take_reserved": True}
    foreseen, done = run(sim, check=True, **wanted), run(sim, **wanted)
    assert foreseen["diff"] == done["diff"]
    assert [one["before_header"] for one in done["diff"]] == ["ip_reservation 10.99.0.50", "interface_link node-1 eth1"]
    assert not run(sim, **wanted).changed


def test_a_reserved_address_with_another_name_is_not_released(sim: Simulator) -> None:
    two_nics(sim)
    lab_domain(sim, {"fqdn": "api.lab.example.com", "ip_addresses": "10.99.0.50"})
    done = run(sim, mode="static", ip_address="10.99.0.50", take_reserved=True)
    assert "reserved by admin for api.lab.example.com. Remove that name with dns_record, and make it again" in done.msg
    assert sim.requests.writes() == []


def test_an_interface_moves_to_another_vlan_only_when_told(sim: Simulator) -> None:
    other_vlan(sim)
    wanted = {"interface": "eth0", "mode": "static", "subnet": "172.16.0.0/24"}
    assert "it is on the VLAN fabric-0/untagged, and 172.16.0.0/24 on far/untagged." in run(sim, **wanted).msg
    done = run(sim, **wanted, change_vlan=True)
    assert done["interface_link"]["ip_address"].startswith("172.16.0.")
    assert [link.subnet.cidr for link in sim.find("node-1").interfaces[0].links if link.subnet] == ["172.16.0.0/24"]
    assert not run(sim, **wanted).changed


def test_an_address_in_two_subnets_is_taken_in_the_one_that_the_interface_is_on(sim: Simulator) -> None:
    """MAAS itself takes the one with DHCP."""
    other_vlan(sim)
    far = next(one["vlan"]["id"] for one in client(sim).get("subnets/") if one["cidr"] == "172.16.0.0/24")
    client(sim).post("subnets/", {"cidr": "10.99.0.0/25", "vlan": far})
    run(sim, mode="auto", subnet="172.16.0.0/24", change_vlan=True)
    done = run(sim, mode="static", ip_address="10.99.0.50")
    assert not done.failed, done.msg
    assert done["interface_link"]["subnet"] == "10.99.0.0/25"
    there = run(sim, interface="eth0", mode="static", ip_address="10.99.0.51")
    assert there["interface_link"]["subnet"] == "10.99.0.0/24"


def test_what_dhcp_keeps_for_the_interface_is_its_only_static_address(sim: Simulator) -> None:
    two_nics(sim)
    mac = sim.find("node-1").interfaces[1].mac_address
    keep = {"addresses": ["10.99.0.50"], "type": "dhcp", "mac_address": mac}
    assert not run_task(sim, "ip_reservation", keep).failed
    other = run(sim, mode="static", ip_address="10.99.0.51")
    assert f"it is not the one that DHCP keeps for {mac}, which is 10.99.0.50. Use 10.99.0.50, or remove" in other.msg
    assert "it is kept by DHCP for" in run(sim, interface="eth0", mode="static", ip_address="10.99.0.50").msg
    assert run(sim, mode="static", ip_address="10.99.0.50").changed


def test_an_interface_in_a_bond_is_refused_and_the_bond_is_linked(sim: Simulator) -> None:
    two_nics(sim)
    system_id = sim.find("node-1").system_id
    parents = [one["id"] for one in client(sim).get(f"nodes/{system_id}/interfaces/")]
    client(sim).post(f"nodes/{system_id}/interfaces/", {"name": "bond0", "parents": parents}, op="create_bond")
    refused = run(sim, mode="static", subnet="10.99.0.0/24")
    assert refused.msg == "eth1 of node-1 cannot be linked: it is part of the bond bond0. Link bond0 instead."
    assert run(sim, interface="bond0", mode="static", subnet="10.99.0.0/24").changed


def test_the_interface_is_found_by_its_mac_address_in_any_form(sim: Simulator) -> None:
    two_nics(sim)
    mac = str(sim.find("node-1").interfaces[1].mac_address)
    done = run(sim, interface=mac.upper().replace(":", "-"), mode="static", ip_address="10.99.0.50")
    assert (done["interface_link"]["interface"], done["interface_link"]["mac_address"]) == ("eth1", mac)


def test_a_machine_is_deployed_with_its_address_and_gives_it_back_when_it_goes(sim: Simulator) -> None:
    sim.machine("node-1")
    sim.auto(0.01)
    wanted = {"interface": "eth0", "mode": "static", "ip_address": "10.99.0.50"}
    run(sim, **wanted)
    deployed = run_task(sim, "machine", {"machines": ["node-1"], "state": "deployed", **QUICK})
    assert deployed["machine"]["ip_addresses"] == ["10.99.0.50"]
    assert not run(sim, **wanted).changed
    assert "the machine is Deployed, and MAAS changes" in run(sim, **{**wanted, "ip_address": "10.99.0.51"}).msg
    run_task(sim, "machine", {"machines": ["node-1"], "state": "absent", **QUICK})
    assert run_task(sim, "ip_reservation", {"addresses": ["10.99.0.50"]}).changed
    assert not run(sim, interface="eth0", subnet="10.99.0.0/24", state="absent").changed


def test_in_check_mode_a_machine_may_be_made_by_an_earlier_task(sim: Simulator) -> None:
    done = run(sim, check=True, mode="static", ip_address="10.99.0.50")
    assert done["warnings"] == ["MAAS does not know node-1 yet."]
    assert done["interface_link"] == {
        "machine": "node-1",
        "system_id": None,
        "interface": "eth1",
        "mac_address": None,
        "mode": "static",
        "ip_address": "10.99.0.50",
        "subnet": "10.99.0.0/24",
        "default_gateway": False,
        "predicted": True,
    }
    sim.machine("other")
    link(sim, "other", "eth0", "10.99.0.50")
    assert "it is used by other (eth0)." in run(sim, check=True, mode="static", ip_address="10.99.0.50").msg


@pytest.mark.parametrize(
    ("interface", "name"), [("eth1", "eth1"), (" eth1 ", "eth1"), ("eth7", ""), ("52:54:00:00:00:99", "")]
)
def test_an_interface_that_is_not_there_is_no_link_that_could_be_removed(
    sim: Simulator, interface: str, name: str
) -> None:
    two_nics(sim)
    run(sim, mode="static", ip_address="10.99.0.50")
    done = run(sim, interface=interface, subnet="10.99.0.0/24", state="absent")
    assert (done.failed, done.changed) == (False, bool(name))


def test_many_links_are_made_with_one_look_at_who_has_which_address(sim: Simulator) -> None:
    machines = [sim.machine(f"vm-{number}") for number in range(3)]
    maas = client(sim)
    survey = AddressSurvey(maas)
    ips = [f"10.99.0.{number}" for number in range(60, 70)]
    known = survey.of(ips)
    chosen = assigned({machine.hostname: number for number, machine in enumerate(machines, 1)}, ips, {})
    act = linking.Linking(maas, survey)
    sim.requests.clear()
    for node in Machines(maas).read(machine.system_id for machine in machines).values():
        nic = links_of.NetworkInterface.of(node, node["interface_set"][0])
        wish = links_of.LinkSpec("static", known.subnet_of(chosen[nic.node]), chosen[nic.node])
        assert act.carry_out(act.foresee(nic, wish, known=known))["ip_address"] == chosen[nic.node]
    assert [request.method for request in sim.requests] == ["GET", "POST", "POST", "POST"]
