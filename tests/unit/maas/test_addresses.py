# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.pure.occupancy import (
    AddressRange,
    Holder,
    Occupancy,
    Subnet,
    Use,
    listed,
    uses_in,
)

NET = Subnet(1, "10.0.0.0/24", gateway="10.0.0.1", dns_servers=("10.0.0.3",), vlan=1)
NODE = Use("10.0.0.9", Holder.NODE, "abcdef", "node-1", "eth0")


def known(*uses: Use, subnets: Sequence[Subnet] = (NET,)) -> Occupancy:
    ranges = [AddressRange("10.0.0.200", "10.0.0.220")]
    return Occupancy(subnets, ranges, {use.ip: [use] for use in uses})


@pytest.mark.parametrize(
    ("texts", "ips"),
    [
        ([], []),
        (["10.0.0.5", " 10.0.0.4 "], ["10.0.0.5", "10.0.0.4"]),
        (["10.0.0.254-10.0.1.1"], ["10.0.0.254", "10.0.0.255", "10.0.1.0", "10.0.1.1"]),
        (["10.0.0.8/30"], ["10.0.0.8", "10.0.0.9", "10.0.0.10", "10.0.0.11"]),
        (["10.0.0.5", "10.0.0.4-10.0.0.6"], ["10.0.0.5", "10.0.0.4", "10.0.0.6"]),
        (["2001:DB8:0::1-2001:db8::2"], ["2001:db8::1", "2001:db8::2"]),
    ],
)
def test_a_list_of_addresses_keeps_its_order(texts: list[str], ips: list[str]) -> None:
    assert listed(texts, "addresses") == ips


@pytest.mark.parametrize("text", ["", "10.0.0.256", "10.0.0.1-", "10.0.0.1/24", "10.0.0.9-10.0.0.1", "0.0.0.0/0"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(Failure) as refused:
        listed([text], "addresses")
    assert refused.value.kind == "invalid"


@pytest.mark.parametrize(
    ("ip", "says"),
    [
        ("10.0.0.0", "it is the network or broadcast address of 10.0.0.0/24."),
        ("10.0.0.255", "it is the network or broadcast address of 10.0.0.0/24."),
        ("10.0.0.1", "it is the gateway of 10.0.0.0/24."),
        ("10.0.0.200", "it is in the dynamic range 10.0.0.200 to 10.0.0.220, out of which DHCP gives to anybody."),
        ("10.0.0.220", "it is in the dynamic range 10.0.0.200 to 10.0.0.220, out of which DHCP gives to anybody."),
        ("10.0.0.9", "it is used by node-1 (eth0)."),
        ("192.168.0.1", "it is in no subnet that MAAS has."),
        ("2001:db8::1", "it is in no subnet that MAAS has."),
    ],
)
def test_what_is_in_the_way_of_an_address(ip: str, says: str) -> None:
    obstacle = known(NODE).obstacle(ip)
    assert obstacle is not None
    assert obstacle.failure(ip, "had").message == f"{ip} cannot be had: {says}"


@pytest.mark.parametrize("ip", ["10.0.0.2", "10.0.0.3", "10.0.0.199", "10.0.0.221", "10.0.0.254"])
def test_nothing_is_in_the_way_of_a_free_address(ip: str) -> None:
    assert known(NODE).obstacle(ip) is None


@pytest.mark.parametrize(
    ("cidr", "ip"),
    [("10.1.0.0/31", "10.1.0.0"), ("10.1.0.1/32", "10.1.0.1"), ("2001:db8:1::/120", "2001:db8:1::ff")],
)
def test_a_network_of_one_or_two_addresses_or_of_ipv6_has_no_such_ends(cidr: str, ip: str) -> None:
    assert known(subnets=[Subnet(7, cidr)]).obstacle(ip) is None


def test_a_dynamic_range_holds_addresses_of_its_own_ip_version() -> None:
    """As numbers, these two are the same."""
    dynamic = AddressRange("10.0.0.200", "10.0.0.220")
    assert ("10.0.0.201" in dynamic, "::a00:c9" in dynamic) == (True, False)


def test_what_is_ones_own_is_not_in_the_way() -> None:
    assert known(NODE).obstacle("10.0.0.9", lambda use: use.system_id == "abcdef") is None


SUMMARY = {"system_id": "abcdef", "hostname": "node-1", "node_type": 0, "via": "eth0"}
RECORD = {"id": 1, "name": "api", "domain": "lab.example.com"}
BMC = {"id": 1, "power_type": "ipmi", "nodes": [{"system_id": "abcdef", "hostname": "node-1"}]}


@pytest.mark.parametrize(
    ("said", "who"),
    [
        ({"alloc_type": 1, "node_summary": SUMMARY, "user": "bob"}, "used by node-1 (eth0)"),
        ({"alloc_type": 1, "node_summary": {**SUMMARY, "node_type": 1}}, "used by the device node-1 (eth0)"),
        ({"alloc_type": 1, "node_summary": {**SUMMARY, "node_type": 4}}, "used by the controller node-1 (eth0)"),
        ({"alloc_type": 0}, "used by a machine or device that this user may not see"),
        ({"alloc_type": 4, "user": "bob"}, "reserved by bob"),
        ({"alloc_type": 4, "user": "bob", "dns_records": [RECORD]}, "reserved by bob for api.lab.example.com"),
        ({"alloc_type": 4}, "reserved by a user of MAAS"),
        ({"alloc_type": 6, "node_summary": SUMMARY}, "observed on the network at node-1 (eth0)"),
        ({"alloc_type": 6}, "observed on the network"),
        ({"alloc_type": 1, "bmcs": [BMC]}, "the BMC of node-1"),
    ],
)
def test_who_has_an_address_is_said_in_words(said: Mapping[str, Any], who: str) -> None:
    (use,) = uses_in([{"ip": "10.0.0.9", **said}])
    assert use.who == who


def test_the_subnet_of_an_address_is_that_with_dhcp_then_the_smallest() -> None:
    large, small = Subnet(2, "10.0.0.0/16"), Subnet(3, "10.0.0.0/24")
    served = Subnet(4, "10.0.0.0/8", dhcp=True, vlan=5)
    assert known(subnets=[large, small]).subnet_of("10.0.0.9") == small
    assert known(subnets=[large, small, served]).subnet_of("10.0.0.9") == served
    assert known(subnets=[large, small, served]).subnet_of("10.0.0.9", vlan=0) == small
    assert known(subnets=[large, small, served]).subnet_of("10.0.0.9", vlan=9) is None
