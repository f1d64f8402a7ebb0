# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""scripts/; a single one has no slash at its end"""

from __future__ import annotations

import base64
from datetime import datetime, timedelta
from email.utils import format_datetime
from typing import Any

from metalshift_lab.simulator import script_forms
from metalshift_lab.simulator.errors import BadRequest, NotFound
from metalshift_lab.simulator.forms import mandatory, whole
from metalshift_lab.simulator.http import NO_CONTENT, Request, Response
from metalshift_lab.simulator.model import Script, ScriptVersion
from metalshift_lab.simulator.routing import delete, get, post, put, resource
from metalshift_lab.simulator.state import State

TYPE_NAMES = {"COMMISSIONING": "Commissioning script", "TESTING": "Testing script", "RELEASE": "Release script"}


def find(state: State, name: str) -> Script:
    """By id or by name."""
    return state.scripts.get(name) if name.isdigit() else state.scripts.only(name=name)


@resource("scripts/")
class Scripts:
    @get()
    def list(self, request: Request) -> Any:
        query = request.query
        found = list(request.state.scripts)
        if "type" in query:
            kind = script_forms.plain(query.get("type"), script_forms.script_type)
            found = [s for s in found if s.type is kind]
        if "hardware_type" in query:
            hardware = script_forms.plain(query.get("hardware_type"), script_forms.hardware_type)
            found = [s for s in found if s.hardware_type is hardware]
        if "filters" in query:
            wanted = set(query.get("filters").split(","))
            found = [s for s in found if s.name in wanted or wanted & set(s.tags)]
        return [render(s, include_script=bool(query.get("include_script"))) for s in found]

    @post(admin=True)
    def create(self, request: Request) -> Any:
        return render(script_forms.save(request.state, script_forms.read(request)))


@resource("scripts/{name}")
class ScriptItem:
    @get()
    def read(self, request: Request, name: str) -> Any:
        return render(find(request.state, name), include_script=bool(request.query.get("include_script")))

    @put(admin=True)
    def update(self, request: Request, name: str) -> Any:
        script = find(request.state, name)
        return render(script_forms.save(request.state, script_forms.read(request, script), script))

    @delete(admin=True)
    def delete(self, request: Request, name: str) -> Any:
        script = find(request.state, name)
        if script.default:
            raise BadRequest("Unable to delete default script")
        for result in request.state.script_results.where(script=script):
            result.script = None
        request.state.scripts.discard(script)
        return NO_CONTENT

    @get("download")
    def download(self, request: Request, name: str) -> Any:
        script = find(request.state, name)
        wanted = next((key for key in ("revision", "rev") if key in request.query), None)
        if wanted is None:
            return _binary(script.history[-1])
        revision = whole(request.query, wanted, 0)
        found = next((v for v in script.history if v.id == revision), None)
        if found is None:
            raise BadRequest(f"{revision} not found in history")
        return _binary(found)

    @post("revert", admin=True)
    def revert(self, request: Request, name: str) -> Any:
        mandatory(request.data, "to")
        to = whole(request.data, "to", 0)
        script = find(request.state, name)
        if script.default:
            raise BadRequest("Unable to revert default script")
        script_forms.revert(request.state, script, to)
        return render(script)

    @post("add_tag", admin=True)
    def add_tag(self, request: Request, name: str) -> Any:
        tag = mandatory(request.data, "tag")
        if "," in tag:
            raise BadRequest('Tag may not contain a ",".')
        script = find(request.state, name)
        if tag not in script.tags:
            script.tags.append(tag)
        script_forms.tag_by_kind(script)
        return render(script)

    @post("remove_tag", admin=True)
    def remove_tag(self, request: Request, name: str) -> Any:
        tag = mandatory(request.data, "tag")
        script = find(request.state, name)
        script.tags = [t for t in script.tags if t != tag]
        script_forms.tag_by_kind(script)
        return render(script)


def _binary(version: ScriptVersion) -> Response:
    return Response(200, version.content, "application/binary")


def date(value: datetime | None) -> str | None:
    return format_datetime(value) if value else None


def render(script: Script, *, include_script: bool = False) -> dict[str, Any]:
    return {
        "id": script.id,
        "name": script.name,
        "title": script.title,
        "description": script.description,
        "tags": list(script.tags),
        "type": int(script.type),
        "type_name": TYPE_NAMES[script.type.name],
        "hardware_type": int(script.hardware_type),
        "hardware_type_name": script.hardware_type.label,
        "parallel": script.parallel,
        "parallel_name": script_forms.PARALLEL_NAMES[script.parallel],
        "results": script.results,
        "parameters": script.parameters,
        "packages": script.packages,
        "timeout": str(timedelta(seconds=script.timeout)),
        "destructive": script.destructive,
        "for_hardware": list(script.for_hardware),
        "may_reboot": script.may_reboot,
        "recommission": script.recommission,
        "apply_configured_networking": script.apply_configured_networking,
        "default": script.default,
        "history": [_render_version(v, include_script=include_script) for v in reversed(script.history)],
        "resource_uri": f"/MAAS/api/2.0/scripts/{script.name}",
    }


def _render_version(version: ScriptVersion, *, include_script: bool) -> dict[str, Any]:
    out: dict[str, Any] = {"id": version.id, "comment": version.comment, "created": date(version.created)}
    if include_script:
        out["data"] = base64.b64encode(version.content.encode()).decode()
    return out


@resource("commissioning-scripts/")
class CommissioningScripts:
    """The names of commissioning scripts, from before there were others."""

    @get()
    def list(self, request: Request) -> Any:
        return sorted(s.name for s in request.state.scripts if s.type.name == "COMMISSIONING")


@resource("commissioning-scripts/{name}")
class CommissioningScript:
    @get()
    def read(self, request: Request, name: str) -> Any:
        script = request.state.scripts.first(name=name)
        if script is None or script.type.name != "COMMISSIONING":
            raise NotFound.of("Script")
        return _binary(script.history[-1])

    @delete(admin=True)
    def delete(self, request: Request, name: str) -> Any:
        return ScriptItem().delete(request, name)
