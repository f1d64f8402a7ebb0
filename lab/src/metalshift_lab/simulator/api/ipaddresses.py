# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""ipaddresses/: addresses that users reserve."""

from __future__ import annotations

from typing import Any

from metalshift_lab.simulator import network
from metalshift_lab.simulator.errors import BadRequest, Forbidden, Invalid, NotFound
from metalshift_lab.simulator.forms import Clean, Wrong, mac_address, mandatory, string_bool
from metalshift_lab.simulator.http import NO_CONTENT, Request
from metalshift_lab.simulator.model import AllocType, DNSResource, Domain, StaticIP, Subnet, UnknownInterface
from metalshift_lab.simulator.render import Render
from metalshift_lab.simulator.routing import get, post, resource
from metalshift_lab.simulator.state import State

IN_DYNAMIC_RANGE = (
    "IP address {ip} belongs to an existing dynamic range. To reserve this IP address, a MAC address is required. "
    "(Create a device instead.)"
)
NOT_YOURS = (
    "IP address {ip} does not exist, is not the correct type of address, or does not belong to the requesting user.\n"
    "If you are sure you want to release this address, use force=true as a MAAS administrator."
)
OF_A_NODE = (
    "MAC address {mac} already belongs to {hostname}. Use of the interface API is required, for an interface that "
    "belongs to a node."
)


@resource("ipaddresses/")
class IPAddresses:
    @get()
    def list(self, request: Request) -> Any:
        everything = string_bool(request.query, "all")
        ip, owner = request.query.get("ip"), request.query.get("owner")
        if ip is not None and network.parse_ip(ip) is None:
            raise BadRequest("Parameter 'ip' must contain an IP address.")
        if everything and not request.is_admin:
            raise Forbidden("Listing all IP addresses requires admin privileges.")
        if owner is not None and not request.is_admin:
            raise Forbidden("Listing another user's IP addresses requires admin privileges.")
        found = [a for a in request.state.addresses if a.ip and (ip is None or a.ip == ip)]
        if owner is not None:
            found = [a for a in found if a.user is not None and a.user.username == owner]
        elif not everything:
            found = [a for a in found if a.user is request.user]
        if not everything:
            found = [a for a in found if a.alloc_type is AllocType.USER_RESERVED]
        render = Render(request.state)
        return [render.ip_address(a) for a in found]

    @post("reserve")
    def reserve(self, request: Request) -> Any:
        data = request.data
        ip = data.get("ip") if data.get("ip") is not None else data.get("ip_address")
        specifier, hostname, mac = data.get("subnet"), data.get("hostname"), data.get("mac")
        errors = {
            **_field("ip_address", network.ip_address, ip),
            **_field("mac", mac_address, mac),
        }
        if errors:
            raise Invalid(errors)
        subnet = _subnet(request.state, ip, specifier)
        found = _claim(request, subnet, ip, mac_address(mac) if mac else None, hostname or "")
        return Render(request.state).ip_address(found)

    @post("release")
    def release(self, request: Request) -> Any:
        ip = mandatory(request.data, "ip")
        force = string_bool(request.data, "force")
        discovered = string_bool(request.data, "discovered")
        if force and not request.is_admin:
            raise Forbidden("Force-releasing an IP address requires admin privileges.")
        errors = _field("ip", network.ip_address, ip, required=True)
        if errors:
            raise Invalid(errors)
        found = next((a for a in request.state.addresses if _may_release(request, a, ip, force, discovered)), None)
        if found is None:
            raise BadRequest(f"IP address {ip} does not exist." if force else NOT_YOURS.format(ip=ip))
        interface = found.interface
        request.state.remove_address(found)
        if interface is not None and interface.enabled:
            network.ensure_link_up(request.state, interface)
        return NO_CONTENT


def _may_release(request: Request, address: StaticIP, ip: str, force: bool, discovered: bool) -> bool:
    if address.ip != ip:
        return False
    if force:
        return (address.alloc_type is AllocType.DISCOVERED) is discovered
    return address.alloc_type is AllocType.USER_RESERVED and address.user is request.user


def _field(name: str, clean: Clean, value: str | None, *, required: bool = False) -> dict[str, list[str]]:
    if not value:
        return {name: ["This field is required."]} if required else {}
    try:
        clean(value)
    except Wrong as wrong:
        return {name: wrong.messages}
    return {}


def _subnet(state: State, ip: str | None, specifier: str | None) -> Subnet:
    if ip:
        found = network.best_subnet(state, ip)
        if found is None:
            raise BadRequest(f"No known subnet for IP address: {ip}.")
        return found
    if specifier is None:
        raise BadRequest("Must supply either the 'subnet' or the 'ip' parameter.")
    found = network.find_subnet(state, specifier)
    if found is None:
        raise BadRequest(f"Unable to identify subnet: {specifier}.")
    return found


def _domain(state: State, hostname: str) -> tuple[str, Domain]:
    host, dot, domain = hostname.partition(".")
    if not dot or not host:
        return hostname, state.default_domain
    return host, network.known(state.domains.first(name=domain), "Domain")


def _claim(request: Request, subnet: Subnet, ip: str | None, mac: str | None, hostname: str) -> StaticIP:
    state = request.state
    if ip and network.range_with(state, subnet, "dynamic", ip):
        raise Forbidden(IN_DYNAMIC_RANGE.format(ip=ip))
    host, domain = _domain(state, hostname)
    if mac is None:
        chosen, unknown = network.allocate(state, subnet, ip or None), None
    else:
        chosen, unknown = _for_mac(state, subnet, ip or None, mac)
    found = state.add_address(
        alloc_type=AllocType.USER_RESERVED, ip=chosen, subnet=subnet, user=request.user, unknown_interface=unknown
    )
    if host:
        record = state.dns_resources.first(name=host, domain=domain)
        record = record or state.dns_resources.make(DNSResource, name=host, domain=domain)
        record.addresses.append(found)
    return found


def _for_mac(state: State, subnet: Subnet, ip: str | None, mac: str) -> tuple[str, UnknownInterface]:
    for interface in state.interfaces_by_mac(mac):
        raise BadRequest(OF_A_NODE.format(mac=mac, hostname=interface.node.hostname))
    if ip is not None:
        network.check_reserved(state, mac, ip)
        if network.address_in_use(state, ip):
            raise NotFound("IP address is already in use.")
    chosen = ip or network.next_ip(state, subnet)
    known = (a.unknown_interface for a in state.addresses if a.unknown_interface)
    unknown = next((u for u in known if u.mac_address == mac), None)
    if unknown is None:
        unknown = UnknownInterface(id=state.interfaces.reserve_id(), mac_address=mac, vlan=subnet.vlan)
    return chosen, unknown
