# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""devices/"""

from __future__ import annotations

from typing import Any

from metalshift_lab.simulator import machine_forms, names, network
from metalshift_lab.simulator.constraints import READ, Wish
from metalshift_lab.simulator.errors import Forbidden, NotFound
from metalshift_lab.simulator.forms import Field, Form, Wrong, among, assign
from metalshift_lab.simulator.http import NO_CONTENT, Request
from metalshift_lab.simulator.model import Device, Domain
from metalshift_lab.simulator.permissions import visible
from metalshift_lab.simulator.render import Render
from metalshift_lab.simulator.routing import delete, get, post, put, resource
from metalshift_lab.simulator.state import State


def device_form(request: Request, device: Device | None = None) -> Form:
    state = request.state

    def domain(value: str) -> Domain:
        found = network.find_domain(state, value)
        if found is None:
            raise Wrong(f"Unable to find domain {value}")
        return found

    fields = [
        Field("hostname", names.hostname),
        Field("domain", domain, empty=None),
        Field("description"),
        Field("zone", among(lambda v: state.zones.first(name=v)), empty=None),
        Field("parent", among(state.node_by_system_id), empty=None),
    ]
    form = Form(request.data, fields, partial=device is not None)
    if device is None and not form.unbound:
        form.cleaned["mac_addresses"] = machine_forms.read_macs(request, form)
    machine_forms.check_hostname(state, form, device)
    form.finish()
    return form


def find(state: State, system_id: str) -> Device:
    node = state.node_by_system_id(system_id)
    if not isinstance(node, Device):
        raise NotFound.of("Device")
    return node


def own(request: Request, system_id: str) -> Device:
    """One's own device, or any for an admin."""
    device = find(request.state, system_id)
    if not request.is_admin and device.owner is not request.user:
        raise Forbidden("")
    return device


@resource("devices/")
class Devices:
    @get()
    def list(self, request: Request) -> Any:
        wish = Wish.read(request.state, request.query, READ)
        for_machines = any(wish.table[n].machines_only for n in wish.cleaned)
        render = Render(request.state)
        return [
            render.device(n)
            for n in wish.candidates()
            if isinstance(n, Device) and not for_machines and wish.matches_node(n) and visible(request.me, n)
        ]

    @post()
    def create(self, request: Request) -> Any:
        state = request.state
        cleaned = device_form(request).cleaned
        device: Device = state.add_node(
            Device,
            hostname=cleaned["hostname"],
            domain=cleaned["domain"] or state.default_domain,
            zone=cleaned["zone"] or state.default_zone,
            description=cleaned["description"],
            parent=cleaned["parent"],
            owner=request.user,
        )
        for index, mac in enumerate(cleaned["mac_addresses"]):
            state.add_interface(device, name=f"eth{index}", mac_address=mac, numa_node=None)
        return Render(state).device(device)


@resource("devices/{system_id}/")
class DeviceItem:
    @get()
    def read(self, request: Request, system_id: str) -> Any:
        device = find(request.state, system_id)
        if not visible(request.me, device):
            raise Forbidden("")
        return Render(request.state).device(device)

    @put()
    def update(self, request: Request, system_id: str) -> Any:
        device = own(request, system_id)
        form = device_form(request, device)
        hostname = form.cleaned.pop("hostname", None)
        if hostname:
            request.state.rename_node(device, hostname)
        wanted = [n for n in ("domain", "zone") if form.cleaned.get(n) is not None]
        assign(device, form, [*wanted, "description", "parent"])
        device.updated = request.state.now
        return Render(request.state).device(device)

    @delete()
    def delete(self, request: Request, system_id: str) -> Any:
        request.state.remove_node(own(request, system_id))
        return NO_CONTENT

    @post("restore_default_configuration")
    def restore(self, request: Request, system_id: str) -> Any:
        return self.restore_networking(request, system_id)

    @post("restore_networking_configuration")
    def restore_networking(self, request: Request, system_id: str) -> Any:
        device = own(request, system_id)
        for interface in device.interfaces:
            network.clear_links(request.state, interface)
        return Render(request.state).device(device)

    @post("set_workload_annotations")
    @post("set_owner_data")
    def annotate(self, request: Request, system_id: str) -> Any:
        """An empty value removes a key."""
        device = own(request, system_id)
        for key in request.data:
            value = request.data.get(key)
            if key == "op":
                continue
            if value in ("", None):
                device.annotations.pop(key, None)
            else:
                device.annotations[key] = value
        return Render(request.state).device(device)
