# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a MAAS has, each kind of thing in one request.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client


def as_it_is(answer: Any) -> Any:
    return answer


def by_status(machines: list[dict[str, Any]]) -> dict[str, int]:
    """How many machines there are of each status, in the words that options and summaries use."""
    return dict(sorted(Counter(machine["status_name"].lower().replace(" ", "_") for machine in machines).items()))


@dataclass(frozen=True)
class Subset:
    path: str
    op: str = ""
    shown: Callable[[Any], Any] = as_it_is
    expensive: bool = False


SUBSETS: Mapping[str, Subset] = {
    "boot_resources": Subset("boot-resources/"),
    "dns_resources": Subset("dnsresources/"),
    "domains": Subset("domains/"),
    "fabrics": Subset("fabrics/"),
    "machines": Subset("machines/", shown=by_status, expensive=True),
    "rack_controllers": Subset("rackcontrollers/"),
    "resource_pools": Subset("resourcepools/"),
    "spaces": Subset("spaces/"),
    "subnets": Subset("subnets/"),
    "tags": Subset("tags/"),
    "user": Subset("users/", op="whoami"),
    "vm_hosts": Subset("vm-hosts/"),
    "zones": Subset("zones/"),
}


def read(maas: Client, name: str) -> Any:
    """One subset; None if this MAAS does not have it."""
    subset = SUBSETS[name]
    try:
        return subset.shown(maas.get(subset.path, op=subset.op))
    except Failure as failure:
        if failure.kind == "unsupported":
            return None
        raise
