# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a machine has to be like: asked of MAAS in `allocate`, and told of machines that are not.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import invalid
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.pure import networks
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure import disks
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.disks import DiskConstraint
from ansible_collections.metalshift.maas.plugins.module_utils._maas.pure import sizes

Machine = Mapping[str, Any]

# The hosts on which `allocate` would compose a VM when nothing else matches.
POD_TYPES = ("lxd", "virsh")

# Option, parameter of `allocate`; each value is one repetition of the key.
LISTS: Mapping[str, str] = {
    "zones": "zone",
    "not_zones": "not_in_zone",
    "pools": "pool",
    "not_pools": "not_in_pool",
    "tags": "tags",
    "not_tags": "not_tags",
    "architecture": "arch",
    "subnets": "subnets",
    "not_subnets": "not_subnets",
    "fabrics": "fabrics",
    "vlans": "vlans",
    "vm_hosts": "pod",
    "not_vm_hosts": "not_pod",
}


@dataclass(frozen=True)
class Constraints:
    """Empty lists and None constrain nothing. All of `tags` and `subnets` are needed, any one of the other lists."""

    zones: tuple[str, ...] = ()
    not_zones: tuple[str, ...] = ()
    pools: tuple[str, ...] = ()
    not_pools: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    not_tags: tuple[str, ...] = ()
    architecture: tuple[str, ...] = ()
    cores: float | None = None
    memory: int | None = None  # MiB
    storage: tuple[DiskConstraint, ...] = ()
    subnets: tuple[str, ...] = ()
    not_subnets: tuple[str, ...] = ()
    fabrics: tuple[str, ...] = ()
    vlans: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    system_ids: tuple[str, ...] = ()
    vm_hosts: tuple[str, ...] = ()
    not_vm_hosts: tuple[str, ...] = ()
    # Whether VMs on a VM host may be taken; naming VM hosts says so too.
    virtual: bool = False
    # Whether MAAS may create a VM when nothing matches.
    compose: bool = False

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Constraints:
        """The constraints in a task's options; what cannot be understood is a failure of kind `invalid`."""
        found = cls(
            **{option: _words(params, option) for option in (*LISTS, "names", "system_ids")},
            cores=_cores(params.get("cores")),
            memory=_memory(params.get("memory")),
            storage=disks.parse(params.get("storage")),
            virtual=bool(params.get("virtual")) or bool(params.get("vm_hosts")),
            compose=bool(params.get("compose")),
        )
        for option in ("names", "system_ids", "zones", "pools", "vm_hosts"):
            # A computed list that turned out empty must not open the choice to every machine.
            if params.get(option) == []:
                raise invalid(f"{option} is an empty list, and no machine is in that.", "Leave it out to allow any.")
        for option in ("zones", "pools", "tags", "subnets", "vm_hosts"):
            both = sorted(set(getattr(found, option)) & set(getattr(found, f"not_{option}")))
            if both:
                raise invalid(f"{option} and not_{option} both name {', '.join(both)}.", "Take it out of one of them.")
        for subnet in (*found.subnets, *found.not_subnets):
            networks.check(subnet, "subnets", networks.SUBNET_KEYS)
        for vlan in found.vlans:
            networks.check(vlan, "vlans", networks.VLAN_KEYS)
        return found

    @property
    def needs_system_id(self) -> bool:
        """Whether the choice has to be made here, machine by machine, because `allocate` cannot express it.

        Several `name`s would all have to be the machine's, and nothing takes existing VMs without composing new ones.
        """
        return len(self.names) > 1 or (self.virtual and not self.compose)

    def to_allocate(self, *, system_id: str = "", zone: str = "") -> list[tuple[str, str]]:
        """The parameters of `allocate`, in a stable order.

        With `system_id` MAAS takes only that machine, if it still fits. Without, VMs are kept out unless composing
        is allowed: otherwise MAAS makes one when nothing matches.
        """
        pairs = [
            (key, value)
            for option, key in LISTS.items()
            for value in ((zone,) if option == "zones" and zone else getattr(self, option))
        ]
        if self.cores is not None:
            pairs.append(("cpu_count", f"{self.cores:g}"))
        if self.memory is not None:
            pairs.append(("mem", str(self.memory)))
        if self.storage:
            pairs.append(("storage", ",".join(disk.constraint for disk in self.storage)))
        if system_id:
            return [*pairs, ("system_id", system_id)]
        if self.needs_system_id:
            raise ValueError("these constraints can only be allocated by system_id")
        pairs += [("system_id", known) for known in self.system_ids]
        pairs += [("name", name) for name in self.names]
        return pairs if self.compose else pairs + [("not_pod_type", kind) for kind in POD_TYPES]

    def matches(self, machine: Machine) -> bool:
        return not self.why_not(machine)

    def why_not(self, machine: Machine) -> list[str]:
        """What keeps a machine from being taken, in plain words; empty if nothing does."""
        zone, pool = _name(machine, "zone"), _name(machine, "pool")
        host = _name(machine, "pod")
        tags = set(machine.get("tag_names") or ())
        architecture = str(machine.get("architecture") or "")
        names = {str(machine.get("hostname")), str(machine.get("fqdn"))}
        cpu, memory = machine.get("cpu_count") or 0, machine.get("memory") or 0
        subnets, vlans = networks.subnets_of(machine), networks.vlans_of(machine)
        attached = {str(vlan.get("fabric")) for vlan in vlans}
        told = [
            (self.zones and zone not in self.zones, f"in zone {zone}, not {_or(self.zones)}"),
            (zone in self.not_zones, f"in zone {zone}"),
            (self.pools and pool not in self.pools, f"in pool {pool}, not {_or(self.pools)}"),
            (pool in self.not_pools, f"in pool {pool}"),
            (not tags.issuperset(self.tags), f"no tag {', '.join(sorted(set(self.tags) - tags))}"),
            (tags.intersection(self.not_tags), f"tag {', '.join(sorted(tags.intersection(self.not_tags)))}"),
            (
                self.architecture and not _runs(architecture, self.architecture),
                f"{architecture or 'unknown'}, not {_or(self.architecture)}",
            ),
            (self.cores is not None and cpu < self.cores, f"cores {cpu} < {self.cores or 0:g}"),
            (
                self.memory is not None and memory < self.memory,
                f"memory {_mebibytes(memory)} < {_mebibytes(self.memory or 0)}",
            ),
            (self.names and not names.intersection(self.names), f"not named {_or(self.names)}"),
            (self.system_ids and machine.get("system_id") not in self.system_ids, f"not {_or(self.system_ids)}"),
            (self.fabrics and not attached.intersection(self.fabrics), f"not on fabric {_or(self.fabrics)}"),
            (self.vlans and not networks.any_vlan(vlans, self.vlans), f"not on VLAN {_or(self.vlans)}"),
            (self.vm_hosts and host not in self.vm_hosts, f"not on VM host {_or(self.vm_hosts)}"),
            (host in self.not_vm_hosts, f"on VM host {host}"),
            (not self.virtual and not self.compose and is_virtual(machine), "virtual, which virtual: true takes"),
        ]
        return [
            *(text for unfit, text in told if unfit),
            *(f"not on subnet {spec}" for spec in self.subnets if not networks.any_subnet(subnets, spec)),
            *(f"on subnet {spec}" for spec in self.not_subnets if networks.any_subnet(subnets, spec)),
            *disks.why_not(machine, self.storage),
        ]


