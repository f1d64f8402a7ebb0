# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where clients of LXD reach one of these servers: HTTPS on loopback, with a log of requests and faults on demand.

Certificates are made with the library cryptography, which the rest of the simulator does without.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from metalshift_lab.simulator import faults
from metalshift_lab.simulator.clock import Clock
from metalshift_lab.simulator.http import Request, Response
from metalshift_lab.simulator.log import HIDDEN, SECRET, RequestLog
from metalshift_lab.simulator.lxd.api import Api, refuse
from metalshift_lab.simulator.lxd.api.operations import Doom
from metalshift_lab.simulator.lxd.server import Server, fingerprint, normal
from metalshift_lab.simulator.lxd.tls import TlsServer
from metalshift_lab.simulator.server import Answer
from metalshift_lab.simulator.watch import answered

LOOPBACK = "127.0.0.1"
WAIT = re.compile(r"/1\.0/operations/([^/]+)/wait")


@dataclass
class Fault(faults.Fault):
    """As of MAAS; `fail` lets the operation that the request sets off fail with `text`, before or after it was done."""

    KINDS: ClassVar[tuple[str, ...]] = (*faults.DOES, "fail")

    @property
    def inside(self) -> bool:
        return self.does == "fail"

    def response(self) -> Response:
        status = 409 if self.does in ("conflict", "retry") else self.status
        return refuse(status, self.text)


class Door:
    """The HTTPS API of one server, open from the beginning."""

    def __init__(self, server: Server, lock: threading.RLock, clock: Clock) -> None:
        try:
            from metalshift_lab.authority import self_signed
        except ImportError:
            raise ValueError("LXD's HTTPS API needs the Python library cryptography.") from None
        self.server, self.lock = server, lock
        self.api = Api(server, clock.now)
        self.requests, self.faults = RequestLog(), faults.Faults()
        # Who stands here is handed each request, and hands it on to `answer`, or does not.
        self.keeper: Answer = self.answer
        self._folder = Path(tempfile.mkdtemp(prefix="metalshift-lxd-"))
        for name, pair in (("server", self_signed("lxd", [LOOPBACK, "localhost"])), ("client", self_signed("client"))):
            pair.write(self._file(f"{name}.crt"), self._file(f"{name}.key"))
        self.certificate = self._file("server.crt").read_text()
        server.trust(self._file("client.crt").read_text())
        self._listener = self._listen(0)
        self.port = self._listener.port

    # -- for clients --------------------------------------------------------------------------------------------------

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self.port}"

    @property
    def endpoint(self) -> str:
        return f"https://{self.address}"

    @property
    def client_cert(self) -> str:
        return str(self._file("client.crt"))

    @property
    def client_key(self) -> str:
        return str(self._file("client.key"))

    @property
    def server_cert(self) -> str:
        """It names 127.0.0.1, and is its own authority."""
        return str(self._file("server.crt"))

    @property
    def fingerprint(self) -> str:
        return fingerprint(normal(self.certificate))

    def reached(self) -> dict[str, str]:
        """How modules reach it."""
        names = ("endpoint", "client_cert", "client_key", "server_cert")
        return {name: str(getattr(self, name)) for name in names}

    # -- for tests ----------------------------------------------------------------------------------------------------

    def fault(self, does: str = "error", **values: Any) -> faults.Fault:
        return self.faults.add(Fault(does=does, **values))

    def clear(self) -> None:
        """Forget the logged requests and the faults."""
        self.requests.clear()
        self.faults.clear()
        self.api.operations.seconds = 0.0

    def down(self) -> None:
        """As if the daemon had ended: neither clients nor MAAS reach it. What runs on it goes on."""
        if self.server.serves:
            self.server.serves = False
            self._listener.stop()

    def up(self) -> None:
        """It serves again, at the same address, and has forgotten its operations."""
        if not self.server.serves:
            self.server.serves = True
            self.api.operations.known.clear()
            self._listener = self._listen(self.port)

    def close(self) -> None:
        self._listener.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    # -- answering ----------------------------------------------------------------------------------------------------

    def answer(self, request: Request) -> Response | None:
        """The answer to a request, faults included; None when the connection is to be dropped."""
        return answered(
            request, self.requests, self.faults, lambda fault: self._carry_out(request, fault), op=None,
            params=_shown, user=lambda: _who(request),
        )  # fmt: skip

    def _receive(self, request: Request) -> Response | None:
        return self.keeper(request)

    def _carry_out(self, request: Request, fault: faults.Fault | None) -> Response:
        self._let_time_pass(request)
        with self.lock:
            operations = self.api.operations
            operations.doom = Doom(fault.text, fault.when) if fault else None
            try:
                return self.api.answer(request)
            finally:
                operations.doom = None

    def _let_time_pass(self, request: Request) -> None:
        """Who waits for an operation waits without the lock."""
        waited = WAIT.fullmatch(request.path)
        operation = self.api.operations.known.get(waited[1]) if waited else None
        if operation is not None:
            time.sleep(max(0.0, operation.ready - time.monotonic()))

    def _listen(self, port: int) -> TlsServer:
        listener = TlsServer(LOOPBACK, port, self._receive, self._file("server.crt"), self._file("server.key"))
        listener.start()
        return listener

    def _file(self, name: str) -> Path:
        return self._folder / name


def _who(request: Request) -> str | None:
    """The beginning of a certificate's fingerprint."""
    return fingerprint(request.certificate)[:12] if request.certificate else None


def _shown(request: Request) -> dict[str, list[str]]:
    """What was asked, without secrets."""
    out = request.query.lists()
    if request.body:
        try:
            out["body"] = [json.dumps(_without_secrets(json.loads(request.body)))]
        except ValueError:
            out["body"] = [HIDDEN]
    return out


def _without_secrets(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: HIDDEN if SECRET.search(key) and each else _without_secrets(each) for key, each in value.items()}
    return [_without_secrets(each) for each in value] if isinstance(value, list) else value
