# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One LXD over HTTPS or over its socket: patient, counted, bounded.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlencode

from ansible_collections.metalshift.maas.plugins.module_utils._core.clock import WALL_CLOCK, Clock
from ansible_collections.metalshift.maas.plugins.module_utils._core.deadline import Deadline
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.exchange import Exchange
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._http.causes import cause_of
from ansible_collections.metalshift.maas.plugins.module_utils._http.client import HttpClient
from ansible_collections.metalshift.maas.plugins.module_utils._http.pure.answer import GATEWAYS, seconds_of
from ansible_collections.metalshift.maas.plugins.module_utils._http.wire import BROKEN, Received, Wire
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.connection import LxdConnection
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.no_answer import no_answer
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure import errors
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.capabilities import LxdCapabilities
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.wire import TOO_MANY, LxdAnswer, opened
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.transport import context

Settled = TypeVar("Settled")
Query = Mapping[str, Any]

# A daemon that restarts is back after five seconds or so.
ATTEMPTS = 6
# How long something may take that LXD does in the background, if nobody says otherwise.
OPERATION_TIMEOUT = 600.0
# How long LXD holds back one answer about it.
LOOK = 30

GONE = 404
STALE = 412


@dataclass(frozen=True)
class TaggedObject:
    """An object as it was read, and the mark by which LXD knows whether it still is so."""

    body: dict[str, Any]
    etag: str


