# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of the table of conditions that HyperShift writes.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.meanings import (
    ConditionType,
    Row,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.shared_rows import (
    IMAGE,
    REFUSED,
    RELEASE,
)

HOSTED_CLUSTER, NODE_POOL = "HostedCluster", "NodePool"

RECREATE = "This cannot be changed later: delete the hosted cluster, and create it anew."
STUCK_IN_PLACE = (
    "Look at the log of machine-config-daemon on that node, and correct the configuration; or delete its Machine: "
    "another one takes its place."
)
UNPAUSE = "Un-pause it: paused: false."
ONCE_FOUND = "Create it; the operator goes on by itself."

_CREDENTIALS = (
    Row(
        "False",
        'Secret "{secret}" with the credentials for MAAS is missing',
        "grace",
        words=('failed to get MAAS credentials secret: Secret "{secret}" not found',),
        hint="Create it with the keys MAAS_ENDPOINT and MAAS_API_KEY; the operator goes on by itself.",
    ),
    Row(
        "False",
        "the Secret with the credentials for MAAS has no key {key}",
        "stop",
        words=("MAAS credentials secret is missing required key: {key}",),
        hint="Add the key to the Secret that platform.maas.identityRef names.",
    ),
    Row(
        "False",
        "spec.platform.maas is missing",
        "stop",
        words=("empty MAAS platform spec",),
        hint=RECREATE,
    ),
)

_CONFIGURATION = (
    Row(
        "False",
        "{service} is published by Route, and the management cluster has no Routes",
        "stop",
        words=('cluster does not support Routes, but service "{service}"',),
        hint=f"Publish it by NodePort or LoadBalancer. {RECREATE}",
    ),
    Row(
        "False",
        "{one} and {other} are published with the same host name {host}",
        "stop",
        words=("service type {one} can't be published with the same hostname {host} as service type {other}",),
        hint=f"Give each its own. {RECREATE}",
    ),
    Row(
        "False",
        "{one} and {other} overlap: {networks}",
        "stop",
        words=(": spec.networking.{one} and spec.networking.{other} overlap: {networks}",),
        hint=f"Choose networks that do not overlap. {RECREATE}",
    ),
    Row(
        "False",
        "{network} contains {address}, which the API server needs for itself on each node",
        "stop",
        words=("with content {network} overlaps with the defined AdvertiseAddress {address} ",),
        hint=f"Choose another network. {RECREATE}",
    ),
    Row(
        "False",
        "the address {address} of the node ports is in the service network {network}",
        "stop",
        words=("Nodeport IP is within the service network range: {address} is within {network}",),
        hint=f"Choose another service network or address. {RECREATE}",
    ),
    Row(
        "False",
        "the networks mix IPv4 and IPv6 as first address family",
        "stop",
        words=("declare multiple network stacks as primary network",),
        hint=f"Let all lists of networks begin with the same family. {RECREATE}",
    ),
    Row(
        "False",
        "ConfigMap {name} has no key ca-bundle.crt",
        "stop",
        words=("configMap {name} must have a ca-bundle.crt key",),
        hint="Put the certificates of the trust bundle under this key.",
    ),
    Row(
        "False",
        "ConfigMap {name} is missing",
        "grace",
        words=("failed to get configMap {name}: ",),
        hint=ONCE_FOUND,
    ),
    Row("False", "{message}", "grace", hint="Correct the spec of the HostedCluster."),
)

_RECONCILED = (
    Row("True", "the operator has nothing to object to", "fine"),
    Row(
        "False",
        'Secret "{secret}" with the pull secret is missing',
        "grace",
        words=('failed to get pull secret: Secret "{secret}" not found',),
        hint="Create it with the key .dockerconfigjson; the operator goes on by itself.",
    ),
    Row(
        "False",
        "the Secret with the pull secret has no key .dockerconfigjson",
        "stop",
        words=("expected .dockerconfigjson key in pull secret", "must have a .dockerconfigjson key"),
        hint="Put the JSON of the pull secret under this key.",
    ),
    *_CREDENTIALS,
    Row(
        "False",
        'Secret "{secret}" with the SSH key has no key id_rsa.pub',
        "stop",
        words=('SSHKey secret "{secret}" must have a id_rsa.pub key',),
        hint="Put the public key under this key.",
    ),
    Row(
        "False",
        'Secret "{secret}" with the SSH key is missing',
        "grace",
        words=("failed to get hostedcluster SSHKey secret {secret}: ",),
        hint=ONCE_FOUND,
    ),
    Row(
        "False",
        'Secret "{secret}" with the key that encrypts etcd is missing',
        "grace",
        words=("failed to get active aescbc secret {secret}: ", "failed to get backup aescbc secret {secret}: "),
        hint="Bring back the Secret with this very key: with another one, what etcd holds can never be read again.",
    ),
    Row(
        "False",
        "the deletion does not go on: {why}",
        words=("failed to delete hostedcluster: {why}",),
    ),
    *IMAGE,
    *REFUSED,
    *(row for row in _CONFIGURATION if row.words),
    Row(
        "False",
        "the configuration is invalid: {why}",
        "grace",
        words=("configuration is invalid: {why}",),
        hint="Correct the spec of the HostedCluster.",
    ),
    Row("False", "{message}", hint="The operator tries again by itself, each ten seconds at the latest."),
)

