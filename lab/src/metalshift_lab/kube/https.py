# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTPS on loopback, for the stand-ins that answer requests: up at once, down at once, with all its connections."""

from __future__ import annotations

import contextlib
import logging
import socket
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

# A client that says nothing for so long has gone.
IDLE_SECONDS = 60


class Server(ThreadingHTTPServer):
    """Serves in threads of its own from `open` till `close`."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, port: int, tls: ssl.SSLContext, handler: type[Handler]) -> None:
        super().__init__(("127.0.0.1", port), handler)
        self.tls = tls
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.1,), name=f"https {self.port}", daemon=True)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def open(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """End, and cut the connections that clients keep."""
        self.shutdown()
        self.server_close()
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def get_request(self) -> tuple[socket.socket, Any]:
        """The handshake is left to the connection's own thread: a client that does not go on keeps nobody waiting."""
        plain, address = self.socket.accept()
        connection = self.tls.wrap_socket(plain, server_side=True, do_handshake_on_connect=False)
        with self._lock:
            self._connections.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        logging.getLogger("lab.https").debug("a connection from %s ended early", client_address, exc_info=True)


class Handler(BaseHTTPRequestHandler):
    """HTTP/1.1 with kept connections; what it logs goes to the lab's log."""

    protocol_version = "HTTP/1.1"
    timeout = IDLE_SECONDS

    def answer(self, status: int, body: bytes, content: str, **headers: str) -> None:
        """Headers are written with _ for -."""
        self.send_response(status)
        self.send_header("Content-Type", content)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        logging.getLogger("lab.https").debug(format, *args)


def server_context(certificate_file: str | Path, key_file: str | Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate_file, key_file)
    return context
