# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The VMs in one LXD: what it has room for, and making and removing one with its volumes.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.urls import segment
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.client import Lxd, TaggedObject
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.overview import VIRTUAL_MACHINE, can_run_vms
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure import errors
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.settings import in_bytes
from ansible_collections.metalshift.maas.plugins.module_utils._maas.pure import sizes
from ansible_collections.metalshift.maas.plugins.module_utils._vms.attachments import Attachment
from ansible_collections.metalshift.maas.plugins.module_utils._vms.pure.homes import Copy
from ansible_collections.metalshift.maas.plugins.module_utils._vms.pure.placement import HostResource, Size
from ansible_collections.metalshift.maas.plugins.module_utils._vms.size_difference import VmAllotment
from ansible_collections.metalshift.maas.plugins.module_utils._vms.template import DiskTemplate, InterfaceTemplate
from ansible_collections.metalshift.maas.plugins.module_utils._vms.way import NewVmSpec

# By which a run knows what a killed one left: MAAS does not know it yet.
CLAIM = "user.metalshift_claim"
# By which it knows one that was being removed: MAAS does not know it any more. It stands in the description, because
# LXD 5.0 takes no other configuration of a VM that runs without the agent of LXD.
LEAVING = "(being removed by metalshift.maas)"
# What stands between the name of a VM and the number of a volume.
VOLUME = "-disk"
# What the device is called that has the volume, with its number.
DISK = "disk"
ANY = Attachment(InterfaceTemplate("eth0"))
# What LXD calls machines, and MAAS.
ARCHITECTURES: Mapping[str, str] = {"x86_64": "amd64/generic", "aarch64": "arm64/generic", "ppc64le": "ppc64el/generic"}
STOP_LIMIT = 30
# What LXD gives to the first disk of a VM of which nothing is said.
ROOT_SIZE = 10 * 2**30
# LXD may end while it makes a VM; what it leaves of it is removed, and made again.
ATTEMPTS = 2
STOPPED = "Stopped"
# The year of an instance's last use before its first.
NEVER = "1970"


@dataclass(frozen=True)
class Instances:
    """What one LXD has, as far as VMs are concerned."""

    project: str
    architecture: str
    can_run_vms: bool
    # Newer ones have boot modes in the place of secure boot.
    has_boot_modes: bool
    cores: HostResource
    memory: HostResource
    storage: Mapping[str, HostResource] = field(default_factory=dict)
    default_storage: str = ""
    default_network: str = ""
    # By name, whether LXD manages it, and whether it is a bridge.
    networks: Mapping[str, tuple[bool, bool]] = field(default_factory=dict)
    # The VMs of the project, by name.
    vms: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    # Volumes that are ours, by the name of the VM: where they are, and the claim.
    volumes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    pinned: frozenset[int] = frozenset()
    # What the instances of the project may have in all.
    limits: Mapping[str, HostResource] = field(default_factory=dict)

    @property
    def claims(self) -> dict[str, str]:
        """What each VM says of itself, or where only volumes are, what these say of it."""
        alone = {name: next(iter(volumes.values())) for name, volumes in self.volumes.items()}
        return {**alone, **{name: str((vm.get("config") or {}).get(CLAIM, "")) for name, vm in self.vms.items()}}

    def copy(self, host: str, name: str) -> Copy:
        """What there is of a VM."""
        vm = self.vms.get(name)
        if vm is None:
            # Volumes are made after the VM and removed before it: no run leaves them alone, so somebody did.
            disks = tuple(sorted(path.rpartition("/")[2] for path in self.volumes[name]))
            return Copy(host, claim=self.claims[name], disks=disks)
        return Copy(host, macs_of(vm), self.claims[name], is_half_made(vm))

    def nic(self, network: str) -> dict[str, str]:
        """The device that hangs on it."""
        managed, bridge = self.networks.get(network, (False, True))
        if managed:
            return {"type": "nic", "network": network}
        return {"type": "nic", "nictype": "bridged" if bridge else "macvlan", "parent": network}


# -- reading -------------------------------------------------------------------------------------------------------


