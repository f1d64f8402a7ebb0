# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""nodes/{system_id}/interfaces/"""

from __future__ import annotations

from typing import Any

from metalshift_lab.simulator import interface_forms, network
from metalshift_lab.simulator.errors import Conflict, Forbidden, NotFound
from metalshift_lab.simulator.forms import Field, Form, form_bool, listed, mandatory, string_bool
from metalshift_lab.simulator.http import NO_CONTENT, Request
from metalshift_lab.simulator.model import Controller, Interface, Machine, Node, StaticIP, Status, Subnet
from metalshift_lab.simulator.permissions import may_administer, may_edit, may_see
from metalshift_lab.simulator.render import Render
from metalshift_lab.simulator.routing import delete, get, post, put, resource
from metalshift_lab.simulator.state import State

CONFIGURABLE = (Status.NEW, Status.READY, Status.ALLOCATED, Status.BROKEN)
MODES = ("auto", "dhcp", "static", "link_up")
IN_BOND = "Cannot link interface({nic}) when interface is in a bond({bond})."
LINKED_ALREADY = (
    "Cannot configure interface to link up (with no IP address) while other links are already configured. "
    "Specify force=True to override this behavior and delete all links."
)


def configurable(node: Node, what: str, *more: Status) -> None:
    if isinstance(node, Machine) and node.status not in (*CONFIGURABLE, *more):
        raise Conflict(f"Cannot {what} interface because the machine is not New, Ready, Allocated, or Broken.")


def no_controller(node: Node, what: str) -> None:
    if isinstance(node, Controller):
        raise Forbidden(f"Cannot {what} interface on a controller.")


def find(request: Request, system_id: str, id: str) -> Interface:
    """By id or name; administrators change machines, owners their devices."""
    node = request.state.node_by_system_id(system_id)
    found = next((i for i in node.interfaces if id in (str(i.id), i.name)), None) if node else None
    if found is None:
        raise NotFound.of("Interface")
    return found


def administered(request: Request, system_id: str, id: str) -> Interface:
    interface = find(request, system_id, id)
    check = may_administer if isinstance(interface.node, (Machine, Controller)) else may_edit
    check(request.me, interface.node)
    return interface


def rendered(request: Request, interface: Interface) -> Any:
    return Render(request.state).interface(interface)


@resource("nodes/{system_id}/interfaces/")
class Interfaces:
    @get()
    def list(self, request: Request, system_id: str) -> Any:
        node = request.state.node(system_id)
        may_see(request.me, node)
        render = Render(request.state)
        return [render.interface(i) for i in node.interfaces]

    @post("create_physical")
    def create_physical(self, request: Request, system_id: str) -> Any:
        node = request.state.node(system_id)
        may_edit(request.me, node)
        no_controller(node, "create")
        if isinstance(node, Machine):
            may_administer(request.me, node)
        return _create(request, node, "physical", "create")

    @post("create_bond")
    def create_bond(self, request: Request, system_id: str) -> Any:
        return _create(request, _machine(request, system_id), "bond", "create bond")

    @post("create_vlan")
    def create_vlan(self, request: Request, system_id: str) -> Any:
        return _create(request, _machine(request, system_id), "vlan", "create VLAN")

    @post("create_bridge")
    def create_bridge(self, request: Request, system_id: str) -> Any:
        return _create(request, _machine(request, system_id), "bridge", "create bridge")


def _machine(request: Request, system_id: str) -> Machine:
    machine = request.state.machine(system_id)
    may_administer(request.me, machine)
    return machine


def _create(request: Request, node: Node, kind: str, what: str) -> Any:
    configurable(node, what)
    form = interface_forms.read(request.state, request.data, node, kind)
    return rendered(request, interface_forms.create(request.state, node, kind, form))


