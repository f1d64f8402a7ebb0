# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible's loader must be the first to import a collection: it does not take over what Python found by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible.plugins.loader import init_plugin_loader
from hypothesis import settings

init_plugin_loader()

# A loaded machine makes single examples slow; that is no property of the code.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

pytest_plugins = ("metalshift_lab.fixtures",)

HOSTED = Path(__file__).parent / "hosted"
# They take minutes each, and would keep everybody waiting if they came last of all.
LONG = ("test_teardown_lab.py", "test_playbooks_journeys.py", "test_faults_told.py", "test_killed.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: _turn(item.path))


def _turn(file: Path) -> int:
    """What uses the lab comes last."""
    if HOSTED in file.parents:
        return 1 if file.name in LONG else 2
    return 0
