# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""subnets/"""

from __future__ import annotations

import ipaddress
import re
from typing import Any

from metalshift_lab.simulator import network
from metalshift_lab.simulator.errors import BadRequest
from metalshift_lab.simulator.forms import (
    Field,
    Form,
    Wrong,
    among,
    assign,
    choice,
    form_bool,
    integer,
    pattern,
    string_bool,
)
from metalshift_lab.simulator.http import NO_CONTENT, Request
from metalshift_lab.simulator.model import Subnet
from metalshift_lab.simulator.render import Render
from metalshift_lab.simulator.routing import delete, get, post, put, resource
from metalshift_lab.simulator.state import State

NAME = r"[.: \w/-]+"
CIDR_FORMAT = "Required format: <network>/<prefixlen>."
NO_SPACE = "Spaces may no longer be set on subnets. Set the space on the underlying VLAN."
WRITTEN = (
    "name", "description", "vlan", "cidr", "gateway_ip", "rdns_mode", "active_discovery", "allow_dns", "allow_proxy",
    "managed", "dns_servers", "disabled_boot_architectures",
)  # fmt: skip


def cidr(value: str) -> str:
    found = network.parse_network(value) if "/" in value else None
    if found is None:
        raise Wrong(CIDR_FORMAT)
    if found.prefixlen == 0:
        raise Wrong("Prefix length must be greater than 0.")
    return str(found)


def fields(state: State) -> list[Field]:
    return [
        Field("name", pattern(NAME, max_length=255), empty=None),
        Field("description"),
        Field("vlan", among(state.vlans.find), empty=None),
        Field("fabric", among(state.fabrics.find), empty=None),
        Field("vid", integer(0, 4094), empty=None),
        Field("cidr", cidr, required=True, empty=None),
        Field("gateway_ip", network.ip_address, empty=None),
        Field("rdns_mode", lambda v: int(choice(["0", "1", "2"])(v)), empty=None),
        Field("active_discovery", form_bool, empty=False),
        Field("allow_dns", form_bool, empty=True),
        Field("allow_proxy", form_bool, empty=True),
        Field("managed", form_bool, empty=True),
    ]


def subnet_form(request: Request, subnet: Subnet | None = None) -> Form:
    state = request.state
    form = Form(request.data, fields(state), partial=subnet is not None)
    if form.unbound:
        form.finish()
    if "space" in request.data:
        form.fail("space", NO_SPACE)
    _dns_servers(request, form)
    _boot_architectures(request, form)
    if subnet is None:
        form.cleaned["name"] = form.get("name") or form.get("cidr")
        _vlan(state, form)
    elif subnet.name == subnet.cidr and form.get("cidr") and form.get("name", subnet.name) == subnet.name:
        # Named after its addresses, it stays so.
        form.cleaned["name"] = form.cleaned["cidr"]
    _gateway(form, subnet)
    form.unique("cidr", "Subnet", {s.cidr for s in state.subnets if s is not subnet})
    form.finish()
    return form


def _dns_servers(request: Request, form: Form) -> None:
    """Repeated keys, commas and blanks all separate."""
    if "dns_servers" not in request.data:
        return
    values = request.data.getlist("dns_servers")
    servers = [ip for value in values for ip in re.split(r"[,\s]+", value) if ip]
    wrong = next((ip for ip in servers if network.parse_ip(ip) is None), None)
    if wrong is not None:
        form.fail("__all__", f"Invalid IP address: {wrong}; provide a list of space-separated IP addresses")
    form.cleaned["dns_servers"] = servers


def _boot_architectures(request: Request, form: Form) -> None:
    if "disabled_boot_architectures" not in request.data:
        return
    names = re.split(r"[,\s]+", request.data.get("disabled_boot_architectures").strip())
    known = {**{name: name for name in BOOT_METHODS}, **{code: name for name, code in BOOT_METHODS.items()}}
    chosen = []
    for name in filter(None, names):
        method = known.get(name.replace("0x", "00:"))
        if method is None:
            form.fail("disabled_boot_architectures", f"Unknown boot architecture {name}")
        else:
            chosen.append(method)
    form.cleaned["disabled_boot_architectures"] = sorted(set(chosen))


def _vlan(state: State, form: Form) -> None:
    """The VLAN of a new subnet: given itself, or by tag and fabric, or the default one."""
    if {"vlan", "fabric", "vid"} & set(form.errors):
        return
    fabric, vlan, vid = form.get("fabric"), form.get("vlan"), form.get("vid")
    if vlan is not None:
        if fabric is not None and vlan.fabric is not fabric:
            name = Render(state).vlan(vlan)["name"]
            form.fail("vlan", f"VLAN {vlan.fabric.name}.{name} is not in fabric name={fabric.name}.")
        return
    where = fabric or next(iter(state.fabrics))
    if not vid:
        form.cleaned["vlan"] = network.default_vlan(state, where)
        return
    form.cleaned["vlan"] = state.vlans.first(fabric=where, vid=vid)
    if form.cleaned["vlan"] is None:
        place = f"fabric name={fabric.name}" if fabric else "default fabric"
        form.fail("vid", f"No VLAN with vid {vid} in {place}.")


