# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Storage layouts: `op=set_storage_layout`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from metalshift_lab.simulator import storage
from metalshift_lab.simulator.errors import BadRequest, Invalid
from metalshift_lab.simulator.forms import Clean, Field, Form, Wrong, choice, form_bool, listed
from metalshift_lab.simulator.http import Params, Request
from metalshift_lab.simulator.model import BlockDevice, CacheSet, Machine, Partition
from metalshift_lab.simulator.state import State
from metalshift_lab.simulator.storage import MIB

GIB = 1024**3
NAMES = ("bcache", "blank", "custom", "flat", "lvm", "vmfs6", "vmfs7")
UNITS = {"": 1, "K": 1000, "M": 1000**2, "G": 1000**3, "T": 1000**4, "P": 1000**5, "E": 1000**6}
MIN_BOOT, DEFAULT_BOOT_WITH_BCACHE = 512 * MIB, GIB
MIN_ROOT = 3 * 1000**3
CACHE_MODES = ("writeback", "writethrough", "writearound")
NO_DISK = "Machine is missing a boot disk; no storage layout can be applied."


def size_of(value: str) -> int:
    """ "10G" in bytes; units are powers of a thousand."""
    match = re.fullmatch(r"(\d+)([KMGTPE]?)", value.strip().upper())
    if not match:
        raise Wrong("Enter a valid value.")
    return int(match[1]) * UNITS[match[2]]


def size_field(low: int | None = None, high: int | None = None) -> Clean:
    def clean(value: str) -> int:
        size = size_of(value)
        if low is not None and size < low:
            raise Wrong(f"Ensure this value is greater than or equal to {low}.")
        if high is not None and size > high:
            raise Wrong(f"Ensure this value is less than or equal to {high}.")
        return size

    return clean


def share(value: str) -> int | float:
    """Bytes, or a part of the whole as a number below 1 (100 % being 1.0)."""
    if re.fullmatch(r"\d+(\.\d+)?%", value):
        return float(value[:-1]) / 100
    try:
        return size_of(value)
    except Wrong:
        raise Wrong("Size must be a number of bytes or a percentage.") from None


@dataclass
class Plan:
    """A disk to be partitioned, and what the request says of it."""

    state: State
    machine: Machine
    disk: BlockDevice
    options: Form

    def sized(self, name: str, whole: int) -> int | None:
        asked = self.options.get(name)
        if asked is None:
            return None
        return int(asked * whole) if isinstance(asked, float) else int(asked)

    def boot(self, default: int = 0) -> int:
        """Partitions to boot from come first; gives what they take."""
        taken = 0
        if self.machine.bios_boot_method == "uefi":
            efi = storage.add_partition(self.state, self.disk, storage.EFI_SIZE, bootable=True)
            storage.format(self.state, efi, "fat32", "/boot/efi", "efi")
            taken += efi.size
        size = self.sized("boot_size", self.disk.size) or default
        if size:
            boot = storage.add_partition(self.state, self.disk, storage.align(size), bootable=True)
            storage.format(self.state, boot, "ext4", "/boot", "boot")
            taken += boot.size
        return taken

    def root(self) -> Partition:
        """The root partition, as large as asked for or as there is room."""
        room = storage.available_size(self.disk)
        # A share is one of what is left beside the EFI partition, whether there is one or not.
        asked = self.sized("root_size", room - storage.EFI_SIZE)
        size = room if asked is None else min(storage.align(asked), room)
        return storage.add_partition(self.state, self.disk, size)


def check_sizes(plan: Plan) -> None:
    form, disk = plan.options, plan.disk
    limits = {
        "boot_size": (MIN_BOOT, disk.size - MIN_ROOT),
        "root_size": (MIN_ROOT, disk.size - GIB),
    }
    for name, (low, high) in limits.items():
        size = plan.sized(name, disk.size)
        if size is None or (name == "boot_size" and size == 0):
            continue
        if size < low:
            form.fail(name, f"Size is too small. Minimum size is {low}.")
        elif size > high:
            form.fail(name, f"Size is too large. Maximum size is {high}.")


def blank(plan: Plan) -> None:
    storage.clear(plan.state, plan.machine)


def flat(plan: Plan) -> None:
    blank(plan)
    plan.boot()
    storage.format(plan.state, plan.root(), "ext4", "/", "root")


def lvm(plan: Plan) -> None:
    blank(plan)
    plan.boot()
    group_name = plan.options.get("vg_name") or "vgroot"
    group = storage.add_group(plan.state, plan.machine, "lvm-vg", group_name, [plan.root()])
    whole = storage.capacity(group)
    size = plan.sized("lv_size", whole) or whole
    name = f"{group_name}-{plan.options.get('lv_name') or 'lvroot'}"
    volume = storage.add_volume(plan.state, group, name, min(storage.align(size), whole), 4096)
    storage.format(plan.state, volume, "ext4", "/", "root")


