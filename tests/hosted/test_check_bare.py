# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check mode of the playbooks for hosted clusters where there is nothing: no operator, no cluster, no machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hosted.play import played
from integration.harness import Played, run_task
from metalshift_lab.kube.bare import api_server
from metalshift_lab.programs import Programs
from metalshift_lab.simulator import Simulator

CLUSTER = {
    "name": "shop",
    "release": "registry.example/release:4.20.8",
    "base_domain": "lab.example",
    "pull_secret": json.dumps({"auths": {"registry.example": {"auth": "eDp5"}}}),
    "services_address": "10.99.0.9",
    "provider_image": "registry.example/cluster-api-provider-maas-controller:v4.9.5-spectro",
    "dns": True,
    "dns_api_addresses": ["10.99.0.9"],
    "node_pools": [
        {"name": "workers", "replicas": 2, "image": "custom/rhcos-4.20", "min_cpu": 4, "min_memory": "8GiB"}
    ],
}
# Nothing is asked of it.
NOWHERE = {"maas_endpoint": "http://127.0.0.1:1/MAAS", "maas_api_key": "a:b:c"}


@pytest.fixture(scope="module", params=[False, True], ids=["without kinds", "with kinds"])
def empty(
    request: pytest.FixtureRequest, programs: Programs, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """The folder of an API server that knows nothing, or only the kinds of HyperShift."""
    folder = tmp_path_factory.mktemp("management")
    with api_server(programs, folder, kinds=request.param):
        yield folder


def checked(empty: Path, folder: Path, playbook: str, **given: Any) -> Played:
    with Simulator() as maas:
        environment = {
            "MAAS_ENDPOINT": maas.url,
            "MAAS_API_KEY": maas.api_key,
            "K8S_AUTH_KUBECONFIG": str(empty / "kubeconfig"),
        }
        variables = {f"hosted_openshift_{name}": value for name, value in given.items()}
        page = played(folder, playbook, variables, "--check", "--diff", environment=environment, limit=120)
        assert not maas.requests.writes()
    return page


@pytest.mark.parametrize(
    ("playbook", "given", "said"),
    [
        ("create_hosted_cluster", CLUSTER, "2 machines asked for (4 cores, 8192 MiB), 0 available"),
        ("scale_node_pool", {"name": "shop", "pool": "workers", "replicas": 3}, "has no node pool workers yet"),
        ("diagnose", {"name": "shop"}, "There is no HostedCluster clusters/shop"),
        (
            "destroy_hosted_cluster",
            {"name": "shop", "dns": True, "base_domain": "lab.example"},
            "Check mode does not know what would be left of clusters/shop",
        ),
    ],
)
def test_check_mode_goes_through_a_playbook(
    empty: Path, tmp_path: Path, playbook: str, given: dict[str, Any], said: str
) -> None:
    """An earlier playbook may be the one that would have installed the operator or made the cluster."""
    page = checked(empty, tmp_path, f"metalshift.maas.{playbook}", **given)
    assert page.status == 0, page.output[-4000:]
    assert said in page.output


def test_the_preflight_fails_in_check_mode_too(empty: Path, tmp_path: Path) -> None:
    page = checked(empty, tmp_path, "metalshift.maas.preflight", **CLUSTER)
    assert page.status == 2
    assert "clusters/shop would not come up" in page.output


def test_check_mode_of_a_chain_foresees_what_its_playbook_makes(empty: Path, tmp_path: Path) -> None:
    page = checked(empty, tmp_path, "metalshift.maas.create_hosted_cluster", **CLUSTER)
    made = [
        result[noun]
        for result in page.results
        for noun in ("hosted_cluster", "node_pool", "dns_record")
        if noun in result
    ]
    names = {(one.get("fqdn") or one["name"], one.get("predicted")) for one in made}
    assert {("shop", True), ("workers", True), ("api.shop.lab.example", True)} <= names
    requests = run_task(
        None,
        "node_csr",
        {"name": "shop", "kubeconfig": str(empty / "kubeconfig"), **NOWHERE},
        check=True,
        connect=False,
    )
    assert (requests["summary"]["refused"], requests["warnings"]) == (
        0,
        ["There is no hosted cluster clusters/shop yet."],
    )
