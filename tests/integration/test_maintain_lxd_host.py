# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook that takes LXD hosts out of use, on hosts whose LXD is in memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import ansible_runner
import pytest

from integration.harness import passed_by_awx, run_task
from integration.maintaining import PLAYBOOK, SET, Maintenance
from integration.vm_hosts import QUICK
from metalshift_lab.simulator import Simulator

pytestmark = pytest.mark.playbooks

STOP = {"vms": "stop", "shutdown": "hard"}


@pytest.fixture
def at(sim: Simulator, tmp_path: Path) -> Maintenance:
    return Maintenance.at(sim, tmp_path)


def place_of(at: Maintenance) -> str:
    return " ".join(f"{name}@{host}" for name, host in sorted(at.hosts.in_lxd.items()))


# -- what becomes of the VMs ------------------------------------------------------------------------------------------


def test_a_host_whose_vms_run_is_closed_and_they_are_named(at: Maintenance) -> None:
    played = at.play()
    assert played.status != 0
    assert (
        "On kvm1, to which nothing new comes now, there still run cp-1 (claim cp). Stop them and run this again, or "
        "set lxd_maintenance_vms to stop or recreate."
    ) in played.output
    assert "run this again with lxd_maintenance_hosts: [kvm1]; or give kvm1 back as it is" in played.output
    assert at.is_closed()
    assert set(at.power().values()) == {"on"}
    played = at.done(ignored_vms=["cp-1"])
    assert "nothing runs there but cp-1" in played.output
    at.done(state="returned")
    assert at.as_before()


def test_vms_are_shut_down_by_their_host_and_started_when_it_is_given_back(at: Maintenance) -> None:
    at.hosts.servers["kvm1"].door.requests.clear()
    played = at.done(vms="stop")
    assert "kvm1 is out of use: nothing new comes there, and nothing runs there. When the work is done" in played.output
    assert (at.power(), at.is_closed()) == ({"cp-1": "off", "cp-2": "on", "cp-3": "on"}, True)
    (asked,) = [entry for entry in at.hosts.servers["kvm1"].door.requests.writes() if entry.path.endswith("/state")]
    assert asked.path == "/1.0/instances/cp-1/state"
    again = at.done(vms="stop")
    assert "changed=0" in again.output
    assert at.remembered == ["lxd-stopped-kvm1"]
    at.done(state="returned")
    assert at.as_before()
    assert "changed=0" in at.done(state="returned").output


def test_a_vm_that_does_not_shut_down_stops_the_run_before_the_work(at: Maintenance) -> None:
    at.environment["LAB_LXC"] = "--stubborn"
    played = at.play(vms="stop", tasks=str(at.folder / "work.yml"))
    assert played.status != 0
    assert "context deadline exceeded" in played.output
    assert "Look at its console, or set lxd_maintenance_shutdown: hard" in played.output
    assert at.worked_on == []
    at.done(tasks="work.yml", **STOP)
    assert (at.worked_on, at.as_before()) == (["kvm1"], True)


def test_sets_are_made_again_elsewhere_under_their_names_and_addresses(at: Maintenance) -> None:
    before = at.hosts.addresses()
    at.done(vms="recreate", sets=[dict(SET)], tasks="work.yml")
    assert place_of(at) == "cp-1@kvm2 cp-2@kvm2 cp-3@kvm3"
    assert (at.hosts.addresses(), at.is_closed(), at.worked_on) == (before, False, ["kvm1"])


def test_what_is_of_no_named_set_is_not_made_again(at: Maintenance) -> None:
    at.hosts.clear()
    played = at.play(vms="recreate", sets=[{**SET, "claim": "other"}])
    assert played.status != 0
    assert "there still run cp-1 (claim cp). Name the sets that they are of in lxd_maintenance_sets" in played.output
    assert place_of(at).startswith("cp-1@kvm1")


def test_nothing_is_lost_to_hosts_without_room(at: Maintenance) -> None:
    played = at.play(vms="recreate", sets=[{**SET, "max_per_host": 1}])
    assert played.status != 0
    assert "1 of 3 VMs of the claim cp cannot be placed: kvm1: " in played.output
    assert (place_of(at).split()[0], at.power()["cp-1"]) == ("cp-1@kvm1", "on")


