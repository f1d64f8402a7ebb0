# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bridge takes over the addresses of a port, and nothing else in netplan's files changes."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from yaml import ScalarNode

from ansible_collections.metalshift.maas.plugins.filter.netplan_bridge import netplan_bridge
from ansible_collections.metalshift.maas.plugins.filter.netplan_unmanaged import netplan_unmanaged

# What YAML 1.1 takes for a number or a truth value, and netplan does not.
TRAPS = """\
network:
  version: 2
  renderer: networkd
  ethernets:
    lan:
      match: {macaddress: 52:54:00:12:34:56}
      set-name: lan
      wakeonlan: off
      mtu: 0x5dc
      addresses: [192.0.2.10/24, "2001:db8::1/64": {label: 1:30}]
      nameservers:
        search: [no, 1e3]
      routes:
      - {to: default, via: 192.0.2.1, metric: 010}
    wan: {macaddress: 52:54:00:12:34:57, dhcp4: yes}
"""
MAC = "52:54:00:12:34:56"


def scalars(text: str) -> list[tuple[str, str]]:
    """Every scalar and its kind; a number with colons is a text to netplan."""

    def walk(node: Any) -> list[tuple[str, str]]:
        if isinstance(node, ScalarNode):
            return [(node.value, "text" if ":" in node.value else node.tag)]
        parts = [part for pair in node.value for part in (pair if isinstance(pair, tuple) else (pair,))]
        return [scalar for part in parts for scalar in walk(part)]

    return walk(yaml.compose(text))


def test_every_scalar_is_written_as_it_was_read() -> None:
    plan = netplan_bridge({"50.yaml": TRAPS}, "br0", "lan", MAC)
    assert (plan["problem"], plan["bridge_file"]) == ("", "90-br0.yaml")
    port, bridge = scalars(plan["files"]["50.yaml"]), scalars(plan["files"]["90-br0.yaml"])
    assert [each for each in scalars(TRAPS) if each not in port + bridge] == []
    assert "routes" not in plan["files"]["50.yaml"]
    assert "wakeonlan: off" in plan["files"]["50.yaml"]
    for made in plan["files"].values():
        assert MAC in made
        assert "!!" not in made


@pytest.mark.parametrize("port", ["lan:", "lan: {}"])
def test_a_port_without_settings_becomes_a_port(port: str) -> None:
    text = f"network:\n  ethernets:\n    {port}\n"
    plan = netplan_bridge({"a.yaml": text}, "br0", "lan")
    assert yaml.safe_load(plan["files"]["a.yaml"]) == {"network": {"ethernets": {"lan": {}}}}
    parameters = {"stp": False, "forward-delay": 0}
    assert yaml.safe_load(plan["files"]["90-br0.yaml"]) == {
        "network": {"version": 2, "bridges": {"br0": {"interfaces": ["lan"], "parameters": parameters}}}
    }


class Tagged(str):
    """As Ansible has texts."""


def test_a_text_of_ansible_is_a_text() -> None:
    names = [Tagged(name) for name in ("50.yaml", "br0", "lan", MAC)]
    plan = netplan_bridge({names[0]: Tagged(TRAPS)}, *names[1:])
    assert plan == netplan_bridge({"50.yaml": TRAPS}, "br0", "lan", MAC)


def test_several_files_add_up_and_those_of_others_keep_their_comments() -> None:
    files = {
        "50.yaml": "network: {ethernets: {lan: {addresses: [192.0.2.10/24], dhcp4: true}}}\n",
        "60.yaml": "network: {ethernets: {lan: {addresses: [192.0.2.10/24, 192.0.2.11/24], dhcp4: no}}}\n",
        "70.yaml": "# of somebody else\nnetwork: {bonds: {bond0: {dhcp4: true}}}\n",
        "80.yaml": "",
    }
    plan = netplan_bridge(files, "br0", "lan")
    made = yaml.safe_load(plan["files"]["90-br0.yaml"])["network"]["bridges"]["br0"]
    assert (made["addresses"], made["dhcp4"]) == (["192.0.2.10/24", "192.0.2.11/24"], False)
    assert {name: plan["files"][name] for name in ("70.yaml", "80.yaml")} == {
        name: files[name] for name in ("70.yaml", "80.yaml")
    }
    assert "addresses" not in plan["files"]["50.yaml"] + plan["files"]["60.yaml"]


@pytest.mark.parametrize(
    ("files", "port", "says"),
    [
        ({"50.yaml": TRAPS}, "eth9", "know nothing of eth9, to which the bridge br0 is to be attached. Set lxd_host_b"),
        ({"50.yaml": TRAPS}, "eth9", "to one of lan, wan, or make the bridge yourself."),
        ({"50.yaml": TRAPS}, "", "netplan's files know no default route. Set lxd_host_bridge_port to one of lan"),
        ({}, "eth0", "Make the bridge yourself."),
        ({"50.yaml": "network: {secret: [s3same"}, "eth0", "netplan's file 50.yaml is not YAML (line 1). Correct it"),
    ],
)
def test_why_there_is_no_bridge_is_a_sentence(files: dict[str, str], port: str, says: str) -> None:
    plan = netplan_bridge(files, "br0", port)
    assert (says in plan["problem"], plan["files"]) == (True, {}), plan["problem"]
    assert "s3same" not in plan["problem"]


def address(text: str, **more: Any) -> dict[str, Any]:
    local, _slash, length = text.partition("/")
    return {"local": local, "prefixlen": int(length), "scope": "global", **more}


def test_addresses_and_routes_of_others_are_named() -> None:
    addresses = [
        address("192.0.2.10/24"),
        address("2001:db8::1/64"),
        address("10.0.0.5/24", dynamic=True),
        address("10.0.0.6/24"),  # leased for ever
        address("fe80::1/64", scope="link"),
        address("192.0.2.99/32"),
    ]
    routes = [
        {"dst": "default", "gateway": "192.0.2.1", "protocol": "static"},
        {"dst": "192.0.2.0/24", "protocol": "kernel"},
        {"dst": "10.0.0.1", "protocol": "dhcp", "prefsrc": "10.0.0.6"},
        {"dst": "192.0.2.10", "protocol": "boot", "table": "local", "type": "local"},
        {"dst": "10.244.1.0/24", "gateway": "192.0.2.7", "protocol": "bird"},
        {"dst": "198.51.100.1"},
    ]
    assert netplan_unmanaged({"50.yaml": TRAPS}, "lan", [{"addr_info": addresses}], routes) == [
        "the address 192.0.2.99/32",
        "the route to 10.244.1.0/24 via 192.0.2.7 (bird)",
        "the route to 198.51.100.1 (boot)",
    ]


def test_a_file_that_cannot_be_read_manages_nothing() -> None:
    (said,) = netplan_unmanaged({"50.yaml": "network: {"}, "lan", [], [])
    assert said.startswith("netplan's file 50.yaml is not YAML")
