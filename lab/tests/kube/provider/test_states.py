# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from metalshift_lab.kube.provider import states


@pytest.mark.parametrize(
    ("state", "powered", "status", "reason", "ready"),
    [
        ("Deployed", True, "True", "", True),
        ("Deploying", True, "False", "MachineDeploying", False),
        ("Deploying", False, "False", "MachinePoweredOff", False),
        ("Allocated", True, "False", "MachineDeploying", False),
        ("Releasing", True, "False", "MachineTerminatedReason", False),
        ("Broken", True, "Unknown", "", False),
    ],
)
def test_what_a_machine_is_decides_what_the_condition_says(
    state: str, powered: bool, status: str, reason: str, ready: bool
) -> None:
    found = states.outcome(state, powered)
    assert found.condition is not None
    assert (found.condition.status, found.condition.reason, found.ready) == (status, reason, ready)


def test_a_deployed_machine_that_is_off_is_switched_on_and_stays_what_it_was() -> None:
    found = states.outcome("Deployed", False)
    assert (found.power_on, found.condition, found.ready) == (True, None, None)


def test_a_machine_that_was_taken_away_has_failed_for_good() -> None:
    assert states.outcome("Releasing", True).failure == 'Maas machine state "Releasing" is unexpected'


@pytest.mark.parametrize(
    ("nodes", "hostname", "found"),
    [
        (["node01"], "Node01", "node01"),
        (["node01"], "node01.maas", "node01"),
        (["node01.maas"], "node01", "node01.maas"),
        (["node01.other", "node01"], "node01", "node01"),
        (["node011"], "node01", None),
        (["node01"], "", None),
    ],
)
def test_a_node_is_found_by_its_name(nodes: list[str], hostname: str, found: str | None) -> None:
    assert states.node_name(nodes, hostname) == found


@pytest.mark.parametrize(
    ("image", "splits", "asked"),
    [
        ("custom/rhcos", True, ("custom", "rhcos")),
        ("rhel/rocky-92", True, ("rhel", "rocky-92")),
        ("rhcos", True, ("custom", "rhcos")),
        ("ubuntu/focal", False, ("custom", "ubuntu/focal")),
    ],
)
def test_an_image_names_its_system_in_newer_versions(image: str, splits: bool, asked: tuple[str, str]) -> None:
    assert states.split_image(image, splits=splits) == asked


@pytest.mark.parametrize(("internal", "kinds"), [(True, 4), (False, 2)])
def test_internal_addresses_are_newer(internal: bool, kinds: int) -> None:
    assert len(states.addresses("n.maas", ["10.0.0.1"], internal=internal)) == kinds


def test_a_provider_id_names_zone_and_machine() -> None:
    assert states.provider_id("az1", "abc123") == "maas:///az1/abc123"
    assert states.system_id_of("maas:///az1/abc123") == "abc123"
    assert states.system_id_of("") == ""


def test_the_broken_machine_is_named_in_the_text() -> None:
    text = "status: 409, message: Unable to allocate machine abc123: Invalid transition: Broken -> Allocated."
    assert states.machine_in(text) == "abc123"
