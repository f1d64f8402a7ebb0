# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a hosted cluster has left, as decided from what was read: no request is sent here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.audit.leaks import KINDS, leaks_in, summary
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.audit.state import ClusterRecord, LeftoverState

PROVIDER = "provider"
GONE = LeftoverState("clusters", "demo", owners=frozenset({PROVIDER}))
THERE = replace(GONE, cluster={"metadata": {"name": "demo"}, "spec": {"infraID": "demo-x1"}})


def machine(status: int = 6, **more: Any) -> dict[str, Any]:
    return {"system_id": "abc123", "hostname": "n1", "status": status, "owner": PROVIDER, **more}


def marked(cluster: str) -> dict[str, Any]:
    return machine(workload_annotations={"metalshift_cluster": cluster})


def maas_machine(name: str, namespace: str = "clusters-demo", **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace, "uid": f"{namespace}/{name}"}
    return {"metadata": metadata, "spec": {"systemID": "abc123", **spec}}


def place(**metadata: Any) -> dict[str, Any]:
    labels = {"hypershift.openshift.io/hosted-control-plane": "true"}
    return {"kind": "Namespace", "metadata": {"name": "clusters-demo", "labels": labels, **metadata}}


def kept(kind: str, name: str, **metadata: Any) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": name, "namespace": "clusters", **metadata}}


def volume(claim: str, namespace: str = "clusters-demo") -> dict[str, Any]:
    spec = {"claimRef": {"name": claim, "namespace": namespace}, "persistentVolumeReclaimPolicy": "Retain"}
    return {"metadata": {"name": "pv1"}, "spec": spec, "status": {"phase": "Released"}}


OURS = {"app.kubernetes.io/managed-by": "metalshift.maas", "metalshift.maas/hosted-cluster": "demo"}
OWNED = {"hypershift.openshift.io/owner.namespace": "clusters", "hypershift.openshift.io/owner.name": "demo"}
SAID = frozenset({"clusters/demo"})
FOREIGN = [machine(workload_annotations={"metalshift_claim": "shop"})]


@pytest.mark.parametrize(
    ("parts", "kind", "verdict", "reason"),
    [
        (
            {"held": [marked("clusters/demo")]},
            "machine",
            "leak",
            "marked as this cluster's, and no MaasMachine names it",
        ),
        (
            {"held": [machine(10)]},
            "machine",
            "suspect",
            "provider, in whose name the MAAS provider acts, has it Allocated",
        ),
        ({"noted_machines": {"abc123": machine(12)}}, "machine", "leak", "it is Releasing, and not Ready yet"),
        (
            {"noted_machines": {"abc123": machine(13, status_message="No power")}},
            "machine",
            "leak",
            "it is in Releasing failed (No power)",
        ),
        (
            {"held": FOREIGN, "maas_machines": [maas_machine("m1")]},
            "provider_id",
            "leak",
            "it names n1 (abc123), but the claim shop holds it",
        ),
        (
            {"held": [machine()], "maas_machines": [maas_machine("m1"), maas_machine("o1", "clusters-other")]},
            "provider_id",
            "suspect",
            "MaasMachine clusters-other/o1 names it as well",
        ),
        (
            {"vms": [machine(4, hostname="vm-np-abcde-12345")], "memory": ClusterRecord(node_pools=frozenset({"np"}))},
            "vm",
            "leak",
            "no MaasMachine names it",
        ),
        ({"vms": [machine(4, hostname="vm-other")]}, "vm", "suspect", "no MaasMachine names it"),
        (
            {"dns": [{"fqdn": "demo-ab12cd.maas"}]},
            "dns_record",
            "leak",
            "the MAAS provider makes it and never removes it, and the cluster is gone",
        ),
        ({"dns": [{"fqdn": "*.apps.demo.example.com"}]}, "dns_record", "leak", "it was made for this cluster"),
        (
            {
                "reservations": [{"ip": "10.0.0.9", "alloc_type_name": "User reserved", "interface_set": []}],
                "memory": ClusterRecord(addresses=frozenset({"10.0.0.9"})),
            },
            "ip_reservation",
            "leak",
            "User reserved, and used by nothing",
        ),
        ({"tags": [{"name": "metalshift-erase_clusters_demo"}]}, "tag", "leak", "were to be erased"),
        ({"tags": [{"name": "maas-lxd-wlc-other"}]}, "tag", "suspect", "the MAAS provider makes it"),
        (
            {"tags": [{"name": "maas-lxd-wlc-demo-x1"}], "memory": ClusterRecord(infra_id="demo-x1")},
            "tag",
            "leak",
            "the MAAS provider makes it",
        ),
        (
            {"place": place(), "stated": SAID},
            "namespace",
            "leak",
            "it is the namespace of the control plane, and the cluster is gone",
        ),
        (
            {"place": place(deletionTimestamp="x"), "stated": SAID},
            "namespace",
            "leak",
            "it is being deleted and does not go",
        ),
        ({"place": place()}, "namespace", "suspect", "nothing in it says whose that was"),
        (
            {"place": place(), "stated": frozenset({"clusters/other"})},
            "namespace",
            "kept",
            "it is that of hosted cluster clusters/other",
        ),
        ({"place": place(labels={})}, "namespace", "kept", "HyperShift did not make it"),
        (
            {"volumes": [volume("data-etcd-0")]},
            "volume",
            "leak",
            "it holds etcd's data, Secrets among them (data-etcd-0)",
        ),
        ({"secrets": [kept("Secret", "demo-ssh-key", labels=OURS)]}, "secret", "leak", "it was made for this cluster"),
        (
            {"secrets": [kept("Secret", "demo-maas-credentials", labels=OURS)]},
            "secret",
            "kept",
            "the credentials outlive their cluster on purpose",
        ),
        ({"secrets": [kept("Secret", "demo-pull-secret")]}, "secret", "kept", "this collection did not make it"),
        (
            {
                "config_maps": [
                    kept("ConfigMap", "mine", annotations={"referenced-resource.hypershift.openshift.io/demo": "true"})
                ]
            },
            "config_map",
            "kept",
            "the cluster used it",
        ),
        ({"node_pools": [kept("NodePool", "np")]}, "node_pool", "leak", "its cluster is gone"),
        (
            {"roles": [{"kind": "ClusterRole", "metadata": {"name": "x", "labels": OWNED}}]},
            "cluster_role",
            "leak",
            "the operator made it for this cluster",
        ),
        (
            {"roles": [{"kind": "ClusterRoleBinding", "metadata": {"name": "hypershift-cluster-api-clusters-demo"}}]},
            "cluster_role",
            "leak",
            "the operator made it for this cluster",
        ),
        (
            {"roles": [{"kind": "ClusterRole", "metadata": {"name": "hypershift-cluster-api"}}]},
            "cluster_role",
            "kept",
            "all hosted clusters share it",
        ),
    ],
)
def test_what_is_left_is_told_with_its_reason(parts: dict[str, Any], kind: str, verdict: str, reason: str) -> None:
    (leak,) = leaks_in(replace(GONE, **parts))
    assert (leak.kind, leak.verdict) == (kind, verdict)
    assert reason in leak.reason
    assert leak.hint or leak.kind == "namespace"


