# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that MAAS knows by name and a few fields: zones, resource pools.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.wire import segment


@dataclass(frozen=True)
class NamedObjects:
    """One kind of object: what it is called, where it is, and which of its fields can be set."""

    noun: str
    collection: str
    item: str
    fields: Sequence[str]

    def path(self, name: str) -> str:
        return self.item.format(name=segment(name, f"name of a {self.noun}"))

    def find(self, maas: Client, name: str) -> dict[str, Any] | None:
        """The object of that name, or None."""
        try:
            found: dict[str, Any] = maas.get(self.path(name))
        except Failure as failure:
            if failure.kind == "not_found":
                return None
            raise
        return found

    def create(self, maas: Client, name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        made: dict[str, Any] = maas.post(self.collection, fields, settled=lambda: self.find(maas, name))
        return made

    def update(self, maas: Client, name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        changed: dict[str, Any] = maas.put(self.path(name), fields)
        return changed

    def delete(self, maas: Client, name: str) -> None:
        maas.delete(self.path(name))
