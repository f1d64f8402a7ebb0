# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Addresses: which subnet one is in, who has it, and which of many are free.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any, Union

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import MAC

# Sanity tests refuse `|` between these at run time.
Address = Union[ipaddress.IPv4Address, ipaddress.IPv6Address]  # noqa: UP007
Network = Union[ipaddress.IPv4Network, ipaddress.IPv6Network]  # noqa: UP007

# More than anybody lists by hand; a network of IPv6 has no end.
MOST_LISTED = 4096


# Thousands of addresses are compared with hundreds of subnets.
@lru_cache(maxsize=2 * MOST_LISTED)
def _address(text: str) -> Address:
    return ipaddress.ip_address(text)


@lru_cache(maxsize=MOST_LISTED)
def _network(cidr: str) -> Network:
    return ipaddress.ip_network(cidr)


# -- reading what users write ----------------------------------------------------------------------


def normal(text: str, option: str) -> str:
    """An address as MAAS writes it."""
    try:
        return str(ipaddress.ip_address(text.strip()))
    except ValueError:
        raise invalid(
            f"{option} cannot be {text!r}, which is no IP address.", "Write one like 10.0.0.5 or 2001:db8::5."
        ) from None


def normal_mac(text: str, option: str) -> str:
    """A MAC address as MAAS writes it."""
    mac = text.strip().lower().replace("-", ":")
    if not MAC.match(mac):
        raise invalid(f"{option} cannot be {text!r}, which is no MAC address.", "Give six pairs of hexadecimal digits.")
    return mac


def listed(texts: Iterable[str], option: str) -> list[str]:
    """The addresses that a list means, in its order. An element is an address, `first-last`, or a network."""
    found: dict[str, None] = {}
    for text in texts:
        first, last = _ends(text, option)
        if int(last) - int(first) + len(found) >= MOST_LISTED:
            raise invalid(f"{option} holds more than {MOST_LISTED} addresses.", "Name fewer, or a smaller range.")
        found.update((str(first + step), None) for step in range(int(last) - int(first) + 1))
    return list(found)


def _ends(text: str, option: str) -> tuple[Address, Address]:
    if "/" in text:
        try:
            network = ipaddress.ip_network(text.strip())
        except ValueError:
            raise invalid(f"{option} cannot hold {text!r}, which is no network.", "Write 10.0.0.64/28.") from None
        return network[0], network[-1]
    low, dash, high = text.partition("-")
    first = ipaddress.ip_address(normal(low, option))
    last = ipaddress.ip_address(normal(high, option)) if dash else first
    if first.version != last.version or int(last) < int(first):
        raise invalid(f"{option} cannot hold {text!r}, whose end is before its beginning.")
    return first, last


# -- what MAAS has ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Subnet:
    """A subnet, and the VLAN that it is on."""

    id: int
    cidr: str
    name: str = ""
    gateway: str = ""
    dns_servers: Sequence[str] = ()
    vlan: int = 0
    vlan_name: str = ""
    dhcp: bool = False

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Subnet:
        vlan = found.get("vlan") or {}
        return cls(
            id=found["id"],
            cidr=str(found["cidr"]),
            name=str(found.get("name") or ""),
            gateway=found.get("gateway_ip") or "",
            dns_servers=tuple(found.get("dns_servers") or ()),
            vlan=vlan.get("id") or 0,
            vlan_name=vlan_name(vlan),
            dhcp=bool(vlan.get("dhcp_on")),
        )

    @property
    def version(self) -> int:
        return _network(self.cidr).version

    def __contains__(self, ip: object) -> bool:
        return _address(str(ip)) in _network(self.cidr)

    def is_an_end(self, ip: str) -> bool:
        """Whether an address stands for the whole network."""
        network, found = _network(self.cidr), _address(ip)
        if network.max_prefixlen - network.prefixlen <= 1:
            return False
        return found == network.network_address or (network.version == 4 and found == network.broadcast_address)


def vlan_name(vlan: Mapping[str, Any]) -> str:
    """A VLAN as people know it: its fabric, and its name or number there."""
    return f"{vlan.get('fabric')}/{vlan.get('name') or vlan.get('vid')}" if vlan else ""


@dataclass(frozen=True)
class AddressRange:
    """Addresses from a first to a last one: those out of which DHCP gives, or those that somebody has reserved."""

    first: str
    last: str

    def __contains__(self, ip: object) -> bool:
        found, first = _address(str(ip)), _address(self.first)
        return found.version == first.version and int(first) <= int(found) <= int(_address(self.last))


class Holder(Enum):
    """What kind of thing has an address."""

    NODE = "node"
    USER = "user"
    LEASE = "lease"
    OBSERVED = "observed"
    BMC = "bmc"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Use:
    """Who has an address."""

    ip: str
    holder: Holder
    system_id: str = ""
    # As it is called in a sentence: `node-1`, `the device printer`.
    node: str = ""
    interface: str = ""
    user: str = ""
    own: bool = False
    mac: str = ""
    names: Sequence[str] = ()
    comment: str = ""
    id: int | None = None

    @property
    def who(self) -> str:
        """As a sentence goes on after "it is"."""
        return WHO[self.holder](self)

    @property
    def way_out(self) -> str:
        """What may be done about it."""
        return f"Choose another address{WAYS_OUT.get(self.holder, '')}."


def _at(use: Use) -> str:
    return f"{use.node} ({use.interface})" if use.interface else use.node


def _for(use: Use) -> str:
    whom = [*([use.mac] if use.mac else []), *use.names]
    return f" for {', '.join(whom)}" if whom else ""


