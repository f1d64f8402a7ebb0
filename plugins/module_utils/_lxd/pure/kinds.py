# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of named objects that an LXD has, and what decides about them.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan, Step
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure import users
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.capabilities import LxdCapabilities
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.settings import (
    Alike,
    Settings,
    alike,
    changed,
    merged,
    same_value,
    shown,
    wished,
)

Found = Mapping[str, Any]
Devices = dict[str, Settings]


@dataclass(frozen=True)
class LxdKind:
    """One kind of object: what it is called, where it is, and what LXD changes of it."""

    noun: str
    collection: str
    # The field that LXD never changes, such as the driver of a pool.
    fixed: str = ""
    # Settings that LXD does not change either, with the ability that changes that; none: never.
    fixed_settings: Mapping[str, str] = field(default_factory=dict)
    # Settings that LXD makes itself, which `purge` leaves.
    kept: re.Pattern[str] | None = None
    satisfied: Alike = same_value
    has_devices: bool = False
    # The feature that gives a project objects of its own; others use those of the project default.
    feature: str = ""
    # Users that do not keep it from being removed.
    passing_users: re.Pattern[str] | None = None
    # What cannot be removed, and why.
    undying: str = ""
    begins: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return self.noun.replace("_", " ")

    @property
    def fields(self) -> tuple[str, ...]:
        """What can be written."""
        return ("description", "config", *(("devices",) if self.has_devices else ()))


@dataclass(frozen=True)
class LxdObjectSpec:
    """What a task wants of one object. None means: as it is."""

    name: str
    description: str | None = None
    config: Settings | None = None
    devices: Mapping[str, Settings | None] | None = None
    fixed: str | None = None
    purge: bool = False

    @classmethod
    def from_params(cls, kind: LxdKind, params: Mapping[str, Any]) -> LxdObjectSpec:
        description = params.get("description")
        return cls(
            params["name"],
            # LXD keeps the final newline that YAML's `|` adds; nobody means it.
            None if description is None else description.strip(),
            wished("config", params.get("config")),
            wished_devices(params.get("devices")),
            params.get(kind.fixed) if kind.fixed else None,
            bool(params.get("purge_config")),
        )


def wished_devices(given: Mapping[str, Any] | None) -> Mapping[str, Settings | None] | None:
    """The devices that an option asks for; None for one that is to go."""
    if given is None:
        return None
    devices: dict[str, Settings | None] = {}
    for name, device in given.items():
        if device is None:
            devices[str(name)] = None
            continue
        # Also what came out empty: nobody asked for its removal.
        if not device or not isinstance(device, Mapping):
            raise invalid(f"devices: {name} must be a dict of its settings, or null if it is to go.")
        texts = wished(f"devices: {name}", device) or {}
        if not texts.get("type"):
            raise invalid(f"devices: {name} has no type, such as disk or nic.")
        devices[str(name)] = {key: value for key, value in texts.items() if value}
    return devices


# -- what it comes to ------------------------------------------------------------------------------


def as_written(kind: LxdKind, found: Found) -> dict[str, Any]:
    """The fields of an object that can be written, as they are."""
    empty: Mapping[str, Any] = {"description": "", "config": {}, "devices": {}}
    return {name: found.get(name) or empty[name] for name in kind.fields}


def to_be(kind: LxdKind, wish: LxdObjectSpec, found: Found | None) -> dict[str, Any]:
    """The fields of an object that can be written, as they are to be."""
    before = as_written(kind, found or {})
    after = {
        "description": before["description"] if wish.description is None else wish.description,
        "config": merged(before["config"], wish.config, purge=wish.purge, kept=kind.kept, satisfied=kind.satisfied),
    }
    if kind.has_devices:
        after["devices"] = _devices(before["devices"], wish)
    return after


def _devices(before: Mapping[str, Settings], wish: LxdObjectSpec) -> Devices:
    """A device is replaced as a whole: half of a disk and half of another one make none."""
    if wish.devices is None:
        return dict(before)
    after = {name: dict(device) for name, device in before.items() if not wish.purge or name in wish.devices}
    for name, device in wish.devices.items():
        if device is None:
            after.pop(name, None)
        elif name not in after or not _same_device(device, after[name]):
            after[name] = dict(device)
    return after


