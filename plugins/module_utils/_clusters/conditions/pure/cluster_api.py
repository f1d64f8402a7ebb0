# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of the table of conditions that Cluster API, its provider for MAAS and Kubernetes itself write.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.meanings import (
    ConditionType,
    Row,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.shared_rows import MAAS
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import (
    NO_DETACH,
    NO_DRAIN,
    STARTUP_TIMEOUT,
)

CLUSTER, MAAS_CLUSTER, MACHINE_DEPLOYMENT = "Cluster", "MaasCluster", "MachineDeployment"
MACHINE, MAAS_MACHINE, NODE, NAMESPACE = "Machine", "MaasMachine", "Node", "Namespace"

_MACHINE = "machine {name}"
_OF_MAAS = "see its MaasMachine"

_DRAIN_HINT = (
    "Change the disruption budget or end the pod; or set nodeDrainTimeout of the node pool, or annotate the Machine "
    "with machine.cluster.x-k8s.io/exclude-node-draining."
)
_DRAIN = (
    Row(
        "",
        "waiting for pod {pod}, which budget {budget} protects",
        words=("* Pod {pod}: …The disruption budget {budget} needs",),
    ),
    Row("", "waiting for pod {pod} to end", words=("* Pod {pod}: deletionTimestamp set",)),
    Row("", "waiting for pod {pod}", words=("* Pod {pod}: ",)),
    Row(
        "",
        "the hosted cluster's API does not answer, so its node cannot be drained",
        words=("failed to cordon Node", "connection to the workload cluster is down"),
    ),
    Row("", "its node is being drained"),
)
_UNREACHED_HINT = (
    f"When the hosted API is gone for good, the annotations {NO_DRAIN} and {NO_DETACH} let the Machine go."
)
_RELEASE_HINT = (
    "When this lasts: look whether capi-provider runs in the control plane's namespace, and in its log what MAAS "
    "answers to the release."
)

# How v0.9 and later sum up, in place of the reason of one condition.
_SUMMARY = (
    Row("False", "{message}", reason="IssuesReported"),
    Row("False", "{message}", reason="InfoReported"),
    Row("Unknown", "{message}"),
)

MAAS_MACHINES = (
    ConditionType(
        MAAS_MACHINE,
        "MachineDeployed",
        _MACHINE,
        (
            Row("True", "deployed by MAAS", "fine"),
            Row(
                "False",
                "waiting for its static address",
                reason="WaitingForStaticIP",
                hint="When this lasts: look whether the static address of the node pool is free in MAAS.",
            ),
            Row(
                "False", "waiting for the address of the hosted cluster's API", reason="WaitingForClusterInfrastructure"
            ),
            Row("False", "waiting for its ignition configuration", reason="WaitingForBootstrapData"),
            Row("False", "MAAS is asked for a machine", reason="MachineDeployStartedReason"),
            Row("False", "MAAS gave a broken machine, another try follows", words=("retrying after broken machine",)),
            Row("False", "MAAS made its VM and commissions it", words=("VM composed",)),
            Row("False", "MAAS deploys it", reason="MachineDeploying"),
            Row(
                "False",
                "MAAS deploys it, and has not switched it on yet",
                reason="MachinePoweredOff",
                hint="When this lasts: look at its power in MAAS.",
            ),
            Row("False", "in a state of MAAS that the provider does not know", reason="MachineStateUndefined"),
            Row("False", "released", "wait", "Deleted"),
            Row(
                "False",
                "taken from the hosted cluster in MAAS",
                "grace",
                "MachineTerminatedReason",
                hint="Delete the Machine of this name: another one takes its place.",
            ),
            Row(
                "False",
                "its ignition configuration is missing",
                words=("failed to resolve userdata", "bootstrap data secret"),
                hint="The operator makes it anew; the provider tries again by itself.",
            ),
            *MAAS,
            Row("False", "{message}", "wait", hint="The provider tries again by itself."),
            Row(
                "Unknown",
                "it is not in MAAS any more",
                "grace",
                "MachineNotFound",
                ("status: 404",),
                "Delete the Machine of this name: another one takes its place.",
            ),
            Row("Unknown", "MAAS does not say how it is", reason="MachineNotFound"),
            Row("Unknown", "in a state of MAAS that the provider does not know"),
        ),
    ),
    ConditionType(
        MAAS_MACHINE,
        "Ready",
        _MACHINE,
        (
            Row("True", "deployed by MAAS", "fine"),
            *_SUMMARY,
            Row("False", "not deployed yet"),
        ),
    ),
    ConditionType(
        MAAS_MACHINE,
        "DNSAttached",
        _MACHINE,
        (Row("True", "known to MAAS's DNS", "fine"), Row("False", "waiting for MAAS's DNS")),
    ),
)

