# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""metalshift-lab lxd"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from metalshift_lab.__main__ import parse
from metalshift_lab.lxd import command, places, remains
from metalshift_lab.lxd.image import image
from metalshift_lab.lxd.server import RealLxd
from metalshift_lab.simulator import Simulator

NAME = f"command-{os.getpid()}"


@pytest.fixture
def named(real_lxd: RealLxd) -> Iterator[str]:
    image()
    yield NAME
    remains.clear(places.named(NAME))


def lxd_command(*arguments: str) -> tuple[int, str]:
    """Its exit status, and what it said."""
    done = subprocess.run(
        [sys.executable, "-m", "metalshift_lab", "lxd", *arguments], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_an_lxd_stays_when_the_command_has_ended(named: str, sim: Simulator, tmp_path: Path) -> None:
    status, said = lxd_command("start", "--name", named)
    assert status == 0
    told = dict(line.split()[1].split("=") for line in said.splitlines())
    lxd = RealLxd.find(places.named(named))
    assert (told["LXD_ENDPOINT"], told["LXD_DIR"]) == (lxd.endpoint, str(lxd.lxd_dir))
    written = tmp_path / "hosts.json"
    more = ("--inventory", str(written), "--control", sim.control_url)
    assert lxd_command("nodes", "--name", named, *more, "node-1", "node-2") == (0, "")
    hosts = json.loads(written.read_text())["all"]["hosts"]
    for name, zone in (("node-1", "az1"), ("node-2", "az2")):
        machine = sim.find(name)
        assert (machine.status.label, machine.zone.name) == ("Deployed", zone)
        assert [link.ip for link in machine.interfaces[0].links] == [hosts[name]["ansible_host"]]
    assert lxd_command("remove", "--name", named, "node-1", "node-2") == (0, "")
    assert lxd.local.get("/1.0/instances") == []
    assert lxd_command("stop", "--name", named) == (0, f"The LXD {named} has ended. Nothing is left of it.\n")
    assert not lxd.folder.exists()


def test_one_that_was_killed_is_no_place_for_nodes(named: str) -> None:
    lxd = RealLxd.start(places.named(named))
    lxd.kill()
    told = f"The LXD {named} no longer runs. Start it again: metalshift-lab lxd start --name {named}\n"
    assert lxd_command("nodes", "--name", named, "node-1") == (1, told)
    assert lxd_command("stop", "--name", named)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nodes", "--name", "nosuch", "a"], "There is no LXD in /var/lib/metalshift/nosuch"),
        (["stop", "--name", "../x"], "'../x' is not a valid name for an LXD. "),
    ],
)
@pytest.mark.usefixtures("real_lxd")
def test_what_cannot_be_is_said(arguments: list[str], said: str) -> None:
    status, told = lxd_command(*arguments)
    assert (status, told.startswith(said)) == (1, True)


def test_there_may_be_nothing_to_stop() -> None:
    assert lxd_command("stop", "--name", "nosuch") == (0, "No LXD called nosuch runs. There is nothing to stop.\n")


@pytest.mark.parametrize("verb", ["check", "prepare", "start"])
def test_where_it_cannot_run_it_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], verb: str
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert command.run(parse(["lxd", verb])) == 77
    assert "It needs root: LXD mounts file systems, makes bridges and device nodes." in capsys.readouterr().out
