# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The LXD servers that MAAS's rack can reach, by their addresses."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from metalshift_lab.simulator.lxd.remote import Remote, Visit
from metalshift_lab.simulator.lxd.server import Server
from metalshift_lab.simulator.lxd.troubles import Unreachable
from metalshift_lab.simulator.model import Machine
from metalshift_lab.simulator.state import State

PORT = 8443


def endpoint(address: str) -> tuple[str, int]:
    """Host and port of a power address: with or without scheme and port."""
    parts = urlsplit(address if "://" in address else f"https://{address}")
    try:
        port = parts.port
    except ValueError:
        port = None
    return parts.hostname or "", port or PORT


def servers(state: State) -> dict[tuple[str, int], Server]:
    found: dict[tuple[str, int], Server] = state.extra.setdefault("lxd", {})
    return found


def add_server(state: State, server: Server) -> Server:
    servers(state)[endpoint(server.address)] = server
    server.opener = state.extra.get("lxd opener")
    return server


def on_machine(state: State, machine: Machine, **values: Any) -> Server:
    """An LXD on a machine of MAAS, with its hardware and at its address."""
    nic = machine.boot_interface or next(iter(machine.interfaces), None)
    ip = next((a.ip for i in machine.interfaces for a in i.links if a.ip), "")
    given = {
        "name": machine.hostname,
        "address": f"{ip or machine.hostname}:{PORT}",
        "architecture": machine.architecture,
        "cores": machine.cpu_count,
        "memory": machine.memory,
        "mac": (nic.mac_address if nic else None) or "",
        "ip": ip,
        **values,
    }
    return add_server(state, Server(**given))


def believe(state: State, where: str) -> None:
    """From now on a real LXD is asked at this address, or at all addresses of a network as 10.1.2.0/24."""
    state.extra.setdefault("real lxd", []).append(where)


def connect(state: State, parameters: Mapping[str, Any]) -> Server | Visit:
    """The server at a power address, after it has let MAAS in; the project is made when it is missing."""
    host, port = endpoint(str(parameters.get("power_address", "")))
    project = parameters.get("project") or "default"
    server = servers(state).get((host, port)) or _real(state, host, port)
    if server is None or not server.serves:
        connection = f"<urllib3.connection.HTTPSConnection object at 0x{id(state):x}>"
        raise Unreachable(
            f"Failed to connect to the LXD REST API: HTTPSConnectionPool(host='{host}', port={port}): "
            f"Max retries exceeded with url: /1.0?project={project} (Caused by NewConnectionError('{connection}: "
            "Failed to establish a new connection: [Errno 111] Connection refused'))"
        )
    return server.enter(
        project, parameters.get("certificate", ""), parameters.get("key", ""), parameters.get("password")
    )


def _real(state: State, host: str, port: int) -> Remote | None:
    for where in state.extra.get("real lxd", ()):
        if _is_in(host, where) if "/" in where.removeprefix("https://") else endpoint(where) == (host, port):
            return Remote(host, port)
    return None


def _is_in(host: str, network: str) -> bool:
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network)
    except ValueError:
        return False
