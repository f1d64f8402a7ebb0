# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What OpenShift's operators put into a hosted cluster, as far as users and verifications read it."""

from __future__ import annotations

import secrets
import string
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from metalshift_lab.kube.api import CLUSTER_ROLE_BINDINGS, CONFIG_MAPS, NAMESPACES, SECRETS, Object, Resource

CONFIG, OPERATOR = "config.openshift.io/v1", "operator.openshift.io/v1"
CLUSTER_VERSIONS = Resource(CONFIG, "clusterversions")
CLUSTER_OPERATORS = Resource(CONFIG, "clusteroperators")
INGRESS_CONTROLLERS = Resource(OPERATOR, "ingresscontrollers")
ROLE_BINDINGS = Resource("rbac.authorization.k8s.io/v1", "rolebindings")
RBAC = "rbac.authorization.k8s.io"

# The bootstrap user's name is that of a ServiceAccount, but it comes with a certificate.
BOOTSTRAPPER = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper"
RENEWAL = "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient"
INGRESS_NAMESPACE, ROUTER = "openshift-ingress", "router-default"
LOAD_BALANCER = "LoadBalancerService"

NAMESPACE_NAMES = (
    "openshift",
    "openshift-apiserver",
    "openshift-authentication",
    "openshift-config",
    "openshift-config-managed",
    "openshift-console",
    "openshift-controller-manager",
    "openshift-dns",
    "openshift-etcd",
    "openshift-image-registry",
    "openshift-infra",
    INGRESS_NAMESPACE,
    "openshift-ingress-operator",
    "openshift-kube-apiserver",
    "openshift-kube-controller-manager",
    "openshift-kube-scheduler",
    "openshift-machine-config-operator",
    "openshift-monitoring",
    "openshift-network-operator",
    "openshift-node",
    "openshift-operators",
    "openshift-ovn-kubernetes",
    "openshift-route-controller-manager",
)
PRIVILEGED = {f"pod-security.kubernetes.io/{mode}": "privileged" for mode in ("enforce", "audit", "warn")}


# OpenShift's API knows no platform MAAS.
REFUSED = "MAAS"
REFUSAL = (
    'Infrastructure.config.openshift.io "cluster" is invalid: spec.platformSpec.type: Unsupported value: "MAAS": '
    'supported values: "", "AWS", …'
)


def platform_of(config_map: Object | None) -> str:
    """The platform that the control-plane operator gives to the machine config server; None where it says nothing."""
    manifest = (config_map or {}).get("data", {}).get("cluster-infrastructure-02-config.yaml", "")
    found = yaml.safe_load(manifest) or {}
    return str(((found.get("spec") or {}).get("platformSpec") or {}).get("type") or "None")


@dataclass(frozen=True)
class Kind:
    """A kind of OpenShift's, of which the lab knows no more than its name."""

    api: str
    kind: str
    plural: str
    namespaced: bool = False
    status: bool = False
    columns: tuple[tuple[str, str], ...] = ()
    short: str = ""

    @property
    def resource(self) -> Resource:
        return Resource(self.api, self.plural)

    def definition(self) -> Object:
        group, _slash, version = self.api.partition("/")
        names: Object = {"kind": self.kind, "listKind": f"{self.kind}List", "plural": self.plural}
        names |= {"singular": self.kind.lower(), "shortNames": [self.short] if self.short else []}
        served: Object = {
            "name": version,
            "served": True,
            "storage": True,
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            "additionalPrinterColumns": [
                {"name": name, "type": "string", "jsonPath": path} for name, path in self.columns
            ],
        }
        if self.status:
            served["subresources"] = {"status": {}}
        return {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{self.plural}.{group}"},
            "spec": {
                "group": group,
                "names": names,
                "scope": "Namespaced" if self.namespaced else "Cluster",
                "versions": [served],
            },
        }


def _says(kind: str, field: str = "status") -> str:
    return f'.status.conditions[?(@.type=="{kind}")].{field}'


KINDS = (
    Kind(
        CONFIG,
        "ClusterVersion",
        "clusterversions",
        status=True,
        columns=(
            ("Version", '.status.history[?(@.state=="Completed")].version'),
            ("Available", _says("Available")),
            ("Progressing", _says("Progressing")),
            ("Status", _says("Progressing", "message")),
        ),
    ),
    Kind(
        CONFIG,
        "ClusterOperator",
        "clusteroperators",
        status=True,
        short="co",
        columns=(
            ("Version", '.status.versions[?(@.name=="operator")].version'),
            ("Available", _says("Available")),
            ("Progressing", _says("Progressing")),
            ("Degraded", _says("Degraded")),
            ("Message", _says("Available", "message")),
        ),
    ),
    Kind(CONFIG, "Infrastructure", "infrastructures"),
    Kind(CONFIG, "Ingress", "ingresses"),
    Kind(CONFIG, "DNS", "dnses"),
    Kind(CONFIG, "Network", "networks"),
    Kind(CONFIG, "Proxy", "proxies"),
    Kind(OPERATOR, "IngressController", "ingresscontrollers", namespaced=True),
    Kind("imageregistry.operator.openshift.io/v1", "Config", "configs"),
)


