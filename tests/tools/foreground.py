# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs in the foreground. Ctrl-C reaches them too, and they are given the time to clean up."""

from __future__ import annotations

import subprocess
from pathlib import Path


def run(command: list[str], cwd: Path, env: dict[str, str]) -> int:
    with subprocess.Popen(command, cwd=cwd, env=env) as process:
        return finish(process)


def finish(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> int:
    """Wait for the end, where subprocess waits a quarter of a second after Ctrl-C. A second Ctrl-C ends the wait."""
    try:
        return process.wait()
    except KeyboardInterrupt:
        process.wait()
        raise
