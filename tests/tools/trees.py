# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection where Ansible's tools look for it: below `ansible_collections/metalshift/maas`.

`linked` is a link to the clone, for tests that run code. `staged` is a copy of what git knows or would add, for tools
that crawl. `installed` is what a user gets: the tarball, built from a staged copy and installed by ansible-galaxy.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
import zipfile
from pathlib import Path

from console import CannotGoOn, say
from environments import Environment, cause, only_one, require_room
from paths import CACHE, CLONE, LOCKS, ROOT

NAME = Path("ansible_collections/metalshift/maas")


def linked(environment: Environment | None = None) -> Path:
    """The folder to have on ANSIBLE_COLLECTIONS_PATH and PYTHONPATH; with an environment, with the dependencies."""
    base = CLONE / "linked"
    _link(base / NAME, ROOT)
    if environment:
        _link(base / "ansible_collections/kubernetes/core", kubernetes_core(environment))
    return base


def staged(name: str, environment: Environment, *, without: tuple[str, ...] = ()) -> Path:
    """An up-to-date copy, with the dependencies beside it. Whoever needs one has its own, so that they run at once."""
    base = CLONE / f"staged-{name}"
    copy = base / NAME
    wanted = [path for path in known_files() if os.path.lexists(ROOT / path) and not str(path).startswith(without)]
    _remove_all_but({*wanted}, copy)
    for path in wanted:
        _update(ROOT / path, copy / path)
    _link(base / "ansible_collections/kubernetes/core", kubernetes_core(environment))
    return base


def tarball(environment: Environment) -> Path:
    base = staged("package", environment)
    output = CLONE / "package"
    shutil.rmtree(output, ignore_errors=True)
    _galaxy(environment, "build", str(base / NAME), "--output-path", str(output))
    return next(output.glob("*.tar.gz"))


def installed(environment: Environment, name: str = "main") -> Path:
    """A collections path that holds the built collection and its dependency, and nothing of the clone."""
    base = CLONE / f"installed-{name}"
    shutil.rmtree(base, ignore_errors=True)
    dependency = base / "ansible_collections/kubernetes/core"
    dependency.parent.mkdir(parents=True)
    shutil.copytree(kubernetes_core(environment), dependency, symlinks=True)
    _galaxy(environment, "install", "--offline", "-p", str(base), str(tarball(environment)), path=base)
    return base


def kubernetes_core(environment: Environment) -> Path:
    """The oldest kubernetes.core that galaxy.yml allows."""
    return bundled(environment, "kubernetes.core")


def bundled(environment: Environment, collection: str) -> Path:
    """A collection out of the ansible package on PyPI that holds it."""
    (package,) = re.findall(r"^ansible==(\S+)", (LOCKS / "collections.txt").read_text(), re.MULTILINE)
    target = CACHE / "collections" / f"ansible-{package}" / Path(*collection.split("."))
    with only_one(CACHE / "collections" / ".lock", f"another run downloads {collection}; waiting for it"):
        if not target.exists():
            _extract(environment, collection, target)
    return target


def _extract(environment: Environment, collection: str, target: Path) -> None:
    require_room(CACHE)
    say(f"Downloading {collection}, once (50 MB: it comes inside the ansible package)")
    target.parent.mkdir(parents=True, exist_ok=True)
    unpacked = target.with_name(f"{target.name}-unpacked")
    shutil.rmtree(unpacked, ignore_errors=True)
    unpacked.mkdir()
    download = environment.command("python", "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps")
    lock = LOCKS / "collections.txt"
    _run([*download, "--require-hashes", "--only-binary=:all:", "-d", str(unpacked), "-r", str(lock)], environment)
    (wheel,) = unpacked.glob("*.whl")
    prefix = f"ansible_collections/{collection.replace('.', '/')}/"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(unpacked, [name for name in archive.namelist() if name.startswith(prefix)])
    (unpacked / prefix).rename(target)
    shutil.rmtree(unpacked)


def _galaxy(environment: Environment, *arguments: str, path: Path | None = None) -> None:
    variables = environment.variables(ANSIBLE_COLLECTIONS_PATH=path or CLONE)
    _run(environment.command("ansible-galaxy", "collection", *arguments), environment, variables)


def _run(command: list[str], environment: Environment, variables: dict[str, str] | None = None) -> None:
    done = subprocess.run(
        command,
        env=variables or environment.variables(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        output = f"{done.stdout}{done.stderr}"
        raise CannotGoOn(cause(output) or f"{output}\n{' '.join(command[:4])} … failed; it said the above.")


def known_files() -> list[Path]:
    """What git knows or would add, from the root of the clone on."""
    if not (ROOT / ".git").exists():
        raise CannotGoOn(f"{ROOT} is not a git clone, and these tools need to know which of its files count.")
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode:
        raise CannotGoOn(f"git cannot list the files of {ROOT}: {done.stderr.decode(errors='replace').strip()}")
    return [Path(os.fsdecode(path)) for path in done.stdout.split(b"\0") if path]


def files(copy: Path) -> list[Path]:
    """All files of a copy, links too, in an order that is always the same."""
    return sorted(path for path in copy.rglob("*") if path.is_symlink() or path.is_file())


def _update(source: Path, target: Path) -> None:
    new, old = source.lstat(), target.lstat() if os.path.lexists(target) else None
    if old and (old.st_mtime_ns, old.st_size, old.st_mode) == (new.st_mtime_ns, new.st_size, new.st_mode):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    shutil.copy2(source, target, follow_symlinks=False)


def _remove_all_but(wanted: set[Path], copy: Path) -> None:
    for folder, subfolders, files in os.walk(copy, topdown=False):
        for path in (Path(folder, name) for name in (*subfolders, *files)):
            if (path.is_symlink() or path.is_file()) and path.relative_to(copy) not in wanted:
                path.unlink()
        if not os.listdir(folder):
            os.rmdir(folder)


def _link(link: Path, target: Path) -> None:
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.is_symlink() or link.readlink() != target:
        # In one step: parts that run side by side want the same link.
        made = link.with_name(f"{link.name}.{threading.get_ident()}")
        made.symlink_to(target)
        made.replace(link)
