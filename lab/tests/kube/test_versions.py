# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from metalshift_lab.authority import encoded
from metalshift_lab.kube import hosted_objects, in_place, times
from metalshift_lab.kube.api import (
    CLUSTER_ROLE_BINDINGS,
    CONFIG_MAPS,
    DEPLOYMENTS,
    HOSTED_CONTROL_PLANES,
    MACHINES,
    NAMESPACES,
    NODES,
    SECRETS,
    SERVICES,
    Api,
    ApiError,
    Object,
    Resource,
)
from metalshift_lab.kube.bare import api_server
from metalshift_lab.kube.hosted_objects import CLUSTER_OPERATORS, CLUSTER_VERSIONS, CONFIG, INGRESS_CONTROLLERS
from metalshift_lab.kube.speed import Speed
from metalshift_lab.kube.versions import CVO, HCCO, Versions, managed_labels, tag
from metalshift_lab.programs import Programs

FAST = Speed(1000)
FIRST, SECOND = "registry.test/ocp/release:4.20.8", "registry.test/ocp/release:4.20.10"


def eventually(true: Callable[[], Any], seconds: float = 20) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < deadline, "it did not become true in time"
        time.sleep(0.05)
    return found


class Scene:
    """A HostedControlPlane whose API server is up, and an empty hosted cluster behind it."""

    def __init__(self, api: Api, hosted: Api) -> None:
        self.api, self.hosted = api, hosted
        self.namespace = f"clusters-{uuid.uuid4().hex[:8]}"
        api.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}})
        self.hosted_is_up = True
        self.versions = Versions(api, self.namespace, lambda: hosted if self.hosted_is_up else None, FAST)

    def plane(self, **spec: Any) -> None:
        address = {"address": "127.0.0.1"}
        body = {
            "apiVersion": "hypershift.openshift.io/v1beta1",
            "kind": "HostedControlPlane",
            "metadata": {"name": "east", "namespace": self.namespace},
            "spec": {
                "releaseImage": FIRST,
                "clusterID": str(uuid.uuid4()),
                "infraID": "east-x1y2z",
                "issuerURL": "https://kubernetes.default.svc",
                "pullSecret": {"name": "pull-secret"},
                "sshKey": {"name": "ssh-key"},
                "platform": {"type": "None"},
                "dns": {"baseDomain": "example.com"},
                "networking": {
                    "clusterNetwork": [{"cidr": "10.132.0.0/14"}],
                    "serviceNetwork": [{"cidr": "172.31.0.0/16"}],
                },
                "etcd": {
                    "managementType": "Managed",
                    "managed": {
                        "storage": {"type": "PersistentVolume", "persistentVolume": {"size": "8Gi"}},
                    },
                },
                "services": [
                    {"service": service, "servicePublishingStrategy": {"type": "NodePort", "nodePort": address}}
                    for service in ("APIServer", "OAuthServer", "Konnectivity", "Ignition")
                ],
                **spec,
            },
        }
        self.api.create(HOSTED_CONTROL_PLANES, body)

    def release(self, image: str) -> None:
        self.api.patch(HOSTED_CONTROL_PLANES, "east", self.namespace, {"spec": {"releaseImage": image}})

    @property
    def status(self) -> Object:
        return (self.api.get(HOSTED_CONTROL_PLANES, "east", self.namespace) or {}).get("status") or {}

    def history(self) -> list[tuple[str, str]]:
        entries = (self.status.get("versionStatus") or {}).get("history") or []
        return [(entry["version"], entry["state"]) for entry in entries]

    def condition(self, kind: str) -> tuple[str, str, str] | None:
        for each in self.status.get("conditions") or []:
            if each["type"] == kind:
                return each["status"], each["reason"], each["message"]
        return None

    def operators_run(self, image: str, version: str, *, told: str = "", running: bool = True) -> None:
        """The Deployments of a real control-plane operator, which speaks of releases by digest."""
        of_release = {"OPERATE_ON_RELEASE_IMAGE": told or FIRST, "OPENSHIFT_RELEASE_VERSION": version}
        for name, env in ((HCCO, of_release), (CVO, {"RELEASE_IMAGE": image})):
            self.api.apply(DEPLOYMENTS, deployment(name, self.namespace, env))
            if running:
                self.up(name)

    def up(self, name: str) -> None:
        found = self.api.get(DEPLOYMENTS, name, self.namespace) or {}
        counts = {"replicas": 1, "updatedReplicas": 1, "availableReplicas": 1, "readyReplicas": 1}
        status = {"observedGeneration": found["metadata"]["generation"], **counts}
        self.api.patch(DEPLOYMENTS, name, self.namespace, {"status": status}, subresource="status")

    def node(self, name: str, *, ready: bool = True, marks: Mapping[str, str] | None = None) -> None:
        meta = {"name": name, "annotations": dict(marks or {})}
        self.hosted.create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": meta, "spec": {}})
        self.ready(name, ready)

    def ready(self, name: str, ready: bool) -> None:
        said = {"type": "Ready", "status": "True" if ready else "False", "reason": "x", "message": ""}
        now = times.stamp(times.now())
        conditions = [{**said, "lastHeartbeatTime": now, "lastTransitionTime": now}]
        self.hosted.patch(NODES, name, None, {"status": {"conditions": conditions}}, subresource="status")

    def operator(self, name: str) -> dict[str, str]:
        found = self.hosted.get(CLUSTER_OPERATORS, name) or {}
        return {each["type"]: each["status"] for each in found.get("status", {}).get("conditions", [])}

    def end(self) -> None:
        self.versions.stop()
        for node in self.hosted.list(NODES):
            self.hosted.delete(NODES, node["metadata"]["name"])
        for resource in (CLUSTER_VERSIONS, CLUSTER_OPERATORS):
            # Some tests end before these kinds are there.
            with contextlib.suppress(ApiError):
                for each in self.hosted.list(resource):
                    self.hosted.delete(resource, each["metadata"]["name"])
        self.hosted.delete(INGRESS_CONTROLLERS, "default", "openshift-ingress-operator")
        self.hosted.delete(SERVICES, "router-default", "openshift-ingress")
        self.api.delete(NAMESPACES, self.namespace)


