# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks: how their parts are named in requests, which addresses are free, and how one is chosen."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any

from metalshift_lab.simulator.errors import Conflict, Forbidden, NotFound, Unavailable
from metalshift_lab.simulator.forms import Wrong
from metalshift_lab.simulator.model import (
    VLAN,
    AllocType,
    Domain,
    Fabric,
    Interface,
    IPRange,
    Space,
    StaticIP,
    Subnet,
)
from metalshift_lab.simulator.state import HasId, State, T, Table

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Lookup = Callable[[str], Any]

UNDEFINED_SPACE = "undefined"
UNUSED, UNMANAGED = "unused", "unmanaged"
NO_CHOICE = "Select a valid choice. That choice is not one of the available choices."

# -- reading addresses ----------------------------------------------------------------------------------------------


@lru_cache(maxsize=8192)
def parse_ip(value: str | None) -> Address | None:
    try:
        return ipaddress.ip_address(value or "")
    except ValueError:
        return None


def parse_network(value: str) -> Network | None:
    """A network as netaddr reads one: host bits may be set, a bare address is a network of its own."""
    try:
        return ipaddress.ip_network(value, strict=False) if re.match(r"[0-9a-fA-F:.]+(/|$)", value) else None
    except ValueError:
        return None


def ip_address(value: str) -> str:
    """A form field of an IPv4 or IPv6 address."""
    found = parse_ip(value)
    if found is None:
        raise Wrong("Enter a valid IPv4 or IPv6 address.")
    return str(found)


@lru_cache(maxsize=1024)
def _network(cidr: str) -> Network:
    return ipaddress.ip_network(cidr)


def network_of(subnet: Subnet) -> Network:
    return _network(subnet.cidr)


def contains(subnet: Subnet, ip: str | None) -> bool:
    found = parse_ip(ip)
    return found is not None and found in network_of(subnet)


def label(subnet: Subnet) -> str:
    """A subnet in MAAS's messages."""
    return f"{subnet.name}:{subnet.cidr}(vid={subnet.vlan.vid})"


# -- finding by specifier: an id, "kind-ID", a name, or "key:value" -------------------------------------------------


def identifier(value: str, prefix: str) -> int | None:
    match = re.fullmatch(rf"(?:{prefix}-)?(\d+)", value.strip())
    return int(match[1]) if match else None


def specified(table: Table[T], value: str, prefix: str, keys: dict[str, Lookup], default: Lookup) -> T | None:
    key, separator, rest = value.partition(":")
    if separator and key in keys:
        found: T | None = keys[key](rest)
        return found
    number = identifier(value, prefix)
    return table.find(number) if number is not None else default(value)


def find_fabric(state: State, value: str) -> Fabric | None:
    keys: dict[str, Lookup] = {
        "name": lambda v: state.fabrics.first(name=v),
        "class": lambda v: state.fabrics.first(class_type=v),
    }
    return specified(state.fabrics, value, "fabric", keys, keys["name"])


def find_space(state: State, value: str) -> Space | None:
    keys: dict[str, Lookup] = {"name": lambda v: state.spaces.first(name=v)}
    return specified(state.spaces, value, "space", keys, keys["name"])


def find_domain(state: State, value: str) -> Domain | None:
    keys: dict[str, Lookup] = {"name": lambda v: state.domains.first(name=v), "id": state.domains.find}
    return specified(state.domains, value, "domain", keys, keys["name"])


def find_subnet(state: State, value: str) -> Subnet | None:
    def by_cidr(text: str) -> Subnet | None:
        network = parse_network(text)
        return state.subnets.first(cidr=str(network)) if network else None

    def by_vlan(text: str) -> Subnet | None:
        return next((s for s in state.subnets if text in (str(s.vlan.vid), s.vlan.name)), None)

    def by_space(text: str) -> Subnet | None:
        space = None if text == UNDEFINED_SPACE else known(find_space(state, text), "Space")
        return next((s for s in state.subnets if s.vlan.space is space), None)

    def by_fabric(text: str) -> Subnet | None:
        fabric = find_fabric(state, text)
        return next((s for s in state.subnets if s.vlan.fabric is fabric), None)

    keys: dict[str, Lookup] = {
        "cidr": by_cidr,
        "id": state.subnets.find,
        "ip": lambda v: next((s for s in state.subnets if contains(s, v)), None),
        "name": lambda v: state.subnets.first(name=v),
        "vid": by_vlan,
        "vlan": by_vlan,
        "space": by_space,
        "fabric": by_fabric,
    }
    return specified(state.subnets, value, "subnet", keys, lambda v: by_cidr(v) or keys["name"](v))


