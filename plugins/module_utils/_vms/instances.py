# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The VMs in one LXD: what it has room for, and making and removing one with its volumes.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._lxd import errors
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.client import Lxd, Seen
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.overview import VIRTUAL_MACHINE, can_run_vms
from ansible_collections.metalshift.maas.plugins.module_utils._maas import sizes
from ansible_collections.metalshift.maas.plugins.module_utils._placement import Room, Size
from ansible_collections.metalshift.maas.plugins.module_utils._urls import segment
from ansible_collections.metalshift.maas.plugins.module_utils._vms.attachments import Attachment
from ansible_collections.metalshift.maas.plugins.module_utils._vms.resizing import Given
from ansible_collections.metalshift.maas.plugins.module_utils._vms.template import Disk, Nic
from ansible_collections.metalshift.maas.plugins.module_utils._vms.ways import Order

# By which a run knows what a killed one left: MAAS does not know it yet.
CLAIM = "user.metalshift_claim"
# What stands between the name of a VM and the number of a volume.
VOLUME = "-disk"
ANY = Attachment(Nic("eth0"))
# What LXD calls machines, and MAAS.
ARCHITECTURES: Mapping[str, str] = {"x86_64": "amd64/generic", "aarch64": "arm64/generic", "ppc64le": "ppc64el/generic"}
STOP_LIMIT = 30
# LXD may end while it makes a VM; what it leaves of it is removed, and made again.
ATTEMPTS = 2
STOPPED = "Stopped"


