# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of a hosted cluster as the operators write them, from its first moment to its last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot

Object = dict[str, Any]

NAMESPACE, NAME = "clusters", "demo"
IMAGE = "registry.example:5000/ocp/release:4.20.8"
DIGEST = "registry.example:5000/ocp/release@sha256:00872f87f587412393de98c4f83e875fb0df08f3c0e0e7894684a57e1ea17c3e"
NO_PLANE = "The hosted control plane is not found"
SERVICES = ("APIServer", "OAuthServer", "OIDC", "Konnectivity", "Ignition")

#: What a HostedCluster says after the first pass of the operator, as `status/reason/message`.
FIRST = {
    "ClusterVersionProgressing": "Unknown/StatusUnknown/Condition not found in the CVO.",
    "ClusterVersionSucceeding": "Unknown/StatusUnknown/Condition not found in the CVO.",
    "Degraded": f"Unknown/StatusUnknown/{NO_PLANE}",
    "EtcdAvailable": f"Unknown/StatusUnknown/{NO_PLANE}",
    "KubeAPIServerAvailable": f"Unknown/StatusUnknown/{NO_PLANE}",
    "InfrastructureReady": f"Unknown/StatusUnknown/{NO_PLANE}",
    "ExternalDNSReachable": f"Unknown/StatusUnknown/{NO_PLANE}",
    "Available": "False/WaitingForAvailable/Waiting for hosted control plane to be healthy",
    "ValidConfiguration": "True/AsExpected/Configuration passes validation",
    "SupportedHostedCluster": "True/AsExpected/HostedCluster is supported by operator configuration",
    "IgnitionEndpointAvailable": "False/NotFound/Ignition server deployment not found",
    "ReconciliationActive": "True/AsExpected/Reconciliation active on resource",
    "ValidReleaseImage": "True/AsExpected/Release image is valid",
    "Progressing": "False/AsExpected/HostedCluster is at expected version",
    "PlatformCredentialsFound": "True/AsExpected/Required platform credentials are found",
    "ReconciliationSucceeded": "True/ReconciliatonSucceeded/Reconciliation completed successfully",
}
#: What a HostedControlPlane says of a control plane that runs.
PLANE = {
    "InfrastructureReady": "True/AsExpected/All is well",
    "EtcdAvailable": "True/QuorumAvailable/",
    "KubeAPIServerAvailable": "True/AsExpected/Kube APIServer deployment is available",
    "Available": "True/AsExpected/",
    "ValidIDPConfiguration": "True/IDPConfigurationValid/Identity provider configuration is valid",
}
ROLLED_OUT = {
    "ClusterVersionFailing": "False/FromClusterVersion/",
    "ClusterVersionProgressing": "False/FromClusterVersion/Cluster version is 4.20.8",
}
POOL = {
    "ReconciliationActive": "True/ReconciliationActive/Reconciliation active on resource",
    "ValidReleaseImage": f"True/AsExpected/Using release image: {IMAGE}",
    "ValidMachineConfig": "True/AsExpected/",
    "ValidGeneratedPayload": "True/AsExpected/Payload generated successfully",
    "AllMachinesReady": "True/AsExpected/All is well",
    "AllNodesHealthy": "True/AsExpected/All is well",
    "UpdatingVersion": "False/AsExpected/",
    "UpdatingConfig": "False/AsExpected/",
    "UpdatingPlatformMachineTemplate": "False/AsExpected/",
}
INSTALLING = {
    "UpdatingVersion": "True/AsExpected/Updating version in progress. Target version: 4.20.8",
    "UpdatingConfig": "True/AsExpected/Updating config in progress. Target config: 1176b299",
    "UpdatingPlatformMachineTemplate": "True/AsExpected/platform machine template update in progress. Target: t",
}


def conditions(said: Mapping[str, str], generation: int = 1) -> list[Object]:
    """Conditions from `status/reason/message`; one that is empty is left out."""
    made = []
    for kind, words in said.items():
        if words:
            status, reason, message = words.split("/", 2)
            made.append({"type": kind, "status": status, "reason": reason, "message": message})
            made[-1]["observedGeneration"] = generation  # type: ignore[assignment]
    return made