@resource("nodes/{system_id}/interfaces/{id}/")
class InterfaceItem:
    @get()
    def read(self, request: Request, system_id: str, id: str) -> Any:
        interface = find(request, system_id, id)
        may_see(request.me, interface.node)
        return rendered(request, interface)

    @put()
    def update(self, request: Request, system_id: str, id: str) -> Any:
        interface = administered(request, system_id, id)
        state, node = request.state, interface.node
        configurable(node, "update interface", Status.DEPLOYED)
        if isinstance(node, Controller):
            if interface.type == "vlan":
                raise Forbidden("Cannot modify VLAN interface on controller.")
            form = interface_forms.read_controller(state, request.data, interface)
        elif isinstance(node, Machine) and node.status is Status.DEPLOYED:
            form = interface_forms.read_deployed(state, request.data, interface)
        else:
            form = interface_forms.read(state, request.data, node, interface.type, interface)
        interface_forms.update(state, interface, form)
        return rendered(request, interface)

    @delete()
    def delete(self, request: Request, system_id: str, id: str) -> Any:
        interface = administered(request, system_id, id)
        no_controller(interface.node, "delete interface")
        configurable(interface.node, "delete interface")
        network.remove_interface(request.state, interface)
        return NO_CONTENT

    @post("link_subnet")
    def link_subnet(self, request: Request, system_id: str, id: str) -> Any:
        force = string_bool(request.data, "force")
        interface = _linkable(request, system_id, id, "link subnet", "link subnet")
        form = link_form(request, interface, force)
        _link(request.state, interface, form, force)
        return rendered(request, interface)

    @post("unlink_subnet")
    def unlink_subnet(self, request: Request, system_id: str, id: str) -> Any:
        interface = _linkable(request, system_id, id, "link subnet", "unlink subnet")
        form = Form(request.data, [Field("id", _link_of(interface.links, "id"), required=True)])
        form.finish()
        request.state.remove_address(form.cleaned["id"])
        if interface.enabled:
            network.ensure_link_up(request.state, interface)
        return rendered(request, interface)

    @post("set_default_gateway")
    def set_default_gateway(self, request: Request, system_id: str, id: str) -> Any:
        interface = _linkable(request, system_id, id, "link subnet", "set default gateway")
        usable = [a for a in interface.links if a.subnet is not None and a.subnet.gateway_ip]
        form = Form(request.data, [Field("link_id", _link_of(usable, "link_id"), empty=None)])
        if not form.unbound:
            _check_gateways(form, usable)
        form.finish()
        chosen = form.cleaned["link_id"]
        node = interface.node
        for link in reversed([chosen] if chosen else usable):
            if isinstance(node, Machine):
                node.gateway_links[_version(link)] = link
        return rendered(request, interface)

    @post("disconnect")
    def disconnect(self, request: Request, system_id: str, id: str) -> Any:
        interface = _linkable(request, system_id, id, "disconnect", "disconnect")
        network.clear_links(request.state, interface)
        interface.vlan = None
        return rendered(request, interface)

    @post("add_tag")
    def add_tag(self, request: Request, system_id: str, id: str) -> Any:
        interface = administered(request, system_id, id)
        tag = mandatory(request.data, "tag")
        if tag not in interface.tags:
            interface.tags.append(tag)
        return rendered(request, interface)

    @post("remove_tag")
    def remove_tag(self, request: Request, system_id: str, id: str) -> Any:
        interface = administered(request, system_id, id)
        tag = mandatory(request.data, "tag")
        if tag in interface.tags:
            interface.tags.remove(tag)
        return rendered(request, interface)


def _linkable(request: Request, system_id: str, id: str, on_controller: str, what: str) -> Interface:
    interface = administered(request, system_id, id)
    no_controller(interface.node, on_controller)
    configurable(interface.node, what)
    return interface


def _version(link: StaticIP) -> int:
    assert link.subnet is not None
    return network.network_of(link.subnet).version


def _link_of(links: list[StaticIP], name: str) -> Any:
    """A field that takes the id of one of these links."""

    def clean(value: str) -> StaticIP:
        listed(name, [str(a.id) for a in links])(value)
        return next(a for a in links if str(a.id) == value)

    return clean


