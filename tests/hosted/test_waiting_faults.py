# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits on a management API that fails, with a test in the place of the operator: what it writes is what is told."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.progress import Goal
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import TOUCHED
from hosted.told import DOWN, EXPIRES, RESTARTS, STANDS_STILL, STUTTERS, Told
from hosted.waits import Waiting
from metalshift_lab.kube.api import HOSTED_CLUSTERS
from metalshift_lab.kube.bare import kinds_of
from metalshift_lab.kube.examples import NAMESPACE, hosted_cluster
from metalshift_lab.kube.handle import Lab, LabError
from metalshift_lab.programs import Programs

NUMBERS = count(1)


class Operator:
    """Writes what the operator would."""

    def __init__(self, lab: Lab, name: str) -> None:
        self.lab, self.name = lab, name

    def watched(self, goal: Goal = "control_plane", **words: Any) -> Waiting:
        """A wait for its control plane, or for more."""
        return Waiting(self.lab, self.name, goal, maas=False, **words)

    def says(self, message: str) -> None:
        """As the reason why it does not get on."""
        self._write({"ReconciliationSucceeded": ("False", "ReconciliationError", message)})

    def is_done(self, *more: str, **status: Any) -> None:
        done = {
            "ReconciliationSucceeded": "ReconciliatonSucceeded",
            **dict.fromkeys(("Available", *more), "AsExpected"),
        }
        self._write({kind: ("True", why, "") for kind, why in done.items()}, kubeconfig={"name": "none"}, **status)

    def is_touched(self) -> bool:
        cluster = self.lab.api.get(HOSTED_CLUSTERS, self.name, NAMESPACE) or {}
        return TOUCHED in cluster["metadata"].get("annotations", {})

    def _write(self, said: dict[str, tuple[str, str, str]], **status: Any) -> None:
        cluster = self.lab.api.get(HOSTED_CLUSTERS, self.name, NAMESPACE) or {}
        conditions = [
            {
                "type": kind,
                "status": is_so,
                "reason": reason,
                "message": message,
                "lastTransitionTime": "2026-01-01T00:00:00Z",
                "observedGeneration": cluster["metadata"]["generation"],
            }
            for kind, (is_so, reason, message) in said.items()
        ]
        body = json.dumps({"status": {"conditions": conditions, **status}})
        place = ("-n", NAMESPACE, "patch", "hostedcluster", self.name)
        self.lab.kubectl(*place, "--subresource=status", "--type=merge", "-p", body)


