# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""VMs that are made in LXD itself, and added to MAAS as machines that it switches there.

A VM is made in this order, each step only if it was not taken before: its volumes, the instance, the machine in MAAS,
the links of its interfaces. It is removed in the opposite one.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.client import Lxd
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machine_fields import Wished
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines import Machines
from ansible_collections.metalshift.maas.plugins.module_utils._maas.naming import Machine
from ansible_collections.metalshift.maas.plugins.module_utils._maas.requests import Requests
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts_closing import is_open
from ansible_collections.metalshift.maas.plugins.module_utils._maas.wishes import Op, Step
from ansible_collections.metalshift.maas.plugins.module_utils._parallel import each
from ansible_collections.metalshift.maas.plugins.module_utils._placement import Host
from ansible_collections.metalshift.maas.plugins.module_utils._vm_set_plan import Found
from ansible_collections.metalshift.maas.plugins.module_utils._vms import instances
from ansible_collections.metalshift.maas.plugins.module_utils._vms.attachments import Attachment, unfit
from ansible_collections.metalshift.maas.plugins.module_utils._vms.instances import Instances
from ansible_collections.metalshift.maas.plugins.module_utils._vms.resizing import Limits
from ansible_collections.metalshift.maas.plugins.module_utils._vms.ways import Order

ENLISTING = Step(Op.ENLIST, "MAAS does not know it", None, ())


@dataclass(frozen=True)
class LxdHost:
    """An LXD as a task names it, and what of it is said apart from its own options."""

    name: str
    lxd: Lxd
    # Where MAAS reaches it.
    power_address: str
    cpu_over_commit_ratio: float = 1.0
    memory_over_commit_ratio: float = 1.0


