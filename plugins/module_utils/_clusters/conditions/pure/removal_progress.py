# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How far the removal of a hosted cluster, or of some of its node pools, is.

No operator says so in one place: what is still there does.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.findings import (
    Finding,
    finding,
    found,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.pool_progress import (
    machine_finding,
    machines_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.table import condition
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import is_paused
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.fields import text
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import Object
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import is_deleted, name_of

PAUSED_HINT = "Un-pause it (spec.pausedUntil): nothing is removed while Cluster API stands still."
OPERATOR_HINT = "When this lasts: look whether the operator runs in namespace hypershift, and in its log."
PLANE_HINT = "When this lasts: look whether control-plane-operator runs in the control plane's namespace."
NAMESPACE_HINT = "When this lasts: kubectl describe namespace says what is left in it."


def is_gone(sight: ClusterSnapshot, pools: Collection[str]) -> bool:
    """Whether nothing is left: of these node pools, or of the whole hosted cluster."""
    if pools:
        return not any(name in sight.pools for name in pools) and not _machines(sight, pools)
    left = (sight.pools, sight.machine_deployments, sight.machine_sets, sight.machines, sight.maas_machines)
    return sight.cluster is None and sight.control_plane is None and not any(left)


def removal(sight: ClusterSnapshot, pools: Collection[str], now: float) -> Iterator[Finding]:
    for name in sorted(pools or sight.pools):
        pool = sight.pools.get(name)
        if pool is not None:
            yield _pool(sight, pool, now)
    for machine in sorted(_machines(sight, pools), key=name_of):
        yield machine_finding(sight, machine)
    if not pools:
        yield from _cluster(sight, now)


def _machines(sight: ClusterSnapshot, pools: Collection[str]) -> list[Object]:
    if not pools:
        return list(sight.machines)
    named = [{"metadata": {"name": name, "namespace": sight.namespace}} for name in pools]
    return [machine for pool in named for machine in machines_of(sight, pool)]


def _pool(sight: ClusterSnapshot, pool: Object, now: float) -> Finding:
    subject = f"node pool {name_of(pool)}"
    left = len(machines_of(sight, pool))
    of_cluster = is_deleted(sight.cluster)
    if not is_deleted(pool):
        if of_cluster:
            return finding(subject, subject, "the operator is about to delete it")
        return finding(subject, subject, "nobody has asked for its end", "grace", "Delete it.")
    if left and is_paused(pool.get("spec"), now):
        return _paused(pool, subject)
    if left:
        return finding(subject, subject, f"{left} {'machine is' if left == 1 else 'machines are'} left")
    return finding(subject, subject, "being removed", hint=OPERATOR_HINT)


def _paused(body: Object, subject: str) -> Finding:
    """A pause without a date does not end by itself."""
    until = text(body, "spec", "pausedUntil")
    if until.lower() == "true":
        return finding(subject, subject, "paused, so its machines are not removed", "stop", PAUSED_HINT)
    return finding(subject, subject, f"paused until {until}, so its machines are not removed", "grace", PAUSED_HINT)


def _cluster(sight: ClusterSnapshot, now: float) -> Iterator[Finding]:
    subject = "hosted cluster"
    cluster = sight.cluster
    if cluster is None:
        if sight.control_plane is not None:
            yield finding("HostedControlPlane", "control plane", "being removed", hint=PLANE_HINT)
        return
    if not is_deleted(cluster):
        yield finding(subject, subject, "nobody has asked for its end", "grace", "Delete it.")
        return
    wrong = found("HostedCluster", cluster, "ReconciliationSucceeded", subject)
    if (
        wrong is not None
        and not wrong.is_fine
        and "failed to delete" in text(condition(cluster, "ReconciliationSucceeded"), "message")
    ):
        yield wrong
        return
    if is_paused(cluster.get("spec"), now) and (sight.machines or sight.maas_machines or sight.machine_deployments):
        yield _paused(cluster, subject)
        return
    yield _step(sight, cluster, subject)


def _step(sight: ClusterSnapshot, cluster: Object, subject: str) -> Finding:
    """The operator removes one after the other, and does not say what it is at."""
    if sight.machines or sight.maas_machines:
        return finding(subject, subject, "waiting for its machines to go")
    if sight.control_plane is not None:
        cleaning = found("HostedCluster", cluster, "CloudResourcesDestroyed", subject)
        if cleaning is not None and text(condition(cluster, "CloudResourcesDestroyed"), "status") == "False":
            return cleaning.called(subject)
        if is_deleted(sight.control_plane):
            return finding(subject, subject, "waiting for its control plane to go", hint=PLANE_HINT)
        return finding(subject, subject, "being removed", hint=OPERATOR_HINT)
    return finding(subject, subject, "waiting for the rest of the control plane's namespace to go", hint=NAMESPACE_HINT)
