# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""MaasMachines, with a real API server, the real core of Cluster API, and MAAS."""

from __future__ import annotations

import base64
import re
import time

import pytest

from kube.provider.scene import SPEED, Scene, soon
from metalshift_lab.kube.api import LEASES, MAAS_MACHINES, MACHINE_DEPLOYMENTS, NODES, Object
from metalshift_lab.kube.provider.maas import Maas

ONE_MACHINE = "machines/[^/]+/$"
DEPLOY_FAILED = {"status": "False", "reason": "MachineDeployFailed", "severity": "Error"}


def became(scene: Scene, reason: str) -> Object:
    """The only MaasMachine's condition MachineDeployed, once it has this reason."""
    return soon(lambda: found if (found := scene.deployed()).get("reason") == reason else {})


def ready(scene: Scene) -> Object:
    return soon(lambda: [each for each in scene.maas_machines() if each.get("status", {}).get("ready")])[0]


def scaled(scene: Scene, replicas: int) -> None:
    scene.api.patch(MACHINE_DEPLOYMENTS, "workers", scene.namespace, {"spec": {"replicas": replicas}})


def deployed(scene: Scene, **variables: str) -> Object:
    """A MaasMachine whose machine is deployed."""
    scene.machine()
    scene.cluster()
    scene.provider(**variables)
    scene.pool()
    became(scene, "MachineDeploying")
    scene.sim.advance(scene.host)
    return ready(scene)


def test_a_machine_is_deployed_and_becomes_a_node(scene: Scene) -> None:
    machine = scene.machine(tags=["a", "b"], pool="default")
    scene.cluster()
    scene.provider()
    scene.pool(tags=["a", "b"], resourcePool="default", bootstrap=b"pointer")
    assert became(scene, "MachineDeploying") == {"status": "False", "reason": "MachineDeploying", "severity": "Warning"}
    named = soon(lambda: spec if "systemID" in (spec := scene.maas_machine()["spec"]) else {})
    assert (named["providerID"], named["systemID"]) == (f"maas:///default/{machine.system_id}", machine.system_id)
    assert machine.user_data == b"pointer"
    scene.sim.advance(scene.host)
    status = ready(scene)["status"]
    kinds = ["ExternalDNS", "InternalDNS", "ExternalIP", "InternalIP"]
    assert [each["type"] for each in status["addresses"]] == kinds
    assert (status["hostname"], status["machineState"], status["machinePowered"]) == (scene.host, "Deployed", True)
    assert scene.condition(scene.maas_machine(), "Ready") == {"status": "True"}
    soon(lambda: "NodeProviderUpdateFailed" in scene.reasons())
    scene.node(f"{scene.host}.maas")
    node = soon(lambda: [n for n in scene.api.list(NODES) if n["spec"].get("providerID") == named["providerID"]])[0]
    assert node["metadata"]["name"] == f"{scene.host}.maas"
    path = f"machines/{machine.system_id}/"
    assert scene.calls()[:8] == [
        "POST machines/ allocate",
        f"PUT {path}",
        f"POST {path} deploy",
        f"GET {path}",
        "POST tags/maas-lxd-host-maintenance/op-update_nodes update_nodes",
        "POST tags/maas-lxd-host-noschedule/op-update_nodes update_nodes",
        "POST tags/maas-lxd-wlc-cp/op-update_nodes update_nodes",
        f"GET {path}",
    ]
    allocation = scene.sim.requests[0].params
    assert {key: value for key, value in allocation.items() if key != "op"} == {
        "cpu_count": ["2"],
        "mem": ["4096"],
        "pool": ["default"],
        "tags": ["b"],
    }


@pytest.mark.thorough
def test_at_speed_one_the_node_is_looked_for_every_thirty_seconds(scene: Scene) -> None:
    """Real life: what is divided by the lab's speed elsewhere is whole here."""
    scene.machine()
    scene.cluster()
    scene.provider(LAB_SPEED="1")
    scene.pool()
    became(scene, "MachineDeploying")
    scene.sim.advance(scene.host)
    look = f"GET machines/{scene.sim.find(scene.host).system_id}/"
    looks, since = 0, time.monotonic()

    def pause() -> float:
        """Seconds between two looks. What it writes itself wakes it up at first; after that there is only its timer."""
        nonlocal looks, since
        count, last = scene.calls().count(look), since
        if count == looks:
            return 0.0
        looks, since = count, time.monotonic()
        return since - last if since - last > 5 else 0.0

    assert 29 < soon(pause, 60) < 32


