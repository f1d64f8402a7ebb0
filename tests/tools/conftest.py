# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tells at the end of `make test` what ran, and what could not and why."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import Any

import pytest

RECORD = os.environ.get("METALSHIFT_PARTS")
PARTS: list[dict[str, Any]] = json.loads(Path(RECORD).read_text()) if RECORD else []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    from ansible.release import __version__

    terminalreporter.section("what ran")
    for part in PARTS:
        line = f"{part['outcome']:<8} {part['name']:<30} {part['seconds']:6.1f} s  {part['remark']}"
        terminalreporter.write_line(line.rstrip(), red=part["outcome"] == "failed", yellow=part["outcome"] == "not run")
    here = f"tests: ansible-core {'.'.join(__version__.split('.')[:2])}"
    terminalreporter.write_line(f"{'here':<8} {here:<30} {'':>8}  Python {platform.python_version()}: as below")
