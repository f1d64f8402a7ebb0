# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a VM host has room for, and what keeps MAAS from composing VMs there.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Host = Mapping[str, Any]
Node = Mapping[str, Any]

# LXD 6.7 has instance_boot_mode and no longer knows security.secureboot, which MAAS gives to every VM that it composes.
TOO_NEW = (6, 7)


@dataclass(frozen=True)
class Capacity:
    """How much of one thing there is, how much VMs were promised, and how much they may be promised in all.

    One VM gets no more than `total`, whatever the limit: MAAS leaves over-commit out of account there.
    """

    total: int
    used: int
    limit: int

    @property
    def available(self) -> int:
        return max(self.limit - self.used, 0)

    @property
    def shown(self) -> dict[str, int]:
        return {"total": self.total, "used": self.used, "limit": self.limit, "available": self.available}


def rooms(host: Host) -> dict[str, Capacity]:
    """Cores, memory in MiB and local storage in bytes, over-commit applied."""
    ratios = {"cores": host.get("cpu_over_commit_ratio"), "memory": host.get("memory_over_commit_ratio")}
    return {
        name: _room(host, name, 1.0 if ratios.get(name) is None else float(str(ratios[name])))
        for name in ("cores", "memory", "local_storage")
    }


def storage_pools(host: Host) -> list[dict[str, Any]]:
    """The storage pools; sizes in bytes."""
    keys = ("name", "type", "total", "used", "available", "default")
    return [{key: pool.get(key) for key in keys} for pool in host.get("storage_pools") or ()]


def is_discovered(host: Host) -> bool:
    """Whether MAAS has spoken with the LXD at all: registration succeeds without."""
    return bool(host.get("version"))


def has_capacity(host: Host) -> bool:
    """Whether VMs can be composed, as far as MAAS's numbers go. They come some time after the registration."""
    return is_discovered(host) and rooms(host)["cores"].total > 0 and bool(host.get("storage_pools"))


def missing(host: Host) -> list[str]:
    """What of the capacity has not come."""
    if not is_discovered(host):
        return ["MAAS could not discover it"]
    lacks = [] if rooms(host)["cores"].total > 0 else ["MAAS has not learned how many cores it has"]
    return lacks if host.get("storage_pools") else [*lacks, "it has no storage pool"]


def is_too_new(host: Host) -> bool:
    """Whether MAAS cannot compose VMs on such an LXD."""
    return _number(str(host.get("version") or "")) >= TOO_NEW


def with_boot_modes(version: str) -> str:
    """What it means that an LXD has them."""
    return (
        f"LXD {version} has instance_boot_mode, and MAAS composes VMs without it: composing fails. "
        "Use LXD 5.21, or make VMs with via: lxd."
    )


def remarks(host: Host, node: Node | None) -> list[str]:
    """What keeps VMs from being composed or from booting, although there is room for them."""
    if not is_discovered(host):
        return []
    version = str(host["version"])
    said = []
    if is_too_new(host):
        said.append(with_boot_modes(version))
    if node is None:
        return [*said, "MAAS does not show the machine that it runs on, so nobody can tell its networks."]
    vlans = [interface["vlan"] for interface in node.get("interface_set") or () if interface.get("vlan")]
    if not vlans:
        said.append(f"MAAS knows no network of {node.get('hostname')}: VMs there have nothing to be attached to.")
    elif not any(vlan.get("dhcp_on") or vlan.get("relay_vlan") for vlan in vlans):
        names = ", ".join(sorted({_vlan(vlan) for vlan in vlans}))
        said.append(f"No VLAN that {node.get('hostname')} is on has DHCP ({names}): VMs there cannot boot from MAAS.")
    return said


def _room(host: Host, name: str, ratio: float) -> Capacity:
    total, used = (int((host.get(side) or {}).get(name) or 0) for side in ("total", "used"))
    return Capacity(total, used, int(total * ratio))


def _number(version: str) -> tuple[int, int]:
    match = re.match(r"(\d+)\.(\d+)", version)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _vlan(vlan: Mapping[str, Any]) -> str:
    return f"{vlan.get('fabric')}/{vlan.get('name') or vlan.get('vid')}"
