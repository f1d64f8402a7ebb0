# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sets of machines: which are taken, what becomes of those that fail, and what is said when there are too few."""

from __future__ import annotations

import importlib
import threading
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.connection import ApiKey, MaasConnection
from integration.arranging import client
from integration.harness import Outcome, run_task
from metalshift_lab.simulator import Simulator
from metalshift_lab.simulator.model import Machine, Status

ZONES = ("az1", "az2", "az3")
QUICK = {"wait_sleep": 0.02, "wait_timeout": 20}


@pytest.fixture
def nine(sim: Simulator) -> Simulator:
    sim.machines(9, zones=ZONES)
    sim.auto(0.02)
    return sim


def web(sim: Simulator, count: int | None = None, **options: Any) -> Outcome:
    keywords = {name: options.pop(name) for name in ("check", "diff") if name in options}
    wanted = {"claim": "web", **QUICK, **({"count": count} if count is not None else {}), **options}
    return run_task(sim, "machine_set", wanted, **keywords)


def held(sim: Simulator) -> list[Machine]:
    return [machine for machine in sim.state.machines if machine.status not in (Status.READY, Status.NEW)]


def zones(sim: Simulator) -> Counter[str]:
    return Counter(machine.zone.name for machine in held(sim))


def ops(sim: Simulator) -> Counter[str]:
    return Counter(entry.op or entry.method for entry in sim.requests.writes())


# -- what is not there ----------------------------------------------------------------------------------------------


def test_check_mode_accepts_a_zone_that_an_earlier_task_would_have_made(nine: Simulator) -> None:
    foreseen = web(nine, 2, zones=["az9"], check=True)
    assert not foreseen.failed
    assert foreseen["summary"] == {"deployed": 2}
    assert foreseen["warnings"][0] == "MAAS does not have all of it yet: zone: No such zone(s): az9."
    assert web(nine, 2, zones=["az9"]).msg == (
        "MAAS does not take what the claim web asks for: zone: No such zone(s): az9. "
        "Check the spelling, or make it first."
    )


def test_check_mode_refuses_what_no_task_makes(nine: Simulator) -> None:
    foreseen = web(nine, 2, arch=["vax"], check=True)
    assert foreseen["failure"]["kind"] == "rejected"
    assert foreseen["failure"]["object"] == "claim web"


def test_machines_in_zones_that_are_left_out_are_not_said_to_be_missing(nine: Simulator) -> None:
    outcome = web(nine, 1, not_zones=[*ZONES])
    assert "cannot be had: the 9 Ready machines are in other zones. Free machines" in outcome.msg


def test_a_zone_without_machines_is_named_when_it_holds_back_the_others(nine: Simulator) -> None:
    """The zone default is one of all zones."""
    outcome = web(nine, 5, spread="strict", state="allocated")
    assert outcome["summary"] == {"allocated": 3}
    assert "2 ready, 2 fit; default: 0 ready; spread: strict takes no more from a zone than" in outcome.msg
    assert not web(nine, 5, spread="strict", state="allocated", not_zones=["default"]).failed


def test_machines_that_were_not_free_in_time_are_said_to_be_so(nine: Simulator) -> None:
    nine.fault("conflict", op="allocate", text="No machine available.", hits=0)
    outcome = web(nine, 1, zones=["az1"])
    assert "az1: 3 ready, 3 fit; those that fit were not free when this task asked for them. Free" in outcome.msg


def test_what_was_got_is_spoken_of_only_if_something_was(nine: Simulator) -> None:
    assert "What this run got was kept under the claim." in web(nine, 10).msg
    assert "What this run got" not in web(nine, 10).msg


# -- taking --------------------------------------------------------------------------------------------------------


