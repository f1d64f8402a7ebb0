# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which networks of MAAS the interfaces of a VM are attached to, and whether a host is on them.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.pure.networks import any_vlan
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.pure.occupancy import Occupancy, Subnet
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.survey import AddressSurvey
from ansible_collections.metalshift.maas.plugins.module_utils._vms.template import DHCP, InterfaceTemplate

# Of several interfaces of a host on the same VLAN, VMs hang on a bridge, then on a bond.
RANK: Mapping[str, int] = {"bridge": 0, "bond": 1}


@dataclass(frozen=True)
class Attachment:
    """An interface of a VM, and the VLANs of which any will do; none stands for whatever the host has."""

    nic: InterfaceTemplate
    vlans: frozenset[int] = frozenset()
    subnet: Subnet | None = None

    @property
    def where(self) -> str:
        """The network, in words."""
        named = [f"{noun} {value}" for noun in ("subnet", "VLAN", "space") if (value := self._named(noun))]
        return named[0] if named else f"subnet {self.subnet.cidr}" if self.subnet else "any network"

    def _named(self, noun: str) -> str:
        return str(getattr(self.nic, noun.lower()))

    @property
    def is_linked(self) -> bool:
        """Whether the task says how it is linked, so that commissioning must not do it anew."""
        return self.subnet is not None

    def constraint(self, ip: str, node: Mapping[str, Any] | None) -> str:
        """As MAAS takes it when it composes on this host."""
        parent = self.parent_on(node or {})
        parts = {
            "subnet": self.subnet.id if self.subnet and not self.nic.vlan and not self.nic.space else None,
            "vlan": parent["vlan"]["id"] if self.nic.vlan and parent else None,
            "space": self.nic.space or None,
            "name": self.nic.parent or None,
            # Without, MAAS gives the address as one that it chose itself, and takes it back with a release.
            "mode": "static" if ip else DHCP if self.nic.ip == DHCP else None,
            "ip": ip or None,
        }
        told = [f"{key}={value}" for key, value in parts.items() if value is not None]
        return f"{self.nic.name}:{','.join(told or ['mode=auto'])}"

    def parent_on(self, node: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The interface of a host that it hangs on: the one that is named, else a bridge on its network."""
        fitting = [
            one
            for one in node.get("interface_set") or ()
            if one.get("vlan") and self._fits(one) and (not self.vlans or one["vlan"]["id"] in self.vlans)
        ]
        return min(fitting, key=lambda one: (RANK.get(str(one.get("type")), 2), -one["id"]), default=None)

    def _fits(self, interface: Mapping[str, Any]) -> bool:
        if self.nic.parent:
            return bool(interface["name"] == self.nic.parent)
        vlan = interface["vlan"]
        return bool(self.vlans) or bool(vlan.get("dhcp_on") or vlan.get("relay_vlan"))


def attached(survey: AddressSurvey, nics: Sequence[InterfaceTemplate]) -> list[Attachment]:
    """The networks that interfaces name. What MAAS does not have is a failure; nothing is asked for free ones."""
    found = [_attached(survey, nic) for nic in nics]
    for one in found:
        for ip in one.nic.statics:
            _refuse_outside(survey, one, ip)
    return found


def _attached(survey: AddressSurvey, nic: InterfaceTemplate) -> Attachment:
    if nic.is_free:
        return Attachment(nic)
    if nic.vlan or nic.space:
        fitting = [subnet for subnet in survey.raw if _is_on(subnet["vlan"], nic)]
        if not fitting:
            what = f"VLAN {nic.vlan}" if nic.vlan else f"space {nic.space}"
            raise Failure(
                "not_found",
                f"MAAS has no subnet on {what}.",
                object=nic.vlan or nic.space,
                hint="Correct it, or make a subnet there.",
            )
        subnets = [Subnet.of(subnet) for subnet in fitting]
        static = [subnet for subnet in subnets if any(ip in subnet for ip in nic.statics)]
        only = subnets[0] if len({subnet.vlan for subnet in subnets}) == 1 else None
        return Attachment(nic, frozenset(subnet.vlan for subnet in subnets), static[0] if static else only)
    subnet = survey.subnet(nic.subnet, f"subnet of {nic.name}") if nic.subnet else _subnet_of_addresses(survey, nic)
    return Attachment(nic, frozenset({subnet.vlan}), subnet)


def _is_on(vlan: Mapping[str, Any], nic: InterfaceTemplate) -> bool:
    return any_vlan([vlan], [nic.vlan]) if nic.vlan else bool(vlan.get("space") == nic.space)


def _subnet_of_addresses(survey: AddressSurvey, nic: InterfaceTemplate) -> Subnet:
    ips = nic.statics
    found = Occupancy(survey.subnets).subnet_of(ips[0])
    if found is None:
        raise Failure(
            "not_found",
            f"{ips[0]} is in no subnet that MAAS has.",
            object=ips[0],
            hint="Create its subnet in MAAS, or correct it.",
        )
    return found


def _refuse_outside(survey: AddressSurvey, attachment: Attachment, ip: str) -> None:
    subnets = [subnet for subnet in survey.subnets if subnet.vlan in attachment.vlans]
    inside = [attachment.subnet] if attachment.subnet and not attachment.nic.vlan else subnets
    if attachment.vlans and not any(ip in subnet for subnet in inside if subnet):
        raise invalid(f"{ip} is not in {attachment.where}.", f"Correct it for {attachment.nic.name}.")


def unfit(node: Mapping[str, Any] | None, attachments: Iterable[Attachment]) -> list[str]:
    """What of the networks a host does not have, in words."""
    wanted = [one for one in attachments if not one.nic.is_free]
    if node is None:
        return ["MAAS does not show its networks"] if wanted else []
    missing = [one for one in wanted if one.parent_on(node) is None]
    return list(dict.fromkeys(f"not on {one.where}" for one in missing))
