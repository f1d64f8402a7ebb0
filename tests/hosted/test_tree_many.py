# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many hosted clusters on a bare API server: what is asked of it, and what is told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from integration.harness import Outcome, run_task
from metalshift_lab.kube import examples
from metalshift_lab.kube.api import HOSTED_CLUSTERS, MAAS_MACHINES, MACHINES, NAMESPACES, NODE_POOLS, Api
from metalshift_lab.kube.bare import api_server
from metalshift_lab.programs import Programs
from metalshift_lab.simulator import Simulator

CLUSTERS, EACH = 50, 3


@pytest.fixture(scope="module")
def sim() -> Iterator[Simulator]:
    with Simulator() as simulator:
        simulator.machines(CLUSTERS * EACH)
        yield simulator


@pytest.fixture(scope="module")
def management(programs: Programs, sim: Simulator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Its kubeconfig. There are fifty clusters in one namespace, each with a pool of three machines."""
    folder = tmp_path_factory.mktemp("management")
    with api_server(programs, folder, kinds=True) as api:
        api.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "clusters"}})
        for number in range(CLUSTERS):
            _cluster(api, sim, number)
        yield folder / "kubeconfig"


def _cluster(api: Api, sim: Simulator, number: int) -> None:
    name = f"c{number:02}"
    inner = f"clusters-{name}"
    release = "registry.example/release:4.20.8"
    cluster = examples.hosted_cluster(name, release)[-1]
    api.create(HOSTED_CLUSTERS, cluster)
    api.create(NODE_POOLS, examples.node_pool("workers", name, release) | {"metadata": _named(name, "clusters")})
    api.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": inner}})
    for each in range(EACH):
        machine = f"{name}-{each}"
        system_id = sim.find(f"node{number * EACH + each + 1:03}").system_id
        noted = {"annotations": {"hypershift.openshift.io/nodePool": f"clusters/{name}"}}
        infrastructure = {"kind": "MaasMachine", "name": machine, "apiVersion": MAAS_MACHINES.api, "namespace": inner}
        api.create(
            MACHINES,
            {
                "apiVersion": MACHINES.api,
                "kind": "Machine",
                "metadata": {**_named(machine, inner), **noted},
                "spec": {"clusterName": name, "bootstrap": {}, "infrastructureRef": infrastructure},
            },
        )
        api.create(
            MAAS_MACHINES,
            {
                "apiVersion": MAAS_MACHINES.api,
                "kind": "MaasMachine",
                "metadata": {**_named(machine, inner), **noted},
                "spec": {
                    "minCPU": 4,
                    "minMemory": 8192,
                    "image": "custom/rhcos-4.20",
                    "systemID": system_id,
                    "providerID": f"maas:///default/{system_id}",
                },
            },
        )


def _named(name: str, namespace: str) -> dict[str, str]:
    return {"name": name, "namespace": namespace}


def info(management: Path, sim: Simulator | None, **options: Any) -> Outcome:
    """One task; every request of it is a line at -vvv."""
    return run_task(sim, "hosted_cluster_info", {"kubeconfig": str(management), **options}, connect=sim is not None)


def test_fifty_clusters_are_a_handful_of_requests(management: Path, sim: Simulator) -> None:
    outcome = info(management, sim)
    assert outcome["summary"] == {"unavailable": CLUSTERS}
    machines = [
        machine["maas_machine"]["machine"]["system_id"]
        for cluster in outcome["hosted_clusters"]
        for pool in cluster["node_pools"]
        for machine in pool["machines"]
    ]
    assert len(set(machines)) == CLUSTERS * EACH
    # Clusters, node pools, Machines, MaasMachines; and MAAS a hundred machines at a time.
    assert len(outcome.screen.traced) == 4 + 2
    assert all(" GET " in f" {line}" for line in outcome.screen.traced)


def test_clusters_without_their_machines_are_two_requests(management: Path) -> None:
    outcome = info(management, None, gather=[])
    assert len(outcome["hosted_clusters"]) == CLUSTERS
    assert len(outcome.screen.traced) == 2
    assert "machines" not in outcome["hosted_clusters"][0]["node_pools"][0]


def test_the_way_back_asks_maas_only_for_what_it_tells(management: Path, sim: Simulator) -> None:
    system_id = sim.find("node100").system_id
    outcome = info(management, sim, system_id=system_id)
    assert [(owner["hosted_cluster"], owner["node_pool"]) for owner in outcome["owners"]] == [("c33", "c33")]
    assert [cluster["name"] for cluster in outcome["hosted_clusters"]] == ["c33"]
    assert len(outcome.screen.traced) == 4 + 1


def test_a_machine_of_nobody_is_said_to_be_marked(management: Path, sim: Simulator) -> None:
    sim.machine("lonely", status="Deployed", annotations={"metalshift_cluster": "clusters/gone"})
    outcome = info(management, sim, node="lonely")
    assert (outcome["owners"], outcome["hosted_clusters"]) == ([], [])
    assert outcome["warnings"] == [
        "No cluster names lonely, but MAAS has it marked as held for hosted cluster clusters/gone."
    ]


def test_without_a_maas_the_rest_is_told(management: Path) -> None:
    outcome = info(management, None, name="c07")
    (machine, *_others) = outcome["hosted_clusters"][0]["node_pools"][0]["machines"]
    assert machine["maas_machine"]["system_id"]
    assert "machine" not in machine["maas_machine"]


def test_a_maas_that_is_down_is_a_trouble(management: Path) -> None:
    options = {"maas_endpoint": "http://127.0.0.1:9/MAAS", "maas_api_key": "a:b:c", "maas_timeout": 1}
    outcome = info(management, None, name="c07", **options)
    assert not outcome.failed
    (trouble,) = outcome["hosted_clusters"][0]["troubles"]
    assert trouble.startswith("Could not read the machines from MAAS: ")


def test_a_key_that_maas_refuses_is_a_failure(management: Path, sim: Simulator) -> None:
    outcome = info(management, sim, name="c07", maas_api_key="a:b:c")
    assert outcome["failure"]["kind"] == "credentials"


def test_a_namespace_without_clusters_has_none(management: Path) -> None:
    outcome = info(management, None, namespace="elsewhere")
    assert (outcome["hosted_clusters"], outcome["summary"], outcome.failed) == ([], {}, False)


def test_a_name_that_is_not_there_is_no_failure(management: Path) -> None:
    assert info(management, None, name="nobody")["hosted_clusters"] == []


@pytest.mark.parametrize("option", ["name", "namespace", "system_id", "node"])
def test_an_empty_option_is_not_taken_for_any(management: Path, option: str) -> None:
    outcome = info(management, None, **{option: ""})
    assert outcome.msg == f"{option} must not be empty. Leave out what is not to be set."


def test_a_cluster_without_hypershift_is_said_to_be_one(programs: Programs, tmp_path: Path) -> None:
    with api_server(programs, tmp_path) as api:
        outcome = info(tmp_path / "kubeconfig", None)
        assert outcome["failure"]["kind"] == "unsupported"
        assert outcome.msg.startswith(
            f"The cluster at {api.server} does not know HostedClusters: the HyperShift operator"
        )
        assert "metalshift.maas.hypershift_operator" in outcome.msg


def test_a_tree_is_plain_json(management: Path, sim: Simulator) -> None:
    json.dumps(info(management, sim, name="c00", gather=["all"]).result)


@pytest.mark.parametrize(
    ("module", "options", "says"),
    [
        ("hosted_cluster_info", {"gather": ["gossip"]}, "value of gather must be one or more of: all, machines, maas"),
        ("hosted_cluster_info", {"node": "a", "system_id": "b"}, "mutually exclusive: system_id|node"),
        ("hosted_cluster_info", {"nmae": "demo"}, "unknown option nmae"),
        ("hosted_cluster_diagnosis_info", {}, "missing required arguments: name"),
        ("hosted_cluster_diagnosis_info", {"name": ""}, "name must not be empty."),
        ("hosted_cluster_diagnosis_info", {"name": "c00", "namespace": ""}, "namespace must not be empty."),
        (
            "hosted_cluster_diagnosis_info",
            {"name": "c00", "kubeconfig": "/nowhere"},
            "There is no kubeconfig at /nowhere.",
        ),
    ],
)
def test_wrong_input_is_one_sentence(management: Path, module: str, options: dict[str, Any], says: str) -> None:
    outcome = run_task(None, module, {"kubeconfig": str(management), **options}, connect=False)
    assert says in outcome.msg
    assert outcome["failure"]["kind"] == "invalid"


def test_check_mode_makes_no_difference(management: Path, sim: Simulator) -> None:
    for module in ("hosted_cluster_info", "hosted_cluster_diagnosis_info"):
        args = {"kubeconfig": str(management), "name": "c07"}
        dry, wet = (run_task(sim, module, args, check=check) for check in (True, False))
        assert all("GET " in line for line in (*dry.screen.traced, *wet.screen.traced))
        assert dry["summary"] == wet["summary"]
