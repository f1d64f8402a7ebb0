# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long it takes to decide which VM host gets which VM."""

from __future__ import annotations

import statistics
import time

from ansible_collections.metalshift.maas.plugins.module_utils._vms.pure.placement import (
    HostResource,
    PlacementHost,
    Rules,
    Size,
    VmSpread,
    Volume,
    place,
)

VMS, HOSTS, ZONES = 1000, 100, 3
ROUNDS = 5
GIB, GB = 2**30, 10**9
SIZE = Size(4, 16 * GIB, (Volume(40 * GB), Volume(100 * GB, "fast")))


def report() -> None:
    """Prints its figures as they come."""
    print(f"\nPlacement of {VMS:,} VMs on {HOSTS} hosts in {ZONES} zones (median of {ROUNDS} rounds)")
    hosts = [_host(number) for number in range(HOSTS)]
    for spread in VmSpread:
        print(
            f"  spread: {spread.value:<32}{statistics.median(_once(hosts, spread) for _round in range(ROUNDS)):8.2f} s"
        )


def _once(hosts: list[PlacementHost], spread: VmSpread) -> float:
    began = time.perf_counter()
    placement = place(VMS, SIZE, hosts, Rules(spread=spread))
    seconds = time.perf_counter() - began
    if placement.missing:
        raise RuntimeError(f"{placement.missing} were not placed: {placement.why_not}")
    return seconds


def _host(number: int) -> PlacementHost:
    """No two are loaded alike, so that there is something to choose."""
    return PlacementHost(
        f"host-{number}",
        cores=HostResource(64, number % 50, 2.0),
        memory=HostResource(512 * GIB, number % 70 * GIB),
        storage={"default": HostResource(4000 * GB, number * GB), "fast": HostResource(4000 * GB)},
        default_storage="default",
        zone=f"az{number % ZONES}",
    )


if __name__ == "__main__":
    report()
