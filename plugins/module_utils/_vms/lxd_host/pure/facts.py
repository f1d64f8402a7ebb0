# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was found on a machine that is to be an LXD host, and what MAAS and Kubernetes know of it.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._vms.lxd_host.pure.spec import converted

Object = Mapping[str, Any]

HOMES = {"snap": "/var/snap/lxd/common/lxd", "package": "/var/lib/lxd"}
DATABASES = tuple(f"{home}/database" for home in HOMES.values())
PROGRAM = "/usr/bin/lxd"


@dataclass(frozen=True)
class HostFacts:
    """What the role's tasks have read, as it came."""

    host: str = ""
    check: bool = False
    files: Sequence[str] = ()
    vsock: bool = False
    listeners: str = ""
    distribution: str = ""
    pkg_mgr: str = ""
    python: str = ""
    interfaces: Sequence[str] = ()
    bridges: Sequence[str] = ()
    # The lines of `snap list lxd`.
    snaps: Sequence[str] = ()
    # The lines that the role has written.
    record: Sequence[str] = ()
    server: Object | None = None
    resources: Object | None = None
    pools: Sequence[Object] = ()
    projects: Sequence[Object] = ()
    certificates: Sequence[Object] = ()
    instances: Sequence[Object] = ()
    # What an LXD that does not answer has in its folders.
    on_disk: Sequence[str] = ()
    machine: Object | None = None
    vm_hosts: Sequence[Object] = ()
    ufw: str = ""
    ufw_rules: Sequence[str] = ()
    firewalld: str = ""
    zone: str = ""
    forwards: bool = False
    bridged: str = "0"
    rules: Sequence[str] = ()
    # What storage_source is, and what is on it.
    disk: Object | None = None
    free: int = -1
    bridge_port: str = ""
    bridge_problem: str = ""
    cut_off: Sequence[str] = ()
    # Of the certificate and its key: which are there, and which are named by a relative path.
    pair: Sequence[str] = ()
    relative: Sequence[str] = ()
    node_found: bool = True

    @classmethod
    def from_params(cls, given: Mapping[str, Any]) -> HostFacts:
        return cls(**converted(cls, "facts", given))

    def recorded(self, kind: str) -> list[str]:
        """What follows the word in the lines of the record that begin with it."""
        return [line.partition(" ")[2] for line in self.record if line.partition(" ")[0] == kind]

    @property
    def there(self) -> str:
        """How the LXD that is there was installed; empty if there is none."""
        sockets = {kind: f"{home}/unix.socket" for kind, home in HOMES.items()}
        if sockets["snap"] in self.files:
            return "snap"
        return "package" if {sockets["package"], PROGRAM} <= {*self.files} else ""

    @property
    def answers(self) -> bool:
        return bool(self.server)

    @property
    def snap(self) -> Mapping[str, str]:
        """The snap of LXD: its version, channel and notes."""
        words = next((line.split() for line in self.snaps if line.startswith("lxd ")), [])
        if len(words) < 4:
            return {}
        version = words[1].partition("-")[0]
        return {"version": version, "channel": words[3], "notes": words[5] if len(words) > 5 else ""}

    @property
    def is_silent(self) -> bool:
        """Whether there is an LXD that does not answer: nobody knows what it has."""
        signs = {PROGRAM, *DATABASES} & {*self.files}
        return not self.answers and bool(signs or self.snap)

    @property
    def is_silent_and_empty(self) -> bool:
        """Whether that is one which a killed run had only begun to install, or all but removed."""
        installed = any(self._is_recorded(kind) for kind in ("package", "packages", "snap"))
        used = any(self._is_recorded(kind) for kind in ("pool", "project", "listen", "certificate"))
        return self.is_silent and installed and not used

    def _is_recorded(self, kind: str) -> bool:
        return any(line.partition(" ")[0] == kind for line in self.record)

    @property
    def environment(self) -> Object:
        return (self.server or {}).get("environment") or {}

    @property
    def version(self) -> str:
        return str(self.environment.get("server_version") or "")

    @property
    def extensions(self) -> frozenset[str]:
        return frozenset((self.server or {}).get("api_extensions") or ())

    @property
    def listens_on(self) -> str:
        return str(((self.server or {}).get("config") or {}).get("core.https_address") or "")

    @property
    def maas_bridges(self) -> list[str]:
        known = (self.machine or {}).get("interfaces") or []
        return [str(each["name"]) for each in known if each.get("type") == "bridge"]

    def pool(self, name: str) -> Object:
        return next((pool for pool in self.pools if pool["name"] == name), {})

    def project(self, name: str) -> Object:
        return next((project for project in self.projects if project["name"] == name), {})

    def instances_of(self, project: str) -> list[Object]:
        return [instance for instance in self.instances if instance.get("project", "default") == project]

    def volumes(self) -> list[tuple[str, str]]:
        """The custom volumes of all pools, each with its project."""
        used = [str(user) for pool in self.pools for user in pool.get("used_by") or ()]
        found = (re.search(r"/volumes/custom/([^?/]+)(?:[?].*project=([^&]+))?", user) for user in used)
        return [(match[1], match[2] or "default") for match in found if match]


def owner_of(user: str) -> str:
    """The project of something that uses a pool, from its URL."""
    match = re.search(r"[?&]project=([^&]+)", user)
    return match[1] if match else "default"
