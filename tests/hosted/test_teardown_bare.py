# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removals where nobody is left who would do anything: an API server with the operators' kinds, and a simulated MAAS.

Everything hangs here, at every finalizer that the real operators set, so force has it all to do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion import kubernetes
from hosted.stopped import HASTE, LADDER, Stopped, left, remove, sweep
from integration.harness import Outcome, run_task
from metalshift_lab.kube.api import CLUSTERS, HOSTED_CLUSTERS, MAAS_MACHINES, NAMESPACES, NODE_POOLS, SECRETS, Api
from metalshift_lab.kube.bare import api_server
from metalshift_lab.programs import Programs
from metalshift_lab.simulator import Simulator
from metalshift_lab.simulator.model import Machine

PLACE = "clusters-shop"
PAUSED, GIVEN_UP, NOT_OURS = "cluster.x-k8s.io/paused", "metalshift.maas/given-up", "metalshift.maas/not-ours"
MARK = {"metalshift_cluster": "clusters/shop", "metalshift_node_pool": "np"}
OURS = {"app.kubernetes.io/managed-by": "metalshift.maas", "metalshift.maas/hosted-cluster": "shop"}
# As -vvv shows a request, after the name of the module.
METHOD = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE)\b")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("management")


@pytest.fixture(scope="module")
def api(programs: Programs, folder: Path) -> Iterator[Api]:
    with api_server(programs, folder, kinds=True) as server:
        for name in ("clusters", PLACE):
            server.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        yield server


@pytest.fixture
def sim(api: Api) -> Iterator[Simulator]:
    with Simulator() as simulator:
        simulator.auto(0.01)
        yield simulator
    sweep(api)


def cluster(api: Api, *machines: Machine, **of_pool: Any) -> None:
    """The hosted cluster `shop` with these machines."""
    Stopped(api).create(*machines, **of_pool)


def test_force_takes_everything_away_and_gives_the_machines_back(api: Api, sim: Simulator, folder: Path) -> None:
    machine = sim.machine("n1", status="Deployed")
    cluster(api, machine)
    hangs = remove(folder, sim)
    assert hangs["failure"]["kind"] == "failed_state"
    assert "the HyperShift operator should do it, and Deployment hypershift/operator does not exist." in hangs.msg
    assert left(api) == list(LADDER)

    done = remove(folder, sim, force=True)
    assert not done.failed, done.msg
    assert left(api) == []
    assert [(one["hostname"], one["outcome"]) for one in done["machines"]] == [("n1", "ready")]
    assert sim.find("n1").status.name == "READY"
    removed = [line for line in done["forced"] if line.endswith("removed")]
    assert [line.split(" ")[0] for line in removed][:4] == ["MaasMachine", "Machine", "MachineSet", "MachineDeployment"]
    assert removed[-1] == "HostedCluster clusters/shop: hypershift.openshift.io/finalizer removed"
    again = remove(folder, sim)
    assert (again.failed, again.changed) == (False, False)


def test_a_run_that_was_killed_after_the_objects_went_leaves_the_mark(api: Api, sim: Simulator, folder: Path) -> None:
    """Nothing in Kubernetes names the machine any more: its mark in MAAS does."""
    sim.machine("n1", status="Deployed", annotations=MARK)
    told = remove(folder, sim)
    assert told["failure"]["kind"] == "failed_state"
    assert "it is still Deployed" in told.msg
    assert "force: true" in told["failure"]["hint"]
    assert sim.find("n1").status.name == "DEPLOYED"
    done = remove(folder, sim, force=True)
    assert not done.failed, done.msg
    assert sim.find("n1").status.name == "READY"


