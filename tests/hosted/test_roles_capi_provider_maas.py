# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role capi_provider_maas: what it gives to HyperShift, what it installs by itself, and what it refuses."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from hosted.play import another_key, play
from hosted.readme import example
from integration.documented import playbook
from integration.harness import Played, assert_no_secret
from metalshift_lab.kube import examples
from metalshift_lab.kube.api import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    HOSTED_CLUSTERS,
    NAMESPACES,
    PODS,
    SECRETS,
    Object,
    of_name,
)
from metalshift_lab.kube.handle import Lab
from metalshift_lab.programs import Programs

IMAGE = "registry.example/cluster-api-provider-maas-controller"
SECRET = "maas-credentials"
STAND_ALONE = "capmaas-system"


@pytest.fixture(scope="module")
def own(programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A lab whose operator the tests of this file restart, in their order."""
    with Lab.start(tmp_path_factory.mktemp("labs") / "provider", speed=240, machines=3) as running:
        yield running


def role(lab: Lab, folder: Path, *arguments: str, **given: Any) -> Played:
    playbook = folder / "play.yml"
    task = {"hosts": "localhost", "gather_facts": False, "roles": ["metalshift.maas.capi_provider_maas"]}
    playbook.write_text(yaml.safe_dump([task]))
    named = {f"capi_provider_maas_{name}": value for name, value in given.items()}
    played = play(lab, folder, str(playbook), named, *arguments)
    assert_no_secret(played.output, [lab.facts["maas_api_key"], str(given.get("api_key", lab.facts["maas_api_key"]))])
    return played


def refusals(lab: Lab, folder: Path, wishes: list[dict[str, Any]]) -> list[str]:
    """What the role says to each of these wishes, in one playbook; empty for what it does not refuse."""
    tasks = [
        {
            "block": [
                {
                    "ansible.builtin.include_role": {"name": "metalshift.maas.capi_provider_maas"},
                    "vars": {f"capi_provider_maas_{name}": value for name, value in wish.items()},
                },
                {"ansible.builtin.debug": {"msg": "REFUSED: "}},
            ],
            "rescue": [{"ansible.builtin.debug": {"msg": "REFUSED: {{ ansible_failed_result.msg }}"}}],
        }
        for wish in wishes
    ]
    playbook = folder / "play.yml"
    playbook.write_text(yaml.safe_dump([{"hosts": "localhost", "gather_facts": False, "tasks": tasks}]))
    played = play(lab, folder, str(playbook))
    assert played.status == 0, played.output
    said = [str(result.get("msg", "")) for result in played.results]
    return [msg.partition("REFUSED: ")[2] for msg in said if msg.startswith("REFUSED: ")]


def changed(played: Played) -> bool:
    return any(result.get("changed") for result in played.results)


def secret(lab: Lab, name: str, namespace: str) -> dict[str, str]:
    found = lab.api.get(SECRETS, name, namespace) or {"data": {}}
    return {key: base64.b64decode(value).decode() for key, value in found["data"].items()}


def operator_variables(lab: Lab) -> dict[str, str]:
    deployment = lab.api.get(DEPLOYMENTS, "operator", "hypershift") or {}
    variables = deployment["spec"]["template"]["spec"]["containers"][0]["env"]
    return {each["name"]: each.get("value", "") for each in variables}


# -- HyperShift ---------------------------------------------------------------------------------------------------


def test_what_cannot_work_under_hypershift_is_refused(own: Lab, tmp_path: Path) -> None:
    wishes: list[tuple[dict[str, Any], str]] = [
        ({"image": f"{IMAGE}:v0.6.1-spectro-4.7.0"}, "does not publish the names by which"),
        ({"image": f"{IMAGE}:v4.9.3-spectro"}, "does not publish the names by which"),
        ({"image": f"{IMAGE}:v0.9.0"}, "the line v0.x writes its own DNS records"),
        ({"image": f"{IMAGE}:latest"}, "does not tell its version"),
        ({"image": f"{IMAGE}@sha256:{'0' * 64}"}, "does not tell its version"),
        ({"resources": {"limits": {"cpu": 1}}}, "capi_provider_maas_resources is for capi_provider_maas_use"),
        ({"preferred_subnets": {"clusters": ["10.0.0.0/8"]}}, "preferred_subnets is for capi_provider_maas_use"),
    ]
    said = refusals(own, tmp_path, [wish for wish, _words in wishes])
    assert len(said) == len(wishes)
    for sentence, (_wish, words) in zip(said, wishes, strict=True):
        assert words in sentence
    assert own.api.get(SECRETS, SECRET, "clusters") is None


def test_check_mode_writes_nothing(own: Lab, tmp_path: Path) -> None:
    played = role(own, tmp_path, "--check", image=f"{IMAGE}:v4.9.5-spectro")
    assert played.status == 0, played.output
    assert changed(played)
    assert own.api.get(SECRETS, SECRET, "clusters") is None
    assert "IMAGE_MAAS_CAPI_PROVIDER" not in operator_variables(own)


def test_without_an_image_the_one_that_the_operator_was_told_is_looked_at(own: Lab, tmp_path: Path) -> None:
    tell = ("-n", "hypershift", "set", "env", "deployment/operator")
    own.kubectl(*tell, f"IMAGE_MAAS_CAPI_PROVIDER={IMAGE}:v4.9.3-spectro")
    said = refusals(own, tmp_path, [{}])
    own.kubectl(*tell, "IMAGE_MAAS_CAPI_PROVIDER-")
    assert "with the provider v4.9.3-spectro, which the operator was told: it does not publish" in said[0]
    assert "The operator was told no image of the provider" in role(own, tmp_path, "--check").output


def test_it_keeps_credentials_and_tells_the_operator_the_image(own: Lab, tmp_path: Path) -> None:
    given = {"image": f"{IMAGE}:v4.9.5-spectro"}
    played = play(own, tmp_path, example("capi_provider_maas", tmp_path))
    assert played.status == 0, played.output
    expected = {"MAAS_ENDPOINT": own.facts["maas_url"], "MAAS_API_KEY": own.facts["maas_api_key"]}
    assert secret(own, SECRET, "clusters") == expected
    assert operator_variables(own)["IMAGE_MAAS_CAPI_PROVIDER"] == given["image"]
    again = role(own, tmp_path, **given)
    assert again.status == 0, again.output
    assert not changed(again)


def hosted_cluster(lab: Lab) -> list[Object]:
    """One that says nothing of a provider's image, and refers to the role's Secret."""
    facts = lab.facts
    made = [
        *examples.hosted_cluster(
            "demo", lab.release(), maas_endpoint=facts["maas_url"], maas_api_key=facts["maas_api_key"]
        )
    ]
    for body in made:
        if body["kind"] == "HostedCluster":
            body["spec"]["platform"]["maas"]["identityRef"]["name"] = SECRET
    return made


def provider_pods(lab: Lab) -> list[str]:
    pods = lab.api.list(PODS, "clusters-demo", labels="hypershift.openshift.io/control-plane-component=capi-provider")
    return [of_name(pod) for pod in pods]


def test_a_changed_key_reaches_providers_that_run(own: Lab, tmp_path: Path) -> None:
    own.apply(hosted_cluster(own))
    pods = own.until("the provider of demo runs", lambda: provider_pods(own), 120)
    provider = own.api.get(DEPLOYMENTS, "capi-provider", "clusters-demo") or {}
    image = f"{IMAGE}:v4.9.5-spectro"
    assert provider["spec"]["template"]["spec"]["containers"][0]["image"] == image
    other = another_key(own)
    played = role(own, tmp_path, image=image, api_key=other)
    assert played.status == 0, played.output
    assert secret(own, SECRET, "clusters-demo")["MAAS_API_KEY"] == other
    own.until("another pod runs", lambda: provider_pods(own) and provider_pods(own) != pods)
    back = role(own, tmp_path, image=image)
    assert back.status == 0, back.output
    assert secret(own, SECRET, "clusters-demo")["MAAS_API_KEY"] == own.facts["maas_api_key"]


def test_a_key_with_which_nothing_is_ever_deployed_is_refused(own: Lab, tmp_path: Path) -> None:
    image = f"{IMAGE}:v4.9.5-spectro"
    before = secret(own, SECRET, "clusters")
    own.fault("maas-key-plain")
    try:
        plain = role(own, tmp_path, image=image, api_key=another_key(own))
    finally:
        own.heal("maas-key-plain")
    assert plain.status != 0
    assert "is that of the MAAS user admin, who is not an administrator" in plain.output
    stranger = role(own, tmp_path, image=image, api_key="other:key:ofmaas")
    assert stranger.status != 0
    assert "MAAS does not accept the key of capi_provider_maas_api_key." in stranger.output
    assert secret(own, SECRET, "clusters") == before


def test_credentials_stay_while_a_hosted_cluster_uses_them(own: Lab, tmp_path: Path) -> None:
    played = role(own, tmp_path, state="absent")
    assert played.status != 0
    assert "while clusters/demo is there" in played.output
    own_secret = {"spec": {"platform": {"maas": {"identityRef": {"name": "demo-maas-credentials"}}}}}
    own.kubectl("-n", "clusters", "patch", "hostedcluster", "demo", "--type=merge", "-p", json.dumps(own_secret))
    played = role(own, tmp_path, state="absent")
    assert played.status != 0
    assert "while clusters/demo is there and names none of its own" in played.output
    assert operator_variables(own)["IMAGE_MAAS_CAPI_PROVIDER"] == f"{IMAGE}:v4.9.5-spectro"
    own.kubectl("-n", "clusters", "delete", "hostedcluster", "demo", "--timeout=120s")
    assert own.api.list(HOSTED_CLUSTERS) == []
    gone = role(own, tmp_path, state="absent")
    assert gone.status == 0, gone.output
    assert own.api.get(SECRETS, SECRET, "clusters") is None
    assert "IMAGE_MAAS_CAPI_PROVIDER" not in operator_variables(own)


# -- by itself ----------------------------------------------------------------------------------------------------

COMPONENTS = """\
apiVersion: v1
kind: Namespace
metadata:
  name: capmaas-system
---
apiVersion: v1
kind: Secret
metadata:
  name: capmaas-manager-bootstrap-credentials
  namespace: capmaas-system
stringData:
  MAAS_ENDPOINT: ${MAAS_ENDPOINT}
  MAAS_API_KEY: ${ MAAS_API_KEY }
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: capmaas-controller-manager
  namespace: capmaas-system
spec:
  replicas: 1
  selector:
    matchLabels: {control-plane: capmaas-controller-manager}
  template:
    metadata:
      labels: {control-plane: capmaas-controller-manager}
    spec:
      containers:
        - name: kube-rbac-proxy
          image: registry.example/kube-rbac-proxy:v0.19.1
        - name: manager
          image: registry.example/cluster-api-provider-maas-controller:v0.8.0
          args: ["--sync-period=${SYNC:=120m}", "--concurrency=${CONCURRENCY}"]
          resources:
            limits: {cpu: 200m, memory: 100Mi}
---
apiVersion: cert-manager.io/v1
kind: Issuer
metadata:
  name: capmaas-selfsigned-issuer
  namespace: capmaas-system
spec:
  selfSigned: {}
"""


def definition(group: str, kind: str, plural: str) -> Object:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }


def cluster_api(version: str) -> list[Object]:
    labels = {"cluster.x-k8s.io/provider": "cluster-api"}
    container = {"name": "controller", "image": f"registry.example/cluster-api-controller:{version}"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment"}
    metadata = {"name": "capi-controller-manager", "namespace": "capi-system", "labels": labels}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "capi-system"}}
    return [namespace, {**deployment, "metadata": metadata, "spec": spec}]


@pytest.fixture
def components(tmp_path: Path) -> Path:
    file = tmp_path / "infrastructure-components.yaml"
    file.write_text(COMPONENTS)
    return file


def test_pairs_that_do_not_fit_are_refused(own: Lab, tmp_path: Path, components: Path) -> None:
    alone = {"use": "stand_alone", "components": str(components)}
    assert "certificates.cert-manager.io" in refusals(own, tmp_path, [{**alone, "version": "v0.8.0"}])[0]
    own.apply([definition("cert-manager.io", kind, f"{kind.lower()}s") for kind in ("Certificate", "Issuer")])
    own.apply(cluster_api("v1.10.4"))
    wishes: list[tuple[dict[str, Any], str]] = [
        ({"use": "stand_alone"}, "Set capi_provider_maas_components"),
        (alone, "which nothing tells"),
        ({**alone, "version": "v0.9.0"}, "goes with Cluster API from 1.11.0 to below 2.0.0; this cluster has 1.10.4"),
        ({**alone, "version": "v4.9.5-spectro", "cluster_api_version": "v1.12.0"}, "this cluster has 1.12.0"),
        ({**alone, "version": "v0.8.0", "preferred_subnets": {"a": ["10.0.0.0/8"]}}, "does not read preferred subnets"),
        ({**alone, "version": "v0.8.0"}, "The components need values for CONCURRENCY"),
    ]
    said = refusals(own, tmp_path, [wish for wish, _words in wishes])
    assert len(said) == len(wishes)
    for sentence, (_wish, words) in zip(said, wishes, strict=True):
        assert words in sentence
    assert own.api.get(NAMESPACES, STAND_ALONE) is None


def test_the_example_for_the_provider_by_itself_runs(own: Lab, tmp_path: Path, components: Path) -> None:
    url = "https://mirror.example/cluster-api-provider-maas/v0.8.0/infrastructure-components.yaml"
    file = playbook("capi_provider_maas/README.md 2", tmp_path, **{url: str(components)})
    played = play(own, tmp_path, file, {"capi_provider_maas_components_variables": {"CONCURRENCY": 4}}, "--check")
    assert played.status == 0, played.output
    assert changed(played)


def test_it_installs_the_components_with_what_is_wished(own: Lab, tmp_path: Path, components: Path) -> None:
    wish = {
        "use": "stand_alone",
        "components": str(components),
        "components_variables": {"CONCURRENCY": 4},
        "image": f"{IMAGE}:v4.9.5-spectro",
        "resources": {"limits": {"cpu": "1", "memory": "512Mi"}},
        "preferred_subnets": {"blue": ["10.1.0.0/16", "10.2.0.0/16"]},
    }
    played = role(own, tmp_path, **wish)
    assert played.status == 0, played.output
    deployment = own.api.get(DEPLOYMENTS, "capmaas-controller-manager", STAND_ALONE) or {}
    proxy, manager = deployment["spec"]["template"]["spec"]["containers"]
    assert "resources" not in proxy or not proxy["resources"]
    assert manager["image"] == wish["image"]
    assert manager["args"] == ["--sync-period=120m", "--concurrency=4"]
    assert manager["resources"] == wish["resources"]
    expected = {"MAAS_ENDPOINT": own.facts["maas_url"], "MAAS_API_KEY": own.facts["maas_api_key"]}
    assert secret(own, "capmaas-manager-bootstrap-credentials", STAND_ALONE) == expected
    subnets = own.api.get(CONFIG_MAPS, "maas-preferred-subnet", "blue") or {}
    assert subnets["data"] == {"preferredSubnets": "10.1.0.0/16,10.2.0.0/16"}
    again = role(own, tmp_path, **wish)
    assert again.status == 0, again.output
    assert not changed(again)
    gone = role(own, tmp_path, use="stand_alone", state="absent")
    assert gone.status == 0, gone.output
    assert own.api.get(NAMESPACES, STAND_ALONE) is None
    assert own.api.get(NAMESPACES, "blue") is None
    left = [each["metadata"]["name"] for each in own.api.list(CONFIG_MAPS, "kube-system")]
    assert "capi-provider-maas-stand-alone" not in left
