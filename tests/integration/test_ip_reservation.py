# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reserving addresses: many in one task, beside those that others have."""

from __future__ import annotations

from typing import Any

import pytest

from integration.arranging import client, link, reserve
from integration.cases import MAC_1, MAC_2, one_device, other_vlan, two_nics
from integration.harness import Outcome, run_task
from metalshift_lab.simulator import Simulator


def run(sim: Simulator, *addresses: Any, check: bool = False, **options: Any) -> Outcome:
    return run_task(sim, "ip_reservation", {"addresses": list(addresses), **options}, check=check)


def test_one_address_that_is_taken_fails_alone(sim: Simulator) -> None:
    sim.machine("node-1")
    link(sim, "node-1", "eth0", "10.99.0.51")
    for check in (True, False):
        done = run(sim, "10.99.0.50-10.99.0.52", check=check)
        assert done.failed
        assert done.changed
        assert done.msg.startswith(
            "1 of 3 addresses failed: 10.99.0.51 cannot be reserved: it is used by node-1 (eth0)."
        )
        assert done["summary"] == {"present": 2, "failed": 1}
        assert [one["changed"] for one in done["ip_reservations"]] == [True, False, True]
        assert done["ip_reservations"][1]["failure"]["kind"] == "conflict"
    assert sorted(one["ip"] for one in client(sim).get("ipaddresses/")) == ["10.99.0.50", "10.99.0.52"]


def test_many_addresses_are_looked_up_with_one_request_for_each_kind_of_thing(sim: Simulator) -> None:
    run(sim, "10.99.0.32/27", check=True)
    assert [(request.path.partition("/api/2.0/")[2], request.op) for request in sim.requests] == [
        ("version/", None),
        ("reservedips/", None),
        ("ipaddresses/", None),
        ("subnets/", None),
        ("subnets/1/", "ip_addresses"),
        ("ipranges/", None),
    ]


@pytest.mark.parametrize("version", ["3.3", "3.5"])
def test_a_maas_without_reserved_ips_still_reserves_for_users(sim: Simulator, version: str) -> None:
    sim.set_version(version)
    try:
        made = run(sim, "10.99.0.50")
        refused = run(sim, "10.99.0.51", type="dhcp", mac_address=MAC_1)
        gone = run(sim, "10.99.0.51", type="dhcp", state="absent")
    finally:
        sim.set_version("3.6")
    assert made.changed
    assert refused["failure"]["kind"] == "unsupported"
    assert refused.msg.startswith("type: dhcp needs reserved IP addresses, which came with MAAS 3.6; this is MAAS")
    assert (gone.failed, gone.changed) == (False, False)


def test_an_address_that_dhcp_keeps_names_its_machine(sim: Simulator) -> None:
    mac = sim.machine("node-1").interfaces[0].mac_address
    assert run(sim, "10.99.0.50", type="dhcp", mac_address=mac).changed
    taken = run(sim, "10.99.0.50")
    assert taken.msg.startswith(f"10.99.0.50 cannot be reserved: it is kept by DHCP for {mac} of node-1 (eth0).")
    other = run(sim, "10.99.0.50", type="dhcp", mac_address=MAC_2)
    assert f"it is kept by DHCP for {mac} of node-1 (eth0). Set replace: true" in other.msg
    second = run(sim, "10.99.0.51", type="dhcp", mac_address=mac)
    assert f"it is meant for {mac}, for which DHCP keeps 10.99.0.50. Remove the reservation of 10.99.0.50" in second.msg


def test_dhcp_keeps_the_address_that_the_interface_has_already(sim: Simulator) -> None:
    mac = sim.machine("node-1").interfaces[0].mac_address
    link(sim, "node-1", "eth0", "10.99.0.50")
    assert not run(sim, "10.99.0.50", type="dhcp", mac_address=mac).failed
    assert run(sim, "10.99.0.50", type="dhcp", mac_address=MAC_2, replace=True).failed