_PAUSED = (
    Row("False", "paused", "stop", "ReconciliationPaused", ("until field removed",), UNPAUSE),
    Row("False", "paused until {date}", "wait", "ReconciliationPaused", ("paused until: {date}",), UNPAUSE),
    Row("False", "paused", "stop", hint=UNPAUSE),
)

_WORKING = "Working towards {version}: {done} of {all} done ({percent}% complete)"

HOSTED_CLUSTERS = (
    ConditionType(HOSTED_CLUSTER, "ReconciliationSucceeded", "hosted cluster", _RECONCILED),
    ConditionType(HOSTED_CLUSTER, "ReconciliationActive", "hosted cluster", (Row("True", "active", "fine"), *_PAUSED)),
    ConditionType(
        HOSTED_CLUSTER,
        "SupportedHostedCluster",
        "hosted cluster",
        (
            Row("True", "supported by the operator", "fine"),
            Row("False", "the operator does not support it: {message}", "stop"),
        ),
    ),
    ConditionType(
        HOSTED_CLUSTER, "ValidConfiguration", "configuration", (Row("True", "valid", "fine"), *_CONFIGURATION)
    ),
    ConditionType(
        HOSTED_CLUSTER,
        "ValidHostedControlPlaneConfiguration",
        "configuration",
        (
            Row("True", "valid for the control plane", "fine"),
            Row(
                "False", "the management cluster lacks something: {message}", "grace", "InsufficientClusterCapabilities"
            ),
        ),
    ),
    ConditionType(
        HOSTED_CLUSTER,
        "ValidReleaseImage",
        "release",
        (
            Row("True", "can be run by the operator", "fine"),
            *RELEASE,
            *IMAGE,
            Row("False", "{message}", "grace"),
        ),
    ),
    ConditionType(
        HOSTED_CLUSTER,
        "ValidReleaseInfo",
        "release",
        (
            Row("True", "complete", "fine"),
            Row(
                "False",
                "lacks the images {message}",
                "stop",
                "MissingReleaseImages",
                hint="Name a whole release image; one that was mirrored in part must be mirrored again.",
            ),
        ),
    ),
    ConditionType(
        HOSTED_CLUSTER,
        "PlatformCredentialsFound",
        "credentials for MAAS",
        (Row("True", "found", "fine"), *_CREDENTIALS, *REFUSED, Row("False", "{message}", "grace")),
    ),
    ConditionType(
        HOSTED_CLUSTER,
        "ValidIDPConfiguration",
        "identity providers",
        (
            Row("True", "valid", "fine"),
            Row("False", "waiting for the API server", words=("failed to get kubeconfig secret",)),
            Row(
                "False",
                "{message}",
                hint="The control plane becomes available without them; look whether it reaches the identity provider.",
            ),
        ),
    ),
    ConditionType(
        HOSTED_CLUSTER,
        "InfrastructureReady",
        "services",
        (
            Row("True", "published", "fine"),
            Row(
                "Unknown",
                "spec.services does not say how to publish {service}",
                "stop",
                words=("{service} service strategy not specified", "{service} strategy not specified"),
                hint=f"Publish all of APIServer, OAuthServer, OIDC, Konnectivity and Ignition. {RECREATE}",
            ),
            Row("Unknown", "not known yet", reason="StatusUnknown"),
            Row("Unknown", "{message}"),
            Row(
                "False",
                "the load balancer of the API server has no address: {why}",
                words=("kube-apiserver load balancer is not provisioned: {why}",),
                hint="Look at the load balancers of the management cluster.",
            ),
            Row(
                "False",
                "waiting for the load balancer of the API server",
                words=("kube-apiserver load balancer is not provisioned",),
                hint="The management cluster needs something that serves Services of type LoadBalancer.",
            ),
            Row(
                "False",
                "waiting for the load balancer of Konnectivity",
                words=("Konnectivity load balancer is not provisioned",),
                hint="The management cluster needs something that serves Services of type LoadBalancer.",
            ),
            Row(
                "False",
                "being published",
                words=("Cluster infrastructure is still provisioning",),
                hint="When this lasts: the node port may be taken, or a quota or policy refuse Services in the control "
                "plane's namespace; only the control-plane-operator's log says so.",
            ),
        ),
    ),
    ConditionType(
        HOSTED_CLUSTER,
        "EtcdAvailable",
        "etcd",
        (
            Row("True", "has its quorum", "fine"),
            Row("False", "not started yet", reason="StatefulSetNotFound"),
            Row(
                "False",
                'volume {claim} is pending: there is no storage class "{storage}"',
                "grace",
                words=('Etcd volume claim {claim} pending: …storageclass.storage.k8s.io "{storage}" not found',),
                hint=f"Create the storage class, or name another one in etcd.managed.storage. {RECREATE}",
            ),
            Row(
                "False",
                "volume {claim} is pending: {why}",
                words=("Etcd volume claim {claim} pending: {why}",),
                hint="Look at the storage of the management cluster.",
            ),
            Row(
                "False",
                "waiting for quorum",
                reason="EtcdWaitingForQuorum",
                hint="When this lasts: look at the volumes and pods of etcd in the control plane's namespace. Without "
                "a default storage class a volume stays pending, and nobody says so.",
            ),
            Row("Unknown", "not known yet"),
        ),
    ),
    ConditionType(
        HOSTED_CLUSTER,
        "KubeAPIServerAvailable",
        "API server",
        (
            Row("True", "available", "fine"),
            Row("False", "not started yet", reason="NotFound"),
            Row("False", "starting", reason="StatusUnknown"),
            Row(
                "False",
                "starting",
                reason="WaitingForAvailable",
                hint="When this lasts: look at the pods kube-apiserver in the control plane's namespace.",
            ),
            Row("Unknown", "not known yet"),
        ),
    ),
    ConditionType(
        HOSTED_CLUSTER,
        "ExternalDNSReachable",
        "DNS",
        (
            Row("True", "the name of the API is known", "fine"),
            Row("Unknown", "not managed by the operator", "fine"),
            Row("False", "the name of the API is not known yet: {message}"),
        ),
    ),
    ConditionType(
        HOSTED_CLUSTER,
        "Available",
        "control plane",
        (
            Row("True", "available", "fine"),
            Row("False", "waiting for its kubeconfig", reason="KubeconfigWaitingForCreate"),
            Row(
                "False",
                "not reached through its load balancer: {message}",
                reason="KASLoadBalancerNotReachable",
                hint="Look whether the management cluster reaches the address of the load balancer.",
            ),
            Row("False", "waiting for {components}", words=("Waiting for components to be available: {components}",)),
            Row("False", "being created", words=("Waiting for hosted control plane to be healthy",)),
            Row("False", "waiting for its parts", reason="ComponentsNotAvailable"),
            Row("False", "waiting for etcd", reason="EtcdWaitingForQuorum"),
            Row("False", "waiting for the API server", words=("Waiting for Kube APIServer",)),
            Row("False", "waiting for its services", reason="WaitingOnInfrastructureReady"),
            Row("False", "starting", reason="StatusUnknown"),
        ),
    ),
    ConditionType(
        HOSTED_CLUSTER,
        "Degraded",
        "control plane",
        (
            Row("False", "all replicas run", "fine"),
            Row("Unknown", "not known yet"),
            Row("True", "not all replicas run: {message}", reason="UnavailableReplicas"),
        ),
        good="False",
    ),
    ConditionType(
        HOSTED_CLUSTER,
        "IgnitionEndpointAvailable",
        "ignition server",
        (
            Row("True", "available", "fine"),
            Row("False", "not started yet", reason="NotFound"),
            Row(
                "False",
                "starting",
                reason="WaitingForAvailable",
                hint="When this lasts: look at the pods ignition-server in the control plane's namespace.",
            ),
        ),
    ),
    ConditionType(
        HOSTED_CLUSTER,
        "Progressing",
        "upgrade",
        (
            Row("False", "none is asked for", "fine", "AsExpected"),
            Row("True", "being handed to the control plane"),
            Row(
                "False",
                "the hosted cluster refuses the next minor release: {why}",
                "stop",
                "Blocked",
                ("ClusterVersionUpgradeable condition is false: {why}",),
                "Remove what keeps it from being upgraded, or ask for a release of the same minor version.",
            ),
            Row(
                "False",
                "the annotation that forces it names another release image",
                "stop",
                "Blocked",
                ("force upgrade annotation is present but does not match",),
                "Set hypershift.openshift.io/force-upgrade-to to the very image of spec.release.",
            ),
            Row("False", "blocked: {why}", "wait", "Blocked", ("condition is false: {why}",)),
        ),
        good="False",
    ),
    ConditionType(
        HOSTED_CLUSTER,
        "ClusterVersionProgressing",
        "rollout",
        (
            Row("False", "{version} is complete", "fine", words=("Cluster version is {version}",)),
            Row(
                "True",
                "{version} is {percent} % done, waiting for {operators}",
                words=(
                    f"{_WORKING}, waiting on {{operators}} over 30 minutes",
                    f"{_WORKING}, waiting on {{operators}}",
                ),
            ),
            Row("True", "{version} is {percent} % done", words=(_WORKING,)),
            Row(
                "True",
                "{version} waits for the operator {operator}",
                words=("Unable to apply {version}: the cluster operator {operator} is not available",),
            ),
            Row(
                "True",
                "{version} waits for operators of the hosted cluster",
                words=(
                    "Unable to apply {version}: some cluster operators are not available",
                    "Unable to apply {version}: some cluster operators have not yet rolled out",
                ),
            ),
            Row("Unknown", "not begun yet"),
        ),
        good="False",
    ),
    ConditionType(
        HOSTED_CLUSTER,
        "ClusterVersionSucceeding",
        "rollout",
        (
            Row("True", "nothing fails", "fine"),
            Row(
                "False",
                "waiting for {operators}",
                words=(
                    "Cluster operators {operators} are not available",
                    "Cluster operator {operators} is not available",
                ),
            ),
            Row("Unknown", "waiting for slow operators: {message}", reason="SlowClusterOperator"),
            Row("Unknown", "not begun yet"),
        ),
    ),
    ConditionType(
        HOSTED_CLUSTER,
        "ClusterVersionAvailable",
        "rollout",
        (
            Row("True", "{version} is applied", "fine", words=("Done applying {version}",)),
            Row("False", "not complete yet"),
            Row("Unknown", "not begun yet"),
        ),
    ),
    ConditionType(
        HOSTED_CLUSTER,
        "ClusterVersionReleaseAccepted",
        "rollout",
        (
            Row("True", "the hosted cluster has accepted the release", "fine"),
            Row("False", "the hosted cluster cannot load the release: {message}", "grace", "RetrievePayload"),
            Row("Unknown", "not begun yet"),
        ),
    ),
    ConditionType(
        HOSTED_CLUSTER,
        "ClusterVersionUpgradeable",
        "upgrade",
        (
            Row("True", "the next minor release may come", "fine"),
            Row("False", "not to the next minor release now: {message}", "fine"),
            Row("Unknown", "not known yet", "fine"),
        ),
    ),
    ConditionType(
        HOSTED_CLUSTER,
        "ClusterVersionRetrievedUpdates",
        "upgrade",
        (
            Row("True", "the channel's updates are known", "fine"),
            Row("False", "no channel is asked for updates", "fine", "NoChannel"),
            Row("False", "the channel's updates are not known: {message}", "fine"),
            Row("Unknown", "not known yet", "fine"),
        ),
    ),
    ConditionType(
        HOSTED_CLUSTER,
        "EtcdRecoveryActive",
        "etcd",
        (Row("False", "needs no recovery", "fine"), Row("True", "a lost member is recovered")),
        good="False",
    ),
    ConditionType(
        HOSTED_CLUSTER,
        "HostedClusterRestoredFromBackup",
        "backup",
        (
            Row("True", "restored", "fine"),
            Row("Unknown", "none is restored", "fine"),
            Row("False", "being restored: {message}"),
        ),
    ),
    ConditionType(
        HOSTED_CLUSTER,
        "CloudResourcesDestroyed",
        "deletion",
        (
            Row("True", "what the hosted cluster made outside is gone", "fine"),
            Row("False", "removing {resources}", words=("Remaining resources: {resources}",)),
            Row(
                "Unknown",
                "waiting for the control plane to end",
                hint="When this lasts: look whether the control-plane-operator runs.",
            ),
            Row("False", "{message}"),
        ),
    ),
    ConditionType(
        HOSTED_CLUSTER,
        "HostedClusterDestroyed",
        "deletion",
        (Row("True", "waiting for the grace period: {message}", reason="WaitingForGracePeriod"),),
    ),
    ConditionType(
        HOSTED_CLUSTER,
        "AWSDefaultSecurityGroupDeleted",
        "deletion",
        (Row("True", "no concern of this platform", "fine"), Row("Unknown", "no concern of this platform", "fine")),
    ),
)

