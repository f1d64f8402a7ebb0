# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the free machines of a MAAS are enough for what all node pools still ask for.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.table import condition
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import (
    ASKS_FOR,
    OF_DEPLOYMENT,
    OF_MACHINE_SET,
    is_paused,
    pool_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import control_plane_namespace
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import Object
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import (
    is_deleted,
    name_of,
    namespace_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.times import seconds_of
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.constraints import Constraints, Machine

# Seconds until node pools are made that were announced: after the control plane answers, and at all.
LONGEST_GAP, LONGEST_START = 900.0, 4 * 3600.0
MOST_POOLS = 100


@dataclass(frozen=True)
class MachineDemand:
    """Machines that a node pool asks for and has not got."""

    owner: str
    pool: str
    count: int
    constraints: Constraints
    # Only written down so far; there is no node pool that asks.
    announced: bool = False

    @property
    def label(self) -> str:
        return f"{self.owner}/{self.pool}"

    @property
    def wanted(self) -> str:
        """What kind of machine, in words."""
        limits = self.constraints
        told = [
            *(f"zone {zone}" for zone in limits.zones),
            *(f"pool {pool}" for pool in limits.pools),
            *([f"tag {', '.join(limits.tags)}"] if limits.tags else []),
            *([f"{limits.cores:g} cores"] if limits.cores else []),
            *([f"{limits.memory} MiB"] if limits.memory else []),
        ]
        return ", ".join(told) or "any machine"


def constraints_of(maas: Mapping[str, Any]) -> Constraints:
    """What the provider asks MAAS for, from `platform.maas` of a NodePool. It does not keep virtual machines out."""
    zone = maas.get("failureDomain") or maas.get("zone")
    return Constraints(
        zones=(str(zone),) if zone else (),
        pools=(str(maas["resourcePool"]),) if maas.get("resourcePool") else (),
        tags=tuple(str(tag) for tag in maas.get("tags") or ()),
        # As the operator fills them in.
        cores=float(maas.get("minCpu") or 1),
        memory=int(maas.get("minMemory") or 1024),
        virtual=True,
    )


def constraints_of_machine(maas_machine: Object) -> Constraints:
    """What the provider asks MAAS for, for one MaasMachine: of its tags only the last one."""
    spec = maas_machine.get("spec") or {}
    tags = spec.get("tags") or ()
    wanted = {"failureDomain": spec.get("failureDomain"), "resourcePool": spec.get("resourcePool"), "tags": tags[-1:]}
    return constraints_of({**wanted, "minCpu": spec.get("minCPU"), "minMemory": spec.get("minMemory")})


def ask_of(pool: Object, maas_machines: Sequence[Object]) -> MachineDemand | None:
    """What a NodePool still asks for; None if machines of MAAS are not its business, or it is on its way out."""
    spec = pool["spec"]
    platform = spec.get("platform") or {}
    if platform.get("type") != "MAAS" or is_deleted(pool):
        return None
    own = machines_of(pool, maas_machines)
    got = [machine for machine in own if machine["spec"].get("systemID") or machine["spec"].get("providerID")]
    scaling = spec.get("autoScaling")
    # Where the autoscaler decides, only its Machines tell how many it wants.
    wanted = max(scaling.get("min", 0), len(own)) if scaling else spec.get("replicas") or 0
    owner = f"{namespace_of(pool)}/{spec['clusterName']}"
    return MachineDemand(owner, name_of(pool), max(wanted - len(got), 0), constraints_of(platform.get("maas") or {}))


def machines_of(pool: Object, maas_machines: Sequence[Object]) -> list[Object]:
    """The MaasMachines of a NodePool that stay."""
    place = control_plane_namespace(pool["metadata"]["namespace"], pool["spec"]["clusterName"])
    name = pool["metadata"]["name"]
    return [
        machine
        for machine in maas_machines
        if machine["metadata"]["namespace"] == place
        and pool_of(machine) in ("", f"{pool['metadata']['namespace']}/{name}")
        and name in (_label(machine, OF_DEPLOYMENT), _label(machine, OF_MACHINE_SET))
        and not is_deleted(machine)
    ]


def announced(cluster: Object, pools: Sequence[Object], now: float) -> list[MachineDemand]:
    """What a hosted cluster that is being installed says that its node pools will ask for, of those not yet there.

    `now` is in seconds since 1970: node pools that do not come within their time are not waited for. Whoever may change
    a HostedCluster can write there: it counts for clusters of platform MAAS that are not paused.
    """
    metadata = cluster["metadata"]
    if not _announces(cluster, now):
        return []
    there = {
        pool["metadata"]["name"]: pool
        for pool in pools
        if pool["metadata"]["namespace"] == metadata["namespace"] and pool["spec"]["clusterName"] == metadata["name"]
    }
    if _is_stale(cluster, there.values(), now):
        return []
    owner = f"{metadata['namespace']}/{metadata['name']}"
    return [
        MachineDemand(owner, name, count, constraints, announced=True)
        for name, count, constraints in filter(None, map(_understood, _entries(cluster)))
        if name not in there
    ]


def is_misannounced(cluster: Object, now: float) -> bool:
    """Whether a cluster that would count has something there that is no announcement."""
    entries = _entries(cluster)
    return _announces(cluster, now) and (not entries or None in map(_understood, entries))


def _announces(cluster: Object, now: float) -> bool:
    metadata, spec = cluster["metadata"], cluster.get("spec") or {}
    return bool(
        (metadata.get("annotations") or {}).get(ASKS_FOR)
        and not is_deleted(cluster)
        and (spec.get("platform") or {}).get("type", "MAAS") == "MAAS"
        and not is_paused(spec, now)
        and not is_installed(cluster)
    )


def announcement(asks: Sequence[tuple[str, int, Mapping[str, Any]]]) -> str:
    """The text of the annotation, from name, number and `platform.maas` of each node pool."""
    entries = [{"name": name, "count": count, "maas": dict(maas)} for name, count, maas in asks]
    return json.dumps(entries, sort_keys=True, separators=(",", ":"))


def is_installed(cluster: Object) -> bool:
    history = ((cluster.get("status") or {}).get("version") or {}).get("history") or []
    return any(entry.get("state") == "Completed" for entry in history)


def _is_stale(cluster: Object, pools: Iterable[Object], now: float) -> bool:
    """Whether the node pools would be there by now: they are made all at once, when the control plane answers.

    Those that are missing then were deleted, or whoever announced them has gone.
    """
    shown = condition(cluster, "Available") or {}
    limits = [(cluster["metadata"].get("creationTimestamp"), LONGEST_START)]
    limits += [(pool["metadata"].get("creationTimestamp"), LONGEST_GAP) for pool in pools]
    if shown.get("status") == "True":
        limits.append((shown.get("lastTransitionTime"), LONGEST_GAP))
    return any((since := seconds_of(stamp)) is not None and now - since > limit for stamp, limit in limits)


def is_elder(one: Object, other: Object) -> bool:
    """Whether `one` was created before `other`; of the same second the same one for everybody who asks."""
    return _age(one) < _age(other)


def allotted(asks: Sequence[MachineDemand], machines: Sequence[Machine]) -> list[int]:
    """How many of these machines each ask gets. Earlier ones go first, and what they have stays theirs.

    Machines that fit the same asks are alike, so that a handful of numbers stand for a thousand machines.
    """
    alike: dict[object, list[Machine]] = {}
    for machine in machines:
        alike.setdefault(_looks(machine), []).append(machine)
    fits: Counter[tuple[int, ...]] = Counter()
    for group in alike.values():
        kind = tuple(number for number, ask in enumerate(asks) if ask.constraints.matches(group[0]))
        fits[kind] += len(group)
    kinds = [kind for kind in fits if kind]
    free = {kind: fits[kind] for kind in kinds}
    given: list[Counter[tuple[int, ...]]] = [Counter() for _ask in asks]

    def take(number: int, visited: set[tuple[int, ...]]) -> bool:
        """One machine more for this ask, if need be by giving others one of another kind."""
        for kind in kinds:
            if number not in kind or kind in visited:
                continue
            visited.add(kind)
            if free[kind]:
                free[kind] -= 1
                given[number][kind] += 1
                return True
            for other in range(len(asks)):
                if other != number and given[other][kind] and take(other, visited):
                    given[other][kind] -= 1
                    given[number][kind] += 1
                    return True
        return False

    for number, ask in enumerate(asks):
        for _machine in range(ask.count):
            if not take(number, set()):
                break
    return [sum(kept.values()) for kept in given]


def _looks(machine: Machine) -> object:
    """The facts by which the demands of node pools are judged."""
    zone, pool = ((machine.get(key) or {}).get("name") for key in ("zone", "pool"))
    return zone, pool, frozenset(machine.get("tag_names") or ()), machine.get("cpu_count"), machine.get("memory")


def _entries(cluster: Object) -> list[Any]:
    """What is written there, whoever wrote it."""
    try:
        found = json.loads((cluster["metadata"].get("annotations") or {}).get(ASKS_FOR) or "")
    # Ten thousand brackets are JSON, and deeper than Python goes.
    except (ValueError, RecursionError):
        return []
    return found[:MOST_POOLS] if isinstance(found, list) else []


def _understood(entry: Any) -> tuple[str, int, Constraints] | None:
    """Name, number and kind of machines; None for what we would not have written."""
    if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
        return None
    count, maas = entry.get("count"), entry.get("maas") or {}
    if not isinstance(count, int) or isinstance(count, bool) or count < 0 or not isinstance(maas, Mapping):
        return None
    if not isinstance(maas.get("tags") or [], list):
        return None
    try:
        return entry["name"], count, constraints_of(maas)
    except (TypeError, ValueError, OverflowError):
        return None


def _age(body: Object) -> tuple[str, str]:
    return body["metadata"]["creationTimestamp"], body["metadata"]["uid"]


def _label(body: Object, name: str) -> str:
    return str((body["metadata"].get("labels") or {}).get(name, ""))
