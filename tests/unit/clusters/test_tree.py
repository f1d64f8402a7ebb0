# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates.pure.judgement import CsrVerdict
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.tree import (
    MachineUser,
    TreeSources,
    owners,
    tree,
)
from unit.clusters.grown import (
    BORN,
    IN_MAAS,
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

ALL = TreeSources(NOW, maas=IN_MAAS)


def grown(seen: ClusterSnapshot = WHOLE, grove: TreeSources = ALL) -> dict[str, Any]:
    """A tree, as it travels to a playbook."""
    found: dict[str, Any] = json.loads(json.dumps(tree(seen, grove)))
    return found


def test_a_cluster_is_told_with_its_versions_and_endpoints() -> None:
    found = grown()
    assert {name: found[name] for name in ("namespace", "name", "state", "available", "platform", "version")} == {
        "namespace": "clusters",
        "name": "demo",
        "state": "available",
        "available": True,
        "platform": "MAAS",
        "version": "4.20.8",
    }
    assert found["endpoint"] == "https://192.0.2.10:30443"
    assert found["console"] is None, "without a base domain nobody knows"
    assert [entry["state"] for entry in found["history"]] == ["Completed"]
    assert found["history"][0]["completed"] == SETTLED


def test_from_the_pool_down_to_the_machine_in_maas() -> None:
    (pool,) = grown()["node_pools"]
    first, second = pool["machines"]
    assert (pool["name"], pool["replicas"], pool["available_replicas"]) == ("workers", 2, 2)
    assert (first["name"], first["node_name"]) == ("workers-zj82r-1", "worker1.maas")
    assert first["maas_machine"]["deployed"]["meaning"] == "machine workers-zj82r-1: deployed by MAAS"
    assert first["maas_machine"]["machine"]["status_message"] == "Deployed"
    assert second["maas_machine"]["system_id"] == second["maas_machine"]["machine"]["system_id"] == "abc002"


def test_conditions_say_what_they_mean_and_whether_they_get_better() -> None:
    waiting = ("EtcdAvailable", "False", "EtcdWaitingForQuorum", "Waiting for etcd to reach quorum")
    found = {one["type"]: one for one in grown(replace(WHOLE, cluster=hosted_cluster(waiting)))["conditions"]}
    assert found["EtcdAvailable"]["meaning"] == "etcd: waiting for quorum"
    assert found["EtcdAvailable"]["verdict"] == "wait"
    assert found["EtcdAvailable"]["since"] == SETTLED
    assert {one["verdict"] for kind, one in found.items() if kind != "EtcdAvailable"} == {"fine"}


@pytest.mark.parametrize(
    ("cluster", "state"),
    [
        (hosted_cluster(), "available"),
        (hosted_cluster(("Available", "False", "WaitingForAvailable", "")), "unavailable"),
        (hosted_cluster(pausedUntil="true"), "paused"),
        (hosted_cluster(pausedUntil="false"), "available"),
        (hosted_cluster(pausedUntil="2026-11-18T12:00:01Z"), "paused"),
        (hosted_cluster(pausedUntil="2026-11-18T13:59:59+02:00"), "available"),
        (deleting(hosted_cluster(pausedUntil="true")), "deleting"),
        (None, "remains"),
    ],
)
def test_one_word_says_how_a_cluster_is(cluster: dict[str, Any] | None, state: str) -> None:
    assert grown(replace(WHOLE, cluster=cluster))["state"] == state


def test_what_was_not_asked_for_has_no_place_in_the_tree() -> None:
    found = grown(WHOLE, TreeSources(NOW, machines=False))
    assert not {"machines"} & set(found["node_pools"][0])
    assert not {"other_machines", "other_nodes", "certificate_requests", "kubeconfig"} & set(found)
    assert "machine" not in grown(WHOLE, TreeSources(NOW))["node_pools"][0]["machines"][0]["maas_machine"]


def test_a_machine_that_maas_does_not_know_is_null() -> None:
    found = grown(WHOLE, TreeSources(NOW, maas={"abc001": in_maas(1)}))
    assert [one["maas_machine"]["machine"] is None for one in found["node_pools"][0]["machines"]] == [False, True]


def test_a_cluster_that_has_just_been_made_is_a_tree_too() -> None:
    made = {"metadata": {"name": "demo", "namespace": "clusters"}, "spec": {"release": {"image": "r:1"}}}
    found = grown(ClusterSnapshot("clusters", "demo", cluster=made))
    assert (found["state"], found["version"], found["endpoint"]) == ("unavailable", None, None)
    assert (found["history"], found["conditions"], found["node_pools"]) == ([], [], [])


def test_an_endpoint_that_is_still_empty_is_none() -> None:
    cluster = hosted_cluster()
    cluster["status"]["controlPlaneEndpoint"] = {"host": "", "port": 0}
    assert grown(replace(WHOLE, cluster=cluster))["endpoint"] is None


def test_a_version_on_its_way_is_not_the_version() -> None:
    cluster = hosted_cluster()
    history = cluster["status"]["version"]["history"]
    history.insert(0, {"version": "4.20.10", "state": "Partial", "startedTime": SETTLED, "completionTime": None})
    cluster["status"]["version"]["desired"]["version"] = "4.20.10"
    found = grown(replace(WHOLE, cluster=cluster))
    assert (found["version"], found["desired_version"]) == ("4.20.8", "4.20.10")


def test_nodes_stand_beside_their_machines_and_the_others_apart() -> None:
    found = grown(replace(WHOLE, nodes=[node(1), node(3, "Unknown", "NodeStatusUnknown", "Kubelet stopped posting.")]))
    first, second = found["node_pools"][0]["machines"]
    assert first["node"]["ready"] is True
    assert second["node"] is None
    assert [(one["name"], one["ready"]) for one in found["other_nodes"]] == [("worker3.maas", False)]


def test_machines_of_a_pool_that_is_gone_are_told_apart() -> None:
    found = grown(replace(WHOLE, machines=[machine(1), machine(3, pool="old")], maas_machines=[maas_machine(2)]))
    assert [one["name"] for one in found["other_machines"]] == ["old-zj82r-3"]
    assert [one["name"] for one in found["other_maas_machines"]] == ["workers-zj82r-2"]


def test_pending_certificates_say_why_they_wait() -> None:
    verdict = CsrVerdict("csr-1", kind="client", node="worker3.maas", requestor="somebody").refused(
        "unknown_machine", "No machine."
    )
    older = replace(verdict, name="csr-0").refused("superseded", "It has asked again.")
    found = grown(replace(WHOLE, requests=[]), replace(ALL, verdicts={"clusters/demo": [older, verdict]}))
    assert found["superseded_requests"] == 1
    assert found["certificate_requests"] == [
        {
            "name": "csr-1",
            "kind": "client",
            "node": "worker3.maas",
            "machine": None,
            "system_id": None,
            "requestor": "somebody",
            "age": 0,
            "approvable": False,
            "reason": "unknown_machine",
            "message": "No machine.",
        }
    ]


def test_a_kubeconfig_is_told_only_when_it_was_asked_for() -> None:
    assert "kubeconfig" not in grown()
    assert grown(WHOLE, replace(ALL, kubeconfigs={"clusters/demo": "kind: Config"}))["kubeconfig"] == "kind: Config"
    assert grown(WHOLE, replace(ALL, kubeconfigs={"clusters/demo": ""}))["kubeconfig"] is None


# -- the way back ----------------------------------------------------------------------------------------------------

SECOND = MachineUser(
    "clusters", "demo", "workers", "workers-zj82r-2", "workers-zj82r-2", system_id="abc002", node="worker2.maas"
)


@pytest.mark.parametrize(
    "asked",
    [
        {"system_id": "abc002"},
        {"node": "worker2.maas"},
        {"node": "worker2"},
        {"node": " WORKER2.maas. "},
    ],
)
def test_from_a_machine_or_a_node_to_its_cluster_and_pool(asked: dict[str, str]) -> None:
    assert owners([WHOLE], **asked) == [SECOND]


@pytest.mark.parametrize(
    "asked", [{"system_id": "abc009"}, {"node": "worker"}, {"node": "worker2.other"}, {"node": "abc002"}]
)
def test_what_is_nobodys_has_no_owner(asked: dict[str, str]) -> None:
    assert owners([WHOLE], **asked) == []


def test_a_machine_without_a_node_is_found_by_its_name_in_maas() -> None:
    seen = replace(WHOLE, machines=[machine(1, node=None)], maas_machines=[maas_machine(1)])
    (found,) = owners([seen], node="worker1.maas")
    assert (found.node_pool, found.node) == ("workers", "")


def test_a_machine_that_is_being_deployed_is_found_by_its_system_id() -> None:
    seen = replace(WHOLE, maas_machines=[maas_machine(1, "False", "MachineDeploying")])
    assert [one.machine for one in owners([seen], system_id="abc001")] == ["workers-zj82r-1"]


def test_every_cluster_that_takes_a_machine_for_its_own_is_an_owner() -> None:
    other = ClusterSnapshot("clusters", "shop", cluster=hosted_cluster(name="shop"), maas_machines=[maas_machine(2)])
    assert [one.hosted_cluster for one in owners([WHOLE, other], system_id="abc002")] == ["demo", "shop"]


def test_a_node_that_no_machine_is_linked_to_belongs_to_its_cluster() -> None:
    seen = replace(WHOLE, nodes=[node(1), node(3)])
    (found,) = owners([seen], node="worker3")
    assert (found.hosted_cluster, found.node_pool, found.system_id) == ("demo", "workers", "abc003")


def test_what_is_not_known_of_an_owner_is_null() -> None:
    (found,) = owners([replace(WHOLE, machines=[])], system_id="abc001")
    assert found.to_dict()["machine"] is None
    assert found.to_dict()["node_pool"] == "workers"


def test_pools_keep_what_they_ask_of_machines() -> None:
    (pool,) = grown(replace(WHOLE, pools={"workers": deleting(node_pool(pausedUntil="true"))}))["node_pools"]
    assert pool["platform"] == {"image": "custom/rhcos-4.20", "minCpu": 4, "minMemory": 8192}
    assert (pool["paused"], pool["deleting_since"], pool["created"]) == (True, SETTLED, BORN)


@pytest.mark.parametrize(
    ("dns", "host"),
    [
        ({"baseDomain": "lab.example"}, "apps.demo.lab.example"),
        ({"baseDomain": "lab.example", "baseDomainPrefix": "shop"}, "apps.shop.lab.example"),
        ({"baseDomain": "lab.example", "baseDomainPrefix": ""}, "apps.lab.example"),
    ],
)
def test_the_console_is_named_by_the_domain(dns: dict[str, str], host: str) -> None:
    cluster = {**WHOLE.cluster, "spec": {**WHOLE.cluster["spec"], "dns": dns}}
    assert grown(replace(WHOLE, cluster=cluster))["console"] == f"https://console-openshift-console.{host}"
