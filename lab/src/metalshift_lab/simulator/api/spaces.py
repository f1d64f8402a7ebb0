# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""spaces/"""

from __future__ import annotations

from typing import Any

from metalshift_lab.simulator import network
from metalshift_lab.simulator.api.fabrics import check_reserved, named
from metalshift_lab.simulator.forms import Field, Form, assign
from metalshift_lab.simulator.http import NO_CONTENT, Request
from metalshift_lab.simulator.model import Space
from metalshift_lab.simulator.render import Render
from metalshift_lab.simulator.routing import delete, get, post, put, resource
from metalshift_lab.simulator.state import State

FIELDS = (Field("name", named("space"), empty=None), Field("description"))


def space_form(request: Request, space: Space | None = None) -> Form:
    form = Form(request.data, FIELDS, partial=space is not None)
    form.unique("name", "Space", {s.name for s in request.state.spaces if s is not space})
    check_reserved(form, "space", space.id if space else None)
    if form.get("name") == network.UNDEFINED_SPACE:
        form.fail("name", "Reserved space name.")
    form.finish()
    return form


def find(state: State, specifier: str) -> Space:
    return network.known(network.find_space(state, specifier), "Space")


@resource("spaces/")
class Spaces:
    @get()
    def list(self, request: Request) -> Any:
        render = Render(request.state)
        return [*(render.space(s) for s in request.state.spaces), render.undefined_space()]

    @post(admin=True)
    def create(self, request: Request) -> Any:
        values = space_form(request).cleaned
        space = request.state.spaces.make(Space, **{**values, "name": values["name"] or ""})
        space.name = space.name or f"space-{space.id}"
        return Render(request.state).space(space)


@resource("spaces/{id}/")
class SpaceItem:
    @get()
    def read(self, request: Request, id: str) -> Any:
        render = Render(request.state)
        if id in (network.UNDEFINED_SPACE, "-1"):
            return render.undefined_space()
        return render.space(find(request.state, id))

    @put()
    def update(self, request: Request, id: str) -> Any:
        space = find(request.state, id)
        request.require_admin("")
        form = space_form(request, space)
        form.cleaned = {k: v for k, v in form.cleaned.items() if v is not None}
        assign(space, form, ("name", "description"))
        return Render(request.state).space(space)

    @delete()
    def delete(self, request: Request, id: str) -> Any:
        space = find(request.state, id)
        request.require_admin("")
        for vlan in request.state.vlans.where(space=space):
            vlan.space = None
        request.state.spaces.discard(space)
        return NO_CONTENT
