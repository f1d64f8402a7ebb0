# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a removal hangs at: one object, its finalizer, who should remove it, and why that does not happen."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.pure.blockers import (
    DeletionState,
    footprint,
    obstacles,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import NO_DETACH, NO_DRAIN
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    CLUSTERS,
    HOSTED_CLUSTERS,
    HOSTED_CONTROL_PLANES,
    MAAS_CLUSTERS,
    MAAS_MACHINES,
    MACHINE_DEPLOYMENTS,
    MACHINE_SETS,
    MACHINES,
    NAMESPACES,
    NODE_POOLS,
    SECRETS,
    Object,
    ObjectKind,
)

PLACE = "clusters-demo"
FINALIZERS: dict[ObjectKind, str] = {
    MAAS_MACHINES: "maasmachine.infrastructure.cluster.x-k8s.io",
    MACHINES: "machine.cluster.x-k8s.io",
    MACHINE_SETS: "cluster.x-k8s.io/machineset",
    MACHINE_DEPLOYMENTS: "cluster.x-k8s.io/machinedeployment",
    MAAS_CLUSTERS: "maascluster.infrastructure.cluster.x-k8s.io",
    HOSTED_CONTROL_PLANES: "hypershift.openshift.io/finalizer",
    CLUSTERS: "cluster.cluster.x-k8s.io",
    NODE_POOLS: "hypershift.openshift.io/finalizer",
    HOSTED_CLUSTERS: "hypershift.openshift.io/finalizer",
}
NAMES = {MAAS_MACHINES: "m1", MACHINES: "m1", MACHINE_SETS: "np-s", MACHINE_DEPLOYMENTS: "np", NODE_POOLS: "np"}
OWNERS = {MACHINES: ("MachineSet", "np-s"), MACHINE_SETS: ("MachineDeployment", "np")}
RUNS: Object = {"spec": {"replicas": 1}, "status": {"availableReplicas": 1}}
BUDGET = (
    "Drain not completed yet (started at 2026-11-18T20:00:00Z):\n* Pod default/app3: cannot evict pod as it would "
    "violate the pod's disruption budget. The disruption budget x needs 1 healthy pods and has 1 currently"
)


def thing(kind: ObjectKind, *, going: bool = True, held: tuple[str, ...] | None = None, **more: Any) -> Object:
    """An object of a cluster that is being taken away."""
    metadata: Object = {"name": NAMES.get(kind, "demo"), "uid": kind.name}
    metadata["namespace"] = "clusters" if kind in (HOSTED_CLUSTERS, NODE_POOLS) else PLACE
    metadata["finalizers"] = list((FINALIZERS[kind],) if held is None else held)
    if going:
        metadata["deletionTimestamp"] = "2026-11-18T20:00:00Z"
    if kind in OWNERS:
        owner, name = OWNERS[kind]
        metadata["ownerReferences"] = [{"kind": owner, "name": name}]
    if kind not in (HOSTED_CLUSTERS, NODE_POOLS):
        metadata["annotations"] = {"hypershift.openshift.io/nodePool": "clusters/np"}
    metadata["annotations"] = {**metadata.get("annotations", {}), **more.pop("annotations", {})}
    spec: Object = {"infrastructureRef": {"name": "m1"}} if kind is MACHINES else {}
    if kind is MAAS_MACHINES:
        spec = {"systemID": "abc123"}
    spec.update(more.pop("spec", {}))
    return {"apiVersion": kind.api, "kind": kind.name, "metadata": metadata, "spec": spec, **more}


def scene(*bodies: Object, **words: Any) -> DeletionState:
    kinds = {kind.name: kind for kind in FINALIZERS}
    objects: dict[ObjectKind, list[Object]] = {}
    for body in bodies:
        objects.setdefault(kinds[body["kind"]], []).append(body)
    programs = {"capi-provider": RUNS, "cluster-api": RUNS, "control-plane-operator": RUNS, "operator": RUNS}
    return DeletionState("clusters", "demo", objects, **{"programs": programs, **words})


def stopped(name: str) -> dict[str, Any]:
    programs = {"capi-provider": RUNS, "cluster-api": RUNS, "control-plane-operator": RUNS, "operator": RUNS}
    return {"programs": {**programs, name: {"spec": {"replicas": 1}, "status": {}}}}


