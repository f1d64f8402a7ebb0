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
class MaasSubset:
    path: str
    op: str = ""
    shown: Callable[[Any], Any] = as_it_is
    expensive: bool = False


SUBSETS: Mapping[str, MaasSubset] = {
    "boot_resources": MaasSubset("boot-resources/"),
    "dns_resources": MaasSubset("dnsresources/"),
    "domains": MaasSubset("domains/"),
    "fabrics": MaasSubset("fabrics/"),
    "machines": MaasSubset("machines/", shown=by_status, expensive=True),
    "rack_controllers": MaasSubset("rackcontrollers/"),
    "resource_pools": MaasSubset("resourcepools/"),
    "spaces": MaasSubset("spaces/"),
    "subnets": MaasSubset("subnets/"),
    "tags": MaasSubset("tags/"),
    "user": MaasSubset("users/", op="whoami"),
    "vm_hosts": MaasSubset("vm-hosts/"),
    "zones": MaasSubset("zones/"),
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
