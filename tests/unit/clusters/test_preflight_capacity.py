# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who gets which of the free machines, before anybody took one."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.preflight.pure.capacity import (
    MachineDemand,
    allotted,
    announced,
    announcement,
    ask_of,
    constraints_of,
    is_elder,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import ASKS_FOR
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.times import seconds_of

Object = dict[str, Any]


def machine(zone: str = "az1", tags: tuple[str, ...] = ("worker",), cpu: int = 8, memory: int = 32768) -> Object:
    return {
        "hostname": "m",
        "zone": {"name": zone},
        "pool": {"name": "openshift"},
        "tag_names": list(tags),
        "cpu_count": cpu,
        "memory": memory,
        "architecture": "amd64/generic",
    }


def ask(count: int, owner: str = "clusters/demo", pool: str = "workers", **maas: Any) -> MachineDemand:
    return MachineDemand(owner, pool, count, constraints_of(maas))


def node_pool(name: str = "workers", cluster: str = "demo", replicas: int | None = 3, **more: Any) -> Object:
    spec: Object = {"clusterName": cluster, "platform": {"type": "MAAS", "maas": {"tags": ["worker"]}}}
    if replicas is not None:
        spec["replicas"] = replicas
    return {"metadata": {"name": name, "namespace": "clusters", **more.pop("metadata", {})}, "spec": {**spec, **more}}


def maas_machine(name: str, pool: str = "workers", *, system_id: str = "", label: str = "deployment-name") -> Object:
    return {
        "metadata": {
            "name": name,
            "namespace": "clusters-demo",
            "labels": {f"cluster.x-k8s.io/{label}": pool},
        },
        "spec": {"systemID": system_id} if system_id else {},
    }


def hosted_cluster(name: str, created: str = "2026-01-01T00:00:00Z", uid: str = "1", **more: Any) -> Object:
    metadata = {"name": name, "namespace": "clusters", "creationTimestamp": created, "uid": uid}
    return {"metadata": {**metadata, "annotations": more.pop("annotations", {})}, "status": {}, **more}


# -- what is asked for ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pool", "machines", "count"),
    [
        pytest.param(node_pool(), [], 3, id="nothing yet"),
        pytest.param(node_pool(), [maas_machine("a", system_id="x"), maas_machine("b")], 2, id="one has its machine"),
        pytest.param(node_pool(replicas=0), [], 0, id="none wanted"),
        pytest.param(node_pool(replicas=1), [maas_machine("a", system_id="x")], 0, id="satisfied"),
        pytest.param(node_pool(replicas=None, autoScaling={"min": 2, "max": 9}), [], 2, id="autoscaling, the fewest"),
        pytest.param(
            node_pool(replicas=None, autoScaling={"min": 1, "max": 9}),
            [maas_machine("a", system_id="x"), maas_machine("b"), maas_machine("c")],
            2,
            id="autoscaling, what the autoscaler has asked for",
        ),
        pytest.param(
            node_pool(replicas=2), [maas_machine("a", system_id="x", label="set-name")], 1, id="upgraded in place"
        ),
        pytest.param(node_pool(), [maas_machine("a", "others", system_id="x")], 3, id="a machine of another pool"),
    ],
)
def test_a_node_pool_asks_for_what_it_has_not_got(pool: Object, machines: list[Object], count: int) -> None:
    found = ask_of(pool, machines)
    assert found is not None
    assert (found.owner, found.pool, found.count) == ("clusters/demo", "workers", count)


@pytest.mark.parametrize(
    "pool",
    [node_pool(metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}), node_pool(platform={"type": "None"})],
    ids=["being deleted", "no machines of MAAS"],
)
def test_other_node_pools_ask_for_nothing(pool: Object) -> None:
    assert ask_of(pool, []) is None


def test_a_machine_that_leaves_does_not_count() -> None:
    leaving = maas_machine("a", system_id="x")
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    found = ask_of(node_pool(replicas=1), [leaving])
    assert found is not None
    assert found.count == 1


# -- announcements -------------------------------------------------------------------------------------------------

NOW = 0.0
TEXT = announcement([("workers", 3, {"tags": ["worker"]}), ("gpu", 1, {})])


def test_what_is_announced_counts_until_the_node_pool_is_there() -> None:
    cluster = hosted_cluster("demo", annotations={ASKS_FOR: TEXT})
    assert [(each.pool, each.count) for each in announced(cluster, [], NOW)] == [("workers", 3), ("gpu", 1)]
    assert [each.pool for each in announced(cluster, [node_pool("workers")], NOW)] == ["gpu"]
    assert [each.pool for each in announced(cluster, [node_pool("gpu", "other")], NOW)] == ["workers", "gpu"]


def test_an_installed_cluster_announces_nothing() -> None:
    done = {"version": {"history": [{"state": "Completed"}]}}
    assert announced(hosted_cluster("demo", annotations={ASKS_FOR: TEXT}, status=done), [], NOW) == []


@pytest.mark.parametrize("text", ["", "{", "7", '[{"name": "a"}]', '[{"name": 1, "count": 2}]', "[null]"])
def test_what_others_wrote_into_the_annotation_is_passed_over(text: str) -> None:
    assert announced(hosted_cluster("demo", annotations={ASKS_FOR: text}), [], NOW) == []


