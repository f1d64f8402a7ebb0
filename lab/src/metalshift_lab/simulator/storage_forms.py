# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What block devices, partitions and groups have in common: who may do what when, filesystems, choices of members."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any

from metalshift_lab.simulator import storage
from metalshift_lab.simulator.errors import BadRequest, Conflict, Forbidden
from metalshift_lab.simulator.forms import Field, Form, Wrong, choice, mandatory, pattern
from metalshift_lab.simulator.http import Request
from metalshift_lab.simulator.model import BlockDevice, Machine, Partition, Status
from metalshift_lab.simulator.permissions import may_administer, may_edit
from metalshift_lab.simulator.state import State

Thing = BlockDevice | Partition

FSTYPES = ("ext2", "ext4", "xfs", "fat32", "vfat", "swap", "ramfs", "tmpfs", "btrfs", "zfsroot")
UNMOUNTABLE = ("swap",)
ABSOLUTE = pattern(r"/.*|none", max_length=4096)
UUID_RULE = "Enter a valid value."
NO_FILESYSTEM = "Cannot mount an unformatted partition or block device."
GROUPED = "Filesystem is part of a filesystem group, and cannot be mounted."


def uuid_text(value: str) -> str:
    try:
        return str(uuid.UUID(value))
    except ValueError:
        raise Wrong(UUID_RULE) from None


def noun(thing: Thing) -> str:
    return "block device" if isinstance(thing, BlockDevice) else "partition"


def node_of(thing: Thing) -> Machine:
    return thing.node if isinstance(thing, BlockDevice) else thing.device.node


def administered(request: Request, system_id: str) -> Machine:
    machine = request.state.machine(system_id)
    may_administer(request.me, machine)
    return machine


def ready(machine: Machine, what: str) -> None:
    if machine.status is not Status.READY:
        raise Conflict(f"Cannot {what} because the machine is not Ready.")


def usable(request: Request, thing: Thing, what: str) -> None:
    """Filesystems change on Ready machines by administrators, on allocated ones by their owner."""
    machine = node_of(thing)
    may_edit(request.me, machine)
    if machine.status not in (Status.READY, Status.ALLOCATED):
        raise Conflict(f"Cannot {what} {noun(thing)} because the machine is not Ready or Allocated.")
    if machine.status is Status.READY and not request.is_admin:
        raise Forbidden(f"Cannot {what} {noun(thing)} because you don't have the permissions on {machine.system_id}.")


# -- filesystems ----------------------------------------------------------------------------------------------------


def format_thing(request: Request, thing: Thing) -> None:
    usable(request, thing, "format")
    form = Form(
        request.data,
        [Field("fstype", choice(FSTYPES), required=True), Field("uuid", uuid_text, empty=None), Field("label")],
    )
    if "fstype" in form.cleaned and "fstype" not in form.errors:
        if isinstance(thing, BlockDevice) and thing.partition_table:
            form.fail("__all__", "Cannot format block device with a partition table.")
        elif thing.group is not None:
            form.fail("__all__", f"Cannot format a {noun(thing)} that is part of a {thing.group.name}.")
    form.finish()
    made = storage.format(request.state, thing, form.cleaned["fstype"], label=form.cleaned["label"])
    made.uuid = form.cleaned["uuid"] or made.uuid


def unformat_thing(request: Request, thing: Thing) -> None:
    usable(request, thing, "unformat")
    capital = noun(thing).capitalize()
    found = thing.filesystem
    if found is None:
        raise BadRequest(f"{capital} is not formatted.")
    if found.mount_point:
        raise BadRequest(
            "Filesystem is mounted and cannot be unformatted. "
            f"Unmount the filesystem before unformatting the {noun(thing)}."
        )
    if thing.group is not None:
        raise BadRequest(
            "Filesystem is part of a filesystem group, and cannot be unformatted. "
            f"Remove {noun(thing)} from filesystem group before unformatting the {noun(thing)}."
        )
    thing.filesystem = None


def mount_thing(request: Request, thing: Thing) -> None:
    usable(request, thing, "mount")
    found = thing.filesystem
    wanted = found is not None and found.fstype not in UNMOUNTABLE
    fields = [Field("mount_point", ABSOLUTE, required=wanted)] if wanted else []
    form = Form(request.data, [*fields, Field("mount_options")])
    if found is None:
        form.fail("__all__", NO_FILESYSTEM)
    elif thing.group is not None:
        form.fail("__all__", GROUPED)
    form.finish()
    assert found is not None
    found.mount_point = form.get("mount_point") or "none"
    found.mount_options = form.cleaned["mount_options"]


def unmount_thing(request: Request, thing: Thing) -> None:
    usable(request, thing, "unmount")
    found = thing.filesystem
    if found is None:
        raise BadRequest(f"{noun(thing).capitalize()} is not formatted.")
    if not found.mount_point:
        raise BadRequest("Filesystem is already unmounted.")
    found.mount_point = found.mount_options = None


def add_tag(request: Request, thing: Thing) -> None:
    tag = mandatory(request.data, "tag")
    if tag not in thing.tags:
        thing.tags.append(tag)


def remove_tag(request: Request, thing: Thing) -> None:
    tag = mandatory(request.data, "tag")
    if tag in thing.tags:
        thing.tags.remove(tag)


# -- members of groups ----------------------------------------------------------------------------------------------


def free_disks(machine: Machine) -> list[BlockDevice]:
    return [d for d in machine.disks if d.filesystem is None and d.group is None and not d.partition_table]


def free_partitions(machine: Machine) -> list[Partition]:
    return [p for d in machine.disks for p in d.partitions if p.filesystem is None and p.group is None]


def one_of(things: Iterable[Thing]) -> Any:
    """A choice by id or, for disks, by name."""
    known: dict[str, Thing] = {}
    for thing in things:
        known[str(thing.id)] = thing
        if isinstance(thing, BlockDevice):
            known.setdefault(thing.name, thing)

    def clean(value: str) -> Thing:
        if value not in known:
            raise Wrong(f"Select a valid choice. {value} is not one of the available choices.")
        return known[value]

    return clean


def member_fields(machine: Machine, disks: str, partitions: str) -> list[Field]:
    return [
        Field(disks, one_of(free_disks(machine)), many=True),
        Field(partitions, one_of(free_partitions(machine)), many=True),
    ]


def leaver_fields(members: Iterable[Thing], disks: str, partitions: str) -> list[Field]:
    """Disks and partitions are counted apart: both may have a 13."""
    things = list(members)
    return [
        Field(disks, one_of(t for t in things if isinstance(t, BlockDevice)), many=True),
        Field(partitions, one_of(t for t in things if isinstance(t, Partition)), many=True),
    ]


def as_members(state: State, chosen: Iterable[Thing], *, all_of_them: bool = False) -> list[Thing]:
    """The boot disk is no member as a whole: all of it becomes a partition, which is. So does each of `all_of_them`."""
    return [
        storage.partition_whole(state, thing)
        if isinstance(thing, BlockDevice)
        and thing.type == "physical"
        and (all_of_them or thing is storage.boot_disk(thing.node))
        else thing
        for thing in chosen
    ]


def human(size: int) -> str:
    if size < 1000:
        return f"{size} bytes"
    value, unit = float(size), 0
    while value >= 1000:
        value, unit = value / 1000, unit + 1
    return f"{value:.1f} {' KMGTPE'[unit].strip()}B"
