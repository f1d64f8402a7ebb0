# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The forms of interfaces, one for each type, and what writing them does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from metalshift_lab.simulator import network
from metalshift_lab.simulator.errors import ServerError
from metalshift_lab.simulator.forms import (
    REQUIRED,
    Field,
    Form,
    Wrong,
    among,
    form_bool,
    integer,
    listed,
    mac_address,
)
from metalshift_lab.simulator.http import Params
from metalshift_lab.simulator.model import VLAN, Interface, Machine, Node, Status
from metalshift_lab.simulator.state import State

BLANK = "This field cannot be blank."
NAME_RULE = (
    "The interface name must be 1 to 15 characters long and can only contain alphanumeric characters, hyphens ('-'), "
    "underscores ('_'), periods ('.'), and colons (':')."
)
NO_SPEED = "link_speed cannot be set when link_connected is false."
BOND_MODES = ("balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb")
LACP_RATES = ("fast", "slow")
HASH_POLICIES = ("layer2", "layer2+3", "layer3+4", "encap2+3", "encap3+4", "vlan+srcmac")
BRIDGE_TYPES = ("standard", "ovs")
Check = Callable[[State, Form, Node, "Interface | None", "list[Interface]"], None]


def name(value: str) -> str:
    if not re.fullmatch(r"[\w.:-]{1,15}", value):
        raise Wrong(NAME_RULE)
    return value


def null_bool(value: str) -> bool | None:
    """Django's boolean that knows a third value."""
    return {"true": True, "1": True, "on": True, "false": False, "0": False}.get(value.lower())


# Parameters of bonds and bridges with their defaults.
BOND = {
    "bond_mode": (listed("bond_mode", BOND_MODES), "balance-rr"),
    "bond_miimon": (integer(0), 100),
    "bond_downdelay": (integer(0), 0),
    "bond_updelay": (integer(0), 0),
    "bond_num_grat_arp": (integer(0, 255), 1),
    "bond_lacp_rate": (listed("bond_lacp_rate", LACP_RATES), "fast"),
    "bond_xmit_hash_policy": (listed("bond_xmit_hash_policy", HASH_POLICIES), "layer2"),
}
BRIDGE = {
    "bridge_type": (listed("bridge_type", BRIDGE_TYPES), "standard"),
    "bridge_stp": (null_bool, False),
    "bridge_fd": (integer(0), 15),
}
PARAMETERS: dict[str, dict[str, tuple[Callable[[str], Any], Any]]] = {"bond": BOND, "bridge": BRIDGE}
COMMON = ("mtu", "accept_ra", "autoconf")
LINK_FIELDS = (
    Field("link_connected", form_bool, empty=False),
    Field("interface_speed", integer(0), empty=0),
    Field("link_speed", integer(0), empty=0),
)


def fields(state: State, node: Node, kind: str, parents: str) -> list[Field]:
    named = kind != "vlan"
    siblings = {str(i.id): i for i in node.interfaces}

    def parent(value: str) -> Interface:
        if not value.isdigit():
            raise Wrong(f"\u201c{value}\u201d is not a valid value.")
        if value not in siblings:
            raise Wrong(f"Select a valid choice. {value} is not one of the available choices.")
        return siblings[value]

    return [
        Field("vlan", among(state.vlans.find), empty=None),
        Field(parents, parent, many=True),
        Field("mtu", integer(552), empty=None),
        Field("accept_ra", null_bool, empty=None),
        Field("autoconf", null_bool, empty=None),
        *LINK_FIELDS,
        Field("name", name, empty=None),
        *([Field("mac_address", mac_address, empty=None)] if named else []),
        *([Field("enabled", null_bool, empty=None)] if kind == "physical" else []),
        *(Field(key, clean, empty=None) for key, (clean, _ignored) in PARAMETERS.get(kind, {}).items()),
    ]


def read_deployed(state: State, data: Params, interface: Interface) -> Form:
    """Of a deployed machine's interface only the name and the MAC may change: a NIC was replaced."""
    named = (Field("name", name, empty=None), Field("mac_address", mac_address, empty=None))
    form = Form(data, (*named, *LINK_FIELDS), partial=True)
    if form.unbound:
        form.finish()
    _speed(form, interface)
    _mac(state, form, interface.node, interface.type, interface)
    form.cleaned["tags"] = interface.tags
    form.finish()
    return form


def read_controller(state: State, data: Params, interface: Interface) -> Form:
    form = Form(data, (Field("vlan", among(state.vlans.find), empty=None), *LINK_FIELDS), partial=True)
    if form.unbound:
        form.finish()
    _speed(form, interface)
    form.cleaned["tags"] = interface.tags
    form.finish()
    return form


