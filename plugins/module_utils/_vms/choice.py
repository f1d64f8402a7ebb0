# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which way a task goes, and what it needs for that.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Options
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._core.wait import Patience
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.survey import AddressSurvey
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.hosts import patient
from ansible_collections.metalshift.maas.plugins.module_utils._vms.by_lxd import ByLxd, LxdHost
from ansible_collections.metalshift.maas.plugins.module_utils._vms.by_maas import ByMaas
from ansible_collections.metalshift.maas.plugins.module_utils._vms.cabling import Cabling
from ansible_collections.metalshift.maas.plugins.module_utils._vms.crew import Crew
from ansible_collections.metalshift.maas.plugins.module_utils._vms.way import Way

AUTO, MAAS, LXD = "auto", "maas", "lxd"

LXD_HOST_OPTIONS: Options = {
    "name": {"type": "str", "required": True},
    "endpoint": {"type": "str", "required": True},
    "server_cert": {"type": "str"},
    "project": {"type": "str"},
    "power_address": {"type": "str"},
    "cpu_over_commit_ratio": {"type": "float", "default": 1.0},
    "memory_over_commit_ratio": {"type": "float", "default": 1.0},
}
VIA_OPTIONS: Options = {
    "via": {"type": "str", "choices": [AUTO, MAAS, LXD], "default": AUTO},
    "lxd_hosts": {"type": "list", "elements": "dict", "options": LXD_HOST_OPTIONS},
}


@dataclass
class Tools:
    """What a task on VMs works with; each thing is made when it is first needed."""

    task: Task

    @cached_property
    def machines(self) -> Machines:
        return Machines(self.task.maas)

    @cached_property
    def survey(self) -> AddressSurvey:
        return AddressSurvey(self.task.maas)

    @cached_property
    def cabling(self) -> Cabling:
        return Cabling(self.task.maas, self.machines, self.survey)

    @cached_property
    def crew(self) -> Crew:
        return Crew(self.task, self.way, self.machines, self._patience, self.cabling)

    @cached_property
    def _patience(self) -> Patience:
        return Patience.of(self.task)

    @cached_property
    def way(self) -> Way:
        """The way that the task names, or with `auto` the one that the MAAS at hand can go."""
        params = self.task.params
        hosts = params.get("lxd_hosts") or []
        reaches = bool(hosts or params.get("lxd_endpoint"))
        if params["via"] == LXD or (params["via"] == AUTO and reaches and not self._maas_has_hosts(hosts)):
            return self._by_lxd(hosts)
        return self._by_maas

    def _maas_has_hosts(self, hosts: list[Mapping[str, Any]]) -> bool:
        """Whether MAAS has VM hosts at all, and those that are named among them."""
        try:
            known = {one.known.host["name"] for one in self._by_maas.seen}
        except Failure as failure:
            if failure.kind == "unsupported":
                return False
            raise
        return bool(known) and known.issuperset(host["name"] for host in hosts)

    @cached_property
    def _by_maas(self) -> ByMaas:
        return ByMaas(self.task.maas, self.machines, self.task.joined(patient(self.task.maas)))

    def _by_lxd(self, hosts: list[Mapping[str, Any]]) -> ByLxd:
        params = self.task.params
        if not hosts and not params.get("lxd_endpoint"):
            raise invalid(
                "via: lxd needs lxd_hosts, or lxd_endpoint for one host alone.",
                "Name each LXD with its endpoint; the client certificate is that of lxd_client_cert.",
            )
        tagged = [number for number, disk in enumerate(params.get("disks") or (), start=1) if disk.get("tags")]
        if tagged:
            raise invalid(f"disks[{tagged[0]}] has tags, and these need via: maas.", "Leave them out.")
        wanted = hosts or [{"name": _name_of(params["lxd_endpoint"]), "endpoint": params["lxd_endpoint"]}]
        return ByLxd(self.task.maas, self.machines, [self._host(one) for one in wanted], self.cabling.all)

    def _host(self, given: Mapping[str, Any]) -> LxdHost:
        # Here, because its library takes longer to import than a task on MAAS takes.
        from ansible_collections.metalshift.maas.plugins.module_utils._lxd.client import Lxd
        from ansible_collections.metalshift.maas.plugins.module_utils._lxd.connection import LxdConnection

        own = {
            "lxd_endpoint": given["endpoint"],
            "lxd_server_cert": given.get("server_cert"),
            "lxd_project": given.get("project"),
        }
        shared = {name: value for name, value in self.task.params.items() if name.startswith("lxd_")}
        stated = {name: value for name, value in own.items() if value is not None}
        connection = LxdConnection.from_params({**shared, **stated}, self.task.environment)
        if connection.is_local:
            raise invalid(
                f"lxd_hosts has the socket {connection.endpoint} for {given['name']}: MAAS cannot reach that.",
                "Give the URL of the LXD.",
            )
        return LxdHost(
            name=given["name"],
            lxd=self.task.joined(Lxd(connection, clock=self.task.clock, deadline=self.task.deadline)),
            power_address=given.get("power_address") or connection.endpoint,
            cpu_over_commit_ratio=float(given.get("cpu_over_commit_ratio") or 1.0),
            memory_over_commit_ratio=float(given.get("memory_over_commit_ratio") or 1.0),
        )


def _name_of(endpoint: str) -> str:
    """The first label of a host's name, or its address."""
    host = urlsplit(endpoint).hostname or endpoint
    label = host.partition(".")[0]
    return host if label.isdigit() or ":" in host else label