@dataclass(frozen=True)
class Instances:
    """What one LXD has, as far as VMs are concerned."""

    project: str
    architecture: str
    can_run_vms: bool
    # Newer ones have boot modes in the place of secure boot.
    has_boot_modes: bool
    cores: Room
    memory: Room
    storage: Mapping[str, Room] = field(default_factory=dict)
    default_storage: str = ""
    default_network: str = ""
    # By name, whether LXD manages it, and whether it is a bridge.
    networks: Mapping[str, tuple[bool, bool]] = field(default_factory=dict)
    # The VMs of the project, by name.
    vms: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    # Volumes that are ours, by the name of the VM: where they are, and the claim. A killed run may leave them alone.
    volumes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    pinned: frozenset[int] = frozenset()

    @property
    def claims(self) -> dict[str, str]:
        """What each VM says of itself, or where only volumes are, what these say of it."""
        alone = {name: next(iter(volumes.values())) for name, volumes in self.volumes.items()}
        return {**alone, **{name: str((vm.get("config") or {}).get(CLAIM, "")) for name, vm in self.vms.items()}}

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
    storage = {str(pool["name"]): _room_in(lxd, str(pool["name"]), project) for pool in pools}
    return Instances(
        project=lxd.project,
        architecture=ARCHITECTURES.get(str(environment.get("kernel_architecture")), "amd64/generic"),
        can_run_vms=can_run_vms(lxd),
        has_boot_modes=lxd.capabilities.has("boot modes of instances"),
        cores=Room(int(resources["cpu"]["total"]), sum(_cores(each) for each in listed)),
        memory=Room(int(resources["memory"]["total"]), sum(_memory(each) for each in listed)),
        storage=storage,
        default_storage=_default_pool(devices, storage),
        default_network=_default_network(devices),
        networks={str(each["name"]): (bool(each.get("managed")), each.get("type") == "bridge") for each in networks},
        vms={
            str(each["name"]): each
            for each in listed
            if each.get("type") == VIRTUAL_MACHINE and each.get("project", lxd.project) == lxd.project
        },
        volumes=_our_volumes(lxd, storage),
        pinned=frozenset(core for each in listed for core in _pins(each)),
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


def _our_volumes(lxd: Lxd, pools: Iterable[str]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for pool in pools:
        path = _volumes_of(pool)
        for each in lxd.get(path, {"recursion": 1, "project": lxd.project}, what="list the volumes"):
            vm, dash, number = str(each["name"]).rpartition(VOLUME)
            claim = (each.get("config") or {}).get(CLAIM)
            if claim and dash and number.isdigit():
                found.setdefault(vm, {})[f"{path}/{each['name']}"] = str(claim)
    return found


def _volumes_of(pool: str) -> str:
    return f"storage-pools/{segment(pool, 'name of a storage pool')}/volumes/custom"


def _room_in(lxd: Lxd, pool: str, project: Mapping[str, str]) -> Room:
    found = lxd.get(f"storage-pools/{segment(pool, 'name of a storage pool')}/resources", project, what="measure it")
    space = found.get("space") or {}
    return Room(int(space.get("total") or 0), int(space.get("used") or 0))


def _default_pool(devices: Mapping[str, Mapping[str, Any]], storage: Mapping[str, Room]) -> str:
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
    limit = str(_limits(instance).get("limits.memory") or "")
    if not limit:
        # What LXD gives to a VM of which nothing is said.
        return 2**30 if instance.get("type") == VIRTUAL_MACHINE else 0
    try:
        return sizes.parse(limit, "limits.memory", "B")
    except Failure:
        return 0


def given(vm: Mapping[str, Any]) -> Given:
    """What a VM was given."""
    hugepages = _limits(vm).get("limits.memory.hugepages") == "true"
    return Given(_cores(vm), _memory(vm), frozenset(_pins(vm)), hugepages, vm.get("status") != STOPPED)


# -- changing ------------------------------------------------------------------------------------------------------


def resize(lxd: Lxd, seen: Instances, name: str, size: Size, pins: Iterable[int]) -> None:
    """Give another size to a VM that does not run."""
    query = {"project": seen.project}
    path = f"instances/{segment(name, 'name of an instance')}"
    limits = _limits_of(size, pins)
    found = lxd.find(path, query, what=f"show the VM {name}")
    if found is None:
        raise Failure("conflict", f"{name} was to be resized, and somebody removed it.", object=name)

    def settled() -> bool | None:
        now = lxd.find(path, query)
        config = (now.body.get("config") or {}) if now else {}
        return all(config.get(key) == value for key, value in limits.items()) or None

    # LXD 5.0 takes away a description that is not given.
    body = {"config": limits, "description": found.body.get("description") or ""}
    lxd.patch(path, body, query, what=f"resize the VM {name}", etag=found.etag, settled=settled)


# -- making --------------------------------------------------------------------------------------------------------


def make(lxd: Lxd, seen: Instances, nics: Mapping[str, Mapping[str, str]], order: Order) -> list[str]:
    """Make a VM as MAAS would, without anything on its disks; the MAC addresses of its interfaces."""
    query = {"project": seen.project}
    path = f"instances/{segment(order.name, 'name of an instance')}"
    for _attempt in range(ATTEMPTS):
        if _cleared(lxd, path, query, order.name):
            _create(lxd, seen, nics, order, partial(_whole, lxd, path, query))
        found = _whole(lxd, path, query)
        if found is not None:
            return _macs(found.body, nics)
    raise Failure("uncertain", f"{order.name} was made on {order.host}, and is not there.", object=order.name)


def _cleared(lxd: Lxd, path: str, query: Mapping[str, str], name: str) -> bool:
    """Whether there is no such VM; what LXD left of one when it ended while it made it goes."""
    found = lxd.find(path, query, what=f"show the VM {name}")
    if found is None:
        return True
    return not _has_root(lxd, found.body, query) and lxd.delete(path, query, what=f"remove the unfinished VM {name}")


def _whole(lxd: Lxd, path: str, query: Mapping[str, str]) -> Seen | None:
    """The VM, unless LXD ended while it made it."""
    found = lxd.find(path, query)
    return found if found is not None and _has_root(lxd, found.body, query) else None


def _has_root(lxd: Lxd, vm: Mapping[str, Any], query: Mapping[str, str]) -> bool:
    """Whether its first disk is there, which LXD makes after it."""
    root: Mapping[str, Any] = next((each for each in _devices(vm).values() if each.get("path") == "/"), {})
    pool = segment(str(root.get("pool") or "default"), "name of a storage pool")
    listed = lxd.get(f"storage-pools/{pool}/volumes", query, what=f"list the volumes in {pool}")
    names = {str(url).partition("?")[0].rpartition(f"/{VIRTUAL_MACHINE}/")[2] for url in listed}
    return str(vm["name"]) in names


def _create(
    lxd: Lxd,
    seen: Instances,
    nics: Mapping[str, Mapping[str, str]],
    order: Order,
    settled: Callable[[], Seen | None],
) -> None:
    body = {
        "name": order.name,
        "type": VIRTUAL_MACHINE,
        "source": {"type": "none"},
        "config": _config(seen, order),
        "devices": {**_disks(lxd, seen, order), **{name: {"name": name, **nic} for name, nic in nics.items()}},
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
    return [str(mac) for mac in macs if mac]


def _devices(vm: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {**(vm.get("expanded_devices") or {}), **(vm.get("devices") or {})}


def _config(seen: Instances, order: Order) -> dict[str, str]:
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


def _disks(lxd: Lxd, seen: Instances, order: Order) -> dict[str, dict[str, str]]:
    """The devices of the disks; all but the first are volumes of their own."""
    first, *others = order.template.all_disks
    devices = {
        "root": {
            "type": "disk",
            "path": "/",
            "pool": first.pool or seen.default_storage,
            "size": str(first.size),
            "boot.priority": "0",
        }
    }
    for number, disk in enumerate(others, start=1):
        name, pool = f"{order.name}{VOLUME}{number}", disk.pool or seen.default_storage
        _make_volume(lxd, seen, pool, name, disk, order.claim)
        devices[f"disk{number}"] = {"type": "disk", "pool": pool, "source": name}
    return devices


def _make_volume(lxd: Lxd, seen: Instances, pool: str, name: str, disk: Disk, claim: str) -> None:
    query, collection = {"project": seen.project}, _volumes_of(pool)
    config = {"size": str(disk.size), CLAIM: claim}
    body = {"name": name, "type": "custom", "content_type": "block", "config": config}
    settled = partial(lxd.find, f"{collection}/{name}", query)
    try:
        lxd.post(collection, body, query, what=f"create the volume {name}", settled=settled)
    except Failure as failure:
        # A run that was killed before it made the VM.
        if not errors.exists_already(failure):
            raise


# -- removing ------------------------------------------------------------------------------------------------------


def remove(lxd: Lxd, seen: Instances, name: str) -> bool:
    """Remove a VM and its volumes; whether there was something. What is on its disks is lost."""
    query = {"project": seen.project}
    path = f"instances/{segment(name, 'name of an instance')}"
    found = lxd.find(path, query, what=f"show the VM {name}")
    if found is not None and found.body.get("status") != STOPPED:
        body = {"action": "stop", "force": True, "timeout": STOP_LIMIT}
        lxd.put(f"{path}/state", body, query, what=f"stop the VM {name}", settled=lambda: _is_stopped(lxd, path, query))
    gone = found is not None and lxd.delete(path, query, what=f"remove the VM {name}")
    volumes = seen.volumes.get(name, {})
    for volume in volumes:
        lxd.delete(volume, query, what=f"remove the volume {volume.rpartition('/')[2]}")
    return gone or bool(volumes)


def _is_stopped(lxd: Lxd, path: str, query: Mapping[str, str]) -> bool | None:
    found = lxd.find(path, query)
    return True if found is None or found.body.get("status") == STOPPED else None
