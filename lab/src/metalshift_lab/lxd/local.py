# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""LXD's API over its unix socket, as far as the lab needs it to set LXD up."""

from __future__ import annotations

import http.client
import json
import socket
from pathlib import Path
from typing import Any

# An operation of LXD that takes longer has gone wrong.
OPERATION_LIMIT = 120


class Refused(Exception):
    """LXD's words, and the HTTP status, or that of the failed operation."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


class Local:
    """Requests on one LXD's socket, each on a connection of its own."""

    def __init__(self, path: Path, limit: float = OPERATION_LIMIT) -> None:
        self.path, self.limit = path, limit

    def get(self, path: str) -> Any:
        return self("GET", path)

    def __call__(self, method: str, path: str, body: Any = None) -> Any:
        """What the answer is about; of an operation, once it has ended well."""
        answer = self._ask(method, path, body)
        if answer.get("type") == "async":
            # On 5.0 the wait of an operation in another project needs no project.
            done = self._ask("GET", f"{answer['operation']}/wait?timeout={OPERATION_LIMIT}")["metadata"]
            if done["status_code"] != 200:
                raise Refused(done["status_code"], done["err"] or f"{done['description']} did not end in time")
            return done
        return answer.get("metadata")

    def _ask(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        connection = _Connection(self.path, self.limit)
        try:
            sent = None if body is None else json.dumps(body)
            connection.request(method, path, sent, {"Content-Type": "application/json"})
            answer: dict[str, Any] = json.loads(connection.getresponse().read() or b"{}")
        finally:
            connection.close()
        if answer.get("type") == "error":
            raise Refused(answer["error_code"], answer["error"])
        return answer


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: Path, limit: float) -> None:
        super().__init__("lxd", timeout=limit + 10)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self.path))
