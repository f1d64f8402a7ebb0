# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes, finishes, changes and removes VMs, many at once, whichever the way.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Union

from ansible_collections.metalshift.maas.plugins.module_utils._core.parallel import each
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Step
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._core.wait import Patience
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.fleet import (
    Fleet,
    FleetMember,
    MachineTarget,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines, shown
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.prediction import forecast, steps_of
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.changes import MachineChange
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.fields import (
    MachineFields,
    field_changes,
    tag_changes,
    unknown_names,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.spec import (
    Answer,
    LifecycleFailure,
    MachineAct,
    MachineOp,
    MachineSpec,
    State,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import Status
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.surroundings import Surroundings
from ansible_collections.metalshift.maas.plugins.module_utils._vms.cabling import Cabling
from ansible_collections.metalshift.maas.plugins.module_utils._vms.pure.set_plan import FoundVm
from ansible_collections.metalshift.maas.plugins.module_utils._vms.size_difference import Resize
from ansible_collections.metalshift.maas.plugins.module_utils._vms.way import (
    RECOMMISSIONING,
    NewVmSpec,
    Reattachment,
    Way,
)

# A run that was killed, or did not wait, left them on their way to Ready.
UNFINISHED = frozenset({Status.NEW, Status.COMMISSIONING, Status.TESTING})


# A VM that goes, and its machine if MAAS knows it.
Going = tuple[FoundVm, Union[Machine, None]]  # noqa: UP007


@dataclass(eq=False)
class VmProgress:
    """One VM of a task, and what has become of it."""

    order: NewVmSpec
    machine: Machine | None = None
    # Whether MAAS does not know it, so that it has to be made, or its making finished if LXD has it already.
    is_new: bool = False
    is_begun: bool = False
    changed: bool = False
    failure: Failure | None = None
    changes: Sequence[MachineChange] = ()
    # Another size in LXD, and whether MAAS is then, or still, to learn it.
    resize: Resize | None = None
    recommissions: bool = False
    # Takes away the mark of a removal that was not finished.
    keeping: Callable[[], None] | None = None
    # Interfaces in LXD that hang where they cannot work.
    reattachment: Reattachment | None = None
    foreseen: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.order.name

    @property
    def told(self) -> dict[str, Any]:
        """As results show it."""
        known = {**shown(self.machine or {}), "hostname": self.name}
        said = {**known, **self.foreseen, "vm_host": self.order.host or None}
        said["changed"] = self.changed
        if self.failure:
            said.update(failed=True, failure=self.failure.to_dict())
        return said

    def fail(self, failure: Failure) -> None:
        self.failure = failure.about(self.name)


class Crew:
    """Does what was decided; every failure is that of one VM."""

    def __init__(self, task: Task, way: Way, machines: Machines, patience: Patience, cabling: Cabling) -> None:
        self._task = task
        self._way = way
        self._machines = machines
        self._patience = patience
        self._cabling = cabling
        self._around = Surroundings(task.maas)
        # What a task in check mode says of names that an earlier task of the play makes.
        self.warnings: list[str] = []

    # -- deciding -------------------------------------------------------------------------------------

    def foresee(self, vms: Iterable[VmProgress], wished: MachineFields) -> list[Step]:
        """What is to be changed of VMs that exist; names that MAAS does not have are a failure."""
        steps = []
        for vm in vms:
            unknown = unknown_names(self._around.names, wished, vm.machine or {})
            if unknown and not self._task.check:
                raise Failure(
                    "not_found",
                    f"{vm.name} cannot be as wished: MAAS has no {' and no '.join(unknown)}.",
                    object=vm.name,
                    hint="Check the spelling, or make it first.",
                )
            self.warnings += [f"{vm.name}: MAAS has no {noun} yet." for noun in unknown]
            if vm.is_begun:
                self._way.may_finish(vm.order.host, vm.name)
            if not vm.is_new or vm.is_begun:
                vm.reattachment = self._way.reattachment(vm.order.host, vm.name)
                steps += [vm.reattachment.step(vm.name)] if vm.reattachment else []
            if not vm.is_new:
                vm.keeping = self._way.keeping(vm.order.host, vm.name)
                reason = "in LXD: its removal was begun, and it stays after all"
                steps += [Step("change", vm.name, reason)] if vm.keeping else []
            if vm.machine is not None:
                vm.changes = field_changes(vm.machine, wished, {})
                steps += [Step("change", vm.name, ", ".join(one.form), one.before, one.form) for one in vm.changes]
                tags = sorted(vm.machine.get("tag_names") or ())
                added, _removed = tag_changes(vm.machine, wished, frozenset())
                if added:
                    after = {"tags": sorted({*tags, *added})}
                    steps.append(Step("change", vm.name, "tags", {"tags": tags}, after))
                steps += self._resizing(vm, vm.machine)
                if not is_unfinished(vm.machine):
                    steps += self._linking(vm, vm.machine)
        return steps

    def _linking(self, vm: VmProgress, machine: Machine) -> list[Step]:
        """What is to be done for its static addresses. That one cannot have them is the failure of that VM alone."""
        try:
            linking = self._cabling.foresee(machine, vm.order)
        except Failure as failure:
            vm.fail(failure)
            return []
        return [replace(step, object=vm.name) for one in linking for step in one.plan.steps]

    def _resizing(self, vm: VmProgress, machine: Machine) -> list[Step]:
        """What is to be done for another size; what MAAS would refuse of it is a failure."""
        steps = [vm.resize.step(vm.name)] if vm.resize else []
        if not vm.recommissions:
            return steps
        planned, _then = forecast(FleetMember(vm.name, self._goal(vm), machine), self._machines.me)
        if isinstance(planned.end, LifecycleFailure):
            raise planned.end.failure(vm.name)
        return [*steps, *steps_of(vm.name, planned)]

    # -- acting ---------------------------------------------------------------------------------------

    def bring(self, vms: Sequence[VmProgress], wished: MachineFields) -> None:
        """Make those that are new, finish those that are unfinished, change the others."""
        self._change_in_lxd([vm for vm in vms if vm.keeping], lambda vm: vm.keeping() if vm.keeping else None)
        self._reattach([vm for vm in vms if vm.reattachment and not vm.failure])
        self._make([vm for vm in vms if vm.is_new and not vm.failure])
        self._resize([vm for vm in vms if vm.resize and not vm.failure])
        self._drive([vm for vm in vms if vm.machine is not None and not vm.failure])
        for vm, outcome in each(self._cabled(vms), self._cable):
            if isinstance(outcome, Failure):
                vm.fail(outcome)
            self._task.trace_requests()
        self._tag([vm for vm in vms if vm.machine is not None and not vm.failure], wished)

    def _make(self, vms: Sequence[VmProgress]) -> None:
        ids: dict[str, VmProgress] = {}
        made = 0
        for vm, answer in each(vms, lambda vm: self._way.make(vm.order)):
            vm.changed = True
            if isinstance(answer, Failure):
                vm.fail(answer)
                if len(vms) > 1:
                    self._task.say(f"failed: {answer.message}")
            else:
                ids[answer.system_id] = vm
                vm.order = replace(vm.order, host=answer.host)
                made += 1
                self._task.say(f"{made}/{len(vms)} made: {vm.name} on {vm.order.host}")
            self._task.trace_requests()
        machines = self._machines.read(ids) if ids else {}
        for system_id, vm in ids.items():
            vm.machine = machines.get(system_id)
            if vm.machine is None:
                vm.fail(Failure("conflict", f"{vm.name} was made, and somebody removed it.", object=vm.name))

    def _reattach(self, vms: Sequence[VmProgress]) -> None:
        self._change_in_lxd(vms, lambda vm: vm.reattachment.apply() if vm.reattachment else None)

    def _resize(self, vms: Sequence[VmProgress]) -> None:
        self._change_in_lxd(vms, lambda vm: vm.resize.carry_out() if vm.resize else None)

    def _change_in_lxd(self, vms: Sequence[VmProgress], change: Callable[[VmProgress], None]) -> None:
        for vm, outcome in each(vms, change):
            if isinstance(outcome, Failure):
                vm.fail(outcome)
            else:
                vm.changed = True
            self._task.trace_requests()

    def _drive(self, vms: Sequence[VmProgress]) -> None:
        members = [FleetMember(vm.name, self._goal(vm), vm.machine) for vm in vms]
        self._fleet().drive(members)
        for vm, member in zip(vms, members, strict=True):
            vm.machine, vm.changed = member.machine or vm.machine, vm.changed or member.changed
            if member.failure:
                vm.fail(_of_vm(member.failure))

    def _goal(self, vm: VmProgress) -> MachineTarget:
        if vm.recommissions:
            wish = MachineSpec(state=State.READY, act=MachineAct.RECOMMISSION)
            return MachineTarget(wish, {MachineOp.COMMISSION: RECOMMISSIONING}, vm.order.claim, _changing(vm.changes))
        unfinished = is_unfinished(vm.machine) or (vm.is_new and not _is_held(vm.machine))
        forms = {MachineOp.COMMISSION: vm.order.commissioning}
        wish = MachineSpec(state=State.READY if unfinished else State.PRESENT)
        return MachineTarget(wish, forms, vm.order.claim, _changing(vm.changes))

    def _fleet(self) -> Fleet:
        task = self._task
        return Fleet(
            task.maas, self._machines, self._patience, wait=task.params["wait"], on_tick=task.trace_requests
        )  # fmt: skip

    def _cabled(self, vms: Iterable[VmProgress]) -> list[VmProgress]:
        """Those of which the addresses can be looked at: commissioning may still set up the others."""
        return [vm for vm in vms if vm.machine is not None and not vm.failure and not is_unfinished(vm.machine)]

    def _cable(self, vm: VmProgress) -> None:
        machine = vm.machine or {}
        foreseen = self._cabling.foresee(machine, vm.order)
        if foreseen:
            vm.machine, vm.changed = self._cabling.carry_out(machine, foreseen), True

    def _tag(self, vms: Sequence[VmProgress], wished: MachineFields) -> None:
        """One request for each tag, however many VMs get it."""
        for tag in wished.tags or ():
            lacking = [vm for vm in vms if tag not in ((vm.machine or {}).get("tag_names") or ())]
            if not lacking:
                continue
            self._around.update_tag(tag, {"add": [str((vm.machine or {})["system_id"]) for vm in lacking]})
            for vm in lacking:
                machine = vm.machine or {}
                vm.machine = {**machine, "tag_names": sorted({*(machine.get("tag_names") or ()), tag})}
                vm.changed = True

    # -- removing -------------------------------------------------------------------------------------

    def foresee_removal(self, going: Sequence[Going], claim: str, *, take_over: bool) -> None:
        """Raises what keeps a VM from being removed."""
        for found, machine in going:
            if machine is None:
                continue
            self._way.may_remove(machine, found)
            member = FleetMember(found.name, _leaving(claim, take_over), machine)
            planned, _then = forecast(member, self._machines.me)
            if isinstance(planned.end, LifecycleFailure):
                raise planned.end.failure(found.name)

    def remove(self, going: Sequence[Going], claim: str, *, take_over: bool) -> list[FleetMember]:
        """Remove VMs from MAAS, then what is left of them in LXD. A failure is that of one VM."""
        members = [FleetMember(found.name, _leaving(claim, take_over), machine) for found, machine in going]
        known = [(found, one) for (found, _json), one in zip(going, members, strict=True) if one.machine is not None]
        for (_found, member), marked in each(known, lambda one: self._way.mark_leaving(one[0])):
            if isinstance(marked, Failure):
                member.failure = replace(marked, object=member.name)
            self._task.trace_requests()
        self._fleet().drive([member for _found, member in known if not member.failure])
        gone = [(found, one) for (found, _json), one in zip(going, members, strict=True) if one.machine is None]
        for (_found, member), outcome in each(gone, lambda one: self._way.clear(one[0])):
            if isinstance(outcome, Failure):
                member.failure = replace(outcome, object=member.name)
            member.changed = member.changed or outcome is True
            self._task.trace_requests()
        return members


def _leaving(claim: str, take_over: bool) -> MachineTarget:
    return MachineTarget(MachineSpec(state=State.ABSENT, take_over=take_over), claim=claim)


def _changing(changes: Sequence[MachineChange]) -> Callable[[Machine, Answer], Sequence[MachineChange]]:
    return lambda _machine, _answer: changes


def is_unfinished(machine: Machine | None) -> bool:
    return Status((machine or {})["status"]) in UNFINISHED


def _is_held(machine: Machine | None) -> bool:
    """Whether somebody has begun to use it: another run may have made it before."""
    return Status((machine or {})["status"]) in (Status.ALLOCATED, Status.DEPLOYING, Status.DEPLOYED)


def _of_vm(failure: Failure) -> Failure:
    """What helps with a VM: there is no option `recover` here."""
    if all(words in failure.reason for words in ("macvtap", "resource busy")):
        hint = (
            "Its interface is a port of a bridge that MAAS does not know: run the task with via: lxd, which repairs it."
        )
        return replace(failure, hint=hint)
    if "recover" not in failure.hint:
        return failure
    hint = "Look at it in MAAS; metalshift.maas.machine brings it back to ready, or state: absent removes it."
    return replace(failure, hint=hint)
