# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""fabrics/"""

from __future__ import annotations

import re
from typing import Any

from metalshift_lab.simulator import network
from metalshift_lab.simulator.api.zones import MODEL_NAME
from metalshift_lab.simulator.errors import BadRequest
from metalshift_lab.simulator.forms import Field, Form, assign, pattern
from metalshift_lab.simulator.http import NO_CONTENT, Request
from metalshift_lab.simulator.model import VLAN, Fabric
from metalshift_lab.simulator.render import Render
from metalshift_lab.simulator.routing import delete, get, post, put, resource
from metalshift_lab.simulator.state import State


def named(kind: str, max_length: int = 256) -> Any:
    """Names of fabrics and spaces: one word."""

    def clean(value: str) -> str:
        checked: str = pattern(r"[\w-]+", f"Invalid {kind} name: {value}.", max_length=max_length)(value)
        return checked

    return clean


def check_reserved(form: Form, kind: str, current_id: int | None) -> None:
    """Names like fabric-7 belong to the object with that id."""
    name = form.get("name") or ""
    if re.fullmatch(rf"{kind}-\d+", name) and name != f"{kind}-{current_id}":
        form.fail("name", f"Reserved {kind} name.")


FIELDS = (
    Field("name", named("fabric"), empty=None),
    Field("description"),
    Field("class_type", MODEL_NAME, empty=None),
)


def fabric_form(request: Request, fabric: Fabric | None = None) -> Form:
    form = Form(request.data, FIELDS, partial=fabric is not None)
    form.unique("name", "Fabric", {f.name for f in request.state.fabrics if f is not fabric})
    check_reserved(form, "fabric", fabric.id if fabric else None)
    form.finish()
    return form


def find(state: State, specifier: str) -> Fabric:
    return network.known(network.find_fabric(state, specifier), "Fabric")


@resource("fabrics/")
class Fabrics:
    @get()
    def list(self, request: Request) -> Any:
        render = Render(request.state)
        return [render.fabric(f) for f in request.state.fabrics]

    @post(admin=True)
    def create(self, request: Request) -> Any:
        values = fabric_form(request).cleaned
        fabric = request.state.fabrics.make(Fabric, **{**values, "name": values["name"] or ""})
        fabric.name = fabric.name or f"fabric-{fabric.id}"
        request.state.vlans.make(VLAN, fabric=fabric, name="untagged")
        return Render(request.state).fabric(fabric)


@resource("fabrics/{id}/")
class FabricItem:
    @get()
    def read(self, request: Request, id: str) -> Any:
        return Render(request.state).fabric(find(request.state, id))

    @put()
    def update(self, request: Request, id: str) -> Any:
        fabric = find(request.state, id)
        request.require_admin("")
        form = fabric_form(request, fabric)
        form.cleaned = {k: v for k, v in form.cleaned.items() if v is not None}
        assign(fabric, form, ("name", "description", "class_type"))
        return Render(request.state).fabric(fabric)

    @delete()
    def delete(self, request: Request, id: str) -> Any:
        fabric = find(request.state, id)
        request.require_admin("")
        remove(request.state, fabric)
        return NO_CONTENT


def remove(state: State, fabric: Fabric) -> None:
    if fabric is next(iter(state.fabrics)):
        raise BadRequest("This fabric is the default fabric, it cannot be deleted.")
    subnets = sorted(s.cidr for s in state.subnets if s.vlan.fabric is fabric)
    if subnets:
        raise BadRequest(f"Can't delete fabric; the following subnets are still present: {', '.join(subnets)}")
    nics = [i for i in state.interfaces if i.vlan is not None and i.vlan.fabric is fabric]
    if nics:
        shown = ", ".join(f"{i.name} ({i.type}) on {i.node.hostname}" for i in nics)
        raise BadRequest(f"Can't delete fabric; the following interfaces are still connected: {shown}")
    network.drop(state.vlans, state.vlans.where(fabric=fabric))
    state.fabrics.discard(fabric)
