# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects are paused for a machine, and which of them go on."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pauses.pure.machines import (
    PausePatch,
    beginnings,
    ends,
    owned,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import PAUSED, PAUSED_AS
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import MAAS_MACHINES, MACHINES

OURS = {PAUSED: "true", PAUSED_AS: "kvm1"}
NEIGHBOURS = {PAUSED: "true", PAUSED_AS: "kvm2"}
SOMEBODYS = {PAUSED: ""}


def maas_machine(annotations: dict[str, str] | None = None, namespace: str = "a", **metadata: Any) -> dict[str, Any]:
    about = {"name": "m", "namespace": namespace, "annotations": annotations or {}, **metadata}
    return {"metadata": about, "spec": {"providerID": "maas:///az1/abc123"}}


def machine(annotations: dict[str, str] | None = None, kind: str = "MaasMachine", **metadata: Any) -> dict[str, Any]:
    about = {"name": "w", "namespace": "a", "annotations": annotations or {}, **metadata}
    return {"metadata": about, "spec": {"infrastructureRef": {"kind": kind, "name": "m"}}}


def kinds(patches: list[PausePatch]) -> list[str]:
    return [str(patch.part.kind) for patch in patches]


@pytest.mark.parametrize(
    ("of_machine", "of_maas_machine", "begins", "by_others"),
    [
        ({}, {}, ["Machine", "MaasMachine"], False),
        (OURS, {}, ["MaasMachine"], False),
        (OURS, OURS, [], False),
        (SOMEBODYS, {}, ["MaasMachine"], False),
        (SOMEBODYS, SOMEBODYS, [], True),
        (NEIGHBOURS, NEIGHBOURS, [], True),
    ],
)
def test_what_is_not_paused_is(
    of_machine: dict[str, str], of_maas_machine: dict[str, str], begins: list[str], by_others: bool
) -> None:
    (found,) = owned([maas_machine(of_maas_machine)], [machine(of_machine)], ["abc123"])
    assert kinds(beginnings([found], "kvm1")) == begins
    assert found.told("kvm1")["paused_by_others"] == by_others


@pytest.mark.parametrize(
    ("annotations", "goes_on"),
    [(OURS, True), ({PAUSED_AS: "kvm1"}, True), (NEIGHBOURS, False), (SOMEBODYS, False), ({}, False)],
)
def test_only_what_was_paused_under_that_name_goes_on(annotations: dict[str, str], goes_on: bool) -> None:
    patches = ends([maas_machine(annotations)], [machine(annotations)], "kvm1")
    assert kinds(patches) == (["MaasMachine", "Machine"] if goes_on else [])
    assert all(patch.annotations == {PAUSED: None, PAUSED_AS: None} for patch in patches)


def test_a_machine_that_is_given_back_is_not_held_up() -> None:
    leaving = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    for bodies in (([maas_machine(**leaving)], [machine()]), ([maas_machine()], [machine(**leaving)])):
        assert beginnings(owned(*bodies, ["abc123"]), "kvm1") == []


def test_a_machine_is_found_by_what_names_it_in_its_namespace() -> None:
    stale = maas_machine(namespace="b")
    found = owned([maas_machine(), stale], [machine(), machine(kind="OtherMachine", name="x")], ["abc123", "def456"])
    assert [(one.maas_machine.namespace, one.machine.name if one.machine else None) for one in found] == [
        ("a", "w"),
        ("b", None),
    ]
    assert owned([maas_machine()], [machine()], ["def456"]) == []
    assert {part.kind for one in found for part in one.parts} == {MACHINES, MAAS_MACHINES}
