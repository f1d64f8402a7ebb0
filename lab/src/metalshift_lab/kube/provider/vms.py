# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual machines that MAAS composes: which host takes one, and what MAAS is asked for. Without I/O."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metalshift_lab.kube.api import Object
from metalshift_lab.kube.provider.texts import listed, quoted

NAME = "maas.spectrocloud.com/vm-name"
CONTROL_PLANE_TAG = "maas-lxd-wlc-cp"
CLUSTER_TAG = "maas-lxd-wlc-"
#: A host that has one of these takes no more VMs.
CLOSED = ("maas-lxd-host-maintenance", "maas-lxd-host-noschedule")
NO_HOSTS = "no LXD hosts available"
NO_POOL = "selected LXD host has no resource pool; shouldn't use default resource pool"

_GB = 10**9
Host = dict[str, Any]


@dataclass(frozen=True)
class Wish:
    zone: str
    pool: str
    tags: tuple[str, ...]
    cores: int
    memory: int
    disk: int

    @classmethod
    def of(cls, spec: Object, zone: str) -> Wish:
        disk = int((spec.get("lxd", {}).get("vmConfig") or {}).get("diskSize") or 0)
        return cls(
            zone=zone,
            pool=spec.get("resourcePool") or "",
            tags=tuple(spec.get("tags", ())),
            cores=int(spec["minCPU"]),
            memory=int(spec["minMemory"]),
            disk=max(disk, int(spec.get("minDiskSize") or 0)),
        )

    def unmet(self) -> str:
        """What is said when no host will do."""
        return (
            f"no eligible LXD host found (zone={quoted(self.zone)}, pool={quoted(self.pool)}, "
            f"tags={listed(list(self.tags))}, minCores={self.cores}, minMemory={self.memory})"
        )


def wanted(spec: Object) -> bool:
    return bool((spec.get("lxd") or {}).get("enabled"))


def fits(host: Host, wish: Wish) -> bool:
    """Whether the host may take it, by what MAAS says of the host itself. Nothing is relaxed."""
    free = host.get("available") or {}
    return (
        bool((host.get("host") or {}).get("system_id"))
        and wish.zone in ("", (host.get("zone") or {}).get("name"))
        and wish.pool in ("", pool_of(host)[1])
        and set(wish.tags) <= set(host.get("tags") or ())
        and free.get("cores", 0) >= wish.cores
        and free.get("memory", 0) >= wish.memory
        and any(_room(pool) >= wish.disk * _GB for pool in host.get("storage_pools") or ())
    )


def _room(pool: Mapping[str, Any]) -> float:
    """Free bytes of a pool that is on the host; the Go client knows them by a short name."""
    if pool.get("remote"):
        return -1
    return float(pool.get("avail", pool.get("available", 0))) - float(pool.get("pending", 0))


def open_for_more(machine: Mapping[str, Any]) -> bool:
    """Whether the machine under a host runs, and is not in maintenance."""
    tags = machine.get("tag_names") or ()
    runs = machine.get("power_state") == "on" and machine.get("status_name") == "Deployed"
    return runs and not any(tag in tags for tag in CLOSED)


def best(hosts: Iterable[Host], wish: Wish, crowd: Mapping[str, int]) -> Host | None:
    """The host with the fewest machines of this control plane, then the one with the most to spare."""

    def order(host: Host) -> tuple[int, float, bool]:
        free = host["available"]
        spare = free["cores"] / max(wish.cores, 1) + free["memory"] / max(wish.memory, 1)
        return crowd.get(host["host"]["system_id"], 0), -spare, not host["name"].startswith("lxd-host-")

    return min(hosts, key=order, default=None)


def crowd(machines: Iterable[Mapping[str, Any]], tag: str) -> dict[str, int]:
    """How many machines with this tag are on each host, by the host's system_id."""
    out: dict[str, int] = {}
    for machine in machines:
        parent = (machine.get("parent") or {}).get("system_id")
        if parent and tag in (machine.get("tag_names") or ()):
            out[parent] = out.get(parent, 0) + 1
    return out


def pool_of(host: Host) -> tuple[int, str]:
    """ID and name of the host's pool. The default pool has the ID 0, which the Go client takes for none."""
    pool = host.get("pool") or {}
    known = pool.get("id", 0) > 0
    return (int(pool["id"]), str(pool["name"])) if known else (0, "")


def cluster_id(namespace: str) -> str:
    prefix, _cut, rest = namespace.partition("cluster-")
    return rest if not prefix and rest else hashlib.sha256(namespace.encode()).hexdigest()[:8]


def first_name(machine: Object) -> str:
    """The name it is composed with: unlike its later one it is never used twice."""
    return f"{later_name(machine)}-{machine['metadata']['uid'][:5]}"


def later_name(machine: Object) -> str:
    return f"vm-{machine['metadata']['name']}"


def composition(name: str, wish: Wish, host: Host, interfaces: str) -> dict[str, str]:
    form = {
        "hostname": name,
        "cores": str(wish.cores),
        "memory": str(wish.memory),
        "storage": str(wish.disk),
        "zone": str(host["zone"]["id"]),
        "pool": str(pool_of(host)[0]),
    }
    return {**form, "interfaces": interfaces} if interfaces else form


def interfaces(network: str) -> str:
    """Two subnets become two interfaces; any other number is not listened to."""
    subnets: Sequence[str] = [each.strip() for each in network.split(",")]
    return (
        ";".join(f"eth{n}:subnet={name}" for n, name in enumerate(subnets))
        if len(subnets) == 2 and all(subnets)
        else ""
    )
