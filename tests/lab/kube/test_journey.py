# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosted clusters by hand: two on MAAS at once and one without a platform, from their manifests to nothing left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lab.kube import journey as journey_module
from lab.kube.api import CSRS, MAAS_MACHINES, NODES, SECRETS, Object, Resource
from lab.kube.examples import NAMESPACE
from lab.kube.handle import Lab
from lab.kube.journey import CLIENT, SERVING, Journey, condition, conditions

MAAS_TEMPLATES = Resource("infrastructure.cluster.x-k8s.io/v1beta1", "maasmachinetemplates")
# What HyperShift's own end-to-end tests expect of a pool that is at rest.
AT_REST = {
    **dict.fromkeys(
        (
            "Ready",
            "ValidReleaseImage",
            "ValidGeneratedPayload",
            "ValidMachineConfig",
            "ValidTuningConfig",
            "AllMachinesReady",
            "AllNodesHealthy",
            "ReconciliationActive",
            "ReachedIgnitionEndpoint",
            "UpdateManagementEnabled",
            "ValidArchPlatform",
        ),
        "True",
    ),
    **dict.fromkeys(("UpdatingVersion", "UpdatingConfig", "UpdatingPlatformMachineTemplate"), "False"),
}
CLUSTER_AT_REST = {
    **dict.fromkeys(
        (
            "Available",
            "InfrastructureReady",
            "KubeAPIServerAvailable",
            "IgnitionEndpointAvailable",
            "EtcdAvailable",
            "ValidReleaseInfo",
            "ValidConfiguration",
            "SupportedHostedCluster",
            "ClusterVersionSucceeding",
            "ClusterVersionAvailable",
            "ClusterVersionReleaseAccepted",
            "ReconciliationActive",
            "ReconciliationSucceeded",
            "ValidHostedControlPlaneConfiguration",
            "ValidReleaseImage",
            "PlatformCredentialsFound",
        ),
        "True",
    ),
    **dict.fromkeys(("Progressing", "Degraded", "ClusterVersionProgressing"), "False"),
    "ExternalDNSReachable": "Unknown",
}


class Silent:
    """A lab whose operator has missed something: its HostedCluster changes only when somebody touches it."""

    def __init__(self) -> None:
        self.version, self.api = 1, self

    def get(self, *_which: object) -> Object:
        return {"metadata": {"resourceVersion": str(self.version)}}

    def kubectl(self, *_arguments: str) -> None:
        self.version += 1

    def until(self, _what: str, holds: Callable[[], bool], _limit: float) -> None:
        for _turn in range(5):
            assert not holds()


def test_a_silent_operator_is_woken_and_it_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journey_module, "SILENCE", 0.0)
    lab: Any = Silent()
    asleep = Journey(lab, "asleep", tmp_path)
    asleep.until_available()
    assert lab.version == 3
    assert asleep.touches == ["asleep is available"] * 2


def of(wanted: dict[str, str], body: Object) -> dict[str, str]:
    """The conditions of the object that are looked at."""
    return {kind: status for kind, status in conditions(body).items() if kind in wanted}


def machines_of(journey: Journey) -> dict[str, str]:
    """Machines in MAAS that this cluster's MaasMachines name → their state."""
    named = {each["spec"].get("systemID") for each in journey.lab.api.list(MAAS_MACHINES, journey.namespace)}
    return {name: state for name, state in journey.lab.machines().items() if name in named}


def nodes_by_machine(journey: Journey) -> dict[str, str]:
    """system_id → name of the node, as the nodes' provider ids have it."""
    nodes = journey.nodes()
    return {node["spec"]["providerID"].rpartition("/")[2]: node["metadata"]["name"] for node in nodes}


@pytest.fixture(scope="module")
def travellers(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Journey]]:
    """All three are created at once, and the two on MAAS have their nodes; what a test leaves is deleted."""
    folder = tmp_path_factory.mktemp("kubeconfigs")
    made = {name: Journey(lab, name, folder) for name in ("first", "second")}
    made["alone"] = Journey(lab, "alone", folder, platform="None")
    for journey in made.values():
        journey.create()
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(Journey.until_available, made.values()))
    yield made
    for journey in made.values():
        journey.delete()
    for journey in made.values():
        journey.until_gone()


@pytest.fixture(scope="module")
def first(travellers: dict[str, Journey]) -> Journey:
    return travellers["first"]


def test_both_certificates_of_a_node_wait_for_approval(first: Journey, lab: Lab) -> None:
    """Nothing approves by itself: a node asks for one, joins with it, and asks for the other."""

    def asked(signer: str) -> list[Object]:
        return [each for each in first.hosted_api.list(CSRS) if each["spec"]["signerName"] == signer]

    lab.until("two client requests", lambda: len(asked(CLIENT)) == 2, 120)
    user = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper"
    assert {each["spec"]["username"] for each in asked(CLIENT)} == {user}
    assert first.nodes() == []
    assert not any(each.get("status", {}).get("conditions") for each in asked(CLIENT))
    assert len(first.approve()) == 2

    lab.until("two serving requests", lambda: len(asked(SERVING)) == 2, 60)
    names = {f"system:node:{node['metadata']['name']}" for node in first.nodes()}
    assert {each["spec"]["username"] for each in asked(SERVING)} == names
    first.approve()
    lab.until("both are signed", lambda: all(each["status"].get("certificate") for each in asked(SERVING)))