def read(state: State, data: Params, node: Node, kind: str, interface: Interface | None = None) -> Form:
    """A checked form. In `cleaned`, "parents" are interfaces and "tags" a list."""
    # Bonds take several parents; the others one, called "parent".
    key = "parents" if kind in ("bond", "physical") or "parent" not in data else "parent"
    form = Form(data, fields(state, node, kind, key), partial=interface is not None)
    if form.unbound:
        form.finish()
    _tags(data, form)
    if key == "parent" and "parent" in form.cleaned:
        form.cleaned["parents"] = form.cleaned.pop("parent")
    if "parent" in form.errors:
        form.errors["parents"] = form.errors.pop("parent")
    parents: list[Interface] = form.get("parents", list(interface.parents) if interface else [])
    _speed(form, interface)
    if "parents" not in form.errors:
        CHECKS[kind](state, form, node, interface, parents)
    else:
        _blank_mac(form, kind, interface)
    _name(state, form, node, kind, interface, parents)
    _mac(state, form, node, kind, interface)
    if kind in ("vlan", "bridge") and "parents" in form.errors:
        form.errors["parent"] = form.errors.pop("parents")
    form.finish()
    return form


def _tags(data: Params, form: Form) -> None:
    """Tags are one text with commas."""
    if "tags" in data:
        form.cleaned["tags"] = [t.strip() for t in (data.get("tags") or "").split(",") if t.strip()]


def _speed(form: Form, interface: Interface | None) -> None:
    before = interface.link_connected if interface else False
    wanted = form.get("link_connected", before)
    if not wanted and not before and form.get("link_speed"):
        form.fail("__all__", NO_SPEED)


def _blank_mac(form: Form, kind: str, interface: Interface | None) -> None:
    """Without usable parents, nothing gives a bond or bridge its MAC."""
    if kind in PARAMETERS and interface is None and not form.get("mac_address") and "mac_address" not in form.errors:
        form.fail("mac_address", BLANK)


def _name(
    state: State, form: Form, node: Node, kind: str, interface: Interface | None, parents: list[Interface]
) -> None:
    if kind == "vlan":
        vlan: VLAN | None = form.get("vlan", interface.vlan if interface else None)
        if form.errors or vlan is None or not parents:
            return
        if form.get("name") is None and (interface is None or interface.name == made_up(interface)):
            form.cleaned["name"] = f"{parents[0].name}.{vlan.vid}"
    elif form.get("name") is None and interface is None and "name" not in form.errors:
        if kind in ("bond", "bridge"):
            form.fail("name", REQUIRED)
            return
        form.cleaned["name"] = next_name(node)
    wanted = form.get("name")
    if wanted and any(i.name == wanted for i in node.interfaces if i is not interface):
        form.fail("name", f"Node {node.system_id} ({node.hostname}) already has an interface named '{wanted}'.")


def _mac(state: State, form: Form, node: Node, kind: str, interface: Interface | None) -> None:
    mac = form.get("mac_address")
    if kind == "physical" and interface is None and mac is None and "mac_address" not in form.errors:
        form.fail("mac_address", REQUIRED)
    if mac is None or kind != "physical":
        return
    # Bonds, bridges and VLANs share the MAC of a parent.
    others = (i for i in state.interfaces_by_mac(mac) if i is not interface and i.type == "physical")
    for other in others:
        form.fail(
            "mac_address",
            f"This MAC address is already in use by {other.name} ({other.type}) on {other.node.hostname}.",
        )
        break


def next_name(node: Node) -> str:
    taken = {i.name for i in node.interfaces}
    return next(f"eth{n}" for n in range(len(taken) + 1) if f"eth{n}" not in taken)


# -- what each type wants of its parents ----------------------------------------------------------------------------


def _physical(state: State, form: Form, node: Node, interface: Interface | None, parents: list[Interface]) -> None:
    if parents:
        form.fail("parents", "A physical interface cannot have parents.")


def _vlan(state: State, form: Form, node: Node, interface: Interface | None, parents: list[Interface]) -> None:
    vlan: VLAN | None = form.get("vlan", interface.vlan if interface else None)
    if len(parents) != 1:
        form.fail("parents", "A VLAN interface must have exactly one parent.")
    elif parents[0].type == "vlan":
        form.fail("parents", "A VLAN interface can't have another VLAN interface as parent.")
    elif any(c.type == "bond" for c in network.children(parents[0])):
        form.fail("parents", "A VLAN interface can't have a parent that is already in a bond.")
    if "vlan" in form.errors:
        return
    if vlan is None:
        form.fail("vlan", "A VLAN interface must be connected to a tagged VLAN.")
    elif vlan.vid == 0:
        form.fail("vlan", "A VLAN interface can only belong to a tagged VLAN.")
    elif "parents" not in form.errors:
        if parents[0].vlan is None:
            raise ServerError("'NoneType' object has no attribute 'fabric_id'")
        if parents[0].vlan.fabric is not vlan.fabric:
            form.fail(
                "vlan",
                "A VLAN interface can only belong to a tagged VLAN on the same fabric as its parent interface.",
            )