def deleting_says(reason: str, message: str) -> Object:
    return {"v1beta2": {"conditions": [{"type": "Deleting", "status": "True", "reason": reason, "message": message}]}}


WORKERS = [thing(kind) for kind in (MAAS_MACHINES, MACHINES, MACHINE_SETS, MACHINE_DEPLOYMENTS)]
# As long as there are workers, nobody touches the control plane.
LATER = [thing(kind, going=False) for kind in (HOSTED_CONTROL_PLANES, MAAS_CLUSTERS)]
UPPER = [thing(kind) for kind in (CLUSTERS, HOSTED_CLUSTERS)]
ALL = [*WORKERS, *LATER, thing(NODE_POOLS), *UPPER]
# What is left at each stage of a removal, the one that is next first.
STAGES = [
    *([*WORKERS[gone:], *LATER, thing(NODE_POOLS), *UPPER] for gone in range(len(WORKERS))),
    [thing(NODE_POOLS)],
    [thing(HOSTED_CONTROL_PLANES), LATER[1], *UPPER],
    [thing(MAAS_CLUSTERS), *UPPER],
    UPPER,
    UPPER[1:],
]
NODE_GONE = [
    thing(MACHINES, status=deleting_says("DeletingNode", "Error deleting Node")),
    *WORKERS[2:],
    thing(NODE_POOLS),
]
DRAINING = [
    thing(MAAS_MACHINES, going=False),
    thing(MACHINES, status=deleting_says("DrainingNode", BUDGET)),
    *WORKERS[2:],
    thing(NODE_POOLS),
]


@pytest.mark.parametrize("left", STAGES)
def test_only_the_deepest_object_is_named(left: list[Object]) -> None:
    first = left[0]
    (one,) = obstacles(scene(*left))
    assert one.label == f"{first['kind']} {first['metadata']['namespace']}/{first['metadata']['name']}"
    assert [(act.verb, act.label) for act in one.acts][:1] in ([("finalizers", one.label)], [("no_drain", one.label)])


@pytest.mark.parametrize(
    ("found", "label", "text"),
    [
        (
            scene(*ALL, **stopped("capi-provider")),
            "MaasMachine clusters-demo/m1",
            "keeps its finalizer maasmachine.infrastructure.cluster.x-k8s.io: the MAAS provider removes it once its "
            "machine is released in MAAS, and Deployment clusters-demo/capi-provider does not run: none of its pods is "
            "available.",
        ),
        (
            scene(*ALL, programs={"capi-provider": None}),
            "MaasMachine clusters-demo/m1",
            "and Deployment clusters-demo/capi-provider does not exist.",
        ),
        (
            scene(*ALL, programs={"capi-provider": {"spec": {"replicas": 0}}}),
            "MaasMachine clusters-demo/m1",
            "and Deployment clusters-demo/capi-provider is scaled to 0.",
        ),
        (
            scene(*ALL, key_refused="Authorization Error: Invalid API key"),
            "MaasMachine clusters-demo/m1",
            "and MAAS does not accept the key that it has (Authorization Error: Invalid API key).",
        ),
        (
            scene(*ALL, machine_troubles={"abc123": "machine n1 (abc123) is locked in MAAS"}),
            "MaasMachine clusters-demo/m1",
            "and machine n1 (abc123) is locked in MAAS.",
        ),
        (
            scene(*ALL),
            "MaasMachine clusters-demo/m1",
            "and machine abc123 is not released, and the provider says why in its log alone.",
        ),
        (
            scene(thing(MAAS_MACHINES, spec={"systemID": ""}), *ALL[1:]),
            "MaasMachine clusters-demo/m1",
            "and it never had a machine: the provider keeps such a one for two minutes.",
        ),
        (
            scene(*DRAINING),
            "Machine clusters-demo/m1",
            "and its node cannot be drained because of the disruption budget x (",
        ),
        (scene(*NODE_GONE), "Machine clusters-demo/m1", "and its Node cannot be deleted, most likely because the API"),
        (
            scene(thing(CLUSTERS, spec={"paused": True}), *WORKERS, thing(HOSTED_CLUSTERS)),
            "MaasMachine clusters-demo/m1",
            "and Cluster clusters-demo/demo is paused.",
        ),
        (
            scene(thing(MACHINE_SETS, annotations={"cluster.x-k8s.io/paused": "true"}), thing(NODE_POOLS)),
            "MachineSet clusters-demo/np-s",
            "and it is paused (annotation cluster.x-k8s.io/paused).",
        ),
        (
            scene(thing(MACHINE_DEPLOYMENTS, going=False), thing(NODE_POOLS), **stopped("operator")),
            "MachineDeployment clusters-demo/np",
            "is not deleted although NodePool clusters/np is: the HyperShift operator should do it, and Deployment "
            "hypershift/operator does not run: none of its pods is available.",
        ),
        (
            scene(
                thing(HOSTED_CONTROL_PLANES),
                thing(CLUSTERS),
                thing(HOSTED_CLUSTERS),
                **stopped("control-plane-operator"),
            ),
            "HostedControlPlane clusters-demo/demo",
            "and Deployment clusters-demo/control-plane-operator does not run",
        ),
        (
            scene(thing(HOSTED_CLUSTERS, held=("lab.example/stuck",))),
            "HostedCluster clusters/demo",
            "keeps the finalizer lab.example/stuck, which nothing that this collection knows removes.",
        ),
        (
            scene(thing(HOSTED_CLUSTERS, held=("openshift.io/destroy-cluster",))),
            "HostedCluster clusters/demo",
            "whoever runs hypershift destroy cluster removes it once that command has come to its end",
        ),
    ],
)
def test_the_sentence_says_who_should_remove_what_and_why_it_does_not(
    found: DeletionState, label: str, text: str
) -> None:
    (one, *others) = obstacles(found)
    assert (one.label, others) == (label, [])
    assert text in one.text
    assert one.hint


