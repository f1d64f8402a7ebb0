# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults without a lab: the table, what stands for parts that come and go, and rights with something taken out."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from caller import Caller
from metalshift_lab.kube.api import Resource
from metalshift_lab.kube.faults import FAULTS, Parts, maas, parts, programs, rules, workloads
from metalshift_lab.kube.faults.parts import Standing
from metalshift_lab.kube.rights import VERBS, without
from metalshift_lab.simulator import Simulator

PODS = Resource("v1", "pods")


class Part:
    """A part with two faults."""

    def __init__(self) -> None:
        self.wrong: list[str] = []

    def faults(self) -> dict[str, Callable[..., None]]:
        return {"loud": lambda: self.wrong.append("loud"), "late": lambda by="1": self.wrong.append(f"late by {by}")}

    def heal(self) -> None:
        self.wrong.clear()


def standing(fault: str, namespace: str = ".*", **words: str) -> Standing:
    return Standing("clock", re.compile(namespace), fault, words)


def test_no_two_faults_have_one_name() -> None:
    assert len(FAULTS) == sum(len(topic.FAULTS) for topic in (maas, parts, programs, rules, workloads))


def test_a_fault_goes_for_the_parts_that_are_there_and_those_to_come() -> None:
    known = Parts()
    before = known.join(Part(), "clock", "a")
    known.begin(standing("late", "a|b", by="2"))
    after, elsewhere = known.join(Part(), "clock", "b"), known.join(Part(), "clock", "c")
    other = known.join(Part(), "bell", "a")
    assert [part.wrong for part in (before, after, elsewhere, other)] == [["late by 2"], ["late by 2"], [], []]


def test_the_end_of_one_fault_leaves_the_others() -> None:
    known = Parts()
    part = known.join(Part(), "clock", "a")
    loud, late = standing("loud"), standing("late")
    known.begin(loud)
    known.begin(late)
    known.end(loud)
    assert part.wrong == ["late by 1"]
    known.end(late)
    assert part.wrong == []


def test_an_end_that_fails_can_be_had_again(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Parts()
    part = known.join(Part(), "clock", "a")
    loud = standing("loud")
    known.begin(loud)
    with monkeypatch.context() as broken:
        broken.setattr(part, "heal", None)
        with pytest.raises(TypeError):
            known.end(loud)
    known.end(loud)
    assert part.wrong == known.join(Part(), "clock", "b").wrong == []


def test_a_fault_that_a_part_refuses_does_not_stand() -> None:
    known = Parts()
    part = known.join(Part(), "clock", "a")
    with pytest.raises(TypeError):
        known.begin(standing("loud", by="2"))
    assert part.wrong == known.join(Part(), "clock", "a").wrong == []


class Stock:
    """A lab that is little more than a registry with two releases."""

    def __init__(self) -> None:
        self.parts, self.registry = Parts(), self
        self.versions = ["4.20.8", "4.20.33"]


def test_only_a_release_that_is_there_can_go() -> None:
    lab: Any = Stock()
    with pytest.raises(ValueError, match=r"There is no release 9\.9\.9; there are 4\.20\.8, 4\.20\.33\."):
        FAULTS["release-gone"].begin(lab, {"version": "9.9.9"})
    assert FAULTS["release-gone"].begin(lab, {"version": "4.20.33"}).cure is not None


@pytest.mark.parametrize(
    ("rule", "left"),
    [
        ({"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}, []),
        (
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]},
            [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}],
        ),
        (
            {"apiGroups": ["", "apps"], "resources": ["pods", "nodes"], "verbs": ["get", "list"]},
            [
                {"apiGroups": ["apps"], "resources": ["pods", "nodes"], "verbs": ["get", "list"]},
                {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list"]},
                {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
            ],
        ),
        (
            {"apiGroups": [""], "resources": ["*"], "verbs": ["*"]},
            [
                {"apiGroups": [""], "resources": ["nodes", "pods/log"], "verbs": ["*"]},
                {"apiGroups": [""], "resources": ["pods"], "verbs": [verb for verb in VERBS if verb != "get"]},
            ],
        ),
        *(
            (same, [same])
            for same in (
                {"apiGroups": ["apps"], "resources": ["pods"], "verbs": ["get"]},
                {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]},
                {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
                {"nonResourceURLs": ["/readyz"], "verbs": ["get"]},
            )
        ),
    ],
)
def test_a_rule_loses_a_verb_on_one_kind(rule: dict[str, Any], left: list[dict[str, Any]]) -> None:
    assert without([rule], PODS, ["get"], ["nodes", "pods", "pods/log"]) == left


def test_nothing_can_be_taken_out_of_a_rule_for_everything() -> None:
    with pytest.raises(ValueError, match=r"A rule allows \* in all groups: nothing can be taken out of it\."):
        without([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}], PODS, ["get"])


def test_a_plain_users_key_still_allocates_and_changes_nothing(sim: Simulator) -> None:
    """So the provider, whose deployments begin with a change, allocates and gives back for ever."""
    machine = sim.machine("node-1")
    caller = Caller(sim, sim.api_key)
    change = ("PUT", f"machines/{machine.system_id}/", {"swap_size": "0"})
    # As much of a lab as this fault needs.
    around: Any = SimpleNamespace(simulator=sim)
    effect = FAULTS["maas-key-plain"].begin(around, {})
    assert caller("POST", "machines/?op=allocate").json()["system_id"] == machine.system_id
    assert caller(*change).status_code == 403
    assert effect.cure is not None
    effect.cure()
    assert caller(*change).ok
