# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""hosted_cluster and node_pool with the real operators behind them."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from hosted.cases import PROVIDER, SSH_KEY
from hosted.play import another_key, run
from integration.harness import Outcome
from metalshift_lab.kube.api import MACHINES, SECRETS
from metalshift_lab.kube.examples import IMAGE
from metalshift_lab.kube.handle import Lab

NAME = "modules"
PLACE = f"clusters-{NAME}"


class Hosted:
    """One hosted cluster of the lab, in the hand of the modules."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        registry = lab.facts["registry"]
        self.cluster = {
            "release": lab.release(),
            "base_domain": "lab.example",
            "services_address": "127.0.0.1",
            "control_plane_availability": "SingleReplica",
            "pull_secret": json.dumps({"auths": {registry: {"auth": "bGFiOmxhYg=="}}}),
            "ssh_key": SSH_KEY,
            "provider_image": PROVIDER,
        }
        self.pool = {"cluster": NAME, "image": IMAGE, "tags": ["worker"], "node_deletion_timeout": "15s"}
        self.pool |= {"node_drain_timeout": "10s", "node_volume_detach_timeout": "10s"}

    def done(self, module: str, args: Mapping[str, Any]) -> Outcome:
        outcome = run(self.lab, module, {"name": NAME, "wait_timeout": 240, **args})
        assert not outcome.failed, outcome.msg
        return outcome


@pytest.fixture(scope="module")
def hosted(lab: Lab) -> Iterator[Hosted]:
    found = Hosted(lab)
    found.done("hosted_cluster", found.cluster)
    found.done("node_pool", {**found.pool, "replicas": 2})
    yield found
    lab.heal()
    found.done("hosted_cluster", {"state": "absent"})


def test_what_the_operators_write_is_no_difference(hosted: Hosted) -> None:
    """HyperShift writes the whole object back in its own words, and adds its identifiers."""
    again = hosted.done("hosted_cluster", hosted.cluster)
    assert (again.changed, again["diff"]) == (False, [])
    assert again["hosted_cluster"]["available"] is True
    assert again["hosted_cluster"]["infra_id"]
    assert again["hosted_cluster"]["kubeconfig_secret"] == f"{NAME}-admin-kubeconfig"
    pool = hosted.done("node_pool", {**hosted.pool, "replicas": 2})
    assert (pool.changed, pool["node_pool"]["available_replicas"]) == (False, 2)


def test_the_control_plane_operator_of_a_stock_release_spoils_platform_maas_and_that_is_told(hosted: Hosted) -> None:
    lab, name = hosted.lab, "stock"
    images = {"control_plane_operator_image": f"{lab.facts['registry']}/ocp/hypershift:4.20.8-stock"}
    spoilt = hosted.done("hosted_cluster", {**hosted.cluster, "name": name, **images})
    try:
        assert any("writes platform MAAS into the Infrastructure" in one for one in spoilt["warnings"])
        diagnosis = run(lab, "hosted_cluster_diagnosis_info", {"name": name})["diagnosis"]
        assert any("writes platform MAAS into the Infrastructure" in one["what"] for one in diagnosis)
        gather = {"gather": ["infrastructure"]}
        [ours] = run(lab, "hosted_cluster_info", {"name": NAME, **gather})["hosted_clusters"]
        [theirs] = run(lab, "hosted_cluster_info", {"name": name, **gather})["hosted_clusters"]
        assert (ours["infrastructure_platform"], theirs["infrastructure_platform"]) == ("None", "MAAS")
    finally:
        hosted.done("hosted_cluster", {"name": name, "state": "absent"})


def test_a_changed_key_reaches_the_running_provider(hosted: Hosted) -> None:
    lab = hosted.lab
    before = _provider_pods(lab)
    other = another_key(lab)
    changed = hosted.done("hosted_cluster", {**hosted.cluster, "provider_maas_api_key": other})
    assert [each["before_header"] for each in changed["diff"]][1:] == [
        f"Secret {PLACE}/{NAME}-maas-credentials",
        f"Deployment {PLACE}/capi-provider",
    ]
    lab.until("the provider has been started anew", lambda: _provider_pods(lab).isdisjoint(before))
    copy = lab.api.get(SECRETS, f"{NAME}-maas-credentials", PLACE) or {}
    assert b64decode(copy["data"]["MAAS_API_KEY"]) == other.encode()
    assert not hosted.done("hosted_cluster", hosted.cluster).changed
    hosted.done("hosted_cluster", {"provider_maas_api_key": lab.facts["maas_api_key"]})


def _provider_pods(lab: Lab) -> set[str]:
    names = lab.kubectl("-n", PLACE, "get", "pods", "-o", "name").split()
    return {name for name in names if "capi-provider" in name}


@pytest.mark.thorough
def test_a_hosted_api_that_is_gone_holds_no_machine_for_ever(hosted: Hosted) -> None:
    lab = hosted.lab
    lab.fault("pause", name=f"{PLACE}.kube-apiserver")
    fewer = hosted.done("node_pool", {"replicas": 1})
    assert any("let go without its Node, which could not be deleted for 15s" in line for line in fewer.screen.shown)
    sets = json.loads(lab.kubectl("-n", PLACE, "get", "machinesets", "-o", "json"))["items"]
    assert not any("cluster.x-k8s.io/paused" in (each["metadata"].get("annotations") or {}) for each in sets)
    hosted.done("node_pool", {"state": "absent"})
    assert lab.api.list(MACHINES, PLACE) == []
