# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What commands print, and how they end when nobody reads it any more: `make lab-status | head -1`."""

from __future__ import annotations

import os
import signal
import sys


def say(line: str) -> None:
    """BrokenPipeError when nobody reads it."""
    print(line, flush=True)


def unread() -> int:
    """The exit status then, as other programs have it. Python is kept from complaining once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 128 + signal.SIGPIPE
