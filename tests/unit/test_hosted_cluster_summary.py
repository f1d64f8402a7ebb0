# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.metalshift.maas.plugins.filter.hosted_cluster_summary import hosted_cluster_summary

CLUSTER: dict[str, Any] = {
    "namespace": "clusters",
    "name": "demo",
    "version": "4.20.8",
    "endpoint": "https://192.0.2.10:30443",
    "console": "https://console-openshift-console.apps.demo.lab.example",
    "kubeconfig_secret": "demo-admin-kubeconfig",
    "kubeadmin_password_secret": "demo-kubeadmin-password",
    "node_pools": [
        {"name": "workers", "machines": [{"node": {"ready": True}}, {"node": {"ready": False}}, {"node": None}]}
    ],
    "other_nodes": [{"ready": True}],
}


def test_the_lines_say_how_it_is_reached_and_what_it_has() -> None:
    assert hosted_cluster_summary(CLUSTER, "/home/me/demo.kubeconfig")["lines"] == [
        "cluster    clusters/demo",
        "version    4.20.8",
        "API        https://192.0.2.10:30443",
        "console    https://console-openshift-console.apps.demo.lab.example",
        "nodes      2 of 3 Ready",
        "kubeconfig /home/me/demo.kubeconfig",
        "kubeadmin  kubectl -n clusters get secret demo-kubeadmin-password -o jsonpath='{.data.password}' | base64 -d",
        "log in     export KUBECONFIG=/home/me/demo.kubeconfig",
    ]


def test_without_a_file_the_secret_is_named() -> None:
    lines = hosted_cluster_summary(CLUSTER)["lines"]
    assert lines[5].endswith("demo-admin-kubeconfig -o jsonpath='{.data.kubeconfig}' | base64 -d > demo.kubeconfig")


def test_what_is_not_there_yet_is_not_made_up() -> None:
    early = hosted_cluster_summary({"namespace": "clusters", "name": "demo", "node_pools": []})
    assert early["lines"][1:4] == [
        "version    not complete yet",
        "API        not published yet",
        "nodes      0 of 0 Ready",
    ]
    assert not any("None" in line for line in early["lines"])


def test_the_facts_travel_and_have_no_secret() -> None:
    facts = hosted_cluster_summary(CLUSTER)["facts"]
    assert (facts["nodes_ready"], facts["nodes"], facts["kubeconfig"]) == (2, 3, None)
    assert json.loads(json.dumps(facts)) == facts


@pytest.mark.parametrize("value", [None, "demo", {}, {"name": "demo"}])
def test_bad_input_is_one_sentence(value: Any) -> None:
    with pytest.raises(AnsibleFilterError, match="takes one of the hosted_clusters"):
        hosted_cluster_summary(value)
