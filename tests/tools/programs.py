# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real programs of the lab. Where they cannot be built, the tests that need them are skipped and say why."""

from __future__ import annotations

import subprocess

from console import say
from environments import Environment
from foreground import finish
from parts import Failed, NotRun, Part, Result
from paths import ROOT

NAME = "programs: build"
CANNOT_BE_BUILT = 4
# What the tests read; see tests/lab/fixtures.py
REASON = "METALSHIFT_WITHOUT_PROGRAMS"


def part(environment: Environment) -> Part:
    return Part(NAME, lambda: _build(environment))


def missing(results: list[Result]) -> dict[str, str]:
    """The variable that tells the tests why there are none."""
    (built,) = (result for result in results if result.name == NAME)
    return {REASON: built.remark} if built.outcome == "not run" else {}


def _build(environment: Environment) -> str:
    """What it says is shown as it comes: a build takes minutes."""
    command = environment.command("python", "-m", "lab", "build")
    said: list[str] = []
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment.variables(PYTHONPATH=ROOT / "tests"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        try:
            for line in process.stdout or ():
                said.append(line.rstrip())
                say(f"  {said[-1]}")
        finally:
            status = finish(process)
    if status == CANNOT_BE_BUILT:
        raise NotRun(said[-1] if said else "they cannot be built here")
    if status:
        raise Failed("\n".join(said))
    return said[-1] if said else ""
