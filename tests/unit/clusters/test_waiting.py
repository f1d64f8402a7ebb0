# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a wait says, on an API server that tests fill."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.progress import Goal
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.pure.stuck_machines import PAUSED
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import PAUSED_FOR
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.wait import wait_for
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    HOSTED_CLUSTERS,
    HOSTED_CONTROL_PLANES,
    MACHINE_SETS,
    MACHINES,
)
from unit.kube.shapes import NAME, NAMESPACE, Object, available_cluster, control_plane
from unit.kube.watched_api import WatchedApi

CLUSTERS, PLANES = HOSTED_CLUSTERS.path(NAMESPACE), HOSTED_CONTROL_PLANES.path(f"{NAMESPACE}-{NAME}")
STARTING = available_cluster(IgnitionEndpointAvailable="False/WaitingForAvailable/Ignition server deployment")
del STARTING["status"]["ignitionEndpoint"]
NO_QUORUM = control_plane(EtcdAvailable="False/EtcdWaitingForQuorum/Waiting for etcd to reach quorum")


@pytest.fixture
def api() -> Iterator[WatchedApi]:
    server = WatchedApi()
    yield server
    server.stop()


def put(api: WatchedApi, cluster: Object | None = None, plane: Object | None = None) -> None:
    """How they are from now on."""
    for path, place, body in ((CLUSTERS, NAMESPACE, cluster), (PLANES, f"{NAMESPACE}-{NAME}", plane)):
        if body is not None:
            api.put(path, NAME, place, **{key: value for key, value in body.items() if key != "metadata"})


def said(api: WatchedApi, goal: Goal, then: Mapping[str, Callable[[], None]] | None = None) -> list[str]:
    """What a wait says till its end, without the time that has passed; `then` is done when a line is said first."""
    lines: list[str] = []

    def say(line: str) -> None:
        lines.append(line.rpartition(", ")[0])
        if lines.count(lines[-1]) == 1:
            (then or {}).get(lines[-1], lambda: None)()

    options: dict[str, Any] = {"kubeconfig": api.kubeconfig, "wait_timeout": 60.0, "wait_sleep": 5.0}
    wait_for(Task(options, say=say, environment={}), NAMESPACE, NAME, goal)
    return lines


def test_what_has_long_been_fine_is_told_in_a_line(api: WatchedApi) -> None:
    put(api, available_cluster(), control_plane())
    assert said(api, "control_plane") == ["control plane: available"]


def test_what_is_not_fine_yet_is_told_and_then_each_change(api: WatchedApi) -> None:
    put(api, STARTING, control_plane())
    assert said(
        api,
        "ignition",
        {
            "ignition server: starting": lambda: put(api, plane=NO_QUORUM),
            "etcd: waiting for quorum": lambda: put(api, plane=control_plane()),
            "etcd: has its quorum": lambda: put(api, available_cluster()),
        },
    ) == [
        "control plane: available",
        "ignition server: starting",
        "etcd: waiting for quorum",
        "etcd: has its quorum",
        "API server: available",
        "control plane: available",
        "ignition server: machines can get their configuration",
    ]


# -- what a wait has paused ------------------------------------------------------------------------------------------

SETS, INNER = MACHINE_SETS.path(f"{NAMESPACE}-{NAME}"), f"{NAMESPACE}-{NAME}"
PAUSES = {PAUSED: "true", PAUSED_FOR: "a"}
STUCK = {"conditions": [{"type": "Deleting", "status": "True", "reason": "DeletingNode", "message": ""}]}


def hang(api: WatchedApi, **notes: str) -> None:
    """A Machine that only its Node keeps, since long ago, and its MachineSet."""
    put(api, available_cluster(), NO_QUORUM)
    api.put(SETS, "set", INNER, notes={"annotations": notes})
    owner = [{"kind": "MachineSet", "name": "set"}]
    gone = {"deletionTimestamp": "2026-01-01T00:00:00Z", "ownerReferences": owner}
    api.put(MACHINES.path(INNER), "a", INNER, notes=gone, spec={}, status={"v1beta2": STUCK})


def annotations(api: WatchedApi) -> dict[str, str]:
    return dict(api.objects[SETS][f"{INNER}set"]["metadata"].get("annotations") or {})


def test_a_wait_that_fails_leaves_no_machine_set_paused(api: WatchedApi) -> None:
    hang(api)
    paused: list[dict[str, str]] = []

    def look(line: str) -> None:
        if "let go without its Node" in line:
            paused.append(annotations(api))

    options: dict[str, Any] = {"kubeconfig": api.kubeconfig, "wait_timeout": 3.0, "wait_sleep": 0.2}
    with pytest.raises(Failure) as caught:
        wait_for(Task(options, say=look, environment={}), NAMESPACE, NAME, "nodes")
    assert caught.value.kind == "timeout"
    assert paused == [PAUSES]
    assert annotations(api) == {}


def test_a_wait_that_ends_well_leaves_none_either(api: WatchedApi) -> None:
    """Also when an earlier run made the pause, and whatever the goal is."""
    hang(api, **PAUSES, team="blue")
    put(api, plane=control_plane())
    assert said(api, "control_plane") == ["control plane: available"]
    assert annotations(api) == {"team": "blue"}


def test_a_pause_that_somebody_else_made_is_left(api: WatchedApi) -> None:
    hang(api, **{PAUSED: "true"})
    put(api, plane=control_plane())
    said(api, "control_plane")
    assert annotations(api) == {PAUSED: "true"}


class Hasty:
    """A clock by which minutes pass in moments."""

    def now(self) -> float:
        return time.monotonic() * 200

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds / 200)


def test_a_long_wait_without_news_says_what_it_waits_for(api: WatchedApi) -> None:
    put(api, STARTING, control_plane())
    lines: list[str] = []
    options: dict[str, Any] = {"kubeconfig": api.kubeconfig, "wait_timeout": 300.0, "wait_sleep": 5.0}
    task = Task(options, say=lines.append, environment={}, clock=Hasty())
    with pytest.raises(Failure):
        wait_for(task, NAMESPACE, NAME, "ignition")
    assert any(line.startswith("ignition server: starting") and line.endswith(" of 5m00s") for line in lines), lines
