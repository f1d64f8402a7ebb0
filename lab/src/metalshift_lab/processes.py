# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The processes of a lab. Each carries the lab's folder in its environment: so they are found again, whoever died."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MARK = "METALSHIFT_LAB"
PART = "METALSHIFT_LAB_PART"
GRACE = 20
KILL_GRACE = 10
_PROC = Path("/proc")


class Process:
    """A program of the lab: its log, how it ends, and how it ended."""

    def __init__(
        self, lab: Path, name: str, command: Sequence[str | Path], *, env: Mapping[str, str], cwd: Path | None = None
    ) -> None:
        self.name = name
        self.command = [str(part) for part in command]
        self.log = lab / "logs" / f"{name}.log"
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self._since = self.log.stat().st_size if self.log.exists() else 0
        marked = {**env, MARK: str(lab), PART: name}
        with self.log.open("ab") as log:
            self._child = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=cwd or lab,
                env=marked,
                start_new_session=True,
            )
        self.started = time.monotonic()

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def alive(self) -> bool:
        return self._child.poll() is None

    @property
    def end(self) -> str:
        """How it ended, in words; empty while it runs."""
        code = self._child.poll()
        if code is None:
            return ""
        if code < 0:
            with suppress(ValueError):
                return f"was killed by {signal.Signals(-code).name}"
        return f"ended with exit status {code}"

    def last_words(self, lines: int = 1) -> str:
        """The last lines that this run wrote."""
        with self.log.open("rb") as log:
            log.seek(max(self._since, self.log.stat().st_size - 65536))
            written = log.read().decode(errors="replace").strip().splitlines()
        return "\n".join(written[-lines:])

    def signal(self, number: signal.Signals) -> None:
        if self.alive:
            self._child.send_signal(number)

    def wait(self) -> None:
        self._child.wait()

    def kill(self) -> None:
        """At once: for a lab that ends, whose data nobody reads again."""
        self._child.kill()
        self._child.wait()

    def stop(self, grace: float = GRACE) -> None:
        """Ask it to end, and wait for it; it is killed when it does not listen."""
        self.signal(signal.SIGTERM)
        # A paused process takes notice of nothing.
        self.signal(signal.SIGCONT)
        try:
            self._child.wait(grace)
        except subprocess.TimeoutExpired:
            self.kill()


@dataclass(frozen=True)
class Remains:
    """A process of a lab that this process did not start."""

    pid: int
    part: str
    born: str

    @classmethod
    def of(cls, pid: int, part: str) -> Remains:
        """What runs with this pid now, if anything does."""
        return cls(pid, part, _born(pid))

    def alive(self) -> bool:
        return self.born != "" and _born(self.pid) == self.born


def remains(lab: Path) -> list[Remains]:
    """What runs with this lab's mark, of whatever supervisor; this process is not among them."""
    mark = f"{MARK}={lab}"
    found = []
    for folder in _PROC.glob("[0-9]*"):
        pid = int(folder.name)
        environment = _environment(pid)
        if mark in environment and pid != os.getpid():
            part = next((entry.partition("=")[2] for entry in environment if entry.startswith(f"{PART}=")), "")
            found.append(Remains.of(pid, part))
    return [each for each in found if each.born]


def end_remains(found: Sequence[Remains], grace: float = GRACE) -> None:
    """End these processes: asked first, killed when they do not listen. No other process that got the pid since."""
    for number in (signal.SIGTERM, signal.SIGCONT):
        _signal_all(found, number)
    deadline = time.monotonic() + grace
    # One that hangs in the kernel survives even that, for a while or for ever.
    given_up = deadline + KILL_GRACE
    while any(each.alive() for each in found) and time.monotonic() < given_up:
        if time.monotonic() > deadline:
            _signal_all(found, signal.SIGKILL)
        time.sleep(0.05)


def parents() -> dict[int, int]:
    """The parent of every process of this machine."""
    found = {}
    for folder in _PROC.glob("[0-9]*"):
        with suppress(OSError):
            found[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    return found


def _signal_all(found: Sequence[Remains], number: signal.Signals) -> None:
    for each in found:
        if each.alive():
            with suppress(ProcessLookupError):
                os.kill(each.pid, number)


def _environment(pid: int) -> list[str]:
    try:
        return (_PROC / str(pid) / "environ").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []


def _born(pid: int) -> str:
    """When the process was started, in the kernel's words; empty for one that is gone or a zombie."""
    try:
        fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]
