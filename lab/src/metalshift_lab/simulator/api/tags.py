# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""tags/"""

from __future__ import annotations

import re
from typing import Any

from metalshift_lab.simulator.errors import Conflict
from metalshift_lab.simulator.forms import Field, Form, Wrong, assign, optional, pattern
from metalshift_lab.simulator.http import NO_CONTENT, Request
from metalshift_lab.simulator.model import Controller, Device, Machine, Node, Tag
from metalshift_lab.simulator.permissions import visible
from metalshift_lab.simulator.render import Render
from metalshift_lab.simulator.routing import delete, get, post, put, resource


def xpath(value: str) -> str:
    """The mistakes in an XPath that can be seen without an XML library."""
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", "s", value)
    problem = ""
    if "'" in bare or '"' in bare:
        problem = "Unfinished literal"
    elif bare.count("[") != bare.count("]"):
        problem = "Invalid predicate"
    elif bare.count("(") != bare.count(")") or re.search(
        r"[\[(/|=<>+!]\s*$|[^\w.*\s/@\[\]()=<>!|+:,$-]|^\s*[\])=]|\(\s*\(\s*\)|\[\s*\]", bare
    ):
        problem = "Invalid expression"
    if problem:
        raise Wrong(f"Invalid xpath expression: {problem}")
    return value


FIELDS = (
    Field("name", pattern(r"[a-zA-Z0-9_-]+", max_length=256), required=True),
    Field("comment"),
    Field("definition", xpath),
    Field("kernel_opts"),
)
NAMES = [f.name for f in FIELDS]


def tag_form(request: Request, tag: Tag | None = None) -> Form:
    form = Form(request.data, FIELDS, partial=tag is not None)
    form.unique("name", "Tag", {t.name for t in request.state.tags if t is not tag})
    form.finish()
    return form


@resource("tags/")
class Tags:
    @get()
    def list(self, request: Request) -> Any:
        render = Render(request.state)
        return [render.tag(t) for t in sorted(request.state.tags, key=lambda t: t.name)]

    @post()
    def create(self, request: Request) -> Any:
        request.require_admin("")
        form = tag_form(request)
        return Render(request.state).tag(request.state.tags.make(Tag, **form.cleaned))


@resource("tags/{name}/")
class TagItem:
    @get()
    def read(self, request: Request, name: str) -> Any:
        return Render(request.state).tag(request.state.tags.only(name=name))

    @put()
    def update(self, request: Request, name: str) -> Any:
        request.require_admin("")
        tag = request.state.tags.only(name=name)
        assign(tag, tag_form(request, tag), NAMES)
        return Render(request.state).tag(tag)

    @delete()
    def delete(self, request: Request, name: str) -> Any:
        request.require_admin("")
        tag = request.state.tags.only(name=name)
        for node in request.state.nodes:
            if tag in node.tags:
                node.tags.remove(tag)
        request.state.tags.discard(tag)
        return NO_CONTENT

    @get("nodes")
    def nodes(self, request: Request, name: str) -> Any:
        return _tagged(request, name, Node)

    @get("machines")
    def machines(self, request: Request, name: str) -> Any:
        return _tagged(request, name, Machine)

    @get("devices")
    def devices(self, request: Request, name: str) -> Any:
        return _tagged(request, name, Device)

    @get("rack_controllers")
    def rack_controllers(self, request: Request, name: str) -> Any:
        return _tagged(request, name, Controller)

    @get("region_controllers")
    def region_controllers(self, request: Request, name: str) -> Any:
        return _tagged(request, name, Controller)

    @post("rebuild")
    def rebuild(self, request: Request, name: str) -> Any:
        request.require_admin("")
        return {"rebuilding": request.state.tags.only(name=name).name}

    @post("update_nodes")
    def update_nodes(self, request: Request, name: str) -> Any:
        """Counts what matched, not what changed; unknown ids are ignored."""
        tag = request.state.tags.only(name=name)
        request.require_admin("")
        definition = optional(request.data, "definition", tag.definition)
        if definition != tag.definition:
            raise Conflict(f"Definition supplied '{definition}' doesn't match current definition '{tag.definition}'")
        add, remove = (_nodes(request, request.data.getlist(key)) for key in ("add", "remove"))
        for node in add:
            if tag not in node.tags:
                node.tags.append(tag)
        for node in remove:
            if tag in node.tags:
                node.tags.remove(tag)
        return {"added": len(add), "removed": len(remove)}


def _nodes(request: Request, system_ids: list[str]) -> list[Node]:
    found = (request.state.node_by_system_id(s) for s in dict.fromkeys(system_ids))
    return [n for n in found if n is not None]


def _tagged(request: Request, name: str, kind: type[Node]) -> Any:
    tag = request.state.tags.only(name=name)
    render = Render(request.state)
    return [
        render.node(n) for n in request.state.nodes if isinstance(n, kind) and tag in n.tags and visible(request.me, n)
    ]
