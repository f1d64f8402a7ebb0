# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Named objects of an LXD: found, made, changed, removed.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.contract import Stale
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.urls import segment
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.client import Lxd, TaggedObject
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure import errors, kinds
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.kinds import LxdKind


@dataclass(frozen=True)
class Objects:
    """The objects of one kind in one LXD."""

    lxd: Lxd
    kind: LxdKind

    def find(self, name: str) -> TaggedObject | None:
        """The object of that name, or None."""
        return self.lxd.find(self._path(name), self._query, what=f"show {self._label(name)}")

    def create(self, name: str, body: Mapping[str, Any]) -> None:
        """Make it. Another host of the play, or another run, may have made it since it was looked for: `Stale`."""
        try:
            self.lxd.post(
                self.kind.collection,
                {"name": name, **body},
                self._query,
                what=f"create {self._label(name)}",
                settled=lambda: self._finished(name),
            )
        except Failure as failure:
            # LXD says so with 409, 400 or 500, depending on the kind.
            if errors.exists_already(failure) and self.find(name):
                raise Stale(f"{self.kind.label} {name}") from failure
            raise

    def replace(self, name: str, body: Mapping[str, Any], seen: TaggedObject) -> None:
        """Write its fields, if it still is as it was seen."""
        try:
            self.lxd.put(
                self._path(name),
                body,
                self._query,
                what=f"change {self._label(name)}",
                etag=seen.etag,
                settled=lambda: self._is_so(name, body),
            )
        except Failure as failure:
            if failure.status == STALE:
                raise Stale(f"{self.kind.label} {name}") from failure
            raise

    def delete(self, name: str, query: Mapping[str, Any] | None = None) -> None:
        self.lxd.delete(self._path(name), {**self._query, **(query or {})}, what=f"remove {self._label(name)}")

    def has_project(self) -> bool:
        """Whether their project exists. One that has no objects of this kind of its own is a failure."""
        if not self.kind.feature or self.lxd.project == "default":
            return True
        name = self.lxd.project
        found = self.lxd.find(f"projects/{segment(name, 'name of a project')}", what=f"show the project {name}")
        if found is not None:
            kinds.must_be_its_own(self.kind, name, found.body.get("config") or {})
        return found is not None

    @property
    def no_project(self) -> Failure:
        return errors.no_project(self.lxd.connection.endpoint, self.lxd.project)

    def _finished(self, name: str) -> TaggedObject | None:
        seen = self.find(name)
        return seen if seen and seen.body.get("status") not in kinds.UNFINISHED else None

    def _is_so(self, name: str, body: Mapping[str, Any]) -> TaggedObject | None:
        seen = self.find(name)
        return seen if seen and kinds.as_written(self.kind, seen.body) == body else None

    @property
    def _query(self) -> dict[str, str]:
        return {"project": self.lxd.project} if self.kind.feature else {}

    def _path(self, name: str) -> str:
        return f"{self.kind.collection}/{segment(name, f'name of a {self.kind.label}')}"

    def _label(self, name: str) -> str:
        return f"the {self.kind.label} {name}"


STALE = 412
