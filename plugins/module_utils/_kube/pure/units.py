# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Durations and quantities of Kubernetes, in the one form to which its programs rewrite them.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from decimal import Decimal

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import invalid

_NANOSECONDS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_PIECE = re.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)")
_DURATION = re.compile(rf"(?:{_PIECE.pattern})+")

_FACTORS = {
    "": Decimal(1),
    "m": Decimal("0.001"),
    **{unit: Decimal(1000) ** power for power, unit in enumerate("kMGTPE", start=1)},
    **{f"{unit}i": Decimal(1024) ** power for power, unit in enumerate("KMGTPE", start=1)},
}
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)(m|[kMGTPE]|[KMGTPE]i)?")


def nanoseconds(text: str) -> int | None:
    """A duration as Go writes it, or None if it is none."""
    if not _DURATION.fullmatch(text):
        return None
    return int(sum(Decimal(number) * _NANOSECONDS[unit] for number, unit in _PIECE.findall(text)))


def duration(value: object, option: str) -> str:
    """`90s`, `1h30m` or a number of seconds, as Go's programs write it back: `1m30s`, `1h30m0s`."""
    text = str(value).strip()
    found = nanoseconds(f"{text}s" if re.fullmatch(r"\d+(\.\d+)?", text) else text)
    if found is None:
        raise invalid(f"{option} cannot be {value!r}.", "Write a duration such as 90s, 20m or 1h30m.")
    return _go_text(found)


def _go_text(total: int) -> str:
    seconds = Decimal(total) / 10**9
    if 0 < seconds < 1:
        unit = next(unit for unit in ("ms", "us", "ns") if total >= _NANOSECONDS[unit])
        return f"{(Decimal(total) / _NANOSECONDS[unit]).normalize():f}{unit.replace('us', 'µs')}"
    hours, rest = divmod(seconds, 3600)
    minutes, rest = divmod(rest, 60)
    text = f"{rest.normalize():f}s"
    if hours:
        return f"{hours:f}h{minutes:f}m{text}"
    return f"{minutes:f}m{text}" if minutes else text


def amount(value: object) -> Decimal | None:
    """What a quantity such as `8Gi` comes to, or None if it is none."""
    found = None if isinstance(value, bool) else _QUANTITY.fullmatch(str(value))
    return Decimal(found[1]) * _FACTORS[found[2] or ""] if found else None


def same(one: object, other: object) -> bool:
    """Whether two values mean the same: `10m` and `10m0s`, `8Gi` and `8192Mi`."""
    if one == other:
        return isinstance(one, bool) == isinstance(other, bool)
    if not isinstance(one, str) or not isinstance(other, str):
        return False
    long = nanoseconds(one)
    if long is not None and long == nanoseconds(other):
        return True
    if one.isdigit() or other.isdigit():
        return False
    much = amount(one)
    return much is not None and much == amount(other)
