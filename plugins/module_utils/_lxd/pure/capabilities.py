# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an LXD can do, by what it says of itself: its API extensions, never its version.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure


@dataclass(frozen=True)
class Ability:
    """Something that not every LXD can do: the extension that says so, and the first release that has it."""

    extension: str
    since: str


# Where a feature release brought it between two releases with long-term support, the latter is named.
ABILITIES: Mapping[str, Ability] = {
    "projects": Ability("projects", "3.6"),
    "virtual machines": Ability("virtual-machines", "4.0"),
    "limits of projects": Ability("projects_limits", "4.0"),
    "restrictions of projects": Ability("projects_restrictions", "4.0"),
    "networks of projects": Ability("projects_networks", "5.0"),
    "macvlan networks": Ability("network_type_macvlan", "5.0"),
    "SR-IOV networks": Ability("network_type_sriov", "5.0"),
    "OVN networks": Ability("network_type_ovn", "5.0"),
    "physical networks": Ability("network_type_physical", "5.0"),
    "custom block volumes": Ability("custom_block_volumes", "5.0"),
    "certificates restricted to projects": Ability("certificate_project", "5.0"),
    "trust tokens": Ability("certificate_token", "5.0"),
    "the expiry of trust tokens": Ability("remote_token_expiry", "5.0"),
    "warnings": Ability("warnings", "5.0"),
    "growing the loop file of a storage pool": Ability("storage_pool_loop_resize", "5.21"),
    "trust tokens as such": Ability("explicit_trust_token", "5.21.2"),
    "access management": Ability("access_management", "5.21"),
    "removing a project with all that is in it": Ability("projects_force_delete", "6.6"),
    "boot modes of instances": Ability("instance_boot_mode", "6.7"),
}


@dataclass(frozen=True)
class LxdCapabilities:
    """The extensions of one LXD."""

    endpoint: str
    extensions: frozenset[str]

    def has(self, ability: str) -> bool:
        return ABILITIES[ability].extension in self.extensions

    def require(self, ability: str, what: str) -> None:
        """Raises the failure that says what `what` needs, if this LXD does not have it."""
        if not self.has(ability):
            needed = ABILITIES[ability]
            raise Failure(
                "unsupported",
                f"{what} needs {ability}: that needs LXD ≥ {needed.since}, and the one at {self.endpoint} lacks it.",
                object=what,
                reason=f"the API extension {needed.extension} is missing",
                hint=f"Upgrade LXD to {needed.since} or later, or do without.",
            )

    @property
    def abilities(self) -> dict[str, bool]:
        return {ability: self.has(ability) for ability in ABILITIES}
