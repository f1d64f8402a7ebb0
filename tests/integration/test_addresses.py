# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reservations and links when answers are lost, runs die, others are faster, and users may not."""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task, carry_out
from ansible_collections.metalshift.maas.plugins.module_utils._http import client as client_module
from ansible_collections.metalshift.maas.plugins.modules import ip_reservation
from integration.arranging import link, plain_user, reserve
from integration.cases import LIVES, Case, two_nics
from integration.harness import run_task
from metalshift_lab.simulator import Simulator

CASES = [case for case in LIVES if case.module in ("ip_reservation", "interface_link")]
STEPS = ("create", "change", "delete")
STATIC = {"machine": "node-1", "interface": "eth1", "mode": "static", "ip_address": "10.99.0.50"}

LOST: Mapping[str, Mapping[str, Any]] = {
    "dropped before": {"does": "drop", "when": "before"},
    "dropped after": {"does": "drop", "when": "after"},
    "503 after": {"does": "error", "status": 503, "when": "after"},
}


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses between attempts are tested elsewhere."""
    monkeypatch.setattr(client_module, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(client_module, "LONGEST_RETRY_AFTER", 0.001)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("trouble", LOST.values(), ids=LOST)
def test_a_lost_answer_is_made_up_for(sim: Simulator, case: Case, trouble: Mapping[str, Any]) -> None:
    case.arrange(sim)
    for step in STEPS:
        for method in ("POST", "PUT", "DELETE"):
            sim.fault(method=method, **trouble)
        done = run_task(sim, case.module, getattr(case, step))
        sim.clear()
        assert not done.failed, f"{step}: {done.msg}"
        assert done.changed, step
        again = run_task(sim, case.module, getattr(case, step))
        assert not again.changed, f"{step}: {again['diff']}"
        assert _bare(done[case.noun or case.module]) == _bare(again[case.noun or case.module])


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_server_error_is_one_sentence_and_the_next_run_repairs_it(sim: Simulator, case: Case, when: str) -> None:
    case.arrange(sim)
    for step in STEPS:
        for method in ("POST", "PUT", "DELETE"):
            sim.fault(method=method, status=500, text="Simulated failure.", when=when)
        first = run_task(sim, case.module, getattr(case, step))
        sim.clear()
        assert "Traceback" not in str(first.result)
        assert not first.failed or "Simulated failure" in first.msg
        for _attempt in range(2):
            last = run_task(sim, case.module, getattr(case, step))
        assert not last.failed, last.msg
        assert not last.changed


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("committed", [False, True], ids=["sent", "committed"])
@pytest.mark.parametrize("at", range(2))
def test_a_run_that_dies_at_a_write_is_repaired_by_the_next(
    sim: Simulator, case: Case, at: int, committed: bool
) -> None:
    case.arrange(sim)
    for step in STEPS:
        args = getattr(case, step)
        sim.requests.clear()
        run_task(sim, case.module, args, check=True)
        reads = len(list(sim.requests))
        if committed:
            sim.fault("drop", when="after", skip=reads + at)
        sim.fault("drop", skip=reads + at, hits=0)
        run_task(sim, case.module, args)
        sim.clear()
        done = run_task(sim, case.module, args)
        assert not done.failed, f"{step}: {done.msg}"
        assert not run_task(sim, case.module, args).changed


def _bare(said: Any) -> Any:
    return [_bare(one) for one in said] if isinstance(said, list) else {**said, "changed": None}


# -- others are faster -----------------------------------------------------------------------------


TASKS: Mapping[str, Mapping[str, Any]] = {
    "ip_reservation": {"addresses": ["10.99.0.50"]},
    "interface_link": STATIC,
}


@pytest.mark.parametrize("module", TASKS)
def test_who_was_faster_is_named(sim: Simulator, module: str) -> None:
    two_nics(sim)
    sim.machine("rival")
    slow = sim.fault("latency", method="POST", latency=500)
    with ThreadPoolExecutor(1) as other:
        running = other.submit(run_task, sim, module, TASKS[module])
        deadline = time.monotonic() + 10
        while not getattr(slow, "seen", 1) and time.monotonic() < deadline:
            time.sleep(0.005)
        link(sim, "rival", "eth0", "10.99.0.50")
        done = running.result()
    assert done.failed
    assert done["failure"]["kind"] == "conflict"
    assert "it is used by rival (eth0)." in done.msg


def test_a_faster_reservation_for_another_mac_address_is_not_taken_for_ours(sim: Simulator) -> None:
    slow = sim.fault("latency", method="POST", latency=500)
    task = {"addresses": ["10.99.0.50"], "mac_address": "52:54:00:00:99:01"}
    with ThreadPoolExecutor(1) as other:
        running = other.submit(run_task, sim, "ip_reservation", task)
        deadline = time.monotonic() + 10
        while not getattr(slow, "seen", 1) and time.monotonic() < deadline:
            time.sleep(0.005)
        reserve(sim, "10.99.0.50", mac="52:54:00:00:99:02")
        done = running.result()
    assert done["failure"]["kind"] in ("conflict", "not_found"), done.msg


def test_two_runs_at_once_make_one_reservation(sim: Simulator) -> None:
    sim.fault("latency", method="POST", latency=200, hits=0)
    results = at_once(sim, {"addresses": ["10.99.0.50-10.99.0.53"], "type": "user"})
    assert [result.get("msg") for result in results] == [None, None]
    assert not run_task(sim, "ip_reservation", {"addresses": ["10.99.0.50-10.99.0.53"]}).changed


def test_two_runs_at_once_keep_one_address_by_dhcp(sim: Simulator) -> None:
    sim.fault("latency", method="POST", latency=200, hits=0)
    task = {"addresses": ["10.99.0.50"], "type": "dhcp", "mac_address": "52:54:00:00:99:01"}
    results = at_once(sim, task)
    assert [result.get("msg") for result in results] == [None, None]
    assert not run_task(sim, "ip_reservation", task).changed


def at_once(sim: Simulator, options: Mapping[str, Any]) -> list[dict[str, Any]]:
    wanted = {"maas_endpoint": sim.url, "maas_api_key": sim.api_key, **options}
    checked = ArgumentSpecValidator(ip_reservation.SPEC.argument_spec).validate(wanted)
    assert not checked.error_messages
    with ThreadPoolExecutor(2) as hosts:
        tasks = [Task(checked.validated_parameters) for _host in range(2)]
        return list(hosts.map(lambda task: carry_out(ip_reservation.converge, task, "ip_reservation"), tasks))


# -- users -----------------------------------------------------------------------------------------


def test_a_plain_user_reserves_and_releases_addresses(sim: Simulator) -> None:
    key = {"maas_api_key": plain_user(sim)}
    for task in ({"addresses": ["10.99.0.50"], "hostname": "api"}, {"addresses": ["10.99.0.50"], "state": "absent"}):
        for changes in (True, False):
            done = run_task(sim, "ip_reservation", {**task, **key})
            assert (done.failed, done.changed) == (False, changes), done.msg


def test_an_address_of_another_user_is_left_to_them(sim: Simulator) -> None:
    reserve(sim, "10.99.0.50", key=plain_user(sim), hostname="api")
    mine = run_task(sim, "ip_reservation", {"addresses": ["10.99.0.50"]})
    assert mine.msg.startswith("10.99.0.50 cannot be reserved: it is reserved by bob for api.maas.")
    gone = run_task(sim, "ip_reservation", {"addresses": ["10.99.0.50"], "state": "absent"})
    assert (gone["failure"]["kind"], gone.msg) == (
        "claimed",
        "10.99.0.50 cannot be released: it is reserved by bob for api.maas. Use that user's key.",
    )
    sim.machine("node-1", nics=2)
    taken = run_task(sim, "interface_link", {**STATIC, "take_reserved": True})
    assert "it is reserved by bob for api.maas. Choose another address, or have" in taken.msg
    assert [request.op for request in sim.requests.writes() if request.op] == ["reserve"]


def test_a_plain_user_cannot_link_machines(sim: Simulator) -> None:
    two_nics(sim)
    done = run_task(sim, "interface_link", {**STATIC, "maas_api_key": plain_user(sim)})
    assert done["failure"]["kind"] == "forbidden"
    assert done.msg.startswith("eth1 of node-1 cannot be linked: MAAS refuses (")
