# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""VMs and sets of them: what is made, where it goes, who is in the way. Both ways pass the same tests."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._http import client as http_client
from integration.arranging import client, link, plain_user, reserve
from integration.cases import Args, Case
from integration.harness import Outcome, assert_no_secret, run_task
from integration.test_twelve_steps import STEPS, assert_predicted
from integration.vm_hosts import QUICK, Hosts
from metalshift_lab.authority import self_signed
from metalshift_lab.simulator import Simulator, lxd
from metalshift_lab.simulator.http import Request, Response
from metalshift_lab.simulator.lxd import Certificate, Instance, Network
from metalshift_lab.simulator.lxd.door import Door
from metalshift_lab.simulator.lxd.instance import RUNNING
from metalshift_lab.simulator.server import Answer

WAYS = ("maas", "lxd")
SUBNET = "10.99.0.0/24"
ADDRESSES = [{"addresses": ["10.99.0.71-10.99.0.79"]}]
BIG = {"cores": 2, "memory": "4GiB", "disks": [{"size": "20GB"}, {"size": "30GB"}]}


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses between attempts are nothing that these tests are about."""
    monkeypatch.setattr(http_client, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(http_client, "LONGEST_PAUSE", 0.001)


@pytest.fixture
def hosts(sim: Simulator) -> Hosts:
    """Three hosts in three zones."""
    return Hosts.up(sim)


def place_of(hosts: Hosts) -> str:
    return " ".join(f"{name}@{host}" for name, host in sorted(hosts.in_lxd.items()))


# -- a life -----------------------------------------------------------------------------------------------------------


def furnish(sim: Simulator) -> None:
    sim.machine("other", zone="az7", pool="virtual", tags=["fast"])
    client(sim).post("domains/", {"name": "lab.example.com"})
    sim.requests.clear()


LIVES: list[Case] = [
    Case(
        "vm",
        create={"hostname": "web", **BIG, "interfaces": [{"ip": "10.99.0.61"}], "domain": "lab.example.com"},
        change={"hostname": "web", "zone": "az7", "pool": "virtual", "tags": ["fast"]},
        delete={"hostname": "web", "state": "absent"},
        arrange=furnish,
    ),
    Case(
        "vm",
        name="vm of which nothing is said",
        create={"hostname": "web"},
        change={"hostname": "web", "interfaces": [{"ip": "10.99.0.61"}]},
        delete={"hostname": "web", "state": "absent"},
    ),
    Case(
        "vm_set",
        noun="vms",
        create={"claim": "cp", "count": 3, **BIG, "interfaces": ADDRESSES, "max_per_host": 1},
        change={"claim": "cp", "count": 5, **BIG, "interfaces": ADDRESSES, "spread": "host"},
        delete={"claim": "cp", "state": "absent"},
    ),
    Case(
        "vm_set",
        name="vm_set that shrinks",
        noun="vms",
        create={"claim": "cp", "count": 4, "pinned": True, "cores": 2},
        change={"claim": "cp", "count": 2, "tags": ["fast"]},
        delete={"claim": "cp", "count": 0},
        arrange=furnish,
    ),
]


@pytest.mark.parametrize("via", WAYS)
@pytest.mark.parametrize("case", LIVES, ids=str)
def test_the_twelve_steps_either_way(hosts: Hosts, case: Case, via: str) -> None:
    case.arrange(hosts.sim)
    before = list(hosts.in_maas)
    for step, changes in STEPS:
        where = f"{case}: {step}{'' if changes else ' again'}"
        args: Args = getattr(case, step)
        hosts.clear()
        foreseen = hosts.run(case.module, via, check=True, **args)
        assert hosts.writes() == [], f"{where} in check mode wrote"
        done = hosts.run(case.module, via, **args)
        for outcome in (foreseen, done):
            assert not outcome.failed, f"{where}: {outcome.msg}"
            assert (outcome.changed, bool(outcome["diff"])) == (changes, changes), where
        assert bool(hosts.writes()) == changes, f"{where}: {hosts.writes()}"
        assert foreseen["diff"] == done["diff"], where
        if step == "create" and changes:
            assert_predicted(case, foreseen, done, where)
    assert (hosts.in_lxd, list(hosts.in_maas), hosts.volumes) == ({}, before, [])


@pytest.mark.parametrize("via", WAYS)
def test_a_vm_is_what_was_asked_for(hosts: Hosts, via: str) -> None:
    nics = [{"subnet": SUBNET, "ip": "10.99.0.61"}, {"subnet": SUBNET, "ip": "dhcp"}]
    came = hosts.run("vm", via, hostname="web", **BIG, interfaces=nics, hosts=["kvm2"], tags=[])
    vm = came["vm"]
    assert {key: vm[key] for key in ("vm_host", "status_name", "cpu_count", "memory", "zone", "pool")} == {
        "vm_host": "kvm2", "status_name": "Ready", "cpu_count": 2, "memory": 4096, "zone": "az2", "pool": "default",
    }  # fmt: skip
    machine = hosts.in_maas["web"]
    links = [nic.links[0] for nic in machine.interfaces]
    assert [(one.mode, one.ip) for one in links] == [("static", "10.99.0.61"), ("dhcp", None)]
    assert sorted(disk.size for disk in machine.disks) == [20 * 10**9, 30 * 10**9]
    instance = hosts.servers["kvm2"].projects["maas"]["web"]
    assert instance.config["security.secureboot"] == "false"
    assert machine.power_type == "lxd"


@pytest.mark.parametrize("via", WAYS)
def test_what_one_way_made_the_other_finds(hosts: Hosts, via: str) -> None:
    made = hosts.run("vm_set", via, claim="cp", count=2)
    assert not made.failed, made.msg
    other = "lxd" if via == "maas" else "maas"
    found = hosts.run("vm_set", other, claim="cp", count=2)
    assert (found.failed, found.changed) == (False, False), found.msg
    gone = hosts.run("vm_set", "lxd", claim="cp", state="absent")
    assert not gone.failed, gone.msg
    assert (hosts.in_lxd, hosts.in_maas) == ({}, {})


def test_maas_alone_does_not_remove_what_would_stay_in_lxd(hosts: Hosts) -> None:
    hosts.run("vm", "lxd", hostname="web")
    came = hosts.run("vm", "maas", hostname="web", state="absent")
    assert came["failure"]["kind"] == "conflict"
    assert "web cannot be removed by MAAS alone: it is no VM of a VM host, and would stay in LXD." in came.msg
    assert (list(hosts.in_lxd), list(hosts.in_maas)) == (["web"], ["web"])


@pytest.mark.parametrize("via", WAYS)
def test_a_deployed_vm_is_released_and_removed(hosts: Hosts, via: str) -> None:
    hosts.run("vm", via, hostname="web")
    deployed = run_task(hosts.sim, "machine", {"machines": ["web"], "state": "deployed", **QUICK})
    assert not deployed.failed, deployed.msg
    assert not hosts.run("vm", via, hostname="web").changed
    gone = hosts.run("vm", via, hostname="web", state="absent")
    assert not gone.failed, gone.msg
    assert (hosts.in_lxd, hosts.in_maas) == ({}, {})


# -- another size ------------------------------------------------------------------------------------------------------

NOT_CHANGEABLE: Mapping[str, str] = {
    "maas": "2 cores, not 3, and 4 GiB of memory, not 8 GiB, and disks of 20 GB and 30 GB, not 20 GB, "
    "and the size of a VM is not changeable in MAAS.",
    "lxd": "disks of 20 GB and 30 GB, not 20 GB, and the disks of a VM are not changeable.",
}


@pytest.mark.parametrize("via", WAYS)
def test_what_is_not_changeable_of_a_size_is_said(hosts: Hosts, via: str) -> None:
    hosts.run("vm", via, hostname="web", **BIG)
    hosts.clear()
    came = hosts.run("vm", via, hostname="web", cores=3, memory="8GiB", disks=[{"size": "20GB"}])
    assert came["failure"]["kind"] == "conflict"
    assert came.msg.startswith(f"web has {NOT_CHANGEABLE[via]}")
    assert hosts.writes() == []
    hosts.run("vm_set", via, claim="cp", count=1, cores=2)
    hosts.clear()
    came = hosts.run("vm_set", via, claim="cp", count=1, cores=4)
    assert came["warnings"] == ["cp-1 has 2 cores, not 4. It stays so: a set does not change the size of its VMs."]
    assert (came.changed, hosts.writes()) == (False, [])


def stop(hosts: Hosts, name: str = "web", runs: bool = False) -> None:
    hosts.servers[hosts.in_lxd[name]].projects["maas"][name].running = runs


# What a VM is made with, what is asked for then, and what LXD gives it.
RESIZED: Mapping[str, tuple[Args, Args, Mapping[str, str]]] = {
    "more": (BIG, {"cores": 3, "memory": "8GiB"}, {"limits.cpu": "3", "limits.memory": "8192MiB"}),
    "less": (BIG, {"cores": 1}, {"limits.cpu": "1", "limits.memory": "4096MiB"}),
    "cores of its own": ({"cores": 2}, {"cores": 2, "pinned": True}, {"limits.cpu": "0-0,1-1"}),
    "certain cores": ({"cores": 2, "pinned": True}, {"pinned_cores": [5, 7]}, {"limits.cpu": "5-5,7-7"}),
    "more cores of its own": ({"cores": 2, "pinned": True}, {"cores": 3}, {"limits.cpu": "0-0,1-1,2-2"}),
    "memory beside cores of its own": (
        {"pinned_cores": [4, 6]},
        {"memory": "3GiB"},
        {"limits.cpu": "4-4,6-6", "limits.memory": "3072MiB"},
    ),
    "huge pages": ({"cores": 2}, {"hugepages": True}, {"limits.memory.hugepages": "true"}),
}


@pytest.mark.parametrize(("made", "wish", "limits"), RESIZED.values(), ids=RESIZED)
def test_a_stopped_vm_gets_another_size_in_lxd_and_maas_learns_it(
    hosts: Hosts, made: Args, wish: Args, limits: Mapping[str, str]
) -> None:
    nics = [{"ip": "10.99.0.61"}]
    hosts.run("vm", "lxd", hostname="web", interfaces=nics, **made)
    stop(hosts)
    hosts.clear()
    foreseen = hosts.run("vm", "lxd", check=True, hostname="web", **wish)
    assert hosts.writes() == []
    came = hosts.run("vm", "lxd", hostname="web", **wish)
    assert not came.failed, came.msg
    assert (foreseen["diff"], foreseen.changed) == (came["diff"], True)
    instance = hosts.servers["kvm1"].projects["maas"]["web"]
    assert {key: instance.config.get(key) for key in limits} == limits
    vm, machine = came["vm"], hosts.in_maas["web"]
    figures = {"cpu_count": wish.get("cores"), "memory": {"8GiB": 8192, "3GiB": 3072}.get(wish.get("memory"))}
    for name, figure in figures.items():
        assert figure in (None, vm[name]), name
        assert figure in (None, foreseen["vm"][name]), name
    assert (machine.status.label, hosts.addresses()) == ("Ready", {"web": ["10.99.0.61"]})
    stop(hosts)
    again = hosts.run("vm", "lxd", hostname="web", **wish)
    assert (again.failed, again.changed, again.result.get("warnings")) == (False, False, None), again.msg


def test_a_running_vm_is_said_to_be_changeable_when_it_is_stopped(hosts: Hosts) -> None:
    hosts.run("vm", "lxd", hostname="web", **BIG)
    stop(hosts, runs=True)
    hosts.clear()
    for check in (True, False):
        came = hosts.run("vm", "lxd", check=check, hostname="web", cores=3)
        assert came["failure"]["kind"] == "conflict"
        assert came.msg == (
            "web has 2 cores, not 3, which is changeable when it is stopped, and it runs. Switch it off with "
            "metalshift.maas.machine and power: off, and run this task again."
        )
    assert hosts.writes() == []


def test_a_host_is_not_made_to_give_more_than_it_has(hosts: Hosts) -> None:
    hosts.run("vm", "lxd", hostname="web", hosts=["kvm2"], **BIG)
    hosts.run("vm", "lxd", hostname="neighbour", hosts=["kvm2"], memory="20GiB", pinned=True, cores=2)
    stop(hosts)
    hosts.clear()
    for wish, why in (
        ({"memory": "16GiB"}, "kvm2: needs 16 GiB, 12 GiB free."),
        ({"pinned_cores": [1, 2]}, "kvm2: needs core 1 and 2 for itself."),
    ):
        came = hosts.run("vm", "lxd", hostname="web", **wish)
        assert came["failure"]["kind"] == "capacity"
        assert f"web in its new size cannot be placed: {why}" in came.msg
    assert hosts.writes() == []
    assert hosts.run("vm", "lxd", hostname="web", memory="12GiB").changed


def test_of_a_deployed_vm_maas_keeps_the_former_figures_until_it_is_ready(hosts: Hosts) -> None:
    hosts.run("vm", "lxd", hostname="web", **BIG)
    deployed = {"machines": ["web"], "state": "deployed", **QUICK}
    assert not run_task(hosts.sim, "machine", deployed).failed
    assert not run_task(hosts.sim, "machine", {**deployed, "power": "off"}).failed
    says = "MAAS goes on saying that web has 2 cores, not 3, until it is ready and this task is run again"
    for changes in (True, False):
        came = hosts.run("vm", "lxd", hostname="web", cores=3)
        assert (came.changed, came["vm"]["cpu_count"], came["vm"]["status_name"]) == (changes, 2, "Deployed"), came.msg
        assert says in came["warnings"][0]
    assert not run_task(hosts.sim, "machine", {"machines": ["web"], "state": "ready", **QUICK}).failed
    came = hosts.run("vm", "lxd", hostname="web", cores=3)
    assert (came.changed, came["vm"]["cpu_count"], came.result.get("warnings")) == (True, 3, None), came.msg


def test_a_vm_that_somebody_else_holds_is_not_changed(hosts: Hosts) -> None:
    hosts.run("vm", "lxd", hostname="web", **BIG)
    held = {"machines": ["web"], "state": "allocated", "claim": "db", **QUICK}
    assert not run_task(hosts.sim, "machine", held).failed
    stop(hosts)
    hosts.clear()
    came = hosts.run("vm", "lxd", hostname="web", cores=3)
    assert (came["failure"]["kind"], hosts.writes()) == ("claimed", [])
    assert "web has 2 cores, not 3, and cannot be changed: it is held by claim db." in came.msg


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_resize_whose_answer_is_lost_is_done_once(hosts: Hosts, when: str) -> None:
    hosts.run("vm", "lxd", hostname="web", **BIG)
    stop(hosts)
    hosts.servers["kvm1"].fault("drop", when=when, method="PATCH")
    came = hosts.run("vm", "lxd", hostname="web", cores=3)
    assert (came.failed, came["vm"]["cpu_count"]) == (False, 3), came.msg


def test_a_run_that_ends_between_lxd_and_maas_is_completed(hosts: Hosts) -> None:
    hosts.run("vm", "lxd", hostname="web", **BIG)
    stop(hosts)
    hosts.sim.fault("error", status=400, text="not now", method="POST", op="commission")
    assert hosts.run("vm", "lxd", hostname="web", cores=3).failed
    assert hosts.servers["kvm1"].projects["maas"]["web"].config["limits.cpu"] == "3"
    came = hosts.run("vm", "lxd", hostname="web", cores=3)
    assert (came.failed, came.changed, came["vm"]["cpu_count"]) == (False, True, 3), came.msg
    assert not hosts.run("vm", "lxd", hostname="web", cores=3).changed


@pytest.mark.parametrize("via", WAYS)
def test_vms_leave_a_host_as_check_mode_says_and_keep_their_names_and_addresses(hosts: Hosts, via: str) -> None:
    template = {"claim": "cp", "count": 3, **BIG, "interfaces": ADDRESSES}
    hosts.run("vm_set", via, **template)
    before = hosts.addresses()
    hosts.clear()
    foreseen = hosts.run("vm_set", via, check=True, **template, evacuate=["kvm2"])
    assert hosts.writes() == []
    done = hosts.run("vm_set", via, **template, evacuate=["kvm2"])
    assert not done.failed, done.msg
    assert foreseen["diff"] == done["diff"]
    assert done["removed"] == [{"hostname": "cp-2", "vm_host": "kvm2", "reason": "kvm2 is evacuated"}]
    assert place_of(hosts) == "cp-1@kvm1 cp-2@kvm1 cp-3@kvm3"
    assert (hosts.addresses(), done["summary"]) == (before, {"ready": 3})
    assert not hosts.run("vm_set", via, **template, evacuate=["kvm2"]).changed


@pytest.mark.parametrize("via", WAYS)
def test_nothing_is_removed_from_a_host_without_room_elsewhere(hosts: Hosts, via: str) -> None:
    hosts.run("vm_set", via, claim="cp", count=3, max_per_host=1)
    hosts.clear()
    came = hosts.run("vm_set", via, claim="cp", count=3, max_per_host=1, evacuate=["kvm2"])
    assert came["failure"]["kind"] == "capacity"
    assert hosts.writes() == []


# -- where they go -----------------------------------------------------------------------------------------------------

PLACED: Mapping[str, tuple[Args, str]] = {
    "over zones": ({"count": 4}, "cp-1@kvm1 cp-2@kvm2 cp-3@kvm3 cp-4@kvm1"),
    "on named hosts": ({"count": 3, "hosts": ["kvm2", "kvm3"]}, "cp-1@kvm2 cp-2@kvm3 cp-3@kvm2"),
    "in a zone": ({"count": 2, "host_zones": ["az2"]}, "cp-1@kvm2 cp-2@kvm2"),
    "away from no tags": ({"count": 1, "not_host_tags": []}, "cp-1@kvm1"),
    "wherever the load is least": ({"count": 2, "spread": "none"}, "cp-1@kvm1 cp-2@kvm2"),
}


@pytest.mark.parametrize("via", WAYS)
@pytest.mark.parametrize(("args", "places"), PLACED.values(), ids=PLACED)
def test_a_set_is_placed_as_check_mode_says(hosts: Hosts, via: str, args: Args, places: str) -> None:
    foreseen = hosts.run("vm_set", via, check=True, claim="cp", **args)
    assert " ".join(f"{vm['hostname']}@{vm['vm_host']}" for vm in foreseen["vms"]) == places
    hosts.run("vm_set", via, claim="cp", **args)
    assert place_of(hosts) == places


@pytest.mark.parametrize("via", WAYS)
def test_what_cannot_be_placed_is_said_for_every_host_and_nothing_is_made(hosts: Hosts, via: str) -> None:
    run_task(hosts.sim, "vm_host", {"name": "kvm3", "schedulable": False, **QUICK})
    hosts.clear()
    came = hosts.run("vm_set", via, claim="cp", count=3, memory="20GiB", max_per_host=1)
    assert came["failure"]["kind"] == "capacity"
    assert came.msg.startswith("1 of 3 VMs of the claim cp cannot be placed: ")
    for said in (
        "kvm1: needs 20 GiB, 12 GiB free after 1 of them, and has 1 of them (max_per_host: 1)",
        "kvm3: unschedulable",
    ):
        assert said in came.msg
    assert (hosts.writes(), hosts.in_lxd) == ([], {})


# The limits of the project, what is asked for, and why there is no room for the third VM on any of the hosts.
WITHIN: Mapping[str, tuple[Mapping[str, str], Args, str]] = {
    "cores": ({"limits.cpu": "3"}, {"cores": 2}, "needs 2 cores within the limits of its project, 1 free after 1"),
    "memory": (
        {"limits.memory": "5GiB"},
        {"memory": "3GiB"},
        "needs 3 GiB of memory within the limits of its project, 2 GiB free after 1",
    ),
    "storage": (
        {"limits.disk": "50GB"},
        {"disks": [{"size": "20GB"}, {"size": "10GB"}]},
        "needs 30 GB of storage within the limits of its project, 20 GB free after 1",
    ),
    "VMs": ({"limits.virtual-machines": "1"}, {}, "needs 1 VM within the limits of its project, 0 free after 1"),
    "instances": ({"limits.instances": "1"}, {}, "needs 1 instance within the limits of its project, 0 free after 1"),
    "pins": ({"limits.cpu": "9"}, {"pinned": True}, "its project limits cores, and LXD pins none then"),
}


@pytest.mark.parametrize(("limits", "args", "says"), WITHIN.values(), ids=WITHIN)
def test_nothing_is_made_that_the_limits_of_the_project_have_no_room_for(
    hosts: Hosts, limits: Mapping[str, str], args: Args, says: str
) -> None:
    for server in hosts.servers.values():
        server.about("maas").config |= limits
    came = hosts.run("vm_set", "lxd", claim="cp", count=4, **args)
    assert (came["failure"]["kind"], says in came.msg) == ("capacity", True), came.msg
    assert (hosts.writes(), hosts.in_lxd) == ([], {})
    fits = hosts.run("vm_set", "lxd", claim="cp", count=3, **args)
    assert (fits.failed, sorted(hosts.in_lxd.values())) == (
        "pinned" in args,
        sorted(hosts.servers)[: len(hosts.in_lxd)],
    )


def test_storage_that_is_promised_already_is_no_room(hosts: Hosts) -> None:
    """A pool says what has been written; what its disks may come to hold is more."""
    big = {"disks": [{"size": "200GB"}, {"size": "100GB"}]}
    first = hosts.run("vm_set", "lxd", claim="a", count=1, hosts=["kvm1"], **big)
    assert not first.failed, first.msg
    hosts.clear()
    came = hosts.run("vm_set", "lxd", claim="b", count=1, hosts=["kvm1"], **big)
    assert (came["failure"]["kind"], hosts.writes()) == ("capacity", []), came.msg
    assert "kvm1: needs 300 GB in storage pool default, 200 GB free" in came.msg


@pytest.mark.parametrize("via", WAYS)
def test_a_smaller_set_gives_up_those_on_closed_hosts_first(hosts: Hosts, via: str) -> None:
    hosts.run("vm_set", via, claim="cp", count=4)
    run_task(hosts.sim, "vm_host", {"name": "kvm2", "schedulable": False, **QUICK})
    came = hosts.run("vm_set", via, claim="cp", count=2)
    assert [(vm["hostname"], vm["reason"]) for vm in came["removed"]] == [
        ("cp-2", "kvm2 is unschedulable"),
        ("cp-4", "one of the last: 2 of 4 stay"),
    ]
    assert place_of(hosts) == "cp-1@kvm1 cp-3@kvm3"
    assert (came["hosts"], came["summary"]) == ({"kvm1": 1, "kvm3": 1}, {"ready": 2})


@pytest.mark.parametrize("via", WAYS)
def test_a_lost_vm_is_made_anew_with_its_address(hosts: Hosts, via: str) -> None:
    wish = {"claim": "cp", "count": 3, "interfaces": ADDRESSES}
    hosts.run("vm_set", via, **wish)
    hosts.run("vm", via, hostname="cp-2", state="absent")
    came = hosts.run("vm_set", via, **wish)
    assert not came.failed, came.msg
    assert [vm["changed"] for vm in came["vms"]] == [False, False, True]
    assert hosts.addresses() == {f"cp-{number}": [f"10.99.0.7{number}"] for number in (1, 2, 3)}


@pytest.mark.parametrize("via", WAYS)
def test_a_host_that_is_on_no_such_network_is_passed_over(hosts: Hosts, via: str) -> None:
    maas = client(hosts.sim)
    fabric = maas.post("fabrics/", {"name": "far"})
    vlan = fabric["vlans"][0]["id"]
    maas.post("subnets/", {"cidr": "10.7.0.0/24", "name": "far", "vlan": vlan})
    came = hosts.run("vm", via, hostname="web", interfaces=[{"subnet": "far"}])
    assert came["failure"]["kind"] == "capacity"
    assert "kvm1: not on subnet far; kvm2: not on subnet far" in came.msg


# -- what is in the way ------------------------------------------------------------------------------------------------


def a_machine_of_that_name(hosts: Hosts) -> None:
    hosts.sim.machine("web")
    hosts.sim.machine("cp-1")


def a_machine_with_the_address(hosts: Hosts) -> None:
    hosts.sim.machine("node-9")
    link(hosts.sim, "node-9", "eth0", "10.99.0.61")


def a_user_with_the_address(hosts: Hosts) -> None:
    reserve(hosts.sim, "10.99.0.61", key=plain_user(hosts.sim))


def nothing(_hosts: Hosts) -> None:
    """The three hosts are enough."""


# Module, options, what is there before, the kind of failure, and words of the sentence.
IN_THE_WAY: Mapping[str, tuple[str, Args, Callable[[Hosts], None], str, str]] = {
    "a machine": (
        "vm",
        {"hostname": "web"},
        a_machine_of_that_name,
        "conflict",
        "web is the hostname of a machine that is no VM.",
    ),
    "a machine for a set": (
        "vm_set",
        {"claim": "cp", "count": 1},
        a_machine_of_that_name,
        "conflict",
        "cp-1 is the hostname of a machine",
    ),
    "an address of a machine": (
        "vm",
        {"hostname": "web", "interfaces": [{"ip": "10.99.0.61"}]},
        a_machine_with_the_address,
        "conflict",
        "10.99.0.61 cannot be given to web: it is used by node-9 (eth0).",
    ),
    "an address of a user": (
        "vm",
        {"hostname": "web", "interfaces": [{"ip": "10.99.0.61"}]},
        a_user_with_the_address,
        "conflict",
        "10.99.0.61 cannot be given to web: it is reserved by bob.",
    ),
    "all addresses": (
        "vm_set",
        {"claim": "cp", "count": 1, "interfaces": [{"addresses": ["10.99.0.61", "10.99.0.1"]}]},
        a_machine_with_the_address,
        "conflict",
        "No static address is left for cp-1: 10.99.0.61 is used by node-9 (eth0), 10.99.0.1 is the gateway of",
    ),
    "too few addresses": (
        "vm_set",
        {"claim": "cp", "count": 2, "interfaces": [{"addresses": ["10.99.0.61"]}]},
        nothing,
        "invalid",
        "1 static addresses are too few for 2 VMs.",
    ),
    "no such subnet": (
        "vm",
        {"hostname": "web", "interfaces": [{"subnet": "moon"}]},
        nothing,
        "not_found",
        "MAAS has no subnet moon",
    ),
    "no such space": (
        "vm",
        {"hostname": "web", "interfaces": [{"space": "outer"}]},
        nothing,
        "not_found",
        "MAAS has no subnet on space outer.",
    ),
    "no such VLAN": (
        "vm",
        {"hostname": "web", "interfaces": [{"vlan": "vid:7"}]},
        nothing,
        "not_found",
        "MAAS has no subnet on VLAN vid:7.",
    ),
    "an address of nowhere": (
        "vm",
        {"hostname": "web", "interfaces": [{"ip": "192.0.2.1"}]},
        nothing,
        "not_found",
        "192.0.2.1 is in no subnet that MAAS has.",
    ),
    "an address of another subnet": (
        "vm",
        {"hostname": "web", "interfaces": [{"subnet": SUBNET, "ip": "192.0.2.1"}]},
        nothing,
        "invalid",
        f"192.0.2.1 is not in subnet {SUBNET}.",
    ),
    "no such zone": (
        "vm",
        {"hostname": "web", "zone": "az9"},
        nothing,
        "not_found",
        "web cannot be as wished: MAAS has no zone az9.",
    ),
    "no such tag": (
        "vm_set",
        {"claim": "cp", "count": 1, "tags": ["odd"]},
        nothing,
        "not_found",
        "MAAS has no tag odd.",
    ),
    "no such storage pool": (
        "vm",
        {"hostname": "web", "disks": [{"size": "8GB", "pool": "gold"}]},
        nothing,
        "capacity",
        "kvm1: no storage pool gold",
    ),
    "a full storage pool": (
        "vm",
        {"hostname": "web", "disks": [{"size": "2TB"}]},
        nothing,
        "capacity",
        "kvm1: needs 2 TB in storage pool default, has 500 GB",
    ),
    "no such host": ("vm", {"hostname": "web", "hosts": ["kvm9"]}, nothing, "capacity", "kvm1: not named kvm9"),
}


@pytest.mark.parametrize("via", WAYS)
@pytest.mark.parametrize(("module", "args", "arrange", "kind", "says"), IN_THE_WAY.values(), ids=IN_THE_WAY)
def test_what_is_in_the_way_is_said_before_anything_is_made(
    hosts: Hosts, via: str, module: str, args: Args, arrange: Callable[[Hosts], None], kind: str, says: str
) -> None:
    arrange(hosts)
    hosts.clear()
    came = hosts.run(module, via, **args)
    assert came.failed
    assert (came["failure"]["kind"], says in came.msg) == (kind, True), came.msg
    assert (hosts.writes(), hosts.in_lxd) == ([], {})


@pytest.mark.parametrize("via", WAYS)
def test_a_vm_that_another_claim_holds_is_not_touched(hosts: Hosts, via: str) -> None:
    hosts.run("vm_set", via, claim="cp", count=2)
    held = {"machines": ["cp-2"], "state": "allocated", "claim": "db", **QUICK}
    assert not run_task(hosts.sim, "machine", held).failed
    came = hosts.run("vm_set", via, claim="cp", count=2)
    assert (came["failure"]["kind"], came.msg) == (
        "claimed",
        "cp-2 is held by claim db. Choose another claim.",
    )
    came = hosts.run("vm", via, hostname="cp-2", state="absent")
    assert came["failure"]["kind"] == "claimed", came.msg
    assert sorted(hosts.in_lxd) == ["cp-1", "cp-2"]
    assert not hosts.run("vm", via, hostname="cp-2", state="absent", take_over=True).failed


# -- what a killed run left in LXD -------------------------------------------------------------------------------------


def leave_in_lxd(hosts: Hosts, name: str, host: str, claim: str) -> None:
    """A VM that MAAS does not know."""
    hosts.run("vm", "lxd", hostname=name, hosts=[host])
    machine = hosts.in_maas[name]
    hosts.servers[host].projects["maas"][name].config["user.metalshift_claim"] = claim
    client(hosts.sim).delete(f"machines/{machine.system_id}/")
    assert (list(hosts.in_maas), name in hosts.in_lxd) == ([], True)
    hosts.clear()


@pytest.mark.parametrize(
    ("module", "args", "name", "claim"),
    [("vm", {"hostname": "web"}, "web", "web"), ("vm_set", {"claim": "cp", "count": 1}, "cp-1", "cp")],
)
def test_a_vm_that_maas_does_not_know_yet_is_finished(
    hosts: Hosts, module: str, args: Args, name: str, claim: str
) -> None:
    leave_in_lxd(hosts, name, "kvm2", claim)
    hosts.servers["kvm2"].projects["maas"][name].switch(False)
    foreseen = hosts.run(module, "lxd", check=True, **args)
    came = hosts.run(module, "lxd", **args)
    assert not came.failed, came.msg
    assert foreseen["diff"] == came["diff"]
    assert place_of(hosts) == f"{name}@kvm2"
    assert hosts.in_maas[name].status.label == "Ready"


@pytest.mark.parametrize(
    ("module", "args", "name", "claim"),
    [("vm", {"hostname": "web"}, "web", "web"), ("vm_set", {"claim": "cp", "count": 1}, "cp-1", "cp")],
)
def test_a_vm_that_runs_is_not_restarted_because_maas_has_forgotten_it(
    hosts: Hosts, module: str, args: Args, name: str, claim: str
) -> None:
    leave_in_lxd(hosts, name, "kvm2", claim)
    vm = hosts.servers["kvm2"].projects["maas"][name]
    vm.switch(True)
    for check in (True, False):
        came = hosts.run(module, "lxd", check=check, **args)
        says = f"{name} on kvm2 runs, and MAAS does not know it: to add it, MAAS would restart it."
        assert (came.failed, says in came.msg, hosts.writes(), hosts.in_maas) == (True, True, [], {}), came.msg
    vm.switch(False)
    assert not hosts.run(module, "lxd", **args).failed


@pytest.mark.parametrize(
    ("module", "args", "name"),
    [("vm", {"hostname": "web"}, "web"), ("vm_set", {"claim": "cp", "count": 1}, "cp-1")],
)
def test_a_vm_that_somebody_made_for_himself_is_not_touched(hosts: Hosts, module: str, args: Args, name: str) -> None:
    leave_in_lxd(hosts, name, "kvm2", "")
    for state in ("present", "absent"):
        came = hosts.run(module, "lxd", **args, state=state)
        if module == "vm_set" and state == "absent":
            assert (came.failed, came.changed) == (False, False)
            continue
        assert came["failure"]["kind"] == "conflict", came.msg
        assert f"{name} on kvm2 is a VM that MAAS does not know" in came.msg
    assert (place_of(hosts), hosts.writes()) == (f"{name}@kvm2", [])


@pytest.mark.parametrize(
    ("module", "args", "name", "claim"),
    [("vm", {"hostname": "web"}, "web", "web"), ("vm_set", {"claim": "cp"}, "cp-7", "cp")],
)
def test_what_a_killed_removal_left_is_removed(hosts: Hosts, module: str, args: Args, name: str, claim: str) -> None:
    leave_in_lxd(hosts, name, "kvm2", claim)
    unmarked = hosts.run(module, "lxd", **args, state="absent")
    says = f"{name} on kvm2 has been in use, and MAAS does not know it. It is left alone."
    assert (says in unmarked.msg, hosts.writes(), list(hosts.in_lxd)) == (True, [], [name]), unmarked.msg
    hosts.servers["kvm2"].projects["maas"][name].description = "(being removed by metalshift.maas)"
    gone = hosts.run(module, "lxd", **args, state="absent")
    assert (gone.failed, gone.changed, hosts.in_lxd) == (False, True, {}), gone.msg


@pytest.mark.parametrize(
    ("module", "args", "name"),
    [("vm", {"hostname": "web"}, "web"), ("vm_set", {"claim": "cp", "count": 1}, "cp-1")],
)
def test_a_vm_that_stays_after_all_does_not_go_on_being_removed(
    hosts: Hosts, module: str, args: Args, name: str
) -> None:
    """Its removal was killed when it had begun, and the VM is used again since."""
    hosts.run(module, "lxd", **args, hosts=["kvm2"])
    vm = hosts.servers["kvm2"].projects["maas"][name]
    vm.description = "mine (being removed by metalshift.maas)"
    foreseen = hosts.run(module, "lxd", **args, check=True)
    kept = hosts.run(module, "lxd", **args)
    assert (kept.failed, kept.changed, vm.description) == (False, True, "mine"), kept.msg
    assert (foreseen.changed, foreseen["diff"]) == (True, kept["diff"])
    assert not hosts.run(module, "lxd", **args).changed
    client(hosts.sim).delete(f"machines/{hosts.in_maas[name].system_id}/")
    left = hosts.run(module, "lxd", **args, state="absent")
    assert (list(hosts.in_lxd), "has been in use" in left.msg) == ([name], True), left.msg


def lose(hosts: Hosts, name: str) -> None:
    """Remove a VM and leave its machine in MAAS: as when it is removed while another run adds it there."""
    del hosts.servers[hosts.in_lxd[name]].projects["maas"][name]
    hosts.clear()


def test_a_machine_whose_vm_is_lost_goes_when_the_set_is_to_be_absent(hosts: Hosts) -> None:
    hosts.run("vm_set", "lxd", claim="cp", count=3)
    lose(hosts, "cp-2")
    kept = hosts.run("vm_set", "lxd", claim="cp", count=3)
    assert (kept.failed, kept.changed, len(hosts.in_maas)) == (False, False, 3), kept.msg
    lose(hosts, "cp-3")
    lose(hosts, "cp-1")
    foreseen = hosts.run("vm_set", "lxd", claim="cp", state="absent", check=True)
    assert (foreseen.changed, hosts.writes(), len(hosts.in_maas)) == (True, [], 3)
    gone = hosts.run("vm_set", "lxd", claim="cp", state="absent")
    assert (gone.failed, gone.changed, list(hosts.in_maas)) == (False, True, []), gone.msg
    assert [one["hostname"] for one in gone["removed"]] == [one["hostname"] for one in foreseen["removed"]]
    assert not hosts.run("vm_set", "lxd", claim="cp", state="absent").changed


@pytest.mark.parametrize(
    "power", [{"power_address": "192.0.2.7:8443"}, {"project": "other"}, {"instance_name": "cp-1-old"}], ids=str
)
def test_a_machine_whose_vm_may_be_elsewhere_stays(hosts: Hosts, power: Mapping[str, str]) -> None:
    hosts.run("vm_set", "lxd", claim="cp", count=1)
    lose(hosts, "cp-1")
    hosts.in_maas["cp-1"].power_parameters.update(power)
    came = hosts.run("vm_set", "lxd", claim="cp", state="absent")
    assert (came.failed, came.changed, hosts.writes(), list(hosts.in_maas)) == (False, False, [], ["cp-1"]), came.msg


def test_a_machine_whose_vm_is_lost_stays_while_somebody_else_holds_it(hosts: Hosts) -> None:
    hosts.run("vm_set", "lxd", claim="cp", count=1)
    held = {"machines": ["cp-1"], "state": "allocated", "claim": "db", **QUICK}
    assert not run_task(hosts.sim, "machine", held).failed
    lose(hosts, "cp-1")
    came = hosts.run("vm_set", "lxd", claim="cp", state="absent")
    assert (came.changed, hosts.writes(), list(hosts.in_maas)) == (False, [], ["cp-1"]), came.msg


@pytest.mark.parametrize("via", WAYS)
@pytest.mark.parametrize("check", [False, True])
def test_an_interface_that_is_gone_is_said_where_it_is_to_have_an_address(hosts: Hosts, via: str, check: bool) -> None:
    wish = {"claim": "cp", "count": 2, "interfaces": ADDRESSES}
    hosts.run("vm_set", via, **wish)
    machine = hosts.in_maas["cp-2"]
    client(hosts.sim).delete(f"nodes/{machine.system_id}/interfaces/{machine.interfaces[0].id}/")
    hosts.clear()
    came = hosts.run("vm_set", via, check=check, **wish)
    assert came["failure"]["kind"] == "conflict", came.msg
    assert "cp-2 has no interface in MAAS, and is to have 10.99.0.72. Commission it again" in came.msg
    assert [vm["hostname"] for vm in came["vms"] if vm.get("failed")] == ["cp-2"]
    one = hosts.run("vm", via, check=check, hostname="cp-2", interfaces=[{"ip": "10.99.0.72"}])
    assert "cp-2 has no interface in MAAS, and is to have 10.99.0.72." in one.msg
    assert hosts.writes() == []


# -- bridges that MAAS does not know ----------------------------------------------------------------------------------


def bridge(hosts: Hosts, *ports: str) -> None:
    """A bridge is made on machines that MAAS has deployed: it goes on to know their eth0 alone."""
    for server in hosts.servers.values():
        server.networks["br0"] = Network("br0", managed=False, ports=ports)


def hangs_on(hosts: Hosts) -> set[tuple[str, str]]:
    vms = [vm for server in hosts.servers.values() for vm in server.projects["maas"].values()]
    return {(vm.devices["eth0"]["nictype"], vm.devices["eth0"]["parent"]) for vm in vms}


@pytest.mark.parametrize("ports", [("eth0",), ("bond0",)], ids=str)
@pytest.mark.parametrize("nic", [{}, {"parent": "eth0"}], ids=str)
def test_vms_hang_on_the_bridge_that_has_the_interface_or_an_address_of_the_subnet(
    hosts: Hosts, ports: Sequence[str], nic: Args
) -> None:
    bridge(hosts, *ports)
    wish = {"claim": "cp", "count": 3, "interfaces": [{**ADDRESSES[0], **nic}]}
    came = hosts.run("vm_set", "lxd", **wish)
    assert (came.failed, came["summary"], hangs_on(hosts)) == (False, {"ready": 3}, {("bridged", "br0")}), came.msg
    assert hosts.addresses() == {f"cp-{number}": [f"10.99.0.7{number}"] for number in (1, 2, 3)}
    assert not hosts.run("vm_set", "lxd", **wish).changed


def test_without_a_bridge_they_hang_on_the_interface_itself(hosts: Hosts) -> None:
    came = hosts.run("vm_set", "lxd", claim="cp", count=1, interfaces=ADDRESSES)
    assert (came.failed, hangs_on(hosts)) == (False, {("macvlan", "eth0")}), came.msg


def test_what_maas_composes_on_a_port_of_a_bridge_does_not_start_until_another_run_repairs_it(hosts: Hosts) -> None:
    bridge(hosts, "eth0")
    wish = {"claim": "cp", "count": 3, "interfaces": ADDRESSES}
    failed = hosts.run("vm_set", "maas", **wish)
    assert (failed.failed, "Device or resource busy" in failed.msg) == (True, True), failed.msg
    assert "run the task with via: lxd, which repairs it" in failed.msg
    assert hangs_on(hosts) == {("macvlan", "eth0")}
    foreseen = hosts.run("vm_set", "lxd", check=True, **wish)
    came = hosts.run("vm_set", "lxd", **wish)
    assert (came.failed, came["summary"], hangs_on(hosts)) == (False, {"ready": 3}, {("bridged", "br0")}), came.msg
    assert foreseen["diff"] == came["diff"]
    assert hosts.addresses() == {f"cp-{number}": [f"10.99.0.7{number}"] for number in (1, 2, 3)}
    assert not hosts.run("vm_set", "lxd", **wish).changed


@pytest.mark.parametrize(("module", "name"), [("vm", "web"), ("vm_set", "cp-1")])
def test_a_stopped_vm_is_taken_from_the_port_of_a_bridge_with_its_mac_address(
    hosts: Hosts, module: str, name: str
) -> None:
    wish: Args = {"hostname": name} if module == "vm" else {"claim": "cp", "count": 1}
    hosts.run(module, "lxd", **wish, interfaces=ADDRESSES if module == "vm_set" else [{"ip": "10.99.0.61"}])
    (mac,) = [nic.mac_address for nic in hosts.in_maas[name].interfaces]
    bridge(hosts, "eth0")
    running = hosts.run(module, "lxd", **wish)
    assert (running.failed, running.changed) == (False, False), running.msg
    stop(hosts, name)
    came = hosts.run(module, "lxd", **wish)
    assert (came.failed, came.changed, hangs_on(hosts)) == (False, True, {("bridged", "br0")}), came.msg
    assert hosts.servers[hosts.in_lxd[name]].projects["maas"][name].devices["eth0"]["hwaddr"] == mac
    assert not hosts.run(module, "lxd", **wish).changed


# -- several VMs of one name ------------------------------------------------------------------------------------------


def copy_of(hosts: Hosts, name: str, host: str, **config: str) -> Instance:
    """Another VM of a name on another host, with MAC addresses of its own: as when a host that was lost comes back."""
    made = deepcopy(hosts.servers[hosts.in_lxd[name]].projects["maas"][name])
    made.config |= {"volatile.eth0.hwaddr": "00:16:3e:00:00:01", "volatile.uuid": f"{host}-{name}", **config}
    made.running = True
    hosts.servers[host].projects["maas"][name] = made
    hosts.clear()
    return made


def half_made(hosts: Hosts, name: str, host: str) -> None:
    """What a run leaves that is killed before MAAS learns of the VM: it was never started."""
    made = copy_of(hosts, name, host, **{"volatile.apply_template": "create"})
    made.running = False
    made.config.pop("volatile.last_state.power", None)


def copies(hosts: Hosts, name: str) -> list[str]:
    return [host for host, server in hosts.servers.items() if name in server.projects["maas"]]


def answers_last(hosts: Hosts, host: str) -> None:
    """Its LXD answers when the others have."""
    others = [server.door for name, server in hosts.servers.items() if name != host]
    hosts.servers[host].door.keeper = partial(after, others, hosts.servers[host].door.answer)


def after(others: Sequence[Door], answer: Answer, request: Request) -> Response | None:
    """Answer a request when these LXDs have told of their volumes, which is the last that a reader asks for."""
    for _look in range(1000):
        if all(any("volumes" in entry.path for entry in door.requests) for door in others):
            break
        time.sleep(0.001)
    return answer(request)


TWICE = "cp-1 is on kvm1 as well as on kvm2: MAAS's machine is the VM on kvm2. The VM on kvm1 is left alone."


@pytest.mark.parametrize("last", ["kvm1", "kvm2"])
@pytest.mark.parametrize("wish", [{"count": 1}, {"count": 1, "evacuate": ["kvm3"]}, {"state": "absent"}], ids=str)
def test_the_vm_of_maas_is_the_one_it_knows_whichever_host_answers_first(hosts: Hosts, wish: Args, last: str) -> None:
    hosts.run("vm_set", "lxd", claim="cp", count=1, hosts=["kvm2"])
    live = hosts.servers["kvm2"].projects["maas"]["cp-1"]
    copy_of(hosts, "cp-1", "kvm1")
    answers_last(hosts, last)
    came = hosts.run("vm_set", "lxd", claim="cp", **wish)
    if wish.get("state") == "absent":
        assert (came.failed, came["failure"]["kind"], copies(hosts, "cp-1"), list(hosts.in_maas)) == (
            True, "conflict", ["kvm1"], [],
        ), came.msg  # fmt: skip
        assert TWICE in came.msg
        again = hosts.run("vm_set", "lxd", claim="cp", **wish)
        assert (again.failed, again.changed, copies(hosts, "cp-1")) == (True, False, ["kvm1"]), again.msg
        assert "cp-1 on kvm1 has been in use, and MAAS does not know it" in again.msg
        return
    assert (came.failed, came.changed, hosts.writes()) == (False, False, []), came.msg
    assert TWICE in came["warnings"][0]
    assert came["vms"][0]["vm_host"] == "kvm2"
    assert hosts.servers["kvm2"].projects["maas"]["cp-1"] is live


@pytest.mark.parametrize("last", ["kvm1", "kvm2"])
def test_a_vm_that_exists_twice_is_removed_where_maas_has_it(hosts: Hosts, last: str) -> None:
    hosts.run("vm", "lxd", hostname="web", hosts=["kvm2"])
    copy_of(hosts, "web", "kvm1")
    answers_last(hosts, last)
    kept = hosts.run("vm", "lxd", hostname="web")
    assert (kept.failed, kept.changed, kept["vm"]["vm_host"]) == (False, False, "kvm2"), kept.msg
    came = hosts.run("vm", "lxd", hostname="web", state="absent")
    assert (came.failed, copies(hosts, "web"), list(hosts.in_maas)) == (True, ["kvm1"], []), came.msg
    assert "The VM on kvm1 is left alone." in came.msg


@pytest.mark.parametrize(
    "power",
    [{"power_address": "192.0.2.7:8443"}, {"instance_name": "cp-9"}, {"project": "default"}],
    ids=lambda power: next(iter(power)),
)
def test_what_maas_says_decides_where_mac_addresses_do_not(hosts: Hosts, power: Args) -> None:
    """A VM that was restored from a backup on another host has the same ones."""
    hosts.run("vm_set", "lxd", claim="cp", count=1, hosts=["kvm2"])
    mac = hosts.in_maas["cp-1"].interfaces[0].mac_address
    copy_of(hosts, "cp-1", "kvm1", **{"volatile.eth0.hwaddr": str(mac)})
    came = hosts.run("vm_set", "lxd", claim="cp", count=1)
    assert (came.failed, came.changed, came["vms"][0]["vm_host"]) == (False, False, "kvm2"), came.msg
    hosts.in_maas["cp-1"].power_parameters |= power
    for wish in ({"count": 1}, {"state": "absent"}):
        hosts.clear()
        came = hosts.run("vm_set", "lxd", claim="cp", **wish)
        said = came.msg if came.failed else came["warnings"][0]
        assert "cp-1 is on kvm1 and on kvm2, and MAAS does not tell which of them it means" in said
        assert (came.failed, hosts.writes(), copies(hosts, "cp-1")) == ("state" in wish, [], ["kvm1", "kvm2"])


def test_without_mac_addresses_to_compare_nothing_is_half_made(hosts: Hosts) -> None:
    hosts.run("vm_set", "lxd", claim="cp", count=1, hosts=["kvm2"])
    half_made(hosts, "cp-1", "kvm1")
    hosts.in_maas["cp-1"].interfaces.clear()
    came = hosts.run("vm_set", "lxd", claim="cp", count=1)
    assert (came["removed"], copies(hosts, "cp-1")) == ([], ["kvm1", "kvm2"]), came.msg


def test_what_a_killed_run_left_half_made_beside_the_vm_is_removed(hosts: Hosts) -> None:
    hosts.run("vm_set", "lxd", claim="cp", count=1, hosts=["kvm2"])
    half_made(hosts, "cp-1", "kvm1")
    foreseen = hosts.run("vm_set", "lxd", claim="cp", count=1, check=True)
    came = hosts.run("vm_set", "lxd", claim="cp", count=1)
    assert not came.failed, came.msg
    assert [(one["hostname"], one["vm_host"]) for one in came["removed"]] == [("cp-1", "kvm1")]
    assert (foreseen["diff"], copies(hosts, "cp-1")) == (came["diff"], ["kvm2"])


@pytest.mark.parametrize(
    "change", [{"status": RUNNING}, {"claim": ""}, {"template": "copy"}, {"image": "true"}], ids=str
)
def test_what_may_hold_something_is_not_half_made(hosts: Hosts, change: Mapping[str, str]) -> None:
    hosts.run("vm_set", "lxd", claim="cp", count=1, hosts=["kvm2"])
    half_made(hosts, "cp-1", "kvm1")
    keys = {"claim": "user.metalshift_claim", "template": "volatile.apply_template", "image": "image.os"}
    made = hosts.servers["kvm1"].projects["maas"]["cp-1"]
    made.config |= {keys[key]: value for key, value in change.items() if key in keys}
    made.status = change.get("status", made.status)
    came = hosts.run("vm_set", "lxd", claim="cp", count=1)
    assert (came.failed, came.changed, hosts.writes()) == (False, False, []), came.msg
    assert copies(hosts, "cp-1") == ["kvm1", "kvm2"]


def test_of_two_vms_that_maas_does_not_know_none_is_taken_or_removed(hosts: Hosts) -> None:
    leave_in_lxd(hosts, "cp-1", "kvm2", "cp")
    copy_of(hosts, "cp-1", "kvm1")
    for wish in ({"count": 1}, {"state": "absent"}):
        came = hosts.run("vm_set", "lxd", claim="cp", **wish)
        assert "cp-1 is on kvm1 and on kvm2, and MAAS does not know either" in came.msg
        assert (hosts.writes(), copies(hosts, "cp-1")) == ([], ["kvm1", "kvm2"])


def meanwhile(hosts: Hosts, host: str, name: str, act: Callable[[], None]) -> None:
    """Do this when a run looks at the VM once more, right before it removes it."""
    door = hosts.servers[host].door
    answer = door.answer
    looks: list[Request] = []

    def keeper(request: Request) -> Response | None:
        if request.method == "GET" and request.path.endswith(f"/instances/{name}"):
            looks.append(request)
            if len(looks) == 1:
                act()
        return answer(request)

    door.keeper = keeper


def test_what_another_run_has_added_to_maas_meanwhile_is_not_half_made_any_more(hosts: Hosts) -> None:
    hosts.run("vm_set", "lxd", claim="cp", count=1, hosts=["kvm2"])
    half_made(hosts, "cp-1", "kvm1")
    mac = hosts.servers["kvm1"].projects["maas"]["cp-1"].config["volatile.eth0.hwaddr"]
    meanwhile(hosts, "kvm1", "cp-1", lambda: hosts.sim.machine("added", mac_addresses=[mac]) and None)
    came = hosts.run("vm_set", "lxd", claim="cp", count=1)
    assert (came.failed, copies(hosts, "cp-1")) == (False, ["kvm1", "kvm2"]), came.msg


def test_a_vm_that_was_made_under_the_name_meanwhile_is_not_removed(hosts: Hosts) -> None:
    hosts.run("vm", "lxd", hostname="web", hosts=["kvm2"])
    vm = hosts.servers["kvm2"].projects["maas"]["web"]
    # The first look is before its mark, and the second one before its removal.
    meanwhile(hosts, "kvm2", "web", lambda: vm.config.update({"volatile.uuid": "another"}))
    came = hosts.run("vm", "lxd", hostname="web", state="absent")
    assert "somebody has just made another VM of that name" in came.msg
    assert list(hosts.in_lxd) == ["web"]


# -- what is left of a VM that somebody removed ------------------------------------------------------------------------

DISKS = {"disks": [{"size": "8GB"}, {"size": "1GB"}]}
# By which LXD shows that it came to the end of making a VM
NOTES = ("volatile.apply_template", "volatile.last_state.power")


@pytest.mark.parametrize("forgotten", [False, True], ids=["known to MAAS", "forgotten"])
@pytest.mark.parametrize(
    ("module", "args", "name"), [("vm", {"hostname": "web"}, "web"), ("vm_set", {"claim": "cp"}, "cp-1")]
)
def test_a_disk_of_a_vm_that_somebody_removed_stays_and_is_named(
    hosts: Hosts, module: str, args: Args, name: str, forgotten: bool
) -> None:
    count = {"count": 1} if module == "vm_set" else {}
    assert not hosts.run(module, "lxd", hosts=["kvm2"], **args, **count, **DISKS).failed
    del hosts.servers["kvm2"].projects["maas"][name]
    if forgotten:
        client(hosts.sim).delete(f"machines/{hosts.in_maas[name].system_id}/")
    hosts.clear()
    said = f"{name}-disk1 on kvm2 is a disk of {name}, whose VM is gone. It is left alone."
    for check in (True, False):
        came = hosts.run(module, "lxd", check=check, **args, **count, **DISKS)
        assert (said in str(came.msg) + str(came.result.get("warnings")), hosts.volumes) == (True, [f"{name}-disk1"])
        assert (came.failed, hosts.writes()) == (forgotten, [])
    came = hosts.run(module, "lxd", **args, state="absent")
    assert (came.failed, said in came.msg, hosts.volumes) == (True, True, [f"{name}-disk1"])
    assert hosts.in_maas == {}


def test_a_volume_that_somebody_detached_stays_when_its_vm_goes(hosts: Hosts) -> None:
    assert not hosts.run("vm", "lxd", hostname="web", hosts=["kvm2"], **DISKS).failed
    vm = hosts.servers["kvm2"].projects["maas"]["web"]
    vm.switch(True)
    vm.switch(False)
    vm.config.pop("volatile.apply_template", None)
    del vm.devices["disk1"]
    came = hosts.run("vm", "lxd", hostname="web", state="absent")
    assert (came.failed, hosts.in_lxd, hosts.volumes) == (False, {}, ["web-disk1"]), came.msg


def test_a_smaller_set_gives_up_machines_that_lost_their_vms_first(hosts: Hosts) -> None:
    hosts.run("vm_set", "lxd", claim="cp", count=3)
    lose(hosts, "cp-1")
    kept = hosts.run("vm_set", "lxd", claim="cp", count=3)
    assert (kept.failed, kept.changed) == (False, False), kept.msg
    assert "cp-1 is a machine in MAAS, and its VM on kvm1 is gone." in kept["warnings"][0]
    foreseen = hosts.run("vm_set", "lxd", claim="cp", count=2, check=True)
    came = hosts.run("vm_set", "lxd", claim="cp", count=2)
    assert (came.failed, foreseen["removed"]) == (False, came["removed"]), came.msg
    assert [(one["hostname"], one["reason"]) for one in came["removed"]] == [("cp-1", "its VM on kvm1 is gone")]
    assert (sorted(hosts.in_lxd), sorted(hosts.in_maas)) == (["cp-2", "cp-3"],) * 2


@pytest.mark.parametrize(
    ("note", "stays"),
    [({}, False), ({"volatile.apply_template": "create"}, True), ({"volatile.last_state.power": "STOPPED"}, True)],
    ids=["none", "made", "used"],
)
def test_a_vm_that_lxd_did_not_finish_before_it_ended_is_made_again(
    hosts: Hosts, note: dict[str, str], stays: bool
) -> None:
    """LXD lists the first disk before it makes it, so that alone proves nothing."""
    leave_in_lxd(hosts, "cp-1", "kvm2", "cp")
    left = hosts.servers["kvm2"].projects["maas"]["cp-1"]
    left.config = {key: value for key, value in left.config.items() if key not in NOTES} | note
    left.running, left.last_used = False, 0.0
    came = hosts.run("vm_set", "lxd", claim="cp", count=1, **DISKS)
    assert not came.failed, came.msg
    vm = hosts.servers["kvm2"].projects["maas"]["cp-1"]
    assert (vm is left, hosts.in_maas["cp-1"].hostname) == (stays, "cp-1")
    assert stays or hosts.volumes == ["cp-1-disk1"]


def test_a_volume_that_lxd_did_not_finish_before_it_ended_is_made_again(hosts: Hosts) -> None:
    """It is listed before it is made, too: what was not yet given to its VM may not be whole."""
    hosts.run("vm_set", "lxd", claim="cp", count=1, hosts=["kvm2"], **DISKS)
    server = hosts.servers["kvm2"]
    client(hosts.sim).delete(f"machines/{hosts.in_maas['cp-1'].system_id}/")
    left, ((where, volume),) = server.projects["maas"]["cp-1"], server.volumes("maas").items()
    left.running, left.config["volatile.apply_template"] = False, "create"
    del left.devices["disk1"]
    came = hosts.run("vm_set", "lxd", claim="cp", count=1, **DISKS)
    assert not came.failed, came.msg
    assert server.projects["maas"]["cp-1"] is left
    assert list(server.volumes("maas")) == [where]
    assert server.volumes("maas")[where] is not volume


def test_a_machine_whose_vm_may_be_elsewhere_is_not_called_lost(hosts: Hosts) -> None:
    hosts.run("vm_set", "lxd", claim="cp", count=3)
    lose(hosts, "cp-1")
    hosts.in_maas["cp-1"].power_parameters["project"] = "other"
    kept = hosts.run("vm_set", "lxd", claim="cp", count=3)
    assert (kept.failed, kept.changed, kept.result.get("warnings")) == (False, False, None), kept.msg
    foreseen = hosts.run("vm_set", "lxd", claim="cp", count=2, check=True)
    assert [one["hostname"] for one in foreseen["removed"]] == ["cp-3"]


@pytest.mark.parametrize("wish", [{"count": 1}, {"count": 2}, {"state": "absent"}], ids=str)
def test_a_vm_that_another_module_made_is_not_of_a_set_of_that_name(hosts: Hosts, wish: Args) -> None:
    """It is Ready and nobody's in MAAS: LXD alone knows for what it was made."""
    assert not hosts.run("vm", "lxd", hostname="cp-1").failed
    hosts.clear()
    came = hosts.run("vm_set", "lxd", claim="cp", **wish)
    if "state" in wish:
        assert (came.failed, came.changed) == (False, False), came.msg
    else:
        assert came["failure"]["kind"] == "claimed", came.msg
        assert "cp-1 on kvm1 was made for cp-1, and not for the claim cp." in came.msg
    assert (hosts.writes(), list(hosts.in_lxd), list(hosts.in_maas)) == ([], ["cp-1"], ["cp-1"])
    assert hosts.run("vm", "lxd", hostname="cp-1", state="absent").changed


