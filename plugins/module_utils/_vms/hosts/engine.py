# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A VM host that shall be there: what is seen, what is decided, and what is done about it.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.contract import Outcome
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._core.wait import Patience
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines, lacking
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.surroundings import Surroundings
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts import lookup
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.hosts import VMHosts, patient
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.lookup import Neighbours
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.address import PROJECT
from ansible_collections.metalshift.maas.plugins.module_utils._vms.hosts.apply import Undone, Work, sight_of
from ansible_collections.metalshift.maas.plugins.module_utils._vms.hosts.lxd_state import Asking, LxdView, explained
from ansible_collections.metalshift.maas.plugins.module_utils._vms.hosts.plan import (
    VMHostPlan,
    VMHostSpec,
    VMHostState,
    begun,
    decide,
    foreseen,
)

DEPLOYED = "Deployed"


@dataclass(frozen=True)
class HostProgress:
    """A VM host as it was seen, what is decided, and how results show it."""

    seen: VMHostState
    decided: VMHostPlan
    shown: Mapping[str, Any]
    warnings: Sequence[str]
    failure: Failure | None = None


class VMHostEngine:
    """A VM host that is to be there."""

    def __init__(self, task: Task) -> None:
        self.task, self.wanted, self.hosts = task, VMHostSpec.from_params(task.params), hosts_of(task)
        self.patience = Patience.of(task)
        self.asking = Asking(task, task.params["server_cert"], self.wanted.token)

    def read(self) -> HostProgress:
        seen = look(self.task, self.hosts, self.wanted, self.asking)
        decided = decide(seen, self.wanted, self.task.check)
        warnings = [*seen.warnings, *unknown_names(self.task, decided)]
        if decided.registers and decided.fields.power_address is None:
            warnings.append(f"MAAS has no {decided.label} yet.")
        return HostProgress(seen, decided, seen.told, warnings)

    def plan(self, current: HostProgress) -> Plan:
        return current.decided.plan

    def predict(self, current: HostProgress, plan: Plan) -> HostProgress:
        return replace(current, shown=foreseen(current.seen, current.decided))

    def apply(self, current: HostProgress, plan: Plan) -> HostProgress:
        if not plan:
            return current
        seen, decided = current.seen, current.decided
        mode = decided.fields.default_macvlan_mode
        self.task.wrote_file = bool(decided.files)
        try:
            after = Work(self.task, self.hosts, self.wanted, self.patience).carry_out(seen, decided)
        except Undone as undone:
            return replace(current, shown={}, failure=explained(undone.failure, seen.lxd, mode))
        except Failure as failure:
            raise explained(failure, seen.lxd, mode) from failure
        after = seen_by_lxd(after, self.wanted, self.asking)
        more = taken_over(after) if decided.registers else []
        return replace(current, shown=after.told, warnings=[*current.warnings, *more])

    def result(self, current: HostProgress) -> Outcome:
        values = {"vm_host": current.shown}
        if current.failure:
            # What was registered was taken back; the files of a certificate stay.
            return Outcome(values, failure=current.failure, undone=not current.decided.files)
        return Outcome(values, [*current.warnings, *(current.shown["obstacles"] or [])])


def hosts_of(task: Task) -> VMHosts:
    return VMHosts(task.maas, task.joined(patient(task.maas)))


# -- looking ---------------------------------------------------------------------------------------------------------


def look(task: Task, hosts: VMHosts, wish: VMHostSpec, asking: Asking) -> VMHostState:
    """Read all that the decision needs."""
    machines = Machines(task.maas)
    under, warnings = machine_under(machines, wish.machine, task.check)
    identity = wish.identity(under)
    near = lookup.find(hosts, machines, identity)
    if near.meant is None:
        if under and under.get("status_name") != DEPLOYED:
            said = (
                f"{under['hostname']} is {under.get('status_name')}, and MAAS would call it Deployed once LXD answers"
            )
            if not task.check:
                raise Failure("conflict", f"{said}.", object=str(under["hostname"]), hint="Deploy it first.")
            warnings = [*warnings, f"{said}."]
        sight = seen_by_lxd(VMHostState(identity, None, under, warnings=warnings), wish, asking)
        if not wish.imports:
            refuse_existing_vms(hosts, near, wish.fields.project or PROJECT, sight.lxd)
        return sight
    return seen_by_lxd(replace(sight_of(task, hosts, identity, near.meant), warnings=warnings), wish, asking)


def seen_by_lxd(sight: VMHostState, wish: VMHostSpec, asking: Asking) -> VMHostState:
    """The same, with what its LXD says itself to the certificate that MAAS has or is to have."""
    known = sight.known
    if known is not None:
        return replace(sight, lxd=asking.view(known.endpoint, wish.given.pair or known.pair, known.project))
    fields = begun(wish.fields, sight.node)
    view = asking.view(fields.endpoint, wish.given.pair, fields.project or PROJECT)
    # With these it will be trusted.
    comes = bool(wish.password or wish.token) and view is not None and not view.is_trusted
    return replace(sight, lxd=None if comes else view)


def machine_under(machines: Machines, name: str | None, check: bool) -> tuple[Machine | None, list[str]]:
    """The machine that a task names as the one under the VM host."""
    found = machines.find([name])[name] if name else None
    if found is None and name:
        if not check:
            said = f"MAAS does not know the machine {name}."
            raise Failure("not_found", said, object=name, hint="Name it by hostname, FQDN, system_id or MAC.")
        return None, [lacking(name)]
    return found, []


def refuse_existing_vms(hosts: VMHosts, near: Neighbours, project: str, lxd: LxdView | None) -> None:
    """Registering makes machines of a project's VMs and commissions them, which restarts them."""
    names = {*_noted(hosts, near, project), *(lxd.vms if lxd else ())}
    if names:
        raise Failure(
            "conflict",
            f"The project {project} has VMs already ({', '.join(sorted(names))}), and MAAS would commission them, "
            "which restarts them.",
            object=f"project {project}",
            hint="Choose a project of its own, or set existing_vms: import to have them taken over.",
        )


def _noted(hosts: VMHosts, near: Neighbours, project: str) -> Sequence[str]:
    """The VMs of a project as far as MAAS knows: if the same LXD is registered already, with another project."""
    ids = {each.host["id"] for each in near.beside}
    notes = hosts.notes() if ids else []
    return [
        str(note.get("identifier"))
        for note in notes
        if note.get("bmc_id") in ids and note.get("project") == project and note.get("machine_id") is None
    ]


# -- telling ---------------------------------------------------------------------------------------------------------


def taken_over(sight: VMHostState) -> list[str]:
    """What to say of VMs that a registration has made machines of."""
    names = [guest.name for guest in sight.guests if guest.machine]
    return [f"MAAS took over VMs, and restarts them to commission them: {', '.join(names)}."] if names else []


def unknown_names(task: Task, decision: VMHostPlan) -> list[str]:
    """What a task names that MAAS does not have: a Failure, in check mode warnings."""
    around = Surroundings(task.maas)
    asked = decision.asked
    named = [(noun, asked[noun]) for noun in ("zone", "pool") if asked.get(noun)]
    unknown = [f"{noun} {name}" for noun, name in named if name not in around.names(noun)]
    if unknown and not task.check:
        raise Failure(
            "not_found",
            f"{decision.label} cannot be kept as wished: MAAS has no {' and no '.join(unknown)}.",
            object=decision.label,
            hint="Check the spelling, or make it first.",
        )
    return [f"MAAS has no {each} yet." for each in unknown]
