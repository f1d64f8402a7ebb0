# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Disks: sizes, what they are used for, storage layouts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from metalshift_lab.simulator.model import (
    ALLOCATED_STATUSES,
    BlockDevice,
    CacheSet,
    Filesystem,
    FilesystemGroup,
    Machine,
    Partition,
)
from metalshift_lab.simulator.state import State

MIB = 1024**2
ALIGNMENT = 4 * MIB
TABLE_RESERVE = 6 * MIB  # partition table, its copy at the end, and the BIOS boot partition
UEFI_RESERVE = 5 * MIB  # the same without BIOS boot partition
EFI_SIZE = 512 * MIB
RAID_SUPERBLOCK = 128 * 1024
# What members of a group are formatted as, and spares.
MEMBER_TYPES = {"lvm-vg": ("lvm-pv", "lvm-pv"), "bcache": ("bcache-backing", ""), "vmfs6": ("vmfs6", "")}


@dataclass(frozen=True)
class RaidLevel:
    """How many devices a level needs, and how many of them hold data."""

    devices: int
    factor: Callable[[int], float]
    spares: str = "any number of spares"


RAID_LEVELS = {
    "raid-0": RaidLevel(2, lambda n: n, "no spares"),
    "raid-1": RaidLevel(2, lambda n: 1),
    "raid-5": RaidLevel(3, lambda n: n - 1),
    "raid-6": RaidLevel(4, lambda n: n - 2),
    "raid-10": RaidLevel(3, lambda n: n / 2),
}


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
    group = thing.group
    if group is not None:
        return _membership(thing, group)
    if shown is not None:
        if shown.mount_point:
            return f"{shown.fstype} formatted filesystem mounted at {shown.mount_point}"
        return f"Unmounted {shown.fstype} formatted filesystem"
    if isinstance(thing, BlockDevice) and thing.partition_table:
        count = len(thing.partitions)
        return f"{thing.partition_table} partitioned with {count} partition{'' if count == 1 else 's'}"
    return "Unused"


def _membership(thing: BlockDevice | Partition, group: FilesystemGroup | CacheSet) -> str:
    if isinstance(group, CacheSet):
        return f"Cache device for {group.name}"
    if group.kind.startswith("raid"):
        return f"{'Spare' if thing in group.spares else 'Active'} {group.kind} device for {group.name}"
    word = {"lvm-vg": "LVM volume", "bcache": "Backing device"}.get(group.kind, "VMFS extent")
    return f"{word} for {group.name}"


def number(partition: Partition) -> int:
    """Of a disk that boots the old way the first partition, which MAAS does not show, belongs to the boot loader."""
    if partition.index:
        return partition.index
    disk = partition.device
    return disk.partitions.index(partition) + (1 if disk.node.bios_boot_method == "uefi" else 2)


# -- groups ---------------------------------------------------------------------------------------------------------


def capacity(group: FilesystemGroup) -> int:
    """What a group offers: LVM counts the extents of all members, less one for each, RAID keeps a superblock."""
    sizes = [m.size for m in group.members]
    if group.kind == "lvm-vg":
        return max(0, sum(sizes) // ALIGNMENT - len(sizes)) * ALIGNMENT
    if group.kind in RAID_LEVELS:
        level = RAID_LEVELS[group.kind]
        return int((min(sizes) - RAID_SUPERBLOCK) * level.factor(len(sizes))) if sizes else 0
    return sum(sizes)


def allocated(group: FilesystemGroup) -> int:
    return sum(d.size for d in volumes(group))


def volumes(group: FilesystemGroup) -> list[BlockDevice]:
    """The devices a group offers: logical volumes, or the one of a RAID."""
    return [d for d in group.node.disks if d.made_by is group]


def join(
    state: State, group: FilesystemGroup | CacheSet, things: Iterable[BlockDevice | Partition], fstype: str
) -> None:
    for thing in things:
        thing.group = group
        thing.filesystem = state.filesystems.make(Filesystem, fstype=fstype, uuid=state.new_uuid(), label=None)


def leave(thing: BlockDevice | Partition) -> None:
    thing.group = thing.filesystem = None


def add_group(
    state: State, machine: Machine, kind: str, name: str, members: list[BlockDevice | Partition],
    spares: list[BlockDevice | Partition] | None = None, uuid: str | None = None,
) -> FilesystemGroup:  # fmt: skip
    group: FilesystemGroup = state.groups.make(
        FilesystemGroup,
        node=machine,
        kind=kind,
        name=name,
        uuid=uuid or state.new_uuid(),
        members=members,
        spares=spares or [],
    )
    machine.groups.append(group)
    member_type, spare_type = MEMBER_TYPES.get(kind, ("raid", "raid-spare"))
    join(state, group, group.members, member_type)
    join(state, group, group.spares, spare_type)
    return group


def add_volume(state: State, group: FilesystemGroup, name: str, size: int, block_size: int) -> BlockDevice:
    disk: BlockDevice = state.disks.make(
        BlockDevice,
        node=group.node,
        name=name,
        size=size,
        block_size=block_size,
        type="virtual",
        uuid=state.new_uuid(),
        numa_node=None,
        made_by=group,
    )
    group.node.disks.append(disk)
    return disk


def remove_group(state: State, group: FilesystemGroup) -> None:
    for disk in volumes(group):
        remove_disk(state, disk)
    for thing in (*group.members, *group.spares):
        leave(thing)
    if group in group.node.groups:
        group.node.groups.remove(group)
    state.groups.discard(group)


def _drop_member(state: State, thing: BlockDevice | Partition) -> None:
    """A group goes with its last member."""
    group = thing.group
    if isinstance(group, FilesystemGroup):
        group.members = [m for m in group.members if m is not thing]
        group.spares = [m for m in group.spares if m is not thing]
        if not group.members:
            remove_group(state, group)


def remove_disk(state: State, disk: BlockDevice) -> None:
    _drop_member(state, disk)
    for partition in disk.partitions:
        _drop_member(state, partition)
    for partition in disk.partitions:
        state.partitions.discard(partition)
    machine = disk.node
    if disk in machine.disks:
        machine.disks.remove(disk)
    if machine.boot_disk is disk:
        machine.boot_disk = None
    state.disks.discard(disk)


def remove_partition(state: State, partition: Partition) -> None:
    """With the last partition the table goes, too."""
    _drop_member(state, partition)
    disk = partition.device
    disk.partitions.remove(partition)
    state.partitions.discard(partition)
    if not disk.partitions:
        disk.partition_table = None


def partition_whole(state: State, disk: BlockDevice) -> Partition:
    return add_partition(state, disk, available_size(disk))


def add_disk(state: State, machine: Machine, size: int, **values: Any) -> BlockDevice:
    """A physical disk with the next free sdX name."""
    name = values.pop("name", "") or f"sd{chr(ord('a') + len(machine.disks))}"
    disk = state.disks.make(
        BlockDevice, node=machine, name=name, size=size, id_path=f"/dev/{name}", tags=["ssd", "sata"], **values
    )
    machine.disks.append(disk)
    return disk


def add_partition(state: State, disk: BlockDevice, size: int, **values: Any) -> Partition:
    disk.partition_table = disk.partition_table or "GPT"
    uuid = values.pop("uuid", None) or state.new_uuid()
    partition = state.partitions.make(Partition, device=disk, size=size, uuid=uuid, **values)
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