def test_a_vm_of_a_set_can_be_removed_by_its_hostname(hosts: Hosts) -> None:
    hosts.run("vm_set", "lxd", claim="cp", count=2)
    assert hosts.run("vm", "lxd", hostname="cp-2", state="absent").changed
    assert sorted(hosts.in_lxd) == ["cp-1"]


# -- troubles ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_lost_answer_of_maas_makes_no_second_vm(hosts: Hosts, when: str) -> None:
    hosts.sim.fault("drop", when=when, method="POST", op="compose", hits=2)
    came = hosts.run("vm_set", "maas", claim="cp", count=3)
    assert not came.failed, came.msg
    assert (sorted(hosts.in_lxd), sorted(hosts.in_maas)) == (["cp-1", "cp-2", "cp-3"],) * 2


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_lost_answer_of_lxd_makes_no_second_vm(hosts: Hosts, when: str) -> None:
    for server in hosts.servers.values():
        server.fault("drop", when=when, method="POST")
    came = hosts.run("vm_set", "lxd", claim="cp", count=3, **BIG)
    assert not came.failed, came.msg
    assert (sorted(hosts.in_lxd), sorted(hosts.in_maas)) == (["cp-1", "cp-2", "cp-3"],) * 2
    assert len(hosts.volumes) == 3


