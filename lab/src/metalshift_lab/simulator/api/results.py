# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""nodes/{system_id}/results/: what scripts found"""

from __future__ import annotations

import base64
import io
import re
import tarfile
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from metalshift_lab.simulator import script_forms
from metalshift_lab.simulator.api.scripts import date
from metalshift_lab.simulator.errors import BadRequest, NotFound
from metalshift_lab.simulator.forms import string_bool
from metalshift_lab.simulator.http import NO_CONTENT, Params, Request, Response
from metalshift_lab.simulator.model import HardwareType, Machine, ScriptResult, ScriptSet
from metalshift_lab.simulator.permissions import may_see
from metalshift_lab.simulator.render import overall
from metalshift_lab.simulator.routing import delete, get, put, resource

CURRENT = {
    "current-commissioning": "commissioning_set",
    "current-testing": "testing_set",
    "current-installation": "installation_set",
}
OUTPUTS = {
    "combined": (("output", ""),),
    "stdout": (("stdout", ".out"),),
    "stderr": (("stderr", ".err"),),
    "result": (("result", ".yaml"),),
    "all": (("output", ""), ("stdout", ".out"), ("stderr", ".err"), ("result", ".yaml")),
}
BINARY = re.compile(r".+\.tar(\..+)?")
PAGE_WIDTH = 80


@resource("nodes/{system_id}/results/")
class Results:
    @get()
    def list(self, request: Request, system_id: str) -> Any:
        node = request.state.node(system_id)
        may_see(request.me, node)
        found = [s for s in request.state.script_sets if s.node is node]
        if "type" in request.query:
            kind = script_forms.plain(request.query.get("type"), script_forms.result_type)
            found = [s for s in found if s.type is kind]
        return [_render(s, request.query) for s in found]


@resource("nodes/{system_id}/results/{id}/")
class ResultItem:
    @get()
    def read(self, request: Request, system_id: str, id: str) -> Any:
        return _render(_find(request, system_id, id), request.query)

    @put(admin=True)
    def update(self, request: Request, system_id: str, id: str) -> Any:
        script_set = _find(request, system_id, id)
        if "suppressed" in request.data:
            suppressed = string_bool(request.data, "suppressed")
            for result in _chosen(script_set, request.data):
                result.suppressed = suppressed
        return _render(script_set, request.data)

    @delete(admin=True)
    def delete(self, request: Request, system_id: str, id: str) -> Any:
        script_set = _find(request, system_id, id)
        for attribute in (*CURRENT.values(), "release_set"):
            if getattr(script_set.node, attribute) is script_set:
                setattr(script_set.node, attribute, None)
        request.state.engine.drop_scripts(script_set)
        return NO_CONTENT

    @get("download")
    def download(self, request: Request, system_id: str, id: str) -> Any:
        """As text, one after the other, or as an archive."""
        script_set = _find(request, system_id, id)
        filetype = request.query.get("filetype", "txt")
        results = _chosen(script_set, request.query)
        files = dict(_files(results, request.query.get("output", "combined"), text=filetype == "txt"))
        if filetype == "txt":
            return Response(200, _text(files), "application/binary")
        if filetype == "tar.xz":
            folder = f"{script_set.node.hostname}-{script_set.type.label.lower()}-{script_set.id}"
            return Response(200, _archive(folder, files), "application/x-tar")
        raise BadRequest(f'Unknown filetype "{filetype}" must be txt or tar.xz')


def _find(request: Request, system_id: str, id: str) -> ScriptSet:
    node = request.state.node(system_id)
    may_see(request.me, node)
    current = getattr(node, CURRENT[id], None) if id in CURRENT and isinstance(node, Machine) else None
    if isinstance(current, ScriptSet):
        return current
    if not id.isdigit():
        raise BadRequest(
            f'Unknown id "{id}" must be current-commissioning, current-testing, current-installation, '
            "or the id number of a specific result."
        )
    found = request.state.script_sets.find(id)
    if found is None or found.node is not node:
        raise NotFound.of("ScriptSet")
    return found


