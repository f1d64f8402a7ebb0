# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""ipranges/"""

from __future__ import annotations

import ipaddress
from typing import Any

from metalshift_lab.simulator import network
from metalshift_lab.simulator.errors import Forbidden, ServerError
from metalshift_lab.simulator.forms import Field, Form, among, assign, at_most, choice
from metalshift_lab.simulator.http import NO_CONTENT, Request
from metalshift_lab.simulator.model import IPRange, Subnet, User
from metalshift_lab.simulator.render import Render
from metalshift_lab.simulator.routing import delete, get, post, put, resource
from metalshift_lab.simulator.state import State

KINDS = ("dynamic", "reserved")
BOTH_REQUIRED = "Start IP address and end IP address are both required."
NOT_THE_OWNER = "Unable to modify IP range. You don't own the IP range."
NO_DYNAMIC = "Unable to create dynamic IP range. You don't have sufficient privileges."
ENDS = ("start_ip", "end_ip")
WRITTEN = ("subnet", "type", "start_ip", "end_ip", "comment", "user")


def fields(state: State) -> list[Field]:
    return [
        Field("subnet", among(state.subnets.find), required=True, empty=None),
        Field("type", choice(KINDS), required=True),
        Field("start_ip", network.ip_address, required=True),
        Field("end_ip", network.ip_address, required=True),
        Field("comment", at_most(255)),
        Field("user", among(lambda v: state.users.first(username=v)), empty=None),
    ]


def range_form(request: Request, found: IPRange | None = None) -> Form:
    state = request.state
    form = Form(request.data, fields(state), partial=found is not None)
    if form.unbound:
        form.finish()
    if found is None:
        _best_subnet(state, request, form)
        form.cleaned["user"] = request.user
    subnet: Subnet | None = form.get("subnet", found.subnet if found else None)
    kind = form.get("type", found.type if found else "")
    _unforeseen(state, form, kind)
    start, end = (form.get(name, getattr(found, name) if found else "") for name in ENDS)
    _check(state, form, subnet, kind, start, end, found)
    form.finish()
    return form


def _best_subnet(state: State, request: Request, form: Form) -> None:
    """Without a subnet, the one the first address is in."""
    if "subnet" in request.data or not form.get("start_ip"):
        return
    subnet = network.best_subnet(state, form.cleaned["start_ip"])
    if subnet is not None:
        form.cleaned["subnet"] = subnet
        form.errors.pop("subnet", None)


def _unforeseen(state: State, form: Form, kind: str) -> None:
    """Since there are reserved IPs, the form of a dynamic range relies on fields that may be missing."""
    if kind == "dynamic" and state.release >= (3, 6):
        for name in ("subnet", *ENDS):
            if name in form.errors:
                raise ServerError(repr(name))


def _check(
    state: State, form: Form, subnet: Subnet | None, kind: str, start: str, end: str, found: IPRange | None
) -> None:
    if not start or not end or not form.errors.keys().isdisjoint(ENDS):
        # The sentence of the model comes on top of the form's.
        if not found:
            _fail(form, BOTH_REQUIRED)
        return None
    first, last = ipaddress.ip_address(start), ipaddress.ip_address(end)
    if kind == "dynamic" and subnet is not None and _holds_reserved(state, subnet, first, last):
        form.fail("__all__", "The dynamic IP range cannot include reserved IPs.")
    if first.version != last.version:
        return _fail(form, "Start IP address and end IP address must be in the same address family.")
    if int(last) < int(first):
        return _fail(form, "End IP address must not be less than Start IP address.", "end_ip")
    if subnet is not None and not _inside(form, subnet, first, last):
        return None
    if first.version == 6 and kind == "dynamic" and int(last) - int(first) < 255:
        return _fail(form, "IPv6 dynamic range must be at least 256 addresses in size.")
    if subnet is None or kind not in KINDS:
        return None
    room = network.room_for_range(state, subnet, kind, found)
    if not room:
        return _fail(form, f"There is no room for any {kind} ranges on this subnet.")
    if not any(int(first) in gap and int(last) in gap for gap in room):
        rest = "range" if kind == "reserved" else "IP address or range"
        return _fail(form, f"Requested {kind} range conflicts with an existing {rest}.")
    return None


def _inside(form: Form, subnet: Subnet, first: network.Address, last: network.Address) -> bool:
    cidr = network.network_of(subnet)
    if first not in cidr and last not in cidr:
        _fail(form, f"IP addresses must be within subnet: {cidr}.")
    elif first not in cidr:
        _fail(form, f"Start IP address must be within subnet: {cidr}.", "start_ip")
    elif last not in cidr:
        _fail(form, f"End IP address must be within subnet: {cidr}.", "end_ip")
    elif first == cidr.network_address:
        _fail(form, "Reserved network address cannot be included in IP range.", "start_ip")
    elif cidr.version == 4 and last == cidr.broadcast_address:
        _fail(form, "Broadcast address cannot be included in IP range.", "end_ip")
    else:
        return True
    return False


def _fail(form: Form, message: str, *names: str) -> None:
    for name in names or ENDS:
        form.fail(name, message)


def _holds_reserved(state: State, subnet: Subnet, first: network.Address, last: network.Address) -> bool:
    return any(
        int(first) <= int(ipaddress.ip_address(r.ip)) <= int(last) for r in state.reserved_ips if r.subnet is subnet
    )


def owned(user: User, found: IPRange) -> None:
    if not user.is_superuser and found.user is not user:
        raise Forbidden(NOT_THE_OWNER)


@resource("ipranges/")
class IPRanges:
    @get()
    def list(self, request: Request) -> Any:
        render = Render(request.state)
        return [render.ip_range(r) for r in request.state.ranges]

    @post()
    def create(self, request: Request) -> Any:
        if request.data.get("type") == "dynamic" and not request.is_admin:
            raise Forbidden(NO_DYNAMIC)
        form = range_form(request)
        return Render(request.state).ip_range(request.state.ranges.make(IPRange, **form.cleaned))


@resource("ipranges/{id}/")
class IPRangeItem:
    @get()
    def read(self, request: Request, id: str) -> Any:
        return Render(request.state).ip_range(request.state.ranges.get(id))

    @put()
    def update(self, request: Request, id: str) -> Any:
        found = request.state.ranges.get(id)
        owned(request.me, found)
        form = range_form(request, found)
        form.cleaned = {k: v for k, v in form.cleaned.items() if v is not None}
        assign(found, form, WRITTEN)
        return Render(request.state).ip_range(found)

    @delete()
    def delete(self, request: Request, id: str) -> Any:
        found = request.state.ranges.get(id)
        owned(request.me, found)
        request.state.ranges.discard(found)
        return NO_CONTENT