def test_a_host_that_dies_while_maas_composes_fails_its_own_vms_alone(hosts: Hosts) -> None:
    hosts.servers["kvm2"].serves = False
    came = hosts.run("vm_set", "maas", claim="cp", count=3)
    assert came.failed
    assert [vm["hostname"] for vm in came["vms"] if vm.get("failed")] == ["cp-2"]
    assert "cp-2 cannot be composed on kvm2: MAAS's rack controllers do not reach an LXD at 127.0.0.1:8462." in came.msg
    hosts.servers["kvm2"].serves = True
    again = hosts.run("vm_set", "maas", claim="cp", count=3)
    assert not again.failed, again.msg
    assert place_of(hosts) == "cp-1@kvm1 cp-2@kvm2 cp-3@kvm3"


def test_an_lxd_that_dies_in_the_middle_fails_its_own_vms_alone(hosts: Hosts) -> None:
    hosts.servers["kvm2"].fault("drop", method="POST", hits=0)
    came = hosts.run("vm_set", "lxd", claim="cp", count=3)
    assert [vm["hostname"] for vm in came["vms"] if vm.get("failed")] == ["cp-2"]
    hosts.servers["kvm2"].door.clear()
    again = hosts.run("vm_set", "lxd", claim="cp", count=3)
    assert not again.failed, again.msg
    assert place_of(hosts) == "cp-1@kvm1 cp-2@kvm2 cp-3@kvm3"


