# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The times that stand in objects of Kubernetes.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from datetime import datetime, timezone
from typing import Any

# Fractions have as many digits as the writer liked; Python reads three or six.
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)")


def seconds_of(stamp: Any) -> float | None:
    """A time as seconds since 1970; None for what is no time."""
    found = _MOMENT.fullmatch(stamp) if isinstance(stamp, str) else None
    if found is None:
        return None
    try:
        whole = datetime.fromisoformat(found[1] + ("+00:00" if found[3] == "Z" else found[3]))
    except ValueError:
        return None
    return whole.timestamp() + float(found[2] or 0)


def stamp_of(seconds: float) -> str:
    """As Kubernetes writes it."""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
