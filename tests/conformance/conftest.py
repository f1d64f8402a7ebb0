# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shows how near the simulator comes to MAAS."""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    tables = [value for report in reports for name, value in report.user_properties if name == "conformance"]
    if tables:
        terminalreporter.section("the simulator beside MAAS")
        terminalreporter.write_line(str(tables[0]))