def test_an_lxd_that_does_not_answer_is_named_and_nothing_is_done(hosts: Hosts) -> None:
    hosts.servers["kvm2"].door.down()
    came = hosts.run("vm_set", "lxd", claim="cp", count=3)
    hosts.servers["kvm2"].door.up()
    assert came["failure"]["kind"] == "unreachable"
    assert came.msg.startswith("kvm2: ")
    assert (hosts.in_lxd, hosts.writes()) == ({}, [])


AWAY = "kvm2: LXD at "


@pytest.mark.parametrize(
    "wish",
    [
        {"count": 2},
        {"count": 1},
        {"count": 3, "hosts": ["kvm1", "kvm3"]},
        {"count": 3, "host_zones": ["az1"]},
        {"count": 3, "evacuate": ["kvm2"]},
    ],
    ids=str,
)
def test_a_host_that_is_away_does_not_stop_a_set_that_it_does_not_concern(hosts: Hosts, wish: Args) -> None:
    hosts.run("vm_set", "lxd", claim="cp", count=2, hosts=["kvm1", "kvm3"])
    hosts.servers["kvm2"].door.down()
    came = hosts.run("vm_set", "lxd", claim="cp", **wish)
    hosts.servers["kvm2"].door.up()
    assert (came.failed, came["summary"]) == (False, {"ready": wish["count"]}), came.msg
    assert came["warnings"][0].startswith(f"kvm2 was not asked, and is not needed now: {AWAY}")
    assert "kvm2" not in hosts.in_lxd.values()