def test_what_is_waited_for_is_said(scene: Scene) -> None:
    scene.machine()
    scene.cluster(host="", kubeconfig=False)
    scene.provider()
    scene.pool()
    assert became(scene, "WaitingForClusterInfrastructure")["severity"] == "Info"
    waiting = {"status": "False", "reason": "WaitForDNSName", "severity": "Info"}
    assert scene.condition(scene.maas_cluster(), "LoadBalancerReady") == waiting
    assert scene.calls() == []


def test_too_few_machines_are_an_error_that_ends_with_the_next_one(scene: Scene) -> None:
    scene.cluster()
    scene.provider()
    scene.pool()
    found = became(scene, "MachineDeployFailed")
    assert re.match(
        "failed to deploy MaasMachine instance: Unable to allocate machine: status: 409, message: ", found["message"]
    )
    assert {key: found[key] for key in DEPLOY_FAILED} == DEPLOY_FAILED
    summary = {**DEPLOY_FAILED, "message": "0 of 1 completed"}
    assert scene.condition(scene.maas_machine(), "Ready") == summary
    soon(lambda: scene.condition(scene.machines()[0], "InfrastructureReady").get("message") == "0 of 1 completed")
    soon(lambda: len(scene.calls()) > 1)
    scene.machine()
    soon(lambda: scene.deployed().get("reason") == "MachineDeploying")


def test_after_a_failed_deployment_the_machine_is_still_named(scene: Scene) -> None:
    machine = scene.machine()
    scene.sim.fault("error", status=503, text="busy", method="POST", path=ONE_MACHINE, op="deploy", hits=1)
    scene.cluster()
    scene.provider()
    scene.pool()
    path = f"machines/{machine.system_id}/"
    soon(lambda: scene.calls().count(f"POST {path} deploy") > 1)
    # It was released, and the next pass takes it without asking for one.
    assert scene.calls()[:8] == [
        "POST machines/ allocate",
        f"PUT {path}",
        f"POST {path} deploy",
        f"POST {path} release",
        f"GET {path}",
        f"GET {path}",
        f"PUT {path}",
        f"POST {path} deploy",
    ]


def test_a_permanent_failure_is_tried_without_a_pause_and_its_text_is_taken_for_a_format(scene: Scene) -> None:
    scene.machine()
    scene.sim.fault("error", status=400, text="no%20image", method="POST", path=ONE_MACHINE, op="deploy", hits=0)
    scene.cluster()
    scene.provider()
    scene.pool()
    expected = "Unable to deploy machine: status: 400, message: no%!i(MISSING)mage"
    assert became(scene, "MachineDeployFailed")["message"] == f"failed to deploy MaasMachine instance: {expected}"
    soon(lambda: scene.calls().count("POST machines/ allocate") >= 3)


def test_with_a_real_back_off_it_sleeps_until_it_is_touched(scene: Scene) -> None:
    """At the lab's pace it would look again within a second, and hide that the real one sleeps for minutes."""
    scene.cluster()
    scene.provider(LAB_BACKOFF="real")
    scene.pool()
    soon(lambda: re.search(r"again in 5\.1 s", scene.log()))
    asked = len(scene.calls())
    scene.machine()
    time.sleep(1)
    assert len(scene.calls()) == asked
    name = scene.maas_machine()["metadata"]["name"]
    touched = {"metadata": {"annotations": {"metalshift.maas/touched": "1"}}}
    scene.api.patch(MAAS_MACHINES, name, scene.namespace, touched)
    soon(lambda: scene.deployed().get("reason") == "MachineDeploying", 2.5)


