# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose an object in the namespace of a control plane is.

HyperShift calls that namespace NAMESPACE-NAME, with dashes for the dots of the name. So `clusters/prod-x` and
`clusters-prod/x` have the same one, and nothing is a cluster's because of where it is: HyperShift writes whose it is.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import (
    OF_CLUSTER,
    OF_HOSTED_CLUSTER,
    OF_NODE_POOL,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import control_plane_namespace
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.fields import text
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    HOSTED_CONTROL_PLANES,
    MAAS_CLUSTERS,
    Object,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import place_of

# They are called as their HostedCluster is.
NAMED_AS_CLUSTER = (HOSTED_CONTROL_PLANES.name, MAAS_CLUSTERS.name)


def namesakes(clusters: Iterable[Object], namespace: str, name: str) -> list[str]:
    """The other HostedClusters whose control planes have the same namespace, as NAMESPACE/NAME."""
    place, own = control_plane_namespace(namespace, name), f"{namespace}/{name}"
    return sorted(
        place_of(body)
        for body in clusters
        if place_of(body) != own
        and control_plane_namespace(text(body, "metadata", "namespace"), text(body, "metadata", "name")) == place
    )


def infrastructures(clusters: Iterable[Object]) -> dict[str, str]:
    """Of Cluster API's Clusters: whose each is, by its name."""
    return {
        text(body, "metadata", "name"): text(body, "metadata", "annotations", OF_HOSTED_CLUSTER) for body in clusters
    }


def clusters_of_pools(pools: Iterable[Object], namespace: str) -> dict[str, str]:
    """The hosted cluster that each NodePool of a namespace is of, by the pool's name."""
    return {
        text(pool, "metadata", "name"): text(pool, "spec", "clusterName")
        for pool in pools
        if text(pool, "metadata", "namespace") == namespace
    }


@dataclass(frozen=True)
class ControlPlaneOwner:
    """One hosted cluster, and what tells its objects from others' in the namespace of its control plane."""

    namespace: str
    name: str
    # The HostedCluster itself, if there is one.
    cluster: Object | None = None
    # The hosted cluster of each NodePool in its namespace.
    pools: Mapping[str, str] = field(default_factory=dict)
    # Whose each Cluster of Cluster API is.
    infras: Mapping[str, str] = field(default_factory=dict)
    # Other HostedClusters with the same namespace for their control plane.
    namesakes: Sequence[str] = ()

    @property
    def label(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def place(self) -> str:
        return control_plane_namespace(self.namespace, self.name)

    def own(self, bodies: Iterable[Object]) -> list[Object]:
        return [body for body in bodies if self.owns(body)]

    def owns(self, body: Object) -> bool:
        """What says nothing goes with its namespace, and that is the HostedCluster's as long as nobody shares it."""
        stated = self.stated(body)
        return stated == self.label if stated else self.cluster is not None and not self.namesakes

    def stated(self, body: Object) -> str:
        """The hosted cluster that the object says it is of, as NAMESPACE/NAME; empty if it says none."""
        return text(body, "metadata", "annotations", OF_HOSTED_CLUSTER) or self._by_name(body) or self._by_pool(body)

    def _by_name(self, body: Object) -> str:
        """With the name of its cluster, the namespace of a control plane leaves no doubt."""
        references = body["metadata"].get("ownerReferences") or ()
        names = [str(one["name"]) for one in references if one.get("kind") == HOSTED_CONTROL_PLANES.name]
        if body.get("kind") in NAMED_AS_CLUSTER:
            names.append(text(body, "metadata", "name"))
        for name in names:
            namespace = self.place.removesuffix(f"-{name.replace('.', '-')}")
            if namespace != self.place:
                return f"{namespace}/{name}"
        return ""

    def _by_pool(self, body: Object) -> str:
        namespace, _slash, pool = text(body, "metadata", "annotations", OF_NODE_POOL).rpartition("/")
        if namespace == self.namespace and pool in self.pools:
            return f"{namespace}/{self.pools[pool]}"
        if infra := self._by_infrastructure(body):
            return infra
        if namespace == self.namespace:
            # Two names in one namespace that differ in a dot.
            doubtful = any(one.startswith(f"{namespace}/") for one in self.namesakes)
            return "" if doubtful else self.label
        return f"{namespace}/{self.place.removeprefix(f'{namespace}-')}" if namespace else ""

    def _by_infrastructure(self, body: Object) -> str:
        infra = text(body, "metadata", "labels", OF_CLUSTER) or text(body, "spec", "clusterName")
        if infra and infra == text(self.cluster, "spec", "infraID"):
            return self.label
        return self.infras.get(infra, "")
