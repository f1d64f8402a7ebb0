# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosted clusters of the real operators taken away: alone, when something hangs, and what they leave."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.connection import MaasConnection
from hosted.play import reach, run
from integration.harness import Outcome
from metalshift_lab.kube.api import MAAS_MACHINES, MACHINES, NAMESPACES, SECRETS, Resource
from metalshift_lab.kube.handle import Lab
from metalshift_lab.kube.journey import Journey

Make = Callable[..., Journey]
VOLUMES = Resource("v1", "persistentvolumes")
BUDGETS = Resource("policy/v1", "poddisruptionbudgets")
PODS = Resource("v1", "pods")
# Where nothing hangs, the namespace of a control plane may still take its time to be emptied.
PATIENT = {"wait_timeout": 400, "wait_sleep": 1, "stall_timeout": 200}
QUICK = {**PATIENT, "stall_timeout": 10}


@pytest.fixture
def make(lab: Lab, tmp_path: Any) -> Iterator[Make]:
    """Make a hosted cluster with machines; they need not be nodes yet, unless the test is about them."""

    def made(name: str, *, machines: int = 1, nodes: int = 0) -> Journey:
        journey = Journey(lab, name, tmp_path)
        journey.create(replicas=max(machines, nodes))
        journey.until_available(300)
        lab.until(f"{name} has its machines", lambda: len(of(journey)) == max(machines, nodes), 300)
        if nodes:
            journey.until_nodes(nodes, 400)
        return journey

    yield made
    lab.heal()


def remove(journey: Journey, **words: Any) -> Outcome:
    return run(journey.lab, "hosted_cluster", {"name": journey.name, "state": "absent", **QUICK, **words})


def audit(lab: Lab, name: str, **words: Any) -> Outcome:
    return run(lab, "hosted_cluster_audit_info", {"name": name, **words})


def maas(lab: Lab) -> Client:
    return Client(MaasConnection.from_params({**reach(lab), "maas_validate_certs": True, "maas_timeout": 30.0}, {}))


def machine(lab: Lab, system_id: str) -> dict[str, Any]:
    found: dict[str, Any] = maas(lab).get(f"machines/{system_id}/")
    return found


def of(journey: Journey) -> list[str]:
    """The machines that the cluster has."""
    bodies = journey.lab.api.list(MAAS_MACHINES, journey.namespace)
    deployed = [body for body in bodies if body.get("status", {}).get("machineState") == "Deployed"]
    return sorted(body["spec"]["systemID"] for body in deployed)


def is_gone(journey: Journey) -> bool:
    return not journey.cluster() and journey.lab.api.get(NAMESPACES, journey.namespace) is None


def test_a_cluster_goes_and_its_machines_are_ready(make: Make, lab: Lab) -> None:
    journey = make("away", machines=2)
    had = of(journey)
    foreseen = run(lab, "hosted_cluster", {"name": "away", "state": "absent", **QUICK}, check=True)
    assert foreseen.changed
    assert [one["system_id"] for one in foreseen["machines"]] == had
    assert "deletionTimestamp" not in journey.cluster()["metadata"]

    done = remove(journey, **PATIENT)
    assert not done.failed, done.msg
    assert {one["system_id"]: one["outcome"] for one in done["machines"]} == dict.fromkeys(had, "ready")
    assert {lab.machines()[one] for one in had} == {"Ready"}
    assert (done["forced"], is_gone(journey)) == ([], True)

    left = audit(lab, "away", noted=done["machines"])
    assert left["clean"], left["leaks"]
    again = remove(journey)
    assert (again.failed, again.changed) == (False, False)


@pytest.mark.thorough
def test_a_paused_cluster_is_continued_before_it_is_deleted(make: Make, lab: Lab) -> None:
    journey = make("halted")
    journey._patch("hostedcluster", {"spec": {"pausedUntil": "true"}})
    journey._patch("nodepool", {"spec": {"pausedUntil": "true"}})
    cluster = Resource("cluster.x-k8s.io/v1beta1", "clusters")
    lab.until("it is paused", lambda: lab.api.list(cluster, journey.namespace)[0]["spec"].get("paused"))
    refused = run(lab, "node_pool", {"name": "halted", "cluster": "halted", "state": "absent", **QUICK})
    assert refused["failure"]["kind"] == "conflict"
    assert "is paused: neither Cluster API nor the MAAS provider does anything then." in refused.msg
    done = remove(journey, **PATIENT)
    assert not done.failed, done.msg
    assert [one["outcome"] for one in done["machines"]] == ["ready"]


