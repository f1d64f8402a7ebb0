# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits for hosted clusters that the real operators make, and take away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from hosted.waits import Waiting
from metalshift_lab.kube.api import MAAS_MACHINES, NODE_POOLS, of_name
from metalshift_lab.kube.examples import NAMESPACE
from metalshift_lab.kube.handle import Lab
from metalshift_lab.kube.journey import Journey

STAGES = ("services: published", "etcd: has its quorum", "API server: available", "control plane: available")


@pytest.fixture
def journey(lab: Lab, tmp_path: Path) -> Iterator[Callable[[str], Journey]]:
    """A hosted cluster of the shared lab; it is gone afterwards."""
    begun: list[Journey] = []

    def begin(name: str) -> Journey:
        begun.append(Journey(lab, name, tmp_path))
        return begun[-1]

    yield begin
    lab.heal()
    for each in begun:
        each.delete()
        each.until_gone()


def order(said: list[str], *texts: str) -> list[int]:
    """Where each of the texts was said first."""
    return [next(number for number, line in enumerate(said) if text in line) for text in texts]


def test_from_nothing_to_nodes_and_back(lab: Lab, journey: Callable[[str], Journey]) -> None:
    demo = journey("waited")
    demo.create(replicas=2)
    waiting = Waiting(lab, demo.name, "nodes", approve=True).ended()
    assert waiting.failure is None
    assert waiting.sight is not None
    assert len(waiting.sight.nodes or ()) == 2
    places = order(waiting.said, *STAGES, f"node pool {demo.name}: 2 of 2 nodes are Ready")
    assert places == sorted(places), waiting.said
    for kind in ("client", "serving"):
        assert sum(line.endswith(f"approved ({kind})") for line in waiting.said) == 2, f"a {kind}'s for each node"
    assert any(" in MAAS: " in line for line in waiting.said), waiting.said
    assert all(before != after for before, after in pairwise(waiting.said)), "the same line twice"
    # A list and a watch of each place, on the hosted API as well; a watch may end and go on.
    lists = Counter(path for path in waiting.reads if path.endswith("s") and not path.startswith("watch"))
    assert max(lists.values()) == 1, lists

    again = Waiting(lab, demo.name, "complete", approve=True).ended()
    assert again.failure is None
    approved = [line for line in [*waiting.said, *again.said] if "approved (" in line]
    assert len(approved) == len(set(approved)) == 4, "none is left for later, and none comes twice"
    assert again.said[-1] == "rollout: 4.20.8 is complete"
    assert not set(STAGES[:-1]).intersection(again.said), "what has long been fine is told one by one"

    demo.delete()
    gone = Waiting(lab, demo.name, "gone").ended()
    assert gone.failure is None
    assert gone.sight is not None
    assert gone.sight.cluster is None
    assert not demo.cluster()
    assert not demo.machines()


def test_a_machine_that_does_not_go_is_named_with_what_keeps_it(lab: Lab, journey: Callable[[str], Journey]) -> None:
    demo = journey("kept")
    demo.create(replicas=1)
    assert Waiting(lab, demo.name, "nodes", approve=True).ended().failure is None
    (body,) = lab.api.list(MAAS_MACHINES, demo.namespace)
    lab.fault("stuck", kind="MaasMachine", name=of_name(body), namespace=demo.namespace)
    demo.delete()
    gone = Waiting(lab, demo.name, "gone", timeout=20.0).ended()
    assert gone.failure is not None
    assert gone.failure.kind == "timeout"
    events = list(gone.failure.events)
    assert any(line.startswith(f"MaasMachine {of_name(body)} is kept by ") for line in events), events
    assert any(line.startswith("HostedCluster kept is kept by hypershift.openshift.io/finalizer") for line in events)
    assert events[-1] == f"namespace {demo.namespace} is there"


def test_what_cannot_get_better_ends_the_wait(lab: Lab, journey: Callable[[str], Journey]) -> None:
    demo = journey("hopeless")
    demo.create(replicas=1)
    lab.kubectl("-n", NAMESPACE, "delete", "nodepool", demo.name, "--wait=false")
    lab.until("the pool is gone", lambda: lab.api.get(NODE_POOLS, demo.name, NAMESPACE) is None)
    # There is no such pool, and nobody makes it: that is said long before the time is up.
    ended = Waiting(lab, demo.name, "nodes", pools=["other"], timeout=250.0).ended()
    assert ended.failure is not None
    assert ended.failure.kind == "failed_state"
    assert ended.failure.message == (
        f"Hosted cluster clusters/{demo.name}, node pool other, will not have its nodes Ready: "
        "node pool other: there is none."
    )
    assert ended.failure.hint == "Create it, or correct its name."


def test_a_hosted_api_that_stands_still_is_told_and_waited_for(lab: Lab, journey: Callable[[str], Journey]) -> None:
    demo = journey("mute")
    demo.create(replicas=1)
    demo.until_available()
    lab.fault("pause", name=f"{demo.namespace}/kube-apiserver")
    waiting = Waiting(lab, demo.name, "nodes", approve=True)
    told = waiting.hears("API of the hosted cluster: not readable since")
    lab.heal("pause")
    ready = waiting.hears(f"node pool {demo.name}: 1 of 1 nodes are Ready", after=told, limit=180)
    assert waiting.ended().failure is None
    assert told < ready
