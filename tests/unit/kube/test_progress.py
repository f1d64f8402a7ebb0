# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a hosted cluster is from its goal, when waiting ends, and what is said meanwhile."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.cluster_progress import (
    is_release,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.progress import (
    GOALS,
    GRACE,
    SETTLE,
    Assessment,
    Goal,
    assess,
    followed,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    HOSTED_CLUSTERS,
    MAAS_MACHINES,
    NODE_POOLS,
)
from unit.kube.shapes import (
    DIGEST,
    IMAGE,
    INSTALLING,
    NAME,
    NO_PLANE,
    PLANE,
    ROLLED_OUT,
    available_cluster,
    cluster,
    control_plane,
    deleted,
    deployment,
    history,
    maas_machine,
    machine,
    node,
    pool,
    sight,
    whole,
)

FAILED = "False/ReconciliationError/"
NO_SECRET = f'{FAILED}failed to get pull secret: Secret "demo-pull-secret" not found'
NO_KEY = f"{FAILED}expected .dockerconfigjson key in pull secret"
NOT_DEPLOYED = "False/MachineDeployFailed/failed to deploy MaasMachine instance:"
WRONG_KEY = f"{NOT_DEPLOYED} Unable to allocate machine: status: 401, message: x"
NO_MACHINE = f"{NOT_DEPLOYED} Unable to allocate machine: status: 409, message: No machine available."
SLOW = "Unknown/SlowClusterOperator/waiting on ingress over 30 minutes which is longer than expected"
MISSING = "True/ClusterOperatorsNotAvailable/Cluster operators {} are not available"


def look(seen: ClusterSnapshot, goal: Goal, lasting: float = 0.0, **more: Any) -> Assessment:
    """What is made of it when all that is said has been said for so many seconds."""
    topics = assess(seen, goal, 0.0, {}, **more).lines
    return assess(seen, goal, lasting, dict.fromkeys(topics, 0.0), **more)


def said(seen: ClusterSnapshot, goal: Goal, **more: Any) -> list[str]:
    return list(look(seen, goal, **more).lines.values())


def fresh(**conditions: str) -> ClusterSnapshot:
    """Right after creation: the operator could not do anything but complain."""
    body = cluster(generation=1, seen=1, **conditions)
    kept = [each for each in body["status"]["conditions"] if each["type"] in conditions]
    return sight(cluster={**body, "status": {"conditions": kept}})


# -- the control plane ----------------------------------------------------------------------------------------------


def starting(**conditions: str) -> ClusterSnapshot:
    """With a HostedControlPlane that says this."""
    none = dict.fromkeys(PLANE, "")
    return sight(cluster=cluster(), control_plane=control_plane(**{**none, **conditions}))


SERVED = {"InfrastructureReady": "True/AsExpected/All is well"}
STORED = {**SERVED, "EtcdAvailable": "True/QuorumAvailable/"}

STAGES: list[tuple[ClusterSnapshot, list[str]]] = [
    (sight(), ["hosted cluster: there is none"]),
    (sight(cluster={"metadata": {"name": NAME, "generation": 1}}), ["hosted cluster: waiting for the operator"]),
    (sight(cluster=cluster()), ["control plane: being created"]),
    (starting(), ["control plane: waiting for its operator to start"]),
    (
        starting(
            InfrastructureReady="False/WaitingOnInfrastructureReady/Cluster infrastructure is still provisioning",
            EtcdAvailable="False/StatefulSetNotFound/",
        ),
        ["services: being published"],
    ),
    (
        starting(**SERVED, EtcdAvailable="False/EtcdWaitingForQuorum/Waiting for etcd to reach quorum"),
        ["services: published", "etcd: waiting for quorum"],
    ),
    (
        starting(**STORED, KubeAPIServerAvailable="False/StatusUnknown/"),
        ["services: published", "etcd: has its quorum", "API server: starting"],
    ),
]


@pytest.mark.parametrize(("seen", "lines"), STAGES, ids=lambda each: each[-1] if isinstance(each, list) else "")
def test_each_stage_of_a_control_plane_is_told(seen: ClusterSnapshot, lines: list[str]) -> None:
    found = look(seen, "control_plane")
    assert list(found.lines.values()) == lines
    assert not found.reached
    assert found.stop is None


def test_a_control_plane_with_a_kubeconfig_is_reached() -> None:
    assert look(whole(), "control_plane").reached
    without = available_cluster()
    del without["status"]["kubeconfig"]
    found = look(whole(cluster=without), "control_plane")
    assert not found.reached
    assert found.lines["kubeconfig"] == "kubeconfig: waiting for the operator to publish it"


@pytest.mark.parametrize(
    "changed",
    [
        {"generation": 4},
        {"ReconciliationSucceeded": NO_SECRET},
        {"Progressing": "True/Progressing/HostedCluster is deploying, upgrading, or reconfiguring"},
        {"Progressing": "False/Blocked/ClusterVersionUpgradeable condition is false: not upgradeable"},
    ],
)
def test_a_change_that_has_not_arrived_is_not_reached(changed: dict[str, Any]) -> None:
    assert not look(whole(cluster=available_cluster(**changed)), "control_plane").reached
    assert not look(whole(cluster=available_cluster(**changed)), "complete").reached


