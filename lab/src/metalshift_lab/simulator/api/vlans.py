# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""fabrics/{fabric}/vlans/ and vlans/"""

from __future__ import annotations

from typing import Any

from metalshift_lab.simulator import network
from metalshift_lab.simulator.api import fabrics
from metalshift_lab.simulator.errors import BadRequest, NotFound
from metalshift_lab.simulator.forms import Field, Form, among, assign, choice, form_bool, integer, pattern
from metalshift_lab.simulator.http import NO_CONTENT, Request
from metalshift_lab.simulator.model import VLAN, Controller, Fabric, Space
from metalshift_lab.simulator.render import Render
from metalshift_lab.simulator.routing import delete, get, post, put, resource
from metalshift_lab.simulator.state import State

VID_RANGE = "VID must be between 0 and 4094."
MTU_RANGE = "MTU must be between 552 and 65535."
TAKEN = "A VLAN with the specified VID already exists in the destination fabric."
WRITTEN = (
    "name", "description", "vid", "mtu", "dhcp_on", "primary_rack", "secondary_rack", "relay_vlan", "space", "fabric",
)  # fmt: skip


def fields(state: State, vlan: VLAN | None) -> list[Field]:
    racks = [n for n in state.nodes if isinstance(n, Controller)]

    def rack(value: str) -> Controller:
        choice([r.system_id for r in racks])(value)
        return next(r for r in racks if r.system_id == value)

    def relay(value: str) -> VLAN | None:
        found = state.vlans.find(value)
        if vlan is not None and vlan.dhcp_on:
            return None
        return found if found is not None and found is not vlan and found.relay_vlan is None else None

    def space(value: str) -> Space | None:
        if value == network.UNDEFINED_SPACE:
            return None
        if network.identifier(value, "space") is not None:
            found: Space = network.choice(state.spaces, "space", lambda v: network.find_space(state, v))(value)
            return found
        return network.known(network.find_space(state, value), "Space")

    return [
        Field("name", pattern(r"[ \w-]+", max_length=256), empty=None),
        Field("description"),
        Field("vid", integer(), required=True, empty=None),
        Field("mtu", integer(552), empty=None),
        Field("dhcp_on", form_bool, empty=False),
        Field("primary_rack", rack, empty=None),
        Field("secondary_rack", rack, empty=None),
        Field("relay_vlan", among(relay), empty=None),
        Field("space", space, empty=None),
        Field("fabric", network.choice(state.fabrics, "fabric", lambda v: network.find_fabric(state, v)), empty=None),
    ]


def vlan_form(request: Request, fabric: Fabric, vlan: VLAN | None = None) -> Form:
    state = request.state
    form = Form(request.data, fields(state, vlan), partial=vlan is not None)
    if vlan is not None and form.cleaned.get("vid", 0) is None:
        del form.cleaned["vid"]
    if form.unbound:
        form.finish()
    _check_dhcp(state, form, vlan)
    _check_racks(form, vlan)
    vid = form.get("vid", vlan.vid if vlan else None)
    if (vid is None and vlan is None) or (vid is not None and not 0 <= vid <= 4094):
        form.fail("vid", VID_RANGE)
    elif "vid" not in form.errors:
        target = form.get("fabric") or fabric
        if any(v.vid == vid and v is not vlan for v in state.vlans.where(fabric=target)):
            form.fail("__all__", TAKEN)
    if (form.get("mtu") or 0) > 65535:
        form.fail("mtu", MTU_RANGE)
    form.finish()
    return form


def _check_dhcp(state: State, form: Form, vlan: VLAN | None) -> None:
    if not form.get("dhcp_on"):
        return
    subnets = [s for s in state.subnets if vlan is not None and s.vlan is vlan]
    if not any(r.type == "dynamic" for s in subnets for r in network.ranges_of(state, s)):
        form.fail("dhcp_on", "dhcp can only be turned on when a dynamic IP range is defined.")
    elif not form.get("primary_rack") and (vlan is None or vlan.primary_rack is None):
        form.fail("__all__", "dhcp can only be turned on when a primary rack controller is set.")


