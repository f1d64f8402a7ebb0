# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the lock files anew from the .in files beside them: the newest versions that go together, with hashes."""

from __future__ import annotations

import re
import shutil
import subprocess

from console import CannotGoOn, say
from paths import LOCKS
from pythons import CORES

OLDEST = {"main": 10, "collections": 10, **{f"core-{core.version}": core.oldest for core in CORES}}


def write() -> None:
    uv = shutil.which("uv")
    if uv is None:
        raise CannotGoOn("Writing the lock files needs uv (pip install uv); using them does not.")
    for name, oldest in OLDEST.items():
        say(f"{name}.txt")
        options = [
            "--upgrade",
            "--universal",
            f"--python-version=3.{oldest}",
            "--generate-hashes",
            "--no-emit-find-links",
        ]
        if name == "collections":
            options.append("--no-deps")
        command = [uv, "pip", "compile", "--quiet", "--custom-compile-command", "make locks", *options]
        subprocess.run([*command, f"{name}.in", "-o", f"{name}.txt"], cwd=LOCKS, check=True)


def packages(lock: str) -> int:
    """How many packages a lock file names; those for other platforms count as well."""
    return len(re.findall(r"^[a-z0-9][^ ]*==", lock, re.MULTILINE))