def history(*entries: tuple[str, str], image: str = DIGEST) -> list[Object]:
    return [{"state": state, "version": version, "image": image} for state, version in entries]


def cluster(*, generation: int = 3, seen: int = 3, spec: Object | None = None, **said: str) -> Object:
    """A HostedCluster after the operator's first pass, and what differs."""
    return {
        "metadata": {"name": NAME, "namespace": NAMESPACE, "generation": generation},
        "spec": {
            "platform": {"type": "MAAS"},
            "release": {"image": IMAGE},
            "services": [{"service": each, "servicePublishingStrategy": {"type": "NodePort"}} for each in SERVICES],
            **(spec or {}),
        },
        "status": {"conditions": conditions({**FIRST, **said}, seen), "version": {"history": history(("Partial", ""))}},
    }


def available_cluster(**more: Any) -> Object:
    body = cluster(
        **{
            "Available": "True/AsExpected/The hosted control plane is available",
            "IgnitionEndpointAvailable": "True/AsExpected/Ignition server deployment is available",
            **more,
        }
    )
    body["status"]["kubeconfig"] = {"name": f"{NAME}-admin-kubeconfig"}
    body["status"]["ignitionEndpoint"] = "192.0.2.10:30444"
    return body


def control_plane(entries: list[Object] | None = None, **said: str) -> Object:
    return {
        "metadata": {"name": NAME, "generation": 1},
        "status": {
            "conditions": conditions({**PLANE, **said}),
            **({"versionStatus": {"history": entries}} if entries else {}),
        },
    }


def pool(
    replicas: int = 2, there: int = 2, name: str = NAME, *, generation: int = 1, spec: Object | None = None, **said: str
) -> Object:
    return {
        "metadata": {"name": name, "namespace": NAMESPACE, "generation": generation},
        "spec": {
            "clusterName": NAME,
            "replicas": replicas,
            "platform": {"type": "MAAS"},
            "management": {"upgradeType": "Replace"},
            **(spec or {}),
        },
        "status": {
            "conditions": conditions({**POOL, **said}),
            **({"replicas": there, "version": "4.20.8"} if there else {}),
        },
    }


def deployment(replicas: int = 2, there: int = 2, name: str = NAME) -> Object:
    return {
        "metadata": {"name": name, "generation": 1},
        "spec": {"replicas": replicas},
        "status": {"observedGeneration": 1, "availableReplicas": there},
    }


def machine(name: str, node: str = "", owner: str = NAME, **status: Any) -> Object:
    joined = {"nodeRef": {"name": node}, "phase": "Running"} if node else {"phase": "Pending"}
    return {
        "metadata": {"name": name, "annotations": {"hypershift.openshift.io/nodePool": f"{NAMESPACE}/{owner}"}},
        "spec": {"infrastructureRef": {"kind": "MaasMachine", "name": name}},
        "status": {**joined, **status},
    }


def maas_machine(name: str, host: str = "", deployed: str = "True//") -> Object:
    status: Object = {"conditions": conditions({"MachineDeployed": deployed})}
    return {"metadata": {"name": name}, "status": {**status, **({"hostname": host} if host else {})}}


def node(name: str, ready: str = "True/KubeletReady/kubelet is posting ready status") -> Object:
    return {"metadata": {"name": name}, "status": {"conditions": conditions({"Ready": ready})}}


def deleted(body: Object) -> Object:
    return {**body, "metadata": {**body["metadata"], "deletionTimestamp": "2026-11-18T22:06:25Z"}}


def sight(**parts: Any) -> ClusterSnapshot:
    return ClusterSnapshot(NAMESPACE, NAME, **parts)


def whole(**parts: Any) -> ClusterSnapshot:
    """A hosted cluster with two nodes, complete."""
    names = ("a", "b")
    complete = sight(
        cluster=available_cluster(),
        control_plane=control_plane(history(("Completed", "4.20.8")), **ROLLED_OUT),
        pools={NAME: pool()},
        machine_deployments=[deployment()],
        machines=[machine(name, f"node-{name}") for name in names],
        maas_machines=[maas_machine(name, f"node-{name}") for name in names],
        nodes=[node(f"node-{name}") for name in names],
    )
    return replace(complete, **parts)
