# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is real in the lab: where it cannot be had, the tests that need it are skipped and say why."""

from __future__ import annotations

import subprocess

from console import say
from environments import Environment
from foreground import finish
from parts import Failed, NotRun, Part, Result
from paths import ROOT

NAME = "programs: build"
CANNOT_BE_BUILT, CANNOT_RUN = 4, 77
# What the tests read; see tests/lab/fixtures.py
REASON = "METALSHIFT_WITHOUT_PROGRAMS"


def part(environment: Environment) -> Part:
    return Part(NAME, lambda: _made(environment, CANNOT_BE_BUILT, "build"))


def lxd_part(environment: Environment) -> Part:
    """LXD's packages, and the image of nodes that run on it."""
    return Part("lxd: packages and an image", lambda: _made(environment, CANNOT_RUN, "lxd", "prepare"))


def missing(results: list[Result]) -> dict[str, str]:
    """The variable that tells the tests why there are none."""
    (built,) = (result for result in results if result.name == NAME)
    return {REASON: built.remark} if built.outcome == "not run" else {}


def _made(environment: Environment, not_here: int, *verb: str) -> str:
    """What it says is shown as it comes: some of it takes minutes. `not_here` is the status when it cannot be had."""
    command = environment.command("python", "-m", "lab", *verb)
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
    if status == not_here:
        raise NotRun(said[-1] if said else "it cannot be had here")
    if status:
        raise Failed("\n".join(said))
    return said[-1] if said else ""
