# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The VM hosts of one MAAS: read, registered, changed, refreshed and removed.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.parallel import each
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.keys import Pair, fingerprint
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure import discovery
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.address import (
    Endpoint,
    known_endpoint,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.capacity import is_discovered

Host = dict[str, Any]

GONE = 410
# While it answers a write, MAAS asks LXD for everything and imports VMs, about two seconds for each of them.
LONGEST_ANSWER = 300.0
# What LXD runs on is as a rule a machine, and in small places MAAS's own controller.
NODES = ("machines/{}/", "rackcontrollers/{}/", "regioncontrollers/{}/")


@dataclass(frozen=True)
class VMHostDetails:
    """A VM host with what only an administrator may read: where its LXD is, and the certificate."""

    host: Host
    parameters: Mapping[str, Any]

    @property
    def endpoint(self) -> Endpoint | None:
        return known_endpoint(str(self.parameters.get("power_address")))

    @property
    def project(self) -> str:
        return str(self.parameters.get("project"))

    @property
    def fingerprint(self) -> str:
        return fingerprint(str(self.parameters.get("certificate")))

    @property
    def pair(self) -> Pair | None:
        certificate, key = (str(self.parameters.get(name) or "") for name in ("certificate", "key"))
        return Pair(certificate, key) if certificate and key else None

    @property
    def label(self) -> str:
        return label(str(self.host["name"]))

    @property
    def place(self) -> str:
        return place(self.project, self.endpoint or self.parameters.get("power_address"))

    @property
    def system_id(self) -> str:
        return system_id_of(self.host)


def label(name: str) -> str:
    return f"VM host {name}"


def place(project: str, address: object) -> str:
    return f"the project {project} of LXD at {address}"


def system_id_of(host: Mapping[str, Any]) -> str:
    """The machine that the LXD runs on; empty as long as MAAS does not know."""
    return str((host.get("host") or {}).get("system_id") or "")


class VMHosts:
    """`slow` sends what MAAS takes minutes to answer; whoever only reads needs none."""

    def __init__(self, maas: Client, slow: Client | None = None) -> None:
        self._maas = maas
        self._slow = slow or maas

    # -- reading --------------------------------------------------------------------------------------

    def listed(self) -> list[Host]:
        try:
            found: list[Host] = self._maas.get("vm-hosts/")
        except Failure as failure:
            raise _named(failure) from failure
        return found

    def read(self, host: Host) -> Host:
        """The VM host as it is now."""
        found: Host = self._maas.get(_path(host))
        return found

    def known(self, host: Host) -> VMHostDetails:
        return VMHostDetails(host, self._maas.get(_path(host), op="parameters"))

    def all_known(self, hosts: Sequence[Host]) -> list[VMHostDetails]:
        """As `known`, of many: MAAS lists VM hosts without their addresses."""
        found = []
        for _host, answer in each(hosts, self.known):
            if isinstance(answer, Failure):
                # It was removed since it was listed.
                if answer.kind != "not_found":
                    raise answer
                continue
            found.append(answer)
        return sorted(found, key=lambda known: int(known.host["id"]))

    def notes(self) -> list[dict[str, Any]]:
        """What MAAS has noted of all VMs that LXD has, those of other projects among them."""
        found: list[dict[str, Any]] = self._maas.get("virtual-machines/")
        return found

    def node(self, system_id: str) -> Machine | None:
        """The machine or controller of that id, as far as this user sees it."""
        for path in NODES if system_id else ():
            try:
                found: Machine = self._maas.get(path.format(system_id))
            except Failure as failure:
                if failure.kind not in ("not_found", "forbidden"):
                    raise
                continue
            return found
        return None

    # -- writing --------------------------------------------------------------------------------------

    def register(self, form: Mapping[str, Any], settled: Callable[[], Host | None]) -> Host:
        """MAAS registers the same LXD as often as it is asked to: `settled` finds what a lost answer left."""
        made: Host = self._slow.post("vm-hosts/", form, settled=settled)
        return made

    def change(self, host: Host, form: Mapping[str, Any]) -> Host:
        """MAAS also refreshes the host, and keeps to itself if that fails."""
        changed: Host = self._slow.put(_path(host), form)
        return changed

    def tag(self, host: Host, added: Sequence[str], removed: Sequence[str]) -> None:
        """Tags one by one: a list of all would take away what others set meanwhile."""
        for op, tags in (("add_tag", added), ("remove_tag", removed)):
            for tag in tags:
                self._maas.post(_path(host), {"tag": tag}, op=op, repeatable=True)

    def refresh(self, known: VMHostDetails) -> Host:
        """The VM host after MAAS has spoken with its LXD, or the Failure that says why it cannot."""
        try:
            refreshed: Host = self._slow.post(_path(known.host), op="refresh")
        except Failure as failure:
            if failure.status is None or failure.status < 500:
                return self._after_lost_refresh(known, failure)
            raise self._undiscovered(known, failure) from failure
        return refreshed

    def _after_lost_refresh(self, known: VMHostDetails, failure: Failure) -> Host:
        if failure.kind != "uncertain":
            raise failure
        found = self.read(known.host)
        if not is_discovered(found):
            raise failure
        return found

    def _undiscovered(self, known: VMHostDetails, failure: Failure) -> Failure:
        return discovery.failure(
            known.label,
            failure.reason,
            address=str(known.endpoint or known.parameters.get("power_address")),
            project=known.project,
            fingerprint=known.fingerprint,
            status=failure.status or 503,
        )

    def remove(self, host: Host) -> None:
        """Forget a VM host and all its machines; the VMs themselves stay in LXD."""
        self._slow.delete(_path(host))

    def remove_machine(self, system_id: str) -> None:
        """Delete a VM, in LXD too."""
        self._slow.delete(f"machines/{system_id}/")


def patient(maas: Client) -> Client:
    """A client of the same MAAS for what takes minutes."""
    longest = max(maas.connection.read_timeout, LONGEST_ANSWER)
    return Client(replace(maas.connection, read_timeout=longest), clock=maas._clock)


def _path(host: Mapping[str, Any]) -> str:
    return f"vm-hosts/{host['id']}/"


def _named(failure: Failure) -> Failure:
    """The failure of a MAAS whose VM hosts are gone, as what it is."""
    if failure.status != GONE:
        return failure
    return Failure(
        "unsupported",
        "This MAAS has no VM hosts any more: they went after MAAS 3.8.",
        object="vm-hosts/",
        reason=failure.reason,
        hint="Make VMs with metalshift.maas.vm and via: lxd, which needs no VM host of MAAS.",
        status=GONE,
    )
