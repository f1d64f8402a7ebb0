# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Locks that processes hold. The kernel gives them back with the process, and their files go when nobody holds them."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def held(lock: Path, busy: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold a lock. `busy` is called before another process is waited for; what it raises ends the waiting."""
    while True:
        with lock.open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                busy()
                fcntl.flock(file, fcntl.LOCK_EX)
            # Who held it before has removed it: a third may hold another of the same name by now.
            if not (lock.exists() and os.path.samestat(os.fstat(file.fileno()), lock.stat())):
                continue
            try:
                yield
            finally:
                lock.unlink(missing_ok=True)
            return