def read(lxd: Lxd) -> Instances:
    """All that matters of one LXD; a certificate that is restricted to the project sees it too."""
    project = {"project": lxd.project}
    listed = _listed(lxd)
    resources = lxd.get("resources", project, what="say what it has")
    pools = lxd.get("storage-pools", {"recursion": 1, **project}, what="list the storage pools")
    networks = lxd.get("networks", {"recursion": 1, **project}, what="list the networks")
    profile = lxd.find("profiles/default", project, what="show the profile default")
    devices: Mapping[str, Any] = (profile.body.get("devices") or {}) if profile else {}
    environment = lxd.server.get("environment") or {}
    volumes = {str(pool["name"]): _volumes(lxd, str(pool["name"])) for pool in pools}
    storage = {pool: _room_in(lxd, pool, project, _promised(pool, listed, volumes[pool])) for pool in volumes}
    own = [each for each in listed if each.get("project", lxd.project) == lxd.project]
    return Instances(
        project=lxd.project,
        architecture=ARCHITECTURES.get(str(environment.get("kernel_architecture")), "amd64/generic"),
        can_run_vms=can_run_vms(lxd),
        has_boot_modes=lxd.capabilities.has("boot modes of instances"),
        cores=HostResource(int(resources["cpu"]["total"]), sum(_cores(each) for each in listed)),
        memory=HostResource(int(resources["memory"]["total"]), sum(_memory(each) for each in listed)),
        storage=storage,
        default_storage=_default_pool(devices, storage),
        default_network=_default_network(devices),
        networks={str(each["name"]): (bool(each.get("managed")), each.get("type") == "bridge") for each in networks},
        vms={str(each["name"]): each for each in own if each.get("type") == VIRTUAL_MACHINE},
        volumes=_our_volumes(volumes),
        pinned=frozenset(core for each in listed for core in _pins(each)),
        limits=_limits_of_project(lxd, own, volumes),
    )


def _listed(lxd: Lxd) -> list[Mapping[str, Any]]:
    """The instances of all projects, for all take from the host; those of our own where LXD shows no others."""
    found: list[Mapping[str, Any]]
    try:
        found = lxd.get("instances", {"recursion": 1, "all-projects": "true"}, what="list the instances")
    except Failure as failure:
        # LXD 5.0 refuses that to a client that is restricted.
        if failure.kind != "forbidden":
            raise
        found = lxd.get("instances", {"recursion": 1, "project": lxd.project}, what="list the instances")
    return found


def _volumes(lxd: Lxd, pool: str) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = lxd.get(
        _volumes_of(pool), {"recursion": 1, "project": lxd.project}, what="list the volumes"
    )
    return found


