# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A program that takes minutes: what it says line by line, what it took, and that nothing of it outlives us."""

from __future__ import annotations

import os
import resource
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

Hear = Callable[[str], None]
SILENCE = 1.0


@dataclass(frozen=True)
class Ended:
    code: int
    said: tuple[str, ...]
    seconds: float
    cpu_seconds: float


def run(
    command: Sequence[str], *, folder: Path, variables: Mapping[str, str], log: Path, lock: int, hear: Hear
) -> Ended:
    """Run it to its end. `hear` gets each line, and an empty one when a second has gone by without.

    The lock goes along: if this process is killed, a later one waits until the last of what it started has ended.
    """
    cpu, started, said = _cpu_seconds(), time.monotonic(), []
    with (
        log.open("a") as file,
        subprocess.Popen(
            command,
            cwd=folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=(lock,),
        ) as process,
    ):
        print("+", *command, file=file, flush=True)
        try:
            for line in _lines(process):
                if line:
                    print(line, file=file, flush=True)
                    said.append(line)
                hear(line)
            process.wait()
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    return Ended(process.returncode, tuple(said), time.monotonic() - started, _cpu_seconds() - cpu)


def _lines(process: subprocess.Popen[bytes]) -> Iterator[str]:
    assert process.stdout is not None
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            if not selector.select(SILENCE):
                yield ""
                continue
            read = os.read(process.stdout.fileno(), 65536)
            *lines, rest = (rest + read).split(b"\n") if read else (rest, b"")
            yield from (line.decode(errors="replace").rstrip() for line in lines)
            if not read:
                return


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
