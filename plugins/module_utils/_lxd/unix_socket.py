# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How requests reach the LXD of this machine through its socket, with Python's standard library alone.

So a module runs on a node where nothing is installed for it.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from http.client import HTTPConnection, HTTPResponse, IncompleteRead
from urllib.parse import urlencode

from ansible_collections.metalshift.maas.plugins.module_utils._core.clock import Clock
from ansible_collections.metalshift.maas.plugins.module_utils._core.parent import end_if_orphaned
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.exchange import Exchange
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.connection import CONNECT_TIMEOUT, LxdConnection
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.wire import Reply

BLOCK = 1 << 16


class UnixSocket:
    """The way through a socket. Each request has a connection of its own."""

    def __init__(self, connection: LxdConnection, clock: Clock, observe: Callable[[Exchange], None]) -> None:
        self._path = connection.endpoint
        self._clock = clock
        self._observe = observe

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
        target = f"{path}?{urlencode(query)}" if query else path
        status, content, problem = None, b"", ""
        connection = Connected(self._path, read_timeout)
        try:
            connection.request(method, target, body, dict(headers))
            response = connection.getresponse()
            content = self._read(response, began + CONNECT_TIMEOUT + read_timeout)
            status = response.status
        except Exception as error:
            problem = type(error).__name__
            raise
        finally:
            connection.close()
            seconds = self._clock.now() - began
            self._observe(
                Exchange(method, path, urlencode(query), status, len(body or b""), len(content), seconds, problem)
            )
        return Reply.of(status, response.headers, content)

    def _read(self, response: HTTPResponse, deadline: float) -> bytes:
        """The whole body, in time: the socket bounds only the silence between two pieces."""
        blocks = []
        while block := response.read1(BLOCK):
            blocks.append(block)
            if self._clock.now() > deadline:
                raise TimeoutError
        if response.length:
            raise IncompleteRead(b"", response.length)
        return b"".join(blocks)


class Connected(HTTPConnection):
    """HTTP through a socket of the file system."""

    def __init__(self, path: str, read_timeout: float) -> None:
        super().__init__("lxd", timeout=read_timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(CONNECT_TIMEOUT)
        try:
            self.sock.connect(self._path)
        except BlockingIOError:
            # Nobody takes the connections that wait already.
            raise ConnectionRefusedError from None
        self.sock.settimeout(self.timeout)