WHO: Mapping[Holder, Callable[[Use], str]] = {
    Holder.NODE: lambda use: f"used by {_at(use) or 'a machine or device that this user may not see'}",
    Holder.USER: lambda use: f"reserved by {use.user or 'a user of MAAS'}{_for(use)}",
    Holder.LEASE: lambda use: f"kept by DHCP for {use.mac}{f' of {_at(use)}' if use.node else ''}",
    Holder.OBSERVED: lambda use: f"observed on the network{f' at {_at(use)}' if use.node else ''}",
    Holder.BMC: lambda use: f"the BMC of {use.node or 'a machine'}",
    Holder.UNKNOWN: lambda _use: "taken, and MAAS does not say by whom",
}
WAYS_OUT: Mapping[Holder, str] = {
    Holder.NODE: ", or take this one from there with interface_link",
    Holder.USER: ", or have this one released with ip_reservation by that user",
    Holder.LEASE: ", or remove that reservation with ip_reservation, type: dhcp",
    Holder.OBSERVED: ", or find out what answers there",
}

# MAAS's numbers for kinds of addresses, and of nodes.
USER_RESERVED, DISCOVERED = 4, 6
NODE_TYPES: Mapping[int, str] = {1: "the device ", 2: "the controller ", 3: "the controller ", 4: "the controller "}


def uses_in(answer: Iterable[Mapping[str, Any]]) -> list[Use]:
    """The uses in what MAAS says of the addresses of a subnet."""
    return [_use(one) for one in answer]


def _use(one: Mapping[str, Any]) -> Use:
    node = one.get("node_summary") or {}
    bmcs = [each.get("hostname") for bmc in one.get("bmcs") or () for each in bmc.get("nodes") or ()]
    if one.get("alloc_type") == USER_RESERVED:
        holder = Holder.USER
    elif one.get("alloc_type") == DISCOVERED:
        holder = Holder.OBSERVED
    else:
        holder = Holder.BMC if one.get("bmcs") and not node else Holder.NODE
    return Use(
        ip=str(one["ip"]),
        holder=holder,
        system_id=node.get("system_id") or "",
        node=", ".join(map(str, bmcs)) if holder is Holder.BMC else node_name(node),
        interface=node.get("via") or "",
        user=one.get("user") or "",
        names=tuple(sorted(fqdn(record["name"], record["domain"]) for record in one.get("dns_records") or ())),
    )


def node_name(node: Mapping[str, Any]) -> str:
    """A machine by its name; what is none is said to be so."""
    return f"{NODE_TYPES.get(node.get('node_type') or 0, '')}{node['hostname']}" if node.get("hostname") else ""


def fqdn(label: str, domain: str) -> str:
    return domain if label == "@" else f"{label}.{domain}"


# -- deciding --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AddressConflict:
    """Why an address cannot be had."""

    # As a sentence goes on after "it is".
    text: str
    hint: str
    kind: str = "conflict"

    def failure(self, ip: str, what: str) -> Failure:
        message = f"{ip} cannot be {what}: it is {self.text}."
        return Failure(self.kind, message, object=ip, reason=f"it is {self.text}", hint=self.hint)


def nobody(_use: Use) -> bool:
    """Whatever has an address is somebody else."""
    return False


@dataclass(frozen=True)
class Occupancy:
    """What is known of some addresses: the subnets, the ranges, and who has which."""

    subnets: Sequence[Subnet]
    ranges: Sequence[AddressRange] = ()
    uses: Mapping[str, Sequence[Use]] = field(default_factory=dict)
    # All of MAAS, for one MAC address can have only one.
    leases: Sequence[Use] = ()
    # The nodes that MAC addresses belong to.
    owners: Mapping[str, Use] = field(default_factory=dict)
    # The subnets, by id, that the interfaces of machines with these MAC addresses have links to.
    linked: Mapping[str, frozenset[int]] = field(default_factory=dict)
    # Out of these MAAS gives nothing to users, though a machine may be linked with one of them.
    reserved_ranges: Sequence[AddressRange] = ()

    def subnet_of(self, ip: str, vlan: int | None = None) -> Subnet | None:
        """The subnet that MAAS takes for an address, on a VLAN if one is given: one with DHCP, then the smallest."""
        fitting = [subnet for subnet in self.subnets if ip in subnet and vlan in (None, subnet.vlan)]
        return min(fitting, key=lambda one: (not one.dhcp, -_network(one.cidr).prefixlen), default=None)

    def users_of(self, ip: str) -> Sequence[Use]:
        return self.uses.get(ip, ())

    def other_lease(self, mac: str, ip: str) -> Use | None:
        """What DHCP keeps for a MAC address, if that is another address."""
        return next((lease for lease in self.leases if lease.mac == mac and lease.ip != ip), None)

    def obstacle(self, ip: str, mine: Callable[[Use], bool] = nobody) -> AddressConflict | None:
        """What keeps an address from being had; what is `mine` is no obstacle."""
        subnet = self.subnet_of(ip)
        if subnet is None:
            return AddressConflict(
                "in no subnet that MAAS has", "Create its subnet in MAAS, or correct it.", "not_found"
            )
        if subnet.is_an_end(ip):
            return AddressConflict(f"the network or broadcast address of {subnet.cidr}", "Choose another address.")
        if ip == subnet.gateway:
            return AddressConflict(f"the gateway of {subnet.cidr}", "Choose another address.")
        dynamic = next((one for one in self.ranges if ip in one), None)
        if dynamic is not None:
            text = f"in the dynamic range {dynamic.first} to {dynamic.last}, out of which DHCP gives to anybody"
            return AddressConflict(text, "Choose an address outside of it.")
        other = next((use for use in self.users_of(ip) if not mine(use)), None)
        return AddressConflict(other.who, other.way_out) if other is not None else None
