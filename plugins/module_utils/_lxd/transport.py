# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How requests reach an LXD over HTTPS and its answers come back: verified, whole, in time, counted.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

from ansible_collections.metalshift.maas.plugins.module_utils._core.clock import Clock
from ansible_collections.metalshift.maas.plugins.module_utils._core.library import missing_library
from ansible_collections.metalshift.maas.plugins.module_utils._core.parent import end_if_orphaned
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.exchange import Exchange
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import invalid
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.connection import CONNECT_TIMEOUT, LxdConnection
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.wire import Reply

MISSING: ImportError | None = None
try:
    from requests import Response, Session
    from requests.adapters import HTTPAdapter
    from requests.exceptions import ReadTimeout
except ImportError as missing:
    MISSING = missing
    HTTPAdapter = object  # type: ignore[misc,assignment]

BLOCK = 1 << 16


class Https:
    """The way over the network."""

    def __init__(self, connection: LxdConnection, clock: Clock, observe: Callable[[Exchange], None]) -> None:
        if MISSING:
            raise missing_library(MISSING, "requests", "cryptography")
        self._base = connection.endpoint
        self._clock = clock
        self._observe = observe
        self._session = session(connection)

    def send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: bytes | None,
        headers: Mapping[str, str],
        read_timeout: float,
    ) -> Reply:
        """Reads the answer to its end, within the time-out, and tells about it."""
        end_if_orphaned()
        began = self._clock.now()
        status, content, problem = None, b"", ""
        try:
            with self._session.request(
                method,
                self._base + path,
                params=dict(query),
                data=body,
                headers=dict(headers),
                timeout=(CONNECT_TIMEOUT, read_timeout),
                stream=True,
            ) as response:
                content = self._read(response, began + CONNECT_TIMEOUT + read_timeout)
            status = response.status_code
        except Exception as error:
            problem = type(error).__name__
            raise
        finally:
            seconds = self._clock.now() - began
            self._observe(
                Exchange(method, path, urlencode(query), status, len(body or b""), len(content), seconds, problem)
            )
        return Reply.of(status, response.headers, content)

    def _read(self, response: Response, deadline: float) -> bytes:
        """The whole body, in time: the library bounds only the silence between two pieces."""
        blocks = []
        for block in response.iter_content(BLOCK):
            blocks.append(block)
            if self._clock.now() > deadline:
                raise ReadTimeout
        return b"".join(blocks)


def session(connection: LxdConnection) -> Session:
    """What verifies the server, and presents us to it."""
    made = Session()
    # With it, REQUESTS_CA_BUNDLE and CURL_CA_BUNDLE would take the place of what verifies the server here.
    made.trust_env = False
    # LXD redirects a path that it does not know; a write would arrive as a read.
    made.max_redirects = 0
    made.headers["User-Agent"] = "metalshift.maas"
    made.proxies = dict(connection.proxies)
    made.verify = not connection.pin
    made.mount("https://", Verified(context(connection), connection.pin))
    return made


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


def context(connection: LxdConnection) -> ssl.SSLContext:
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