@dataclass(frozen=True)
class Wanted:
    """An object of the hosted cluster. What is made once is left to its users then."""

    resource: Resource
    body: Object
    once: bool = False

    @property
    def key(self) -> str:
        meta = self.body["metadata"]
        return f"{self.resource} {meta.get('namespace', '')}/{meta['name']}"


def base_domain(control_plane: Object) -> str:
    dns = control_plane["spec"].get("dns") or {}
    prefix = dns.get("baseDomainPrefix", control_plane["metadata"]["name"])
    return ".".join(part for part in (prefix, dns.get("baseDomain", "")) if part)


def apps_domain(control_plane: Object) -> str:
    ingress = (control_plane["spec"].get("configuration") or {}).get("ingress") or {}
    return str(ingress.get("appsDomain") or ingress.get("domain") or f"apps.{base_domain(control_plane)}")


def replicas(control_plane: Object) -> int:
    """The nodes that the infrastructure of applications wants to be spread over."""
    return 2 if control_plane["spec"].get("infrastructureAvailabilityPolicy") == "HighlyAvailable" else 1


def bootstrap_objects() -> Iterator[Wanted]:
    """Without these no machine can join."""
    yield _binding("create-csrs-for-bootstrapping", "system:node-bootstrapper", "User", BOOTSTRAPPER)
    yield _binding("system-bootstrap-node-renewal", RENEWAL, "Group", "system:nodes")
    role = {"apiGroup": RBAC, "kind": "Role", "name": "extension-apiserver-authentication-reader"}
    body = _object(f"{RBAC}/v1", "RoleBinding", "authentication-reader-for-authenticated-users", "kube-system")
    subjects = [{"apiGroup": RBAC, "kind": "Group", "name": "system:authenticated"}]
    yield Wanted(ROLE_BINDINGS, {**body, "roleRef": role, "subjects": subjects})


def namespaces() -> Iterator[Wanted]:
    labels = {
        "openshift-infra": PRIVILEGED,
        "openshift-kube-apiserver": {"openshift.io/cluster-monitoring": "true"},
        INGRESS_NAMESPACE: {"network.openshift.io/policy-group": "ingress", "openshift.io/cluster-monitoring": "true"},
    }
    for name in NAMESPACE_NAMES:
        body = _object("v1", "Namespace", name)
        body["metadata"]["labels"] = labels.get(name, {})
        yield Wanted(NAMESPACES, body)


def configuration(control_plane: Object, platform: str = "None") -> Iterator[Wanted]:
    """The cluster's configuration as the hosted-cluster-config-operator derives it.

    `platform` is what the control-plane operator has said; OpenShift's API refuses one that it does not know.
    """
    spec, endpoint = control_plane["spec"], control_plane.get("status", {}).get("controlPlaneEndpoint") or {}
    domain, count = base_domain(control_plane), replicas(control_plane)
    url = f"https://{endpoint.get('host', '')}:{endpoint.get('port', 0)}"
    outside = spec.get("kubeAPIServerDNSName")
    networking = spec.get("networking") or {}
    if platform != REFUSED:
        yield _config(
            "Infrastructure",
            "infrastructures",
            {"platformSpec": {"type": platform}},
            {
                "infrastructureName": spec.get("infraID", ""),
                "platform": platform,
                "platformStatus": {"type": platform},
                "controlPlaneTopology": "External",
                "infrastructureTopology": "HighlyAvailable" if count == 2 else "SingleReplica",
                "apiServerURL": f"https://{outside}:{endpoint.get('port', 0)}" if outside else url,
                "apiServerInternalURL": url,
                "etcdDiscoveryDomain": domain,
            },
        )
    yield _config("Ingress", "ingresses", {"domain": apps_domain(control_plane)})
    yield _config("DNS", "dnses", {"baseDomain": domain})
    networks = {
        "clusterNetwork": [
            {"cidr": each["cidr"], "hostPrefix": each.get("hostPrefix") or (64 if ":" in each["cidr"] else 23)}
            for each in networking.get("clusterNetwork", [])
        ],
        "serviceNetwork": [each["cidr"] for each in networking.get("serviceNetwork", [])],
        "networkType": networking.get("networkType", "OVNKubernetes"),
    }
    yield _config("Network", "networks", networks, networks)
    yield _config("Proxy", "proxies", (spec.get("configuration") or {}).get("proxy") or {})
    strategy = LOAD_BALANCER if spec["platform"]["type"] == "MAAS" else "HostNetwork"
    router = _object(OPERATOR, "IngressController", "default", "openshift-ingress-operator")
    router["spec"] = {
        "domain": apps_domain(control_plane),
        "replicas": count,
        "endpointPublishingStrategy": {"type": strategy},
        "defaultCertificate": {"name": "default-ingress-cert"},
    }
    yield Wanted(INGRESS_CONTROLLERS, router, once=True)
    registry = _object("imageregistry.operator.openshift.io/v1", "Config", "cluster")
    registry["spec"] = {"managementState": "Managed", "replicas": count, "storage": {"emptyDir": {}}}
    yield Wanted(Resource("imageregistry.operator.openshift.io/v1", "configs"), registry, once=True)