def test_a_set_is_spread_evenly_and_shown(nine: Simulator) -> None:
    outcome = web(nine, 5)
    assert not outcome.failed, outcome.msg
    assert outcome["summary"] == {"deployed": 5}
    assert sorted(zones(nine).values()) == [1, 2, 2]
    assert {machine["claim"] for machine in outcome["machines"]} == {"web"}
    assert [machine["hostname"] for machine in outcome["machines"]] == sorted(one.hostname for one in held(nine))
    assert any("5/5 deployed" in line for line in outcome.screen.shown)


def test_full_results_hold_all_that_maas_says(nine: Simulator) -> None:
    assert "interface_set" not in web(nine, 1)["machines"][0]
    assert "interface_set" in web(nine, 1, full=True)["machines"][0]


def test_three_requests_a_machine_and_one_a_tick(nine: Simulator) -> None:
    nine.requests.clear()
    web(nine, 6, zones=list(ZONES))
    assert ops(nine) == {"allocate": 6, "set_workload_annotations": 6, "deploy": 6}
    reads = [entry for entry in nine.requests if entry.method == "GET" and "id" not in entry.params]
    assert len(reads) <= 6


@pytest.mark.parametrize(
    ("options", "at_once"),
    [({}, 1), ({"names": ["node-1", "node-2", "node-3"], "virtual": True}, 3)],
    ids=["any", "named"],
)
def test_machines_by_constraints_are_asked_for_one_after_the_other(
    sim: Simulator, options: dict[str, Any], at_once: int
) -> None:
    """MAAS rolls back all but one of those that come together; those that are named do not meet."""
    for number in (1, 2, 3):
        sim.machine(f"node-{number}")
    sim.fault("latency", op="allocate", latency=100, hits=0)
    assert not web(sim, 3, state="allocated", **options).failed
    assert max(entry.concurrent for entry in sim.requests if entry.op == "allocate") == at_once


@pytest.mark.parametrize("trouble", [{"does": "drop"}, {"status": 504}, {"status": 500}], ids=["dropped", "504", "500"])
def test_a_lost_answer_to_an_allocation_is_not_taken_for_another_run(nine: Simulator, trouble: dict[str, Any]) -> None:
    nine.fault(**{"does": "error", **trouble}, op="allocate", when="after")
    done = web(nine, 3, state="allocated", wait_sleep=0.2)
    assert not done.failed
    assert len(held(nine)) == 3
    told = " ".join(done.screen.shown)
    assert "claim web: the answer to an allocation was lost; waiting to see whose machine it took" in told
    assert "another run" not in told
    # One look more than without the loss, where a run that has died takes five.
    looks = [entry for entry in nine.requests if entry.method == "GET" and "agent_name" in entry.params]
    assert len(looks) <= 6


@pytest.mark.parametrize(
    "trouble",
    [
        {"status": 500, "text": "Error determining BMC task queue"},
        {
            "status": 400,
            "text": 'Failed to render preseed: duplicate key value violates unique constraint "auth_user_email_key"',
        },
    ],
    ids=["500", "the same user twice"],
)
def test_what_maas_stumbles_over_once_is_asked_for_once_more(nine: Simulator, trouble: dict[str, Any]) -> None:
    nine.fault(op="deploy", **trouble)
    done = web(nine, 1)
    assert (done.failed, done["summary"]) == (False, {"deployed": 1})
    assert ops(nine)["deploy"] == 2
    nine.fault(op="deploy", **trouble, hits=2)
    again = web(nine, 2)
    assert again.failed
    assert trouble["text"] in again.msg
    assert ops(nine)["deploy"] == 4


def test_the_claim_is_in_the_request_that_allocates(nine: Simulator) -> None:
    web(nine, 2)
    taken = [entry.params for entry in nine.requests if entry.op == "allocate" and entry.status == 200]
    assert [params["agent_name"] for params in taken] == [["web"], ["web"]]


