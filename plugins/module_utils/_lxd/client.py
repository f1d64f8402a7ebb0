# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One LXD, over HTTPS or through its socket: patient, counted, bounded.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any, TypeVar

from ansible_collections.metalshift.maas.plugins.module_utils._core.clock import WALL_CLOCK, Clock
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.exchange import Exchange
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.connection import CONNECT_TIMEOUT, LxdConnection
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.no_answer import as_answer
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure import errors
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.capabilities import LxdCapabilities
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.wire import (
    LxdAnswer,
    Reply,
    Transport,
    as_seconds,
    opened,
)
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.transport import Https
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.unix_socket import UnixSocket

try:
    from urllib3.exceptions import HTTPError
except ImportError:
    # Through the socket, nothing of it is used.
    HTTPError = HTTPException  # type: ignore[misc,assignment]

Settled = TypeVar("Settled")
Query = Mapping[str, Any]

# A daemon that restarts is back after five seconds or so.
ATTEMPTS = 6
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 8.0
LONGEST_RETRY_AFTER = 30.0
# Attempts end when this many time-outs have passed: an LXD that hangs is not asked five times.
TIMEOUTS_TO_SPEND = 2
LEAST_TO_SPEND = 30.0
# How long something may take that LXD does in the background, if nobody says otherwise.
OPERATION_TIMEOUT = 600.0
# How long LXD holds back one answer about it.
LOOK = 30

# LXD is starting, ending, or behind a proxy; a write that ended so may have taken effect.
PASSING = frozenset({429, 502, 503, 504})
GONE = 404
STALE = 412


@dataclass(frozen=True)
class TaggedObject:
    """An object as it was read, and the mark by which LXD knows whether it still is so."""

    body: dict[str, Any]
    etag: str