def installation(version: str) -> Wanted:
    body = _object("v1", "ConfigMap", "openshift-install", "openshift-config")
    return Wanted(CONFIG_MAPS, {**body, "data": {"invoker": "hypershift", "version": version}}, once=True)


def pull_secrets(content: str) -> Iterator[Wanted]:
    for namespace in ("openshift-config", "openshift"):
        body = _object("v1", "Secret", "pull-secret", namespace)
        data = {".dockerconfigjson": content}
        yield Wanted(SECRETS, {**body, "type": "kubernetes.io/dockerconfigjson", "data": data})


def administrator() -> Wanted:
    """The user kubeadmin. Nobody can log in here, so the hash is only one in shape."""
    letters = string.ascii_letters + string.digits + "./"
    body = _object("v1", "Secret", "kubeadmin", "kube-system")
    made = "$2a$10$" + "".join(secrets.choice(letters) for _letter in range(53))
    return Wanted(SECRETS, {**body, "stringData": {"kubeadmin": made}}, once=True)


def cluster_version(control_plane: Object) -> Object:
    spec = control_plane["spec"]
    body = _object(CONFIG, "ClusterVersion", "version")
    capabilities = {"baselineCapabilitySet": "None", "additionalEnabledCapabilities": enabled(control_plane)}
    body["spec"] = {"clusterID": spec.get("clusterID", ""), "capabilities": capabilities}
    if spec.get("channel"):
        body["spec"]["channel"] = spec["channel"]
    if spec.get("updateService"):
        body["spec"]["upstream"] = spec["updateService"]
    return body


def cluster_operator(name: str) -> Object:
    return {**_object(CONFIG, "ClusterOperator", name), "spec": {}}


ALL_CAPABILITIES = frozenset(
    {
        "Build",
        "CSISnapshot",
        "CloudControllerManager",
        "CloudCredential",
        "Console",
        "DeploymentConfig",
        "ImageRegistry",
        "Ingress",
        "Insights",
        "MachineAPI",
        "NodeTuning",
        "OperatorLifecycleManager",
        "OperatorLifecycleManagerV1",
        "Storage",
        "marketplace",
        "openshift-samples",
    }
)


def disabled(control_plane: Object) -> frozenset[str]:
    return frozenset((control_plane["spec"].get("capabilities") or {}).get("disabled") or ())


def enabled(control_plane: Object) -> list[str]:
    more = (control_plane["spec"].get("capabilities") or {}).get("enabled") or ()
    return sorted((ALL_CAPABILITIES - disabled(control_plane)) | set(more))


def router_service() -> Object:
    body = _object("v1", "Service", ROUTER, INGRESS_NAMESPACE)
    wanted = (("http", 80), ("https", 443))
    ports = [{"name": name, "port": port, "protocol": "TCP", "targetPort": name} for name, port in wanted]
    label = "ingresscontroller.operator.openshift.io/deployment-ingresscontroller"
    body["spec"] = {"type": "LoadBalancer", "ports": ports, "selector": {label: "default"}}
    return body


def _object(api: str, kind: str, name: str, namespace: str = "") -> Object:
    meta = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"apiVersion": api, "kind": kind, "metadata": meta}


def _config(kind: str, plural: str, spec: Object, status: Object | None = None) -> Wanted:
    body = {**_object(CONFIG, kind, "cluster"), "spec": spec}
    return Wanted(Resource(CONFIG, plural), {**body, "status": status} if status else body)


def _binding(name: str, role: str, kind: str, subject: str) -> Wanted:
    return Wanted(
        CLUSTER_ROLE_BINDINGS,
        {
            **_object(f"{RBAC}/v1", "ClusterRoleBinding", name),
            "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": RBAC, "kind": kind, "name": subject}],
        },
    )