def test_nothing_of_a_cluster_with_the_same_namespace_is_left_over() -> None:
    """Two names that differ in a dot have one namespace for their control planes."""
    other = {"kind": "HostedCluster", "metadata": {"name": "de-mo", "namespace": "clusters"}}
    role = {"kind": "ClusterRoleBinding", "metadata": {"name": "hypershift-cluster-api-clusters-de-mo"}}
    gone = LeftoverState("clusters", "de.mo", others=[other], owners=frozenset({PROVIDER}))
    inside = {
        "place": place(name="clusters-de-mo"),
        "volumes": [volume("data-etcd-0", "clusters-de-mo")],
        "roles": [role],
        "held": FOREIGN,
        "maas_machines": [maas_machine("m1", "clusters-de-mo")],
    }
    (leak,) = leaks_in(replace(gone, **inside))
    assert (leak.kind, leak.verdict) == ("namespace", "kept")


@pytest.mark.parametrize(
    "parts",
    [
        {"held": [machine()], "maas_machines": [maas_machine("m1")]},
        {"held": [marked("clusters/prod")]},
        {"held": [machine(owner="eve")]},
        {"held": FOREIGN},
        {"noted_machines": {"abc123": machine(4)}},
        {"noted_machines": {"abc123": machine(6, owner="eve")}},
        {
            "vms": [machine(4, hostname="vm-np-abcde-1")],
            "maas_machines": [maas_machine("np-abcde-1", systemID="zzz999")],
        },
        {"dns": [{"fqdn": "demo.maas"}, {"fqdn": "api.demo2.example.com"}, {"fqdn": "demo-toolongname.maas"}]},
        {"reservations": [{"ip": "10.0.0.9", "interface_set": []}]},
        {"tags": [{"name": "worker"}]},
        {"volumes": [volume("data-etcd-0", "clusters-other")]},
        {"secrets": [kept("Secret", "other-pull-secret")]},
        {"roles": [{"kind": "ClusterRole", "metadata": {"name": "hypershift-cluster-api"}}], "others": [{}]},
    ],
)
def test_what_is_another_s_or_in_use_is_not_told(parts: dict[str, Any]) -> None:
    assert leaks_in(replace(GONE, **parts)) == []


@pytest.mark.parametrize(
    "parts",
    [
        {"place": place()},
        {"dns": [{"fqdn": "api.demo.example.com"}]},
        {"volumes": [volume("data-etcd-0")]},
        {"secrets": [kept("Secret", "demo-ssh-key", labels=OURS)]},
        {"node_pools": [kept("NodePool", "np")]},
        {"roles": [{"kind": "ClusterRole", "metadata": {"name": "x", "labels": OWNED}}]},
    ],
)
def test_a_cluster_that_is_there_leaks_nothing_of_what_it_uses(parts: dict[str, Any]) -> None:
    assert leaks_in(replace(THERE, **parts)) == []


def test_memory_is_read_out_of_whatever_was_noted() -> None:
    tree = {
        "infra_id": "demo-x1",
        "endpoint": {"host": "10.0.0.1"},
        "node_pools": [{"name": "np", "machines": [{"maas": {"system_id": "abc123", "ip_addresses": ["10.0.0.7"]}}]}],
    }
    assert ClusterRecord.of([tree, {"machines": [{"system_id": "def456", "node_pool": "np"}]}]) == ClusterRecord(
        frozenset({"abc123", "def456"}), frozenset({"10.0.0.1", "10.0.0.7"}), frozenset({"np"}), "demo-x1"
    )
    assert ClusterRecord.of(None) == ClusterRecord() == ClusterRecord.of("text")


def test_the_summary_counts_every_kind_and_not_what_stays_on_purpose() -> None:
    found = leaks_in(replace(GONE, place=place(), secrets=[kept("Secret", "demo-pull-secret")]))
    assert summary(found) == {**dict.fromkeys(KINDS, 0), "namespace": 1}
