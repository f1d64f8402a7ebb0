# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The preflight against real APIs and a real registry."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.preflight.checks import ClusterSpec
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.preflight.rights import NEEDED, questions
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import ObjectKind
from hosted.play import run
from integration.harness import Outcome
from metalshift_lab.kube.api import NAMESPACES, Resource
from metalshift_lab.kube.handle import Lab
from metalshift_lab.kube.journey import CURRENT_PROVIDER, PROVIDER

MACHINE_CONFIG = {
    "apiVersion": "machineconfiguration.openshift.io/v1",
    "kind": "MachineConfig",
    "metadata": {"name": "empty", "labels": {"machineconfiguration.openshift.io/role": "worker"}},
    "spec": {"config": {"ignition": {"version": "3.2.0"}}},
}
POOL = {
    "name": "workers",
    "replicas": 2,
    "image": "custom/rhcos-4.20",
    "tags": ["worker"],
    "min_cpu": 4,
    "min_memory": "8GiB",
}


def wished(lab: Lab, **more: Any) -> dict[str, Any]:
    return {
        "name": "early",
        "release": lab.release(),
        "release_ca_cert": str(lab.folder / "pki" / "registry-ca.crt"),
        "pull_secret": {"auths": {lab.facts["registry"]: {"auth": "bGFiOmxhYg=="}}},
        "base_domain": "lab.example",
        "dns_in_maas": True,
        "services_address": "127.0.0.1",
        "provider_image": PROVIDER.format(version=CURRENT_PROVIDER),
        "node_pools": [POOL],
        **more,
    }


def check(outcome: Outcome, name: str) -> Mapping[str, str]:
    return next(each for each in outcome["preflight"]["checks"] if each["name"] == name)


def test_a_lab_is_fit_for_a_hosted_cluster_and_nothing_is_written(lab: Lab) -> None:
    supported = Resource("v1", "configmaps")
    lab.until("the operator says what it supports", lambda: lab.api.get(supported, "supported-versions", "hypershift"))
    outcome = run(lab, "hosted_cluster_preflight_info", wished(lab))
    assert not outcome.failed, outcome.msg
    statuses = {each["name"]: each["status"] for each in outcome["preflight"]["checks"]}
    assert {name for name, status in statuses.items() if status != "ok"} == {"control plane operator", "user spectro"}
    assert statuses["release"] == "ok"
    writes = [line for line in outcome.screen.traced if " GET " not in line]
    assert len(writes) == 1
    assert "selfsubjectaccessreviews" in writes[0]
    assert len(outcome.screen.traced) <= 20


def test_all_that_is_wrong_is_one_sentence_and_the_whole_table(lab: Lab) -> None:
    args = wished(
        lab,
        provider_image=PROVIDER.format(version="v4.9.3-spectro"),
        release=lab.release("4.20.99"),
        etcd_storage_class="fast",
        image_content_sources=[{"source": "quay.io", "mirrors": ["mirror.example"]}],
        node_pools=[{**POOL, "zone": "az9", "image": "custom/none"}],
    )
    outcome = run(lab, "hosted_cluster_preflight_info", args)
    assert outcome.failed
    failed = {each["name"] for each in outcome["preflight"]["checks"] if each["status"] == "failed"}
    assert failed == {
        "provider",
        "release",
        "storage class",
        "image content sources",
        "names in MAAS",
        "image custom/none",
        "machines for workers",
    }
    assert outcome.msg.startswith("Hosted cluster clusters/early is not ready for this: provider: ")
    assert outcome["failure"]["kind"] == "conflict"
    assert all(each["advice"] for each in outcome["preflight"]["checks"] if each["status"] == "failed")
    assert not run(lab, "hosted_cluster_preflight_info", {**args, "fail": False}).failed


def test_too_few_machines_are_a_matter_of_capacity(lab: Lab) -> None:
    outcome = run(lab, "hosted_cluster_preflight_info", wished(lab, node_pools=[{**POOL, "replicas": 99}]))
    assert outcome["failure"]["kind"] == "capacity"
    assert "99 machines asked for" in outcome.msg


