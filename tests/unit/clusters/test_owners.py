# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.ownership.marks import markings
from unit.clusters.clusters import MARKS, OTHER, in_maas, sight

ONE = sight(("m", "abc123"))


def test_a_machine_of_the_cluster_gets_cluster_and_pool() -> None:
    found = markings(ONE, {"abc123": in_maas()})
    assert [(one.name, one.before, one.after) for one in found] == [
        ("host-abc123", {"metalshift_cluster": "", "metalshift_node_pool": ""}, MARKS)
    ]


@pytest.mark.parametrize("status", [6, 9, 10])
def test_it_is_marked_as_soon_as_it_is_held(status: int) -> None:
    assert markings(ONE, {"abc123": in_maas(status=status)})


def test_what_is_marked_already_is_left() -> None:
    assert not markings(ONE, {"abc123": in_maas(workload_annotations={**MARKS, "team": "blue"})})


def test_a_machine_that_changed_its_pool_gets_the_new_one() -> None:
    found = markings(ONE, {"abc123": in_maas(workload_annotations={**MARKS, "metalshift_node_pool": "old"})})
    assert [one.after for one in found] == [{"metalshift_node_pool": "workers"}]


NOT_OURS: list[tuple[str, Mapping[str, Any]]] = [
    ("is Ready", {"status": 4, "owner": ""}),
    ("is being released", {"status": 12}),
    ("is another cluster's", {"workload_annotations": OTHER}),
    ("is under a claim", {"workload_annotations": {"metalshift_claim": "web"}}),
    ("is in another zone", {"zone": {"name": "az2"}}),
]


@pytest.mark.parametrize(("why", "now"), NOT_OURS)
def test_what_a_stale_provider_id_names_is_not_marked(why: str, now: Mapping[str, Any]) -> None:
    assert not markings(ONE, {"abc123": in_maas(**now)}), why


def test_what_two_maas_machines_name_is_marked_for_neither() -> None:
    both = sight(("m", "abc123"), ("n", "abc123"))
    assert not markings(both, {"abc123": in_maas()})


def test_what_the_cluster_does_not_name_any_more_loses_its_marks() -> None:
    found = markings(sight(), {"abc123": in_maas(workload_annotations={**MARKS, "team": "blue"})})
    assert [one.after for one in found] == [{"metalshift_cluster": "", "metalshift_node_pool": ""}]


def test_another_cluster_s_marks_are_left() -> None:
    assert not markings(sight(), {"abc123": in_maas(workload_annotations=OTHER)})
