# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The LXD servers that MAAS's rack can reach, by their addresses."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from lab.simulator import seed
from lab.simulator.lxd.server import Server, Trouble, Unreachable, normal
from lab.simulator.model import Machine
from lab.simulator.state import State

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


def connect(state: State, address: str, project: str, certificate: str, password: str | None) -> Server:
    """The server at an address, after it has accepted the certificate; the project is made when it is missing."""
    host, port = endpoint(address)
    server = servers(state).get((host, port))
    if server is None or not server.serves:
        connection = f"<urllib3.connection.HTTPSConnection object at 0x{id(state):x}>"
        raise Unreachable(
            f"Failed to connect to the LXD REST API: HTTPSConnectionPool(host='{host}', port={port}): "
            f"Max retries exceeded with url: /1.0?project={project} (Caused by NewConnectionError('{connection}: "
            "Failed to establish a new connection: [Errno 111] Connection refused'))"
        )
    server.login(certificate, password)
    if not server.certificate(normal(certificate)).may_enter(project):
        raise Trouble(f"Failed to connect to the LXD REST API: {server.knows.restricted}")
    server.projects.setdefault(project, {})
    return server


def _seed(state: State) -> None:
    add_server(state, Server())


seed.EXTENSIONS.append(_seed)
