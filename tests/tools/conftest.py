# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How `make test` shares its tests among processes, and what it tells at the end: what ran, what could not and why."""

from __future__ import annotations

import json
import os
import platform
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

RECORD = os.environ.get("METALSHIFT_PARTS")
# Where `make test` wants to know what failed, and which folders passed as a whole; see tests/tools/remembered.py.
OUTCOMES = os.environ.get("METALSHIFT_OUTCOMES")
PARTS: list[dict[str, Any]] = json.loads(Path(RECORD).read_text()) if RECORD else []

# How the reason begins for which tests are skipped that need LXD; see tests/lab/fixtures.py
NO_LXD = "LXD cannot run here."

# What is in a file of theirs shares a lab and hosted clusters that take a while to make.
KEPT_TOGETHER = ("lab/kube/", "lab/lxd/", "lab/programs/", "lxd/", "hosted/")
# But for these, each test of which has a lab of its own.
APART = ("hosted/test_molecule.py",)


class Sharing(LoadScopeScheduling):  # type: ignore[misc]  # it has no types
    """One test after the other goes to whoever is free, in the order of their collection; some files as a whole."""

    def _split_scope(self, nodeid: str) -> str:
        together = nodeid.startswith(KEPT_TOGETHER) and not nodeid.startswith(APART)
        return nodeid.partition("::")[0] if together else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Sharing:
    return Sharing(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
    from ansible.release import __version__

    if OUTCOMES and exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        failed = [report.nodeid for kind in ("failed", "error") for report in terminalreporter.stats.get(kind, [])]
        said = {"whole": _whole(terminalreporter.stats), "failed": sorted(set(failed))}
        Path(OUTCOMES).write_text(json.dumps(said))
    terminalreporter.section("what ran")
    for part in PARTS:
        line = f"{part['outcome']:<8} {part['name']:<30} {part['seconds']:6.1f} s  {part['remark']}"
        terminalreporter.write_line(
            line.rstrip(), red=part["outcome"] == "failed", yellow=part["outcome"] in ("not run", "unsteady")
        )
    for line in _without_lxd(terminalreporter.stats):
        terminalreporter.write_line(line, yellow=True)
    here = f"tests: ansible-core {'.'.join(__version__.split('.')[:2])}"
    terminalreporter.write_line(f"{'here':<8} {here:<30} {'':>8}  Python {platform.python_version()}: as below")


def _without_lxd(stats: dict[str, list[Any]]) -> list[str]:
    """Which tests did not run because there is no LXD here; the reason once."""
    skipped = [report for report in stats.get("skipped", []) if NO_LXD in str(report.longrepr)]
    if not skipped:
        return []
    counts = Counter(report.nodeid.partition("::")[0] for report in skipped)
    said = str(skipped[0].longrepr[2]).removeprefix("Skipped: ")
    files = [f"{'':<8} {count:>4} of {file}" for file, count in sorted(counts.items())]
    return [f"{'not run':<8} {len(skipped)} tests, because {said}", *files]


def _whole(stats: dict[str, list[Any]]) -> dict[str, dict[str, Any]]:
    """Folder of tests → how many passed, and for each that was skipped why, where none failed.

    None of these folders is whole where there are no programs.
    """
    folders = ("lab/simulation/", "conformance/", "lab/programs/", "lab/lxd/", "lab/kube/", "lxd/", "hosted/")
    found: dict[str, dict[str, Any]] = {folder: {"passed": 0, "skipped": []} for folder in folders}
    spoilt = set()
    for outcome, reports in stats.items():
        for report in reports:
            name = getattr(report, "nodeid", "")
            folder = next((each for each in folders if name.startswith(each)), None)
            if folder is None or outcome in ("", "warnings", "deselected"):
                continue
            if outcome not in ("passed", "skipped") or os.environ.get("METALSHIFT_WITHOUT_PROGRAMS"):
                spoilt.add(folder)
            found[folder]["passed"] += outcome == "passed"
            if outcome == "skipped":
                found[folder]["skipped"].append(_reason(report))
    return {folder: each for folder, each in found.items() if folder not in spoilt}


def _reason(report: Any) -> str:
    """pytest has the file, the line and the words of a skip."""
    _file, _line, words = report.longrepr
    return str(words).removeprefix("Skipped: ")
