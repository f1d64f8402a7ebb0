# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Conditions, as the two contracts of Cluster API have them.

v1beta1 conditions have a severity and leave out what is empty; their summary counts steps. v1beta2 conditions are those
of Kubernetes: reason and message are always there, and their summary lists the texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from metalshift_lab.kube.provider.texts import go_format

READY = "Ready"
Rendered = dict[str, Any]


@dataclass(frozen=True)
class Condition:
    type: str
    status: str
    reason: str = ""
    severity: str = ""
    message: str = ""


def true(kind: str) -> Condition:
    return Condition(kind, "True")


def false(kind: str, reason: str, severity: str, message: str = "") -> Condition:
    return Condition(kind, "False", reason, severity, message)


def unknown(kind: str, reason: str, message: str = "") -> Condition:
    return Condition(kind, "Unknown", reason, "", message)


def reason_of(conditions: Sequence[Rendered], kind: str) -> str:
    return next((str(each.get("reason", "")) for each in conditions if each["type"] == kind), "")


class Contract:
    """How conditions are written and summed up."""

    #: What makes a condition another one, so that its time changes.
    _state: tuple[str, ...]

    def render(self, condition: Condition) -> Rendered:
        raise NotImplementedError

    def summary(self, conditions: Sequence[Rendered], kinds: Sequence[str], *, deleting: bool) -> Rendered | None:
        """The condition Ready out of those kinds."""
        raise NotImplementedError

    def put(self, conditions: Sequence[Rendered], rendered: Rendered, now: str) -> list[Rendered]:
        """The list with this condition in it, Ready first and the rest by name."""
        old = next((each for each in conditions if each["type"] == rendered["type"]), None)
        same = old is not None and all(old.get(key) == rendered.get(key) for key in self._state)
        new = {**rendered, "lastTransitionTime": old["lastTransitionTime"] if old is not None and same else now}
        rest = [each for each in conditions if each["type"] != rendered["type"]]
        return sorted([*rest, new], key=lambda each: (each["type"] != READY, each["type"]))


# The condition that decides comes first: a failure, the worse the earlier, then what is well, then what is unknown.
_WORST_FIRST = (("False", "Error"), ("False", "Warning"), ("False", "Info"), ("True", ""), ("Unknown", ""))


class V1Beta1(Contract):
    _state = ("status", "reason", "severity", "message")

    def render(self, condition: Condition) -> Rendered:
        out = {"type": condition.type, "status": condition.status}
        if condition.status == "True":
            return out
        # The provider gives texts of errors as format strings.
        said = {"reason": condition.reason, "severity": condition.severity, "message": go_format(condition.message)}
        return {**out, **{key: value for key, value in said.items() if value}}

    def summary(self, conditions: Sequence[Rendered], kinds: Sequence[str], *, deleting: bool) -> Rendered | None:
        known = {each["type"]: each for each in conditions if each["type"] in kinds}
        if not known:
            return None
        first = [known[kind] for kind in kinds if kind in known]
        deciding = min(first, key=lambda each: _WORST_FIRST.index((each["status"], each.get("severity", ""))))
        out = {"type": READY, "status": deciding["status"]}
        if deciding["status"] == "True":
            return out
        well = sum(each["status"] == "True" for each in first)
        message = deciding.get("message", "") if deleting else f"{well} of {len(kinds)} completed"
        said = {"reason": deciding.get("reason"), "severity": deciding.get("severity"), "message": message}
        return {**out, **{key: value for key, value in said.items() if value}}


class V1Beta2(Contract):
    _state = ("status",)

    def render(self, condition: Condition) -> Rendered:
        # A condition that is true says so with its own name as the reason.
        return {
            "type": condition.type,
            "status": condition.status,
            "reason": condition.reason or condition.type,
            "message": condition.message,
        }

    def summary(self, conditions: Sequence[Rendered], kinds: Sequence[str], *, deleting: bool) -> Rendered | None:
        known = {each["type"]: each for each in conditions}
        missing = {"status": "Unknown", "reason": "NotYetReported", "message": "Condition not yet reported"}
        each_kind = [(kind, known.get(kind, missing)) for kind in kinds]
        failing = [(kind, each) for kind, each in each_kind if each["status"] == "False"]
        unclear = [(kind, each) for kind, each in each_kind if each["status"] == "Unknown"]
        status, reason = ("True", "InfoReported")
        if failing or unclear:
            status, reason = ("False", "IssuesReported") if failing else ("Unknown", "UnknownReported")
        lines = [f"* {kind}: {each.get('message') or each['reason']}" for kind, each in failing + unclear]
        return {"type": READY, "status": status, "reason": reason, "message": "\n".join(lines)}


V1BETA1 = V1Beta1()
V1BETA2 = V1Beta2()
