# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings one VM, known by its hostname, to what is wished of it.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.contract import Outcome
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan, Step
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.constraints import is_virtual
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine
from ansible_collections.metalshift.maas.plugins.module_utils._vms import resize, result
from ansible_collections.metalshift.maas.plugins.module_utils._vms.attachments import Attachment, attached
from ansible_collections.metalshift.maas.plugins.module_utils._vms.choice import Tools
from ansible_collections.metalshift.maas.plugins.module_utils._vms.crew import Going, VmProgress
from ansible_collections.metalshift.maas.plugins.module_utils._vms.placement_rules import (
    left_out,
    refuse_away,
    rules,
    unasked,
)
from ansible_collections.metalshift.maas.plugins.module_utils._vms.pure.placement import Rules, VmPlace, place
from ansible_collections.metalshift.maas.plugins.module_utils._vms.pure.set_plan import (
    LONGEST,
    NAME,
    FoundVm,
    Namesakes,
    certain,
    namesakes,
    on_host,
)
from ansible_collections.metalshift.maas.plugins.module_utils._vms.template import Template, refuse_shared
from ansible_collections.metalshift.maas.plugins.module_utils._vms.way import NewVmSpec


@dataclass(frozen=True)
class VmSpec:
    """What the options of a task ask for."""

    name: str
    template: Template
    rules: Rules

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> VmSpec:
        name = params["hostname"]
        if not NAME.fullmatch(name) or len(name) > LONGEST:
            raise invalid(
                f"hostname cannot be {name!r}.",
                f"Begin with a small letter and go on with small letters, digits and -, up to {LONGEST}.",
            )
        template = Template.from_params(params)
        refuse_shared(template.nics)
        return cls(name, template, rules(params))


def vm(task: Task) -> PresentVm | AbsentVm:
    """The engine of the VM that the task names."""
    return (AbsentVm if task.params["state"] == "absent" else PresentVm)(task)


@dataclass(frozen=True)
class VmState:
    """A VM that is to be there, what is to be done about it, and what was noticed on the way."""

    vm: VmProgress
    steps: Sequence[Step]
    warnings: Sequence[str]


class PresentVm:
    """One VM that is to be there."""

    def __init__(self, task: Task) -> None:
        self.task, self.wanted, self.tools = task, VmSpec.from_params(task.params), Tools(task)

    def read(self) -> VmState:
        wanted, tools = self.wanted, self.tools
        machine = _machine_of(tools, wanted)
        attachments = attached(tools.survey, wanted.template.nics)
        there = _there(tools, wanted, machine)
        if there.taken is not None:
            raise there.taken
        vm = _known(tools, wanted, there.member, machine, attachments)
        shortages: list[Failure] = []
        if vm is None:
            vm, shortages = _placed(tools, wanted, attachments)
        if not self.task.check:
            for shortage in shortages:
                raise shortage
        _refuse_taken(tools, wanted, attachments)
        steps = [*_making(vm), *tools.crew.foresee([vm], wanted.template.wished)]
        loss = there.member.loss if there.member else ""
        warnings = [
            *left_out(tools.way),
            *filter(None, [loss]),
            *(one.text for one in there.doubtful),
            *(shortage.message for shortage in shortages),
            *tools.crew.warnings,
        ]
        return VmState(vm, steps, warnings)

    def plan(self, current: VmState) -> Plan:
        return Plan(current.steps)

    def predict(self, current: VmState, plan: Plan) -> VmState:
        result.foresee(current.vm, changed=True, waits=self.task.params["wait"])
        return current

    def apply(self, current: VmState, plan: Plan) -> VmState:
        self.tools.crew.bring([current.vm], self.wanted.template.wished)
        return current

    def result(self, current: VmState) -> Outcome:
        vm = current.vm
        return Outcome({"vm": vm.told}, [*current.warnings, *resize.outdated(vm)], vm.failure)


def _machine_of(tools: Tools, wanted: VmSpec) -> Machine | None:
    """The machine of that hostname, if MAAS has it; what is no VM is refused."""
    machine = tools.machines.find([wanted.name])[wanted.name]
    if machine is not None:
        _refuse_no_vm(machine, wanted.name)
    return machine


def _refuse_no_vm(machine: Machine, name: str) -> None:
    if not is_virtual(machine):
        raise Failure(
            "conflict",
            f"{name} is the hostname of a machine that is no VM.",
            object=name,
            hint="Choose another hostname.",
        )


# -- present -------------------------------------------------------------------------------------------------------


def _there(tools: Tools, wanted: VmSpec, machine: Machine | None) -> Namesakes:
    """What there is of the name."""
    found = tools.way.found([machine] if machine else [], [wanted.name])
    # The machine of that hostname is meant, whoever holds it: what may be done with it is decided later.
    meant = [replace(one, claim=wanted.name, made_for="") if one.known else one for one in found]
    strangers = [one for one in meant if one.claim != wanted.name]
    if strangers and len(strangers) == len(meant):
        return Namesakes(taken=_stranger(strangers[0]))
    return namesakes(wanted.name, meant) if meant else Namesakes()


