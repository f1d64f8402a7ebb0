# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the size of a VM that exists differs from the one that is asked for.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._maas import sizes
from ansible_collections.metalshift.maas.plugins.module_utils._vms.template import Template

# What a VM sees is a little less than what it was given: its firmware keeps some of the memory, LXD rounds disks.
MEMORY_SEEN, DISK_SEEN = 0.9, 0.99


def differences(machine: Mapping[str, Any] | None, template: Template) -> list[str]:
    """What of its size is other than asked for, in words; empty before MAAS has learned it."""
    if machine is None or not machine.get("cpu_count"):
        return []
    memory = int(machine.get("memory") or 0) * sizes.UNITS["MiB"]
    told = []
    if template.cores not in (None, machine["cpu_count"]):
        told.append(f"{_cores(machine['cpu_count'])}, not {template.cores}")
    if template.memory and not _is_about(memory, template.memory, MEMORY_SEEN):
        told.append(f"{sizes.text(memory)} of memory, not {sizes.text(template.memory)}")
    return [*told, *_disks(machine, template)]


def _disks(machine: Mapping[str, Any], template: Template) -> list[str]:
    found = [int(disk["size"]) for disk in machine.get("physicalblockdevice_set") or ()]
    wanted = [disk.size for disk in template.disks]
    if not wanted or not found:
        return []
    same = all(_is_about(one, other, DISK_SEEN) for one, other in zip(sorted(found), sorted(wanted), strict=False))
    if len(found) == len(wanted) and same:
        return []
    return [f"disks of {_listed(found)}, not {_listed(wanted)}"]


def _is_about(seen: int, given: int, least: float) -> bool:
    return given * least <= seen <= given


def _listed(disks: list[int]) -> str:
    return " and ".join(sizes.text(disk) for disk in disks)


def _cores(number: int) -> str:
    return f"{number} core{'' if number == 1 else 's'}"
