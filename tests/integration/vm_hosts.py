# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts for VMs, known to MAAS as VM hosts and reached as LXDs: the same for both ways to make a VM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from integration.arranging import client
from integration.harness import Outcome, run_task
from metalshift_lab.simulator import Simulator
from metalshift_lab.simulator.lxd import Server, StoragePool
from metalshift_lab.simulator.model import Machine

GIB = 1024
FIRST_PORT = 8461
QUICK = {"wait_sleep": 0.02, "wait_timeout": 30}


@dataclass
class Hosts:
    """Some LXDs with one client certificate, each on a machine of its own."""

    sim: Simulator
    servers: dict[str, Server] = field(default_factory=dict)
    project: str = "maas"

    @classmethod
    def up(cls, sim: Simulator, zones: Sequence[str] = ("az1", "az2", "az3"), **values: Any) -> Hosts:
        sim.auto(0.02)
        hosts = cls(sim)
        for number, zone in enumerate(zones, 1):
            hosts.add(f"kvm{number}", zone, **values)
        sim.forward(1)
        sim.requests.clear()
        return hosts

    def add(self, name: str, zone: str, cores: int = 16, memory: int = 32, storage: int = 500, **values: Any) -> Server:
        """A deployed machine with an LXD on it, registered in MAAS."""
        sim, number = self.sim, len(self.servers)
        mac = f"52:54:00:f1:00:{number:02x}"
        machine = sim.machine(name, status="Deployed", zone=zone, mac_addresses=[mac])
        pools = [StoragePool(total=storage * 1000**3, used=0)]
        address = f"127.0.0.1:{FIRST_PORT + number}"
        server = sim.lxd(
            address=address, name=name, cores=cores, memory=memory * GIB, mac=mac, pools=pools,
            ip=machine.interfaces[0].links[0].ip, **values,
        )  # fmt: skip
        self.servers[name] = server
        server.trust(self.pair["certificate"])
        server.projects.setdefault(self.project, {})
        # MAAS knows it by the address of its door, where modules reach it too.
        form = {"type": "lxd", "name": name, "power_address": address, "project": self.project, "zone": zone}
        client(sim).post("vm-hosts/", {**form, **self.pair})
        return server

    @property
    def pair(self) -> dict[str, str]:
        """The certificate that all of them trust: that of the first."""
        first = next(iter(self.servers.values()))
        return {"certificate": Path(first.client_cert).read_text(), "key": Path(first.client_key).read_text()}

    def reach(self, via: str) -> dict[str, Any]:
        """The options of a task that goes one of the ways, or whichever it finds."""
        if via == "maas":
            return {"via": "maas"}
        first = next(iter(self.servers.values()))
        given = [
            {"name": name, "endpoint": server.endpoint, "server_cert": server.server_cert}
            for name, server in self.servers.items()
        ]
        return {
            "via": via,
            "lxd_hosts": given,
            "lxd_client_cert": first.client_cert,
            "lxd_client_key": first.client_key,
            "lxd_project": self.project,
        }

    def run(self, module: str, via: str, check: bool = False, **options: Any) -> Outcome:
        return run_task(self.sim, module, {**self.reach(via), **QUICK, **options}, check=check)

    # -- what there is ------------------------------------------------------------------------------------------------

    @property
    def in_lxd(self) -> dict[str, str]:
        """Each VM, and the host whose LXD has it."""
        return {name: host for host, server in self.servers.items() for name in server.projects.get(self.project, {})}

    @property
    def in_maas(self) -> dict[str, Machine]:
        """The machines of VMs."""
        return {each.hostname: each for each in self.sim.state.machines if each.hostname not in self.servers}

    @property
    def volumes(self) -> list[str]:
        return [name for server in self.servers.values() for _pool, name in server.volumes(self.project)]

    def addresses(self) -> Mapping[str, list[str]]:
        """The static addresses of each VM."""
        return {
            name: [str(link.ip) for nic in machine.interfaces for link in nic.links if link.ip]
            for name, machine in self.in_maas.items()
        }

    def writes(self) -> list[str]:
        said = [f"{entry.method} {entry.op or ''}".strip() for entry in self.sim.requests.writes()]
        doors = [server.door for server in self.servers.values()]
        return [*said, *(entry.method for door in doors for entry in door.requests.writes())]

    def clear(self) -> None:
        self.sim.requests.clear()
        for server in self.servers.values():
            server.door.requests.clear()
