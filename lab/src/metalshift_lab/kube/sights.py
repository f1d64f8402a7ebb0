# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a test looks for in the conditions of an object, and what it sees instead."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import Any

from metalshift_lab.kube.api import Object, Resource
from metalshift_lab.kube.handle import Lab

#: An operator that failed tries again after ten seconds at the latest; a busy machine takes its own time.
PATIENCE = 40.0


@dataclass(frozen=True)
class Sight:
    """A condition as it shall be; what is empty may be anything. The message is a text or a regular expression."""

    type: str
    status: str
    reason: str = ""
    message: str = ""

    def fits(self, found: Object | None) -> bool:
        return (
            found is not None
            and found.get("status") == self.status
            and self.reason in ("", found.get("reason", ""))
            and self._says(found.get("message", ""))
        )

    def _says(self, message: str) -> bool:
        if self.message in ("", message):
            return True
        try:
            return re.fullmatch(self.message, message, re.DOTALL) is not None
        except re.error:
            return False

    def __str__(self) -> str:
        return f"{self.type}={self.status}/{self.reason or '*'} {self.message or '*'}"


def conditions(body: Object | None) -> dict[str, Any]:
    """All conditions by type; those that Cluster API keeps apart for its next version where there is no other."""
    status = (body or {}).get("status") or {}
    known = [*((status.get("v1beta2") or {}).get("conditions") or []), *(status.get("conditions") or [])]
    return {each["type"]: each for each in known}


def condition(body: Object | None, kind: str) -> str:
    """One in words."""
    found = conditions(body).get(kind)
    return f"{kind}={found['status']}/{found.get('reason')} {found.get('message')}" if found else f"no {kind}"


def seen(lab: Lab, resource: Resource, name: str, namespace: str, *sights: Sight, limit: float = PATIENCE) -> Object:
    """The object, when all these conditions show at the same time; AssertionError with what shows instead."""
    deadline = time.monotonic() + limit
    api = lab.api
    while True:
        body = api.get(resource, name, namespace)
        found = conditions(body)
        missing = [each for each in sights if not each.fits(found.get(each.type))]
        if body is not None and not missing:
            return body
        if time.monotonic() > deadline:
            wanted = "\n  ".join(map(str, missing))
            shown = "\n  ".join(condition(body, each.type) for each in missing)
            raise AssertionError(f"{resource} {name} shows after {limit:.0f} s\n  {shown}\ninstead of\n  {wanted}")
        time.sleep(0.2)
