# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How requests reach an LXD and its answers come back: verified, whole, in time, counted.

pylxd sends its requests through the session that is made here.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import io
import os
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from ansible_collections.metalshift.maas.plugins.module_utils._core.clock import Clock
from ansible_collections.metalshift.maas.plugins.module_utils._core.parent import end_if_orphaned
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.exchange import Exchange
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import invalid
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.connection import CONNECT_TIMEOUT, Connection

MISSING: ImportError | None = None
try:
    from pylxd.client import get_session_for_url
    from requests import PreparedRequest, Response, Session
    from requests.adapters import HTTPAdapter
    from requests.exceptions import ReadTimeout
except ImportError as missing:
    MISSING = missing
    HTTPAdapter = Session = object  # type: ignore[misc,assignment]

BLOCK = 1 << 16


def session(connection: Connection, clock: Clock, observe: Callable[[Exchange], None]) -> Session:
    """What pylxd sends its requests through."""
    made = CountedSession(connection.read_timeout, clock, observe)
    # With it, REQUESTS_CA_BUNDLE and CURL_CA_BUNDLE would take the place of what verifies the server here.
    made.trust_env = False
    # LXD redirects a path that it does not know; a write would arrive as a read.
    made.max_redirects = 0
    made.headers["User-Agent"] = "metalshift.maas"
    made.proxies = dict(connection.proxies)
    made.verify = not connection.pin
    if connection.is_local:
        made.mount("http+unix://", get_session_for_url(connection.url).get_adapter(connection.url))
    else:
        made.mount("https://", Verified(context(connection), connection.pin))
    return made


class CountedSession(Session):
    """Reads every answer to its end, within the time-out, and tells about it."""

    def __init__(self, read_timeout: float, clock: Clock, observe: Callable[[Exchange], None]) -> None:
        super().__init__()
        self._read_timeout = read_timeout
        self._clock = clock
        self._observe = observe

    def send(self, request: PreparedRequest, **settings: Any) -> Response:
        end_if_orphaned()
        began = self._clock.now()
        status, received, problem = None, 0, ""
        # LXD may be asked to answer later, up to a time that is said with the request.
        allowed = (settings.get("timeout") or (CONNECT_TIMEOUT, self._read_timeout))[1]
        try:
            with super().send(request, **{**settings, "stream": True}) as response:
                content = self._read(response, began + CONNECT_TIMEOUT + allowed)
            status, received = response.status_code, len(content)
        except Exception as error:
            problem = type(error).__name__
            raise
        finally:
            parts = urlsplit(str(request.url))
            self._observe(
                Exchange(
                    method=str(request.method),
                    path=parts.path,
                    query=parts.query,
                    status=status,
                    sent=len(request.body or b""),
                    received=received,
                    seconds=self._clock.now() - began,
                    problem=problem,
                )
            )
        return _whole(response, content)

    def _read(self, response: Response, deadline: float) -> bytes:
        """The whole body, in time: the library bounds only the silence between two pieces."""
        blocks = []
        for block in response.iter_content(BLOCK):
            blocks.append(block)
            if self._clock.now() > deadline:
                raise ReadTimeout
        return b"".join(blocks)


def _whole(response: Response, content: bytes) -> Response:
    """The same answer, with its body in memory."""
    whole = Response()
    whole.status_code, whole.headers, whole.reason = response.status_code, response.headers, response.reason
    whole.url, whole.request, whole.encoding = response.url, response.request, "utf-8"
    whole.raw = io.BytesIO(content)
    return whole


class Verified(HTTPAdapter):
    """Connections to a server that is known by its fingerprint, or by authorities."""

    def __init__(self, context: ssl.SSLContext, pin: str) -> None:
        self._context = context
        self._pin = pin
        super().__init__()

    def init_poolmanager(self, *arguments: Any, **settings: Any) -> None:
        super().init_poolmanager(*arguments, **{**settings, **self._tls})

    def proxy_manager_for(self, proxy: str, **settings: Any) -> Any:
        return super().proxy_manager_for(proxy, **{**settings, **self._tls})

    def cert_verify(self, conn: Any, url: str, verify: Any, cert: Any) -> None:
        """Nothing to add: all that verifies is in the context."""

    @property
    def _tls(self) -> dict[str, Any]:
        return {"ssl_context": self._context, **({"assert_fingerprint": self._pin} if self._pin else {})}


def context(connection: Connection) -> ssl.SSLContext:
    """By what the server is verified, and what we present to it."""
    made = _comparing() if connection.pin else _judging(connection.authorities)
    if connection.identity:
        try:
            with _as_file(connection.identity.chain) as chain, _as_file(connection.identity.key) as key:
                made.load_cert_chain(chain, key)
        except OSError:
            raise invalid("lxd_client_cert and lxd_client_key cannot be used: Python's ssl refuses them.") from None
    return made


def _comparing() -> ssl.SSLContext:
    """For a fingerprint, which is compared after the handshake and before anything is sent."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    return made


def _judging(authorities: str) -> ssl.SSLContext:
    """For authorities, those of the system if none are given. Loading these takes longer than a task on LXD."""
    try:
        return ssl.create_default_context(cadata=authorities or None)
    except ssl.SSLError:
        raise invalid("lxd_server_cert holds certificates that cannot be read.") from None


@contextmanager
def _as_file(text: str) -> Iterator[str]:
    """A text as something to open by name that is on no disk, because Python reads certificates from files alone.

    It fits into the pipe as a whole, so that nobody needs to write while it is read.
    """
    read, write = os.pipe()
    try:
        with os.fdopen(write, "w", encoding="utf-8") as file:
            file.write(text)
        yield f"/dev/fd/{read}"
    finally:
        os.close(read)
