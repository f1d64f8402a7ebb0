# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/1.0/operations: what LXD does in the background, and tokens that wait for who uses them."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from metalshift_lab.simulator.lxd.api.asked import NOT_FOUND, Answer, Asked, Refused, address
from metalshift_lab.simulator.lxd.api.routing import resource

RUNNING, SUCCESS, FAILURE, CANCELLED = 103, 200, 400, 401
STATUS = {RUNNING: "Running", SUCCESS: "Success", FAILURE: "Failure", CANCELLED: "Cancelled"}
TASK, TOKEN = "task", "token"


@dataclass
class Operation:
    id: str
    kind: str
    description: str
    created: datetime
    resources: dict[str, list[str]] | None = None
    metadata: Any = None
    status: int = RUNNING
    error: str = ""
    ready: float = 0.0

    @property
    def address(self) -> str:
        return address("operations", self.id)

    @property
    def over(self) -> bool:
        return self.kind == TASK and time.monotonic() >= self.ready

    def document(self, status: int) -> dict[str, Any]:
        moment = stamp(self.created)
        return {
            "id": self.id,
            "class": self.kind,
            "description": self.description,
            "created_at": moment,
            "updated_at": moment,
            "status": STATUS[status],
            "status_code": status,
            "resources": self.resources,
            "metadata": self.metadata,
            "may_cancel": self.kind == TOKEN,
            "err": self.error if status == FAILURE else "",
            "location": "none",
        }

    @property
    def shown(self) -> dict[str, Any]:
        return self.document(self.status if self.kind == TOKEN or self.over else RUNNING)


@dataclass(frozen=True)
class Doom:
    """What an operation fails with, before or after it was done."""

    words: str
    when: str


@dataclass
class Operations:
    """Those of one server. `seconds` is how long each takes."""

    now: Callable[[], datetime]
    seconds: float = 0.0
    doom: Doom | None = None
    known: dict[str, Operation] = field(default_factory=dict)

    def run(self, description: str, act: Callable[[], None], **resources: list[str]) -> Operation:
        """Do it now, and let it take its time to be done."""
        made = self._make(TASK, description)
        made.resources = resources or None
        made.ready = time.monotonic() + self.seconds
        if self.doom is None or self.doom.when == "after":
            try:
                act()
            except Refused as refusal:
                made.error = str(refusal)
        made.error = self.doom.words if self.doom else made.error
        made.status = FAILURE if made.error else SUCCESS
        return made

    def wait(self, kind: str, description: str, metadata: Any) -> Operation:
        """One that goes on until somebody ends it."""
        made = self._make(kind, description)
        made.metadata = metadata
        return made

    def of_kind(self, kind: str) -> list[Operation]:
        return [each for each in self.known.values() if each.kind == kind and each.status == RUNNING]

    def get(self, name: str) -> Operation:
        if name not in self.known:
            raise Refused(NOT_FOUND, "Operation not found")
        return self.known[name]

    def _make(self, kind: str, description: str) -> Operation:
        made = Operation(str(uuid.uuid4()), kind, description, self.now())
        self.known[made.id] = made
        return made


@resource("operations")
class AllOperations:
    def get(self, asked: Asked) -> Answer:
        """By status, in small letters."""
        found: dict[str, list[Any]] = {}
        for each in asked.operations.known.values():
            shown = each.shown
            found.setdefault(shown["status"].lower(), []).append(shown if asked.recursive else each.address)
        return Answer(found)


@resource("operations/{name}")
class OneOperation:
    def get(self, asked: Asked, name: str) -> Answer:
        return Answer(asked.operations.get(name).shown)

    def delete(self, asked: Asked, name: str) -> Answer:
        asked.operations.get(name).status = CANCELLED
        return Answer()


@resource("operations/{name}/wait")
class WaitForOperation:
    """The door lets time pass before."""

    def get(self, asked: Asked, name: str) -> Answer:
        return Answer(asked.operations.get(name).shown)


def stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
