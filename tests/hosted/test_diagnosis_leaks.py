# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each thing that a hosted cluster and its provider can leave behind, made as they leave it, and told by a diagnosis.

An API server with the operators' kinds and a simulated MAAS are enough: leaks are what nobody looks after.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.connection import ApiKey, MaasConnection
from integration.harness import run_task
from metalshift_lab.kube import examples
from metalshift_lab.kube.api import HOSTED_CLUSTERS, MAAS_MACHINES, NAMESPACES, Api
from metalshift_lab.kube.bare import api_server
from metalshift_lab.programs import Programs
from metalshift_lab.simulator import Simulator

MINE = {"metalshift_cluster": "clusters/shop"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("management")


@pytest.fixture(scope="module")
def api(programs: Programs, folder: Path) -> Iterator[Api]:
    """With the hosted cluster `shop`, whose one machine is as it should be."""
    with api_server(programs, folder, kinds=True) as server:
        for name in ("clusters", "clusters-shop", "clusters-other"):
            server.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        server.create(HOSTED_CLUSTERS, examples.hosted_cluster("shop", "registry.example/release:4.20.8")[-1])
        yield server


@pytest.fixture
def sim(api: Api) -> Iterator[Simulator]:
    with Simulator() as simulator:
        yield simulator
    for namespace in ("clusters-shop", "clusters-other"):
        for body in api.list(MAAS_MACHINES, namespace):
            api.delete(MAAS_MACHINES, body["metadata"]["name"], namespace)


def names(api: Api, name: str, system_id: str, zone: str = "default", namespace: str = "clusters-shop") -> None:
    """A MaasMachine that names a machine."""
    spec = {"systemID": system_id, "providerID": f"maas:///{zone}/{system_id}", "image": "ubuntu/noble"}
    api.create(
        MAAS_MACHINES,
        {
            "apiVersion": MAAS_MACHINES.api,
            "kind": "MaasMachine",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {**spec, "minCPU": 1, "minMemory": 1024},
        },
    )


def told(folder: Path, sim: Simulator, cluster: str = "shop", **options: Any) -> dict[str, dict[str, Any]]:
    """What a diagnosis says of leaks, by object; not one request of it writes."""
    args = {"kubeconfig": str(folder / "kubeconfig"), "name": cluster, **options}
    outcome = run_task(sim, "hosted_cluster_diagnosis_info", args)
    assert not outcome.failed, outcome.msg
    assert all("GET " in line for line in outcome.screen.traced)
    assert all(one["object"].split(" ")[0] in outcome["page"] for one in outcome["diagnosis"])
    return {one["object"]: one for one in outcome["diagnosis"]}


def test_a_machine_of_the_cluster_is_no_leak(api: Api, sim: Simulator, folder: Path) -> None:
    machine = sim.machine("worker-1", status="Deployed", annotations=MINE)
    names(api, "shop-1", machine.system_id)
    assert not [label for label in told(folder, sim) if "worker-1" in label or "shop-1" in label]


@pytest.mark.parametrize("status", ["Allocated", "Deployed"])
def test_a_machine_that_kubernetes_does_not_know(api: Api, sim: Simulator, folder: Path, status: str) -> None:
    """An allocation whose answer was lost, a finalizer that was removed by force, a provider that gave up."""
    marked = sim.machine("lost-1", status=status, annotations=MINE)
    unmarked = sim.machine("lost-2", status=status)
    found = told(folder, sim)
    assert "no MaasMachine names it" in found[f"lost-1 ({marked.system_id})"]["what"]
    suspect = found[f"lost-2 ({unmarked.system_id})"]
    assert (suspect["turn"], suspect["severity"]) == ("user", "warning")
    assert "no MaasMachine and no claim names it" in suspect["what"]


def test_a_machine_under_a_claim_is_no_leak(api: Api, sim: Simulator, folder: Path) -> None:
    sim.machine("held", status="Deployed", agent_name="web", annotations={"metalshift_claim": "web"})
    assert not [label for label in told(folder, sim) if label.startswith("held")]


def test_a_virtual_machine_that_its_release_has_left(api: Api, sim: Simulator, folder: Path) -> None:
    """It is Ready after its MaasMachine is gone: without its credentials the provider cannot delete it."""
    machine = sim.machine("vm-workers-zj82r-2hf2k-x7c4v")
    found = told(folder, sim, "gone", noted={"node_pool": "workers"})
    assert "cannot delete them without its Secret" in found[f"{machine.hostname} ({machine.system_id})"]["what"]


def test_a_provider_id_that_names_somebody_elses_machine(api: Api, sim: Simulator, folder: Path) -> None:
    """A deployment that failed leaves the name of a machine that was given back, and that others hold by now."""
    claimed = sim.machine("web-1", status="Deployed", agent_name="web", annotations={"metalshift_claim": "web"})
    others = sim.machine("bank-1", status="Deployed", annotations={"metalshift_cluster": "clusters/bank"})
    names(api, "stale-1", claimed.system_id)
    names(api, "stale-2", others.system_id)
    found = told(folder, sim)
    first, second = (found[f"MaasMachine clusters-shop/{name}"] for name in ("stale-1", "stale-2"))
    assert (first["severity"], second["severity"]) == ("error", "error")
    assert f"it names web-1 ({claimed.system_id}), but the claim web holds it" in first["what"]
    assert "MAAS has it marked as a machine of hosted cluster clusters/bank" in second["what"]
    assert "its deletion would release that machine" in first["next_step"]


def test_a_provider_id_whose_zone_does_not_fit(api: Api, sim: Simulator, folder: Path) -> None:
    machine = sim.machine("moved", status="Deployed", zone="az2")
    names(api, "stale-3", machine.system_id, zone="az1")
    said = told(folder, sim)["MaasMachine clusters-shop/stale-3"]
    assert "it is in zone az2, and the provider took it from az1" in said["what"]
    assert said["severity"] == "warning"


def test_two_maas_machines_that_name_one_machine(api: Api, sim: Simulator, folder: Path) -> None:
    machine = sim.machine("shared", status="Deployed", annotations=MINE)
    names(api, "shop-1", machine.system_id)
    names(api, "other-1", machine.system_id, namespace="clusters-other")
    found = told(folder, sim)
    said = found["MaasMachine clusters-other/other-1"]
    assert "it is another cluster's, and names shared" in said["what"]
    assert "which MAAS has marked as this cluster's" in said["what"]
    assert said["severity"] == "error"
    assert "kubectl -n clusters-other annotate maasmachine other-1 cluster.x-k8s.io/paused=true" in said["next_step"]
    assert "MaasMachine clusters-shop/shop-1" not in found


def test_a_machine_of_this_cluster_that_only_another_cluster_names_any_more(
    api: Api, sim: Simulator, folder: Path
) -> None:
    machine = sim.machine("adopted", status="Deployed", annotations=MINE)
    names(api, "other-1", machine.system_id, namespace="clusters-other")
    assert "which MAAS has marked as this cluster's" in told(folder, sim)["MaasMachine clusters-other/other-1"]["what"]


def test_what_two_clusters_name_and_nobody_has_marked_is_suspect(api: Api, sim: Simulator, folder: Path) -> None:
    machine = sim.machine("shared", status="Deployed")
    names(api, "shop-1", machine.system_id)
    names(api, "other-1", machine.system_id, namespace="clusters-other")
    said = told(folder, sim)["MaasMachine clusters-shop/shop-1"]
    assert "MaasMachine clusters-other/other-1 names it as well" in said["what"]
    assert said["severity"] == "warning"


def test_names_and_tags_that_are_never_removed(api: Api, sim: Simulator, folder: Path) -> None:
    client = Client(MaasConnection(base=sim.url, key=ApiKey.parse(sim.api_key)))
    client.post("dnsresources/", {"fqdn": "gone-ab12cd.maas", "ip_addresses": "10.99.0.250"})
    client.post("tags/", {"name": "maas-lxd-wlc-gone-x1"})
    found = told(folder, sim, "gone")
    assert "the MAAS provider makes it and never removes it" in found["gone-ab12cd.maas"]["what"]
    assert "maas-lxd-wlc-gone-x1" in found
    assert not {"gone-ab12cd.maas"} & set(told(folder, sim))


def test_leaks_are_looked_for_only_if_wished(api: Api, sim: Simulator, folder: Path) -> None:
    sim.machine("lost-1", status="Deployed", annotations=MINE)
    assert not [label for label in told(folder, sim, leaks=False) if label.startswith("lost")]
