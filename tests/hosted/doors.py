# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Second doors to a lab's two APIs, at which a run is killed after a chosen write."""

from __future__ import annotations

import http.client
import ssl
import threading
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from metalshift_lab.kube.handle import Lab

# What has become of the write when the run dies.
RECEIVED, COMMITTED, ANSWERED = "received", "committed", "answered"
# Long enough for an answer to arrive, and shorter than a run takes to send the next request.
ANSWER_ARRIVES = 0.002
HOP_BY_HOP = {"connection", "transfer-encoding", "content-length", "keep-alive"}
# The provider goes through the door to MAAS too, for that is where the hosted cluster was told to go.
OTHERS = ("Go-http-client/1.1",)
# Questions, though they are asked with a verb that writes.
QUESTIONS = ("selfsubjectaccessreviews", "dryRun=")


@dataclass
class Counter:
    """Counts the writes of all doors, and strikes at one of them."""

    writes: list[str] = field(default_factory=list)
    reads: int = 0
    _strike: Callable[[], None] | None = None
    _at: int = 0
    _when: str = RECEIVED
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def kill(self, strike: Callable[[], None], at: int, when: str) -> None:
        """Strike at the write of that number, counted from now."""
        with self._lock:
            self.writes, self.reads = [], 0
            self._strike, self._at, self._when = strike, at, when

    def spare(self) -> None:
        """Strike nobody any more, and count from now."""
        with self._lock:
            self.writes, self.reads, self._strike = [], 0, None

    def next(self, line: str) -> Callable[[], None] | None:
        """Note a request; what is to be done at it, if it is the one."""
        with self._lock:
            if line.startswith("GET ") or any(mark in line for mark in QUESTIONS):
                self.reads += 1
                return None
            self.writes.append(line)
            return self._strike if len(self.writes) == self._at else None

    @property
    def when(self) -> str:
        return self._when


@dataclass(frozen=True)
class Upstream:
    """Where a door leads."""

    url: str
    context: ssl.SSLContext | None = None
    # What lets requests in that come through the door.
    credentials: Mapping[str, str] = field(default_factory=dict)

    def connect(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.url)
        if self.context is not None:
            return http.client.HTTPSConnection(parts.hostname or "", parts.port, context=self.context)
        return http.client.HTTPConnection(parts.hostname or "", parts.port)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Runs that die with a request open are what this is for."""


def _door(upstream: Upstream, counter: Counter) -> _Server:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            line = f"{self.command} {self.path}"
            strike = None if self.headers["User-Agent"] in OTHERS else counter.next(line)
            if strike and counter.when == RECEIVED:
                strike()
                return
            connection = upstream.connect()
            try:
                headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
                connection.request(self.command, self.path, body or None, {**headers, **upstream.credentials})
                response = connection.getresponse()
                if strike and counter.when == COMMITTED:
                    response.read()
                    strike()
                    return
                self._answer(response)
                if strike:
                    threading.Timer(ANSWER_ARRIVES, strike).start()
            finally:
                connection.close()

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = pass_on

        def _answer(self, response: http.client.HTTPResponse) -> None:
            self.send_response(response.status)
            for name, value in response.getheaders():
                if name.lower() not in HOP_BY_HOP:
                    self.send_header(name, value)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            with suppress(OSError):
                while piece := response.read1(1 << 16):
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                    self.wfile.flush()
                self.wfile.write(b"0\r\n\r\n")

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing: the tests read the counter."""

    return _Server(("127.0.0.1", 0), Handler)


@dataclass(frozen=True)
class Doors:
    """How a run reaches the lab through the doors, as the environment of a playbook."""

    variables: dict[str, str]
    counter: Counter


@contextmanager
def doors(lab: Lab, folder: Path) -> Iterator[Doors]:
    """Doors to the management API and to MAAS, open as long as this lasts."""
    admin = yaml.safe_load(Path(lab.facts["kubeconfig"]).read_text())
    counter = Counter()
    with ExitStack() as stack:
        kube = _opened(stack, _management(admin), counter)
        maas = _opened(stack, Upstream(str(lab.facts["maas_url"])), counter)
        kubeconfig = folder / "through-the-door.kubeconfig"
        kubeconfig.write_text(yaml.safe_dump(_plain_kubeconfig(f"http://127.0.0.1:{kube}")))
        path = urlsplit(str(lab.facts["maas_url"])).path
        variables = {
            "K8S_AUTH_KUBECONFIG": str(kubeconfig),
            "MAAS_ENDPOINT": f"http://127.0.0.1:{maas}{path}",
            "MAAS_API_KEY": str(lab.facts["maas_api_key"]),
        }
        yield Doors(variables, counter)


def _opened(stack: ExitStack, upstream: Upstream, counter: Counter) -> int:
    server = _door(upstream, counter)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    stack.callback(server.server_close)
    stack.callback(server.shutdown)
    return int(server.server_address[1])


def _management(kubeconfig: dict[str, Any]) -> Upstream:
    cluster, user = kubeconfig["clusters"][0]["cluster"], kubeconfig["users"][0]["user"]
    trusted = ssl.create_default_context(cadata=b64decode(cluster["certificate-authority-data"]).decode())
    return Upstream(cluster["server"], trusted, {"Authorization": f"Bearer {user['token']}"})


def _plain_kubeconfig(server: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "lab", "cluster": {"server": server}}],
        "users": [{"name": "lab", "user": {}}],
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "lab"}}],
        "current-context": "lab",
    }
