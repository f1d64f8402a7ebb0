# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""resourcepools/ and resourcepool/"""

from __future__ import annotations

from typing import Any

from metalshift_lab.simulator.api.zones import MODEL_NAME
from metalshift_lab.simulator.errors import BadRequest
from metalshift_lab.simulator.forms import Field, Form, assign
from metalshift_lab.simulator.http import NO_CONTENT, Request
from metalshift_lab.simulator.model import Machine, Pool
from metalshift_lab.simulator.render import Render
from metalshift_lab.simulator.routing import delete, get, post, put, resource
from metalshift_lab.simulator.state import State

FIELDS = (Field("name", MODEL_NAME, required=True), Field("description"))


def pool_form(request: Request, pool: Pool | None = None) -> Form:
    form = Form(request.data, FIELDS, partial=pool is not None)
    form.unique("name", "Resource pool", {p.name for p in request.state.pools if p is not pool})
    form.finish()
    return form


def find(state: State, specifier: str) -> Pool:
    """By id or by name."""
    return state.pools.find(specifier) or state.pools.only(name=specifier)


@resource("resourcepools/")
class Pools:
    @get()
    def list(self, request: Request) -> Any:
        render = Render(request.state)
        return [render.pool(p) for p in request.state.pools]

    @post()
    def create(self, request: Request) -> Any:
        request.require_admin("")
        form = pool_form(request)
        return Render(request.state).pool(request.state.pools.make(Pool, **form.cleaned))


@resource("resourcepool/{id}/")
class PoolItem:
    @get()
    def read(self, request: Request, id: str) -> Any:
        return Render(request.state).pool(find(request.state, id))

    @put()
    def update(self, request: Request, id: str) -> Any:
        pool = find(request.state, id)
        request.require_admin("")
        assign(pool, pool_form(request, pool), ("name", "description"))
        return Render(request.state).pool(pool)

    @delete()
    def delete(self, request: Request, id: str) -> Any:
        pool = find(request.state, id)
        request.require_admin("")
        if pool is request.state.default_pool:
            raise BadRequest("This is the default pool, it cannot be deleted.")
        if any(isinstance(n, Machine) and n.pool is pool for n in request.state.nodes):
            raise BadRequest("Pool has machines in it, it cannot be deleted.")
        for host in request.state.vm_hosts:
            if host.pool is pool:
                host.pool = request.state.default_pool
        request.state.pools.discard(pool)
        return NO_CONTENT
