# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run is made of parts. Each ends in one line; what failed shows its output; nothing stops the others."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from console import CannotGoOn, coloured, say

Outcome = Literal["ok", "failed", "not run", "unsteady"]
_COLOURS = {"ok": "green", "failed": "red", "not run": "yellow", "unsteady": "yellow"}


@dataclass(frozen=True)
class Result:
    """What became of a part; `remark` is a few words on what ran, or why it did not."""

    name: str
    outcome: Outcome
    seconds: float = 0.0
    remark: str = ""
    output: str = ""


@dataclass(frozen=True)
class Part:
    """`work` returns what the part says about itself, and raises Failed with its output."""

    name: str
    work: Callable[[], str]

    def run(self) -> Result:
        started = time.monotonic()
        try:
            outcome: Outcome = "ok"
            remark, output = self.work(), ""
        except NotRun as error:
            outcome, remark, output = "not run", str(error), ""
        except (Failed, CannotGoOn, OSError) as error:
            outcome, remark, output = "failed", "", str(error)
        result = Result(self.name, outcome, time.monotonic() - started, remark, output)
        show(result)
        return result


class Failed(Exception):
    """The part did not pass; the text is what its program printed."""


class NotRun(Exception):
    """The part cannot run here; the text says why."""


def show(result: Result) -> None:
    word = coloured(f"{result.outcome:<8}", _COLOURS[result.outcome])
    line = f"  {word}{result.name:<34}{result.seconds:6.1f} s  {result.remark}".rstrip()
    say(f"{line}\n{result.output.rstrip()}\n" if result.output else line)


def run_all(parts: Iterable[Part], at_once: int = 1) -> list[Result]:
    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(Part.run, parts))


def check(
    command: list[str],
    cwd: Path,
    env: dict[str, str],
    remark: Callable[[str], str] = lambda _: "",
    limit: int = 1800,
) -> str:
    """Run a program that says by its exit status whether all is well."""
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        said = error.stdout.decode(errors="replace") if isinstance(error.stdout, bytes) else error.stdout or ""
        raise Failed(f"{said}\nstopped: not finished after {limit} seconds") from None
    if done.returncode:
        raise Failed(done.stdout or f"exit status {done.returncode}")
    return remark(done.stdout)


def record(results: list[Result], file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps([asdict(result) for result in results]))