MACHINES = (
    ConditionType(
        MACHINE,
        "InfrastructureReady",
        _MACHINE,
        (
            Row("True", "deployed by MAAS", "fine"),
            Row("False", "being removed", reason="Deleting"),
            Row("False", "being removed", reason="Deleted"),
            Row("False", "not deployed yet"),
        ),
    ),
    ConditionType(
        MACHINE,
        "BootstrapReady",
        _MACHINE,
        (Row("True", "has its ignition configuration", "fine"), Row("False", "waiting for its ignition configuration")),
    ),
    ConditionType(
        MACHINE,
        "NodeHealthy",
        _MACHINE,
        (
            Row("True", "its node is healthy", "fine"),
            Row("False", "waiting till it is deployed", reason="WaitingForNodeRef"),
            Row(
                "False",
                "deployed, waiting for its node to join",
                reason="NodeProvisioning",
                hint="When this lasts: look at its console, whether it fetched its ignition configuration, and whether "
                "its certificate requests are approved in the hosted cluster.",
            ),
            Row("False", "its node is not Ready", reason="NodeConditionsFailed"),
            Row(
                "False",
                "its node is gone",
                "grace",
                "NodeNotFound",
                hint="Delete the Machine: another one takes its place.",
            ),
            Row("False", "its node cannot be deleted", reason="DeletionFailed", hint=_UNREACHED_HINT),
            Row("False", "being removed", reason="Deleting"),
            Row("Unknown", "the hosted cluster's API does not answer"),
        ),
    ),
    ConditionType(
        MACHINE,
        "DrainingSucceeded",
        _MACHINE,
        (
            Row("True", "its node is drained", "fine"),
            *(Row("False", each.text, words=each.words, hint=_DRAIN_HINT) for each in _DRAIN),
        ),
    ),
    ConditionType(
        MACHINE,
        "VolumeDetachSucceeded",
        _MACHINE,
        (
            Row("True", "its volumes are detached", "fine"),
            Row("False", "waiting for volumes to be detached from its node", hint=_UNREACHED_HINT),
        ),
    ),
    ConditionType(
        MACHINE,
        "PreDrainDeleteHookSucceeded",
        _MACHINE,
        (
            Row("True", "nothing is to be done before its node is drained", "fine"),
            Row("False", "a hook holds it before its node is drained: {message}"),
        ),
    ),
    ConditionType(
        MACHINE,
        "PreTerminateDeleteHookSucceeded",
        _MACHINE,
        (
            Row("True", "nothing is to be done before its release", "fine"),
            Row("False", "a hook holds it before its release: {message}"),
        ),
    ),
    ConditionType(
        MACHINE,
        "Deleting",
        _MACHINE,
        (
            Row("False", "not being removed", "fine"),
            *(Row("True", each.text, "wait", "DrainingNode", each.words, _DRAIN_HINT) for each in _DRAIN),
            Row(
                "True",
                "waiting for volumes to be detached from its node",
                reason="WaitingForVolumeDetach",
                hint=_UNREACHED_HINT,
            ),
            Row(
                "True", "waiting for its release in MAAS", reason="WaitingForInfrastructureDeletion", hint=_RELEASE_HINT
            ),
            Row("True", "waiting for the bootstrap object to go", reason="WaitingForBootstrapDeletion"),
            Row(
                "True",
                "released in MAAS, its node cannot be deleted",
                reason="DeletingNode",
                words=("Error deleting Node",),
                hint="A task that waits for the pool lets the machine go after its node_deletion_timeout.",
            ),
            Row("True", "released in MAAS, its node is being deleted", reason="DeletingNode"),
            Row("True", "being removed"),
        ),
        good="False",
    ),
    ConditionType(
        MACHINE,
        "HealthCheckSucceeded",
        _MACHINE,
        (
            Row("True", "healthy", "fine"),
            Row(
                "False",
                "its node did not come in time, it is replaced",
                reason="NodeStartupTimeout",
                hint=f"Deploying bare metal takes longer: set the annotation {STARTUP_TIMEOUT} on the node pool.",
            ),
            Row("False", "its node is unhealthy, it is replaced", reason="UnhealthyNode"),
        ),
    ),
    ConditionType(
        MACHINE, "OwnerRemediated", _MACHINE, (Row("True", "replaced", "fine"), Row("False", "waiting to be replaced"))
    ),
    ConditionType(MACHINE, "Ready", _MACHINE, (Row("True", "deployed by MAAS", "fine"), Row("False", "not ready yet"))),
    ConditionType(
        MACHINE, "Paused", _MACHINE, (Row("False", "not paused", "fine"), Row("True", "paused")), good="False"
    ),
)

