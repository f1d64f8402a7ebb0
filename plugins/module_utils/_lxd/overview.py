# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an LXD is and has, each kind of thing in one request.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.urls import segment
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.client import Lxd
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.errors import is_no_project
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.server import as_told
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.settings import shown
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.trust import store

Objects = list[dict[str, Any]]

VIRTUAL_MACHINE = "virtual-machine"
CONTAINER = "container"
# What runs virtual machines.
QEMU = "qemu"
# What a restricted client certificate may not see, and what an older LXD has not, is null.
WITHHELD = ("forbidden", "unsupported", "not_found")


def of_type(kind: str, instances: Sequence[Mapping[str, Any]]) -> Objects:
    """The instances of one type. LXD lists all of them together, whichever path is asked."""
    return [dict(instance) for instance in instances if instance.get("type") == kind]


def drivers(environment: Mapping[str, Any]) -> dict[str, str]:
    """Which instances can be run, with the version of what runs them. LXD names them in an order that changes."""
    names, versions = (str(environment.get(key) or "").split(" | ") for key in ("driver", "driver_version"))
    return {name: version for name, version in sorted(zip(names, versions, strict=False)) if name}


def can_run_vms(lxd: Lxd) -> bool:
    """Whether it runs virtual machines, and not containers alone."""
    return QEMU in drivers(lxd.server.get("environment") or {})


def storage_drivers(environment: Mapping[str, Any]) -> dict[str, str]:
    """Which storage pools can be made, with the version of what makes them."""
    found = environment.get("storage_supported_drivers") or []
    return {str(each["Name"]): str(each["Version"]) for each in sorted(found, key=lambda each: str(each["Name"]))}


def itself(lxd: Lxd) -> dict[str, Any]:
    """What it tells everybody, and of its nature."""
    environment = lxd.server.get("environment") or {}
    return {
        "version": environment.get("server_version"),
        "trusted": lxd.trusted,
        "restricted": lxd.restricted,
        "clustered": bool(environment.get("server_clustered")),
        "project": lxd.project,
        "drivers": drivers(environment),
        "storage_drivers": storage_drivers(environment),
        "abilities": lxd.capabilities.abilities,
    }


def server(lxd: Lxd) -> dict[str, Any]:
    """What it says of itself, without its extensions and its certificate."""
    environment = dict(lxd.server.get("environment") or {})
    environment.pop("certificate", None)
    able = drivers(environment)
    if able:
        # So that what is the same looks the same.
        environment |= {"driver": " | ".join(able), "driver_version": " | ".join(able.values())}
    return {"config": as_told(lxd.server.get("config") or {}), "environment": environment}


@dataclass(frozen=True)
class LxdSubset:
    """One subset of lxd_info: its path, and how it is returned."""

    path: str
    of_project: bool = False
    of_all_projects: bool = False
    told: Callable[[Any], Any] = lambda answer: answer
    recursion: int = 1


def _with_settings_shown(objects: Sequence[Mapping[str, Any]]) -> Objects:
    return [{**each, **({"config": shown(each["config"])} if each.get("config") else {})} for each in objects]


def _instances(kind: str = "") -> Callable[[Any], Any]:
    def told(answer: Sequence[Mapping[str, Any]]) -> Objects:
        picked = of_type(kind, answer) if kind else answer
        return _with_settings_shown([_without_expanded(each) for each in picked])

    return told


def _without_expanded(instance: Mapping[str, Any]) -> dict[str, Any]:
    """What comes from profiles holds the same secrets once more."""
    return {**instance, "expanded_config": shown(instance.get("expanded_config") or {})}


SUBSETS: Mapping[str, LxdSubset] = {
    "all_instances": LxdSubset("instances", of_all_projects=True, told=_instances()),
    "containers": LxdSubset("instances", of_project=True, told=_instances(CONTAINER)),
    "images": LxdSubset("images", of_project=True),
    "instances": LxdSubset("instances", of_project=True, told=_instances()),
    "networks": LxdSubset("networks", of_project=True, told=_with_settings_shown),
    "profiles": LxdSubset("profiles", of_project=True, told=_with_settings_shown),
    "projects": LxdSubset("projects", told=_with_settings_shown),
    "resources": LxdSubset("resources", recursion=0),
    "storage_pools": LxdSubset("storage-pools", told=_with_settings_shown),
    "trust": LxdSubset("certificates"),
    "virtual_machines": LxdSubset("instances", of_project=True, told=_instances(VIRTUAL_MACHINE)),
    "warnings": LxdSubset("warnings"),
}


def read(lxd: Lxd, name: str) -> Any:
    """One subset; None if this LXD does not have it, or not for us."""
    try:
        return MORE[name](lxd) if name in MORE else _plain(lxd, name)
    except Failure as failure:
        if failure.kind in WITHHELD and not is_no_project(failure):
            return None
        raise


def _plain(lxd: Lxd, name: str) -> Any:
    subset = SUBSETS[name]
    query: dict[str, Any] = {"recursion": subset.recursion} if subset.recursion else {}
    if subset.of_project:
        query["project"] = lxd.project
    if subset.of_all_projects:
        query["all-projects"] = "true"
    return subset.told(lxd.get(subset.path, query, what=f"list the {name.replace('_', ' ')}"))


def _pools(lxd: Lxd) -> Objects:
    """The pools, each with the room in it."""
    return [{**pool, "resources": _room(lxd, str(pool["name"]))} for pool in _plain(lxd, "storage_pools")]


def _room(lxd: Lxd, pool: str) -> Any:
    found = lxd.find(f"storage-pools/{segment(pool, 'name of a storage pool')}/resources", what=f"measure {pool}")
    return found.body if found else None


def _trust(lxd: Lxd) -> dict[str, Any]:
    """Who is trusted, and who may become so; the tokens themselves are not told."""
    return {
        "certificates": [store.told(certificate) for certificate in _plain(lxd, "trust")],
        "tokens": [token.told for token in store.tokens(lxd)],
    }


MORE: Mapping[str, Callable[[Lxd], Any]] = {"storage_pools": _pools, "trust": _trust, "server": server}
