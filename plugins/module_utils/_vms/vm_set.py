# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings a set of VMs to its number: what there is, what becomes of it, what is done.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import count as counting_from
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.contract import Outcome
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid, several
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan, Step
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.holders import check_count
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.fleet import FleetMember
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import IDS_PER_REQUEST
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine
from ansible_collections.metalshift.maas.plugins.module_utils._vms import result
from ansible_collections.metalshift.maas.plugins.module_utils._vms.attachments import Attachment, attached
from ansible_collections.metalshift.maas.plugins.module_utils._vms.choice import Tools
from ansible_collections.metalshift.maas.plugins.module_utils._vms.crew import Going, VmProgress
from ansible_collections.metalshift.maas.plugins.module_utils._vms.placement_rules import (
    left_out,
    refuse_away,
    rules,
    unasked,
)
from ansible_collections.metalshift.maas.plugins.module_utils._vms.pure.placement import PlacementHost, Rules
from ansible_collections.metalshift.maas.plugins.module_utils._vms.pure.set_plan import (
    Census,
    FoundVm,
    NewVm,
    SetPlan,
    SurplusVm,
    VmCountSpec,
    census,
    checked,
    hostname,
    number_of,
    plan,
)
from ansible_collections.metalshift.maas.plugins.module_utils._vms.size_difference import differences
from ansible_collections.metalshift.maas.plugins.module_utils._vms.template import Template
from ansible_collections.metalshift.maas.plugins.module_utils._vms.way import NewVmSpec


@dataclass(frozen=True)
class VmSetSpec:
    """What the options of a task ask for."""

    claim: str
    count: int
    template: Template
    rules: Rules
    evacuated: frozenset[str] = frozenset()

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> VmSetSpec:
        count = 0 if params["state"] == "absent" else params["count"]
        check_count(count)
        template = Template.from_params(params)
        static = [nic.static for nic in template.nics if nic.static]
        if static:
            raise invalid(f"interfaces has the address {static[0]} for all VMs of a set.", "List addresses instead.")
        claim, evacuated = checked(params["claim"], max(count, 1)), frozenset(params["evacuate"] or ())
        return cls(claim, count, template, rules(params), evacuated)


@dataclass(frozen=True)
class VmSetState:
    """What there is at the beginning."""

    machines: Mapping[str, Machine]
    census: Census
    held: Mapping[str, str]


@dataclass(frozen=True)
class VmSetProgress:
    """What is decided for the VMs of a set, and what has become of those that go."""

    there: VmSetState
    attachments: Sequence[Attachment]
    decided: SetPlan
    vms: Sequence[VmProgress]
    steps: Sequence[Step]
    left: Mapping[str, Failure]
    warnings: Sequence[str]
    members: Sequence[FleetMember] = ()


class VmSetEngine:
    """The VMs of a claim."""

    def __init__(self, task: Task) -> None:
        self.task, self.wanted, self.tools = task, VmSetSpec.from_params(task.params), Tools(task)

    def read(self) -> VmSetProgress:
        wanted, tools = self.wanted, self.tools
        attachments = attached(tools.survey, wanted.template.nics) if wanted.count else []
        there = look(tools, wanted, attachments)
        decided = decide(tools, wanted, there, attachments)
        if decided.shortage and not self.task.check:
            raise decided.shortage
        vms = [
            *_kept(decided, there, wanted, attachments),
            *(_new(new, decided, wanted, attachments) for new in decided.make),
        ]
        going = [*_going(there, decided.moved), *_going(there, decided.remove)]
        tools.crew.foresee_removal(going, wanted.claim, take_over=False)
        steps = tools.crew.foresee(vms, wanted.template.wished)
        left = {one.name: one.failure for one in decided.left}
        if wanted.count == 0:
            left |= unasked(tools.way, wanted.claim)
        warnings = [
            *left_out(tools.way, wanted.count),
            *(one.text for one in there.census.doubtful if one not in decided.left),
            *filter(None, (one.loss for one in decided.keep)),
            *_resized(vms, wanted.template),
            *([decided.shortage.message] if decided.shortage else []),
            *tools.crew.warnings,
        ]
        whole = [*decided.steps(wanted.template.shown), *_finishing(vms), *steps]
        return VmSetProgress(there, attachments, decided, vms, whole, left, warnings)

    def plan(self, current: VmSetProgress) -> Plan:
        return Plan(current.steps)

    def predict(self, current: VmSetProgress, plan: Plan) -> VmSetProgress:
        for vm in current.vms:
            changed = any(step.object == vm.name for step in plan.steps)
            result.foresee(vm, changed=changed, waits=self.task.params["wait"])
        return current

    def apply(self, current: VmSetProgress, plan: Plan) -> VmSetProgress:
        wanted, tools, decided = self.wanted, self.tools, current.decided
        moved, going = _going(current.there, decided.moved), _going(current.there, decided.remove)
        members = _move_out(tools, wanted, moved, current.attachments) if moved else []
        staying = {member.name for member in members if member.failure}
        tools.crew.bring([vm for vm in current.vms if vm.name not in staying], wanted.template.wished)
        members += tools.crew.remove(going, wanted.claim, take_over=False) if going else []
        return replace(current, members=members)

    def result(self, current: VmSetProgress) -> Outcome:
        vms, decided, members = current.vms, current.decided, current.members
        # In check mode nothing has become of those that go.
        failed = [member.failure for member in members] or [None] * len(decided.gone)
        removed = [
            result.removed(leaving.found.name, leaving.found.host, leaving.reason, failure)
            for leaving, failure in zip(decided.gone, failed, strict=False)
        ]
        lost = {member.name: member.failure for member in members if member.failure}
        failure = _failure({**_failures(vms), **current.left, **lost}, vms, decided)
        return Outcome(result.of_set(self.wanted.claim, vms, removed), current.warnings, failure)


