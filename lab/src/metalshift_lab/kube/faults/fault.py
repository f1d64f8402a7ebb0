# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a fault is."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from metalshift_lab.kube.supervisor import Supervisor

Words = Mapping[str, str]
MUST: None = None


@dataclass(frozen=True)
class Effect:
    """What was done, in words, and what undoes it; None when it is over by itself."""

    said: str
    cure: Callable[[], None] | None = None


@dataclass(frozen=True)
class Fault:
    """A sentence for the user, what begins it, and its parameters with their defaults (None: must be given)."""

    meaning: str
    begin: Callable[[Supervisor, Words], Effect]
    parameters: Mapping[str, str | None] = field(default_factory=dict)

    def words(self, name: str, given: Words) -> dict[str, str]:
        """All parameters with their values; ValueError when one is unknown or missing."""
        unknown = sorted(set(given) - set(self.parameters))
        missing = sorted(key for key, default in self.parameters.items() if default is None and key not in given)
        if unknown or missing:
            wrong = f"does not take {', '.join(unknown)}" if unknown else f"needs {', '.join(missing)}"
            raise ValueError(f"The fault {name} {wrong}; its parameters are {', '.join(self.parameters) or 'none'}.")
        return {**{key: value for key, value in self.parameters.items() if value is not None}, **given}


def number(fault: str, words: Words, name: str, least: float, most: float) -> float:
    """A parameter; ValueError with a sentence when it is no number, or not one of these."""
    try:
        found = float(words[name])
    except ValueError:
        found = math.nan
    if not least <= found <= most:
        raise ValueError(f"{name} of {fault} is a number from {least:g} to {most:g}, not {words[name]!r}.")
    return found


def whole_number(fault: str, words: Words, name: str, least: int) -> int:
    try:
        found = int(words[name])
    except ValueError:
        found = least - 1
    if found < least:
        raise ValueError(f"{name} of {fault} is a whole number from {least} on, not {words[name]!r}.")
    return found
