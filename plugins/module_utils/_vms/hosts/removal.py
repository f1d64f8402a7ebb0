# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A VM host that shall not be there, and what becomes of the VMs on it.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.contract import Outcome
from ansible_collections.metalshift.maas.plugins.module_utils._core.parallel import each
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, several
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan, Step
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts import cordon
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.hosts import VMHostDetails, VMHosts
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.lookup import VMHostIdentity, find
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure import guests as vm_hosts_guests
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.fields import VMHostFields, fields_of
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.guests import Guest
from ansible_collections.metalshift.maas.plugins.module_utils._vms.hosts.apply import guests_of
from ansible_collections.metalshift.maas.plugins.module_utils._vms.hosts.engine import hosts_of

GONE = "This MAAS has no VM hosts any more, and so not this one either."
SHOWN = ("name", "power_address", "project", "zone", "pool", "tags")


@dataclass(frozen=True)
class HostRemovalState:
    """The VM host that goes, if MAAS has it, and its VMs."""

    known: VMHostDetails | None
    guests: Sequence[Guest] = ()
    warnings: Sequence[str] = ()


class VMHostRemovalEngine:
    """A VM host that is not to be there."""

    def __init__(self, task: Task) -> None:
        self.task, self.hosts = task, hosts_of(task)

    def read(self) -> HostRemovalState:
        try:
            return HostRemovalState(*look_for(self.task, self.hosts))
        except Failure as failure:
            if failure.kind != "unsupported":
                raise
            return HostRemovalState(None, warnings=[GONE])

    def plan(self, current: HostRemovalState) -> Plan:
        return plan(current.known, current.guests, self.task.params["vms"])

    def predict(self, current: HostRemovalState, plan: Plan) -> HostRemovalState:
        return current

    def apply(self, current: HostRemovalState, plan: Plan) -> HostRemovalState:
        if current.known is not None:
            carry_out(self.task, self.hosts, current.known, current.guests)
        return current

    def result(self, current: HostRemovalState) -> Outcome:
        return Outcome({"vm_host": {}}, current.warnings)


def look_for(task: Task, hosts: VMHosts) -> tuple[VMHostDetails | None, list[Guest]]:
    """The VM host that shall go, and its VMs; the Failure if it cannot go."""
    params, machines = task.params, Machines(task.maas)
    fields = VMHostFields.from_params(params)
    # Without its machine, nobody can say which VM host was meant: none is there by that description.
    under = machines.find([params["machine"]])[params["machine"]] if params["machine"] else None
    if params["machine"] and under is None and fields.name is None and fields.endpoint is None:
        return None, []
    system_id = str(under["system_id"]) if under else None
    known = find(hosts, machines, VMHostIdentity(fields.name, fields.endpoint, fields.project, system_id)).meant
    if known is None:
        return None, []
    refuse_in_cluster(task, known)
    guests = guests_of(task, hosts, known.host)
    vm_hosts_guests.refuse_removal(known.label, known.project, guests, params["vms"])
    return known, [guest for guest in guests if guest.machine]


def refuse_in_cluster(task: Task, known: VMHostDetails) -> None:
    """With one member MAAS removes a whole LXD cluster and all the VMs on it, and it shows nowhere who is a member."""
    for cluster in task.maas.get("vm-clusters/"):
        alike = cluster.get("project") == known.project and cluster.get("version") == known.host.get("version")
        if alike and int(cluster.get("vmhost_count") or 0) > 1:
            raise Failure(
                "conflict",
                f"{known.label} cannot be removed: it may be a member of the LXD cluster {cluster.get('name')}, and "
                "MAAS would remove the others with it.",
                object=known.label,
                hint="Remove it in MAAS itself.",
            )


def plan(known: VMHostDetails | None, guests: Sequence[Guest], vms: str | None) -> Plan:
    if known is None:
        return Plan()
    fields: Mapping[str, Any] = fields_of(known.host, known.parameters)
    steps = [
        Step("delete", f"VM {guest.name}", before={"owner": guest.shown["owner"], "claim": guest.shown["claim"]})
        if vms == "delete"
        else Step("forget", f"VM {guest.name}", "it stays in LXD", before={"system_id": guest.shown["system_id"]})
        for guest in guests
    ]
    return Plan([*steps, Step("delete", known.label, before={name: fields[name] for name in SHOWN})])


def carry_out(task: Task, hosts: VMHosts, known: VMHostDetails, guests: Sequence[Guest]) -> None:
    """The VMs first, one by one: MAAS's own way of doing both says nothing of VMs that it could not delete."""
    if task.params["vms"] == "delete":
        _delete(task, hosts, known, guests)
    hosts.remove(known.host)
    # The machine that MAAS has deployed stays, and must not be closed to VMs when it becomes a host again.
    node = hosts.node(known.system_id)
    if node is not None and not cordon.in_session(node) and not cordon.is_open(node):
        cordon.set_open(task.maas, known.system_id, True)


def _delete(task: Task, hosts: VMHosts, known: VMHostDetails, guests: Sequence[Guest]) -> None:
    machines = [guest.machine["system_id"] for guest in guests if guest.machine]
    failures = {}
    for system_id, answer in each(machines, hosts.remove_machine):
        task.trace_requests()
        if isinstance(answer, Failure):
            failures[system_id] = answer
    if failures:
        failure = several("VMs", failures, len(machines))
        raise Failure(
            failure.kind,
            f"{known.label} stays: {failure.message}",
            object=known.label,
            reason=failure.reason,
            hint="When its LXD is gone for good, vms: keep makes MAAS forget them.",
            status=failure.status,
        )
