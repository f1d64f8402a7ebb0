# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from metalshift_lab.kube import cluster_version, times
from metalshift_lab.kube.api import Object
from metalshift_lab.kube.cluster_version import PATIENCE, ROLLOUT, Cluster, Release, Rollout

NOW = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
LATER = NOW + timedelta(minutes=10)
OLD, NEW = Release("r/ocp:4.20.8", "4.20.8"), Release("r/ocp:4.20.10", "4.20.10")


def entry(release: Release, state: str, started: datetime = NOW, completed: datetime | None = None) -> Object:
    return {
        "image": release.image,
        "version": release.version,
        "state": state,
        "startedTime": times.stamp(started),
        "completionTime": times.stamp(completed) if completed else None,
        "verified": False,
    }


@pytest.mark.parametrize(
    ("before", "release", "finished", "after"),
    [
        ([], OLD, False, [entry(OLD, "Partial", LATER)]),
        ([entry(OLD, "Partial")], OLD, False, [entry(OLD, "Partial")]),
        ([entry(OLD, "Partial")], OLD, True, [entry(OLD, "Completed", NOW, LATER)]),
        ([entry(OLD, "Completed", NOW, NOW)], OLD, False, [entry(OLD, "Completed", NOW, NOW)]),
        (
            [entry(OLD, "Completed", NOW, NOW)],
            NEW,
            False,
            [entry(NEW, "Partial", LATER), entry(OLD, "Completed", NOW, NOW)],
        ),
        ([entry(OLD, "Partial")], NEW, False, [entry(NEW, "Partial", LATER), entry(OLD, "Partial", NOW, LATER)]),
    ],
)
def test_history_keeps_what_was_and_begins_with_what_is(
    before: list[Object], release: Release, finished: bool, after: list[Object]
) -> None:
    assert cluster_version.history(before, release, finished, LATER) == after


def test_a_rollout_is_as_old_as_its_entry() -> None:
    assert cluster_version.age([entry(OLD, "Partial")], LATER) == 600
    assert cluster_version.age([], LATER) == 0


def said(kind: str, rollout: Rollout) -> tuple[str, str, str]:
    found = next(each for each in cluster_version.conditions(rollout) if each["type"] == kind)
    return found["status"], found.get("reason", ""), found["message"]


INSTALLING, UPGRADING = [entry(OLD, "Partial")], [entry(NEW, "Partial"), entry(OLD, "Completed", NOW, NOW)]
DONE = [entry(OLD, "Completed", NOW, NOW)]
TWO = ("console", "ingress")


@pytest.mark.parametrize(
    ("rollout", "kind", "expected"),
    [
        (Rollout(OLD, 0, TWO, history=INSTALLING), "Available", ("False", "", "")),
        (Rollout(OLD, 150, TWO, history=INSTALLING), "Failing", ("False", "", "")),
        (
            Rollout(OLD, 150, TWO, history=INSTALLING),
            "Progressing",
            ("True", "", "Working towards 4.20.8: 298 of 597 done (49% complete)"),
        ),
        (
            Rollout(OLD, ROLLOUT, TWO, history=INSTALLING),
            "Progressing",
            ("True", "", "Working towards 4.20.8: 585 of 597 done (97% complete), waiting on console, ingress"),
        ),
        (
            Rollout(OLD, PATIENCE, TWO, history=INSTALLING),
            "Progressing",
            (
                "True",
                "ClusterOperatorsNotAvailable",
                "Unable to apply 4.20.8: some cluster operators are not available",
            ),
        ),
        (
            Rollout(OLD, PATIENCE, TWO, history=INSTALLING),
            "Failing",
            ("True", "ClusterOperatorsNotAvailable", "Cluster operators console, ingress are not available"),
        ),
        (
            Rollout(OLD, PATIENCE, ("ingress",), history=INSTALLING),
            "Failing",
            ("True", "ClusterOperatorNotAvailable", "Cluster operator ingress is not available"),
        ),
        (Rollout(OLD, 900, history=DONE), "Available", ("True", "", "Done applying 4.20.8")),
        (Rollout(OLD, 900, history=DONE), "Progressing", ("False", "", "Cluster version is 4.20.8")),
        (Rollout(OLD, 900, history=DONE), "Failing", ("False", "", "")),
        (
            Rollout(OLD, 900, ("dns",), history=DONE),
            "Progressing",
            (
                "False",
                "ClusterOperatorNotAvailable",
                "Error while reconciling 4.20.8: the cluster operator dns is not available",
            ),
        ),
        (Rollout(NEW, 0, history=UPGRADING), "Available", ("True", "", "Done applying 4.20.8")),
        (
            Rollout(NEW, 0, history=UPGRADING),
            "ReleaseAccepted",
            ("True", "PayloadLoaded", 'Payload loaded version="4.20.10" image="r/ocp:4.20.10" architecture="amd64"'),
        ),
        (
            Rollout(OLD, 0, history=DONE),
            "RetrievedUpdates",
            ("False", "NoChannel", "The update channel has not been configured."),
        ),
        (
            Rollout(OLD, 900, ("ingress",), slow=True, history=INSTALLING),
            "Failing",
            ("Unknown", "SlowClusterOperator", "waiting on ingress over 30 minutes which is longer than expected"),
        ),
        (
            Rollout(OLD, 0, history=DONE, not_upgradeable="No."),
            "Upgradeable",
            ("False", "ClusterOperatorsNotUpgradeable", "No."),
        ),
    ],
)
def test_a_rollout_says_how_it_stands(rollout: Rollout, kind: str, expected: tuple[str, str, str]) -> None:
    assert said(kind, rollout) == expected


