# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""VMs as results, diff and check mode show them.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Step
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.fields import applied
from ansible_collections.metalshift.maas.plugins.module_utils._maas.pure import sizes
from ansible_collections.metalshift.maas.plugins.module_utils._vms.crew import VmProgress


def foresee(vm: VmProgress, *, changed: bool, waits: bool) -> None:
    """The VM as it would be at the end of the task, for check mode."""
    vm.changed = changed
    if not changed:
        return
    order, wished = vm.order, vm.order.template.wished
    addresses = [ip for attachment in order.attachments if (ip := order.ip(attachment))]
    if vm.machine is not None:
        vm.machine = applied(vm.machine, vm.changes, wished, frozenset())
    else:
        vm.foreseen = {
            "hostname": vm.name,
            "cpu_count": order.template.size.cores,
            "memory": sizes.mebibytes(order.template.size.memory),
            "status_name": "Ready" if waits else None,
            "zone": wished.zone,
            "pool": wished.pool,
            "domain": wished.domain,
            # MAAS gives it those of its host as well, and its interfaces their MAC addresses.
            "tag_names": [],
            "mac_addresses": [],
        }
    if vm.recommissions:
        figures = {"cpu_count": order.template.cores, "memory": sizes.mebibytes(order.template.memory or 0)}
        vm.foreseen = {**vm.foreseen, **{name: value for name, value in figures.items() if value}}
    vm.foreseen = {**vm.foreseen, **({"ip_addresses": addresses} if addresses else {}), "predicted": True}


def finishing(vm: VmProgress) -> Step:
    """The step for a VM that LXD has and MAAS does not know yet."""
    return Step(
        "create", vm.name, f"it is on {vm.order.host}, and MAAS does not know it", after={"host": vm.order.host}
    )


def removed(name: str, host: str, reason: str, failure: Failure | None = None) -> dict[str, Any]:
    """A VM that goes."""
    said = {"hostname": name, "vm_host": host or None, "reason": reason}
    return {**said, "failed": True, "failure": failure.to_dict()} if failure else said


def of_set(claim: str, vms: Sequence[VmProgress], removed: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the task tells of a set."""
    told = [vm.told for vm in vms]
    return {
        "claim": claim,
        "vms": told,
        "removed": list(removed),
        "summary": dict(sorted(Counter(_word(one) for one in told).items())),
        "hosts": dict(sorted(Counter(str(one["vm_host"]) for one in told if one["vm_host"]).items())),
    }


def _word(told: Mapping[str, Any]) -> str:
    """The status of a VM in a word."""
    return "failed" if told.get("failed") else str(told.get("status_name") or "unknown").lower().replace(" ", "_")
