# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the conditions of a hosted cluster and of all that belongs to it mean: one table, which is also a docs page.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure import cluster_api, hypershift
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.meanings import (
    ConditionType,
    Meaning,
    Verdict,
    unknown,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.fields import objects
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import Object
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import name_of

__all__ = ["TABLE", "Meaning", "Verdict", "condition", "conditions_of", "meaning_of", "meanings_of"]

TABLE: tuple[ConditionType, ...] = (
    *hypershift.HOSTED_CLUSTERS,
    *hypershift.NODE_POOLS,
    *cluster_api.MACHINES,
    *cluster_api.MAAS_MACHINES,
    *cluster_api.CLUSTERS,
    *cluster_api.NODES,
    *cluster_api.NAMESPACES,
)
_BY_TYPE: Mapping[tuple[str, str], ConditionType] = {(entry.kind, entry.type): entry for entry in TABLE}

# A HostedControlPlane says the same as its HostedCluster, but for the one that is turned round.
_SAME = {"HostedControlPlane": "HostedCluster"}
FAILING, SUCCEEDING = "ClusterVersionFailing", "ClusterVersionSucceeding"
_TURNED = {"True": "False", "False": "True"}


def meaning_of(kind: str, condition: Object, body: Object) -> Meaning:
    """What a condition of this object means."""
    found = condition if isinstance(condition, Mapping) else {}
    if found.get("type") == FAILING:
        found = {**found, "type": SUCCEEDING, "status": _TURNED.get(str(found.get("status")), "Unknown")}
    entry = _BY_TYPE.get((_SAME.get(kind, kind), str(found.get("type"))))
    return entry.meaning(found, name_of(body)) if entry else unknown(kind, found)


def meanings_of(kind: str, body: Object) -> Iterator[tuple[Object, Meaning]]:
    """All conditions of an object with what they mean, in the order of the table."""
    found = conditions_of(body)
    order = {entry.type: number for number, entry in enumerate(TABLE) if entry.kind == _SAME.get(kind, kind)}
    for each in sorted(found.values(), key=lambda each: order.get(str(each.get("type")), len(order))):
        yield each, meaning_of(kind, each, body)


def conditions_of(body: Object | None) -> dict[str, Object]:
    """Conditions by type; those that Cluster API keeps apart for its next version where there is no other."""
    known = [*objects(body, "status", "v1beta2", "conditions"), *objects(body, "status", "conditions")]
    return {str(each.get("type")): each for each in known}


def condition(body: Object | None, kind: str) -> Object | None:
    """The condition of this type, if there is one."""
    return conditions_of(body).get(kind)
