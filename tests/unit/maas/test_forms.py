# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What options become in requests, and which contradict each other."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.forms import (
    erasing,
    forms_from_params,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.spec import MachineOp
from ansible_collections.metalshift.maas.plugins.module_utils._maas.pure.wire import as_pairs

FORMS: list[tuple[dict[str, Any], MachineOp, list[tuple[str, str]]]] = [
    ({}, MachineOp.RELEASE, []),
    ({"erase": False}, MachineOp.RELEASE, [("erase", "false")]),
    ({"secure_erase": True}, MachineOp.RELEASE, [("secure_erase", "true"), ("erase", "true")]),
    ({"quick_erase": False}, MachineOp.RELEASE, [("quick_erase", "false")]),
    ({"force": True}, MachineOp.DELETE, [("force", "true")]),
    ({"testing_scripts": []}, MachineOp.COMMISSION, [("testing_scripts", "none")]),
    ({"testing_scripts": ["a", "b"]}, MachineOp.TEST, [("testing_scripts", "a,b")]),
    ({"enable_ssh": True}, MachineOp.TEST, [("enable_ssh", "true")]),
    (
        {"enable_ssh": True, "skip_storage": True},
        MachineOp.COMMISSION,
        [("enable_ssh", "true"), ("skip_storage", "true")],
    ),
    ({"commissioning_scripts": ["a"]}, MachineOp.TEST, []),
    ({"distro_series": "noble"}, MachineOp.DEPLOY, [("distro_series", "noble")]),
    ({"osystem": "ubuntu", "distro_series": "noble"}, MachineOp.DEPLOY, [("distro_series", "ubuntu/noble")]),
    ({"osystem": "ubuntu", "distro_series": "ubuntu/noble"}, MachineOp.DEPLOY, [("distro_series", "ubuntu/noble")]),
    ({"comment": "why"}, MachineOp.LOCK, [("comment", "why")]),
    ({"comment": "why"}, MachineOp.RESCUE_MODE, []),
]


@pytest.mark.parametrize(("params", "op", "sent"), FORMS)
def test_options_are_sent_as_maas_reads_them(
    params: dict[str, Any], op: MachineOp, sent: list[tuple[str, str]]
) -> None:
    assert as_pairs(forms_from_params(params).get(op, {})) == sent


def test_user_data_is_encoded() -> None:
    assert forms_from_params({}, b"#!/bin/sh\n")[MachineOp.DEPLOY] == {"user_data": "IyEvYmluL3NoCg=="}


@pytest.mark.parametrize(
    "params",
    [
        {"osystem": "ubuntu"},
        {"osystem": "centos", "distro_series": "ubuntu/noble"},
        {"erase": False, "secure_erase": True},
        {"erase": False, "quick_erase": True},
    ],
)
def test_contradictions_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(Failure) as refused:
        forms_from_params(params)
    assert refused.value.kind == "invalid"


@pytest.mark.parametrize(
    ("params", "erases"),
    [({}, None), ({"erase": False}, False), ({"erase": True}, True), ({"quick_erase": True}, True)],
)
def test_what_a_release_does_to_disks_may_be_left_open(params: dict[str, Any], erases: bool | None) -> None:
    assert erasing(params) is erases
