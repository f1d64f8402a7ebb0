# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual machines and containers, as LXD was told of them: their sizes are read from that, as MAAS reads them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from metalshift_lab.simulator.lxd import sizes

if TYPE_CHECKING:
    from metalshift_lab.simulator.lxd.server import StoragePool

VM, CONTAINER = "virtual-machine", "container"
ROOT_SIZE = 10 * 1024**3  # where neither the device nor the pool says more
DEFAULT_MEMORY = 1024  # MiB
STOPPED, RUNNING, FROZEN = "Stopped", "Running", "Frozen"
Devices = dict[str, dict[str, str]]


@dataclass(frozen=True)
class Disk:
    """`device` is LXD's name for it ("root", "disk1", ...)."""

    device: str
    pool: StoragePool
    size: int


@dataclass(frozen=True)
class Nic:
    """`parent` is the interface of the host that it is on: a bridge, or another one on which it is a macvlan."""

    name: str
    mac: str
    parent: str = ""
    bridged: bool = True


@dataclass(eq=False)
class Volume:
    """A disk of its own in a pool, which instances have as a device."""

    pool: str
    name: str
    size: int = 0
    content_type: str = "block"
    config: dict[str, str] = field(default_factory=dict)
    description: str = ""


class Instance:
    """One that MAAS composes, made from its sizes. Pinned cores, when there are any, are its cores."""

    def __init__(
        self,
        name: str,
        cores: int,
        memory: int,
        disks: Iterable[Disk] = (),
        nics: Iterable[Nic] = (),
        pinned: Iterable[int] = (),
        hugepages: bool = False,
        running: bool = False,
    ) -> None:
        self.name, self.kind = name, VM
        self.status = RUNNING if running else STOPPED
        self.description, self.profiles = "", list[str]()
        self.architecture = "x86_64"
        self.created = self.last_used = 0.0
        # Whether it hears its power button.
        self.listens = True
        self.config = {
            "limits.cpu": ",".join(f"{core}-{core}" for core in pinned) or str(cores),
            "limits.memory": str(memory * sizes.MIB),
            "limits.memory.hugepages": "true" if hugepages else "false",
            "security.secureboot": "false",
        }
        self.devices: Devices = {}
        # What is made together with it.
        self.volumes: list[Volume] = []
        for disk in disks:
            self._add_disk(disk)
        for nic in nics:
            self._add_nic(nic)

    @classmethod
    def asked(cls, name: str, wish: Mapping[str, Any]) -> Instance:
        """One that somebody asks LXD for."""
        made = cls(name, 1, DEFAULT_MEMORY)
        made.kind = wish.get("type") or CONTAINER
        made.architecture = wish.get("architecture") or made.architecture
        made.profiles = list(["default"] if wish.get("profiles") is None else wish["profiles"])
        made.change(wish)
        return made

    def change(self, wish: Mapping[str, Any]) -> None:
        """Take on what is said of it; what LXD itself keeps there stays."""
        volatile = {key: value for key, value in self.config.items() if key.startswith("volatile.")}
        self.config = {**volatile, **dict(wish.get("config") or {})}
        self.devices = {name: dict(device) for name, device in (wish.get("devices") or {}).items()}
        self.description = wish.get("description") or ""
        if wish.get("profiles") is not None:
            self.profiles = list(wish["profiles"])

    @property
    def running(self) -> bool:
        return self.status != STOPPED

    @running.setter
    def running(self, on: bool) -> None:
        self.status = RUNNING if on else STOPPED

    def switch(self, on: bool) -> None:
        """What LXD notes of it when it is started and stopped."""
        self.running = on
        if on:
            self.config.pop("volatile.apply_template", None)
        self.config["volatile.last_state.power"] = "RUNNING" if on else "STOPPED"

    def _add_disk(self, disk: Disk) -> None:
        device = {"type": "disk", "pool": disk.pool.name, "boot.priority": "0"}
        if disk.device == "root":
            self.devices["root"] = {**device, "path": "/", "size": str(disk.size)}
            return
        volume = Volume(disk.pool.name, f"maas-{self.name}-{disk.device}", disk.size, config={"size": str(disk.size)})
        self.volumes.append(volume)
        self.devices[disk.device] = {**device, "source": volume.name}

    def _add_nic(self, nic: Nic) -> None:
        first = not any(device["type"] == "nic" for device in self.devices.values())
        kind = "bridged" if nic.bridged else "macvlan"
        device = {"type": "nic", "nictype": kind, "parent": nic.parent, "name": nic.name, "hwaddr": nic.mac}
        self.devices[nic.name] = device | ({"boot.priority": "1"} if first else {})


@dataclass(frozen=True)
class Shape:
    """What an instance is with its profiles: what MAAS reads of it."""

    config: Mapping[str, str]
    devices: Mapping[str, Mapping[str, str]]

    @property
    def pinned(self) -> list[int]:
        return [core for part in self._cores_named() for core in part]

    @property
    def core_count(self) -> int:
        return len(self.pinned) or int(self.config.get("limits.cpu") or 1)

    @property
    def memory(self) -> int:
        """MiB."""
        told = self.config.get("limits.memory")
        return sizes.parse(told) // sizes.MIB if told else DEFAULT_MEMORY

    @property
    def hugepages(self) -> bool:
        return self.config.get("limits.memory.hugepages") == "true"

    @property
    def nics(self) -> list[Nic]:
        return [
            Nic(device.get("name") or name, device.get("hwaddr") or self.config.get(f"volatile.{name}.hwaddr", ""))
            for name, device in self.devices.items()
            if device.get("type") == "nic"
        ]

    def _cores_named(self) -> list[range]:
        """`0-3,5` names cores, `4` counts them."""
        told = self.config.get("limits.cpu", "")
        if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", told) or told.isdecimal():
            return []
        ends = [[int(end) for end in part.split("-")] for part in told.split(",")]
        return [range(each[0], each[-1] + 1) for each in ends]