@pytest.mark.thorough
def test_every_finalizer_that_nobody_removes_is_named_and_removed_by_force(make: Make, lab: Lab) -> None:
    journey = make("stuck")
    kinds = {
        "maasmachines": "MaasMachine",
        "machines.cluster.x-k8s.io": "Machine",
        "machinesets": "MachineSet",
        "machinedeployments": "MachineDeployment",
        "maasclusters": "MaasCluster",
        "hostedcontrolplanes": "HostedControlPlane",
        "clusters.cluster.x-k8s.io": "Cluster",
    }
    labels = []
    for plural, kind in kinds.items():
        name = lab.kubectl("-n", journey.namespace, "get", plural, "-o", "name").split()[0].rpartition("/")[2]
        lab.fault("stuck", kind=kind, name=name, namespace=journey.namespace)
        labels.append(f"{kind} {journey.namespace}/{name}")
    lab.fault("stuck", kind="ConfigMap", name="kube-root-ca.crt", namespace=journey.namespace)
    lab.fault("stuck", kind="Namespace", name=journey.namespace)
    for kind in ("NodePool", "HostedCluster"):
        lab.fault("stuck", kind=kind, name="stuck", namespace="clusters")
        labels.append(f"{kind} clusters/stuck")

    hangs = remove(journey)
    assert hangs["failure"]["kind"] == "failed_state"
    assert hangs["failure"]["object"] == labels[0]
    assert f"{labels[0]} keeps the finalizer lab.example/stuck, which nothing" in hangs.msg
    done = remove(journey, force=True)
    assert not done.failed, done.msg
    wanted = [*labels, f"ConfigMap {journey.namespace}/kube-root-ca.crt", f"Namespace {journey.namespace}"]
    assert sorted(done["forced"]) == sorted(f"{label}: lab.example/stuck removed" for label in wanted)
    assert is_gone(journey)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "held", "beside", "said"),
    [
        ("unprovided", "capi-provider", True, "the MAAS provider removes it once its machine is released in MAAS"),
        ("unmanaged", "control-plane-operator", True, "the control-plane-operator removes it once"),
        ("uncored", "cluster-api", True, "Cluster API"),
        ("unoperated", "operator", False, "the HyperShift operator should do it"),
    ],
)
def test_who_does_not_run_is_named_and_force_does_without(
    make: Make, lab: Lab, name: str, held: str, beside: bool, said: str
) -> None:
    journey = make(name)
    had = of(journey)
    where = journey.namespace if beside else "hypershift"
    lab.fault("hold", name=held, namespace=where)
    hangs = remove(journey)
    assert hangs["failure"]["kind"] == "failed_state"
    assert said in hangs.msg
    assert f"Deployment {where}/{held} does not run: none of its pods is available" in hangs.msg
    done = remove(journey, force=True)
    assert not done.failed, done.msg
    assert done["forced"]
    assert is_gone(journey)
    assert {lab.machines()[one] for one in had} == {"Ready"}


@pytest.mark.thorough
def test_a_key_that_maas_does_not_accept_is_named(make: Make, lab: Lab) -> None:
    journey = make("locked-out")
    wrong = base64.b64encode(b"aaaa:bbbb:cccc").decode()
    lab.api.patch(SECRETS, "locked-out-maas-credentials", journey.namespace, {"data": {"MAAS_API_KEY": wrong}})
    lab.kubectl("-n", journey.namespace, "rollout", "restart", "deployment/capi-provider")
    hangs = lab.until("the key is missed", lambda: (found := remove(journey)).failed and found, 60)
    assert f"Deployment {journey.namespace}/capi-provider" in hangs["failure"]["hint"]
    assert "MAAS does not accept the key that it has" in hangs.msg
    assert "bbbb" not in json.dumps(hangs.result)
    done = remove(journey, force=True)
    assert not done.failed, done.msg
    assert [one["outcome"] for one in done["machines"]] == ["ready"]


@pytest.mark.thorough
def test_a_pool_whose_node_cannot_be_drained_names_the_budget(make: Make, lab: Lab) -> None:
    journey = make("full", nodes=1)
    (node,) = journey.nodes()
    labels = {"app": "shop"}
    api = journey.hosted_api
    pod: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "shop", "namespace": "default"}}
    pod["metadata"]["labels"] = labels
    pod["spec"] = {
        "nodeName": node["metadata"]["name"],
        "containers": [{"name": "c", "image": "registry.example/shop"}],
    }
    api.create(PODS, pod)
    running = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    api.patch(PODS, "shop", "default", running, subresource="status")
    budget: dict[str, Any] = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget"}
    budget["metadata"] = {"name": "always", "namespace": "default"}
    budget["spec"] = {"minAvailable": 1, "selector": {"matchLabels": labels}}
    made = api.create(BUDGETS, budget)
    counted = {"observedGeneration": made["metadata"]["generation"], "currentHealthy": 1, "desiredHealthy": 1}
    counted |= {"expectedPods": 1, "disruptionsAllowed": 0}
    api.patch(BUDGETS, "always", "default", {"status": counted}, subresource="status")

    late = run(lab, "node_pool", {"name": "full", "cluster": "full", "state": "absent", **QUICK, "wait_timeout": 45})
    assert late["failure"]["kind"] == "timeout"
    assert "its node cannot be drained because of the disruption budget always" in late.msg
    (left,) = lab.api.list(MACHINES, journey.namespace)
    assert late["failure"]["object"] == f"Machine {journey.namespace}/{left['metadata']['name']}"
    # The workloads of a cluster go with it: without its drain, nothing is in the way.
    done = remove(journey, **PATIENT)
    assert not done.failed, done.msg
    assert [one["outcome"] for one in done["machines"]] == ["ready"]


