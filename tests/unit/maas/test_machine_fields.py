# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task says about a machine against what MAAS has."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.holders import holder
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.fields import (
    MachineFields,
    field_changes,
    named,
    tag_changes,
)

MACHINE: dict[str, Any] = {
    "hostname": "node-1",
    "description": None,
    "architecture": "amd64/generic",
    "power_type": "ipmi",
    "min_hwe_kernel": "",
    "zone": {"name": "az1"},
    "pool": {"name": "default"},
    "domain": {"name": "maas"},
    "tag_names": ["auto", "fast", "old"],
}
POWER = {
    "power_address": "10.0.0.1",
    "power_pass": "p",
    "power_port": 623,
    "power_verify_ssl": True,
    "flags": ["a", "b"],
}

CHANGES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({"hostname": "node-1", "zone": "az1", "description": "", "architecture": "amd64"}, {}),
    ({"zone": "az2", "pool": "default"}, {"zone": "az2"}),
    ({"description": "x", "min_hwe_kernel": "ga-22.04"}, {"description": "x", "min_hwe_kernel": "ga-22.04"}),
    ({"architecture": "arm64"}, {"architecture": "arm64/generic"}),
    ({"power_parameters": {"power_pass": "p", "power_port": "623", "power_verify_ssl": True}}, {}),
    ({"power_parameters": {"flags": ["b", "a"]}}, {}),
    ({"power_parameters": {"flags": ["a"]}}, {"power_parameters_flags": ["a"]}),
    ({"power_parameters": {"power_pass": "q"}}, {"power_parameters_power_pass": "q"}),
    (
        {"power_type": "redfish", "power_parameters": {"node_id": 1}},
        {"power_type": "redfish", "power_parameters_node_id": "1"},
    ),
]


@pytest.mark.parametrize(("params", "form"), CHANGES)
def test_only_what_differs_is_sent_and_in_one_request(params: dict[str, Any], form: dict[str, Any]) -> None:
    changes = field_changes(MACHINE, MachineFields.from_params(params), {**POWER, "power_verify_ssl": "true"})
    assert [dict(change.form) for change in changes] == ([form] if form else [])


def test_power_parameters_are_not_in_what_is_shown() -> None:
    (change,) = field_changes(MACHINE, MachineFields.from_params({"power_parameters": {"power_pass": "new"}}), POWER)
    assert change.before == {"power_parameters": {"power_pass": "as before"}}
    assert change.after == {"power_parameters": {"power_pass": "as given"}}


TAGS: list[tuple[dict[str, Any], list[str], list[str]]] = [
    ({}, [], []),
    ({"purge_tags": True}, [], []),
    ({"tags": ["fast", "new"]}, ["new"], []),
    ({"tags": ["fast", "new"], "purge_tags": True}, ["new"], ["old"]),
    ({"tags": [], "purge_tags": True}, [], ["fast", "old"]),
]


@pytest.mark.parametrize(("params", "added", "removed"), TAGS)
def test_tags_are_added_and_only_on_demand_removed(
    params: dict[str, Any], added: list[str], removed: list[str]
) -> None:
    assert tag_changes(MACHINE, MachineFields.from_params(params), frozenset({"auto"})) == (added, removed)


def test_a_name_says_what_a_new_machine_is_called() -> None:
    assert named(MachineFields(), "node-1.lab").hostname == "node-1"
    assert named(MachineFields(), "node-1.lab").domain == "lab"
    assert named(MachineFields(domain="maas"), "node-1.lab").domain == "maas"
    assert named(MachineFields(hostname="node-2"), "52-54-00-AA-BB-CC").mac_addresses == ("52:54:00:aa:bb:cc",)


@pytest.mark.parametrize(
    ("params", "enough"),
    [
        ({}, False),
        ({"architecture": "amd64"}, False),
        ({"architecture": "amd64", "power_type": "ipmi"}, True),
        ({"power_parameters": {"power_address": "10.0.0.1"}, "power_type": "ipmi"}, True),
        ({"power_parameters": {"power_address": "10.0.0.1"}, "power_type": "redfish"}, False),
        ({"power_type": "ipmi"}, False),
        ({"architecture": "amd64", "power_type": "manual"}, False),
        ({"architecture": "amd64", "mac_addresses": ["52:54:00:aa:bb:cc"]}, True),
    ],
)
def test_enlisting_needs_what_the_bmc_does_not_tell(params: dict[str, Any], enough: bool) -> None:
    assert MachineFields.from_params(params).can_be_enlisted is enough


@pytest.mark.parametrize(
    "params",
    [
        {"annotations": {"metalshift_claim": "x"}},
        {"annotations": {"a b": "x"}},
        {"mac_addresses": ["52:54:00:aa:bb"]},
        {"hostname": "under_score"},
        {"hostname": "-"},
    ],
)
def test_what_maas_would_not_take_is_refused(params: dict[str, Any]) -> None:
    with pytest.raises(Failure) as refused:
        MachineFields.from_params(params)
    assert refused.value.kind == "invalid"


HOLDERS: list[tuple[dict[str, str], str, str]] = [
    ({}, "", ""),
    ({"team": "blue"}, "", ""),
    ({"metalshift_claim": "web"}, "", "claim web"),
    ({"metalshift_claim": "web"}, "web", ""),
    ({"metalshift_claim": "web", "metalshift_cluster": "prod"}, "web", "hosted cluster prod"),
    ({"metalshift_cluster": "prod", "metalshift_node_pool": "a"}, "", "hosted cluster prod (node pool a)"),
]


@pytest.mark.parametrize(("annotations", "claim", "who"), HOLDERS)
def test_annotations_say_who_holds_a_machine(annotations: dict[str, str], claim: str, who: str) -> None:
    assert holder({"workload_annotations": annotations}, claim) == who
