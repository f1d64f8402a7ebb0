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
class Kind:
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

HOSTED_CLUSTERS = Kind(_HYPERSHIFT, "HostedCluster", "hostedclusters")
HOSTED_CONTROL_PLANES = Kind(_HYPERSHIFT, "HostedControlPlane", "hostedcontrolplanes")
NODE_POOLS = Kind(_HYPERSHIFT, "NodePool", "nodepools")
CONTROL_PLANE_COMPONENTS = Kind(_HYPERSHIFT, "ControlPlaneComponent", "controlplanecomponents")

CLUSTERS = Kind(_CLUSTER_API, "Cluster", "clusters")
MACHINES = Kind(_CLUSTER_API, "Machine", "machines")
MACHINE_SETS = Kind(_CLUSTER_API, "MachineSet", "machinesets")
MACHINE_DEPLOYMENTS = Kind(_CLUSTER_API, "MachineDeployment", "machinedeployments")
MACHINE_HEALTH_CHECKS = Kind(_CLUSTER_API, "MachineHealthCheck", "machinehealthchecks")

MAAS_CLUSTERS = Kind(_MAAS, "MaasCluster", "maasclusters")
MAAS_MACHINES = Kind(_MAAS, "MaasMachine", "maasmachines")
MAAS_MACHINE_TEMPLATES = Kind(_MAAS, "MaasMachineTemplate", "maasmachinetemplates")

NAMESPACES = Kind("v1", "Namespace", "namespaces", namespaced=False)
NODES = Kind("v1", "Node", "nodes", namespaced=False)
PERSISTENT_VOLUMES = Kind("v1", "PersistentVolume", "persistentvolumes", namespaced=False)
PERSISTENT_VOLUME_CLAIMS = Kind("v1", "PersistentVolumeClaim", "persistentvolumeclaims")
SECRETS = Kind("v1", "Secret", "secrets")
CONFIG_MAPS = Kind("v1", "ConfigMap", "configmaps")
SERVICES = Kind("v1", "Service", "services")
PODS = Kind("v1", "Pod", "pods")
EVENTS = Kind("v1", "Event", "events")
SERVICE_ACCOUNTS = Kind("v1", "ServiceAccount", "serviceaccounts")
LEASES = Kind("coordination.k8s.io/v1", "Lease", "leases")

DEPLOYMENTS = Kind("apps/v1", "Deployment", "deployments")
STATEFUL_SETS = Kind("apps/v1", "StatefulSet", "statefulsets")
STORAGE_CLASSES = Kind("storage.k8s.io/v1", "StorageClass", "storageclasses", namespaced=False)
POD_DISRUPTION_BUDGETS = Kind("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets")
CSRS = Kind("certificates.k8s.io/v1", "CertificateSigningRequest", "certificatesigningrequests", namespaced=False)
CRDS = Kind("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", namespaced=False)
CLUSTER_ROLES = Kind(_RBAC, "ClusterRole", "clusterroles", namespaced=False)
CLUSTER_ROLE_BINDINGS = Kind(_RBAC, "ClusterRoleBinding", "clusterrolebindings", namespaced=False)
ACCESS_REVIEWS = Kind(
    "authorization.k8s.io/v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", namespaced=False
)

CLUSTER_VERSIONS = Kind("config.openshift.io/v1", "ClusterVersion", "clusterversions", namespaced=False)
CLUSTER_OPERATORS = Kind("config.openshift.io/v1", "ClusterOperator", "clusteroperators", namespaced=False)
INGRESS_CONTROLLERS = Kind("operator.openshift.io/v1", "IngressController", "ingresscontrollers")

# The annotation of an object that Cluster API and its providers leave alone.
PAUSED = "cluster.x-k8s.io/paused"
# On a MaasMachine that we have paused because it names a machine of somebody else: which.
NOT_OURS = "metalshift.maas/not-ours"
# On a MaasMachine that we have paused because its deployment was refused and tried again without end: why.
GIVEN_UP = "metalshift.maas/given-up"

_ALL = {(kind.api, kind.name): kind for kind in list(globals().values()) if isinstance(kind, Kind)}


def kind_of(body: Object) -> Kind:
    """The kind of an object that names it itself; one that is not in the list above is a KeyError."""
    return _ALL[body["apiVersion"], body["kind"]]
