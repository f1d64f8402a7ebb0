# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines on which nothing is in the way, as the role lxd_host reads them."""

from __future__ import annotations

from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._vms.lxd_host.pure.checks import (
    APT_LIBRARY,
    EXTENSIONS,
    judge,
)
from ansible_collections.metalshift.maas.plugins.module_utils._vms.lxd_host.pure.facts import HostFacts
from ansible_collections.metalshift.maas.plugins.module_utils._vms.lxd_host.pure.host import Host
from ansible_collections.metalshift.maas.plugins.module_utils._vms.lxd_host.pure.spec import HostSpec

MACHINE = {
    "status_name": "Deployed",
    "pool": "kvm",
    "ip_addresses": ["10.0.0.5"],
    "interfaces": [{"type": "bridge", "name": "br0"}],
}
FILES = ["/dev/kvm", "/dev/vhost-vsock", "/usr/bin/lxd", "/var/lib/lxd/unix.socket", APT_LIBRARY]
ENVIRONMENT = {"server_version": "5.21.3", "driver": "qemu", "server_clustered": False}


def an_lxd(*, extensions: tuple[str, ...] = (), address: str = "", **environment: Any) -> dict[str, Any]:
    """What an LXD says of itself."""
    return {
        "api_extensions": [*EXTENSIONS, *extensions],
        "environment": {**ENVIRONMENT, **environment},
        "config": {"core.https_address": address} if address else {},
    }


def a_host(wanted: dict[str, Any] | None = None, **facts: Any) -> Host:
    """A machine with an LXD, on which nothing is in the way but what the facts say."""
    found = {
        "host": "kvm-1",
        "files": FILES,
        "distribution": "Debian",
        "pkg_mgr": "apt",
        "python": "3.11.2",
        "interfaces": ["br0"],
        "machine": MACHINE,
        "server": an_lxd(),
        **facts,
    }
    return Host(HostSpec.from_params({"machine": "kvm-1", **(wanted or {})}), HostFacts.from_params(found))


def obstacles(host: Host) -> list[str]:
    return [finding.says for finding in judge(host) if finding.says]
