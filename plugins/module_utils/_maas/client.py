# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""MAAS over HTTP: signed, patient, counted.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar
from urllib.parse import urlencode

from ansible_collections.metalshift.maas.plugins.module_utils._core.clock import WALL_CLOCK, Clock
from ansible_collections.metalshift.maas.plugins.module_utils._core.deadline import (
    LEAST_FOR_READS,
    LEAST_FOR_WRITES,
    Deadline,
    within,
)
from ansible_collections.metalshift.maas.plugins.module_utils._core.library import missing_library
from ansible_collections.metalshift.maas.plugins.module_utils._core.parent import end_if_orphaned
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.exchange import Exchange
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._maas import errors
from ansible_collections.metalshift.maas.plugins.module_utils._maas.connection import CONNECT_TIMEOUT, MaasConnection
from ansible_collections.metalshift.maas.plugins.module_utils._maas.lanes import Lanes
from ansible_collections.metalshift.maas.plugins.module_utils._maas.pure.capabilities import MaasCapabilities
from ansible_collections.metalshift.maas.plugins.module_utils._maas.pure.wire import (
    Fields,
    MaasAnswer,
    as_pairs,
    as_seconds,
)

MISSING: ImportError | None = None
try:
    import requests
    from oauthlib.oauth1 import SIGNATURE_PLAINTEXT
    from requests_oauthlib import OAuth1
    from urllib3 import disable_warnings
    from urllib3.exceptions import HTTPError, InsecureRequestWarning
except ImportError as missing:
    MISSING = missing

Settled = TypeVar("Settled")

ATTEMPTS = 5
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 8.0
LONGEST_RETRY_AFTER = 30.0
# Attempts end when this many time-outs have passed: a MAAS that hangs is not asked five times.
TIMEOUTS_TO_SPEND = 2
LEAST_TO_SPEND = 30.0
# A write that ended so may have taken effect: MAAS commits before it talks to a BMC.
AMBIGUOUS = frozenset({500, 502, 503, 504})
# A read that ended so is worth repeating. A 500 of a read is MAAS's own defect and comes again.
PASSING = frozenset({502, 503, 504})