def test_a_user_who_may_little_is_told_what_is_missing(lab: Lab) -> None:
    rules = [
        {"apiGroups": ["hypershift.openshift.io"], "resources": ["*"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": ["storage.k8s.io"], "resources": ["*"], "verbs": ["list"]},
    ]
    reader = lab.user("preflight-reader", rules)
    outcome = run(lab, "hosted_cluster_preflight_info", {**wished(lab), "kubeconfig": str(reader), "fail": False})
    rights = check(outcome, "rights in Kubernetes")
    assert rights["status"] == "failed"
    assert "create hostedclusters.hypershift.openshift.io in clusters" in rights["found"]
    assert check(outcome, "storage class")["status"] == "ok"
    operator = check(outcome, "operator")
    assert operator["status"] == "unknown"
    assert "could not be checked" in operator["found"]


def entitled(lab: Lab, wish: ClusterSpec, *journeys: str) -> dict[str, str]:
    """The way in for a user with the rights of these journeys and no others."""
    asked = [question for journey in journeys for question in questions(wish.namespace, wish.name, journey)]
    for namespace in (wish.namespace, ""):
        kinds: dict[ObjectKind, list[str]] = defaultdict(list)
        for verb, kind, place in dict.fromkeys(asked):
            # The namespace of a control plane comes and goes, and roles in it go with it.
            if (place == wish.namespace) is bool(namespace):
                kinds[kind].append(verb)
        rules = [
            {"apiGroups": [kind.group], "resources": [kind.plural], "verbs": verbs} for kind, verbs in kinds.items()
        ]
        kubeconfig = lab.user("entitled", rules, namespace=namespace)
    return {"kubeconfig": str(kubeconfig)}


def test_who_has_the_rights_of_the_table_and_no_others_can_make_and_remove_a_cluster(lab: Lab) -> None:
    wish = ClusterSpec("clusters", "entitled")
    if lab.api.get(NAMESPACES, wish.namespace) is None:
        lab.api.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": wish.namespace}})
    way = entitled(lab, wish, *NEEDED)
    args = {**wished(lab), "name": wish.name, **way}
    looked = run(lab, "hosted_cluster_preflight_info", {**args, "checks": ["rights in Kubernetes"]})
    assert check(looked, "rights in Kubernetes")["status"] == "ok"

    shared = {key: args[key] for key in ("name", "release", "base_domain", "services_address", "provider_image")}
    shared |= {"pull_secret": args["pull_secret"], "wait_for": "control_plane", "wait_timeout": 400, **way}
    made = run(lab, "hosted_cluster", shared)
    assert not made.failed, made.msg
    pool = {**POOL, "replicas": 1, "cluster": wish.name, "wait_timeout": 400, **way}
    pool["config"] = [{"name": "empty", "content": json.dumps(MACHINE_CONFIG)}]
    grown = run(lab, "node_pool", pool)
    assert not grown.failed, grown.msg
    page = run(lab, "hosted_cluster_diagnosis_info", {"name": wish.name, "leaks": False, **way})
    assert [one["what"] for one in page["diagnosis"] if "may not" in one["what"]] == []
    scaled = run(lab, "node_pool", {"name": POOL["name"], "replicas": 0, "wait_timeout": 400, **way})
    assert not scaled.failed, scaled.msg
    gone = run(lab, "hosted_cluster", {"name": wish.name, "state": "absent", "wait_timeout": 400, **way})
    assert not gone.failed, gone.msg


@pytest.mark.parametrize(
    ("image", "status", "says"),
    [
        ("registry.example/maas-controller:v4.9.3-spectro", "failed", "is too old"),
        ("registry.example/maas-controller:v0.6.1", "failed", "stand-alone line"),
        ("registry.example/maas-controller:mine", "warning", "cannot be told by its tag"),
        (None, "failed", "the default of the HyperShift that is installed"),
    ],
)
def test_a_provider_with_which_no_node_can_join_is_told(lab: Lab, image: str | None, status: str, says: str) -> None:
    args = {**wished(lab), "provider_image": image, "checks": ["provider"], "fail": False}
    found = check(run(lab, "hosted_cluster_preflight_info", args), "provider")
    assert found["status"] == status
    assert says in found["found"]


def test_a_registry_that_asks_for_a_login_gets_that_of_the_pull_secret(new_lab: Callable[..., Lab]) -> None:
    lab = new_lab(machines=1, operator=False)
    lab.fault("registry-private")
    args = wished(lab, checks=["release"], fail=False)
    login = {"auths": {lab.facts["registry"]: {"auth": "bGFiOndyb25n"}}}
    for secret in ({"auths": {}}, login, json.dumps(login)):
        outcome = run(lab, "hosted_cluster_preflight_info", {**args, "pull_secret": secret})
        assert check(outcome, "release")["status"] == "failed", secret
        assert "does not give" in check(outcome, "release")["found"]
        assert "bGFiOndyb25n" not in json.dumps(outcome.result)
    lab.heal()
    without_authority = {**args, "release_ca_cert": None}
    assert (
        "is not trusted here" in check(run(lab, "hosted_cluster_preflight_info", without_authority), "release")["found"]
    )
    lab.fault("registry-down")
    found = check(run(lab, "hosted_cluster_preflight_info", args), "release")
    assert found["status"] == "warning"
    assert "cannot be reached from here" in found["found"]


def test_a_cluster_without_hypershift_is_told_so(new_lab: Callable[..., Lab]) -> None:
    lab = new_lab(machines=1, operator=False)
    outcome = run(lab, "hosted_cluster_preflight_info", wished(lab, node_pools=[], fail=False))
    assert check(outcome, "platform")["found"] == "The cluster does not know HostedClusters."
    assert check(outcome, "operator")["status"] == "failed"
    assert check(outcome, "operator and release")["status"] == "unknown"


@pytest.mark.parametrize("which", ["MAAS", "Kubernetes"])
def test_a_server_that_does_not_answer_is_one_failed_check(lab: Lab, which: str) -> None:
    nowhere = {
        "MAAS": {"maas_endpoint": "http://127.0.0.1:9/MAAS", "maas_timeout": 1},
        "Kubernetes": {"kubeconfig": None, "host": "https://127.0.0.1:9", "api_key": "none"},
    }
    outcome = run(lab, "hosted_cluster_preflight_info", {**wished(lab), **nowhere[which]})
    assert outcome.failed
    assert check(outcome, f"{which} answers")["status"] == "failed"
    unknown = [each for each in outcome["preflight"]["checks"] if each["status"] == "unknown"]
    assert unknown
    assert all(each["found"] == f"This could not be checked without {which}." for each in unknown)
