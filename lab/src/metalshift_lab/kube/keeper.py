# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps programs running: what dies is started again, and its death is remembered."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from metalshift_lab.kube.control_plane import Program
from metalshift_lab.processes import Process

START_LIMIT = 120
# Seconds before a program that died is started again, doubled with each death in a row.
AGAIN, AT_MOST = 0.3, 10.0
# A program that ran this long is not taken for one that cannot start.
STEADY = 30.0
# An API server would wait for its watches to end.
DOWN_GRACE = 2.0


class DidNotStart(Exception):
    """A program ended, or did not serve in time; the text has its last words."""


def plain_environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """What a process of the lab knows of this machine: no proxy, cloud or kubeconfig of the user.

    Programs in Go get more memory for less time: API servers would spend a quarter of it on collecting garbage.
    """
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "LANG") if name in os.environ}
    return {**kept, "GOGC": "400", **(more or {})}


def wait_ready(process: Process, program: Program, limit: float = START_LIMIT) -> None:
    deadline = time.monotonic() + limit
    while not program.ready():
        if not process.alive:
            raise DidNotStart(f"{program.name} {process.end}: {process.last_words()}")
        if time.monotonic() > deadline:
            raise DidNotStart(f"{program.name} does not serve after {limit:.0f} s: {process.last_words()}")
        time.sleep(0.05)


class StaysAway(Exception):
    """A fault keeps the program from running."""


class Keeper:
    """The programs that always run while the lab does."""

    def __init__(self, lab: Path, env: Mapping[str, str]) -> None:
        self._lab, self._env = lab, dict(env)
        self.processes: dict[str, Process] = {}
        self.deaths: list[str] = []
        self.log = logging.getLogger("lab.keeper")
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._down: set[str] = set()

    def start(self, program: Program) -> None:
        """Start it, wait till it serves, and keep it."""
        process = self._launch(program)
        wait_ready(process, program)
        threading.Thread(target=self._keep, args=(program,), name=f"keep {program.name}", daemon=True).start()

    def stop(self) -> None:
        """End all, the last started first. What they have not written yet goes with the lab's folder."""
        self._ended.set()
        with self._lock:
            running = list(self.processes.values())
        for process in reversed(running):
            process.kill()

    def keep_down(self, name: str) -> None:
        """End a program, and do not start it again until `let_up`."""
        process = self.processes.get(name)
        if process is None:
            raise ValueError(f"The lab has no program {name}; it has {', '.join(sorted(self.processes))}.")
        self._down.add(name)
        process.stop(DOWN_GRACE)

    def let_up(self, name: str) -> None:
        """Let it start again."""
        self._down.discard(name)

    def _launch(self, program: Program) -> Process:
        # What a killed server left of its socket would be taken for a server that listens.
        if program.name.startswith("etcd"):
            for socket in program.folder.glob("*.sock:0"):
                socket.unlink()
        with self._lock:
            if self._ended.is_set():
                raise DidNotStart("The lab is ending.")
            if program.name in self._down:
                raise StaysAway
            process = Process(self._lab, program.name, program.command, env=self._env, cwd=program.folder)
            self.processes[program.name] = process
        return process

    def _may_start(self, name: str, pause: float) -> bool:
        """Wait till the program may start; False when the lab ends first."""
        while not self._ended.wait(pause):
            if name not in self._down:
                return True
            pause = 0.1
        return False

    def _keep(self, program: Program) -> None:
        pause = AGAIN
        while True:
            process = self.processes[program.name]
            process.wait()
            if self._ended.is_set():
                return
            again = "it stays away" if program.name in self._down else "it is started again"
            said = f"{program.name} {process.end}; {again}"
            self.deaths.append(f"{time.strftime('%H:%M:%S')} {said}")
            self.log.warning("%s (its last words: %s)", said, process.last_words())
            pause = AGAIN if time.monotonic() - process.started > STEADY else pause
            if not self._may_start(program.name, pause):
                return
            pause = min(pause * 2, AT_MOST)
            while not self._launched_again(program):
                if not self._may_start(program.name, AT_MOST):
                    return

    def _launched_again(self, program: Program) -> bool:
        """Whether it runs now; why not is remembered, and it is tried again."""
        try:
            self._launch(program)
        except StaysAway:
            return False
        except (DidNotStart, OSError) as error:
            if not self._ended.is_set():
                self.deaths.append(f"{time.strftime('%H:%M:%S')} {program.name} cannot be started again: {error}")
                self.log.error("%s cannot be started again: %s", program.name, error)
            return False
        return True
