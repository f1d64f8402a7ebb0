# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of Kubernetes objects that the collection reads and writes.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]
Objects = list[Object]


@dataclass(frozen=True)
class ObjectKind:
    """One kind of object: its API version, its name in manifests, and its name in paths."""

    api: str
    name: str
    plural: str
    namespaced: bool = True

    @property
    def group(self) -> str:
        """The API group; empty for the core's."""
        return self.api.rpartition("/")[0]

    @property
    def resource(self) -> str:
        """As it is called in roles and messages of the API: `nodepools.hypershift.openshift.io`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The path of the collection, of one object, or of a part of it."""
        base = f"/apis/{self.api}" if self.group else f"/api/{self.api}"
        place = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        rest = "/".join(part for part in (self.plural, name, subresource) if part)
        return f"{base}{place}/{rest}"

    def __str__(self) -> str:
        return self.name


_HYPERSHIFT = "hypershift.openshift.io/v1beta1"
_CLUSTER_API = "cluster.x-k8s.io/v1beta1"
_MAAS = "infrastructure.cluster.x-k8s.io/v1beta1"
_RBAC = "rbac.authorization.k8s.io/v1"

HOSTED_CLUSTERS = ObjectKind(_HYPERSHIFT, "HostedCluster", "hostedclusters")
HOSTED_CONTROL_PLANES = ObjectKind(_HYPERSHIFT, "HostedControlPlane", "hostedcontrolplanes")
NODE_POOLS = ObjectKind(_HYPERSHIFT, "NodePool", "nodepools")

CLUSTERS = ObjectKind(_CLUSTER_API, "Cluster", "clusters")
MACHINES = ObjectKind(_CLUSTER_API, "Machine", "machines")
MACHINE_SETS = ObjectKind(_CLUSTER_API, "MachineSet", "machinesets")
MACHINE_DEPLOYMENTS = ObjectKind(_CLUSTER_API, "MachineDeployment", "machinedeployments")

MAAS_CLUSTERS = ObjectKind(_MAAS, "MaasCluster", "maasclusters")
MAAS_MACHINES = ObjectKind(_MAAS, "MaasMachine", "maasmachines")

NAMESPACES = ObjectKind("v1", "Namespace", "namespaces", namespaced=False)
NODES = ObjectKind("v1", "Node", "nodes", namespaced=False)
PERSISTENT_VOLUMES = ObjectKind("v1", "PersistentVolume", "persistentvolumes", namespaced=False)
PERSISTENT_VOLUME_CLAIMS = ObjectKind("v1", "PersistentVolumeClaim", "persistentvolumeclaims")
SECRETS = ObjectKind("v1", "Secret", "secrets")
CONFIG_MAPS = ObjectKind("v1", "ConfigMap", "configmaps")
SERVICES = ObjectKind("v1", "Service", "services")
PODS = ObjectKind("v1", "Pod", "pods")
EVENTS = ObjectKind("v1", "Event", "events")
SERVICE_ACCOUNTS = ObjectKind("v1", "ServiceAccount", "serviceaccounts")
LEASES = ObjectKind("coordination.k8s.io/v1", "Lease", "leases")

DEPLOYMENTS = ObjectKind("apps/v1", "Deployment", "deployments")
STATEFUL_SETS = ObjectKind("apps/v1", "StatefulSet", "statefulsets")
STORAGE_CLASSES = ObjectKind("storage.k8s.io/v1", "StorageClass", "storageclasses", namespaced=False)
CSRS = ObjectKind("certificates.k8s.io/v1", "CertificateSigningRequest", "certificatesigningrequests", namespaced=False)
CRDS = ObjectKind("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", namespaced=False)
CLUSTER_ROLES = ObjectKind(_RBAC, "ClusterRole", "clusterroles", namespaced=False)
CLUSTER_ROLE_BINDINGS = ObjectKind(_RBAC, "ClusterRoleBinding", "clusterrolebindings", namespaced=False)
ACCESS_REVIEWS = ObjectKind(
    "authorization.k8s.io/v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", namespaced=False
)

CLUSTER_OPERATORS = ObjectKind("config.openshift.io/v1", "ClusterOperator", "clusteroperators", namespaced=False)
INGRESS_CONTROLLERS = ObjectKind("operator.openshift.io/v1", "IngressController", "ingresscontrollers")


_ALL = {(kind.api, kind.name): kind for kind in list(globals().values()) if isinstance(kind, ObjectKind)}


def kind_of(body: Object) -> ObjectKind:
    """The kind of an object that names it itself; one that is not in the list above is a KeyError."""
    return _ALL[body["apiVersion"], body["kind"]]
