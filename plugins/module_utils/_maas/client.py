# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""MAAS over HTTP: signed, patient, counted.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, TypeVar
from urllib.parse import urlencode

from ansible_collections.metalshift.maas.plugins.module_utils._clock import WALL_CLOCK, Clock
from ansible_collections.metalshift.maas.plugins.module_utils._failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._maas import errors
from ansible_collections.metalshift.maas.plugins.module_utils._maas.capabilities import Capabilities
from ansible_collections.metalshift.maas.plugins.module_utils._maas.connection import CONNECT_TIMEOUT, Connection
from ansible_collections.metalshift.maas.plugins.module_utils._maas.wire import (
    Answer,
    Exchange,
    Fields,
    as_pairs,
    as_seconds,
)

MISSING: ImportError | None = None
try:
    import requests
    from oauthlib.oauth1 import SIGNATURE_PLAINTEXT
    from requests_oauthlib import OAuth1
except ImportError as missing:
    MISSING = missing

Settled = TypeVar("Settled")

ATTEMPTS = 5
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 8.0
LONGEST_RETRY_AFTER = 30.0

# A write that ended so may have taken effect: MAAS commits before it talks to a BMC.
AMBIGUOUS = frozenset({500, 502, 503, 504})
# A read that ended so is worth repeating. A 500 of a read is MAAS's own defect and comes again.
PASSING = frozenset({502, 503, 504})


class Client:
    """Sends requests to one MAAS. Safe to use from several threads."""

    def __init__(
        self,
        connection: Connection,
        *,
        clock: Clock = WALL_CLOCK,
        observe: Callable[[Exchange], None] = lambda _exchange: None,
    ) -> None:
        if MISSING:
            raise errors.missing_library(MISSING)
        self.connection = connection
        self.exchanges: list[Exchange] = []
        self.wrote = False
        self._clock = clock
        self._observe = observe
        self._lock = threading.Lock()
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.headers["User-Agent"] = "metalshift.maas"
        self._signature = OAuth1(
            connection.key.consumer,
            client_secret="",
            resource_owner_key=connection.key.token,
            resource_owner_secret=connection.key.secret,
            signature_method=SIGNATURE_PLAINTEXT,
        )

    # -- what callers use ---------------------------------------------------------------------------

    def get(self, path: str, query: Fields = (), *, op: str = "") -> Any:
        """Read, patiently."""
        for attempt in range(1, ATTEMPTS + 1):
            answer = self._send("GET", path, as_pairs(query, op), ())
            if answer.ok:
                return answer.body()
            if attempt == ATTEMPTS or not _read_may_be_repeated(answer):
                break
            self._pause(attempt, answer)
        raise errors.from_answer("GET", path, op, answer, self.connection)

    def post(
        self,
        path: str,
        form: Fields = (),
        *,
        op: str = "",
        query: Fields = (),
        settled: Callable[[], Settled | None] | None = None,
        repeatable: bool = False,
    ) -> Any:
        """Create or act; see `_write` for `settled` and `repeatable`."""
        return self._write("POST", path, op, form, query, settled, repeatable)

    def put(self, path: str, form: Fields = (), *, settled: Callable[[], Settled | None] | None = None) -> Any:
        """Update. A PUT of MAAS sets the given fields and can be repeated."""
        return self._write("PUT", path, "", form, (), settled, repeatable=True)

    def delete(self, path: str, query: Fields = ()) -> bool:
        """Remove; True if there was something to remove."""
        try:
            self._write("DELETE", path, "", (), query, None, repeatable=True)
        except Failure as failure:
            if failure.kind == "not_found":
                return False
            raise
        return True

    @cached_property
    def capabilities(self) -> Capabilities:
        """What this MAAS can do, by its version; asked once."""
        answer = self.get("version/")
        if not isinstance(answer, dict) or "version" not in answer:
            raise errors.not_maas(self.connection)
        return Capabilities.of(str(answer["version"]))

    # -- how it is done -----------------------------------------------------------------------------

    def _write(
        self,
        method: str,
        path: str,
        op: str,
        form: Fields,
        query: Fields,
        settled: Callable[[], Settled | None] | None,
        repeatable: bool,
    ) -> Any:
        """Write once, in effect.

        A write that never left, or that MAAS rolled back, is sent again. One whose answer was lost may have taken
        effect: `settled` looks the object up and returns it if so, else the write is sent again. Without `settled`
        only a `repeatable` write is sent again.
        """
        form, query = as_pairs(form), as_pairs(query, op)
        for attempt in range(1, ATTEMPTS + 1):
            answer = self._send(method, path, query, form)
            if answer.ok:
                self.wrote = True
                return answer.body()
            lost = answer.status in AMBIGUOUS or (answer.failure is not None and not answer.never_sent)
            if lost:
                self.wrote = True
                found = settled() if settled else None
                if found is not None:
                    return found
            unsent = answer.never_sent and answer.failure is not None and answer.failure.kind == "unreachable"
            may_repeat = unsent or answer.passing_conflict or (lost and (repeatable or settled is not None))
            # A 500 is how MAAS reports many plain mistakes: once looked up, it is the answer.
            if attempt == ATTEMPTS or not may_repeat or answer.status == 500:
                break
            self._pause(attempt, answer)
        if lost and not repeatable and settled is None and answer.status != 500:
            raise errors.uncertain(method, path, op, answer, self.connection)
        raise errors.from_answer(method, path, op, answer, self.connection)

    def _send(self, method: str, path: str, query: list[tuple[str, str]], form: Iterable[tuple[str, str]]) -> Answer:
        """One attempt, freshly signed: MAAS refuses a nonce that it has seen."""
        data = list(form)
        began = self._clock.now()
        try:
            response = self._session.request(
                method,
                self.connection.api + path,
                params=query or None,
                data=data or None,
                auth=self._signature,
                verify=self.connection.verify,
                proxies=dict(self.connection.proxies),
                timeout=(CONNECT_TIMEOUT, self.connection.read_timeout),
                allow_redirects=False,
            )
            answer = Answer(
                status=response.status_code,
                text=response.text,
                content_type=response.headers.get("Content-Type", "").split(";")[0].strip(),
                retry_after=as_seconds(response.headers.get("Retry-After")),
            )
        except requests.RequestException as error:
            answer = errors.as_answer(error, self.connection)
        self._record(
            Exchange(
                method=method,
                path=path,
                query=urlencode(query),
                status=answer.status or None,
                sent=len(urlencode(data)),
                received=len(answer.text.encode()),
                seconds=self._clock.now() - began,
                problem=answer.failure.reason if answer.failure else "",
            )
        )
        return answer

    def _record(self, exchange: Exchange) -> None:
        with self._lock:
            self.exchanges.append(exchange)
        self._observe(exchange)

    def _pause(self, attempt: int, answer: Answer) -> None:
        if answer.retry_after is not None:
            self._clock.sleep(min(answer.retry_after, LONGEST_RETRY_AFTER))
        else:
            longest = min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE)
            # Spread out, so that many clients that failed together do not come back together.
            self._clock.sleep(random.uniform(longest / 2, longest))


def _read_may_be_repeated(answer: Answer) -> bool:
    if answer.failure is not None:
        return answer.failure.kind == "unreachable"
    return answer.status in PASSING or answer.passing_conflict
