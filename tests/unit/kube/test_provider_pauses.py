# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which MaasMachines are paused because the provider does harm with them, and when they are continued."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pauses.pure.provider import (
    endless,
    patches,
    takeover,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import MAAS_MACHINE_FINALIZER
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from unit.kube.shapes import NAME, deployment, maas_machine, machine, pool, sight

Object = dict[str, Any]

FAILED = "False/MachineDeployFailed/failed to deploy MaasMachine instance:"
REFUSED = f"{FAILED} Unable to deploy machine: status: 400, message: {{'distro_series': ['nope']}}"
NO_ADMINISTRATOR = f"{FAILED} Unable to disable swap: status: 403, message: "
PAUSED, GIVEN_UP, NOT_OURS = "cluster.x-k8s.io/paused", "metalshift.maas/given-up", "metalshift.maas/not-ours"
OLD, NEW = ({"cluster.x-k8s.io/cloned-from-name": f"{NAME}-{which}"} for which in ("old", "new"))
OURS = {PAUSED: "true", GIVEN_UP: "MachineDeployFailed"}
GOING = {"deletionTimestamp": "2026-11-18T22:06:25Z", "finalizers": [MAAS_MACHINE_FINALIZER]}


def seen(deployed: str, notes: Object, meta: Object | None = None, spec: Object | None = None) -> ClusterSnapshot:
    """One machine of a pool whose template is now NAME-new."""
    asked = deployment(1, 0)
    asked["spec"]["template"] = {"spec": {"infrastructureRef": {"name": f"{NAME}-new"}}}
    body = maas_machine("a", deployed=deployed)
    body["metadata"] |= {"annotations": notes, **(meta or {})}
    return sight(
        pools={NAME: pool()},
        machine_deployments=[asked],
        machines=[machine("a")],
        maas_machines=[{**body, "spec": spec or {}}],
    )


def annotations(found: ClusterSnapshot) -> list[Object]:
    return [dict(patch.body["metadata"]["annotations"]) for patch in patches(found)]


@pytest.mark.parametrize(
    ("deployed", "is_endless"),
    [
        (REFUSED, True),
        (NO_ADMINISTRATOR, True),
        (f"{FAILED} Unable to deploy machine: status: 409, message: x that is in the 'Failed deployment' state", False),
        (f"{FAILED} Unable to allocate machine: status: 409, message: No machine available.", False),
        (f"{FAILED} Unable to allocate machine: status: 400, message: no such zone", False),
        ("False/MachineDeploying/", False),
        ("True//", False),
    ],
)
def test_what_takes_machines_without_end_is_known_by_what_maas_refuses(deployed: str, is_endless: bool) -> None:
    assert bool(endless(seen(deployed, NEW))) == is_endless
    assert not endless(seen(deployed, NEW), ["another"])
    assert not endless(seen(deployed, {**NEW, PAUSED: "by a person"}))
    assert not endless(seen(deployed, NEW, GOING))


def test_what_is_refused_and_replaced_is_paused_at_once() -> None:
    """It would take the machine of its successor, again and again."""
    assert annotations(seen(REFUSED, OLD)) == [{PAUSED: "true", GIVEN_UP: "MachineDeployFailed"}]
    assert annotations(seen(REFUSED, NEW)) == []


def test_what_an_earlier_run_gave_up_goes_on_when_it_may() -> None:
    go_on = [{PAUSED: None, GIVEN_UP: None}]
    assert annotations(seen(REFUSED, {**NEW, **OURS})) == go_on
    assert annotations(seen(REFUSED, {**OLD, **OURS})) == [], "its successor is on the way"
    assert annotations(seen(REFUSED, {**OLD, **OURS}, GOING)) == go_on, "what is paused is never deleted"
    assert annotations(seen(REFUSED, {**NEW, PAUSED: "by a person"})) == []


def test_what_goes_on_names_no_machine_that_was_given_back() -> None:
    """Two that named the same one would both deploy it, and whoever has it by now would lose it."""
    [patch] = patches(seen(REFUSED, {**NEW, **OURS}, None, {"providerID": "maas:///az1/abc123"}))
    assert patch.body["spec"] == {"providerID": None, "systemID": None}


def test_what_names_a_machine_of_others_goes_without_a_release() -> None:
    spec, notes = {"providerID": "maas:///az1/abc123"}, {**NEW, PAUSED: "true", NOT_OURS: "abc123"}
    [patch] = patches(seen("True//", notes, GOING, spec))
    assert patch.body["metadata"]["finalizers"] == []
    assert not list(patches(seen("True//", notes, None, spec)))
    corrected = {"providerID": "maas:///az1/def456"}
    assert not list(patches(seen("True//", notes, GOING, corrected))), "it names another machine by now"


def test_a_takeover_is_said_with_whose_the_machine_is() -> None:
    body = {**maas_machine("a"), "spec": {"providerID": "maas:///az1/abc123"}}
    patch = takeover(body, "MAAS has it marked as a machine of hosted cluster clusters/bank")
    assert patch.said == (
        "machine a: paused, as it names abc123, which is not this cluster's: MAAS has it marked as a machine of hosted "
        "cluster clusters/bank"
    )
    assert patch.body["metadata"]["annotations"] == {PAUSED: "true", NOT_OURS: "abc123", GIVEN_UP: None}
