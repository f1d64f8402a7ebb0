# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real LXD as a VM host of the simulated MAAS: what it has is read there, what MAAS wants is done there."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from metalshift_lab.simulator.lxd import sizes
from metalshift_lab.simulator.lxd.client import Client, Refusal
from metalshift_lab.simulator.lxd.instance import ROOT_SIZE, VM, Disk, Instance, Nic, Shape
from metalshift_lab.simulator.lxd.placing import place
from metalshift_lab.simulator.lxd.server import StoragePool
from metalshift_lab.simulator.lxd.troubles import Trouble

ARCHITECTURES = {"x86_64": "amd64/generic", "aarch64": "arm64/generic"}
ALREADY = ("The instance is already running", "The instance is already stopped")
NOT_FOUND = 404


class Remote:
    """One LXD at its address. MAAS comes in with a certificate each time."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self.serves = True

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"

    def enter(self, project: str, certificate: str, key: str, password: str | None) -> Visit:
        client = Client(self.host, self.port, project, certificate, key)
        client.enter(password)
        return Visit(self, client)


class Visit:
    """What MAAS sees and does with one certificate in one project. It has the words of a server in memory."""

    def __init__(self, remote: Remote, client: Client) -> None:
        self.remote, self.client = remote, client
        self.address, self.ip = remote.address, remote.host
        self.cpu_speed = 0

    # -- what it is ---------------------------------------------------------------------------------------------------

    @cached_property
    def _environment(self) -> dict[str, Any]:
        return dict(self.client.get()["environment"])

    @cached_property
    def _resources(self) -> dict[str, Any]:
        return dict(self.client.get("resources"))

    @property
    def name(self) -> str:
        return str(self._environment["server_name"])

    @property
    def version(self) -> str:
        return str(self._environment["server_version"])

    @property
    def architecture(self) -> str:
        return ARCHITECTURES.get(self._environment["kernel_architecture"], "amd64/generic")

    @property
    def cores(self) -> int:
        return int(self._resources["cpu"]["total"])

    @property
    def memory(self) -> int:
        return int(self._resources["memory"]["total"]) // sizes.MIB

    @cached_property
    def macs(self) -> list[str]:
        """By them MAAS knows the machine that LXD runs on."""
        cards = self._resources["network"]["cards"] or ()
        found = [port["address"] for card in cards for port in card.get("ports") or () if port.get("address")]
        for network in self._networks:
            if not network["managed"] and network["type"] != "loopback":
                state = self.client.there("networks", network["name"], "state")
                found += [state["hwaddr"]] if state and state["hwaddr"] else []
        return list(dict.fromkeys(found))

    @property
    def mac(self) -> str:
        return self.macs[0] if self.macs else ""

    @cached_property
    def _networks(self) -> list[dict[str, Any]]:
        return list(self.client.get("networks", recursion="1"))

    @cached_property
    def pools(self) -> list[StoragePool]:
        found = []
        for told in self.client.get("storage-pools", recursion="1"):
            space = self.client.get("storage-pools", told["name"], "resources")["space"]
            found.append(StoragePool(told["name"], told["driver"], space["total"], space.get("used", 0)))
        return found

    def free(self, pool: StoragePool) -> int:
        return pool.total - pool.used

    def place(self, size: int, tags: list[str], default: str | None) -> StoragePool:
        return place(self.pools, self.free, size, tags, default)

    def attached(self, name: str, mac: str, parent: str, bridged: bool) -> Nic:
        """To the host's interface of that name, whether it is there or not."""
        return Nic(name, mac, parent, bridged)

    # -- its virtual machines -----------------------------------------------------------------------------------------

    def instances(self) -> Iterator[tuple[str, Instance]]:
        for project in self.client.get("projects", recursion="1"):
            for told in self.client.get("virtual-machines", project=project["name"], recursion="1"):
                yield project["name"], _instance(told)

    def shape(self, _project: str, instance: Instance) -> Shape:
        return Shape(instance.config, instance.devices)

    def disks(self, project: str, instance: Instance) -> list[Disk]:
        """The root disk comes first."""
        found = [
            Disk(name, pool, self._size(project, pool.name, device))
            for name, device in instance.devices.items()
            for pool in self.pools
            if device.get("type") == "disk" and device.get("pool") == pool.name
        ]
        return sorted(found, key=lambda disk: (disk.device != "root", disk.device))

    def _size(self, project: str, pool: str, device: dict[str, str]) -> int:
        told = device.get("size")
        if "source" in device:
            volume = self.client.there("storage-pools", pool, "volumes", "custom", device["source"], project=project)
            told = (volume or {"config": {}})["config"].get("size")
        return sizes.parse(told) if told else ROOT_SIZE

    def create(self, project: str, instance: Instance) -> None:
        """With its volumes; nothing stays of what LXD does not make."""
        try:
            for volume in instance.volumes:
                wish = {"name": volume.name, "type": "custom", "content_type": "block", "config": volume.config}
                self.client("POST", "storage-pools", volume.pool, "volumes", "custom", body=wish, project=project)
            wish = {
                "name": instance.name,
                "type": VM,
                "source": {"type": "none"},
                "config": instance.config,
                "devices": instance.devices,
                "profiles": self._profiles(project),
            }
            self.client("POST", "instances", body=wish, project=project)
        except Refusal:
            for volume in instance.volumes:
                self._remove_volume(project, volume.pool, volume.name)
            raise

    def delete(self, project: str, name: str) -> None:
        """With the volumes that only it has."""
        told = self.client.there("instances", name, project=project)
        if told is None:
            return
        if told["status"] != "Stopped":
            self.switch(project, name, False)
        self.client("DELETE", "instances", name, project=project)
        for device in told["devices"].values():
            if device.get("type") == "disk" and "source" in device:
                self._remove_volume(project, device["pool"], device["source"])

    def switch(self, project: str, name: str, on: bool) -> None:
        """As MAAS does: off without asking."""
        wish = {"action": "start"} if on else {"action": "stop", "force": True}
        try:
            self.client("PUT", "instances", name, "state", body={**wish, "timeout": 30}, project=project)
        except Refusal as refusal:
            if str(refusal) not in ALREADY:
                raise Trouble(f"LXD VM {name} not found." if refusal.status == NOT_FOUND else str(refusal)) from None

    def is_on(self, project: str, name: str) -> bool:
        told = self.client.there("instances", name, "state", project=project)
        if told is None:
            raise Trouble(f"LXD VM {name} not found.")
        return bool(told["status"] != "Stopped")

    def _profiles(self, project: str) -> list[str]:
        """The one that is meant for MAAS, if somebody made it."""
        return ["maas"] if self.client.there("profiles", "maas", project=project) else []

    def _remove_volume(self, project: str, pool: str, name: str) -> None:
        if self.client.there("storage-pools", pool, "volumes", "custom", name, project=project):
            self.client("DELETE", "storage-pools", pool, "volumes", "custom", name, project=project)


def _instance(told: dict[str, Any]) -> Instance:
    made = Instance.asked(
        told["name"],
        {"type": told["type"], "config": told["expanded_config"], "devices": told["expanded_devices"], "profiles": []},
    )
    made.status = told["status"]
    return made