def _same_device(wish: Settings, found: Settings) -> bool:
    return set(wish) == set(found) and all(alike(key, value, found[key]) for key, value in wish.items())


def plan(kind: LxdKind, wish: LxdObjectSpec, found: Found | None) -> Plan:
    """What makes the object as wished: nothing, its creation, or the change of what differs."""
    label, after = f"{kind.label} {wish.name}", to_be(kind, wish, found)
    if found is None:
        made = {"name": wish.name, **({kind.fixed: wish.fixed} if wish.fixed else {}), **after}
        return Plan([Step("create", label, after=_shown(made))])
    before = as_written(kind, found)
    reasons = [name for name in kind.fields if before[name] != after[name]]
    if not reasons:
        return Plan()
    named = [each for name in reasons for each in _in_detail(name, before[name], after[name])]
    return Plan([Step("update", label, reason=", ".join(named), before=_shown(before), after=_shown(after))])


def plan_removal(kind: LxdKind, name: str, found: Found | None) -> Plan:
    if found is None:
        return Plan()
    fixed = {kind.fixed: found.get(kind.fixed)} if kind.fixed else {}
    before = _shown({"name": name, **fixed, **as_written(kind, found)})
    return Plan([Step("delete", f"{kind.label} {name}", before=before)])


def _in_detail(name: str, before: Any, after: Any) -> list[str]:
    return [name] if isinstance(before, str) else [f"{name} {key}" for key in changed(before, after)]


def _shown(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: shown(value) if name == "config" else value for name, value in fields.items()}


def told(kind: LxdKind, found: Found) -> dict[str, Any]:
    """An object as it is in a result."""
    return {**found, **_shown(as_written(kind, found)), "used_by": sorted(found.get("used_by") or [])}


def predicted(kind: LxdKind, wish: LxdObjectSpec, found: Found | None) -> dict[str, Any]:
    """An object as it would be: the same keys, unknown values null."""
    now = dict(found or {**kind.begins, "name": wish.name, **({kind.fixed: wish.fixed} if kind.fixed else {})})
    unknown = {"used_by": None} if found is None else {}
    return {**told(kind, {**now, **to_be(kind, wish, found)}), **unknown, "predicted": True}


# -- what LXD does not do --------------------------------------------------------------------------


def must_be_possible(kind: LxdKind, wish: LxdObjectSpec, found: Found, able: LxdCapabilities) -> None:
    """Raises the failure that says which difference LXD cannot remove.

    It says nothing itself: a pool with another driver is taken for a change of its settings, a size for a note.
    """
    label = f"{kind.label} {wish.name}"
    if found.get("status") in UNFINISHED:
        raise Failure(
            "failed_state",
            f"The {label} is {found['status']}: LXD did not finish making it.",
            object=label,
            reason=f"its status is {found['status']}",
            hint="Remove it with state: absent, and make it anew.",
        )
    if kind.fixed and wish.fixed and wish.fixed != found.get(kind.fixed):
        raise _fixed(label, kind.fixed, str(found.get(kind.fixed)), wish.fixed)
    before, after = as_written(kind, found)["config"], to_be(kind, wish, found)["config"]
    for key in changed(before, after):
        ability = next((ability for begin, ability in kind.fixed_settings.items() if key.startswith(begin)), None)
        if ability is not None and not (ability and able.has(ability)):
            present, asked = before.get(key, "not set"), after.get(key, "not set")
            if ability:
                able.require(ability, f"The change of {key} of the {label} from {present} to {asked}")
            raise _fixed(label, key, present, asked)


UNFINISHED = ("Errored", "Pending")


def _fixed(label: str, key: str, present: str, asked: str) -> Failure:
    return Failure(
        "conflict",
        f"The {key} of the {label} is {present} and cannot become {asked}: LXD does not change it.",
        object=label,
        reason=f"{key} is {present}, not {asked}",
        hint=f"Ask for what it is, or remove the {label} first, with what is in it.",
    )


