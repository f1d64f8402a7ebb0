# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many VM hosts at once: which ones, what they have room for, and the VMs on them.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.parallel import each
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.cordon import is_open
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.hosts import (
    Host,
    VMHostDetails,
    VMHosts,
    system_id_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.capacity import is_discovered, rooms
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.guests import Guest, guests


@dataclass(frozen=True)
class SurveyedVMHost:
    """One VM host, the machine under it, and what else was asked for."""

    known: VMHostDetails
    node: Machine | None
    guests: Sequence[Guest] | None = None

    @property
    def is_open(self) -> bool | None:
        return is_open(self.node) if self.node else None


@dataclass(frozen=True)
class VMHostFilter:
    """Which VM hosts are asked for; None and empty stand for any."""

    names: Sequence[str] | None = None
    system_ids: Iterable[str] | None = None
    zone: Sequence[str] = ()
    pool: Sequence[str] = ()
    tags: Sequence[str] = ()
    schedulable: bool | None = None
    ids: Iterable[int] | None = None

    def fits(self, host: Mapping[str, Any]) -> bool:
        """Whether a VM host is one of them, as far as the host alone tells."""
        return (
            (self.names is None or host["name"] in self.names)
            and (self.system_ids is None or system_id_of(host) in self.system_ids)
            and (self.ids is None or host["id"] in self.ids)
            and all((host.get(noun) or {}).get("name") in chosen for noun, chosen in self._places)
            and set(self.tags) <= set(host.get("tags") or ())
        )

    @property
    def _places(self) -> list[tuple[str, Sequence[str]]]:
        return [(noun, chosen) for noun, chosen in (("zone", self.zone), ("pool", self.pool)) if chosen]


@dataclass
class VMHostSurvey:
    """Reads each thing once for all hosts, the VMs of each host by themselves."""

    hosts: VMHosts
    machines: Machines
    # The claim that VMs were filtered for, by system_id: MAAS shows it only where it was also annotated.
    claimed: dict[str, str] = field(default_factory=dict)

    def hosts_with_claim(self, claim: str) -> set[int]:
        """The VM hosts that have VMs of a claim."""
        found = self.machines.of_claim(claim)
        self.claimed = dict.fromkeys(found, claim)
        pods = (machine.get("pod") or {} for machine in found.values())
        return {int(pod["id"]) for pod in pods if pod.get("id") is not None}

    def see(self, wanted: VMHostFilter, gather: Sequence[str]) -> list[SurveyedVMHost]:
        """The VM hosts that are asked for, by name."""
        chosen = [host for host in self.hosts.listed() if wanted.fits(host)]
        nodes = self._nodes(chosen)
        seen = [SurveyedVMHost(VMHostDetails(host, {}), nodes.get(system_id_of(host))) for host in chosen]
        seen = [one for one in seen if wanted.schedulable in (None, one.is_open)]
        if "parameters" in gather:
            seen = self._with_parameters(seen)
        if "virtual_machines" in gather:
            seen = self._with_guests(seen)
        return sorted(seen, key=lambda one: (str(one.known.host["name"]), int(one.known.host["id"])))

    def _nodes(self, hosts: Sequence[Host]) -> dict[str, Machine]:
        ids = {system_id_of(host) for host in hosts} - {""}
        nodes = self.machines.read(ids) if ids else {}
        others = {system_id: self.hosts.node(system_id) for system_id in ids - set(nodes)}
        return {**nodes, **{system_id: node for system_id, node in others.items() if node is not None}}

    def _with_parameters(self, seen: Sequence[SurveyedVMHost]) -> list[SurveyedVMHost]:
        try:
            known = self.hosts.all_known([one.known.host for one in seen])
        except Failure as failure:
            if failure.kind != "forbidden":
                raise
            raise Failure(
                "forbidden",
                "The addresses of VM hosts cannot be gathered: this key may not read them.",
                hint="Use the key of an administrator, or leave parameters out of gather.",
                status=failure.status,
            ) from failure
        by_id = {one.host["id"]: one for one in known}
        return [
            SurveyedVMHost(by_id[one.known.host["id"]], one.node, one.guests)
            for one in seen
            if one.known.host["id"] in by_id
        ]

    def _with_guests(self, seen: Sequence[SurveyedVMHost]) -> list[SurveyedVMHost]:
        notes = self.hosts.notes() if seen else []
        found = []
        for one, machines in each(seen, lambda one: self.machines.listed(pod=one.known.host["name"])):
            if isinstance(machines, Failure):
                raise machines
            found.append(SurveyedVMHost(one.known, one.node, guests(one.known.host, machines, notes, self.claimed)))
        return found


def summary(seen: Sequence[SurveyedVMHost]) -> dict[str, Any]:
    """How many there are, and what those together have where new VMs may be placed."""
    places = [rooms(one.known.host) for one in seen if one.is_open is not False]
    return {
        "vm_hosts": len(seen),
        "schedulable": sum(one.is_open is not False for one in seen),
        "discovered": sum(is_discovered(one.known.host) for one in seen),
        **{
            name: {
                key: sum(getattr(place[name], key) for place in places)
                for key in ("total", "used", "limit", "available")
            }
            for name in ("cores", "memory", "local_storage")
        },
    }
