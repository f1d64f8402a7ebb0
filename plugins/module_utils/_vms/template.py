# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a VM is to be like, as the options of a task say it.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Options
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.pure import networks
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.pure.occupancy import listed, normal
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.fields import MachineFields
from ansible_collections.metalshift.maas.plugins.module_utils._maas.pure import sizes
from ansible_collections.metalshift.maas.plugins.module_utils._vms.pure.placement import Size, Volume

AUTO, DHCP = "auto", "dhcp"

DISK_OPTIONS: Options = {
    "size": {"type": "str", "required": True},
    "pool": {"type": "str"},
    "tags": {"type": "list", "elements": "str"},
}
INTERFACE_OPTIONS: Options = {
    "subnet": {"type": "str"},
    "vlan": {"type": "str"},
    "space": {"type": "str"},
    "ip_address": {"type": "str", "default": AUTO, "aliases": ["ip"]},
    "parent": {"type": "str"},
}
TEMPLATE_OPTIONS: Options = {
    "cores": {"type": "int", "aliases": ["cpu"]},
    "pinned": {"type": "bool", "default": False},
    "memory": {"type": "str"},
    "hugepages": {"type": "bool", "default": False},
    "disks": {"type": "list", "elements": "dict", "options": DISK_OPTIONS},
    "zone": {"type": "str"},
    "pool": {"type": "str"},
    "domain": {"type": "str"},
    "tags": {"type": "list", "elements": "str"},
}

# What MAAS gives to a VM of which nothing is said.
CORES, MEMORY, DISK = 1, 2 * 2**30, 8 * 10**9
LEAST_MEMORY = 2**30


@dataclass(frozen=True)
class DiskTemplate:
    """A disk, in a storage pool of the host by name or in its default one."""

    size: int
    pool: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class InterfaceTemplate:
    """An interface, what it is attached to, and how it gets its address."""

    name: str
    subnet: str = ""
    vlan: str = ""
    space: str = ""
    # `auto`, `dhcp` or a static address.
    ip: str = AUTO
    # The interface of the host that it hangs on; empty if MAAS knows.
    parent: str = ""
    # The static addresses that the VMs of a set share out.
    addresses: tuple[str, ...] = ()

    @property
    def static(self) -> str:
        return "" if self.ip in (AUTO, DHCP) else self.ip

    @property
    def statics(self) -> tuple[str, ...]:
        """All static addresses that it may get: its own, or those that are shared out."""
        return (self.static,) if self.static else self.addresses

    @property
    def is_free(self) -> bool:
        """Whether it may be attached to whatever network of the host has DHCP."""
        return not (self.subnet or self.vlan or self.space or self.statics)


