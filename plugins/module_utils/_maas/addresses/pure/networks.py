# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a machine is attached to a subnet or VLAN, as MAAS's specifiers name them.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import invalid

Object = Mapping[str, Any]

# What may stand before the colon of a specifier.
SUBNET_KEYS = ("id", "cidr", "name", "space", "vid", "fabric")
VLAN_KEYS = ("id", "vid", "name", "space", "fabric")


def check(spec: str, option: str, keys: tuple[str, ...]) -> None:
    """A failure of kind `invalid` for a specifier that is not understood."""
    key, colon, value = spec.partition(":")
    # IPv6 networks have colons of their own.
    if not spec or (colon and key in keys and not value) or (colon and key not in keys and "/" not in spec):
        wanted = ", ".join(f"{key}:…" for key in keys)
        raise invalid(f"{option} cannot contain {spec!r}.", f"Name it, or write one of {wanted}.")


def subnets_of(machine: Object) -> list[Object]:
    links = [link for interface in machine.get("interface_set") or () for link in interface.get("links") or ()]
    return [link["subnet"] for link in links if link.get("subnet")]


def vlans_of(machine: Object) -> list[Object]:
    return [interface["vlan"] for interface in machine.get("interface_set") or () if interface.get("vlan")]


def any_subnet(subnets: Iterable[Object], spec: str) -> bool:
    return any(_is(_subnet_facts(subnet), spec, ("id", "cidr", "name")) for subnet in subnets)


def any_vlan(vlans: Iterable[Object], specs: Iterable[str]) -> bool:
    wanted = list(specs)
    return any(_is(vlan, spec, ("vid", "name")) for vlan in vlans for spec in wanted)


def _subnet_facts(subnet: Object) -> Object:
    vlan = subnet.get("vlan") or {}
    return {**subnet, "vid": vlan.get("vid"), "fabric": vlan.get("fabric")}


def _is(facts: Object, spec: str, plain: tuple[str, ...]) -> bool:
    key, colon, value = spec.partition(":")
    if colon and key in (*SUBNET_KEYS, *VLAN_KEYS):
        # MAAS takes "untagged" for VLAN 0.
        return str(facts.get(key)) == ("0" if (key, value) == ("vid", "untagged") else value)
    return any(str(facts.get(key)) == spec for key in plain)
