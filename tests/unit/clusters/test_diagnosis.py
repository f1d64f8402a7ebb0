# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.audit.leaks import Leak
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates.pure.judgement import CsrVerdict
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.pure.blockers import DeletionState
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.diagnosis.evidence import Evidence
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.diagnosis.pure.findings import (
    NEXT_STEPS,
    SEVERITIES,
    TURNS,
    DiagnosisFinding,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.diagnosis.report import diagnose, page
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.listing import InMaas
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    CLUSTERS,
    DEPLOYMENTS,
    MAAS_MACHINES,
    MACHINES,
    NODE_POOLS,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    Object,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.times import stamp_of
from unit.clusters.grown import (
    BORN,
    GENERATION,
    IN_MAAS,
    INNER,
    NOW,
    SETTLED,
    WHOLE,
    deleting,
    hosted_cluster,
    in_maas,
    maas_machine,
    machine,
    node,
    node_pool,
)

JUST = stamp_of(NOW - 10)


def deployment(name: str, there: int = 1, *, replicas: int = 1, namespace: str = INNER, since: str = SETTLED) -> Object:
    """Available since then, or not."""
    shown = {"type": "Available", "status": "True" if there >= replicas else "False", "lastTransitionTime": since}
    return {
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"replicas": replicas},
        "status": {"availableReplicas": there, "conditions": [shown]},
    }


def lease(name: str, age: float, *, namespace: str = INNER, holder: str = "somebody", lasts: int = 15) -> Object:
    """One that was renewed so many seconds ago."""
    return {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"renewTime": stamp_of(NOW - age), "holderIdentity": holder, "leaseDurationSeconds": lasts},
    }


def pool_owner() -> Object:
    return {
        "kind": "MachineDeployment",
        "metadata": {"name": "workers", "namespace": INNER, "generation": 1},
        "spec": {"replicas": 2},
        "status": {"availableReplicas": 2, "observedGeneration": 1},
    }


OPERATOR = deployment("operator", namespace="hypershift")
WELL = Evidence(
    replace(WHOLE, machine_deployments=[pool_owner()], nodes=[node(1), node(2)], requests=[]),
    NOW,
    beside={DEPLOYMENTS: [deployment("capi-provider"), deployment("cluster-api"), deployment("kube-apiserver")]},
    operators={DEPLOYMENTS: [OPERATOR]},
    storage_classes=[],
    in_maas=InMaas(IN_MAAS),
)


def with_seen(**changes: Any) -> Evidence:
    return replace(WELL, seen=replace(WELL.seen, **changes))


def with_programs(*workloads: Object, leases: tuple[Object, ...] = (), pods: tuple[Object, ...] = ()) -> Evidence:
    return replace(WELL, beside={**WELL.beside, DEPLOYMENTS: workloads, PODS: pods}, leases=leases)


def with_machine(own: Object, *, body: Object | None = None, behind: dict[str, Any] | None = None) -> Evidence:
    """The second machine is not well."""
    seen = replace(
        WELL.seen,
        machines=[machine(1), body or machine(2, node=None)],
        maas_machines=[maas_machine(1), own],
        nodes=[node(1)],
    )
    known = {"abc001": in_maas(1), **({behind["system_id"]: behind} if behind else {})}
    return replace(WELL, seen=seen, in_maas=InMaas(known))


def about(found: Evidence, label: str) -> DiagnosisFinding:
    """What is said of one object."""
    told = [one for one in diagnose(found) if one.object == label]
    assert len(told) == 1, [(one.object, one.what) for one in diagnose(found)]
    return told[0]


HC, NP, SECOND = "HostedCluster clusters/demo", "NodePool clusters/workers", f"Machine {INNER}/workers-zj82r-2"


