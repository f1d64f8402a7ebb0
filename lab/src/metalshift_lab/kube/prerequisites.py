# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a management cluster has before HyperShift comes: a node, storage, and kinds of other operators."""

from __future__ import annotations

from collections.abc import Iterator

from metalshift_lab.kube.api import CRDS, ENDPOINTS, NODES, Api, ApiError, Object, Resource
from metalshift_lab.kube.pods import NODE
from metalshift_lab.kube.status import now
from metalshift_lab.ports import LOOPBACK

STORAGE_CLASSES = Resource("storage.k8s.io/v1", "storageclasses")
# HyperShift renders objects of these kinds, and reads them, whether or not Prometheus is there.
MONITORING = {"ServiceMonitor": "servicemonitors", "PodMonitor": "podmonitors", "PrometheusRule": "prometheusrules"}
# The operator reads the API server's address here. The reconciler that writes it refuses the loopback interface.
ENDPOINT = "192.0.2.1"


def monitoring_kinds() -> Iterator[Object]:
    """Without a schema: whatever HyperShift writes is kept."""
    for kind, plural in MONITORING.items():
        group = "monitoring.coreos.com"
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        yield {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {
                "group": group,
                "scope": "Namespaced",
                "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
            },
        }


def prepare(api: Api) -> None:
    """Write all of it; what is there already stays."""
    for crd in monitoring_kinds():
        api.apply(CRDS, crd)
    endpoints: Object = {
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": {"name": "kubernetes", "namespace": "default"},
        "subsets": [{"addresses": [{"ip": ENDPOINT}], "ports": [{"name": "https", "port": 443}]}],
    }
    storage: Object = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "lab", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        "provisioner": "lab.invalid/none",
        "volumeBindingMode": "Immediate",
    }
    for resource, body in ((ENDPOINTS, endpoints), (STORAGE_CLASSES, storage)):
        api.apply(resource, body)
    _node(api)


def _node(api: Api) -> None:
    labels = {
        "kubernetes.io/hostname": NODE,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "node-role.kubernetes.io/control-plane": "",
    }
    node: Object = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE, "labels": labels}}
    try:
        api.create(NODES, node)
    except ApiError as error:
        if error.reason != "AlreadyExists":
            raise
    ready = {
        "type": "Ready",
        "status": "True",
        "reason": "KubeletReady",
        "message": "the lab's one node",
        "lastHeartbeatTime": now(),
        "lastTransitionTime": now(),
    }
    size = {"cpu": "64", "memory": "256Gi", "pods": "500"}
    addresses = [{"type": "InternalIP", "address": LOOPBACK}, {"type": "Hostname", "address": NODE}]
    told = {"addresses": addresses, "conditions": [ready], "capacity": size, "allocatable": size}
    api.patch(NODES, NODE, None, {"status": told}, subresource="status")
    api.patch(NODES, NODE, None, {"spec": {"taints": None}})
