# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where new VMs may go, as the options of a task say it.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._failure import invalid
from ansible_collections.metalshift.maas.plugins.module_utils._maas.constraints import Constraints
from ansible_collections.metalshift.maas.plugins.module_utils._placement import Rules, Spread
from ansible_collections.metalshift.maas.plugins.module_utils._spec import Options

ONLY = ("hosts", "host_zones", "host_pools", "host_tags")
WHERE = (*ONLY, "not_host_tags")
PLACING_OPTIONS: Options = {option: {"type": "list", "elements": "str"} for option in WHERE}
SPREAD_OPTIONS: Options = {
    "spread": {"type": "str", "choices": [spread.value for spread in Spread], "default": Spread.ZONE.value},
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
    return Rules(where, Spread(params.get("spread") or Spread.ZONE.value), most)