def test_a_cluster_without_obstacles_says_nothing_of_upgrades() -> None:
    assert "Upgradeable" not in {each["type"] for each in cluster_version.conditions(Rollout(OLD, 0, history=DONE))}


@pytest.mark.parametrize(
    ("cluster", "missing"),
    [
        (Cluster(2, 2), set()),
        (Cluster(1, 1), set()),
        (Cluster(1, 2), {"console", "image-registry", "ingress", "monitoring"}),
        (Cluster(1, 1, reachable=False), {"console", "ingress"}),
        (Cluster(1, 1, reachable=False, disabled=frozenset({"Console"})), {"ingress"}),
        (Cluster(2, 2, held=frozenset({"dns"})), {"dns"}),
    ],
)
def test_operators_are_missing_for_a_reason(cluster: Cluster, missing: set[str]) -> None:
    assert set(cluster.missing()) == missing


def test_only_what_needs_no_node_is_up_without_nodes() -> None:
    missing = Cluster(0, 1).missing()
    assert {"dns", "network", "ingress"} <= set(missing)
    assert not {"kube-apiserver", "openshift-apiserver", "operator-lifecycle-manager"} & set(missing)


def test_an_operator_has_its_version_when_it_was_up_with_it() -> None:
    ingress = next(each for each in cluster_version.OPERATORS if each.name == "ingress")
    up, down = Cluster(1, 1), Cluster(0, 1)
    new = cluster_version.operator_status(ingress, down, {}, OLD, True)
    assert (new["versions"], state(new)) == ([], {"Available": "False", "Progressing": "True", "Degraded": "False"})
    settled = cluster_version.operator_status(ingress, up, new, OLD, True)
    assert settled["versions"] == [{"name": "operator", "version": "4.20.8"}]
    assert state(settled) == {"Available": "True", "Progressing": "False", "Degraded": "False"}
    lost = cluster_version.operator_status(ingress, down, settled, NEW, True)
    assert lost["versions"] == settled["versions"]
    assert state(lost)["Degraded"] == "True"


def state(status: Object) -> dict[str, str]:
    return {each["type"]: each["status"] for each in status["conditions"] if each["type"] != "Upgradeable"}


def test_operators_take_over_a_release_one_after_the_other() -> None:
    operators = Cluster(1, 1).operators()
    counts = [sum(cluster_version.rolled(each.name, operators, age) for each in operators) for age in (0, 150, ROLLOUT)]
    assert counts == [0, len(operators) // 2, len(operators)]


def test_the_control_plane_gets_a_reason_for_everything() -> None:
    reported = cluster_version.conditions(Rollout(OLD, 0, history=DONE))
    copied = {
        each["type"]: (each["status"], each["reason"], each["message"])
        for each in cluster_version.for_control_plane(reported)
    }
    assert copied["ClusterVersionFailing"] == ("False", "FromClusterVersion", "")
    assert copied["ClusterVersionUpgradeable"] == ("True", "FromClusterVersion", "Condition not found in the CVO.")
    assert set(copied) == {
        f"ClusterVersion{kind}"
        for kind in ("Available", "Failing", "Progressing", "ReleaseAccepted", "RetrievedUpdates", "Upgradeable")
    }


def test_what_nobody_has_said_yet_is_unknown() -> None:
    unknown = {each["type"]: each for each in cluster_version.for_control_plane([])}["ClusterVersionAvailable"]
    assert (unknown["status"], unknown["reason"]) == ("Unknown", "StatusUnknown")


def test_the_time_of_a_change_stays_while_the_status_does() -> None:
    before = [{"type": "A", "status": "True", "lastTransitionTime": times.stamp(NOW)}, {"type": "Other", "status": "x"}]
    same = cluster_version.merged(before, [{"type": "A", "status": "True", "message": "new"}], LATER)
    other = cluster_version.merged(before, [{"type": "A", "status": "False"}], LATER)
    assert [each["lastTransitionTime"] for each in (same[0], other[0])] == [times.stamp(NOW), times.stamp(LATER)]
    assert same[1] == before[1]