class Client:
    """Sends requests to one MAAS. Safe to use from several threads."""

    def __init__(
        self,
        connection: MaasConnection,
        *,
        clock: Clock = WALL_CLOCK,
        observe: Callable[[Exchange], None] = lambda _exchange: None,
        deadline: Deadline | None = None,
    ) -> None:
        if MISSING:
            raise missing_library(MISSING, "requests", "requests-oauthlib")
        self.connection = connection
        self.exchanges: list[Exchange] = []
        self.wrote = False
        self._clock = clock
        self._observe = observe
        self._deadline = deadline or Deadline(clock)
        self._lock = threading.Lock()
        self._lanes = Lanes(connection.most_at_once, clock.now)
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.headers["User-Agent"] = "metalshift.maas"
        if connection.verify is False:
            # It was the user's word; a warning for every request would bury the rest.
            disable_warnings(InsecureRequestWarning)
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
        pairs = as_pairs(query, op)
        began = self._clock.now()
        for attempt in range(1, ATTEMPTS + 1):
            answer = self._send("GET", path, pairs, [])
            if answer.ok:
                return answer.body()
            if not _read_may_be_repeated(answer) or not self._another(attempt, began):
                break
            self._pause(attempt, answer)
        raise self._failure("GET", path, op, answer)

    def post(
        self,
        path: str,
        form: Fields = (),
        *,
        op: str = "",
        query: Fields = (),
        settled: Callable[[], Settled | None] | None = None,
        repeatable: bool = False,
        untouched: Callable[[], bool] | None = None,
    ) -> Any:
        """Create or act; see `_write` for `settled`, `repeatable` and `untouched`."""
        return self._write("POST", path, op, form, query, settled, repeatable, untouched)

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

    @property
    def most_at_once(self) -> int:
        """How many requests may be under way at once, at most."""
        return self._lanes.most

    @cached_property
    def capabilities(self) -> MaasCapabilities:
        """What this MAAS can do, by its version; asked once."""
        answer = self.get("version/")
        if not isinstance(answer, dict) or "version" not in answer:
            raise errors.not_maas(self.connection)
        return MaasCapabilities.of(str(answer["version"]))

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
        untouched: Callable[[], bool] | None = None,
    ) -> Any:
        """Write once, in effect.

        A write that never left, or that MAAS rolled back, is sent again. One whose answer was lost may have taken
        effect, or may yet: `settled` looks the object up and returns it if so, else the write is sent again. Without
        `settled` only a `repeatable` write is sent again. A 500 is MAAS's answer and not repeated, but once where
        `untouched` finds that nothing has become of it: some of its services need a second call.
        """
        form, query = as_pairs(form), as_pairs(query, op)
        began = self._clock.now()
        in_doubt = False
        lane = self._lanes.of(op, {name for name, _value in form})
        for attempt in range(1, ATTEMPTS + 1):
            with lane.slot():
                answer = self._send(method, path, query, form)
            if answer.ok:
                self.wrote = True
                return answer.body()
            lost = answer.lost or answer.status in AMBIGUOUS
            if lost:
                self.wrote = in_doubt = True
            if in_doubt and method == "DELETE" and answer.status == 404:
                return ""
            # Also when a repetition is refused: the first one may have arrived in the meantime.
            found = self._look(settled, method, path, op, answer) if in_doubt and settled else None
            if found is not None:
                return found
            is_safe = repeatable or settled is not None
            again = _write_may_be_repeated(answer, is_safe) or (
                attempt == 1 and (answer.collided or (answer.status == 500 and untouched is not None and untouched()))
            )
            if not again or not self._another(attempt, began):
                break
            if answer.overtaxed:
                lane.complain()
            self._pause(attempt, answer)
        if lost and not is_safe and answer.status != 500:
            raise errors.uncertain(method, path, op, answer, self.connection)
        raise self._failure(method, path, op, answer)

    def _failure(self, method: str, path: str, op: str, answer: MaasAnswer) -> Failure:
        return errors.from_answer(method, path, op, answer, self.connection, lambda: self._is_maas)

    @cached_property
    def _is_maas(self) -> bool:
        """Whether MAAS answers there and knows this key: nobody else would."""
        answer = self._send("GET", "users/", as_pairs((), "whoami"), [])
        return answer.ok and isinstance(answer.body(), dict) and "username" in answer.body()

    def _look(
        self, settled: Callable[[], Settled | None], method: str, path: str, op: str, answer: MaasAnswer
    ) -> Settled | None:
        try:
            return settled()
        except Failure as failure:
            raise errors.uncertain(method, path, op, answer, self.connection) from failure

    def _another(self, attempt: int, began: float) -> bool:
        """Whether there may be another attempt, as far as number and time go."""
        longest = max(TIMEOUTS_TO_SPEND * self.connection.read_timeout, LEAST_TO_SPEND)
        return attempt < ATTEMPTS and self._clock.now() - began < longest and not self._deadline.has_passed

    def _send(self, method: str, path: str, query: list[tuple[str, str]], form: list[tuple[str, str]]) -> MaasAnswer:
        """One attempt, freshly signed: MAAS refuses a nonce that it has seen."""
        began = self._clock.now()
        least = LEAST_FOR_READS if method == "GET" else LEAST_FOR_WRITES
        seconds = self._deadline.cut(self.connection.read_timeout, least)
        try:
            answer = within(seconds, lambda: self._exchange(method, path, query, form, seconds))
        # Not only the library's own errors: a CA file that is none or a name that cannot be encoded come as others.
        except (OSError, ValueError, HTTPError) as error:
            answer = errors.as_answer(error, self.connection, seconds)
        self._record(
            Exchange(
                method=method,
                path=path,
                query=urlencode(query, errors="replace"),
                status=answer.status or None,
                sent=len(urlencode(form, errors="replace")),
                received=answer.size,
                seconds=self._clock.now() - began,
                problem=answer.failure.reason if answer.failure else "",
            )
        )
        return answer

    def _exchange(
        self, method: str, path: str, query: list[tuple[str, str]], form: list[tuple[str, str]], seconds: float
    ) -> MaasAnswer:
        end_if_orphaned()
        with self._session.request(
            method,
            self.connection.api + path,
            params=query or None,
            data=form or None,
            auth=self._signature,
            verify=self.connection.verify,
            proxies=dict(self.connection.proxies),
            timeout=(CONNECT_TIMEOUT, seconds),
            allow_redirects=False,
        ) as response:
            content = response.content
            answer = MaasAnswer(
                status=response.status_code,
                # MAAS speaks UTF-8 everywhere; the library would take text/plain for Latin-1.
                text=content.decode("utf-8", errors="replace"),
                size=len(content),
                content_type=response.headers.get("Content-Type", "").split(";")[0].strip().lower(),
                location=response.headers.get("Location", ""),
                from_maas="X-MAAS-API-Hash" in response.headers,
                retry_after=as_seconds(response.headers.get("Retry-After")),
            )
        if answer.ok and not answer.usable:
            return replace(answer, status=0, failure=errors.not_maas(self.connection, "it does not answer in JSON"))
        return answer

    def _record(self, exchange: Exchange) -> None:
        with self._lock:
            self.exchanges.append(exchange)
        self._observe(exchange)

    def _pause(self, attempt: int, answer: MaasAnswer) -> None:
        if answer.retry_after is not None:
            seconds = min(answer.retry_after, LONGEST_RETRY_AFTER)
        else:
            longest = min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE)
            # Spread out, so that many clients that failed together do not come back together.
            seconds = random.uniform(longest / 2, longest)
        self._clock.sleep(self._deadline.cut(seconds))


def _read_may_be_repeated(answer: MaasAnswer) -> bool:
    return answer.worth_repeating or answer.status in PASSING or answer.passing_conflict


def _write_may_be_repeated(answer: MaasAnswer, is_safe: bool) -> bool:
    """`is_safe`: a second one does no harm, or would have been noticed as done."""
    if answer.failure is not None:
        return answer.worth_repeating and (answer.never_sent or is_safe)
    # A 500 is how MAAS reports many plain mistakes: once looked up, it is the answer.
    return answer.passing_conflict or (is_safe and answer.status in PASSING)
