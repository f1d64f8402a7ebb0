# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Subnets and what takes their addresses, VLANs, names."""

from __future__ import annotations

import ipaddress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metalshift_lab.simulator import network
from metalshift_lab.simulator.clock import Clock
from metalshift_lab.simulator.model import VLAN, AllocType, Fabric, IPRange, Subnet
from metalshift_lab.simulator.state import State

NET = {"cidr": "172.16.0.0/24", "name": "net", "gateway_ip": "172.16.0.1"}
CONFLICT = "Requested dynamic range conflicts with an existing IP address or range."


@pytest.fixture
def subnet(maas: Any) -> Any:
    return maas("POST", "subnets/", NET).json()


def ranges(maas: Any, subnet: Any, op: str = "reserved_ip_ranges") -> list[tuple[str, str, list[str]]]:
    found = maas("GET", f"subnets/{subnet['id']}/?op={op}").json()
    return [(r["start"], r["end"], r.get("purpose", [])) for r in found]


def test_what_is_in_use_is_told_by_purpose(maas: Any, subnet: Any) -> None:
    for start, end, kind in (("10", "19", "reserved"), ("200", "220", "dynamic")):
        form = {"type": kind, "start_ip": f"172.16.0.{start}", "end_ip": f"172.16.0.{end}"}
        assert maas("POST", "ipranges/", form).ok
    for ip in ("172.16.0.30", "172.16.0.31"):
        assert maas("POST", "ipaddresses/?op=reserve", {"ip": ip}).ok
    assert ranges(maas, subnet) == [
        ("172.16.0.1", "172.16.0.1", ["gateway-ip"]),
        ("172.16.0.10", "172.16.0.19", ["reserved"]),
        ("172.16.0.30", "172.16.0.31", ["assigned-ip"]),
        ("172.16.0.200", "172.16.0.220", ["dynamic"]),
    ]
    told = maas("GET", f"subnets/{subnet['id']}/?op=statistics").json()
    assert told["num_unavailable"] == 1 + 10 + 2 + 21
    assert told["largest_available"] == 199 - 32 + 1


def test_the_smallest_free_block_is_used_up_first(maas: Any, subnet: Any) -> None:
    maas("POST", "ipranges/", {"type": "reserved", "start_ip": "172.16.0.5", "end_ip": "172.16.0.250"})
    taken = [maas("POST", "ipaddresses/?op=reserve", {"subnet": "net"}).json()["ip"] for _ignored in range(4)]
    assert taken == ["172.16.0.2", "172.16.0.3", "172.16.0.4", "172.16.0.251"]


def test_a_full_subnet_has_no_address_left(maas: Any) -> None:
    maas("POST", "subnets/", {"cidr": "172.17.0.0/30"})
    answers = [maas("POST", "ipaddresses/?op=reserve", {"subnet": "172.17.0.0/30"}) for _ignored in range(3)]
    assert [a.status_code for a in answers] == [200, 200, 503]
    assert answers[-1].text == "No more IPs available in subnet: 172.17.0.0/30."


def test_an_unmanaged_subnet_gives_only_reserved_addresses(maas: Any, subnet: Any) -> None:
    maas("PUT", f"subnets/{subnet['id']}/", {"managed": "false"})
    assert maas("POST", "ipaddresses/?op=reserve", {"subnet": "net"}).status_code == 503
    maas("POST", "ipranges/", {"type": "reserved", "start_ip": "172.16.0.50", "end_ip": "172.16.0.51"})
    assert maas("POST", "ipaddresses/?op=reserve", {"subnet": "net"}).json()["ip"] == "172.16.0.50"
    assert ranges(maas, subnet, "unreserved_ip_ranges") == [("172.16.0.51", "172.16.0.51", [])]


@pytest.mark.parametrize(
    ("start", "end", "kind", "errors"),
    [
        ("0", "9", "reserved", {"start_ip": "Reserved network address cannot be included in IP range."}),
        ("9", "255", "reserved", {"end_ip": "Broadcast address cannot be included in IP range."}),
        ("9", "1", "reserved", {"end_ip": "End IP address must not be less than Start IP address."}),
        ("1", "9", "dynamic", {"start_ip": CONFLICT, "end_ip": CONFLICT}),
        ("1", "9", "reserved", None),
    ],
)
def test_ranges_that_do_not_fit(maas: Any, subnet: Any, start: str, end: str, kind: str, errors: Any) -> None:
    form = {"type": kind, "start_ip": f"172.16.0.{start}", "end_ip": f"172.16.0.{end}", "subnet": subnet["id"]}
    answer = maas("POST", "ipranges/", form)
    if errors is None:
        assert answer.ok
    else:
        assert (answer.status_code, answer.json()) == (400, {name: [text] for name, text in errors.items()})


def test_deleting_a_vlan_moves_what_is_on_it(maas: Any) -> None:
    fabric = maas("POST", "fabrics/", {"name": "f"}).json()
    vlan = maas("POST", f"fabrics/{fabric['id']}/vlans/", {"vid": 7}).json()
    assert vlan["name"] == "7"
    made = maas("POST", "subnets/", {**NET, "vlan": vlan["id"]}).json()
    assert maas("DELETE", f"vlans/{vlan['id']}/").status_code == 204
    assert maas("GET", f"subnets/{made['id']}/").json()["vlan"]["id"] == fabric["vlans"][0]["id"]
    refused = maas("DELETE", "fabrics/f/")
    assert (refused.status_code, refused.text) == (
        400, "Can't delete fabric; the following subnets are still present: 172.16.0.0/24",
    )  # fmt: skip


