# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that MAAS knows by name and a few fields: zones, resource pools, tags.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.urls import segment
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.errors import about

Found = dict[str, Any]


def nothing_in_the_way(_maas: Client, _found: Found) -> None:
    """Whatever is there may be removed."""


def nothing_else_changes(_maas: Client, _found: Found) -> list[str]:
    """Removing the object has no effect on others."""
    return []


@dataclass(frozen=True)
class NamedObjects:
    """One kind of object: what it is called, where it is, and which of its fields can be set.

    Where names are ambiguous in paths, `by_id`: `resourcepool/7/` is the pool of the id, even if another is called 7.
    `may_be_removed` raises the Failure that removing the object would end in; `removal_warnings` are about what it does
    to others.
    """

    noun: str
    collection: str
    item: str
    fields: Sequence[str]
    numbered: bool = True
    by_id: bool = False
    # What a new object has besides, and how it begins.
    begins: Mapping[str, Any] = field(default_factory=dict)
    may_be_removed: Callable[[Client, Found], None] = nothing_in_the_way
    removal_warnings: Callable[[Client, Found], list[str]] = nothing_else_changes
    # Which names MAAS takes; it only says that one is not valid.
    name_rule: str = ""

    @property
    def blank(self) -> Found:
        """What is known of an object before it is made: which keys it will have, and that unset texts are empty."""
        return {
            **({"id": None} if self.numbered else {}),
            "resource_uri": None,
            **dict.fromkeys(self.fields, ""),
            **self.begins,
        }

    @property
    def label(self) -> str:
        return self.noun.replace("_", " ")

    def find(self, maas: Client, name: str) -> Found | None:
        """The object of that name, or None."""
        path = self.item.format(segment(name, f"name of a {self.label}"))
        if self.by_id:
            listed: list[Found] = maas.get(self.collection)
            return next((one for one in listed if one["name"] == name), None)
        try:
            found: Found = maas.get(path)
        except Failure as failure:
            if failure.kind == "not_found":
                return None
            raise
        return found

    def create(self, maas: Client, fields: Mapping[str, Any]) -> Found:
        try:
            made: Found = maas.post(self.collection, fields, settled=lambda: self.find(maas, fields["name"]))
        except Failure as failure:
            # Another host of the play, or another run, may have made it since it was looked for.
            found = self.find(maas, fields["name"]) if "name" in failure.fields else None
            if found is None:
                raise self._refused(failure, fields["name"], "created") from failure
            differing = {name: value for name, value in fields.items() if found.get(name) != value}
            return self.update(maas, found, differing) if differing else found
        return made

    def update(self, maas: Client, found: Found, fields: Mapping[str, Any]) -> Found:
        try:
            changed: Found = maas.put(self._path(found), fields)
        except Failure as failure:
            raise self._refused(failure, found["name"], "changed") from failure
        return changed

    def delete(self, maas: Client, found: Found) -> None:
        try:
            maas.delete(self._path(found))
        except Failure as failure:
            raise self._refused(failure, found["name"], "removed") from failure

    def _refused(self, failure: Failure, name: str, what: str) -> Failure:
        hints = {"Enter a valid value": self.name_rule} if "name" in failure.fields and self.name_rule else {}
        return about(failure, f"{self.label} {name}", what, hints)

    def _path(self, found: Found) -> str:
        return self.item.format(found["id"] if self.by_id else segment(found["name"], f"name of a {self.label}"))