@pytest.fixture(scope="module")
def unattended(programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A lab with the kinds, and nobody who looks after their objects."""
    with Lab.start(tmp_path_factory.mktemp("labs") / "unattended", speed=240, machines=1, operator=False) as lab:
        lab.apply(kinds_of(programs))
        yield lab


@pytest.fixture
def operator(unattended: Lab) -> Iterator[Operator]:
    """That of a HostedCluster of this test's own; what the test broke is whole again afterwards."""
    name = f"told-{next(NUMBERS)}"
    unattended.until("a hosted cluster is taken", lambda: _applied(unattended, name))
    yield Operator(unattended, name)
    unattended.heal()
    unattended.until("the API answers", unattended.api.healthy)


def _applied(lab: Lab, name: str) -> bool:
    try:
        lab.apply(hosted_cluster(name, lab.release()))
    except LabError:
        return False
    return True


def steps(waiting: Waiting, text: str = "step") -> list[str]:
    return [line.partition(": ")[2] for line in waiting.said if text in line]


def test_each_change_is_told_once_in_its_order_and_nothing_is_asked_twice(operator: Operator) -> None:
    operator.says("step 0")
    waiting = operator.watched()
    told = ["step 0"]
    waiting.hears("step 0")
    for number in range(1, 16):
        operator.says(f"step {number}")
        waiting.hears(f"step {number}")
        told.append(f"step {number}")
    operator.is_done()
    assert waiting.ended().sight
    assert steps(waiting) == told
    # One list and one watch for each of seven kinds. An API server that has just learnt them ends a watch once.
    assert len(Counter(waiting.reads)) == 14
    assert max(Counter(waiting.reads).values()) <= 2, "a path was asked for again and again"


def test_a_hosted_cluster_that_the_operator_has_forgotten_is_touched(operator: Operator) -> None:
    """The ignition server is there, and the pass that was to say where has missed it."""
    operator.is_done("IgnitionEndpointAvailable")
    waiting = operator.watched("ignition")
    missed = waiting.hears("ignition server: waiting for the operator to publish its address")
    assert not operator.is_touched()
    touched = waiting.hears(f"hosted cluster {operator.name}: touched, so that the operator looks at it again")
    assert operator.is_touched()
    operator.is_done("IgnitionEndpointAvailable", ignitionEndpoint="192.0.2.10:30444")
    waiting.hears("ignition server: machines can get their configuration", after=touched)
    assert waiting.ended().sight
    assert missed < touched


def test_a_wait_lives_through_an_api_server_that_restarts(operator: Operator) -> None:
    operator.says("step 1")
    waiting = operator.watched()
    waiting.hears("step 1")
    operator.lab.fault(RESTARTS.fault)
    gone = waiting.hears("management API: not answering since")
    assert RESTARTS.is_said(waiting.said[gone])
    back = waiting.hears("management API: it answers again", after=gone)
    operator.lab.until("the API answers", operator.lab.api.healthy)
    operator.says("step 2")
    waiting.hears("step 2", after=back)
    operator.is_done()
    assert waiting.ended().sight
    assert sum("does not answer" in line for line in waiting.said) == 1, waiting.said
    assert steps(waiting) == ["step 1", "step 2"]


def test_a_wait_lists_anew_when_its_watches_have_expired(operator: Operator) -> None:
    operator.says("step 1")
    waiting = operator.watched()
    waiting.hears("step 1")
    operator.lab.fault(EXPIRES.fault)
    operator.lab.until("the API answers", operator.lab.api.healthy)
    operator.says("step 2")
    waiting.hears("step 2")
    operator.is_done()
    assert waiting.ended().sight
    own = HOSTED_CLUSTERS.path(NAMESPACE)
    assert Counter(waiting.reads)[own] == 2, waiting.reads
    assert any(EXPIRES.is_said(line) for line in waiting.said), waiting.said


def test_a_wait_outlasts_an_etcd_that_stands_still(operator: Operator) -> None:
    operator.says("step 1")
    waiting = operator.watched()
    waiting.hears("step 1")
    operator.lab.fault(STANDS_STILL.fault, **STANDS_STILL.words)
    # Longer than the time within which the silent states are taken for an end.
    with pytest.raises(LabError, match="never said"):
        waiting.hears("step 2", limit=20)
    operator.lab.heal("pause")
    operator.lab.until("the API answers", operator.lab.api.healthy)
    operator.says("step 2")
    waiting.hears("step 2")
    operator.is_done()
    assert waiting.ended().sight
    assert_said_nothing_of(STANDS_STILL, waiting)


def test_a_wait_outlasts_an_api_server_that_stutters(operator: Operator) -> None:
    operator.says("step 1")
    waiting = operator.watched()
    waiting.hears("step 1")
    operator.lab.fault(STUTTERS.fault, name="kube-apiserver", share="0.8", every="1")
    operator.says("step 2")
    waiting.hears("step 2")
    operator.lab.heal(STUTTERS.fault)
    operator.is_done()
    assert waiting.ended().sight
    assert_said_nothing_of(STUTTERS, waiting)


def assert_said_nothing_of(fault: Told, waiting: Waiting) -> None:
    assert fault.line == ""
    assert [line for line in waiting.said if line.startswith("management API")] == []


def test_the_end_of_the_time_names_what_it_waits_for(operator: Operator) -> None:
    operator.says("the moon is in the way")
    waiting = operator.watched(timeout=5.0).ended()
    assert waiting.failure is not None
    assert waiting.failure.kind == "timeout"
    assert waiting.failure.message == (
        f"Hosted cluster clusters/{operator.name} has no available control plane yet, after 5s. "
        "It still waits: hosted cluster: the moon is in the way."
    )
    assert list(waiting.failure.events) == ["hosted cluster: the moon is in the way"]


def test_the_end_of_the_time_names_an_api_that_is_away(operator: Operator) -> None:
    operator.says("step 1")
    waiting = operator.watched(timeout=15.0)
    waiting.hears("step 1")
    operator.lab.fault(DOWN.fault, **DOWN.words)
    waiting.ended()
    assert any(DOWN.is_said(line) for line in waiting.said), waiting.said
    assert waiting.failure is not None
    assert waiting.failure.kind == "timeout"
    assert "It still waits: management API: not answering since" in waiting.failure.message


def test_who_may_not_read_hosted_clusters_is_told_at_once(operator: Operator) -> None:
    kubeconfig = operator.lab.user("stranger", [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}])
    waiting = operator.watched(kubeconfig=str(kubeconfig)).ended(60)
    assert waiting.failure is not None
    assert waiting.failure.kind == "forbidden"
    # Both are asked at once; whichever is refused first is named.
    assert re.search(r"list (hostedclusters|nodepools)\.hypershift\.openshift\.io in clusters", waiting.failure.message)