def deployment(name: str, namespace: str, env: Mapping[str, str]) -> Object:
    labels = {"app": name}
    told = [{"name": key, "value": value} for key, value in env.items()]
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": name, "image": "x", "env": told}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"selector": {"matchLabels": labels}, "template": pod},
    }


@pytest.fixture(scope="module")
def api(programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with api_server(programs, tmp_path_factory.mktemp("management"), kinds=True) as made:
        yield made


@pytest.fixture(scope="module")
def hosted(programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with api_server(programs, tmp_path_factory.mktemp("hosted")) as made:
        yield made


@pytest.fixture
def scene(api: Api, hosted: Api) -> Iterator[Scene]:
    made = Scene(api, hosted)
    yield made
    made.end()


def test_a_version_is_in_the_tag_and_in_no_digest() -> None:
    assert [tag(image) for image in (FIRST, "127.0.0.1:5000/a/b", "127.0.0.1:5000/a/b@sha256:00")] == [
        "4.20.8",
        None,
        None,
    ]


def test_labels_for_a_node_are_those_that_are_meant_for_it() -> None:
    labels = {"managed.hypershift.openshift.io.zone": "a", "managed.hypershift.openshift.io.x/y": "b", "other": "c"}
    assert managed_labels(labels) == {"zone": "a", "x/y": "b"}


@pytest.mark.parametrize(
    ("spec", "base", "apps"),
    [
        ({"dns": {"baseDomain": "example.com"}}, "east.example.com", "apps.east.example.com"),
        ({"dns": {"baseDomain": "example.com", "baseDomainPrefix": ""}}, "example.com", "apps.example.com"),
        ({"dns": {"baseDomain": "example.com", "baseDomainPrefix": "w"}}, "w.example.com", "apps.w.example.com"),
        (
            {"dns": {"baseDomain": "example.com"}, "configuration": {"ingress": {"domain": "a.b"}}},
            "east.example.com",
            "a.b",
        ),
    ],
)
def test_domains_follow_the_prefix_or_the_name(spec: Object, base: str, apps: str) -> None:
    plane = {"metadata": {"name": "east"}, "spec": spec}
    assert (hosted_objects.base_domain(plane), hosted_objects.apps_domain(plane)) == (base, apps)


def test_disabled_capabilities_are_not_enabled() -> None:
    chosen = {"disabled": ["Console"], "enabled": ["baremetal"]}
    plane = {"metadata": {"name": "east"}, "spec": {"capabilities": chosen}}
    assert "Console" not in hosted_objects.enabled(plane)
    assert "baremetal" in hosted_objects.enabled(plane)


def test_nothing_is_reported_before_the_hosted_api_answers(scene: Scene) -> None:
    scene.hosted_is_up = False
    scene.plane()
    scene.versions.start()
    time.sleep(1)
    assert "versionStatus" not in scene.status
    scene.hosted_is_up = True
    assert eventually(scene.history) == [("4.20.8", "Partial")]


def test_a_release_is_complete_when_a_worker_is_ready(scene: Scene) -> None:
    scene.plane()
    scene.versions.start()
    eventually(lambda: (scene.condition("ClusterVersionFailing") or ("",))[0] == "True")
    failing, progressing = scene.condition("ClusterVersionFailing"), scene.condition("ClusterVersionProgressing")
    assert failing is not None
    assert failing[1] == "ClusterOperatorsNotAvailable"
    assert progressing is not None
    assert progressing[2] == "Unable to apply 4.20.8: some cluster operators are not available"
    assert scene.history() == [("4.20.8", "Partial")]
    assert scene.condition("ClusterVersionAvailable") == ("False", "FromClusterVersion", "")
    scene.node("worker-0", ready=False)
    scene.ready("worker-0", True)
    assert eventually(lambda: ("4.20.8", "Completed") in scene.history())
    assert scene.condition("ClusterVersionProgressing") == (
        "False", "FromClusterVersion", "Cluster version is 4.20.8",
    )  # fmt: skip
    assert scene.condition("ClusterVersionAvailable") == ("True", "FromClusterVersion", "Done applying 4.20.8")
    assert scene.status["version"] == "4.20.8"
    assert scene.status["releaseImage"] == FIRST
    assert scene.status["nodeCount"] == 1
    assert scene.status["versionStatus"]["availableUpdates"] is None


def test_a_highly_available_infrastructure_wants_two_workers(scene: Scene) -> None:
    scene.plane(infrastructureAvailabilityPolicy="HighlyAvailable")
    scene.versions.start()
    scene.node("worker-0")
    eventually(lambda: scene.operator("dns").get("Available") == "True")
    assert eventually(scene.history) == [("4.20.8", "Partial")]
    assert scene.operator("ingress")["Available"] == "False"
    scene.node("worker-1")
    assert eventually(lambda: ("4.20.8", "Completed") in scene.history())


def test_an_upgrade_is_a_new_entry_of_the_history(scene: Scene) -> None:
    scene.plane()
    scene.versions.start()
    scene.node("worker-0")
    eventually(lambda: scene.history() == [("4.20.8", "Completed")])
    scene.release(SECOND)
    eventually(lambda: scene.history()[0][0] == "4.20.10")
    assert eventually(lambda: scene.history() == [("4.20.10", "Completed"), ("4.20.8", "Completed")])
    version = scene.hosted.get(CLUSTER_VERSIONS, "version") or {}
    assert version["status"]["history"] == scene.status["versionStatus"]["history"]
    eventually(lambda: versions_of(scene, "ingress") == ["4.20.10"])


def test_a_release_is_rolled_out_by_an_operator_that_runs(scene: Scene) -> None:
    first, second = "registry.test/ocp/release@sha256:01", "registry.test/ocp/release@sha256:02"
    scene.plane()
    scene.operators_run(first, "4.20.8", running=False)
    scene.versions.start()
    scene.node("worker-0")
    time.sleep(1)
    assert scene.history() == []
    scene.up(CVO)
    eventually(lambda: scene.history() == [("4.20.8", "Completed")])
    assert scene.status["versionStatus"]["desired"]["image"] == first
    scene.release(SECOND)
    scene.operators_run(second, "4.20.10", told=SECOND, running=False)
    time.sleep(1)
    assert scene.history() == [("4.20.8", "Completed")]
    scene.up(CVO)
    eventually(lambda: scene.history() == [("4.20.10", "Completed"), ("4.20.8", "Completed")])
    assert scene.status["releaseImage"] == second


def versions_of(scene: Scene, operator: str) -> list[str]:
    found = scene.hosted.get(CLUSTER_OPERATORS, operator) or {"status": {}}
    return [each["version"] for each in found["status"].get("versions", [])]


def test_operators_go_down_and_up_with_the_nodes(scene: Scene) -> None:
    scene.plane()
    scene.versions.start()
    scene.node("worker-0")
    eventually(lambda: scene.history() == [("4.20.8", "Completed")])
    scene.ready("worker-0", False)
    eventually(lambda: scene.operator("ingress") == {
        "Available": "False", "Progressing": "True", "Degraded": "True", "Upgradeable": "True",
    })  # fmt: skip
    eventually(lambda: (scene.condition("ClusterVersionFailing") or ("",))[0] == "True")
    assert scene.history() == [("4.20.8", "Completed")]
    scene.ready("worker-0", True)
    eventually(lambda: (scene.condition("ClusterVersionFailing") or ("",))[0] == "False")
    assert scene.operator("ingress")["Degraded"] == "False"


def test_an_operator_that_is_held_keeps_the_release_partial(scene: Scene) -> None:
    scene.plane()
    scene.versions.faults()["incomplete"](operator="ingress")
    scene.versions.start()
    scene.node("worker-0")
    eventually(lambda: scene.condition("ClusterVersionFailing") == (
        "True", "ClusterOperatorNotAvailable", "Cluster operator ingress is not available",
    ))  # fmt: skip
    assert scene.history() == [("4.20.8", "Partial")]
    scene.versions.heal()
    eventually(lambda: scene.history() == [("4.20.8", "Completed")])


def test_an_operator_that_does_not_exist_cannot_be_held(scene: Scene) -> None:
    with pytest.raises(ValueError, match="There is no cluster operator nobody; there are console, "):
        scene.versions.faults()["incomplete"](operator="nobody")


def test_failing_can_be_unknown(scene: Scene) -> None:
    scene.plane()
    scene.versions.start()
    eventually(scene.history)
    scene.versions.faults()["failing-unknown"]()
    eventually(lambda: (scene.condition("ClusterVersionFailing") or ("",))[:2] == ("Unknown", "SlowClusterOperator"))


def test_upgrades_can_be_refused(scene: Scene) -> None:
    scene.plane()
    scene.versions.start()
    eventually(lambda: (scene.condition("ClusterVersionUpgradeable") or ("",))[0] == "True")
    scene.versions.faults()["not-upgradeable"](because="The API of yesterday is in use.")
    eventually(lambda: (scene.condition("ClusterVersionUpgradeable") or ("",))[0] == "False")
    scene.versions.heal()
    eventually(lambda: (scene.condition("ClusterVersionUpgradeable") or ("",))[0] == "True")


def test_the_hosted_cluster_is_furnished(scene: Scene) -> None:
    scene.api.create(SECRETS, {
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "pull-secret", "namespace": scene.namespace},
        "data": {".dockerconfigjson": encoded(b"{}")},
    })  # fmt: skip
    scene.plane()
    scene.versions.start()
    eventually(lambda: scene.hosted.get(CLUSTER_VERSIONS, "version"))
    binding = scene.hosted.get(CLUSTER_ROLE_BINDINGS, "create-csrs-for-bootstrapping") or {}
    assert [each["name"] for each in binding["subjects"]] == [hosted_objects.BOOTSTRAPPER]
    infrastructure = scene.hosted.get(Resource(CONFIG, "infrastructures"), "cluster") or {}
    assert infrastructure["status"]["infrastructureName"] == "east-x1y2z"
    assert infrastructure["status"]["platform"] == "None"
    ingress = scene.hosted.get(Resource(CONFIG, "ingresses"), "cluster") or {}
    assert ingress["spec"]["domain"] == "apps.east.example.com"
    assert scene.hosted.get(NAMESPACES, "openshift-monitoring") is not None
    assert scene.hosted.get(SECRETS, "pull-secret", "openshift-config") is not None
    assert scene.hosted.get(SECRETS, "kubeadmin", "kube-system") is not None
    installed = scene.hosted.get(CONFIG_MAPS, "openshift-install", "openshift-config") or {}
    assert installed["data"] == {"invoker": "hypershift", "version": "4.20.8"}


def test_a_router_behind_a_load_balancer_needs_its_address(scene: Scene) -> None:
    scene.plane()
    scene.versions.faults()["no-load-balancer"]()
    scene.versions.start()
    scene.node("worker-0")
    eventually(lambda: scene.hosted.get(INGRESS_CONTROLLERS, "default", "openshift-ingress-operator"))
    strategy: Object = {"spec": {"endpointPublishingStrategy": {"type": "LoadBalancerService"}}}
    scene.hosted.patch(INGRESS_CONTROLLERS, "default", "openshift-ingress-operator", strategy)
    eventually(lambda: scene.operator("ingress").get("Available") == "False")
    assert scene.hosted.get(SERVICES, "router-default", "openshift-ingress") is not None
    strategy["spec"]["endpointPublishingStrategy"]["type"] = "NodePortService"
    scene.hosted.patch(INGRESS_CONTROLLERS, "default", "openshift-ingress-operator", strategy)
    eventually(lambda: scene.operator("ingress").get("Available") == "True")
    eventually(lambda: scene.hosted.get(SERVICES, "router-default", "openshift-ingress") is None)


def test_a_node_gets_the_labels_and_taints_of_its_pool_once(scene: Scene) -> None:
    scene.plane()
    marks = {
        "hypershift.openshift.io/nodePool": "clusters/workers",
        "hypershift.openshift.io/nodePoolTaints": '[{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]',
    }
    meta = {
        "name": "machine-0",
        "namespace": scene.namespace,
        "annotations": marks,
        "labels": {"managed.hypershift.openshift.io.rack": "r1", "other": "x"},
    }
    spec = {"clusterName": "east-x1y2z", "bootstrap": {"dataSecretName": "d"}, "infrastructureRef": {}}
    machine = {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Machine", "metadata": meta, "spec": spec}
    scene.api.create(MACHINES, machine)
    scene.versions.start()
    links = {"cluster.x-k8s.io/machine": "machine-0", "cluster.x-k8s.io/cluster-namespace": scene.namespace}
    scene.node("worker-0", marks=links)
    node = eventually(lambda: synced(scene, "worker-0"))
    assert node["metadata"]["labels"]["hypershift.openshift.io/nodePool"] == "workers"
    assert node["metadata"]["labels"]["node-role.kubernetes.io/worker"] == ""
    assert node["metadata"]["labels"]["rack"] == "r1"
    assert "other" not in node["metadata"]["labels"]
    assert {"key": "gpu", "value": "yes", "effect": "NoSchedule"} in node["spec"]["taints"]


@pytest.mark.parametrize(
    ("nodes", "most", "names"),
    [
        ([("", ""), ("", "")], 1, ["node-0"]),
        ([("", ""), ("", "")], 2, ["node-0", "node-1"]),
        ([("old", "new"), ("old", "old")], 1, []),
        ([("new", "new"), ("old", "old")], 1, ["node-1"]),
        ([("old", "other"), ("old", "old")], 1, ["node-0"]),
    ],
)
def test_no_more_nodes_are_away_than_may_be(nodes: list[tuple[str, str]], most: int, names: list[str]) -> None:
    bodies = [
        {"metadata": {"name": f"node-{number}", "annotations": {in_place.IS: has, in_place.WANTED: wanted}}}
        for number, (has, wanted) in enumerate(nodes)
    ]
    assert in_place.chosen(bodies, "new", most) == names


def machine_set(scene: Scene, *nodes: str) -> None:
    """A MachineSet that is to be at another configuration, with its Machines and their Nodes."""
    api, namespace = scene.api, scene.namespace
    selector = {"matchLabels": {"pool": "workers"}}
    template = {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "MaasMachineTemplate", "name": "x"}
    machine = {"clusterName": "x", "bootstrap": {"dataSecretName": "d"}, "infrastructureRef": template}
    made = api.create(in_place.MACHINE_SETS, {
        "apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "MachineSet",
        "metadata": {
            "name": "workers", "namespace": namespace,
            "annotations": {in_place.TARGET: "b2", in_place.CURRENT: "a1", in_place.MOST: "1"},
        },
        "spec": {"clusterName": "x", "selector": selector,
                 "template": {"metadata": {"labels": {"pool": "workers"}}, "spec": machine}},
    })  # fmt: skip
    owner = {"apiVersion": made["apiVersion"], "kind": "MachineSet", "name": "workers", "uid": made["metadata"]["uid"]}
    for name in nodes:
        meta = {"name": name, "namespace": namespace, "ownerReferences": [{**owner, "controller": True}]}
        body = {"apiVersion": made["apiVersion"], "kind": "Machine", "metadata": meta, "spec": machine}
        api.create(MACHINES, body)
        api.patch(MACHINES, name, namespace, {"status": {"nodeRef": {"name": name}}}, subresource="status")
        scene.node(name)
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "token-workers-b2", "namespace": namespace}}
    api.create(SECRETS, {**secret, "data": {"payload": encoded(b"x")}})


