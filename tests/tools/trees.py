# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Environments, and the collection where Ansible's tools look for it: below `ansible_collections/metalshift/maas`.

`linked` is a link to the clone, for tests that run code. `staged` is a copy of what git knows or would add, for tools
that crawl. `installed` is what a user gets: the tarball, built from a staged copy and installed by ansible-galaxy.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ROOT / "tests" / "locks"
# The lab is a package of its own, which tests use without installing it.
LAB = ROOT / "lab" / "src"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "metalshift-maas"
# Two clones of one user share environments, programs and downloads, but nothing that is made from their files.
STATE = CACHE / "clones" / hashlib.sha256(os.fsencode(ROOT)).hexdigest()[:12]
NAME = Path("ansible_collections/metalshift/maas")
# What would make a run here differ from one elsewhere
UNWANTED = ("ANSIBLE_", "MAAS_", "METALSHIFT_", "PYTEST_", "PYTHON", "MAKE", "MFLAGS", "NOX")
# Where the user has built the lab's programs himself
WANTED = ("METALSHIFT_PROGRAMS",)


@dataclass(frozen=True)
class Environment:
    """A virtual environment, and the variables with which its programs are started."""

    home: Path

    @property
    def bin(self) -> Path:
        return self.home / "bin"

    def command(self, program: str, *arguments: str | Path) -> list[str]:
        return [str(self.bin / program), *map(str, arguments)]

    def variables(self, **more: str | Path) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name in WANTED or not name.startswith(UNWANTED)}
        settings = STATE / "ansible.cfg"
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.touch()
        return {
            **kept,
            "PATH": f"{self.bin}:{os.environ.get('PATH', os.defpath)}",
            "VIRTUAL_ENV": str(self.home),
            "LC_ALL": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            "ANSIBLE_CONFIG": str(settings),
            "ANSIBLE_HOME": str(STATE / "ansible-home"),
            **{name: str(value) for name, value in more.items()},
        }

    def run(self, program: str, *arguments: str | Path, cwd: Path | None = None, **more: str | Path) -> None:
        """For the steps that prepare a session; their output is of interest only if they fail."""
        command = self.command(program, *arguments)
        done = subprocess.run(
            command,
            cwd=cwd,
            env=self.variables(**more),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"{done.stdout}{done.stderr}\n{' '.join(command[:4])} … failed; it said the above.")


def linked(environment: Environment) -> Path:
    """The folder to have on ANSIBLE_COLLECTIONS_PATH and PYTHONPATH."""
    base = STATE / "linked"
    _link(base / NAME, ROOT)
    _link(base / "ansible_collections/kubernetes/core", bundled(environment, "kubernetes.core"))
    return base


def staged(name: str, environment: Environment, *, without: tuple[str, ...] = ()) -> Path:
    """A fresh copy, with kubernetes.core beside it. Whoever needs one has its own, so that they run at once."""
    base = STATE / f"staged-{name}"
    shutil.rmtree(base, ignore_errors=True)
    for path in known_files():
        if os.path.lexists(ROOT / path) and not str(path).startswith(without):
            target = base / NAME / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, target, follow_symlinks=False)
    _link(base / "ansible_collections/kubernetes/core", bundled(environment, "kubernetes.core"))
    return base


def tarball(environment: Environment) -> Path:
    name = f"package-{os.getpid()}"
    base = staged(name, environment)
    output = STATE / "package"
    environment.run("ansible-galaxy", "collection", "build", "--force", base / NAME, "--output-path", output)
    shutil.rmtree(base)
    return next(output.glob("*.tar.gz"))


def installed(environment: Environment, name: str) -> Path:
    """A collections path that holds the built collection and kubernetes.core, and nothing of the clone."""
    base = STATE / f"installed-{name}"
    shutil.rmtree(base, ignore_errors=True)
    dependency = base / "ansible_collections/kubernetes/core"
    dependency.parent.mkdir(parents=True)
    shutil.copytree(bundled(environment, "kubernetes.core"), dependency, symlinks=True)
    install = ("collection", "install", "--offline", "-p", base, tarball(environment))
    environment.run("ansible-galaxy", *install, ANSIBLE_COLLECTIONS_PATH=base)
    return base


def bundled(environment: Environment, collection: str) -> Path:
    """A collection out of the package on PyPI that holds the oldest kubernetes.core that galaxy.yml allows."""
    lock = LOCKS / "collections.txt"
    (package,) = re.findall(r"^ansible==(\S+)", lock.read_text(), re.MULTILINE)
    target = CACHE / "collections" / f"ansible-{package}" / Path(*collection.split("."))
    with only_one(CACHE / "collections" / ".lock"):
        if not target.exists():
            unpacked = target.with_name(f"{target.name}-unpacked")
            shutil.rmtree(unpacked, ignore_errors=True)
            unpacked.mkdir(parents=True)
            download = ("-m", "pip", "download", "-q", "--no-deps", "--require-hashes", "--only-binary=:all:")
            environment.run("python", *download, "-d", unpacked, "-r", lock)
            prefix = f"ansible_collections/{collection.replace('.', '/')}/"
            with zipfile.ZipFile(next(unpacked.glob("*.whl"))) as archive:
                archive.extractall(unpacked, [name for name in archive.namelist() if name.startswith(prefix)])
            (unpacked / prefix).rename(target)
            shutil.rmtree(unpacked)
    return target


def known_files() -> list[Path]:
    """What git knows or would add, from the root of the clone on."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"git cannot list the files of {ROOT}: {done.stderr.decode(errors='replace').strip()}")
    return [Path(os.fsdecode(path)) for path in done.stdout.split(b"\0") if path]


@contextmanager
def only_one(lock: Path) -> Iterator[None]:
    """Hold the lock file; the kernel drops it with the process."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _link(link: Path, target: Path) -> None:
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.is_symlink() or link.readlink() != target:
        # In one step: parts that run side by side want the same link.
        made = link.with_name(f"{link.name}.{os.getpid()}")
        made.symlink_to(target)
        made.replace(link)
