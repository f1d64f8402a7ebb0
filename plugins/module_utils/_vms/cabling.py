# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The addresses of VMs: who has which, and the links that give them to interfaces.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.linking import InterfacePlan, Linking
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.pure import links
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.pure.occupancy import (
    Holder,
    Occupancy,
    Use,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.survey import AddressSurvey
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine
from ansible_collections.metalshift.maas.plugins.module_utils._vms.attachments import Attachment
from ansible_collections.metalshift.maas.plugins.module_utils._vms.template import AUTO, DHCP
from ansible_collections.metalshift.maas.plugins.module_utils._vms.way import NewVmSpec

MODES: Mapping[str, str] = {AUTO: links.AUTO, DHCP: links.DHCP}


class Cabling:
    """Looks who has which address, once, and links interfaces."""

    def __init__(self, maas: Client, machines: Machines, survey: AddressSurvey) -> None:
        self._machines = machines
        self._survey = survey
        self._linking = Linking(maas, survey)
        self._occupancy: Occupancy | None = None

    def look(self, ips: Iterable[str]) -> Occupancy:
        """Who has these addresses."""
        self._occupancy = self._survey.of(ips)
        return self._occupancy

    def held(self, ips: Sequence[str], names: Iterable[str]) -> dict[str, str]:
        """By address, which of these VMs has it or what else keeps it away, in words; nothing for free ones."""
        occupancy, own = self.look(ips), set(names)
        held: dict[str, str] = {}
        for ip in ips:
            whose = next((use.node for use in occupancy.users_of(ip) if _is_node(use) and use.node in own), "")
            obstacle = occupancy.obstacle(ip, lambda use: use.node in own)
            if whose:
                held[ip] = whose
            elif obstacle is not None:
                held[ip] = obstacle.text
            elif any(ip in subnet.dns_servers for subnet in occupancy.subnets):
                held[ip] = "a name server of its subnet"
        return held

    def all(self, machine: Machine, order: NewVmSpec) -> None:
        """Give every interface its link, before it is commissioned."""
        for attachment, interface in _pairs(machine, order.attachments):
            if attachment.subnet is not None:
                ip = order.ip(attachment)
                mode = links.STATIC if ip else MODES.get(attachment.nic.ip, links.AUTO)
                self._linking.carry_out(self._foreseen(machine, interface, attachment, mode, ip))

    def foresee(self, machine: Machine, order: NewVmSpec) -> list[InterfacePlan]:
        """What is to be done so that interfaces have their static addresses; one that is missing is a failure."""
        _refuse_missing(machine, order)
        foreseen = [
            self._foreseen(machine, interface, attachment, links.STATIC, ip)
            for attachment, interface in _pairs(machine, order.attachments)
            if (ip := order.ip(attachment)) and attachment.subnet is not None
        ]
        return [one for one in foreseen if one.plan]

    def carry_out(self, machine: Machine, foreseen: Iterable[InterfacePlan]) -> Machine | None:
        """Do that; the machine as it is then."""
        for one in foreseen:
            self._linking.carry_out(one)
        return self._machines.get(str(machine["system_id"]))

    def _foreseen(
        self, machine: Machine, interface: Mapping[str, Any], attachment: Attachment, mode: str, ip: str
    ) -> InterfacePlan:
        nic = links.NetworkInterface.of(machine, interface)
        # MAAS learns what a VM is plugged into when it is commissioned, and not before.
        wish = links.LinkSpec(mode, attachment.subnet, ip, change_vlan=True)
        return self._linking.foresee(nic, wish, take_reserved=True, known=self._occupancy)


def _refuse_missing(machine: Machine, order: NewVmSpec) -> None:
    """Fewer interfaces than the task gives addresses to: nobody can tell which of them is gone."""
    static = [ip for attachment in order.attachments if (ip := order.ip(attachment))]
    there, wanted = len(_physical(machine)), len(order.attachments)
    if static and there < wanted:
        has = f"has {there} of its {wanted} interfaces in MAAS" if there else "has no interface in MAAS"
        raise Failure(
            "conflict",
            f"{order.name} {has}, and is to have {', '.join(static)}.",
            object=order.name,
            reason=has,
            hint="Commission it again with metalshift.maas.machine and act: recommission, which finds its interfaces, "
            "and run this task again; or remove it with state: absent, and make it anew.",
        )


def _pairs(machine: Machine, attachments: Sequence[Attachment]) -> Iterable[tuple[Attachment, Mapping[str, Any]]]:
    """The interfaces in the order in which they were made: commissioning gives them other names."""
    return zip(attachments, _physical(machine), strict=False)


def _physical(machine: Machine) -> list[Mapping[str, Any]]:
    physical = [one for one in machine.get("interface_set") or () if one.get("type", "physical") == "physical"]
    return sorted(physical, key=lambda one: int(one["id"]))


def _is_node(use: Use) -> bool:
    return use.holder in (Holder.NODE, Holder.OBSERVED)