def _inherit(form: Form, interface: Interface | None, parents: list[Interface]) -> None:
    """A new child has the MAC and the VLAN of its first parent, unless others are asked for."""
    if interface is None:
        if form.get("mac_address") is None and "mac_address" not in form.errors:
            form.cleaned["mac_address"] = parents[0].mac_address
        if form.get("vlan") is None and "vlan" not in form.errors:
            form.cleaned["vlan"] = parents[0].vlan
    elif form.get("mac_address") is None:
        mine = [p for p in interface.parents if p.mac_address == interface.mac_address]
        if mine and mine[0] not in parents:
            form.cleaned["mac_address"] = parents[0].mac_address


def _in_use(form: Form, interface: Interface | None, parents: Iterable[Interface], allowed: tuple[str, ...]) -> None:
    busy = {p.name for p in parents for c in network.children(p) if c is not interface and c.type not in allowed}
    if busy:
        form.fail("parents", f"Interfaces already in-use: {', '.join(sorted(busy))}.")


def _bond(state: State, form: Form, node: Node, interface: Interface | None, parents: list[Interface]) -> None:
    if not parents:
        form.fail("parents", "A bond interface must have one or more parents.")
        _blank_mac(form, "bond", interface)
        return
    _inherit(form, interface, parents)
    _in_use(form, interface, parents, ())
    if interface is None and "vlan" not in form.errors and any(p.vlan is not form.get("vlan") for p in parents):
        form.fail("parents", "All parents must belong to the same VLAN.")


def _bridge(state: State, form: Form, node: Node, interface: Interface | None, parents: list[Interface]) -> None:
    if len(parents) != 1:
        form.fail("parents", "A bridge interface must have exactly one parent.")
    elif parents[0].type == "bridge":
        form.fail("parents", "A bridge interface can't have another bridge interface as parent.")
    elif any(c.type in ("bond", "bridge") and c is not interface for c in network.children(parents[0])):
        form.fail("parents", "A bridge interface can't have a parent that is already in a bond or a bridge.")
    if "parents" in form.errors:
        _blank_mac(form, "bridge", interface)
        return
    _inherit(form, interface, parents)
    _in_use(form, interface, parents, ("vlan",))


CHECKS: dict[str, Check] = {"physical": _physical, "vlan": _vlan, "bond": _bond, "bridge": _bridge}


# -- writing --------------------------------------------------------------------------------------------------------


def create(state: State, node: Node, kind: str, form: Form) -> Interface:
    values = form.cleaned
    parents = values.get("parents") or []
    acquired = kind == "bridge" and isinstance(node, Machine) and node.status is Status.ALLOCATED
    mac = values.get("mac_address") or (parents[0].mac_address if parents else None)
    interface = state.add_interface(
        node,
        name=values["name"],
        type=kind,
        mac_address=mac,
        vlan=parents[0].vlan if acquired else values.get("vlan"),
        tags=values.get("tags", []),
        link_connected=values["link_connected"],
        interface_speed=values["interface_speed"],
        link_speed=values["link_speed"],
        enabled=values.get("enabled") is not False,
        numa_node=0 if kind == "physical" and isinstance(node, Machine) else None,
        acquired=acquired,
    )
    moved = [a for p in parents for a in p.links] if acquired else []
    for link in moved:
        # A bridge made while the machine is allocated takes the addresses over.
        if link.interface is not None:
            link.interface.links.remove(link)
        link.interface = interface
        interface.links.append(link)
    set_parents(state, interface, parents)
    for key, (_ignored, default) in PARAMETERS.get(kind, {}).items():
        given = values.get(key)
        interface.params[key] = default if given is None else given
    for key in COMMON:
        if values.get(key) is not None:
            interface.params[key] = values[key]
    network.ensure_link_up(state, interface)
    return interface


def update(state: State, interface: Interface, form: Form) -> None:
    values = form.cleaned
    if values.get("name"):
        interface.name = values["name"]
    if values.get("mac_address"):
        state.set_mac(interface, values["mac_address"])
    if "vlan" in values and values["vlan"] is not interface.vlan:
        interface.vlan = values["vlan"]
        network.clear_links(state, interface)
    # MAAS's form keeps the last tag only when none were sent.
    interface.tags = values.get("tags", interface.tags[-1:])
    for key in ("link_connected", "interface_speed", "link_speed", "enabled"):
        if values.get(key) is not None:
            setattr(interface, key, values[key])
    if not interface.link_connected:
        interface.link_speed = 0
    if values.get("parents"):
        set_parents(state, interface, values["parents"])
    for key in (*PARAMETERS.get(interface.type, {}), *COMMON):
        if values.get(key) is not None:
            interface.params[key] = values[key]
        elif key in values and key in COMMON:
            interface.params.pop(key, None)


def made_up(interface: Interface) -> str:
    """The name that MAAS gives to a VLAN interface without one."""
    return f"{interface.parents[0].name}.{interface.vlan.vid}" if interface.parents and interface.vlan else ""


def set_parents(state: State, interface: Interface, parents: list[Interface]) -> None:
    """Parents of bonds and bridges have no links of their own."""
    interface.parents = list(parents)
    if interface.type != "vlan":
        for parent in parents:
            network.clear_links(state, parent)
