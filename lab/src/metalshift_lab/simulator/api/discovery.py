# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""discovery/: nobody watches a network here, so nothing is ever discovered"""

from __future__ import annotations

from typing import Any

from metalshift_lab.simulator.errors import BadRequest, Forbidden, NotFound
from metalshift_lab.simulator.forms import mandatory, string_bool
from metalshift_lab.simulator.http import NO_CONTENT, Request
from metalshift_lab.simulator.routing import get, post, resource

NOT_CLEAR = (
    "Bad request: could not determine what data to clear.\n    Must specify mdns=True, neighbours=True, or all=True."
)


@resource("discovery/")
class Discoveries:
    @get()
    @get("by_unknown_mac")
    @get("by_unknown_ip")
    @get("by_unknown_ip_and_mac")
    def list(self, _request: Request) -> Any:
        return []

    @post("clear")
    def clear(self, request: Request) -> Any:
        wanted = [string_bool(request.data, name) for name in ("all", "mdns", "neighbours")]
        if not request.is_admin:
            raise Forbidden("Must be an administrator to clear discovery entries.")
        if not any(wanted):
            raise BadRequest(NOT_CLEAR)
        return NO_CONTENT

    @post("clear_by_mac_and_ip")
    def clear_by_mac_and_ip(self, request: Request) -> Any:
        mandatory(request.data, "ip")
        mandatory(request.data, "mac")
        if not request.is_admin:
            raise Forbidden("Must be an administrator to clear discovery entries.")
        return NO_CONTENT

    @post("scan", admin=True)
    def scan(self, request: Request) -> Any:
        rack = [request.state.rack.system_id]
        connected = request.state.rack.connected
        return {
            "result": "Scanning is in-progress." if connected else "Unable to initiate network scanning.",
            "scan_attempted_on": rack if connected else [],
            "failed_to_connect_to": [] if connected else rack,
            "scan_started_on": rack if connected else [],
            "scan_failed_on": [],
            "rpc_call_timed_out_on": [],
        }


@resource("discovery/{id}/")
class DiscoveryItem:
    @get()
    def read(self, _request: Request, id: str) -> Any:
        raise NotFound.of("Discovery")
