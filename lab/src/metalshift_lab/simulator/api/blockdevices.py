# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""nodes/{system_id}/blockdevices/"""

from __future__ import annotations

from typing import Any

from metalshift_lab.simulator import storage, storage_forms
from metalshift_lab.simulator.errors import BadRequest, NotFound
from metalshift_lab.simulator.forms import Field, Form, at_most, integer
from metalshift_lab.simulator.http import NO_CONTENT, Request, text
from metalshift_lab.simulator.layouts import size_field
from metalshift_lab.simulator.model import BlockDevice, Machine, Status
from metalshift_lab.simulator.permissions import may_administer, may_edit, may_see
from metalshift_lab.simulator.render import Render
from metalshift_lab.simulator.routing import delete, get, post, put, resource

MIN_SIZE, MIN_BLOCK = 4 * 1024**2, 512
NEEDS_IDENTITY = "serial/model are required if id_path is not provided."
NOT_UNIQUE = "Block device with this Node config and Name already exists."


def physical_fields() -> list[Field]:
    return [
        Field("name", at_most(255), required=True),
        Field("model", at_most(255)),
        Field("serial", at_most(255)),
        Field("id_path", at_most(4096)),
        Field("size", size_field(MIN_SIZE), required=True),
        Field("block_size", size_field(MIN_BLOCK), required=True),
        Field("firmware_version", at_most(255), empty=None),
        Field("numa_node", integer(0), empty=None),
    ]


def physical_form(request: Request, machine: Machine, disk: BlockDevice | None = None) -> Form:
    form = Form(request.data, physical_fields(), partial=disk is not None)
    if form.unbound:
        form.finish()
    _check_name(form, machine, disk)
    current = {n: getattr(disk, n, None) for n in ("id_path", "model", "serial")}
    values = {n: form.get(n, current[n]) for n in current}
    if not values["id_path"] and not (values["model"] and values["serial"]):
        form.fail("__all__", NEEDS_IDENTITY)
    form.finish()
    return form


def _check_name(form: Form, machine: Machine, disk: BlockDevice | None) -> None:
    if form.get("name") and any(d.name == form.get("name") for d in machine.disks if d is not disk):
        form.fail("__all__", NOT_UNIQUE)


def find(request: Request, system_id: str, id: str) -> BlockDevice:
    node = request.state.node_by_system_id(system_id)
    disks = node.disks if isinstance(node, Machine) else []
    found = next((d for d in disks if id in (str(d.id), d.name)), None)
    if found is None:
        raise NotFound.of("BlockDevice")
    return found


def administered(request: Request, system_id: str, id: str, what: str = "") -> BlockDevice:
    disk = find(request, system_id, id)
    may_administer(request.me, disk.node)
    if what:
        storage_forms.ready(disk.node, what)
    return disk


def rendered(request: Request, disk: BlockDevice) -> Any:
    return Render(request.state).disk(disk)


@resource("nodes/{system_id}/blockdevices/")
class BlockDevices:
    @get()
    def list(self, request: Request, system_id: str) -> Any:
        machine = request.state.machine(system_id)
        may_see(request.me, machine)
        render = Render(request.state)
        return [{k: v for k, v in render.disk(d).items() if k != "firmware_version"} for d in machine.disks]

    @post()
    def create(self, request: Request, system_id: str) -> Any:
        machine = storage_forms.administered(request, system_id)
        storage_forms.ready(machine, "create block device")
        values = physical_form(request, machine).cleaned
        disk = request.state.disks.make(BlockDevice, node=machine, **{**values, "numa_node": values["numa_node"] or 0})
        machine.disks.append(disk)
        return rendered(request, disk)


@resource("nodes/{system_id}/blockdevices/{id}/")
class BlockDeviceItem:
    @get()
    def read(self, request: Request, system_id: str, id: str) -> Any:
        disk = find(request, system_id, id)
        may_see(request.me, disk.node)
        return rendered(request, disk)

    @put()
    def update(self, request: Request, system_id: str, id: str) -> Any:
        disk = administered(request, system_id, id)
        if disk.node.status not in (Status.READY, Status.DEPLOYED):
            storage_forms.ready(disk.node, "update block device")
        physical = disk.type == "physical"
        form = physical_form(request, disk.node, disk) if physical else _virtual_form(request, disk)
        for name, value in form.cleaned.items():
            if value is not None:
                setattr(disk, name, value)
        return rendered(request, disk)

    @delete()
    def delete(self, request: Request, system_id: str, id: str) -> Any:
        disk = administered(request, system_id, id, "delete block device")
        storage.remove_disk(request.state, disk)
        return NO_CONTENT

    @post("add_tag")
    def add_tag(self, request: Request, system_id: str, id: str) -> Any:
        disk = administered(request, system_id, id, "update block device")
        storage_forms.add_tag(request, disk)
        return rendered(request, disk)

    @post("remove_tag")
    def remove_tag(self, request: Request, system_id: str, id: str) -> Any:
        disk = administered(request, system_id, id, "update block device")
        storage_forms.remove_tag(request, disk)
        return rendered(request, disk)

    @post("format")
    def format(self, request: Request, system_id: str, id: str) -> Any:
        disk = find(request, system_id, id)
        storage_forms.format_thing(request, disk)
        return rendered(request, disk)

    @post("unformat")
    def unformat(self, request: Request, system_id: str, id: str) -> Any:
        disk = find(request, system_id, id)
        storage_forms.unformat_thing(request, disk)
        return rendered(request, disk)

    @post("mount")
    def mount(self, request: Request, system_id: str, id: str) -> Any:
        disk = find(request, system_id, id)
        storage_forms.mount_thing(request, disk)
        return rendered(request, disk)

    @post("unmount")
    def unmount(self, request: Request, system_id: str, id: str) -> Any:
        disk = find(request, system_id, id)
        storage_forms.unmount_thing(request, disk)
        return rendered(request, disk)

    @post("set_boot_disk")
    def set_boot_disk(self, request: Request, system_id: str, id: str) -> Any:
        disk = find(request, system_id, id)
        may_edit(request.me, disk.node)
        may_administer(request.me, disk.node)
        storage_forms.ready(disk.node, "set as boot disk")
        if disk.type != "physical":
            raise BadRequest(f"Cannot set a {disk.type} block device as the boot disk.")
        disk.node.boot_disk = disk
        return text("OK")


def _virtual_form(request: Request, disk: BlockDevice) -> Form:
    """Of a logical volume name and size change; the name is given without that of its group."""
    group = disk.made_by
    fields = [Field("name", at_most(255), empty=None), Field("uuid", storage_forms.uuid_text, empty=None)]
    if group is not None and group.kind == "lvm-vg":
        room = storage.capacity(group) - storage.allocated(group) + disk.size
        fields.append(Field("size", size_field(MIN_SIZE, room), empty=None))
    form = Form(request.data, fields, partial=True)
    if group is not None and group.kind == "lvm-vg" and form.get("name"):
        form.cleaned["name"] = f"{group.name}-{form.cleaned['name']}"
    _check_name(form, disk.node, disk)
    if form.get("size"):
        form.cleaned["size"] = storage.align(form.cleaned["size"])
    form.finish()
    return form
