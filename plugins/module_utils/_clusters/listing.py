# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is there of hosted clusters, read with few requests: one list of each kind, however many clusters are asked for.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import base64
import binascii
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates.approval import MAAS_KNOWS, look
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates.pure.judgement import CsrVerdict
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.diagnosis.infrastructure import (
    CONFIG_MAP,
    platform_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.ownership.pure.control_plane_owner import (
    ControlPlaneOwner,
    clusters_of_pools,
    namesakes,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import has_maas
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.provider_id import system_id_of
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import (
    ClusterSnapshot,
    control_plane_namespace,
)
from ansible_collections.metalshift.maas.plugins.module_utils._core.parallel import READS_AT_ONCE, each
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import PASSING, Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._kube.kubeconfig import Published, refused
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    CONFIG_MAPS,
    CSRS,
    HOSTED_CLUSTERS,
    HOSTED_CONTROL_PLANES,
    MAAS_MACHINES,
    MACHINE_DEPLOYMENTS,
    MACHINE_SETS,
    MACHINES,
    NODE_POOLS,
    NODES,
    SECRETS,
    Object,
    ObjectKind,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import name_of, namespace_of
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine

if TYPE_CHECKING:
    from ansible_collections.metalshift.maas.plugins.module_utils._kube.client import Kube

# What a control plane's namespace holds of a cluster, under the name that a Sight has for it.
WITHIN: Mapping[str, ObjectKind] = {
    "machine_deployments": MACHINE_DEPLOYMENTS,
    "machine_sets": MACHINE_SETS,
    "machines": MACHINES,
    "maas_machines": MAAS_MACHINES,
}
# All that can be left out of a look.
KINDS: Mapping[str, ObjectKind] = {"control_plane": HOSTED_CONTROL_PLANES, **WITHIN}
PARTS = frozenset(KINDS)
# The API of a hosted cluster that does not answer is told as a trouble; nobody waits for it as for one that must.
HOSTED_READ_TIMEOUT = 8.0


@dataclass(frozen=True)
class Listed:
    """The objects of one kind, or the sentence that says why they could not be read."""

    items: Sequence[Object] = ()
    trouble: str = ""


# -- the management cluster ----------------------------------------------------------------------------------------


def sight(
    kube: Kube, namespace: str, name: str, parts: Collection[str] = PARTS, *, may_lack: bool = False
) -> ClusterSnapshot:
    """What is known of one hosted cluster. There may be none: `cluster` is None then, and what is left of it shows.

    It `may_lack` the kinds in check mode, where an earlier task of the play may be the one that installs HyperShift.
    """
    cluster = kube.get(HOSTED_CLUSTERS, name, namespace)
    if cluster is None and not may_lack:
        must_serve_hosted_clusters(kube)
    return _whole(kube, namespace, name, cluster, parts)


def sights(
    kube: Kube, namespace: str = "", parts: Collection[str] = PARTS, *, may_lack: bool = False
) -> list[ClusterSnapshot]:
    """All hosted clusters of a namespace, or of all; also those of which nothing but node pools is left."""
    clusters = kube.list(HOSTED_CLUSTERS, namespace)
    if not clusters and not may_lack:
        must_serve_hosted_clusters(kube)
    pools = _listed(kube, NODE_POOLS, [namespace])
    named = {(namespace_of(body), name_of(body)): body for body in clusters}
    wanted = sorted({*named, *((namespace_of(pool), _cluster_of(pool)) for pool in pools.items)})
    if len(wanted) == 1:
        return [_whole(kube, *wanted[0], named.get(wanted[0]), parts, pools)]
    places = [control_plane_namespace(*key) for key in wanted]
    kinds = {part: kind for part, kind in KINDS.items() if wanted and part in parts}
    found = dict(answers(kinds, lambda part: _listed_everywhere(kube, kinds[part], places)))
    by_place = {part: _by_place(listed.items) for part, listed in found.items()}
    troubles = _troubles(pools, *found.values())
    return [
        _sight(
            *key,
            named.get(key),
            pools.items,
            {part: bodies.get(control_plane_namespace(*key), []) for part, bodies in by_place.items()},
            troubles,
            namesakes(clusters, *key),
        )
        for key in wanted
    ]


def must_serve_hosted_clusters(kube: Kube) -> None:
    """Tell "no hosted clusters" from "HyperShift is not installed"."""
    if not kube.serves(HOSTED_CLUSTERS):
        raise Failure(
            "unsupported",
            f"The cluster at {kube.server} does not know HostedClusters: the HyperShift operator is not installed.",
            object=kube.server,
            reason=f"{HOSTED_CLUSTERS.resource} is not served",
            hint="Install it with the role metalshift.maas.hypershift_operator, or name the management cluster with "
            "kubeconfig and context.",
        )


def _whole(
    kube: Kube, namespace: str, name: str, cluster: Object | None, parts: Collection[str], pools: Listed | None = None
) -> ClusterSnapshot:
    inner = control_plane_namespace(namespace, name)
    looks = {part: look_of(kube, kind, inner) for part, kind in WITHIN.items() if part in parts}
    if "control_plane" in parts:
        looks["control_plane"] = lambda: single(kube, HOSTED_CONTROL_PLANES, name, inner)
    if pools is None:
        looks["pools"] = look_of(kube, NODE_POOLS, namespace)
    found = dict(answers(looks, lambda part: looks[part]()))
    own_pools = found.pop("pools", pools) or Listed()
    items = {part: listed.items for part, listed in found.items()}
    return _sight(namespace, name, cluster, own_pools.items, items, _troubles(own_pools, *found.values()))


def _sight(
    namespace: str,
    name: str,
    cluster: Object | None,
    pools: Sequence[Object],
    items: Mapping[str, Sequence[Object]],
    troubles: Sequence[str],
    others: Sequence[str] = (),
) -> ClusterSnapshot:
    owner = ControlPlaneOwner(namespace, name, cluster, clusters_of_pools(pools, namespace), namesakes=others)
    within: Mapping[str, Any] = {part: owner.own(items.get(part, ())) for part in WITHIN}
    return ClusterSnapshot(
        namespace=namespace,
        name=name,
        cluster=cluster,
        control_plane=_named(items.get("control_plane", ()), name),
        pools=_pools(pools, namespace, name),
        **within,
        troubles=troubles,
    )


def look_of(kube: Kube, kind: ObjectKind, namespace: str) -> Callable[[], Listed]:
    return lambda: _listed(kube, kind, [namespace])


def single(kube: Kube, kind: ObjectKind, name: str, namespace: str) -> Listed:
    try:
        body = kube.get(kind, name, namespace)
    except Failure as failure:
        return Listed(trouble=could_not_read(f"{kind.name} {f'{namespace}/' if namespace else ''}{name}", failure))
    return Listed([body] if body else [])


def _listed_everywhere(kube: Kube, kind: ObjectKind, places: Sequence[str]) -> Listed:
    """In one request; namespace by namespace for a user who may not look into all."""
    try:
        return Listed(kube.list(kind))
    except Failure as failure:
        if failure.kind != "forbidden":
            return Listed(trouble=could_not_read(f"the {kind.plural}", failure))
    return _listed(kube, kind, places)


def _listed(kube: Kube, kind: ObjectKind, places: Iterable[str]) -> Listed:
    """The objects of a kind in some namespaces."""
    items: list[Object] = []
    troubles = []
    for namespace in places:
        try:
            items += kube.list(kind, namespace)
        except Failure as failure:
            troubles.append(could_not_read(f"the {kind.plural} in {namespace or 'all namespaces'}", failure))
    return Listed(items, " ".join(troubles))


def could_not_read(what: str, failure: Failure) -> str:
    """A trouble, as a sentence."""
    return f"Could not read {what}: {(failure.reason or failure.message).rstrip('.')}."


def answers(keys: Iterable[str], look: Callable[[str], Listed]) -> Iterable[tuple[str, Listed]]:
    for key, answer in each(keys, look, READS_AT_ONCE):
        if isinstance(answer, Failure):
            raise answer
        yield key, answer


def _troubles(*listed: Listed) -> list[str]:
    return [one.trouble for one in listed if one.trouble]


def _by_place(items: Iterable[Object]) -> Mapping[str, list[Object]]:
    found: dict[str, list[Object]] = defaultdict(list)
    for body in items:
        found[namespace_of(body)].append(body)
    return found


def _named(items: Iterable[Object], name: str) -> Object | None:
    return next((body for body in items if name_of(body) == name), None)


def _pools(items: Iterable[Object], namespace: str, cluster: str) -> dict[str, Object]:
    own = [body for body in items if namespace_of(body) == namespace and _cluster_of(body) == cluster]
    return {name_of(body): body for body in sorted(own, key=name_of)}


def _cluster_of(pool: Object) -> str:
    return str(pool.get("spec", {}).get("clusterName", ""))


# -- hosted clusters themselves -------------------------------------------------------------------------------------


def kubeconfig_of(kube: Kube, seen: ClusterSnapshot) -> Published | None:
    """The administrator's kubeconfig that a hosted cluster publishes; None as long as there is none.

    A Secret is written by whoever may write Secrets there: what it says is taken as data, and only for the address that
    the HostedCluster itself publishes.
    """
    status = (seen.cluster or {}).get("status") or {}
    name = (status.get("kubeconfig") or {}).get("name")
    secret = kube.get(SECRETS, name, seen.namespace) if name else None
    encoded = ((secret or {}).get("data") or {}).get("kubeconfig", "")
    if not encoded:
        return None
    label = f"the kubeconfig in the Secret {seen.namespace}/{name}"
    try:
        content = base64.b64decode(encoded, validate=True)
    except binascii.Error:
        raise refused(label, "it is not in base64") from None
    published = Published.read(content, label)
    endpoint = status.get("controlPlaneEndpoint") or {}
    if not published.is_at(str(endpoint.get("host") or ""), int(endpoint.get("port") or 0)):
        raise refused(label, f"its server is not the address that the HostedCluster {seen.label} publishes")
    return published


def with_platforms(kube: Kube, seen: Sequence[ClusterSnapshot]) -> tuple[list[ClusterSnapshot], dict[str, str]]:
    """What the control-plane operator of each writes into its Infrastructure; what may not be read is a trouble."""
    found, after = {}, []
    for one in seen:
        listed = single(kube, CONFIG_MAPS, CONFIG_MAP, one.control_plane_namespace)
        found[one.label] = platform_of(next(iter(listed.items), None))
        after.append(replace(one, troubles=[*one.troubles, *_troubles(listed)]))
    return after, found


def hosted_api(task: Task, seen: ClusterSnapshot) -> Kube | None:
    """The API of a hosted cluster, its requests counted as the task's; None as long as no kubeconfig is published."""
    published = kubeconfig_of(task.kube, seen)
    if published is None:
        return None
    from ansible_collections.metalshift.maas.plugins.module_utils._kube.client import Kube

    return task.joined(
        Kube.from_kubeconfig(published, clock=task.clock, read_timeout=HOSTED_READ_TIMEOUT, deadline=task.deadline)
    )


def with_hosted(task: Task, seen: ClusterSnapshot, *, nodes: bool = True, requests: bool = True) -> ClusterSnapshot:
    """The same sight with what the hosted API says; one that cannot be asked is a trouble, not a failure."""
    if seen.cluster is None:
        return seen
    try:
        hosted = hosted_api(task, seen)
        if hosted is None:
            return replace(seen, troubles=[*seen.troubles, f"{seen.label} has not published a kubeconfig yet."])
        found_nodes = hosted.list(NODES) if nodes else None
        found_requests = hosted.list(CSRS) if requests else None
    except Failure as failure:
        trouble = could_not_read(f"what the hosted API of {seen.label} says", failure)
        return replace(seen, troubles=[*seen.troubles, trouble])
    return replace(seen, nodes=found_nodes, requests=found_requests)


def all_with_hosted(
    task: Task, seen: Sequence[ClusterSnapshot], *, nodes: bool, requests: bool
) -> list[ClusterSnapshot]:
    """The same for many clusters, a few at a time."""
    found: dict[str, ClusterSnapshot] = {}
    for before, after in each(seen, lambda one: with_hosted(task, one, nodes=nodes, requests=requests), READS_AT_ONCE):
        if isinstance(after, Failure):
            raise after
        found[before.label] = after
    return [found[one.label] for one in seen]


# -- MAAS -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class InMaas:
    """The machines of MAAS that were asked for, by system_id; `trouble` says why they could not be read."""

    machines: Mapping[str, Machine]
    trouble: str = ""
    # The kind of the failure.
    kind: str = ""


def machines_in_maas(
    task: Task, seen: Iterable[ClusterSnapshot], tolerated: Collection[str] = PASSING
) -> InMaas | None:
    """The machines behind all MaasMachines, a hundred a request; None for a task that does not speak of a MAAS.

    A MAAS that is down is a trouble, as is whatever kind of failure is tolerated; any other is the task's.
    """
    if not has_maas(task.params):
        return None
    ids = {system_id for one in seen for body in one.maas_machines if (system_id := system_id_of(body))}
    try:
        return InMaas(Machines(task.maas).read(ids))
    except Failure as failure:
        if failure.kind not in tolerated:
            raise
        return InMaas({}, could_not_read("the machines from MAAS", failure), failure.kind)


def verdicts(seen: Iterable[ClusterSnapshot], in_maas: InMaas | None) -> dict[str, list[CsrVerdict]]:
    """Of each cluster, what is to become of the certificate requests that wait, and why."""
    found = {}
    for one in seen:
        known = in_maas.machines if in_maas else {}
        judged = look(one, known)
        if in_maas is None or in_maas.trouble:
            says = (in_maas.trouble if in_maas else "") or "The task does not say how MAAS is reached."
            judged = [
                verdict.refused("maas_unavailable", says) if verdict.reason in MAAS_KNOWS else verdict
                for verdict in judged
            ]
        found[one.label] = judged
    return found
