# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The HTTP side: a thread a connection, kept alive, closed when idle."""

from __future__ import annotations

import contextlib
import socket
import socketserver
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any, Union

from metalshift_lab.simulator.http import Request, Response

IDLE_SECONDS = 30
Answer = Callable[[Request], Union[Response, None]]  # noqa: UP007


class Server(socketserver.ThreadingTCPServer):
    """Listens at once, so that a taken port is known before anything else happens."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, host: str, port: int, answer: Answer, handler: type[Connection] | None = None) -> None:
        self.answer, self.host = answer, host
        self._connections: set[socket.socket] = set()
        self._guard = threading.Lock()
        super().__init__((host, port), handler or Connection)
        self._stopped = False
        self._thread = threading.Thread(target=self._accept, name=f"simulator:{self.port}", daemon=True)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Close the listening socket and every open connection."""
        self._stopped = True
        if self._thread.is_alive():
            # Wakes the thread up; it may have seen the end already.
            with contextlib.suppress(OSError), socket.create_connection((self.host, self.port), timeout=1):
                self._thread.join(timeout=1)
        self.server_close()
        with self._guard:
            connections = list(self._connections)
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        """Unlike `serve_forever` without polling: it stops at once."""
        while not self._stopped:
            try:
                connection, address = self.get_request()
            except OSError:
                continue
            if self._stopped:
                connection.close()
            else:
                self.process_request(connection, address)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._guard:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._guard:
            self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error of ours."""


class Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "TwistedWeb/24.10"
    sys_version = ""
    wbufsize = -1
    disable_nagle_algorithm = True
    timeout = IDLE_SECONDS
    server: Server

    def _serve(self) -> None:
        body = (
            self._chunks()
            if "chunked" in self.headers.get("Transfer-Encoding", "")
            else self.rfile.read(int(self.headers.get("Content-Length") or 0))
        )
        if len(body) < int(self.headers.get("Content-Length") or 0):
            # The client died while it sent: neither nginx nor Twisted acts on half a request.
            self.close_connection = True
            return
        request = Request.parse(self.command, self.path, dict(self.headers.items()), body)
        request.certificate = self.certificate()
        response = self.server.answer(request)
        if response is None:
            # Dropped on demand: not even a status line.
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        content = response.content
        self.send_response(response.status)
        if response.content_type:
            self.send_header("Content-Type", response.content_type)
        self.send_header("X-Frame-Options", "DENY")
        for name, value in response.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)
        self.wfile.flush()

    def certificate(self) -> str:
        """The client's; nobody shows one without TLS."""
        return ""

    def _chunks(self) -> bytes:
        out = b""
        while size := int(self.rfile.readline().split(b";")[0].strip() or b"0", 16):
            out += self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            continue
        return out

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = do_OPTIONS = _serve

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are in the request log, not on the terminal."""
