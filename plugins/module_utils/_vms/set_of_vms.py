# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings a set of VMs to its number: what there is, what becomes of it, what is done.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._failure import Failure, invalid, several
from ansible_collections.metalshift.maas.plugins.module_utils._maas.fleet import Member
from ansible_collections.metalshift.maas.plugins.module_utils._maas.naming import Machine
from ansible_collections.metalshift.maas.plugins.module_utils._placement import Host, Rules
from ansible_collections.metalshift.maas.plugins.module_utils._plan import Plan, Step
from ansible_collections.metalshift.maas.plugins.module_utils._task import Result, Task
from ansible_collections.metalshift.maas.plugins.module_utils._vm_set_plan import (
    Census,
    Found,
    New,
    SetPlan,
    Wish,
    census,
    checked,
    hostname,
    number_of,
    plan,
)
from ansible_collections.metalshift.maas.plugins.module_utils._vms import telling
from ansible_collections.metalshift.maas.plugins.module_utils._vms.attachments import Attachment, attached
from ansible_collections.metalshift.maas.plugins.module_utils._vms.choosing import Tools
from ansible_collections.metalshift.maas.plugins.module_utils._vms.crew import Vm
from ansible_collections.metalshift.maas.plugins.module_utils._vms.placing import rules
from ansible_collections.metalshift.maas.plugins.module_utils._vms.resizing import differences
from ansible_collections.metalshift.maas.plugins.module_utils._vms.template import Template
from ansible_collections.metalshift.maas.plugins.module_utils._vms.ways import Order


@dataclass(frozen=True)
class Wanted:
    """What the options of a task ask for."""

    claim: str
    count: int
    template: Template
    rules: Rules

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Wanted:
        count = 0 if params["state"] == "absent" else params["count"]
        if count < 0:
            raise invalid(f"count cannot be less than 0: {count}.")
        template = Template.from_params(params)
        static = [nic.static for nic in template.nics if nic.static]
        if static:
            raise invalid(f"interfaces has the address {static[0]} for all VMs of a set.", "List addresses instead.")
        return cls(checked(params["claim"], max(count, 1)), count, template, rules(params))


@dataclass(frozen=True)
class There:
    """What there is at the beginning."""

    machines: Mapping[str, Machine]
    census: Census
    held: Mapping[str, str]


def converge_set(task: Task) -> Result:
    """Bring the set to the wished number."""
    wanted, tools = Wanted.from_params(task.params), Tools(task)
    attachments = attached(tools.survey, wanted.template.nics) if wanted.count else []
    there = look(tools, wanted, attachments)
    decided = decide(tools, wanted, there, attachments)
    vms = [
        *_kept(decided, there, wanted, attachments),
        *(_new(new, decided, wanted, attachments) for new in decided.make),
    ]
    going = [(leaving.found, _machine(there, leaving.found)) for leaving in decided.remove]
    tools.crew.foresee_removal(going, wanted.claim, take_over=False)
    steps = tools.crew.foresee(vms, wanted.template.wished)
    whole = Plan([*decided.steps(), *_finishing(vms), *steps])
    warnings = _resized(vms, wanted.template)
    if task.check:
        for vm in vms:
            changed = any(step.object == vm.name for step in whole.steps)
            telling.foresee(vm, changed=changed, waits=task.params["wait"])
        removed = [telling.removed(one.found.name, one.found.host, one.reason) for one in decided.remove]
        return Result(bool(whole), telling.of_set(wanted.claim, vms, removed), whole, warnings=warnings)
    tools.crew.bring(vms, wanted.template.wished)
    members = tools.crew.remove(going, wanted.claim, take_over=False) if going else []
    return _result(wanted, vms, decided, members, whole, warnings)


# -- deciding ------------------------------------------------------------------------------------------------------


def look(tools: Tools, wanted: Wanted, attachments: Sequence[Attachment]) -> There:
    """What there is of the names of the set, and who has its addresses."""
    numbers = range(1, wanted.count + 1)
    like = tools.way.names_like(f"{wanted.claim}-")
    names = {
        *(hostname(wanted.claim, number) for number in numbers),
        *(one for one in like if number_of(wanted.claim, one)),
    }
    machines = {name: machine for name, machine in tools.machines.find(sorted(names)).items() if machine is not None}
    counted = census(wanted.claim, tools.way.found(machines.values(), sorted(names)))
    ips = [ip for attachment in attachments for ip in attachment.nic.addresses]
    return There(machines, counted, tools.cabling.held(ips, names) if ips else {})


def decide(tools: Tools, wanted: Wanted, there: There, attachments: Sequence[Attachment]) -> SetPlan:
    """What becomes of the set. Hosts are only asked for when VMs come or go."""
    addresses = {one.nic.name: one.nic.addresses for one in attachments if one.nic.addresses}
    wish = Wish(wanted.claim, wanted.count, wanted.template.size, wanted.rules, addresses)
    settled = len(there.census.members) == wanted.count
    hosts: list[Host] = [] if settled else tools.way.hosts(attachments, wanted.template.pinned)
    return plan(wish, hosts, there.census, there.held)


def _kept(decided: SetPlan, there: There, wanted: Wanted, attachments: Sequence[Attachment]) -> list[Vm]:
    found = []
    for one in decided.keep:
        order = _order(one.name, one.host, decided, wanted, attachments)
        found.append(Vm(order, _machine(there, one), is_new=not one.known, is_begun=not one.known))
    return found


def _new(new: New, decided: SetPlan, wanted: Wanted, attachments: Sequence[Attachment]) -> Vm:
    return Vm(replace(_order(new.name, new.host, decided, wanted, attachments), cores=new.cores), is_new=True)


def _order(name: str, host: str, decided: SetPlan, wanted: Wanted, attachments: Sequence[Attachment]) -> Order:
    return Order(name, host, wanted.template, attachments, decided.addresses.get(name, {}), claim=wanted.claim)


def _finishing(vms: Sequence[Vm]) -> list[Step]:
    """Those that a killed run left unknown to MAAS."""
    return [telling.finishing(vm) for vm in vms if vm.is_begun]


def _resized(vms: Sequence[Vm], template: Template) -> list[str]:
    """What of the template those that exist do not have: nothing that exists is made anew."""
    told = {vm.name: differences(vm.machine, template) for vm in vms if vm.machine is not None}
    return [
        f"{name} has {', and '.join(texts)}. It stays so: a set does not change the size of its VMs."
        for name, texts in told.items()
        if texts
    ]


def _machine(there: There, found: Found) -> Machine | None:
    return there.machines.get(found.name) if found.known else None


# -- telling -------------------------------------------------------------------------------------------------------


def _result(
    wanted: Wanted, vms: Sequence[Vm], decided: SetPlan, members: Sequence[Member], whole: Plan, warnings: Sequence[str]
) -> Result:
    removed = [
        telling.removed(leaving.found.name, leaving.found.host, leaving.reason, member.failure)
        for leaving, member in zip(decided.remove, members, strict=False)
    ]
    failures: dict[str, Failure] = {vm.name: vm.failure for vm in vms if vm.failure}
    failures |= {member.name: member.failure for member in members if member.failure}
    return Result(
        changed=any(vm.changed for vm in vms) or any(member.changed for member in members),
        values=telling.of_set(wanted.claim, vms, removed),
        plan=whole,
        failure=several("VMs", failures, len(vms) + len(members)) if failures else None,
        warnings=warnings,
    )
