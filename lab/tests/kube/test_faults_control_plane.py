# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps a control plane from becoming available, one thing after another, and then its nodes and its end.

It is one hosted cluster on its way: each stage takes away what held up the one before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import pytest

from metalshift_lab.kube.api import (
    CLUSTERS,
    CONFIG_MAPS,
    HOSTED_CLUSTERS,
    HOSTED_CONTROL_PLANES,
    MAAS_CLUSTERS,
    MAAS_MACHINES,
    MACHINE_DEPLOYMENTS,
    MACHINES,
    NAMESPACES,
    NODE_POOLS,
    SECRETS,
    Resource,
    of_name,
)
from metalshift_lab.kube.examples import NAMESPACE
from metalshift_lab.kube.faults.rules import FINALIZER
from metalshift_lab.kube.handle import Lab
from metalshift_lab.kube.journey import Journey
from metalshift_lab.kube.sights import Sight, condition, conditions, seen

# What the modules make of the same is tested in tests/hosted/test_faults_told.py.
pytestmark = pytest.mark.thorough

MACHINE_SETS = Resource("cluster.x-k8s.io/v1beta1", "machinesets")
MACHINE_HEALTH_CHECKS = Resource("cluster.x-k8s.io/v1beta1", "machinehealthchecks")
MAAS_MACHINE_TEMPLATES = Resource("infrastructure.cluster.x-k8s.io/v1beta1", "maasmachinetemplates")
CONTROL_PLANE = f"{NAMESPACE}-late"
NO_VOLUME = 'storageclass.storage.k8s.io "fast" not found'

Words = dict[str, str]


@dataclass(frozen=True)
class Stage:
    """A fault that begins before the last one ends, and what the HostedCluster says meanwhile."""

    fault: str
    words: Words
    sights: tuple[Sight, ...]

    def __str__(self) -> str:
        return "-".join((self.fault, *self.words.values()))


def _available(reason: str, message: str = "") -> Sight:
    return Sight("Available", "False", reason, message)


STAGES = (
    Stage(
        "hold",
        {"name": "control-plane-operator"},
        (
            *(
                Sight(kind, "Unknown", "StatusUnknown", "Condition not found in the HCP")
                for kind in ("EtcdAvailable", "KubeAPIServerAvailable", "InfrastructureReady", "ValidReleaseInfo")
            ),
            _available("WaitingForAvailable", "Waiting for hosted control plane to be healthy"),
            Sight("IgnitionEndpointAvailable", "False", "NotFound", "Ignition server deployment not found"),
        ),
    ),
    Stage(
        "quota",
        {"resource": "services"},
        (
            Sight(
                "InfrastructureReady",
                "False",
                "WaitingOnInfrastructureReady",
                "Cluster infrastructure is still provisioning",
            ),
            _available("WaitingOnInfrastructureReady", "Cluster infrastructure is still provisioning"),
        ),
    ),
    Stage(
        "deny",
        {"kind": "StatefulSet"},
        (
            Sight("InfrastructureReady", "True", "AsExpected", "All is well"),
            Sight("EtcdAvailable", "False", "StatefulSetNotFound"),
            Sight("KubeAPIServerAvailable", "False", "NotFound", "Kube APIServer deployment not found"),
            _available("KubeconfigWaitingForCreate", "Waiting for hosted control plane kubeconfig to be created"),
        ),
    ),
    Stage(
        "no-volume",
        {"warning": NO_VOLUME},
        (
            Sight(
                "EtcdAvailable",
                "False",
                "EtcdWaitingForQuorum",
                f"Etcd volume claim data-etcd-0 pending: {NO_VOLUME}",
            ),
            _available("KubeconfigWaitingForCreate"),
        ),
    ),
    Stage(
        "hold",
        {"name": "etcd"},
        (Sight("EtcdAvailable", "False", "EtcdWaitingForQuorum", "Waiting for etcd to reach quorum"),),
    ),
    Stage(
        "unreported",
        {"name": "kube-apiserver"},
        (
            Sight("EtcdAvailable", "True", "QuorumAvailable"),
            Sight("KubeAPIServerAvailable", "False", "StatusUnknown"),
            _available("StatusUnknown"),
        ),
    ),
    Stage(
        "hold",
        {"name": "kube-apiserver"},
        (
            Sight(
                "KubeAPIServerAvailable",
                "False",
                "WaitingForAvailable",
                "Waiting for Kube APIServer deployment to become available",
            ),
            _available("WaitingForAvailable", "Waiting for Kube APIServer deployment to become available"),
            Sight("Degraded", "True", "UnavailableReplicas", "kube-apiserver deployment has 1 unavailable replicas"),
        ),
    ),
    Stage(
        "hold",
        {"name": "ignition-server|openshift-apiserver"},
        (
            Sight("KubeAPIServerAvailable", "True", "AsExpected", "Kube APIServer deployment is available"),
            Sight(
                "Degraded",
                "True",
                "UnavailableReplicas",
                r"\[ignition-server deployment has 1 unavailable replicas, openshift-apiserver deployment has 1 "
                r"unavailable replicas\]",
            ),
            Sight(
                "IgnitionEndpointAvailable",
                "False",
                "WaitingForAvailable",
                "Ignition server deployment is not yet available",
            ),
            Sight("Available", "True", "AsExpected", "The hosted control plane is available"),
        ),
    ),
)

