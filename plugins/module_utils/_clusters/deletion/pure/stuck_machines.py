# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines that cannot be removed because the API of their cluster does not answer, and how they are let go.

Cluster API tries to delete the Node of a Machine for ever, unless the Machine has a nodeDeletionTimeout. A NodePool has
no such field; HyperShift takes it out of a MachineDeployment at once, and Cluster API out of a Machine as long as its
MachineSet is to stay. So it is written into the Machine when that is being removed with its MachineSet, and otherwise
when nothing but the Node is left, while the MachineSet is paused for that moment.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.pure.pool_manifest import DEFAULTS
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import (
    NODE_DELETION_TIMEOUT,
    OF_NODE_POOL,
    PAUSED,
    PAUSED_FOR,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.fields import at, objects, text
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    MACHINE_SETS,
    MACHINES,
    Object,
    ObjectKind,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import is_deleted, name_of
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.times import seconds_of
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.units import duration, nanoseconds

DEFAULT = duration(DEFAULTS["node_deletion_timeout"], "node_deletion_timeout")


@dataclass(frozen=True)
class ObjectPatch:
    """One change of one object, and what is said of it."""

    kind: ObjectKind
    name: str
    body: Mapping[str, Any]
    said: str = ""


def patches(
    pools: Sequence[Object], machine_sets: Sequence[Object], machines: Sequence[Object], now: float
) -> Iterator[ObjectPatch]:
    """What is to be done now, in this order. `now` is in seconds since 1970."""
    sets = {name_of(each): each for each in machine_sets}
    limits = {f"{each['metadata']['namespace']}/{name_of(each)}": _limit(each) for each in pools}
    for machine in machines:
        if is_deleted(machine) and not at(machine, "spec", "nodeDeletionTimeout"):
            pool = text(machine, "metadata", "annotations", OF_NODE_POOL)
            yield from _let_go(machine, sets.get(_owner(machine)), limits.get(pool, DEFAULT), now)
    there = {name_of(each) for each in machines}
    yield from resumptions([each for each in machine_sets if _paused_for(each) not in there])


def resumptions(machine_sets: Sequence[Object]) -> Iterator[ObjectPatch]:
    """The end of each pause that was made for a Machine, be it gone or not."""
    for each in machine_sets:
        if _paused_for(each):
            yield ObjectPatch(
                MACHINE_SETS, name_of(each), {"metadata": {"annotations": {PAUSED: None, PAUSED_FOR: None}}}
            )


def _paused_for(machine_set: Object) -> str:
    return text(machine_set, "metadata", "annotations", PAUSED_FOR)


def _let_go(machine: Object, machine_set: Object | None, limit: str, now: float) -> Iterator[ObjectPatch]:
    name = name_of(machine)
    if not nanoseconds(limit):
        # To Cluster API this means for ever, too.
        return
    timeout = ObjectPatch(MACHINES, name, {"spec": {"nodeDeletionTimeout": limit}})
    if machine_set is None or is_deleted(machine_set):
        yield timeout
        return
    began = seconds_of(text(machine, "metadata", "deletionTimestamp"))
    if not _only_the_node_is_left(machine) or began is None or now - began < (nanoseconds(limit) or 0) / 10**9:
        return
    notes = {PAUSED: "true", PAUSED_FOR: name}
    yield ObjectPatch(MACHINE_SETS, name_of(machine_set), {"metadata": {"annotations": notes}})
    yield ObjectPatch(
        timeout.kind,
        name,
        timeout.body,
        f"machine {name}: let go without its Node, which could not be deleted for {limit}",
    )


def _only_the_node_is_left(machine: Object) -> bool:
    conditions = objects(machine, "status", "v1beta2", "conditions")
    return any(each.get("type") == "Deleting" and each.get("reason") == "DeletingNode" for each in conditions)


def _owner(machine: Object) -> str:
    owners = objects(machine, "metadata", "ownerReferences")
    return next((str(each["name"]) for each in owners if each.get("kind") == MACHINE_SETS.name), "")


def _limit(pool: Object) -> str:
    return text(pool, "metadata", "annotations", NODE_DELETION_TIMEOUT) or DEFAULT
