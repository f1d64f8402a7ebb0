# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""installation-results/ and commissioning-results/: results of scripts as they were shown before nodes/.../results/"""

from __future__ import annotations

import base64
from typing import Any

from metalshift_lab.simulator.errors import Invalid
from metalshift_lab.simulator.http import Params, Request
from metalshift_lab.simulator.model import ResultType, ScriptResult, ScriptSet, ScriptStatus
from metalshift_lab.simulator.permissions import visible
from metalshift_lab.simulator.render import moment
from metalshift_lab.simulator.routing import get, resource

KINDS = tuple(str(int(kind)) for kind in ResultType)
STILL_GOING = (ScriptStatus.PENDING, ScriptStatus.RUNNING)


@resource("installation-results/", "commissioning-results/")
class InstallationResults:
    @get()
    def list(self, request: Request) -> Any:
        kind = request.query.get("result_type")
        if kind is not None and kind not in KINDS:
            known = f"Select a valid choice. {kind} is not one of the available choices."
            raise Invalid({"result_type": [known]})
        return [
            _render(script_set, result)
            for script_set in request.state.script_sets
            for result in script_set.results
            if visible(request.me, script_set.node)
            and result.status not in STILL_GOING
            and _wanted(request.query, "system_id", script_set.node.system_id)
            and _wanted(request.query, "name", result.name)
            and kind in (None, str(int(script_set.type)))
        ]


def _wanted(query: Params, name: str, value: str) -> bool:
    return name not in query or value in query.getlist(name)


def _render(script_set: ScriptSet, result: ScriptResult) -> dict[str, Any]:
    return {
        "id": result.id,
        "created": f"{moment(script_set.created)}Z",
        "updated": f"{moment(result.ended or script_set.created)}Z",
        "name": result.name,
        "script_result": result.exit_status,
        "result_type": int(script_set.type),
        "node": {"system_id": script_set.node.system_id},
        "data": base64.b64encode(result.output).decode(),
        "resource_uri": "/MAAS/api/2.0/commissioning-scripts/",
    }
