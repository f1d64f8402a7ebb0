# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""networks/: subnets as MAAS 1.x called them"""

from __future__ import annotations

import ipaddress
from typing import Any

from metalshift_lab.simulator.errors import NotFound
from metalshift_lab.simulator.http import Request
from metalshift_lab.simulator.model import Subnet
from metalshift_lab.simulator.routing import get, resource


@resource("networks/")
class Networks:
    @get()
    def list(self, request: Request) -> Any:
        return [_render(s) for s in request.state.subnets]


@resource("networks/{name}/")
class NetworkItem:
    @get()
    def read(self, request: Request, name: str) -> Any:
        return _render(_find(request, name))

    @get("list_connected_macs")
    def list_connected_macs(self, request: Request, name: str) -> Any:
        subnet = _find(request, name)
        linked = [a.interface for a in request.state.addresses if a.subnet is subnet and a.interface is not None]
        return [{"mac_address": i.mac_address} for i in linked]


def _find(request: Request, name: str) -> Subnet:
    kind, _ignored, number = name.partition("-")
    found = request.state.subnets.find(number) if kind == "subnet" else request.state.subnets.first(name=name)
    if found is None:
        raise NotFound.of("Subnet")
    return found


def _render(subnet: Subnet) -> dict[str, Any]:
    network = ipaddress.ip_network(subnet.cidr)
    return {
        "name": f"subnet-{subnet.id}",
        "ip": str(network.network_address),
        "netmask": str(network.netmask),
        "vlan_tag": subnet.vlan.vid,
        "description": subnet.name,
        "default_gateway": subnet.gateway_ip,
        "dns_servers": list(subnet.dns_servers),
        "resource_uri": f"/MAAS/api/2.0/networks/subnet-{subnet.id}/",
    }
