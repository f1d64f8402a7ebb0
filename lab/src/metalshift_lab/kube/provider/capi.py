# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the provider reads of Cluster API's objects, in both versions of theirs."""

from __future__ import annotations

from metalshift_lab.kube.api import Api, Object, Resource
from metalshift_lab.kube.controller import Mirror

GROUP = "cluster.x-k8s.io"
CLUSTER_NAME = f"{GROUP}/cluster-name"
_CONTROL_PLANE = f"{GROUP}/control-plane"
PAUSED = f"{GROUP}/paused"


def served(api: Api, wished: str) -> str:
    """The version to use: the wished one if the API server has it."""
    versions = [each["version"] for each in api.request("GET", f"/apis/{GROUP}").get("versions", [])]
    return wished if wished in versions else "v1beta1"


def clusters(version: str) -> Resource:
    return Resource(f"{GROUP}/{version}", "clusters")


def machines(version: str) -> Resource:
    return Resource(f"{GROUP}/{version}", "machines")


def owner(body: Object, kind: str) -> str | None:
    """The name of the owner of that kind."""
    for each in body["metadata"].get("ownerReferences", []):
        if each["kind"] == kind and each["apiVersion"].partition("/")[0] == GROUP:
            return str(each["name"])
    return None


def label(body: Object, name: str) -> str | None:
    found = body["metadata"].get("labels", {}).get(name)
    return None if found is None else str(found)


def of_control_plane(body: Object) -> bool:
    return label(body, _CONTROL_PLANE) is not None


def paused(cluster: Object, body: Object) -> bool:
    return bool(cluster["spec"].get("paused")) or PAUSED in body["metadata"].get("annotations", {})


def infrastructure_ready(cluster: Object) -> bool:
    status = cluster.get("status", {})
    return bool(status.get("infrastructureReady") or status.get("initialization", {}).get("infrastructureProvisioned"))


def control_plane_ready(cluster: Object) -> bool:
    status = cluster.get("status", {})
    return bool(status.get("controlPlaneReady") or status.get("initialization", {}).get("controlPlaneInitialized"))


def bootstrap_secret(machine: Object) -> str | None:
    found = machine["spec"].get("bootstrap", {}).get("dataSecretName")
    return None if found is None else str(found)


def infrastructure(body: Object, kind: str) -> str | None:
    """The name that the reference to the infrastructure gives, if it is of that kind."""
    reference = body["spec"].get("infrastructureRef") or {}
    return str(reference["name"]) if reference.get("kind") == kind else None


def of_cluster(mirror: Mirror, namespace: str, cluster: str) -> list[Object]:
    return [body for body in mirror.all(namespace) if label(body, CLUSTER_NAME) == cluster]
