# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What which version of MAAS can do.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure

OLDEST, NEWEST = (3, 3), (3, 8)

# The first version that has it. The table in the documentation is made from this one.
SINCE: Mapping[str, tuple[int, int]] = {
    "enlisting deployed machines": (3, 1),
    "hardware sync": (3, 2),
    "release scripts": (3, 5),
    "kernel crash dumps": (3, 6),
    "reserved IP addresses": (3, 6),
}


@dataclass(frozen=True)
class MaasCapabilities:
    """The version of one MAAS, and the questions that depend on it."""

    version: tuple[int, int]
    text: str

    @classmethod
    def of(cls, text: str) -> MaasCapabilities:
        """From what `version/` says: `3.6.5`, `3.7.0~beta1`."""
        match = re.match(r"(\d+)\.(\d+)", text)
        if not match:
            raise Failure("unsupported", f"MAAS gives its version as {text!r}, which is not a version number.")
        return cls((int(match[1]), int(match[2])), text)

    @property
    def supported(self) -> bool:
        return OLDEST <= self.version <= NEWEST

    @property
    def remark(self) -> str:
        """What a user of an unsupported version should know; empty for a supported one."""
        if self.supported:
            return ""
        oldest, newest = (".".join(map(str, version)) for version in (OLDEST, NEWEST))
        return (
            f"This is MAAS {self.text}; the collection is made for MAAS {oldest} to {newest}, "
            f"and {'some things will not work' if self.version < OLDEST else 'something may have changed'}."
        )

    def has(self, ability: str) -> bool:
        return self.version >= SINCE[ability]

    def require(self, ability: str, option: str) -> None:
        """Refuse an option that this MAAS would ignore."""
        if not self.has(ability):
            major, minor = SINCE[ability]
            raise Failure(
                "unsupported",
                f"{option} needs {ability}, which came with MAAS {major}.{minor}; this is MAAS {self.text}.",
                hint=f"Leave {option} out or upgrade MAAS.",
            )
