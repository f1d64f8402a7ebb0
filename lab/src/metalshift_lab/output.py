# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What commands print, and how they end when nobody reads it any more: `metalshift-lab status | head -1`."""

from __future__ import annotations

import os
import shlex
import signal
import sys

# Set by the noxfile, behind the Makefile.
BY_MAKE = "METALSHIFT_LAB_BY_MAKE"
TARGETS = {"start": "lab", "simulator": "simulator", "build": "programs"}


def typed(command: str, *arguments: str, **options: object) -> str:
    """A command as this user types it: with the program that pip installed, or with make in a clone."""
    if os.environ.get(BY_MAKE):
        given = {**options, **({command: shlex.join(arguments)} if arguments else {})}
        words = ["make", TARGETS.get(command, f"lab-{command}")]
        return " ".join([*words, *(f"{name.upper()}={shlex.quote(str(value))}" for name, value in given.items())])
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    return shlex.join(["metalshift-lab", command, *words, *arguments])


def say(line: str) -> None:
    """BrokenPipeError when nobody reads it."""
    print(line, flush=True)


def unread() -> int:
    """The exit status then, as other programs have it. Python is kept from complaining once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 128 + signal.SIGPIPE