def cache_disk(machine: Machine, disk: BlockDevice) -> BlockDevice | None:
    """The smallest other disk tagged as an SSD."""
    found = [d for d in machine.disks if d.type == "physical" and d is not disk and "ssd" in d.tags]
    return min(found, key=lambda d: d.size, default=None)


def bcache(plan: Plan) -> None:
    state, machine = plan.state, plan.machine
    cache = plan.options.get("cache_device") or cache_disk(machine, plan.disk)
    if cache is None:
        # Nothing to cache with.
        flat(plan)
        return
    blank(plan)
    plan.boot(DEFAULT_BOOT_WITH_BCACHE)
    backing = plan.root()
    if plan.options.get("cache_no_part"):
        device: BlockDevice | Partition = cache
    else:
        room = storage.available_size(cache)
        device = storage.add_partition(state, cache, min(storage.align(plan.sized("cache_size", room) or room), room))
    cache_set = state.cache_sets.make(CacheSet, node=machine, device=device, name="cache0")
    machine.cache_sets.append(cache_set)
    storage.join(state, cache_set, [device], "bcache-cache")
    group = storage.add_group(state, machine, "bcache", "bcache0", [backing])
    group.cache_set, group.cache_mode = cache_set, plan.options.get("cache_mode") or "writethrough"
    volume = storage.add_volume(state, group, "bcache0", backing.size, 512)
    storage.format(state, volume, "ext4", "/", "root")


@dataclass(frozen=True)
class Vmfs:
    """VMware's partitions: their number and size; size 0 is the datastore, which takes the rest."""

    fstype: str
    partitions: tuple[tuple[int, int], ...]


VMFS = {
    "vmfs6": Vmfs(
        "vmfs6",
        (
            (1, 3 * MIB),
            (2, 4096 * MIB),
            (3, 0),
            (5, 249 * MIB),
            (6, 249 * MIB),
            (7, 109 * MIB),
            (8, 285 * MIB),
            (9, 2560 * MIB),
        ),
    ),
    "vmfs7": Vmfs("vmfs6", ((1, 101 * MIB), (5, 4095 * MIB), (6, 4095 * MIB), (7, 122778 * MIB), (8, 0))),
}


def vmfs(name: str) -> Callable[[Plan], None]:
    def apply(plan: Plan) -> None:
        state, machine, disk = plan.state, plan.machine, plan.disk
        layout = VMFS[name]
        room = storage.align(disk.size - storage.table_reserve(disk))
        rest = storage.align(room - sum(size for _ignored, size in layout.partitions))
        if rest < GIB:
            needed = (disk.size - rest + GIB) // 1000**3 + 1
            raise BadRequest(f"Failed to configure storage layout '{name}': Boot disk must be at least {needed}G.")
        blank(plan)
        extent = None
        for index, size in layout.partitions:
            made = storage.add_partition(state, disk, size or rest, index=index, bootable=index == 1)
            extent = made if size == 0 else extent
        assert extent is not None
        group = storage.add_group(state, machine, "vmfs6", "datastore1", [extent])
        datastore = storage.add_volume(state, group, group.name, extent.size, 1024)
        made_filesystem = storage.format(state, datastore, layout.fstype, f"/vmfs/volumes/{group.name}")
        made_filesystem.label = None

    return apply


LAYOUTS: dict[str, Callable[[Plan], None]] = {
    "blank": blank,
    "flat": flat,
    "lvm": lvm,
    "bcache": bcache,
    "vmfs6": vmfs("vmfs6"),
    "vmfs7": vmfs("vmfs7"),
}


def option_fields(machine: Machine) -> list[Field]:
    disks = {str(d.id): d for d in machine.disks if d.type == "physical"}

    def disk(value: str) -> Any:
        return disks[str(listed("root_device", list(disks))(value))]

    return [
        Field("boot_size", share, empty=None),
        Field("root_device", disk, empty=None),
        Field("root_size", share, empty=None),
        Field("vg_name"),
        Field("lv_name"),
        Field("lv_size", share, empty=None),
        Field("cache_device", disk, empty=None),
        Field("cache_mode", choice(CACHE_MODES)),
        Field("cache_size", share, empty=None),
        Field("cache_no_part", form_bool, empty=False),
    ]


def apply(state: State, machine: Machine, name: str, options: Params) -> None:
    if name == "custom":
        raise BadRequest("Failed to configure storage layout 'custom': No custom storage layout configuration found")
    form = Form(options, option_fields(machine))
    disk = form.get("root_device") or storage.boot_disk(machine)
    if disk is None:
        raise BadRequest(NO_DISK)
    form.unbound = False
    plan = Plan(state, machine, disk, form)
    if name not in ("blank", *VMFS):
        check_sizes(plan)
    if form.errors:
        raise Invalid(form.errors)
    LAYOUTS[name](plan)


def set_layout(request: Request, machine: Machine) -> None:
    form = Form(request.data, [Field("storage_layout", listed("storage_layout", NAMES), required=True)])
    form.finish()
    apply(request.state, machine, form.cleaned["storage_layout"], request.data)
