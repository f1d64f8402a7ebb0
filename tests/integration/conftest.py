# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from metalshift_lab.simulator import Simulator


@pytest.fixture(scope="session")
def one_simulator() -> Iterator[Simulator]:
    with Simulator() as simulator:
        yield simulator


@pytest.fixture
def sim(one_simulator: Simulator) -> Simulator:
    """A simulated MAAS in its seed state, its log empty, without faults."""
    one_simulator.clear()
    one_simulator.reset()
    return one_simulator


@pytest.fixture
def eavesdropped() -> Iterator[list[str]]:
    """The command lines of all processes, seen again and again while the test runs."""
    seen: list[str] = []
    watcher = subprocess.Popen([sys.executable, "-c", WATCH], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
    yield seen
    assert watcher.stdin
    assert watcher.stdout
    watcher.stdin.close()
    seen += watcher.stdout.read().splitlines()
    watcher.wait()


WATCH = """
import pathlib, select, sys
seen = set()
while not select.select([sys.stdin], [], [], 0.02)[0]:
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            seen.add(path.read_bytes().replace(b"\\0", b" ").decode(errors="replace"))
        except OSError:
            continue
print("\\n".join(repr(line) for line in seen))
"""
