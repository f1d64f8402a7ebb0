# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What machines refer to, read when it is first asked for: names of zones, pools, domains and tags, power parameters.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.images import Images
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.fields import MachineFields
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine
from ansible_collections.metalshift.maas.plugins.module_utils._maas.named.tags import change_machines

PATHS: Mapping[str, str] = {"zone": "zones/", "pool": "resourcepools/", "domain": "domains/"}


class Surroundings:
    """Reads each thing once, and only if it matters."""

    def __init__(self, maas: Client) -> None:
        self._maas = maas
        self._power: dict[str, Mapping[str, Any]] = {}
        self.names = cache(self._names)

    def _names(self, noun: str) -> frozenset[str]:
        """The names of all objects of a kind."""
        found = self._tags if noun == "tag" else self._maas.get(PATHS[noun])
        return frozenset(str(one["name"]) for one in found)

    @cached_property
    def _tags(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._maas.get("tags/")
        return found

    @cached_property
    def _images(self) -> Images | None:
        try:
            return Images.of(self._maas)
        except Failure as failure:
            # MAAS itself refuses what it does not have, if later.
            if failure.kind != "forbidden":
                raise
            return None

    def why_not_deployed(self, deployment: Mapping[str, Any]) -> Failure | None:
        """What MAAS lacks for a deployment with this form."""
        series, kernel = deployment.get("distro_series"), deployment.get("hwe_kernel")
        images = self._images if series or kernel else None
        return images.why_not(series, kernel) if images else None

    def automatic_tags(self, wished: MachineFields) -> frozenset[str]:
        """The tags that MAAS gives to machines by itself, by a definition; nothing if they do not matter."""
        definite = self._tags if wished.purge_tags and wished.tags is not None else []
        return frozenset(str(tag["name"]) for tag in definite if tag.get("definition"))

    def update_tag(self, tag: str, ids: Mapping[str, Sequence[str]]) -> None:
        """Give a tag to the machines under `add` and take it from those under `remove`."""
        change_machines(self._maas, tag, ids)

    def read_power_parameters(self, machines: Iterable[Machine]) -> None:
        """The power parameters of many machines; a user without the right to read them gets none."""
        try:
            self._power.update(Machines(self._maas).power_parameters(machine["system_id"] for machine in machines))
        except Failure as failure:
            if failure.kind != "forbidden":
                raise

    def known_power_parameters(self, machine: Machine) -> Mapping[str, Any]:
        """Those that were read of a machine; nothing if this user may not read them."""
        return self._power.get(machine["system_id"]) or {}

    def power_parameters(self, machine: Machine, wished: MachineFields) -> Mapping[str, Any]:
        """The power parameters of a machine, if the task has anything to say about them."""
        if not wished.power_parameters:
            return {}
        if machine["system_id"] not in self._power:
            raise Failure(
                "forbidden",
                f"{machine.get('hostname')} cannot be changed: this key may not read power parameters.",
                hint="Use the key of an administrator, or leave power_parameters out.",
            )
        return self._power[machine["system_id"]]
