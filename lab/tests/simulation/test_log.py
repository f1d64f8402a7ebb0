# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
import threading
from typing import Any

import requests

from metalshift_lab.simulator import Simulator


def test_every_request_is_logged(sim: Simulator, maas: Any) -> None:
    maas("GET", "users/?op=whoami")
    maas("POST", "zones/", {"name": "az1"}, headers={"User-Agent": "me/1"})
    first, second = sim.requests
    assert (first.number, first.method, first.op, first.status, first.user) == (1, "GET", "whoami", 200, "admin")
    assert (second.path, second.params, second.user_agent) == ("/MAAS/api/2.0/zones/", {"name": ["az1"]}, "me/1")
    assert sim.requests.writes() == [second]


def test_the_log_has_no_secrets(sim: Simulator, maas: Any) -> None:
    form = {
        "hostname": "node01",
        "architecture": "amd64/generic",
        "mac_addresses": "52:54:00:00:00:01",
        "power_type": "ipmi",
        "power_parameters_power_address": "10.0.0.1",
        "power_parameters_power_pass": "planted-secret",
        "commission": "false",
    }
    maas("POST", "machines/", form)
    maas("POST", "users/", {"username": "u", "email": "e", "password": "planted-secret", "is_superuser": "0"})
    sim.machine("node02")
    maas.op("node02", "deploy", user_data="planted-secret")
    logged = json.dumps([e.as_json() for e in sim.requests])
    assert "planted-secret" not in logged
    assert sim.api_key.split(":")[2] not in logged
    assert "node01" in logged


def test_it_counts_requests_that_run_at_once(sim: Simulator) -> None:
    sim.fault("latency", latency=200, hits=0)
    url = f"{sim.url}/api/2.0/version/"
    threads = [threading.Thread(target=requests.get, args=(url,)) for _ignored in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(e.concurrent for e in sim.requests) == 4


def test_the_control_api_shows_and_clears_it(sim: Simulator, maas: Any, control: Any) -> None:
    maas("GET", "zones/")
    maas("GET", "tags/")
    seen = requests.get(f"{sim.control_url}/requests", params={"since": 1}, timeout=10).json()
    assert [(e["number"], e["path"]) for e in seen] == [(2, "/MAAS/api/2.0/tags/")]
    control("requests/clear")
    assert len(sim.requests) == 0
