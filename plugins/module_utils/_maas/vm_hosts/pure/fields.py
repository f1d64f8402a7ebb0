# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task says about a VM host, and how that differs from what MAAS has.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import invalid
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.address import (
    Endpoint,
    endpoint,
    known_endpoint,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.capacity import (
    is_discovered,
    rooms,
    storage_pools,
)

RATIOS = ("cpu_over_commit_ratio", "memory_over_commit_ratio")
MACVLAN_MODES = ("bridge", "passthru", "private", "vepa")
LARGEST_RATIO = 10

# MAAS gives it to every VM host, again and again.
CONSOLE_TAG = "pod-console-logging"
# Tags that begin so are the Cluster API provider's: it reads them, and nobody else takes them away.
PROVIDERS = "maas-lxd-"
TAG = re.compile(r"[A-Za-z0-9_-]+")

# The fields of which the form has the name that the task has.
PLAIN = ("name", "zone", "pool", *RATIOS, "default_macvlan_mode", "default_storage_pool")


@dataclass(frozen=True)
class VMHostFields:
    """The fields that a task sets; None stands for: as it is."""

    name: str | None = None
    power_address: str | None = None
    project: str | None = None
    zone: str | None = None
    pool: str | None = None
    tags: Sequence[str] | None = None
    purge_tags: bool = False
    cpu_over_commit_ratio: float | None = None
    memory_over_commit_ratio: float | None = None
    default_macvlan_mode: str | None = None
    default_storage_pool: str | None = None

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> VMHostFields:
        """The fields in a task's options; what no MAAS would take is a failure of kind `invalid`."""
        for option in RATIOS:
            if params[option] is not None and not 0 <= params[option] <= LARGEST_RATIO:
                raise invalid(f"{option} must be between 0 and {LARGEST_RATIO}, not {params[option]:g}.")
        for tag in params["tags"] or ():
            if not TAG.fullmatch(tag):
                raise invalid(
                    f"tags holds {tag!r}, which no tag of MAAS can be called.",
                    "Tags are made of letters, digits, hyphens and underscores.",
                )
            if tag.startswith(PROVIDERS):
                raise invalid(
                    f"tags holds {tag}, but tags that begin with {PROVIDERS} belong to the Cluster API provider.",
                    "Use schedulable to keep new VMs away from the host.",
                )
        wished = cls(**{name: params[name] for name in cls.__dataclass_fields__})
        if wished.endpoint is None and wished.power_address is not None:
            endpoint(wished.power_address)
        return wished

    @property
    def endpoint(self) -> Endpoint | None:
        return endpoint(self.power_address) if self.power_address is not None else None

    def registration(self) -> dict[str, Any]:
        """The fields of POST vm-hosts/. Which storage pools there are shows only afterwards."""
        form = {name: getattr(self, name) for name in (*PLAIN, "power_address", "project")}
        form["tags"] = ",".join(self.tags) if self.tags else None
        del form["default_storage_pool"]
        return {"type": "lxd", **{name: value for name, value in form.items() if value is not None}}


def fields_of(host: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that can be wished, as MAAS has them."""
    default = next((pool.get("name") for pool in host.get("storage_pools") or () if pool.get("default")), None)
    named = {noun: (host.get(noun) or {}).get("name") for noun in ("zone", "pool")}
    plain = {name: host.get(name) for name in ("name", *RATIOS, "default_macvlan_mode")}
    places = {name: parameters.get(name) for name in ("power_address", "project")}
    return {**plain, **named, **places, "default_storage_pool": default, "tags": sorted(host.get("tags") or ())}


def changes(fields: Mapping[str, Any], wished: VMHostFields) -> dict[str, Any]:
    """The fields that differ, as they shall be."""
    asked = {name: getattr(wished, name) for name in PLAIN}
    differing = {name: value for name, value in asked.items() if value is not None and value != fields.get(name)}
    # Written in another way it is still the same address.
    if wished.endpoint and wished.endpoint != known_endpoint(str(fields.get("power_address"))):
        differing["power_address"] = wished.power_address
    added, removed = tag_changes(fields.get("tags") or (), wished)
    if added or removed:
        differing["tags"] = sorted({*fields["tags"], *added} - set(removed))
    return differing


def tag_changes(present: Sequence[str], wished: VMHostFields) -> tuple[list[str], list[str]]:
    """The tags to add and to take away. MAAS's own and those of the Cluster API provider stay."""
    if wished.tags is None:
        return [], []
    removed = sorted(set(present) - set(wished.tags) - {CONSOLE_TAG}) if wished.purge_tags else []
    return sorted(set(wished.tags) - set(present)), [tag for tag in removed if not tag.startswith(PROVIDERS)]


def shown(host: Mapping[str, Any], parameters: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A VM host as results show it: plain values, nothing secret. Where it is, only an administrator may know."""
    plain = ("id", "type", "version", "architectures")
    return {
        **fields_of(host, parameters or {}),
        **{name: host.get(name) for name in plain},
        "discovered": is_discovered(host),
        "capacity": {name: room.shown for name, room in rooms(host).items()},
        "storage_pools": storage_pools(host),
    }


def predicted(wished: VMHostFields) -> dict[str, Any]:
    """What can be known of a VM host before it is registered; the rest is null."""
    blank: dict[str, Any] = dict.fromkeys(shown({}, {}))
    known = {name: getattr(wished, name) for name in (*PLAIN, "power_address", "project")}
    begins = {**dict.fromkeys(RATIOS, 1.0), "type": "lxd", "tags": sorted({*(wished.tags or ()), CONSOLE_TAG})}
    return {**blank, **begins, **{name: value for name, value in known.items() if value is not None}}