LATER = (
    Stage(
        "hold",
        {"name": "etcd"},
        (
            Sight("EtcdAvailable", "False", "EtcdWaitingForQuorum", "Waiting for etcd to reach quorum"),
            _available("EtcdWaitingForQuorum", "Waiting for etcd to reach quorum"),
        ),
    ),
    Stage(
        "hold",
        {"name": "kube-apiserver"},
        (
            _available("WaitingForAvailable", "Waiting for Kube APIServer deployment to become available"),
            Sight(
                "Degraded", "True", "UnavailableReplicas", ".*kube-apiserver deployment has 1 unavailable replicas.*"
            ),
        ),
    ),
)

UNREADY = r"1 of 1 machines are not ready\nMachine \S+: {}\n"
NOT_ALLOCATED = "failed to deploy MaasMachine instance: Unable to allocate machine: {}"
DEPLOYMENT_FAILED = (
    "failed to deploy MaasMachine instance: Unable to deploy machine: status: 409, message: "
    "Can't deploy a machine that is in the 'Failed deployment' state"
)


def _undeployed(message: str) -> tuple[tuple[Resource, Sight], ...]:
    """The MaasMachine alone says why; those above it know only that it failed."""
    return (
        (MAAS_MACHINES, Sight("MachineDeployed", "False", "MachineDeployFailed", message)),
        (MAAS_MACHINES, Sight("Ready", "False", "MachineDeployFailed", "0 of 1 completed")),
        (MACHINES, Sight("InfrastructureReady", "False", "MachineDeployFailed", "0 of 1 completed")),
        (NODE_POOLS, Sight("AllMachinesReady", "False", "MachineDeployFailed", UNREADY.format("MachineDeployFailed"))),
    )


#: As of each deployment; only the time that it takes is not.
DEPLOYING: tuple[tuple[Resource, Sight], ...] = (
    (MAAS_MACHINES, Sight("MachineDeployed", "False", "MachineDeploying")),
    (MACHINES, Sight("InfrastructureReady", "False", "MachineDeploying", "0 of 1 completed")),
    (NODE_POOLS, Sight("AllMachinesReady", "False", "MachineDeploying", UNREADY.format("MachineDeploying"))),
    (NODE_POOLS, Sight("ReachedIgnitionEndpoint", "False", "ignitionNotReached")),
)


@dataclass(frozen=True)
class Step:
    """A fault of machines on their way to be nodes, and what shows meanwhile on which kind of object."""

    fault: str
    words: Words
    sights: tuple[tuple[Resource, Sight], ...]


NODES = (
    Step(
        "no-payload",
        {"namespace": CONTROL_PLANE},
        (
            (NODE_POOLS, Sight("ValidGeneratedPayload", "Unknown", "", "Unable to get status data from token secret")),
            (NODE_POOLS, Sight("ReachedIgnitionEndpoint", "False", "ignitionNotReached")),
        ),
    ),
    Step(
        "bad-payload",
        {"namespace": CONTROL_PLANE, "because": "no disk"},
        (
            (
                NODE_POOLS,
                Sight(
                    "ValidGeneratedPayload",
                    "",
                    "InvalidConfig",
                    "failed to generate payload: error getting ignition payload: no disk",
                ),
            ),
        ),
    ),
    Step("maas-full", {}, _undeployed(NOT_ALLOCATED.format("status: 409, message: No machine available."))),
    Step("maas-error", {"op": "allocate"}, _undeployed(NOT_ALLOCATED.format("status: 503, message: .*"))),
    Step("maas-key-revoked", {}, _undeployed(NOT_ALLOCATED.format("status: 401, message: .*"))),
    Step("maas-down", {}, _undeployed(NOT_ALLOCATED.format('Post "http://.*/machines/": EOF'))),
    Step("machine-fails", {"action": "deploy"}, _undeployed(DEPLOYMENT_FAILED)),
    Step("deploys-for-ever", {}, DEPLOYING),
    Step(
        "never-boots",
        {},
        (
            (MAAS_MACHINES, Sight("MachineDeployed", "True")),
            (MACHINES, Sight("NodeHealthy", "False", "NodeProvisioning", "Waiting for a node with .* to exist")),
            (NODE_POOLS, Sight("AllMachinesReady", "True", "AsExpected", "All is well")),
            (NODE_POOLS, Sight("AllNodesHealthy", "False", "NodeProvisioning", r"Machine \S+: NodeProvisioning\n")),
            (NODE_POOLS, Sight("ReachedIgnitionEndpoint", "False", "ignitionNotReached")),
        ),
    ),
    Step(
        "never-asks",
        {},
        (
            (NODE_POOLS, Sight("ReachedIgnitionEndpoint", "True", "AsExpected")),
            (NODE_POOLS, Sight("AllNodesHealthy", "False", "NodeProvisioning")),
        ),
    ),
)


