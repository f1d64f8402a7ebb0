# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""nodes/{system_id}/volume-groups/ and nodes/{system_id}/volume-group/{id}/"""

from __future__ import annotations

from typing import Any

from metalshift_lab.simulator import storage, storage_forms
from metalshift_lab.simulator.api.blockdevices import MIN_SIZE
from metalshift_lab.simulator.errors import BadRequest, Invalid, NotFound
from metalshift_lab.simulator.forms import Field, Form, at_most, mandatory
from metalshift_lab.simulator.http import NO_CONTENT, Request
from metalshift_lab.simulator.layouts import size_field
from metalshift_lab.simulator.model import BlockDevice, FilesystemGroup, Machine
from metalshift_lab.simulator.permissions import may_administer, may_see
from metalshift_lab.simulator.render import URI, Render
from metalshift_lab.simulator.routing import delete, get, post, put, resource

KIND, BLOCK_SIZE = "lvm-vg", 4096
NO_MEMBERS = "At least one valid block device or partition is required."
HAS_VOLUMES = "This volume group has logical volumes; it cannot be deleted."
# What the answer to the creation of a logical volume tells of it.
SHOWN = ("id", "name", "uuid", "size", "used_size", "available_size", "system_id", "resource_uri")


def rendered(render: Render, group: FilesystemGroup) -> dict[str, Any]:
    size, used = storage.capacity(group), storage.allocated(group)
    return {
        "id": group.id,
        "uuid": group.uuid,
        "name": group.name,
        "devices": [render.storage_thing(m) for m in group.members],
        "size": size,
        "human_size": storage_forms.human(size),
        "used_size": used,
        "human_used_size": storage_forms.human(used),
        "available_size": size - used,
        "human_available_size": storage_forms.human(size - used),
        "logical_volumes": [render.disk(d) for d in storage.volumes(group)],
        "system_id": group.node.system_id,
        "resource_uri": f"{URI}nodes/{group.node.system_id}/volume-group/{group.id}/",
    }


def find(request: Request, system_id: str, id: str) -> FilesystemGroup:
    node = request.state.node_by_system_id(system_id)
    groups = node.groups if isinstance(node, Machine) else []
    found = next((g for g in groups if g.kind == KIND and id in (str(g.id), g.name)), None)
    if found is None:
        raise NotFound.of("VolumeGroup")
    return found


def administered(request: Request, system_id: str, id: str, what: str) -> FilesystemGroup:
    group = find(request, system_id, id)
    may_administer(request.me, group.node)
    storage_forms.ready(group.node, what)
    return group


@resource("nodes/{system_id}/volume-groups/")
class VolumeGroups:
    @get()
    def list(self, request: Request, system_id: str) -> Any:
        machine = request.state.machine(system_id)
        may_see(request.me, machine)
        render = Render(request.state)
        return [rendered(render, g) for g in machine.groups if g.kind == KIND]

    @post()
    def create(self, request: Request, system_id: str) -> Any:
        machine = storage_forms.administered(request, system_id)
        storage_forms.ready(machine, "create volume group")
        form = Form(
            request.data,
            [
                Field("name", at_most(255), required=True),
                Field("uuid", storage_forms.uuid_text, empty=None),
                *storage_forms.member_fields(machine, "block_devices", "partitions"),
            ],
        )
        if not form.errors and not (form.get("block_devices") or form.get("partitions")):
            form.fail("__all__", NO_MEMBERS)
        form.finish()
        chosen = [*form.cleaned["block_devices"], *form.cleaned["partitions"]]
        members = storage_forms.as_members(request.state, chosen)
        values = form.cleaned
        group = storage.add_group(request.state, machine, KIND, values["name"], members, uuid=values["uuid"])
        return rendered(Render(request.state), group)


@resource("nodes/{system_id}/volume-group/{id}/", "nodes/{system_id}/volume-groups/{id}/")
class VolumeGroupItem:
    @get()
    def read(self, request: Request, system_id: str, id: str) -> Any:
        group = find(request, system_id, id)
        may_see(request.me, group.node)
        return rendered(Render(request.state), group)

    @put()
    def update(self, request: Request, system_id: str, id: str) -> Any:
        state = request.state
        group = administered(request, system_id, id, "update volume group")
        form = Form(
            request.data,
            [
                Field("name", at_most(255), empty=None),
                Field("uuid", storage_forms.uuid_text, empty=None),
                *storage_forms.member_fields(group.node, "add_block_devices", "add_partitions"),
                *storage_forms.leaver_fields(group.members, "remove_block_devices", "remove_partitions"),
            ],
            partial=True,
        )
        form.finish()
        values = form.cleaned
        for thing in [*values.get("remove_block_devices", []), *values.get("remove_partitions", [])]:
            group.members.remove(thing)
            storage.leave(thing)
        added = [*values.get("add_block_devices", []), *values.get("add_partitions", [])]
        added = storage_forms.as_members(state, added)
        storage.join(state, group, added, "lvm-pv")
        group.members += added
        if values.get("name"):
            for volume in storage.volumes(group):
                volume.name = f"{values['name']}-{volume.name.removeprefix(f'{group.name}-')}"
            group.name = values["name"]
        group.uuid = values.get("uuid") or group.uuid
        return rendered(Render(state), group)

    @delete()
    def delete(self, request: Request, system_id: str, id: str) -> Any:
        group = administered(request, system_id, id, "delete volume group")
        if storage.volumes(group):
            raise BadRequest(HAS_VOLUMES)
        storage.remove_group(request.state, group)
        return NO_CONTENT

    @post("create_logical_volume")
    def create_logical_volume(self, request: Request, system_id: str, id: str) -> Any:
        group = administered(request, system_id, id, "create logical volume")
        room = storage.capacity(group) - storage.allocated(group)
        form = Form(
            request.data,
            [
                Field("name", at_most(255), required=True),
                Field("uuid", storage_forms.uuid_text, empty=None),
                Field("size", size_field(MIN_SIZE, room), empty=None),
            ],
        )
        name = f"{group.name}-{form.get('name')}"
        if any(d.name == name for d in group.node.disks):
            form.fail("__all__", "Block device with this Node config and Name already exists.")
        form.finish()
        size = form.cleaned["size"]
        volume = storage.add_volume(
            request.state, group, name, storage.align(room if size is None else size), BLOCK_SIZE
        )
        volume.uuid = form.cleaned["uuid"] or volume.uuid
        whole = Render(request.state).disk(volume)
        return {key: whole[key] for key in SHOWN}

    @post("delete_logical_volume")
    def delete_logical_volume(self, request: Request, system_id: str, id: str) -> Any:
        group = administered(request, system_id, id, "delete logical volume")
        storage.remove_disk(request.state, _volume(group, mandatory(request.data, "id")))
        return NO_CONTENT


def _volume(group: FilesystemGroup, id: str) -> BlockDevice:
    if not id.isdigit():
        raise Invalid({"id": ["Enter a whole number."]})
    found = next((d for d in storage.volumes(group) if str(d.id) == id), None)
    if found is None:
        raise NotFound.of("VirtualBlockDevice")
    return found
