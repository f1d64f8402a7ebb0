# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A hosted cluster as the real operators leave it in the lab, in the parts that people and programs look at."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import Object
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.times import seconds_of

BORN, SETTLED, NOON = "2026-11-18T11:00:00Z", "2026-11-18T11:20:00Z", "2026-11-18T12:00:00Z"
NOW = float(seconds_of(NOON) or 0)
INNER = "clusters-demo"
GENERATION = 3
NODE_POOL = "hypershift.openshift.io/nodePool"

Condition = tuple[str, str, str, str]

FINE: Sequence[Condition] = (
    ("ReconciliationSucceeded", "True", "ReconciliatonSucceeded", "Reconciliation completed successfully"),
    ("ReconciliationActive", "True", "AsExpected", "Reconciliation active on resource"),
    ("ValidConfiguration", "True", "AsExpected", "Configuration passes validation"),
    ("ValidReleaseImage", "True", "AsExpected", "Release image is valid"),
    ("PlatformCredentialsFound", "True", "AsExpected", "Required platform credentials are found"),
    ("InfrastructureReady", "True", "AsExpected", "All is well"),
    ("EtcdAvailable", "True", "QuorumAvailable", ""),
    ("KubeAPIServerAvailable", "True", "AsExpected", "Kube APIServer deployment is available"),
    ("IgnitionEndpointAvailable", "True", "AsExpected", "Ignition server deployment is available"),
    ("Degraded", "False", "AsExpected", "The hosted cluster is not degraded"),
    ("Available", "True", "AsExpected", "The hosted control plane is available"),
    ("Progressing", "False", "AsExpected", "HostedCluster is at expected version"),
    ("ClusterVersionSucceeding", "True", "FromClusterVersion", ""),
    ("ClusterVersionProgressing", "False", "FromClusterVersion", "Cluster version is 4.20.8"),
    ("ClusterVersionAvailable", "True", "FromClusterVersion", "Done applying 4.20.8"),
)

POOL_FINE: Sequence[Condition] = (
    ("ReconciliationActive", "True", "ReconciliationActive", "Reconciliation active on resource"),
    ("ValidReleaseImage", "True", "AsExpected", "Using release image: registry.example/release:4.20.8"),
    ("ValidMachineConfig", "True", "AsExpected", ""),
    ("ValidGeneratedPayload", "True", "AsExpected", "Payload generated successfully"),
    ("ReachedIgnitionEndpoint", "True", "AsExpected", ""),
    ("AllMachinesReady", "True", "AsExpected", "All is well"),
    ("AllNodesHealthy", "True", "AsExpected", "All is well"),
    ("UpdatingVersion", "False", "AsExpected", ""),
    ("UpdatingConfig", "False", "AsExpected", ""),
    ("UpdatingPlatformMachineTemplate", "False", "AsExpected", ""),
    ("Ready", "True", "AsExpected", ""),
)


def conditions(found: Sequence[Condition], changed: Sequence[Condition] = (), since: str = SETTLED) -> list[Object]:
    """As they stand in a status: those of the first list, or of the second where it has one of the type."""
    merged = {one[0]: one for one in (*found, *changed)}
    names = ("type", "status", "reason", "message")
    seen = {"lastTransitionTime": since, "observedGeneration": GENERATION}
    return [{**dict(zip(names, one, strict=True)), **seen} for one in merged.values()]


def hosted_cluster(*changed: Condition, name: str = "demo", without: Sequence[str] = (), **spec: Any) -> Object:
    """An available one, save for these conditions and fields of its spec."""
    kept = [one for one in FINE if one[0] not in without]
    return {
        "apiVersion": "hypershift.openshift.io/v1beta1",
        "kind": "HostedCluster",
        "metadata": {
            "name": name,
            "namespace": "clusters",
            "generation": GENERATION,
            "creationTimestamp": BORN,
            "finalizers": ["hypershift.openshift.io/finalizer"],
        },
        "spec": {
            "clusterID": "4e6949f7-db8c-4438-996b-24df61fa3fc9",
            "infraID": f"{name}-pvqnp",
            "platform": {"type": "MAAS", "maas": {"identityRef": {"name": f"{name}-maas-credentials"}}},
            "pullSecret": {"name": f"{name}-pull-secret"},
            "release": {"image": "registry.example/release:4.20.8"},
            "services": [
                {"service": service, "servicePublishingStrategy": {"type": "NodePort"}}
                for service in ("APIServer", "OAuthServer", "OIDC", "Konnectivity", "Ignition")
            ],
            **spec,
        },
        "status": {
            "conditions": conditions(kept, changed),
            "controlPlaneEndpoint": {"host": "192.0.2.10", "port": 30443},
            "ignitionEndpoint": "192.0.2.10:30444",
            "kubeconfig": {"name": f"{name}-admin-kubeconfig"},
            "oauthCallbackURLTemplate": "https://192.0.2.10:30445/oauth2callback/[identity-provider-name]",
            "version": {
                "availableUpdates": None,
                "desired": {"image": "registry.example/release@sha256:1efb", "version": "4.20.8"},
                "history": [
                    {
                        "version": "4.20.8",
                        "state": "Completed",
                        "image": "registry.example/release@sha256:1efb",
                        "startedTime": BORN,
                        "completionTime": SETTLED,
                        "verified": False,
                    }
                ],
            },
        },
    }


