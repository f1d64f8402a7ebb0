# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The marks that machines of hosted clusters bear in MAAS."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._journey.owners import Marker, mark
from ansible_collections.metalshift.maas.plugins.module_utils._task import Task
from lab.simulator import Simulator
from unit.journey.clusters import MARKS, OTHER, sight


def task(sim: Simulator, *, check: bool = False) -> Task:
    params = {"maas_endpoint": sim.url, "maas_api_key": sim.api_key, "maas_validate_certs": True, "maas_timeout": 10.0}
    return Task(params, check=check, environment={})


def held(sim: Simulator, name: str, **more: Any) -> str:
    return str(sim.machine(name, status="Deployed", zone="az1", **more).system_id)


def test_marking_is_one_listing_and_a_request_for_each_machine_and_then_nothing(sim: Simulator) -> None:
    seen = sight(*((name, held(sim, name)) for name in ("a", "b", "c")))
    sim.requests.clear()
    found = mark(task(sim), seen)
    assert (found.changed, len(found.done), len(found.ours)) == (True, 3, 3)
    assert [entry.op for entry in sim.requests.writes()] == ["set_workload_annotations"] * 3
    assert [(entry.path.rpartition("2.0/")[2], entry.op) for entry in sim.requests if entry.method == "GET"] == [
        ("machines/", None),
        ("users/", "whoami"),
    ]
    assert sim.find("b").annotations == MARKS
    sim.requests.clear()
    assert not mark(task(sim), seen).changed
    assert len(sim.requests) == 1


def test_check_mode_tells_and_writes_nothing(sim: Simulator) -> None:
    seen = sight(("a", held(sim, "a")))
    found = mark(task(sim, check=True), seen)
    assert [one.step.after for one in found.done] == [MARKS]
    assert not sim.requests.writes()


def test_a_sweep_finds_marks_that_were_left_behind(sim: Simulator) -> None:
    held(sim, "left", annotations=MARKS)
    held(sim, "theirs", annotations=OTHER)
    seen = sight(("a", held(sim, "a", annotations=MARKS)))
    assert not mark(task(sim), seen).changed
    assert mark(task(sim), seen, sweep=True).changed
    assert sim.find("left").annotations == {}
    assert sim.find("theirs").annotations == OTHER
    assert sim.find("a").annotations == MARKS


def test_a_sight_with_a_trouble_takes_no_mark_away(sim: Simulator) -> None:
    """What could not be read would look as if the cluster had no machines."""
    held(sim, "left", annotations=MARKS)
    assert not mark(task(sim), replace(sight(), troubles=["The machines could not be read."]), sweep=True).changed
    assert sim.find("left").annotations == MARKS


def test_maas_forgets_the_marks_of_a_machine_that_is_released(sim: Simulator) -> None:
    system_id = held(sim, "a", annotations=MARKS)
    task(sim).maas.post(f"machines/{system_id}/", op="release")
    assert sim.find("a").annotations == {}


def test_what_another_user_of_maas_holds_is_not_marked(sim: Simulator) -> None:
    seen = sight(("a", held(sim, "a", owner="MAAS")))
    assert not mark(task(sim), seen).changed
    assert sim.find("a").annotations == {}


def test_who_may_not_annotate_a_machine_is_told(sim: Simulator) -> None:
    seen = sight(("a", held(sim, "a")))
    sim.fault("error", status=403, op="set_workload_annotations", text="No.", hits=0)
    found = mark(task(sim), seen)
    assert not found.changed
    assert "a could not be marked as a machine of clusters/demo" in found.warnings[0]


def test_in_a_wait_maas_is_asked_only_for_machines_that_are_new(sim: Simulator) -> None:
    ids = {name: held(sim, name) for name in ("a", "b")}
    marker = Marker(task(sim))
    sim.requests.clear()
    assert [one.name for one in marker.tick(sight(("a", ids["a"]))).done] == ["a"]
    spent = len(sim.requests)
    assert not marker.tick(sight(("a", ids["a"]))).changed
    assert len(sim.requests) == spent
    assert [one.name for one in marker.tick(sight(*ids.items())).done] == ["b"]
    spent = len(sim.requests)
    assert not marker.tick(sight(("b", ids["b"]))).changed
    assert len(sim.requests) == spent
    # What was given back and comes again is looked at again.
    assert not marker.tick(sight(("a", ids["a"]))).changed
    assert len(sim.requests) > spent
