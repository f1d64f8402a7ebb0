# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A VM host as results show it.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.cordon import is_open
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.hosts import Host, VMHostDetails
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.capacity import missing, remarks
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.fields import shown
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.guests import Guest

MACHINE = ("system_id", "hostname", "fqdn", "status_name", "power_state", "ip_addresses")


def told(known: VMHostDetails, node: Machine | None, guests: Sequence[Guest] | None) -> dict[str, Any]:
    """The host, the machine under it, and the VMs on it where they were asked for."""
    return {
        **shown(known.host, known.parameters),
        "certificate_fingerprint": known.fingerprint or None,
        "machine": {key: node.get(key) for key in MACHINE} if node else None,
        "schedulable": is_open(node) if node else None,
        "obstacles": obstacles(known.host, node),
        **({} if guests is None else {"virtual_machines": [guest.shown for guest in guests]}),
    }


def obstacles(host: Host, node: Machine | None) -> list[str]:
    """What keeps MAAS from composing VMs there, in sentences. What only LXD knows is not among it."""
    return [*(f"{text[0].upper()}{text[1:]}." for text in missing(host)), *remarks(host, node)]
