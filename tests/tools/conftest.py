# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How `make test` shares its tests among processes, and what it tells at the end: what ran, what could not and why."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

RECORD = os.environ.get("METALSHIFT_PARTS")
PARTS: list[dict[str, Any]] = json.loads(Path(RECORD).read_text()) if RECORD else []

# What is in a file of theirs shares a lab and hosted clusters that take a while to make.
KEPT_TOGETHER = ("lab/kube/", "lab/programs/", "hosted/")


class Sharing(LoadScopeScheduling):  # type: ignore[misc]  # it has no types
    """One test after the other goes to whoever is free, in the order of their collection; some files as a whole."""

    def _split_scope(self, nodeid: str) -> str:
        return nodeid.partition("::")[0] if nodeid.startswith(KEPT_TOGETHER) else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Sharing:
    return Sharing(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    from ansible.release import __version__

    terminalreporter.section("what ran")
    for part in PARTS:
        line = f"{part['outcome']:<8} {part['name']:<30} {part['seconds']:6.1f} s  {part['remark']}"
        terminalreporter.write_line(line.rstrip(), red=part["outcome"] == "failed", yellow=part["outcome"] == "not run")
    here = f"tests: ansible-core {'.'.join(__version__.split('.')[:2])}"
    terminalreporter.write_line(f"{'here':<8} {here:<30} {'':>8}  Python {platform.python_version()}: as below")