def test_constraints_are_obeyed(sim: Simulator) -> None:
    sim.machine("small", zone="az1", memory=4096)
    sim.machine("slow", zone="az1", memory=65536, tags=["slow"])
    sim.machine("right", zone="az2", memory=65536, tags=["fast"], cpu=16)
    sim.auto(0.01)
    outcome = web(sim, 1, memory="32GiB", cpu=8, not_tags=["slow"])
    assert [machine["hostname"] for machine in outcome["machines"]] == ["right"]


def test_machines_can_be_narrowed_down_by_name(nine: Simulator) -> None:
    outcome = web(nine, 2, names=["node02", "node05", "node08"], spread="none")
    assert {machine["hostname"] for machine in outcome["machines"]} < {"node02", "node05", "node08"}
    assert len(outcome["machines"]) == 2


def test_strict_spread_takes_fewer(sim: Simulator) -> None:
    sim.machines(4, zones=("az1",))
    sim.machines(1, zones=("az2",), prefix="b")
    outcome = web(sim, 4, zones=["az1", "az2"], spread="strict", state="allocated")
    assert outcome.failed
    assert outcome["failure"]["kind"] == "capacity"
    assert zones(sim) == {"az1": 2, "az2": 1}


def test_no_spread_leaves_the_zone_to_maas(nine: Simulator) -> None:
    web(nine, 3, spread="none", state="allocated")
    assert all("zone" not in entry.params for entry in nine.requests if entry.op == "allocate")


def test_a_virtual_machine_is_never_composed_unasked(sim: Simulator) -> None:
    outcome = web(sim, 1)
    assert outcome["failure"]["kind"] == "capacity"
    assert all(
        {"lxd", "virsh"} <= set(entry.params["not_pod_type"]) for entry in sim.requests if entry.op == "allocate"
    )


@pytest.mark.parametrize("state", ["allocated", "deployed"])
def test_a_virtual_machine_is_composed_if_asked_and_gone_when_it_is_given_back(sim: Simulator, state: str) -> None:
    maas = Client(MaasConnection(base=sim.url, key=ApiKey.parse(sim.api_key)))
    maas.post("vm-hosts/", {"type": "lxd", "power_address": "127.0.0.1:8449", "password": "sekret", "project": "maas"})
    # The host tells its size a moment later.
    sim.forward(5)
    sim.auto(0.02)
    before = {machine.hostname for machine in sim.state.machines}
    outcome = web(sim, 2, state=state, allow_compose=True)
    assert outcome["summary"] == {state: 2}, outcome.msg
    assert not web(sim, 2, state=state, allow_compose=True).changed
    assert web(sim, state="absent")["summary"] == {"absent": 2}
    assert {machine.hostname for machine in sim.state.machines} == before


def test_a_shortage_says_why_and_keeps_what_was_got(nine: Simulator) -> None:
    nine.machine("weak", zone="az1", memory=1024)
    outcome = web(nine, 12, zones=list(ZONES), memory="2GiB")
    assert outcome.failed
    assert (
        "3 of 12 machines for the claim web cannot be had: az1: 1 ready, 0 fit (memory 1 GiB < 2 GiB: 1)" in outcome.msg
    )
    assert "kept under the claim" in outcome.msg
    told = [line.strip() for line in outcome.screen.shown]
    assert told[0].startswith("9 of 12 machines; 3 short: az1: 1 ready, 0 fit"), told
    assert any("9/9 deployed" in line for line in told[1:]), "it is said before the deployment"
    assert outcome["summary"] == {"deployed": 9}
    for more in range(3):
        nine.machine(f"new{more}", zone="az2")
    assert web(nine, 12, zones=list(ZONES), memory="2GiB")["summary"] == {"deployed": 12}


def test_a_shortage_can_give_back_what_was_got(nine: Simulator) -> None:
    outcome = web(nine, 12, on_shortage="release")
    assert outcome.failed
    assert "given back" in outcome.msg
    assert not held(nine)
    assert "deploy" not in ops(nine)


