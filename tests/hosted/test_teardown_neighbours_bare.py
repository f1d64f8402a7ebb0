# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removals beside others: a second node pool, a second cluster, and a second name with the same namespace.

Kubernetes' own controllers run, so that namespaces end; HyperShift, Cluster API and the provider do not.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hosted.cases import CLUSTER
from hosted.stopped import CONFIG_MAPS, OF_CLUSTER, Stopped, left, objects, remove, sweep
from integration.arranging import client
from integration.harness import run_task
from metalshift_lab.kube.api import HOSTED_CLUSTERS, MAAS_MACHINES, MACHINES, NAMESPACES, NODE_POOLS, Api
from metalshift_lab.kube.bare import api_server
from metalshift_lab.programs import Programs
from metalshift_lab.simulator import Simulator

# `clusters/prod-x` and `clusters-prod/x`: their control planes have one namespace.
LIVE, MISSPELT, PLACE = ("clusters", "prod-x"), ("clusters-prod", "x"), "clusters-prod-x"
PAUSED = "cluster.x-k8s.io/paused"
KEEPS = "hypershift.openshift.io/skip-delete-hosted-controlplane-namespace"
WORKERS = ("MaasMachine", "Machine", "MachineSet", "MachineDeployment")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("management")


@pytest.fixture(scope="module")
def server(programs: Programs, folder: Path) -> Iterator[Api]:
    with api_server(programs, folder, kinds=True, controllers=True) as api:
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


def note(api: Api, namespace: str, owner: str) -> None:
    """Something that HyperShift's operator makes, with its owner on it."""
    metadata = {"name": "of-hypershift", "namespace": namespace, "annotations": {OF_CLUSTER: owner}}
    api.create(CONFIG_MAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})


def until_gone(api: Api, namespace: str) -> None:
    deadline = time.monotonic() + 60
    while api.get(NAMESPACES, namespace) is not None:
        assert time.monotonic() < deadline, f"{namespace} is still there"
        time.sleep(0.2)


# -- two names, one namespace ------------------------------------------------------------------------------------


@pytest.fixture
def live(api: Api, sim: Simulator) -> Stopped:
    """The live one of the two, with a machine that nothing in MAAS says is its own."""
    Stopped(api, *MISSPELT).namespaces()
    return Stopped(api, *LIVE).namespaces().create(sim.machine("n1", status="Deployed"))


@pytest.mark.parametrize("force", [False, True])
def test_who_misspells_a_cluster_takes_nothing_from_the_one_that_lives(
    api: Api, sim: Simulator, folder: Path, live: Stopped, force: bool
) -> None:
    before = objects(api)
    done = remove(folder, sim, namespace="clusters-prod", name="x", force=force)
    assert objects(api) == before
    assert not any(before.values())
    assert "deletionTimestamp" not in (api.get(NAMESPACES, PLACE) or {})["metadata"]
    assert sim.find("n1").status.name == "DEPLOYED"
    assert (done.failed, done.changed, done["machines"]) == (False, False, [])
    assert done["warnings"] == [
        "There is no hosted cluster clusters-prod/x. Namespace clusters-prod-x is left as it is: it is that of hosted "
        "cluster clusters/prod-x."
    ]


def test_check_mode_says_that_nothing_would_go(api: Api, sim: Simulator, folder: Path, live: Stopped) -> None:
    foreseen = remove(folder, sim, namespace="clusters-prod", name="x", check=True)
    assert (foreseen.changed, foreseen["diff"]) == (False, [])
    assert "it is that of hosted cluster clusters/prod-x" in foreseen["warnings"][0]


def test_a_pool_of_the_other_name_stays(api: Api, sim: Simulator, folder: Path, live: Stopped) -> None:
    before = objects(api)
    done = remove(folder, sim, "node_pool", namespace="clusters-prod", name="x", force=True)
    assert (done.failed, done.changed) == (False, False)
    assert objects(api) == before


def test_nobody_calls_what_lives_a_leak(api: Api, sim: Simulator, folder: Path, live: Stopped) -> None:
    args = {"kubeconfig": str(folder / "kubeconfig"), "namespace": "clusters-prod", "name": "x"}
    audit = run_task(sim, "hosted_cluster_audit_info", args)
    assert [one for one in audit["leaks"] if one["verdict"] != "kept"] == []
    (kept,) = [one for one in audit["leaks"] if one["kind"] == "namespace"]
    assert kept["reason"] == "it is that of hosted cluster clusters/prod-x"
    page = run_task(sim, "hosted_cluster_diagnosis_info", args)["page"]
    assert "There is no HostedCluster clusters-prod/x, and nothing that one has left." in " ".join(page.split())
    assert "Delete it" not in page