@pytest.mark.parametrize("closed", [True, False])
def test_a_host_that_is_away_and_closed_gets_nothing_new_anyway(hosts: Hosts, closed: bool) -> None:
    if closed:
        run_task(hosts.sim, "vm_host", {"name": "kvm2", "schedulable": False, **QUICK})
    hosts.servers["kvm2"].door.down()
    came = hosts.run("vm_set", "lxd", claim="cp", count=2)
    hosts.servers["kvm2"].door.up()
    assert came.failed is not closed, came.msg
    assert closed or "vm_host and schedulable: false" in came.msg


def test_what_is_on_a_host_that_is_away_stays_and_is_said(hosts: Hosts) -> None:
    hosts.run("vm_set", "lxd", claim="cp", count=3)
    hosts.servers["kvm2"].door.down()
    kept = hosts.run("vm_set", "lxd", claim="cp", count=3)
    assert (kept.failed, kept.changed, kept["hosts"]) == (False, False, {"kvm1": 1, "kvm2": 1, "kvm3": 1}), kept.msg
    hosts.clear()
    for wish in ({"count": 1}, {"state": "absent"}, {"count": 3, "evacuate": ["kvm2"]}):
        came = hosts.run("vm_set", "lxd", claim="cp", **wish)
        assert came.failed, came["removed"]
        assert (came["failure"]["kind"], AWAY in came.msg) == ("unreachable", True), came.msg
    alone = hosts.run("vm", "lxd", hostname="cp-2", state="absent")
    assert (alone["failure"]["kind"], AWAY in alone.msg) == ("unreachable", True), alone.msg
    assert (hosts.writes(), len(hosts.in_lxd)) == ([], 3)
    hosts.servers["kvm2"].door.up()