def test_two_hosted_clusters_get_their_nodes_at_once(travellers: dict[str, Journey], lab: Lab) -> None:
    for name in ("first", "second"):
        travellers[name].until_nodes(2)
    for name in ("first", "second"):
        journey = travellers[name]
        phases = {machine["status"]["phase"] for machine in journey.machines()}
        assert phases == {"Running"}
        assert sorted(machines_of(journey).values()) == ["Deployed", "Deployed"]
    assert set(machines_of(travellers["first"])).isdisjoint(machines_of(travellers["second"]))


def test_a_pool_at_rest_says_so(first: Journey) -> None:
    assert of(AT_REST, first.pool()) == AT_REST
    assert condition(first.pool(), "AllMachinesReady")["message"] == "All is well"
    assert first.pool()["status"]["version"] == "4.20.8"


def test_a_cluster_at_rest_says_so(first: Journey) -> None:
    first.until_rolled_out("4.20.8")
    first.lab.until("it is at rest", lambda: of(CLUSTER_AT_REST, first.cluster()) == CLUSTER_AT_REST, 30)


def test_the_published_kubeconfig_works_unchanged(first: Journey) -> None:
    assert "system:admin" in first.hosted_kubectl("auth", "whoami")
    assert first.hosted_kubectl("get", "nodes", "-o", "name").count("node/") == 2


def test_a_pool_grows_to_three_and_shrinks_again(first: Journey, lab: Lab) -> None:
    before = set(machines_of(first))
    first.scale(3)
    first.until_nodes(3)
    assert len(machines_of(first)) == 3
    assert before < set(machines_of(first))
    first.scale(2)
    first.until_nodes(2)
    lab.until("the third is free again", lambda: list(lab.machines().values()).count("Deployed") == 4, 60)


def test_a_machine_that_loses_its_power_goes_not_ready_and_comes_back(travellers: dict[str, Journey], lab: Lab) -> None:
    """The provider switches on again what it finds off; till then the node is silent."""
    second = travellers["second"]
    system_id, node = next(iter(sorted(nodes_by_machine(second).items())))

    def ready() -> str:
        return str(condition(second.hosted_api.get(NODES, node) or {}, "Ready").get("status"))

    lab.fault("hold", name="capi-provider", namespace=second.namespace)
    lab.simulate("power", system_id=system_id, state="off")
    lab.until("the node is unknown", lambda: ready() == "Unknown", 60)
    found = condition(second.hosted_api.get(NODES, node) or {}, "Ready")
    assert (found["reason"], found["message"]) == ("NodeStatusUnknown", "Kubelet stopped posting node status.")
    lab.heal("hold")
    lab.until("the node is back", lambda: ready() == "True", 60)


def test_a_pool_without_a_platform_gets_its_user_data_and_no_machines(travellers: dict[str, Journey]) -> None:
    alone = travellers["alone"]
    alone.until_in_version("4.20.8")
    names = [each["metadata"]["name"] for each in alone.lab.api.list(SECRETS, alone.namespace)]
    assert [name for name in names if name.startswith("user-data-alone-")]
    for kind in ("AllMachinesReady", "AllNodesHealthy"):
        found = condition(alone.pool(), kind)
        assert (found["status"], found["reason"], found["message"]) == ("False", "NotFound", "No Machines are created")
    assert "Ready" not in conditions(alone.pool())
    history = alone.cluster()["status"]["version"]["history"][0]
    assert history["state"] == "Partial", "without workers the rollout does not complete"


def test_an_upgrade_goes_through_the_control_plane_and_then_the_nodes(first: Journey) -> None:
    before = {each["metadata"]["name"] for each in first.machines()}
    template = [each["metadata"]["name"] for each in first.lab.api.list(MAAS_TEMPLATES, first.namespace)]
    first.upgrade_control_plane("4.20.10")
    first.until_rolled_out("4.20.10")
    states = [(entry["version"], entry["state"]) for entry in first.cluster()["status"]["version"]["history"]]
    assert states == [("4.20.10", "Completed"), ("4.20.8", "Completed")]
    assert first.pool()["status"]["version"] == "4.20.8", "node pools are not touched by it"

    first.upgrade_nodes("4.20.10")
    first.lab.until("the pool turns to it", lambda: conditions(first.pool())["UpdatingVersion"] == "True", 30)
    first.until_nodes(2, 240)
    assert first.pool()["status"]["version"] == "4.20.10"
    assert before.isdisjoint(each["metadata"]["name"] for each in first.machines()), "every node was replaced"
    same = [each["metadata"]["name"] for each in first.lab.api.list(MAAS_TEMPLATES, first.namespace)]
    assert same == template, "a new release boots the same image"


def test_a_deleted_cluster_gives_its_machines_back_and_leaves_nothing(travellers: dict[str, Journey], lab: Lab) -> None:
    for journey in travellers.values():
        journey.delete()
    for journey in travellers.values():
        journey.until_gone()
    lab.until("all machines are Ready", lambda: set(lab.machines().values()) == {"Ready"}, 60)
    names = [each["metadata"]["name"] for each in lab.api.list(SECRETS, NAMESPACE)]
    left = [name for name in names if name.partition("-")[0] in travellers]
    assert sorted(left) == sorted(
        f"{name}-{kind}"
        for name, journey in travellers.items()
        for kind in ("pull-secret", "ssh-key", "etcd-encryption-key", "maas-credentials")
        if kind != "maas-credentials" or journey.platform == "MAAS"
    )
    assert [name for name in lab.status()["processes"] if name.startswith("clusters-")] == []
    assert not list((Path(lab.folder) / "hosted").glob("*/*"))
