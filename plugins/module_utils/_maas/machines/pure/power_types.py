# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with a power type or its parameters, in the names that a user writes.

MAAS speaks of the labels of its web interface, `IP address: This field is required.`, and of no choices.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.names import did_you_mean, listed

REQUIRED = "This field is required"
CHOICE = re.compile(r"Select a valid choice\. (.*?) is not one of the available choices")
UNKNOWN = re.compile(r"Unknown parameter\(s\): ([^.]*)")

PowerType = Mapping[str, Any]


def explained(failure: Failure, power_type: str, described: Iterable[PowerType]) -> Failure:
    """The failure in the names of the parameters. `described` are the power types as MAAS describes them."""
    types = {str(each["name"]): each for each in described}
    told: list[str] = []
    hint = failure.hint
    for text in failure.fields.get("power_type", ()):
        wrong = CHOICE.search(text)
        asked = wrong[1] if wrong else power_type
        told.append(f"power_type cannot be {asked}; there are {listed(types)}" if wrong else f"power_type: {text}")
        hint = did_you_mean(asked, types, hint)
    fields: Sequence[Mapping[str, Any]] = types.get(power_type, {}).get("fields") or ()
    for text in failure.fields.get("power_parameters", ()):
        said, near = _of_parameter(text, power_type, fields)
        told.append(said)
        hint = near or hint
    others = [f"{name}: {' '.join(texts)}" for name, texts in failure.fields.items() if not name.startswith("power_")]
    reason = "; ".join(text.rstrip(".") for text in [*told, *others])
    begins = failure.message.partition(": ")[0]
    return replace(failure, message=f"{begins}: {reason}.", reason=reason, hint=hint)


def _of_parameter(text: str, power_type: str, fields: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """What is wrong with a parameter, and what helps."""
    names = [str(each["name"]) for each in fields]
    unknown = UNKNOWN.search(text)
    if unknown:
        asked = unknown[1].split(", ")
        said = f"power_type {power_type} has no parameter {' and '.join(asked)}; it has {listed(names)}"
        return said, did_you_mean(asked[0], names)
    if text.startswith(REQUIRED):
        needed = [str(each["name"]) for each in fields if each.get("required") and not each.get("default")]
        return f"power_type {power_type} needs power_parameters: {', '.join(needed) or 'some'}", ""
    label, _colon, rest = text.partition(": ")
    parameter = next((each for each in fields if each.get("label") == label), None)
    if parameter is None:
        return f"power_parameters: {text}", ""
    name = f"power_parameters: {parameter['name']}"
    if rest.startswith(REQUIRED):
        return f"{name} is needed for power_type {power_type}", ""
    wrong = CHOICE.search(rest)
    if wrong:
        choices = [str(value) for value, _label in parameter.get("choices") or () if value]
        return f"{name} cannot be {wrong[1]}; it is one of {listed(choices)}", did_you_mean(wrong[1], choices)
    return f"{name}: {rest}", ""
