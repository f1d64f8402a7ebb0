# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task returns of the object that it is about: what people look for first, and all of its spec.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import is_paused
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import control_plane_namespace
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.fields import at
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import Object


def hosted_cluster_view(body: Object, namespace: str, name: str, now: float) -> dict[str, Any]:
    """A HostedCluster at this moment; every key is there, null where nothing is known."""
    endpoint = at(body, "status", "controlPlaneEndpoint") or {}
    history = at(body, "status", "version", "history") or []
    done: Object = next((entry for entry in history if entry.get("state") == "Completed"), {})
    return {
        **_common(body, namespace, name, now),
        "available": _is_true(body, "Available"),
        "platform": at(body, "spec", "platform", "type"),
        "release": at(body, "spec", "release", "image"),
        "version": done.get("version") or None,
        "endpoint": f"{endpoint['host']}:{endpoint['port']}" if endpoint.get("host") else None,
        "ignition_endpoint": at(body, "status", "ignitionEndpoint") or None,
        "kubeconfig_secret": at(body, "status", "kubeconfig", "name"),
        "kubeadmin_password_secret": at(body, "status", "kubeadminPassword", "name"),
        "infra_id": at(body, "spec", "infraID"),
        "cluster_id": at(body, "spec", "clusterID"),
        "control_plane_namespace": control_plane_namespace(namespace, name),
    }


def node_pool_view(body: Object, namespace: str, name: str, now: float) -> dict[str, Any]:
    """A NodePool at this moment; every key is there, null where nothing is known."""
    return {
        **_common(body, namespace, name, now),
        "cluster": at(body, "spec", "clusterName"),
        "platform": at(body, "spec", "platform", "type"),
        "release": at(body, "spec", "release", "image"),
        "version": at(body, "status", "version"),
        "replicas": at(body, "spec", "replicas"),
        "autoscaling": at(body, "spec", "autoScaling"),
        "available_replicas": at(body, "status", "replicas") or 0,
        "upgrade_type": at(body, "spec", "management", "upgradeType"),
    }


def _common(body: Object, namespace: str, name: str, now: float) -> dict[str, Any]:
    return {
        "namespace": namespace,
        "name": name,
        "paused": is_paused(at(body, "spec"), now),
        "labels": at(body, "metadata", "labels") or {},
        "annotations": at(body, "metadata", "annotations") or {},
        "spec": at(body, "spec") or {},
        "conditions": at(body, "status", "conditions") or [],
    }


def _is_true(body: Object, kind: str) -> bool:
    conditions = at(body, "status", "conditions") or []
    return any(each.get("type") == kind and each.get("status") == "True" for each in conditions)