def test_a_reservation_for_another_mac_address_is_made_anew_only_when_told(sim: Simulator) -> None:
    run(sim, "10.99.0.50", mac_address=MAC_1)
    refused = run(sim, "10.99.0.50", mac_address=MAC_2)
    assert f"it is reserved by admin for {MAC_1}. Set replace: true to reserve it anew" in refused.msg
    assert run(sim, "10.99.0.50", mac_address=MAC_2, replace=True).changed
    (found,) = client(sim).get("ipaddresses/")
    assert found["interface_set"][0]["mac_address"] == MAC_2


def test_a_name_that_would_be_lost_is_named(sim: Simulator) -> None:
    run(sim, "10.99.0.50", mac_address=MAC_1, hostname="api")
    refused = run(sim, "10.99.0.50", mac_address=MAC_2, replace=True)
    assert refused.msg == (
        "10.99.0.50 cannot be reserved: it is known in DNS as api.maas. Remove that name first with dns_record."
    )
    assert not run(sim, "10.99.0.50", mac_address=MAC_2, replace=True, hostname="api").failed


def test_a_name_gets_one_address_more_and_an_address_one_name_more(sim: Simulator) -> None:
    run(sim, {"ip": "10.99.0.50", "hostname": "api"})
    run(sim, {"ip": "10.99.0.51", "hostname": "api"})
    done = run(sim, {"ip": "10.99.0.51", "hostname": "www"})
    assert done["ip_reservation"]["names"] == ["api.maas", "www.maas"]
    assert run_task(sim, "dns_record", {"name": "api", "value": ["10.99.0.50", "10.99.0.51"]}).changed is False


def test_an_address_that_a_name_brought_along_is_a_reservation(sim: Simulator) -> None:
    """MAAS reserves what dns_record puts into DNS, for the user who did it."""
    run_task(sim, "dns_record", {"name": "api", "value": "10.99.0.50"})
    done = run(sim, "10.99.0.50")
    assert (done.changed, done["ip_reservation"]["names"]) == (False, ["api.maas"])


def test_what_a_machine_has_is_left_to_it_by_a_removal(sim: Simulator) -> None:
    sim.machine("node-1")
    link(sim, "node-1", "eth0", "10.99.0.50")
    reserve(sim, "10.99.0.51")
    done = run(sim, "10.99.0.50-10.99.0.51", "172.31.0.1", state="absent")
    assert (done.failed, done.changed, done["summary"]) == (False, True, {"absent": 3})
    assert "10.99.0.50" in [link.ip for link in sim.find("node-1").interfaces[0].links]


def test_a_removal_for_a_mac_address_leaves_that_of_another(sim: Simulator) -> None:
    run(sim, "10.99.0.50", type="dhcp", mac_address=MAC_1)
    assert not run(sim, "10.99.0.50", type="dhcp", mac_address=MAC_2, state="absent").changed
    assert run(sim, "10.99.0.50", type="dhcp", mac_address=MAC_1, state="absent").changed


def test_dhcp_keeps_one_address_for_a_mac_address_on_each_vlan(sim: Simulator) -> None:
    other_vlan(sim)
    keep = {"type": "dhcp", "mac_address": "52:54:00:00:99:01"}
    for ip in ("10.99.0.50", "172.16.0.50"):
        done = run_task(sim, "ip_reservation", {**keep, "addresses": [ip]})
        assert not done.failed, done.msg
    other = run_task(sim, "ip_reservation", {**keep, "addresses": ["10.99.0.51"]}, check=True)
    assert "for which DHCP keeps 10.99.0.50. Remove the reservation of 10.99.0.50 first." in other.msg


@pytest.mark.parametrize("check", [True, False])
def test_an_address_in_a_reserved_range_is_not_reserved_once_more(sim: Simulator, check: bool) -> None:
    """MAAS refuses it, with 404 and words of its own."""
    client(sim).post("ipranges/", {"type": "reserved", "start_ip": "10.99.0.50", "end_ip": "10.99.0.59"})
    done = run(sim, "10.99.0.50", check=check)
    assert done.failed
    assert done["failure"]["kind"] == "conflict"
    assert "10.99.0.50 cannot be reserved: it is in the reserved range 10.99.0.50 to 10.99.0.59" in done.msg
    assert not sim.requests.writes()[1:]


