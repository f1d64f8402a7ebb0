# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An object as it was read and as it shall be, written back as the provider's patch helper does."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from datetime import datetime, timezone
from typing import Any

from metalshift_lab.kube.api import Api, ApiError, Object, Resource, of_name, of_namespace
from metalshift_lab.kube.provider.conditions import Condition, Contract, Rendered, reason_of


def difference(before: Any, now: Any) -> dict[str, Any]:
    """The merge patch that makes `now` out of `before`."""
    patch: dict[str, Any] = {key: None for key in before if key not in now}
    for key, value in now.items():
        old = before.get(key)
        if isinstance(value, dict) and isinstance(old, dict):
            inner = difference(old, value)
            if inner:
                patch[key] = inner
        elif key not in before or old != value:
            patch[key] = value
    return patch


def timestamp() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Draft:
    """An object under change.

    `save` writes the difference to what was read at the start of the pass, whatever an earlier `save` has written
    since. So what is set, saved and set back stays in the API until the next pass: a fault of the real provider.
    """

    def __init__(self, api: Api, resource: Resource, body: Object, contract: Contract, kinds: Sequence[str]) -> None:
        self._api, self._resource, self._contract, self._kinds = api, resource, contract, kinds
        body.setdefault("status", {})
        self._before = deepcopy(body)
        self.body = body

    @property
    def metadata(self) -> dict[str, Any]:
        return dict(self.body["metadata"])

    @property
    def name(self) -> str:
        return of_name(self.body)

    @property
    def namespace(self) -> str:
        return of_namespace(self.body) or ""

    @property
    def spec(self) -> dict[str, Any]:
        found: dict[str, Any] = self.body["spec"]
        return found

    @property
    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = self.body["status"]
        return found

    @property
    def deleting(self) -> bool:
        return "deletionTimestamp" in self.body["metadata"]

    def age_of_deletion(self, now: float) -> float:
        since = datetime.fromisoformat(self.body["metadata"]["deletionTimestamp"].replace("Z", "+00:00"))
        return now - since.timestamp()

    # -- finalizers -------------------------------------------------------------------------------------------------

    def holds(self, finalizer: str) -> bool:
        return finalizer in self.body["metadata"].get("finalizers", [])

    def hold(self, finalizer: str) -> None:
        self.body["metadata"]["finalizers"] = [*self.body["metadata"].get("finalizers", []), finalizer]

    def let_go(self, finalizer: str) -> None:
        rest = [each for each in self.body["metadata"].get("finalizers", []) if each != finalizer]
        self.body["metadata"]["finalizers"] = rest

    # -- conditions -------------------------------------------------------------------------------------------------

    @property
    def _conditions(self) -> list[Rendered]:
        return list(self.status.get("conditions", []))

    def mark(self, condition: Condition) -> None:
        rendered = self._contract.render(condition)
        self.status["conditions"] = self._contract.put(self._conditions, rendered, timestamp())

    def reason(self, kind: str) -> str:
        return reason_of(self._conditions, kind)

    # -- writing ----------------------------------------------------------------------------------------------------

    def save(self) -> None:
        """Conditions first, then everything but the status, then the rest of the status."""
        ready = self._contract.summary(self._conditions, self._kinds, deleting=self.deleting)
        if ready is not None:
            self.status["conditions"] = self._contract.put(self._conditions, ready, timestamp())
        before, now = dict(self._before), dict(self.body)
        old, new = dict(before.pop("status")), dict(now.pop("status"))
        was, conditions = old.pop("conditions", []), new.pop("conditions", [])
        if conditions != was:
            self._patch({"status": {"conditions": conditions}}, "status")
        rest = difference(before, now)
        if rest:
            self._patch(rest)
        status = difference(old, new)
        if status:
            self._patch({"status": status}, "status")

    def _patch(self, patch: Object, subresource: str = "") -> None:
        try:
            self._api.patch(self._resource, self.name, self.namespace, patch, subresource=subresource)
        except ApiError as error:
            # With its last finalizer the object itself has gone.
            if not (error.status == 404 and self.deleting and not self.body["metadata"].get("finalizers")):
                raise
