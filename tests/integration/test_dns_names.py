# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names in DNS that lost what they stood for."""

from __future__ import annotations

from integration.cases import QUICK, lab_domain
from integration.harness import run_task
from lab.simulator import Simulator


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
