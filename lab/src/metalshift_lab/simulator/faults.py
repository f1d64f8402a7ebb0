# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults on demand, for requests and for machines."""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass, field
from typing import Any, ClassVar

from metalshift_lab.simulator.errors import SERIALISATION_CONFLICT
from metalshift_lab.simulator.http import Request, Response

DOES = ("latency", "error", "drop", "conflict", "retry")
WHEN = ("before", "after")


@dataclass
class Fault:
    """What happens to the requests that match.

    does: "latency" (only `latency` milliseconds), "error" (`status` with `text`), "drop" (the connection is closed
    without an answer), "conflict" (409 as text), "retry" (409 as HTML with Retry-After).
    when: "before" the request is carried out, or "after" (it has been).
    hits: how often (0: for ever); skip: matching requests that pass first.
    """

    does: str = "error"
    when: str = "before"
    method: str = ""
    path: str = ""
    op: str | None = None
    status: int = 500
    text: str = "Simulated failure."
    latency: float = 0
    hits: int = 1
    skip: int = 0
    retry_after: int = 5
    seen: int = field(default=0, repr=False)

    KINDS: ClassVar[tuple[str, ...]] = DOES

    def __post_init__(self) -> None:
        if self.does not in self.KINDS:
            raise ValueError(f"A fault does one of {', '.join(self.KINDS)}, not {self.does!r}.")
        if self.when not in WHEN:
            raise ValueError(f"A fault strikes {' or '.join(WHEN)} the commit, not {self.when!r}.")
        re.compile(self.path)

    @property
    def inside(self) -> bool:
        """Whether it strikes what the request sets off, and not the request."""
        return False

    def matches(self, request: Request, op: str | None) -> bool:
        return (
            self.method.upper() in ("", request.method)
            and re.search(self.path, request.path) is not None
            and (self.op is None or self.op == (op or ""))
        )

    def response(self) -> Response:
        if self.does == "retry":
            return Response(
                409, SERIALISATION_CONFLICT, "text/html; charset=utf-8", {"Retry-After": str(self.retry_after)}
            )
        if self.does == "conflict":
            return Response(409, self.text)
        headers = {"Retry-After": str(self.retry_after)} if self.status == 503 else {}
        return Response(self.status, self.text, headers=headers)


class Faults:
    """The faults in force. The first that matches and is not used up strikes; latencies add up with it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._faults: list[Fault] = []
        self.latency = 0.0  # milliseconds for every request

    def add(self, fault: Fault) -> Fault:
        with self._lock:
            self._faults.append(fault)
        return fault

    def remove(self, fault: Fault) -> None:
        with self._lock:
            self._faults = [each for each in self._faults if each is not fault]

    def clear(self) -> None:
        with self._lock:
            self._faults.clear()
            self.latency = 0.0

    def strike(self, request: Request, op: str | None) -> tuple[Fault | None, float]:
        """The fault that hits this request, and the milliseconds it has to wait."""
        delay, struck = self.latency, None
        with self._lock:
            for fault in self._faults:
                if (struck is not None and fault.does != "latency") or not fault.matches(request, op):
                    continue
                fault.seen += 1
                if fault.seen <= fault.skip or (fault.hits and fault.seen > fault.skip + fault.hits):
                    continue
                delay += fault.latency
                if fault.does != "latency":
                    struck = fault
        return struck, delay


def wait(milliseconds: float) -> None:
    if milliseconds:
        time.sleep(milliseconds / 1000)


@dataclass
class MachineFault:
    """Machines whose hostname matches fail at an action of `engine.ACTIONS`, `times` times (-1: always)."""

    hostname: str
    action: str
    times: int = 1
    reason: str = ""

    def takes(self, hostname: str, action: str) -> bool:
        """Whether it strikes now; uses up one time."""
        if self.action != action or self.times == 0 or re.search(self.hostname, hostname) is None:
            return False
        self.times -= 1
        return True


@dataclass
class Stay:
    """Machines whose hostname matches do not end an action of `engine.ACTIONS` by themselves, till it is healed."""

    hostname: str
    action: str

    def keeps(self, hostname: str, action: str) -> bool:
        return self.action == action and re.search(self.hostname, hostname) is not None


def from_params(values: dict[str, Any]) -> Fault:
    """A fault from the control API's parameters."""
    known: dict[str, Any] = {}
    for name, kind in (
        ("does", str),
        ("when", str),
        ("method", str),
        ("path", str),
        ("op", str),
        ("status", int),
        ("text", str),
        ("latency", float),
        ("hits", int),
        ("skip", int),
        ("retry_after", int),
    ):
        if name in values:
            known[name] = kind(values.pop(name))
    if values:
        raise ValueError(f"A fault has no parameter {', '.join(sorted(values))}.")
    if "does" not in known and "latency" in known and "status" not in known:
        known["does"] = "latency"
        known.setdefault("hits", 0)
    return Fault(**known)
