# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""LXD servers in memory: what they have, and what MAAS's rack does with them.

A server is known by its address. It trusts certificates, and has projects with instances, storage pools and a network
card.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from metalshift_lab.simulator.lxd import sizes
from metalshift_lab.simulator.lxd.instance import ROOT_SIZE, Devices, Disk, Instance, Nic, Shape, Volume
from metalshift_lab.simulator.lxd.placing import place
from metalshift_lab.simulator.lxd.troubles import Trouble
from metalshift_lab.simulator.lxd.versions import Version

if TYPE_CHECKING:
    from metalshift_lab.simulator.lxd.door import Door

GB = 1000**3
ADDRESS, PASSWORD = "127.0.0.1:8449", "sekret"
NAME, MAC, IP = "lxd1", "52:54:00:f0:00:01", "10.99.0.240"
BRIDGE = "lxdbr0"
FEATURES = ("images", "profiles", "storage.volumes")


@dataclass(eq=False)
class StoragePool:
    name: str = "default"
    driver: str = "dir"
    total: int = 500 * GB
    used: int = 10 * GB
    config: dict[str, str] = field(default_factory=dict)
    description: str = ""

    def __post_init__(self) -> None:
        loop = self.driver != "dir" and "size" in self.config
        self.config.setdefault("source", f"/var/lib/lxd/disks/{self.name}.img" if loop else self.path)

    @property
    def path(self) -> str:
        return f"/var/lib/lxd/storage-pools/{self.name}"


@dataclass(eq=False)
class Network:
    """One that LXD made and manages, or an interface that it found on the host."""

    name: str
    type: str = "bridge"
    config: dict[str, str] = field(default_factory=dict)
    description: str = ""
    managed: bool = True
    mac: str = ""
    # Of a bridge: the interfaces of the host that are its ports. On these nothing else can hang.
    ports: tuple[str, ...] = ()


@dataclass(eq=False)
class Profile:
    name: str
    config: dict[str, str] = field(default_factory=dict)
    devices: Devices = field(default_factory=dict)
    description: str = ""


@dataclass(eq=False)
class Project:
    """What there is to know of a project beside its instances."""

    name: str
    config: dict[str, str] = field(default_factory=lambda: {f"features.{name}": "true" for name in FEATURES})
    description: str = ""
    profiles: dict[str, Profile] = field(default_factory=dict)
    volumes: dict[tuple[str, str], Volume] = field(default_factory=dict)

    def has(self, feature: str) -> bool:
        """Whether it has its own images, profiles, networks or storage.volumes, and not those of `default`."""
        return self.name == "default" or self.config.get(f"features.{feature}") == "true"