def test_without_waiting_deployments_are_only_begun(nine: Simulator) -> None:
    nine.auto(0)
    outcome = web(nine, 2, wait=False)
    assert not outcome.failed, outcome.msg
    assert outcome["summary"] == {"deploying": 2}
    nine.auto(0.01)
    assert web(nine, 2)["summary"] == {"deployed": 2}


# -- machines that fail ----------------------------------------------------------------------------------------------


def test_a_failed_machine_is_replaced_by_another(nine: Simulator) -> None:
    nine.fault("machine", hostname="node01", action="deploy", times=-1)
    outcome = web(nine, 6)
    assert not outcome.failed, outcome.msg
    assert [one["name"] for one in outcome["replaced"]] == ["node01"]
    assert "Installation failed" in outcome["replaced"][0]["reason"]
    assert [machine["hostname"] for machine in outcome["released"]] == ["node01"]
    assert nine.find("node01").status is Status.READY
    assert any("node01 is replaced" in line for line in outcome.screen.shown)
    assert zones(nine) == {"az1": 2, "az2": 2, "az3": 2}


def test_the_limit_of_replacements_holds(nine: Simulator) -> None:
    nine.fault("machine", hostname="node", action="deploy", times=-1)
    outcome = web(nine, 2, max_replacements=2)
    assert outcome.failed
    assert outcome["summary"] == {"failed": 2}
    assert len(outcome["replaced"]) == 2
    assert ops(nine)["deploy"] == 4
    assert "max_replacements: 2 allowed no further replacement" in outcome.msg
    assert {machine.status for machine in held(nine)} == {Status.FAILED_DEPLOYMENT}
    assert len(held(nine)) == 2
    nine.clear()
    assert web(nine, 2)["summary"] == {"deployed": 2}
    assert len(held(nine)) == 2


def test_a_failed_machine_can_be_kept(nine: Simulator) -> None:
    nine.fault("machine", hostname="node01", action="deploy", times=-1)
    for _again in range(2):
        outcome = web(nine, 3, on_failure="keep")
        assert outcome.failed
        assert outcome["failure"]["kind"] == "failed_state"
        (failed,) = (machine for machine in outcome["machines"] if "failure" in machine)
        assert failed["hostname"] == "node01"
        assert failed["failure"]["events"]
        assert "on_failure: replace" in failed["failure"]["hint"]
        assert outcome["summary"] == {"deployed": 2, "failed": 1}
        assert nine.find("node01").status is Status.FAILED_DEPLOYMENT


def test_without_another_machine_the_failed_one_stays(sim: Simulator) -> None:
    sim.machines(2, zones=("az1",))
    sim.auto(0.01)
    sim.fault("machine", hostname="node01", action="deploy", times=-1)
    outcome = web(sim, 2)
    assert outcome.failed
    assert "no machine can take its place" in outcome.msg
    assert sim.find("node01").status is Status.FAILED_DEPLOYMENT
    sim.machine("spare", zone="az1")
    repaired = web(sim, 2)
    assert not repaired.failed, repaired.msg
    assert repaired["summary"] == {"deployed": 2}
    assert sim.find("node01").status is Status.READY


def test_a_refused_deployment_is_not_taken_for_a_bad_machine(nine: Simulator) -> None:
    nine.fault(op="deploy", status=400, text="nosuch", hits=0)
    outcome = web(nine, 2)
    assert outcome.failed
    assert "nosuch" in outcome.msg
    assert outcome["replaced"] == []
    assert ops(nine)["allocate"] == 2


def test_a_machine_that_somebody_gives_back_is_not_replaced(nine: Simulator) -> None:
    nine.auto(0)

    def take_one() -> None:
        while sum(machine.status is Status.DEPLOYING for machine in held(nine)) < 3:
            time.sleep(0.01)
        run_task(
            nine, "machine", {"machines": [held(nine)[0].hostname], "state": "ready", "claim": "web", "wait": False}
        )
        nine.auto(0.02)

    somebody = threading.Thread(target=take_one)
    somebody.start()
    outcome = web(nine, 3)
    somebody.join()
    assert outcome.failed
    assert outcome["failure"]["kind"] == "conflict"
    assert "somebody stopped what this run had started" in outcome.msg
    assert outcome["summary"] == {"deployed": 2, "failed": 1}
    assert outcome["replaced"] == []
    assert len(held(nine)) == 2


