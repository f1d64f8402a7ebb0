# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""version/, describe/, openapi.yaml: what needs no credentials."""

from __future__ import annotations

from typing import Any

from metalshift_lab.simulator.http import API_HASH, PREFIX, Request, Response
from metalshift_lab.simulator.routing import RESOURCES, get, resource

CAPABILITIES = [
    "networks-management",
    "static-ipaddresses",
    "ipv6-deployment-ubuntu",
    "devices-management",
    "storage-deployment-ubuntu",
    "network-deployment-ubuntu",
    "bridging-interface-ubuntu",
    "bridging-automatic-ubuntu",
    "authenticate-api",
]


@resource("version/", public=True)
class Version:
    @get(anonymous=True)
    def read(self, request: Request) -> Any:
        return {"capabilities": CAPABILITIES, "version": request.state.version, "subversion": ""}


@resource("describe/", public=True)
class Describe:
    """The table of resources, as far as the simulator has them."""

    @get(anonymous=True)
    def read(self, request: Request) -> Any:
        resources = [
            {
                "name": found.path,
                "path": f"{PREFIX}{found.path}",
                "actions": [
                    {"method": o.method, "op": o.op, "restful": o.op is None, "anonymous": o.anonymous}
                    for o in found.operations.values()
                ],
            }
            for found in RESOURCES
            if request.state.release >= found.since and not found.path.startswith("/")
        ]
        return {"doc": "MAAS API (simulated)", "hash": API_HASH, "resources": resources}


@resource("openapi.yaml", public=True)
class OpenApi:
    @get(anonymous=True)
    def read(self, request: Request) -> Response:
        lines = [
            "openapi: 3.0.0",
            "info:",
            "  title: MAAS HTTP API (simulated)",
            f"  version: {request.state.version}",
            "paths:",
        ]
        for found in RESOURCES:
            if request.state.release < found.since or found.path.startswith("/"):
                continue
            plain = [o for o in found.operations.values() if o.op is None]
            named = [o for o in found.operations.values() if o.op is not None]
            for path, operations in [(found.path, plain), *((f"{found.path}op-{o.op}", [o]) for o in named)]:
                lines += [f"  '/{path}':"] if operations else []
                for operation in operations:
                    lines += [
                        f"    {operation.method.lower()}:",
                        "      responses:",
                        "        default:",
                        "          description: see describe/",
                    ]
        return Response(200, "\n".join(lines) + "\n", "text/plain; charset=utf-8")
