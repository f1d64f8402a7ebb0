# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which VM host a task means: by its name, by where its LXD is, or by the machine that it runs on.

MAAS registers one LXD as often as it is asked to, under names that need not differ. Two registrations of one project
fight over its VMs, so nothing is registered before it is certain that it is not there.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.hosts import (
    Host,
    VMHostDetails,
    VMHosts,
    label,
    place,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.address import PROJECT, Endpoint


@dataclass(frozen=True)
class VMHostIdentity:
    """What a task says that tells VM hosts apart; None where it says nothing."""

    name: str | None = None
    endpoint: Endpoint | None = None
    project: str | None = None
    system_id: str | None = None

    @property
    def shown(self) -> str:
        return label(self.name or str(self.endpoint or self.system_id))

    def is_in(self, known: VMHostDetails) -> bool:
        """Whether a VM host is of the wished project, if one is wished."""
        return self.project in (None, known.project)

    def is_at(self, known: VMHostDetails) -> bool:
        return self.is_in(known) and (
            (self.endpoint is not None and known.endpoint == self.endpoint)
            or (self.system_id is not None and known.system_id == self.system_id)
        )


@dataclass(frozen=True)
class Neighbours:
    """The VM hosts that are there: the one that is meant, and those of other projects on the same LXD."""

    meant: VMHostDetails | None
    beside: Sequence[VMHostDetails] = ()


def find(hosts: VMHosts, machines: Machines, identity: VMHostIdentity) -> Neighbours:
    """The VM host that is meant, if it is registered."""
    listed = hosts.listed()
    named = [host for host in listed if host["name"] == identity.name]
    if len(named) == 1 and (meant := _at_once(hosts, named[0], identity)):
        return Neighbours(meant)
    if identity.endpoint is None and identity.system_id is None:
        return Neighbours(_by_name(hosts, named, identity))
    known = hosts.all_known([host for host in listed if host.get("type") == "lxd"])
    fitting = [each for each in known if identity.is_at(each)] or _by_machine(machines, known, identity)
    if fitting:
        return Neighbours(_one(fitting, named, identity))
    _refuse_name_of_another(known, named, identity)
    return Neighbours(None, [each for each in known if replace(identity, project=None).is_at(each)])


def registered(hosts: VMHosts, identity: VMHostIdentity, fingerprint: str) -> Host | None:
    """What a registration with this very certificate has made, if it arrived."""
    known = hosts.all_known([host for host in hosts.listed() if host.get("type") == "lxd"])
    mine = [each for each in known if identity.is_at(each) and each.fingerprint == fingerprint]
    return mine[0].host if mine else None


def _at_once(hosts: VMHosts, host: Host, identity: VMHostIdentity) -> VMHostDetails | None:
    """The one of that name, when nothing else that the task says is against it: then no other is looked at."""
    if host.get("type") != "lxd":
        raise Failure(
            "conflict",
            f"{label(host['name'])} is of the type {host.get('type')}; this module keeps those of the type lxd.",
            object=label(host["name"]),
            hint="Choose another name.",
        )
    known = hosts.known(host)
    agrees = identity.endpoint in (None, known.endpoint) and identity.system_id in (None, known.system_id)
    return known if agrees and identity.is_in(known) else None


def _by_name(hosts: VMHosts, named: Sequence[Host], identity: VMHostIdentity) -> VMHostDetails | None:
    if not named:
        return None
    known = hosts.all_known(named)
    fitting = [each for each in known if identity.is_in(each)]
    if not fitting:
        raise _elsewhere(known[0], identity)
    return _one(fitting, named, identity)


def _by_machine(machines: Machines, known: Sequence[VMHostDetails], identity: VMHostIdentity) -> list[VMHostDetails]:
    """Those whose machine has the wished address: LXD is reached under any of them."""
    if identity.endpoint is None:
        return []
    ids = {each.system_id for each in known if each.system_id and identity.is_in(each)}
    found = machines.read(ids) if ids else {}
    here = {system_id for system_id, machine in found.items() if _has_address(machine, identity.endpoint.host)}
    return [each for each in known if each.system_id in here and identity.is_in(each) and _same_port(each, identity)]


def _same_port(known: VMHostDetails, identity: VMHostIdentity) -> bool:
    return (
        known.endpoint is not None and identity.endpoint is not None and known.endpoint.port == identity.endpoint.port
    )


def _has_address(machine: Mapping[str, Any], host: str) -> bool:
    names = {str(machine.get(key) or "").lower() for key in ("hostname", "fqdn")}
    return host in {*names, *(machine.get("ip_addresses") or ())}


def _one(fitting: Sequence[VMHostDetails], named: Sequence[Host], identity: VMHostIdentity) -> VMHostDetails:
    """The one that is meant of several, by name or project."""
    ids = {host["id"] for host in named}
    choice = fitting
    for preferred in (
        [each for each in fitting if each.host["id"] in ids],
        [each for each in fitting if each.project == PROJECT],
    ):
        if len(choice) > 1 and preferred:
            choice = [each for each in choice if each in preferred] or choice
    if len(choice) > 1:
        several = ", ".join(f"{each.host['name']} ({each.project}, id {each.host['id']})" for each in choice)
        raise invalid(
            f"{identity.shown} fits several VM hosts: {several}.",
            "Say which by name and project; two of one project must not stay, for they take each other's VMs.",
        )
    meant = choice[0]
    if identity.name and any(host["id"] != meant.host["id"] for host in named):
        raise Failure(
            "conflict",
            f"{meant.label} cannot be called {identity.name}: another VM host is called so.",
            object=meant.label,
            hint="Choose another name.",
        )
    return meant


def _refuse_name_of_another(known: Sequence[VMHostDetails], named: Sequence[Host], identity: VMHostIdentity) -> None:
    ids = {host["id"] for host in named}
    other = next((each for each in known if each.host["id"] in ids), None)
    if other is not None:
        raise _elsewhere(other, identity)


def _machine(system_id: str | None) -> str:
    return f"the machine {system_id}" if system_id else "no machine"


def _elsewhere(other: VMHostDetails, identity: VMHostIdentity) -> Failure:
    """With another LXD or project behind it, MAAS would take all VMs that it knows there for gone."""
    wished = place(identity.project or other.project, identity.endpoint or other.endpoint)
    if wished == other.place:
        # MAAS ties an LXD to the machine that it has a MAC address in common with, and else makes a machine for it.
        return Failure(
            "conflict",
            f"{other.label}, {other.place}, is on {_machine(other.system_id)} in MAAS, and not on "
            f"{_machine(identity.system_id)}.",
            object=other.label,
            hint="Leave out machine and give power_address, or remove the VM host first with state: absent.",
        )
    return Failure(
        "conflict",
        f"{other.label} is {other.place}, and cannot become {wished}.",
        object=other.label,
        hint="Choose another name, or remove the VM host first with state: absent.",
    )
