# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The marks that machines of hosted clusters bear in MAAS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.machines import (
    MachineReturn,
    NotedMachine,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.ownership.marks import Marker, mark
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.ownership.pure.machine_owner import MachineOwner
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.wait import wait_for
from ansible_collections.metalshift.maas.plugins.module_utils._core.clock import WALL_CLOCK, Clock
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._core.wait import Patience
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    HOSTED_CLUSTERS,
    HOSTED_CONTROL_PLANES,
    MAAS_MACHINES,
    MACHINE_DEPLOYMENTS,
    MACHINES,
    NODE_POOLS,
    ObjectKind,
)
from metalshift_lab.simulator import Simulator
from unit.clusters.clusters import MARKS, OTHER, sight
from unit.kube.shapes import NAME, NAMESPACE, available_cluster, control_plane, deployment, maas_machine, machine, pool
from unit.kube.watched_api import WatchedApi
from unit.scripted_maas import FakeClock


def task(
    sim: Simulator,
    *,
    check: bool = False,
    say: Callable[[str], None] = lambda _line: None,
    clock: Clock = WALL_CLOCK,
    **options: Any,
) -> Task:
    params = {"maas_endpoint": sim.url, "maas_api_key": sim.api_key, "maas_validate_certs": True, "maas_timeout": 10.0}
    return Task({**params, **options}, check=check, say=say, clock=clock, environment={})


def held(sim: Simulator, name: str, **more: Any) -> str:
    return str(sim.machine(name, status="Deployed", zone="az1", **more).system_id)


OURS = MachineOwner("ours", "all that is known of it fits")


@pytest.mark.parametrize(
    ("status", "marks", "more", "outcome", "released"),
    [
        ("Deployed", MARKS, {}, "ready", True),
        ("Releasing failed", MARKS, {}, "ready", True),
        # Without a mark nobody knows whose it is by now.
        ("Deployed", {}, {"unmarked": True}, "held", False),
        ("Releasing failed", {}, {}, "failed", False),
        ("Releasing failed", OTHER, {}, "taken", False),
        ("Deployed", OTHER, {}, "taken", False),
    ],
    ids=str,
)
def test_only_what_bears_the_mark_of_the_cluster_is_released_for_it(
    sim: Simulator, status: str, marks: dict[str, str], more: dict[str, Any], outcome: str, released: bool
) -> None:
    """With force, when what named the machine may be gone."""
    machine = sim.machine("a", status=status, annotations=marks)
    one = NotedMachine(machine.system_id, "a", "np", status, OURS, "m1", **more)
    given = task(sim, wait=True, wait_timeout=0.2, wait_sleep=0.05)
    back = MachineReturn(given, Patience.of(given), f"{NAMESPACE}/{NAME}", release=True)
    sim.requests.clear()
    [found] = back.until_free([one])
    assert (found.outcome, [entry.op for entry in sim.requests.writes()]) == (outcome, ["release"] * released)


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
    one, both = sight(("a", ids["a"])), sight(*ids.items())
    marker = Marker(task(sim))
    assert marker.due(one)
    assert marker.tick(one)
    assert not marker.due(one)
    assert marker.due(both)
    assert marker.tick(both)
    assert [sim.find(name).annotations for name in ids] == [MARKS, MARKS]
    assert not marker.due(sight(("b", ids["b"])))
    # What was given back and comes again is looked at again.
    assert marker.due(one)


def test_what_is_not_held_yet_stays_due(sim: Simulator) -> None:
    seen = sight(("a", str(sim.machine("a", status="Ready", zone="az1").system_id)))
    marker = Marker(task(sim))
    assert marker.due(seen)
    assert not marker.tick(seen)
    assert marker.due(seen)


def test_at_the_end_of_a_wait_all_that_it_marked_counts(sim: Simulator) -> None:
    seen = sight(("a", held(sim, "a")))
    marker = Marker(task(sim))
    marker.due(seen)
    marker.tick(seen)
    assert marker.finish(seen).changed
    assert not Marker(task(sim)).finish(seen).changed


@pytest.mark.parametrize("fault", [503, 401])
def test_a_wait_that_failed_fails_for_its_own_reason(sim: Simulator, fault: int) -> None:
    """Whatever MAAS says to the marks of what was seen last."""
    seen = sight(("a", held(sim, "a")))
    marker = Marker(task(sim, clock=FakeClock()))
    assert not marker.finish().warnings
    marker.due(seen)
    sim.fault("error", status=fault, path="machines/", text="No.", hits=0)
    assert "are not marked in MAAS" in marker.finish().warnings[0]


class Waiting:
    """A hosted cluster whose pool never gets its node, and a task that waits for it."""

    def __init__(self, api: WatchedApi, sim: Simulator) -> None:
        self.api, self.sim, self.inner = api, sim, f"{NAMESPACE}-{NAME}"
        self.lines: list[str] = []
        self._put(HOSTED_CLUSTERS, available_cluster(), NAMESPACE)
        self._put(HOSTED_CONTROL_PLANES, control_plane(), self.inner)
        self._put(NODE_POOLS, pool(1, 0), NAMESPACE)
        self._put(MACHINE_DEPLOYMENTS, deployment(1, 0), self.inner)

    def _put(self, kind: ObjectKind, body: dict[str, Any], place: str) -> None:
        content = {key: value for key, value in body.items() if key != "metadata"}
        self.api.put(kind.path(place), body["metadata"]["name"], place, **content)

    def take(self, name: str, status: str) -> None:
        """The provider's word that it has taken this machine."""
        system_id = str(self.sim.machine(name, status=status, zone="az1").system_id)
        self._put(MACHINES, machine(name), self.inner)
        named = {**maas_machine(name), "spec": {"providerID": f"maas:///az1/{system_id}"}}
        self._put(MAAS_MACHINES, named, self.inner)

    def task(self, say: Callable[[str], None], timeout: float) -> Task:
        params = {"kubeconfig": self.api.kubeconfig, "wait_timeout": timeout, "wait_sleep": 0.1, "name": NAME}
        return task(self.sim, say=say, **params)


@pytest.fixture
def waiting(sim: Simulator) -> Iterator[Waiting]:
    api = WatchedApi()
    yield Waiting(api, sim)
    api.stop()


def test_a_machine_is_marked_while_the_task_still_waits(waiting: Waiting) -> None:
    """An hour may pass till its node is Ready, and nobody is to release it meanwhile."""
    waiting.take("a", "Deploying")

    class Marked(Exception):
        """It has come while the wait went on."""

    class Watchful(Marker):
        def tick(self, seen: ClusterSnapshot) -> bool:
            done = super().tick(seen)
            raise Marked if done else AssertionError("it was not marked at once")

    mine = waiting.task(lambda _line: None, 60.0)
    with pytest.raises(Marked):
        wait_for(mine, NAMESPACE, NAME, "nodes", marker=Watchful(mine))
    assert waiting.sim.find("a").annotations == {"metalshift_cluster": f"{NAMESPACE}/{NAME}"}


def test_what_is_held_when_a_wait_fails_is_marked(waiting: Waiting) -> None:
    waiting.take("a", "Deploying")
    mine = waiting.task(lambda _line: None, 3.0)
    marker = Marker(mine)
    with pytest.raises(Failure, match="does not have all its nodes Ready yet"):
        wait_for(mine, NAMESPACE, NAME, "nodes", marker=marker)
    assert marker.finish().changed
    assert waiting.sim.find("a").annotations["metalshift_cluster"] == f"{NAMESPACE}/{NAME}"