def test_what_is_fine_and_only_a_part_is_known() -> None:
    stages = ("InfrastructureReady", "EtcdAvailable", "KubeAPIServerAvailable")
    assert look(whole(), "control_plane").parts == stages
    assert look(starting(**SERVED, EtcdAvailable="False/EtcdWaitingForQuorum/"), "control_plane").parts == stages[:1]
    coming = whole(machines=[machine("a", "node-a"), machine("b")], maas_machines=[maas_machine("a", "node-a")])
    assert look(coming, "nodes").parts == (*stages, "machine a")


def test_an_outage_of_etcd_is_told_as_what_it_is() -> None:
    plane = control_plane(
        EtcdAvailable="False/EtcdWaitingForQuorum/Waiting for etcd to reach quorum",
        Available="False/EtcdWaitingForQuorum/Waiting for etcd to reach quorum",
    )
    body = available_cluster(Available="False/EtcdWaitingForQuorum/Waiting for etcd to reach quorum")
    found = look(whole(cluster=body, control_plane=plane), "control_plane", 10 * GRACE)
    assert list(found.lines.values()) == ["services: published", "etcd: waiting for quorum"]
    assert found.stop is None


# -- what ends a wait -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "after", "text"),
    [
        (NO_SECRET, GRACE, 'hosted cluster: Secret "demo-pull-secret" with the pull secret is missing'),
        (NO_KEY, SETTLE, "hosted cluster: the Secret with the pull secret has no key .dockerconfigjson"),
    ],
)
def test_a_pull_secret_that_cannot_be_used_ends_a_wait(words: str, after: float, text: str) -> None:
    """The first silent state: there is no other condition, and there will be none."""
    seen = fresh(ReconciliationSucceeded=words)
    assert look(seen, "control_plane", after - 1).stop is None
    stop = look(seen, "control_plane", after).stop
    assert stop is not None
    assert stop.text == text
    assert stop.hint
    assert words.rpartition("/")[2] in stop.reason


@pytest.mark.parametrize("way", ["LoadBalancer", "None", ""])
def test_ignition_that_is_published_in_no_possible_way_ends_a_wait(way: str) -> None:
    """The second silent state: all is well, and nothing ever happens."""
    silent = dict.fromkeys(
        ("ReconciliationActive", "ValidReleaseImage", "Progressing", "IgnitionEndpointAvailable"), ""
    )
    body = cluster(PlatformCredentialsFound="", **silent)
    services = [each for each in body["spec"]["services"] if each["service"] != "Ignition"]
    if way:
        services.append({"service": "Ignition", "servicePublishingStrategy": {"type": way}})
    body["spec"]["services"] = services
    stop = look(sight(cluster=body), "control_plane", SETTLE).stop
    assert stop is not None
    how = f"published by {way}" if way else "not published"
    assert stop.text == f"services: Ignition is {how}, which the operators cannot do"
    assert "create it anew" in stop.hint


def test_an_encryption_secret_without_its_key_ends_a_wait() -> None:
    """The third silent state: the credentials are found, and the control plane is never made."""
    encryption = {"secretEncryption": {"type": "aescbc", "aescbc": {"activeKey": {"name": "demo-key"}}}}
    seen = sight(cluster=cluster(spec=encryption))
    assert said(seen, "control_plane") == ["control plane: being created"]
    assert look(seen, "control_plane", GRACE - 1).stop is None
    stop = look(seen, "control_plane", GRACE).stop
    assert stop is not None
    assert stop.text == 'control plane: the operator does not create it: Secret "demo-key" lacks its key'


def test_a_control_plane_that_could_not_be_read_is_not_taken_for_missing() -> None:
    there = "Unknown/StatusUnknown/Condition not found in the HCP"
    assert look(sight(cluster=cluster(EtcdAvailable=there)), "control_plane", 10 * GRACE).stop is None


def test_oauth_by_load_balancer_ends_a_wait() -> None:
    body = cluster()
    for each in body["spec"]["services"]:
        if each["service"] == "OAuthServer":
            each["servicePublishingStrategy"] = {"type": "LoadBalancer"}
    waiting = "False/WaitingOnInfrastructureReady/Cluster infrastructure is still provisioning"
    plane = control_plane(InfrastructureReady=waiting, Available=waiting)
    stop = look(sight(cluster=body, control_plane=plane), "control_plane", SETTLE).stop
    assert stop is not None
    assert "OAuthServer is published by LoadBalancer" in stop.text


def test_what_was_found_before_the_last_change_ends_no_wait() -> None:
    old = "False/InvalidConfiguration/service type A can't be published with the same hostname h as service type B"
    seen = sight(cluster=cluster(generation=4, seen=3, ValidConfiguration=old))
    assert look(seen, "control_plane", 10 * GRACE).stop is None
    current = sight(cluster=cluster(generation=3, seen=3, ValidConfiguration=old))
    assert look(current, "control_plane", SETTLE).stop is not None


