# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of one VM that exists and is asked to have another size.

LXD gives another size to a VM that does not run. MAAS learns it when the VM is commissioned, which is done at once if
the VM is ready; of one that somebody uses, MAAS keeps the former figures.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.holders import holder
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import Status
from ansible_collections.metalshift.maas.plugins.module_utils._vms import size_difference
from ansible_collections.metalshift.maas.plugins.module_utils._vms.crew import VmProgress, is_unfinished
from ansible_collections.metalshift.maas.plugins.module_utils._vms.pure.placement import PlacementHost, Size, place
from ansible_collections.metalshift.maas.plugins.module_utils._vms.size_difference import Limits, Resize, VmAllotment
from ansible_collections.metalshift.maas.plugins.module_utils._vms.way import Way

ANEW = "Ask for what it has, or remove it first with state: absent and make it anew."


def sized(way: Way, vm: VmProgress, machine: Machine, limits: Limits | None) -> VmProgress:
    """The VM with what is to be done about its size; what cannot be done is a failure."""
    template = vm.order.template
    if limits is None:
        _refuse(
            vm.name,
            size_difference.differences(machine, template),
            "the size of a VM is not changeable in MAAS",
            IN_LXD,
        )
        return vm
    _refuse(vm.name, size_difference.disks(machine, template), "the disks of a VM are not changeable", ANEW)
    size = size_difference.asked(limits.given, template)
    if size is not None:
        _refuse_now(vm, machine, limits.given, size)
        vm.resize = Resize(limits, size, _fitted(way, vm, limits.given, size))
    other = size is not None or bool(size_difference.figures(machine, template))
    vm.recommissions = other and Status(machine["status"]) is Status.READY
    return vm


IN_LXD = f"{ANEW} Cores and memory are changeable with via: lxd when it is stopped."


def _refuse(name: str, differing: Sequence[str], what: str, hint: str) -> None:
    why = ", and ".join(differing)
    if why:
        raise Failure("conflict", f"{name} has {why}, and {what}.", object=name, reason=why, hint=hint)


def _refuse_now(vm: VmProgress, machine: Machine, given: VmAllotment, size: Size) -> None:
    """Raises what keeps a VM from another size as things are."""
    why = ", and ".join(size_difference.words(given, size))
    if given.runs:
        raise Failure(
            "conflict",
            f"{vm.name} has {why}, which is changeable when it is stopped, and it runs.",
            object=vm.name,
            reason=why,
            hint="Switch it off with metalshift.maas.machine and power: off, and run this task again.",
        )
    whose = holder(machine, vm.order.claim)
    if whose or machine.get("locked"):
        raise Failure(
            "claimed",
            f"{vm.name} has {why}, and cannot be changed: it is {f'held by {whose}' if whose else 'locked'}.",
            object=vm.name,
            reason=why,
            hint="Whoever holds it has to give it up first.",
        )


def _fitted(way: Way, vm: VmProgress, given: VmAllotment, size: Size) -> tuple[int, ...]:
    """The cores that it is pinned to. Its host never gives more than it has, what the VM had left out of account."""
    grows = size.cores > given.cores or size.memory > given.memory
    if not grows and not size.pinned:
        return ()
    (host,) = (host for host in way.hosts((), size.pinned) if host.name == vm.order.host)
    placement = place(1, size, [_without(host, given)])
    if placement.missing:
        raise placement.failure(f"{vm.name} in its new size")
    return placement.places[0].cores


def _without(host: PlacementHost, given: VmAllotment) -> PlacementHost:
    """As it would be without the VM. That it takes no new ones is no matter to one that is there."""
    return replace(
        host,
        cores=replace(host.cores, used=host.cores.used - given.cores),
        memory=replace(host.memory, used=host.memory.used - given.memory),
        pinned=host.pinned - given.pins,
        schedulable=True,
        unfit=(),
    )


def outdated(vm: VmProgress) -> list[str]:
    """What MAAS goes on saying of the size of a VM that cannot be commissioned now."""
    machine = vm.machine
    if machine is None or vm.failure or vm.recommissions or is_unfinished(machine):
        return []
    figures = ", and ".join(size_difference.figures(machine, vm.order.template))
    until = "until it is ready and this task is run again, which commissions it"
    return [f"MAAS goes on saying that {vm.name} has {figures}, {until}."] if figures else []