def marks_of_set(scene: Scene) -> dict[str, str]:
    found = scene.api.get(in_place.MACHINE_SETS, "workers", scene.namespace) or {}
    return dict(found["metadata"]["annotations"])


def test_machines_that_stay_are_upgraded_one_after_the_other(scene: Scene) -> None:
    machine_set(scene, "worker-0", "worker-1")
    scene.versions.start()
    said = "Nodepool update in progress. Target Config version: b2. Total Nodes: 2. Upgraded: 1"
    eventually(lambda: marks_of_set(scene).get(in_place.UNDER_WAY) == said)
    eventually(lambda: marks_of_set(scene).get(in_place.CURRENT) == "b2")
    assert in_place.UNDER_WAY not in marks_of_set(scene)
    assert all(in_place.upgraded(node, "b2") for node in scene.hosted.list(NODES))


def test_a_node_that_gets_stuck_says_why(scene: Scene) -> None:
    machine_set(scene, "worker-0")
    scene.versions.faults()["degraded-nodes"](because="no space left")
    scene.versions.start()
    stuck = eventually(lambda: marks_of_set(scene).get(in_place.STUCK))
    assert stuck == "Node worker-0 in nodepool degraded: no space left"
    scene.versions.heal()
    eventually(lambda: marks_of_set(scene).get(in_place.CURRENT) == "b2")
    assert in_place.STUCK not in marks_of_set(scene)