@pytest.fixture(scope="module")
def late(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journey]:
    """It begins at the first stage, and no machine may be on its way before its turn comes."""
    journey = Journey(lab, "late", tmp_path_factory.mktemp("kubeconfigs"))
    lab.fault(STAGES[0].fault, namespace=CONTROL_PLANE, **STAGES[0].words)
    lab.fault(NODES[0].fault, **NODES[0].words)
    lab.fault("maas-full")
    journey.create(replicas=1, auto_repair=True)
    yield journey
    lab.heal()
    journey.delete()
    journey.until_gone()


@pytest.fixture
def available(late: Journey) -> Journey:
    """Past all stages, whether a test went through them or not."""
    for stage in STAGES:
        late.lab.heal(stage.fault, namespace=CONTROL_PLANE, **stage.words)
    late.until_available()
    return late


@pytest.fixture
def whole(available: Journey) -> Journey:
    """With its node, and nothing wrong."""
    available.lab.heal()
    available.until_nodes(1)
    return available


def _pass(late: Journey, before: Stage | None, stage: Stage) -> None:
    lab = late.lab
    lab.fault(stage.fault, **{"namespace": CONTROL_PLANE, **stage.words})
    if before is not None:
        lab.heal(before.fault, **before.words)
    seen(lab, HOSTED_CLUSTERS, "late", NAMESPACE, *stage.sights)


def _show(late: Journey, step: Step) -> None:
    """Of each kind there is one object."""
    for resource in dict.fromkeys(resource for resource, _sight in step.sights):
        sights = [sight for kind, sight in step.sights if kind == resource]
        namespace = NAMESPACE if resource == NODE_POOLS else late.namespace
        there = partial(late.lab.api.list, resource, namespace)
        name = "late" if resource == NODE_POOLS else of_name(late.lab.until(f"there are {resource}", there)[0])
        seen(late.lab, resource, name, namespace, *sights)


def test_a_control_plane_says_at_each_stage_what_it_waits_for(late: Journey) -> None:
    lab = late.lab
    seen(lab, HOSTED_CLUSTERS, "late", NAMESPACE, *STAGES[0].sights)
    plane = lab.api.get(HOSTED_CONTROL_PLANES, "late", CONTROL_PLANE) or {}
    assert not conditions(plane)
    assert not plane["metadata"].get("finalizers")
    for before, stage in pairwise(STAGES):
        _pass(late, before, stage)
    lab.heal(STAGES[-1].fault, **STAGES[-1].words)
    late.until_available()


def test_machines_show_what_keeps_them_from_being_nodes(available: Journey) -> None:
    for before, step in zip((None, *NODES), NODES, strict=False):
        if before is not None:
            available.lab.fault(step.fault, **step.words)
            available.lab.heal(before.fault)
        _show(available, step)
    available.lab.heal()
    available.until_nodes(1)


def test_a_control_plane_that_breaks_later_says_so_too(whole: Journey) -> None:
    lab = whole.lab
    for before, stage in zip((None, *LATER), LATER, strict=False):
        _pass(whole, before, stage)
    lab.heal()
    cluster = seen(lab, HOSTED_CLUSTERS, "late", NAMESPACE, Sight("Available", "True"), Sight("Degraded", "False"))
    assert condition(cluster, "EtcdAvailable").startswith("EtcdAvailable=True")


@dataclass(frozen=True)
class Stop:
    """Where a deletion hangs: a fault, the kind of object that waits, its finalizers then, and who speaks of it."""

    fault: str
    name: str
    resource: Resource
    finalizers: tuple[str, ...]
    sights: tuple[tuple[Resource, Sight], ...] = ()


def _stuck(kind: str, resource: Resource, *sights: tuple[Resource, Sight]) -> Stop:
    return Stop("stuck", kind, resource, (FINALIZER,), sights)


def _held(program: str, resource: Resource, finalizer: str, *sights: tuple[Resource, Sight]) -> Stop:
    return Stop("hold", program, resource, (finalizer, FINALIZER), sights)