def test_dhcp_needs_a_range_and_a_rack(maas: Any, sim: Any, subnet: Any) -> None:
    fabric = maas("POST", "fabrics/", {"name": "f"}).json()
    vlan = f"vlans/{fabric['vlans'][0]['id']}/"
    maas("PUT", f"subnets/{subnet['id']}/", {"vlan": fabric["vlans"][0]["id"]})
    assert "dhcp_on" in maas("PUT", vlan, {"dhcp_on": "true"}).json()
    maas("POST", "ipranges/", {"type": "dynamic", "start_ip": "172.16.0.9", "end_ip": "172.16.0.19"})
    assert "__all__" in maas("PUT", vlan, {"dhcp_on": "true"}).json()
    rack = sim.state.rack.system_id
    assert maas("PUT", vlan, {"dhcp_on": "true", "primary_rack": rack}).json()["dhcp_on"] is True
    refused = maas("DELETE", f"subnets/{subnet['id']}/")
    assert refused.status_code == 400
    assert refused.text.startswith("Cannot delete a subnet that is actively servicing a dynamic IP range.")


def test_a_name_goes_with_its_last_address(maas: Any, subnet: Any) -> None:
    maas("POST", "ipaddresses/?op=reserve", {"ip": "172.16.0.9", "hostname": "printer"})
    assert [r["fqdn"] for r in maas("GET", "dnsresources/").json()] == ["printer.maas"]
    assert maas("POST", "ipaddresses/?op=release", {"ip": "172.16.0.9"}).status_code == 204
    assert maas("GET", "dnsresources/").json() == []


def test_addresses_of_names_as_the_cluster_api_provider_sets_them(maas: Any) -> None:
    made = maas("POST", "dnsresources/", {"fqdn": "api.maas", "address_ttl": "10", "ip_addresses": ""}).json()
    assert (made["address_ttl"], made["ip_addresses"]) == (10, [])
    maas("PUT", f"dnsresources/{made['id']}/", {"id": made["id"], "ip_addresses": "10.99.0.7 10.99.0.8"})
    found = maas("GET", "dnsresources/?fqdn=api.maas").json()
    assert [a["ip"] for a in found[0]["ip_addresses"]] == ["10.99.0.7", "10.99.0.8"]


@pytest.mark.parametrize(
    ("method", "path", "text"),
    [
        ("POST", "subnets/", "This method is reserved for admin users."),
        ("POST", "domains/", "This method is reserved for admin users."),
        ("PUT", "subnets/1/", ""),
        ("DELETE", "fabrics/0/", ""),
        ("GET", "ipaddresses/?all=true", "Listing all IP addresses requires admin privileges."),
    ],
)
def test_plain_users_look_and_do_not_touch(plain: Any, method: str, path: str, text: str) -> None:
    answer = plain(method, path)
    assert (answer.status_code, answer.text) == (403, text)


def test_plain_users_reserve_addresses_for_themselves(plain: Any, maas: Any) -> None:
    ip = plain("POST", "ipaddresses/?op=reserve", {"subnet": "10.99.0.0/24"}).json()["ip"]
    assert [a["ip"] for a in plain("GET", "ipaddresses/").json()] == [ip]
    assert maas("GET", "ipaddresses/").json() == []
    assert maas("POST", "ipaddresses/?op=release", {"ip": ip}).status_code == 400
    assert maas("POST", "ipaddresses/?op=release", {"ip": ip, "force": "true"}).status_code == 204


# -- the arithmetic -------------------------------------------------------------------------------------------------

last_octets = st.integers(min_value=1, max_value=254)


@given(assigned=st.sets(last_octets, max_size=30), reserved=st.lists(st.tuples(last_octets, last_octets), max_size=4))
def test_used_and_free_are_the_whole_subnet_and_nothing_twice(
    assigned: set[int], reserved: list[tuple[int, int]]
) -> None:
    state = State(clock=Clock())
    vlan = state.vlans.make(VLAN, fabric=state.fabrics.make(Fabric, name="f"))
    subnet = state.subnets.make(Subnet, cidr="10.0.0.0/24", name="n", vlan=vlan)
    for octet in assigned:
        state.add_address(alloc_type=AllocType.USER_RESERVED, ip=f"10.0.0.{octet}", subnet=subnet)
    for ends in reserved:
        low, high = (f"10.0.0.{octet}" for octet in sorted(ends))
        state.ranges.make(IPRange, subnet=subnet, type="reserved", start_ip=low, end_ip=high)
    spans = network.usage(state, subnet)
    covered = [n for s in spans for n in range(s.first, s.last + 1)]
    assert covered == [int(ip) for ip in ipaddress.ip_network("10.0.0.0/24").hosts()]
    free = {n for s in spans if network.UNUSED in s.purposes for n in range(s.first, s.last + 1)}
    busy = {n for s in network.in_use(state, subnet) for n in range(s.first, s.last + 1)}
    assert not free & busy
    if free:
        assert int(ipaddress.ip_address(network.next_ip(state, subnet))) in free
