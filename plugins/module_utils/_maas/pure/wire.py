# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One request and one answer: how values are written, and what is kept of what came back.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Union

from ansible_collections.metalshift.maas.plugins.module_utils._http.pure.answer import Answer

# Sanity tests refuse `|` between these at run time.
Fields = Union[Mapping[str, Any], Iterable[tuple[str, Any]]]  # noqa: UP007

# MAAS commits before it talks to a BMC.
FAILED_LATE = 500


@dataclass(frozen=True)
class MaasAnswer(Answer):
    """What MAAS answered, or what kept it from coming."""

    text: str = ""
    size: int = 0
    content_type: str = ""
    location: str = ""
    from_maas: bool = False

    @property
    def is_passing(self) -> bool:
        return super().is_passing or self.passing_conflict

    @property
    def in_doubt(self) -> bool:
        return super().in_doubt or self.status == FAILED_LATE

    @property
    def passing_conflict(self) -> bool:
        """Rolled back or never begun; a conflict of state comes without Retry-After."""
        return self.status in (409, 429) and self.retry_after is not None

    @property
    def collided(self) -> bool:
        """Two requests made the same object of MAAS's own, as the first deployments ever do: one was rolled back."""
        return self.status == 400 and "duplicate key value violates unique constraint" in self.text

    @property
    def overtaxed(self) -> bool:
        """Whether so many requests at once are too many."""
        return self.passing_conflict or self.status == 503

    @property
    def usable(self) -> bool:
        """Whether a good answer is one that MAAS could have given: JSON, or a plain word such as `OK`."""
        if self.content_type == "text/html":
            return False
        try:
            self.body()
        except ValueError:
            return False
        return True

    def body(self) -> Any:
        """The value in a good answer."""
        is_json = self.content_type == "application/json" or self.text[:1] in ("{", "[")
        return json.loads(self.text) if is_json else self.text


def as_pairs(fields: Fields, op: str = "") -> list[tuple[str, str]]:
    """Fields as MAAS reads them: lists as repeated keys, booleans as true and false, None not at all.

    `0`, `no` and `off` are true to half of MAAS's boolean parsers (release erase=0 erases the disks).
    """
    pairs = [("op", op)] if op else []
    for name, value in fields.items() if isinstance(fields, Mapping) else fields:
        several = value if isinstance(value, (list, tuple, set, frozenset)) else [value]
        pairs += [(name, str(one).lower() if isinstance(one, bool) else str(one)) for one in several if one is not None]
    return pairs
