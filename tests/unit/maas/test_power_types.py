# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with power parameters, in the names that a user writes."""

from __future__ import annotations

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.power_types import explained

IPMI = {
    "name": "ipmi",
    "fields": [
        {"name": "power_address", "label": "IP address", "required": True, "default": "", "choices": []},
        {"name": "power_pass", "label": "Power password", "required": False, "default": "", "choices": []},
        {
            "name": "power_driver",
            "label": "Power driver",
            "required": True,
            "default": "LAN_2_0",
            "choices": [["LAN", "LAN [IPMI 1.5]"], ["LAN_2_0", "LAN_2_0 [IPMI 2.0]"]],
        },
    ],
}
NO_CHOICE = "Select a valid choice. {} is not one of the available choices."


@pytest.mark.parametrize(
    ("fields", "power_type", "reason", "hint"),
    [
        (
            {"power_parameters": ["IP address: This field is required."]},
            "ipmi",
            "power_parameters: power_address is needed for power_type ipmi",
            "",
        ),
        (
            {"power_parameters": ["This field is required."]},
            "ipmi",
            "power_type ipmi needs power_parameters: power_address",
            "",
        ),
        (
            {"power_parameters": [f"Power driver: {NO_CHOICE.format('LAN2')}"]},
            "ipmi",
            "power_parameters: power_driver cannot be LAN2; it is one of LAN, LAN_2_0",
            "Did you mean LAN?",
        ),
        (
            {"power_parameters": ["Unknown parameter(s): power_pas."]},
            "ipmi",
            "power_type ipmi has no parameter power_pas; it has power_address, power_driver, power_pass",
            "Did you mean power_pass?",
        ),
        (
            {"power_type": [NO_CHOICE.format("impi")]},
            "impi",
            "power_type cannot be impi; there are ipmi, manual",
            "Did you mean ipmi?",
        ),
        ({"power_parameters": ["Power address: Odd."]}, "ipmi", "power_parameters: Power address: Odd", ""),
        (
            {"zone": ["No such zone."], "power_parameters": ["Unknown parameter(s): x."]},
            "manual",
            "power_type manual has no parameter x; it has none; zone: No such zone",
            "",
        ),
    ],
)
def test_power_parameters_are_told_by_their_names(
    fields: dict[str, list[str]], power_type: str, reason: str, hint: str
) -> None:
    failure = Failure("rejected", "n1 cannot be enlisted: MAAS refuses (…).", object="n1", fields=fields)
    told = explained(failure, power_type, [IPMI, {"name": "manual", "fields": []}])
    assert (told.message, told.reason, told.hint) == (f"n1 cannot be enlisted: {reason}.", reason, hint)