def test_what_two_conditions_say_is_told_once() -> None:
    message = 'cluster does not support Routes, but service "OAuthServer" is exposed via a Route'
    body = cluster(
        ValidConfiguration=f"False/InvalidConfiguration/{message}",
        ReconciliationSucceeded=f"{FAILED}configuration is invalid: {message}",
        Progressing=f"False/Blocked/ValidConfiguration condition is false: {message}",
    )
    assert said(sight(cluster=body), "control_plane") == [
        "configuration: OAuthServer is published by Route, and the management cluster has no Routes"
    ]


@pytest.mark.parametrize(
    "body",
    [
        cluster(ReconciliationSucceeded=f"{FAILED}failed to get controlPlaneOperatorImage: failed to extract release "
                "metadata: failed to get repo setup: failed to create repository client for https://r: Get "
                '"https://r/v2/": dial tcp 127.0.0.1:1: connect: connection refused'),
        cluster(ReconciliationActive="False/ReconciliationPaused/Reconciliation paused until: 2030-01-01T00:00:00Z"),
    ],
    ids=["registry", "paused-until"],
)  # fmt: skip
def test_what_heals_ends_no_wait(body: dict[str, Any]) -> None:
    assert look(sight(cluster=body), "control_plane", 100 * GRACE).stop is None


@pytest.mark.parametrize("goal", ["control_plane", "ignition", "nodes", "complete"])
def test_what_is_paused_or_being_deleted_ends_each_wait(goal: Goal) -> None:
    paused = available_cluster(
        ReconciliationActive="False/ReconciliationPaused/Reconciliation paused until field removed"
    )
    seen = whole(cluster=paused, pools={NAME: pool(3)})
    stop = look(seen, goal, SETTLE).stop
    assert (stop is None) == look(seen, goal).reached
    ending = look(whole(cluster=deleted(available_cluster())), goal, SETTLE)
    assert ending.stop is not None
    assert not ending.reached


def test_identity_providers_are_not_blamed_before_there_is_an_api_server() -> None:
    wrong = (
        "False/IDPConfigurationError/failed to initialize identity providers: failed to apply IDP x config: "
        'failed to build konnectivity dialer: failed to get kubeconfig secret: Secret "x" not found'
    )
    seen = starting(**STORED, KubeAPIServerAvailable="False/StatusUnknown/", ValidIDPConfiguration=wrong)
    assert not [line for line in said(seen, "control_plane") if "identity" in line]
    later = whole(
        control_plane=control_plane(ValidIDPConfiguration="False/IDPConfigurationError/dial tcp: i/o timeout")
    )
    found = look(later, "control_plane", 10 * GRACE)
    assert found.lines["ValidIDPConfiguration"] == "identity providers: dial tcp: i/o timeout"
    assert found.reached


# -- nodes ----------------------------------------------------------------------------------------------------------


def installing(deployed: str = "True//", **parts: Any) -> ClusterSnapshot:
    """One machine on its way to be the first node."""
    return whole(
        **{
            "pools": {NAME: pool(1, 0, **INSTALLING)},
            "machine_deployments": [deployment(1, 0)],
            "machines": [machine("a")],
            "maas_machines": [maas_machine("a", deployed=deployed)],
            "nodes": [],
            **parts,
        }
    )


def test_all_nodes_ready_is_reached() -> None:
    found = look(whole(), "nodes")
    assert found.reached
    assert found.lines[f"node pool {NAME}"] == "node pool demo: 2 of 2 nodes are Ready"
    assert found.lines["machine a"] == "machine a (node-a): its node is Ready"


@pytest.mark.parametrize(
    "parts",
    [
        # AllMachinesReady and AllNodesHealthy are True for a moment when nothing is there yet.
        {"pools": {NAME: pool(2, 0)}, "machine_deployments": [deployment(2, 0)], "machines": []},
        {"pools": {NAME: pool(3)}},
        {"pools": {NAME: pool(1)}},
        {"pools": {NAME: pool(generation=2)}},
        {"pools": {NAME: pool(**INSTALLING)}},
        {"machine_deployments": []},
        {"machines": [machine("a", "node-a"), deleted(machine("b", "node-b"))]},
        {"machines": [machine("a", "node-a"), machine("b")]},
        {"nodes": [node("node-a"), node("node-b", "Unknown/NodeStatusUnknown/Kubelet stopped posting node status.")]},
        {"pools": {}},
        {"pools": {NAME: deleted(pool())}},
    ],
)  # fmt: skip
def test_what_only_looks_like_all_nodes_is_not_reached(parts: dict[str, Any]) -> None:
    assert not look(whole(**parts), "nodes").reached


