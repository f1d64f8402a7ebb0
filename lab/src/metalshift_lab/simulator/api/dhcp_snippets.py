# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""dhcp-snippets/"""

from __future__ import annotations

from typing import Any

from metalshift_lab.simulator import network
from metalshift_lab.simulator.errors import BadRequest
from metalshift_lab.simulator.forms import REQUIRED, Field, Form, among, assign, form_bool, mandatory, whole
from metalshift_lab.simulator.http import NO_CONTENT, Request
from metalshift_lab.simulator.model import DHCPSnippet, ScriptVersion
from metalshift_lab.simulator.render import Render, moment
from metalshift_lab.simulator.routing import delete, get, post, put, resource
from metalshift_lab.simulator.state import State


def snippet_form(request: Request, snippet: DHCPSnippet | None = None) -> Form:
    state = request.state
    fields = [
        Field("name", required=True),
        Field("value"),
        Field("description"),
        Field("enabled", form_bool, empty=True),
        Field("node", among(state.node_by_system_id), empty=None),
        Field("subnet", among(lambda v: network.find_subnet(state, v)), empty=None),
        Field("global_snippet", form_bool, empty=False),
    ]
    form = Form(request.data, fields, partial=snippet is not None)
    if snippet is None and not form.unbound and not form.get("value"):
        form.fail("value", REQUIRED)
    if form.get("global_snippet"):
        form.cleaned["node"] = form.cleaned["subnet"] = None
    elif form.get("node") is not None:
        form.cleaned["subnet"] = None
    elif form.get("subnet") is not None:
        form.cleaned["node"] = None
    form.finish()
    return form


@resource("dhcp-snippets/")
class DHCPSnippets:
    @get()
    def list(self, request: Request) -> Any:
        return [_render(request.state, s) for s in request.state.dhcp_snippets]

    @post(admin=True)
    def create(self, request: Request) -> Any:
        state = request.state
        form = snippet_form(request)
        snippet = state.dhcp_snippets.make(DHCPSnippet, name=form.cleaned["name"])
        _write(state, snippet, form)
        return _render(state, snippet)


@resource("dhcp-snippets/{id}/")
class DHCPSnippetItem:
    @get()
    def read(self, request: Request, id: str) -> Any:
        return _render(request.state, request.state.dhcp_snippets.get(id))

    @put(admin=True)
    def update(self, request: Request, id: str) -> Any:
        snippet = request.state.dhcp_snippets.get(id)
        _write(request.state, snippet, snippet_form(request, snippet))
        return _render(request.state, snippet)

    @delete(admin=True)
    def delete(self, request: Request, id: str) -> Any:
        request.state.dhcp_snippets.discard(request.state.dhcp_snippets.get(id))
        return NO_CONTENT

    @post("revert", admin=True)
    def revert(self, request: Request, id: str) -> Any:
        """To a revision by its id, or back by a number of steps."""
        mandatory(request.data, "to")
        to = whole(request.data, "to", 0)
        snippet = request.state.dhcp_snippets.get(id)
        ids = [v.id for v in snippet.history]
        position = ids.index(to) if to in ids else len(ids) - 1 + to
        if to not in ids and (to >= 0 or position < 0):
            raise BadRequest("Goes too far back." if to < 0 else f"{to} not found in history")
        del snippet.history[position + 1 :]
        return _render(request.state, snippet)


def _write(state: State, snippet: DHCPSnippet, form: Form) -> None:
    assign(snippet, form, ("name", "description", "enabled", "node", "subnet"))
    value = form.get("value")
    if value and (not snippet.history or snippet.history[-1].content != value):
        snippet.history.append(state.script_versions.make(ScriptVersion, content=value, created=state.now))


def _render(state: State, snippet: DHCPSnippet) -> dict[str, Any]:
    render = Render(state)
    return {
        "id": snippet.id,
        "name": snippet.name,
        "description": snippet.description,
        "value": snippet.history[-1].content,
        "history": [{"id": v.id, "value": v.content, "created": moment(v.created)} for v in reversed(snippet.history)],
        "enabled": snippet.enabled,
        "node": render.node(snippet.node) if snippet.node else None,
        "subnet": render.subnet(snippet.subnet) if snippet.subnet else None,
        "global_snippet": snippet.node is None and snippet.subnet is None,
        "resource_uri": f"/MAAS/api/2.0/dhcp-snippets/{snippet.id}/",
    }
