# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a Machine is let go without its Node, and how."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.pure.stuck_machines import (
    PAUSED,
    patches,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import (
    NODE_DELETION_TIMEOUT,
    PAUSED_FOR,
)

BEGAN, LIMIT = 1_800_000_000.0, 60.0
DELETED = "2027-01-15T08:00:00Z"
POOL = {"metadata": {"namespace": "ns", "name": "w", "annotations": {NODE_DELETION_TIMEOUT: "1m0s"}}}


def machine(reason: str = "DeletingNode", **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {
            "name": "w-1",
            "deletionTimestamp": DELETED,
            "annotations": {"hypershift.openshift.io/nodePool": "ns/w"},
            "ownerReferences": [{"kind": "MachineSet", "name": "w-set"}],
        },
        "spec": spec,
        "status": {"v1beta2": {"conditions": [{"type": "Deleting", "reason": reason}]}},
    }


def machine_set(going: bool = False, **annotations: str) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": "w-set", "annotations": annotations}
    return {"metadata": {**metadata, **({"deletionTimestamp": DELETED} if going else {})}}


def done(sets: list[Any], machines: list[Any], after: float) -> list[tuple[str, Any]]:
    return [(each.kind.name, each.body) for each in patches([POOL], sets, machines, BEGAN + after)]


TIMEOUT = ("Machine", {"spec": {"nodeDeletionTimeout": "1m0s"}})
PAUSE = ("MachineSet", {"metadata": {"annotations": {PAUSED: "true", PAUSED_FOR: "w-1"}}})
RESUME = ("MachineSet", {"metadata": {"annotations": {PAUSED: None, PAUSED_FOR: None}}})


@pytest.mark.parametrize(
    ("sets", "machines", "after", "wanted"),
    [
        ([machine_set()], [machine()], LIMIT - 1, []),
        ([machine_set()], [machine()], LIMIT, [PAUSE, TIMEOUT]),
        ([machine_set()], [machine("DrainingNode")], LIMIT, []),
        ([machine_set()], [machine("WaitingForInfrastructureDeletion")], LIMIT, []),
        ([machine_set()], [machine(nodeDeletionTimeout="10s")], LIMIT, []),
        ([machine_set(going=True)], [machine("DrainingNode")], 0, [TIMEOUT]),
        ([], [machine("DrainingNode")], 0, [TIMEOUT]),
        ([machine_set(**{PAUSED: "true", PAUSED_FOR: "w-1"})], [machine(nodeDeletionTimeout="1m0s")], LIMIT, []),
        ([machine_set(**{PAUSED: "true", PAUSED_FOR: "w-1"})], [], LIMIT, [RESUME]),
        ([machine_set(**{PAUSED: "true"})], [], LIMIT, []),
        ([machine_set()], [{**machine(), "metadata": {"name": "w-1"}}], LIMIT, []),
    ],
)
def test_a_machine_is_let_go_when_only_its_node_is_left(
    sets: list[Any], machines: list[Any], after: float, wanted: list[Any]
) -> None:
    assert done(sets, machines, after) == wanted


def test_a_pool_that_says_nothing_is_given_five_minutes() -> None:
    found = list(patches([], [], [machine()], BEGAN))
    assert found[0].body == {"spec": {"nodeDeletionTimeout": "5m0s"}}


def test_no_limit_is_none() -> None:
    pool = {"metadata": {**POOL["metadata"], "annotations": {NODE_DELETION_TIMEOUT: "0s"}}}
    assert not list(patches([pool], [], [machine()], BEGAN))
