# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a hosted cluster is from a goal: what to say, whether it is reached, and whether waiting makes sense.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure import (
    cluster_progress,
    pool_progress,
    removal_progress,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.findings import Finding, finding
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import ObjectKind
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import is_deleted

Goal = Literal["control_plane", "ignition", "nodes", "complete", "gone"]
GOALS: tuple[Goal, ...] = ("control_plane", "ignition", "nodes", "complete", "gone")

# What somebody may heal with the next thing that he creates may last so many seconds.
GRACE = 60.0
# What does not heal by itself may have been healed just now: operators look again within ten seconds.
SETTLE = 15.0
# What keeps also those from going on who have a control plane.
ENDS_ALL = frozenset({"HostedCluster", "ReconciliationActive"})


@dataclass(frozen=True)
class Stop:
    """Why waiting makes no sense: in a line, with what to do, and in the words of who said so."""

    text: str
    hint: str
    reason: str


@dataclass(frozen=True)
class Assessment:
    """What is seen on the way to a goal.

    `lines` are in the order in which they matter, by topic.
    `touch` names what the operator has forgotten, the hosted cluster or node pools: any change of theirs makes it look
    again. `waits` are the topics whose lines are not as they should be in the end, `parts` those that are, and say no
    more than a line about the whole does.
    """

    lines: Mapping[str, str]
    reached: bool
    stop: Stop | None = None
    touch: Sequence[tuple[ObjectKind, str]] = ()
    waits: Sequence[str] = ()
    parts: Sequence[str] = ()


def assess(
    sight: ClusterSnapshot,
    goal: Goal,
    now: float,
    since: Mapping[str, float],
    *,
    time_of_day: float = 0.0,
    pools: Collection[str] = (),
    grace: float = GRACE,
    settle: float = SETTLE,
) -> Assessment:
    """What is to say, and whether to go on waiting.

    `since` says of topics when their present line was first seen, by the same clock as `now`; `time_of_day`, in seconds
    since 1970, is for pauses until a date. `pools` are the node pools that matter: all, when
    none is named; for the goal `gone`, the whole hosted cluster then. The goal `complete` asks nothing of node pools
    that are not named.
    """
    reached = _is_reached(sight, goal, pools)
    findings = [*_troubles(sight), *_findings(sight, goal, pools, time_of_day)]
    lasting = {"stop": settle, "grace": grace}
    ages = {one.topic: max(now - since.get(one.topic, now), 0.0) for one in findings}
    ends = [
        one for one in findings if one.meaning.verdict in lasting and ages[one.topic] >= lasting[one.meaning.verdict]
    ]
    return Assessment(
        lines={one.topic: one.line for one in findings},
        reached=reached,
        stop=None if reached or not ends else _stop(ends[0]),
        touch=() if reached else tuple(one.touch for one in findings if one.touch and ages[one.topic] >= settle),
        waits=tuple(one.topic for one in findings if not one.is_fine),
        parts=tuple(one.topic for one in findings if one.is_fine and _is_part(one.topic)),
    )


def followed(
    since: Mapping[str, float], before: Mapping[str, str], lines: Mapping[str, str], now: float
) -> dict[str, float]:
    """The moments since when the lines are as they are, after those of before."""
    return {topic: since.get(topic, now) if before.get(topic) == line else now for topic, line in lines.items()}


def _is_part(topic: str) -> bool:
    """A stage on the way to the control plane, or a machine of a node pool."""
    return topic in cluster_progress.STAGES[:-1] or topic.startswith("machine ")


def _stop(one: Finding) -> Stop:
    text = f"{one.meaning.subject}: {one.final}" if one.final else one.line
    return Stop(text, one.meaning.hint, one.reason or one.line)


def _is_reached(sight: ClusterSnapshot, goal: Goal, pools: Collection[str]) -> bool:
    if goal == "gone":
        return removal_progress.is_gone(sight, pools)
    if goal == "control_plane":
        return cluster_progress.is_reached(sight)
    if goal == "ignition":
        return cluster_progress.serves(sight) and not is_deleted(sight.cluster) and cluster_progress.ignites(sight)
    if goal == "complete" and not (cluster_progress.is_reached(sight) and cluster_progress.is_complete(sight)):
        return False
    if goal == "complete" and not pools:
        # A rollout is complete with some nodes, from whatever pool.
        return True
    chosen = pools or sight.pools
    known = [sight.pools.get(name) for name in chosen]
    return (
        cluster_progress.serves(sight)
        and not is_deleted(sight.cluster)
        and bool(known)
        and all(pool is not None and pool_progress.is_reached(sight, pool) for pool in known)
    )


def _findings(sight: ClusterSnapshot, goal: Goal, pools: Collection[str], time_of_day: float) -> Iterator[Finding]:
    if goal == "gone":
        yield from removal_progress.removal(sight, pools, time_of_day)
        return
    yield from _control_plane(sight, goal)
    if sight.cluster is None or goal == "control_plane":
        return
    serving = cluster_progress.serves(sight)
    ignition = cluster_progress.ignition(sight)
    if serving and (goal == "ignition" or ignition.touch):
        yield ignition
    if goal == "ignition":
        return
    if goal == "nodes":
        yield from _nodes(sight, pools, serving)
        return
    yield from _nodes(sight, pools, serving) if pools else _pools_of_rollout(sight, serving)
    if serving:
        yield from cluster_progress.frozen(sight)
        yield from cluster_progress.rollout(sight, pool_progress.nodes_ready(sight))


def _control_plane(sight: ClusterSnapshot, goal: Goal) -> Iterator[Finding]:
    """Once there is a control plane, most of what is wrong with the hosted cluster keeps no node from coming."""
    serving = goal in ("ignition", "nodes") and cluster_progress.serves(sight)
    for one in cluster_progress.control_plane(sight):
        yield one.softened() if serving and one.topic not in ENDS_ALL else one


def _nodes(sight: ClusterSnapshot, pools: Collection[str], serving: bool) -> Iterator[Finding]:
    chosen = sorted(pools or sight.pools)
    if not chosen:
        yield finding("node pools", "node pools", "there is none", "grace", "Create one with node_pool.")
    for name in chosen:
        yield from pool_progress.pool_findings(sight, name, serving)


def _pools_of_rollout(sight: ClusterSnapshot, serving: bool) -> Iterator[Finding]:
    """A rollout needs some nodes, from whatever pool: it has no chance only when none can come from any."""
    names = [name for name in sorted(sight.pools) if not pool_progress.is_by_hand(sight, name)]
    chosen = [list(pool_progress.pool_findings(sight, name, serving)) for name in names]
    hopeless = not pool_progress.nodes_ready(sight) and all(map(_is_stuck, chosen))
    for said in chosen:
        yield from (one if hopeless else one.softened() for one in said)


def _is_stuck(said: Iterable[Finding]) -> bool:
    return any(one.meaning.verdict in ("stop", "grace") for one in said)


def _troubles(sight: ClusterSnapshot) -> Iterator[Finding]:
    for number, trouble in enumerate(sight.troubles):
        yield finding(f"trouble {number}", "reading", trouble)
