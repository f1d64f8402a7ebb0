# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the LXD of a VM host says of itself, where it can be asked: MAAS does not know all that keeps VMs away.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.keys import Pair
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.address import Endpoint
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.capacity import with_boot_modes
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.token import server_fingerprint

if TYPE_CHECKING:
    from ansible_collections.metalshift.maas.plugins.module_utils._lxd.client import Lxd

# It need not be reachable from here: a question that stays without an answer is not repeated.
ATTEMPTS = 1
READ_TIMEOUT = 15.0
# What MAAS says without its cause, or with a part of it.
WITHOUT_CAUSE = frozenset({"forbidden", "timeout", "unavailable"})
NO_BRIDGE = "LXD has no bridge, and default_macvlan_mode is not set: VMs there have nothing to be attached to."
# What the options of the modules for LXD are called here.
OURS: Mapping[str, str] = {
    "lxd_server_cert": "server_cert",
    "lxd_client_cert": "certificate",
    "lxd_client_key": "key",
    "lxd_endpoint": "power_address",
}


@dataclass(frozen=True)
class LxdView:
    """One LXD, as the certificate of MAAS sees it."""

    fingerprint: str
    version: str = ""
    is_trusted: bool = False
    has_boot_modes: bool = False
    project: str = ""
    # Those that a restricted certificate may use; None: any.
    projects: Sequence[str] | None = None
    can_run_vms: bool = True
    # None: it does not say.
    pools: Sequence[str] | None = None
    bridges: Sequence[str] | None = None
    vms: Sequence[str] = ()

    @property
    def may_use_project(self) -> bool:
        return self.is_trusted and (self.projects is None or self.project in self.projects)

    def obstacles(self, macvlan_mode: str | None) -> list[str]:
        """What keeps VMs away, in sentences."""
        causes = (
            (not self.is_trusted, f"LXD does not trust the certificate with the fingerprint {self.fingerprint}."),
            (self.is_trusted and not self.may_use_project, self._restriction),
            (not self.can_run_vms, "LXD has no virtual machines: it finds no QEMU, or no /dev/kvm."),
            # In the words in which MAAS's own numbers say so.
            (self.pools == [], "It has no storage pool."),
            (self.bridges == [] and not macvlan_mode, NO_BRIDGE),
            (self.has_boot_modes, with_boot_modes(self.version)),
        )
        return [sentence for holds, sentence in causes if holds]

    @property
    def _restriction(self) -> str:
        allowed = " and ".join(self.projects or ()) or "none at all"
        return (
            f"LXD trusts the certificate with the fingerprint {self.fingerprint} for projects that are named "
            f"({allowed}), and {self.project} is not among them."
        )


class Asking:
    """Asks an LXD, if it is known by what it is verified, and if it is reached from where Ansible runs."""

    def __init__(self, task: Task, server_cert: str | None, token: str | None) -> None:
        self._task = task
        self._given = server_cert or ""
        self._known_by = self._given or server_fingerprint(token or "")
        self._is_reachable = True

    def view(self, at: Endpoint | None, pair: Pair | None, project: str) -> LxdView | None:
        """What it says; None if it cannot be asked. One that is not the one that the task means is a failure."""
        if not self._known_by or at is None or pair is None or not self._is_reachable:
            return None
        try:
            return look(self._lxd(at, pair, project), pair)
        except Failure as failure:
            self._is_reachable = False
            if self._given and failure.kind in ("tls", "invalid", "missing_library"):
                raise _in_our_words(failure) from failure
            self._task.say(f"LXD at {at} is not asked: {failure.reason or failure.message}")
            return None

    def _lxd(self, at: Endpoint, pair: Pair, project: str) -> Lxd:
        # Here, because its library takes longer to import than a task on MAAS takes.
        from ansible_collections.metalshift.maas.plugins.module_utils._lxd.client import Lxd
        from ansible_collections.metalshift.maas.plugins.module_utils._lxd.connection import LxdConnection

        params = {
            "lxd_endpoint": f"https://{at}",
            "lxd_client_cert": pair.certificate,
            "lxd_client_key": pair.key,
            "lxd_server_cert": self._known_by,
            "lxd_project": project,
            "lxd_timeout": READ_TIMEOUT,
        }
        connection = LxdConnection.from_params(params, self._task.environment)
        return self._task.joined(
            Lxd(connection, clock=self._task.clock, attempts=ATTEMPTS, deadline=self._task.deadline)
        )


def explained(failure: Failure, view: LxdView | None, macvlan_mode: str | None) -> Failure:
    """What MAAS failed with, and what LXD has to say to that."""
    causes = view.obstacles(macvlan_mode) if view and failure.kind in WITHOUT_CAUSE else []
    new = [cause for cause in causes if cause not in failure.message]
    return replace(failure, message=" ".join([failure.message, *new])) if new else failure


def look(lxd: Lxd, pair: Pair) -> LxdView:
    """Everything that is asked of an LXD."""
    from ansible_collections.metalshift.maas.plugins.module_utils._lxd.overview import can_run_vms

    environment: Mapping[str, Any] = lxd.server.get("environment") or {}
    seen = LxdView(
        pair.fingerprint,
        version=str(environment.get("server_version") or ""),
        is_trusted=lxd.trusted,
        has_boot_modes=lxd.capabilities.has("boot modes of instances"),
        project=lxd.project,
    )
    if not lxd.trusted:
        return seen
    projects = sorted(each.rpartition("/")[2] for each in lxd.get("projects", what="list the projects"))
    seen = replace(seen, projects=projects if lxd.restricted else None, can_run_vms=can_run_vms(lxd))
    if not seen.may_use_project:
        return seen
    # MAAS makes a project that is missing, and it begins with the networks of `default`.
    is_there = lxd.project in projects
    project = {"project": lxd.project if is_there else "default"}
    networks = lxd.get("networks", {"recursion": 1, **project}, what="list the networks")
    return replace(
        seen,
        pools=[str(each) for each in lxd.get("storage-pools", project, what="list the storage pools")],
        bridges=None if lxd.restricted and not networks else _bridges(networks),
        vms=_vms(lxd) if is_there else (),
    )


def _bridges(networks: Sequence[Mapping[str, Any]]) -> list[str]:
    return [str(each["name"]) for each in networks if each.get("type") == "bridge"]


def _vms(lxd: Lxd) -> list[str]:
    from ansible_collections.metalshift.maas.plugins.module_utils._lxd.overview import VIRTUAL_MACHINE, of_type

    listed = lxd.get("instances", {"recursion": 1, "project": lxd.project}, what="list the VMs")
    return sorted(str(each["name"]) for each in of_type(VIRTUAL_MACHINE, listed))


def _in_our_words(failure: Failure) -> Failure:
    message, hint = failure.message, failure.hint
    for theirs, ours in OURS.items():
        message, hint = message.replace(theirs, ours), hint.replace(theirs, ours)
    return replace(failure, message=message, hint=hint)