def test_a_missing_bootstrap_secret_allocates_nothing(scene: Scene) -> None:
    scene.machine()
    scene.cluster()
    scene.provider()
    scene.pool(bootstrap=None)
    message = became(scene, "MachineDeployFailed")["message"]
    name = scene.maas_machine()["metadata"]["name"]
    assert message == (
        "failed to resolve userdata: failed to retrieve bootstrap data secret for MaasMachine "
        f'{scene.namespace}/{name}: Secret "user-data-workers" not found'
    )
    assert "FailedGetBootstrapData" in scene.reasons()
    assert scene.calls() == []


def test_a_broken_machine_is_released_with_force_and_another_asked_for(scene: Scene) -> None:
    machine = scene.machine()
    text = f"Unable to allocate machine {machine.system_id}: Invalid transition: Broken -> Allocated."
    scene.sim.fault("error", status=409, text=text, method="POST", path="machines/$", op="allocate", hits=1)
    scene.cluster()
    scene.provider()
    scene.pool()
    soon(lambda: scene.deployed().get("severity") == "Warning")
    # That it writes the condition is an event, which comes long before the two minutes are over.
    asked = [(each.op, each.params.get("force")) for each in scene.sim.requests if each.op]
    assert asked[:3] == [("allocate", None), ("release", ["true"]), ("allocate", None)]


def test_maas_that_fails_makes_the_machine_unknown(scene: Scene) -> None:
    deployed(scene)
    scene.sim.fault("error", status=503, text="down", method="GET", path=ONE_MACHINE, hits=0)
    unknown = {"status": "Unknown", "reason": "MachineNotFound"}
    expected = {**unknown, "message": "Unable to find machine: status: 503, message: down"}
    soon(lambda: scene.deployed() == expected)
    assert scene.maas_machine()["status"]["ready"] is True


def test_a_machine_that_maas_lost_is_looked_for_for_ever(scene: Scene) -> None:
    machine = deployed(scene)
    system_id = machine["spec"]["systemID"]
    Maas(scene.sim.url, scene.sim.api_key).machine(system_id).delete()
    found = became(scene, "MachineDeployFailed")
    expected = f"failed to deploy MaasMachine instance: unable to find machine {system_id}: status: 404, message: "
    assert found["message"].startswith(expected)
    left = scene.maas_machine()
    assert (left["spec"]["systemID"], left["status"]["ready"]) == (system_id, True)


def test_a_deployed_machine_that_is_off_is_switched_on(scene: Scene) -> None:
    deployed(scene)
    scene.sim.find(scene.host).power_state = "off"
    soon(lambda: scene.sim.find(scene.host).power_state == "on")
    assert any(call.endswith("op-power_on power_on") for call in scene.calls())


def test_a_machine_that_was_released_by_hand_is_deployed_again(scene: Scene) -> None:
    system_id = deployed(scene)["spec"]["systemID"]
    Maas(scene.sim.url, scene.sim.api_key).machine(system_id).release()
    scene.sim.advance(scene.host)
    soon(lambda: scene.calls().count(f"POST machines/{system_id}/ deploy") > 1)


def test_a_machine_whose_allocation_was_not_answered_is_nobody_s(scene: Scene) -> None:
    """No MaasMachine names it and nobody releases it: the next pass asks MAAS for another one."""
    orphan = scene.machine()
    scene.sim.fault("drop", when="after", op="allocate", hits=1)
    scene.cluster()
    scene.provider()
    scene.pool()
    lost = f'Unable to allocate machine: Post "{scene.sim.url}/api/2.0/machines/": EOF'
    soon(lambda: lost in scene.log())
    soon(lambda: "Unable to allocate machine: status: 409" in scene.deployed().get("message", ""))
    assert orphan.status.label == "Allocated"
    assert not {"providerID", "systemID"} & scene.maas_machine()["spec"].keys()
    other = scene.machine(f"{scene.namespace}-n2")
    became(scene, "MachineDeploying")
    scene.sim.advance(other)
    assert ready(scene)["spec"]["systemID"] == other.system_id
    scaled(scene, 0)
    soon(lambda: not scene.maas_machines())
    assert (orphan.status.label, orphan.agent_name) == ("Allocated", "")


