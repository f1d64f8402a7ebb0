# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose an object in a control plane's namespace is, of two clusters that spell the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.ownership.pure.control_plane_owner import (
    ControlPlaneOwner,
    namesakes,
)

NOTED, POOL = "hypershift.openshift.io/cluster", "hypershift.openshift.io/nodePool"
# Its control plane is in clusters-prod-x, as that of clusters/prod-x is.
X = ControlPlaneOwner("clusters-prod", "x", pools={"mine": "x", "other": "y"}, infras={"x-1": "clusters-prod/x"})
LIVE = replace(X, cluster={"metadata": {"name": "x", "namespace": "clusters-prod"}, "spec": {"infraID": "x-2"}})


def body(kind: str = "Machine", name: str = "any", **metadata: Any) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": name, "namespace": "clusters-prod-x", **metadata}}


@pytest.mark.parametrize(
    ("found", "owner"),
    [
        (body(annotations={NOTED: "clusters/prod-x"}), "clusters/prod-x"),
        (body(annotations={NOTED: "clusters-prod/x"}), "clusters-prod/x"),
        (body(annotations={POOL: "clusters-prod/mine"}), "clusters-prod/x"),
        (body(annotations={POOL: "clusters-prod/other"}), "clusters-prod/y"),
        (body(annotations={POOL: "clusters-prod/gone"}), "clusters-prod/x"),
        (body(annotations={POOL: "clusters/mine"}), "clusters/prod-x"),
        (body(labels={"cluster.x-k8s.io/cluster-name": "x-1"}), "clusters-prod/x"),
        ({**body(), "spec": {"clusterName": "x-1"}}, "clusters-prod/x"),
        (body("HostedControlPlane", "x"), "clusters-prod/x"),
        (body("HostedControlPlane", "prod-x"), "clusters/prod-x"),
        (body("MaasCluster", "prod.x"), "clusters/prod.x"),
        (body("MaasCluster", "elsewhere"), ""),
        (body(ownerReferences=[{"kind": "HostedControlPlane", "name": "prod-x"}]), "clusters/prod-x"),
        (body(), ""),
    ],
)
def test_an_object_says_whose_it_is(found: dict[str, Any], owner: str) -> None:
    assert X.stated(found) == owner
    assert X.owns(found) is (owner == X.label)


def test_what_says_nothing_goes_with_the_cluster_that_has_the_namespace_to_itself() -> None:
    assert LIVE.owns(body())
    assert not LIVE.owns(body(annotations={NOTED: "clusters/prod-x"}))
    assert not replace(LIVE, namesakes=("clusters/prod-x",)).owns(body())
    assert LIVE.owns(body(labels={"cluster.x-k8s.io/cluster-name": "x-2"}))


def test_names_that_differ_in_a_dot_leave_doubt() -> None:
    dotted = ControlPlaneOwner("clusters", "a.b", namesakes=("clusters/a-b",))
    assert dotted.stated(body(annotations={POOL: "clusters/gone"})) == ""
    assert not dotted.owns(body(annotations={POOL: "clusters/gone"}))


def test_namesakes_are_others_with_the_same_place() -> None:
    clusters = [
        {"metadata": {"namespace": namespace, "name": name}}
        for namespace, name in (("clusters", "prod-x"), ("clusters", "prod.x"), ("clusters-prod", "x"), ("a", "b"))
    ]
    assert namesakes(clusters, "clusters-prod", "x") == ["clusters/prod-x", "clusters/prod.x"]
    assert namesakes(clusters, "a", "b") == []