def node_pool(*changed: Condition, name: str = "workers", replicas: int = 2, **spec: Any) -> Object:
    return {
        "apiVersion": "hypershift.openshift.io/v1beta1",
        "kind": "NodePool",
        "metadata": {
            "name": name,
            "namespace": "clusters",
            "creationTimestamp": BORN,
            "finalizers": ["hypershift.openshift.io/finalizer"],
        },
        "spec": {
            "clusterName": "demo",
            "replicas": replicas,
            "management": {"upgradeType": "Replace"},
            "platform": {"type": "MAAS", "maas": {"image": "custom/rhcos-4.20", "minCpu": 4, "minMemory": 8192}},
            "release": {"image": "registry.example/release:4.20.8"},
            **spec,
        },
        "status": {"replicas": replicas, "version": "4.20.8", "conditions": conditions(POOL_FINE, changed)},
    }


def machine(number: int, *, node: str | None = "", pool: str = "workers", **status: Any) -> Object:
    """A Running one, or one without a node: `node=None`."""
    name = f"{pool}-zj82r-{number}"
    linked = {} if node is None else {"nodeRef": {"kind": "Node", "name": node or f"worker{number}.maas"}}
    return {
        "apiVersion": "cluster.x-k8s.io/v1beta1",
        "kind": "Machine",
        "metadata": {
            "name": name,
            "namespace": INNER,
            "creationTimestamp": BORN,
            "finalizers": ["machine.cluster.x-k8s.io"],
            "annotations": {NODE_POOL: f"clusters/{pool}"},
            "labels": {"cluster.x-k8s.io/cluster-name": "demo-pvqnp"},
        },
        "spec": {
            "clusterName": "demo-pvqnp",
            "infrastructureRef": {"kind": "MaasMachine", "name": name, "namespace": INNER},
            "providerID": f"maas:///az1/abc00{number}",
            "version": "4.20.8",
        },
        "status": {
            "phase": "Provisioned" if node is None else "Running",
            "conditions": conditions(
                [("Ready", "True", "", ""), ("InfrastructureReady", "True", "", ""), ("NodeHealthy", "True", "", "")]
            ),
            **linked,
            **status,
        },
    }


def maas_machine(
    number: int, *deployed: str, pool: str = "workers", system_id: str | None = None, since: str = SETTLED
) -> Object:
    """A deployed one, or one whose MachineDeployed has this status, reason and message."""
    name, own = f"{pool}-zj82r-{number}", f"abc00{number}" if system_id is None else system_id
    status, reason, message = (*deployed, *("True", "", "")[len(deployed) :])
    return {
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1",
        "kind": "MaasMachine",
        "metadata": {
            "name": name,
            "namespace": INNER,
            "creationTimestamp": BORN,
            "finalizers": ["maasmachine.infrastructure.cluster.x-k8s.io"],
            "annotations": {NODE_POOL: f"clusters/{pool}"},
        },
        "spec": {
            "image": "custom/rhcos-4.20",
            **({"systemID": own, "providerID": f"maas:///az1/{own}", "failureDomain": "az1"} if own else {}),
        },
        "status": {
            "ready": status == "True",
            "conditions": conditions([("MachineDeployed", status, reason, message)], since=since),
            **(
                {
                    "hostname": f"worker{number}",
                    "machineState": "Deployed",
                    "machinePowered": True,
                    "addresses": [
                        {"type": "InternalDNS", "address": f"worker{number}.maas"},
                        {"type": "InternalIP", "address": f"10.99.0.{number}"},
                    ],
                }
                if status == "True"
                else {}
            ),
        },
    }


def in_maas(number: int, status: str = "Deployed", code: int = 6, **more: Any) -> dict[str, Any]:
    """The machine behind it, as MAAS has it."""
    return {
        "system_id": f"abc00{number}",
        "hostname": f"worker{number}",
        "fqdn": f"worker{number}.maas",
        "status": code,
        "status_name": status,
        "status_message": status,
        "error_description": "",
        "owner": "admin",
        "power_state": "on",
        "osystem": "custom",
        "distro_series": "rhcos-4.20",
        "zone": {"name": "az1"},
        "pool": {"name": "openshift"},
        "ip_addresses": [f"10.99.0.{number}"],
        "workload_annotations": {},
        **more,
    }


def node(number: int, *ready: str) -> Object:
    status, reason, message = (*ready, *("True", "KubeletReady", "kubelet is posting ready status")[len(ready) :])
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": f"worker{number}.maas",
            "creationTimestamp": SETTLED,
            "labels": {NODE_POOL: "workers"},
        },
        "spec": {"providerID": f"maas:///az1/abc00{number}"},
        "status": {
            "conditions": conditions([("Ready", status, reason, message)]),
            "addresses": [{"type": "InternalIP", "address": f"10.99.0.{number}"}],
            "nodeInfo": {"kubeletVersion": "v1.33.6", "osImage": "A machine of the lab"},
        },
    }


WHOLE = ClusterSnapshot(
    "clusters",
    "demo",
    cluster=hosted_cluster(),
    pools={"workers": node_pool()},
    machines=[machine(1), machine(2)],
    maas_machines=[maas_machine(1), maas_machine(2)],
)
IN_MAAS: Mapping[str, dict[str, Any]] = {f"abc00{number}": in_maas(number) for number in (1, 2)}


def deleting(body: Object, since: str = SETTLED) -> Object:
    """The same object, of which the deletion was asked for."""
    changed = copy.deepcopy(body)
    changed["metadata"]["deletionTimestamp"] = since
    return changed