_POOL = "node pool {name}"
_PAYLOAD_HINT = "Look at the ignition server's log in the control plane's namespace."

NODE_POOLS = (
    ConditionType(NODE_POOL, "ReconciliationActive", _POOL, (Row("True", "active", "fine"), *_PAUSED)),
    ConditionType(
        NODE_POOL,
        "ValidReleaseImage",
        _POOL,
        (
            Row("True", "its release can be used", "fine"),
            Row(
                "False",
                "waiting till the hosted cluster has completed a release as new as {wanted} (it has {newest})",
                words=('the latest version supported is: "{newest}". Attempting to use: "{wanted}"',),
                hint="Upgrade the hosted cluster first; the node pool follows by itself.",
            ),
            *RELEASE,
            *IMAGE,
            Row("False", "{message}", "grace"),
        ),
    ),
    ConditionType(
        NODE_POOL,
        "IgnitionEndpointAvailable",
        _POOL,
        (Row("True", "the ignition server is there", "fine"), Row("False", "waiting for the ignition server")),
    ),
    ConditionType(
        NODE_POOL,
        "ValidArchPlatform",
        _POOL,
        (
            Row("True", "its architecture fits", "fine"),
            Row(
                "False",
                "machines of architecture {arch} are not possible on platform {platform}",
                "stop",
                words=("CPU arch {arch} is not supported for platform: {platform}, ",),
                hint="Delete the node pool, and create one with arch: amd64.",
            ),
            Row("False", "waiting for the hosted cluster's release", words=("HostedCluster payload type, ; ",)),
            Row(
                "False",
                "the hosted cluster's release has no images for architecture {arch}",
                "stop",
                words=("NodePool CPU arch, {arch}, is not supported by the HostedCluster",),
                hint="Use a multi-arch release, or another node pool.",
            ),
        ),
    ),
    ConditionType(
        NODE_POOL,
        "ValidMachineConfig",
        _POOL,
        (
            Row("True", "its configuration is valid", "fine"),
            Row(
                "False",
                "imageContentSources of the hosted cluster keep its machines from getting a configuration",
                "stop",
                words=("expected 3 core ignition configs, found 4",),
                hint="This version of the operator cannot have imageContentSources with platform MAAS: remove them.",
            ),
            Row("False", "waiting for the control plane's part of its configuration", words=("core ignition configs",)),
            Row(
                "False",
                "ConfigMap {name} is missing",
                "grace",
                words=('ConfigMap "{name}" not found',),
                hint=ONCE_FOUND,
            ),
            Row(
                "False",
                "a ConfigMap of its configuration is wrong: {why}",
                "stop",
                words=("failed validation: {why}",),
                hint="Correct the ConfigMap that spec.config names.",
            ),
            Row("False", "{message}", "grace"),
        ),
    ),
    ConditionType(
        NODE_POOL,
        "ValidTuningConfig",
        _POOL,
        (Row("True", "its tuning is valid", "fine"), Row("False", "its tuning is wrong: {message}", "grace")),
    ),
    ConditionType(
        NODE_POOL,
        "UpdateManagementEnabled",
        _POOL,
        (
            Row("True", "its way of upgrading is possible", "fine"),
            Row("False", "its way of upgrading is not possible: {message}", "stop"),
        ),
    ),
    ConditionType(
        NODE_POOL,
        "ValidPlatformConfig",
        _POOL,
        (Row("True", "its platform is valid", "fine"), Row("False", "{message}", "grace")),
    ),
    ConditionType(
        NODE_POOL,
        "ValidMachineTemplate",
        _POOL,
        (Row("True", "its machine template is valid", "fine"), Row("False", "{message}", "stop")),
    ),
    ConditionType(
        NODE_POOL,
        "ClusterNetworkCIDRConflict",
        _POOL,
        (
            Row("False", "no machine is in the pods' network", "fine"),
            Row(
                "True",
                "machine {machine} has the address {address}, which is in the pods' network {network}",
                "stop",
                words=("machine [{machine}] with ip [{address}] collides with cluster-network cidr [{network}]",),
                hint=f"Choose another clusterNetwork. {RECREATE}",
            ),
        ),
        good="False",
    ),
    ConditionType(
        NODE_POOL,
        "ValidGeneratedPayload",
        _POOL,
        (
            Row("True", "its ignition configuration is made", "fine"),
            Row("False", "its ignition configuration is asked for", reason="NotFound"),
            Row("Unknown", "waiting for its ignition configuration", hint=_PAYLOAD_HINT),
            Row(
                "",
                "its ignition configuration cannot be made: {why}",
                "grace",
                "InvalidConfig",
                ("error getting ignition payload: {why}", "failed to generate payload: {why}"),
                _PAYLOAD_HINT,
            ),
            Row(
                "", "its ignition configuration cannot be made: {message}", "grace", "InvalidConfig", (), _PAYLOAD_HINT
            ),
        ),
    ),
    ConditionType(
        NODE_POOL,
        "ReachedIgnitionEndpoint",
        _POOL,
        (
            Row("True", "a machine has fetched its ignition configuration", "fine"),
            Row(
                "False",
                "no machine has fetched its ignition configuration yet",
                hint="When machines are deployed and this lasts: look whether they reach the ignition endpoint of the "
                "hosted cluster (status.ignitionEndpoint).",
            ),
        ),
    ),
    ConditionType(
        NODE_POOL,
        "UpdatingVersion",
        _POOL,
        (
            Row(
                "False",
                "a node cannot be upgraded in place: {why}",
                "grace",
                "InplaceUpgradeFailed",
                ("in nodepool degraded: {why}",),
                STUCK_IN_PLACE,
            ),
            Row("False", "has its version", "fine"),
            Row("True", "rolling out version {version}", words=("Target version: {version}",)),
            Row("True", "{upgraded} of {all} nodes are upgraded", words=("Total Nodes: {all}. Upgraded: {upgraded}",)),
        ),
        good="False",
    ),
    ConditionType(
        NODE_POOL,
        "UpdatingConfig",
        _POOL,
        (
            Row(
                "False",
                "a node cannot be changed in place: {why}",
                "grace",
                "InplaceUpgradeFailed",
                ("in nodepool degraded: {why}",),
                STUCK_IN_PLACE,
            ),
            Row("False", "has its configuration", "fine"),
            Row(
                "True",
                "{upgraded} of {all} nodes have the new configuration",
                words=("Total Nodes: {all}. Upgraded: {upgraded}",),
            ),
            Row("True", "rolling out its configuration"),
        ),
        good="False",
    ),
    ConditionType(
        NODE_POOL,
        "UpdatingPlatformMachineTemplate",
        _POOL,
        (Row("False", "has its machine template", "fine"), Row("True", "rolling out its machine template")),
        good="False",
    ),
    ConditionType(
        NODE_POOL,
        "AllMachinesReady",
        _POOL,
        (
            Row("True", "no machine is reported as not ready", "fine"),
            Row("False", "shall have no machines", "fine", "AsExpected"),
            Row("False", "has no machines yet", reason="NotFound"),
            Row("False", "{few} of {all} machines are not ready", words=("{few} of {all} machines are not ready",)),
        ),
    ),
    ConditionType(
        NODE_POOL,
        "AllNodesHealthy",
        _POOL,
        (
            Row("True", "no node is reported as unhealthy", "fine"),
            Row("False", "shall have no nodes", "fine", "AsExpected"),
            Row("False", "has no nodes yet", reason="NotFound"),
        ),
    ),
    ConditionType(
        NODE_POOL,
        "AutoscalingEnabled",
        _POOL,
        (Row("True", "scaled automatically", "fine"), Row("False", "not scaled automatically", "fine")),
    ),
    ConditionType(
        NODE_POOL,
        "AutorepairEnabled",
        _POOL,
        (Row("True", "nodes that fail are replaced", "fine"), Row("False", "nodes that fail are not replaced", "fine")),
    ),
    ConditionType(
        NODE_POOL,
        "Ready",
        _POOL,
        (
            Row("True", "has its nodes", "fine"),
            Row(
                "False",
                "{there} of {wanted} nodes are available",
                words=("Minimum availability requires {wanted} replicas, current {there} available",),
            ),
        ),
    ),
)
