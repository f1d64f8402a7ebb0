# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""LXD servers in memory, for MAAS's rack and for clients of LXD itself."""

from __future__ import annotations

from metalshift_lab.simulator.lxd.instance import VM, Disk, Instance, Nic, Shape, Volume
from metalshift_lab.simulator.lxd.registry import PORT, add_server, believe, connect, endpoint, on_machine, servers
from metalshift_lab.simulator.lxd.remote import Visit
from metalshift_lab.simulator.lxd.server import (
    GB,
    Certificate,
    Network,
    Profile,
    Project,
    Server,
    StoragePool,
)
from metalshift_lab.simulator.lxd.troubles import NoSpace, Trouble, Unreachable

# What MAAS's rack talks to.
Host = Server | Visit

__all__ = [
    "GB",
    "PORT",
    "VM",
    "Certificate",
    "Disk",
    "Host",
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
    "Visit",
    "Volume",
    "add_server",
    "believe",
    "connect",
    "endpoint",
    "on_machine",
    "servers",
]
