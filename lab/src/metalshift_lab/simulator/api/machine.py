# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""machines/{system_id}/"""

from __future__ import annotations

from typing import Any

from metalshift_lab.simulator import bson, layouts, lifecycle, machine_forms, storage
from metalshift_lab.simulator.errors import BadRequest, Conflict
from metalshift_lab.simulator.forms import Field, Form, listed, optional
from metalshift_lab.simulator.http import NO_CONTENT, Request, Response, text
from metalshift_lab.simulator.model import Filesystem, Machine, Status
from metalshift_lab.simulator.permissions import may_administer, may_edit, may_lock, may_see
from metalshift_lab.simulator.render import Render
from metalshift_lab.simulator.routing import delete, get, post, put, resource

SPECIAL = ("ramfs", "tmpfs")
WITH_CONFIG = {Status.DEPLOYING, Status.DEPLOYED, Status.FAILED_DEPLOYMENT}
CONFIGURABLE = {Status.READY, Status.ALLOCATED, Status.FAILED_DEPLOYMENT}
NETWORK_RESET = {Status.READY, Status.FAILED_TESTING}


@resource("machines/{system_id}/")
class MachineItem:
    @get()
    def read(self, request: Request, system_id: str) -> Any:
        return rendered(request, seen(request, system_id))

    @put()
    def update(self, request: Request, system_id: str) -> Any:
        machine = administered(request, system_id)
        machine_forms.apply(request.state, machine, machine_forms.read(request, machine))
        return rendered(request, machine)

    @delete()
    def delete(self, request: Request, system_id: str) -> Any:
        machine = administered(request, system_id)
        lifecycle.delete(request, machine)
        return NO_CONTENT

    # -- reading ----------------------------------------------------------------------------------------------------

    @get("power_parameters")
    def power_parameters(self, request: Request, system_id: str) -> Any:
        machine = request.state.machine(system_id)
        request.require_admin("")
        return machine.power_parameters

    @get("query_power_state")
    def query_power_state(self, request: Request, system_id: str) -> Any:
        return {"state": lifecycle.power_state(request, seen(request, system_id))}

    @get("get_token")
    def get_token(self, request: Request, system_id: str) -> Any:
        """Nothing boots here, so no machine ever fetched a token."""
        request.state.machine(system_id)
        request.require_admin("")
        return None

    @get("details")
    def details(self, request: Request, system_id: str) -> Any:
        seen(request, system_id)
        return Response(200, bson.encode({"lldp": None, "lshw": None}), "application/bson")

    @get("get_curtin_config")
    def get_curtin_config(self, request: Request, system_id: str) -> Any:
        machine = seen(request, system_id)
        if machine.status not in WITH_CONFIG:
            raise BadRequest(f"Machine {machine.hostname} is not in a deployment state.")
        lines = ["apt:", "  preserve_sources_list: false", "install:", "  log_file: /tmp/install.log", "storage:"]
        lines += ["  version: 1", "  config:", *(f"  - id: {d.name}\n    type: disk" for d in machine.disks)]
        return text("\n".join(lines) + "\n")

    # -- the life of a machine --------------------------------------------------------------------------------------

    @post("commission")
    def commission(self, request: Request, system_id: str) -> Any:
        machine = administered(request, system_id)
        form = lifecycle.commission_form(request, machine)
        form.finish()
        lifecycle.commission_by(request, machine, form)
        return rendered(request, machine)

    @post("test")
    def test(self, request: Request, system_id: str) -> Any:
        machine = administered(request, system_id)
        lifecycle.test(request, machine)
        return rendered(request, machine)

    @post("override_failed_testing")
    def override_failed_testing(self, request: Request, system_id: str) -> Any:
        machine = administered(request, system_id)
        lifecycle.override_failed_testing(request, machine)
        return rendered(request, machine)

    @post("deploy")
    def deploy(self, request: Request, system_id: str) -> Any:
        machine = edited(request, system_id)
        lifecycle.deploy(request, machine)
        return rendered(request, machine)

    @post("release")
    def release(self, request: Request, system_id: str) -> Any:
        machine = edited(request, system_id)
        wish = lifecycle.release_form(request)
        if machine.status in lifecycle.RELEASABLE:
            lifecycle.refuse_hosts(request.state, [machine], force=wish.force)
            lifecycle.release(request, machine, wish)
        elif machine.status not in lifecycle.RELEASED:
            raise Conflict(f"Machine cannot be released in its current state ('{machine.status.label}').")
        return rendered(request, machine)

    @post("abort")
    def abort(self, request: Request, system_id: str) -> Any:
        machine = edited(request, system_id)
        lifecycle.abort(request, machine, optional(request.data, "comment"))
        return rendered(request, machine)

    @post("mark_broken")
    def mark_broken(self, request: Request, system_id: str) -> Any:
        machine = edited(request, system_id)
        lifecycle.mark_broken(request, machine, optional(request.data, "comment"))
        return rendered(request, machine)

    @post("mark_fixed")
    def mark_fixed(self, request: Request, system_id: str) -> Any:
        machine = administered(request, system_id)
        lifecycle.mark_fixed(request, machine, optional(request.data, "comment"))
        return rendered(request, machine)

    @post("lock")
    def lock(self, request: Request, system_id: str) -> Any:
        machine = request.state.machine(system_id)
        may_lock(request.me, machine)
        lifecycle.lock(request, machine, optional(request.data, "comment"))
        return rendered(request, machine)

    @post("unlock")
    def unlock(self, request: Request, system_id: str) -> Any:
        machine = request.state.machine(system_id)
        may_lock(request.me, machine)
        lifecycle.unlock(request, machine, optional(request.data, "comment"))
        return rendered(request, machine)

    @post("rescue_mode")
    def rescue_mode(self, request: Request, system_id: str) -> Any:
        machine = administered(request, system_id)
        lifecycle.rescue(request, machine)
        return rendered(request, machine)

    @post("exit_rescue_mode")
    def exit_rescue_mode(self, request: Request, system_id: str) -> Any:
        machine = administered(request, system_id)
        lifecycle.exit_rescue(request, machine)
        return rendered(request, machine)

    @post("power_on")
    def power_on(self, request: Request, system_id: str) -> Any:
        machine = edited(request, system_id)
        lifecycle.power_on(request, machine)
        return rendered(request, machine)

    @post("power_off")
    def power_off(self, request: Request, system_id: str) -> Any:
        machine = edited(request, system_id)
        return rendered(request, machine) if lifecycle.power_off(request, machine) else None

    @post("set_workload_annotations")
    @post("set_owner_data")
    def annotate(self, request: Request, system_id: str) -> Any:
        machine = edited(request, system_id)
        lifecycle.annotate(request, machine)
        return rendered(request, machine)

    # -- configuration ----------------------------------------------------------------------------------------------

    @post("clear_default_gateways")
    def clear_default_gateways(self, request: Request, system_id: str) -> Any:
        machine = administered(request, system_id)
        machine.gateway_links.clear()
        return rendered(request, machine)

    @post("restore_default_configuration")
    def restore_default_configuration(self, request: Request, system_id: str) -> Any:
        machine = administered(request, system_id)
        reset_network(request, machine)
        reset_storage(request, machine)
        return rendered(request, machine)

    @post("restore_networking_configuration")
    def restore_networking_configuration(self, request: Request, system_id: str) -> Any:
        machine = administered(request, system_id)
        reset_network(request, machine)
        return rendered(request, machine)

    @post("restore_storage_configuration")
    def restore_storage_configuration(self, request: Request, system_id: str) -> Any:
        machine = administered(request, system_id)
        reset_storage(request, machine)
        return rendered(request, machine)

    @post("set_storage_layout")
    def set_storage_layout(self, request: Request, system_id: str) -> Any:
        machine = administered(request, system_id)
        if machine.status not in CONFIGURABLE:
            raise Conflict("Cannot change the storage layout on a machine that is not Ready or Allocated.")
        layouts.set_layout(request, machine)
        return rendered(request, machine)

    @post("mount_special")
    def mount_special(self, request: Request, system_id: str) -> Any:
        machine = edited(request, system_id)
        fields = [
            Field("fstype", listed("fstype", SPECIAL), required=True),
            Field("mount_point", required=True),
            Field("mount_options"),
        ]
        form = Form(request.data, fields)
        form.finish()
        unmount(machine, form.get("mount_point"))
        made = request.state.filesystems.make(
            Filesystem,
            fstype=form.get("fstype"),
            uuid=request.state.new_uuid(),
            label=None,
            mount_point=form.get("mount_point"),
            mount_options=form.get("mount_options"),
        )
        machine.special_filesystems.append(made)
        return rendered(request, machine)

    @post("unmount_special")
    def unmount_special(self, request: Request, system_id: str) -> Any:
        machine = edited(request, system_id)
        form = Form(request.data, [Field("mount_point", required=True)])
        form.finish()
        unmount(machine, form.get("mount_point"))
        return rendered(request, machine)


