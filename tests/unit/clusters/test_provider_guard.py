# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a wait does about MaasMachines with which the provider does harm, on an API server that tests fill."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pauses.provider_guard import ProviderGuard
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import GIVEN_UP, NOT_OURS, PAUSED
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import MAAS_MACHINES, Object
from unit.clusters.clusters import MARKS, OTHER, in_maas
from unit.kube.shapes import NAME, NAMESPACE, maas_machine, machine, pool, sight
from unit.kube.watched_api import WatchedApi

INNER = f"{NAMESPACE}-{NAME}"
BODIES = MAAS_MACHINES.path(INNER)
REFUSED = (
    "False/MachineDeployFailed/failed to deploy MaasMachine instance: "
    "Unable to deploy machine: status: 400, message: {'distro_series': ['nope']}"
)


@pytest.fixture
def api() -> Iterator[WatchedApi]:
    server = WatchedApi()
    yield server
    server.stop()


def guard(api: WatchedApi, *pools: str) -> ProviderGuard:
    return ProviderGuard(Task({"kubeconfig": api.kubeconfig}, environment={}), pools)


def seen(api: WatchedApi, deployed: str = "True//") -> ClusterSnapshot:
    """One machine of one node pool."""
    body = {**maas_machine("a", deployed=deployed), "spec": {"providerID": "maas:///az1/abc123"}}
    api.put(BODIES, "a", INNER, **{part: body[part] for part in ("spec", "status")})
    return sight(pools={NAME: pool()}, machines=[machine("a")], maas_machines=[body])


def annotations(api: WatchedApi) -> Object:
    return dict(api.objects[BODIES][f"{INNER}a"]["metadata"].get("annotations") or {})


def test_who_gives_up_ends_what_would_go_on_without_end(api: WatchedApi) -> None:
    endless = seen(api, REFUSED)
    assert guard(api, "another").give_up(endless) == ""
    assert annotations(api) == {}
    said = guard(api, NAME).give_up(endless)
    assert said.startswith("MaasMachine a is paused until the next run: ")
    assert annotations(api) == {PAUSED: "true", GIVEN_UP: "MachineDeployFailed"}


def test_what_may_still_come_goes_on_when_somebody_gives_up(api: WatchedApi) -> None:
    assert guard(api).give_up(seen(api, "False/MachineDeploying/")) == ""
    assert annotations(api) == {}


@pytest.mark.parametrize(
    ("marks", "whose"),
    [
        (OTHER, "MAAS has it marked as a machine of hosted cluster clusters/other"),
        ({"metalshift_claim": "web"}, "the claim web holds it"),
        (MARKS, ""),
        ({}, ""),
    ],
)
def test_the_provider_is_kept_from_machines_of_others(api: WatchedApi, marks: dict[str, str], whose: str) -> None:
    found, keeper = seen(api), guard(api)
    assert keeper.unchecked(found) == found.maas_machines
    lines = list(keeper.check(found, {"abc123": in_maas(workload_annotations=marks)}).values())
    said = f"machine a: paused, as it names abc123, which is not this cluster's: {whose}"
    assert (lines, annotations(api)) == (([said], {PAUSED: "true", NOT_OURS: "abc123"}) if whose else ([], {}))
    assert keeper.unchecked(found) == []


def test_nothing_is_paused_when_the_wait_has_ended(api: WatchedApi) -> None:
    """What works beside the wait may still be at it, and the next run is not told."""
    keeper = guard(api)
    keeper.give_up(None)
    assert keeper.check(seen(api), {"abc123": in_maas(workload_annotations=OTHER)}) == {}
    assert annotations(api) == {}
