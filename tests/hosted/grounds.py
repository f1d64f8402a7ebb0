# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What modules find on an API server without operators: it is also the API of the hosted cluster `demo`."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates.pure.judgement import (
    BOOTSTRAP_GROUPS,
    BOOTSTRAP_USER,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.client import Kube
from ansible_collections.metalshift.maas.plugins.module_utils._kube.connection import Access
from ansible_collections.metalshift.maas.plugins.module_utils._kube.kubeconfig import Published
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    CSRS,
    HOSTED_CLUSTERS,
    INGRESS_CONTROLLERS,
    MAAS_MACHINES,
    MACHINES,
    NAMESPACES,
    SECRETS,
    ObjectKind,
)
from metalshift_lab.simulator import Simulator
from unit.kube.pem import signing_request

INNER, INGRESS = "clusters-demo", "openshift-ingress-operator"
KUBECONFIG = "demo-admin-kubeconfig"
REQUEST, ASKING = "csr-of-worker-1", "kubelets-ask"
RBAC = "rbac.authorization.k8s.io"
ROLES = ObjectKind(f"{RBAC}/v1", "ClusterRole", "clusterroles", namespaced=False)
BINDINGS = ObjectKind(f"{RBAC}/v1", "ClusterRoleBinding", "clusterrolebindings", namespaced=False)
# OpenShift's own is in no manifest that the lab has; what the modules write is spec.endpointPublishingStrategy.
INGRESS_KIND: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "ingresscontrollers.operator.openshift.io"},
    "spec": {
        "group": "operator.openshift.io",
        "scope": "Namespaced",
        "names": {"kind": "IngressController", "plural": "ingresscontrollers"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                },
            }
        ],
    },
}


def body_of(kind: ObjectKind, name: str, namespace: str = "", **content: Any) -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": kind.api, "kind": kind.name, "metadata": metadata, **content}


def be_there(kube: Kube, namespace: str) -> None:
    if kube.get(NAMESPACES, namespace) is None:
        kube.create(body_of(NAMESPACES, namespace))


def a_published_kubeconfig(kube: Kube, _sim: Simulator, kubeconfig: str) -> None:
    text = Path(kubeconfig).read_bytes()
    kube.create(
        body_of(SECRETS, KUBECONFIG, "clusters", data={"kubeconfig": base64.b64encode(text).decode()}),
    )
    server = urlsplit(Published.read(text).server)
    endpoint = {"host": server.hostname, "port": server.port}
    status = {"status": {"kubeconfig": {"name": KUBECONFIG}, "controlPlaneEndpoint": endpoint, "conditions": []}}
    kube.patch(HOSTED_CLUSTERS, "demo", "clusters", status, subresource="status")


def an_ingress_controller(kube: Kube, sim: Simulator, kubeconfig: str) -> None:
    a_published_kubeconfig(kube, sim, kubeconfig)
    be_there(kube, INGRESS)
    strategy = {"endpointPublishingStrategy": {"type": "LoadBalancerService"}, "domain": "apps.demo.lab.example"}
    kube.create(body_of(INGRESS_CONTROLLERS, "default", INGRESS, spec=strategy))


def a_machine_of_cluster_api(kube: Kube, name: str, system_id: str) -> None:
    be_there(kube, INNER)
    reference = {"apiVersion": MAAS_MACHINES.api, "kind": MAAS_MACHINES.name, "name": name, "namespace": INNER}
    spec = {"clusterName": "demo", "bootstrap": {"dataSecretName": "x"}, "infrastructureRef": reference}
    kube.create(body_of(MACHINES, name, INNER, spec=spec))
    taken = {"providerID": f"maas:///az1/{system_id}", "minCPU": 1, "minMemory": 1024, "image": "custom/rhcos"}
    kube.create(body_of(MAAS_MACHINES, name, INNER, spec=taken))


def machines_of_cluster_api(kube: Kube, _sim: Simulator, _kubeconfig: str) -> None:
    for name, system_id in (("w-1", "abc123"), ("w-2", "def456"), ("w-3", "ghi789")):
        a_machine_of_cluster_api(kube, name, system_id)


def a_kubelet_that_asks(kube: Kube, sim: Simulator, kubeconfig: str) -> None:
    """And the machine on which it runs, as the cluster and MAAS know it."""
    a_published_kubeconfig(kube, sim, kubeconfig)
    be_there(kube, INNER)
    machine = sim.machine("worker-1", status="Deployed", zone="az1")
    reference = {"apiVersion": MAAS_MACHINES.api, "kind": MAAS_MACHINES.name, "name": "w-1", "namespace": INNER}
    spec = {"clusterName": "demo", "bootstrap": {"dataSecretName": "x"}, "infrastructureRef": reference}
    kube.create(body_of(MACHINES, "w-1", INNER, spec=spec))
    image = f"{machine.osystem}/{machine.distro_series}"
    taken = {"providerID": f"maas:///az1/{machine.system_id}", "minCPU": 1, "minMemory": 1024, "image": image}
    kube.create(body_of(MAAS_MACHINES, "w-1", INNER, spec=taken))
    asking = {
        "request": signing_request(machine.fqdn),
        "signerName": "kubernetes.io/kube-apiserver-client-kubelet",
        "usages": ["digital signature", "client auth"],
    }
    kubelet = {
        "kubeconfig": kubeconfig,
        "impersonate_user": BOOTSTRAP_USER,
        "impersonate_groups": sorted(BOOTSTRAP_GROUPS - {"system:authenticated"}),
    }
    rules = [{"apiGroups": ["certificates.k8s.io"], "resources": [CSRS.plural], "verbs": ["create", "get"]}]
    kube.apply(body_of(ROLES, ASKING, rules=rules), kind=ROLES)
    subject = {"apiGroup": RBAC, "kind": "User", "name": BOOTSTRAP_USER}
    role = {"apiGroup": RBAC, "kind": ROLES.name, "name": ASKING}
    kube.apply(body_of(BINDINGS, ASKING, subjects=[subject], roleRef=role), kind=BINDINGS)
    Kube(Access.from_params(kubelet, {})).create(body_of(CSRS, REQUEST, spec=asking))


# -- what others do ---------------------------------------------------------------------------------------------------


def a_file_for_everybody(folder: Path) -> None:
    (folder / "kubeconfig").chmod(0o644)


def another_context(folder: Path) -> None:
    (folder / "kubeconfig").write_text(yaml.safe_dump(kubeconfig_of_others()))
    (folder / "kubeconfig").chmod(0o644)


def kubeconfig_of_others() -> dict[str, Any]:
    """As people have one at home: it may name programs and files."""
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "login"}}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "preferences": {},
        "clusters": [{"name": "prod", "cluster": {"server": "https://192.0.2.1", "insecure-skip-tls-verify": True}}],
        "users": [{"name": "me", "user": user}],
        "contexts": [{"name": "prod", "context": {"cluster": "prod", "user": "me"}}],
        "current-context": "prod",
    }
