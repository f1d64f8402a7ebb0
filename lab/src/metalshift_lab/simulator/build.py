# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines made without the API, for tests and for trying things out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from metalshift_lab.simulator.engine import Engine
from metalshift_lab.simulator.model import (
    ALLOCATED_STATUSES,
    AllocType,
    Machine,
    Pool,
    ResultType,
    Status,
    Subnet,
    Tag,
    Zone,
)
from metalshift_lab.simulator.state import State

LISTS = ("zones", "pools", "tags")
NUMBERS = ("count", "cpu", "memory")
TEXTS = ("prefix", "status", "power_type", "disk", "architecture")
OWNED = (
    Status.ALLOCATED,
    Status.DEPLOYING,
    Status.DEPLOYED,
    Status.FAILED_DEPLOYMENT,
    Status.RELEASING,
    Status.FAILED_RELEASING,
    Status.DISK_ERASING,
    Status.FAILED_DISK_ERASING,
    Status.RESERVED,
)
ROOM, MORE_ROOM = 200, "10.100.0.0/16"
POWERED = (
    Status.COMMISSIONING,
    Status.TESTING,
    Status.DEPLOYING,
    Status.DEPLOYED,
    Status.DISK_ERASING,
    Status.RESCUE_MODE,
)


def options(values: dict[str, str]) -> dict[str, Any]:
    """The control API's parameters as arguments of `machines`."""
    out: dict[str, Any] = {}
    for name, value in values.items():
        if name in LISTS:
            out[name] = [v for v in value.split(",") if v]
        elif name in NUMBERS:
            out[name] = int(value)
        elif name in TEXTS:
            out[name] = value
        else:
            raise ValueError(f"seed has no parameter {name}; it has {', '.join(LISTS + NUMBERS + TEXTS)}.")
    return out


def status_of(name: str | Status) -> Status:
    if isinstance(name, Status):
        return name
    wanted = name.strip().lower().replace("_", " ")
    for status in Status:
        if wanted in (status.label.lower(), status.name.lower().replace("_", " ")):
            return status
    raise ValueError(f"There is no status {name!r}; there are {', '.join(s.label for s in Status)}.")


def machine(
    state: State,
    engine: Engine,
    hostname: str = "",
    *,
    status: str | Status = Status.READY,
    zone: str = "default",
    pool: str = "default",
    tags: Sequence[str] = (),
    cpu: int = 4,
    memory: int = 8192,
    disks: Sequence[float] = (250,),
    nics: int = 1,
    mac_addresses: Sequence[str] = (),
    architecture: str = "amd64/generic",
    power: str | None = None,
    power_type: str = "ipmi",
    power_parameters: dict[str, Any] | None = None,
    owner: str = "admin",
    agent_name: str = "",
    distro_series: str = "noble",
    annotations: dict[str, str] | None = None,
) -> Machine:
    """A machine in any status, with zone, pool and tags made when they do not exist."""
    wanted = status_of(status)
    made: Machine = state.add_node(
        Machine,
        hostname=hostname,
        domain=state.default_domain,
        zone=state.zones.first(name=zone) or state.zones.make(Zone, name=zone),
        pool=state.pools.first(name=pool) or state.pools.make(Pool, name=pool),
        architecture=architecture,
        power_type=power_type,
        power_parameters=power_parameters or _power(state, power_type),
    )
    made.tags = [state.tags.first(name=t) or state.tags.make(Tag, name=t) for t in tags]
    for index, mac in enumerate(mac_addresses or [state.new_mac() for _ignored in range(nics)]):
        state.add_interface(made, name=f"eth{index}", mac_address=mac)
    made.boot_interface = made.interfaces[0] if made.interfaces else None
    made.next_hardware = {"cpu": cpu, "memory": memory, "disks": list(disks)}
    if wanted not in (Status.NEW, Status.COMMISSIONING, Status.FAILED_COMMISSIONING):
        engine.finish_commissioning(made)
    elif wanted is not Status.NEW:
        engine.start_scripts(made, ResultType.COMMISSIONING)
        engine.start_scripts(made, ResultType.TESTING)
    if len(state.nodes) > ROOM:
        _move_to_more_room(state, made)
    if wanted in OWNED or wanted is Status.COMMISSIONING:
        made.owner = state.users.only(username=owner)
        made.agent_name = agent_name
        made.annotations.update(annotations or {})
    if wanted in (Status.DEPLOYING, Status.DEPLOYED, Status.FAILED_DEPLOYMENT):
        made.osystem, made.distro_series, made.hwe_kernel = "ubuntu", distro_series, "ga-24.04"
        engine.start_scripts(made, ResultType.INSTALLATION)
        engine.claim_auto_ips(made)
    made.storage_acquired = wanted in ALLOCATED_STATUSES
    made.power_state = power or ("on" if wanted in POWERED else "off" if engine.can_be_controlled(made) else "unknown")
    engine.enter(made, wanted)
    if wanted is Status.DEPLOYED:
        engine.finish_deployment(made)
    return made


def standing(
    state: State, engine: Engine, hostname: str, *, mac: str, ip: str, network: str = "", **values: Any
) -> Machine:
    """A machine that is really somewhere: deployed, with its MAC address, and an address on a network (10.1.2.0/24)."""
    made = machine(state, engine, hostname, status=Status.DEPLOYED, mac_addresses=[mac], **values)
    nic = made.interfaces[0]
    for link in list(nic.links):
        state.remove_address(link)
    subnet = state.subnets.first(cidr=network)
    if network and subnet is None:
        vlan = next(each for each in state.vlans if each.dhcp_on)
        subnet = state.subnets.make(Subnet, cidr=network, name=network, vlan=vlan)
    if subnet is not None:
        nic.vlan = subnet.vlan
    state.add_address(alloc_type=AllocType.STICKY, ip=ip, subnet=subnet, interface=nic)
    return made


def machines(
    state: State,
    engine: Engine,
    *,
    count: int = 1,
    prefix: str = "node",
    disk: str = "250",
    zones: Sequence[str] = ("default",),
    pools: Sequence[str] = ("default",),
    **values: Any,
) -> list[Machine]:
    """Many like that, spread over the zones and pools in turn; names continue where the last ones ended."""
    disks = [float(gb) for gb in disk.split(",")]
    width = max(2, len(str(count)))
    names = (f"{prefix}{n:0{width}d}" for n in range(1, count + len(state.nodes) + 1))
    free = (n for n in names if state.node_by_hostname(n) is None)
    return [
        machine(
            state, engine, next(free), zone=zones[i % len(zones)], pool=pools[i % len(pools)], disks=disks, **values
        )
        for i in range(count)
    ]


def _move_to_more_room(state: State, machine: Machine) -> None:
    """The seed's subnet has 253 addresses; machines beyond them deploy on a larger one beside it."""
    for interface in machine.interfaces:
        for link in interface.links:
            if link.subnet is not None and link.subnet.cidr != MORE_ROOM:
                vlan = link.subnet.vlan
                larger = state.subnets.first(cidr=MORE_ROOM)
                link.subnet = larger or state.subnets.make(Subnet, cidr=MORE_ROOM, name=MORE_ROOM, vlan=vlan)


def _power(state: State, power_type: str) -> dict[str, Any]:
    if power_type == "manual":
        return {}
    count = len(state.nodes)
    return {"power_address": f"10.98.{count // 250}.{count % 250 + 1}", "power_user": "lab", "power_pass": "lab"}
