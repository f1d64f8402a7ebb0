# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Pythons of this machine, as python.sh found them, and the ansible-core that each of them gets."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, order=True)
class Python:
    minor: int
    path: Path

    @property
    def version(self) -> str:
        return f"3.{self.minor}"


@dataclass(frozen=True)
class Core:
    """A pinned ansible-core, and the Pythons its controller side runs on."""

    version: str
    oldest: int
    newest: int

    def runs_on(self, python: Python) -> bool:
        return self.oldest <= python.minor <= self.newest

    @property
    def needs(self) -> str:
        return f"Python 3.{self.oldest} to 3.{self.newest}"


CORES = (Core("2.21", 12, 13), Core("2.19", 11, 13), Core("2.17", 10, 12))


def found() -> list[Python]:
    """Newest first."""
    lines = (line.split(" ", 1) for line in os.environ.get("METALSHIFT_PYTHONS", "").splitlines())
    pythons = [Python(int(version.removeprefix("3.")), Path(path)) for version, path in lines]
    return sorted(pythons, reverse=True) or [Python(sys.version_info.minor, Path(sys.executable))]


def main_core(python: Python) -> Core:
    """The newest core that the newest Python runs, as locks/main.in says."""
    return next(core for core in CORES if core.runs_on(python))


def cells(pythons: list[Python]) -> list[tuple[Core, Python | None]]:
    """Every core with the oldest Python that runs it, but for the pair that the main environment is."""
    main = (main_core(pythons[0]), pythons[0])
    pairs = [(core, min(filter(core.runs_on, pythons), default=None)) for core in CORES]
    return [pair for pair in pairs if pair != main]