@pytest.mark.parametrize(("asked", "there", "reached"), [(3, 3, True), (1, 1, False), (3, 2, False), (9, 9, False)])
def test_with_autoscaling_what_is_asked_for_now_is_reached(asked: int, there: int, reached: bool) -> None:
    names = [f"m{number}" for number in range(there)]
    scaled = whole(
        pools={NAME: pool(0, there, spec={"replicas": None, "autoScaling": {"min": 2, "max": 5}})},
        machine_deployments=[deployment(asked, there)],
        machines=[machine(name, f"node-{name}") for name in names],
        nodes=[node(f"node-{name}") for name in names],
    )
    assert look(scaled, "nodes").reached == reached


def test_nodes_that_are_upgraded_in_place_belong_to_a_machine_set() -> None:
    in_place = {"management": {"upgradeType": "InPlace"}}
    seen = whole(pools={NAME: pool(spec=in_place)}, machine_deployments=[], machine_sets=[deployment()])
    assert look(seen, "nodes").reached
    upgraded = "True/AsExpected/Nodepool update in progress. Target Config version: h. Total Nodes: 2. Upgraded: 1"
    found = look(replace(seen, pools={NAME: pool(spec=in_place, UpdatingVersion=upgraded)}), "nodes")
    assert not found.reached
    assert "node pool demo: 2 of 2 nodes are Ready, 1 of 2 nodes are upgraded" in found.lines.values()


def test_a_first_installation_is_not_called_an_update() -> None:
    assert said(installing(), "nodes")[-2:] == [
        "node pool demo: 0 of 1 nodes are Ready",
        "machine a: deployed, waiting for its node to join",
    ]
    rolling = whole(pools={NAME: pool(2, 1, UpdatingVersion=INSTALLING["UpdatingVersion"])})
    assert "node pool demo: 1 of 2 nodes are Ready, rolling out version 4.20.8" in said(rolling, "nodes")


@pytest.mark.parametrize(
    ("deployed", "line", "after"),
    [
        ("", "machine a: waiting for the provider", None),
        ("False/MachineDeploying/", "machine a: MAAS deploys it", None),
        (NO_MACHINE, "machine a: MAAS has no machine that fits", None),
        (WRONG_KEY, "machine a: MAAS does not accept the provider's API key", GRACE),
        (
            "False/MachineDeployFailed/failed to deploy MaasMachine instance: Unable to deploy machine: status: 400, "
            'message: {"distro_series": ["\'rhcos\' is not a valid distro_series."]}',
            'machine a: MAAS does not know the image: ": ["\'rhcos\' is not a valid distro_series."]}',
            SETTLE,
        ),
    ],
    ids=["unknown", "deploying", "full", "key", "image"],
)
def test_a_machine_says_what_keeps_it(deployed: str, line: str, after: float | None) -> None:
    found = look(installing(deployed), "nodes", 100 * GRACE)
    assert found.lines["machine a"] == line
    assert (found.stop is not None) == (after is not None)
    if after is not None:
        assert look(installing(deployed), "nodes", after - 1).stop is None


NOPE = f"{NOT_DEPLOYED} Unable to deploy machine: status: 400, message: {{'distro_series': ['nope']}}"


def corrected(machine_of: dict[str, Any], maas_machine_of: dict[str, Any]) -> ClusterSnapshot:
    """A pool after a change of its image: an old machine that MAAS refuses, and a new one that boots."""
    template = {"infrastructureRef": {"name": "demo-new"}, "bootstrap": {"dataSecretName": "user-data-new"}}
    asked = deployment(1, 0)
    asked["spec"]["template"] = {"spec": template}
    old, new = machine("old"), machine("new")
    old_maas, new_maas = maas_machine("old", deployed=NOPE), maas_machine("new")
    new_maas["metadata"]["annotations"] = {"cluster.x-k8s.io/cloned-from-name": "demo-new"}
    return installing(
        machine_deployments=[asked],
        machines=[{**old, **machine_of, "metadata": {**old["metadata"], **machine_of.get("metadata", {})}}, new],
        maas_machines=[{**old_maas, "metadata": {**old_maas["metadata"], **maas_machine_of}}, new_maas],
    )


@pytest.mark.parametrize(
    ("machine_of", "maas_machine_of", "ends"),
    [
        ({}, {"annotations": {"cluster.x-k8s.io/cloned-from-name": "demo-old"}}, False),
        ({"spec": {"bootstrap": {"dataSecretName": "user-data-old"}}}, {}, False),
        ({}, {"annotations": {"cluster.x-k8s.io/cloned-from-name": "demo-new"}}, True),
        ({}, {}, True),
    ],
    ids=["another template", "another configuration", "the same", "unknown"],
)
def test_only_machines_of_the_present_settings_end_a_wait(
    machine_of: dict[str, Any], maas_machine_of: dict[str, Any], ends: bool
) -> None:
    found = look(corrected(machine_of, maas_machine_of), "nodes", 100 * GRACE)
    assert (found.stop is not None) == ends
    assert ("made from earlier settings of the node pool" in found.lines["machine old"]) != ends