def _known(
    tools: Tools, wanted: VmSpec, one: FoundVm | None, machine: Machine | None, attachments: Sequence[Attachment]
) -> VmProgress | None:
    """The VM that there is, or that a killed run began."""
    if one is None:
        return None
    order = NewVmSpec(wanted.name, one.host, wanted.template, attachments, claim=wanted.name)
    vm = VmProgress(order, machine, is_new=not one.known, is_begun=not one.known)
    return vm if machine is None else resize.sized(tools.way, vm, machine, tools.way.limits(one))


def _stranger(found: FoundVm) -> Failure:
    return Failure(
        "conflict",
        f"{found.name} on {found.host} is a VM that MAAS does not know and that this module did not make.",
        object=found.name,
        hint="Remove or rename it there, or choose another hostname.",
    )


def _placed(tools: Tools, wanted: VmSpec, attachments: Sequence[Attachment]) -> tuple[VmProgress, list[Failure]]:
    """The VM where there is room for it; without a host, and with the reasons, if there is none."""
    hosts = tools.way.hosts(attachments, wanted.template.pinned or bool(wanted.template.on_cores))
    refuse_away(tools.way, hosts, wanted.rules)
    placement = place(1, wanted.template.size, hosts, wanted.rules)
    at = placement.places[0] if placement.places else VmPlace("")
    order = NewVmSpec(wanted.name, at.host, wanted.template, attachments, cores=at.cores, claim=wanted.name)
    return VmProgress(order, is_new=True), [placement.failure(wanted.name)] if placement.missing else []


def _refuse_taken(tools: Tools, wanted: VmSpec, attachments: Sequence[Attachment]) -> None:
    """Addresses that somebody else has, before anything is made."""
    ips = [attachment.nic.static for attachment in attachments if attachment.nic.static]
    if not ips:
        return
    occupancy = tools.cabling.look(ips)
    for ip in ips:
        obstacle = occupancy.obstacle(ip, lambda use: use.node == wanted.name or use.own)
        if obstacle is not None:
            raise obstacle.failure(ip, f"given to {wanted.name}")


def _making(vm: VmProgress) -> list[Step]:
    if not vm.is_new:
        return []
    if vm.is_begun:
        return [result.finishing(vm)]
    addresses = {one.nic.name: one.nic.static for one in vm.order.attachments if one.nic.static}
    pinned = {"pinned_cores": list(vm.order.cores)} if vm.order.cores else {}
    after = {"host": vm.order.host or None, **pinned, **({"addresses": addresses} if addresses else {})}
    after.update(vm.order.template.shown)
    return [Step("create", vm.name, on_host(vm.order.host), after=after)]


# -- absent --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class VmRemovalState:
    """The VMs of the name that go, and what keeps others."""

    going: Sequence[Going]
    failure: Failure | None
    warnings: Sequence[str]


class AbsentVm:
    """One VM that is not to be there."""

    def __init__(self, task: Task) -> None:
        self.task, self.wanted, self.tools = task, VmSpec.from_params(task.params), Tools(task)

    def read(self) -> VmRemovalState:
        wanted, tools = self.wanted, self.tools
        machine = _machine_of(tools, wanted)
        there = _there(tools, wanted, machine)
        if there.taken is not None and not (there.doubles or there.doubtful):
            raise there.taken
        member, doubt = certain(there.member)
        found = [*([member] if member else []), *there.doubles]
        left = [*([doubt] if doubt else []), *(one for one in there.doubtful if one.is_own)]
        unknown = [] if member else list(unasked(tools.way, wanted.name).values())
        failure = next(iter([*(one.failure for one in left), *unknown]), None)
        going = [(one, machine if one.known else None) for one in found]
        tools.crew.foresee_removal(going, wanted.name, take_over=self.task.params["take_over"])
        return VmRemovalState(going, failure, [one.text for one in there.doubtful if not one.is_own])

    def plan(self, current: VmRemovalState) -> Plan:
        return Plan([Step("delete", one.name, _why(one), before={"host": one.host}) for one, _machine in current.going])

    def predict(self, current: VmRemovalState, plan: Plan) -> VmRemovalState:
        return current

    def apply(self, current: VmRemovalState, plan: Plan) -> VmRemovalState:
        if not current.going:
            return current
        members = self.tools.crew.remove(current.going, self.wanted.name, take_over=self.task.params["take_over"])
        return replace(current, failure=next((each.failure for each in members if each.failure), current.failure))

    def result(self, current: VmRemovalState) -> Outcome:
        return Outcome({"vm": {}}, current.warnings, current.failure)


def _why(found: FoundVm) -> str:
    return "" if found.known else f"it is on {found.host}, and MAAS does not know it"
