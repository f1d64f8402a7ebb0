# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who else may be in the namespace of a control plane, asked of the management cluster.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.ownership.pure.control_plane_owner import (
    ControlPlaneOwner,
    namesakes,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import control_plane_namespace
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    CLUSTERS,
    CONFIG_MAPS,
    DEPLOYMENTS,
    HOSTED_CLUSTERS,
    HOSTED_CONTROL_PLANES,
    SECRETS,
    SERVICE_ACCOUNTS,
)

if TYPE_CHECKING:
    from ansible_collections.metalshift.maas.plugins.module_utils._kube.client import Kube

# What stays longest in the namespace of a control plane and has its owner written on it.
TELLING = (HOSTED_CONTROL_PLANES, CLUSTERS, DEPLOYMENTS, SERVICE_ACCOUNTS, CONFIG_MAPS, SECRETS)


def namesakes_in(kube: Kube, namespace: str, name: str) -> Sequence[str] | None:
    """The other HostedClusters with the same namespace for their control plane.

    None for a user who may not list the HostedClusters of all namespaces: what is written on the objects tells then.
    """
    try:
        return namesakes(kube.list(HOSTED_CLUSTERS), namespace, name)
    except Failure as failure:
        if failure.kind != "forbidden":
            raise
        return None


def refuse_namesakes(kube: Kube, namespace: str, name: str) -> None:
    """HyperShift would put both control planes into one namespace, and delete it with the first that goes."""
    found = namesakes_in(kube, namespace, name)
    if found is None:
        owner = ControlPlaneOwner(namespace, name)
        found = sorted({*owners_in(kube, owner)} - {owner.label})
    others = " and ".join(found)
    if others:
        place = control_plane_namespace(namespace, name)
        raise Failure(
            "conflict",
            f"HostedCluster {namespace}/{name} cannot be created: its control plane would be in namespace {place}, "
            f"which is that of hosted cluster {others}.",
            object=f"HostedCluster {namespace}/{name}",
            reason=f"namespace {place} is that of {others}",
            hint="Choose another name or namespace.",
        )


def owners_in(kube: Kube, owner: ControlPlaneOwner) -> Collection[str]:
    """The hosted clusters that objects in the namespace of this control plane say they are of."""
    stated: set[str] = set()
    for kind in TELLING:
        try:
            stated.update(owner.stated(body) for body in kube.list(kind, owner.place))
        except Failure as failure:
            if failure.kind not in ("forbidden", "not_found"):
                raise
    return stated - {""}
