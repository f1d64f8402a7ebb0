# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why LXD cannot run on a machine."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from metalshift_lab.lxd.obstacles import obstacles

SAY = "from metalshift_lab.lxd.obstacles import obstacles; print(*obstacles(), sep='\\n')"


def without(powers: Sequence[str], *arguments: str) -> str:
    """What Python prints, run by a root who lacks capabilities."""
    drop = ",".join(f"-{power}" for power in powers)
    command = ["setpriv", f"--bounding-set={drop}", f"--inh-caps={drop}", sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


@pytest.mark.usefixtures("real_lxd")
def test_there_is_none_where_it_runs() -> None:
    assert obstacles() == []


def test_all_of_them_are_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert obstacles() == [
        "It needs Linux on x86_64, and this is Darwin on arm64.",
        "It comes from Debian's packages, of Debian 12 or newer.",
        "It needs root: LXD mounts file systems, makes bridges and device nodes.",
    ]


@pytest.mark.usefixtures("real_lxd")
@pytest.mark.parametrize(
    ("powers", "reasons"),
    [
        (["mknod"], ["It needs the capability CAP_MKNOD, which containers are seldom given."]),
        (
            ["net_admin"],
            [
                "It needs the capability CAP_NET_ADMIN, which containers are seldom given.",
                "The kernel cannot make a bridge.",
                "The kernel cannot make a pair of virtual interfaces.",
            ],
        ),
        (
            ["sys_admin"],
            [
                "It needs the capability CAP_SYS_ADMIN, which containers are seldom given.",
                "Namespaces with a /proc of their own cannot be made, as in a container without nesting.",
            ],
        ),
        (["setuid", "setgid"], ["A user namespace with a range of ids cannot be made."]),
    ],
)
def test_root_in_a_container_is_told_what_it_lacks(powers: list[str], reasons: list[str]) -> None:
    said = without(powers, "-c", SAY).splitlines()
    assert [reason for reason in reasons if reason not in said] == []


@pytest.mark.usefixtures("real_lxd")
def test_tests_that_need_it_say_why_they_do_not_run() -> None:
    said = without(["mknod"], "-m", "pytest", "-p", "no:cacheprovider", f"{Path(__file__).with_name('test_server.py')}")
    assert "LXD cannot run here. It needs the capability CAP_MKNOD, which containers are seldom given." in said
    assert " passed" not in said
