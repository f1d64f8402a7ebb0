# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""nodes/{system_id}/blockdevices/{device}/partitions/ and .../partition/{id} (which has no slash at its end)"""

from __future__ import annotations

from typing import Any

from metalshift_lab.simulator import storage, storage_forms
from metalshift_lab.simulator.api import blockdevices
from metalshift_lab.simulator.errors import NotFound
from metalshift_lab.simulator.forms import Field, Form, form_bool
from metalshift_lab.simulator.http import NO_CONTENT, Request
from metalshift_lab.simulator.layouts import size_field
from metalshift_lab.simulator.model import BlockDevice, Partition
from metalshift_lab.simulator.permissions import may_administer, may_see
from metalshift_lab.simulator.render import Render
from metalshift_lab.simulator.routing import delete, get, post, resource

NO_ROOM = "Partition cannot be saved; not enough free space on the block device."
OCCUPIED = "Cannot partition a block device that has a filesystem or is part of a filesystem group."


def rendered(request: Request, partition: Partition) -> Any:
    return Render(request.state).partition(partition)


def find(request: Request, system_id: str, device: str, id: str) -> Partition:
    disk = blockdevices.find(request, system_id, device)
    if not disk.partition_table:
        raise NotFound.of("PartitionTable")
    found = next((p for p in disk.partitions if str(p.id) == id), None)
    if found is None:
        raise NotFound.of("Partition")
    return found


@resource("nodes/{system_id}/blockdevices/{device}/partitions/")
class Partitions:
    @get()
    def list(self, request: Request, system_id: str, device: str) -> Any:
        disk = blockdevices.find(request, system_id, device)
        may_see(request.me, disk.node)
        render = Render(request.state)
        return [render.partition(p) for p in disk.partitions]

    @post()
    def create(self, request: Request, system_id: str, device: str) -> Any:
        disk = blockdevices.administered(request, system_id, device, "create partition")
        form = partition_form(request, disk)
        size = form.cleaned["size"]
        made = storage.add_partition(
            request.state,
            disk,
            storage.available_size(disk) if size is None else storage.align(size),
            bootable=form.cleaned["bootable"],
            uuid=form.cleaned["uuid"],
        )
        return rendered(request, made)


def partition_form(request: Request, disk: BlockDevice) -> Form:
    fields = [
        Field("size", size_field(blockdevices.MIN_SIZE, disk.size), empty=None),
        Field("uuid", storage_forms.uuid_text, empty=None),
        Field("bootable", form_bool, empty=False),
    ]
    form = Form(request.data, fields)
    if form.unbound:
        form.finish()
    if disk.filesystem is not None or disk.group is not None:
        form.fail("__all__", OCCUPIED)
    elif "size" not in form.errors:
        room = storage.available_size(disk)
        if storage.align(form.get("size") or 0) > room or room < blockdevices.MIN_SIZE:
            form.fail("size", NO_ROOM)
    form.finish()
    return form


@resource(
    "nodes/{system_id}/blockdevices/{device}/partition/{id}", "nodes/{system_id}/blockdevices/{device}/partitions/{id}"
)
class PartitionItem:
    @get()
    def read(self, request: Request, system_id: str, device: str, id: str) -> Any:
        partition = find(request, system_id, device, id)
        may_see(request.me, partition.device.node)
        return rendered(request, partition)

    @delete()
    def delete(self, request: Request, system_id: str, device: str, id: str) -> Any:
        partition = find(request, system_id, device, id)
        disk = partition.device
        may_administer(request.me, disk.node)
        storage_forms.ready(disk.node, "delete partition")
        storage.remove_partition(request.state, partition)
        return NO_CONTENT

    @post("format")
    def format(self, request: Request, system_id: str, device: str, id: str) -> Any:
        partition = find(request, system_id, device, id)
        storage_forms.format_thing(request, partition)
        return rendered(request, partition)

    @post("unformat")
    def unformat(self, request: Request, system_id: str, device: str, id: str) -> Any:
        partition = find(request, system_id, device, id)
        storage_forms.unformat_thing(request, partition)
        return rendered(request, partition)

    @post("mount")
    def mount(self, request: Request, system_id: str, device: str, id: str) -> Any:
        partition = find(request, system_id, device, id)
        storage_forms.mount_thing(request, partition)
        return rendered(request, partition)

    @post("unmount")
    def unmount(self, request: Request, system_id: str, device: str, id: str) -> Any:
        partition = find(request, system_id, device, id)
        storage_forms.unmount_thing(request, partition)
        return rendered(request, partition)

    @post("add_tag")
    def add_tag(self, request: Request, system_id: str, device: str, id: str) -> Any:
        partition = find(request, system_id, device, id)
        may_administer(request.me, partition.device.node)
        storage_forms.add_tag(request, partition)
        return rendered(request, partition)

    @post("remove_tag")
    def remove_tag(self, request: Request, system_id: str, device: str, id: str) -> Any:
        partition = find(request, system_id, device, id)
        may_administer(request.me, partition.device.node)
        storage_forms.remove_tag(request, partition)
        return rendered(request, partition)
