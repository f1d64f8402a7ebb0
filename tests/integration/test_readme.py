# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the README says, works as it stands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from metalshift_lab.simulator import Simulator

pytestmark = [pytest.mark.playbooks, pytest.mark.smoke]

README = Path(__file__).resolve().parents[2] / "README.md"
MODULES = README.parent / "plugins" / "modules"


@pytest.mark.parametrize("arguments", [[], ["--check", "--diff"]])
def test_the_first_playbook_runs(tmp_path: Path, arguments: list[str]) -> None:
    (playbook,) = re.findall(r"<!-- first playbook -->\n```yaml\n(.*?)```", README.read_text(), re.DOTALL)
    (tmp_path / "first.yml").write_text(playbook)
    ansible = Path(sys.executable).with_name("ansible-playbook")
    with Simulator() as maas:
        maas.auto(0.1)
        environment = {**os.environ, "MAAS_ENDPOINT": maas.url, "MAAS_API_KEY": maas.api_key}
        done = subprocess.run(
            [ansible, "first.yml", *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "failed=0" in done.stdout


def test_its_table_names_every_module() -> None:
    named = re.findall(r"^\| `metalshift\.maas\.(\w+)`", README.read_text(), re.MULTILINE)
    assert sorted(named) == sorted(path.stem for path in MODULES.glob("[!_]*.py"))