def test_an_annotation_announces_a_hundred_node_pools_at_most() -> None:
    text = announcement([(f"pool-{number}", 1, {}) for number in range(150)])
    assert len(announced(hosted_cluster("demo", annotations={ASKS_FOR: text}), [], NOW)) == 100


AVAILABLE = {"conditions": [{"type": "Available", "status": "True", "lastTransitionTime": "2026-01-01T00:30:00Z"}]}


@pytest.mark.parametrize(
    ("status", "pools", "minutes", "counts"),
    [
        ({}, [], 60, True),
        ({}, [], 5 * 60, False),
        (AVAILABLE, [], 40, True),
        (AVAILABLE, [], 46, False),
        (AVAILABLE, ["2026-01-01T00:31:00Z"], 40, True),
        ({}, ["2026-01-01T00:31:00Z"], 47, False),
    ],
    ids=["installing", "for hours", "answers now", "answers for long", "others came now", "others came long ago"],
)
def test_node_pools_that_do_not_come_stop_counting(
    status: Object, pools: list[str], minutes: int, counts: bool
) -> None:
    """Two clusters whose pools had been deleted blocked all others, until their annotation was taken away by hand."""
    cluster = hosted_cluster("demo", annotations={ASKS_FOR: TEXT}, status=status)
    cluster["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    there = [node_pool("workers") for _stamp in pools]
    for each, stamp in zip(there, pools, strict=True):
        each["metadata"]["creationTimestamp"] = stamp
    now = (seconds_of("2026-01-01T00:00:00Z") or 0) + minutes * 60
    assert bool(announced(cluster, there, now)) == counts


def test_an_announcement_is_the_same_text_each_time() -> None:
    assert announcement([("a", 1, {"zone": "z", "tags": ["t"]})]) == announcement(
        [("a", 1, {"tags": ["t"], "zone": "z"})]
    )
    assert json.loads(TEXT)[0] == {"name": "workers", "count": 3, "maas": {"tags": ["worker"]}}


def test_of_two_of_the_same_second_exactly_one_is_the_elder() -> None:
    one, other = hosted_cluster("a", uid="1"), hosted_cluster("b", uid="2")
    assert [is_elder(*pair) for pair in ((one, other), (other, one))].count(True) == 1
    assert is_elder(hosted_cluster("z", "2025-12-31T23:59:59Z", "9"), one)


# -- who gets what -------------------------------------------------------------------------------------------------


def test_who_can_only_use_some_machines_gets_them_though_another_was_first() -> None:
    asks = [ask(1, "clusters/first"), ask(1, zone="az2")]
    assert allotted(asks, [machine("az2"), machine("az1")]) == [1, 1]


def test_the_first_keeps_what_nothing_can_replace() -> None:
    assert allotted([ask(2, "clusters/first"), ask(2)], [machine(), machine(), machine()]) == [2, 1]


def test_a_chain_of_exchanges_is_found() -> None:
    asks = [ask(1), ask(1, minCpu=16), ask(1, zone="az2", minCpu=16), ask(1, zone="az1", minCpu=16)]
    machines = [machine("az2", cpu=16), machine("az1", cpu=16), machine("az3", cpu=32), machine("az3", cpu=8)]
    assert allotted(asks, machines) == [1, 1, 1, 1]


def test_as_many_are_given_as_trying_everything_gives() -> None:
    dice = random.Random(7)
    zones = ("az1", "az2", "az3")
    for _round in range(150):
        machines = [machine(dice.choice(zones), cpu=dice.choice((4, 8))) for _each in range(dice.randint(0, 5))]
        asks = [
            ask(dice.randint(0, 2), **dice.choice(({}, {"zone": dice.choice(zones)}, {"minCpu": 8})))
            for _each in range(3)
        ]
        got = allotted(asks, machines)
        assert all(0 <= number <= wanted.count for number, wanted in zip(got, asks, strict=True))
        assert sum(got) == most(asks, machines)


def most(asks: list[MachineDemand], machines: list[Object]) -> int:
    """The most places that can be filled, by trying every order of the places."""
    places = [wanted for wanted in asks for _each in range(wanted.count)]
    best = 0
    for order in itertools.permutations(machines):
        best = max(best, _greedy(places, order))
    return best


def _greedy(places: list[MachineDemand], machines: tuple[Object, ...]) -> int:
    """Machines in this order, each to the first place it fits: of all orders, one is the best matching."""
    left = list(places)
    for each in machines:
        fitting = next((place for place in left if place.constraints.matches(each)), None)
        if fitting is not None:
            left.remove(fitting)
    return len(places) - len(left)


def test_a_thousand_machines_for_a_hundred_node_pools_take_no_time() -> None:
    machines = [machine(f"az{number % 5}", cpu=8 + number % 3) for number in range(1000)]
    asks = [ask(10, f"clusters/c{number}", zone=f"az{number % 5}") for number in range(100)]
    assert allotted(asks, machines) == [10] * 100