class Lxd(HttpClient):
    """Sends requests to one LXD. Safe to use from several threads."""

    def __init__(
        self,
        connection: LxdConnection,
        *,
        clock: Clock = WALL_CLOCK,
        attempts: int = ATTEMPTS,
        deadline: Deadline | None = None,
    ) -> None:
        super().__init__(clock, connection.read_timeout, deadline, attempts)
        self.connection = connection
        self._server: dict[str, Any] = {}
        self._asking = threading.Lock()
        self._wire = Wire(
            connection.endpoint,
            context=lambda: context(connection),
            pin=connection.pin,
            proxy=connection.proxy.url if connection.proxy else "",
        )

    # -- what callers use ---------------------------------------------------------------------------

    @property
    def project(self) -> str:
        """The project that the options name."""
        return self.connection.project

    @property
    def server(self) -> dict[str, Any]:
        """What LXD says of itself; asked once."""
        with self._asking:
            return self._server or dict(self._asked().body)

    def refreshed(self) -> TaggedObject:
        """What LXD says of itself, now."""
        with self._asking:
            return self._asked()

    def _asked(self) -> TaggedObject:
        answer = self._read(lambda: self._send("GET", "", {}, None, ""))
        if not answer.ok:
            raise errors.from_answer("say what it is", answer, self.connection.endpoint)
        if not isinstance(answer.metadata, Mapping):
            raise errors.not_lxd(self.connection.endpoint, "it does not say what it is")
        self._server = dict(answer.metadata)
        return TaggedObject(self._server, answer.etag)

    @property
    def trusted(self) -> bool:
        return bool(self.server.get("auth") == "trusted")

    @property
    def restricted(self) -> bool:
        """Whether LXD hides from us what is not of our projects: it then shows no settings of its own."""
        return self.trusted and self.server.get("config") is None

    @property
    def settings(self) -> dict[str, Any]:
        """Those of the server. They are a failure for a client that may not see them: there would seem to be none."""
        if not self.trusted and self.connection.identity:
            own = self.connection.identity.certificate
            raise errors.untrusted(self.connection.endpoint, own.fingerprint, own.expired)
        if self.restricted:
            raise errors.withheld("LXD itself", self.connection.endpoint)
        found: dict[str, Any] = self.server["config"]
        return found

    @property
    def capabilities(self) -> LxdCapabilities:
        return LxdCapabilities(self.connection.endpoint, frozenset(self.server.get("api_extensions") or ()))

    def get(self, path: str, query: Query | None = None, *, what: str = "") -> Any:
        """Read, patiently. `path` is what follows `/1.0/`, its names quoted; `what` is for a failure's sentence."""
        answer = self._look(path, query or {})
        if answer.ok:
            return answer.metadata
        raise self._failure(what or f"show {path}", answer, query)

    def find(self, path: str, query: Query | None = None, *, what: str = "") -> TaggedObject | None:
        """The object, or None. That its project does not exist is a failure."""
        answer = self._look(path, query or {})
        if answer.ok:
            return TaggedObject(dict(answer.metadata), answer.etag)
        failure = self._failure(what or f"show {path}", answer, query)
        if answer.status == GONE and not errors.is_no_project(failure):
            return None
        raise failure

    def post(
        self,
        path: str,
        body: Any,
        query: Query | None = None,
        *,
        what: str,
        settled: Callable[[], Settled | None] | None = None,
        waits: bool = True,
        timeout: float = OPERATION_TIMEOUT,
    ) -> Any:
        """Create or act; see `HttpClient` for `settled`.

        Without `waits`, what LXD does in the background is returned as it begins.
        """
        return self._change("POST", path, body, query, "", what, settled, settled is not None, waits, timeout)

    def put(
        self,
        path: str,
        body: Any,
        query: Query | None = None,
        *,
        what: str,
        etag: str = "",
        settled: Callable[[], Settled | None] | None = None,
        timeout: float = OPERATION_TIMEOUT,
    ) -> Any:
        """Replace an object, if it is still as it was read."""
        return self._change("PUT", path, body, query, etag, what, settled, True, True, timeout)

    def patch(
        self,
        path: str,
        body: Any,
        query: Query | None = None,
        *,
        what: str,
        etag: str = "",
        settled: Callable[[], Settled | None] | None = None,
        timeout: float = OPERATION_TIMEOUT,
    ) -> Any:
        """Change the given fields of an object."""
        return self._change("PATCH", path, body, query, etag, what, settled, True, True, timeout)

    def delete(self, path: str, query: Query | None = None, *, what: str, timeout: float = OPERATION_TIMEOUT) -> bool:
        """Remove; True if there was something to remove."""
        try:
            self._change("DELETE", path, None, query, "", what, None, True, True, timeout)
        except Failure as failure:
            if failure.status == GONE:
                return False
            raise
        return True

    # -- how it is done -----------------------------------------------------------------------------

    def _meet(self) -> Mapping[str, Any]:
        """Whom we talk to, asked before all else: who is not LXD is not asked for anything, nor told."""
        return self.server

    def _look(self, path: str, query: Query) -> LxdAnswer:
        self._meet()
        return self._read(lambda: self._send("GET", path, query, None, ""))

    def _change(
        self,
        method: str,
        path: str,
        body: Any,
        query: Query | None,
        etag: str,
        what: str,
        settled: Callable[[], Settled | None] | None,
        repeatable: bool,
        waits: bool,
        timeout: float,
    ) -> Any:
        """Write once, in effect. What LXD does in the background is waited for, and only then has taken effect."""
        self._meet()

        def send() -> LxdAnswer:
            answer = self._send(method, path, query or {}, body, etag)
            return self._ended(answer, what, timeout) if answer.ok and waits else answer

        outcome = self._write(
            send,
            uncertain=lambda answer: errors.uncertain(what, answer, self.connection.endpoint),
            settled=settled,
            repeatable=repeatable,
            deletes=method == "DELETE",
        )
        if not isinstance(outcome, LxdAnswer):
            return outcome
        if outcome.ok:
            return outcome.metadata
        raise self._failure(what, outcome, query)

    def _ended(self, answer: LxdAnswer, what: str, timeout: float) -> LxdAnswer:
        """The answer, or if LXD only began to do it, how that ended."""
        operation = answer.operation
        if operation is None:
            return answer
        deadline = self._clock.now() + timeout
        while True:
            seconds = max(1, min(LOOK, int(deadline - self._clock.now())))
            said = self._look(f"operations/{operation['id']}/wait", {"timeout": seconds})
            if said.status == GONE:
                # LXD forgets what has ended after some seconds, and all when it restarts.
                return LxdAnswer(failure=self._forgotten(what), worth_repeating=True)
            if not said.ok:
                return said
            code = int((said.metadata or {}).get("status_code") or 0)
            if code >= 400:
                raise errors.of_operation(what, said.metadata, self.connection.endpoint)
            if code >= 200:
                return said
            if self._clock.now() >= deadline:
                raise errors.too_slow(what, self.connection.endpoint, timeout)

    def _forgotten(self, what: str) -> Failure:
        reason = "LXD no longer knows how that ended"
        return Failure(
            "uncertain",
            f"LXD at {self.connection.endpoint} began to {what}, and {reason}.",
            reason=reason,
            hint="Run the task again: it looks first.",
        )

    def _failure(self, what: str, answer: LxdAnswer, query: Query | None = None) -> Failure:
        identity, project = self.connection.identity, (query or {}).get("project")
        if answer.status == GONE and project and errors.lacks_project(answer):
            return errors.no_project(self.connection.endpoint, str(project))
        if answer.status == 403 and identity and not self.trusted:
            own = identity.certificate
            return errors.untrusted(self.connection.endpoint, own.fingerprint, own.expired)
        return errors.from_answer(what, answer, self.connection.endpoint)

    def _send(self, method: str, path: str, query: Query, body: Any, etag: str) -> LxdAnswer:
        """One attempt."""
        asked = {name: str(value) for name, value in query.items()}
        target = f"/1.0{'/' if path else ''}{path}"
        content = None if body is None else json.dumps(body).encode()
        headers = {**({"Content-Type": "application/json"} if content else {}), **({"If-Match": etag} if etag else {})}
        # LXD may be asked to answer later, up to a time that is said with the request.
        seconds = self._seconds_for(method) + float(query.get("timeout") or 0)
        began = self._clock.now()
        size = 0
        try:
            received = self._wire.exchange(
                method, f"{target}?{urlencode(asked)}" if asked else target, headers, content, seconds
            )
            size = len(received.content)
            answer = self._answer(received)
        # A text that cannot be encoded is a ValueError.
        except (*BROKEN, ValueError) as error:
            answer = no_answer(cause_of(error, seconds=seconds, proxy=self.connection.proxy), self.connection.endpoint)
        self.wrote = self.wrote or (method != "GET" and (answer.ok or answer.in_doubt))
        self._count(
            Exchange(
                method=method,
                path=target,
                query=urlencode(asked, errors="replace"),
                status=answer.status or None,
                sent=len(content or b""),
                received=size,
                seconds=self._clock.now() - began,
                problem=answer.failure.reason if answer.failure else "",
            )
        )
        return answer

    def _answer(self, received: Received) -> LxdAnswer:
        retry_after = seconds_of(received.headers.get("Retry-After"))
        body = opened(received.text)
        if body is not None:
            etag = received.headers.get("ETag", "")
            return LxdAnswer(status=received.status, body=body, etag=etag, retry_after=retry_after)
        if received.status in {*GATEWAYS, TOO_MANY}:
            return LxdAnswer(status=received.status, retry_after=retry_after)
        # LXD redirects a path that it does not know.
        moved = 300 <= received.status < 400
        how = "it redirects to somewhere else" if moved else f"it answers {received.status} and not as LXD does"
        return LxdAnswer(failure=errors.not_lxd(self.connection.endpoint, how), never_sent=moved)