def test_what_a_task_has_paused_says_why_and_who_continues_it() -> None:
    refused = "failed to deploy MaasMachine instance: Unable to deploy machine: status: 400, message: {'distro_series'}"
    own = maas_machine(2, "False", "MachineDeployFailed", refused, system_id="")
    own["metadata"]["annotations"] |= {"cluster.x-k8s.io/paused": "true", "metalshift.maas/given-up": "x"}
    label = f"MaasMachine {INNER}/workers-zj82r-2"
    told = about(with_machine(own), label)
    assert "is paused since a task gave up waiting for it" in told.what
    assert "MAAS does not know the image" in told.what
    assert told.next_step.endswith("Then run the task again, which continues it.")
    assert SECOND not in {one.object for one in diagnose(with_machine(own))}
    theirs = maas_machine(2, "False", "MachineDeploying", "")
    theirs["metadata"]["annotations"] |= {"cluster.x-k8s.io/paused": "true", "metalshift.maas/not-ours": "abc002"}
    told = about(with_machine(theirs), label)
    assert "is paused, as it names abc002, which is not this cluster's" in told.what
    assert "Delete the Machine of this name" in told.next_step


@pytest.mark.parametrize(("platform", "said"), [("MAAS", True), ("None", False)])
def test_a_platform_that_openshift_refuses_is_an_error_before_there_is_a_node(platform: str, said: bool) -> None:
    manifest = f"spec: {{platformSpec: {{type: {platform}}}}}"
    config_map = {"data": {"cluster-infrastructure-02-config.yaml": manifest}}
    told = diagnose(replace(WELL, machine_config_server=config_map))
    assert [one.severity for one in told if "platform MAAS" in one.what] == (["error"] if said else [])


def test_of_a_cluster_that_is_well_nothing_is_said() -> None:
    assert diagnose(WELL) == []
    assert page(WELL, []) == "Hosted cluster clusters/demo is available: nothing is wrong.\n"


def test_a_cluster_that_is_not_there_is_one_sentence() -> None:
    (said,) = diagnose(Evidence(ClusterSnapshot("clusters", "demo"), NOW))
    assert said.what == "There is no HostedCluster clusters/demo, and nothing that one has left."
    assert said.turn == "user"


# -- whose turn ------------------------------------------------------------------------------------------------------

FAILED = "failed to deploy MaasMachine instance: "

MACHINES_AND_TURNS = [
    ("False", "WaitingForBootstrapData", "", "operator", "waiting for its ignition configuration"),
    ("False", "WaitingForClusterInfrastructure", "", "operator", "waiting for the address of the hosted cluster's API"),
    ("False", "MachineDeploying", "", "maas", "MAAS deploys it"),
    ("False", "MachinePoweredOff", "", "maas", "MAAS deploys it, and has not switched it on yet"),
    (
        "False",
        "MachineDeployFailed",
        f"{FAILED}Unable to allocate machine: status: 409, message: No machine available.",
        "user",
        "MAAS has no machine that fits",
    ),
    (
        "False",
        "MachineDeployFailed",
        f"{FAILED}Unable to allocate machine: status: 401, message: Expired",
        "user",
        "MAAS does not accept the provider's API key",
    ),
    (
        "False",
        "MachineDeployFailed",
        f"{FAILED}Unable to deploy machine: status: 409, message: Can't deploy a machine that is in the "
        "'Failed deployment' state",
        "maas",
        "the deployment failed in MAAS (Failed deployment)",
    ),
    (
        "False",
        "MachineDeployFailed",
        f'{FAILED}Unable to allocate machine: Post "http://maas/MAAS/api/2.0/machines/": EOF',
        "maas",
        "MAAS does not answer the provider",
    ),
    ("Unknown", "MachineNotFound", "status: 503, message: x", "maas", "MAAS does not say how it is"),
]


@pytest.mark.parametrize(("status", "reason", "message", "turn", "says"), MACHINES_AND_TURNS)
def test_a_machine_says_whose_turn_it_is(status: str, reason: str, message: str, turn: str, says: str) -> None:
    said = about(with_machine(maas_machine(2, status, reason, message, system_id="")), SECOND)
    assert says in said.what
    assert said.turn == turn
    assert said.since == BORN


def test_a_machine_without_its_maas_machine_waits_for_the_provider() -> None:
    own = maas_machine(2, system_id="")
    own["status"] = {}
    assert about(with_machine(own), SECOND).turn == "provider"


def test_a_deployed_machine_without_a_node_waits_for_the_machine_itself() -> None:
    said = about(with_machine(maas_machine(2), behind=in_maas(2)), SECOND)
    assert (said.turn, said.severity) == ("node", "error")
    assert "waiting for its node to join" in said.what


