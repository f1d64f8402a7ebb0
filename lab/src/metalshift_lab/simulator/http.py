# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests as MAAS sees them, and the answers it gives."""

from __future__ import annotations

import email.parser
import email.policy
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from metalshift_lab.simulator import errors
from metalshift_lab.simulator.model import User
from metalshift_lab.simulator.state import State

PREFIX = "/MAAS/api/2.0/"
API_HASH = "bd3008aa4117851381834a8aef52b26b8d88ef14"
# Longer lists are sent without indentation: Python indents slowly.
INDENTED = 25


class Params:
    """Parameters of a query or a form: a key may come several times; `get` gives the last one, as Django does."""

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self._values: dict[str, list[str]] = {}
        for key, value in pairs:
            self._values.setdefault(key, []).append(value)

    def get(self, key: str, default: Any = None) -> Any:
        values = self._values.get(key)
        return values[-1] if values else default

    def getlist(self, key: str) -> list[str]:
        return list(self._values.get(key, ()))

    def lists(self) -> dict[str, list[str]]:
        return {k: list(v) for k, v in self._values.items()}

    def without(self, *keys: str) -> Params:
        return Params((k, v) for k, v in self.pairs() if k not in keys)

    def pairs(self) -> Iterator[tuple[str, str]]:
        return ((k, v) for k, values in self._values.items() for v in values)

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class JsonParams(Params):
    """A JSON body. MAAS keeps it as a plain dict, so whatever reads lists from it fails with a 500."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__()
        self.values = dict(values)

    def get(self, key: str, default: Any = None) -> Any:
        value = self.values.get(key, default)
        return value if isinstance(value, str) or value is None or value is default else str(value)

    def getlist(self, key: str) -> list[str]:
        raise errors.ServerError("'dict' object has no attribute 'getlist'")

    def lists(self) -> dict[str, list[str]]:
        raise errors.ServerError("'dict' object has no attribute 'lists'")

    def pairs(self) -> Iterator[tuple[str, str]]:
        return ((k, str(v)) for k, v in self.values.items())

    def without(self, *keys: str) -> Params:
        return JsonParams({k: v for k, v in self.values.items() if k not in keys})

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)


class NoParams(Params):
    """A body of an unknown content type: forms stay unbound, their error is an empty object."""


@dataclass
class Request:
    """One request. `data` is the body of POST and PUT, `query` what follows the question mark."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes = b""
    path: str = ""
    query: Params = field(default_factory=Params)
    data: Params = field(default_factory=Params)
    files: dict[str, bytes] = field(default_factory=dict)
    op: str | None = None
    user: User | None = None
    broken_json: bool = False
    certificate: str = ""  # of a client that showed one, as PEM without white space
    _state: State | None = None
    _after_commit: list[Callable[[], None]] = field(default_factory=list)

    @property
    def state(self) -> State:
        assert self._state is not None
        return self._state

    @property
    def me(self) -> User:
        """The user who asks; only for handlers that are not anonymous."""
        assert self.user is not None
        return self.user

    @property
    def is_admin(self) -> bool:
        return self.user is not None and self.user.is_superuser

    def require_admin(self, text: str = errors.ADMIN_ONLY) -> None:
        if not self.is_admin:
            raise errors.Forbidden(text)

    def after_commit(self, act: Callable[[], None]) -> None:
        """What MAAS does after its commit (power!): not shown in the answer; its failure is, but undoes nothing."""
        self._after_commit.append(act)

    def run_after_commit(self) -> None:
        for act in self._after_commit:
            act()

    @property
    def content_type(self) -> str:
        return self.headers.get("Content-Type", "").split(";")[0].strip().lower()

    @property
    def raw_path(self) -> str:
        return urlsplit(self.target).path

    @property
    def raw_query(self) -> str:
        return urlsplit(self.target).query

    @classmethod
    def parse(cls, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Request:
        headers = {k.title(): v for k, v in headers.items()}
        request = cls(method=method, target=target, headers=headers, body=body)
        request.path = unquote(re.sub(r"/{2,}", "/", request.raw_path))
        request.query = Params(parse_qsl(request.raw_query, keep_blank_values=True))
        if method in ("POST", "PUT"):
            request._parse_body()
        return request

    def _parse_body(self) -> None:
        if self.content_type == "multipart/form-data":
            self._parse_multipart()
        elif self.content_type == "application/json":
            try:
                values = json.loads(self.body.decode("utf-8"))
            except ValueError:
                self.broken_json = True
                return
            self.data = JsonParams(values if isinstance(values, dict) else {})
        elif self.content_type in ("", "application/x-www-form-urlencoded"):
            self.data = Params(parse_qsl(self.body.decode("utf-8", "replace"), keep_blank_values=True))
        else:
            self.data = NoParams()

    def _parse_multipart(self) -> None:
        head = f"Content-Type: {self.headers['Content-Type']}\r\nMIME-Version: 1.0\r\n\r\n".encode()
        message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + self.body)
        pairs: list[tuple[str, str]] = []
        for part in message.iter_parts():
            name = str(part.get_param("name", "", header="content-disposition"))
            content = part.get_payload(decode=True)
            content = content if isinstance(content, bytes) else b""
            if part.get_filename() is None:
                pairs.append((name, content.decode("utf-8", "replace")))
            else:
                self.files[name] = content
        self.data = Params(pairs)


@dataclass
class Response:
    """An answer that is not simply 200 and JSON."""

    status: int = 200
    body: bytes | str = b""
    content_type: str = "text/plain; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def content(self) -> bytes:
        return self.body.encode() if isinstance(self.body, str) else self.body


@dataclass
class Json:
    """JSON with a status other than 200. The value is encoded after the lock was given back."""

    value: Any
    status: int = 200


NO_CONTENT = Response(204)


def text(body: str, status: int = 200) -> Response:
    return Response(status, body)


def encode(value: Any, status: int = 200) -> Response:
    size = len(value) if isinstance(value, (list, dict)) else 0
    compact = isinstance(value, list) and size > INDENTED
    body = json.dumps(value, ensure_ascii=False, indent=None if compact else 4, default=str)
    headers = {"Vary": "Authorization, Cookie", "X-MAAS-API-Hash": API_HASH}
    return Response(status, body, "application/json; charset=utf-8", headers)


def refuse(refusal: errors.Refusal) -> Response:
    headers = {"Vary": "Cookie", **refusal.headers}
    if isinstance(refusal, errors.Invalid):
        return Response(refusal.status, json.dumps(refusal.errors), "application/json; charset=utf-8", headers)
    if isinstance(refusal, errors.Unauthorized):
        kind = "text/html" if refusal.html else "text/plain"
        headers["WWW-Authenticate"] = 'OAuth realm="MAAS API"'
        return Response(401, refusal.text, f"{kind}; charset=utf-8", headers)
    return Response(refusal.status, refusal.text, headers=headers)