def find_vlan(fabric_vlans: Iterable[VLAN], value: str) -> VLAN | None:
    """A VLAN of a fabric by its tag, "untagged" or name."""
    text = value.removeprefix("vid:").removeprefix("name:")
    if text == "untagged":
        text = "0"
    if text.isdigit():
        return next((v for v in fabric_vlans if v.vid == int(text)), None)
    return next((v for v in fabric_vlans if v.name == text), None)


def known(found: T | None, noun: str) -> T:
    if found is None:
        raise NotFound.of(noun)
    return found


def choice(table: Table[T], prefix: str, find: Lookup, allowed: Callable[[T], bool] = lambda _ignored: True) -> Lookup:
    """A form field that takes an id or a specifier."""

    def clean(value: str) -> T:
        found: T | None = find(value)
        if found is not None and allowed(found):
            return found
        number = identifier(value, prefix)
        raise Wrong(NO_CHOICE if number is None else f"None found with id={number}.")

    return clean


def best_subnet(state: State, ip: str) -> Subnet | None:
    """Of the subnets an address is in: one MAAS serves DHCP in, else the smallest."""
    found = [s for s in state.subnets if contains(s, ip)]
    return min(found, key=lambda s: (not s.vlan.dhcp_on, -network_of(s).prefixlen), default=None)


def default_vlan(state: State, fabric: Fabric) -> VLAN:
    return min(state.vlans.where(fabric=fabric), key=lambda v: v.id)


# -- ranges in use --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Span:
    """Addresses from first to last, as numbers."""

    first: int
    last: int
    purposes: frozenset[str]
    version: int = 4

    @property
    def size(self) -> int:
        return self.last - self.first + 1

    def __contains__(self, number: int) -> bool:
        return self.first <= number <= self.last

    def text(self, number: int) -> str:
        return str(ipaddress.IPv4Address(number) if self.version == 4 else ipaddress.IPv6Address(number))

    def render(self, *, purpose: bool = True) -> dict[str, Any]:
        out: dict[str, Any] = {
            "start": self.text(self.first),
            "end": self.text(self.last),
            "num_addresses": self.size,
        }
        if purpose:
            out["purpose"] = sorted(self.purposes)
        return out


@lru_cache(maxsize=8192)
def number_of(ip: str) -> int:
    return int(ipaddress.ip_address(ip))


def span(first: str | int, last: str | int, purpose: str, version: int = 4) -> Span:
    low = first if isinstance(first, int) else number_of(first)
    high = last if isinstance(last, int) else number_of(last)
    return Span(low, high, frozenset((purpose,)), version)


def condensed(spans: Iterable[Span]) -> list[Span]:
    """Sorted; what overlaps is one span with all purposes, and so are neighbours of the same purpose."""
    merged: list[Span] = []
    for item in sorted(spans, key=lambda s: (s.first, s.last)):
        last = merged[-1] if merged else None
        if last is not None and item.first <= last.last:
            purposes = last.purposes | item.purposes
            merged[-1] = Span(last.first, max(last.last, item.last), purposes, item.version)
        else:
            merged.append(item)
    joined: list[Span] = []
    for item in merged:
        last = joined[-1] if joined else None
        if last is not None and item.first == last.last + 1 and item.purposes == last.purposes:
            joined[-1] = Span(last.first, item.last, item.purposes, item.version)
        else:
            joined.append(item)
    return joined


def ranges_of(state: State, subnet: Subnet, kind: str | None = None) -> Iterator[IPRange]:
    return (r for r in state.ranges if r.subnet is subnet and kind in (None, r.type))


def range_with(state: State, subnet: Subnet, kind: str, ip: str) -> IPRange | None:
    number = number_of(ip)
    return next((r for r in ranges_of(state, subnet, kind) if number in span(r.start_ip, r.end_ip, kind)), None)


def _runs(numbers: list[int]) -> Iterator[tuple[int, int]]:
    """Sorted numbers as stretches without a gap."""
    for _ignored, group in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        stretch = [number for _ignored, number in group]
        yield stretch[0], stretch[-1]


