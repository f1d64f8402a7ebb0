# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A hosted cluster that the real operators made, as a tree."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from hosted.play import run
from integration.harness import Outcome
from metalshift_lab.kube.api import Api
from metalshift_lab.kube.handle import Lab
from metalshift_lab.kube.journey import Journey

NAME = "grown"
READS = [{"apiGroups": [group], "resources": ["*"], "verbs": ["get", "list"]} for group in ("hypershift.openshift.io",)]
WITHIN = [
    {"apiGroups": [group], "resources": ["*"], "verbs": ["get", "list"]}
    for group in ("cluster.x-k8s.io", "infrastructure.cluster.x-k8s.io")
]


@pytest.fixture(scope="module")
def grown(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journey]:
    journey = Journey(lab, NAME, tmp_path_factory.mktemp("kubeconfigs"))
    journey.create(replicas=1)
    journey.until_available()
    yield journey
    journey.delete()
    journey.until_gone()


def tree(outcome: Outcome) -> dict[str, Any]:
    (found,) = outcome["hosted_clusters"]
    return dict(found)


def test_a_certificate_request_that_waits_is_told_with_its_verdict(grown: Journey, lab: Lab) -> None:
    def asked() -> list[dict[str, Any]]:
        found = tree(run(lab, "hosted_cluster_info", {"name": NAME, "gather": ["certificate_requests"]}))
        return [one for one in found.get("certificate_requests", []) if one["approvable"]]

    (request,) = lab.until("a request that can be approved", asked, 120)
    assert (request["kind"], request["reason"]) == ("client", None)
    without_maas = {"maas_endpoint": None, "maas_api_key": None}
    found = tree(run(lab, "hosted_cluster_info", {"name": NAME, "gather": ["certificate_requests"], **without_maas}))
    (request,) = found["certificate_requests"]
    assert (request["approvable"], request["reason"]) == (False, "maas_unavailable")


def test_a_whole_cluster_is_one_tree_and_not_one_write(grown: Journey, lab: Lab) -> None:
    grown.until_nodes(1)
    outcome = run(lab, "hosted_cluster_info", {"name": NAME, "gather": ["all"]})
    found = outcome["hosted_clusters"][0]
    (machine,) = found["node_pools"][0]["machines"]
    assert (found["state"], found["version"], found["troubles"]) == ("available", "4.20.8", [])
    assert machine["maas_machine"]["machine"]["status_message"] == "Deployed"
    assert machine["maas_machine"]["deployed"]["status"] == "True"
    assert machine["node"]["ready"]
    assert machine["node"]["name"] == machine["maas_machine"]["machine"]["fqdn"]
    assert (found["other_machines"], found["other_nodes"], found["certificate_requests"]) == ([], [], [])
    assert {one["verdict"] for one in found["conditions"] if one["type"] != "HostedClusterRestoredFromBackup"} == {
        "fine"
    }
    assert "kubeconfig" not in found
    # HostedCluster, node pools, Machines, MaasMachines; the kubeconfig, nodes and requests; and MAAS.
    assert len(outcome.screen.traced) == 4 + 3 + 1
    assert all("GET " in line for line in outcome.screen.traced)


def test_from_the_node_and_from_the_machine_back_to_the_cluster(grown: Journey, lab: Lab) -> None:
    (node,) = grown.nodes()
    by_node = run(lab, "hosted_cluster_info", {"node": node["metadata"]["name"].partition(".")[0], "gather": []})
    (owner,) = by_node["owners"]
    assert (owner["hosted_cluster"], owner["node_pool"], owner["node"]) == (NAME, NAME, node["metadata"]["name"])
    by_machine = run(lab, "hosted_cluster_info", {"system_id": owner["system_id"], "gather": []})
    assert by_machine["owners"] == by_node["owners"]
    assert [cluster["name"] for cluster in by_machine["hosted_clusters"]] == [NAME]


def test_a_kubeconfig_comes_on_request_and_works(grown: Journey, lab: Lab) -> None:
    outcome = run(lab, "hosted_cluster_info", {"name": NAME, "gather": ["kubeconfig"]})
    text = outcome["hosted_clusters"][0]["kubeconfig"]
    assert Api(yaml.safe_load(text)).request("GET", "/version")["major"] == "1"


def test_a_user_of_some_namespaces_sees_what_is_in_them(grown: Journey, lab: Lab) -> None:
    lab.user("tree-reader", WITHIN, namespace=grown.namespace)
    kubeconfig = lab.user("tree-reader", READS)
    outcome = run(lab, "hosted_cluster_info", {"name": NAME, "kubeconfig": str(kubeconfig)})
    assert not outcome.failed
    assert len(outcome["hosted_clusters"][0]["node_pools"][0]["machines"]) == 1
    blind = lab.user("tree-blind", READS)
    found = tree(run(lab, "hosted_cluster_info", {"name": NAME, "kubeconfig": str(blind)}))
    assert [str(trouble).partition(":")[0] for trouble in found["troubles"]] == [
        f"Could not read the {plural} in {grown.namespace}" for plural in ("machines", "maasmachines")
    ]


def test_a_hosted_api_that_hangs_is_a_trouble_of_its_tree(grown: Journey, lab: Lab) -> None:
    lab.fault("pause", name=f"{grown.namespace}/kube-apiserver")
    try:
        began = time.monotonic()
        outcome = run(lab, "hosted_cluster_info", {"name": NAME, "gather": ["nodes"]})
        assert time.monotonic() - began < 45
    finally:
        lab.heal("pause")
    found = tree(outcome)
    (trouble,) = found["troubles"]
    assert trouble == f"Could not read what the hosted API of clusters/{NAME} says: no answer within 8 seconds."
    assert "other_nodes" not in found
