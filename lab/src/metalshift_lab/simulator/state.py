# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole database of a simulated MAAS: tables, ids, look-ups."""

from __future__ import annotations

import random
import secrets
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from metalshift_lab.simulator.clock import Clock
from metalshift_lab.simulator.errors import NotFound
from metalshift_lab.simulator.model import (
    VLAN,
    BlockDevice,
    BootFile,
    BootResource,
    BootSet,
    BootSource,
    BootSourceSelection,
    CacheSet,
    Controller,
    Device,
    DHCPSnippet,
    DNSData,
    DNSResource,
    Domain,
    Event,
    Fabric,
    Filesystem,
    FilesystemGroup,
    Interface,
    IPRange,
    Machine,
    Node,
    Notification,
    PackageRepository,
    Partition,
    Pool,
    ReservedIP,
    Script,
    ScriptResult,
    ScriptSet,
    ScriptVersion,
    Space,
    SSHKey,
    StaticIP,
    StaticRoute,
    StoredFile,
    Subnet,
    Tag,
    Token,
    User,
    VirtualMachine,
    VMHost,
    Zone,
)

if TYPE_CHECKING:
    from metalshift_lab.simulator.engine import Engine

SYSTEM_ID_LETTERS = "abcdefghkmnpqrtwxy346780"
CONSONANTS = "bcdfghjklmnprstvwz"
VOWELS = "aeiou"


class HasId(Protocol):
    id: int


T = TypeVar("T", bound=HasId)


class Table(Generic[T]):
    """Rows of one kind by id, in the order of creation."""

    def __init__(self, noun: str, first_id: int = 1) -> None:
        self.noun = noun
        self.rows: dict[int, T] = {}
        self._next = first_id

    def make(self, build: Callable[..., T], **values: Any) -> T:
        """A new row with the next id."""
        row = build(id=self.reserve_id(), **values)
        self.rows[row.id] = row
        return row

    def reserve_id(self) -> int:
        """An id of this table for something kept elsewhere."""
        self._next += 1
        return self._next - 1

    def discard(self, row: T) -> None:
        self.rows.pop(row.id, None)

    def get(self, id: int | str | None) -> T:
        """The row with this id, or MAAS's 404."""
        row = self.find(id)
        if row is None:
            raise NotFound.of(self.noun)
        return row

    def find(self, id: int | str | None) -> T | None:
        if isinstance(id, str):
            if not id.isascii() or not id.isdigit():
                return None
            id = int(id)
        return None if id is None else self.rows.get(id)

    def first(self, **wanted: Any) -> T | None:
        """The first row whose attributes have these values."""
        return next(self.where(**wanted), None)

    def only(self, **wanted: Any) -> T:
        """The same, or MAAS's 404."""
        row = self.first(**wanted)
        if row is None:
            raise NotFound.of(self.noun)
        return row

    def where(self, **wanted: Any) -> Iterator[T]:
        return (r for r in self.rows.values() if all(getattr(r, k) == v for k, v in wanted.items()))

    def __iter__(self) -> Iterator[T]:
        return iter(list(self.rows.values()))

    def __len__(self) -> int:
        return len(self.rows)