def test_nobody_takes_its_machines_for_those_of_the_other_name(
    api: Api, sim: Simulator, folder: Path, live: Stopped
) -> None:
    """Where nobody says which cluster it is, it is told by what it looks after."""
    args = {"kubeconfig": str(folder / "kubeconfig"), "namespace": "clusters-prod", "name": "x"}
    told = run_task(sim, "hosted_cluster_info", {**args, "gather": ["machines"]})
    assert told["hosted_clusters"] == []
    assert run_task(sim, "node_csr", args)["failure"]["kind"] == "not_found"
    Stopped(api, *MISSPELT).create(pool="other")
    everything = run_task(sim, "hosted_cluster_info", {"kubeconfig": args["kubeconfig"], "gather": ["machines"]})
    found = {
        f"{one['namespace']}/{one['name']}": [
            each["name"]
            for each in (*one["other_machines"], *(m for pool in one["node_pools"] for m in pool["machines"]))
        ]
        for one in everything["hosted_clusters"]
    }
    assert found == {"clusters/prod-x": ["np-s-n1"], "clusters-prod/x": []}


def test_two_that_live_in_one_namespace_are_not_taken_down_together(
    api: Api, sim: Simulator, folder: Path, live: Stopped
) -> None:
    """HyperShift itself would delete the namespace of both."""
    Stopped(api, *MISSPELT).create(pool="other")
    before = objects(api)
    refused = remove(folder, sim, namespace="clusters-prod", name="x", force=True)
    assert refused["failure"]["kind"] == "conflict"
    assert "hosted cluster clusters/prod-x are in one namespace, clusters-prod-x" in refused.msg
    assert objects(api) == before


def test_of_two_that_live_in_one_namespace_one_goes_without_it(
    api: Api, sim: Simulator, folder: Path, live: Stopped
) -> None:
    """What the refusal advises: HyperShift leaves the namespace, and so do we."""
    before = objects(api)
    Stopped(api, *MISSPELT).create(sim.machine("n9", status="Deployed"), pool="other")
    api.patch(HOSTED_CLUSTERS, "x", "clusters-prod", {"metadata": {"annotations": {KEEPS: "true"}}})
    done = remove(folder, sim, namespace="clusters-prod", name="x", force=True)
    assert not done.failed, done.msg
    assert objects(api) == before
    assert "deletionTimestamp" not in (api.get(NAMESPACES, PLACE) or {})["metadata"]
    assert {name: sim.find(name).status.name for name in ("n1", "n9")} == {"n1": "DEPLOYED", "n9": "READY"}


def test_a_second_one_in_its_namespace_is_refused_before_it_is_created(
    api: Api, sim: Simulator, folder: Path, live: Stopped
) -> None:
    args = {**CLUSTER, "kubeconfig": str(folder / "kubeconfig"), "namespace": "clusters-prod", "name": "x"}
    refused = run_task(sim, "hosted_cluster", args)
    assert refused["failure"]["kind"] == "conflict"
    assert "would be in namespace clusters-prod-x, which is that of hosted cluster clusters/prod-x" in refused.msg
    assert api.list(HOSTED_CLUSTERS, "clusters-prod") == []
    looked = {"checks": ["namespace"], "kubeconfig": args["kubeconfig"], "namespace": "clusters-prod", "name": "x"}
    assert (
        "the namespace of hosted cluster clusters/prod-x" in run_task(sim, "hosted_cluster_preflight_info", looked).msg
    )


# -- what a cluster has left ------------------------------------------------------------------------------------


def test_what_is_left_of_a_cluster_goes_with_its_namespace(api: Api, sim: Simulator, folder: Path) -> None:
    """As after a force that was killed: the HostedCluster is gone, and the rest is there."""
    machine = sim.machine("n2", status="Deployed", annotations={"metalshift_cluster": "clusters/torn"})
    torn = Stopped(api, name="torn").namespaces()
    torn.create(machine)
    api.patch(HOSTED_CLUSTERS, "torn", "clusters", {"metadata": {"finalizers": None}})
    api.delete(HOSTED_CLUSTERS, "torn", "clusters")
    foreseen = remove(folder, sim, name="torn", check=True)
    kinds = [entry["before_header"].split(" ")[0] for entry in foreseen["diff"]]
    assert kinds[0] == "NodePool"
    done = remove(folder, sim, name="torn", force=True, stall_timeout=2)
    assert not done.failed, done.msg
    assert left(api, "clusters", "clusters-torn") == []
    assert api.get(NAMESPACES, "clusters-torn") is None
    assert sim.find("n2").status.name == "READY"