def test_a_reserved_range_is_no_obstacle_for_dhcp_and_links(sim: Simulator) -> None:
    client(sim).post("ipranges/", {"type": "reserved", "start_ip": "10.99.0.50", "end_ip": "10.99.0.59"})
    assert run(sim, "10.99.0.50", type="dhcp", mac_address=MAC_1).changed
    sim.machine("node-1")
    static = {"machine": "node-1", "interface": "eth0", "mode": "static", "ip_address": "10.99.0.51"}
    assert not run_task(sim, "interface_link", static).failed


def test_what_maas_refuses_in_words_of_its_own_is_told_in_them(sim: Simulator) -> None:
    """A range that somebody makes between the look and the request."""
    words = "10.99.0.50 is within the reserved range from 10.99.0.50 to 10.99.0.59"
    sim.fault(op="reserve", status=404, text=words)
    done = run(sim, "10.99.0.50")
    assert done["failure"]["kind"] == "conflict"
    assert words in done.msg
    assert "maas_endpoint" not in done.msg


@pytest.mark.parametrize("check", [True, False])
def test_a_reservation_that_keeps_a_machine_from_being_deployed_is_warned_of(sim: Simulator, check: bool) -> None:
    other_vlan(sim)
    mac = sim.machine("node-1").interfaces[0].mac_address
    done = run(sim, "172.16.0.50", type="dhcp", mac_address=mac, check=check)
    assert done["warnings"] == [
        f"172.16.0.50 is kept for {mac} of node-1 (eth0), which has no link to 172.16.0.0/24: "
        "MAAS does not deploy node-1 until it has one. Make it with interface_link."
    ]
    assert "warnings" not in run(sim, "10.99.0.50", type="dhcp", mac_address=mac, check=check)
    if check:
        return
    refused = run_task(sim, "machine", {"machines": ["node-1"], "state": "deployed", "wait": False})
    assert refused["failure"]["kind"] == "conflict"
    assert "has a reserved ip 172.16.0.50 but it does not have a link to that subnet). Link it" in refused.msg


def test_a_new_reservation_has_its_name_from_the_same_request(sim: Simulator) -> None:
    sim.requests.clear()
    assert run_task(sim, "ip_reservation", {"addresses": ["10.99.0.50"], "hostname": "api"}).changed
    assert [request.op for request in sim.requests.writes()] == ["reserve"]


def test_a_reservation_that_maas_refuses_is_no_change(sim: Simulator) -> None:
    sim.fault(method="POST", status=403, text="No.")
    done = run_task(sim, "ip_reservation", {"addresses": ["10.99.0.50"]})
    assert (done.failed, done.changed) == (True, False)


def test_ipv6_addresses_are_reserved_in_whatever_form_they_are_written(sim: Simulator) -> None:
    client(sim).post("subnets/", {"cidr": "2001:db8::/64"})
    assert run(sim, {"ip": "2001:DB8:0:0::10", "hostname": "six"}).changed
    again = run(sim, {"ip": "2001:db8::10", "hostname": "six"})
    assert (again.changed, again["ip_reservation"]["names"]) == (False, ["six.maas"])


def test_a_mac_address_of_a_device_is_refused_for_a_user(sim: Simulator) -> None:
    one_device(sim)
    two_nics(sim)
    mac = sim.find("node-1").interfaces[1].mac_address
    done = run(sim, {"ip": "10.99.0.50", "mac_address": MAC_1}, {"ip": "10.99.0.51", "mac_address": mac})
    assert f"it is meant for {MAC_1}, which belongs to the device printer (eth0)." in done.msg
    assert f"it is meant for {mac}, which belongs to node-1 (eth1)." in done.msg
