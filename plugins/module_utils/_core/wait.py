# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting, in one place: bounded, one look a tick, ticks that back off, and a line when something changes.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from ansible_collections.metalshift.maas.plugins.module_utils._core.clock import Clock, in_words
from ansible_collections.metalshift.maas.plugins.module_utils._core.parent import end_if_orphaned
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Options

if TYPE_CHECKING:
    from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task

Seen = TypeVar("Seen")

WAIT_OPTIONS: Options = {
    "wait": {"type": "bool", "default": True},
    "wait_timeout": {"type": "float", "default": 3600.0},
    "wait_sleep": {"type": "float", "default": 5.0},
}

# While nothing changes, ticks grow by this factor up to this many times the first one.
GROWTH = 1.3
LONGEST = 3.0
# Whoever runs playbooks may end what has been silent for some minutes.
HEARTBEAT = 60.0
# Looking must not become the load: a listing that takes MAAS two seconds is asked for every ten.
REST_PER_LOOK = 5.0


@dataclass
class Patience:
    """How long a task may still wait, all its waits together, and how often it looks."""

    clock: Clock
    say: Callable[[str], None]
    timeout: float
    tick: float

    def __post_init__(self) -> None:
        self.began = self.clock.now()

    @classmethod
    def of(cls, task: Task) -> Patience:
        """What the options of a task allow; its requests, too, end in that time."""
        params = task.params
        for option in ("wait_timeout", "wait_sleep"):
            if params[option] <= 0:
                raise invalid(f"{option} must be more than 0 seconds, not {params[option]}.")
        if params.get("wait", True):
            task.deadline.set(float(params["wait_timeout"]))
        return cls(task.clock, task.say, float(params["wait_timeout"]), float(params["wait_sleep"]))

    @property
    def waited(self) -> float:
        return self.clock.now() - self.began

    @property
    def left(self) -> float:
        return self.timeout - self.waited

    def heartbeat(self, line: str) -> str:
        """That it still waits, how long, and what for."""
        return f"{line or 'still waiting'}, {in_words(self.waited)} of {in_words(self.timeout)}"

    def until(
        self, look: Callable[[], Seen], settled: Callable[[Seen], bool], tell: Callable[[Seen], str]
    ) -> Seen | None:
        """Look until what is seen is settled, and return that; None when the time is up.

        `tell` says in a line what is seen: it is said when it differs from the last one, and now and then when not.
        """
        tick = self.tick
        told = last = ""
        spoke = self.clock.now()
        while True:
            end_if_orphaned()
            before = self.clock.now()
            seen = look()
            took = self.clock.now() - before
            line = tell(seen)
            if line and line != told:
                self.say(f"{line}, {in_words(self.waited)}")
                tick = self.tick
                last, spoke = line, self.clock.now()
            elif self.clock.now() - spoke >= HEARTBEAT:
                self.say(self.heartbeat(last))
                spoke = self.clock.now()
            told = line
            if settled(seen):
                return seen
            rest = max(tick, took * REST_PER_LOOK)
            if self.left <= 0:
                return None
            self.clock.sleep(min(rest, max(self.left, 0.0)))
            tick = min(tick * GROWTH, self.tick * LONGEST)
