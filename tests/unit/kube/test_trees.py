# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Merging, comparing and owning parts of objects, without a cluster."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure import merge, ownership, units
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.differences import alike, differences
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import MANAGER

# The table of RFC 7386, appendix A.
RFC_7386: list[tuple[Any, Any, Any]] = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    (["a", "b"], ["c", "d"], ["c", "d"]),
    ({"a": "b"}, ["c"], ["c"]),
    ({"a": "foo"}, None, None),
    ({"a": "foo"}, "bar", "bar"),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
]


@pytest.mark.parametrize(("target", "patch", "result"), RFC_7386)
def test_a_merge_is_that_of_the_standard(target: Any, patch: Any, result: Any) -> None:
    assert merge.merged(target, patch) == result


def test_a_merge_leaves_what_it_was_given_alone() -> None:
    target, patch = {"a": {"b": [1]}}, {"a": {"c": {"d": 1}}}
    merge.merged(target, patch)["a"]["c"]["d"] = 2
    assert (target, patch) == ({"a": {"b": [1]}}, {"a": {"c": {"d": 1}}})


def test_values_are_put_and_taken_at_paths() -> None:
    tree: dict[str, Any] = {"spec": {"release": "text"}}
    merge.put(tree, ("spec", "release", "image"), "x")
    merge.put(tree, ("spec", "gone", "deep"), None)
    assert tree == {"spec": {"release": {"image": "x"}}}
    merge.put(tree, ("spec", "release", "image"), None)
    assert merge.pruned(tree) == {}


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("90s", "1m30s"),
        ("20m", "20m0s"),
        ("1h", "1h0m0s"),
        ("1h30m", "1h30m0s"),
        (600, "10m0s"),
        ("0", "0s"),
        ("0s", "0s"),
        ("1.5h", "1h30m0s"),
        ("250ms", "250ms"),
        ("1m0.5s", "1m0.5s"),
    ],
)
def test_durations_are_written_as_go_writes_them_back(written: object, canonical: str) -> None:
    assert units.duration(written, "timeout") == canonical
    assert units.same(str(written) if "s" in str(written) else canonical, canonical)


@pytest.mark.parametrize("written", ["soon", "10 minutes", "-5m", "", "1d"])
def test_what_is_no_duration_is_refused(written: str) -> None:
    with pytest.raises(Failure, match="timeout cannot be"):
        units.duration(written, "timeout")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("8Gi", "8192Mi", True),
        ("8Gi", "8G", False),
        ("10m", "10m0s", True),
        ("1.0", "1.00", True),
        ("1", "1.0", False),
        ("4.20", "4.2", True),
        (True, 1, False),
        (1, 1, True),
        ("true", "True", False),
    ],
)
def test_what_means_the_same_is_the_same(one: Any, other: Any, same: bool) -> None:
    assert units.same(one, other) is same


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (None, {}, True),
        ("", None, True),
        ([], None, True),
        (False, None, False),
        (0, None, False),
        ({"a": 1, "b": None}, {"a": 1}, True),
        ([{"a": ""}], [{}], True),
        ([1, 2], [2, 1], False),
    ],
)
def test_what_is_empty_is_as_what_is_not_there(one: Any, other: Any, same: bool) -> None:
    assert alike(one, other) is same


def test_differences_name_what_would_change_and_what_would_go() -> None:
    live = {"metadata": {"name": "x"}, "spec": {"a": 1, "b": {"c": "10m0s"}, "mine": 2, "others": 3}}
    wanted = {"metadata": {"name": "x"}, "spec": {"a": 2, "b": {"c": "10m"}}}
    owned = {"metadata": {"name": "x"}, "spec": {"a": 1, "mine": 2}}
    found = differences(live, wanted, owned)
    assert [(each.field, each.now, each.wanted) for each in found] == [("spec.a", 1, 2), ("spec.mine", 2, None)]


def test_a_key_with_dots_stands_in_brackets() -> None:
    assert merge.dotted(("metadata", "annotations", "a.b/c")) == "metadata.annotations[a.b/c]"


MANAGED = {
    "metadata": {
        "name": "x",
        "annotations": {"a": "1", "b": "2"},
        "managedFields": [
            {
                "manager": "metalshift.maas",
                "operation": "Apply",
                "fieldsV1": {
                    "f:metadata": {"f:annotations": {"f:a": {}}},
                    "f:spec": {
                        "f:pullSecret": {},
                        "f:services": {'k:{"service":"APIServer"}': {".": {}, "f:service": {}}},
                        "f:tags": {'v:"x"': {}},
                        "f:gone": {},
                    },
                },
            },
            {"manager": "metalshift.maas", "operation": "Update", "fieldsV1": {"f:spec": {"f:paused": {}}}},
            {"manager": "kubectl", "operation": "Update", "fieldsV1": {"f:spec": {"f:replicas": {}, "f:tags": {}}}},
        ],
    },
    "spec": {
        "pullSecret": {"name": "p"},
        "services": [{"service": "APIServer", "type": "NodePort"}, {"service": "OIDC"}],
        "tags": ["x", "y"],
        "replicas": 3,
        "paused": True,
    },
}


def test_what_was_applied_is_found_with_its_present_values() -> None:
    assert ownership.applied(MANAGED) == {
        "metadata": {"annotations": {"a": "1"}},
        "spec": {"pullSecret": {"name": "p"}, "services": [{"service": "APIServer"}], "tags": ["x"]},
    }


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (("spec", "replicas"), ["kubectl"]),
        (("spec", "pullSecret", "name"), ["metalshift.maas"]),
        (("spec", "tags"), ["metalshift.maas", "kubectl"]),
        (("spec", "nobody"), []),
    ],
)
def test_everybody_who_wrote_a_field_is_found(path: tuple[str, ...], found: list[str]) -> None:
    assert ownership.managers(MANAGED, path) == found


def test_what_is_applied_is_applied_under_the_name_that_is_looked_for() -> None:
    assert MANAGER == MANAGER