def _our_volumes(listed: Mapping[str, Iterable[Mapping[str, Any]]]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for pool, volumes in listed.items():
        for each in volumes:
            vm, dash, number = str(each["name"]).rpartition(VOLUME)
            claim = (each.get("config") or {}).get(CLAIM)
            if claim and dash and number.isdigit():
                found.setdefault(vm, {})[f"{_volumes_of(pool)}/{each['name']}"] = str(claim)
    return found


def _promised(pool: str, listed: Iterable[Mapping[str, Any]], volumes: Iterable[Mapping[str, Any]]) -> int:
    """What disks in a pool may come to hold. A pool itself tells only what has been written."""
    roots = sum(_root_size(each) for each in listed if _root(each).get("pool") == pool)
    return roots + sum(in_bytes((each.get("config") or {}).get("size")) for each in volumes)


def _root(instance: Mapping[str, Any]) -> Mapping[str, Any]:
    devices = instance.get("expanded_devices") or instance.get("devices") or {}
    return next((device for device in devices.values() if device.get("path") == "/"), {})


def _root_size(instance: Mapping[str, Any]) -> int:
    usual = ROOT_SIZE if instance.get("type") == VIRTUAL_MACHINE else 0
    return in_bytes(_root(instance).get("size")) or usual


def _limits_of_project(
    lxd: Lxd, own: Iterable[Mapping[str, Any]], volumes: Mapping[str, Iterable[Mapping[str, Any]]]
) -> dict[str, HostResource]:
    """What LXD holds the project to; nothing if it does not show that."""
    try:
        found = lxd.find(f"projects/{segment(lxd.project, 'name of a project')}")
    except Failure as failure:
        if failure.kind != "forbidden":
            raise
        found = None
    config: Mapping[str, Any] = (found.body.get("config") or {}) if found else {}
    instances = list(own)
    vms = [each for each in instances if each.get("type") == VIRTUAL_MACHINE]
    stored = sum(_promised(pool, instances, listed) for pool, listed in volumes.items())
    told = {
        "cores": ("limits.cpu", sum(_cores(each) for each in instances)),
        "memory": ("limits.memory", sum(_memory(each) for each in instances)),
        "storage": ("limits.disk", stored),
        "VMs": ("limits.virtual-machines", len(vms)),
        "instances": ("limits.instances", len(instances)),
    }
    return {name: HostResource(in_bytes(config[key]), used) for name, (key, used) in told.items() if config.get(key)}


def _volumes_of(pool: str) -> str:
    return f"storage-pools/{segment(pool, 'name of a storage pool')}/volumes/custom"


def _room_in(lxd: Lxd, pool: str, project: Mapping[str, str], promised: int) -> HostResource:
    found = lxd.get(f"storage-pools/{segment(pool, 'name of a storage pool')}/resources", project, what="measure it")
    space = found.get("space") or {}
    return HostResource(int(space.get("total") or 0), max(int(space.get("used") or 0), promised))


def _default_pool(devices: Mapping[str, Mapping[str, Any]], storage: Mapping[str, HostResource]) -> str:
    root = next((str(device["pool"]) for device in devices.values() if device.get("path") == "/"), "")
    return root or (next(iter(storage)) if len(storage) == 1 else "default" if "default" in storage else "")


def _default_network(devices: Mapping[str, Mapping[str, Any]]) -> str:
    nics = [device for device in devices.values() if device.get("type") == "nic"]
    return next((str(nic.get("network") or nic.get("parent") or "") for nic in nics), "")


def _limits(instance: Mapping[str, Any]) -> Mapping[str, Any]:
    limits: Mapping[str, Any] = instance.get("expanded_config") or instance.get("config") or {}
    return limits


def _cores(instance: Mapping[str, Any]) -> int:
    """What a VM has been promised; a container without a limit takes what there is."""
    limit = str(_limits(instance).get("limits.cpu") or "")
    if limit.isdigit():
        return int(limit)
    return len(list(_pins(instance))) or int(instance.get("type") == VIRTUAL_MACHINE)


def _pins(instance: Mapping[str, Any]) -> Iterator[int]:
    limit = str(_limits(instance).get("limits.cpu") or "")
    for part in limit.split(",") if not limit.isdigit() else ():
        first, _dash, last = part.partition("-")
        if first.isdigit() and (last or first).isdigit():
            yield from range(int(first), int(last or first) + 1)


def _memory(instance: Mapping[str, Any]) -> int:
    limit = _limits(instance).get("limits.memory")
    if not limit:
        # What LXD gives to a VM of which nothing is said.
        return 2**30 if instance.get("type") == VIRTUAL_MACHINE else 0
    return in_bytes(limit)


def is_half_made(vm: Mapping[str, Any]) -> bool:
    """Whether nothing can be on its disks, because it was made empty and never started; or it was being removed.

    LXD notes of an instance how it was filled, until it is started: a copy, or what comes from an image, is not empty.
    """
    return is_leaving(vm) or _is_unused(vm)


def _is_unused(vm: Mapping[str, Any]) -> bool:
    config: Mapping[str, Any] = vm.get("config") or {}
    filled = config.get("volatile.apply_template") != "create" or any(key.startswith("image.") for key in config)
    return not filled and vm.get("status") == STOPPED


def is_live(vm: Mapping[str, Any]) -> bool:
    """Whether it runs, and nobody began to remove it. A run that is killed leaves no VM so: it starts none."""
    return vm.get("status") != STOPPED and not is_leaving(vm)


def is_leaving(vm: Mapping[str, Any]) -> bool:
    """Whether a run began to remove it."""
    return LEAVING in _description(vm)


def _description(vm: Mapping[str, Any]) -> str:
    return str(vm.get("description") or "")


def macs_of(vm: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(_macs(vm, [name for name, device in _devices(vm).items() if device.get("type") == "nic"]))


def given(vm: Mapping[str, Any]) -> VmAllotment:
    """What a VM was given."""
    hugepages = _limits(vm).get("limits.memory.hugepages") == "true"
    return VmAllotment(_cores(vm), _memory(vm), frozenset(_pins(vm)), hugepages, vm.get("status") != STOPPED)


# -- bridges -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bridges:
    """The bridges of a host, by the interfaces that are their ports and by the addresses that they have."""

    of_ports: Mapping[str, str] = field(default_factory=dict)
    addresses: Mapping[str, tuple[IPv4Address | IPv6Address, ...]] = field(default_factory=dict)

    def with_address_in(self, networks: Iterable[str]) -> str:
        """The bridge that has an address in one of these networks; empty without one."""
        known = [ip_network(network, strict=False) for network in networks]
        held = (name for name, ips in self.addresses.items() if any(ip in network for ip in ips for network in known))
        return next(held, "")


def bridges(lxd: Lxd, seen: Instances) -> Bridges:
    """Those that LXD did not make: on one of these hang the machines of MAAS."""
    ports: dict[str, str] = {}
    addresses: dict[str, tuple[IPv4Address | IPv6Address, ...]] = {}
    for name, (managed, is_bridge) in sorted(seen.networks.items()):
        if managed or not is_bridge:
            continue
        told = _state_of_network(lxd, name, seen.project)
        ports |= dict.fromkeys((told.get("bridge") or {}).get("upper_devices") or (), name)
        shown = [each for each in told.get("addresses") or () if each.get("scope") == "global"]
        addresses[name] = tuple(ip_address(str(each["address"])) for each in shown)
    return Bridges(ports, addresses)


def _state_of_network(lxd: Lxd, name: str, project: str) -> Mapping[str, Any]:
    """What LXD tells of an interface of the host; nothing if it keeps that from a restricted client."""
    try:
        found = lxd.find(f"networks/{segment(name, 'name of a network')}/state", {"project": project})
    except Failure as failure:
        if failure.kind != "forbidden":
            raise
        return {}
    return found.body if found else {}


def moved_nics(seen: Instances, vm: Mapping[str, Any], known: Bridges) -> dict[str, dict[str, str]]:
    """The interfaces of a VM that hang on ports of bridges, where they cannot work, each as a device on its bridge."""
    found = {}
    for name, device in stuck_nics(vm).items():
        bridge = known.of_ports.get(str(device["parent"]))
        if bridge:
            kept = {key: str(value) for key, value in device.items() if key not in ("nictype", "parent", "mode")}
            # LXD forgets the MAC address of an interface whose kind changes.
            (mac,) = _macs(vm, [name]) or [""]
            found[name] = {**kept, **seen.nic(bridge), **({"hwaddr": mac} if mac else {})}
    return found


def stuck_nics(vm: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The interfaces of a VM that does not run of which that may be so."""
    stopped = vm.get("status") == STOPPED
    own: Mapping[str, Mapping[str, Any]] = vm.get("devices") or {}
    return {name: device for name, device in own.items() if stopped and device.get("nictype") == "macvlan"}


# -- changing ------------------------------------------------------------------------------------------------------


def resize(lxd: Lxd, seen: Instances, name: str, size: Size, pins: Iterable[int]) -> None:
    """Give another size to a VM that does not run."""
    _write(lxd, seen, name, f"resize the VM {name}", config=_limits_of(size, pins))


def attach(lxd: Lxd, seen: Instances, name: str, nics: Mapping[str, Mapping[str, str]]) -> None:
    """Attach interfaces of a VM that does not run to something else."""
    _write(lxd, seen, name, f"attach the interfaces of the VM {name}", devices=nics)


def mark_leaving(lxd: Lxd, seen: Instances, name: str) -> None:
    """Write on a VM that it is being removed."""
    vm = seen.vms[name]
    if not is_leaving(vm):
        _write(lxd, seen, name, f"mark the VM {name}", description=f"{_description(vm)} {LEAVING}".strip())


def mark_staying(lxd: Lxd, seen: Instances, vm: Mapping[str, Any]) -> None:
    """Take that from a VM again."""
    said = _description(vm).replace(LEAVING, "").strip()
    _write(lxd, seen, str(vm["name"]), f"keep the VM {vm['name']}", description=said)


def _write(
    lxd: Lxd,
    seen: Instances,
    name: str,
    what: str,
    *,
    config: Mapping[str, str] | None = None,
    devices: Mapping[str, Mapping[str, str]] | None = None,
    description: str | None = None,
) -> None:
    """Change what is given of a VM."""
    query = {"project": seen.project}
    path = f"instances/{segment(name, 'name of an instance')}"
    found = lxd.find(path, query, what=f"show the VM {name}")
    if found is None:
        raise Failure("conflict", f"LXD was to {what}, and somebody removed it.", object=name)
    # LXD 5.0 takes away a description that is not given.
    said = _description(found.body) if description is None else description

    def settled() -> bool | None:
        again = lxd.find(path, query)
        now: Mapping[str, Any] = again.body if again else {}
        parts = ((now.get("config") or {}, config or {}), (now.get("devices") or {}, devices or {}))
        return (_description(now) == said and all(part.items() >= wish.items() for part, wish in parts)) or None

    body: dict[str, Any] = {"config": dict(config or {}), "description": said}
    if devices:
        body["devices"] = {key: dict(device) for key, device in devices.items()}
    lxd.patch(path, body, query, what=what, etag=found.etag, settled=settled)


# -- making --------------------------------------------------------------------------------------------------------


def make(lxd: Lxd, seen: Instances, nics: Mapping[str, Mapping[str, str]], order: NewVmSpec) -> list[str]:
    """Make a VM as MAAS would, without anything on its disks; the MAC addresses of its interfaces."""
    query = {"project": seen.project}
    path = f"instances/{segment(order.name, 'name of an instance')}"
    # What was there before, and has no claim, may be somebody's.
    ours = bool(order.claim)
    for _attempt in range(ATTEMPTS):
        if _delete_half_created(lxd, path, query, order, ours):
            ours = True
            _create(lxd, seen, nics, order, partial(_whole, lxd, path, query, ours))
        found = _whole(lxd, path, query, ours)
        if found is not None:
            _refuse_strange(found.body, order)
            if is_half_made(found.body):
                _add_disks(lxd, seen, found.body, order)
            if is_leaving(found.body):
                mark_staying(lxd, seen, found.body)
            return _macs(found.body, nics)
    raise Failure("uncertain", f"{order.name} was made on {order.host}, and is not there.", object=order.name)


def _delete_half_created(lxd: Lxd, path: str, query: Mapping[str, str], order: NewVmSpec, ours: bool) -> bool:
    """Delete a half-created VM. Returns whether there is none now."""
    found = lxd.find(path, query, what=f"show the VM {order.name}")
    if found is None:
        return True
    _refuse_strange(found.body, order)
    unfinished = not _is_complete(lxd, found.body, query, ours)
    return unfinished and lxd.delete(path, query, what=f"remove the unfinished VM {order.name}")


def _refuse_strange(vm: Mapping[str, Any], order: NewVmSpec) -> None:
    """A VM that somebody else made under the name since it was looked for."""
    if order.claim and (vm.get("config") or {}).get(CLAIM) != order.claim:
        raise Failure(
            "conflict",
            f"{order.name} cannot be made on {order.host}: somebody else has just made a VM of that name there.",
            object=order.name,
            hint="Remove or rename it there, or choose another name.",
        )


def _whole(lxd: Lxd, path: str, query: Mapping[str, str], ours: bool) -> TaggedObject | None:
    """The VM, unless LXD ended while it made it."""
    found = lxd.find(path, query)
    return found if found is not None and _is_complete(lxd, found.body, query, ours) else None


def _is_complete(lxd: Lxd, vm: Mapping[str, Any], query: Mapping[str, str], ours: bool) -> bool:
    """Whether LXD came to the end of making it: it lists the first disk, makes it, and notes how it was filled.

    That note goes when the VM is started, of which others stay.
    """
    noted = {"volatile.apply_template", "volatile.last_state.power"} & set(vm.get("config") or {})
    used = str(vm.get("last_used_at") or NEVER)[:4] > NEVER
    return _has_root(lxd, vm, query) and bool(noted or used or not ours)


def _has_root(lxd: Lxd, vm: Mapping[str, Any], query: Mapping[str, str]) -> bool:
    """Whether its first disk is listed."""
    root: Mapping[str, Any] = next((each for each in _devices(vm).values() if each.get("path") == "/"), {})
    pool = segment(str(root.get("pool") or "default"), "name of a storage pool")
    listed = lxd.get(f"storage-pools/{pool}/volumes", query, what=f"list the volumes in {pool}")
    names = {str(url).partition("?")[0].rpartition(f"/{VIRTUAL_MACHINE}/")[2] for url in listed}
    return str(vm["name"]) in names


def _create(
    lxd: Lxd,
    seen: Instances,
    nics: Mapping[str, Mapping[str, str]],
    order: NewVmSpec,
    settled: Callable[[], TaggedObject | None],
) -> None:
    body = {
        "name": order.name,
        "type": VIRTUAL_MACHINE,
        "source": {"type": "none"},
        "config": _config(seen, order),
        "devices": {"root": _root_disk(seen, order), **{name: {"name": name, **nic} for name, nic in nics.items()}},
    }
    what = f"create the VM {order.name} on {order.host}"
    try:
        lxd.post("instances", body, {"project": seen.project}, what=what, settled=settled)
    except Failure as failure:
        if not errors.exists_already(failure):
            raise


def _macs(vm: Mapping[str, Any], nics: Iterable[str]) -> list[str]:
    config = {**(vm.get("expanded_config") or {}), **(vm.get("config") or {})}
    devices = _devices(vm)
    macs = [devices.get(name, {}).get("hwaddr") or config.get(f"volatile.{name}.hwaddr") for name in nics]
    return [str(mac).lower() for mac in macs if mac]


def _devices(vm: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {**(vm.get("expanded_devices") or {}), **(vm.get("devices") or {})}


def _config(seen: Instances, order: NewVmSpec) -> dict[str, str]:
    boot = {"boot.mode": "uefi-nosecureboot"} if seen.has_boot_modes else {"security.secureboot": "false"}
    return {**_limits_of(order.template.size, order.cores), **({CLAIM: order.claim} if order.claim else {}), **boot}


def _limits_of(size: Size, pins: Iterable[int]) -> dict[str, str]:
    """A size as LXD takes it."""
    # A number alone is how many; MAAS writes one core that it pins in the same way.
    return {
        "limits.cpu": ",".join(f"{core}-{core}" for core in pins) or str(size.cores),
        "limits.memory": f"{sizes.mebibytes(size.memory)}MiB",
        **({"limits.memory.hugepages": "true"} if size.hugepages else {}),
    }


def _root_disk(seen: Instances, order: NewVmSpec) -> dict[str, str]:
    """The device of the first disk."""
    first = order.template.all_disks[0]
    where = {"type": "disk", "path": "/", "pool": first.pool or seen.default_storage}
    return {**where, "size": str(first.size), "boot.priority": "0"}


def _add_disks(lxd: Lxd, seen: Instances, vm: Mapping[str, Any], order: NewVmSpec) -> None:
    """The other disks, which are volumes of their own.

    They come after the VM: volumes that a killed run leaves are those of a VM that says so.
    """
    there = {device.get("source") for device in (vm.get("devices") or {}).values()}
    devices = {}
    for number, disk in enumerate(order.template.all_disks[1:], start=1):
        name, pool = f"{order.name}{VOLUME}{number}", disk.pool or seen.default_storage
        if name not in there:
            _make_volume(lxd, seen, pool, name, disk, order.claim)
            devices[f"{DISK}{number}"] = {"type": "disk", "pool": pool, "source": name}
    if devices:
        _write(lxd, seen, order.name, f"give the VM {order.name} its disks", devices=devices)


def _make_volume(lxd: Lxd, seen: Instances, pool: str, name: str, disk: DiskTemplate, claim: str) -> None:
    query, collection = {"project": seen.project}, _volumes_of(pool)
    config = {"size": str(disk.size), CLAIM: claim}
    body = {"name": name, "type": "custom", "content_type": "block", "config": config}

    def create() -> None:
        # That it is listed does not say that it is whole: after a lost answer it is asked for again.
        lxd.post(collection, body, query, what=f"create the volume {name}", settled=lambda: None)

    try:
        create()
    except Failure as failure:
        if not errors.exists_already(failure):
            raise
        if _delete_unattached(lxd, f"{collection}/{name}", query, claim):
            create()


def _delete_unattached(lxd: Lxd, path: str, query: Mapping[str, str], claim: str) -> bool:
    """Delete a volume that no VM has got: a run or an LXD ended before, and nothing is on it. Whether it was ours."""
    found = lxd.find(path, query)
    if found is not None and (found.body.get("used_by") or (found.body.get("config") or {}).get(CLAIM) != claim):
        return False
    lxd.delete(path, query, what=f"remove the unfinished volume {path.rpartition('/')[2]}")
    return True


# -- removing ------------------------------------------------------------------------------------------------------


def remove(lxd: Lxd, seen: Instances, name: str, *, stops: bool = True) -> bool:
    """Remove a VM and its volumes; whether it was there. What is on its disks is lost."""
    query = {"project": seen.project}
    path = f"instances/{segment(name, 'name of an instance')}"
    found = lxd.find(path, query, what=f"show the VM {name}")
    if found is not None:
        _refuse_another(seen, name, found.body)
    # LXD removes no VM that runs: one that was never started, and is by now, stays.
    if stops and found is not None and found.body.get("status") != STOPPED:
        body = {"action": "stop", "force": True, "timeout": STOP_LIMIT}
        lxd.put(f"{path}/state", body, query, what=f"stop the VM {name}", settled=lambda: _is_stopped(lxd, path, query))
    if found is None:
        return False
    for volume in _detach_volumes(lxd, seen, name, found.body):
        lxd.delete(volume, query, what=f"remove the volume {volume.rpartition('/')[2]}")
    return lxd.delete(path, query, what=f"remove the VM {name}")


def _detach_volumes(lxd: Lxd, seen: Instances, name: str, vm: Mapping[str, Any]) -> list[str]:
    """Take a VM's volumes from it, which goes when they have gone; where they are.

    One that somebody has detached is his by now, unless the VM was never used.
    """
    own = seen.volumes.get(name, {})
    devices: Mapping[str, Mapping[str, Any]] = vm.get("devices") or {}
    numbers = {volume: volume.rpartition(VOLUME)[2] for volume in own}
    going = [volume for volume in own if f"{DISK}{numbers[volume]}" in devices or _is_unused(vm)]
    names = {volume.rpartition("/")[2] for volume in going}
    attached = {device: {"type": "none"} for device, told in devices.items() if told.get("source") in names}
    if attached:
        _write(lxd, seen, name, f"take its disks from the VM {name}", devices=attached)
    return going


def _refuse_another(seen: Instances, name: str, vm: Mapping[str, Any]) -> None:
    """A VM that was made under the name since it was decided to remove another one."""
    known = seen.vms.get(name)
    if known is None or _identity(known) != _identity(vm):
        raise Failure(
            "conflict",
            f"{name} was to be removed, and somebody has just made another VM of that name.",
            object=name,
            hint="Run the task again: it looks first.",
        )


def _identity(vm: Mapping[str, Any]) -> tuple[str, str]:
    return str((vm.get("config") or {}).get("volatile.uuid", "")), str(vm.get("created_at", ""))


def refreshed(lxd: Lxd, seen: Instances, name: str) -> Instances:
    """What is known of one LXD, with this VM as it is by now."""
    found = lxd.find(f"instances/{segment(name, 'name of an instance')}", {"project": seen.project})
    others = {key: vm for key, vm in seen.vms.items() if key != name}
    volumes = _our_volumes({pool: _volumes(lxd, pool) for pool in seen.storage})
    return replace(seen, vms={**others, **({name: found.body} if found else {})}, volumes=volumes)


def _is_stopped(lxd: Lxd, path: str, query: Mapping[str, str]) -> bool | None:
    found = lxd.find(path, query)
    return True if found is None or found.body.get("status") == STOPPED else None
