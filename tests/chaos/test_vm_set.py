# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever kills runs of `vm_set` and `vm`: another run repairs it, and nothing is left in MAAS or in LXD."""

from __future__ import annotations

import os
import queue
import signal
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from chaos.assassin import COMMITTED, HELD, Door
from chaos.runs import Run, playbook
from chaos.test_lost_runs import LONGEST, SIGNALS, assert_gone, children, mortal
from integration.vm_hosts import Hosts
from metalshift_lab.simulator import Simulator
from metalshift_lab.simulator.http import Request, Response

__all__ = ["mortal"]

WAYS = ("maas", "lxd")
SIZE = {"cores": 2, "memory": "2GiB", "disks": [{"size": "8GB"}, {"size": "1GB"}]}
WISH = {"claim": "cp", "count": 5, **SIZE, "interfaces": [{"addresses": ["10.99.0.71-10.99.0.79"]}]}
ABSENT = {"claim": "cp", "state": "absent"}
ADDRESSES = {f"cp-{number}": [f"10.99.0.7{number}"] for number in range(1, 6)}
HASTE = {"maas_timeout": 10, "wait_sleep": 0.01, "wait_timeout": 30}


@pytest.fixture
def hosts(sim: Simulator) -> Hosts:
    hosts = Hosts.up(sim)
    sim.auto(0.01)
    return hosts


@pytest.fixture
def door(hosts: Hosts) -> Iterator[Door]:
    """At it stands who kills, whether a request goes to MAAS or to an LXD."""
    with Door(hosts.sim) as door:
        for server in hosts.servers.values():
            server.door.keeper = partial(door.stand, answer=server.door.answer)
        yield door


def begin(hosts: Hosts, door: Door, via: str, wish: Mapping[str, Any]) -> Run:
    reach = {"maas_endpoint": door.url, "maas_api_key": hosts.sim.api_key}
    return Run("vm_set" if "claim" in wish else "vm", {**hosts.reach(via), **reach, **HASTE, **wish})


def complete(hosts: Hosts, door: Door, via: str, wish: Mapping[str, Any]) -> dict[str, Any]:
    result = begin(hosts, door, via, wish).end()
    assert result is not None
    assert not result.get("failed"), result["msg"]
    return result


def requests_of(hosts: Hosts, door: Door, via: str, wish: Mapping[str, Any]) -> int:
    """How many an undisturbed run sends."""
    door.kill(lambda: None, 0, COMMITTED)
    complete(hosts, door, via, wish)
    return door.count


def killed(hosts: Hosts, door: Door, via: str, wish: Mapping[str, Any], at: int) -> bool:
    """Kill a run at this request, when it has taken effect; whether that killed it."""
    run = begin(hosts, door, via, wish)
    door.kill(run.kill, at, COMMITTED)
    result = run.end()
    door.spare()
    return result is None


def assert_all_there(hosts: Hosts, where: str) -> None:
    """Several are made at a time, so that after a kill those that are missing may go elsewhere: as evenly."""
    assert hosts.addresses() == ADDRESSES, where
    assert sorted(hosts.in_lxd) == list(ADDRESSES), where
    assert sorted(Counter(hosts.in_lxd.values()).values()) == [1, 2, 2], where
    assert {machine.status.label for machine in hosts.in_maas.values()} == {"Ready"}, where
    assert len(hosts.volumes) == len(ADDRESSES), where


def assert_nothing_left(hosts: Hosts, where: str) -> None:
    assert (hosts.in_lxd, list(hosts.in_maas), hosts.volumes) == ({}, [], []), where


@pytest.mark.parametrize("via", WAYS)
def test_a_set_killed_at_any_request_is_completed_and_removed_by_other_runs(hosts: Hosts, door: Door, via: str) -> None:
    makes, removes = (requests_of(hosts, door, via, wish) for wish in (WISH, ABSENT))
    dead = 0
    for at in range(1, max(makes, removes) + 1):
        dead += killed(hosts, door, via, WISH, at)
        complete(hosts, door, via, WISH)
        assert_all_there(hosts, f"request {at} of making")
        dead += killed(hosts, door, via, ABSENT, at)
        complete(hosts, door, via, ABSENT)
        assert_nothing_left(hosts, f"request {at} of removing")
    # How often a run looks while it waits varies a little.
    assert dead >= makes + removes - 10


def test_a_resize_killed_at_any_request_is_completed_by_another_run(hosts: Hosts, door: Door) -> None:
    complete(hosts, door, "lxd", {"hostname": "web", "cores": 2})
    instance = hosts.servers["kvm1"].projects["maas"]["web"]
    instance.running = False
    sizes = [{"hostname": "web", "cores": cores} for cores in (3, 2)]
    number = requests_of(hosts, door, "lxd", sizes[0])
    dead = 0
    for at in range(1, number + 1):
        wish, instance.running = sizes[at % 2], False
        dead += killed(hosts, door, "lxd", wish, at)
        complete(hosts, door, "lxd", wish)
        machine = hosts.in_maas["web"]
        assert (int(instance.config["limits.cpu"]), machine.cpu_count) == (wish["cores"],) * 2, at
        assert machine.status.label == "Ready", at
        assert not complete(hosts, door, "lxd", wish)["changed"], at
    assert dead >= number - 5


