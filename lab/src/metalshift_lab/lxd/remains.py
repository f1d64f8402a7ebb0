# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is left of an LXD when its processes have ended: bridges, rules, loop devices, control groups. All goes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from metalshift_lab import labs
from metalshift_lab.processes import Remains, end_remains, parents, remains

# Users of containers can pass it, and its name is short: there are sockets in it.
HOME = Path("/var/lib/metalshift")
INTERFACES, LOOPS = Path("/sys/class/net"), Path("/sys/block")
GROUPS = Path("/sys/fs/cgroup")
LXC_GROUP = re.compile(r".*?/lxc\.[^/]+")
# LXC's own, for a moment at each end of a container. It stays empty, and is made when it is not there.
PASSAGE = "lxc.pivot"
LOCKS = Path("/run/lxc/lock")
NAMES = ("table", "inet", "lxd")
SOON = 10


def state_folder(folder: Path) -> Path:
    """LXD_DIR."""
    return folder / "lxd"


def clear(folder: Path) -> list[str]:
    """End whatever runs for the LXD in this folder, and remove all it made; the names of what ran."""
    folder = folder.resolve()
    labs.require_own(folder)
    found = family(folder)
    groups = {group for each in found for group in _groups(each.pid)}
    # Nobody reads its data again, so nothing needs to end well; but it may just have started something.
    end_remains(found, grace=0)
    end_remains(family(folder), grace=0)
    left = family(folder)
    if left:
        raise labs.LabError(
            f"These processes could not be killed: {', '.join(f'{each.part} ({each.pid})' for each in left)}."
        )
    for bridge in _bridges(folder):
        _remove_bridge(bridge)
    _remove_loops(folder)
    _remove_groups(groups)
    _remove_locks(folder)
    labs.remove(folder)
    with suppress(OSError):
        HOME.rmdir()
    return sorted(each.part for each in found)


# -- processes ----------------------------------------------------------------------------------------------------


def family(folder: Path) -> list[Remains]:
    """What carries the mark, and all that descends from it: containers have an environment of their own."""
    found = {each.pid: each for each in remains(folder)}
    above = parents()
    while young := [pid for pid, parent in above.items() if parent in found and pid not in found]:
        found.update({pid: Remains.of(pid, "container") for pid in young})
    return [each for each in found.values() if each.born]


# -- the network --------------------------------------------------------------------------------------------------


def _bridges(folder: Path) -> list[str]:
    networks = state_folder(folder) / "networks"
    return [path.name for path in networks.iterdir()] if networks.is_dir() else []


def _remove_bridge(name: str) -> None:
    # Those of virtual machines stay when QEMU is killed; those of containers have gone.
    for member in (INTERFACES / name / "brif").glob("tap*"):
        _run("ip", "link", "delete", member.name)
    _run("ip", "link", "delete", name)
    chains = [chain for chain in _chains() if chain.endswith(f".{name}")]
    for chain in chains:
        _run("nft", "flush", "chain", *NAMES[1:], chain)
        _run("nft", "delete", "chain", *NAMES[1:], chain)
    if chains and not list(_chains()):
        _run("nft", "delete", *NAMES)


def _chains() -> Iterator[str]:
    for line in _run("nft", "list", *NAMES).splitlines():
        word, _space, rest = line.strip().partition(" ")
        if word == "chain":
            yield rest.removesuffix(" {")


# -- devices and groups -------------------------------------------------------------------------------------------


def _remove_loops(folder: Path) -> None:
    """They go with the last mount, which the kernel ends in its own time."""
    deadline = time.monotonic() + SOON
    while (left := list(_loops(folder))) and time.monotonic() < deadline:
        time.sleep(0.05)
    for device in left:
        _run("losetup", "--detach", device)


def _loops(folder: Path) -> Iterator[str]:
    for backing in LOOPS.glob("loop*/loop/backing_file"):
        with suppress(OSError):
            if backing.read_text().startswith(f"{folder}/"):
                yield f"/dev/{backing.parents[1].name}"


def _groups(pid: int) -> Iterator[Path]:
    """The control groups that LXC made for a process."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
            _number, controllers, path = line.split(":", 2)
            made = LXC_GROUP.match(path)
            # Version 2 is the whole tree, or beside version 1 a part of it.
            for root in (controllers.removeprefix("name="),) if controllers else ("", "unified"):
                if made:
                    yield GROUPS / root / made[0].lstrip("/")


def _remove_groups(groups: Iterable[Path]) -> None:
    deadline = time.monotonic() + SOON
    for group in groups:
        for path in (*sorted(group.rglob("*/"), reverse=True), group) if group.is_dir() else ():
            while path.is_dir() and time.monotonic() < deadline:
                try:
                    path.rmdir()
                except OSError:
                    time.sleep(0.05)

    for passage in (*GROUPS.glob(PASSAGE), *GROUPS.glob(f"*/{PASSAGE}")) if groups else ():
        with suppress(OSError):
            passage.rmdir()


def _remove_locks(folder: Path) -> None:
    """LXC keeps one for each container's folder."""
    locks = LOCKS / str(folder).lstrip("/")
    shutil.rmtree(locks, ignore_errors=True)
    with suppress(OSError):
        os.removedirs(locks.parent)


def _run(*command: str) -> str:
    """What it printed; that something is not there any more is no trouble."""
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        return ""
