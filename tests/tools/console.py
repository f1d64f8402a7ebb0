# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the person at the terminal sees, and how a command ends with one sentence."""

from __future__ import annotations

import os
import sys
import threading

_lock = threading.Lock()
_colour = not os.environ.get("NO_COLOR") and (sys.stdout.isatty() or bool(os.environ.get("FORCE_COLOR")))
_COLOURS = {"green": "32", "red": "31", "yellow": "33", "bold": "1"}


class CannotGoOn(Exception):
    """Ends the command; its text is the whole message."""


def say(text: str = "") -> None:
    with _lock:
        print(text, flush=True)


def coloured(text: str, colour: str) -> str:
    return f"\033[{_COLOURS[colour]}m{text}\033[0m" if _colour else text


def heading(text: str) -> None:
    say(coloured(f"\n{text}", "bold"))