def test_a_namespace_that_was_left_over_is_removed(api: Api, sim: Simulator, folder: Path) -> None:
    Stopped(api, name="gone").namespaces()
    note(api, "clusters-gone", "clusters/gone")
    foreseen = remove(folder, sim, name="gone", check=True)
    (entry,) = foreseen["diff"]
    assert entry["after_header"] == "Namespace clusters-gone (delete: it was left over)"
    assert entry["before"] != entry["after"]
    assert api.get(NAMESPACES, "clusters-gone") is not None
    done = remove(folder, sim, name="gone", stall_timeout=40)
    assert (done.failed, done.changed) == (False, True), done.msg
    assert api.get(NAMESPACES, "clusters-gone") is None
    again = remove(folder, sim, name="gone")
    assert (again.failed, again.changed, again.result.get("warnings", [])) == (False, False, [])


@pytest.mark.parametrize(
    ("owner", "why"),
    [
        ("", "nothing in it says whose it was"),
        ("clusters-who/knows", "what is in it is of hosted cluster clusters-who/knows"),
    ],
)
def test_a_namespace_that_may_be_somebody_elses_stays(
    api: Api, sim: Simulator, folder: Path, owner: str, why: str
) -> None:
    Stopped(api, name="who-knows").namespaces()
    if owner:
        note(api, "clusters-who-knows", owner)
    done = remove(folder, sim, name="who-knows", force=True)
    assert (done.failed, done.changed) == (False, False)
    assert done["warnings"][0].endswith(f"Namespace clusters-who-knows is left as it is: {why}.")
    assert "deletionTimestamp" not in (api.get(NAMESPACES, "clusters-who-knows") or {})["metadata"]


def test_a_namespace_that_hypershift_did_not_make_stays(api: Api, sim: Simulator, folder: Path) -> None:
    by_hand = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "clusters-by-hand"}}
    api.create(NAMESPACES, by_hand)
    Stopped(api, name="by-hand").namespaces()
    note(api, "clusters-by-hand", "clusters/by-hand")
    done = remove(folder, sim, name="by-hand", force=True)
    assert (done.failed, done.changed) == (False, False)
    assert done["warnings"][0].endswith("Namespace clusters-by-hand is left as it is: HyperShift did not make it.")
    assert "deletionTimestamp" not in (api.get(NAMESPACES, "clusters-by-hand") or {})["metadata"]


def test_a_namespace_that_is_to_be_kept_is_kept(api: Api, sim: Simulator, folder: Path) -> None:
    Stopped(api, name="kept").namespaces().create(pool="")
    api.patch(HOSTED_CLUSTERS, "kept", "clusters", {"metadata": {"annotations": {KEEPS: "true"}}})
    done = remove(folder, sim, name="kept", force=True)
    assert not done.failed, done.msg
    assert left(api, "clusters", "clusters-kept") == []
    assert "deletionTimestamp" not in (api.get(NAMESPACES, "clusters-kept") or {})["metadata"]


# -- neighbours --------------------------------------------------------------------------------------------------


def two_pools(api: Api, sim: Simulator) -> Stopped:
    shop = Stopped(api).namespaces().create(sim.machine("n1", status="Deployed"))
    return shop.node_pool("second", sim.machine("n2", status="Deployed"))


def bank(api: Api, sim: Simulator) -> Stopped:
    """A second cluster in the namespace, with a pool that is called otherwise."""
    return Stopped(api, name="bank").namespaces().create(sim.machine("n3", status="Deployed"), pool="vault")


