# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads who has which addresses: a request for each kind of thing, and one for each subnet that matters.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.names import did_you_mean, listed
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.pure.networks import (
    SUBNET_KEYS,
    any_subnet,
    check,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.pure.occupancy import (
    AddressConflict,
    AddressRange,
    Holder,
    Occupancy,
    Subnet,
    Use,
    node_name,
    uses_in,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client

LEASES = "reserved IP addresses"
DYNAMIC, RESERVED = "dynamic", "reserved"
# MAAS's number for the kind of a node.
MACHINE = 0


class AddressSurvey:
    """What one MAAS says of addresses. Subnets are read once, who has what each time."""

    def __init__(self, maas: Client) -> None:
        self._maas = maas

    @cached_property
    def raw(self) -> list[dict[str, Any]]:
        """The subnets as MAAS tells them."""
        found: list[dict[str, Any]] = self._maas.get("subnets/")
        return found

    @property
    def subnets(self) -> list[Subnet]:
        return [Subnet.of(one) for one in self.raw]

    def subnet(self, spec: str, option: str = "subnet") -> Subnet:
        """The one subnet that a name, CIDR, id or another of MAAS's specifiers stands for."""
        check(spec, option, SUBNET_KEYS)
        found = [Subnet.of(one) for one in self.raw if any_subnet([one], spec)]
        if not found:
            known = [one.cidr if one.name in ("", one.cidr) else f"{one.name} ({one.cidr})" for one in self.subnets]
            raise Failure(
                "not_found",
                f"MAAS has no subnet {spec}; it has {listed(known)}.",
                object=spec,
                hint=did_you_mean(spec, [one.name for one in self.subnets if one.name], "Create it in MAAS first."),
            )
        if len(found) > 1:
            several = ", ".join(one.cidr for one in found)
            raise Failure("invalid", f"{option}: {spec} fits several subnets: {several}.", hint="Name one by its CIDR.")
        return found[0]

    def of(self, ips: Iterable[str], macs: Iterable[str] = ()) -> Occupancy:
        """Who has these addresses, and which nodes these MAC addresses belong to."""
        asked = set(ips)
        leases = self._leases()
        wanted = sorted({*macs, *(lease["mac_address"] for lease in leases if lease["ip"] in asked)})
        nodes = self._maas.get("nodes/", {"mac_address": wanted}) if wanted else []
        owners = _owners(nodes, wanted)
        kept = [_lease(lease, owners) for lease in leases]
        uses: dict[str, list[Use]] = {}
        for use in [*self._assigned(asked), *kept]:
            if use.ip in asked:
                uses.setdefault(use.ip, []).append(use)
        ranges = self._ranges(asked)
        linked = _links_of_machines(nodes, wanted)
        return Occupancy(self.subnets, ranges[DYNAMIC], uses, kept, owners, linked, ranges[RESERVED])

    def obstacle_now(self, ip: str) -> AddressConflict | None:
        """Who has an address that was free a moment ago."""
        return self.of([ip]).obstacle(ip, mine=lambda use: use.own)

    # -- reading --------------------------------------------------------------------------------------

    def _assigned(self, ips: Iterable[str]) -> list[Use]:
        mine = {one["ip"]: one for one in self.own()}
        concerned = [subnet.id for subnet in self.subnets if any(ip in subnet for ip in ips)]
        found = [
            use for id in concerned for use in uses_in(self._maas.get(f"subnets/{id}/", op="ip_addresses"))
        ]  # fmt: skip
        return [_owned(use, mine) for use in found]

    def own(self, **filters: Any) -> list[dict[str, Any]]:
        """The addresses that the user of the key has reserved."""
        found: list[dict[str, Any]] = self._maas.get("ipaddresses/", filters)
        return found

    def _ranges(self, ips: Iterable[str]) -> dict[str, list[AddressRange]]:
        found = self._maas.get("ipranges/") if ips else []
        return {
            kind: [AddressRange(one["start_ip"], one["end_ip"]) for one in found if one["type"] == kind]
            for kind in (DYNAMIC, RESERVED)
        }

    def _leases(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._maas.get("reservedips/") if self._maas.capabilities.has(LEASES) else []
        return found


def _owners(nodes: Iterable[Mapping[str, Any]], macs: Iterable[str]) -> dict[str, Use]:
    """The nodes that MAC addresses belong to; without those that this user may not see."""
    return {
        mac: Use("", Holder.NODE, node["system_id"], node_name(node), interface["name"], mac=mac)
        for mac in macs
        for node in nodes
        for interface in reversed(node.get("interface_set") or [])
        if interface.get("mac_address") == mac
    }


def _links_of_machines(nodes: Iterable[Mapping[str, Any]], macs: Iterable[str]) -> dict[str, frozenset[int]]:
    """Also those of a bond, bridge or VLAN that has the MAC address of what is below it."""
    machines = [node for node in nodes if node.get("node_type") == MACHINE]
    found: dict[str, set[int]] = {}
    for mac in macs:
        for machine in machines:
            for interface in machine.get("interface_set") or []:
                if interface.get("mac_address") == mac:
                    subnets = (link.get("subnet") or {} for link in interface.get("links") or [])
                    found.setdefault(mac, set()).update(subnet["id"] for subnet in subnets if "id" in subnet)
    return {mac: frozenset(subnets) for mac, subnets in found.items()}


def _owned(use: Use, mine: Mapping[str, Mapping[str, Any]]) -> Use:
    """With what only the list of one's own addresses tells: that it is one's own, and for which MAC address."""
    found = mine.get(use.ip)
    if use.holder is not Holder.USER or found is None:
        return use
    macs = [str(one["mac_address"]) for one in found.get("interface_set") or () if one.get("mac_address")]
    return Use(use.ip, use.holder, user=use.user, own=True, mac=macs[0] if macs else "", names=use.names)


def _lease(found: Mapping[str, Any], owners: Mapping[str, Use]) -> Use:
    owner = owners.get(found["mac_address"])
    return Use(
        ip=found["ip"],
        holder=Holder.LEASE,
        system_id=owner.system_id if owner else "",
        node=owner.node if owner else "",
        interface=owner.interface if owner else "",
        mac=found["mac_address"],
        comment=found.get("comment") or "",
        id=found["id"],
    )