@dataclass(eq=False)
class Certificate:
    """What a trusted certificate is called, and where it may go."""

    name: str = ""
    type: str = "client"
    restricted: bool = False
    projects: list[str] = field(default_factory=list)

    def may_enter(self, project: str) -> bool:
        return not self.restricted or project in self.projects


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
    config: dict[str, str] = field(default_factory=dict, repr=False)
    networks: dict[str, Network] = field(default_factory=dict)
    # Which drivers it has: one of QEMU's may be missing. They come in another order now and then.
    drivers: list[str] = field(default_factory=lambda: ["lxc", "qemu"])
    images: list[str] = field(default_factory=list)
    pool_drivers: list[str] = field(default_factory=lambda: ["btrfs", "dir", "lvm", "zfs"])
    certificates: dict[str, Certificate] = field(default_factory=dict, repr=False)
    # Whether it runs at all.
    serves: bool = True
    # How its HTTPS API is opened, when somebody asks for it; a simulator says so.
    opener: Callable[[Server], Door] | None = field(default=None, repr=False)
    _about: dict[str, Project] = field(default_factory=dict, repr=False)
    _door: Door | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not self.networks:
            address = {"ipv4.address": "10.14.87.1/24", "ipv4.nat": "true", "ipv6.address": "none"}
            card = Network("eth0", "physical", managed=False, mac=self.mac)
            self.networks = {BRIDGE: Network(BRIDGE, config=address), card.name: card}

    # -- how clients of LXD reach it ----------------------------------------------------------------------------------

    @property
    def door(self) -> Door:
        """Its HTTPS API, opened at the first question for it."""
        if self._door is None:
            if self.opener is None:
                raise LookupError(f"{self.address} is in no simulator that could open it.")
            self._door = self.opener(self)
        return self._door

    @property
    def endpoint(self) -> str:
        return self.door.endpoint

    @property
    def client_cert(self) -> str:
        """Of a client that is trusted for everything."""
        return self.door.client_cert

    @property
    def client_key(self) -> str:
        return self.door.client_key

    @property
    def server_cert(self) -> str:
        return self.door.server_cert

    # -- for MAAS's rack ----------------------------------------------------------------------------------------------

    def enter(self, project: str, certificate: str, _key: str, password: str | None) -> Server:
        """Come in with a certificate; the project is made when it is missing."""
        self.login(certificate, password)
        if not self.certificate(normal(certificate)).may_enter(project):
            raise Trouble(f"Failed to connect to the LXD REST API: {self.knows.restricted}")
        self.projects.setdefault(project, {})
        return self

    @property
    def macs(self) -> list[str]:
        """By them MAAS knows the machine that LXD runs on."""
        return [self.mac]

    # -- whom it trusts -----------------------------------------------------------------------------------------------

    def login(self, certificate: str, password: str | None) -> None:
        """Trust a certificate, with the trust password when it is not trusted yet."""
        known = normal(certificate)
        if known in self.trusted:
            return
        if not password:
            raise Trouble("Certificate is not trusted and no password was given")
        if password != self.password:
            raise Trouble("Password authentication failed: not authorized")
        self.trusted.add(known)

    def trust(self, certificate: str, about: Certificate | None = None) -> None:
        """Trust a certificate from now on, everywhere unless it says otherwise."""
        self.trusted.add(normal(certificate))
        self.certificates[normal(certificate)] = about or Certificate()

    def distrust(self, certificate: str) -> None:
        self.trusted.discard(normal(certificate))
        self.certificates.pop(normal(certificate), None)

    def certificate(self, known: str) -> Certificate:
        """What is known of a trusted certificate."""
        return self.certificates.setdefault(known, Certificate())

    # -- projects -----------------------------------------------------------------------------------------------------

    def about(self, project: str) -> Project:
        """The project, with the profile that every project has."""
        if project not in self._about:
            made = self._about[project] = Project(project)
            made.profiles["default"] = self._default_profile(project)
        return self._about[project]

    def forget_project(self, project: str) -> None:
        self.projects.pop(project, None)
        self._about.pop(project, None)

    def rename_project(self, old: str, new: str) -> None:
        self.projects[new] = self.projects.pop(old)
        about = self._about[new] = self._about.pop(old)
        about.name = new

    def profiles(self, project: str) -> dict[str, Profile]:
        """Those that instances of a project may have."""
        return self.about(project if self.about(project).has("profiles") else "default").profiles

    def volumes(self, project: str) -> dict[tuple[str, str], Volume]:
        """Those that instances of a project may have, by pool and name."""
        return self.about(project if self.about(project).has("storage.volumes") else "default").volumes

    def _default_profile(self, project: str) -> Profile:
        if project != "default":
            # A trap: it has no devices.
            return Profile("default", description=f"Default LXD profile for project {project}")
        pool = self.pools[0].name if self.pools else "default"
        root = {"path": "/", "pool": pool, "type": "disk"}
        nic = {"name": "eth0", "network": BRIDGE, "type": "nic"}
        return Profile("default", devices={"eth0": nic, "root": root}, description="Default LXD profile")

    # -- instances ----------------------------------------------------------------------------------------------------

    def instances(self) -> Iterator[tuple[str, Instance]]:
        return ((project, instance) for project, held in self.projects.items() for instance in held.values())

    def shape(self, project: str, instance: Instance) -> Shape:
        """With its profiles."""
        known = self.profiles(project)
        config: dict[str, str] = {}
        devices: Devices = {}
        for profile in (known[name] for name in instance.profiles if name in known):
            config |= profile.config
            devices |= profile.devices
        return Shape({**config, **instance.config}, {**devices, **instance.devices})

    def disks(self, project: str, instance: Instance) -> list[Disk]:
        """The root disk comes first."""
        found = []
        for name, device in self.shape(project, instance).devices.items():
            pool = next((each for each in self.pools if each.name == device.get("pool")), None)
            if device.get("type") == "disk" and pool is not None:
                found.append(Disk(name, pool, self._size(project, pool, device)))
        return sorted(found, key=lambda disk: (disk.device != "root", disk.device))

    def _size(self, project: str, pool: StoragePool, device: Mapping[str, str]) -> int:
        if "source" in device:
            volume = self.volumes(project).get((pool.name, device["source"]))
            return volume.size if volume else 0
        told = device.get("size") or pool.config.get("volume.size")
        return sizes.parse(told) if told else ROOT_SIZE

    def free(self, pool: StoragePool) -> int:
        roots = sum(
            disk.size
            for project, instance in self.instances()
            for disk in self.disks(project, instance)
            if disk.pool is pool and disk.device == "root"
        )
        held = [volume for about in self._about.values() for volume in about.volumes.values()]
        return pool.total - pool.used - roots - sum(each.size for each in held if each.pool == pool.name)

    def place(self, size: int, tags: list[str], default: str | None) -> StoragePool:
        """The pool a new disk goes to."""
        return place(self.pools, self.free, size, tags, default)

    def attached(self, name: str, mac: str, parent: str, bridged: bool) -> Nic:
        """To the host's interface of that name, whether it is there or not."""
        return Nic(name, mac, parent, bridged)

    def create(self, project: str, instance: Instance) -> None:
        """With the volumes that were thought of together with it."""
        self.projects.setdefault(project, {})[instance.name] = instance
        for volume in instance.volumes:
            self.volumes(project)[(volume.pool, volume.name)] = volume

    def delete(self, project: str, name: str) -> None:
        """With the volumes that only it has, as MAAS does."""
        instance = self.projects.get(project, {}).pop(name, None)
        if instance is None:
            return
        for device in instance.devices.values():
            if device.get("type") == "disk" and "source" in device:
                self.volumes(project).pop((device.get("pool", ""), device["source"]), None)

    def switch(self, project: str, name: str, on: bool) -> None:
        """As MAAS does: off without asking."""
        instance = self._vm(project, name)
        if on and (busy := self.busy_port(self.shape(project, instance).devices)):
            raise Trouble(busy)
        instance.switch(on)

    def busy_port(self, devices: Mapping[str, Mapping[str, str]]) -> str:
        """Why an instance with these devices does not start: a macvlan on a port of a bridge. Empty if it does."""
        ports = {port for network in self.networks.values() for port in network.ports}
        for name, device in devices.items():
            if device.get("nictype") == "macvlan" and device.get("parent") in ports:
                words = f"Failed to run: ip link add mac1a2b3c4d link {device['parent']} type macvtap mode bridge"
                return f'Failed to start device "{name}": {words}: RTNETLINK answers: Device or resource busy'
        return ""

    def is_on(self, project: str, name: str) -> bool:
        return self._vm(project, name).running

    def _vm(self, project: str, name: str) -> Instance:
        instance = self.projects.get(project, {}).get(name)
        if instance is None:
            raise Trouble(f"LXD VM {name} not found.")
        return instance

    # -- what it says of itself ---------------------------------------------------------------------------------------

    @property
    def knows(self) -> Version:
        return Version(self.version)

    # -- faults -------------------------------------------------------------------------------------------------------

    def fault(self, does: str = "error", **values: Any) -> Any:
        """A fault of requests to its HTTPS API; see `door.Fault` for what can be said."""
        return self.door.fault(does, **values)


def normal(certificate: str) -> str:
    """A certificate as it is compared: PEM without white space."""
    return "".join(certificate.split())


def encoded(known: str) -> str:
    """The base64 inside of it."""
    return known.removeprefix("-----BEGINCERTIFICATE-----").partition("-----END")[0]


def fingerprint(known: str) -> str:
    return hashlib.sha256(base64.b64decode(encoded(known))).hexdigest()