def must_be_removable(kind: LxdKind, found: Found) -> None:
    """Raises the failure that says why LXD would not remove it."""
    name, label = found["name"], f"{kind.label} {found['name']}"
    if name == kind.undying:
        raise Failure("conflict", f"The {label} cannot be removed: every LXD has it.", object=label)
    using = in_the_way(kind, found)
    if using:
        raise Failure(
            "conflict",
            f"The {label} cannot be removed: {users.listed(using)} {'uses' if len(using) == 1 else 'use'} it.",
            object=label,
            reason="it is in use",
            hint="Remove them first, or let them use something else.",
        )


def is_lxds(found: Found) -> bool:
    """Whether it is LXD's own: among its networks it lists the interfaces of the machine."""
    return bool(found.get("managed", True))


def in_the_way(kind: LxdKind, found: Found) -> Sequence[str]:
    """The users that keep an object from being removed, as URLs."""
    passing = kind.passing_users
    return [user for user in found.get("used_by") or [] if not (passing and passing.search(user))]


def with_which_a_project_begins(kind: LxdKind, name: str, project: str) -> dict[str, Any] | None:
    """What a new project has from the start, if that is asked for."""
    if kind.noun != "profile" or name != kind.undying:
        return None
    description = f"Default LXD profile for project {project}"
    return {"name": name, "description": description, "config": {}, "devices": {}, "used_by": []}


def must_be_its_own(kind: LxdKind, project: str, config: Mapping[str, str]) -> None:
    """Raises the failure for objects of a project that are those of the project default in truth."""
    if not alike(kind.feature, "true", config.get(kind.feature, "")):
        raise Failure(
            "conflict",
            f"The project {project} has no {kind.label}s of its own: it uses those of the project default.",
            object=f"project {project}",
            reason=f"{kind.feature} of the project is not true",
            hint="Say lxd_project: default, or make the project with that feature.",
        )


# -- the kinds -------------------------------------------------------------------------------------

VOLATILE = re.compile(r"^volatile\.")


def _same_in_a_pool(key: str, wish: str, found: Mapping[str, str]) -> bool:
    # LXD puts what it made of a disk in the place of its path, and notes the path elsewhere. What it was to do with the
    # source at the creation, such as `source.wipe`, it forgets.
    done = key.startswith("source.") and "source" in found
    return done or same_value(key, wish, found) or (key == "source" and found.get("volatile.initial_source") == wish)


def _same_in_a_network(key: str, wish: str, found: Mapping[str, str]) -> bool:
    # `auto` is what LXD is asked, an address what it chose.
    chosen = wish == "auto" and found.get(key, "none") != "none"
    return chosen or same_value(key, wish, found)


POOLS = LxdKind(
    "storage_pool",
    "storage-pools",
    fixed="driver",
    fixed_settings={"source": "", "size": "growing the loop file of a storage pool"},
    kept=re.compile(r"^(volatile\.|source$|size$|lvm\.(vg|thinpool)_name$|zfs\.pool_name$|ceph(fs|object)?\.)"),
    satisfied=_same_in_a_pool,
    # LXD removes copies of images with the pool.
    passing_users=re.compile(r"^/1\.0/images/"),
    begins={"driver": None, "status": "Created", "locations": None, "used_by": None},
)
NETWORKS = LxdKind(
    "network",
    "networks",
    fixed="type",
    kept=VOLATILE,
    satisfied=_same_in_a_network,
    feature="features.networks",
    begins={"type": None, "managed": True, "status": "Created", "locations": None, "used_by": None},
)
PROJECTS = LxdKind(
    "project",
    "projects",
    kept=re.compile(r"^(volatile|features)\."),
    passing_users=re.compile(r"^/1\.0/profiles/default(\?|$)"),
    undying="default",
    begins={"used_by": None},
)
PROFILES = LxdKind(
    "profile",
    "profiles",
    kept=VOLATILE,
    has_devices=True,
    feature="features.profiles",
    undying="default",
    begins={"used_by": None},
)