def _check_gateways(form: Form, usable: list[StaticIP]) -> None:
    if not usable:
        form.fail("__all__", "This interface has no usable gateways.")
        return
    if form.get("link_id") is not None or "link_id" in form.errors:
        return
    gateways = {(_version(a), a.subnet.gateway_ip) for a in usable if a.subnet}
    versions = [version for version, _ignored in gateways]
    many = [f"IPv{v}" for v in (4, 6) if versions.count(v) > 1]
    if many:
        plural = "s" if len(many) > 1 else ""
        text = f"Interface has more than one usable {' and '.join(many)} gateway{plural}."
        form.fail("link_id", f"This field is required; {text}")


# -- link_subnet ----------------------------------------------------------------------------------------------------


def link_form(request: Request, interface: Interface, force: bool) -> Form:
    state = request.state
    modes = MODES if isinstance(interface.node, Machine) else ("static",)

    def allowed(subnet: Subnet) -> bool:
        return force or interface.vlan is None or subnet.vlan is interface.vlan

    fields = [
        Field("mode", lambda v: listed("mode", modes)(v.lower()), required=True),
        Field(
            "subnet",
            network.choice(state.subnets, "subnet", lambda v: network.find_subnet(state, v), allowed),
            empty=None,
        ),
        Field("ip_address", network.ip_address, empty=None),
        Field("default_gateway", form_bool, empty=False),
    ]
    form = Form(request.data, fields)
    if form.unbound:
        form.finish()
    for child in network.children(interface):
        if child.type == "bond":
            form.fail("bond", IN_BOND.format(nic=interface.name, bond=child.name))
    if form.get("mode") and "mode" not in form.errors:
        _check_mode(state, form, interface, force)
        _check_default_gateway(form)
    form.finish()
    return form


def _check_mode(state: State, form: Form, interface: Interface, force: bool) -> None:
    mode, subnet, ip = form.cleaned["mode"], form.get("subnet"), form.get("ip_address")
    if mode in ("auto", "static") and subnet is None:
        form.fail("subnet", "This field is required.")
    elif mode == "static" and ip is not None:
        if not network.contains(subnet, ip):
            form.fail("ip_address", f"IP address is not in the given subnet '{network.label(subnet)}'.")
        dynamic = network.range_with(state, subnet, "dynamic", ip)
        if dynamic is not None:
            ends = f"{dynamic.start_ip} to {dynamic.end_ip}"
            form.fail("ip_address", f"IP address is inside a dynamic range {ends}.")
    elif mode == "dhcp":
        present = next((a for a in interface.links if a.mode == "dhcp"), None)
        if present is not None:
            source = f" from '{network.label(present.subnet)}'" if present.subnet else ""
            form.fail("mode", f"Interface is already set to DHCP{source}.")
    elif mode == "link_up" and not force and any(not network.is_link_up(a) for a in interface.links):
        form.fail("mode", LINKED_ALREADY)


def _check_default_gateway(form: Form) -> None:
    mode, subnet = form.cleaned["mode"], form.get("subnet")
    if not form.get("default_gateway"):
        return
    if mode not in ("auto", "static"):
        form.fail("default_gateway", f"Cannot use in mode '{mode}'.")
    elif subnet is None:
        form.fail("default_gateway", "Subnet is required when default_gateway is True.")
    elif not subnet.gateway_ip:
        form.fail(
            "default_gateway",
            f"Cannot set as default gateway because subnet {network.label(subnet)} "
            "doesn't provide a gateway IP address.",
        )


def _link(state: State, interface: Interface, form: Form, force: bool) -> None:
    mode, subnet, ip = form.cleaned["mode"], form.cleaned["subnet"], form.cleaned["ip_address"]
    kept = [a.ip for a in interface.links if a.ip]
    if mode == "static" and ip is not None:
        # Fail before the old links are gone.
        network.check_reserved(state, interface.mac_address, ip)
        if network.address_in_use(state, ip) and not (force and ip in kept):
            raise NotFound("IP address is already in use.")
    if mode == "link_up" or force:
        network.clear_links(state, interface)
    if force and subnet is not None:
        interface.vlan = subnet.vlan
    made = network.link(state, interface, mode, subnet, ip)
    if form.cleaned["default_gateway"] and isinstance(interface.node, Machine):
        interface.node.gateway_links[_version(made)] = made