def test_a_machine_of_earlier_settings_that_goes_says_what_holds_it() -> None:
    going = {**deleted(machine("old")), "spec": {"bootstrap": {"dataSecretName": "user-data-old"}}}
    going["status"]["conditions"] = [
        {"type": "DrainingSucceeded", "status": "False", "reason": "Draining", "message": "* Pod a/b: x"}
    ]
    seen = corrected({}, {})
    found = look(replace(seen, machines=[going, seen.machines[1]]), "nodes", GRACE)
    assert found.lines["machine old"] == "machine old: waiting for pod a/b"


def test_a_machine_that_names_somebody_elses_says_so_and_ends_the_wait() -> None:
    body = maas_machine("a", deployed="True//")
    body["spec"] = {"providerID": "maas:///az1/abc123"}
    body["metadata"]["annotations"] = {"cluster.x-k8s.io/paused": "true", "metalshift.maas/not-ours": "abc123"}
    found = look(installing(maas_machines=[body]), "nodes", GRACE)
    assert found.lines["machine a"] == "machine a: names abc123, which is not this cluster's; paused"
    assert found.stop is not None


@pytest.mark.parametrize(
    ("deployed", "touched"),
    [
        (NO_MACHINE, True),
        (f"{NOT_DEPLOYED} Unable to allocate machine: status: 503, message: x", True),
        (f"{NOT_DEPLOYED} Post http://maas/MAAS: connection refused", True),
        ("Unknown/MachineNotFound/Unable to find machine: status: 503, message: x", True),
        (NOPE, False),
        (f"{NOT_DEPLOYED} Unable to deploy machine: status: 409, message: x", False),
        (f"{NOT_DEPLOYED} Unable to allocate machine: status: 400, message: no such zone", False),
        ("False/MachineDeploying/", False),
    ],
)
def test_a_machine_over_which_the_provider_sleeps_is_to_be_touched(deployed: str, touched: bool) -> None:
    """The provider sleeps up to 1000 seconds after what may be over by now."""
    seen = installing(deployed)
    assert look(seen, "nodes", SETTLE - 1).touch == ()
    assert look(seen, "nodes", SETTLE).touch == (((MAAS_MACHINES, "a"),) if touched else ())


def test_what_is_wrong_with_a_hosted_cluster_that_runs_ends_no_wait_for_nodes() -> None:
    body = available_cluster(ReconciliationSucceeded=NO_KEY)
    found = look(whole(cluster=body, pools={NAME: pool(3)}), "nodes", 10 * GRACE)
    assert found.stop is None
    assert "hosted cluster: the Secret with the pull secret has no key .dockerconfigjson" in found.lines.values()


def test_only_the_named_pools_matter() -> None:
    other = pool(1, 0, "other", ValidMachineConfig="False/ValidationFailed/expected 3 core ignition configs, found 4")
    seen = whole(pools={NAME: pool(), "other": other})
    assert look(seen, "nodes", pools=[NAME]).reached
    assert look(seen, "nodes", GRACE).stop is not None
    missing = look(seen, "nodes", GRACE, pools=["nobody"]).stop
    assert missing is not None
    assert missing.text == "node pool nobody: there is none"


def test_a_pool_that_the_operator_forgot_is_to_be_touched() -> None:
    seen = installing(machine_deployments=[], machines=[], maas_machines=[])
    found = look(seen, "nodes", SETTLE)
    assert "node pool demo: waiting for the operator to ask for machines" in found.lines.values()
    assert found.touch == ((NODE_POOLS, NAME),)
    assert found.stop is None
    assert look(seen, "nodes", SETTLE - 1).touch == ()


def test_a_pool_that_missed_the_ignition_server_is_to_be_touched() -> None:
    missed = pool(
        1, 0, IgnitionEndpointAvailable="False/IgnitionEndpointMissing/Ignition endpoint not available, waiting"
    )
    seen = installing(pools={NAME: missed}, machine_deployments=[], machines=[], maas_machines=[])
    assert look(seen, "nodes", SETTLE).touch == ((NODE_POOLS, NAME),)
    before = available_cluster(IgnitionEndpointAvailable="False/WaitingForAvailable/Ignition server deployment")
    assert look(replace(seen, cluster=before), "nodes", 10 * SETTLE).touch == ()


def without_address(**said: str) -> dict[str, Any]:
    """A hosted cluster that does not say where machines get their configuration."""
    body = available_cluster(**said)
    del body["status"]["ignitionEndpoint"]
    return body


@pytest.mark.parametrize("goal", ["ignition", "nodes", "complete"])
def test_a_hosted_cluster_whose_address_the_operator_missed_is_to_be_touched(goal: Goal) -> None:
    unfinished = control_plane(history(("Partial", "4.20.8")))
    seen = installing(cluster=without_address(), control_plane=unfinished)
    found = look(seen, goal, SETTLE)
    assert "ignition server: waiting for the operator to publish its address" in found.lines.values()
    assert found.touch == ((HOSTED_CLUSTERS, NAME),)
    assert found.stop is None
    assert not found.reached
    assert look(seen, goal, SETTLE - 1).touch == ()