def _move_out(
    tools: Tools, wanted: VmSetSpec, moved: Sequence[Going], attachments: Sequence[Attachment]
) -> list[FleetMember]:
    """Remove what is made again elsewhere; its addresses are free then."""
    members = tools.crew.remove(moved, wanted.claim, take_over=False)
    if ips := _addresses(attachments):
        tools.cabling.look(ips)
    return members


# -- deciding ------------------------------------------------------------------------------------------------------


def look(tools: Tools, wanted: VmSetSpec, attachments: Sequence[Attachment]) -> VmSetState:
    """What there is of the names of the set, and who has its addresses."""
    numbers = range(1, wanted.count + 1)
    like = tools.way.names_like(f"{wanted.claim}-")
    names = {
        *(hostname(wanted.claim, number) for number in numbers),
        *(one for one in like if number_of(wanted.claim, one)),
        *([] if wanted.count else _lost(tools, wanted.claim, like)),
    }
    machines = {name: machine for name, machine in tools.machines.find(sorted(names)).items() if machine is not None}
    counted = census(wanted.claim, tools.way.found(machines.values(), sorted(names)))
    ips = _addresses(attachments)
    return VmSetState(machines, counted, tools.cabling.held(ips, names) if ips else {})


def _lost(tools: Tools, claim: str, like: Set[str]) -> set[str]:
    """The machines that would stay in MAAS without their VMs.

    A run that removes a VM at the moment when another one adds it to MAAS leaves such a machine. MAAS finds hostnames
    only if they are spelt out: as many as one request holds, and so on while there are any.
    """
    found: set[str] = set()
    for first in counting_from(1, IDS_PER_REQUEST):
        names = [hostname(claim, number) for number in range(first, first + IDS_PER_REQUEST)]
        lost = tools.way.lost(names)
        found |= lost
        if not lost and like.isdisjoint(names):
            return found
    return found


def _addresses(attachments: Sequence[Attachment]) -> list[str]:
    return [ip for attachment in attachments for ip in attachment.nic.addresses]


def decide(tools: Tools, wanted: VmSetSpec, there: VmSetState, attachments: Sequence[Attachment]) -> SetPlan:
    """What becomes of the set. Hosts are only asked for when VMs come or go."""
    addresses = {one.nic.name: one.nic.addresses for one in attachments if one.nic.addresses}
    wish = VmCountSpec(wanted.claim, wanted.count, wanted.template.size, wanted.rules, addresses, wanted.evacuated)
    members = there.census.members.values()
    settled = len(members) == wanted.count and not any(one.host in wanted.evacuated for one in members)
    hosts: list[PlacementHost] = [] if settled else tools.way.hosts(attachments, wanted.template.pinned)
    staying = [one for one in members if one.host not in wanted.evacuated]
    if len(staying) < wanted.count:
        refuse_away(tools.way, [host for host in hosts if host.name not in wanted.evacuated], wanted.rules)
    return plan(wish, hosts, there.census, there.held)


def _kept(
    decided: SetPlan, there: VmSetState, wanted: VmSetSpec, attachments: Sequence[Attachment]
) -> list[VmProgress]:
    found = []
    for one in decided.keep:
        order = _order(one.name, one.host, decided, wanted, attachments)
        found.append(VmProgress(order, _machine(there, one), is_new=not one.known, is_begun=not one.known))
    return found


def _new(new: NewVm, decided: SetPlan, wanted: VmSetSpec, attachments: Sequence[Attachment]) -> VmProgress:
    return VmProgress(replace(_order(new.name, new.host, decided, wanted, attachments), cores=new.cores), is_new=True)


def _order(name: str, host: str, decided: SetPlan, wanted: VmSetSpec, attachments: Sequence[Attachment]) -> NewVmSpec:
    return NewVmSpec(name, host, wanted.template, attachments, decided.addresses.get(name, {}), claim=wanted.claim)


def _finishing(vms: Sequence[VmProgress]) -> list[Step]:
    """Those that a killed run left unknown to MAAS."""
    return [result.finishing(vm) for vm in vms if vm.is_begun]


def _resized(vms: Sequence[VmProgress], template: Template) -> list[str]:
    """What of the template those that exist do not have: nothing that exists is made anew."""
    told = {vm.name: differences(vm.machine, template) for vm in vms if vm.machine is not None}
    return [
        f"{name} has {', and '.join(texts)}. It stays so: a set does not change the size of its VMs."
        for name, texts in told.items()
        if texts
    ]


def _going(there: VmSetState, several: Sequence[SurplusVm]) -> list[Going]:
    return [(one.found, _machine(there, one.found)) for one in several]


def _machine(there: VmSetState, found: FoundVm) -> Machine | None:
    return there.machines.get(found.name) if found.known else None


# -- telling -------------------------------------------------------------------------------------------------------


def _failures(vms: Sequence[VmProgress]) -> dict[str, Failure]:
    return {vm.name: vm.failure for vm in vms if vm.failure}


def _failure(failures: Mapping[str, Failure], vms: Sequence[VmProgress], decided: SetPlan) -> Failure | None:
    """One failure for those that failed, or were left alone."""
    names = {*(vm.name for vm in vms), *(one.found.name for one in decided.gone), *(one.name for one in decided.left)}
    return several("VMs", failures, len(names)) if failures else None
