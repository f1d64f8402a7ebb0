# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One simulated MAAS: its state behind one lock, its clock, faults and log; and how a request is answered."""

from __future__ import annotations

import secrets
import string
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from metalshift_lab.simulator import api, faults, lxd, oauth, routing, seed, vm_hosts
from metalshift_lab.simulator.clock import Clock
from metalshift_lab.simulator.contention import Contention
from metalshift_lab.simulator.engine import Engine
from metalshift_lab.simulator.errors import Refusal
from metalshift_lab.simulator.http import Json, Request, Response, encode, refuse
from metalshift_lab.simulator.log import RequestLog, shown_params
from metalshift_lab.simulator.lxd.door import Door
from metalshift_lab.simulator.state import State
from metalshift_lab.simulator.watch import answered

VERSIONS = ("3.3.9", "3.4.8", "3.5.9", "3.6.5", "3.7.1", "3.8.0")
DEFAULT_VERSION = "3.6.5"
NO_VM_HOSTS = "no-vmhosts"

__all__ = ["DEFAULT_VERSION", "NO_VM_HOSTS", "VERSIONS", "World", "api"]


def new_api_key() -> tuple[str, str, str]:
    letters = string.ascii_letters + string.digits
    consumer, key, secret = ("".join(secrets.choice(letters) for _ignored in range(n)) for n in (18, 18, 32))
    return consumer, key, secret


class World:
    def __init__(self, version: str = DEFAULT_VERSION, api_key: tuple[str, str, str] | None = None) -> None:
        self.lock = threading.RLock()
        self.clock = Clock()
        self.log = RequestLog()
        self.faults = faults.Faults()
        self.contention = Contention()
        self.first_version = version
        self.admin_key = api_key or new_api_key()
        self.doors: list[Door] = []
        self.state: State
        self.engine: Engine
        self.nonces: oauth.Nonces
        self.reset()

    def reset(self, *, boot_source: bool = True) -> None:
        """The seed state; no faults, nothing advances. The admin's key stays what it was, and so does the log."""
        with self.lock:
            self.close()
            self.clock = Clock()
            self.nonces = oauth.Nonces()
            self.state = State(clock=self.clock)
            self.engine = Engine(self.state, vm_hosts)
            self.state.engine = self.engine
            self.set_version(self.first_version)
            self.state.extra["lxd opener"] = self._open_lxd
            seed.fill(self.state, self.admin_key)
            if boot_source:
                seed.add_boot_source(self.state)
            lxd.add_server(self.state, lxd.Server())
            self.faults.clear()

    def close(self) -> None:
        """Nobody reaches the LXDs of this world any more."""
        while self.doors:
            self.doors.pop().close()

    def _open_lxd(self, server: lxd.Server) -> Door:
        door = Door(server, self.lock, self.clock)
        self.doors.append(door)
        lxd.servers(self.state)[lxd.endpoint(door.address)] = server
        return door

    def set_version(self, version: str) -> None:
        """ "3.4", a full version, or "no-vmhosts": the newest, where VM hosts answer 410."""
        with self.lock:
            if version == NO_VM_HOSTS:
                self.state.version, self.state.vm_hosts_gone = VERSIONS[-1], True
                return
            known = next((v for v in VERSIONS if v == version or v.startswith(f"{version}.")), None)
            if known is None:
                raise ValueError(
                    f"There is no version {version}; there are "
                    f"{', '.join(v.rsplit('.', 1)[0] for v in VERSIONS)} and {NO_VM_HOSTS}."
                )
            self.state.version, self.state.vm_hosts_gone = known, False

    @contextmanager
    def at_rest(self) -> Iterator[State]:
        """The state with the lock held and everything done that is due."""
        with self.lock:
            self.engine.tick()
            yield self.state

    # -- answering --------------------------------------------------------------------------------------------------

    def answer(self, request: Request) -> Response | None:
        """The answer to a request, faults included; None when the connection is to be dropped."""
        op = request.query.get("op") or request.data.get("op") or _op_of_path(request.path)
        return answered(
            request,
            self.log,
            self.faults,
            lambda _fault: self.contention.work(request, op, self.state, lambda: self.carry_out(request)),
            op=op,
            params=shown_params,
            user=lambda: request.user.username if request.user else None,
        )

    def carry_out(self, request: Request) -> Response:
        """One request, atomically. JSON is encoded after the lock was given back."""
        try:
            with self.lock:
                answer = self._carry_out(request)
        except Refusal as refusal:
            return refuse(refusal)
        except Exception as error:
            traceback.print_exc()
            return Response(500, str(error))
        return encode(answer.value, answer.status) if isinstance(answer, Json) else answer

    def _carry_out(self, request: Request) -> Response | Json:
        self.engine.tick()
        request._state = self.state
        if request.method in ("HEAD", "PATCH", "OPTIONS"):
            routing.locate(request)
            return Response(405, b"", "text/html; charset=utf-8")
        found, arguments = routing.locate(request)
        request.user = None if found.public else oauth.authenticate(request, self.nonces)
        answer = routing.dispatch(request, found, arguments)
        request.run_after_commit()
        return answer


def _op_of_path(path: str) -> str | None:
    last = path.rsplit("/", 1)[-1]
    return last[3:] if last.startswith("op-") else None