@pytest.mark.parametrize("via", WAYS)
def test_a_host_whose_evacuation_is_killed_at_every_third_request_is_left_by_another_run(
    hosts: Hosts, door: Door, via: str
) -> None:
    complete(hosts, door, via, WISH)
    leaves = requests_of(hosts, door, via, {**WISH, "evacuate": ["kvm3"]})
    dead = 0
    for at in range(1, leaves + 1, 3):
        wish = {**WISH, "evacuate": [f"kvm{at % 2 + 1}"]}
        dead += killed(hosts, door, via, wish, at)
        complete(hosts, door, via, wish)
        assert hosts.addresses() == ADDRESSES, f"request {at}"
        assert sorted(hosts.in_lxd) == list(ADDRESSES), f"request {at}"
        assert not {*wish["evacuate"]} & {*hosts.in_lxd.values()}, f"request {at}"
        assert len(hosts.volumes) == len(ADDRESSES), f"request {at}"
    assert dead >= leaves // 3 - 4


@pytest.mark.parametrize(
    ("via", "end"),
    [
        pytest.param(via, end, id=f"{via}-{end.name}", marks=() if often else pytest.mark.thorough)
        for turn, via in enumerate(WAYS)
        for place, end in enumerate(SIGNALS)
        for often in [place == turn]
    ],
)
def test_a_set_whose_playbook_has_died_makes_nothing_more(
    hosts: Hosts, door: Door, tmp_path: Path, via: str, end: signal.Signals
) -> None:
    """A lost terminal ends ansible-playbook alone; its worker has a session of its own."""
    number = requests_of(hosts, door, via, WISH)
    complete(hosts, door, via, ABSENT)
    reach = {"maas_endpoint": door.url, "maas_api_key": hosts.sim.api_key}
    process = playbook(tmp_path, {"metalshift.maas.vm_set": {**hosts.reach(via), **reach, **HASTE, **WISH}})
    struck: queue.SimpleQueue[list[int]] = queue.SimpleQueue()

    def strike() -> None:
        workers = children(process.pid)
        os.kill(process.pid, end)
        process.wait(LONGEST)
        struck.put(workers)

    door.kill(strike, number // 2, COMMITTED)
    output, _none = process.communicate(timeout=60)
    assert process.returncode == -end, output
    assert_gone(struck.get(timeout=LONGEST))
    door.spare()
    complete(hosts, door, via, ABSENT)
    assert_nothing_left(hosts, f"{via}, {end.name}")


@pytest.mark.parametrize("via", WAYS)
def test_runs_at_once_make_one_set(hosts: Hosts, via: str) -> None:
    with Door(hosts.sim, jitter=0.01) as door:
        for time in range(3):
            runs = [begin(hosts, door, via, WISH) for _number in range(3)]
            results = [run.end() for run in runs]
            # A run may lose a race for a host or an address; then it says so, and the next one finds all as it is.
            assert all(result is not None for result in results)
            complete(hosts, door, via, WISH)
            assert sorted(hosts.in_lxd) == sorted(hosts.in_maas) == list(ADDRESSES), time
            complete(hosts, door, via, ABSENT)
            assert_nothing_left(hosts, f"time {time}")


def test_a_run_that_loses_the_race_for_a_name_takes_the_other_vm_and_removes_its_own(hosts: Hosts, door: Door) -> None:
    """Another run of the same task adds its VM to MAAS while this one makes its own elsewhere."""
    lxd, arrived, go = hosts.servers["kvm1"].door, threading.Event(), threading.Event()

    def held_back(request: Request) -> Response | None:
        if request.method == "POST":
            arrived.set()
            go.wait(30)
        return lxd.answer(request)

    lxd.keeper = held_back
    wish = {"claim": "cp", "count": 1, **SIZE}
    slow = begin(hosts, door, "lxd", {**wish, "hosts": ["kvm1"]})
    assert arrived.wait(30)
    complete(hosts, door, "lxd", {**wish, "hosts": ["kvm2"]})
    go.set()
    result = slow.end()
    assert result is not None
    assert not result.get("failed"), result["msg"]
    assert (result["summary"], result["vms"][0]["vm_host"]) == ({"ready": 1}, "kvm2")
    assert (hosts.in_lxd, list(hosts.in_maas), len(hosts.volumes)) == ({"cp-1": "kvm2"}, ["cp-1"], 1)
    assert not complete(hosts, door, "lxd", wish)["changed"]


@pytest.mark.parametrize("via", WAYS)
def test_a_set_that_is_removed_while_it_is_made_is_not_made_again(hosts: Hosts, door: Door, via: str) -> None:
    """All but the one VM that a request was under way for."""
    absent: list[dict[str, Any]] = []
    # Some are there by then, and the rest is under way.
    late = requests_of(hosts, door, via, WISH) - 4
    complete(hosts, door, via, ABSENT)
    run = begin(hosts, door, via, WISH)
    door.kill(lambda: absent.append(begin(hosts, door, via, ABSENT).end() or {}), late, HELD)
    made = run.end()
    door.spare()
    assert absent[0]["changed"]
    assert made is not None
    assert made["failed"]
    assert "somebody removed it" in made["msg"]
    assert len(hosts.in_lxd) <= 1