class ByLxd:
    """Makes and removes VMs in LXD, and their machines in MAAS."""

    def __init__(
        self,
        maas: Client,
        machines: Machines,
        hosts: Sequence[LxdHost],
        link: Callable[[Machine, Order], None],
    ) -> None:
        self._machines = machines
        self._requests = Requests(maas, machines)
        self._hosts = {host.name: host for host in hosts}
        self._link = link
        twice = [host.name for host in hosts if [one.name for one in hosts].count(host.name) > 1]
        if twice:
            raise invalid(f"lxd_hosts names {twice[0]} twice.", "Name each host once.")

    # -- reading --------------------------------------------------------------------------------------

    @cached_property
    def _seen(self) -> dict[str, Instances]:
        """What there is on each host. One that does not answer is a failure: its VMs would seem to be gone."""
        found: dict[str, Instances] = {}
        for host, answer in each(list(self._hosts.values()), lambda host: instances.read(host.lxd)):
            if isinstance(answer, Failure):
                raise replace(answer, message=f"{host.name}: {answer.message}", object=host.name)
            found[host.name] = answer
        return found

    @cached_property
    def _nodes(self) -> dict[str, Machine | None]:
        """The machines of MAAS that they run on, as far as it has them under these names."""
        return self._machines.find(list(self._hosts))

    def hosts(self, attachments: Sequence[Attachment], pinned: bool) -> list[Host]:
        return [self._host(host, attachments) for host in self._hosts.values()]

    def _host(self, host: LxdHost, attachments: Sequence[Attachment]) -> Host:
        seen, node = self._seen[host.name], self._nodes[host.name]
        named = {noun: ((node or {}).get(noun) or {}).get("name", "") for noun in ("zone", "pool")}
        placed = [one for one in attachments if not one.nic.parent]
        against = [] if seen.can_run_vms else ["its LXD has no virtual machines"]
        return Host(
            name=host.name,
            cores=replace(seen.cores, over_commit=host.cpu_over_commit_ratio),
            memory=replace(seen.memory, over_commit=host.memory_over_commit_ratio),
            storage=seen.storage,
            default_storage=seen.default_storage,
            tags=frozenset((node or {}).get("tag_names") or ()),
            schedulable=node is None or is_open(node),
            unfit=(*against, *unfit(node, placed), *_without_network(node, attachments, seen)),
            pinned=seen.pinned,
            **named,
        )

    def names_like(self, prefix: str) -> set[str]:
        return {name for seen in self._seen.values() for name in seen.claims if name.startswith(prefix)}

    def found(self, machines: Iterable[Machine], names: Iterable[str]) -> list[Found]:
        where: dict[str, list[str]] = {}
        for host, seen in self._seen.items():
            for name in names:
                if name in seen.claims:
                    where.setdefault(name, []).append(host)
        known = {str(machine["hostname"]): machine for machine in machines}
        found = []
        for name, machine in known.items():
            hosts = where.get(name) or [(machine.get("pod") or {}).get("name", "")]
            found.append(Found.of(machine, self._machines.me, host=hosts[0]))
            found += [self._unknown(name, host) for host in hosts[1:]]
        return [*found, *(self._unknown(name, host) for name in where if name not in known for host in where[name])]

    def _unknown(self, name: str, host: str) -> Found:
        """A VM that MAAS does not know: a killed run left it, or somebody made it for himself."""
        return Found(name, host, claim=self._seen[host].claims.get(name, ""), known=False)

    # -- making ---------------------------------------------------------------------------------------

    def make(self, order: Order) -> str:
        host = self._hosts[order.host]
        seen = self._seen[order.host]
        macs = instances.make(host.lxd, seen, self._devices(order, seen), order)
        machine = self._requests.send(ENLISTING, None, self._form(order, host, macs), "", order.name)
        if machine is None:
            raise Failure("uncertain", f"{order.name} was added to MAAS, and is not there.", object=order.name)
        self._link(machine, order)
        return str(machine["system_id"])

    def _devices(self, order: Order, seen: Instances) -> dict[str, dict[str, str]]:
        """The interfaces, each on an interface of the host or a network of LXD."""
        node = self._nodes[order.host]
        found: dict[str, dict[str, str]] = {}
        for number, attachment in enumerate(order.attachments or [instances.ANY]):
            parent = attachment.parent_on(node or {})
            name = str(parent["name"]) if parent else attachment.nic.parent or seen.default_network
            found[attachment.nic.name] = {**seen.nic(name), "boot.priority": "1"} if not number else seen.nic(name)
        return found

    def _form(self, order: Order, host: LxdHost, macs: Sequence[str]) -> dict[str, Any]:
        identity = host.lxd.connection.identity
        wished, node = order.template.wished, self._nodes[order.host] or {}
        return Wished(
            hostname=order.name,
            power_type="lxd",
            architecture=self._seen[order.host].architecture,
            mac_addresses=macs,
            zone=wished.zone or (node.get("zone") or {}).get("name"),
            pool=wished.pool or (node.get("pool") or {}).get("name"),
            domain=wished.domain,
            power_parameters={
                "power_address": host.power_address,
                "project": host.lxd.project,
                "instance_name": order.name,
                "certificate": identity.chain if identity else "",
                "key": identity.key if identity else "",
            },
        ).enlist_form()

    # -- resizing -------------------------------------------------------------------------------------

    def limits(self, found: Found) -> Limits | None:
        seen = self._seen.get(found.host)
        vm = seen.vms.get(found.name) if seen else None
        if seen is None or vm is None:
            return None
        return Limits(instances.given(vm), partial(instances.resize, self._hosts[found.host].lxd, seen, found.name))

    # -- removing -------------------------------------------------------------------------------------

    def may_remove(self, machine: Machine, name: str) -> None:
        here = any(name in seen.vms for seen in self._seen.values())
        if not here and not machine.get("pod"):
            hosts = ", ".join(self._hosts)
            raise Failure(
                "not_found",
                f"{name} cannot be removed: no LXD of this task has it ({hosts}).",
                object=name,
                hint="Add the host that it is on to lxd_hosts, or remove the machine with metalshift.maas.machine.",
            )

    def clear(self, found: Found) -> bool:
        host = self._hosts.get(found.host)
        return host is not None and instances.remove(host.lxd, self._seen[host.name], found.name)


def _without_network(node: Machine | None, attachments: Sequence[Attachment], seen: Instances) -> list[str]:
    """What the host lacks that a VM is to hang on, in words."""
    parents = [one.nic.parent for one in attachments if one.nic.parent]
    lacking = [f"has no interface {parent}" for parent in parents if parent not in seen.networks]
    free = [one for one in attachments or [instances.ANY] if one.nic.is_free and not one.nic.parent]
    if free and not seen.default_network and all(one.parent_on(node or {}) is None for one in free):
        lacking.append("has no network for VMs")
    return lacking
