# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each journey with just the rights that its table names, on an API server that checks them."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.preflight.rights import NEEDED, questions
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import ObjectKind
from hosted.cases import CLUSTER, POOL, config_map
from hosted.stopped import OF_CLUSTER, Stopped, left, remove, sweep
from integration.harness import Outcome, run_task
from metalshift_lab.kube.api import DEPLOYMENTS, HOSTED_CLUSTERS, NAMESPACES, Api, Resource
from metalshift_lab.kube.bare import api_server
from metalshift_lab.programs import Programs
from metalshift_lab.simulator import Simulator

RBAC = "rbac.authorization.k8s.io"
NUMBERS = count()
REVIEWS = Resource("authorization.k8s.io/v1", "subjectaccessreviews")
PLACES = ("clusters", "hypershift", "")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("management")


@pytest.fixture(scope="module")
def server(programs: Programs, folder: Path) -> Iterator[Api]:
    with api_server(programs, folder, kinds=True, controllers=True) as api:
        for name in ("clusters", "hypershift"):
            api.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        yield api


@pytest.fixture
def api(server: Api) -> Iterator[Api]:
    yield server
    sweep(server)


@pytest.fixture
def sim() -> Iterator[Simulator]:
    with Simulator() as simulator:
        simulator.auto(0.01)
        yield simulator


def entitled(api: Api, name: str, *journeys: str) -> dict[str, str]:
    """A new user with the rights of these journeys with this cluster, and no others."""
    user = f"entitled-{next(NUMBERS)}"
    asked = {question: None for journey in journeys for question in questions("clusters", name, journey)}
    for namespace in PLACES:
        kinds: dict[ObjectKind, list[str]] = defaultdict(list)
        for verb, kind, place in asked:
            # The namespace of a control plane comes and goes, and roles in it go with it.
            if (place if place in PLACES else "") == namespace:
                kinds[kind].append(verb)
        rules = [{"apiGroups": [kind.group], "resources": [kind.plural], "verbs": kinds[kind]} for kind in kinds]
        which = "Role" if namespace else "ClusterRole"
        metadata = {"name": user, **({"namespace": namespace} if namespace else {})}
        head = {"apiVersion": f"{RBAC}/v1", "metadata": metadata}
        subject = {"apiGroup": RBAC, "kind": "User", "name": user}
        role = {"apiGroup": RBAC, "kind": which, "name": user}
        binding = {**head, "kind": f"{which}Binding", "subjects": [subject], "roleRef": role}
        api.apply(Resource(f"{RBAC}/v1", f"{which.lower()}s"), {**head, "kind": which, "rules": rules})
        api.apply(Resource(f"{RBAC}/v1", f"{which.lower()}bindings"), binding)
    for verb, kind, place in asked:
        until_allowed(api, user, {"verb": verb, "group": kind.group, "resource": kind.plural, "namespace": place})
    return {"impersonate_user": user}


def until_allowed(api: Api, user: str, asked: dict[str, str]) -> None:
    """The API server learns of rights by a watch, a moment after they are written."""
    spec = {"user": user, "resourceAttributes": asked}
    review = {"apiVersion": REVIEWS.api, "kind": "SubjectAccessReview", "spec": spec}
    deadline = time.monotonic() + 30
    while not api.create(REVIEWS, review)["status"]["allowed"]:
        assert time.monotonic() < deadline, f"{user} may not {asked}"
        time.sleep(0.05)


def task(folder: Path, sim: Simulator, module: str, **args: Any) -> Outcome:
    return run_task(sim, module, {"kubeconfig": str(folder / "kubeconfig"), **args})


def looked(folder: Path, sim: Simulator, name: str, way: dict[str, str]) -> dict[str, str]:
    done = task(
        folder, sim, "hosted_cluster_preflight_info", name=name, checks=["rights in Kubernetes"], fail=False, **way
    )
    (found,) = done["preflight"]["checks"]
    return dict(found)


def test_a_cluster_is_created_and_scaled(api: Api, sim: Simulator, folder: Path) -> None:
    way = entitled(api, "demo", "create", "scale")
    found = looked(folder, sim, "demo", way)
    assert found["status"] == "warning"
    assert "To destroy it the user of the management cluster lacks: delete hostedclusters" in found["found"]
    assert "list clusters.cluster.x-k8s.io in clusters-demo" in found["found"]
    made = task(folder, sim, "hosted_cluster", **CLUSTER, **way)
    assert not made.failed, made.msg
    content = [{"name": "mine", "content": str(config_map("x"))}]
    pool = task(folder, sim, "node_pool", **{**POOL, "config": content}, **way)
    assert not pool.failed, pool.msg
    way = entitled(api, "demo", "scale")
    scaled = task(folder, sim, "node_pool", name=POOL["name"], replicas=3, wait=False, **way)
    assert (scaled.failed, scaled.changed) == (False, True), scaled.msg


