# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Debian's packages that LXD needs: what is missing is installed once, and nothing is upgraded."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence

from metalshift_lab.labs import LabError

# In one transaction: an LXD that is started before QEMU is there has no virtual machines.
DAEMON = (
    "lxd",
    "lxd-client",
    "lxd-agent",
    "apparmor",
    "lxcfs",
    "dnsmasq-base",
    "nftables",
    "btrfs-progs",
    "gdisk",
    "qemu-system-x86",
    "qemu-utils",
    "ovmf",
    "uidmap",
    "kmod",
    "iproute2",
)
NODES = ("mmdebstrap", "squashfs-tools", "openssh-client")
INSTALL = (
    "apt-get",
    "install",
    "--yes",
    "--quiet",
    "--no-install-recommends",
    "--no-upgrade",
    "--option=Dpkg::Options::=--force-unsafe-io",
)
# Another program that installs packages, or another lab, ends some time. apt's own DPkg::Lock::Timeout does not wait
# for the lock on the lists, which `apt-get update` takes.
LOCKED = "Could not get lock"
PATIENCE = 300.0
PAUSE = 1.0


def install(packages: Iterable[str], say: Callable[[str], None]) -> None:
    wanted = missing(packages)
    if not wanted:
        return
    say(f"Installing {', '.join(wanted[:3])}{f' and {len(wanted) - 3} more' if wanted[3:] else ''} from Debian, once")
    _apt(["apt-get", "update", "--quiet"], say)
    _apt([*INSTALL, *wanted], say)


def missing(packages: Iterable[str]) -> list[str]:
    return [package for package in packages if not version(package)]


def version(package: str) -> str:
    """The version that is installed; empty when none is."""
    query = ["dpkg-query", "--show", "--showformat=${db:Status-Status} ${Version}", package]
    done = subprocess.run(query, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    status, _space, found = done.stdout.partition(" ")
    return found if status == "installed" else ""


def plain() -> dict[str, str]:
    """The environment of a program that asks nothing and speaks English."""
    return {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}


def _apt(command: Sequence[str], say: Callable[[str], None]) -> None:
    begun = time.monotonic()
    waiting = False
    while (output := _failure(command)) is not None:
        if LOCKED not in output or time.monotonic() - begun >= PATIENCE:
            raise LabError(f"{' '.join(command[:2])} failed; its last words:\n{_end(output)}")
        if not waiting:
            say("Another program is installing packages; waiting for it")
        waiting = True
        time.sleep(PAUSE)


def _failure(command: Sequence[str]) -> str | None:
    """What a command printed that failed."""
    done = subprocess.run(
        command,
        env=plain(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout if done.returncode else None


def _end(output: str) -> str:
    return "\n".join(output.strip().splitlines()[-8:])