def _check_racks(form: Form, vlan: VLAN | None) -> None:
    """A removed primary is replaced by the secondary; the two are never the same."""
    primary = form.get("primary_rack", vlan.primary_rack if vlan else None)
    secondary = form.get("secondary_rack", vlan.secondary_rack if vlan else None)
    if vlan is not None and primary is None and vlan.secondary_rack is not None:
        form.cleaned.update(primary_rack=vlan.secondary_rack, secondary_rack=None)
    elif primary is not None and primary is secondary:
        before = vlan.primary_rack if vlan else None
        if vlan is not None and form.given("primary_rack") and not form.given("secondary_rack"):
            form.cleaned["secondary_rack"] = None
        elif before is not None and primary is before:
            form.fail("__all__", f"{before.system_id} is already set as the primary rack controller")
        else:
            form.fail("__all__", "The primary and secondary rack must be different")


def find(state: State, fabric: Fabric, vid: str) -> VLAN:
    return network.known(network.find_vlan(state.vlans.where(fabric=fabric), vid), "VLAN")


@resource("fabrics/{fabric}/vlans/")
class Vlans:
    @get()
    def list(self, request: Request, fabric: str) -> Any:
        found = fabrics.find(request.state, fabric)
        render = Render(request.state)
        return [render.vlan(v) for v in request.state.vlans.where(fabric=found)]

    @post()
    def create(self, request: Request, fabric: str) -> Any:
        found = fabrics.find(request.state, fabric)
        request.require_admin("")
        values = vlan_form(request, found).cleaned
        values["fabric"] = found
        values["mtu"] = values["mtu"] or 1500
        if values["dhcp_on"]:
            values["relay_vlan"] = None
        return Render(request.state).vlan(request.state.vlans.make(VLAN, **values))


def _update(request: Request, vlan: VLAN) -> Any:
    request.require_admin("")
    form = vlan_form(request, vlan.fabric, vlan)
    for name in ("fabric", "mtu", "name"):
        if form.cleaned.get(name, "") is None:
            del form.cleaned[name]
    assign(vlan, form, WRITTEN)
    if vlan.dhcp_on:
        vlan.relay_vlan = None
    return Render(request.state).vlan(vlan)


def _delete(request: Request, vlan: VLAN) -> Any:
    request.require_admin("")
    if vlan is network.default_vlan(request.state, vlan.fabric):
        raise BadRequest("This VLAN is the default VLAN in the fabric, it cannot be deleted.")
    network.remove_vlan(request.state, vlan)
    return NO_CONTENT


@resource("fabrics/{fabric}/vlans/{vid}/")
class VlanOfFabric:
    def _find(self, request: Request, fabric: str, vid: str) -> VLAN:
        return find(request.state, fabrics.find(request.state, fabric), vid)

    @get()
    def read(self, request: Request, fabric: str, vid: str) -> Any:
        return Render(request.state).vlan(self._find(request, fabric, vid))

    @put()
    def update(self, request: Request, fabric: str, vid: str) -> Any:
        return _update(request, self._find(request, fabric, vid))

    @delete()
    def delete(self, request: Request, fabric: str, vid: str) -> Any:
        return _delete(request, self._find(request, fabric, vid))


@resource("vlans/{id}/")
class VlanItem:
    def _find(self, request: Request, id: str) -> VLAN:
        found = request.state.vlans.find(id)
        if found is None:
            raise NotFound("VLAN with specified ID does not exist.")
        return found

    @get()
    def read(self, request: Request, id: str) -> Any:
        return Render(request.state).vlan(self._find(request, id))

    @put()
    def update(self, request: Request, id: str) -> Any:
        return _update(request, self._find(request, id))

    @delete()
    def delete(self, request: Request, id: str) -> Any:
        return _delete(request, self._find(request, id))