def test_force_waits_once_for_who_does_not_run(
    api: Api, sim: Simulator, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pool hangs first and the rest of the cluster then, both at programs that are not there."""
    monkeypatch.setattr(kubernetes, "AFTER_FORCE", 0.2)
    cluster(api, sim.machine("n1", status="Deployed"))
    done = remove(folder, sim, force=True, stall_timeout=25, wait_timeout=57)
    assert not done.failed, done.msg
    assert left(api) == []


def test_a_force_that_comes_to_its_time_names_the_machines_that_are_held(
    api: Api, sim: Simulator, folder: Path
) -> None:
    machine = sim.machine("n1", status="Deployed")
    cluster(api, machine)
    late = remove(folder, sim, force=True, stall_timeout=1, wait_timeout=4)
    assert late["failure"]["kind"] == "timeout"
    assert f"Not given back yet: machine n1 ({machine.system_id}) (it is still Deployed)." in late.msg
    assert late["failure"]["hint"].startswith("Run the task again to continue from here")
    done = remove(folder, sim, force=True)
    assert not done.failed, done.msg
    assert sim.find("n1").status.name == "READY"


def test_a_release_that_failed_is_asked_for_once_more(api: Api, sim: Simulator, folder: Path) -> None:
    """Nothing in Kubernetes names the machine any more, and MAAS tries nothing again by itself."""
    machine = sim.machine("n1", status="Failed releasing", annotations=MARK)
    # One that is off is free at once.
    machine.power_state = "on"
    fault = sim.fault("machine", hostname="n1", action="release", times=-1)
    broken = remove(folder, sim)
    assert broken["failure"]["kind"] == "failed_state"
    assert "it was released once more, and it is in Releasing failed" in broken.msg
    assert broken["failure"]["hint"] == "Look at its events in MAAS, then run the task again."
    assert [entry.op for entry in sim.requests.writes()] == ["release"]
    sim.heal(fault)
    foreseen = remove(folder, sim, check=True)
    assert [entry["after_header"].partition(":")[0] for entry in foreseen["diff"]] == [
        f"machine n1 ({machine.system_id}) (release"
    ]
    done = remove(folder, sim)
    assert (done.failed, done.changed) == (False, True), done.msg
    assert [(one["hostname"], one["outcome"]) for one in done["machines"]] == [("n1", "ready")]
    assert machine.status.name == "READY"


def test_disks_that_were_not_erased_are_not_given_away_without_force(api: Api, sim: Simulator, folder: Path) -> None:
    machine = sim.machine("n1", status="Failed disk erasing", annotations=MARK)
    told = remove(folder, sim)
    assert told["failure"]["kind"] == "failed_state"
    assert "Set force: true" in told["failure"]["hint"]
    assert machine.status.name == "FAILED_DISK_ERASING"


@pytest.mark.parametrize(
    ("machine", "reason"),
    [
        ({"annotations": {"metalshift_claim": "web"}}, "the claim web holds it"),
        (
            {"annotations": {"metalshift_cluster": "clusters/bank"}},
            "marked as a machine of hosted cluster clusters/bank",
        ),
        # Nothing proves whose it is by now.
        ({"zone": "az2"}, "it is in zone az2, and the provider took it from default"),
    ],
)
def test_a_stale_provider_id_never_costs_anybody_a_machine(
    api: Api, sim: Simulator, folder: Path, machine: dict[str, Any], reason: str
) -> None:
    foreign = sim.machine("w1", status="Deployed", **machine)
    own = sim.machine("n1", status="Deployed", annotations=MARK)
    cluster(api, own, foreign)
    before = len(sim.requests)
    refused = remove(folder, sim)
    assert refused["failure"]["kind"] == "claimed"
    assert reason in refused.msg
    assert all("POST" not in str(request) for request in list(sim.requests)[before:])
    assert all("deletionTimestamp" not in body["metadata"] for body in api.list(NODE_POOLS))

    done = remove(folder, sim, force=True)
    assert not done.failed, done.msg
    assert {one["hostname"]: one["outcome"] for one in done["machines"]} == {"n1": "ready", "w1": "left_alone"}
    assert (sim.find("w1").status.name, sim.find("n1").status.name) == ("DEPLOYED", "READY")
    assert left(api) == []


def test_what_was_paused_for_a_machine_of_others_is_paused_again(api: Api, sim: Simulator, folder: Path) -> None:
    """Somebody has continued it since, and has left the note."""
    foreign = sim.machine("w1", status="Deployed", annotations={"metalshift_claim": "storage"})
    cluster(api, foreign)
    api.patch(MAAS_MACHINES, "np-s-w1", PLACE, {"metadata": {"annotations": {NOT_OURS: foreign.system_id}}})
    asked = remove(folder, sim, force=True, wait=False)
    assert not asked.failed, asked.msg
    (body,) = api.list(MAAS_MACHINES)
    assert body["metadata"]["annotations"].items() >= {PAUSED: "true", NOT_OURS: foreign.system_id}.items()


@pytest.mark.parametrize(
    ("note", "provider_id"),
    [
        ({GIVEN_UP: "MachineDeployFailed"}, None),
        ({NOT_OURS: "abc123"}, "maas:///default/{}"),
        ({}, "maas:///default/{}"),
    ],
    ids=["given up", "corrected since", "by hand"],
)
def test_what_is_continued_to_go_names_only_a_machine_that_it_has(
    api: Api, sim: Simulator, folder: Path, note: dict[str, str], provider_id: str | None
) -> None:
    """Of one that was given up, the provider has given the machine back, and anybody may have it by now."""
    machine = sim.machine("n1", status="Ready" if provider_id is None else "Deployed", annotations={})
    cluster(api, machine)
    api.patch(MAAS_MACHINES, "np-s-n1", PLACE, {"metadata": {"annotations": {PAUSED: "true", **note}}})
    remove(folder, sim)
    (body,) = api.list(MAAS_MACHINES)
    assert PAUSED not in body["metadata"]["annotations"]
    assert body["metadata"]["finalizers"]
    assert body["spec"].get("providerID") == (provider_id and provider_id.format(machine.system_id))


def test_a_paused_cluster_keeps_its_pool(api: Api, sim: Simulator, folder: Path) -> None:
    cluster(api)
    api.patch(CLUSTERS, "shop-x1", PLACE, {"spec": {"paused": True}})
    refused = remove(folder, sim, "node_pool")
    assert refused["failure"]["kind"] == "conflict"
    assert "Continue it first, with hosted_cluster and paused: false." in refused.msg
    done = remove(folder, sim, force=True)
    assert not done.failed, done.msg
    assert left(api) == []


def test_one_pool_goes_and_the_cluster_stays(api: Api, sim: Simulator, folder: Path) -> None:
    cluster(api, sim.machine("n1", status="Deployed"))
    done = remove(folder, sim, "node_pool", force=True, drain=False)
    assert not done.failed, done.msg
    assert left(api) == ["MaasCluster", "Cluster", "HostedCluster"]
    assert sim.find("n1").status.name == "READY"


def test_check_mode_says_what_would_be_done_and_writes_nothing(api: Api, sim: Simulator, folder: Path) -> None:
    cluster(api, sim.machine("n1", status="Deployed"))
    args = {"kubeconfig": str(folder / "kubeconfig"), "state": "absent", "name": "shop", **HASTE}
    foreseen = run_task(sim, "hosted_cluster", args, check=True)
    assert foreseen.changed
    shown = [entry["after_header"].partition(":")[0] for entry in foreseen["diff"]]
    assert shown == ["NodePool clusters/np (delete)", "HostedCluster clusters/shop (delete)"] + [
        line for line in shown if line.startswith("machine n1")
    ]
    assert left(api) == list(LADDER)
    assert all("deletionTimestamp" not in body["metadata"] for body in api.list(HOSTED_CLUSTERS))
    asked = [method for line in foreseen.screen.traced if (method := METHOD.search(line))]
    assert {method.group() for method in asked} == {"GET"}
    assert sim.find("n1").annotations == {}


def test_only_what_was_made_for_the_cluster_goes_with_it(api: Api, sim: Simulator, folder: Path) -> None:
    for name, labels in (("shop-ssh-key", OURS), ("shop-maas-credentials", OURS), ("shop-pull-secret", {})):
        body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": "clusters"}}
        body["metadata"]["labels"] = labels  # type: ignore[index]
        api.create(SECRETS, body)
    # HyperShift gives its own the labels of the cluster; they go with their owner.
    owner = {"apiVersion": HOSTED_CLUSTERS.api, "kind": "HostedCluster", "name": "shop", "uid": "1"}
    metadata = {"name": "shop-admin-kubeconfig", "namespace": "clusters", "labels": OURS, "ownerReferences": [owner]}
    api.create(SECRETS, {"apiVersion": "v1", "kind": "Secret", "metadata": metadata})
    done = remove(folder, sim)
    assert done["removed"] == ["Secret clusters/shop-ssh-key"]
    done = remove(folder, sim, remove_credentials=True)
    assert done["removed"] == ["Secret clusters/shop-maas-credentials"]
    stays = ["shop-admin-kubeconfig", "shop-pull-secret"]
    assert [body["metadata"]["name"] for body in api.list(SECRETS, "clusters")] == stays
    for name in stays:
        api.delete(SECRETS, name, "clusters")


def test_a_removal_erases_what_it_gives_back(api: Api, sim: Simulator, folder: Path) -> None:
    cluster(api, sim.machine("n1", status="Deployed"))
    done = remove(folder, sim, force=True, erase=True)
    assert not done.failed, done.msg
    assert [(one["hostname"], one["outcome"]) for one in done["machines"]] == [("n1", "erased")]
    releases = [str(request) for request in sim.requests if "release" in str(request)]
    assert len(releases) == 2
    assert sim.find("n1").status.name == "READY"


def erase(sim: Simulator, *names: str, **words: Any) -> Outcome:
    return run_task(sim, "disk_erasure", {"machines": list(names), "wait_sleep": 0.1, "wait_timeout": 20, **words})


def test_who_was_faster_keeps_the_machine(sim: Simulator) -> None:
    sim.machine("n1")
    sim.machine("n2", status="Deployed", annotations={"metalshift_claim": "web"})
    done = erase(sim, "n1", "n2")
    assert not done.failed, done.msg
    assert [one["outcome"] for one in done["machines"]] == ["erased", "taken"]
    assert done["machines"][1]["reason"] == (
        "claim web has taken it meanwhile (it is Deployed), so its disks were not erased"
    )
    assert done["warnings"] == [
        f"machine n2 ({sim.find('n2').system_id}) was not erased: {done['machines'][1]['reason']}."
    ]
    assert (sim.find("n1").status.name, sim.find("n2").status.name) == ("READY", "DEPLOYED")


def test_a_killed_erasure_is_ended_by_the_next(sim: Simulator) -> None:
    """It was allocated under the claim, and its release was never sent."""
    sim.machine("n1", status="Allocated", agent_name="erase", annotations={"metalshift_claim": "erase"})
    sim.machine("n2")
    done = erase(sim, "n2")
    assert not done.failed, done.msg
    assert [(one["hostname"], one["outcome"]) for one in done["machines"]] == [("n1", "erased"), ("n2", "erased")]
    assert sim.find("n1").status.name == "READY"


@pytest.mark.parametrize("status", ["Failed releasing", "Failed disk erasing"])
def test_what_maas_could_not_end_is_nobodys_and_stays_remembered(sim: Simulator, status: str) -> None:
    machine = sim.machine("n1", status=status)
    done = erase(sim, "n1")
    assert done["failure"]["kind"] == "failed_state"
    (one,) = done["machines"]
    assert one["outcome"] == "failed"
    assert one["reason"].endswith("and its disks may still hold data")
    assert "taken" not in one["reason"]
    assert [tag.name for tag in machine.tags] == ["metalshift-erase"]


def test_the_machines_of_a_pool_are_remembered_before_it_is_changed(api: Api, sim: Simulator, folder: Path) -> None:
    """Nobody waits for the machine that leaves, as after a kill: whoever erases next comes to it."""
    cluster(api, sim.machine("n1", status="Deployed"), sim.machine("n2", status="Deployed"))
    args = {"kubeconfig": str(folder / "kubeconfig"), "name": "np", "erase": True, "wait": False}
    args["node_drain_timeout"] = "5m"
    sim.fault(path="tags/", method="POST", status=403)
    assert run_task(sim, "node_pool", args).failed
    (pool,) = api.list(NODE_POOLS)
    assert "nodeDrainTimeout" not in pool["spec"]
    begun = run_task(sim, "node_pool", args)
    assert not begun.failed, begun.msg
    known = {name: {tag.name for tag in sim.find(name).tags} for name in ("n1", "n2")}
    assert known == {name: {"metalshift-erase_clusters_shop"} for name in ("n1", "n2")}
    assert sim.find("n1").annotations["metalshift_cluster"] == "clusters/shop"
    for resource, _finalizer in (LADDER["Machine"], LADDER["MaasMachine"]):
        api.patch(resource, "np-s-n1", PLACE, {"metadata": {"finalizers": None}})
        api.delete(resource, "np-s-n1", PLACE)
    run_task(sim, "machine", {"machines": ["n1"], "state": "ready", "take_over": True, "wait_sleep": 0.1})
    foreseen = run_task(sim, "node_pool", {**args}, check=True)
    assert [entry["after_header"] for entry in foreseen["diff"]] == ["n1 (erase: an earlier run did not come to it)"]
    since = len(sim.requests)
    done = remove(folder, sim, force=True, erase=True)
    assert not done.failed, done.msg
    assert {one["hostname"]: one["outcome"] for one in done["machines"]} == {"n1": "erased", "n2": "erased"}
    erased = [entry.path for entry in list(sim.requests)[since:] if entry.params.get("erase") == ["true"]]
    assert sorted(erased) == sorted(f"/MAAS/api/2.0/machines/{sim.find(name).system_id}/" for name in ("n1", "n2"))