def test_a_namespace_is_held_by_what_is_in_it() -> None:
    place: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": PLACE, "deletionTimestamp": "x"}}
    kept: Object = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": PLACE}}
    kept["metadata"]["finalizers"] = ["example.com/keep"]
    (one,) = obstacles(scene(thing(HOSTED_CLUSTERS), place=place, content=[kept]))
    assert one.text == (
        "Namespace clusters-demo cannot go because of what is in it: Secret clusters-demo/s (example.com/keep) keeps "
        "its finalizer, and nothing that this collection knows removes it."
    )
    assert [(act.verb, act.label, act.finalizers) for act in one.acts] == [
        ("finalizers", "Secret clusters-demo/s", ["example.com/keep"])
    ]
    assert (NAMESPACES.name, SECRETS.name) == (place["kind"], kept["kind"])


@pytest.mark.parametrize(
    ("annotations", "inner_goes", "act"),
    [
        ({}, False, ("no_drain", "Machine clusters-demo/m1")),
        ({NO_DRAIN: "", NO_DETACH: ""}, False, ("delete", "MaasMachine clusters-demo/m1")),
        ({NO_DRAIN: "", NO_DETACH: ""}, True, ("finalizers", "MaasMachine clusters-demo/m1")),
    ],
)
def test_force_begins_with_the_mildest(annotations: dict[str, str], inner_goes: bool, act: tuple[str, str]) -> None:
    machine = thing(MACHINES, status=deleting_says("DrainingNode", BUDGET), annotations=annotations)
    (one,) = obstacles(scene(thing(MAAS_MACHINES, going=inner_goes), machine, *WORKERS[2:], thing(NODE_POOLS)))
    assert [(each.verb, each.label) for each in one.acts] == [act]


def test_force_deletes_what_the_operator_that_is_stopped_does_not() -> None:
    bodies = [thing(MACHINE_DEPLOYMENTS, going=False), thing(NODE_POOLS), thing(CLUSTERS, going=False)]
    found = obstacles(scene(*bodies, thing(HOSTED_CLUSTERS), **stopped("operator")))
    assert {(act.verb, act.label) for one in found for act in one.acts} == {
        ("delete", "MachineDeployment clusters-demo/np"),
        ("delete", "Cluster clusters-demo/demo"),
    }


def test_a_footprint_changes_with_progress_and_with_nothing_else() -> None:
    before = scene(*ALL)
    touched = [{**body, "metadata": {**body["metadata"], "resourceVersion": "9"}, "status": {"x": 1}} for body in ALL]
    assert footprint(scene(*touched)) == footprint(before)
    assert footprint(scene(*ALL[1:])) != footprint(before)
    freed = {**ALL[0], "metadata": {**ALL[0]["metadata"], "finalizers": []}}
    assert footprint(scene(freed, *ALL[1:])) != footprint(before)
