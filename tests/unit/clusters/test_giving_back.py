# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What has become of a machine that a cluster had: what lost its mark is never the cluster's again."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.erasure import (
    MachineErasure,
    progress_of,
    tag_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.machines import (
    NotedMachine,
    outcome_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.ownership.pure.machine_owner import MachineOwner

MARK = {"workload_annotations": {"metalshift_cluster": "clusters/demo"}}


def machine(status: int, **more: Any) -> dict[str, Any]:
    return {"system_id": "abc123", "hostname": "n1", "status": status, "owner": "me", **more}


def noted(verdict: str = "ours", **more: Any) -> NotedMachine:
    return NotedMachine("abc123", "n1", "np", "Deployed", MachineOwner(verdict, "why"), "m1", **more)


@pytest.mark.parametrize(
    ("now", "one", "outcome", "reason"),
    [
        (None, noted(), "gone", "MAAS does not know it any more"),
        (machine(12), noted(), "leaving", "it is Releasing"),
        (machine(14), noted(), "leaving", "it is Disk erasing"),
        (machine(4, owner=""), noted(), "ready", "it is Ready"),
        (machine(6, **MARK), noted(), "held", "it is still Deployed"),
        (machine(6), noted(), "taken", "the MAAS user me has it by now"),
        (machine(6), noted("free"), "taken", "the MAAS user me has it by now"),
        (
            machine(10, workload_annotations={"metalshift_claim": "shop"}),
            noted(),
            "taken",
            "claim shop has it by now",
        ),
        (
            machine(6, workload_annotations={"metalshift_cluster": "clusters/prod"}),
            noted(),
            "taken",
            "hosted cluster clusters/prod has it by now",
        ),
        (machine(13, status_message="No power."), noted(), "failed", "it is in Releasing failed (No power)"),
        (
            machine(13, workload_annotations={"metalshift_cluster": "clusters/prod"}),
            noted(),
            "taken",
            "hosted cluster clusters/prod has it by now",
        ),
        (machine(6), noted("foreign"), "left_alone", "why"),
        (machine(6, **MARK), noted("unsure"), "left_alone", "why"),
        (
            machine(6),
            noted(unmarked=True),
            "held",
            "it is Deployed, and whose it is now cannot be told: MAAS did not let it be marked",
        ),
    ],
)
def test_an_outcome_is_read_from_what_maas_says_now(
    now: dict[str, Any] | None, one: NotedMachine, outcome: str, reason: str
) -> None:
    assert outcome_of(now, one, "clusters/demo") == (outcome, reason)


@pytest.mark.parametrize(
    ("now", "outcome"),
    [
        (None, "erased"),
        (machine(14), "erasing"),
        (machine(4, owner=""), "erased"),
        (machine(10, owner="eve"), "erased"),
        (machine(15), "failed"),
        (machine(10, workload_annotations={"metalshift_claim": "erase"}), "failed"),
    ],
)
def test_an_erasure_ends_when_the_machine_is_free(now: dict[str, Any] | None, outcome: str) -> None:
    found = progress_of(now, MachineErasure("abc123", "n1"), "erase")
    assert found.outcome == outcome
    assert found.reason


def test_the_tag_of_a_claim_is_a_name_that_maas_takes() -> None:
    assert tag_of("erase/clusters/my.demo") == "metalshift-erase_clusters_my-demo"
