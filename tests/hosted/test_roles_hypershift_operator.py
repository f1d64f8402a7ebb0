# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role hypershift_operator, from a cluster without HyperShift to one without it again."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from hosted.play import play
from hosted.readme import example
from hosted.renderer import pods_run
from integration.harness import Played
from metalshift_lab.kube import examples
from metalshift_lab.kube.api import CONFIG_MAPS, CRDS, DEPLOYMENTS, HOSTED_CLUSTERS, NAMESPACES, PODS, Object, Resource
from metalshift_lab.kube.handle import Lab
from metalshift_lab.kube.keeper import plain_environment
from metalshift_lab.programs import Programs

RULES = Resource("monitoring.coreos.com/v1", "prometheusrules")
NAMESPACE = "hypershift"


@pytest.fixture(scope="module")
def empty(programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A lab without the operator, which the tests of this file go through in their order."""
    with Lab.start(tmp_path_factory.mktemp("labs") / "empty", speed=240, machines=3, operator=False) as running:
        yield running


def role(lab: Lab, folder: Path, *arguments: str, **given: Any) -> Played:
    playbook = folder / "play.yml"
    task = {"hosts": "localhost", "gather_facts": False, "roles": ["metalshift.maas.hypershift_operator"]}
    playbook.write_text(yaml.safe_dump([task]))
    named = {f"hypershift_operator_{name}": value for name, value in given.items()}
    return play(lab, folder, str(playbook), named, *arguments)


def from_cli(lab: Lab) -> dict[str, str]:
    return {"cli": lab.facts["hypershift"], "image": lab.facts["operator_image"]}


def rendered(lab: Lab, *arguments: str) -> list[Object]:
    command = [lab.facts["hypershift"], "install", "render", f"--hypershift-image={lab.facts['operator_image']}"]
    more = ["--enable-conversion-webhook=false", "--format=json", *arguments]
    done = subprocess.run([*command, *more], env=plain_environment(), capture_output=True, text=True, check=True)
    objects: list[Object] = json.loads(done.stdout)["items"]
    return objects


def changed(played: Played) -> bool:
    return any(result.get("changed") for result in played.results)


def kinds(lab: Lab) -> set[str]:
    return {body["metadata"]["name"] for body in lab.api.list(CRDS)}


def test_check_mode_on_an_empty_cluster_says_what_would_be_installed(empty: Lab, tmp_path: Path) -> None:
    before = kinds(empty)
    played = role(empty, tmp_path, "--check", **from_cli(empty))
    assert played.status == 0, played.output
    assert changed(played)
    assert kinds(empty) == before
    assert empty.api.get(NAMESPACES, NAMESPACE) is None
    assert empty.api.get(CONFIG_MAPS, "hypershift-operator", "kube-system") is None


def test_a_build_that_does_not_serve_maas_is_refused_before_anything_is_written(empty: Lab, tmp_path: Path) -> None:
    file = tmp_path / "manifest.json"
    objects = rendered(empty, "--limit-crd-install=MAAS")
    for body in objects:
        if body["metadata"]["name"] == "nodepools.hypershift.openshift.io":
            for version in body["spec"]["versions"]:
                schema = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["platform"]
                del schema["properties"]["maas"]
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    played = role(empty, tmp_path, manifest=str(file))
    assert played.status != 0
    assert "NodePool (v1beta1) has no field spec.platform.maas.image" in played.output
    assert empty.api.get(NAMESPACES, NAMESPACE) is None


def test_it_installs_on_plain_kubernetes_and_puts_in_place_what_that_lacks(empty: Lab, tmp_path: Path) -> None:
    assert "routes.route.openshift.io" not in kinds(empty)
    given = from_cli(empty)
    environment = {"HYPERSHIFT": given["cli"], "HYPERSHIFT_IMAGE": given["image"]}
    played = play(empty, tmp_path, example("hypershift_operator", tmp_path), environment=environment)
    assert played.status == 0, played.output
    deployment = empty.api.get(DEPLOYMENTS, "operator", NAMESPACE) or {}
    assert deployment["status"]["availableReplicas"] == 1
    assert {"routes.route.openshift.io", "hostedclusters.hypershift.openshift.io"} <= kinds(empty)


def test_a_second_run_changes_nothing(empty: Lab, tmp_path: Path) -> None:
    before = empty.api.get(DEPLOYMENTS, "operator", NAMESPACE) or {}
    played = role(empty, tmp_path, **from_cli(empty))
    assert played.status == 0, played.output
    assert not changed(played)
    after = empty.api.get(DEPLOYMENTS, "operator", NAMESPACE) or {}
    assert after["metadata"]["generation"] == before["metadata"]["generation"]


def test_a_pod_of_the_image_renders_the_same(empty: Lab, tmp_path: Path) -> None:
    image = empty.facts["operator_image"]
    checked = role(empty, tmp_path, "--check", image=image)
    assert checked.status == 0, checked.output
    assert "What would be installed is not known" in checked.output
    with pods_run(empty, tmp_path) as ran:
        played = role(empty, tmp_path, image=image)
        assert played.status == 0, played.output
        assert [pod["spec"]["containers"][0]["image"] for pod in ran] == [image]
        assert empty.api.list(PODS, "default") == []
        failed = role(empty, tmp_path, image=image, platforms=["Nowhere"])
    assert failed.status != 0
    assert "cannot render its manifest" in failed.output
    assert "Nowhere" in failed.output
    assert not changed(played), "it is what the program rendered"


def test_kinds_that_come_later_are_seen_by_the_operator(empty: Lab, tmp_path: Path) -> None:
    """It looks only when it starts."""
    pods = empty.kubectl("-n", NAMESPACE, "get", "pods", "-o", "name")
    empty.kubectl("delete", "crd", "routes.route.openshift.io")
    # Times of objects are told in whole seconds.
    empty.kubectl("-n", NAMESPACE, "wait", "pods", "--all", "--for=condition=Ready")
    played = role(empty, tmp_path, **from_cli(empty))
    assert played.status == 0, played.output
    assert empty.kubectl("-n", NAMESPACE, "get", "pods", "-o", "name") != pods


def test_an_upgrade_takes_away_what_the_new_version_has_no_more(empty: Lab, tmp_path: Path) -> None:
    file = tmp_path / "manifest.json"
    objects = [
        body
        for body in rendered(empty, "--limit-crd-install=MAAS", "--enable-ci-debug-output=true")
        if body["kind"] != "PrometheusRule"
    ]
    file.write_text("\n---\n".join(json.dumps(body) for body in objects))
    assert empty.api.list(RULES, NAMESPACE)
    played = role(empty, tmp_path, manifest=str(file))
    assert played.status == 0, played.output
    assert not empty.api.list(RULES, NAMESPACE)
    deployment = empty.api.get(DEPLOYMENTS, "operator", NAMESPACE) or {}
    assert "--enable-ci-debug-output=true" in deployment["spec"]["template"]["spec"]["containers"][0]["args"]
    assert deployment["status"]["updatedReplicas"] == deployment["status"]["availableReplicas"] == 1


def test_it_stays_while_there_is_a_hosted_cluster(empty: Lab, tmp_path: Path) -> None:
    facts = empty.facts
    empty.apply(
        examples.hosted_cluster(
            "demo", empty.release(), "None", maas_endpoint=facts["maas_url"], maas_api_key=facts["maas_api_key"]
        )
    )
    played = role(empty, tmp_path, state="absent")
    assert played.status != 0
    assert "HostedCluster clusters/demo" in played.output
    assert empty.api.get(DEPLOYMENTS, "operator", NAMESPACE)
    empty.kubectl("-n", "clusters", "delete", "hostedcluster", "demo", "--timeout=120s")
    assert empty.api.list(HOSTED_CLUSTERS) == []


def test_what_somebody_else_put_there_stays(empty: Lab, tmp_path: Path) -> None:
    empty.kubectl("-n", NAMESPACE, "create", "configmap", "of-somebody-else")
    played = role(empty, tmp_path, state="absent", remove_kinds=True)
    assert played.status == 0, played.output
    assert "there is something else in it: ConfigMap hypershift/of-somebody-else" in played.output
    assert empty.api.get(CONFIG_MAPS, "of-somebody-else", NAMESPACE)
    assert empty.api.get(DEPLOYMENTS, "operator", NAMESPACE) is None


def test_in_the_end_nothing_of_it_is_left(empty: Lab, tmp_path: Path) -> None:
    empty.kubectl("-n", NAMESPACE, "delete", "configmap", "of-somebody-else")
    played = role(empty, tmp_path, state="absent", remove_kinds=True)
    assert played.status == 0, played.output
    assert empty.api.get(NAMESPACES, NAMESPACE) is None
    assert not [name for name in kinds(empty) if "hypershift" in name or "cluster.x-k8s.io" in name or "route" in name]
    assert "servicemonitors.monitoring.coreos.com" in kinds(empty), "it was there before"
    assert empty.api.get(CONFIG_MAPS, "hypershift-operator", "kube-system") is None
    again = role(empty, tmp_path, state="absent", remove_kinds=True)
    assert again.status == 0, again.output
    assert not changed(again)
