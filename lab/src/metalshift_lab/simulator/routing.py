# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a noun of the API is declared, and how a request finds its function.

    @resource("zones/{name}/")
    class ZoneResource:
        @get()
        def read(self, request, name): ...
        @put(admin=True)
        def update(self, request, name): ...
        @post("rebuild", admin=True)
        def rebuild(self, request, name): ...

A function answers with JSON data, an `http.Response`, or raises one of `errors`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from metalshift_lab.simulator import errors
from metalshift_lab.simulator.http import PREFIX, Json, Request, Response, encode
from metalshift_lab.simulator.state import State

Function = Callable[..., Any]
C = TypeVar("C", bound=type)
MARK = "__maas_operation__"


@dataclass(frozen=True)
class Operation:
    method: str
    op: str | None
    function: Function
    admin: bool
    anonymous: bool


@dataclass
class Resource:
    pattern: re.Pattern[str]
    path: str
    operations: dict[tuple[str, str | None], Operation] = field(default_factory=dict)
    since: tuple[int, int] = (3, 0)
    vm_hosts: bool = False
    public: bool = False

    def methods(self, *, anonymous: bool = False) -> set[str]:
        return {o.method for o in self.operations.values() if o.anonymous or not anonymous}


RESOURCES: list[Resource] = []


def _operation(method: str) -> Callable[..., Callable[[Function], Function]]:
    def declare(
        op: str | None = None, *, admin: bool = False, anonymous: bool = False
    ) -> Callable[[Function], Function]:
        def mark(function: Function) -> Function:
            declared = [*getattr(function, MARK, []), (method, op, admin, anonymous)]
            setattr(function, MARK, declared)
            return function

        return mark

    return declare


get = _operation("GET")
post = _operation("POST")
put = _operation("PUT")
delete = _operation("DELETE")


def resource(
    *paths: str, since: tuple[int, int] = (3, 0), vm_hosts: bool = False, public: bool = False
) -> Callable[[C], C]:
    """Register a class under paths like "zones/{name}/"; "{cidr:.+}" gives the pattern of a part (default: no slash).

    A path beginning with a slash is not below the API's. `vm_hosts` marks what answers 410 in a MAAS without VM hosts,
    `public` what never looks at credentials.
    """

    def register(cls: C) -> C:
        instance = cls()
        for path in paths:
            pattern = re.sub(
                r"\\\{(\w+)(?::(.+?))?\\\}",
                lambda m: f"(?P<{m[1]}>{_unescape(m[2]) if m[2] else '[^/]+'})",
                re.escape(path),
            )
            found = Resource(re.compile(pattern), path, since=since, vm_hosts=vm_hosts, public=public)
            for name in dir(cls):
                for method, op, admin, anonymous in getattr(getattr(cls, name), MARK, []):
                    found.operations[method, op] = Operation(method, op, getattr(instance, name), admin, anonymous)
            RESOURCES.append(found)
        return cls

    return register


def _unescape(pattern: str) -> str:
    return re.sub(r"\\(.)", r"\1", pattern)


def find(path: str, state: State) -> tuple[Resource, dict[str, str]] | None:
    for candidate in RESOURCES:
        match = candidate.pattern.fullmatch(path)
        if match and state.release >= candidate.since:
            return candidate, match.groupdict()
    return None


def locate(request: Request) -> tuple[Resource, dict[str, str]]:
    """The resource of a request; sets `request.op` when the path itself names the operation."""
    if request.path.startswith("/MAAS/api/1.0/"):
        raise errors.Gone("The 1.0 API is no longer available. Please use API version 2.0.")
    path = request.path.removeprefix(PREFIX)
    operation = re.fullmatch(r"(.*/)op-(\w+)", path) if request.state.release >= (3, 4) else None
    found = find(operation[1], request.state) if operation else find(path, request.state)
    if found is None:
        raise errors.NotFound(f"Unknown API endpoint: {request.path}.")
    if operation:
        request.op = operation[2]
    if found[0].vm_hosts and request.state.vm_hosts_gone:
        raise errors.Gone("VM host (KVM) support has been removed from MAAS.")
    return found


def dispatch(request: Request, found: Resource, arguments: dict[str, str]) -> Response | Json:
    """Run the function a request asks for; the order of the checks is that of MAAS."""
    anonymous = request.user is None
    methods = found.methods(anonymous=anonymous)
    if anonymous and request.method not in methods:
        raise errors.Unauthorized
    if request.broken_json:
        raise errors.BadRequest("Bad Request")
    if request.method not in methods:
        return Response(405, b"", "text/html; charset=utf-8", {"Allow": ", ".join(sorted(methods))})
    body_op = None if request.method in ("GET", "DELETE") else request.data.get("op")
    op = request.op or request.query.get("op") or body_op
    operation = found.operations.get((request.method, op or None))
    if operation is None or (anonymous and not operation.anonymous):
        raise errors.BadRequest(f"Unrecognised signature: method={request.method} op={op}")
    if operation.admin:
        request.require_admin()
    answer = operation.function(request, **arguments)
    if request.query.get("format", "json") != "json":
        raise errors.BadRequest(f"Invalid output format specified '{request.query.get('format')}'.")
    if isinstance(answer, (Response, Json)):
        return answer
    callback = request.query.get("callback")
    if callback:
        # Indented like the real one: somebody may compare the text.
        padded = f"{callback}({json.dumps(answer, indent=4, default=str)})"
        return Response(200, padded, "application/json; charset=utf-8", encode(None).headers)
    return Json(answer)