def test_a_machine_that_somebody_marks_as_broken_is_replaced(nine: Simulator) -> None:
    nine.auto(0)

    def mark_one() -> None:
        while sum(machine.status is Status.DEPLOYING for machine in held(nine)) < 3:
            time.sleep(0.01)
        client(nine).post(f"machines/{held(nine)[0].system_id}/", {"comment": "its fan"}, op="mark_broken")
        nine.auto(0.02)

    somebody = threading.Thread(target=mark_one)
    somebody.start()
    outcome = web(nine, 3)
    somebody.join()
    assert not outcome.failed, outcome.msg
    assert outcome["summary"] == {"deployed": 3}
    assert len(outcome["replaced"]) == 1


def test_a_set_that_runs_something_else_is_left_and_reported(nine: Simulator) -> None:
    web(nine, 2, distro_series="noble")
    outcome = web(nine, 2, distro_series="jammy")
    assert (outcome.failed, outcome.changed) == (False, False)
    assert outcome["warnings"][0].startswith("Deployed with ubuntu/noble and not with jammy, and left so: node0")


# -- fewer, and none ---------------------------------------------------------------------------------------------------


NOT_THERE: list[tuple[dict[str, Any], str]] = [
    (
        {"distro_series": "nobel"},
        "distro_series: nobel is not an image of this MAAS; it has centos/8, custom/custom-img, ubuntu/focal, "
        "ubuntu/jammy, ubuntu/noble. Did you mean ubuntu/noble?",
    ),
    ({"distro_series": "noble", "hwe_kernel": "hwe-22.04"}, "hwe_kernel: hwe-22.04 is not a kernel of ubuntu/noble"),
    ({"hwe_kernel": "bogus"}, "hwe_kernel: bogus is not a kernel of an image in this MAAS"),
    ({"not_tags": ["quaratine"]}, "not_tags: No such tag(s): 'quaratine'. Check the spelling, or make it first."),
    ({"user_data": {"packages": ["sesame"]}}, "user_data is a mapping and not a text. Write a text block"),
    ({"user_data": ["sesame"]}, "user_data is a list and not a text."),
]


@pytest.mark.parametrize(("options", "told"), NOT_THERE, ids=[next(iter(options)) for options, _told in NOT_THERE])
@pytest.mark.parametrize("check", [True, False])
def test_what_cannot_be_deployed_is_found_before_anything_is_taken(
    nine: Simulator, options: dict[str, Any], told: str, check: bool
) -> None:
    done = web(nine, 3, check=check, **options)
    if check and "not_tags" in options:
        # An earlier task may be the one that makes it.
        assert done["warnings"][0] == "MAAS does not have all of it yet: not_tags: No such tag(s): 'quaratine'."
    else:
        assert done.failed
        assert told in done.msg
        assert "sesame" not in str(done.result)
    assert not nine.requests.writes()
    assert held(nine) == []


def test_in_check_mode_an_image_may_be_uploaded_by_an_earlier_task(nine: Simulator) -> None:
    done = web(nine, 1, check=True, distro_series="custom/rhcos")
    assert not done.failed
    assert done["warnings"][0].startswith("MAAS has no such image yet: distro_series: custom/rhcos is not an image")
    assert "custom/rhcos is not an image" in web(nine, 1, distro_series="custom/rhcos").msg


def test_a_set_that_is_complete_asks_for_no_image(nine: Simulator) -> None:
    assert not web(nine, 1).failed
    done = web(nine, 1, distro_series="nobel")
    assert not done.failed
    assert done["warnings"][0].startswith("Deployed with ubuntu/noble and not with nobel")