def test_of_what_is_to_be_absent_a_host_that_is_away_is_said_after_the_others(hosts: Hosts) -> None:
    hosts.run("vm_set", "lxd", claim="cp", count=2, hosts=["kvm1", "kvm3"])
    hosts.servers["kvm2"].door.down()
    came = hosts.run("vm_set", "lxd", claim="cp", state="absent")
    one = hosts.run("vm", "lxd", hostname="web", state="absent")
    hosts.servers["kvm2"].door.up()
    assert (came["failure"]["kind"], hosts.in_lxd, list(hosts.in_maas)) == ("unreachable", {}, []), came.msg
    assert "What kvm2 has of cp is not known, and stays. kvm2: LXD at " in came.msg
    assert "What kvm2 has of web is not known, and stays. kvm2: LXD at " in one.msg
    assert not hosts.run("vm_set", "lxd", claim="cp", state="absent").failed


def distrusted(hosts: Hosts) -> None:
    for server in hosts.servers.values():
        server.distrust(hosts.pair["certificate"])


def of_another_project(hosts: Hosts) -> None:
    for server in hosts.servers.values():
        server.trust(hosts.pair["certificate"], Certificate(restricted=True, projects=["other"]))


def filled_behind_the_back_of_maas(hosts: Hosts) -> None:
    for server in hosts.servers.values():
        server.pools[0].used = server.pools[0].total


