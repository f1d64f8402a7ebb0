# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""VMs that are made in LXD itself, and added to MAAS as machines that it switches there.

A VM is made in this order, each step only if it was not taken before: the instance, its volumes, the machine in MAAS,
the links of its interfaces. It is removed in this one: the machine, the volumes, the instance. So what a killed run
leaves hangs on an instance that says whose it is, and volumes alone are left by somebody else.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.parallel import each
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import PASSING, Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.client import Lxd
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.constraints import is_virtual
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.fields import MachineFields
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.spec import LifecycleStep, MachineOp
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.requests import Requests
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.surroundings import Surroundings
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.cordon import is_open
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.address import (
    Endpoint,
    known_endpoint,
)
from ansible_collections.metalshift.maas.plugins.module_utils._vms import instances
from ansible_collections.metalshift.maas.plugins.module_utils._vms.attachments import Attachment, unfit
from ansible_collections.metalshift.maas.plugins.module_utils._vms.instances import Bridges, Instances
from ansible_collections.metalshift.maas.plugins.module_utils._vms.pure import homes
from ansible_collections.metalshift.maas.plugins.module_utils._vms.pure.homes import Copy
from ansible_collections.metalshift.maas.plugins.module_utils._vms.pure.placement import HostResource, PlacementHost
from ansible_collections.metalshift.maas.plugins.module_utils._vms.pure.set_plan import FoundVm, refusal
from ansible_collections.metalshift.maas.plugins.module_utils._vms.size_difference import Limits
from ansible_collections.metalshift.maas.plugins.module_utils._vms.way import Made, NewVmSpec, Reattachment

# The project of LXD that MAAS means if it does not say.
PROJECT = "default"
ENLISTING = LifecycleStep(MachineOp.ENLIST, "MAAS does not know it", None, ())


@dataclass(frozen=True)
class LxdHost:
    """An LXD as a task names it, and what of it is said apart from its own options."""

    name: str
    lxd: Lxd
    # Where MAAS reaches it.
    power_address: str
    cpu_over_commit_ratio: float = 1.0
    memory_over_commit_ratio: float = 1.0

    @property
    def endpoints(self) -> frozenset[Endpoint | None]:
        """By which MAAS may know it."""
        return frozenset({known_endpoint(self.power_address), known_endpoint(self.lxd.connection.endpoint)} - {None})


