# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sizes as LXD writes them."""

from __future__ import annotations

import re

UNITS = {"": 1, "B": 1, **{f"{unit}B": 1000**power for power, unit in enumerate("kMGTPE", 1)}}
UNITS |= {f"{unit}iB": 1024**power for power, unit in enumerate("KMGTPE", 1)}
MIB = 1024**2


def parse(text: str) -> int:
    """Bytes; ValueError in LXD's words."""
    found = re.fullmatch(r"([0-9]+) ?([A-Za-z]*)", text)
    if found is None or found[2] not in UNITS:
        raise ValueError(f"Invalid value: {text}")
    number: int = int(found[1]) * UNITS[found[2]]
    return number
