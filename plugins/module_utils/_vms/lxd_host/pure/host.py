# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is decided about a machine that is to be an LXD host, from what was found there.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._vms.lxd_host.pure import firewall, sizes
from ansible_collections.metalshift.maas.plugins.module_utils._vms.lxd_host.pure.facts import (
    HOMES,
    HostFacts,
    Object,
    owner_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._vms.lxd_host.pure.spec import HostSpec

# With these, a project has what is in it for itself.
FEATURES = {"features.images": "true", "features.profiles": "true", "features.storage.volumes": "true"}
PROFILES = "features.profiles"
WITH_PORT = re.compile(r"[\]a-z0-9.-]:[0-9]+$")
USUAL_PORT = 8443


@dataclass(frozen=True)
class Host:
    """One machine: what it is to be, and what was found."""

    spec: HostSpec
    facts: HostFacts

    # -- LXD itself --------------------------------------------------------------------------------

    @property
    def install(self) -> str:
        if self.spec.install != "auto":
            return self.spec.install
        return "snap" if self.facts.distribution == "Ubuntu" else "package"

    @property
    def service(self) -> str:
        snap = f"{HOMES['snap']}/unix.socket" in self.facts.files or self.install == "snap"
        return "snap.lxd.daemon" if snap else "lxd"

    # -- in MAAS -----------------------------------------------------------------------------------

    @property
    def registered(self) -> list[Object]:
        return [each for each in self.facts.vm_hosts if each.get("project") == self.spec.project]

    @property
    def strangers(self) -> list[str]:
        """The VMs of the project that MAAS does not know, and would take."""
        if not self.spec.register or self.registered:
            return []
        instances = self.facts.instances_of(self.spec.project)
        return [str(each["name"]) for each in instances if each.get("type") == "virtual-machine"]

    @property
    def pool_in_maas(self) -> str:
        return self.spec.pool or str((self.facts.machine or {}).get("pool") or "default")

    @property
    def own_address(self) -> str:
        return next(iter((self.facts.machine or {}).get("ip_addresses") or ()), "")

    @property
    def endpoint(self) -> str:
        """Where its LXD is reached; empty if nobody knows an address."""
        reached = self._with_port(self.spec.address.removeprefix("https://"))
        return f"https://{reached}" if reached else ""

    @property
    def power_address(self) -> str:
        """What MAAS is told. It finds its VM host at the address of the machine, if the port is the usual one."""
        return self.spec.address if self.spec.port == USUAL_PORT else self._with_port(self.spec.address)

    def _with_port(self, given: str) -> str:
        address = given or self.own_address
        if not address:
            return ""
        if _is_ipv6(address):
            return f"[{address}]:{self.spec.port}"
        return address if WITH_PORT.search(address) else f"{address}:{self.spec.port}"

    # -- in LXD ------------------------------------------------------------------------------------

    @property
    def pool(self) -> Object:
        return self.facts.pool(self.spec.storage_pool)

    @property
    def pool_size(self) -> int:
        return sizes.pool_size(self.spec.storage_size, self.facts.free) or 0

    @property
    def pool_config(self) -> dict[str, str]:
        config = {"source": self.spec.storage_source, "size": f"{self.pool_size}B" if self.pool_size else ""}
        return {key: value for key, value in config.items() if value}

    @property
    def project(self) -> Object:
        return self.facts.project(self.spec.project)

    @property
    def is_ours(self) -> bool:
        """Whether the project is, and so its profile."""
        return not self.project or self.spec.project in self.facts.recorded("project")

    @property
    def has_profiles(self) -> bool:
        config = self.project.get("config") or {} if self.project else FEATURES
        return config.get(PROFILES) == "true"

    @property
    def limits_before(self) -> list[str]:
        """Those that an earlier run set."""
        return [key for project, key in map(str.split, self.facts.recorded("limit")) if project == self.spec.project]

    @property
    def project_config(self) -> dict[str, str]:
        """What is asked of it. LXD changes no features of a project in use, and limits of others stay."""
        limits = sizes.room(self.spec, self.facts).limits
        gone = {key: "" for key in self.limits_before if key not in limits}
        return {**({} if self.project else FEATURES), **gone, **limits}

    @property
    def disk_contents(self) -> list[str]:
        return [*self._signatures, *self._partitions] if self.is_disk else []

    @property
    def is_disk(self) -> bool:
        disk = self.facts.disk or {}
        return not self.pool and self.spec.storage_source.startswith("/") and bool(disk.get("is_block"))

    @property
    def wipes(self) -> list[str]:
        """What is wiped, the partitions before the disk."""
        allowed = bool((self.facts.disk or {}).get("may_wipe"))
        return [*self._partitions, self.spec.storage_source] if allowed and self.disk_contents else []

    @property
    def disk_users(self) -> list[str]:
        found = (self.facts.disk or {}).get("devices") or [] if self.is_disk else []
        mounted = [f"mounted on {each['mountpoint']}" for each in found if each.get("mountpoint")]
        plain = ("disk", "part", "loop", "mpath")
        return [*mounted, *(str(each["name"]) for each in found if each.get("type") not in plain)]

    @property
    def _partitions(self) -> list[str]:
        devices = (self.facts.disk or {}).get("devices") or []
        return [str(each["name"]) for each in devices if each.get("type") == "part"]

    @property
    def _signatures(self) -> list[str]:
        lines = (self.facts.disk or {}).get("signatures") or []
        return [str(line).split()[0] for line in lines if str(line).split()]

    # -- what people read --------------------------------------------------------------------------

    @property
    def found(self) -> list[str]:
        """What there is, in sentences."""
        facts = self.facts
        instances = [f"{each.get('project', 'default')}/{each['name']}" for each in facts.instances]
        lxd = (
            f"LXD {facts.version}, a {facts.there}, with the storage pools {_listed(facts.pools)}"
            f" and the instances {', '.join(instances) or 'none'}."
        )
        bridges = (
            f"Bridges: {', '.join(facts.bridges) or 'none'}. MAAS knows {', '.join(facts.maas_bridges) or 'none'}."
        )
        return [lxd if facts.answers else "No LXD.", bridges]

    def as_result(self) -> dict[str, Any]:
        """What the role's tasks are to do."""
        room, rules = sizes.room(self.spec, self.facts), firewall.rules(self.spec, self.facts)
        ufw_on, firewalld_on = firewall.is_on(self.facts)
        return {
            "install": self.install,
            "there": self.facts.there,
            "service": self.service,
            "snap": dict(self.facts.snap),
            "has_vms": "qemu" in str(self.facts.environment.get("driver") or "").split(" | "),
            "running": [str(each["name"]) for each in self.facts.instances if each.get("status") == "Running"],
            "endpoint": self.endpoint,
            "power_address": self.power_address,
            "bridges_in_maas": self.facts.maas_bridges,
            # MAAS attaches what it composes to what it knows, and learns of no bridge on a deployed machine.
            "proof_via": "maas" if self.spec.bridge in self.facts.maas_bridges else "lxd",
            "registered": [str(each["name"]) for each in self.registered],
            "pool": {"there": bool(self.pool), "config": self.pool_config, "wipes": self.wipes},
            "project": {
                "there": bool(self.project),
                "config": self.project_config,
                "profile": self.is_ours and self.has_profiles,
                "limits": sorted(room.limits),
                "limits_gone": sorted({*self.limits_before} - {*room.limits}),
            },
            "cpu_over_commit_ratio": room.cpu_ratio,
            "memory_over_commit_ratio": room.memory_ratio,
            "listens": self.facts.listens_on == self.spec.https_address,
            "firewall": {
                "ufw": list(rules.ufw) if ufw_on else [],
                "firewalld": list(rules.firewalld) if firewalld_on else [],
                "closed": list(rules.closed),
                "theirs": list(rules.theirs),
                "begun": list(rules.begun),
            },
        }


def _is_ipv6(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).version == 6
    except ValueError:
        return False


def _listed(objects: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(str(each["name"]) for each in objects) or "none"


def users_of_pool(host: Host, pool: Object) -> list[str]:
    """What uses a pool besides the project."""
    return [str(user) for user in pool.get("used_by") or () if owner_of(str(user)) != host.spec.project]
