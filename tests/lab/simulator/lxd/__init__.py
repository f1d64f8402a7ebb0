# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""LXD servers in memory, for MAAS's rack and for clients of LXD itself."""

from __future__ import annotations

from lab.simulator.lxd.instance import VM, Disk, Instance, Nic, Shape, Volume
from lab.simulator.lxd.registry import PORT, add_server, connect, endpoint, on_machine, servers
from lab.simulator.lxd.server import (
    GB,
    Certificate,
    Network,
    NoSpace,
    Profile,
    Project,
    Server,
    StoragePool,
    Trouble,
    Unreachable,
)

__all__ = [
    "GB",
    "PORT",
    "VM",
    "Certificate",
    "Disk",
    "Instance",
    "Network",
    "Nic",
    "NoSpace",
    "Profile",
    "Project",
    "Server",
    "Shape",
    "StoragePool",
    "Trouble",
    "Unreachable",
    "Volume",
    "add_server",
    "connect",
    "endpoint",
    "on_machine",
    "servers",
]
