# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is decided for an LXD host: sizes, limits, ratios, addresses and the rules of firewalls."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._vms.lxd_host.pure import firewall, sizes
from unit.lxd_host.machines import MACHINE, a_host

GIB = 1 << 30
RESOURCES = {"resources": {"cpu": {"total": 8}, "memory": {"total": 8 * GIB}}}


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("", 0),
        ("1GiB", GIB),
        ("1.5GiB", GIB * 3 // 2),
        ("2TB", 2 * 10**12),
        ("512", 512 << 20),
        ("80%", 800),
        ("0.5%", 5),
        ("a lot", None),
        ("1PiB", None),
        ("-1GiB", None),
        ("%", None),
    ],
)
def test_the_size_of_a_pool_is_understood(text: str, size: int | None) -> None:
    assert sizes.pool_size(text, 1000) == size


def test_a_share_is_of_what_is_free() -> None:
    host = a_host({"storage_driver": "btrfs", "storage_size": "50%"}, free=100 * GIB)
    assert host.pool_config == {"size": f"{50 * GIB}B"}


@pytest.mark.parametrize(
    ("wanted", "cpu", "limits"),
    [
        ({}, None, {}),
        ({"cpu_over_commit_ratio": 4}, 4, {}),
        ({"reserved_cores": 2}, 0.75, {"limits.cpu": "6"}),
        ({"reserved_cores": 2, "cpu_over_commit_ratio": 2}, 1.5, {"limits.cpu": "12"}),
        ({"reserved_cores": 5}, 0.375, {"limits.cpu": "3"}),
        ({"reserved_memory": "2GiB", "memory_over_commit_ratio": 1.5}, None, {"limits.memory": "9216MiB"}),
    ],
)
def test_over_commit_is_what_is_given_or_follows_from_what_is_kept_back(wanted: Any, cpu: Any, limits: Any) -> None:
    host = a_host(wanted, **RESOURCES)
    assert (host.as_result()["cpu_over_commit_ratio"], sizes.room(host.spec, host.facts).limits) == (cpu, limits)


def test_nothing_is_limited_before_lxd_says_what_the_machine_has() -> None:
    host = a_host({"reserved_cores": 2, "reserved_memory": "1GiB"})
    assert sizes.room(host.spec, host.facts).limits == {}


def test_limits_that_an_earlier_run_set_and_nobody_wants_any_more_are_unset() -> None:
    project = {"name": "maas", "config": {"limits.cpu": "4", "limits.memory": "1GiB", "limits.disk": "9GiB"}}
    record = ["project maas", "limit maas limits.cpu", "limit maas limits.memory", "limit other limits.disk"]
    host = a_host({"reserved_cores": 2}, projects=[project], record=record, **RESOURCES)
    assert host.project_config == {"limits.memory": "", "limits.cpu": "6"}
    assert host.as_result()["project"]["limits_gone"] == ["limits.memory"]


@pytest.mark.parametrize(
    ("project", "record", "config", "profile"),
    [
        (None, [], {"features.images": "true"}, True),
        ({"features.profiles": "true"}, ["project maas"], {}, True),
        ({"features.profiles": "false"}, ["project maas"], {}, False),
        ({"features.profiles": "true"}, [], {}, False),
    ],
    ids=["new", "ours", "ours, without profiles", "somebody's"],
)
def test_only_a_project_of_ours_gets_devices_and_only_a_new_one_features(
    project: Any, record: Any, config: Any, profile: bool
) -> None:
    there = [{"name": "maas", "config": project}] if project else []
    host = a_host(projects=there, record=record)
    assert config.items() <= host.project_config.items()
    assert (bool(host.project_config), host.as_result()["project"]["profile"]) == (bool(config), profile)


@pytest.mark.parametrize(
    ("address", "port", "endpoint", "power"),
    [
        ("", 8443, "https://10.0.0.5:8443", ""),
        ("", 9443, "https://10.0.0.5:9443", "10.0.0.5:9443"),
        ("kvm.example.com", 8443, "https://kvm.example.com:8443", "kvm.example.com"),
        ("https://10.0.0.9:9443", 8443, "https://10.0.0.9:9443", "https://10.0.0.9:9443"),
        ("fd00::5", 8443, "https://[fd00::5]:8443", "fd00::5"),
        ("fd00::5", 9443, "https://[fd00::5]:9443", "[fd00::5]:9443"),
        ("[fd00::5]:9443", 8443, "https://[fd00::5]:9443", "[fd00::5]:9443"),
    ],
)
def test_lxd_is_reached_at_the_address_that_is_given_or_that_of_the_machine(
    address: str, port: int, endpoint: str, power: str
) -> None:
    host = a_host({"address": address, "port": port})
    assert (host.endpoint, host.power_address) == (endpoint, power)