def _occupied(state: State, subnet: Subnet, *, reserved: bool = True, without: IPRange | None = None) -> list[Span]:
    network = network_of(subnet)
    version = network.version
    first = int(network.network_address)
    found: list[Span] = []
    if version == 6 and network.prefixlen < 127:
        found.append(span(first, first, "rfc-4291-2.6.1", 6))
        if network.prefixlen == 64:
            found.append(span(first + 1, first + 0xFFFFFFFF, "reserved", 6))
    singles: list[tuple[str, Iterable[str | None]]] = [
        ("gateway-ip", [subnet.gateway_ip]),
        ("dns-server", subnet.dns_servers),
        ("gateway-ip", [r.gateway_ip for r in state.routes if r.source is subnet]),
        ("assigned-ip", [a.ip for a in state.addresses if a.subnet is subnet]),
    ]
    for purpose, ips in singles:
        numbers = sorted({number_of(ip) for ip in ips if ip and contains(subnet, ip)})
        found += [span(low, high, purpose, version) for low, high in _runs(numbers)]
    for item in ranges_of(state, subnet):
        if item is not without and (reserved or item.type != "reserved"):
            found.append(span(item.start_ip, item.end_ip, item.type, version))
    return found


def in_use(state: State, subnet: Subnet) -> list[Span]:
    return condensed(_occupied(state, subnet))


def gaps(subnet: Subnet, used: Iterable[Span], purpose: str = UNUSED) -> list[Span]:
    """What lies between, without the address of the network and the broadcast address."""
    network = network_of(subnet)
    version = network.version
    bare = network.max_prefixlen - network.prefixlen <= 1
    start = int(network.network_address) + (0 if bare else 1)
    end = int(network.broadcast_address) - (0 if bare or version == 6 else 1)
    found = []
    for item in used:
        if item.first > start:
            found.append(span(start, item.first - 1, purpose, version))
        start = max(start, item.last + 1)
    if start <= end:
        found.append(span(start, end, purpose, version))
    return found


def free(state: State, subnet: Subnet, exclude: Iterable[str] = ()) -> list[Span]:
    """Where MAAS may take an address from; in an unmanaged subnet only from reserved ranges."""
    excluded = [span(ip, ip, "excluded", network_of(subnet).version) for ip in exclude if contains(subnet, ip)]
    if subnet.managed:
        return gaps(subnet, condensed([*_occupied(state, subnet), *excluded]))
    outside = gaps(subnet, condensed(_reserved(state, subnet)), UNMANAGED)
    return gaps(subnet, condensed([*_occupied(state, subnet, reserved=False), *excluded, *outside]))


def _reserved(state: State, subnet: Subnet) -> list[Span]:
    version = network_of(subnet).version
    return [span(r.start_ip, r.end_ip, "reserved", version) for r in ranges_of(state, subnet, "reserved")]


def usage(state: State, subnet: Subnet) -> list[Span]:
    """Used and unused ranges together."""
    if subnet.managed:
        used = in_use(state, subnet)
        return condensed([*used, *gaps(subnet, used)])
    unused = free(state, subnet)
    used = condensed(_occupied(state, subnet, reserved=False))
    return condensed([*used, *unused, *gaps(subnet, condensed([*used, *unused]), UNMANAGED)])


def room_for_range(state: State, subnet: Subnet, kind: str, without: IPRange | None) -> list[Span]:
    """A reserved range keeps clear of other ranges only, a dynamic one of everything in use."""
    if kind == "dynamic":
        return gaps(subnet, condensed(_occupied(state, subnet, without=without)))
    version = network_of(subnet).version
    others = (r for r in ranges_of(state, subnet) if r is not without)
    return gaps(subnet, condensed(span(r.start_ip, r.end_ip, r.type, version) for r in others))


def statistics(spans: list[Span], *, ranges: bool, suggestions: bool) -> dict[str, Any]:
    unused = [s for s in spans if UNUSED in s.purposes]
    total, available = sum(s.size for s in spans), sum(s.size for s in unused)
    whole = Span(spans[0].first, spans[-1].last, frozenset(), spans[0].version)
    first = whole.first
    if whole.version == 6 and "rfc-4291-2.6.1" in spans[0].purposes:
        # The anycast address of the routers is no address to count.
        first, total = first + 1, total - 1
    out: dict[str, Any] = {
        "num_available": available,
        "largest_available": max((s.size for s in unused), default=0),
        "num_unavailable": total - available,
        "total_addresses": total,
        "usage": (total - available) / total,
        "usage_string": f"{(total - available) / total:.0%}",
        "available_string": f"{available / total:.0%}",
        "first_address": whole.text(first),
        "last_address": whole.text(whole.last),
        "ip_version": whole.version,
    }
    if ranges:
        out["ranges"] = [s.render() for s in spans]
    if suggestions:
        gateway = _suggested_gateway(spans, unused, whole)
        pool = _suggested_range(spans, unused, gateway, total, available)
        out["suggested_gateway"] = whole.text(gateway) if gateway is not None else None
        out["suggested_dynamic_range"] = pool.render() if pool else None
    return out


