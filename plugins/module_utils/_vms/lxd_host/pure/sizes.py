# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How large a storage pool is to be, and what of a machine is left for virtual machines.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ansible_collections.metalshift.maas.plugins.module_utils._vms.lxd_host.pure.facts import HostFacts
from ansible_collections.metalshift.maas.plugins.module_utils._vms.lxd_host.pure.spec import HostSpec

MIB = 1 << 20
# A bare number is of MiB.
UNITS = {
    "": MIB,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "MiB": MIB,
    "GiB": 1 << 30,
    "TiB": 1 << 40,
}
SIZE = re.compile(r"([0-9]+(?:[.][0-9]+)?)([MGT]i?B)?")
SHARE = re.compile(r"([0-9]+(?:[.][0-9]+)?)%")


def in_bytes(text: str) -> int | None:
    """A size; None if it is none."""
    found = SIZE.fullmatch(text.strip())
    return int(float(found[1]) * UNITS[found[2] or ""]) if found else None


def pool_size(text: str, free: int) -> int | None:
    """The bytes of a pool, of which a share is meant of what is free; 0: LXD decides, None: it is no size."""
    if not text.strip():
        return 0
    share = SHARE.fullmatch(text.strip())
    return int(free * float(share[1]) / 100) if share else in_bytes(text)


@dataclass(frozen=True)
class Room:
    """What is left for virtual machines once the machine has what it keeps for itself."""

    # Cores and MiB; None where LXD has not been asked yet.
    cores: int | None
    mib: int | None
    # What MAAS is to multiply the whole machine with; None: as it is.
    cpu_ratio: float | None
    memory_ratio: float | None
    limits: dict[str, str]


def room(spec: HostSpec, facts: HostFacts) -> Room:
    """Over-commit is of what is left for virtual machines, and MAAS knows the whole machine."""
    resources = facts.resources or {}
    cpus = int((resources.get("cpu") or {}).get("total") or 0)
    memory = int((resources.get("memory") or {}).get("total") or 0)
    kept = in_bytes(spec.reserved_memory) or 0
    cpu_factor, memory_factor = spec.cpu_over_commit_ratio or 1.0, spec.memory_over_commit_ratio or 1.0
    cpu_ratio, memory_ratio = spec.cpu_over_commit_ratio or None, spec.memory_over_commit_ratio or None
    cores = cpus - spec.reserved_cores if cpus else None
    mib = (memory - kept) // MIB if memory else None
    limits = {}
    if spec.reserved_cores and cores is not None:
        limits["limits.cpu"] = str(int(cores * cpu_factor))
        cpu_ratio = _floor(cores * cpu_factor / cpus)
    if kept and mib is not None:
        limits["limits.memory"] = f"{int(mib * memory_factor)}MiB"
        memory_ratio = _floor(mib * MIB * memory_factor / memory)
    return Room(cores, mib, cpu_ratio, memory_ratio, limits)


def _floor(ratio: float) -> float:
    """MAAS would round up to more than there is."""
    return int(ratio * 10000) / 10000


def readable(number: float) -> str:
    """A number of bytes for people."""
    for unit in ("Bytes", "KB", "MB", "GB", "TB"):
        if number < 1024 or unit == "TB":
            break
        number /= 1024
    return f"{number:.2f} {unit}"
