# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the provider would do to machines for ever, and how a task that gives up or waits on keeps it from that."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from threading import Thread
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.connection import ApiKey, MaasConnection
from hosted.play import run
from hosted.test_modules_lab import Hosted
from integration.harness import Outcome
from metalshift_lab.kube.api import MAAS_MACHINES, Object
from metalshift_lab.kube.handle import Lab

NAME = "loops"
PLACE = f"clusters-{NAME}"
PAUSED, GIVEN_UP, NOT_OURS = "cluster.x-k8s.io/paused", "metalshift.maas/given-up", "metalshift.maas/not-ours"
# A loop of the stand-in, as that of the real provider, goes round a dozen times a second.
TIME_FOR_A_LOOP = 2.0


@pytest.fixture(scope="module")
def hosted(lab: Lab) -> Iterator[Hosted]:
    """A hosted cluster whose machines can get their configuration, without any."""
    found = Hosted(lab)
    found.done("hosted_cluster", {**found.cluster, "name": NAME, "wait_for": "ignition"})
    yield found
    lab.heal()
    found.done("hosted_cluster", {"name": NAME, "state": "absent"})


def pool(hosted: Hosted, **options: Any) -> Outcome:
    given = {**hosted.pool, "name": NAME, "cluster": NAME, "wait_timeout": 240, "wait_sleep": 1, **options}
    return run(hosted.lab, "node_pool", given)


def maas_machines(lab: Lab) -> list[Object]:
    return lab.api.list(MAAS_MACHINES, PLACE)


def stands_still(lab: Lab) -> bool:
    """Whether nobody writes the MaasMachines for as long as a loop goes round many times."""
    before = [body["metadata"]["resourceVersion"] for body in maas_machines(lab)]
    time.sleep(TIME_FOR_A_LOOP)
    return before == [body["metadata"]["resourceVersion"] for body in maas_machines(lab)]


def test_a_wait_that_gives_up_ends_the_loop_and_the_next_run_puts_it_right(hosted: Hosted) -> None:
    """MAAS refuses an image that it has not got: allocated, deployed and released, without a pause."""
    lab = hosted.lab
    refused = pool(hosted, image="custom/nope", replicas=1)
    assert refused["failure"]["kind"] == "failed_state", refused.msg
    assert "MAAS does not know the image" in refused.msg
    assert "paused until the next run: the provider would take and release machines of MAAS without end" in refused.msg
    lab.until("the loop ends", lambda: stands_still(lab), 20)
    [old] = maas_machines(lab)
    assert {PAUSED, GIVEN_UP} <= set(old["metadata"]["annotations"])
    [told] = [
        one
        for one in run(lab, "hosted_cluster_diagnosis_info", {"name": NAME})["diagnosis"]
        if one["object"] == f"MaasMachine {PLACE}/{old['metadata']['name']}" and "paused" in one["what"]
    ]
    assert "paused since a task gave up waiting for it" in told["what"]
    right = pool(hosted, replicas=1)
    assert not right.failed, right.msg
    assert right["node_pool"]["available_replicas"] == 1
    [new] = maas_machines(lab)
    assert new["metadata"]["name"] != old["metadata"]["name"]
    assert not {PAUSED, GIVEN_UP} & set(new["metadata"].get("annotations") or {})


def test_a_key_that_is_no_administrators_any_more_is_told_and_its_loop_ended(hosted: Hosted) -> None:
    """MAAS allocates a machine to it, and refuses what each deployment begins with."""
    lab = hosted.lab
    lab.fault("maas-key-plain")
    refused = pool(hosted, replicas=2)
    assert "the provider's user is not an administrator of MAAS, which each deployment needs" in refused.msg
    assert "paused until the next run" in refused.msg
    lab.until("the loop ends", lambda: stands_still(lab), 20)
    lab.heal("maas-key-plain")
    right = pool(hosted, replicas=2)
    assert not right.failed, right.msg
    assert not any(GIVEN_UP in (body["metadata"].get("annotations") or {}) for body in maas_machines(lab))


def test_a_machine_that_is_marked_as_somebody_elses_is_paused_and_goes_without_a_release(hosted: Hosted) -> None:
    """What the provider adopts after it has given it back, as seen with the real one."""
    lab = hosted.lab
    assert not pool(hosted, replicas=1).failed
    lab.fault("never-boots")
    kept = {body["metadata"]["name"] for body in maas_machines(lab)}
    assert pool(hosted, replicas=2, wait_timeout=30).failed
    [adopted] = [body for body in maas_machines(lab) if body["metadata"]["name"] not in kept]
    name, system_id = adopted["metadata"]["name"], adopted["spec"]["providerID"].rpartition("/")[2]
    marks = {"metalshift_cluster": "clusters/bank", "metalshift_node_pool": "np"}
    maas = Client(MaasConnection(base=lab.facts["maas_url"], key=ApiKey.parse(lab.facts["maas_api_key"])))
    maas.post(f"machines/{system_id}/", marks, op="set_workload_annotations")

    found = pool(hosted, replicas=2)
    assert f"names {system_id}, which is not this cluster's; paused" in found.msg
    said = f"names {system_id}, which is not this cluster's: MAAS has it marked as a machine of hosted cluster"
    assert any(said in line for line in found.screen.shown)
    [paused] = [body for body in maas_machines(lab) if body["metadata"]["name"] == name]
    assert paused["metadata"]["annotations"][NOT_OURS] == system_id

    lab.heal("never-boots")
    lab.kubectl("-n", PLACE, "delete", "machine", name, "--wait=false")
    right = pool(hosted, replicas=2)
    assert not right.failed, right.msg
    assert name not in {body["metadata"]["name"] for body in maas_machines(lab)}
    theirs = maas.get(f"machines/{system_id}/")
    assert (theirs["status_name"], theirs["workload_annotations"]) == ("Deployed", marks)
    maas.post(f"machines/{system_id}/", op="release")


AGAIN = re.compile(r"again in ([0-9.]+) s")
# What one sleeps for after a dozen failures; a task that wakes the provider looks each half minute.
LONG_SLEEP = 60.0


def sleeps(lab: Lab) -> float:
    """For how long the provider has said last that it sleeps."""
    logs = sorted(lab.folder.rglob("*capi-provider*.log"))
    said = [AGAIN.findall(log.read_text()) for log in logs if PLACE in str(log)]
    return max((float(each[-1]) for each in said if each), default=0.0)


def test_a_provider_that_sleeps_after_a_fault_is_woken_when_maas_is_well(hosted: Hosted) -> None:
    """It pauses up to 1000 s, doubling: after an hour of trouble a machine that is there would not be asked for."""
    lab = hosted.lab
    assert not pool(hosted, replicas=0).failed
    lab.fault("provider-sleeps")
    lab.fault("maas-error", op="allocate")
    waits: list[Outcome] = []
    run_beside = Thread(target=lambda: waits.append(pool(hosted, replicas=1)))
    run_beside.start()
    try:
        slept = lab.until("the provider sleeps for long", lambda: (found := sleeps(lab)) >= LONG_SLEEP and found, 200)
        lab.heal("maas-error")
        healed = time.monotonic()
        lab.until("it has asked again", lambda: any("providerID" in body["spec"] for body in maas_machines(lab)), 120)
        assert time.monotonic() - healed < slept
    finally:
        lab.heal("maas-error")
        lab.heal("provider-sleeps")
        run_beside.join()
    [done] = waits
    assert not done.failed, done.msg
    assert any("touched" in line and "so that the provider looks at it again" in line for line in done.screen.shown)