@pytest.mark.parametrize(
    ("user_data", "ignored"),
    [
        ("packages: [vim]", True),
        ("#cloud-config\n{}", False),
        ("#!/bin/sh\ntrue", False),
        ("MIME-Version: 1.0\n", False),
        ('{"ignition": {"version": "3.2.0"}}', False),
    ],
)
def test_user_data_that_nothing_reads_is_warned_of(nine: Simulator, user_data: str, ignored: bool) -> None:
    for check in (True, False):
        done = web(nine, 1, user_data=user_data, check=check)
        assert any("cloud-init ignores user_data" in text for text in done.result.get("warnings", [])) is ignored


def test_another_kernel_than_the_one_asked_for_is_told_after_the_deployment(nine: Simulator) -> None:
    """As MAAS does with one that the machine's architecture lacks."""
    with nine.world.at_rest() as state:
        for image in state.boot_resources.where(name="ubuntu/noble"):
            if image.architecture.startswith("amd64"):
                image.kernels = ["ga-24.04"]
    done = web(nine, 1, distro_series="noble", hwe_kernel="hwe-24.04")
    assert not done.failed
    assert done["warnings"][0].startswith("Deployed with ga-24.04 and not with hwe-24.04, and left so: ")
    named = {
        "machines": [done["machines"][0]["hostname"]],
        "state": "deployed",
        "claim": "web",
        "hwe_kernel": "hwe-24.04",
    }
    again = run_task(nine, "machine", named)
    assert "is deployed with ga-24.04, not with hwe-24.04, and stays so" in again["warnings"][0]


def test_the_furthest_from_deployed_go_first(nine: Simulator) -> None:
    web(nine, 3)
    deployed = {machine.hostname for machine in held(nine)}
    web(nine, 5, state="allocated")
    outcome = web(nine, 3, state="allocated")
    assert len(outcome["released"]) == 2
    assert {machine.hostname for machine in held(nine)} == deployed


def test_absent_erases_if_told(nine: Simulator) -> None:
    web(nine, 3)
    nine.requests.clear()
    outcome = web(nine, state="absent", erase=True, quick_erase=True, comment="over")
    assert outcome["summary"] == {"ready": 3}
    assert outcome["machines"] == []
    released = [entry.params for entry in nine.requests if entry.op == "release"]
    assert released == [{"erase": ["true"], "quick_erase": ["true"], "comment": ["over"]}] * 3
    assert not web(nine, state="absent").changed


def test_a_machine_without_the_annotation_gets_it_before_it_is_released(nine: Simulator) -> None:
    """MAAS forgets the claim itself at once: a run that is killed while disks are erased would lose the machine."""
    nine.machine("bare", status="Deployed", agent_name="web")
    nine.auto(0)
    nine.requests.clear()
    web(nine, state="absent", erase=True, wait=False)
    assert [entry.op for entry in nine.requests.writes()] == ["set_workload_annotations", "release"]
    nine.auto(0.5)  # not before the second run has seen it
    assert web(nine, state="absent")["summary"] == {"ready": 1}


def test_a_locked_machine_is_not_given_back(nine: Simulator) -> None:
    web(nine, 1)
    name = held(nine)[0].hostname
    run_task(nine, "machine", {"machines": [name], "claim": "web", "locked": True, **QUICK})
    outcome = web(nine, state="absent")
    assert outcome.failed
    assert f"{name} cannot be made ready: it is locked. Unlock it first, with the module machine" in outcome.msg
    assert [machine["hostname"] for machine in outcome["machines"]] == [name]


def test_other_claims_are_not_touched(nine: Simulator) -> None:
    run_task(nine, "machine_set", {"claim": "db", "count": 2, **QUICK})
    web(nine, 2)
    web(nine, state="absent")
    assert {machine.agent_name for machine in held(nine)} == {"db"}


