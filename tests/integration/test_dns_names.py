# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names in DNS that lost what they stood for."""

from __future__ import annotations

import pytest

from integration.arranging import client
from integration.cases import QUICK, lab_domain
from integration.harness import run_task
from metalshift_lab.simulator import Simulator


def test_a_name_whose_address_went_with_its_machine_is_removed(sim: Simulator) -> None:
    lab_domain(sim)
    sim.machine("node-1")
    sim.auto(0.01)
    deployed = run_task(sim, "machine", {"machines": ["node-1"], "state": "deployed", **QUICK})
    address = deployed["machine"]["ip_addresses"][0]
    name = {"name": "*", "domain": "lab.example.com"}
    assert run_task(sim, "dns_record", {**name, "value": [address]}).changed
    run_task(sim, "machine", {"machines": ["node-1"], "state": "ready", **QUICK})
    gone = {**name, "state": "absent"}
    foreseen, done = run_task(sim, "dns_record", gone, check=True), run_task(sim, "dns_record", gone)
    assert (foreseen.changed, done.changed, done["dns_record"]) == (True, True, {})
    assert not run_task(sim, "dns_record", gone).changed
    assert run_task(sim, "domain", {"name": "lab.example.com", "state": "absent"}).changed


API = {"fqdn": "api.demo.lab.example.com", "value": ["10.99.0.50"]}
NAMED = {"addresses": [{"ip": "10.99.0.50", "hostname": "api.demo.lab.example.com"}]}


@pytest.mark.parametrize("parent", [False, True], ids=["no domain", "the one above it"])
def test_making_names_can_be_checked_before_their_domain_is_there(sim: Simulator, parent: bool) -> None:
    if parent:
        lab_domain(sim)
    sim.requests.clear()
    for module, options in (("dns_record", API), ("ip_reservation", NAMED)):
        done = run_task(sim, module, options, check=True)
        assert (done.failed, done.changed) == (False, True), done.msg
        assert done["warnings"] == ["MAAS does not have the domain demo.lab.example.com yet."]
    shown = run_task(sim, "dns_record", API, check=True)["dns_record"]
    assert (shown["name"], shown["domain"], shown["value"]) == ("api", "demo.lab.example.com", ["10.99.0.50"])
    assert not sim.requests.writes()
    assert run_task(sim, "dns_record", API).failed


def test_a_teardown_with_dns_can_be_repeated(sim: Simulator) -> None:
    domain = {"name": "demo.lab.example.com"}
    made = [("domain", domain), ("ip_reservation", NAMED), ("dns_record", API)]
    assert all(not run_task(sim, module, options).failed for module, options in made)
    for _time in range(3):
        for module, options in reversed(made):
            for check in (True, False):
                # In check mode the tasks before have not removed the records yet.
                if module != "domain" or not check:
                    done = run_task(sim, module, {**options, "state": "absent"}, check=check)
                    assert not done.failed, done.msg
        assert domain["name"] not in [one["name"] for one in client(sim).get("domains/")]


@pytest.mark.parametrize("check", [True, False])
def test_a_domain_becomes_the_default(sim: Simulator, check: bool) -> None:
    sim.machine("node-1")
    wished = {"name": "lab.example.com", "is_default": True}
    done = run_task(sim, "domain", wished, check=check)
    assert (done.changed, done["domain"]["is_default"]) == (True, True)
    assert [hunk["after_header"] for hunk in done["diff"]] == ["domain lab.example.com (create; make default)"]
    assert [action["action"] for action in done["plan"]] == ["create", "make default"]
    if check:
        assert not sim.requests.writes()
        return
    assert not run_task(sim, "domain", wished).changed
    assert sim.find("node-1").domain.name == "lab.example.com"
    refused = run_task(sim, "domain", {"name": "lab.example.com", "is_default": False})
    assert refused.msg == (
        "The domain lab.example.com is MAAS's default, and MAAS always has one. "
        "Make another domain the default, with is_default: true."
    )
    assert not run_task(sim, "domain", {"name": "maas", "is_default": False}).changed


@pytest.mark.parametrize("name", ["52:54:00:AB:CD:01", "52-54-00-ab-CD-01"])
def test_a_machine_is_found_by_its_mac_address_in_any_spelling(sim: Simulator, name: str) -> None:
    client(sim).post(
        "machines/",
        {
            "hostname": "node-1",
            "architecture": "amd64",
            "mac_addresses": "52:54:00:ab:cd:01",
            "power_type": "manual",
            "commission": False,
        },
    )
    found = run_task(sim, "machine_info", {"machines": [name]})
    assert [machine["hostname"] for machine in found["machines"]] == ["node-1"]
    adopted = {"machines": [{"name": "other", "hostname": "node-1", "mac_addresses": [name]}]}
    assert not run_task(sim, "machine", adopted).changed
