# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A hosted cluster as Kubernetes tells of it, and its machines as MAAS does."""

from __future__ import annotations

from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import Object

MARKS = {"metalshift_cluster": "clusters/demo", "metalshift_node_pool": "workers"}
OTHER = {"metalshift_cluster": "clusters/other", "metalshift_node_pool": "workers"}


def maas_machine(name: str, system_id: str, **more: Any) -> Object:
    metadata = {"name": name, "namespace": "clusters-demo", "annotations": {}}
    return {"metadata": metadata, "spec": {"providerID": f"maas:///az1/{system_id}"}, "status": {}, **more}


def machine(name: str, pool: str = "workers") -> Object:
    annotations = {"hypershift.openshift.io/nodePool": f"clusters/{pool}"}
    return {
        "metadata": {"name": name, "annotations": annotations},
        "spec": {"infrastructureRef": {"name": name}},
        "status": {},
    }


def sight(*pairs: tuple[str, str]) -> ClusterSnapshot:
    return ClusterSnapshot(
        "clusters",
        "demo",
        machines=[machine(name) for name, _system_id in pairs],
        maas_machines=[maas_machine(name, system_id) for name, system_id in pairs],
    )


def in_maas(system_id: str = "abc123", **more: Any) -> dict[str, Any]:
    known = {"system_id": system_id, "hostname": f"host-{system_id}", "status": 6, "owner": "capi"}
    return {**known, "zone": {"name": "az1"}, "workload_annotations": {}, **more}
