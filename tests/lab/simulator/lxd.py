# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""LXD servers in memory: what MAAS's rack sees of them.

A server is known by its address. It trusts certificates, and has projects with virtual machines, storage pools and a
network card.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from lab.simulator import seed
from lab.simulator.model import Machine
from lab.simulator.state import State

GB = 1000**3
PORT = 8443
ADDRESS, PASSWORD = "127.0.0.1:8449", "sekret"
NAME, MAC, IP = "lxd1", "52:54:00:f0:00:01", "10.99.0.240"


class Trouble(Exception):
    """A request to LXD that failed, in the words of MAAS's driver."""


class Unreachable(Trouble):
    """Nothing answers there."""


class NoSpace(Trouble):
    """No storage pool has room for a disk."""


@dataclass(eq=False)
class StoragePool:
    name: str = "default"
    driver: str = "dir"
    total: int = 500 * GB
    used: int = 10 * GB

    @property
    def path(self) -> str:
        return f"/var/lib/lxd/storage-pools/{self.name}"


@dataclass(frozen=True)
class Disk:
    """`device` is LXD's name for it ("root", "disk1", ...)."""

    device: str
    pool: StoragePool
    size: int


@dataclass(frozen=True)
class Nic:
    name: str
    mac: str


@dataclass(eq=False)
class Instance:
    """A virtual machine. Pinned cores, when there are any, are its cores."""

    name: str
    cores: int
    memory: int
    disks: list[Disk]
    nics: list[Nic]
    pinned: list[int] = field(default_factory=list)
    hugepages: bool = False
    running: bool = False

    @property
    def core_count(self) -> int:
        return len(self.pinned) or self.cores


@dataclass(eq=False)
class Server:
    address: str = ADDRESS
    password: str = field(default=PASSWORD, repr=False)
    name: str = NAME
    version: str = "5.21.3"
    architecture: str = "amd64/generic"
    cores: int = 16
    cpu_speed: int = 3000
    memory: int = 65536
    mac: str = MAC
    ip: str = IP
    trusted: set[str] = field(default_factory=set, repr=False)
    pools: list[StoragePool] = field(default_factory=lambda: [StoragePool()])
    projects: dict[str, dict[str, Instance]] = field(default_factory=lambda: {"default": {}})

    def login(self, certificate: str, password: str | None) -> None:
        """Trust a certificate, with the trust password when it is not trusted yet."""
        known = "".join(certificate.split())
        if known in self.trusted:
            return
        if not password:
            raise Trouble("Certificate is not trusted and no password was given")
        if password != self.password:
            raise Trouble("Password authentication failed: not authorized")
        self.trusted.add(known)

    def instances(self) -> Iterator[tuple[str, Instance]]:
        return ((project, instance) for project, held in self.projects.items() for instance in held.values())

    def free(self, pool: StoragePool) -> int:
        return (
            pool.total - pool.used - sum(d.size for _ignored, i in self.instances() for d in i.disks if d.pool is pool)
        )

    def place(self, size: int, tags: list[str], default: str | None) -> StoragePool:
        """The pool a new disk goes to: one its tags name, else the default one, else any with room."""
        named = [p for p in self.pools if p.name in tags]
        preferred = [p for p in self.pools if p.name == default]
        if default and not named and not preferred:
            raise Trouble(f"Default storage pool '{default}' doesn't exist.")
        candidates = named or preferred or self.pools
        found = next((p for p in candidates if size <= self.free(p)), None)
        if found is not None:
            return found
        what = "storage space on storage pools" if named else "storage space on any storage pools"
        if preferred and not named:
            what = "space in default storage pool"
        raise NoSpace(f"Not enough {what}: {', '.join(p.name for p in candidates)}")

    def create(self, project: str, instance: Instance) -> None:
        self.projects.setdefault(project, {})[instance.name] = instance

    def delete(self, project: str, name: str) -> None:
        self.projects.get(project, {}).pop(name, None)


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
    if server is None:
        connection = f"<urllib3.connection.HTTPSConnection object at 0x{id(state):x}>"
        raise Unreachable(
            f"Failed to connect to the LXD REST API: HTTPSConnectionPool(host='{host}', port={port}): "
            f"Max retries exceeded with url: /1.0?project={project} (Caused by NewConnectionError('{connection}: "
            "Failed to establish a new connection: [Errno 111] Connection refused'))"
        )
    server.login(certificate, password)
    server.projects.setdefault(project, {})
    return server


def _seed(state: State) -> None:
    add_server(state, Server())


seed.EXTENSIONS.append(_seed)
