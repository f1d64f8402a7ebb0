# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a set of VMs takes, beside the same number of VMs that are made one after the other."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from chaos.runs import Run
from integration.vm_hosts import Hosts
from metalshift_lab.simulator import Simulator

VMS, ZONES = 30, ("az1", "az2", "az3", "az1", "az2", "az3")
LATENCY = 0.1
AT_ONCE = 4
COMMISSIONING = 5.0
SIZE = {"cores": 2, "memory": "2GiB", "disks": [{"size": "20GB"}]}
SPARE = {"cores": 16, "memory": 64, "storage": 1000}
WAIT = {"wait_sleep": 0.5, "wait_timeout": 600}


def report() -> None:
    """Prints its figures as they come."""
    milliseconds = f"{LATENCY * 1000:.0f} ms a request"
    print(
        f"\n{VMS} VMs on {len(ZONES)} hosts, {milliseconds}, {AT_ONCE} at a time, {COMMISSIONING:.0f} s to commission"
    )
    print("  how                                   requests  per VM  wall s  floor s  ratio")
    for via in ("maas", "lxd"):
        _line(f"vm_set, via: {via}", via, [("vm_set", {"claim": "cp", "count": VMS})])
    # Whoever loops over single VMs and is clever enough not to wait for each.
    single = [("vm", {"hostname": f"cp-{number}", "wait": False}) for number in range(1, VMS + 1)]
    _line("vm in a loop, not waiting, via: maas", "maas", single)


def _line(label: str, via: str, tasks: list[tuple[str, Mapping[str, Any]]]) -> None:
    with Simulator() as maas:
        hosts = Hosts.up(maas, ZONES, **SPARE)
        maas.auto(COMMISSIONING)
        maas.latency(LATENCY * 1000)
        for server in hosts.servers.values():
            server.door.faults.latency = LATENCY * 1000
        hosts.clear()
        reach = {"maas_endpoint": maas.url, "maas_api_key": maas.api_key}
        began = time.monotonic()
        for module, args in tasks:
            _pass(Run(module, {**reach, **hosts.reach(via), **SIZE, **WAIT, **args}))
        wall = time.monotonic() - began
        doors = [server.door for server in hosts.servers.values()]
        requests = len(list(maas.requests)) + sum(len(list(door.requests)) for door in doors)
    floor = requests / AT_ONCE * LATENCY + COMMISSIONING
    print(
        f"  {label:<38}{requests:8d}{requests / VMS:8.1f}{wall:8.1f}{floor:9.1f}{wall / floor:7.2f}",
        flush=True,
    )


def _pass(run: Run) -> None:
    result = run.end()
    if result is None or result.get("failed"):
        raise RuntimeError(str((result or {}).get("msg")))


if __name__ == "__main__":
    report()
