# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""netplan's files, with a bridge that takes over the addresses of one of their devices.

Files are changed as nodes of YAML and not as values: PyYAML reads YAML 1.1, in which an unquoted MAC address may be a
number and `off` is false. As a node, each scalar keeps its text and its kind.

This plugin util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from yaml import MappingNode, Node, SafeDumper, SafeLoader, ScalarNode, SequenceNode, YAMLError, compose, serialize
from yaml.representer import SafeRepresenter

PORTS = ("ethernets", "bonds", "vlans")
DEVICES = (*PORTS, "bridges")
# What belongs to a port's addresses, and goes with them.
MOVED = frozenset(
    {
        *("addresses", "dhcp4", "dhcp6", "dhcp-identifier", "dhcp4-overrides", "dhcp6-overrides"),
        *("gateway4", "gateway6", "nameservers", "routes", "routing-policy", "accept-ra", "link-local"),
        *("ipv6-privacy", "ipv6-address-generation", "ipv6-address-token"),
    }
)
# The port keeps its own.
COPIED = frozenset({"mtu"})
DEFAULT = "default"
TEXT = "tag:yaml.org,2002:str"
# Who else than netplan's files makes routes that come back by themselves with the addresses.
BY_ITSELF = ("kernel", "dhcp", "ra")


@dataclass(frozen=True)
class BridgePlan:
    """The files that /etc/netplan shall have, or why there are none."""

    files: Mapping[str, str] = field(default_factory=dict)
    bridge_file: str = ""
    problem: str = ""


def bridge_plan(files: Mapping[str, str], bridge: str, port: str, macaddress: str) -> BridgePlan:
    """`files` with a bridge on `port`, which takes over its addresses and has this MAC address."""
    try:
        documents = _documents(files)
    except ValueError as error:
        return BridgePlan(problem=str(error))
    if not _declarations(documents, port, PORTS):
        ports = ", ".join(sorted({name for each in documents.values() for name in _names(each, PORTS)}))
        subject = f"nothing of {port}, to which the bridge {bridge} is to be attached" if port else "no default route"
        cure = f"Set lxd_host_bridge_port to one of {ports}, or make" if ports else "Make"
        return BridgePlan(problem=f"netplan's files know {subject}. {cure} the bridge yourself.")
    settings = _merged(_declarations(documents, port, PORTS))
    own: dict[str, Any] = {"interfaces": [port], **({"macaddress": macaddress} if macaddress else {})}
    bridge_node = _node({**own, "parameters": {"stp": False, "forward-delay": 0}})
    bridge_node.value += [(key, value) for key, value in settings.value if key.value in MOVED | COPIED]
    whole = _node({"network": {"version": 2, "bridges": {bridge: {}}}})
    _child(_child(whole, "network"), "bridges").value[0] = (_node(bridge), bridge_node)
    name = f"90-{bridge}.yaml"
    written = {each: _without_addresses(files[each], documents[each], port) for each in files}
    return BridgePlan({**written, name: _text(whole)}, name)


def unmanaged(
    files: Mapping[str, str],
    device: str,
    addresses: Sequence[Mapping[str, Any]],
    routes: Sequence[Mapping[str, Any]],
) -> list[str]:
    """What others than netplan's files, DHCP and routers put on a device: its addresses and routes as `ip -json` has
    them. netplan does not know of it, so a change of the network would lose it."""
    settings = _merged(_declarations(_documents(files), device, DEVICES))
    declared = {_interface(text) for text in _address_texts(_child(settings, "addresses"))}
    leased = {route.get("prefsrc") for route in routes if route.get("protocol") == "dhcp"}
    found = []
    for info in (info for each in addresses for info in each.get("addr_info") or ()):
        text = f"{info.get('local')}/{info.get('prefixlen')}"
        expected = info.get("dynamic") or info.get("local") in leased or _interface(text) in declared
        if info.get("scope") not in ("link", "host") and not expected:
            found.append(f"the address {text}")
    known = set(_destinations(settings))
    for route in routes:
        destination = str(route.get("dst"))
        by_itself = route.get("protocol") in BY_ITSELF or route.get("table") == "local"
        if not by_itself and _network(destination) not in known:
            way = f" via {route['gateway']}" if route.get("gateway") else ""
            found.append(f"the route to {destination}{way} ({route.get('protocol', 'boot')})")
    return found


# -- reading ------------------------------------------------------------------------------------------------------


