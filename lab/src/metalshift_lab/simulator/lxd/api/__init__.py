# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""LXD's HTTPS API, as far as its clients in the lab go, with the answers that real ones gave."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

from metalshift_lab.simulator.http import Request, Response
from metalshift_lab.simulator.lxd.api import (  # noqa: F401  (they register what they answer for)
    certificates,
    instances,
    networks,
    operations,
    pools,
    profiles,
    projects,
    root,
)
from metalshift_lab.simulator.lxd.api.asked import (
    BAD_REQUEST,
    FORBIDDEN,
    NOT_AUTHORIZED,
    NOT_FOUND,
    UNKNOWN,
    Answer,
    Asked,
    Client,
    Refused,
)
from metalshift_lab.simulator.lxd.api.operations import RUNNING, Operation, Operations
from metalshift_lab.simulator.lxd.api.routing import find
from metalshift_lab.simulator.lxd.server import Server

VERSION = "1.0"
# What an untrusted client may ask, too.
OPEN = (("GET", ""), ("POST", "certificates"))


class Api:
    """The API of one server. Whoever asks it holds the lock of the server's world."""

    def __init__(self, server: Server, now: Callable[[], datetime]) -> None:
        self.server, self.now = server, now
        self.operations = Operations(now)

    def answer(self, request: Request) -> Response:
        try:
            return _encode(self._answer(request))
        except Refused as refusal:
            return refuse(refusal.status, str(refusal))

    def client(self, known: str) -> Client:
        """Who comes with a certificate, or without one."""
        return Client(known, self.server.certificate(known) if known in self.server.trusted else None)

    def _answer(self, request: Request) -> Answer | Operation:
        version, _slash, path = request.path.strip("/").partition("/")
        if not version and request.method == "GET":
            return Answer([f"/{VERSION}"])
        if version != VERSION:
            raise Refused(NOT_FOUND, UNKNOWN)
        client = self.client(request.certificate)
        if not client.trusted and (request.method, path) not in OPEN:
            raise Refused(FORBIDDEN, NOT_AUTHORIZED)
        handler, arguments = find(request.method, path)
        asked = Asked(
            server=self.server,
            client=client,
            method=request.method,
            path=path,
            query=request.query,
            body=_body(request),
            if_match=request.headers.get("If-Match", ""),
            operations=self.operations,
            now=self.now,
        )
        answered: Answer | Operation = handler(asked, **arguments)
        return answered


def refuse(status: int, words: str) -> Response:
    return _response(status, {"type": "error", "error_code": status, "error": words, "metadata": None})


def _body(request: Request) -> Any:
    if not request.body:
        return None
    try:
        return json.loads(request.body)
    except ValueError as error:
        raise Refused(BAD_REQUEST, str(error)) from None


def _encode(answer: Answer | Operation) -> Response:
    if isinstance(answer, Operation):
        said = {"type": "async", "status": "Operation created", "status_code": 100, "operation": answer.address}
        return _response(202, {**said, "metadata": answer.document(RUNNING)}, {"Location": answer.address})
    headers = {"Location": answer.location} if answer.location else {}
    headers |= {"Etag": f'"{answer.etag}"'} if answer.etag else {}
    said = {"type": "sync", "status": "Success", "status_code": 200, "metadata": answer.value}
    return _response(answer.status, said, headers)


def _response(status: int, said: dict[str, Any], headers: dict[str, str] | None = None) -> Response:
    whole = {"type": "", "status": "", "status_code": 0, "operation": "", "error_code": 0, "error": "", **said}
    return Response(status, json.dumps(whole), "application/json", headers or {})
