# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an LXD is asked, by whom, and in which forms it answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from metalshift_lab.simulator.http import Params
from metalshift_lab.simulator.lxd.server import Certificate, Server

if TYPE_CHECKING:
    from metalshift_lab.simulator.lxd.api.operations import Operations

BAD_REQUEST, FORBIDDEN, NOT_FOUND, CONFLICT, STALE, BROKEN, NO_LONGER = 400, 403, 404, 409, 412, 500, 501
UNKNOWN, NOT_AUTHORIZED = "not found", "not authorized"


class Refused(Exception):
    """An answer other than success, in LXD's words."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


@dataclass(frozen=True)
class Answer:
    """Of a request that is done when it is answered."""

    value: Any = field(default_factory=dict)
    status: int = 200
    location: str = ""
    etag: str = ""

    @classmethod
    def created(cls, location: str) -> Answer:
        return cls(None, 201, location)


@dataclass(frozen=True)
class Client:
    """Who asks: `known` is the certificate of the connection, empty without one."""

    known: str = ""
    certificate: Certificate | None = None

    @property
    def trusted(self) -> bool:
        return self.certificate is not None

    @property
    def restricted(self) -> bool:
        return self.certificate is not None and self.certificate.restricted

    def may_enter(self, project: str) -> bool:
        return self.certificate is not None and self.certificate.may_enter(project)


@dataclass
class Asked:
    """One request to one server."""

    server: Server
    client: Client
    method: str
    path: str
    query: Params
    body: Any
    if_match: str
    operations: Operations
    now: Callable[[], datetime]

    @property
    def project(self) -> str:
        return str(self.query.get("project") or "default")

    @property
    def recursive(self) -> bool:
        return str(self.query.get("recursion", "0")).partition(";")[0] not in ("", "0")

    @property
    def wish(self) -> dict[str, Any]:
        """The body; LXD reads JSON whatever the content type."""
        if not isinstance(self.body, dict):
            raise Refused(BAD_REQUEST, "EOF")
        return self.body

    def name_wished(self) -> str:
        if not self.wish.get("name"):
            raise Refused(BAD_REQUEST, "No name provided")
        return str(self.wish["name"])

    def listed(self, documents: dict[str, Any]) -> Answer:
        """A collection: addresses, or with recursion what is there."""
        return Answer(list(documents.values()) if self.recursive else list(documents))

    def tagged(self, document: Any) -> Answer:
        return Answer(document, etag=etag(document))

    def require_current(self, document: Any) -> None:
        """A change may say which state it is about."""
        given = self.if_match.strip('"')
        if given and given != etag(document):
            raise Refused(STALE, f"ETag doesn't match: {etag(document)} vs {given}")

    def require_unrestricted(self) -> None:
        if self.client.restricted:
            raise Refused(FORBIDDEN, self.server.knows.restricted)


def etag(document: Any) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def address(*parts: str, project: str = "default") -> str:
    """As LXD refers to something; what is in the default project does not say so."""
    path = "/".join(("/1.0", *parts))
    return path if project == "default" else f"{path}?project={project}"


def changed(old: dict[str, str], given: dict[str, Any] | None, *, replace: bool) -> dict[str, str]:
    """A configuration after PUT or PATCH: an empty value takes a key away."""
    merged = {**({} if replace else old), **{key: _text(value) for key, value in (given or {}).items()}}
    return {key: value for key, value in merged.items() if value != ""}


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)