def test_a_hosted_cluster_whose_ignition_server_starts_is_left_alone() -> None:
    starting_one = without_address(IgnitionEndpointAvailable="False/WaitingForAvailable/Ignition server deployment")
    found = look(whole(cluster=starting_one), "ignition", 10 * GRACE)
    assert (found.touch, found.stop, found.reached) == ((), None, False)
    assert said(whole(cluster=starting_one), "ignition")[-1] == "ignition server: starting"


def test_machines_that_can_get_their_configuration_are_reached() -> None:
    empty = whole(pools={}, machine_deployments=[], machines=[], maas_machines=[], nodes=[])
    found = look(empty, "ignition")
    assert found.reached
    assert found.lines["IgnitionEndpointAvailable"] == "ignition server: machines can get their configuration"
    assert not look(replace(empty, cluster=deleted(available_cluster())), "ignition").reached
    assert not look(starting(), "ignition").reached


def test_a_pool_of_platform_none_is_not_waited_for() -> None:
    stop = look(whole(pools={NAME: pool(spec={"platform": {"type": "None"}})}), "nodes", SETTLE).stop
    assert stop is not None
    assert "platform None" in stop.text


SKEW = (
    'False/ValidationFailed/Failed to get release image: the latest version supported is: "4.20.8". Attempting to use: '
)


def test_a_pool_waits_for_the_upgrade_of_its_hosted_cluster_and_not_without_one() -> None:
    ahead = {NAME: pool(2, 0, ValidReleaseImage=f'{SKEW}"4.21.3"')}
    upgrading = available_cluster()
    assert look(whole(cluster=upgrading, pools=ahead), "nodes", 10 * GRACE).stop is None
    done = available_cluster()
    done["status"]["version"]["history"] = history(("Completed", "4.20.8"))
    stop = look(whole(cluster=done, pools=ahead), "nodes", GRACE).stop
    assert stop is not None
    assert "Upgrade the hosted cluster first" in stop.hint


def test_a_machine_on_its_way_out_says_what_holds_it() -> None:
    draining = {
        "type": "DrainingSucceeded",
        "status": "False",
        "reason": "Draining",
        "message": "Drain not completed yet (started at 2026-11-18T22:06:25Z):\n* Pod default/app: deletionTimestamp "
        "set, but still not removed from the Node",
    }
    leaving = deleted(machine("b", "node-b", conditions=[draining]))
    seen = whole(
        pools={NAME: pool(1, 1)}, machine_deployments=[deployment(1, 1)], machines=[machine("a", "node-a"), leaving]
    )
    found = look(seen, "nodes", 100 * GRACE)
    assert not found.reached
    assert found.stop is None
    assert found.lines["machine b"] == "machine b (node-b): waiting for pod default/app to end"
    assert found.lines[f"node pool {NAME}"] == "node pool demo: 1 of 1 nodes are Ready, 1 on the way out"


# -- the rollout ----------------------------------------------------------------------------------------------------


def rolling(failing: str = "False/FromClusterVersion/", progressing: str = "", **parts: Any) -> ClusterSnapshot:
    plane = control_plane(
        history(("Partial", "4.20.8")), ClusterVersionFailing=failing, ClusterVersionProgressing=progressing
    )
    return whole(control_plane=plane, **parts)


