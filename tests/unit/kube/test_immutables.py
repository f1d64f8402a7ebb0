# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What cannot be changed is refused with the field and both values."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.pure.immutables import (
    HOSTED_CLUSTER,
    NODE_POOL,
    changed,
    refuse_changes,
    shown,
)
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.merge import put

SINGLE = [(table, immutable) for table in (HOSTED_CLUSTER, NODE_POOL) for immutable in table]
# Fields whose values are judged, with a value that may not follow another.
JUDGED: dict[str, tuple[Any, Any]] = {
    "configuration.featureGate.featureSet": ("TechPreviewNoUpgrade", "Default"),
    "secretEncryption.aescbc": ({"activeKey": {"name": "one"}}, {"activeKey": {"name": "two"}}),
}


def with_value(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"spec": {}}
    put(body, path, value)
    return body


@pytest.mark.parametrize(("table", "immutable"), SINGLE, ids=lambda one: getattr(one, "field", ""))
def test_each_is_refused_with_both_values(table: Any, immutable: Any) -> None:
    now, asked = JUDGED.get(immutable.field, ("this", "that"))
    with pytest.raises(Failure) as caught:
        refuse_changes(table, "X a/b", with_value(immutable.path, now), with_value(immutable.path, asked), {})
    assert caught.value.kind == "conflict"
    assert f"spec.{immutable.field} cannot be changed: it is {shown(now)}, and {shown(asked)} is asked for" in str(
        caught.value
    )
    assert caught.value.fields == {f"spec.{immutable.field}": [shown(now), shown(asked)]}


@pytest.mark.parametrize(("table", "immutable"), SINGLE, ids=lambda one: getattr(one, "field", ""))
def test_none_is_refused_when_it_stays_or_is_not_mentioned(table: Any, immutable: Any) -> None:
    live = with_value(immutable.path, "this")
    assert not list(changed(table, live, live, {}))
    assert not list(changed(table, live, live, live))
    assert not list(changed(table, live, {"spec": {}}, {}))


@pytest.mark.parametrize(("table", "immutable"), SINGLE, ids=lambda one: getattr(one, "field", ""))
def test_what_was_never_set_can_be_set_once(table: Any, immutable: Any) -> None:
    # The API compares capabilities also with their default.
    refused = immutable.field == "capabilities"
    assert bool(list(changed(table, {"spec": {}}, with_value(immutable.path, "that"), {}))) is refused


# How a value is taken away: with null for the field, or for what it is in.
ROOTS = [(table, one, one.path[:end]) for table, one in SINGLE for end in range(2, len(one.path) + 1)]


@pytest.mark.parametrize(
    ("table", "immutable", "root"),
    ROOTS,
    ids=lambda one: ".".join(one) if isinstance(one, tuple) and one[0] == "spec" else "",
)
def test_what_we_gave_is_not_taken_away(table: Any, immutable: Any, root: tuple[str, ...]) -> None:
    now, _asked = JUDGED.get(immutable.field, ("this", "that"))
    live = with_value(immutable.path, now)
    wanted = deepcopy(live)
    put(wanted, root, None)
    with pytest.raises(Failure, match="not set is asked for") as caught:
        refuse_changes(table, "X a/b", live, wanted, live)
    assert caught.value.fields == {f"spec.{immutable.field}": [shown(now), "not set"]}


@pytest.mark.parametrize(("table", "immutable"), SINGLE, ids=lambda one: getattr(one, "field", ""))
def test_what_has_gone_already_is_not_refused(table: Any, immutable: Any) -> None:
    assert not list(changed(table, {"spec": {}}, {"spec": {}}, with_value(immutable.path, "this")))


def test_a_part_that_we_gave_is_not_taken_away() -> None:
    path = ("spec", "capabilities")
    live = with_value(path, {"disabled": ["Insights"], "enabled": ["baremetal"]})
    ours = with_value(path, {"disabled": ["Insights"]})
    wanted = with_value(path, {"enabled": ["baremetal"]})
    assert [one.field for one, _now, _after in changed(HOSTED_CLUSTER, live, wanted, ours)] == ["capabilities"]
    assert not list(changed(HOSTED_CLUSTER, live, ours, ours))


def test_all_are_named_at_once() -> None:
    live = {"spec": {"fips": False, "dns": {"baseDomain": "a.example"}}}
    wanted = {"spec": {"fips": True, "dns": {"baseDomain": "b.example"}}}
    with pytest.raises(
        Failure, match=r"spec\.dns\.baseDomain .* a\.example.* b\.example.*; spec\.fips .* false.* true"
    ):
        refuse_changes(HOSTED_CLUSTER, "X", live, wanted, live)


@pytest.mark.parametrize(
    ("wanted", "refused"),
    [
        ({"activeKey": {"name": "two"}, "backupKey": {"name": "one"}}, False),
        ({"activeKey": {"name": "two"}}, True),
        ({"activeKey": {"name": "two"}, "backupKey": {"name": "three"}}, True),
        ({"activeKey": {"name": "one"}, "backupKey": {"name": "zero"}}, False),
    ],
)
def test_an_encryption_key_is_replaced_only_beside_the_old_one(wanted: Any, refused: bool) -> None:
    live = {"spec": {"secretEncryption": {"aescbc": {"activeKey": {"name": "one"}}}}}
    found = list(changed(HOSTED_CLUSTER, live, {"spec": {"secretEncryption": {"aescbc": wanted}}}, live))
    assert bool(found) is refused


@pytest.mark.parametrize(
    ("now", "asked", "refused"),
    [("", "TechPreviewNoUpgrade", False), ("Default", "CustomNoUpgrade", False), ("CustomNoUpgrade", "Default", True)],
)
def test_there_is_no_way_back_from_features_that_forbid_upgrades(now: str, asked: str, refused: bool) -> None:
    path = ("spec", "configuration", "featureGate", "featureSet")
    assert bool(list(changed(HOSTED_CLUSTER, with_value(path, now), with_value(path, asked), {}))) is refused


def test_lists_of_networks_are_told_shortly() -> None:
    assert shown([{"cidr": "10.0.0.0/8"}]) == "[cidr: 10.0.0.0/8]"
