# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs for a pod: a process, or a stand-in in this one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from metalshift_lab.ports import Ports
from metalshift_lab.processes import Process


class Run(Protocol):
    """One run of a pod's program."""

    @property
    def alive(self) -> bool:
        """Whether it has not ended by itself."""

    @property
    def end(self) -> str:
        """How it ended, in words; empty while it runs."""

    def ready(self) -> bool:
        """Whether it serves."""

    def kill(self) -> None:
        """End it at once, for a lab that ends."""

    def stop(self) -> None:
        """End it, and give back what it took."""


class Part(Protocol):
    """A stand-in that runs as threads of the supervisor."""

    def start(self) -> None:
        """Begin; it returns when it serves."""

    def stop(self) -> None:
        """End, at once."""


@dataclass
class ProcessRun:
    """A process, how to see that it serves, and the ports that are free when it has ended."""

    process: Process
    ready_when: Callable[[], bool]
    ports: Ports
    taken: tuple[int, ...] = ()

    @property
    def alive(self) -> bool:
        return self.process.alive

    @property
    def end(self) -> str:
        # Who was killed had no last words: what it said last was about something else.
        killed = self.process.end.startswith("was killed")
        words = "" if killed else self.process.last_words()
        return f"{self.process.end}: {words}" if words else self.process.end

    def ready(self) -> bool:
        return self.process.alive and self.ready_when()

    def kill(self) -> None:
        self.process.kill()

    def stop(self) -> None:
        self.process.stop()
        # Once: by now they may be somebody else's.
        taken, self.taken = self.taken, ()
        self.ports.give_back(*taken)


class PartRun:
    """A stand-in in this process; it runs from its start to its stop."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.alive, self.end = True, ""
        part.start()

    def ready(self) -> bool:
        return self.alive

    def kill(self) -> None:
        self.stop()

    def stop(self) -> None:
        if self.alive:
            self.alive = False
            self.part.stop()