CLUSTERS = (
    ConditionType(CLUSTER, "Ready", "Cluster API", (Row("True", "ready", "fine"), Row("False", "not ready yet"))),
    ConditionType(
        CLUSTER,
        "ControlPlaneReady",
        "Cluster API",
        (Row("True", "the control plane is ready", "fine"), Row("False", "waiting for the control plane")),
    ),
    ConditionType(
        CLUSTER,
        "ControlPlaneInitialized",
        "Cluster API",
        (Row("True", "the control plane has begun", "fine"), Row("False", "waiting for the control plane to begin")),
    ),
    ConditionType(
        CLUSTER,
        "InfrastructureReady",
        "Cluster API",
        (Row("True", "the MaasCluster is ready", "fine"), Row("False", "waiting for the MaasCluster")),
    ),
    ConditionType(
        CLUSTER,
        "Deleting",
        "Cluster API",
        (
            Row("False", "not being removed", "fine"),
            Row("True", "waiting for the machines to go", reason="WaitingForWorkersDeletion"),
            Row("True", "waiting for the control plane to go", reason="WaitingForControlPlaneDeletion"),
            Row("True", "waiting for the MaasCluster to go", reason="WaitingForInfrastructureDeletion"),
            Row("True", "being removed"),
        ),
        good="False",
    ),
    ConditionType(
        CLUSTER, "Paused", "Cluster API", (Row("False", "not paused", "fine"), Row("True", "paused")), good="False"
    ),
    ConditionType(
        MAAS_CLUSTER, "Ready", "MAAS cluster", (Row("True", "ready", "fine"), *_SUMMARY, Row("False", "not ready yet"))
    ),
    ConditionType(
        MAAS_CLUSTER,
        "LoadBalancerReady",
        "MAAS cluster",
        (
            Row("True", "knows the address of the hosted cluster's API", "fine"),
            Row("False", "waiting for the address of the hosted cluster's API", reason="WaitForDNSName"),
            Row(
                "False",
                "MAAS does not have the cluster's DNS domain",
                "grace",
                "LoadBalancerFailed",
                ("No Domain matches the given query",),
                "Make the domain in MAAS, with the module domain, or correct dns_domain.",
            ),
            *MAAS,
            Row("False", "the API's name cannot be written into MAAS's DNS: {message}", reason="LoadBalancerFailed"),
        ),
    ),
    ConditionType(
        MAAS_CLUSTER,
        "LXDReady",
        "MAAS cluster",
        (
            Row("True", "its machines serve as LXD hosts", "fine"),
            Row("False", "its machines are being set up as LXD hosts", reason="LXDSetupPending"),
            Row(
                "False",
                "its machines cannot be set up as LXD hosts: {message}",
                "grace",
                "LXDFailed",
                hint="Look at the log of the DaemonSet lxd-initializer in the hosted cluster.",
            ),
            Row("False", "its machines do not serve as LXD hosts yet"),
        ),
    ),
    ConditionType(
        MAAS_CLUSTER,
        "APIServerAvailable",
        "MAAS cluster",
        (
            Row("True", "the provider reaches the hosted cluster's API", "fine"),
            Row("False", "the provider does not reach the hosted cluster's API yet"),
        ),
    ),
    ConditionType(
        MACHINE_DEPLOYMENT,
        "Ready",
        "machine deployment {name}",
        (
            Row("True", "has its machines", "fine"),
            Row(
                "False",
                "{there} of {wanted} nodes are available",
                words=("Minimum availability requires {wanted} replicas, current {there} available",),
            ),
        ),
    ),
    ConditionType(
        MACHINE_DEPLOYMENT,
        "Available",
        "machine deployment {name}",
        (
            Row("True", "has its machines", "fine"),
            Row(
                "False",
                "{there} of {wanted} nodes are available",
                words=("Minimum availability requires {wanted} replicas, current {there} available",),
            ),
            Row("Unknown", "waiting for its machines"),
        ),
    ),
    ConditionType(
        MACHINE_DEPLOYMENT,
        "MachineSetReady",
        "machine deployment {name}",
        (Row("True", "its machines are ready", "fine"), Row("False", "waiting for its machines")),
    ),
    ConditionType(
        MACHINE_DEPLOYMENT,
        "Paused",
        "machine deployment {name}",
        (Row("False", "not paused", "fine"), Row("True", "paused", hint="Un-pause the node pool: paused: false.")),
        good="False",
    ),
)

