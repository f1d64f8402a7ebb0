# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task leaves of certificates when it has ended, and what a cluster that was left alone for a day does to it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates.pure.judgement import (
    NODE_GROUPS,
    NODE_USER,
    SERVING,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.client import Kube
from ansible_collections.metalshift.maas.plugins.module_utils._kube.connection import Access
from hosted.cases import PROVIDER, SSH_KEY
from hosted.play import run
from integration.harness import Outcome
from metalshift_lab.kube.api import CSRS, Object, of_name
from metalshift_lab.kube.examples import IMAGE
from metalshift_lab.kube.handle import Lab
from metalshift_lab.kube.journey import Journey
from unit.kube.pem import signing_request

NAME = "certified"
# A kubelet asks every fifteen minutes, and Kubernetes forgets after a day.
A_DAY = 93


class Cluster:
    """A hosted cluster in the hand of the modules."""

    def __init__(self, lab: Lab, journey: Journey) -> None:
        self.lab, self.journey = lab, journey

    def run(self, module: str, **args: Any) -> Outcome:
        return run(self.lab, module, {"name": NAME, **args})

    def done(self, module: str, **args: Any) -> Outcome:
        outcome = self.run(module, **args)
        assert not outcome.failed, outcome.msg
        return outcome

    def requests(self) -> list[Object]:
        return self.journey.hosted_api.list(CSRS)

    def waiting(self) -> set[str]:
        """The requests that nobody has answered."""
        return {of_name(each) for each in self.requests() if not each.get("status", {}).get("conditions")}

    def uncertified(self) -> list[str]:
        """The nodes whose newest request for a serving certificate has brought none."""
        asked = sorted(self.requests(), key=lambda each: (each["metadata"]["creationTimestamp"], of_name(each)))
        newest = {each["spec"]["username"]: each for each in asked if each["spec"]["signerName"] == SERVING}
        users = {f"{NODE_USER}{of_name(node)}": of_name(node) for node in self.journey.nodes()}
        return [name for user, name in users.items() if not newest.get(user, {}).get("status", {}).get("certificate")]

    def ask_for_a_day(self) -> int:
        """As each node would, had nobody approved its certificate."""
        nodes = self.journey.nodes()
        for node in nodes:
            name = of_name(node)
            somebody = {"impersonate_user": f"{NODE_USER}{name}", "impersonate_groups": sorted(NODE_GROUPS)}
            kube = Kube(Access.from_params({"kubeconfig": str(self.journey.kubeconfig), **somebody}, {}))
            addresses = [each["address"] for each in node["status"]["addresses"] if each["type"] == "InternalIP"]
            for number in range(A_DAY):
                spec: Mapping[str, Any] = {
                    "request": signing_request(name, [name], addresses),
                    "signerName": SERVING,
                    "usages": ["digital signature", "server auth"],
                }
                metadata = {"name": f"{name}-{number}"}
                kind = {"apiVersion": CSRS.api, "kind": "CertificateSigningRequest"}
                kube.create({**kind, "metadata": metadata, "spec": spec})
        return len(nodes) * A_DAY


@pytest.fixture(scope="module")
def cluster(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    found = Cluster(lab, Journey(lab, NAME, tmp_path_factory.mktemp("kubeconfigs")))
    found.done(
        "hosted_cluster",
        release=lab.release(),
        base_domain="lab.example",
        services_address="127.0.0.1",
        control_plane_availability="SingleReplica",
        wait_timeout=240,
        pull_secret=json.dumps({"auths": {lab.facts["registry"]: {"auth": "bGFiOmxhYg=="}}}),
        ssh_key=SSH_KEY,
        provider_image=PROVIDER,
    )
    yield found
    lab.heal()
    found.done("hosted_cluster", state="absent", force=True, wait_timeout=240)


def scaled(replicas: int) -> dict[str, Any]:
    return {"cluster": NAME, "image": IMAGE, "tags": ["worker"], "replicas": replicas, "wait_timeout": 240}


def test_when_a_task_ends_each_node_has_both_certificates(cluster: Cluster) -> None:
    made = cluster.done("node_pool", **scaled(2))
    assert (cluster.uncertified(), cluster.waiting()) == ([], set())
    approved = [line for line in made.screen.shown if "approved (" in line]
    assert len(approved) == 4, approved
    assert not cluster.done("node_pool", **scaled(2)).changed


def test_a_cluster_that_was_left_alone_for_a_day_scales_at_once(cluster: Cluster) -> None:
    left = cluster.ask_for_a_day()
    assert len(cluster.waiting()) == left > 100
    more = cluster.done("node_pool", **scaled(3))
    assert cluster.uncertified() == []
    told = [line for line in more.screen.shown if "certificate request" in line]
    # Two old nodes, the two certificates of the new one, and what was superseded as a number.
    assert len(told) <= 10, told
    assert any(f"certificate requests: {left - 2} older ones do not count any more" in line for line in told), told


def test_what_is_left_of_that_day_troubles_nobody(cluster: Cluster) -> None:
    found = cluster.done("node_csr")
    assert (found.changed, found["certificate_requests"]) == (False, [])
    assert found["summary"]["superseded"] == len(cluster.waiting()) > 100
    told = run(cluster.lab, "hosted_cluster_diagnosis_info", {"name": NAME})["diagnosis"]
    assert [one["what"] for one in told if one["severity"] == "error" or "ertificate" in one["what"]] == []


def test_a_wait_that_ends_for_want_of_a_certificate_says_so(cluster: Cluster) -> None:
    """And the next run goes on when its reason is gone."""
    lab = cluster.lab
    lab.fault("other-address", hostname=".*", address="10.99.250.250")
    failed = cluster.run("node_pool", **scaled(4))
    assert failed.failed
    assert failed["failure"]["kind"] == "failed_state"
    assert (
        f"Hosted cluster clusters/{NAME}, node pool {NAME}, will not get all certificates of its nodes: " in failed.msg
    )
    said = "its node is Ready, its serving certificate is not approved: 10.99.250.250: not among the addresses in MAAS"
    assert said in failed.msg
    assert len(cluster.uncertified()) == 1
    lab.heal("other-address")
    cluster.done("node_pool", **scaled(4))
    assert cluster.uncertified() == []