def taken_behind_the_back_of_maas(hosts: Hosts) -> None:
    words = 'Failed talking to pod: VM Host 1: This "instances" entry already exists'
    hosts.sim.fault("error", status=503, text=words, method="POST", op="compose", hits=0)


# What is so on every LXD; for each way the kind, and words of the sentence.
TROUBLES: Mapping[str, tuple[Callable[[Hosts], None], Mapping[str, tuple[str, str]]]] = {
    "certificate": (
        distrusted,
        {
            "maas": (
                "credentials",
                "web cannot be composed on kvm1: LXD does not trust the certificate with the fingerp",
            ),
            "lxd": ("credentials", "does not trust the client certificate"),
        },
    ),
    "project": (
        of_another_project,
        {
            "maas": ("forbidden", "but not for the project maas. Name the project that the certificate is for"),
            "lxd": ("forbidden", "Certificate is restricted. The client certificate may not do this"),
        },
    ),
    "pool": (
        filled_behind_the_back_of_maas,
        {
            "maas": (
                "capacity",
                "web cannot be composed on kvm1: its storage pool has no room for it. Make room there",
            ),
            "lxd": ("capacity", "kvm1: needs 8 GB in storage pool default, 0 GB free"),
        },
    ),
    "name": (
        taken_behind_the_back_of_maas,
        {
            "maas": (
                "conflict",
                "LXD has a VM of that name already, which MAAS does not know. Remove or rename it in LXD",
            )
        },
    ),
}


