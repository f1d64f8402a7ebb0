# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times as Kubernetes writes them."""

from __future__ import annotations

import re
from datetime import datetime, timezone

# Go writes up to nanoseconds, and Python's datetime knows microseconds.
_RFC3339 = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,6})?\d*(Z|[+-]\d\d:\d\d)")


def now() -> datetime:
    return datetime.now(timezone.utc)


def stamp(moment: datetime) -> str:
    return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def exact(moment: datetime) -> str:
    return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parsed(text: str) -> datetime | None:
    """The moment, or None when this is no time."""
    found = _RFC3339.fullmatch(text)
    if not found:
        return None
    whole, fraction, zone = found.groups()
    microseconds = (fraction or ".0").ljust(7, "0")
    return datetime.fromisoformat(f"{whole}{microseconds}{'+00:00' if zone == 'Z' else zone}")
