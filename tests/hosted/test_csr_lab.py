# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates of nodes that join a hosted cluster which the real operators made."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.listing import sight
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.ownership.marks import mark
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.provider_id import system_id_of
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines
from hosted.play import reach, run
from hosted.told import WHO_ASKS
from integration.harness import Outcome, run_task
from metalshift_lab.kube.api import MAAS_MACHINES
from metalshift_lab.kube.handle import Lab
from metalshift_lab.kube.journey import Journey, condition

NAME = "signed"
LIMIT, REST = 300.0, 1.0


@pytest.fixture(scope="module")
def signed(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journey]:
    """A cluster of two machines, of which one says another address than MAAS knows."""
    journey = Journey(lab, NAME, tmp_path_factory.mktemp("kubeconfigs"))
    journey.create(replicas=2)
    journey.until_available(LIMIT)
    yield journey
    lab.heal("other-address")
    journey.delete()
    journey.until_gone(LIMIT)


def look(lab: Lab, **options: Any) -> Outcome:
    time.sleep(REST)
    outcome = run(lab, "node_csr", {"name": NAME, **options})
    assert not outcome.failed, outcome.msg
    return outcome


def task_of(lab: Lab) -> Task:
    return Task({**reach(lab), "maas_validate_certs": True, "maas_timeout": 30.0}, environment={})


def hostnames(journey: Journey) -> list[str]:
    """What MAAS calls the machines that the cluster names."""
    bodies = journey.lab.api.list(MAAS_MACHINES, journey.namespace)
    ids = [one for body in bodies if (one := system_id_of(body))]
    return sorted(machine["hostname"] for machine in Machines(task_of(journey.lab).maas).read(ids).values())


def taken(journey: Journey, number: int) -> list[str]:
    """So many machines, once there are; the operator is made to look at a pool that it has forgotten."""
    found = hostnames(journey)
    if len(found) == number:
        return found
    seen = journey.pool()["metadata"].get("resourceVersion", "")
    journey.lab.kubectl(
        "-n", "clusters", "annotate", "nodepool", journey.name, f"lab.example/touched={seen}", "--overwrite"
    )
    time.sleep(REST)
    return []


def ready(journey: Journey) -> list[str]:
    nodes = journey.nodes()
    return sorted(node["metadata"]["name"] for node in nodes if condition(node, "Ready").get("status") == "True")


def test_before_there_is_a_kubeconfig_that_is_said(lab: Lab) -> None:
    outcome = run(lab, "node_csr", {"name": "never-made"})
    assert outcome["failure"]["kind"] == "not_found"
    assert "There is no hosted cluster clusters/never-made." in outcome.msg


def test_nodes_join_and_a_lie_about_an_address_is_found_out(signed: Journey, lab: Lab) -> None:
    liar, honest = lab.until("both machines are taken", lambda: taken(signed, 2), LIMIT)
    lab.fault("other-address", hostname=f"^{liar}$", address="10.99.250.250")
    approved: list[dict[str, Any]] = []

    def found_out() -> list[dict[str, Any]]:
        outcome = look(lab)
        approved.extend(one for one in outcome["certificate_requests"] if one["approved"])
        return [one for one in outcome["certificate_requests"] if one["reason"] == "address"]

    refused = lab.until("the lie is found out", found_out, LIMIT)
    assert [one["node"].partition(".")[0] for one in refused] == [liar]
    assert "10.99.250.250: not among the addresses in MAAS" in refused[0]["message"]
    assert not refused[0]["passing"]
    told = run(lab, "hosted_cluster_diagnosis_info", {"name": NAME})["diagnosis"]
    steps = {one["next_step"] for one in told if refused[0]["name"] in one["object"]}
    assert steps == {WHO_ASKS}

    def joined() -> bool:
        approved.extend(one for one in look(lab)["certificate_requests"] if one["approved"])
        return {(one["kind"], one["node"].partition(".")[0]) for one in approved} >= {
            ("client", liar),
            ("client", honest),
            ("serving", honest),
        }

    lab.until("the others are approved", joined, LIMIT)
    assert len(ready(signed)) == 2

    lab.heal("other-address")

    def healed() -> bool:
        approved.extend(one for one in look(lab)["certificate_requests"] if one["approved"])
        return ("serving", liar) in {(one["kind"], one["node"].partition(".")[0]) for one in approved}

    lab.until("the healed one is approved", healed, LIMIT)
    signed.until_nodes(2, LIMIT)


def marked(lab: Lab) -> list[str]:
    """The machines in MAAS that are marked as this cluster's."""
    held = Machines(task_of(lab).maas).listed(status="deployed")
    wanted = {"metalshift_cluster": f"clusters/{NAME}", "metalshift_node_pool": NAME}
    return sorted(one["hostname"] for one in held if wanted.items() <= one["workload_annotations"].items())


def test_its_machines_are_marked_guarded_and_forgotten_with_their_release(signed: Journey, lab: Lab) -> None:
    task = task_of(lab)
    found = mark(task, sight(task.kube, "clusters", NAME))
    # Whoever made the cluster may have marked them.
    assert sorted(one["hostname"] for one in found.ours.values()) == hostnames(signed) == marked(lab)
    assert not mark(task, sight(task.kube, "clusters", NAME)).changed

    victim = marked(lab)[0]
    maas = {name: value for name, value in reach(lab).items() if name.startswith("maas_")}
    refused = run_task(None, "machine", {**maas, "machines": [victim], "state": "ready"}, connect=False)
    assert refused["failure"]["kind"] == "claimed"
    assert f"hosted cluster clusters/{NAME} (node pool {NAME}) uses it" in refused.msg

    signed.scale(1)
    (left,) = lab.until("one machine is left", lambda: len(names := marked(lab)) == 1 and names, LIMIT)
    lab.until("only the cluster's is named", lambda: hostnames(signed) == [left], LIMIT)
    task = task_of(lab)
    assert not mark(task, sight(task.kube, "clusters", NAME), sweep=True).changed
