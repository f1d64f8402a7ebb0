# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose LXD is whose, while several runs of tests go on and some are killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from metalshift_lab.lxd.places import place_for_tests
from metalshift_lab.lxd.remains import HOME
from metalshift_lab.processes import remains

DYING = """
import os, signal, sys
from metalshift_lab import labs
from metalshift_lab.lxd.places import place_for_tests
from metalshift_lab.processes import Process
with place_for_tests() as folder:
    labs.claim(folder)
    Process(folder, "thing", ["sleep", "60"], env={}, cwd="/")
    print(folder, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""

pytestmark = pytest.mark.usefixtures("real_lxd")


def test_two_runs_at_once_have_places_of_their_own() -> None:
    with place_for_tests() as one, place_for_tests() as two:
        assert one.parent == two.parent == HOME
        assert one != two
    with place_for_tests() as again:
        assert again == one


def test_what_a_killed_run_left_is_cleared_by_the_next_one() -> None:
    code = [sys.executable, "-c", DYING]
    folder = Path(subprocess.run(code, capture_output=True, text=True, check=False).stdout.strip())
    assert [each.part for each in remains(folder)] == ["thing"]
    with place_for_tests() as mine:
        assert mine == folder
        assert remains(folder) == []
        assert not folder.exists()