def test_who_may_not_list_all_clusters_is_kept_from_the_namespace_of_another(
    api: Api, sim: Simulator, folder: Path
) -> None:
    """What is in it says whose it is."""
    way = entitled(api, "prod-x", "create")
    other = Stopped(api, "clusters-prod", "x", finalizers=False).namespaces().create(pool="")
    labels = {"app": "control-plane-operator"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "operator", "image": "operator"}]}}
    metadata = {"name": labels["app"], "namespace": other.place, "annotations": {OF_CLUSTER: other.label}}
    operator = {"metadata": metadata, "spec": {"selector": {"matchLabels": labels}, "template": template}}
    api.create(DEPLOYMENTS, {"apiVersion": DEPLOYMENTS.api, "kind": "Deployment", **operator})
    refused = task(folder, sim, "hosted_cluster", **{**CLUSTER, "name": "prod-x"}, **way)
    assert refused["failure"]["kind"] == "conflict", refused.msg
    assert "which is that of hosted cluster clusters-prod/x" in refused.msg
    assert api.get(HOSTED_CLUSTERS, "prod-x", "clusters") is None


def test_who_may_all_that_is_needed_is_told_so(api: Api, sim: Simulator, folder: Path) -> None:
    way = entitled(api, "shop", *NEEDED)
    assert looked(folder, sim, "shop", way)["status"] == "ok"


def test_a_cluster_is_diagnosed(api: Api, sim: Simulator, folder: Path) -> None:
    Stopped(api).namespaces().create(sim.machine("n1", status="Deployed"))
    way = entitled(api, "shop", "diagnose")
    done = task(folder, sim, "hosted_cluster_diagnosis_info", name="shop", leaks=False, **way)
    assert not done.failed, done.msg
    assert [one["what"] for one in done["diagnosis"] if "not read" in one["what"] or "may not" in one["what"]] == []


def test_a_cluster_is_destroyed(api: Api, sim: Simulator, folder: Path) -> None:
    """By an operator that does its part: nothing has to be forced."""
    shop = Stopped(api, name="brief", finalizers=False).namespaces().create(pool="")
    way = entitled(api, "brief", "destroy", "force")
    done = remove(folder, sim, name="brief", stall_timeout=40, **way)
    assert not done.failed, done.msg
    assert api.list(HOSTED_CLUSTERS) == []
    audit = task(folder, sim, "hosted_cluster_audit_info", name="brief", **way)
    assert not audit.failed, audit.msg
    assert left(api, shop.place) == []


def test_a_cluster_that_hangs_is_destroyed_by_force(api: Api, sim: Simulator, folder: Path) -> None:
    Stopped(api, name="hung").namespaces().create(sim.machine("n1", status="Deployed"))
    way = entitled(api, "hung", "destroy")
    hangs = remove(folder, sim, name="hung", stall_timeout=3, **way)
    assert hangs["failure"]["kind"] == "failed_state", hangs.msg
    assert "keeps its finalizer" in hangs.msg or "is not deleted although" in hangs.msg
    way = entitled(api, "hung", "destroy", "force")
    done = remove(folder, sim, name="hung", force=True, stall_timeout=2, **way)
    assert not done.failed, done.msg
    assert left(api) == []
    assert sim.find("n1").status.name == "READY"


def test_all_that_a_removal_lacks_is_one_sentence(api: Api, sim: Simulator, folder: Path) -> None:
    Stopped(api).namespaces().create(pool="")
    way = entitled(api, "shop", "create", "scale")
    refused = remove(folder, sim, **way)
    assert refused["failure"]["kind"] == "forbidden"
    for lacking in (
        "delete hostedclusters.hypershift.openshift.io in clusters",
        "watch clusters.cluster.x-k8s.io in clusters-shop",
        "list maasclusters.infrastructure.cluster.x-k8s.io in clusters-shop",
        "get namespaces in clusters-shop",
    ):
        assert lacking in refused.msg