def _gateway(form: Form, subnet: Subnet | None) -> None:
    gateway = form.get("gateway_ip", subnet.gateway_ip if subnet else None)
    chosen = form.get("cidr", subnet.cidr if subnet else None)
    if gateway and chosen and {"gateway_ip", "cidr"}.isdisjoint(form.errors):
        address = ipaddress.ip_address(gateway)
        if address not in ipaddress.ip_network(chosen) and not (address.version == 6 and address.is_link_local):
            form.fail("gateway_ip", "Gateway IP must be within CIDR range.")


# Names of boot methods with their DHCP architecture octets.
BOOT_METHODS = {
    "pxe": "00:00", "uefi_amd64_tftp": "00:07", "uefi_ebc_tftp": "00:09", "uefi_arm64_tftp": "00:0B",
    "open-firmware_ppc64el": "00:0C", "powernv": "00:0E", "ipxe": "00:0F", "uefi_amd64_http": "00:10",
    "uefi_arm64_http": "00:13", "s390x": "00:1F", "s390x_partition": "00:20",
}  # fmt: skip


def find(request: Request, specifier: str) -> Subnet:
    return network.known(network.find_subnet(request.state, specifier), "Subnet")


def written(request: Request, subnet: Subnet) -> dict[str, Any]:
    """Right after a write, MAAS shows a missing gateway as the form's empty text."""
    return {**Render(request.state).subnet(subnet), "gateway_ip": subnet.gateway_ip or ""}


@resource("subnets/")
class Subnets:
    @get()
    def list(self, request: Request) -> Any:
        render = Render(request.state)
        return [render.subnet(s) for s in request.state.subnets]

    @post(admin=True)
    def create(self, request: Request) -> Any:
        form = subnet_form(request)
        values = {k: v for k, v in form.cleaned.items() if k in WRITTEN and v is not None}
        return written(request, request.state.subnets.make(Subnet, **values))


@resource(r"subnets/{id:[.: \w-]+(?:/\d\d?\d?)?}/")
class SubnetItem:
    @get()
    def read(self, request: Request, id: str) -> Any:
        return Render(request.state).subnet(find(request, id))

    @put()
    def update(self, request: Request, id: str) -> Any:
        subnet = find(request, id)
        request.require_admin("")
        form = subnet_form(request, subnet)
        form.cleaned = {k: v for k, v in form.cleaned.items() if v is not None or k == "gateway_ip"}
        assign(subnet, form, WRITTEN)
        return written(request, subnet)

    @delete()
    def delete(self, request: Request, id: str) -> Any:
        subnet = find(request, id)
        request.require_admin("")
        if subnet.vlan.dhcp_on and any(network.ranges_of(request.state, subnet, "dynamic")):
            raise BadRequest(
                "Cannot delete a subnet that is actively servicing a dynamic IP range. "
                "(Delete the dynamic range or disable DHCP first.)"
            )
        network.remove_subnet(request.state, subnet)
        return NO_CONTENT

    @get("reserved_ip_ranges")
    def reserved_ip_ranges(self, request: Request, id: str) -> Any:
        return [s.render() for s in network.in_use(request.state, find(request, id))]

    @get("unreserved_ip_ranges")
    def unreserved_ip_ranges(self, request: Request, id: str) -> Any:
        return [s.render(purpose=False) for s in network.free(request.state, find(request, id))]

    @get("statistics")
    def statistics(self, request: Request, id: str) -> Any:
        subnet = find(request, id)
        ranges = string_bool(request.query, "include_ranges")
        suggestions = string_bool(request.query, "include_suggestions")
        return network.statistics(network.usage(request.state, subnet), ranges=ranges, suggestions=suggestions)

    @get("ip_addresses")
    def ip_addresses(self, request: Request, id: str) -> Any:
        subnet = find(request, id)
        user = string_bool(request.query, "with_username", True)
        summary = string_bool(request.query, "with_node_summary", True)
        found = [a for a in request.state.addresses if a.subnet is subnet and a.ip]
        found.sort(key=lambda a: int(ipaddress.ip_address(a.ip or "")))
        render = Render(request.state)
        # Who a plain user shares the subnet with is not for them to know.
        return [render.related_ip(a, user=user, summary=summary and request.is_admin) for a in found]