@dataclass(frozen=True)
class Template:
    """None stands for what the task does not say: the usual for a new VM, and anything for one that exists."""

    cores: int | None = None
    on_cores: tuple[int, ...] = ()
    pinned: bool = False
    memory: int | None = None
    hugepages: bool = False
    disks: tuple[DiskTemplate, ...] = ()
    nics: tuple[InterfaceTemplate, ...] = ()
    # Its zone, pool, domain and tags.
    wished: MachineFields = field(default_factory=MachineFields)

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Template:
        """The template in a task's options; what cannot be is a failure of kind `invalid`."""
        on_cores = tuple(params.get("pinned_cores") or ())
        cores = params.get("cores")
        if cores is not None and cores < 1:
            raise invalid(f"cores must be at least 1, not {cores}.")
        if on_cores and (min(on_cores) < 0 or len(set(on_cores)) < len(on_cores)):
            raise invalid("pinned_cores names cores of the host by number, each once, counted from 0.")
        if on_cores and cores not in (None, len(on_cores)):
            raise invalid(f"cores is {cores}, and pinned_cores names {len(on_cores)}.", "Leave cores out.")
        return cls(
            cores=len(on_cores) or cores,
            on_cores=on_cores,
            pinned=bool(params.get("pinned")),
            memory=_memory(params.get("memory")),
            hugepages=bool(params.get("hugepages")),
            disks=tuple(_disk(disk, number) for number, disk in enumerate(params.get("disks") or (), start=1)),
            nics=tuple(_nic(nic, number) for number, nic in enumerate(params.get("interfaces") or ())),
            wished=MachineFields.from_params({name: params.get(name) for name in ("zone", "pool", "domain", "tags")}),
        )

    @property
    def all_disks(self) -> tuple[DiskTemplate, ...]:
        """Those of a new VM."""
        return self.disks or (DiskTemplate(DISK),)

    @property
    def shown(self) -> dict[str, Any]:
        """What a new VM is made as, for its plan."""
        named = {name: getattr(self.wished, name) for name in ("zone", "pool", "domain", "tags")}
        return {
            "cores": self.cores or CORES,
            "memory": self.memory or MEMORY,
            "disks": [disk.size for disk in self.all_disks],
            **{name: value for name, value in named.items() if value},
        }

    @property
    def size(self) -> Size:
        """What a new VM takes from its host."""
        return Size(
            cores=self.cores or CORES,
            memory=self.memory or MEMORY,
            volumes=tuple(Volume(disk.size, disk.pool) for disk in self.all_disks),
            pinned=self.pinned,
            on_cores=self.on_cores,
            hugepages=self.hugepages,
        )


def _memory(value: Any) -> int | None:
    if value is None:
        return None
    memory = sizes.parse(value, "memory", "MiB")
    if memory < LEAST_MEMORY:
        raise invalid(f"memory cannot be {value!r}.", "A VM has 1 GiB at least, or it cannot be commissioned.")
    # MAAS and LXD count it in whole MiB.
    return sizes.mebibytes(memory) * sizes.UNITS["MiB"]


def _disk(given: Mapping[str, Any], number: int) -> DiskTemplate:
    where = f"disks[{number}]"
    tags = tuple(given.get("tags") or ())
    for word in (*tags, given.get("pool") or ""):
        # They stand in one text for MAAS, between these.
        if set(word) & set("(),: "):
            raise invalid(f"{where} has {word!r} for a pool or tag, and MAAS takes no such name there.")
    return DiskTemplate(sizes.parse(given["size"], f"{where}.size", "GB"), given.get("pool") or "", tags)


def _nic(given: Mapping[str, Any], number: int) -> InterfaceTemplate:
    where = f"interfaces[{number + 1}]"
    places = {name: str(given.get(name) or "") for name in ("subnet", "vlan", "space")}
    named = [name for name, value in places.items() if value]
    if len(named) > 1:
        raise invalid(f"{where} has {' and '.join(named)}.", "One of them says where it is attached.")
    if places["subnet"]:
        networks.check(places["subnet"], f"{where}.subnet", networks.SUBNET_KEYS)
    if places["vlan"]:
        networks.check(places["vlan"], f"{where}.vlan", networks.VLAN_KEYS)
    ip = (given.get("ip_address") or AUTO).strip()
    if given.get("addresses") == []:
        # A computed list that turned out empty must not give them addresses of MAAS's choice.
        raise invalid(f"{where}.addresses is an empty list, and no VM gets an address from that.", "Leave it out.")
    addresses = tuple(listed(given.get("addresses") or (), f"{where}.addresses"))
    if ip not in (AUTO, DHCP):
        ip = normal(ip, f"{where}.ip_address")
    if addresses and ip != AUTO:
        raise invalid(f"{where} has both ip_address and addresses.", "Leave ip_address out.")
    return InterfaceTemplate(f"eth{number}", ip=ip, parent=given.get("parent") or "", addresses=addresses, **places)


def refuse_shared(nics: Sequence[InterfaceTemplate]) -> None:
    """One address for two interfaces."""
    static = [nic.static for nic in nics if nic.static]
    twice = sorted({ip for ip in static if static.count(ip) > 1})
    if twice:
        raise invalid(f"interfaces has {twice[0]} twice.", "Give every interface an address of its own.")
