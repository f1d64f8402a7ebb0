# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the size of a VM that exists differs from the one that is asked for, and what becomes of that.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Step
from ansible_collections.metalshift.maas.plugins.module_utils._maas.pure import sizes
from ansible_collections.metalshift.maas.plugins.module_utils._vms.pure.placement import Size
from ansible_collections.metalshift.maas.plugins.module_utils._vms.template import Template

# What a VM sees is a little less than what it was given: its firmware keeps some of the memory, LXD rounds disks.
MEMORY_SEEN, DISK_SEEN = 0.9, 0.99


# -- what MAAS has seen ------------------------------------------------------------------------------------------------


def differences(machine: Mapping[str, Any], template: Template) -> list[str]:
    """What of its size is other than asked for, as MAAS has it, in words; empty before MAAS has learned it."""
    return [*figures(machine, template), *disks(machine, template)]


def figures(machine: Mapping[str, Any], template: Template) -> list[str]:
    """The same of its cores and memory alone."""
    if not machine.get("cpu_count"):
        return []
    memory = int(machine.get("memory") or 0) * sizes.UNITS["MiB"]
    told = []
    if template.cores not in (None, machine["cpu_count"]):
        told.append(f"{_cores(machine['cpu_count'])}, not {template.cores}")
    if template.memory and not _is_about(memory, template.memory, MEMORY_SEEN):
        told.append(f"{sizes.text(memory)} of memory, not {sizes.text(template.memory)}")
    return told


def disks(machine: Mapping[str, Any], template: Template) -> list[str]:
    """The same of its disks alone."""
    found = [int(disk["size"]) for disk in machine.get("physicalblockdevice_set") or ()]
    wanted = [disk.size for disk in template.disks]
    if not wanted or not found or not machine.get("cpu_count"):
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


# -- what LXD gave -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class VmAllotment:
    """What its LXD gave to a VM. `pins` are the cores that it is pinned to."""

    cores: int
    memory: int
    pins: frozenset[int] = frozenset()
    hugepages: bool = False
    runs: bool = False


@dataclass(frozen=True)
class Limits:
    """What a VM was given, and how it is given another size on cores of the host that are for it alone."""

    given: VmAllotment
    change: Callable[[Size, Sequence[int]], None]


@dataclass(frozen=True)
class Resize:
    """What LXD is to give to a VM that does not run."""

    limits: Limits
    size: Size
    pins: tuple[int, ...] = ()

    def carry_out(self) -> None:
        self.limits.change(self.size, self.pins)

    def step(self, name: str) -> Step:
        given = self.limits.given
        before, after = _shown(given, sorted(given.pins)), _shown(self.size, self.pins)
        differing = [key for key in before if before[key] != after[key]]
        old, new = ({key: side[key] for key in differing} for side in (before, after))
        return Step("resize", name, "in LXD", old, new)


def asked(given: VmAllotment, template: Template) -> Size | None:
    """What a VM is to have; None if it has that. What the task does not say stays, pinned cores among it."""
    cores, memory = template.cores or given.cores, template.memory or given.memory
    hugepages = template.hugepages or given.hugepages
    pinned = template.pinned or bool(given.pins or template.on_cores)
    others = set(template.on_cores) != given.pins if template.on_cores else pinned and len(given.pins) != cores
    if (cores, memory, hugepages) == (given.cores, given.memory, given.hugepages) and not others:
        return None
    on_cores = template.on_cores or (() if others else tuple(sorted(given.pins)))
    return Size(cores, memory, pinned=pinned, on_cores=on_cores, hugepages=hugepages)


def words(given: VmAllotment, size: Size) -> list[str]:
    """What it has and was not asked for."""
    told = []
    if given.cores != size.cores:
        told.append(f"{_cores(given.cores)}, not {size.cores}")
    elif size.pinned and (not size.on_cores or set(size.on_cores) != given.pins):
        wanted = _numbers(size.on_cores) if size.on_cores else "cores of its own"
        told.append(f"{_numbers(sorted(given.pins)) if given.pins else 'no cores of its own'}, not {wanted}")
    if given.memory != size.memory:
        told.append(f"{sizes.text(given.memory)} of memory, not {sizes.text(size.memory)}")
    return [*told, *(["no huge pages"] if size.hugepages and not given.hugepages else [])]


def _shown(size: VmAllotment | Size, pins: Sequence[int]) -> dict[str, Any]:
    memory = sizes.mebibytes(size.memory)
    return {"cores": size.cores, "memory": memory, "hugepages": size.hugepages, "pinned_cores": list(pins)}


def _numbers(cores: Sequence[int]) -> str:
    return "the cores " + ", ".join(str(core) for core in cores)
