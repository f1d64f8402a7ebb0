# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""events/: what happened to nodes, newest first, in pages"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from metalshift_lab.simulator.constraints import READ, Wish
from metalshift_lab.simulator.errors import BadRequest
from metalshift_lab.simulator.forms import optional, whole
from metalshift_lab.simulator.http import Request
from metalshift_lab.simulator.model import Device, Event, Machine
from metalshift_lab.simulator.permissions import visible
from metalshift_lab.simulator.routing import get, resource

LEVELS = {"AUDIT": 0, "DEBUG": 10, "INFO": 20, "WARNING": 30, "ERROR": 40, "CRITICAL": 50}
PAGE, MOST = 100, 1000
# What a link to another page repeats.
KEPT = ("agent_name", "domain", "hostname", "id", "level", "limit", "mac_address", "op", "zone", "owner")
OPTIONS = ("op", "level", "limit", "before", "after", "owner", "format")


@resource("events/")
class Events:
    @get("query")
    def query(self, request: Request) -> Any:
        after, before = (
            whole(request.query, name, -1) if name in request.query else None for name in ("after", "before")
        )
        level = optional(request.query, "level", "INFO")
        limit = whole(request.query, "limit", PAGE)
        if limit > MOST:
            raise BadRequest(f"Requested number of events {limit} is greater than limit: {MOST}")
        nodes = _nodes(request)
        if level not in LEVELS:
            raise BadRequest(f"Unrecognised log level: {level}")
        if after is not None and before is not None:
            raise BadRequest("There is undetermined behaviour when both `after` and `before` are specified.")
        owner = request.query.get("owner")
        found = [
            e
            for e in request.state.events
            if e.node is not None
            and e.node.id in nodes
            and _shown(e, level)
            and owner in (None, e.username)
            and (before is None or e.id < before)
            and (after is None or e.id > after)
        ]
        limit = max(1, limit)
        page = (found[:limit] if after is not None else found[-limit:])[::-1]
        return {
            "count": len(page),
            "events": [_render(e) for e in page],
            "next_uri": _newer(request, page, before),
            "prev_uri": _older(request, page, after),
        }


def _nodes(request: Request) -> set[int]:
    wish = Wish.read(request.state, request.query, READ, OPTIONS)
    found = set()
    for node in wish.candidates():
        fits = wish.matches(node) if isinstance(node, Machine) else wish.matches_node(node)
        if fits and not isinstance(node, Device) and visible(request.me, node):
            found.add(node.id)
    return found


def _shown(event: Event, level: str) -> bool:
    if level == "AUDIT":
        return event.level == "AUDIT"
    return LEVELS[event.level] >= LEVELS[level]


def _newer(request: Request, page: list[Event], before: int | None) -> str | None:
    if page:
        return _link(request, after=page[0].id)
    return _link(request) if before is None else _link(request, after=before - 1)


def _older(request: Request, page: list[Event], after: int | None) -> str | None:
    if page:
        return _link(request, before=page[-1].id)
    return None if after is None else _link(request, before=after + 1)


def _link(request: Request, **position: int) -> str:
    pairs = [(k, v) for k, v in request.query.pairs() if k in KEPT]
    return f"/MAAS/api/2.0/events/?{urlencode([*pairs, *position.items()])}"


def _render(event: Event) -> dict[str, Any]:
    return {
        "id": event.id,
        "node": event.node.system_id if event.node else None,
        "hostname": event.hostname,
        "username": event.username or "unknown",
        "level": event.level,
        "created": event.created.strftime("%a, %d %b. %Y %H:%M:%S"),
        "type": event.type,
        "description": event.description,
    }