class ByLxd:
    """Makes and removes VMs in LXD, and their machines in MAAS."""

    def __init__(
        self,
        maas: Client,
        machines: Machines,
        hosts: Sequence[LxdHost],
        link: Callable[[Machine, NewVmSpec], None],
    ) -> None:
        self._machines = machines
        self._requests = Requests(maas, machines)
        self._around = Surroundings(maas)
        self._hosts = {host.name: host for host in hosts}
        self._link = link
        self._asked_power = False
        self._known_bridges: dict[str, Bridges] = {}
        twice = [host.name for host in hosts if [one.name for one in hosts].count(host.name) > 1]
        if twice:
            raise invalid(f"lxd_hosts names {twice[0]} twice.", "Name each host once.")

    # -- reading --------------------------------------------------------------------------------------

    @cached_property
    def _answers(self) -> dict[str, Instances | Failure]:
        """What there is on each host, or why it does not say. What is wrong with the task is a failure."""
        found: dict[str, Instances | Failure] = {}
        for host, answer in each(list(self._hosts.values()), lambda host: instances.read(host.lxd)):
            if isinstance(answer, Failure):
                answer = replace(answer, message=f"{host.name}: {answer.message}", object=host.name)
                if answer.kind not in PASSING or len(self._hosts) == 1:
                    raise answer
            found[host.name] = answer
        return {name: found[name] for name in self._hosts}

    @property
    def _seen(self) -> dict[str, Instances]:
        return {name: answer for name, answer in self._answers.items() if isinstance(answer, Instances)}

    @property
    def away(self) -> dict[str, Failure]:
        return {name: answer for name, answer in self._answers.items() if isinstance(answer, Failure)}

    @cached_property
    def _nodes(self) -> dict[str, Machine | None]:
        """The machines of MAAS that they run on, as far as it has them under these names."""
        return self._machines.find(list(self._hosts))

    def hosts(self, attachments: Sequence[Attachment], pinned: bool) -> list[PlacementHost]:
        return [self._host(host, attachments) for host in self._hosts.values()]

    def _host(self, host: LxdHost, attachments: Sequence[Attachment]) -> PlacementHost:
        seen, node = self._answers[host.name], self._nodes[host.name]
        named = {noun: ((node or {}).get(noun) or {}).get("name", "") for noun in ("zone", "pool")}
        tags, schedulable = frozenset((node or {}).get("tag_names") or ()), node is None or is_open(node)
        if isinstance(seen, Failure):
            return PlacementHost(
                host.name, HostResource(0), HostResource(0), tags=tags, schedulable=schedulable, away=True, **named
            )
        placed = [one for one in attachments if not one.nic.parent]
        against = [] if seen.can_run_vms else ["its LXD has no virtual machines"]
        return PlacementHost(
            name=host.name,
            cores=replace(seen.cores, over_commit=host.cpu_over_commit_ratio),
            memory=replace(seen.memory, over_commit=host.memory_over_commit_ratio),
            storage=seen.storage,
            default_storage=seen.default_storage,
            tags=tags,
            schedulable=schedulable,
            unfit=(*against, *unfit(node, placed), *_without_network(node, attachments, seen)),
            pinned=seen.pinned,
            limits=seen.limits,
            **named,
        )

    def names_like(self, prefix: str) -> set[str]:
        # What is on a host that does not answer, MAAS alone can tell. It has no filter for that.
        machines = self._machines.listed() if self.away else []
        names = {str(machine["hostname"]) for machine in machines if is_virtual(machine)}
        return {name for name in (*names, *self._names) if name.startswith(prefix)}

    def lost(self, names: Iterable[str]) -> set[str]:
        missing = sorted(set(names) - self._names)
        machines = [one for one in self._machines.listed(hostname=missing) if is_virtual(one)] if missing else []
        self._around.read_power_parameters(machines)
        return {str(one["hostname"]) for one in machines if self._lost_on(one)}

    @property
    def _names(self) -> set[str]:
        return {name for seen in self._seen.values() for name in seen.claims}

    def found(self, machines: Iterable[Machine], names: Iterable[str]) -> list[FoundVm]:
        known = {str(machine["hostname"]): machine for machine in machines}
        return [one for name in {**known, **dict.fromkeys(names)} for one in self._found(name, known.get(name), known)]

    def _found(self, name: str, machine: Machine | None, known: Mapping[str, Machine]) -> list[FoundVm]:
        """The machine of a name, and the VMs of that name that are not its."""
        copies = self._copies(name)
        if machine is None:
            return [self._unknown(name, copy) for copy in copies]
        macs = _macs(machine)
        home = homes.home(name, macs, copies, lambda: self._switched_on(machine, known))
        pod = str((machine.get("pod") or {}).get("name", ""))
        own = next((one for one in copies if one.is_vm and one.host == home.host), None)
        # What has no MAC address to compare with may be the machine's own.
        others = [replace(one, half_made=one.half_made and bool(macs)) for one in copies if one is not own]
        unknown = [] if home.doubt else [self._unknown(name, copy) for copy in others]
        known_vm = FoundVm.of(machine, self._machines.me, host=home.host or pod, doubt=home.doubt)
        made_for, lost = own.claim if own else "", own is None and bool(self._lost_on(machine))
        return [replace(known_vm, made_for=made_for, lost=lost), *unknown]

    def _lost_on(self, machine: Machine) -> str:
        """The host on which MAAS switches a machine, if it answers and has no VM of that name."""
        host = self._power_host(machine)
        return host if host in self._seen and machine["hostname"] not in self._seen[host].vms else ""

    def _copies(self, name: str) -> list[Copy]:
        return [seen.copy(host, name) for host, seen in self._seen.items() if name in seen.claims]

    def _switched_on(self, machine: Machine, known: Mapping[str, Machine]) -> str:
        """The host of the task on which MAAS switches a machine by its own name."""
        if not self._asked_power:
            self._asked_power = True
            self._around.read_power_parameters(known.values())
        if not self._around.known_power_parameters(machine):
            pod = str((machine.get("pod") or {}).get("name", ""))
            return pod if pod in self._hosts else ""
        return self._power_host(machine)

    def _power_host(self, machine: Machine) -> str:
        """The host on which its power parameters have MAAS switch it; empty if this user may not read them."""
        power = self._around.known_power_parameters(machine)
        where = known_endpoint(str(power.get("power_address") or ""))
        fits = power.get("instance_name") == machine["hostname"]
        hosts = [
            host.name
            for host in self._hosts.values()
            if fits and where in host.endpoints and (power.get("project") or PROJECT) == host.lxd.project
        ]
        return hosts[0] if hosts else ""

    def _unknown(self, name: str, copy: Copy) -> FoundVm:
        """A VM that MAAS does not know: a killed run left it, or somebody made it for himself."""
        return FoundVm(name, copy.host, claim=copy.claim, known=False, half_made=copy.half_made, disks=copy.disks)

    # -- making ---------------------------------------------------------------------------------------

    def may_finish(self, host: str, name: str) -> None:
        vm = self._seen[host].vms.get(name)
        if vm is None or not instances.is_live(vm):
            return
        # Another run may have added it since it was looked for: then it is that one's commissioning that runs.
        macs = sorted(instances.macs_of(vm))
        if not macs or not self._machines.listed(mac_address=macs):
            raise Failure(
                "conflict",
                f"{name} on {host} runs, and MAAS does not know it: to add it, MAAS would restart it.",
                object=name,
                hint="Stop it in its LXD if nobody needs what it does, and run the task again; or remove it there.",
            )

    def make(self, order: NewVmSpec) -> Made:
        host = self._hosts[order.host]
        seen = self._seen[order.host]
        macs = instances.make(host.lxd, seen, self._devices(order, seen), order)
        try:
            machine = self._requests.send(ENLISTING, None, self._form(order, host, macs), "", order.name)
        except Failure as failure:
            faster = self._faster(order) if "hostname" in failure.fields else None
            if faster is None:
                raise
            return faster
        if machine is None:
            raise Failure("uncertain", f"{order.name} was added to MAAS, and is not there.", object=order.name)
        if not _macs(machine).intersection(macs):
            # The answer was lost, and the machine of that name is another one.
            return self._faster(order) or Made(str(machine["system_id"]), order.host)
        self._link(machine, order)
        return Made(str(machine["system_id"]), order.host)

    def _faster(self, order: NewVmSpec) -> Made | None:
        """The VM that another run of the same task has added to MAAS under the name meanwhile; ours goes then."""
        machine = next(iter(self._machines.listed(hostname=[order.name])), None)
        if machine is None or refusal(FoundVm.of(machine, self._machines.me), order.claim) is not None:
            return None
        host = self._switched_on_now(machine)
        if self._made_for(host, order.name) not in ("", order.claim):
            return None
        if host != order.host:
            self._clear_half_made(order.host, order.name)
        return Made(str(machine["system_id"]), host or order.host)

    def _made_for(self, host: str, name: str) -> str:
        if host not in self._seen:
            return ""
        return instances.refreshed(self._hosts[host].lxd, self._seen[host], name).claims.get(name, "")

    def _switched_on_now(self, machine: Machine) -> str:
        self._around.read_power_parameters([machine])
        self._asked_power = True
        return self._switched_on(machine, {})

    def _devices(self, order: NewVmSpec, seen: Instances) -> dict[str, dict[str, str]]:
        """The interfaces, each on an interface of the host or a network of LXD."""
        node = self._nodes[order.host]
        found: dict[str, dict[str, str]] = {}
        for number, attachment in enumerate(order.attachments or [instances.ANY]):
            parent = attachment.parent_on(node or {})
            name = str(parent["name"]) if parent else attachment.nic.parent or seen.default_network
            nic = seen.nic(self._bridge_of(order.host, name, _networks(attachment, parent)))
            found[attachment.nic.name] = {**nic, "boot.priority": "1"} if not number else nic
        return found

    def _bridge_of(self, host: str, interface: str, networks: Sequence[str]) -> str:
        """What VMs hang on where MAAS has this interface of a host.

        MAAS does not learn of a bridge that is made on a machine which it has deployed. The interface is its port then,
        on which no VM can hang, or the bridge has its address.
        """
        managed, is_bridge = self._seen[host].networks.get(interface, (False, False))
        if managed or is_bridge:
            return interface
        known = self._bridges(host)
        return known.of_ports.get(interface) or known.with_address_in(networks) or interface

    def _bridges(self, host: str) -> Bridges:
        if host not in self._known_bridges:
            self._known_bridges[host] = instances.bridges(self._hosts[host].lxd, self._seen[host])
        return self._known_bridges[host]

    def reattachment(self, host: str, name: str) -> Reattachment | None:
        seen = self._seen.get(host)
        vm = seen.vms.get(name) if seen else None
        if seen is None or vm is None or not instances.stuck_nics(vm):
            return None
        nics = instances.moved_nics(seen, vm, self._bridges(host))
        if not nics:
            return None
        return Reattachment(
            before={nic: str(vm["devices"][nic]["parent"]) for nic in nics},
            after={nic: device.get("parent") or device["network"] for nic, device in nics.items()},
            apply=partial(instances.attach, self._hosts[host].lxd, seen, name, nics),
        )

    def keeping(self, host: str, name: str) -> Callable[[], None] | None:
        seen = self._seen.get(host)
        if seen is None or not instances.is_leaving(seen.vms.get(name, {})):
            return None
        return partial(instances.mark_staying, self._hosts[host].lxd, seen, seen.vms[name])

    def _form(self, order: NewVmSpec, host: LxdHost, macs: Sequence[str]) -> dict[str, Any]:
        identity = host.lxd.connection.identity
        wished, node = order.template.wished, self._nodes[order.host] or {}
        return MachineFields(
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

    def limits(self, found: FoundVm) -> Limits | None:
        self._refuse_away(found)
        seen = self._seen.get(found.host)
        vm = seen.vms.get(found.name) if seen else None
        if seen is None or vm is None:
            return None
        return Limits(instances.given(vm), partial(instances.resize, self._hosts[found.host].lxd, seen, found.name))

    # -- removing -------------------------------------------------------------------------------------

    def _refuse_away(self, found: FoundVm) -> None:
        if found.host in self.away:
            raise replace(self.away[found.host], object=found.name)

    def may_remove(self, machine: Machine, found: FoundVm) -> None:
        self._refuse_away(found)
        if found.host not in self._hosts and not machine.get("pod"):
            hosts = ", ".join(self._hosts)
            raise Failure(
                "not_found",
                f"{found.name} cannot be removed: no LXD of this task has it ({hosts}).",
                object=found.name,
                hint="Add the host that it is on to lxd_hosts, or remove the machine with metalshift.maas.machine.",
            )

    def mark_leaving(self, found: FoundVm) -> None:
        seen = self._seen.get(found.host)
        if seen is not None and found.name in seen.vms:
            instances.mark_leaving(self._hosts[found.host].lxd, seen, found.name)

    def clear(self, found: FoundVm) -> bool:
        if found.host not in self._seen:
            return False
        if not found.known:
            return self._clear_half_made(found.host, found.name)
        return instances.remove(self._hosts[found.host].lxd, self._seen[found.host], found.name)

    def _clear_half_made(self, host: str, name: str) -> bool:
        """Remove what proves to be half made still: another run may have finished it meanwhile."""
        lxd = self._hosts[host].lxd
        seen = instances.refreshed(lxd, self._seen[host], name)
        if name not in seen.claims:
            return False
        copy = seen.copy(host, name)
        if not copy.half_made or (copy.macs and self._machines.listed(mac_address=sorted(copy.macs))):
            return False
        return instances.remove(lxd, seen, name, stops=instances.is_leaving(seen.vms.get(name, {})))


def _macs(machine: Machine) -> frozenset[str]:
    links = machine.get("interface_set") or ()
    return frozenset(str(link["mac_address"]).lower() for link in links if link.get("mac_address"))


def _networks(attachment: Attachment, parent: Mapping[str, Any] | None) -> list[str]:
    """The networks of MAAS on which an interface is to be, as CIDRs."""
    if attachment.subnet is not None:
        return [attachment.subnet.cidr]
    links = (parent or {}).get("links") or ()
    return [str(link["subnet"]["cidr"]) for link in links if (link.get("subnet") or {}).get("cidr")]


def _without_network(node: Machine | None, attachments: Sequence[Attachment], seen: Instances) -> list[str]:
    """What the host lacks that a VM is to hang on, in words."""
    parents = [one.nic.parent for one in attachments if one.nic.parent]
    lacking = [f"has no interface {parent}" for parent in parents if parent not in seen.networks]
    free = [one for one in attachments or [instances.ANY] if one.nic.is_free and not one.nic.parent]
    if free and not seen.default_network and all(one.parent_on(node or {}) is None for one in free):
        lacking.append("has no network for VMs")
    return lacking
