# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""zones/"""

from __future__ import annotations

from typing import Any

from metalshift_lab.simulator.errors import BadRequest
from metalshift_lab.simulator.forms import Field, Form, assign, pattern
from metalshift_lab.simulator.http import NO_CONTENT, Request
from metalshift_lab.simulator.model import Zone
from metalshift_lab.simulator.render import Render
from metalshift_lab.simulator.routing import delete, get, post, put, resource
from metalshift_lab.simulator.state import State

MODEL_NAME = pattern(r"\w[ \w-]*", max_length=256)
FIELDS = (Field("name", MODEL_NAME, required=True), Field("description"))


def zone_form(request: Request, zone: Zone | None = None) -> Form:
    form = Form(request.data, FIELDS, partial=zone is not None)
    form.unique("name", "Physical zone", {z.name for z in request.state.zones if z is not zone})
    form.finish()
    return form


@resource("zones/")
class Zones:
    @get()
    def list(self, request: Request) -> Any:
        render = Render(request.state)
        return [render.zone(z) for z in request.state.zones]

    @post(admin=True)
    def create(self, request: Request) -> Any:
        form = zone_form(request)
        return Render(request.state).zone(request.state.zones.make(Zone, **form.cleaned))


@resource("zones/{name}/")
class ZoneItem:
    @get()
    def read(self, request: Request, name: str) -> Any:
        return Render(request.state).zone(request.state.zones.only(name=name))

    @put(admin=True)
    def update(self, request: Request, name: str) -> Any:
        zone = request.state.zones.only(name=name)
        assign(zone, zone_form(request, zone), ("name", "description"))
        return Render(request.state).zone(zone)

    @delete(admin=True)
    def delete(self, request: Request, name: str) -> Any:
        zone = request.state.zones.first(name=name)
        if zone is not None:
            remove(request.state, zone)
        return NO_CONTENT


def remove(state: State, zone: Zone) -> None:
    """What stood in the zone moves to the default one."""
    if zone is state.default_zone:
        raise BadRequest("This zone is the default zone, it cannot be deleted.")
    for thing in (*state.nodes, *state.vm_hosts):
        if thing.zone is zone:
            thing.zone = state.default_zone
    state.zones.discard(zone)
