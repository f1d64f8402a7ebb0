# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/1.0/networks: bridges that LXD manages, and interfaces of the host"""

from __future__ import annotations

import ipaddress
import re
from typing import Any

from metalshift_lab.simulator.lxd.api.asked import (
    BAD_REQUEST,
    BROKEN,
    NOT_FOUND,
    Answer,
    Asked,
    Refused,
    address,
    changed,
)
from metalshift_lab.simulator.lxd.api.operations import Operation
from metalshift_lab.simulator.lxd.api.projects import require
from metalshift_lab.simulator.lxd.api.routing import resource
from metalshift_lab.simulator.lxd.api.users import of_network
from metalshift_lab.simulator.lxd.server import Network, Server

KEYS = {
    "bridge": r"(bgp|bridge|dns|fan|ipv4|ipv6|maas|raw|security|tunnel)\..+",
    "macvlan": r"parent|mtu|vlan|gvrp|maas\..+",
    "sriov": r"parent|mtu|vlan|maas\..+",
    "physical": r"parent|mtu|vlan|gvrp|(bgp|dns|ipv4|ipv6|ovn|maas)\..+",
    "ovn": r"network|(bridge|dns|ipv4|ipv6|security)\..+",
}
ALWAYS = r"user\..+|volatile\..+"
LONGEST = 15


@resource("networks")
class Networks:
    def get(self, asked: Asked) -> Answer:
        require(asked, asked.project)
        known = sorted(asked.server.networks.values(), key=lambda network: not network.managed)
        return asked.listed({address("networks", each.name): _document(asked, each) for each in known})

    def post(self, asked: Asked) -> Answer | Operation:
        require(asked, "default")
        server, name, kind = asked.server, asked.name_wished(), asked.wish.get("type") or "bridge"
        if len(name) > LONGEST:
            raise Refused(BAD_REQUEST, f"Network interface is too long (maximum {LONGEST} characters)")
        if kind not in KEYS:
            raise Refused(BAD_REQUEST, "Unknown driver")
        if name in server.networks:
            raise Refused(BAD_REQUEST, "The network already exists")
        if server.knows.makes_pools_in_the_background:
            return asked.operations.run("Creating network", lambda: self._make(asked, name, kind))
        self._make(asked, name, kind)
        return Answer.created(address("networks", name))

    def _make(self, asked: Asked, name: str, kind: str) -> None:
        config = changed({}, asked.wish.get("config"), replace=True)
        _check(name, kind, config, BROKEN)
        if kind == "bridge":
            config = _with_addresses(asked.server, config)
        asked.server.networks[name] = Network(name, kind, config, asked.wish.get("description") or "")


@resource("networks/{name}")
class OneNetwork:
    def get(self, asked: Asked, name: str) -> Answer:
        require(asked, asked.project)
        if name not in asked.server.networks:
            raise Refused(NOT_FOUND, "Network not found")
        return asked.tagged(_document(asked, asked.server.networks[name]))

    def put(self, asked: Asked, name: str) -> Answer | Operation:
        return self._changed(asked, name, replace=True)

    def patch(self, asked: Asked, name: str) -> Answer | Operation:
        """A trap: a type is ignored."""
        return self._changed(asked, name, replace=False)

    def post(self, asked: Asked, name: str) -> Answer:
        found, wished = _managed(asked, name), asked.name_wished()
        if wished in asked.server.networks:
            raise Refused(BAD_REQUEST, "The network already exists")
        asked.server.networks[wished] = asked.server.networks.pop(name)
        found.name = wished
        return Answer.created(address("networks", wished))

    def delete(self, asked: Asked, name: str) -> Answer | Operation:
        _managed(asked, name)
        if of_network(asked.server, name):
            raise Refused(BAD_REQUEST, "The network is currently in use")
        if asked.server.knows.makes_pools_in_the_background:
            return asked.operations.run("Deleting network", lambda: _forget(asked.server, name))
        _forget(asked.server, name)
        return Answer()

    def _changed(self, asked: Asked, name: str, *, replace: bool) -> Answer | Operation:
        found = _managed(asked, name)
        asked.require_current(_document(asked, found))
        if asked.server.knows.makes_pools_in_the_background:
            return asked.operations.run("Updating network", lambda: self._change(asked, found, replace))
        self._change(asked, found, replace)
        return Answer()

    def _change(self, asked: Asked, network: Network, replace: bool) -> None:
        config = changed(network.config, asked.wish.get("config"), replace=replace)
        _check(network.name, network.type, config, BAD_REQUEST)
        network.config = config
        network.description = asked.wish.get("description") or ""


@resource("networks/{name}/state")
class NetworkState:
    def get(self, asked: Asked, name: str) -> Answer:
        if name not in asked.server.networks:
            raise Refused(NOT_FOUND, f'Network interface "{name}" not found')
        found = asked.server.networks[name]
        counters = dict.fromkeys(("bytes_received", "bytes_sent", "packets_received", "packets_sent"), 0)
        return Answer(
            {
                "addresses": _addresses(asked.server, found),
                "counters": counters,
                "hwaddr": found.mac,
                "mtu": 1500,
                "state": "up",
                "type": "broadcast",
                "bond": None,
                "bridge": {"id": "", "upper_devices": list(found.ports)} if found.type == "bridge" else None,
                "vlan": None,
                "ovn": None,
            }
        )


@resource("networks/{name}/leases")
class NetworkLeases:
    """Nothing here asks for an address."""

    def get(self, asked: Asked, name: str) -> Answer:
        _managed(asked, name)
        return Answer([])


def _managed(asked: Asked, name: str) -> Network:
    require(asked, "default")
    found = asked.server.networks.get(name)
    if found is None or not found.managed:
        raise Refused(NOT_FOUND, "Failed loading network: Network not found")
    return found


def _forget(server: Server, name: str) -> None:
    del server.networks[name]


def _check(name: str, kind: str, config: dict[str, str], status: int) -> None:
    for key, value in config.items():
        if not re.fullmatch(rf"{KEYS[kind]}|{ALWAYS}", key):
            raise Refused(status, f'Invalid option for network "{name}" option "{key}"')
        if key in ("ipv4.address", "ipv6.address") and value not in ("none", "auto") and not _is_address(value):
            words = f"invalid CIDR address: {value}"
            raise Refused(status, f'Invalid value for network "{name}" option "{key}": {words}')


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_interface(text)
    except ValueError:
        return False
    return "/" in text


def _with_addresses(server: Server, config: dict[str, str]) -> dict[str, str]:
    """LXD chooses what nobody says."""
    number = len(server.networks)
    chosen = {"ipv4": f"10.{number % 256}.87.1/24", "ipv6": f"fd42:0:0:{number:x}::1/64"}
    out = dict(config)
    for family, free in chosen.items():
        if out.get(f"{family}.address", "auto") == "auto":
            out[f"{family}.address"] = free
            out.setdefault(f"{family}.nat", "true")
    return out


def _addresses(server: Server, network: Network) -> list[dict[str, str]]:
    told = server.ip if not network.managed else network.config.get("ipv4.address", "none").partition("/")[0]
    if told in ("", "none"):
        return []
    return [{"family": "inet", "address": told, "netmask": "24", "scope": "global"}]


def _document(asked: Asked, network: Network) -> dict[str, Any]:
    return {
        "config": {} if asked.client.restricted else dict(network.config),
        "description": network.description,
        "name": network.name,
        "type": network.type,
        "used_by": of_network(asked.server, network.name) or None,
        "managed": network.managed,
        "status": "Created" if network.managed else "",
        "locations": ["none"] if network.managed else None,
    }