NODES = (
    ConditionType(
        NODE,
        "Ready",
        "node {name}",
        (
            Row("True", "Ready", "fine"),
            Row(
                "False",
                "waiting for its pod network",
                words=(
                    "cni plugin not initialized",
                    "network plugin is not ready",
                    "No CNI configuration file",
                    "NetworkPluginNotReady",
                ),
                hint="When this lasts: look at the pods of openshift-ovn-kubernetes or openshift-multus on this node.",
            ),
            Row("False", "not Ready: {message}"),
            Row(
                "Unknown",
                "silent: its kubelet does not report any more",
                hint="Look whether the machine is on and reaches the hosted cluster's API.",
            ),
        ),
    ),
    *(
        ConditionType(
            NODE,
            kind,
            "node {name}",
            (
                Row("False", f"enough {what}", "fine"),
                Row("True", f"too little {what} left"),
                Row("Unknown", "not known"),
            ),
            good="False",
        )
        for kind, what in (
            ("MemoryPressure", "memory"),
            ("DiskPressure", "disk space"),
            ("PIDPressure", "process numbers"),
        )
    ),
    ConditionType(
        NODE,
        "NetworkUnavailable",
        "node {name}",
        (Row("False", "has its network", "fine"), Row("True", "waiting for its network")),
        good="False",
    ),
)

_NAMESPACE = "namespace {name}"

NAMESPACES = (
    ConditionType(
        NAMESPACE,
        "NamespaceFinalizersRemaining",
        _NAMESPACE,
        (
            Row("False", "nothing in it holds on", "fine"),
            Row("True", "waiting for finalizers: {finalizers}", words=("has finalizers remaining: {finalizers}",)),
        ),
        good="False",
    ),
    ConditionType(
        NAMESPACE,
        "NamespaceContentRemaining",
        _NAMESPACE,
        (
            Row("False", "empty", "fine"),
            Row("True", "still holds {content}", words=("resources are remaining: {content}",)),
        ),
        good="False",
    ),
    *(
        ConditionType(
            NAMESPACE,
            kind,
            _NAMESPACE,
            (Row("False", "nothing fails", "fine"), Row("True", text, hint=hint)),
            good="False",
        )
        for kind, text, hint in (
            ("NamespaceDeletionContentFailure", "its content cannot be deleted: {message}", ""),
            (
                "NamespaceDeletionDiscoveryFailure",
                "not all kinds can be listed: {message}",
                "An aggregated API of the management cluster does not answer: kubectl get apiservices shows which.",
            ),
            ("NamespaceDeletionGroupVersionParsingFailure", "its content cannot be listed: {message}", ""),
        )
    ),
)