@pytest.mark.parametrize("force", [False, True])
def test_one_of_two_pools_goes(api: Api, sim: Simulator, folder: Path, force: bool) -> None:
    shop = two_pools(api, sim)
    others = objects(api, bank(api, sim).place)
    done = remove(folder, sim, "node_pool", force=force, drain=False)
    assert done.failed is not force
    there = objects(api, "clusters", shop.place)
    assert {name: going for name, going in there.items() if "second" in name or "vault" in name} == {
        "NodePool second": False,
        "NodePool vault": False,
        "MachineDeployment second": False,
        "MachineSet second-s": False,
        "Machine second-s-n2": False,
        "MaasMachine second-s-n2": False,
    }
    assert objects(api, "clusters-bank") == others
    assert {name: sim.find(name).status.name for name in ("n2", "n3")} == {"n2": "DEPLOYED", "n3": "DEPLOYED"}
    assert sim.find("n1").status.name == ("READY" if force else "DEPLOYED")


def test_a_pool_that_goes_erases_no_machine_of_another(api: Api, sim: Simulator, folder: Path) -> None:
    """Both are remembered, as after a run that was to erase what leaves the cluster."""
    two_pools(api, sim)
    tag, ids = "metalshift-erase_clusters_shop", [sim.find(name).system_id for name in ("n1", "n2")]
    client(sim).post("tags/", {"name": tag})
    client(sim).post(f"tags/{tag}/", [("add", system_id) for system_id in ids], op="update_nodes")
    done = remove(folder, sim, "node_pool", force=True, drain=False, erase=True)
    assert not done.failed, done.msg
    assert [(one["hostname"], one["outcome"]) for one in done["machines"]] == [("n1", "erased")]
    assert (sim.find("n2").status.name, [one.name for one in sim.find("n2").tags]) == ("DEPLOYED", [tag])


@pytest.mark.parametrize("force", [False, True])
def test_one_of_two_clusters_goes(api: Api, sim: Simulator, folder: Path, force: bool) -> None:
    two_pools(api, sim)
    others = objects(api, bank(api, sim).place)
    done = remove(folder, sim, force=force)
    assert done.failed is not force
    there = objects(api, "clusters")
    assert (there["NodePool vault"], there["HostedCluster bank"]) == (False, False)
    assert objects(api, "clusters-bank") == others
    assert api.get(NAMESPACES, "clusters-bank") is not None
    assert sim.find("n3").status.name == "DEPLOYED"
    if force:
        assert sorted(there) == ["HostedCluster bank", "NodePool vault"]
        assert {sim.find(name).status.name for name in ("n1", "n2")} == {"READY"}


def test_the_parts_of_a_pool_that_is_gone_are_not_those_of_another(api: Api, sim: Simulator, folder: Path) -> None:
    """The NodePool was removed by hand; what Cluster API had of it stays."""
    two_pools(api, sim)
    api.patch(*_named(api, "np"), {"metadata": {"finalizers": None}})
    api.delete(*_named(api, "np"))
    done = remove(folder, sim, "node_pool", force=True)
    assert not done.failed, done.msg
    there = objects(api, "clusters-shop")
    assert [name for name in there if name.startswith(WORKERS)] == [
        "MaasMachine second-s-n2",
        "Machine second-s-n2",
        "MachineSet second-s",
        "MachineDeployment second",
    ]
    assert not any(there.values())


def _named(api: Api, pool: str) -> tuple[Any, str, str]:
    return NODE_POOLS, pool, "clusters"


def test_everybody_ends_a_pause_of_their_own(api: Api, sim: Simulator, folder: Path) -> None:
    machines = {name: sim.machine(name, status="Deployed") for name in ("n1", "n2", "n3")}
    shop = Stopped(api).namespaces().create(*machines.values())
    way = {"kubeconfig": str(folder / "kubeconfig")}

    def pause(name: str, *hosts: str) -> None:
        ids = {"system_ids": [machines[host].system_id for host in hosts]} if hosts else {"state": "absent"}
        done = run_task(None, "cluster_api_pause", {**way, "name": name, **ids})
        assert not done.failed, done.msg

    def paused() -> set[str]:
        return {
            body["metadata"]["name"].rpartition("-")[2]
            for resource in (MAAS_MACHINES, MACHINES)
            for body in api.list(resource, shop.place)
            if PAUSED in body["metadata"].get("annotations", {})
        }

    api.patch(MAAS_MACHINES, "np-s-n3", shop.place, {"metadata": {"annotations": {PAUSED: "true"}}})
    pause("kvm1", "n1")
    pause("kvm2", "n2")
    assert paused() == {"n1", "n2", "n3"}
    pause("kvm1")
    assert paused() == {"n2", "n3"}
    pause("kvm2")
    assert paused() == {"n3"}
