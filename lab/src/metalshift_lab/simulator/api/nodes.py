# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""nodes/: machines, devices and controllers alike."""

from __future__ import annotations

from typing import Any

from metalshift_lab.simulator import bson, lifecycle
from metalshift_lab.simulator.api.machines import set_zone
from metalshift_lab.simulator.constraints import READ, Wish
from metalshift_lab.simulator.forms import mandatory
from metalshift_lab.simulator.http import NO_CONTENT, Request, Response
from metalshift_lab.simulator.model import Machine, Status
from metalshift_lab.simulator.permissions import may_administer, may_see, visible
from metalshift_lab.simulator.render import Render
from metalshift_lab.simulator.routing import delete, get, post, resource


@resource("nodes/")
class Nodes:
    @get()
    def list(self, request: Request) -> Any:
        """Filters of machines leave out what is none."""
        wish = Wish.read(request.state, request.query, READ)
        render, for_machines = Render(request.state), any(wish.table[n].machines_only for n in wish.cleaned)
        found = []
        for node in wish.candidates():
            fits = wish.matches(node) if isinstance(node, Machine) else not for_machines and wish.matches_node(node)
            if fits and visible(request.me, node):
                found.append(render.node(node))
        return found

    @get("is_registered", anonymous=True)
    def is_registered(self, request: Request) -> Any:
        mac = mandatory(request.query, "mac_address").lower()
        return any(
            not isinstance(i.node, Machine) or request.user is not None or i.node.status is not Status.NEW
            for i in request.state.interfaces_by_mac(mac)
        )

    @post("set_zone", admin=True)
    def set_zone(self, request: Request) -> Any:
        return set_zone(request)


@resource("nodes/{system_id}/")
class NodeItem:
    @get()
    def read(self, request: Request, system_id: str) -> Any:
        node = request.state.node(system_id)
        may_see(request.me, node)
        return Render(request.state).node(node)

    @get("details")
    def details(self, request: Request, system_id: str) -> Any:
        may_see(request.me, request.state.node(system_id))
        return Response(200, bson.encode({"lldp": None, "lshw": None}), "application/bson")

    @get("power_parameters")
    def power_parameters(self, request: Request, system_id: str) -> Any:
        node = request.state.node(system_id)
        request.require_admin("")
        return node.power_parameters if isinstance(node, Machine) else {}

    @delete()
    def delete(self, request: Request, system_id: str) -> Any:
        node = request.state.node(system_id)
        may_administer(request.me, node)
        if isinstance(node, Machine):
            lifecycle.delete(request, node)
        else:
            request.state.remove_node(node)
        return NO_CONTENT