@dataclass
class State:
    """Everything `reset` renews. Handlers get it as `request.state` and hold the lock while they run."""

    clock: Clock
    version: str = "3.6.5"
    vm_hosts_gone: bool = False
    users: Table[User] = field(default_factory=lambda: Table("User"))
    tokens: Table[Token] = field(default_factory=lambda: Table("Token"))
    ssh_keys: Table[SSHKey] = field(default_factory=lambda: Table("SSHKey"))
    zones: Table[Zone] = field(default_factory=lambda: Table("Zone"))
    pools: Table[Pool] = field(default_factory=lambda: Table("ResourcePool", first_id=0))
    tags: Table[Tag] = field(default_factory=lambda: Table("Tag"))
    domains: Table[Domain] = field(default_factory=lambda: Table("Domain", first_id=0))
    dns_resources: Table[DNSResource] = field(default_factory=lambda: Table("DNSResource"))
    dns_data: Table[DNSData] = field(default_factory=lambda: Table("DNSData"))
    fabrics: Table[Fabric] = field(default_factory=lambda: Table("Fabric", first_id=0))
    spaces: Table[Space] = field(default_factory=lambda: Table("Space"))
    vlans: Table[VLAN] = field(default_factory=lambda: Table("VLAN", first_id=5001))
    subnets: Table[Subnet] = field(default_factory=lambda: Table("Subnet"))
    routes: Table[StaticRoute] = field(default_factory=lambda: Table("StaticRoute"))
    ranges: Table[IPRange] = field(default_factory=lambda: Table("IPRange"))
    reserved_ips: Table[ReservedIP] = field(default_factory=lambda: Table("ReservedIP"))
    addresses: Table[StaticIP] = field(default_factory=lambda: Table("StaticIPAddress"))
    interfaces: Table[Interface] = field(default_factory=lambda: Table("Interface"))
    disks: Table[BlockDevice] = field(default_factory=lambda: Table("BlockDevice"))
    partitions: Table[Partition] = field(default_factory=lambda: Table("Partition"))
    filesystems: Table[Filesystem] = field(default_factory=lambda: Table("Filesystem"))
    groups: Table[FilesystemGroup] = field(default_factory=lambda: Table("FilesystemGroup"))
    cache_sets: Table[CacheSet] = field(default_factory=lambda: Table("CacheSet"))
    nodes: Table[Node] = field(default_factory=lambda: Table("Node"))
    scripts: Table[Script] = field(default_factory=lambda: Table("Script"))
    script_versions: Table[ScriptVersion] = field(default_factory=lambda: Table("ScriptVersion"))
    script_sets: Table[ScriptSet] = field(default_factory=lambda: Table("ScriptSet"))
    script_results: Table[ScriptResult] = field(default_factory=lambda: Table("ScriptResult"))
    events: Table[Event] = field(default_factory=lambda: Table("Event"))
    notifications: Table[Notification] = field(default_factory=lambda: Table("Notification"))
    boot_resources: Table[BootResource] = field(default_factory=lambda: Table("BootResource"))
    boot_sets: Table[BootSet] = field(default_factory=lambda: Table("BootResourceSet"))
    boot_files: Table[BootFile] = field(default_factory=lambda: Table("BootResourceFile"))
    boot_sources: Table[BootSource] = field(default_factory=lambda: Table("BootSource"))
    boot_selections: Table[BootSourceSelection] = field(default_factory=lambda: Table("BootSourceSelection"))
    vm_hosts: Table[VMHost] = field(default_factory=lambda: Table("Pod"))
    virtual_machines: Table[VirtualMachine] = field(default_factory=lambda: Table("VirtualMachine"))
    files: Table[StoredFile] = field(default_factory=lambda: Table("FileStorage"))
    dhcp_snippets: Table[DHCPSnippet] = field(default_factory=lambda: Table("DHCPSnippet"))
    package_repositories: Table[PackageRepository] = field(default_factory=lambda: Table("PackageRepository"))
    config: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)  # what one area keeps for itself, under its name
    random: random.Random = field(default_factory=lambda: random.Random(0))
    _engine: Engine | None = None
    _default_domain: Domain | None = None
    _by_system_id: dict[str, Node] = field(default_factory=dict)
    _by_hostname: dict[str, Node] = field(default_factory=dict)
    _by_mac: dict[str, list[Interface]] = field(default_factory=dict)

    @property
    def engine(self) -> Engine:
        """What moves machines from status to status."""
        assert self._engine is not None
        return self._engine

    @engine.setter
    def engine(self, engine: Engine) -> None:
        self._engine = engine

    # -- defaults ---------------------------------------------------------------------------------------------------

    @property
    def default_zone(self) -> Zone:
        return self.zones.rows[1]

    @property
    def default_pool(self) -> Pool:
        return self.pools.rows[0]

    @property
    def default_domain(self) -> Domain:
        return self._default_domain or next(iter(self.domains.rows.values()))

    @default_domain.setter
    def default_domain(self, domain: Domain) -> None:
        self._default_domain = domain

    @property
    def rack(self) -> Controller:
        return next(n for n in self.nodes.rows.values() if isinstance(n, Controller))

    @property
    def now(self) -> datetime:
        return self.clock.now()

    @property
    def release(self) -> tuple[int, int]:
        """(3, 6) of "3.6.5", for what depends on the version."""
        major, minor = self.version.split(".")[:2]
        return int(major), int(minor)

    # -- nodes ------------------------------------------------------------------------------------------------------

    @property
    def machines(self) -> Iterator[Machine]:
        return (n for n in list(self.nodes.rows.values()) if isinstance(n, Machine))

    @property
    def devices(self) -> Iterator[Device]:
        return (n for n in list(self.nodes.rows.values()) if isinstance(n, Device))

    def add_node(self, build: Callable[..., Node], *, hostname: str = "", **values: Any) -> Any:
        """A new machine, device or controller with a system_id (and a made-up hostname when none is given)."""
        node = self.nodes.make(
            build,
            system_id=self.new_system_id(),
            hostname=hostname or self.new_hostname(),
            created=self.now,
            updated=self.now,
            **values,
        )
        self._by_system_id[node.system_id] = node
        self._by_hostname[node.hostname.lower()] = node
        return node

    def remove_node(self, node: Node) -> None:
        for interface in list(node.interfaces):
            self.remove_interface(interface)
        if isinstance(node, Machine):
            for disk in node.disks:
                self.disks.discard(disk)
            for group in node.groups:
                self.groups.discard(group)
            for virtual_machine in list(self.virtual_machines.where(machine=node)):
                self.virtual_machines.discard(virtual_machine)
            for vm_host in self.vm_hosts.where(host=node):
                vm_host.host = None
        for script_set in list(self.script_sets.where(node=node)):
            for result in script_set.results:
                self.script_results.discard(result)
            self.script_sets.discard(script_set)
        self.nodes.discard(node)
        self._by_system_id.pop(node.system_id, None)
        if self._by_hostname.get(node.hostname.lower()) is node:
            del self._by_hostname[node.hostname.lower()]

    def rename_node(self, node: Node, hostname: str) -> None:
        if self._by_hostname.get(node.hostname.lower()) is node:
            del self._by_hostname[node.hostname.lower()]
        node.hostname = hostname
        self._by_hostname[hostname.lower()] = node

    def node_by_system_id(self, system_id: str) -> Node | None:
        return self._by_system_id.get(system_id)

    def node_by_hostname(self, hostname: str) -> Node | None:
        return self._by_hostname.get(hostname.lower())

    def node(self, system_id: str) -> Node:
        node = self._by_system_id.get(system_id)
        if node is None:
            raise NotFound.of("Node")
        return node

    def machine(self, system_id: str) -> Machine:
        node = self._by_system_id.get(system_id)
        if not isinstance(node, Machine):
            raise NotFound.of("Machine")
        return node

    # -- interfaces and addresses -----------------------------------------------------------------------------------

    def add_interface(self, node: Node, **values: Any) -> Interface:
        interface = self.interfaces.make(Interface, node=node, **values)
        node.interfaces.append(interface)
        if interface.mac_address:
            self._by_mac.setdefault(interface.mac_address, []).append(interface)
        return interface

    def remove_interface(self, interface: Interface) -> None:
        for link in list(interface.links):
            self.remove_address(link)
        self._forget_mac(interface)
        self.interfaces.discard(interface)
        if interface in interface.node.interfaces:
            interface.node.interfaces.remove(interface)
        if isinstance(interface.node, Machine) and interface.node.boot_interface is interface:
            interface.node.boot_interface = None

    def set_mac(self, interface: Interface, mac: str) -> None:
        self._forget_mac(interface)
        interface.mac_address = mac
        self._by_mac.setdefault(mac, []).append(interface)

    def interfaces_by_mac(self, mac: str) -> list[Interface]:
        return list(self._by_mac.get(mac, ()))

    def _forget_mac(self, interface: Interface) -> None:
        known = self._by_mac.get(interface.mac_address or "", [])
        if interface in known:
            known.remove(interface)

    def add_address(self, **values: Any) -> StaticIP:
        """An address or link; with `interface` it is appended to the links of that interface."""
        address = self.addresses.make(StaticIP, created=self.now, **values)
        if address.interface is not None:
            address.interface.links.append(address)
        return address

    def remove_address(self, address: StaticIP) -> None:
        self.addresses.discard(address)
        if address.interface is not None and address in address.interface.links:
            address.interface.links.remove(address)
        for resource in self.dns_resources:
            if address in resource.addresses:
                resource.addresses.remove(address)
                # A name that has nothing left goes with its last address.
                if not resource.addresses and self.dns_data.first(resource=resource) is None:
                    self.dns_resources.discard(resource)
        if address.interface is not None and isinstance(address.interface.node, Machine):
            gateways = address.interface.node.gateway_links
            for family in [f for f, link in gateways.items() if link is address]:
                del gateways[family]

    # -- names and secrets ------------------------------------------------------------------------------------------

    def new_system_id(self) -> str:
        while True:
            system_id = "".join(self.random.choice(SYSTEM_ID_LETTERS) for _ignored in range(6))
            if system_id not in self._by_system_id:
                return system_id

    def new_hostname(self) -> str:
        """Two made-up words, like MAAS's pet names."""
        while True:
            words = (
                "".join(self.random.choice(CONSONANTS) + self.random.choice(VOWELS) for _ignored in range(3))
                for _ignored in range(2)
            )
            name = "-".join(words)
            if name not in self._by_hostname:
                return name

    def new_mac(self) -> str:
        while True:
            mac = "52:54:00:" + ":".join(f"{self.random.randrange(256):02x}" for _ignored in range(3))
            if not self._by_mac.get(mac):
                return mac

    def new_uuid(self) -> str:
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def new_token(self, user: User, name: str = "MAAS consumer") -> Token:
        alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz23456789"
        consumer, key, secret = ("".join(secrets.choice(alphabet) for _ignored in range(n)) for n in (18, 18, 32))
        return self.tokens.make(Token, user=user, name=name, consumer=consumer, key=key, secret=secret)

    def log_event(
        self, node: Node | None, type: str, description: str = "", level: str = "INFO", username: str = ""
    ) -> Event:
        return self.events.make(
            Event,
            type=type,
            created=self.now,
            level=level,
            description=description,
            node=node,
            hostname=node.hostname if node else "",
            username=username,
        )
