# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sizes as people write them: `8GiB`, `500GB`, or a number in the unit that the option documents.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import invalid

UNITS: Mapping[str, int] = {
    "B": 1,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}
FOLDED: Mapping[str, int] = {unit.lower(): size for unit, size in UNITS.items()}
SIZE = re.compile(r"(?P<number>[0-9]+(\.[0-9]+)?)\s*(?P<unit>[a-z]*)", re.IGNORECASE)


def parse(value: object, option: str, unit: str) -> int:
    """The bytes of `value`; a bare number counts in `unit`. Anything else is a failure of kind `invalid`."""
    found = None if isinstance(value, bool) else SIZE.fullmatch(str(value).strip())
    if found is None:
        raise invalid(f"{option} cannot be {value!r}.", f"Write a size such as 8GiB or 500GB, or a number of {unit}.")
    written = found["unit"]
    factor = FOLDED.get((written or unit).lower())
    if factor is None:
        more = f"{found['number']}{written}iB or {found['number']}{written}B" if written.upper() in "KMGT" else "8GiB"
        raise invalid(
            f"{option} cannot be {value!r}: {written!r} is not a unit of size.",
            f"Write {more}; the units are {', '.join(UNITS)}.",
        )
    size = int(Decimal(found["number"]) * factor)
    if size <= 0:
        raise invalid(f"{option} cannot be {value!r}.", "A size is larger than nothing.")
    return size


def mebibytes(size: int) -> int:
    """Whole MiB, never fewer than asked for: the unit of MAAS for memory."""
    return -(-size // UNITS["MiB"])


def gigabytes(size: int) -> str:
    """Decimal GB, to the byte: the unit of MAAS for storage constraints."""
    return f"{Decimal(size) / UNITS['GB']:f}"


def text(size: int) -> str:
    """A size in the largest unit that takes few digits: 16 GiB, 500 GB."""
    for unit in ("TiB", "TB", "GiB", "GB", "MiB", "MB", "KiB", "kB"):
        if size >= UNITS[unit] and size * 10 % UNITS[unit] == 0:
            return f"{Decimal(size) / UNITS[unit]:f} {unit}"
    return f"{size} B"


def tenths(size: int, unit: str) -> str:
    """A size that need not be exact, and is never said to be more than it is: 11.3 GiB."""
    return f"{Decimal(size * 10 // UNITS[unit]) / 10:f} {unit}"
