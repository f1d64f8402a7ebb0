# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs between versions of LXD, as far as clients notice it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

EXTENSIONS = Path(__file__).with_name("extensions.txt")
# Extension → the version that brought it, of those that clients of the lab ask for.
BROUGHT = {
    "access_management": (5, 21, 0),
    "explicit_trust_token": (5, 21, 2),
    "access_management_tls": (5, 21, 3),
    "instance_boot_mode": (6, 7),
    "storage_and_network_operations": (6, 8),
}
# Extension → the version that dropped it.
DROPPED = dict.fromkeys(
    ("candid_authentication", "candid_config", "candid_config_key", "rbac", "macaroon_authentication", "maas_network"),
    (6, 9),
)


@dataclass(frozen=True)
class Version:
    """5.0.2, 5.21.3, 6.2 and the like."""

    text: str

    @property
    def number(self) -> tuple[int, ...]:
        return tuple(int(part) for part in self.text.split("."))

    @property
    def extensions(self) -> list[str]:
        return list(_extensions(self.number))

    def has(self, extension: str) -> bool:
        return extension in _extensions(self.number)

    @property
    def takes_passwords(self) -> bool:
        return self.number < (6,)

    @property
    def takes_trust_tokens(self) -> bool:
        return self.has("explicit_trust_token")

    @property
    def makes_pools_in_the_background(self) -> bool:
        """And networks."""
        return self.has("storage_and_network_operations")

    @property
    def changes_profiles_in_the_background(self) -> bool:
        return self.number >= (6, 6)

    @property
    def knows_secureboot(self) -> bool:
        return not self.has("instance_boot_mode")

    @property
    def lists_all_projects_to_everybody(self) -> bool:
        """Without those that a restricted client may not enter; measured: 5.0.2 refuses."""
        return self.number >= (5, 21)

    @property
    def restricted(self) -> str:
        """What a certificate hears that is kept out of something."""
        return "not authorized" if self.number < (5, 21) else "Certificate is restricted"

    def unknown_key(self, key: str, value: str) -> str:
        """Of the server's configuration."""
        if self.number < (6,):
            return f"cannot set '{key}' to '{value}': unknown key"
        return f'Cannot set "{key}" to "{value}": Unknown key'


@cache
def _extensions(number: tuple[int, ...]) -> tuple[str, ...]:
    lines = EXTENSIONS.read_text().splitlines()
    oldest = [word for line in lines if not line.startswith("#") for word in line.split()]
    kept = [name for name in oldest if number < DROPPED.get(name, (99,))]
    return (*kept, *(name for name, since in BROUGHT.items() if number >= since))