#: In the order in which a deletion comes to them.
STOPS = (
    _held("operator", HOSTED_CLUSTERS, "hypershift.openshift.io/finalizer"),
    _held("cluster-api", CLUSTERS, "cluster.cluster.x-k8s.io"),
    _held(
        "capi-provider",
        MAAS_MACHINES,
        "maasmachine.infrastructure.cluster.x-k8s.io",
        (
            MACHINES,
            Sight("Deleting", "True", "WaitingForInfrastructureDeletion", "Waiting for MaasMachine to be deleted"),
        ),
        (CLUSTERS, Sight("Deleting", "True", "WaitingForWorkersDeletion", r"\* MachineDeployments: late\n.*")),
        # It stays what it was: nothing in it says that it hangs.
        (HOSTED_CLUSTERS, Sight("Available", "True")),
        (HOSTED_CLUSTERS, Sight("ReconciliationSucceeded", "True")),
    ),
    _stuck("MaasMachine", MAAS_MACHINES),
    _stuck("Machine", MACHINES),
    _stuck("MachineSet", MACHINE_SETS),
    _stuck("MachineDeployment", MACHINE_DEPLOYMENTS),
    _held(
        "control-plane-operator",
        HOSTED_CONTROL_PLANES,
        "hypershift.openshift.io/finalizer",
        (HOSTED_CLUSTERS, Sight("CloudResourcesDestroyed", "Unknown", "StatusUnknown")),
    ),
    _stuck("HostedControlPlane", HOSTED_CONTROL_PLANES),
    _stuck("MaasCluster", MAAS_CLUSTERS),
    _stuck("Cluster", CLUSTERS),
    # Nobody waits for these but the namespace.
    _stuck("MaasMachineTemplate", MAAS_MACHINE_TEMPLATES),
    _stuck("MachineHealthCheck", MACHINE_HEALTH_CHECKS),
    _stuck("Secret", SECRETS),
    _stuck(
        "ConfigMap",
        CONFIG_MAPS,
        (
            NAMESPACES,
            Sight(
                "NamespaceFinalizersRemaining",
                "True",
                "SomeFinalizersRemain",
                f"Some content in the namespace has finalizers remaining: {FINALIZER} in 1 resource instances",
            ),
        ),
    ),
    _stuck("Namespace", NAMESPACES),
    _stuck("HostedCluster", HOSTED_CLUSTERS),
    _stuck("NodePool", NODE_POOLS),
)


def _place(resource: Resource) -> str:
    """In which namespace the objects of this cluster are."""
    return {HOSTED_CLUSTERS: NAMESPACE, NODE_POOLS: NAMESPACE, NAMESPACES: ""}.get(resource, CONTROL_PLANE)


def _name(late: Journey, resource: Resource) -> str:
    """Of the object of this kind; but for ConfigMaps and Secrets there is one."""
    known = {
        NAMESPACES: CONTROL_PLANE,
        HOSTED_CLUSTERS: "late",
        NODE_POOLS: "late",
        CONFIG_MAPS: "kube-root-ca.crt",
        SECRETS: "pull-secret",
    }
    there = partial(late.lab.api.list, resource, CONTROL_PLANE)
    return known.get(resource) or of_name(late.lab.until(f"there are {resource}", there)[0])


def _begin(late: Journey, stop: Stop, name: str) -> Words:
    """Begin its fault; the words by which it is healed."""
    if stop.fault == "stuck":
        words = {"kind": stop.name, "name": name, "namespace": _place(stop.resource)}
    else:
        words = {"name": stop.name, "namespace": "hypershift" if stop.name == "operator" else CONTROL_PLANE}
    late.lab.fault(stop.fault, **words)
    return words


def _hangs(late: Journey, stop: Stop, name: str) -> bool:
    body = late.lab.api.get(stop.resource, name, _place(stop.resource)) or {"metadata": {}}
    left = sorted(body["metadata"].get("finalizers") or [])
    return "deletionTimestamp" in body["metadata"] and left == sorted(stop.finalizers)


def test_a_deletion_hangs_wherever_something_holds_it(whole: Journey) -> None:
    lab = whole.lab
    names = {stop.resource: _name(whole, stop.resource) for stop in STOPS}
    words = [_begin(whole, stop, names[stop.resource]) for stop in STOPS]
    whole.delete()
    for stop, of_fault in zip(STOPS, words, strict=True):
        lab.until(f"{stop.name} hangs", partial(_hangs, whole, stop, names[stop.resource]), 60)
        for resource, sight in stop.sights:
            seen(lab, resource, names[resource], _place(resource), sight)
        lab.heal(stop.fault, **of_fault)
    whole.until_gone()
    lab.until("the node pool is gone", lambda: lab.api.get(NODE_POOLS, "late", NAMESPACE) is None)
    assert not [fault for fault in lab.status()["faults"] if CONTROL_PLANE in fault]