def _suggested_gateway(spans: list[Span], unused: list[Span], whole: Span) -> int | None:
    if any("gateway-ip" in s.purposes for s in spans):
        return None
    if whole.version == 6:
        return whole.first if whole.size > 2 else None
    ends = (n for n in (whole.first, whole.last) if any(n in s for s in unused))
    return next(ends, unused[0].first if unused else None)


def _suggested_range(
    spans: list[Span], unused: list[Span], gateway: int | None, total: int, available: int
) -> Span | None:
    """The last quarter of the largest free block, or half of what is left."""
    largest = max(reversed(unused), key=lambda s: s.size, default=None)
    if largest is None or any("dynamic" in s.purposes for s in spans) or (gateway is not None and largest.size == 1):
        return None
    first, last = largest.first, largest.last
    if gateway == first:
        first += 1
    elif gateway == last:
        last -= 1
    size = last - first + 1
    if size > total // 4:
        first = last - total // 4
    elif size >= available // 2:
        first = last - available // 2 + 1
    return span(first, last, "proposed-dynamic", largest.version) if first < last else None


# -- taking addresses -----------------------------------------------------------------------------------------------


def next_ip(state: State, subnet: Subnet, exclude: Iterable[str] = ()) -> str:
    """The first address of the smallest free block, so that large ones stay whole."""
    kept = [r.ip for r in state.reserved_ips if r.subnet is subnet]
    blocks = free(state, subnet, [*kept, *exclude])
    if not blocks:
        raise Unavailable(f"No more IPs available in subnet: {subnet.cidr}.")
    block = min(blocks, key=lambda s: (s.size, s.first))
    return block.text(block.first)


def address_in_use(state: State, ip: str) -> bool:
    return any(a.ip == ip for a in state.addresses)


def allocate(state: State, subnet: Subnet, requested: str | None = None) -> str:
    """An address that nobody has, the requested one if there is a wish."""
    if requested is None:
        return next_ip(state, subnet)
    if not contains(subnet, requested):
        raise Forbidden(f"{requested} is not within subnet CIDR: {subnet.cidr}")
    dynamic = range_with(state, subnet, "dynamic", requested)
    if dynamic is not None:
        raise NotFound(f"{requested} is within the dynamic range from {dynamic.start_ip} to {dynamic.end_ip}")
    fenced = range_with(state, subnet, "reserved", requested)
    if fenced is not None:
        raise NotFound(f"{requested} is within the reserved range from {fenced.start_ip} to {fenced.end_ip}")
    if address_in_use(state, requested):
        raise NotFound(f"The IP address {requested} is already in use.")
    return requested


def claim_auto(state: State, interface: Interface) -> None:
    """AUTO links get their address: the one reserved for the MAC, or the next free one."""
    kept = state.reserved_ips.first(mac_address=interface.mac_address)
    for link in interface.links:
        if link.alloc_type is AllocType.AUTO and link.ip is None and link.subnet is not None:
            mine = kept is not None and kept.subnet is link.subnet and not address_in_use(state, kept.ip)
            link.ip = kept.ip if mine and kept is not None else next_ip(state, link.subnet)


def check_leases(state: State, interfaces: Sequence[Interface]) -> None:
    """What DHCP keeps for an interface has to be in a subnet that it, or one on top of it, has a link to."""
    for interface in interfaces:
        links = [link for each in interfaces if each.mac_address == interface.mac_address for link in each.links]
        for kept in state.reserved_ips.where(mac_address=interface.mac_address):
            if not any(link.subnet is kept.subnet for link in links):
                raise NotFound(
                    f"This interface {interface.mac_address} has a reserved ip {kept.ip} "
                    "but it does not have a link to that subnet"
                )


