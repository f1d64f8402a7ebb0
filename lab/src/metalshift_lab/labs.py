# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The labs of this user as they are seen from outside: where each lives, and whether it runs.

Python's standard library is enough for it, so that a lab can be ended where its environment is not there any more.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from metalshift_lab.locks import held
from metalshift_lab.processes import Remains, end_remains, remains

State = Literal["absent", "starting", "running", "dead"]
FACTS = "lab.json"
# Only a folder with this file in it is ever removed.
CLAIM = ".metalshift-lab"
SUPERVISOR = "supervisor"
# What it says to whoever started it: that it has its programs, and that the lab serves.
STARTING, READY = "starting", "ready"
STANDARD = "lab"
NAME = r"[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?"


class LabError(Exception):
    """One sentence on why the lab does not do what it was asked."""


def cache() -> Path:
    """What is made once for this user, and can be made again."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute()
    return folder / "metalshift-maas"


def home() -> Path:
    """Where the labs of this user live when nobody says otherwise."""
    return cache() / "labs"


def claim(folder: Path) -> None:
    """Make the folder a lab's; LabError when somebody else has files there."""
    require_own(folder)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / CLAIM).touch(mode=0o600)


def remove(folder: Path) -> None:
    """Remove a lab's folder; LabError when it is not one, or is still there afterwards."""
    require_own(folder)
    # The claim goes last: what is left of an interrupted removal is still a lab's.
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name != CLAIM:
            path.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        raise LabError(f"{folder} could not be removed. Check who owns the files in it.")


def require_own(folder: Path) -> None:
    """LabError when somebody else has files in the folder."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / CLAIM).exists():
        raise LabError(f"{folder} is not the folder of a lab: it has files, but no {CLAIM}. Nothing was removed.")


def clear(folder: Path) -> list[str]:
    """End whatever runs for the lab in this folder, and remove it; the names of what ran."""
    folder = folder.resolve()
    require_own(folder)
    found = remains(folder)
    # The supervisor goes first: it would start again what ends.
    end_remains([each for each in found if each.part == SUPERVISOR])
    end_remains(remains(folder))
    left = remains(folder)
    if left:
        raise LabError(
            f"These processes could not be killed: {', '.join(f'{each.part} ({each.pid})' for each in left)}."
        )
    remove(folder)
    return sorted(each.part for each in found)


def kubectl(program: str | Path, folder: Path, kubeconfig: Path) -> list[str]:
    """The command kubectl for a lab in this folder. What it notes of the lab's API servers goes with the lab."""
    return [str(program), f"--kubeconfig={kubeconfig}", f"--cache-dir={folder / 'kubectl'}"]


@dataclass(frozen=True)
class Place:
    """A lab by its name, whether there is one or not."""

    name: str = STANDARD

    def __post_init__(self) -> None:
        if not re.fullmatch(NAME, self.name):
            raise LabError(
                f"{self.name!r} is not a valid name for a lab."
                " Use up to 32 lowercase letters, digits and hyphens, as in lab-2."
            )

    @property
    def folder(self) -> Path:
        return (home() / self.name).resolve()

    def processes(self) -> list[Remains]:
        """All that runs for it, whoever started it."""
        return remains(self.folder)

    def state(self) -> State:
        """`dead` is a lab whose supervisor has gone without clearing up."""
        found = self.processes()
        if any(each.part == SUPERVISOR for each in found):
            return "running" if (self.folder / FACTS).exists() else "starting"
        return "dead" if found or self.folder.exists() else "absent"

    def end(self) -> list[str]:
        """Nothing of it runs or is left afterwards; the names of what ran."""
        return clear(self.folder)

    @contextmanager
    def starting(self, wait: Callable[[], None]) -> Iterator[None]:
        """Hold while it is started; calls `wait` before it waits for another process that does so."""
        home().mkdir(mode=0o700, parents=True, exist_ok=True)
        with held(home() / f".{self.name}.lock", wait):
            yield


def known() -> list[Place]:
    """Every lab that runs, or left something behind."""
    if not home().is_dir():
        return []
    names = sorted(path.name for path in home().iterdir() if path.is_dir() and re.fullmatch(NAME, path.name))
    return [Place(name) for name in names]
