# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""VMs that MAAS composes on its VM hosts.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.constraints import is_virtual
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.errors import about
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.surroundings import PATHS
from ansible_collections.metalshift.maas.plugins.module_utils._maas.pure import sizes
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.hosts import (
    VMHostDetails,
    VMHosts,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure import discovery
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.capacity import (
    is_too_new,
    missing,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.survey import (
    SurveyedVMHost,
    VMHostFilter,
    VMHostSurvey,
)
from ansible_collections.metalshift.maas.plugins.module_utils._vms.attachments import Attachment, unfit
from ansible_collections.metalshift.maas.plugins.module_utils._vms.pure.placement import PlacementHost
from ansible_collections.metalshift.maas.plugins.module_utils._vms.pure.set_plan import FoundVm
from ansible_collections.metalshift.maas.plugins.module_utils._vms.size_difference import Limits
from ansible_collections.metalshift.maas.plugins.module_utils._vms.template import AUTO, DiskTemplate
from ansible_collections.metalshift.maas.plugins.module_utils._vms.way import Made, NewVmSpec, Reattachment


class ByMaas:
    """Composes and deletes VMs; MAAS does the same in LXD."""

    def __init__(self, maas: Client, machines: Machines, slow: Client) -> None:
        """`slow` waits longer for an answer."""
        self._maas = maas
        self._slow = slow
        self._machines = machines
        self._hosts = VMHosts(maas)
        self._ids: dict[str, dict[str, int]] = {}

    # -- reading --------------------------------------------------------------------------------------

    @cached_property
    def seen(self) -> list[SurveyedVMHost]:
        """The VM hosts of LXD, and the machines under them."""
        found = VMHostSurvey(self._hosts, self._machines).see(VMHostFilter(), ())
        return [one for one in found if one.known.host.get("type") == "lxd"]

    @cached_property
    def notes(self) -> list[dict[str, Any]]:
        return self._hosts.notes()

    @property
    def away(self) -> Mapping[str, Failure]:
        """MAAS knows what they have."""
        return {}

    def hosts(self, attachments: Sequence[Attachment], pinned: bool) -> list[PlacementHost]:
        return [
            self._with_pins(_host(one, attachments), one.known.host) if pinned else _host(one, attachments)
            for one in self.seen
        ]

    def names_like(self, prefix: str) -> set[str]:
        return {str(note["identifier"]) for note in self.notes if str(note["identifier"]).startswith(prefix)}

    def lost(self, names: Iterable[str]) -> set[str]:
        """MAAS notes its VMs itself."""
        return set()

    def found(self, machines: Iterable[Machine], names: Iterable[str]) -> list[FoundVm]:
        return [FoundVm.of(machine, self._machines.me) for machine in machines]

    def _with_pins(self, host: PlacementHost, json: Mapping[str, Any]) -> PlacementHost:
        own = [note for note in self.notes if note.get("bmc_id") == json["id"]]
        return replace(host, pinned=frozenset(core for note in own for core in note.get("pinned_cores") or ()))

    # -- making ---------------------------------------------------------------------------------------

    def may_finish(self, host: str, name: str) -> None:
        """MAAS knows all that it composes."""

    def make(self, order: NewVmSpec) -> Made:
        seen = next(one for one in self.seen if one.known.host["name"] == order.host)
        try:
            answer = self._slow.post(
                f"vm-hosts/{seen.known.host['id']}/",
                self._form(order, seen),
                op="compose",
                settled=lambda: self._composed(order),
            )
        except Failure as failure:
            # Another run of the same task may have been faster.
            faster = self._composed(order) if "hostname" in failure.fields else None
            if faster is None:
                raise self._uncomposed(failure, order, seen.known) from failure
            return Made(str(faster["system_id"]), order.host)
        return Made(str(answer["system_id"]), order.host)

    def _uncomposed(self, failure: Failure, order: NewVmSpec, host: VMHostDetails) -> Failure:
        """What LXD did not want, in our words; MAAS hands its words on in a 500 or 503."""
        as_maas_says = about(failure, order.name, f"composed on {order.host}")
        if failure.status is None or failure.status < 500:
            return as_maas_says
        try:
            known = self._hosts.known(host.host)
        except Failure:
            return as_maas_says
        told = discovery.uncomposed(
            order.name,
            order.host,
            failure.reason,
            address=str(known.endpoint or known.parameters.get("power_address")),
            project=known.project,
            fingerprint=known.fingerprint,
        )
        return told or as_maas_says

    def _composed(self, order: NewVmSpec) -> Machine | None:
        found = self._machines.listed(hostname=[order.name])
        return next((machine for machine in found if is_virtual(machine)), None)

    def _form(self, order: NewVmSpec, seen: SurveyedVMHost) -> dict[str, Any]:
        template, wished = order.template, order.template.wished
        size = template.size
        return {
            "hostname": order.name,
            "cores": size.cores,
            "pinned_cores": list(order.cores) or None,
            "memory": sizes.mebibytes(size.memory),
            "hugepages_backed": True if size.hugepages else None,
            "storage": ",".join(_storage(disk, number) for number, disk in enumerate(template.all_disks)),
            "interfaces": _interfaces(order, seen.node),
            # MAAS would put it into its default zone, wherever the host is.
            "zone": self._id("zone", wished.zone) if wished.zone else seen.known.host["zone"]["id"],
            "pool": self._id("pool", wished.pool),
            "domain": self._id("domain", wished.domain),
        }

    def _id(self, noun: str, name: str | None) -> int | None:
        """Its number; MAAS takes no name there."""
        if name is None:
            return None
        if noun not in self._ids:
            self._ids[noun] = {one["name"]: one["id"] for one in self._maas.get(PATHS[noun])}
        return self._ids[noun].get(name)

    def reattachment(self, host: str, name: str) -> Reattachment | None:
        """MAAS changes no VM."""
        return None

    def keeping(self, host: str, name: str) -> Callable[[], None] | None:
        """MAAS marks no VM."""
        return None

    def limits(self, found: FoundVm) -> Limits | None:
        """MAAS changes no VM."""
        return None

    # -- removing -------------------------------------------------------------------------------------

    def may_remove(self, machine: Machine, found: FoundVm) -> None:
        if is_virtual(machine) and not machine.get("pod"):
            raise Failure(
                "conflict",
                f"{found.name} cannot be removed by MAAS alone: it is no VM of a VM host, and would stay in LXD.",
                object=found.name,
                hint="Set via: lxd, and lxd_hosts to where it is.",
            )

    def mark_leaving(self, found: FoundVm) -> None:
        """MAAS forgets a machine when its VM is gone."""

    def clear(self, found: FoundVm) -> bool:
        return False


def _host(seen: SurveyedVMHost, attachments: Sequence[Attachment]) -> PlacementHost:
    host = seen.known.host
    against = [f"LXD {host['version']} is too new for this MAAS (via: lxd works)"] if is_too_new(host) else []
    return PlacementHost.of(
        host,
        schedulable=seen.is_open is not False,
        unfit=[*missing(host), *against, *unfit(seen.node, attachments)],
    )


def _storage(disk: DiskTemplate, number: int) -> str:
    """As MAAS takes it: the storage pool is the tag that is called like one."""
    tags = ",".join([*filter(None, [disk.pool]), *disk.tags])
    return f"{f'disk{number}' if number else 'root'}:{sizes.gigabytes(disk.size)}{f'({tags})' if tags else ''}"


def _interfaces(order: NewVmSpec, node: Mapping[str, Any] | None) -> str | None:
    """As MAAS takes them; None for one on whatever network of the host has DHCP, which is what it makes unasked."""
    if all(one.nic.is_free and one.nic.ip == AUTO for one in order.attachments) and len(order.attachments) < 2:
        return None
    return ";".join(one.constraint(order.ip(one), node) for one in order.attachments)
