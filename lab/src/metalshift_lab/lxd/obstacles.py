# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why LXD cannot run on this machine: all reasons at once, a sentence each."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

CAPABILITIES = {
    "CHOWN": 0,
    "SETGID": 6,
    "SETUID": 7,
    "NET_ADMIN": 12,
    "SYS_CHROOT": 18,
    "SYS_ADMIN": 21,
    "SYS_RESOURCE": 24,
    "MKNOD": 27,
}
# Without it LXD runs too, with lower limits.
SPARED = "SYS_RESOURCE"
OLDEST_DEBIAN = 12
MAPPED_IDS = "0 100000 65536"


def obstacles() -> list[str]:
    """Empty where LXD can run."""
    return _of_the_system() or _of_the_kernel()


def has_capability(name: str) -> bool:
    status = Path("/proc/self/status").read_text()
    effective = int(re.findall(r"^CapEff:\s*([0-9a-f]+)", status, re.MULTILINE)[0], 16)
    return bool(effective >> CAPABILITIES[name] & 1)


def _of_the_system() -> list[str]:
    found = []
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        found.append(f"It needs Linux on x86_64, and this is {platform.system()} on {platform.machine()}.")
    if not _is_debian() or shutil.which("apt-get") is None:
        found.append(f"It comes from Debian's packages, of Debian {OLDEST_DEBIAN} or newer.")
    if os.geteuid() != 0:
        found.append("It needs root: LXD mounts file systems, makes bridges and device nodes.")
    return found


def _is_debian() -> bool:
    """Ubuntu's package is a snap in disguise."""
    try:
        text = Path("/etc/os-release").read_text()
    except OSError:
        return False
    release = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', text, re.MULTILINE))
    # Testing and unstable have no number.
    return release.get("ID") == "debian" and int(release.get("VERSION_ID") or OLDEST_DEBIAN) >= OLDEST_DEBIAN


def _of_the_kernel() -> list[str]:
    missing = [name for name in CAPABILITIES if name != SPARED and not has_capability(name)]
    found = [f"It needs the capability CAP_{name}, which containers are seldom given." for name in missing]
    if _number("/proc/sys/user/max_user_namespaces") == 0:
        found.append("User namespaces are off: user.max_user_namespaces is 0.")
    elif not _maps_ids():
        found.append("A user namespace with a range of ids cannot be made.")
    if not _runs("unshare", "--mount", "--net", "--pid", "--fork", "--mount-proc", "true"):
        found.append("Namespaces with a /proc of their own cannot be made, as in a container without nesting.")
    if not re.search(r" cgroup2? rw", Path("/proc/mounts").read_text()):
        found.append("No cgroup file system is mounted that can be written.")
    return found + _of_the_network()


def _of_the_network() -> list[str]:
    if shutil.which("ip") is None:
        return []  # it comes with LXD's packages
    name = f"msl{os.getpid()}"
    kinds = {"a bridge": ("bridge",), "a pair of virtual interfaces": ("veth", "peer", "name", f"{name}b")}
    found = []
    for words, kind in kinds.items():
        if not _runs("ip", "link", "add", name, "type", *kind):
            found.append(f"The kernel cannot make {words}.")
        _runs("ip", "link", "delete", name)
    return found


def _maps_ids() -> bool:
    with subprocess.Popen(
        ["unshare", "--user", "sh", "-c", "echo; read _"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as child:
        arrived = child.stdout is not None and child.stdout.readline() == "\n"
        mapped = False
        with suppress(OSError):
            Path(f"/proc/{child.pid}/uid_map").write_text(MAPPED_IDS)
            mapped = True
    return arrived and mapped


def _number(path: str) -> int:
    try:
        return int(Path(path).read_text())
    except OSError:
        return 0


def _runs(*command: str) -> bool:
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0
    except OSError:
        return False