def is_virtual(machine: Machine) -> bool:
    return bool(machine.get("pod")) or machine.get("power_type") in POD_TYPES


def shortfall(machines: Iterable[Machine], constraints: Constraints) -> list[str]:
    """For each zone, how many of these machines there are, how many fit, and what keeps the others out."""
    zones: dict[str, list[list[str]]] = {}
    for machine in machines:
        reasons = constraints.why_not(machine)
        if not any(reason.startswith("in zone ") for reason in reasons):
            zones.setdefault(_name(machine, "zone"), []).append(reasons)
    return [_told(zone, zones.get(zone, [])) for zone in sorted({*zones, *constraints.zones})]


def _told(zone: str, unfit: list[list[str]]) -> str:
    fitting = sum(not reasons for reasons in unfit)
    counts = Counter(reason for reasons in unfit for reason in reasons)
    ordered = sorted(counts, key=lambda reason: (-counts[reason], reason))
    why = "; ".join(f"{reason}: {counts[reason]}" for reason in ordered)
    fits = f"{fitting} fit{'s' if fitting == 1 else ''}"
    return f"{zone}: {len(unfit)} ready, {fits}" + (f" ({why})" if why else "")


def _words(params: Mapping[str, Any], option: str) -> tuple[str, ...]:
    value = params.get(option) or ()
    words = (value,) if isinstance(value, str) else value
    return tuple(dict.fromkeys(str(word) for word in words))


def _cores(value: object) -> float | None:
    if value is None:
        return None
    try:
        cores = float(str(value))
    except ValueError:
        cores = 0.0
    if isinstance(value, bool) or not 0 < cores < float("inf"):
        raise invalid(f"cores cannot be {value!r}.", "Write the least number of cores, such as 16.")
    return cores


def _memory(value: object) -> int | None:
    return None if value is None else sizes.mebibytes(sizes.parse(value, "memory", "MiB"))


def _mebibytes(count: float) -> str:
    return sizes.text(int(count) * sizes.UNITS["MiB"])


def _name(machine: Machine, key: str) -> str:
    return str((machine.get(key) or {}).get("name", ""))


def _runs(architecture: str, wished: Sequence[str]) -> bool:
    return architecture in wished or architecture.partition("/")[0] in wished


def _or(words: Sequence[str]) -> str:
    if not words:
        return "any"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