ROLLOUTS = [
    (
        rolling(progressing="True/FromClusterVersion/Working towards 4.20.8: 512 of 597 done (85% complete)"),
        "rollout: 4.20.8 is 80 % done",
    ),
    (
        rolling(MISSING.format("console, ingress")),
        "rollout: 4.20.8 waits for console, ingress: ingress needs a load balancer in the hosted cluster",
    ),
    (
        rolling(SLOW, "True/SlowClusterOperator/Working towards 4.20.8: 585 of 597 done (98% complete), waiting on "
                "ingress over 30 minutes which is longer than expected"),
        "rollout: 4.20.8 waits for ingress: ingress needs a load balancer in the hosted cluster",
    ),
    (rolling(MISSING.format("a, b, c, d, e, f")), "rollout: 4.20.8 waits for a, b, c, d and 2 more"),
    (rolling(MISSING.format("console, ingress"), nodes=[]), "rollout: 4.20.8 waits for nodes: none is Ready"),
    (
        rolling(MISSING.format("console, ingress"), nodes=[], pools={}),
        "rollout: 4.20.8 waits for nodes, and no node pool asks for any",
    ),
    (
        rolling(
            MISSING.format("console, ingress"),
            nodes=[node("node-a")],
            cluster=available_cluster(spec={"infrastructureAvailabilityPolicy": "HighlyAvailable"}),
        ),
        "rollout: 4.20.8 needs 2 nodes that are Ready, and has 1",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("seen", "line"), ROLLOUTS, ids=lambda each: each if isinstance(each, str) else "")
def test_a_rollout_says_what_it_waits_for(seen: ClusterSnapshot, line: str) -> None:
    found = look(seen, "complete")
    assert found.lines["rollout"] == line
    assert not found.reached


def test_a_completed_rollout_is_reached() -> None:
    found = look(whole(), "complete")
    assert found.reached
    assert found.lines["rollout"] == "rollout: 4.20.8 is complete"


def test_a_rollout_with_a_pool_waits_for_the_pool_as_well() -> None:
    """Nodes of another pool are enough for the rollout."""
    late = whole(pools={**whole().pools, "late": pool(1, 0, "late")})
    assert look(late, "complete").reached
    found = look(late, "complete", pools=["late"])
    assert not found.reached
    assert any(line.startswith("node pool late: waiting") for line in found.lines.values())
    assert look(late, "complete", pools=[NAME]).reached
    assert not look(late, "complete", pools=["none"]).reached


def test_a_pool_that_cannot_come_ends_its_own_wait_for_a_rollout() -> None:
    hopeless = replace(installing(WRONG_KEY), nodes=[node("of-another-pool")])
    assert look(hopeless, "complete", GRACE).stop is None
    stop = look(hopeless, "complete", GRACE, pools=[NAME]).stop
    assert stop is not None
    assert stop.text == "machine a: MAAS does not accept the provider's API key"


def test_a_status_that_stands_still_is_told_and_looked_past() -> None:
    """The HostedCluster's history is old; the HostedControlPlane knows better."""
    plane = control_plane(history(("Completed", "4.20.8")), **{**ROLLED_OUT, "ClusterVersionFailing": SLOW})
    found = look(whole(control_plane=plane), "complete")
    assert found.reached
    assert "its status stands still" in found.lines["status"]


def test_a_rollout_ends_a_wait_only_when_no_node_can_come() -> None:
    hopeless = replace(
        installing(WRONG_KEY),
        control_plane=rolling(MISSING.format("console, ingress")).control_plane,
    )
    stop = look(hopeless, "complete", GRACE).stop
    assert stop is not None
    assert stop.text == "machine a: MAAS does not accept the provider's API key"
    assert look(replace(hopeless, nodes=[node("x")]), "complete", GRACE).stop is None
    second = {**hopeless.pools, "second": pool(1, 0, "second")}
    assert look(replace(hopeless, pools=second), "complete", GRACE).stop is None


@pytest.mark.parametrize(
    ("image", "entry", "same"),
    [
        (IMAGE, {"image": DIGEST, "version": "4.20.8"}, True),
        (IMAGE, {"image": DIGEST, "version": "4.20.7"}, False),
        ("quay.io/ocp/release:4.20.8-x86_64", {"image": DIGEST, "version": "4.20.8"}, True),
        ("quay.io/ocp/release:4.20.8-x86_64", {"image": DIGEST, "version": "4.20.80"}, False),
        ("quay.io/ocp/release:4.20.80-x86_64", {"image": DIGEST, "version": "4.20.8"}, False),
        (DIGEST, {"image": DIGEST, "version": "4.20.8"}, True),
        (DIGEST.replace("00872", "11111"), {"image": DIGEST, "version": "4.20.8"}, False),
        ("other.example/x@" + DIGEST.partition("@")[2], {"image": DIGEST, "version": ""}, True),
        ("quay.io/ocp/release:stable", {"image": DIGEST, "version": "4.20.8"}, True),
        (DIGEST, {"image": IMAGE, "version": "4.20.8"}, True),
    ],
)
def test_a_release_is_known_by_tag_version_or_digest(image: str, entry: dict[str, str], same: bool) -> None:
    assert is_release(image, entry) == same


# -- the end --------------------------------------------------------------------------------------------------------

ENDING = whole(cluster=deleted(available_cluster()), pools={NAME: deleted(pool())})
REMOVALS = [
    (
        replace(ENDING, machines=[deleted(machine("a", "node-a"))], maas_machines=[maas_machine("a", "node-a")]),
        ["node pool demo: 1 machine is left", "machine a (node-a): being removed",
         "hosted cluster: waiting for its machines to go"],
    ),
    (
        replace(ENDING, pools={}, machines=[], maas_machines=[], control_plane=deleted(control_plane())),
        ["hosted cluster: waiting for its control plane to go"],
    ),
    (
        replace(ENDING, pools={}, machines=[], maas_machines=[], control_plane=None),
        ["hosted cluster: waiting for the rest of the control plane's namespace to go"],
    ),
    (sight(pools={NAME: deleted(pool())}), ["node pool demo: being removed"]),
]  # fmt: skip


@pytest.mark.parametrize(("seen", "lines"), REMOVALS, ids=lambda each: each[-1] if isinstance(each, list) else "")
def test_a_removal_says_what_is_still_there(seen: ClusterSnapshot, lines: list[str]) -> None:
    found = look(seen, "gone", 100 * GRACE)
    assert list(found.lines.values()) == lines
    assert not found.reached
    assert found.stop is None


def test_nothing_left_is_gone() -> None:
    assert look(sight(), "gone").reached
    assert not look(sight(maas_machines=[maas_machine("a")]), "gone").reached


def test_a_node_pool_is_gone_with_its_machines() -> None:
    without = whole(pools={})
    assert not look(without, "gone", pools=[NAME]).reached
    assert look(replace(without, machines=[machine("x", owner="other")]), "gone", pools=[NAME]).reached


@pytest.mark.parametrize("what", ["cluster", "pool"])
def test_what_is_paused_is_never_gone(what: str) -> None:
    def pause(body: dict[str, Any], wished: bool) -> dict[str, Any]:
        return deleted({**body, "spec": {**body["spec"], **({"pausedUntil": "True"} if wished else {})}})

    seen = whole(cluster=pause(available_cluster(), what == "cluster"), pools={NAME: pause(pool(), what == "pool")})
    stop = look(seen, "gone", SETTLE).stop
    assert stop is not None
    assert "paused" in stop.text


@pytest.mark.parametrize("what", ["cluster", "pool"])
@pytest.mark.parametrize(("until", "holds"), [("2099-01-01T00:00:00Z", True), ("1969-01-01T00:00:00Z", False)])
def test_a_pause_until_a_date_keeps_what_is_deleted(what: str, until: str, holds: bool) -> None:
    """It ends by itself: not at once, but after a while the wait does."""

    def pause(body: dict[str, Any], wished: bool) -> dict[str, Any]:
        return deleted({**body, "spec": {**body["spec"], **({"pausedUntil": until} if wished else {})}})

    seen = whole(cluster=pause(available_cluster(), what == "cluster"), pools={NAME: pause(pool(), what == "pool")})
    sentence = f"paused until {until}, so its machines are not removed"
    assert (sentence in " ".join(said(seen, "gone"))) == holds
    assert look(seen, "gone", SETTLE).stop is None
    assert (look(seen, "gone", GRACE).stop is not None) == holds


def test_what_nobody_deletes_is_not_waited_for() -> None:
    assert look(whole(), "gone", GRACE).stop is not None


# -- always ---------------------------------------------------------------------------------------------------------


def test_a_line_that_changes_begins_anew() -> None:
    since = followed({}, {}, {"a": "1", "b": "1"}, 10.0)
    assert followed(since, {"a": "1", "b": "1"}, {"a": "2", "b": "1", "c": "1"}, 20.0) == {
        "a": 20.0,
        "b": 10.0,
        "c": 20.0,
    }


def test_what_could_not_be_read_is_said() -> None:
    seen = whole(troubles=["The hosted API does not answer."])
    assert said(seen, "nodes")[0] == "reading: The hosted API does not answer."


def test_no_line_counts_seconds() -> None:
    def lines(seconds: int) -> list[str]:
        words = f"kube-apiserver load balancer is not provisioned; {seconds}s since creation."
        return said(starting(InfrastructureReady=f"False/WaitingOnInfrastructureReady/{words}"), "control_plane")

    assert lines(43) == lines(44) == ["services: waiting for the load balancer of the API server"]


NAMES = (
    *("metadata", "name", "deletionTimestamp", "annotations", "labels", "spec", "replicas", "platform", "autoScaling"),
    *("services", "service", "status", "conditions", "type", "reason", "message", "version", "history", "state"),
    *("kubeconfig", "v1beta2", "min", "max"),
)
PLAIN = some.sampled_from(["", "True", "False", "Unknown", NO_PLANE, "MAAS", NAME])
odd = some.recursive(
    some.none() | some.booleans() | some.integers() | PLAIN,
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.sampled_from(NAMES), inner, max_size=5),
    max_leaves=12,
)


