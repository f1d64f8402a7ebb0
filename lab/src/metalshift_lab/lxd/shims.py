# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the lab puts before LXD's eyes instead of what machines lack: programs in a folder that comes first in PATH."""

from __future__ import annotations

from pathlib import Path

from metalshift_lab.lxd import packages
from metalshift_lab.lxd.obstacles import has_capability

QEMU = Path(__file__).with_name("qemu.py")
# LXD only asks for the module; the lab's QEMU does without the device.
MODPROBE = """\
#!/bin/sh
for word in "$@"; do
    [ "$word" = vhost_vsock ] && exit 0
done
exec /sbin/modprobe "$@"
"""
# `lxd forklimits` starts QEMU; it may raise no limit without CAP_SYS_RESOURCE, and gives up when it is told to.
LOWER_LIMITS = """\
#!/bin/sh
verb=$1
for word in "$@"; do
    shift
    case "$verb $word" in
        'forklimits limit=memlock:'*) ;;
        *) set -- "$@" "$word" ;;
    esac
done
exec /usr/bin/lxd "$@"
"""


def write(folder: Path) -> dict[str, str]:
    """Write them; the variables with which LXD uses them. Their own PATH is for the daemon alone."""
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    _program(folder / "qemu-system-x86_64", qemu())
    if spares_vsock():
        _program(folder / "modprobe", MODPROBE)
    if has_capability("SYS_RESOURCE"):
        return {}
    _program(folder / "lxd", LOWER_LIMITS)
    return {"LXD_EXEC_PATH": str(folder / "lxd")}


def qemu() -> str:
    """The program that LXD finds in QEMU's place."""
    return f"#!/usr/bin/python3\n{QEMU.read_text()}"


def spares_vsock() -> bool:
    """Whether this LXD believes a modprobe. Later ones open the device, and end when it is not there."""
    return "git" not in packages.version("lxd")


def _program(file: Path, text: str) -> None:
    file.write_text(text)
    file.chmod(0o755)
