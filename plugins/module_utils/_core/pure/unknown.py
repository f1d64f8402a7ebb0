# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values that are not known yet in check mode, because an earlier task of the play would have made what they name.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# What stands for a value that only an earlier task of the play will make known. No name or address looks like it.
UNKNOWN = "(not known yet)"


def as_unknown(value: Any) -> Any:
    """A value that may come from the prediction of another task: null, and empty where templates know no null."""
    if value is None or value == "":
        return UNKNOWN
    if isinstance(value, list):
        return [as_unknown(element) for element in value]
    return {**value, "name": as_unknown(value["name"])} if isinstance(value, Mapping) and "name" in value else value


def as_null(value: Any) -> Any:
    """A result without what stands for unknown values: they are null, and missing in lists."""
    if isinstance(value, Mapping):
        return {key: as_null(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_null(inner) for inner in value if inner != UNKNOWN]
    return None if value == UNKNOWN else value
