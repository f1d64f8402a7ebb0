# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the guide on LXD says, works as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

from integration.harness import ROOT, clean_environment
from lxd.place import Place

GUIDE = (ROOT / "docs" / "docsite" / "rst" / "lxd_guide.rst").read_text()


def playbook(comment: str) -> str:
    (block,) = re.findall(rf"^\.\. {comment}\n\n\.\. code-block:: yaml\n\n((?:    .*\n|\n)+)", GUIDE, re.MULTILINE)
    return textwrap.dedent(block)


def play(lxd: Place, comment: str, *arguments: str) -> str:
    (lxd.folder / "play.yml").write_text(playbook(comment))
    done = subprocess.run(
        [Path(sys.executable).with_name("ansible-playbook"), "play.yml", *arguments],
        cwd=lxd.folder,
        env={**clean_environment(lxd.folder), **lxd.variables, "LAB_EVENTS": str(lxd.folder / "events.jsonl")},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_its_playbooks_make_a_project_and_take_it_away(lxd: Place) -> None:
    before = lxd.snapshot()
    play(lxd, "the playbook that makes", "--check", "--diff")
    assert lxd.snapshot() == before
    assert "changed=4" in play(lxd, "the playbook that makes")
    assert "changed=0" in play(lxd, "the playbook that makes")
    assert "changed=3" in play(lxd, "the playbook that takes away")
    assert lxd.snapshot() == before
    assert "changed=0" in play(lxd, "the playbook that takes away")