def test_a_machine_of_two_claims_stops_the_task(nine: Simulator) -> None:
    nine.machine("odd", status="Deployed", agent_name="web", annotations={"metalshift_claim": "db"})
    outcome = web(nine, state="absent")
    assert outcome["failure"]["kind"] == "claimed"
    assert "its annotation says db" in outcome.msg
    assert nine.find("odd").status is Status.DEPLOYED


def test_a_machine_of_a_hosted_cluster_is_not_released(nine: Simulator) -> None:
    marks = {"metalshift_claim": "web", "metalshift_cluster": "prod"}
    nine.machine("worker", status="Deployed", agent_name="web", annotations=marks)
    outcome = web(nine, state="absent")
    assert outcome["failure"]["kind"] == "claimed"
    assert "hosted cluster prod" in outcome.msg
    assert "Scale its node pool down" in outcome.msg
    assert nine.find("worker").status is Status.DEPLOYED


@pytest.mark.parametrize("status", ["Deployed", "Allocated"])
def test_others_are_given_back_before_a_machine_of_a_hosted_cluster(nine: Simulator, status: str) -> None:
    web(nine, 2)
    marks = {"metalshift_claim": "web", "metalshift_cluster": "prod"}
    nine.machine("worker", status=status, agent_name="web", annotations=marks)
    nine.requests.clear()
    outcome = web(nine, 1, state="allocated")
    assert not outcome.failed, outcome.msg
    assert [entry.op for entry in nine.requests.writes()] == ["release", "release"]
    assert [machine.hostname for machine in held(nine)] == ["worker"]


def test_a_hosted_cluster_s_machine_is_not_deployed_anew(nine: Simulator) -> None:
    marks = {"metalshift_claim": "web", "metalshift_cluster": "prod"}
    nine.machine("worker", status="Allocated", agent_name="web", annotations=marks)
    outcome = web(nine, 1)
    assert "hosted cluster prod uses it" in outcome.msg
    assert not nine.requests.writes()


def test_a_member_without_its_annotation_gets_it(nine: Simulator) -> None:
    nine.machine("bare", status="Deployed", agent_name="web")
    assert web(nine, 1).changed
    assert nine.find("bare").annotations == {"metalshift_claim": "web"}
    assert not web(nine, 1).changed


def test_a_member_that_is_repaired_counts_and_is_left_alone(nine: Simulator) -> None:
    web(nine, 2)
    name = held(nine)[0].hostname
    with nine.world.at_rest():
        nine.world.engine.enter(nine.find(name), Status.RESCUE_MODE)
    outcome = web(nine, 2)
    assert (outcome.failed, outcome.changed) == (False, False)
    assert outcome["summary"] == {"deployed": 1, "rescue_mode": 1}


def test_a_broken_member_is_replaced_and_reported(nine: Simulator) -> None:
    web(nine, 2)
    name = held(nine)[0].hostname
    run_task(nine, "machine", {"machines": [name], "state": "broken", "claim": "web", **QUICK})
    outcome = web(nine, 2)
    assert not outcome.failed, outcome.msg
    assert outcome["summary"] == {"deployed": 2}
    assert any(name in warning and "Broken" in warning for warning in outcome["warnings"])
    gone = web(nine, state="absent")
    assert gone.failed
    assert name in gone.msg
    assert not web(nine, state="absent", recover=["broken"]).failed
    assert not held(nine)


def test_another_user_s_claim_is_refused(nine: Simulator) -> None:
    nine.machine("theirs", status="Deployed", agent_name="web", owner="MAAS")
    outcome = web(nine, 1)
    assert outcome["failure"]["kind"] == "claimed"
    assert "MAAS holds theirs under it" in outcome.msg


# -- check mode --------------------------------------------------------------------------------------------------------


