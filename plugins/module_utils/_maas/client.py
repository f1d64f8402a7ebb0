# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""MAAS over HTTP: signed, patient, counted.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from ansible_collections.metalshift.maas.plugins.module_utils._core.clock import WALL_CLOCK, Clock
from ansible_collections.metalshift.maas.plugins.module_utils._core.deadline import Deadline
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.exchange import Exchange
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._http.causes import cause_of
from ansible_collections.metalshift.maas.plugins.module_utils._http.client import HttpClient
from ansible_collections.metalshift.maas.plugins.module_utils._http.pure.answer import seconds_of
from ansible_collections.metalshift.maas.plugins.module_utils._http.wire import BROKEN, Wire, trusting, trusting_all
from ansible_collections.metalshift.maas.plugins.module_utils._maas import errors
from ansible_collections.metalshift.maas.plugins.module_utils._maas.connection import MaasConnection
from ansible_collections.metalshift.maas.plugins.module_utils._maas.lanes import Lanes
from ansible_collections.metalshift.maas.plugins.module_utils._maas.pure.capabilities import MaasCapabilities
from ansible_collections.metalshift.maas.plugins.module_utils._maas.pure.wire import Fields, MaasAnswer, as_pairs

Settled = TypeVar("Settled")
Pairs = list[tuple[str, str]]

# What a path may hold as it is; its names are quoted already.
WITHIN_A_PATH = "/%!$&'()*+,:;=@~"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
BYTES = {"Content-Type": "application/octet-stream"}


class Client(HttpClient):
    """Sends requests to one MAAS. Safe to use from several threads."""

    def __init__(
        self,
        connection: MaasConnection,
        *,
        clock: Clock = WALL_CLOCK,
        observe: Callable[[Exchange], None] = lambda _exchange: None,
        deadline: Deadline | None = None,
    ) -> None:
        super().__init__(clock, connection.read_timeout, deadline)
        self.connection = connection
        self._observe = observe
        self._lanes = Lanes(connection.most_at_once, clock.now)
        server = urlsplit(connection.api)
        self._root = server.path
        self._wire = Wire(
            f"{server.scheme}://{server.netloc}",
            context=lambda: _context(connection.verify),
            proxy=connection.proxy.url if connection.proxy else "",
        )

    # -- what callers use ---------------------------------------------------------------------------

    def get(self, path: str, query: Fields = (), *, op: str = "") -> Any:
        """Read, patiently."""
        pairs = as_pairs(query, op)
        answer = self._read(lambda: self._send("GET", path, pairs, []))
        if answer.ok:
            return answer.body()
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
        """Create or act, once; see `HttpClient` for `settled` and `repeatable`.

        A 500 is MAAS's answer and not repeated, but once where `untouched` finds that nothing has become of it: some
        of its services need a second call.
        """
        return self._change("POST", path, op, form, query, settled, repeatable, untouched)

    def put(self, path: str, form: Fields = (), *, settled: Callable[[], Settled | None] | None = None) -> Any:
        """Update. A PUT of MAAS sets the given fields and can be repeated."""
        return self._change("PUT", path, "", form, (), settled, repeatable=True)

    def upload(self, path: str, piece: bytes, *, settled: Callable[[], Settled | None]) -> None:
        """Append bytes to a file, once; `settled` finds out whether they have arrived when the answer is lost."""
        outcome = self._write(
            lambda: self._send("PUT", path, [], [], piece),
            uncertain=lambda answer: errors.uncertain("PUT", path, "", answer, self.connection),
            settled=settled,
        )
        if isinstance(outcome, MaasAnswer) and not outcome.ok:
            raise self._failure("PUT", path, "", outcome)

    def delete(self, path: str, query: Fields = ()) -> bool:
        """Remove; True if there was something to remove."""
        try:
            self._change("DELETE", path, "", (), query, None, repeatable=True)
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

    def _change(
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
        form, query = as_pairs(form), as_pairs(query, op)
        lane = self._lanes.of(op, {name for name, _value in form})

        def send() -> MaasAnswer:
            with lane.slot():
                answer = self._send(method, path, query, form)
            if answer.overtaxed:
                lane.complain()
            return answer

        outcome = self._write(
            send,
            uncertain=lambda answer: errors.uncertain(method, path, op, answer, self.connection),
            settled=settled,
            repeatable=repeatable,
            deletes=method == "DELETE",
            once_more=lambda answer: (
                answer.collided or (answer.status == 500 and untouched is not None and untouched())
            ),
        )
        if not isinstance(outcome, MaasAnswer):
            return outcome
        if outcome.ok:
            return outcome.body()
        raise self._failure(method, path, op, outcome)

    def _failure(self, method: str, path: str, op: str, answer: MaasAnswer) -> Failure:
        return errors.from_answer(method, path, op, answer, self.connection, lambda: self._is_maas)

    @cached_property
    def _is_maas(self) -> bool:
        """Whether MAAS answers there and knows this key: nobody else would."""
        answer = self._send("GET", "users/", as_pairs((), "whoami"), [])
        return answer.ok and isinstance(answer.body(), dict) and "username" in answer.body()

    def _send(self, method: str, path: str, query: Pairs, form: Pairs, piece: bytes | None = None) -> MaasAnswer:
        """One attempt, freshly signed: MAAS refuses a nonce that it has seen."""
        began = self._clock.now()
        seconds = self._seconds_for(method)
        sent, kind = piece or b"", FORM if piece is None else BYTES
        try:
            sent = sent or urlencode(form).encode()
            answer = self._exchange(method, path, query, sent, kind, seconds)
        # A text that cannot be encoded is a ValueError.
        except (*BROKEN, ValueError) as error:
            answer = errors.unanswered(cause_of(error, seconds=seconds, proxy=self.connection.proxy), self.connection)
        exchange = Exchange(
            method=method,
            path=path,
            query=urlencode(query, errors="replace"),
            status=answer.status or None,
            sent=len(sent),
            received=answer.size,
            seconds=self._clock.now() - began,
            problem=answer.failure.reason if answer.failure else "",
        )
        self.wrote = self.wrote or (method != "GET" and (answer.ok or answer.in_doubt))
        self._count(exchange)
        self._observe(exchange)
        return answer

    def _exchange(
        self, method: str, path: str, query: Pairs, sent: bytes, kind: Mapping[str, str], seconds: float
    ) -> MaasAnswer:
        asked = f"?{urlencode(query)}" if query else ""
        received = self._wire.exchange(
            method,
            f"{self._root}{quote(path, safe=WITHIN_A_PATH)}{asked}",
            {"Accept": "*/*", "Authorization": self.connection.key.signature(), **(kind if sent else {})},
            sent or None,
            seconds,
        )
        answer = MaasAnswer(
            status=received.status,
            # MAAS speaks UTF-8 everywhere, whatever its header says.
            text=received.text,
            size=len(received.content),
            content_type=received.headers.get("Content-Type", "").split(";")[0].strip().lower(),
            location=received.headers.get("Location", ""),
            from_maas="X-MAAS-API-Hash" in received.headers,
            retry_after=seconds_of(received.headers.get("Retry-After")),
        )
        if answer.ok and not answer.usable:
            return replace(answer, status=0, failure=errors.not_maas(self.connection, "it does not answer in JSON"))
        return answer


def _context(verify: bool | str) -> ssl.SSLContext:
    if isinstance(verify, str):
        return trusting(folder=verify) if Path(verify).is_dir() else trusting(file=verify)
    return trusting() if verify else trusting_all()
