# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the guide on LXD says, works as it stands."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from integration import documented
from integration.harness import clean_environment
from lxd.place import Place

TRUST, INVITATION, MAKES, TAKES_AWAY = (f"lxd_guide.rst {number}" for number in range(1, 5))
SOCKET = "unix://"


def play(lxd: Place, example: str, *arguments: str, **words: str) -> str:
    written = documented.playbook(example, lxd.folder, **words)
    done = subprocess.run(
        [Path(sys.executable).with_name("ansible-playbook"), written, *arguments],
        cwd=lxd.folder,
        env={**clean_environment(lxd.folder), **lxd.variables, "LAB_EVENTS": str(lxd.folder / "events.jsonl")},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_certificate_is_added_over_the_socket(lxd: Place) -> None:
    lxd.ask("POST", "projects", {"name": "NAME"})
    pair = lxd.pair()
    shutil.copy(pair["lxd_client_cert"], lxd.folder / "maas-lxd.crt")
    words = {SOCKET: lxd.real.socket, "projects: [maas]": f"projects: [{lxd.name}]"}
    # Nobody is asked for a password of sudo here.
    arguments = ("-e", "ansible_become=false")
    assert "changed=1" in play(lxd, TRUST, *arguments, **words)
    assert "changed=0" in play(lxd, TRUST, *arguments, **words)
    told = lxd.run("lxd_info", {"gather": ["projects"], **pair})["lxd"]
    assert (told["restricted"], [each["name"] for each in told["projects"]]) == (True, [lxd.name])


def test_a_token_is_issued_and_used(lxd: Place) -> None:
    lxd.ask("POST", "projects", {"name": "NAME"})
    for option, path in lxd.pair().items():
        shutil.copy(path, lxd.folder / f"jo.{'crt' if option.endswith('cert') else 'key'}")
    said = play(
        lxd, INVITATION, **{"projects: [team-blue]": f"projects: [{lxd.name}]", "name: jo": f"name: {lxd.name}"}
    )
    assert "changed=2" in said
    (own,) = [each for each in lxd.get("certificates?recursion=1") if each["name"] == lxd.name]
    assert (own["restricted"], own["projects"]) == (True, [lxd.name])


def test_its_playbooks_make_a_project_and_take_it_away(lxd: Place) -> None:
    before = lxd.snapshot()
    play(lxd, MAKES, "--check", "--diff")
    assert lxd.snapshot() == before
    assert "changed=4" in play(lxd, MAKES)
    assert "changed=0" in play(lxd, MAKES)
    assert "changed=3" in play(lxd, TAKES_AWAY)
    assert lxd.snapshot() == before
    assert "changed=0" in play(lxd, TAKES_AWAY)
