# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""reservedips/: addresses that DHCP keeps for a MAC."""

from __future__ import annotations

import ipaddress
from typing import Any

from metalshift_lab.simulator import network
from metalshift_lab.simulator.forms import Field, Form, assign, at_most, mac_address
from metalshift_lab.simulator.http import NO_CONTENT, Request
from metalshift_lab.simulator.model import ReservedIP
from metalshift_lab.simulator.render import Render
from metalshift_lab.simulator.routing import delete, get, post, put, resource
from metalshift_lab.simulator.state import State

SINCE = (3, 6)
IMMUTABLE = (
    "The ip, mac_address and the subnet of a reserved ip are immutable. Please delete the entry and recreate it."
)


def fields(state: State) -> list[Field]:
    return [
        Field("ip", network.ip_address, required=True),
        Field("mac_address", mac_address, required=True),
        Field("subnet", network.choice(state.subnets, "subnet", lambda v: network.find_subnet(state, v)), empty=None),
        Field("comment", at_most(255)),
    ]


def reserved_form(request: Request) -> Form:
    state = request.state
    form = Form(request.data, fields(state))
    if form.unbound:
        form.finish()
    if form.given("ip"):
        _check_ip(state, form)
    if "ip" not in form.errors and "mac_address" not in form.errors:
        _check_unique(state, form)
    form.finish()
    return form


def _check_ip(state: State, form: Form) -> None:
    ip, subnet = form.cleaned["ip"], form.get("subnet")
    if "subnet" not in form.errors:
        subnet = subnet or network.best_subnet(state, ip)
        form.cleaned["subnet"] = subnet
        if subnet is None:
            form.fail("subnet", f"Could not find a sutable subnet for {ip}. Please create the subnet first.")
    if subnet is not None:
        whole, address = network.network_of(subnet), ipaddress.ip_address(ip)
        if address not in whole:
            form.fail("ip", "The provided IP is not part of the subnet.")
        if address == whole.network_address:
            form.fail("ip", "The network address cannot be a reserved IP.")
        if address == whole.broadcast_address:
            form.fail("ip", "The broadcast address cannot be a reserved IP.")
        if network.range_with(state, subnet, "dynamic", ip) and address in whole:
            form.fail("ip", "The reserved IP must be outside the dynamic range.")
    user = next((a for a in state.addresses if a.ip == ip), None)
    if user is not None and (user.interface is None or user.interface.mac_address != form.get("mac_address")):
        form.fail("ip", f"The ip {ip} is already in use by another machine.")


def _check_unique(state: State, form: Form) -> None:
    ip, mac, subnet = (form.get(name) for name in ("ip", "mac_address", "subnet"))
    if any(r.ip == ip for r in state.reserved_ips):
        form.fail("ip", "Reserved IP with this IP address already exists.")
    if subnet is not None and any(r.mac_address == mac and r.subnet.vlan is subnet.vlan for r in state.reserved_ips):
        form.fail("__all__", "Reserved IP with this MAC address and Subnet already exists.")


@resource("reservedips/", since=SINCE)
class ReservedIPs:
    @get()
    def list(self, request: Request) -> Any:
        render = Render(request.state)
        return [render.reserved_ip(r) for r in request.state.reserved_ips]

    @post()
    def create(self, request: Request) -> Any:
        form = reserved_form(request)
        now = request.state.now
        made = request.state.reserved_ips.make(ReservedIP, created=now, updated=now, **form.cleaned)
        return Render(request.state).reserved_ip(made)


@resource("reservedips/{id}/", since=SINCE)
class ReservedIPItem:
    @get()
    def read(self, request: Request, id: str) -> Any:
        return Render(request.state).reserved_ip(request.state.reserved_ips.get(id))

    @put()
    def update(self, request: Request, id: str) -> Any:
        """Only the comment may change."""
        found = request.state.reserved_ips.get(id)
        data = request.data
        form = Form(data, fields(request.state), partial=True)
        # MAAS compares texts, and a text is never the number of a subnet.
        if "subnet" in data or any(data.get(n, getattr(found, n)) != getattr(found, n) for n in ("ip", "mac_address")):
            form.fail("__all__", IMMUTABLE)
        form.finish()
        assign(found, form, ("comment",))
        found.updated = request.state.now
        return Render(request.state).reserved_ip(found)

    @delete()
    def delete(self, request: Request, id: str) -> Any:
        request.state.reserved_ips.discard(request.state.reserved_ips.get(id))
        return NO_CONTENT
