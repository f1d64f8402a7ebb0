# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Disks: sizes, what they are used for, storage layouts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lab.simulator.errors import BadRequest
from lab.simulator.forms import Field, Form, listed
from lab.simulator.http import Request
from lab.simulator.model import (
    ALLOCATED_STATUSES,
    BlockDevice,
    CacheSet,
    Filesystem,
    FilesystemGroup,
    Machine,
    Partition,
)
from lab.simulator.state import State

if TYPE_CHECKING:
    from lab.simulator.render import Render

MIB = 1024**2
ALIGNMENT = 4 * MIB
TABLE_RESERVE = 6 * MIB  # partition table, its copy at the end, and the BIOS boot partition
UEFI_RESERVE = 5 * MIB  # the same without BIOS boot partition
EFI_SIZE = 512 * MIB


def align(size: int) -> int:
    return max(0, size // ALIGNMENT * ALIGNMENT)


def table_reserve(disk: BlockDevice) -> int:
    bios = disk.node.bios_boot_method != "uefi" and disk.node.architecture.startswith("amd64/")
    return TABLE_RESERVE if bios else UEFI_RESERVE


def used_size(disk: BlockDevice) -> int:
    if disk.partition_table or disk.partitions:
        return sum(p.size for p in disk.partitions) + table_reserve(disk)
    return disk.size if disk.filesystem or disk.group else 0


def available_size(disk: BlockDevice) -> int:
    if disk.filesystem or disk.group:
        return 0
    return align(disk.size - max(used_size(disk), table_reserve(disk)))


def filesystem(thing: BlockDevice | Partition) -> Filesystem | None:
    """What is shown of its filesystem: in the statuses of an allocation only what was allocated."""
    node = thing.node if isinstance(thing, BlockDevice) else thing.device.node
    return None if node.status in ALLOCATED_STATUSES and not node.storage_acquired else thing.filesystem


def used_for(thing: BlockDevice | Partition) -> str:
    shown = filesystem(thing)
    if shown is not None:
        where = f" mounted at {shown.mount_point}" if shown.mount_point else ""
        return f"{shown.fstype} formatted filesystem{where}"
    if isinstance(thing.group, FilesystemGroup):
        return f"{thing.group.kind} for {thing.group.name}"
    if isinstance(thing, BlockDevice) and thing.partition_table:
        count = len(thing.partitions)
        return f"{thing.partition_table} partitioned with {count} partition{'' if count == 1 else 's'}"
    return "Unused"


def render_group(render: Render, group: FilesystemGroup) -> dict[str, Any]:
    return {"id": group.id, "name": group.name, "uuid": group.uuid, "system_id": group.node.system_id}


def render_cache_set(render: Render, cache_set: CacheSet) -> dict[str, Any]:
    return {"id": cache_set.id, "name": cache_set.name, "system_id": cache_set.node.system_id}


def add_disk(state: State, machine: Machine, size: int, **values: Any) -> BlockDevice:
    """A physical disk with the next free sdX name."""
    name = values.pop("name", "") or f"sd{chr(ord('a') + len(machine.disks))}"
    disk = state.disks.make(
        BlockDevice, node=machine, name=name, size=size, id_path=f"/dev/{name}", tags=["ssd", "sata"], **values
    )
    machine.disks.append(disk)
    return disk


def add_partition(state: State, disk: BlockDevice, size: int, **values: Any) -> Partition:
    # The BIOS boot partition, which MAAS does not show, is number 1 of a GPT boot disk.
    disk.partition_table = disk.partition_table or "GPT"
    hidden = disk is boot_disk(disk.node) and disk.node.bios_boot_method != "uefi"
    index = len(disk.partitions) + (2 if hidden else 1)
    partition = state.partitions.make(Partition, device=disk, size=size, uuid=state.new_uuid(), index=index, **values)
    disk.partitions.append(partition)
    return partition


def format(
    state: State, thing: BlockDevice | Partition, fstype: str, mount_point: str | None = None, label: str = ""
) -> Filesystem:
    thing.filesystem = state.filesystems.make(
        Filesystem, fstype=fstype, uuid=state.new_uuid(), label=label, mount_point=mount_point
    )
    return thing.filesystem


def boot_disk(machine: Machine) -> BlockDevice | None:
    return machine.boot_disk or next((d for d in machine.disks if d.type == "physical"), None)


def clear(state: State, machine: Machine) -> None:
    """Only bare physical disks are left."""
    for group in machine.groups:
        state.groups.discard(group)
    machine.groups.clear()
    for cache_set in machine.cache_sets:
        state.cache_sets.discard(cache_set)
    machine.cache_sets.clear()
    for disk in list(machine.disks):
        for partition in disk.partitions:
            state.partitions.discard(partition)
        disk.partitions, disk.partition_table, disk.filesystem, disk.group = [], None, None, None
        if disk.type == "virtual":
            machine.disks.remove(disk)
            state.disks.discard(disk)


def flat_layout(state: State, machine: Machine) -> None:
    """One ext4 root partition on the boot disk, after the EFI partition if it needs one: MAAS's default."""
    clear(state, machine)
    disk = boot_disk(machine)
    if disk is not None:
        if machine.bios_boot_method == "uefi":
            efi = add_partition(state, disk, EFI_SIZE, bootable=True)
            format(state, efi, "fat32", "/boot/efi", "efi")
        root = add_partition(state, disk, available_size(disk))
        format(state, root, "ext4", "/", "root")


def replace_disks(state: State, machine: Machine, sizes: list[int]) -> None:
    """What commissioning finds: these disks, with the default layout."""
    clear(state, machine)
    for disk in machine.disks:
        state.disks.discard(disk)
    machine.disks.clear()
    machine.boot_disk = None
    for size in sizes:
        add_disk(state, machine, size)
    flat_layout(state, machine)


def blank_layout(state: State, machine: Machine) -> None:
    clear(state, machine)


LAYOUTS: dict[str, Callable[[State, Machine], None]] = {"flat": flat_layout, "blank": blank_layout}
LAYOUT_NAMES = ("bcache", "blank", "custom", "flat", "lvm", "vmfs6", "vmfs7")


def set_layout(request: Request, machine: Machine) -> None:
    """`op=set_storage_layout`."""
    form = Form(request.data, [Field("storage_layout", listed("storage_layout", LAYOUT_NAMES), required=True)])
    form.finish()
    layout = form.get("storage_layout")
    if layout not in LAYOUTS:
        raise BadRequest(
            f"Failed to configure storage layout '{layout}': No {layout} storage layout configuration found"
        )
    LAYOUTS[layout](request.state, machine)