def synced(scene: Scene, name: str) -> Object | None:
    node = scene.hosted.get(NODES, name) or {"metadata": {}}
    return node if "hypershift.openshift.io/labelsSynced" in node["metadata"].get("annotations", {}) else None


def test_a_deletion_that_cleans_up_is_told_what_is_left(scene: Scene) -> None:
    scene.plane()
    scene.versions.faults()["remaining-resources"](resources="persistent-volumes")
    scene.versions.start()
    marks = {"annotations": {"hypershift.openshift.io/cleanup-cloud-resources": "true"}, "finalizers": ["lab.test/x"]}
    scene.api.patch(HOSTED_CONTROL_PLANES, "east", scene.namespace, {"metadata": marks})
    scene.api.delete(HOSTED_CONTROL_PLANES, "east", scene.namespace)
    eventually(lambda: scene.condition("CloudResourcesDestroyed") == (
        "False", "RemainingCloudResources", "Remaining resources: persistent-volumes",
    ))  # fmt: skip
    scene.versions.heal()
    eventually(lambda: scene.condition("CloudResourcesDestroyed") == (
        "True", "CloudResourcesDestroyed", "All guest resources destroyed",
    ))  # fmt: skip
    scene.api.patch(HOSTED_CONTROL_PLANES, "east", scene.namespace, {"metadata": {"finalizers": None}})


def test_it_goes_on_where_it_was_after_a_restart(scene: Scene) -> None:
    scene.plane()
    scene.versions.start()
    scene.node("worker-0")
    eventually(lambda: scene.history() == [("4.20.8", "Completed")])
    before = scene.status["versionStatus"]
    scene.versions.stop()
    scene.versions.start()
    time.sleep(1)
    assert scene.status["versionStatus"] == before
