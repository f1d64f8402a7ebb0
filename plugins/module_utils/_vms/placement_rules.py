# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where new VMs may go, as the options of a task say it.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Options
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.constraints import Constraints
from ansible_collections.metalshift.maas.plugins.module_utils._vms.pure.placement import (
    PlacementHost,
    Rules,
    VmSpread,
    concerned,
)
from ansible_collections.metalshift.maas.plugins.module_utils._vms.way import Way

ONLY = ("hosts", "host_zones", "host_pools", "host_tags")
WHERE = (*ONLY, "not_host_tags")
PLACING_OPTIONS: Options = {option: {"type": "list", "elements": "str"} for option in WHERE}
SPREAD_OPTIONS: Options = {
    "spread": {"type": "str", "choices": [spread.value for spread in VmSpread], "default": VmSpread.ZONE.value},
    "max_per_host": {"type": "int"},
}


def rules(params: Mapping[str, Any]) -> Rules:
    """The rules in a task's options."""
    for option in ONLY:
        # A computed list that turned out empty must not open the choice to every host.
        if params.get(option) == []:
            raise invalid(f"{option} is an empty list, and no host is in that.", "Leave it out to allow any.")
    most = params.get("max_per_host")
    if most is not None and most < 1:
        raise invalid(f"max_per_host must be at least 1, not {most}.")
    chosen = {option: tuple(str(word) for word in params.get(option) or ()) for option in WHERE}
    where = Constraints(
        names=chosen["hosts"],
        zones=chosen["host_zones"],
        pools=chosen["host_pools"],
        tags=chosen["host_tags"],
        not_tags=chosen["not_host_tags"],
    )
    return Rules(where, VmSpread(params.get("spread") or VmSpread.ZONE.value), most)


# -- hosts that do not answer ------------------------------------------------------------------------------------------


def refuse_away(way: Way, hosts: Iterable[PlacementHost], wanted: Rules) -> None:
    """Raises why a host does not answer to which new VMs might go: without it they would go elsewhere for good."""
    for name in concerned(hosts, wanted):
        failure = way.away[name]
        closing = "or close it to new VMs with vm_host and schedulable: false, or leave it out of lxd_hosts"
        raise replace(failure, hint=f"{failure.hint} Wait for it, {closing}.".strip())


def unasked(way: Way, name: str) -> dict[str, Failure]:
    """Of what is to be absent: the hosts of which nobody knows whether they have something of it."""
    return {
        host: replace(
            failure,
            message=f"What {host} has of {name} is not known, and stays. {failure.message}",
            hint="Run the task again when it answers, or leave it out of lxd_hosts if it is lost for good.",
        )
        for host, failure in way.away.items()
    }


def left_out(way: Way, count: int = 1) -> list[str]:
    """That some hosts were not asked, which does not matter to what is to be there."""
    return [
        f"{host} was not asked, and is not needed now: {failure.message}" for host, failure in way.away.items() if count
    ]
