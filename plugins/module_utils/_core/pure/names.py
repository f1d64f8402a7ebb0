# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names in sentences: some of many, and the one that was meant.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

# More than so many names tell nobody more.
MOST_LISTED = 10


def few(names: Sequence[str], most: int = 2) -> str:
    """`a`, `a and b`, `a, b and 98 more`: who is meant, for whoever knows the rest."""
    if len(names) > most + 1:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def listed(names: Iterable[str], none: str = "none") -> str:
    """What there is to choose from, in order and not without an end."""
    known = sorted(names)
    more = f" and {len(known) - MOST_LISTED} more" if len(known) > MOST_LISTED else ""
    return f"{', '.join(known[:MOST_LISTED])}{more}" or none


def nearest(asked: str, names: Iterable[str]) -> str:
    """The name that is nearly the one that was asked for; empty if none is. What a path ends with is a name as well."""
    meant = {short: name for name in sorted(names) for short in (name.rpartition("/")[2], name)}
    close = get_close_matches(asked, meant, n=1)
    return meant[close[0]] if close else ""


def did_you_mean(asked: str, names: Iterable[str], otherwise: str = "") -> str:
    """A hint after a name that does not exist."""
    meant = nearest(asked, names)
    return f"Did you mean {meant}?" if meant else otherwise
