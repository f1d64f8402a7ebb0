# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A socket before that of a real LXD. What comes is passed on to it, unless the test says otherwise."""

from __future__ import annotations

import json
import shutil
import socket
import socketserver
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import TracebackType
from typing import Any

WRITES = ("POST", "PUT", "PATCH", "DELETE")


@dataclass
class Rule:
    """What is done instead, or besides, with the next request of a method."""

    method: str
    # Before it reaches LXD.
    first: Callable[[], object] = lambda: None
    reaches: bool = True
    # After LXD has done it, before its answer goes on.
    then: Callable[[], object] = lambda: None
    # The answer is LXD's if this is 0.
    status: int = 0
    answers: bool = True
    in_background: bool = False
    times: int = 1


class Between:
    """Listens on a socket of its own while the `with` lasts."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.folder = Path(tempfile.mkdtemp(prefix="between-"))
        self.socket = str(self.folder / "unix.socket")
        self.seen: list[tuple[str, str]] = []
        self.rules: list[Rule] = []
        self.lock = threading.Lock()
        self.server = _Server(self)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    def __enter__(self) -> Between:
        self.thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.shutdown()
        self.server.server_close()
        shutil.rmtree(self.folder)

    # -- what the next request of a method meets ----------------------------------------------------

    def loses_the_answer_to(self, method: str, times: int = 1) -> None:
        """LXD does it, and nobody hears of it."""
        self.rules.append(Rule(method, answers=False, times=times))

    def breaks_before(self, method: str, times: int = 1) -> None:
        """The connection breaks, and LXD never sees the request."""
        self.rules.append(Rule(method, reaches=False, answers=False, times=times))

    def answers(self, method: str, status: int, times: int = 1, reaches: bool = False) -> None:
        self.rules.append(Rule(method, status=status, reaches=reaches, times=times))

    def before(self, method: str, act: Callable[[], object], times: int = 1) -> None:
        """Somebody else is faster."""
        self.rules.append(Rule(method, first=act, times=times))

    def dies_at(self, method: str, kill: Callable[[], object], done: bool) -> None:
        """Whoever asks dies before LXD is reached, or when it has done what was asked."""
        if done:
            self.rules.append(Rule(method, then=kill, answers=False))
        else:
            self.rules.append(Rule(method, first=kill, reaches=False, answers=False))

    def in_the_background(self, method: str) -> None:
        """As LXD 6.8 does it: 202, and an operation to wait for."""
        self.rules.append(Rule(method, in_background=True))

    @property
    def writes(self) -> list[tuple[str, str]]:
        return [(method, path) for method, path in self.seen if method in WRITES]

    def rule(self, method: str, path: str) -> Rule:
        with self.lock:
            self.seen.append((method, path))
            for rule in self.rules:
                if rule.method == method and rule.times:
                    rule.times -= 1
                    return rule
        return Rule(method)


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True

    def __init__(self, between: Between) -> None:
        self.between = between
        self.ended: dict[str, dict[str, Any]] = {}
        super().__init__(between.socket, _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads it."""

    def handle_one_request(self) -> None:
        self.raw_requestline = self.rfile.readline()
        if self.raw_requestline and self.parse_request():
            self._pass_on()
        self.close_connection = True

    def _pass_on(self) -> None:
        between, body = self.server.between, self.rfile.read(int(self.headers.get("Content-Length") or 0))
        rule = between.rule(self.command, self.path)
        rule.first()
        name = self.path.split("/")[-2]
        if name in self.server.ended:
            said = {"type": "sync", "status_code": 200, "metadata": self.server.ended[name]}
            self._answer(200, json.dumps(said).encode(), {})
            return
        status, content, headers = self._ask(body) if rule.reaches else (0, b"", {})
        rule.then()
        if rule.in_background:
            status, content = self._begun(status, content)
        if rule.answers:
            made = {"type": "error", "error": "made up", "error_code": rule.status}
            self._answer(rule.status or status, json.dumps(made).encode() if rule.status else content, headers)

    def _ask(self, body: bytes) -> tuple[int, bytes, dict[str, str]]:
        connection = HTTPConnection("lxd", timeout=60)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(self.server.between.target)
        passed = {name: value for name, value in self.headers.items() if name.lower() in ("content-type", "if-match")}
        connection.request(self.command, self.path, body or None, passed)
        response = connection.getresponse()
        content = response.read()
        connection.close()
        kept = {name: value for name, value in response.getheaders() if name.lower() in ("etag", "location")}
        return response.status, content, kept

    def _begun(self, status: int, content: bytes) -> tuple[int, bytes]:
        """The answer turned into an operation, which has ended by the time that it is asked for."""
        said, number = json.loads(content), f"made-{len(self.server.ended)}"
        failed = said.get("type") == "error"
        ended = {"id": number, "status_code": 400 if failed else 200, "err": said.get("error", "")}
        self.server.ended[number] = ended
        begun = {"type": "async", "status_code": 100, "operation": f"/1.0/operations/{number}"}
        return 202, json.dumps({**begun, "metadata": {"id": number, "status_code": 103}}).encode()

    def _answer(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Type": "application/json"}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