def seen(request: Request, system_id: str) -> Machine:
    machine = request.state.machine(system_id)
    may_see(request.me, machine)
    return machine


def edited(request: Request, system_id: str) -> Machine:
    machine = request.state.machine(system_id)
    may_edit(request.me, machine)
    return machine


def administered(request: Request, system_id: str) -> Machine:
    machine = request.state.machine(system_id)
    may_administer(request.me, machine)
    return machine


def rendered(request: Request, machine: Machine) -> Any:
    return Render(request.state).machine(machine)


def reset_network(request: Request, machine: Machine) -> None:
    """Only the physical NICs, with an AUTO link at the boot NIC."""
    if machine.status not in NETWORK_RESET:
        allowed = "Machine must be in a ready state to restore networking configuration"
        raise Conflict(allowed)
    state = request.state
    lifecycle.unconfigure_network(state, machine)
    state.engine.link_boot_nic(machine)


def reset_storage(request: Request, machine: Machine) -> None:
    if machine.status not in CONFIGURABLE:
        raise Conflict("Machine must be in a ready state to restore storage configuration")
    machine.special_filesystems.clear()
    storage.flat_layout(request.state, machine)


def unmount(machine: Machine, mount_point: str) -> None:
    machine.special_filesystems[:] = [f for f in machine.special_filesystems if f.mount_point != mount_point]
