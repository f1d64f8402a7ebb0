# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An HTTP server that plays a list of expected requests and their answers, and clocks that tests move.

Requests to MAAS are named by what follows its API's path, others by their whole path.
"""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import ThreadingUnixStreamServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

API = "/MAAS/api/2.0/"


@dataclass(frozen=True)
class Call:
    """One expected request, `GET zones/`, and what comes back. `form` and `query` are checked when given."""

    request: str
    status: int = 200
    json: Any = None
    text: str | bytes | None = None
    content_type: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    form: Sequence[tuple[str, str]] | None = None
    query: Sequence[tuple[str, str]] | None = None
    breaks: bool = False
    breaks_in_body: bool = False
    hangs: float = 0.0
    # Seconds between the bytes of the head, or of the body.
    drips_in_head: float = 0.0
    drips_in_body: float = 0.0

    @property
    def body(self) -> bytes:
        if isinstance(self.text, bytes):
            return self.text
        return (json.dumps(self.json) if self.text is None else self.text).encode()

    @property
    def type(self) -> str:
        return self.content_type or ("application/json; charset=utf-8" if self.text is None else "text/plain")


def html(request: str, status: int, text: str = "<html><body>Hello</body></html>", **headers: str) -> Call:
    return Call(request, status, text=text, content_type="text/html; charset=utf-8", headers=headers)


@dataclass(frozen=True)
class Seen:
    """One request that came."""

    request: str
    query: list[tuple[str, str]]
    form: list[tuple[str, str]]
    headers: Mapping[str, str]
    target: str
    body: str

    @property
    def signature(self) -> dict[str, str]:
        parts = self.headers["Authorization"].removeprefix("OAuth ").split(", ")
        return {name: unquote(value.strip('"')) for name, _is, value in (part.partition("=") for part in parts)}


class QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are part of the tests."""


class QuietSocket(ThreadingUnixStreamServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are part of the tests."""


class ScriptedMaas:
    """Listens on loopback, or on a socket of the file system; answers what the script says, remembers what came."""

    def __init__(self, script: Sequence[Call], certificate: str = "", path: str = "") -> None:
        self.script = list(script)
        self.seen: list[Seen] = []
        self.problems: list[str] = []
        self._lock = threading.Lock()
        self._server: ThreadingHTTPServer | ThreadingUnixStreamServer
        self._server = QuietSocket(path, _handler(self)) if path else QuietServer(("127.0.0.1", 0), _handler(self))
        self.scheme = "https" if certificate else "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])  # type: ignore[arg-type]

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/MAAS"

    def start(self) -> None:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def next_call(self, seen: Seen) -> Call:
        with self._lock:
            self.seen.append(seen)
            if not self.script:
                self.problems.append(f"one request too many: {seen.request}")
                return Call("", 500, text="the script has ended")
            call = self.script.pop(0)
            for wished, came in ((call.request, seen.request), (call.query, seen.query), (call.form, seen.form)):
                if wished is not None and came != (wished if isinstance(wished, str) else list(wished)):
                    self.problems.append(f"{call.request}: expected {wished!r}, came {came!r}")
            return call

    def assert_all_came(self) -> None:
        missing = [call.request for call in self.script]
        assert not self.problems
        assert not missing, f"never came: {missing}"


def _handler(maas: ScriptedMaas) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            parts = urlsplit(self.path)
            call = maas.next_call(
                Seen(
                    request=f"{self.command} {parts.path.removeprefix(API)}",
                    query=parse_qsl(parts.query, keep_blank_values=True),
                    form=parse_qsl(body, keep_blank_values=True),
                    headers=dict(self.headers),
                    target=self.path,
                    body=body,
                )
            )
            if call.hangs:
                threading.Event().wait(call.hangs)
            if call.breaks:
                return self._break()
            if call.drips_in_head:
                return self._drip(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n", call.drips_in_head)
            self.send_response(call.status)
            self.send_header("Content-Type", call.type)
            self.send_header("Content-Length", str(len(call.body) + (10 if call.breaks_in_body else 0)))
            for name, value in call.headers.items():
                self.send_header(name, value)
            self.end_headers()
            if call.drips_in_body:
                return self._drip(call.body, call.drips_in_body)
            self.wfile.write(call.body)
            return self._break() if call.breaks_in_body else None

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

        def _break(self) -> None:
            self.close_connection = True
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)

        def _drip(self, content: bytes, pause: float) -> None:
            """Byte by byte, until nobody listens any more."""
            for byte in content:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                threading.Event().wait(pause)
            self._break()

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing: the tests read `seen`."""

    return Handler


class FakeClock:
    """Time that passes only by sleeping, at once."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds


class HastyClock(FakeClock):
    """Every look at it costs as much as it says: for what takes long without sleeping."""

    def __init__(self, step: float) -> None:
        super().__init__()
        self.step = step

    def now(self) -> float:
        self.time += self.step
        return self.time