def test_a_node_that_is_silent_is_its_own_turn() -> None:
    silent = node(2, "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.")
    said = about(with_seen(nodes=[node(1), silent]), SECOND)
    assert said.turn == "node"
    assert "its kubelet does not report any more" in said.what


def test_what_maas_says_of_a_machine_stands_beside_it() -> None:
    own = maas_machine(2, "False", "MachineDeploying", "")
    behind = in_maas(2, "Failed deployment", 11, error_description="Installation failed.")
    found = replace(with_machine(own, behind=behind), events={"abc002": ["10:00: Node installation failure"]})
    assert about(found, SECOND).what.endswith(
        "MAAS says of worker2: Failed deployment, Installation failed. Its last event: 10:00: Node installation failure"
    )


@pytest.mark.parametrize(
    ("behind", "turn", "says"),
    [
        (in_maas(2, "Broken", 8), "maas", "Its machine was deployed, and is not any more."),
        (in_maas(2, "Ready", 4), "user", "MAAS says of worker2: Ready."),
        (in_maas(2, power_state="off"), "maas", "worker2 is deployed, and switched off."),
        (None, "user", "MAAS does not know abc002 any more"),
    ],
)
def test_what_was_changed_in_maas_behind_the_provider_is_told(
    behind: dict[str, Any] | None, turn: str, says: str
) -> None:
    known = {"abc001": in_maas(1), **({"abc002": behind} if behind else {})}
    said = about(replace(WELL, in_maas=InMaas(known)), f"MaasMachine {INNER}/workers-zj82r-2")
    assert says in said.what
    assert (said.turn, said.severity) == (turn, "error")


CLUSTERS_AND_TURNS = [
    (
        ("ReconciliationSucceeded", "False", "ReconciliationError", "expected .dockerconfigjson key in pull secret"),
        "user",
        "error",
    ),
    (
        (
            "ValidReleaseImage",
            "False",
            "InvalidImage",
            'the latest version supported is: "4.20.0". Attempting to use: "4.21.3"',
        ),
        "user",
        "error",
    ),
    (
        ("ValidConfiguration", "False", "InvalidConfiguration", "configMap x must have a ca-bundle.crt key"),
        "user",
        "error",
    ),
    (("EtcdAvailable", "False", "EtcdWaitingForQuorum", "Waiting for etcd to reach quorum"), "operator", "error"),
    (("KubeAPIServerAvailable", "False", "WaitingForAvailable", "Waiting"), "operator", "error"),
]


@pytest.mark.parametrize(("shown", "turn", "severity"), CLUSTERS_AND_TURNS)
def test_conditions_say_whose_turn_it_is(shown: tuple[str, str, str, str], turn: str, severity: str) -> None:
    lost = ("Available", "False", "WaitingForAvailable", "")
    plane = {"metadata": {"name": "demo"}, "status": hosted_cluster(shown, lost)["status"]}
    said = diagnose(with_seen(cluster=hosted_cluster(shown, lost), control_plane=plane, nodes=None))[0]
    assert said.object == HC
    assert (said.turn, said.severity, said.since) == (turn, severity, SETTLED)


def test_what_has_just_begun_to_wait_is_no_error() -> None:
    own = maas_machine(2, "False", "MachineDeploying", "", since=JUST)
    young = machine(2, node=None)
    young["metadata"]["creationTimestamp"] = JUST
    assert about(with_machine(own, body=young, behind=in_maas(2, "Deploying", 9)), SECOND).severity == "waiting"
    old = machine(2, node=None)
    old["metadata"]["creationTimestamp"] = stamp_of(NOW - 3700)
    assert about(with_machine(own, body=old, behind=in_maas(2, "Deploying", 9)), SECOND).severity == "error"


# -- programs --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "turn", "says"),
    [
        (deployment("capi-provider", 0), "provider", "does not run"),
        (deployment("cluster-api", 0), "provider", "does not run"),
        (deployment("control-plane-operator", 0), "operator", "does not run"),
        (deployment("kube-apiserver", 1, replicas=3), "operator", "has 1 of 3 pods"),
        (deployment("capi-provider", 0, replicas=0), "user", "is scaled to 0"),
    ],
)
def test_a_program_that_does_not_run_is_told_with_its_turn(body: Object, turn: str, says: str) -> None:
    said = about(with_programs(body), f"Deployment {INNER}/{body['metadata']['name']}")
    assert says in said.what
    assert (said.turn, said.severity) == (turn, "error")
    assert INNER in said.next_step


