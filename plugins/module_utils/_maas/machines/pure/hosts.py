# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine as a host of an inventory: its name, its address, its user, its variables and its groups.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Union

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import invalid
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.holders import CLUSTER, NODE_POOL

# Sanity tests refuse `|` between these at run time.
Network = Union[ipaddress.IPv4Network, ipaddress.IPv6Network]  # noqa: UP007

NAMES = ("hostname", "fqdn", "system_id")
# The user that cloud images of an operating system have.
USERS: Mapping[str, str] = {"ubuntu": "ubuntu", "centos": "cloud-user", "rhel": "cloud-user"}
DEPLOYED = "Deployed"


def networks_of(preferred: Sequence[str]) -> list[Network]:
    """The subnets of the option, which must be networks."""
    try:
        return [ipaddress.ip_network(text) for text in preferred]
    except ValueError as error:
        raise invalid(f"preferred_subnets: {error}.", "Give networks, such as 10.0.0.0/24.") from error


def name_of(machine: Mapping[str, Any], order: Sequence[str]) -> str:
    """The first of the names that the machine has."""
    return next((str(machine[name]) for name in order if machine.get(name)), str(machine["system_id"]))


def address_of(machine: Mapping[str, Any], preferred: Sequence[Network]) -> str:
    """The address in the first preferred subnet in which there is one, else the first address; empty if none."""
    addresses = [str(address) for address in machine.get("ip_addresses") or ()]
    for network in preferred:
        for address in addresses:
            if ipaddress.ip_address(address) in network:
                return address
    return addresses[0] if addresses else ""


def user_of(machine: Mapping[str, Any], users: Mapping[str, str]) -> str:
    """The user to enter it with, by its operating system; of a custom image, by the name of that too."""
    if machine.get("status_name") != DEPLOYED:
        return ""
    known = {**USERS, **users}
    return known.get(str(machine.get("distro_series") or ""), known.get(str(machine.get("osystem") or ""), ""))


def groups_of(machine: Mapping[str, Any]) -> Iterator[str]:
    """The names of the groups that there are without being asked for, before what Ansible makes of them."""
    annotations = machine.get("workload_annotations") or {}
    single = {
        "status": str(machine.get("status_name") or "").lower(),
        "zone": machine.get("zone"),
        "pool": machine.get("pool"),
        "claim": machine.get("claim"),
        "on": machine.get("vm_host"),
        "hosted_cluster": annotations.get(CLUSTER),
        "node_pool": annotations.get(NODE_POOL),
    }
    yield from (f"{kind}_{value}" for kind, value in single.items() if value)
    yield from (f"tag_{name}" for name in machine.get("tag_names") or ())
    if machine.get("carries"):
        yield "vm_hosts"
