# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading fields of objects that may be missing, or of another type than they should be.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def at(body: Any, *path: str) -> Any:
    """The value at the end of the path; None when any part of it is missing."""
    for name in path:
        if not isinstance(body, Mapping):
            return None
        body = body.get(name)
    return body


def text(body: Any, *path: str) -> str:
    """The same for a text, which is empty when it is missing."""
    found = at(body, *path)
    return found if isinstance(found, str) else ""


def number(body: Any, *path: str) -> int:
    """The same for a number, which is 0 when it is missing."""
    found = at(body, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) else 0


def objects(body: Any, *path: str) -> list[dict[str, Any]]:
    """The same for a list of objects."""
    found = at(body, *path)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
