# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from metalshift_lab.simulator import Simulator


def page(maas: Any, uri: str) -> Any:
    return maas("GET", uri.removeprefix("/MAAS/api/2.0/")).json()


def test_events_come_in_pages_newest_first(sim: Simulator, maas: Any) -> None:
    sim.machines(3)
    everything = page(maas, "events/?op=query&level=DEBUG")["events"]
    ids = [e["id"] for e in everything]
    assert ids == sorted(ids, reverse=True)
    seen, uri = [], "events/?op=query&level=DEBUG&limit=2"
    while uri:
        found = page(maas, uri)
        seen += [e["id"] for e in found["events"]]
        uri = found["prev_uri"]
    assert seen == ids
    assert page(maas, page(maas, f"events/?op=query&limit=1&before={ids[-1]}")["next_uri"])["count"] == 1


def test_events_of_one_machine_and_level(sim: Simulator, maas: Any) -> None:
    sim.machine("good", status="Deploying")
    sim.machine("bad", status="Deploying")
    sim.advance("bad", fail=True)
    errors = page(maas, "events/?op=query&level=ERROR")["events"]
    assert {e["hostname"] for e in errors} == {"bad"}
    assert page(maas, "events/?op=query&hostname=good&level=ERROR")["count"] == 0
    assert maas("GET", "events/?op=query&after=1&before=2").status_code == 400
