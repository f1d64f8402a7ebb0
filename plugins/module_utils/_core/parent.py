# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ansible-playbook that a worker works for: without it, nothing is sent any more.

From ansible-core 2.19 on a worker has a session of its own, so a lost terminal ends ansible-playbook alone. A worker
that went on could undo what the user does next, such as giving everything back.

This holds for the workers that ansible-core forks, and for nothing else: an ordinary module, under async or on another
host, has a parent that says nothing about whether it is still wanted.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
from contextlib import suppress

# Of prctl(2), which Linux alone has: the signal that a process gets when its parent dies.
PR_SET_PDEATHSIG = 1

_parent: int | None = None


def end_with_parent() -> None:
    """From now on this worker ends when the process that forked it does; anything but a worker stays as it is.

    The kernel tells at once, also while an answer is waited for. It means the parent's thread, not its process: that
    thread is the one that waits for the results of this worker, so it does not end before.
    """
    global _parent
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    _parent = parent.pid
    # Where there is no such call, asking before each request has to do.
    with suppress(AttributeError, OSError):
        # SIGTERM is what ansible-core ends its workers with: they pass it on to what they have started themselves.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    end_if_orphaned()


def end_if_orphaned() -> None:
    """End at once if the parent has gone: nobody is left who could be told, and a run may be killed anywhere."""
    if _parent is not None and os.getppid() != _parent:
        os._exit(1)
