# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much faster than real life the stand-ins are."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Speed:
    """What real systems count in minutes is divided by the factor; 1 is real life."""

    factor: float = 60.0

    def __post_init__(self) -> None:
        if not 1 <= self.factor < math.inf:
            raise ValueError(f"A lab's speed is 1 (real time) or more, not {self.factor:g}.")

    def seconds(self, real: float) -> float:
        return real / self.factor