@settings(max_examples=200)
@given(some.data(), some.sampled_from(GOALS))
def test_no_object_is_too_odd(data: some.DataObject, goal: Goal) -> None:
    """One field of a whole hosted cluster is replaced by something else, or taken away."""
    seen = whole()
    field = data.draw(
        some.sampled_from(
            ["cluster", "control_plane", "pools", "machine_deployments", "machines", "maas_machines", "nodes"]
        )
    )
    part = getattr(seen, field)
    if field == "pools":
        changed: Any = {NAME: _spoilt(data, part[NAME])}
    elif isinstance(part, list):
        changed = [_spoilt(data, part[0]), *part[1:]]
    else:
        changed = _spoilt(data, part)
    found = look(replace(seen, **{field: changed}), goal, 10 * GRACE)
    assert all(isinstance(line, str) and line for line in found.lines.values())


def _spoilt(data: some.DataObject, body: Any) -> Any:
    """The object with one of its parts, at any depth, replaced or missing."""
    if isinstance(body, dict) and body and data.draw(some.integers(0, 4)):
        key = data.draw(some.sampled_from(sorted(body)))
        if data.draw(some.integers(0, 5)) == 0:
            return {name: value for name, value in body.items() if name != key}
        return {**body, key: _spoilt(data, body[key])}
    if isinstance(body, list) and body and data.draw(some.integers(0, 4)):
        place = data.draw(some.integers(0, len(body) - 1))
        return [*body[:place], _spoilt(data, body[place]), *body[place + 1 :]]
    drawn = data.draw(odd)
    return drawn if isinstance(drawn, dict) else {"metadata": {"name": NAME}, "status": drawn}