def check_reserved(state: State, mac: str | None, ip: str) -> None:
    """A static address must not be another MAC's reserved one, nor another than the MAC's own."""
    found = [r for r in state.reserved_ips if r.mac_address == mac or r.ip == ip]
    if len(found) > 1:
        raise Conflict(f"The MAC address {mac} or the static IP {ip} are associated to reserved IP and can't be used.")
    for kept in found:
        if kept.ip != ip:
            raise Conflict(f"The static IP {ip} does not match the reserved IP {kept.ip} for the MAC address {mac}.")
        if kept.mac_address != mac:
            raise Conflict(f"The static IP {ip} is already reserved for the mac address {kept.mac_address}.")


# -- links of interfaces --------------------------------------------------------------------------------------------


def is_link_up(link: StaticIP) -> bool:
    return link.mode == "link_up"


def _gives_way(old: StaticIP, subnet: Subnet | None) -> bool:
    """LINK_UP to any other link, DHCP to one of the same IP version (or of an unknown one)."""
    if is_link_up(old):
        return True
    if old.mode != "dhcp" or old.subnet is None or subnet is None:
        return old.mode == "dhcp"
    return network_of(old.subnet).version == network_of(subnet).version


def link(state: State, interface: Interface, mode: str, subnet: Subnet | None, ip: str | None = None) -> StaticIP:
    """Link an interface to a subnet; DHCP and LINK_UP give way to what takes an address."""
    if mode == "static" and subnet is not None:
        if ip is None:
            ip = next_ip(state, subnet)
        else:
            check_reserved(state, interface.mac_address, ip)
            if address_in_use(state, ip):
                raise NotFound("IP address is already in use.")
    if interface.vlan is None and subnet is not None:
        interface.vlan = subnet.vlan
    for old in [a for a in interface.links if _gives_way(a, subnet)]:
        state.remove_address(old)
    kind = {"auto": AllocType.AUTO, "dhcp": AllocType.DHCP}.get(mode, AllocType.STICKY)
    return state.add_address(alloc_type=kind, ip=ip if mode == "static" else None, subnet=subnet, interface=interface)


def ensure_link_up(state: State, interface: Interface) -> None:
    """An interface on a VLAN has at least a LINK_UP, and no LINK_UP beside another link."""
    ups = [a for a in interface.links if is_link_up(a)]
    if not interface.links:
        if interface.vlan is not None:
            link(state, interface, "link_up", None)
    elif ups and len(ups) < len(interface.links):
        for up in ups:
            state.remove_address(up)


def clear_links(state: State, interface: Interface) -> None:
    for old in list(interface.links):
        state.remove_address(old)


def children(interface: Interface) -> list[Interface]:
    return [i for i in interface.node.interfaces if interface in i.parents]


def remove_interface(state: State, interface: Interface) -> None:
    """With an interface go those that need it as their only parent."""
    for child in children(interface):
        child.parents.remove(interface)
        if not child.parents:
            remove_interface(state, child)
    state.remove_interface(interface)


# -- what goes with a network ---------------------------------------------------------------------------------------


def remove_subnet(state: State, subnet: Subnet) -> None:
    """Its addresses, links, ranges, routes and reservations go, too."""
    for address in state.addresses:
        if address.subnet is subnet:
            state.remove_address(address)
    drop(state.ranges, (r for r in state.ranges if r.subnet is subnet))
    drop(state.reserved_ips, (r for r in state.reserved_ips if r.subnet is subnet))
    drop(state.routes, (r for r in state.routes if subnet in (r.source, r.destination)))
    drop(state.dhcp_snippets, (s for s in state.dhcp_snippets if s.subnet is subnet))
    state.subnets.discard(subnet)


def remove_vlan(state: State, vlan: VLAN) -> None:
    """Subnets and NICs move to the fabric's default VLAN; VLAN interfaces go."""
    fallback = default_vlan(state, vlan.fabric)
    for subnet in state.subnets.where(vlan=vlan):
        subnet.vlan = fallback
    for interface in state.interfaces:
        if interface.vlan is vlan:
            if interface.type == "vlan":
                remove_interface(state, interface)
            else:
                interface.vlan = fallback
    for other in state.vlans.where(relay_vlan=vlan):
        other.relay_vlan = None
    state.vlans.discard(vlan)


def drop(table: Table[Any], rows: Iterable[HasId]) -> None:
    for row in list(rows):
        table.discard(row)
