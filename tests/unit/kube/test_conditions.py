# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What conditions mean, in the words that operators were seen to write."""

from __future__ import annotations

import string
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.meanings import (
    LONGEST,
    ConditionType,
    Row,
    plain,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.table import (
    TABLE,
    conditions_of,
    meaning_of,
    meanings_of,
)

BODY: dict[str, Any] = {"metadata": {"name": "demo"}}
FAILED = "ReconciliationSucceeded", "False", "ReconciliationError"
IMAGE = "failed to get controlPlaneOperatorImage: failed to extract release metadata: "
NOT_DEPLOYED = "MachineDeployed", "False", "MachineDeployFailed"
DEPLOY = "failed to deploy MaasMachine instance: "

#: kind, type, status, reason, message; line, verdict
CASES = [
    (
        "HostedCluster",
        *FAILED,
        'failed to get pull secret: Secret "demo-pull-secret" not found',
        'hosted cluster: Secret "demo-pull-secret" with the pull secret is missing',
        "grace",
    ),
    (
        "HostedCluster",
        *FAILED,
        "expected .dockerconfigjson key in pull secret",
        "hosted cluster: the Secret with the pull secret has no key .dockerconfigjson",
        "stop",
    ),
    (
        "HostedCluster",
        *FAILED,
        f"{IMAGE}failed to get repo setup: GetRepoSetup - failed to parse docker credentials: unexpected EOF",
        "hosted cluster: the pull secret is no valid JSON",
        "stop",
    ),
    (
        "HostedCluster",
        *FAILED,
        'failed to reconcile pull secret: Secret "pull-secret" is invalid: data[.dockerconfigjson]: Invalid value: '
        '"<secret contents redacted>": unexpected end of JSON input',
        "hosted cluster: the pull secret is no valid JSON",
        "stop",
    ),
    (
        "HostedCluster",
        *FAILED,
        f'{IMAGE}failed to get repo setup: failed to create repository client for https://r:5000: Get "https://r:5000/v2/"'
        ": dial tcp 127.0.0.1:5000: connect: connection refused",
        "hosted cluster: the registry https://r:5000 cannot be reached",
        "wait",
    ),
    (
        "HostedCluster",
        *FAILED,
        f"{IMAGE}failed to obtain root manifest for r:5000/ocp/release:4.20.99: manifest unknown: manifest unknown",
        "hosted cluster: r:5000/ocp/release:4.20.99 is not in its registry",
        "grace",
    ),
    (
        "HostedCluster",
        *FAILED,
        f"{IMAGE}failed to obtain root manifest for r:5000/ocp/release:4.20.8: unauthorized: authentication required",
        "hosted cluster: the registry does not accept the pull secret for r:5000/ocp/release:4.20.8",
        "grace",
    ),
    (
        "HostedCluster",
        *FAILED,
        "failed to get controlPlaneOperatorImage: couldn't read image stream data as a serialized ImageStream: "
        "unexpected end of JSON input\nraw data:\n",
        "hosted cluster: the release image is no OpenShift release",
        "stop",
    ),
    (
        "HostedCluster",
        *FAILED,
        "failed to get hostedcluster SSHKey secret demo-ssh-key: Secret not found",
        'hosted cluster: Secret "demo-ssh-key" with the SSH key is missing',
        "grace",
    ),
    (
        "HostedCluster",
        *FAILED,
        'failed to reconcile hostedcontrolplane: hostedcontrolplanes "demo" is forbidden: ValidatingAdmissionPolicy '
        "'p' with binding 'p' denied request: Not on a Friday.",
        "hosted cluster: a policy of the management cluster refuses it: Not on a Friday.",
        "grace",
    ),
    (
        "HostedCluster",
        *FAILED,
        'failed to x: secrets "x" is forbidden: exceeded quota: q, requested: secrets=1, used: secrets=0',
        "hosted cluster: quota q of the control plane's namespace does not allow more",
        "grace",
    ),
    (
        "HostedCluster",
        *FAILED,
        'Operation cannot be fulfilled on hostedclusters "demo": the object has been modified',
        'hosted cluster: Operation cannot be fulfilled on hostedclusters "demo": the object has been modified',
        "wait",
    ),
    (
        "HostedCluster",
        "ValidConfiguration",
        "False",
        "InvalidConfiguration",
        'spec.networking.MachineNetwork: Invalid value: "10.132.0.0/16": spec.networking.MachineNetwork and '
        "spec.networking.ClusterNetwork overlap: 10.132.0.0/16 and 10.132.0.0/14",
        "configuration: MachineNetwork and ClusterNetwork overlap: 10.132.0.0/16 and 10.132.0.0/14",
        "stop",
    ),
    (
        "HostedCluster",
        "ValidConfiguration",
        "False",
        "InvalidConfiguration",
        'cluster does not support Routes, but service "OAuthServer" is exposed via a Route',
        "configuration: OAuthServer is published by Route, and the management cluster has no Routes",
        "stop",
    ),
    (
        "HostedCluster",
        "ValidReleaseImage",
        "False",
        "InvalidImage",
        'the latest version supported is: "4.21.0". Attempting to use: "4.25.0"',
        "release: 4.25.0 is too new: the newest possible is 4.21.0",
        "stop",
    ),
    (
        "HostedCluster",
        "PlatformCredentialsFound",
        "False",
        "PlatformCredentialsNotFound",
        "MAAS credentials secret is missing required key: MAAS_API_KEY",
        "credentials for MAAS: the Secret with the credentials for MAAS has no key MAAS_API_KEY",
        "stop",
    ),
    (
        "HostedCluster",
        "EtcdAvailable",
        "False",
        "EtcdWaitingForQuorum",
        "Waiting for etcd to reach quorum",
        "etcd: waiting for quorum",
        "wait",
    ),
    (
        "HostedCluster",
        "EtcdAvailable",
        "False",
        "EtcdWaitingForQuorum",
        'Etcd volume claim data-etcd-0 pending: storageclass.storage.k8s.io "fast" not found',
        'etcd: volume data-etcd-0 is pending: there is no storage class "fast"',
        "grace",
    ),
    ("HostedCluster", "EtcdAvailable", "True", "QuorumAvailable", "", "etcd: has its quorum", "fine"),
    ("HostedControlPlane", "EtcdAvailable", "True", "QuorumAvailable", "", "etcd: has its quorum", "fine"),
    (
        "HostedCluster",
        "InfrastructureReady",
        "False",
        "WaitingOnInfrastructureReady",
        "kube-apiserver load balancer is not provisioned; 43s since creation.",
        "services: waiting for the load balancer of the API server",
        "wait",
    ),
    (
        "HostedCluster",
        "InfrastructureReady",
        "Unknown",
        "InfraStatusFailure",
        "APIServer service strategy not specified",
        "services: spec.services does not say how to publish APIServer",
        "stop",
    ),
    (
        "HostedControlPlane",
        "ClusterVersionFailing",
        "True",
        "ClusterOperatorNotAvailable",
        "Cluster operator ingress is not available",
        "rollout: waiting for ingress",
        "wait",
    ),
    (
        "HostedControlPlane",
        "ClusterVersionFailing",
        "Unknown",
        "SlowClusterOperator",
        "waiting on ingress over 30 minutes which is longer than expected",
        "rollout: waiting for slow operators: waiting on ingress over 30 minutes which is longer than expected",
        "wait",
    ),
    (
        "HostedCluster",
        "ClusterVersionProgressing",
        "True",
        "FromClusterVersion",
        "Working towards 4.20.3: 512 of 597 done (85% complete), waiting on console, ingress",
        "rollout: 4.20.3 is 85 % done, waiting for console, ingress",
        "wait",
    ),
    (
        "HostedCluster",
        "Progressing",
        "False",
        "Blocked",
        "ClusterVersionUpgradeable condition is false: cluster version is not upgradeable",
        "upgrade: the hosted cluster refuses the next minor release: cluster version is not upgradeable",
        "stop",
    ),
    (
        "HostedCluster",
        "ValidIDPConfiguration",
        "False",
        "IDPConfigurationError",
        "failed to initialize identity providers: failed to apply IDP nowhere config: failed to build konnectivity "
        'dialer: failed to get kubeconfig secret: Secret "service-network-admin-kubeconfig" not found',
        "identity providers: waiting for the API server",
        "wait",
    ),
    (
        "NodePool",
        "ValidGeneratedPayload",
        "",
        "InvalidConfig",
        "failed to generate payload: error getting ignition payload: no disk",
        "node pool demo: its ignition configuration cannot be made: no disk",
        "grace",
    ),
    (
        "NodePool",
        "ValidGeneratedPayload",
        "Unknown",
        None,
        "Unable to get status data from token secret",
        "node pool demo: waiting for its ignition configuration",
        "wait",
    ),
    (
        "NodePool",
        "ValidMachineConfig",
        "False",
        "ValidationFailed",
        "expected 3 core ignition configs, found 4",
        "node pool demo: imageContentSources of the hosted cluster keep its machines from getting a configuration",
        "stop",
    ),
    (
        "NodePool",
        "ValidMachineConfig",
        "False",
        "ValidationFailed",
        "expected 2 core ignition configs, found 0",
        "node pool demo: waiting for the control plane's part of its configuration",
        "wait",
    ),
    (
        "NodePool",
        "ValidArchPlatform",
        "False",
        "InvalidArchPlatform",
        "NodePool CPU arch, amd64, is not supported by the HostedCluster payload type, ; either change",
        "node pool demo: waiting for the hosted cluster's release",
        "wait",
    ),
    (
        "NodePool",
        "UpdatingVersion",
        "False",
        "InplaceUpgradeFailed",
        "Node worker01.maas in nodepool degraded: unexpected on-disk state",
        "node pool demo: a node cannot be upgraded in place: unexpected on-disk state",
        "grace",
    ),
    (
        "NodePool",
        "Ready",
        "False",
        "WaitingForAvailableMachines",
        "Minimum availability requires 2 replicas, current 0 available",
        "node pool demo: 0 of 2 nodes are available",
        "wait",
    ),
    (
        "MaasMachine",
        *NOT_DEPLOYED,
        f"{DEPLOY}Unable to allocate machine: status: 401, message: Authorization Error: Invalid token: s3cr3t",
        "machine demo: MAAS does not accept the provider's API key",
        "grace",
    ),
    (
        "MaasMachine",
        *NOT_DEPLOYED,
        f"{DEPLOY}Unable to allocate machine: status: 409, message: No machine available.",
        "machine demo: MAAS has no machine that fits",
        "wait",
    ),
    (
        "MaasMachine",
        *NOT_DEPLOYED,
        f"{DEPLOY}Unable to allocate machine: status: 503, message: Simulated failure.",
        "machine demo: MAAS answers with an error (503)",
        "wait",
    ),
    (
        "MaasMachine",
        *NOT_DEPLOYED,
        f'{DEPLOY}Unable to allocate machine: Post "http://127.0.0.1:5240/MAAS/api/2.0/machines/": EOF',
        "machine demo: MAAS does not answer the provider",
        "wait",
    ),
    (
        "MaasMachine",
        *NOT_DEPLOYED,
        f"{DEPLOY}Unable to deploy machine: status: 409, message: Can't deploy a machine that is in the "
        "'Failed deployment' state",
        "machine demo: the deployment failed in MAAS (Failed deployment), another try follows",
        "wait",
    ),
    (
        "MaasMachine",
        *NOT_DEPLOYED,
        f"{DEPLOY}something at http%!A(MISSING)%!F(MISSING)maas",
        "machine demo: failed to deploy MaasMachine instance: something at http…maas",
        "wait",
    ),
    ("MaasMachine", "MachineDeployed", "False", "MachineDeploying", "", "machine demo: MAAS deploys it", "wait"),
    (
        "MaasMachine",
        "MachineDeployed",
        "False",
        "MachineDeployFailed",
        f"{DEPLOY}Unable to disable swap: status: 403, message: You do not have permission",
        "machine demo: the provider's user is not an administrator of MAAS, which each deployment needs",
        "grace",
    ),
    (
        "MaasMachine",
        "MachineDeployed",
        "False",
        "WaitingForStaticIP",
        "",
        "machine demo: waiting for its static address",
        "wait",
    ),
    (
        "MaasMachine",
        "MachineDeployed",
        "Unknown",
        "MachineStateUndefined",
        "",
        "machine demo: in a state of MAAS that the provider does not know",
        "wait",
    ),
    ("MaasMachine", "MachineDeployed", "True", "MachineDeployed", "", "machine demo: deployed by MAAS", "fine"),
    (
        "MaasMachine",
        "Ready",
        "False",
        "IssuesReported",
        "* MachineDeployed: x",
        "machine demo: * MachineDeployed: x",
        "wait",
    ),
    (
        "MaasCluster",
        "LoadBalancerReady",
        "False",
        "LoadBalancerFailed",
        "ServerError: status: 404, message: No Domain matches the given query.",
        "MAAS cluster: MAAS does not have the cluster's DNS domain",
        "grace",
    ),
    (
        "MaasCluster",
        "LXDReady",
        "False",
        "LXDSetupPending",
        "",
        "MAAS cluster: its machines are being set up as LXD hosts",
        "wait",
    ),
    (
        "MaasCluster",
        "LXDReady",
        "False",
        "LXDFailed",
        "no trust",
        "MAAS cluster: its machines cannot be set up as LXD hosts: no trust",
        "grace",
    ),
    ("MaasCluster", "LXDReady", "True", "LXDReady", "", "MAAS cluster: its machines serve as LXD hosts", "fine"),
    (
        "MaasCluster",
        "APIServerAvailable",
        "True",
        "APIServerAvailable",
        "",
        "MAAS cluster: the provider reaches the hosted cluster's API",
        "fine",
    ),
    (
        "Machine",
        "DrainingSucceeded",
        "False",
        "Draining",
        "Drain not completed yet (started at 2026-11-18T22:06:25Z):\n* Pod default/app3: cannot evict pod as it would "
        "violate the pod's disruption budget. The disruption budget x needs 1 healthy pods and has 1 currently",
        "machine demo: waiting for pod default/app3, which budget x protects",
        "wait",
    ),
    (
        "Machine",
        "Deleting",
        "True",
        "WaitingForInfrastructureDeletion",
        "Waiting for MaasMachine to be deleted",
        "machine demo: waiting for its release in MAAS",
        "wait",
    ),
    (
        "Node",
        "Ready",
        "False",
        "KubeletNotReady",
        "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin "
        "returns error: No CNI configuration file in /etc/kubernetes/cni/net.d/.",
        "node demo: waiting for its pod network",
        "wait",
    ),
    (
        "Namespace",
        "NamespaceFinalizersRemaining",
        "True",
        "SomeFinalizersRemain",
        "Some content in the namespace has finalizers remaining: lab.example/stuck in 1 resource instances",
        "namespace demo: waiting for finalizers: lab.example/stuck in 1 resource instances",
        "wait",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[5])
def test_a_condition_has_a_meaning(case: tuple[str, ...]) -> None:
    kind, which, status, reason, message, line, verdict = case
    meaning = meaning_of(kind, {"type": which, "status": status, "reason": reason, "message": message}, BODY)
    assert (meaning.line, meaning.verdict) == (line, verdict)
    assert verdict != "stop" or meaning.hint, "where waiting ends, it is said what to do"


def test_what_maas_says_to_a_wrong_key_is_never_repeated() -> None:
    """The body of such an answer can hold the key."""
    message = f"{DEPLOY}Unable to allocate machine: status: 401, message: Invalid token: s3cr3t"
    shown = dict(zip(("type", "status", "reason", "message"), (*NOT_DEPLOYED, message), strict=True))
    meaning = meaning_of("MaasMachine", shown, BODY)
    assert "s3cr3t" not in f"{meaning.line}{meaning.hint}"


def test_a_condition_that_nobody_knows_says_what_it_says_itself() -> None:
    meaning = meaning_of("HostedCluster", {"type": "New", "status": "False", "message": "Not\nyet"}, BODY)
    assert (meaning.line, meaning.verdict) == ("New: Not yet", "wait")


@pytest.mark.parametrize("odd", [None, "text", 7, [], {}, {"type": None, "status": 1, "reason": [], "message": {}}])
@pytest.mark.parametrize("kind", ["HostedCluster", "MaasMachine", "Nobody"])
def test_odd_conditions_have_a_meaning_too(kind: str, odd: Any) -> None:
    assert meaning_of(kind, odd, {"metadata": None}).line


def test_conditions_of_the_next_version_are_known_where_there_is_no_other() -> None:
    old, new = {"type": "Ready", "status": "True"}, {"type": "Ready", "status": "False"}
    deleting = {"type": "Deleting", "status": "True"}
    body = {"status": {"conditions": [old], "v1beta2": {"conditions": [new, deleting]}}}
    assert conditions_of(body) == {"Ready": old, "Deleting": deleting}
    assert conditions_of({"status": None}) == conditions_of(None) == {}


def test_meanings_come_in_the_order_of_the_table() -> None:
    body = {
        "status": {"conditions": [{"type": each, "status": "True"} for each in ("New", "Available", "EtcdAvailable")]}
    }
    assert [shown["type"] for shown, _meaning in meanings_of("HostedCluster", body)] == [
        "EtcdAvailable",
        "Available",
        "New",
    ]


def _rows() -> list[tuple[ConditionType, Row]]:
    return [(entry, row) for entry in TABLE for row in entry.rows]


def _names(text: str) -> set[str]:
    return {name for _text, name, _spec, _conversion in string.Formatter().parse(text) if name}


@pytest.mark.parametrize(("entry", "row"), _rows(), ids=lambda each: getattr(each, "type", getattr(each, "text", "")))
def test_a_row_quotes_only_what_all_its_words_hold(entry: ConditionType, row: Row) -> None:
    given = set.intersection(*(_names(words) for words in row.words)) if row.words else set()
    assert (_names(row.text) | _names(row.hint)) <= given | {"message", "reason"}, entry.type


def test_no_row_stands_behind_one_that_takes_all_of_its_own() -> None:
    hidden = []
    for entry in TABLE:
        for number, row in enumerate(entry.rows):
            before = [
                one
                for one in entry.rows[:number]
                if one.status == row.status and one.reason in ("", row.reason) and not one.words
            ]
            hidden += [(entry.type, row.text) for _one in before]
    assert not hidden


def test_no_type_of_a_kind_is_in_the_table_twice() -> None:
    known = [(entry.kind, entry.type) for entry in TABLE]
    assert len(known) == len(set(known))


def test_a_long_message_is_cut() -> None:
    assert len(plain("word " * 1000)) == LONGEST
