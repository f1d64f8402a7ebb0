# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The status of workloads is what a cluster would report."""

from __future__ import annotations

from typing import Any

import pytest

from metalshift_lab.kube import status
from metalshift_lab.kube.api import Object
from metalshift_lab.kube.status import Standing

LONG_AGO = "2020-01-01T00:00:00Z"


def body(kind: str = "Deployment", **before: Any) -> Object:
    return {"kind": kind, "metadata": {"name": "thing", "generation": 7}, "spec": {}, "status": before}


def told(made: Object) -> dict[str, tuple[str, str, str]]:
    return {each["type"]: (each["status"], each["reason"], each["message"]) for each in made["conditions"]}


ENOUGH = ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
TOO_FEW = ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
ROLLED_OUT = ("True", "NewReplicaSetAvailable", 'ReplicaSet "thing-abc" has successfully progressed.')
ROLLING = ("True", "ReplicaSetUpdated", 'ReplicaSet "thing-abc" is progressing.')
TROUBLE = ("True", "FailedCreate", 'secret "x" not found')


@pytest.mark.parametrize(
    ("standing", "counts", "conditions"),
    [
        (Standing(2, 2, 2, "abc"), (2, 2, 2, 0), {"Available": ENOUGH, "Progressing": ROLLED_OUT}),
        (Standing(2, 2, 0, "abc"), (2, 2, 0, 2), {"Available": TOO_FEW, "Progressing": ROLLING}),
        (Standing(2, 0, 2, "abc"), (2, 0, 2, 0), {"Available": ENOUGH, "Progressing": ROLLING}),
        (Standing(0, 0, 0, "abc"), (0, 0, 0, 0), {"Available": ENOUGH, "Progressing": ROLLED_OUT}),
        (
            Standing(1, 1, 0, "abc", 'secret "x" not found'),
            (1, 1, 0, 1),
            {"Available": TOO_FEW, "Progressing": ROLLING, "ReplicaFailure": TROUBLE},
        ),
    ],
    ids=["runs", "does not run yet", "rolling update", "scaled to nothing", "something is missing"],
)
def test_a_deployment_reports_how_it_stands(
    standing: Standing, counts: tuple[int, ...], conditions: dict[str, tuple[str, str, str]]
) -> None:
    made = status.deployment(body(), standing)
    fields = ("replicas", "updatedReplicas", "availableReplicas", "unavailableReplicas")
    assert tuple(made[field] for field in fields) == counts
    assert made["readyReplicas"] == made["availableReplicas"]
    assert made["observedGeneration"] == 7
    assert told(made) == conditions


@pytest.mark.parametrize(
    ("standing", "counts", "current"),
    [
        (Standing(3, 3, 3, "new"), (3, 3, 3), "thing-new"),
        (Standing(3, 0, 3, "new"), (3, 0, 3), "thing-old"),
        (Standing(3, 3, 0, "new"), (3, 3, 0), "thing-old"),
    ],
    ids=["runs", "rolling update", "held"],
)
def test_a_stateful_set_reports_its_revisions(standing: Standing, counts: tuple[int, ...], current: str) -> None:
    made = status.stateful_set(body("StatefulSet", currentRevision="thing-old"), standing)
    assert tuple(made[field] for field in ("replicas", "updatedReplicas", "readyReplicas")) == counts
    assert (made["currentRevision"], made["updateRevision"]) == (current, "thing-new")
    assert "unavailableReplicas" not in made, "its API does not know that field"


def test_the_first_revision_of_a_stateful_set_is_its_current_one() -> None:
    assert status.stateful_set(body("StatefulSet"), Standing(1, 1, 0, "new"))["currentRevision"] == "thing-new"


def test_a_job_is_done() -> None:
    job = {**body("Job", startTime=LONG_AGO), "spec": {"completions": 3}}
    made = status.job_done(job)
    assert (made["succeeded"], made["startTime"]) == (3, LONG_AGO)
    assert {each["type"]: each["status"] for each in made["conditions"]} == {
        "SuccessCriteriaMet": "True",
        "Complete": "True",
    }
    assert status.job_done(body("Job"))["succeeded"] == 1


# -- times ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("before", "kept"), [("True", True), ("False", False), ("Unknown", False)])
def test_a_transition_is_when_the_status_changed(before: str, kept: bool) -> None:
    old = {"type": "Ready", "status": before, "reason": "Old", "lastTransitionTime": LONG_AGO}
    made = status.conditions([old], [{"type": "Ready", "status": "True", "reason": "New"}])
    assert made[0]["reason"] == "New"
    assert (made[0]["lastTransitionTime"] == LONG_AGO) is kept


def test_an_update_is_when_anything_of_a_condition_changed() -> None:
    def aged(made: Object) -> Object:
        times = {"lastTransitionTime": LONG_AGO, "lastUpdateTime": LONG_AGO}
        return {**made, "conditions": [{**each, **times} for each in made["conditions"]]}

    before = aged(status.deployment(body(), Standing(1, 1, 1, "abc")))
    after = status.deployment(body(**before), Standing(1, 0, 1, "xyz"))
    times = {each["type"]: (each["lastTransitionTime"], each["lastUpdateTime"]) for each in after["conditions"]}
    assert times["Available"] == (LONG_AGO, LONG_AGO)
    assert times["Progressing"][0] == LONG_AGO
    assert times["Progressing"][1] > LONG_AGO
    assert not status.differs(before, status.deployment(body(**before), Standing(1, 1, 1, "abc")))


def test_trouble_that_is_over_is_reported_no_more() -> None:
    before = status.deployment(body(), Standing(1, 1, 0, "abc", "no"))
    assert set(told(status.deployment(body(**before), Standing(1, 1, 1, "abc")))) == {"Available", "Progressing"}


@pytest.mark.parametrize(
    ("before", "after", "different"),
    [
        ({"replicas": 1}, {"replicas": 1}, False),
        ({"replicas": 1, "more": 2}, {"replicas": 1}, False),
        ({}, {"replicas": 0, "conditions": []}, False),
        ({"replicas": 1}, {"replicas": 0}, True),
        ({"conditions": [{"type": "A"}]}, {"conditions": [{"type": "B"}]}, True),
    ],
)
def test_only_what_differs_is_written(before: Object, after: Object, different: bool) -> None:
    assert status.differs(before, after) is different
