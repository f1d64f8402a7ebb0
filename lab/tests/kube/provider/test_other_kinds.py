# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""With other kinds than HyperShift brings: v0.9.0 with conditions of Kubernetes, and virtual machines."""

from __future__ import annotations

from typing import Any

import pytest

from kube.provider.scene import Scene, soon
from metalshift_lab.kube.api import MACHINE_DEPLOYMENTS, SECRETS
from metalshift_lab.kube.provider.maas import Maas
from metalshift_lab.kube.provider.virtual import CREDENTIALS
from metalshift_lab.kube.provider.vms import NAME
from metalshift_lab.simulator.model import Machine

NEWER = "v0.9.0"


def test_conditions_are_those_of_kubernetes_and_the_summary_has_the_text(other_scene: Scene) -> None:
    other_scene.cluster()
    other_scene.provider(NEWER)
    other_scene.pool()
    failed = soon(lambda: found if (found := other_scene.deployed()).get("reason") == "MachineDeployFailed" else {})
    assert set(failed) == {"status", "reason", "message"}
    ready = soon(lambda: other_scene.condition(other_scene.maas_machine(), "Ready"))
    summary = f"* MachineDeployed: {failed['message']}"
    assert ready == {"status": "False", "reason": "IssuesReported", "message": summary}
    soon(lambda: other_scene.condition(other_scene.machines()[0], "InfrastructureReady").get("message") == summary)


def test_a_machine_is_deployed_to_disk_or_to_memory(other_scene: Scene) -> None:
    other_scene.machine()
    other_scene.cluster()
    other_scene.provider(NEWER)
    other_scene.pool(deployInMemory=False)
    soon(lambda: other_scene.deployed().get("reason") == "MachineDeploying")
    other_scene.sim.advance(other_scene.host)
    status = soon(lambda: [m for m in other_scene.maas_machines() if m["status"].get("ready")])[0]["status"]
    assert status["initialization"] == {"provisioned": True}
    assert other_scene.deployed() == {"status": "True", "reason": "MachineDeployed", "message": ""}
    deployment = next(each for each in other_scene.sim.requests if each.op == "deploy")
    assert deployment.params["ephemeral_deploy"] == ["false"]


def test_the_annotation_does_not_keep_it_from_dns(other_scene: Scene) -> None:
    other_scene.cluster()
    other_scene.provider(NEWER)
    soon(lambda: other_scene.condition(other_scene.maas_cluster(), "APIServerAvailable").get("status") == "True")
    endpoint = other_scene.maas_cluster()["spec"]["controlPlaneEndpoint"]
    assert endpoint["host"].startswith(f"{other_scene.infra}-")
    path = "dnsresources/"
    soon(lambda: len(other_scene.calls()) > 8)
    record = next(call for call in other_scene.calls() if call.startswith("PUT")).removeprefix("PUT ")
    # The first look makes the record; each later one asks three times and writes.
    assert other_scene.calls()[:4] == [f"GET {path}", f"POST {path}", f"GET {path}", f"GET {path}"]
    assert other_scene.calls()[4:9] == [f"PUT {record}", *[f"GET {path}"] * 3, f"PUT {record}"]


def test_until_the_control_plane_is_initialised_maas_is_asked_without_a_pause(other_scene: Scene) -> None:
    """Of the real one 200 requests a second were counted, 50 of which write a name into DNS."""
    other_scene.cluster()
    other_scene.provider(NEWER, LAB_STORMS="yes")
    soon(lambda: other_scene.condition(other_scene.maas_cluster(), "APIServerAvailable").get("status") == "True")
    before = len(other_scene.calls())
    soon(lambda: len(other_scene.calls()) - before > 100, 5)
    assert sum(call.startswith("PUT dnsresources/") for call in other_scene.calls()[before:]) > 20


def test_it_looks_at_all_namespaces_whatever_it_is_told(other_scene: Scene) -> None:
    other_scene.cluster()
    other_scene.provider(NEWER, NAMESPACE="elsewhere")
    soon(lambda: "looking at all" in other_scene.log())