def test_why_its_pods_do_not_start_decides_whose_turn_it_is() -> None:
    pod = {
        "metadata": {"name": "capi-provider-5d8f7c-x2x4z", "namespace": INNER},
        "status": {
            "containerStatuses": [
                {"state": {"waiting": {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "x"'}}}
            ]
        },
    }
    other = {"metadata": {"name": "capi-provider-5d8f7c-x2x4z", "namespace": "elsewhere"}, "status": {}}
    found = with_programs(deployment("capi-provider", 0), pods=(other, pod))
    said = about(found, f"Deployment {INNER}/capi-provider")
    assert said.turn == "user"
    assert 'ImagePullBackOff: Back-off pulling image "x"' in said.what


@pytest.mark.parametrize(
    ("ages", "silent"),
    [
        ((32.0, 1.0), True),
        ((31.0, 1.0), False),
        # All are late: it is our clock that goes wrong, or the API server that stood still.
        ((500.0, 500.0), False),
    ],
)
def test_a_program_that_stands_still_is_seen_by_its_lease(ages: tuple[float, float], silent: bool) -> None:
    own, others = ages
    leases = (lease("controller-leader-election-capmaas", own), lease("control-plane-operator-leader-elect", others))
    told = diagnose(with_programs(deployment("capi-provider"), leases=leases))
    assert [(one.object, one.turn) for one in told] == ([(f"Deployment {INNER}/capi-provider", "provider")] * silent)
    assert all("rollout restart" in one.next_step for one in told)


def test_a_lease_that_was_given_back_says_nothing() -> None:
    leases = (lease("controller-leader-election-capmaas", 900, holder=""), lease("other", 0))
    assert diagnose(with_programs(deployment("capi-provider"), leases=leases)) == []


def test_an_operator_that_is_not_there_comes_first() -> None:
    waiting = ("EtcdAvailable", "False", "EtcdWaitingForQuorum", "")
    found = replace(with_seen(cluster=hosted_cluster(waiting)), operators={DEPLOYMENTS: []})
    first = diagnose(found)[0]
    assert (first.object, first.turn) == ("Deployment hypershift/operator", "operator")
    assert "does not exist" in first.what


def test_an_operator_that_may_not_be_looked_at_is_not_said_to_be_gone() -> None:
    assert diagnose(replace(WELL, operators={DEPLOYMENTS: None})) == []


def test_many_programs_that_do_not_run_are_one_line() -> None:
    found = with_programs(*(deployment(f"part-{number}", 0) for number in range(7)))
    (said,) = diagnose(found)
    assert said.what == (
        "Of the control plane, part-0, part-1, part-2, part-3, part-4 and 2 more do not run as they should "
        "(it has no pods)."
    )


# -- storage ---------------------------------------------------------------------------------------------------------


def claim(storage_class: str | None) -> Object:
    spec = {} if storage_class is None else {"storageClassName": storage_class}
    return {
        "metadata": {"name": "data-etcd-0", "namespace": INNER, "creationTimestamp": BORN},
        "spec": spec,
        "status": {"phase": "Pending"},
    }


def storage_class(name: str, default: bool = False) -> Object:
    return {
        "metadata": {
            "name": name,
            "annotations": {"storageclass.kubernetes.io/is-default-class": "true"} if default else {},
        }
    }


@pytest.mark.parametrize(
    ("wanted", "there", "says"),
    [
        ("fast", [storage_class("slow")], "there is no storage class fast"),
        (None, [storage_class("slow")], "it names no storage class, and none is the default"),
        (None, [storage_class("slow", default=True)], "its storage class does not provide it"),
        ("slow", [storage_class("slow")], "its storage class does not provide it"),
        ("slow", None, "nobody has provided it"),
    ],
)
def test_a_volume_that_does_not_come_is_the_users_turn(
    wanted: str | None, there: list[Object] | None, says: str
) -> None:
    waiting = ("EtcdAvailable", "False", "EtcdWaitingForQuorum", "Waiting for etcd to reach quorum")
    lost = ("Available", "False", "EtcdWaitingForQuorum", "Waiting for etcd to reach quorum")
    found = replace(
        with_seen(cluster=hosted_cluster(waiting, lost), nodes=None),
        beside={**WELL.beside, PERSISTENT_VOLUME_CLAIMS: [claim(wanted)]},
        storage_classes=there,
    )
    first = diagnose(found)[0]
    assert says in first.what
    assert (first.object, first.turn) == (f"PersistentVolumeClaim {INNER}/data-etcd-0", "user")
    assert "etcd: waiting for quorum." not in [one.what for one in diagnose(found)]


# -- pauses ----------------------------------------------------------------------------------------------------------


def test_a_pause_is_a_warning_as_long_as_all_is_well() -> None:
    assert about(with_seen(cluster=hosted_cluster(pausedUntil="true")), HC).severity == "warning"
    pool = node_pool(pausedUntil="true")
    # The pause itself is a change that the operator does not look at any more.
    pool["metadata"]["generation"] = GENERATION + 1
    said = [one for one in diagnose(with_seen(pools={"workers": pool})) if "is paused" in one.what]
    assert [(one.object, one.severity) for one in said] == [(NP, "warning")]
    pool["spec"]["replicas"] = 3
    said = [one for one in diagnose(with_seen(pools={"workers": pool})) if "is paused" in one.what]
    assert [(one.object, one.severity) for one in said] == [(NP, "error")]


def test_a_pause_keeps_what_is_deleted() -> None:
    said = about(with_seen(cluster=deleting(hosted_cluster(pausedUntil="true"))), HC)
    assert (said.severity, said.turn) == ("error", "user")
    assert said.what == "HostedCluster clusters/demo is paused: it is not removed."


def test_a_pause_of_cluster_api_that_nobody_meant_is_told() -> None:
    cluster = {"kind": "Cluster", "metadata": {"name": "demo-pvqnp", "namespace": INNER}, "spec": {"paused": True}}
    found = replace(WELL, beside={**WELL.beside, CLUSTERS: [cluster]})
    assert about(found, f"Cluster {INNER}/demo-pvqnp").turn == "user"
    meant = replace(found, seen=replace(found.seen, cluster=hosted_cluster(pausedUntil="true")))
    assert [one.object for one in diagnose(meant)] == [HC]


# -- the rest --------------------------------------------------------------------------------------------------------


def test_an_api_that_cannot_be_reached_from_here_is_told_although_all_conditions_are_fine() -> None:
    failure = Failure("unreachable", "The Kubernetes API does not answer.", reason="no answer within 8 seconds")
    said = about(replace(with_seen(nodes=None), hosted_failure=failure), HC)
    assert (said.turn, said.severity) == ("user", "error")
    assert "its API at 192.0.2.10:30443 cannot be used from here: no answer within 8 seconds." in said.what


@pytest.mark.parametrize(
    ("verdict", "turn", "severity"),
    [
        (CsrVerdict("csr-1", kind="client", node="worker3.maas", age=5, approved=True), "user", "waiting"),
        (CsrVerdict("csr-1", kind="client", node="worker3.maas", age=500, approved=True), "user", "error"),
        (
            CsrVerdict("csr-1", kind="serving", node="w", age=5, reason="node_not_linked", message="x."),
            "provider",
            "waiting",
        ),
        (CsrVerdict("csr-1", kind="client", node="w", age=5, reason="not_deployed", message="x."), "maas", "waiting"),
        (CsrVerdict("csr-1", kind="serving", node="w", age=500, reason="dns_name", message="x."), "user", "error"),
    ],
)
def test_certificate_requests_are_told_with_their_verdict(verdict: CsrVerdict, turn: str, severity: str) -> None:
    said = about(replace(WELL, verdicts=[verdict]), "CertificateSigningRequest csr-1")
    assert (said.turn, said.severity) == (turn, severity)


def test_requests_that_nobody_waits_for_are_no_trouble_of_a_healthy_cluster() -> None:
    """A day of them, of nodes that have their certificates."""
    again = [CsrVerdict(f"csr-{number}", kind="serving", node="w", age=900.0 * number) for number in range(93)]
    assert diagnose(replace(WELL, verdicts=[each.refused("superseded", "x.") for each in again])) == []


def test_whoever_asks_a_thousand_times_does_not_fill_the_page() -> None:
    asked = [CsrVerdict(f"csr-{number}", kind="client", node=f"guess-{number}", age=5) for number in range(1000)]
    flooded = replace(WELL, verdicts=[each.refused("unknown_machine", "x.") for each in asked])
    assert len(diagnose(flooded)) == 11
    assert about(flooded, "CertificateSigningRequests").what == "990 more certificate requests wait."


def test_a_maas_that_does_not_answer_is_said_once() -> None:
    trouble = "Could not read the machines from MAAS: connection refused."
    said = about(replace(WELL, in_maas=InMaas({}, trouble, "unreachable")), "MAAS")
    assert (said.what, said.turn) == (trouble, "maas")
    assert about(replace(WELL, in_maas=InMaas({}, trouble, "credentials")), "MAAS").turn == "user"


def test_a_pool_that_the_operator_has_overlooked_is_told_how_to_touch() -> None:
    missing = (
        "IgnitionEndpointAvailable",
        "False",
        "IgnitionEndpointMissing",
        "Ignition endpoint not available, waiting",
    )
    found = with_seen(pools={"workers": node_pool(missing)}, machines=[], maas_machines=[], machine_deployments=[])
    said = about(found, NP)
    assert (said.turn, said.severity) == ("operator", "error")
    assert "kubectl -n clusters annotate nodepool workers" in said.next_step


def test_a_pool_of_no_cluster_is_told() -> None:
    found = with_seen(cluster=None)
    assert "a hosted cluster that does not exist" in about(found, NP).what


def test_an_operator_of_the_hosted_cluster_that_is_not_well_is_told() -> None:
    bad = {
        "metadata": {"name": "ingress"},
        "status": {
            "conditions": [
                {"type": "Available", "status": "True"},
                {"type": "Degraded", "status": "True", "message": "no router", "lastTransitionTime": SETTLED},
            ]
        },
    }
    said = about(replace(WELL, cluster_operators=[bad]), "ClusterOperator ingress")
    assert (said.what, said.severity) == ("Its operator ingress is degraded: no router.", "warning")


# -- removal ---------------------------------------------------------------------------------------------------------


def removed(**changes: Any) -> Evidence:
    """The cluster is being deleted, and one MaasMachine holds on."""
    own, body, pool = deleting(maas_machine(1)), deleting(machine(1)), deleting(node_pool())
    cluster = deleting(hosted_cluster())
    scene = DeletionState(
        "clusters",
        "demo",
        {MAAS_MACHINES: [own], MACHINES: [body], NODE_POOLS: [pool]},
        **{"programs": {"capi-provider": deployment("capi-provider")}, **changes},
    )
    seen = replace(WELL.seen, cluster=cluster, pools={"workers": pool}, machines=[body], maas_machines=[own])
    return replace(WELL, seen=seen, scene=scene)


@pytest.mark.parametrize(
    ("changes", "turn"),
    [
        ({"programs": {"capi-provider": deployment("capi-provider", 0)}}, "provider"),
        ({"programs": {"capi-provider": None}}, "provider"),
        ({"key_refused": "Expired"}, "user"),
        ({"machine_troubles": {"abc001": "machine worker1 (abc001) is locked in MAAS"}}, "maas"),
        ({}, "provider"),
    ],
)
def test_what_holds_on_is_told_with_whose_turn_it_is(changes: dict[str, Any], turn: str) -> None:
    said = about(removed(**changes), f"MaasMachine {INNER}/workers-zj82r-1")
    assert said.turn == turn
    assert "maasmachine.infrastructure.cluster.x-k8s.io" in said.what


def test_a_finalizer_of_nobody_is_the_users_turn() -> None:
    found = removed()
    (own,) = found.scene.objects[MAAS_MACHINES]  # type: ignore[union-attr]
    own["metadata"]["finalizers"] = ["lab.example/stuck"]
    said = about(found, f"MaasMachine {INNER}/workers-zj82r-1")
    assert (said.turn, said.severity) == ("user", "error")


# -- leaks -----------------------------------------------------------------------------------------------------------


def test_leaks_are_told_and_what_is_kept_is_not() -> None:
    foreign = Leak("provider_id", "MaasMachine clusters-demo/x", "it names y, but z", "Pause it.")
    lost = Leak("machine", "worker9 (abc009)", "no MaasMachine names it", "Release it.", "suspect")
    kept = Leak("secret", "Secret clusters/demo-maas-credentials", "it outlives the cluster", "", "kept")
    found = replace(WELL, leaks=[lost, kept, foreign])
    assert [(one.object, one.severity) for one in diagnose(found)] == [
        ("MaasMachine clusters-demo/x", "error"),
        ("worker9 (abc009)", "warning"),
    ]


def test_what_is_on_its_way_out_is_no_leak_yet() -> None:
    lost = Leak("machine", "worker9 (abc009)", "it is Releasing, and not Ready yet", "Wait.")
    found = replace(WELL, seen=replace(WELL.seen, cluster=deleting(hosted_cluster())), leaks=[lost])
    assert "worker9 (abc009)" not in {one.object for one in diagnose(found)}


def test_leaks_of_a_cluster_that_is_gone_are_told() -> None:
    lost = Leak("machine", "worker9 (abc009)", "it is marked as this cluster's", "Release it.")
    told = diagnose(replace(Evidence(ClusterSnapshot("clusters", "demo"), NOW), leaks=[lost]))
    assert [one.object for one in told] == [HC, "worker9 (abc009)"]
    assert told[0].what == "There is no HostedCluster clusters/demo, but one thing has been left by one."
    assert told[0].next_step.startswith("See to what is left")
    more = diagnose(
        replace(Evidence(ClusterSnapshot("clusters", "demo"), NOW), leaks=[lost, replace(lost, object="worker8")])
    )
    assert more[0].what == "There is no HostedCluster clusters/demo, but 2 things have been left by one."


# -- the page --------------------------------------------------------------------------------------------------------


def test_the_page_tells_all_in_lines_that_fit() -> None:
    own = [maas_machine(number, "False", "MachineDeploying", "", system_id="") for number in (1, 2)]
    found = replace(
        with_seen(machines=[machine(1, node=None), machine(2, node=None)], maas_machines=own, nodes=[]),
        seen=replace(
            WELL.seen,
            machines=[machine(1, node=None), machine(2, node=None)],
            maas_machines=own,
            nodes=[],
            troubles=["No."],
        ),
    )
    told = diagnose(found)
    text = page(found, told)
    assert "machine workers-zj82r-1, machine workers-zj82r-2: MAAS deploys it." in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 110
    assert text.splitlines()[0] == "Hosted cluster clusters/demo is available: 3 waiting, 1 note." or "error" in text
    assert "Whose turn: that of MAAS. Next: Wait; when this lasts, look at the machine in MAAS." in text
    assert f"Since {BORN}, 1h00m." in " ".join(text.split())


def test_a_page_does_not_grow_for_ever() -> None:
    many = [DiagnosisFinding(f"Thing {number}", f"Thing {number} is wrong.", "user", "error") for number in range(40)]
    text = page(WELL, many)
    assert text.endswith("25 more are in the result.\n")
    assert len(text.splitlines()) < 60


def test_the_words_are_closed_lists() -> None:
    assert set(NEXT_STEPS) == set(TURNS)
    with pytest.raises(ValueError, match="closed lists"):
        DiagnosisFinding("x", "y", "weather", "error")
    with pytest.raises(ValueError, match="closed lists"):
        DiagnosisFinding("x", "y", "user", "dire")
    assert next(iter(SEVERITIES)) == "error"


def test_a_diagnosis_is_plain_json_with_a_next_step_for_everything() -> None:
    found = with_machine(maas_machine(2, "False", "MachineDeploying", "", system_id=""))
    told = [one.to_dict() for one in diagnose(found)]
    assert json.loads(json.dumps(told)) == told
    assert all(one["next_step"] for one in told)


def test_diagnosing_changes_nothing_of_what_was_seen() -> None:
    found = removed()
    before = copy.deepcopy(found.seen)
    diagnose(found)
    assert found.seen == before