@pytest.mark.parametrize(("interfaces", "via"), [(MACHINE["interfaces"], "maas"), ([], "lxd")])
def test_the_proof_is_made_in_lxd_where_maas_does_not_know_the_bridge(interfaces: Any, via: str) -> None:
    assert a_host(machine={**MACHINE, "interfaces": interfaces}).as_result()["proof_via"] == via


def test_a_machine_without_an_address_is_no_defect() -> None:
    assert a_host(machine={**MACHINE, "ip_addresses": []}).endpoint == ""


# -- firewalls -------------------------------------------------------------------------------------

UFW = {"ufw": "Status: active"}
OPEN, MARKED = "ufw allow 8443/tcp", "ufw allow 8443/tcp comment 'metalshift.maas'"


def rules(wanted: dict[str, Any] | None = None, **facts: Any) -> firewall.FirewallRules:
    host = a_host(wanted, **facts)
    return firewall.rules(host.spec, host.facts)


def test_rules_are_written_as_their_firewalls_show_them() -> None:
    found = rules({"allowed_from": ["10.1.2.3/8", "FD00::1/64", "10.0.0.0/8"]})
    networks = (("ipv4", "10.0.0.0/8"), ("ipv6", "fd00::/64"))
    assert found.ufw == [f"allow from {network} to any port 8443 proto tcp" for _family, network in networks]
    assert found.firewalld == [
        f'rich-rule=rule family="{family}" source address="{network}" port port="8443" protocol="tcp" accept'
        for family, network in networks
    ]


def test_networks_are_written_as_firewalls_write_them() -> None:
    given = ["10.1.2.3/8", "10.0.0.5/32", "FD00::1/64", "fd00::7", "0.0.0.0/0", "::/0", "rack-1", ""]
    found = firewall.networks(given)
    assert [each.given for each in found] == given
    assert [(each.text, each.family) for each in found] == [
        ("10.0.0.0/8", "ipv4"),
        ("10.0.0.5", "ipv4"),
        ("fd00::/64", "ipv6"),
        ("fd00::7", "ipv6"),
        ("0.0.0.0/0", ""),
        ("::/0", ""),
        ("", ""),
        ("", ""),
    ]


@pytest.mark.parametrize(
    ("facts", "missing"),
    [
        ({"ufw_rules": []}, ["allow 8443/tcp"]),
        ({"ufw_rules": ["Added user rules:", MARKED]}, []),
        ({"ufw_rules": [OPEN]}, []),
        ({"ufw_rules": ["ufw allow 8443/tcp comment 'theirs'"]}, []),
        ({"ufw_rules": [OPEN], "bridged": "1"}, ["route allow in on br0 out on br0"]),
    ],
)
def test_only_rules_that_are_not_there_are_added(facts: Any, missing: Any) -> None:
    assert rules(**UFW, **facts).ufw == missing


# The record, what ufw has; then what is ours, and what is somebody else's.
OWNERS: list[tuple[list[str], list[str], list[str], list[str]]] = [
    ([], [], [], []),
    ([OPEN], [MARKED], [OPEN], []),
    ([], [MARKED], [OPEN], []),
    ([OPEN], [OPEN], [], [OPEN]),
    ([OPEN], ["ufw allow 8443/tcp comment 'mine'"], [], [OPEN]),
    ([], [OPEN], [], []),
    ([OPEN], [], [OPEN], []),
    (["firewalld port=8443/tcp"], [], ["firewalld port=8443/tcp"], []),
    (["firewalld-begun port=8443/tcp"], [], [], []),
]


@pytest.mark.parametrize(("record", "shown", "ours", "theirs"), OWNERS)
def test_a_rule_is_ours_if_its_firewall_or_the_record_proves_it(
    record: Any, shown: Any, ours: Any, theirs: Any
) -> None:
    facts = a_host(record=record, ufw_rules=shown).facts
    assert (firewall.ours(facts), firewall.theirs(facts)) == (ours, theirs)


def test_a_rule_of_firewalld_that_was_only_begun_is_named_as_such() -> None:
    record = ["firewalld-begun port=1/tcp", "firewalld-begun port=2/tcp", "firewalld port=2/tcp"]
    assert rules(record=record).begun == ["port=1/tcp"]


def test_rules_of_ours_that_nobody_wants_any_more_are_closed_but_for_what_the_bridge_forwards() -> None:
    record = [OPEN, "firewalld port=8443/tcp", "ufw route allow in on br0 out on br0", "firewalld interface=br0"]
    shown = [MARKED, "ufw route allow in on br0 out on br0 comment 'metalshift.maas'"]
    found = rules({"allowed_from": ["10.0.0.0/8"]}, record=record, ufw_rules=shown)
    assert found.closed == [OPEN, "firewalld port=8443/tcp"]