def vm_host(scene: Scene) -> Machine:
    """A machine that runs LXD, registered as a VM host of a pool and of a zone."""
    under = scene.sim.machine("kvm1", status="Deployed", cpu=16, memory=65536)
    server = scene.sim.lxd("kvm1")
    client = Maas(scene.sim.url, scene.sim.api_key)
    client.json("POST", "/resourcepools/", {"name": "kvm"})
    form = {"type": "lxd", "power_address": server.address, "password": server.password, "pool": "kvm"}
    client.json("POST", "/vm-hosts/", {**form, "name": "lxd-host-kvm1", "project": "maas"})
    scene.sim.forward(1)
    return under


LXD: dict[str, Any] = {"lxd": {"enabled": True, "vmConfig": {"diskSize": 20}}}


def test_without_a_host_the_wish_is_said(other_scene: Scene) -> None:
    other_scene.cluster()
    other_scene.provider(NEWER)
    other_scene.pool(**LXD)
    failed = soon(lambda: found if (found := other_scene.deployed()).get("reason") == "MachineDeployFailed" else {})
    assert failed["message"] == (
        "failed to deploy MaasMachine instance: compose failed prior to deploy: "
        "failed to select LXD VM host: no LXD hosts available"
    )


def test_a_vm_is_composed_deployed_when_it_is_ready_and_deleted(other_scene: Scene) -> None:
    scene = other_scene
    under = vm_host(scene)
    scene.sim.requests.clear()
    scene.cluster()
    scene.provider(NEWER)
    scene.pool(**LXD, resourcePool="kvm")
    system_id = str(soon(lambda: scene.maas_machines() and scene.maas_machine()["spec"].get("systemID")))
    name = scene.machines()[0]["metadata"]["name"]
    assert scene.maas_machine()["metadata"]["annotations"][NAME].startswith(f"vm-{name}-")
    calls = [call for call in scene.calls() if "dnsresources" not in call]
    assert calls[:3] == ["GET vm-hosts/", f"GET machines/{under.system_id}/", "POST vm-hosts/1/ compose"]
    composed = next(each.params for each in scene.sim.requests if each.op == "compose")
    assert (composed["cores"], composed["memory"], composed["storage"]) == (["2"], ["4096"], ["20"])
    refused = "failed to deploy MaasMachine instance: failed to deploy existing VM: status: 409, message: "
    soon(lambda: scene.deployed().get("message", "").startswith(refused))
    scene.sim.advance(system_id)
    soon(lambda: scene.sim.find(system_id).status.name == "DEPLOYING")
    assert scene.sim.find(system_id).hostname == f"vm-{name}"
    deployments = [each.params for each in scene.sim.requests if each.op == "deploy"]
    assert not any("ephemeral_deploy" in each for each in deployments), "only bare metal is asked so"
    scene.sim.advance(system_id)
    soon(lambda: scene.maas_machine()["status"].get("ready"))
    scene.api.patch(MACHINE_DEPLOYMENTS, "workers", scene.namespace, {"spec": {"replicas": 0}})
    soon(lambda: not scene.maas_machines())
    assert f"DELETE machines/{system_id}/" in scene.calls()


@pytest.mark.parametrize(("credentials", "left"), [(True, False), (False, True)])
def test_the_palette_line_needs_a_secret_to_delete_a_vm(other_scene: Scene, credentials: bool, left: bool) -> None:
    scene = other_scene
    vm_host(scene)
    scene.cluster()
    if credentials:
        values = {"MAAS_ENDPOINT": scene.sim.url, "MAAS_API_KEY": scene.sim.api_key}
        scene.create(SECRETS, "Secret", CREDENTIALS, stringData=values)
    scene.provider("v4.9.5-spectro")
    config = {"diskSize": 20, "network": "10.99.0.0/24,10.99.0.0/24"}
    scene.pool(lxd={"enabled": True, "vmConfig": config}, resourcePool="kvm")
    system_id = str(soon(lambda: scene.maas_machines() and scene.maas_machine()["spec"].get("systemID")))
    composed = next(each.params for each in scene.sim.requests if each.op == "compose")
    assert composed["interfaces"] == ["eth0:subnet=10.99.0.0/24;eth1:subnet=10.99.0.0/24"]
    scene.sim.advance(system_id)
    soon(lambda: scene.sim.find(system_id).status.name == "DEPLOYING")
    scene.api.patch(MACHINE_DEPLOYMENTS, "workers", scene.namespace, {"spec": {"replicas": 0}})
    soon(lambda: not scene.maas_machines())
    assert (scene.sim.state.node_by_system_id(system_id) is not None) is left
    assert ("failed to delete LXD VM after release" in scene.log()) is left