def _documents(files: Mapping[str, str]) -> dict[str, Node | None]:
    """As netplan reads them: the later in the alphabet says more, or otherwise."""
    return {name: _document(name, files[name]) for name in sorted(files)}


def _document(name: str, text: str) -> Node | None:
    try:
        document: Node | None = compose(text, Loader=SafeLoader)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 1})" if mark else ""
        raise ValueError(f"netplan's file {name} is not YAML{where}. Correct it first.") from None
    return document


def _declarations(documents: Mapping[str, Node | None], device: str, kinds: Iterable[str]) -> list[Node]:
    return [
        value
        for document in documents.values()
        for kind in kinds
        for key, value in _pairs(_child(_child(document, "network"), kind))
        if key.value == device
    ]


def _names(document: Node | None, kinds: Iterable[str]) -> Iterator[str]:
    for kind in kinds:
        yield from (key.value for key, _value in _pairs(_child(_child(document, "network"), kind)))


def _pairs(node: Node | None) -> list[tuple[Node, Node]]:
    return list(node.value) if isinstance(node, MappingNode) else []


def _child(node: Node | None, name: str) -> Any:
    return next((value for key, value in _pairs(node) if key.value == name), None)


def _items(node: Node | None) -> list[Node]:
    return list(node.value) if isinstance(node, SequenceNode) else []


def _address_texts(node: Node | None) -> Iterator[str]:
    """An address is a text, or a mapping of it to its options."""
    for item in _items(node):
        yield from [key.value for key, _value in _pairs(item)] or [str(item.value)]


def _destinations(settings: Node) -> Iterator[str]:
    for route in _items(_child(settings, "routes")):
        to = _child(route, "to")
        yield _network(to.value if isinstance(to, ScalarNode) else DEFAULT)
    if _child(settings, "gateway4") or _child(settings, "gateway6"):
        yield DEFAULT


def _network(text: str) -> str:
    try:
        network = ipaddress.ip_network(text, strict=False)
    except ValueError:
        return text
    return str(network) if network.prefixlen else DEFAULT


def _interface(text: str) -> str:
    try:
        return str(ipaddress.ip_interface(text))
    except ValueError:
        return text


# -- writing ------------------------------------------------------------------------------------------------------


def _merged(declarations: Sequence[Node]) -> MappingNode:
    """What several files say of one device, as netplan adds it up."""
    whole: MappingNode = _node({})
    for each in declarations:
        whole = _added(whole, each)
    return whole


def _added(first: Any, second: Any) -> Any:
    if isinstance(first, MappingNode) and isinstance(second, MappingNode):
        values = {key.value: (key, value) for key, value in first.value}
        for key, value in second.value:
            there = values.get(key.value)
            values[key.value] = (key, _added(there[1], value) if there else value)
        return MappingNode(first.tag, list(values.values()), flow_style=second.flow_style)
    if isinstance(first, SequenceNode) and isinstance(second, SequenceNode):
        there_already = [_text(item) for item in first.value]
        more = [item for item in second.value if _text(item) not in there_already]
        return SequenceNode(first.tag, [*first.value, *more], flow_style=first.flow_style)
    if isinstance(first, MappingNode):  # `eth0:` without anything
        return first
    return second


def _without_addresses(text: str, document: Node | None, port: str) -> str:
    """A file that says nothing of the port stays as it is, with its comments."""
    changed = False
    for kind in PORTS:
        section = _child(_child(document, "network"), kind)
        for place, (key, value) in enumerate(_pairs(section)):
            if key.value == port:
                left = [pair for pair in _pairs(value) if pair[0].value not in MOVED]
                section.value[place] = (key, MappingNode(_node({}).tag, left, flow_style=not left))
                changed = True
    return _text(document) if changed else text


def _scalars(node: Node | None) -> Iterator[ScalarNode]:
    if isinstance(node, ScalarNode):
        yield node
    for each in [*_items(node), *(part for pair in _pairs(node) for part in pair)]:
        yield from _scalars(each)


def _node(data: Any) -> Any:
    return SafeRepresenter(default_flow_style=False).represent_data(data)


def _text(node: Any) -> str:
    for scalar in _scalars(node):
        # To YAML 1.1 52:54:00:12:34:56 is a number of base 60, which the writer cannot put between braces as it is.
        # In quotes it is a text to everybody.
        if ":" in scalar.value and scalar.style is None:
            scalar.tag = TEXT
    return str(serialize(node, Dumper=SafeDumper, indent=2, width=1000, allow_unicode=True))