def test_check_mode_foretells_zones_and_states(nine: Simulator) -> None:
    nine.requests.clear()
    foreseen = web(nine, 6, check=True)
    assert nine.requests.writes() == []
    assert foreseen.changed
    assert foreseen["summary"] == {"deployed": 6}
    assert Counter(machine["zone"] for machine in foreseen["machines"]) == {"az1": 2, "az2": 2, "az3": 2}
    assert all(machine["predicted"] for machine in foreseen["machines"])
    done = web(nine, 6)
    assert foreseen["diff"] == done["diff"]
    assert {one["hostname"] for one in foreseen["machines"]} == {one["hostname"] for one in done["machines"]}


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize("module", ["machine", "machine_set"])
def test_a_result_has_the_keys_that_are_documented(nine: Simulator, module: str, check: bool) -> None:
    args = {"machine": {"machines": ["node01"], "state": "allocated"}, "machine_set": {"claim": "web", "count": 1}}
    done = run_task(nine, module, {**args[module], "wait_sleep": 0.02}, check=check)
    loaded = importlib.import_module(f"ansible_collections.metalshift.maas.plugins.modules.{module}")
    documented = set(yaml.safe_load(loaded.RETURN)["machines"]["contains"])
    (said,) = done["machines"]
    assert set(said) - documented == set()
    assert documented - set(said) <= {"failed", "failure", "predicted"}


def test_a_plan_says_which_machines_a_set_takes_and_why(nine: Simulator) -> None:
    foreseen = web(nine, 2, check=True, distro_series="jammy", user_data="#cloud-config\n{}\n")
    taken = [action for action in foreseen["plan"] if action["action"] == "allocate"]
    assert [action["object"] for action in taken] == [machine["hostname"] for machine in foreseen["machines"]]
    assert taken[0]["reason"] == "2 of 2 are missing; in az1 MAAS takes the smallest that fits first"
    assert (taken[0]["after"]["claim"], taken[0]["after"]["zone"]) == ("web", "az1")
    (deployment, _other) = [action["after"] for action in foreseen["plan"] if action["action"] == "deploy"]
    assert deployment["distro_series"] == "jammy"
    assert deployment["user_data"].startswith("sha256:")
    assert foreseen.screen.shown[-1].endswith(" to allocate and deploy 2")


@pytest.mark.parametrize(
    ("option", "erase", "totals"),
    [
        ({}, "as MAAS is set up", "to release 2"),
        ({"erase": True}, True, "to erase and release 2"),
        ({"erase": False}, False, "to release 2"),
    ],
)
def test_a_plan_says_whether_disks_are_erased(
    nine: Simulator, option: Mapping[str, object], erase: object, totals: str
) -> None:
    web(nine, 2, state="allocated")
    foreseen = web(nine, 0, check=True, **option)
    assert [(action["action"], action["after"]["erase"]) for action in foreseen["plan"]] == [("release", erase)] * 2
    assert foreseen.screen.shown[-1].endswith(totals)


def test_check_mode_works_where_there_is_nothing_yet(sim: Simulator) -> None:
    foreseen = web(sim, 2, check=True)
    assert not foreseen.failed, foreseen.msg
    assert [(one["hostname"], one["predicted"]) for one in foreseen["machines"]] == [(None, True)] * 2
    assert foreseen["summary"] == {"deployed": 2}
    assert foreseen["warnings"] == ["Only 0 of 2 further machines for the claim web are Ready now."]


def test_check_mode_foretells_what_is_given_back(nine: Simulator) -> None:
    web(nine, 4)
    foreseen = web(nine, 1, check=True)
    assert len(foreseen["released"]) == 3
    assert foreseen["summary"] == {"deployed": 1}
    assert len(held(nine)) == 4


def test_a_refused_annotation_ends_the_run(nine: Simulator) -> None:
    nine.fault("conflict", op="set_workload_annotations", text="Not now.", hits=0)
    outcome = web(nine, 2)
    assert outcome.failed
    assert "Not now." in outcome.msg
    nine.clear()
    assert web(nine, 2)["summary"] == {"deployed": 2}