def test_deletion_releases_and_does_not_wait(scene: Scene) -> None:
    system_id = deployed(scene)["spec"]["systemID"]
    scaled(scene, 0)
    soon(lambda: not scene.maas_machines())
    released = [each for each in scene.sim.requests if each.op == "release"]
    assert [each.params for each in released] == [{}]
    assert scene.calls()[-2:] == [f"GET machines/{system_id}/", f"POST machines/{system_id}/ release"]
    assert "SuccessfulRelease" in scene.reasons()


def test_a_provider_that_reads_from_a_cache_releases_twice(scene: Scene) -> None:
    """Seen with the real one, 0.4 s apart: harmless, unless somebody has allocated the machine in between."""
    system_id = deployed(scene, LAB_RELEASES="twice")["spec"]["systemID"]
    scaled(scene, 0)
    soon(lambda: not scene.maas_machines())
    assert scene.calls()[-2:] == [f"POST machines/{system_id}/ release"] * 2
    assert "failed to patch MaasMachine" in scene.log()


def test_a_release_that_fails_changes_nothing_in_kubernetes(scene: Scene) -> None:
    before = deployed(scene)["status"]["conditions"]
    scene.sim.fault("error", status=409, text="locked", method="POST", path=ONE_MACHINE, op="release", hits=0)
    scaled(scene, 0)
    soon(lambda: "Unable to release machine: status: 409, message: locked" in scene.log())
    left = scene.maas_machine()
    assert "deletionTimestamp" in left["metadata"]
    assert left["status"]["conditions"] == before
    scene.sim.clear()
    soon(lambda: not scene.maas_machines())


def test_a_maas_machine_without_a_machine_stays_two_minutes(scene: Scene) -> None:
    scene.cluster()
    scene.provider(LAB_SPEED="20")
    scene.pool()
    became(scene, "MachineDeployFailed")
    began = time.monotonic()
    scaled(scene, 0)
    soon(lambda: not scene.maas_machines())
    # Of the deletion only the second is known.
    assert 120 / 20 - 1.5 < time.monotonic() - began < 120 / 20 + 30 / 20 + 4
    assert "NoMachineFound" in scene.reasons()


def test_a_paused_machine_is_left_alone(scene: Scene) -> None:
    machine = deployed(scene)
    pause = {"metadata": {"annotations": {"cluster.x-k8s.io/paused": "true"}}}
    scene.api.patch(MAAS_MACHINES, machine["metadata"]["name"], scene.namespace, pause)
    time.sleep(1)
    scene.sim.requests.clear()
    scene.sim.find(scene.host).power_state = "off"
    time.sleep(900 / SPEED / 4)
    assert scene.calls() == []


def test_the_older_provider_publishes_no_internal_names(scene: Scene) -> None:
    scene.machine()
    scene.cluster()
    scene.provider("v0.6.1-spectro-4.7.0")
    scene.pool(image="custom-img")
    became(scene, "MachineDeploying")
    scene.sim.advance(scene.host)
    kinds = [each["type"] for each in ready(scene)["status"]["addresses"]]
    assert kinds == ["ExternalDNS", "ExternalIP"]
    assert not any("tags/" in call for call in scene.calls())


def test_the_next_provider_waits_for_the_lease(scene: Scene) -> None:
    scene.cluster()
    first = scene.provider()
    soon(lambda: scene.maas_cluster().get("status", {}).get("ready"))
    first.kill()
    first.wait()
    lease = scene.api.get(LEASES, "controller-leader-election-capmaas", scene.namespace)
    assert lease is not None
    began = time.monotonic()
    scene.provider()
    soon(lambda: scene.log().count("leading") == 2)
    assert time.monotonic() - began > 3


def test_without_a_key_the_provider_panics(scene: Scene) -> None:
    scene.cluster()
    provider = scene.provider(MAAS_API_KEY="")
    assert provider.wait(30) == 2
    assert "panic: missing env MAAS_API_KEY; e.g: MAAS_API_KEY=x:y:z>" in scene.log()


def test_user_data_goes_to_maas_as_base64(scene: Scene) -> None:
    scene.machine()
    scene.cluster()
    scene.provider()
    scene.pool(bootstrap=b"\x00pointer")
    became(scene, "MachineDeploying")
    assert scene.sim.find(scene.host).user_data == base64.b64decode(b"AHBvaW50ZXI=")