def _chosen(script_set: ScriptSet, values: Params) -> list[ScriptResult]:
    """Those a request's filters let through, by name and disk."""
    found = list(script_set.results)
    if "filters" in values:
        wanted = set(str(values.get("filters")).split(","))
        found = [r for r in found if {r.name, str(r.id), *(r.script.tags if r.script else ())} & wanted]
    if "hardware_type" in values:
        kind = script_forms.plain(str(values.get("hardware_type")), script_forms.hardware_type)
        found = [r for r in found if r.script is not None and r.script.hardware_type is kind]
    return sorted(found, key=lambda r: (r.name, r.disk.name if r.disk else ""))


def _files(results: Iterable[ScriptResult], output: str, *, text: bool) -> Iterable[tuple[str, bytes]]:
    for result in results:
        binary = BINARY.search(result.name) is not None
        for attribute, ending in (("output", ""),) if binary else OUTPUTS.get(output, ()):
            on = result.disk or result.interface
            where = "" if on is None or binary else f" - /dev/{on.name}" if text else f"-{on.name}"
            yield f"{result.name}{ending}{where}", getattr(result, attribute, b"")


def _text(files: dict[str, bytes]) -> bytes:
    if len(files) == 1:
        return next(iter(files.values()))
    parts = []
    for name, content in files.items():
        dashes = "-" * ((PAGE_WIDTH - 2 - len(name)) // 2)
        parts.append(f"{dashes} {name} {dashes}\n".encode())
        parts.append(b"Binary file" if BINARY.search(name) else content)
        parts.append(b"\n")
    return b"".join(parts)


def _archive(folder: str, files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(mode="w:xz", fileobj=buffer) as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(f"{folder}/{name.rsplit('/', 1)[-1]}")
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def _span(started: datetime | None, ended: datetime | None) -> str:
    return str(timedelta(seconds=int((ended - started).total_seconds()))) if started and ended else ""


def _render(script_set: ScriptSet, values: Params) -> dict[str, Any]:
    results = script_set.results
    started = min((r.started for r in results if r.started), default=None)
    ended = max((r.ended for r in results if r.ended), default=None)
    if any(r.ended is None for r in results):
        ended = None
    status = overall(results)
    include_output = bool(values.get("include_output"))
    return {
        "id": script_set.id,
        "system_id": script_set.node.system_id,
        "type": int(script_set.type),
        "type_name": script_set.type.label,
        "last_ping": None,
        "status": int(status),
        "status_name": status.label,
        "started": date(started),
        "ended": date(ended),
        "runtime": _span(started, ended),
        "results": [_render_result(script_set, r, include_output=include_output) for r in _chosen(script_set, values)],
        "resource_uri": f"/MAAS/api/2.0/nodes/{script_set.node.system_id}/results/{script_set.id}/",
    }


def _render_result(script_set: ScriptSet, result: ScriptResult, *, include_output: bool) -> dict[str, Any]:
    timeout = result.script.timeout if result.script else 0
    runtime = _span(result.started, result.ended)
    out: dict[str, Any] = {
        "id": result.id,
        "created": date(script_set.created),
        "updated": date(result.ended or result.started or script_set.created),
        "name": result.name,
        "status": int(result.status),
        "status_name": result.status.label,
        "exit_status": result.exit_status,
        "started": date(result.started),
        "ended": date(result.ended),
        "runtime": runtime,
        "starttime": result.started.timestamp() if result.started else "",
        "endtime": result.ended.timestamp() if result.ended else "",
        "estimated_runtime": runtime or (str(timedelta(seconds=timeout)) if timeout else "Unknown"),
        "parameters": _parameters(result),
        "script_id": result.script.id if result.script else None,
        "script_revision_id": None,
        "suppressed": result.suppressed,
    }
    if include_output:
        for name in ("output", "stdout", "stderr"):
            out[name] = base64.b64encode(getattr(result, name)).decode()
        out["result"] = ""
    return out


def _parameters(result: ScriptResult) -> dict[str, Any]:
    disk = result.disk
    if disk is None or result.script is None or result.script.hardware_type is not HardwareType.STORAGE:
        return {}
    value = {"id": disk.id, "name": disk.name, "model": disk.model, "serial": disk.serial, "id_path": disk.id_path}
    return {"storage": {"type": "storage", "value": value, "argument_format": "{path}"}}
