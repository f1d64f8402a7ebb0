# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""v0.9.0 with its own kinds: conditions of Kubernetes, DNS always, and a deployment that says where it goes."""

from __future__ import annotations

from lab.kube.provider.conftest import Scene, soon

NEWER = "v0.9.0"


def test_conditions_are_those_of_kubernetes_and_the_summary_has_the_text(newer_scene: Scene) -> None:
    newer_scene.cluster()
    newer_scene.provider(NEWER)
    newer_scene.pool()
    failed = soon(lambda: found if (found := newer_scene.deployed()).get("reason") == "MachineDeployFailed" else {})
    assert set(failed) == {"status", "reason", "message"}
    ready = soon(lambda: newer_scene.condition(newer_scene.maas_machine(), "Ready"))
    summary = f"* MachineDeployed: {failed['message']}"
    assert ready == {"status": "False", "reason": "IssuesReported", "message": summary}
    soon(lambda: newer_scene.condition(newer_scene.machines()[0], "InfrastructureReady").get("message") == summary)


def test_a_machine_is_deployed_to_disk_or_to_memory(newer_scene: Scene) -> None:
    newer_scene.machine()
    newer_scene.cluster()
    newer_scene.provider(NEWER)
    newer_scene.pool(deployInMemory=False)
    soon(lambda: newer_scene.deployed().get("reason") == "MachineDeploying")
    newer_scene.sim.advance(newer_scene.host)
    status = soon(lambda: [m for m in newer_scene.maas_machines() if m["status"].get("ready")])[0]["status"]
    assert status["initialization"] == {"provisioned": True}
    assert newer_scene.deployed() == {"status": "True", "reason": "MachineDeployed", "message": ""}
    deployment = next(each for each in newer_scene.sim.requests if each.op == "deploy")
    assert deployment.params["ephemeral_deploy"] == ["false"]


def test_the_annotation_does_not_keep_it_from_dns(newer_scene: Scene) -> None:
    newer_scene.cluster()
    newer_scene.provider(NEWER)
    soon(lambda: newer_scene.condition(newer_scene.maas_cluster(), "APIServerAvailable").get("status") == "True")
    endpoint = newer_scene.maas_cluster()["spec"]["controlPlaneEndpoint"]
    assert endpoint["host"].startswith(f"{newer_scene.infra}-")
    path = "dnsresources/"
    soon(lambda: len(newer_scene.calls()) > 8)
    record = next(call for call in newer_scene.calls() if call.startswith("PUT")).removeprefix("PUT ")
    # The first look makes the record; each later one asks three times and writes.
    assert newer_scene.calls()[:4] == [f"GET {path}", f"POST {path}", f"GET {path}", f"GET {path}"]
    assert newer_scene.calls()[4:9] == [f"PUT {record}", *[f"GET {path}"] * 3, f"PUT {record}"]


def test_it_looks_at_all_namespaces_whatever_it_is_told(newer_scene: Scene) -> None:
    newer_scene.cluster()
    newer_scene.provider(NEWER, NAMESPACE="elsewhere")
    soon(lambda: "looking at all" in newer_scene.log())
