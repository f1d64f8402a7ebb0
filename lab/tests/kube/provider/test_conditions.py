# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest

from metalshift_lab.kube.provider.conditions import V1BETA1, V1BETA2, Condition, Contract, false, true, unknown

FAILED = false("MachineDeployed", "MachineDeployFailed", "Error", "status: 409, message: No machine available.")
QUIET = false("MachineDeployed", "MachineDeploying", "Warning")
DNS = false("DNSAttached", "DNSAttachPending", "Warning")
NOW, LATER = "2026-11-18T10:00:00Z", "2026-11-18T10:05:00Z"


def conditions(contract: Contract, *wanted: Condition) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for each in wanted:
        out = contract.put(out, contract.render(each), NOW)
    return out


def ready(contract: Contract, *wanted: Condition, deleting: bool = False, kinds: int = 1) -> dict[str, Any] | None:
    names = ("MachineDeployed", "DNSAttached")[:kinds]
    found = contract.summary(conditions(contract, *wanted), names, deleting=deleting)
    return {key: value for key, value in found.items() if key != "type"} if found else None


@pytest.mark.parametrize(
    ("wanted", "deleting", "kinds", "summary"),
    [
        ((), False, 1, None),
        ((true("MachineDeployed"),), False, 1, {"status": "True"}),
        (
            (FAILED,),
            False,
            1,
            {"status": "False", "reason": "MachineDeployFailed", "severity": "Error", "message": "0 of 1 completed"},
        ),
        (
            (true("MachineDeployed"), DNS),
            False,
            2,
            {"status": "False", "reason": "DNSAttachPending", "severity": "Warning", "message": "1 of 2 completed"},
        ),
        (
            (DNS, FAILED),
            False,
            2,
            {"status": "False", "reason": "MachineDeployFailed", "severity": "Error", "message": "0 of 2 completed"},
        ),
        (
            (FAILED,),
            True,
            1,
            {"status": "False", "reason": "MachineDeployFailed", "severity": "Error", "message": FAILED.message},
        ),
        (
            (unknown("MachineDeployed", "MachineNotFound", "gone"),),
            False,
            1,
            {"status": "Unknown", "reason": "MachineNotFound", "message": "0 of 1 completed"},
        ),
    ],
)
def test_the_older_summary_counts_steps(
    wanted: tuple[Condition, ...], deleting: bool, kinds: int, summary: dict[str, str] | None
) -> None:
    assert ready(V1BETA1, *wanted, deleting=deleting, kinds=kinds) == summary


@pytest.mark.parametrize(
    ("wanted", "kinds", "summary"),
    [
        ((true("MachineDeployed"),), 1, {"status": "True", "reason": "InfoReported", "message": ""}),
        (
            (FAILED,),
            1,
            {"status": "False", "reason": "IssuesReported", "message": f"* MachineDeployed: {FAILED.message}"},
        ),
        (
            (QUIET,),
            1,
            {"status": "False", "reason": "IssuesReported", "message": "* MachineDeployed: MachineDeploying"},
        ),
        (
            (true("MachineDeployed"),),
            2,
            {
                "status": "Unknown",
                "reason": "UnknownReported",
                "message": "* DNSAttached: Condition not yet reported",
            },
        ),
    ],
)
def test_the_newer_summary_lists_texts(wanted: tuple[Condition, ...], kinds: int, summary: dict[str, str]) -> None:
    assert ready(V1BETA2, *wanted, kinds=kinds) == summary


def test_the_older_contract_leaves_out_what_is_empty() -> None:
    assert V1BETA1.render(QUIET) == {
        "type": "MachineDeployed",
        "status": "False",
        "reason": "MachineDeploying",
        "severity": "Warning",
    }


def test_the_newer_contract_has_a_reason_and_a_message_always() -> None:
    assert V1BETA2.render(true("MachineDeployed")) == {
        "type": "MachineDeployed",
        "status": "True",
        "reason": "MachineDeployed",
        "message": "",
    }


def test_only_the_older_contract_takes_texts_for_formats() -> None:
    text = false("LoadBalancerReady", "LoadBalancerFailed", "Error", "a%20b")
    assert V1BETA1.render(text)["message"] == "a%!b(MISSING)"
    assert V1BETA2.render(text)["message"] == "a%20b"


@pytest.mark.parametrize(("contract", "since"), [(V1BETA1, LATER), (V1BETA2, NOW)])
def test_another_reason_is_another_time_only_in_the_older_contract(contract: Contract, since: str) -> None:
    before = conditions(contract, QUIET)
    assert contract.put(before, contract.render(FAILED), LATER)[0]["lastTransitionTime"] == since


def test_what_is_the_same_keeps_its_time() -> None:
    before = conditions(V1BETA1, QUIET)
    assert V1BETA1.put(before, V1BETA1.render(QUIET), LATER) == before


def test_ready_comes_first() -> None:
    order = [each["type"] for each in conditions(V1BETA1, true("MachineDeployed"), true("DNSAttached"), true("Ready"))]
    assert order == ["Ready", "DNSAttached", "MachineDeployed"]