@pytest.mark.parametrize(
    ("change", "via", "kind", "says"),
    [
        pytest.param(change, via, *expected, id=f"{name}, {via}")
        for name, (change, told) in TROUBLES.items()
        for via, expected in told.items()
    ],
)
def test_what_lxd_refuses_is_one_clear_sentence(
    hosts: Hosts, change: Callable[[Hosts], None], via: str, kind: str, says: str
) -> None:
    change(hosts)
    came = hosts.run("vm", via, hostname="web")
    assert (came["failure"]["kind"], says in came.msg) == (kind, True), came.msg
    assert "when MAAS is well" not in came.msg
    assert (hosts.in_lxd, list(hosts.in_maas)) == ({}, [])


@pytest.mark.parametrize("version", ["5.0.2", "5.21.3"])
def test_a_certificate_of_another_project_is_said(sim: Simulator, tmp_path: Path, version: str) -> None:
    hosts = Hosts.up(sim, version=version)
    self_signed("narrow").write(tmp_path / "crt", tmp_path / "key")
    for server in hosts.servers.values():
        server.projects["other"] = {}
        server.trust((tmp_path / "crt").read_text(), Certificate(restricted=True, projects=["other"]))
    pair = {"lxd_client_cert": str(tmp_path / "crt"), "lxd_client_key": str(tmp_path / "key")}
    came = hosts.run("vm", "lxd", hostname="web", **pair)
    assert came.failed
    assert came["failure"]["kind"] in ("forbidden", "not_found"), came.msg
    narrow = hosts.run("vm", "lxd", hostname="web", **pair, lxd_project="other")
    assert not narrow.failed, narrow.msg


def test_a_project_that_is_not_there_is_said(hosts: Hosts) -> None:
    came = hosts.run("vm", "lxd", hostname="web", lxd_project="moon")
    assert came["failure"]["kind"] == "not_found"
    assert "has no project moon" in came.msg


@pytest.mark.parametrize("via", WAYS)
def test_a_commissioning_that_fails_is_told_with_what_to_do(hosts: Hosts, via: str) -> None:
    hosts.sim.fault("machine", hostname="cp-2", action="commission")
    came = hosts.run("vm_set", via, claim="cp", count=3)
    assert came["failure"]["kind"] == "failed_state", came.msg
    assert came["summary"] == {"failed": 1, "ready": 2}
    assert "metalshift.maas.machine brings it back to ready, or state: absent removes it." in came.msg
    assert "recover" not in came.msg
    gone = hosts.run("vm_set", via, claim="cp", state="absent")
    assert not gone.failed, gone.msg
    assert (hosts.in_lxd, hosts.in_maas) == ({}, {})


@pytest.mark.parametrize("via", WAYS)
def test_who_does_not_wait_finds_the_vms_unfinished_and_finishes_them_later(hosts: Hosts, via: str) -> None:
    hosts.sim.auto(0)
    wish = {"claim": "cp", "count": 2, "interfaces": ADDRESSES}
    came = hosts.run("vm_set", via, **wish, wait=False)
    assert came["summary"] == {"commissioning": 2}, came.msg
    hosts.sim.auto(0.02)
    later = hosts.run("vm_set", via, **wish)
    assert later["summary"] == {"ready": 2}, later.msg
    assert hosts.addresses() == {"cp-1": ["10.99.0.71"], "cp-2": ["10.99.0.72"]}


@pytest.mark.parametrize("via", WAYS)
def test_no_key_is_shown(hosts: Hosts, via: str) -> None:
    key = Path(hosts.servers["kvm1"].client_key).read_text()
    reach = hosts.reach(via)
    given = {**reach, "lxd_client_key": key} if via == "lxd" else reach
    for args in ({"claim": "cp", "count": 1}, {"claim": "cp", "count": 1, "spread": "wide"}):
        came = run_task(hosts.sim, "vm_set", {**given, **QUICK, **args})
        assert_no_secret(str(came.result), [key.splitlines()[3], hosts.sim.api_key])


# -- which way ---------------------------------------------------------------------------------------------------------


def test_auto_takes_what_maas_can_do(hosts: Hosts) -> None:
    made = hosts.run("vm", "auto", hostname="one")
    assert not made.failed, made.msg
    assert [request.op for request in hosts.sim.requests.writes()] == ["compose"]


def test_auto_goes_to_lxd_where_maas_has_no_vm_hosts_any_more(hosts: Hosts) -> None:
    hosts.sim.set_version("no-vmhosts")
    made = hosts.run("vm", "auto", hostname="one")
    assert not made.failed, made.msg
    assert list(hosts.in_lxd) == ["one"]
    came = run_task(hosts.sim, "vm", {"hostname": "two", **QUICK})
    assert came["failure"]["kind"] == "unsupported"
    assert "via: lxd" in came.msg


def test_auto_goes_to_lxd_for_a_host_that_maas_does_not_have(hosts: Hosts) -> None:
    for vm_host in list(hosts.sim.state.vm_hosts):
        client(hosts.sim).delete(f"vm-hosts/{vm_host.id}/")
    made = hosts.run("vm", "auto", hostname="one")
    assert not made.failed, made.msg
    assert list(hosts.in_lxd) == ["one"]


def alone(hosts: Hosts, **args: Any) -> Outcome:
    """A task to which one LXD is given, and no list of hosts."""
    server = hosts.servers["kvm1"]
    # MAAS reaches it at that address, too.
    server.address = server.door.address
    lxd.add_server(hosts.sim.state, server)
    reach = {
        "lxd_endpoint": server.endpoint, "lxd_client_cert": server.client_cert, "lxd_client_key": server.client_key,
        "lxd_server_cert": server.server_cert, "lxd_project": "maas",
    }  # fmt: skip
    return run_task(hosts.sim, "vm", {"interfaces": [{"parent": "lxdbr0"}], **reach, **QUICK, **args})


@pytest.mark.parametrize("via", ["lxd", "auto"])
@pytest.mark.parametrize("gone", ["version", "hosts"])
def test_one_lxd_alone_needs_no_list_where_maas_has_no_vm_hosts(hosts: Hosts, via: str, gone: str) -> None:
    for vm_host in list(hosts.sim.state.vm_hosts):
        client(hosts.sim).delete(f"vm-hosts/{vm_host.id}/")
    if gone == "version":
        hosts.sim.set_version("no-vmhosts")
    made = alone(hosts, hostname="web", via=via)
    assert not made.failed, made.msg
    assert hosts.servers["kvm1"].projects["maas"]["web"].devices["eth0"]["network"] == "lxdbr0"


def test_one_lxd_alone_is_not_taken_where_maas_has_vm_hosts(hosts: Hosts) -> None:
    made = alone(hosts, hostname="web", via="auto", interfaces=[{}])
    assert not made.failed, made.msg
    assert [request.op for request in hosts.sim.requests.writes()] == ["compose"]


def test_an_lxd_too_new_for_maas_is_passed_over_with_the_way_out(sim: Simulator) -> None:
    hosts = Hosts.up(sim, zones=("az1",), version="6.7")
    came = hosts.run("vm", "maas", hostname="web")
    assert "kvm1: LXD 6.7 is too new for this MAAS (via: lxd works)" in came.msg
    made = hosts.run("vm", "lxd", hostname="web")
    assert not made.failed, made.msg
    assert hosts.servers["kvm1"].projects["maas"]["web"].config["boot.mode"] == "uefi-nosecureboot"
