# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import time
from typing import Any

import pytest
import requests

from metalshift_lab.simulator import Simulator


def zones(sim: Simulator) -> list[str]:
    return [z.name for z in sim.state.zones]


@pytest.mark.parametrize(("when", "made"), [("before", False), ("after", True)])
def test_an_error_comes_before_or_after_the_commit(sim: Simulator, maas: Any, when: str, made: bool) -> None:
    sim.fault("error", when=when, status=503, method="POST", path="zones/")
    assert maas("POST", "zones/", {"name": "az1"}).status_code == 503
    assert ("az1" in zones(sim)) is made
    assert maas("POST", "zones/", {"name": "az2"}).status_code == 200


@pytest.mark.parametrize(("when", "made"), [("before", False), ("after", True)])
def test_a_connection_drops_before_or_after_the_commit(sim: Simulator, maas: Any, when: str, made: bool) -> None:
    sim.fault("drop", when=when, method="POST", path="zones/")
    with pytest.raises(requests.ConnectionError):
        maas("POST", "zones/", {"name": "az1"})
    assert ("az1" in zones(sim)) is made
    assert maas("GET", "zones/").ok


def test_both_kinds_of_conflict(sim: Simulator, maas: Any) -> None:
    sim.fault("conflict", text="Can't do that now.")
    sim.fault("retry")
    text, html = maas("GET", "zones/"), maas("GET", "zones/")
    assert (text.status_code, text.text, "Retry-After" in text.headers) == (409, "Can't do that now.", False)
    assert (html.status_code, html.headers["Retry-After"]) == (409, "5")
    assert html.headers["Content-Type"].startswith("text/html")


def test_a_fault_hits_what_it_names_as_often_as_it_says(sim: Simulator, maas: Any) -> None:
    sim.machine("node01")
    sim.fault("error", method="POST", path="^/MAAS/api/2.0/machines/$", op="allocate", skip=1, hits=2)
    allocations = [
        maas("POST", "machines/", {"op": "allocate", "dry_run": "true"}).status_code for _ignored in range(4)
    ]
    assert allocations == [200, 500, 500, 200]
    assert maas("POST", "zones/", {"name": "az1"}).status_code == 200


def test_each_fault_is_healed_alone(sim: Simulator, maas: Any) -> None:
    requests_fail = sim.fault("error", method="POST", path="zones/", hits=0)
    deployments_fail = sim.fault("machine", hostname="^bad", action="deploy", times=-1)
    sim.machine("bad01", status="Deploying")
    sim.heal(deployments_fail)
    sim.advance()
    assert (maas.status("bad01"), maas("POST", "zones/", {"name": "az1"}).status_code) == ("Deployed", 500)
    sim.heal(requests_fail)
    assert maas("POST", "zones/", {"name": "az1"}).status_code == 200


def test_latency_does_not_hold_others_up(sim: Simulator, maas: Any) -> None:
    sim.fault("latency", path="machines/", latency=5000, hits=0)
    from threading import Thread

    slow = Thread(target=requests.get, args=(f"{sim.url}/api/2.0/machines/?op=is_registered&mac_address=x",))
    slow.start()
    begin = time.monotonic()
    assert maas("GET", "zones/").ok
    assert time.monotonic() - begin < 4
    slow.join()


@pytest.mark.parametrize(
    ("status", "action", "failed"),
    [
        ("Commissioning", "commission", "Failed commissioning"),
        ("Deploying", "deploy", "Failed deployment"),
        ("Disk erasing", "erase", "Failed disk erasing"),
    ],
)
def test_named_machines_fail_as_often_as_told(sim: Simulator, maas: Any, status: str, action: str, failed: str) -> None:
    sim.machine("bad01", status=status)
    sim.machine("good01", status=status)
    sim.fault("machine", hostname="^bad", action=action, reason="The disk is on fire.")
    sim.advance()
    assert maas.status("bad01") == failed
    assert maas.status("good01") != failed
    answer = maas("GET", "machines/?hostname=bad01").json()[0]
    assert answer["error_description"] == "The disk is on fire."
    assert answer["status_message"] == "Marking node failed - The disk is on fire."


def test_a_machine_that_stays_goes_on_till_it_is_healed(sim: Simulator, maas: Any) -> None:
    sim.machine("slow01", status="Deploying")
    sim.machine("good01", status="Deploying")
    stays = sim.fault("stay", hostname="^slow", action="deploy")
    sim.auto(60)
    sim.forward(100_000)
    assert (maas.status("slow01"), maas.status("good01")) == ("Deploying", "Deployed")
    sim.heal(stays)
    assert maas.status("slow01") == "Deployed"


def test_a_failed_deployment_leaves_results_and_events(sim: Simulator) -> None:
    machine = sim.machine("node01", status="Deploying")
    sim.advance("node01", fail=True, reason="curtin said no")
    assert machine.installation_set is not None
    assert [(r.name, r.status.label, r.output) for r in machine.installation_set.results] == [
        ("/tmp/install.log", "Failed", b"curtin said no\n")
    ]
    assert [e.description for e in sim.state.events if e.node is machine][-1] == "curtin said no"


def test_clear_takes_faults_and_log_away(sim: Simulator, maas: Any) -> None:
    sim.fault("error", hits=0)
    sim.latency(10)
    assert maas("GET", "zones/").status_code == 500
    sim.clear()
    assert len(sim.requests) == 0
    assert maas("GET", "zones/").ok


def test_a_wrong_fault_is_refused_with_a_sentence(sim: Simulator) -> None:
    with pytest.raises(ValueError, match="A fault is one of latency, error, drop, conflict, retry, machine"):
        sim.fault("explode")