@pytest.mark.thorough
def test_a_stale_provider_id_never_costs_anybody_a_machine(make: Make, lab: Lab) -> None:
    journey = make("stale")
    (own,) = of(journey)
    someone = run(
        lab,
        "machine_set",
        {
            "claim": "shop",
            "count": 1,
            "osystem": "ubuntu",
            "distro_series": "noble",
            "wait_timeout": 200,
            "wait_sleep": 1,
        },
    )
    assert not someone.failed, someone.msg
    foreign = someone["machines"][0]["system_id"]
    (body,) = lab.api.list(MAAS_MACHINES, journey.namespace)
    lab.fault("hold", name="capi-provider", namespace=journey.namespace)
    named = {"spec": {"providerID": f"maas:///az1/{foreign}", "systemID": foreign}}
    lab.api.patch(MAAS_MACHINES, body["metadata"]["name"], journey.namespace, named)

    left = audit(lab, "stale")
    (found,) = [one for one in left["leaks"] if one["kind"] == "provider_id"]
    assert found["reason"].endswith("but the claim shop holds it")
    refused = remove(journey)
    assert refused["failure"]["kind"] == "claimed"
    assert "the claim shop holds it" in refused.msg
    assert "deletionTimestamp" not in journey.cluster()["metadata"]
    lab.heal("hold")

    done = remove(journey, force=True)
    assert not done.failed, done.msg
    assert {one["system_id"]: one["outcome"] for one in done["machines"]} == {foreign: "left_alone"}
    assert machine(lab, foreign)["status_name"] == "Deployed"
    # What the cluster really had is nobody's in Kubernetes any more, and the audit finds it.
    (lost,) = [one for one in audit(lab, "stale", noted=[{"system_id": own}])["leaks"] if one["kind"] == "machine"]
    assert f"({own})" in lost["object"]
    run(lab, "machine_set", {"claim": "shop", "state": "absent"})
    run(lab, "machine", {"machines": [own], "state": "ready", "take_over": True})


@pytest.mark.thorough
def test_a_machine_that_leaves_its_pool_and_is_taken_is_told_with_who_has_it(make: Make, lab: Lab) -> None:
    """The run that made the pool smaller does not see the end, and meanwhile somebody takes the machine."""
    journey = make("smaller", machines=2, nodes=2)
    had = of(journey)
    pool = {"name": "smaller", "node_drain_timeout": "1m", "erase": True, "wait_sleep": 1, "wait_timeout": 400}
    begun = run(lab, "node_pool", {**pool, "wait": False})
    assert not begun.failed, begun.msg
    journey.scale(1)

    def free() -> str:
        gone = set(had).difference(of(journey))
        return next((one for one in gone if lab.machines()[one] == "Ready"), "")

    left = lab.until("a machine has left", free, 300)
    taken = run(lab, "machine", {"machines": [left], "state": "allocated", "claim": "faster"})
    assert not taken.failed, taken.msg
    done = run(lab, "node_pool", pool)
    assert not done.failed, done.msg
    (one,) = done["machines"]
    assert (one["system_id"], one["outcome"]) == (left, "taken")
    assert one["reason"].startswith("claim faster has taken it meanwhile (it is Allocated)")
    assert any("was not erased: claim faster has taken it" in warning for warning in done["warnings"])
    assert machine(lab, left)["status_name"] == "Allocated"
    again = run(lab, "node_pool", pool)
    assert (again.failed, again.changed, again["machines"]) == (False, False, [])
    run(lab, "machine", {"machines": [left], "state": "ready", "claim": "faster"})
    assert not remove(journey, **PATIENT).failed


