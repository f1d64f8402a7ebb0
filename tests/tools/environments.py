# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual environments made from lock files, kept in the user's cache until the lock file or the Python changes."""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from console import CannotGoOn, say
from foreground import finish
from locks import packages
from paths import CACHE, CLONE, LOCKS
from pythons import Python

ROOM_NEEDED = 900 << 20
KEPT_UNUSED = 30 * 24 * 3600
CAUSES = {
    "No space left on device": (
        f"The disk of {CACHE} is full. Make room, or set XDG_CACHE_HOME to a folder with 2 GB free."
    ),
    "Retry(total=0,": (
        "pip reaches no package index. Check the network, and what pip knows of an index and a proxy (pip config list)."
    ),
}
UNWANTED = ("ANSIBLE_", "MAAS_", "METALSHIFT_", "PYTEST_", "PYTHON", "MAKE", "MFLAGS")
# Where the user has built the lab's programs himself
WANTED = ("METALSHIFT_PROGRAMS",)


@dataclass(frozen=True)
class Environment:
    """A virtual environment, and the variables with which its programs are started."""

    home: Path
    python: Python

    @property
    def bin(self) -> Path:
        return self.home / "bin"

    def command(self, program: str, *arguments: str | Path) -> list[str]:
        return [str(self.bin / program), *map(str, arguments)]

    def variables(self, **more: str | Path) -> dict[str, str]:
        """The user's, but for what would make a run here differ from one elsewhere."""
        kept = {name: value for name, value in os.environ.items() if name in WANTED or not name.startswith(UNWANTED)}
        settings = CLONE / "ansible.cfg"
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.touch()
        return {
            **kept,
            "PATH": f"{self.bin}:{os.environ.get('PATH', os.defpath)}",
            "VIRTUAL_ENV": str(self.home),
            "LC_ALL": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            "ANSIBLE_CONFIG": str(settings),
            "ANSIBLE_HOME": str(CLONE / "ansible-home"),
            **{name: str(value) for name, value in more.items()},
        }


def environment(name: str, python: Python) -> Environment:
    """The environment that locks/NAME.txt describes; made first if need be."""
    lock = LOCKS / f"{name}.txt"
    ingredients = [lock.read_bytes(), os.fsencode(python.path), f"{platform.machine()} {platform.libc_ver()}".encode()]
    key = hashlib.sha256(b"\0".join(ingredients)).hexdigest()[:12]
    home = CACHE / "environments" / f"{name}-py{python.version}-{key}"
    complete = home / ".complete"
    if not _usable(home):
        with only_one(home.with_name(f"{home.name}.lock"), f"another run makes the environment {name}; waiting for it"):
            if not _usable(home):
                _make(home, lock, python)
                _drop_unused_environments(home.parent)
    complete.touch()
    return Environment(home, python)


def _usable(home: Path) -> bool:
    return (home / ".complete").exists() and (home / "bin" / "python").exists()


def _make(home: Path, lock: Path, python: Python) -> None:
    require_room(home.parent)
    wanted = packages(lock.read_text())
    say(f"Making the environment {lock.stem} with Python {python.version}, once, in {home}")
    shutil.rmtree(home, ignore_errors=True)
    _run_pip([str(python.path), "-m", "venv", str(home)], home)
    install = [str(home / "bin" / "python"), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    _run_pip([*install, "--progress-bar", "off", "--require-hashes", "-r", str(lock)], home, wanted)
    (home / ".complete").touch()


def _run_pip(command: list[str], home: Path, wanted: int = 0) -> None:
    """Run a step of the installation; its last lines are shown if it fails, a line of progress now and then if not."""
    log: list[str] = []
    collected, last = 0, time.monotonic()
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        try:
            for line in process.stdout or ():
                log.append(line)
                collected += line.startswith("Collecting ")
                if line.startswith("Installing collected packages"):
                    say(f"  all {collected} packages are here, installing them")
                elif line.startswith("Collecting ") and time.monotonic() - last > 5:
                    last = time.monotonic()
                    say(f"  {collected} of about {wanted} packages")
        finally:
            finish(process)
    if process.returncode:
        known = cause("".join(log))
        if known:
            shutil.rmtree(home, ignore_errors=True)
            raise CannotGoOn(known)
        say("".join(log[-25:]))
        raise CannotGoOn(f"{' '.join(command[:3])} … failed while making {home}; its last lines are above.")


def cause(output: str) -> str:
    """A sentence about what most often keeps pip from its work, if its output shows it."""
    return next((sentence for mark, sentence in CAUSES.items() if mark in output), "")


def require_room(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if free < ROOM_NEEDED:
        raise CannotGoOn(
            f"{folder} has only {free >> 20} MB free and {ROOM_NEEDED >> 20} MB are needed."
            " Make room, or set XDG_CACHE_HOME to a roomier folder."
        )


def _drop_unused_environments(environments: Path) -> None:
    """Remove what no run has used for a month: every change of a lock file leaves an environment behind."""
    for marker in environments.glob("*/.complete"):
        if _unused(marker):
            shutil.rmtree(marker.parent, ignore_errors=True)


def drop_unused(folder: Path) -> None:
    """Remove the files that no run has used for a month."""
    for file in folder.glob("*"):
        if _unused(file):
            file.unlink(missing_ok=True)


def _unused(file: Path) -> bool:
    return time.time() - file.stat().st_mtime > KEPT_UNUSED


@contextmanager
def only_one(lock: Path, meanwhile: str) -> Iterator[None]:
    """Hold the lock file; say what is waited for if another process holds it. The kernel drops it with the process."""
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        file = lock.open("w")
    except OSError as error:
        raise CannotGoOn(f"{lock.parent} cannot be written ({error.strerror}); set XDG_CACHE_HOME.") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(meanwhile)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