# -- several hosts -----------------------------------------------------------------------------------------------------


def test_hosts_are_worked_on_one_after_the_other_and_vms_that_were_off_stay_off(at: Maintenance) -> None:
    run_task(at.hosts.sim, "machine", {"machines": ["cp-2"], "claim": "cp", "power": "off", **QUICK})
    at.done(hosts="kvm3, kvm1,kvm2", tasks="work.yml", **STOP)
    assert at.worked_on == ["kvm3", "kvm1", "kvm2"]
    assert (at.power(), at.remembered) == ({"cp-1": "on", "cp-2": "off", "cp-3": "on"}, [])


def test_the_first_failure_stops_the_run_and_says_how_it_goes_on(at: Maintenance) -> None:
    (at.folder / "work.yml").write_text(
        "- name: Fail on the second\n"
        "  ansible.builtin.fail:\n    msg: The firmware does not fit.\n  when: lxd_maintenance_host == 'kvm2'\n"
    )
    played = at.play(hosts=["kvm1", "kvm2", "kvm3"], tasks="work.yml", **STOP)
    assert played.status != 0
    assert (
        "The firmware does not fit. The hosts before kvm2 are done, and those after it were not touched."
        in played.output
    )
    assert "lxd_maintenance_hosts: [kvm2, kvm3]; or give kvm2 back as it is" in played.output
    assert (at.power(), at.is_closed("kvm2")) == ({"cp-1": "on", "cp-2": "off", "cp-3": "on"}, True)
    at.done(hosts=["kvm2"], state="returned")
    assert at.as_before()


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"hosts": ["kvm1", "kvm9"]}, "MAAS has no VM host kvm9. Nothing was done."),
    ({"tasks": "/nowhere.yml"}, "There is no file /nowhere.yml. Nothing was done to kvm1."),
    ({"state": "worked"}, "lxd_maintenance_state: worked needs lxd_maintenance_tasks. Nothing was done to kvm1."),
]


@pytest.mark.parametrize(("given", "says"), WRONG, ids=[says[:40] for _given, says in WRONG])
def test_what_is_wrong_is_said_before_anything_is_done(at: Maintenance, given: dict[str, Any], says: str) -> None:
    played = at.play(**given)
    assert played.status != 0
    assert says in played.output
    assert at.hosts.writes() == []


# -- what a run must not do --------------------------------------------------------------------------------------------


PLANS: list[dict[str, Any]] = [
    {},
    {**STOP, "tasks": "work.yml"},
    {"vms": "recreate", "sets": [dict(SET)], "tasks": "work.yml"},
    {"state": "returned"},
]


@pytest.mark.parametrize("given", PLANS, ids=str)
def test_check_mode_writes_nothing_and_shows_the_plan(at: Maintenance, given: dict[str, Any]) -> None:
    foreseen = at.done("--check", "--diff", **given)
    assert (at.hosts.writes(), at.worked_on) == ([], [])
    for word in {"stop": ["cp-1", "off"], "recreate": ["kvm1 is evacuated", "on kvm2"]}.get(given.get("vms", ""), []):
        assert word in foreseen.stdout


def test_it_runs_under_ansible_runner_as_awx_runs_it(at: Maintenance) -> None:
    done = ansible_runner.run(
        private_data_dir=str(at.folder),
        playbook=PLAYBOOK,
        inventory=str(at.folder / "inventory.ini"),
        extravars={
            **passed_by_awx("maintain_lxd_host"),
            "lxd_maintenance_hosts": ["kvm1"],
            "lxd_maintenance_vms": "stop",
            "lxd_maintenance_shutdown": "hard",
        },
        envvars={
            "MAAS_ENDPOINT": at.hosts.sim.url,
            "MAAS_API_KEY": at.hosts.sim.api_key,
            "ANSIBLE_COLLECTIONS_PATH": os.environ["ANSIBLE_COLLECTIONS_PATH"],
        },
        quiet=True,
    )
    assert done.status == "successful"
    assert at.power()["cp-1"] == "off"
