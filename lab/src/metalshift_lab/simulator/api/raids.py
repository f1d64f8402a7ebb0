# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""nodes/{system_id}/raids/ and nodes/{system_id}/raid/{id}/"""

from __future__ import annotations

from typing import Any

from metalshift_lab.simulator import storage, storage_forms
from metalshift_lab.simulator.errors import NotFound
from metalshift_lab.simulator.forms import Field, Form, at_most, choice
from metalshift_lab.simulator.http import NO_CONTENT, Request
from metalshift_lab.simulator.model import FilesystemGroup, Machine
from metalshift_lab.simulator.permissions import may_administer, may_see
from metalshift_lab.simulator.render import URI, Render
from metalshift_lab.simulator.routing import delete, get, post, put, resource
from metalshift_lab.simulator.storage import RAID_LEVELS

BLANK = "This field cannot be blank."
BLOCK_SIZE = 512


def rendered(render: Render, group: FilesystemGroup) -> dict[str, Any]:
    size = storage.capacity(group)
    return {
        "id": group.id,
        "uuid": group.uuid,
        "name": group.name,
        "level": group.kind,
        "devices": [render.storage_thing(m) for m in group.members],
        "spare_devices": [render.storage_thing(m) for m in group.spares],
        "size": size,
        "human_size": storage_forms.human(size),
        "virtual_device": next((render.disk(d) for d in storage.volumes(group)), None),
        "system_id": group.node.system_id,
        "resource_uri": f"{URI}nodes/{group.node.system_id}/raid/{group.id}/",
    }


def find(request: Request, system_id: str, id: str) -> FilesystemGroup:
    node = request.state.node_by_system_id(system_id)
    groups = node.groups if isinstance(node, Machine) else []
    found = next((g for g in groups if g.kind in RAID_LEVELS and id in (str(g.id), g.name)), None)
    if found is None:
        raise NotFound.of("RAID")
    return found


def check_count(form: Form, kind: str, devices: int, spares: int) -> None:
    level = RAID_LEVELS[kind]
    if devices < level.devices or (spares and level.spares == "no spares"):
        number = kind.removeprefix("raid-")
        form.fail(
            "__all__",
            f"RAID level {number} must have at least {level.devices} raid devices and {level.spares}.",
        )


@resource("nodes/{system_id}/raids/")
class Raids:
    @get()
    def list(self, request: Request, system_id: str) -> Any:
        machine = request.state.machine(system_id)
        may_see(request.me, machine)
        render = Render(request.state)
        return [rendered(render, g) for g in machine.groups if g.kind in RAID_LEVELS]

    @post()
    def create(self, request: Request, system_id: str) -> Any:
        state = request.state
        machine = storage_forms.administered(request, system_id)
        storage_forms.ready(machine, "create RAID")
        form = Form(
            request.data,
            [
                Field("name", at_most(255)),
                Field("uuid", storage_forms.uuid_text, empty=None),
                Field("level", choice(tuple(RAID_LEVELS)), required=True),
                *storage_forms.member_fields(machine, "block_devices", "partitions"),
                *storage_forms.member_fields(machine, "spare_devices", "spare_partitions"),
            ],
        )
        values = form.cleaned
        if not form.errors:
            if not values["name"]:
                form.fail("name", BLANK)
            elif any(d.name == values["name"] for d in machine.disks):
                form.fail("__all__", "Block device with this Node config and Name already exists.")
            devices = [*values["block_devices"], *values["partitions"]]
            spares = [*values["spare_devices"], *values["spare_partitions"]]
            check_count(form, values["level"], len(devices), len(spares))
        form.finish()
        boots = storage.boot_disk(machine) in (*devices, *spares)
        group = storage.add_group(
            state,
            machine,
            values["level"],
            values["name"],
            storage_forms.as_members(state, devices, all_of_them=boots),
            storage_forms.as_members(state, spares, all_of_them=boots),
            values["uuid"],
        )
        storage.add_volume(state, group, group.name, storage.capacity(group), BLOCK_SIZE)
        return rendered(Render(state), group)


@resource("nodes/{system_id}/raid/{id}/")
class RaidItem:
    @get()
    def read(self, request: Request, system_id: str, id: str) -> Any:
        group = find(request, system_id, id)
        may_see(request.me, group.node)
        return rendered(Render(request.state), group)

    @put()
    def update(self, request: Request, system_id: str, id: str) -> Any:
        state = request.state
        group = find(request, system_id, id)
        may_administer(request.me, group.node)
        storage_forms.ready(group.node, "update RAID")
        form = Form(
            request.data,
            [
                Field("name", at_most(255), empty=None),
                Field("uuid", storage_forms.uuid_text, empty=None),
                *storage_forms.member_fields(group.node, "add_block_devices", "add_partitions"),
                *storage_forms.member_fields(group.node, "add_spare_devices", "add_spare_partitions"),
                *storage_forms.leaver_fields(group.members, "remove_block_devices", "remove_partitions"),
                *storage_forms.leaver_fields(group.spares, "remove_spare_devices", "remove_spare_partitions"),
            ],
            partial=True,
        )

        def named(*names: str) -> list[Any]:
            return [thing for name in names for thing in form.cleaned.get(name, [])]

        removed = named("remove_block_devices", "remove_partitions")
        removed_spares = named("remove_spare_devices", "remove_spare_partitions")
        added, added_spares = (
            named("add_block_devices", "add_partitions"),
            named("add_spare_devices", "add_spare_partitions"),
        )
        if not form.errors:
            devices = len(group.members) + len(added) - len(removed)
            check_count(form, group.kind, devices, len(group.spares) + len(added_spares) - len(removed_spares))
        form.finish()
        for thing in (*removed, *removed_spares):
            storage.leave(thing)
        added = storage_forms.as_members(state, added)
        added_spares = storage_forms.as_members(state, added_spares)
        storage.join(state, group, added, "raid")
        storage.join(state, group, added_spares, "raid-spare")
        group.members = [m for m in group.members if m not in removed] + added
        group.spares = [m for m in group.spares if m not in removed_spares] + added_spares
        group.name = form.get("name") or group.name
        group.uuid = form.get("uuid") or group.uuid
        for disk in storage.volumes(group):
            disk.name, disk.size = group.name, storage.capacity(group)
        return rendered(Render(state), group)

    @delete()
    def delete(self, request: Request, system_id: str, id: str) -> Any:
        group = find(request, system_id, id)
        may_administer(request.me, group.node)
        storage_forms.ready(group.node, "delete RAID")
        storage.remove_group(request.state, group)
        return NO_CONTENT
