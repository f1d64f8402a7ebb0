# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The roles' molecule scenarios, as `make molecule` runs them: each on a lab of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from metalshift_lab.lxd.obstacles import obstacles
from metalshift_lab.programs import Programs

COLLECTION = Path(os.environ["ANSIBLE_COLLECTIONS_PATH"]) / "ansible_collections" / "metalshift" / "maas"
SCENARIOS = sorted(file.parent.name for file in COLLECTION.glob("extensions/molecule/*/molecule.yml"))
ROLES = sorted(folder.name for folder in COLLECTION.glob("roles/*/"))
LONGEST = 1500
# Their lab has a real LXD, with nodes on it.
ON_LXD = {"lxd_host"}


def test_every_role_has_a_scenario() -> None:
    assert set(ROLES) <= set(SCENARIOS)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_passes(scenario: str, programs: Programs) -> None:
    reasons = obstacles() if scenario in ON_LXD else []
    if reasons:
        pytest.skip(f"LXD cannot run here. {' '.join(reasons)}")
    molecule = Path(sys.executable).with_name("molecule")
    done = subprocess.run(
        [str(molecule), "test", "-s", scenario],
        cwd=COLLECTION,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=LONGEST,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-6000:]}\n{done.stderr[-3000:]}"