class Lxd:
    """Sends requests to one LXD. Safe to use from several threads."""

    def __init__(self, connection: LxdConnection, *, clock: Clock = WALL_CLOCK, attempts: int = ATTEMPTS) -> None:
        self.connection = connection
        self.exchanges: list[Exchange] = []
        self.wrote = False
        self._clock = clock
        self._attempts = attempts
        self._lock = threading.Lock()
        self._opening = threading.Lock()
        way = UnixSocket if connection.is_local else Https
        self._transport: Transport = way(connection, clock, self._record)
        self._server: Mapping[str, Any] | None = None

    # -- what callers use ---------------------------------------------------------------------------

    @property
    def project(self) -> str:
        """The project that the options name."""
        return self.connection.project

    @property
    def server(self) -> dict[str, Any]:
        """What LXD says of itself; asked once, and before anything else."""
        with self._opening:
            if self._server is None:
                self._server = self._greeting()
        return dict(self._server)

    def refreshed(self) -> TaggedObject:
        """What LXD says of itself, now."""
        answer = self._read("", {})
        if not answer.ok:
            raise self._failure("say what it is", answer)
        self._server = answer.metadata
        return TaggedObject(dict(answer.metadata), answer.etag)

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
        answer = self._read(path, query or {})
        if answer.ok:
            return answer.metadata
        raise self._failure(what or f"show {path}", answer, query)

    def find(self, path: str, query: Query | None = None, *, what: str = "") -> TaggedObject | None:
        """The object, or None. That its project does not exist is a failure."""
        answer = self._read(path, query or {})
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
        """Create or act; see `_write`. Without `waits`, what LXD does in the background is returned as it begins."""
        return self._write("post", path, body, query, "", what, settled, settled is not None, waits, timeout)

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
        return self._write("put", path, body, query, etag, what, settled, True, True, timeout)

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
        return self._write("patch", path, body, query, etag, what, settled, True, True, timeout)

    def delete(self, path: str, query: Query | None = None, *, what: str, timeout: float = OPERATION_TIMEOUT) -> bool:
        """Remove; True if there was something to remove."""
        try:
            self._write("delete", path, None, query, "", what, None, True, True, timeout)
        except Failure as failure:
            if failure.status == GONE:
                return False
            raise
        return True

    # -- how it is done -----------------------------------------------------------------------------

    def _read(self, path: str, query: Query) -> LxdAnswer:
        began = self._clock.now()
        for attempt in range(1, ATTEMPTS + 1):
            answer = self._send("get", path, query, None, "")
            if answer.ok or not (answer.worth_repeating or answer.status in PASSING):
                break
            if not self._another(attempt, began):
                break
            self._pause(attempt, answer)
        return answer

    def _write(
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
        """Write once, in effect.

        A write that never left is sent again. One whose answer was lost may have taken effect, or may yet: `settled`
        looks the object up and returns it if so, else the write is sent again. What LXD does in the background is
        waited for, and only then has taken effect.
        """
        began = self._clock.now()
        in_doubt = False
        for attempt in range(1, ATTEMPTS + 1):
            answer = self._send(method, path, query or {}, body, etag)
            if answer.ok:
                self.wrote = True
                answer = self._ended(answer, what, timeout) if waits else answer
                if answer.ok:
                    return answer.metadata
            lost = answer.lost or answer.status in PASSING
            if lost:
                self.wrote = in_doubt = True
            if in_doubt and method == "delete" and answer.status == GONE:
                return None
            # Also when a repetition is refused: the first one may have arrived in the meantime.
            found = self._look(settled, what, answer) if in_doubt and settled else None
            if found is not None:
                return found
            again = answer.worth_repeating or answer.status in PASSING
            if not again or not (repeatable or answer.never_sent) or not self._another(attempt, began):
                break
            self._pause(attempt, answer)
        if lost and not repeatable:
            raise errors.uncertain(what, answer, self.connection.endpoint)
        raise self._failure(what, answer, query)

    def _look(self, settled: Callable[[], Settled | None], what: str, answer: LxdAnswer) -> Settled | None:
        try:
            return settled()
        except Failure as failure:
            raise errors.uncertain(what, answer, self.connection.endpoint) from failure

    def _ended(self, answer: LxdAnswer, what: str, timeout: float) -> LxdAnswer:
        """The answer, or if LXD only began to do it, how that ended."""
        operation = answer.operation
        if operation is None:
            return answer
        deadline = self._clock.now() + timeout
        while True:
            seconds = max(1, min(LOOK, int(deadline - self._clock.now())))
            said = self._read(f"operations/{operation['id']}/wait", {"timeout": seconds})
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

    def _another(self, attempt: int, began: float) -> bool:
        """Whether there may be another attempt, as far as number and time go."""
        longest = max(TIMEOUTS_TO_SPEND * self.connection.read_timeout, LEAST_TO_SPEND)
        return attempt < self._attempts and self._clock.now() - began < longest

    def _send(self, method: str, path: str, query: Query, body: Any, etag: str) -> LxdAnswer:
        """One attempt."""
        _known = self.server
        return self._attempt(method, path, query, body, etag)

    def _greeting(self) -> Mapping[str, Any]:
        began = self._clock.now()
        for attempt in range(1, ATTEMPTS + 1):
            answer = self._attempt("get", "", {}, None, "")
            if answer.ok and isinstance(answer.metadata, Mapping):
                return answer.metadata
            if answer.ok:
                raise errors.not_lxd(self.connection.endpoint, "it does not say what it is")
            if not (answer.worth_repeating or answer.status in PASSING) or not self._another(attempt, began):
                break
            self._pause(attempt, answer)
        raise errors.from_answer("say what it is", answer, self.connection.endpoint)

    def _attempt(self, method: str, path: str, query: Query, body: Any, etag: str) -> LxdAnswer:
        asked = {name: str(value) for name, value in query.items()}
        text = None if body is None else json.dumps(body).encode()
        headers = {**({"If-Match": etag} if etag else {}), **({"Content-Type": "application/json"} if text else {})}
        # LXD may be asked to answer later.
        patience = self.connection.read_timeout + float(query.get("timeout") or 0)
        try:
            reply = self._transport.send(method.upper(), f"/1.0/{path}".rstrip("/"), asked, text, headers, patience)
        # Not only the library's own errors: a name that cannot be encoded or a broken answer come as others.
        except (OSError, ValueError, TypeError, HTTPError, HTTPException) as error:
            return as_answer(
                error,
                self.connection.endpoint,
                pinned=bool(self.connection.pin),
                connect=CONNECT_TIMEOUT,
                read=self.connection.read_timeout,
            )
        return self._answer(reply)

    def _answer(self, reply: Reply) -> LxdAnswer:
        body = opened(reply.content.decode("utf-8", errors="replace"))
        if body is None:
            if reply.status in PASSING:
                return LxdAnswer(status=reply.status, retry_after=as_seconds(reply.headers.get("retry-after")))
            how = f"it answers {reply.status} and not as LXD does"
            return LxdAnswer(failure=errors.not_lxd(self.connection.endpoint, how))
        return LxdAnswer(
            status=reply.status,
            body=body,
            etag=reply.headers.get("etag", ""),
            retry_after=as_seconds(reply.headers.get("retry-after")),
        )

    def _record(self, exchange: Exchange) -> None:
        with self._lock:
            self.exchanges.append(exchange)

    def _pause(self, attempt: int, answer: LxdAnswer) -> None:
        if answer.retry_after is not None:
            self._clock.sleep(min(answer.retry_after, LONGEST_RETRY_AFTER))
        else:
            longest = min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE)
            # Spread out, so that many clients that failed together do not come back together.
            self._clock.sleep(random.uniform(longest / 2, longest))
