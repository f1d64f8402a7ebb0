# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the lab's LXDs live, and which of them is whose."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path

from metalshift_lab import labs
from metalshift_lab.labs import LabError
from metalshift_lab.locks import held
from metalshift_lab.lxd.remains import HOME, clear

LOCKS = Path("/run/lock")
TESTS = "tests"


class _Taken(Exception):
    """Another process holds the lock."""


def named(name: str) -> Path:
    """Where the LXD lives that this user calls so; as labs, another cache folder makes another user."""
    if not re.fullmatch(labs.NAME, name):
        raise LabError(
            f"{name!r} is not a valid name for an LXD. Use up to 32 lowercase letters, digits and hyphens, as in lab-2."
        )
    return HOME / f"{name}{_mine()}"


def known() -> list[str]:
    """The names of all LXDs that this user has, running or not."""
    return sorted(path.name.removesuffix(_mine()) for path in HOME.glob(f"*{_mine()}"))


def _mine() -> str:
    return f".{hashlib.sha256(os.fsencode(labs.home())).hexdigest()[:6]}"


@contextmanager
def coming_up() -> Iterator[None]:
    """Hold while an LXD of the lab looks for a port, a subnet and a bridge's name that no other has, and takes them."""
    with held(_lock("coming-up")):
        yield


@contextmanager
def place_for_tests() -> Iterator[Path]:
    """A folder that no other run of tests has now. What killed runs left is cleared first, and what is left at last."""
    with ExitStack() as mine:
        number = _first_free(mine)
        clear_abandoned()
        clear(_tests(number))
        mine.callback(clear, _tests(number))
        yield _tests(number)


def _first_free(mine: ExitStack) -> int:
    return next(number for number in count(1) if _take(number, mine))


def clear_abandoned() -> list[str]:
    """Remove what killed runs of tests left; the names of what ran of it."""
    ended = []
    for folder in sorted(HOME.glob(f"{TESTS}-*")):
        with ExitStack() as lock:
            if _take(int(folder.name.rpartition("-")[2]), lock):
                ended += clear(folder)
    return ended


def _tests(number: int) -> Path:
    return HOME / f"{TESTS}-{number}"


def _take(number: int, holder: ExitStack) -> bool:
    def taken() -> None:
        raise _Taken

    try:
        holder.enter_context(held(_lock(_tests(number).name), taken))
    except _Taken:
        return False
    return True


def _lock(name: str) -> Path:
    return LOCKS / f"metalshift-lxd-{name}.lock"
