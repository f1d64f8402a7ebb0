# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""static-routes/"""

from __future__ import annotations

from typing import Any

from metalshift_lab.simulator import network
from metalshift_lab.simulator.errors import ServerError
from metalshift_lab.simulator.forms import Field, Form, assign, integer
from metalshift_lab.simulator.http import NO_CONTENT, Request
from metalshift_lab.simulator.model import StaticRoute, Subnet
from metalshift_lab.simulator.render import Render
from metalshift_lab.simulator.routing import delete, get, post, put, resource
from metalshift_lab.simulator.state import State

WRITTEN = ("source", "destination", "gateway_ip", "metric")
TAKEN = "Static route with this Source, Destination and Gateway IP already exists."


def fields(state: State) -> list[Field]:
    subnet = network.choice(state.subnets, "subnet", lambda v: network.find_subnet(state, v))
    return [
        Field("source", subnet, required=True, empty=None),
        Field("destination", subnet, required=True, empty=None),
        Field("gateway_ip", network.ip_address, required=True, empty=None),
        Field("metric", integer(0), empty=None),
    ]


def route_form(request: Request, route: StaticRoute | None = None) -> Form:
    form = Form(request.data, fields(request.state), partial=route is not None)
    if form.unbound:
        form.finish()
    current = {name: getattr(route, name, None) for name in WRITTEN}
    source, destination, gateway = (form.get(name, current[name]) for name in WRITTEN[:3])
    if gateway and source is None:
        # MAAS looks for the gateway in a subnet it has not got.
        raise ServerError("'NoneType' object has no attribute 'get_ipnetwork'")
    if gateway and not network.contains(source, gateway):
        form.fail("gateway_ip", f"Enter an IP address in {source.cidr}.")
    _check(form, source, destination, gateway)
    if not form.errors and any(
        (r.source, r.destination, r.gateway_ip) == (source, destination, gateway)
        for r in request.state.routes
        if r is not route
    ):
        form.fail("__all__", TAKEN)
    form.finish()
    return form


def _check(form: Form, source: Subnet | None, destination: Subnet | None, gateway: str | None) -> None:
    if source is None or destination is None:
        return
    if source is destination:
        form.fail("__all__", "source and destination cannot be the same subnet.")
    elif network.network_of(source).version != network.network_of(destination).version:
        form.fail("__all__", "source and destination must be the same IP version.")
    elif gateway and not network.contains(source, gateway):
        form.fail("__all__", "gateway_ip must be with in the source subnet.")


@resource("static-routes/")
class StaticRoutes:
    @get()
    def list(self, request: Request) -> Any:
        render = Render(request.state)
        return [render.static_route(r) for r in request.state.routes]

    @post(admin=True)
    def create(self, request: Request) -> Any:
        values = route_form(request).cleaned
        values["metric"] = values["metric"] or 0
        return Render(request.state).static_route(request.state.routes.make(StaticRoute, **values))


@resource("static-routes/{id}/")
class StaticRouteItem:
    @get()
    def read(self, request: Request, id: str) -> Any:
        return Render(request.state).static_route(request.state.routes.get(id))

    @put()
    def update(self, request: Request, id: str) -> Any:
        route = request.state.routes.get(id)
        request.require_admin("")
        form = route_form(request, route)
        form.cleaned = {k: v for k, v in form.cleaned.items() if v is not None}
        assign(route, form, WRITTEN)
        return Render(request.state).static_route(route)

    @delete()
    def delete(self, request: Request, id: str) -> Any:
        route = request.state.routes.get(id)
        request.require_admin("")
        request.state.routes.discard(route)
        return NO_CONTENT