@pytest.mark.thorough
def test_machines_are_erased_and_who_was_faster_is_named(make: Make, lab: Lab) -> None:
    journey = make("wiped")
    (had,) = of(journey)
    done = run(lab, "node_pool", {"name": "wiped", "cluster": "wiped", "state": "absent", "erase": True, **PATIENT})
    assert not done.failed, done.msg
    (one,) = done["machines"]
    assert (one["system_id"], one["outcome"]) == (had, "erased")
    events = [event["type"] for event in maas(lab).get("events/", {"id": had, "limit": 50}, op="query")["events"]]
    # Once by the provider, and once by us; that ours erases is seen in test_teardown_bare.py.
    assert events[: events.index("Deployed")].count("Released") == 2, events
    assert machine(lab, had)["status_name"] == "Ready"
    assert [tag["name"] for tag in maas(lab).get("tags/") if tag["name"].startswith("metalshift-")] == []

    taken = run(lab, "machine", {"machines": [had], "state": "allocated", "claim": "faster"})
    assert not taken.failed, taken.msg
    late = run(lab, "disk_erasure", {"machines": [had], "wait_sleep": 1})
    assert not late.failed, late.msg
    assert late["machines"][0]["outcome"] == "taken"
    assert "claim faster has taken it meanwhile" in late["machines"][0]["reason"]
    run(lab, "machine", {"machines": [had], "state": "ready", "claim": "faster"})
    assert not remove(journey, **PATIENT).failed


@pytest.mark.thorough
def test_each_leak_is_found_with_its_reason(make: Make, lab: Lab) -> None:
    journey = make("messy")
    (had,) = of(journey)
    infra = journey.cluster()["spec"]["infraID"]
    # Its finalizer goes by hand, so the machine stays: a mark says whose it was.
    noted = run(lab, "hosted_cluster_info", {"name": "messy", "gather": ["all"]})["hosted_clusters"]
    notes = {"metalshift_cluster": "clusters/messy", "metalshift_node_pool": "messy"}
    maas(lab).post(f"machines/{had}/", notes, op="set_workload_annotations")
    lab.fault("hold", name="capi-provider", namespace=journey.namespace)
    journey.delete()
    bare = {"metadata": {"finalizers": None}}

    def unlocked() -> bool:
        for kind in (MAAS_MACHINES, Resource("infrastructure.cluster.x-k8s.io/v1beta1", "maasclusters")):
            for body in lab.api.list(kind, journey.namespace):
                if "deletionTimestamp" in body["metadata"]:
                    lab.api.patch(kind, body["metadata"]["name"], journey.namespace, bare)
        return is_gone(journey)

    lab.until("the cluster is gone", unlocked, 200)
    volume: dict[str, Any] = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv-messy"}}
    volume["spec"] = {
        "capacity": {"storage": "8Gi"},
        "accessModes": ["ReadWriteOnce"],
        "persistentVolumeReclaimPolicy": "Retain",
        "hostPath": {"path": "/nowhere"},
        "claimRef": {"name": "data-etcd-0", "namespace": journey.namespace},
    }
    lab.api.create(VOLUMES, volume)
    lab.kubectl("create", "clusterrolebinding", f"hypershift-cluster-api-{journey.namespace}", "--clusterrole=view")
    client = maas(lab)
    client.post("dnsresources/", {"fqdn": f"{infra}-ab12cd.maas", "ip_addresses": "10.99.0.250"})
    client.post("tags/", {"name": f"maas-lxd-wlc-{infra}"})

    left = audit(lab, "messy", noted=noted, fail_on_leaks=True)
    assert left["failure"]["kind"] == "failed_state"
    found = {(one["kind"], one["object"].split(" (")[0]) for one in left["leaks"] if one["verdict"] == "leak"}
    host = machine(lab, had)["hostname"]
    assert found == {
        ("machine", host),
        ("volume", "PersistentVolume pv-messy"),
        ("cluster_role", f"ClusterRoleBinding hypershift-cluster-api-{journey.namespace}"),
        ("dns_record", f"{infra}-ab12cd.maas"),
        ("tag", f"maas-lxd-wlc-{infra}"),
    }
    assert {one["kind"] for one in left["leaks"] if one["verdict"] == "kept"} >= {"secret"}
    assert all(one["reason"] and one["hint"] for one in left["leaks"] if one["verdict"] == "leak")

    # Nothing of Kubernetes is left, and the mark in MAAS is enough to say that a machine is, and to give it back.
    told = remove(journey)
    assert told["failure"]["kind"] == "failed_state"
    assert "it is still Deployed" in told.msg
    done = remove(journey, force=True)
    assert not done.failed, done.msg
    assert lab.machines()[had] == "Ready"
    lab.api.delete(VOLUMES, "pv-messy")
    lab.kubectl("delete", "clusterrolebinding", f"hypershift-cluster-api-{journey.namespace}")
    client.delete(f"tags/maas-lxd-wlc-{infra}/")
