# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What LXD finds wrong with configurations and devices of instances and profiles."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from metalshift_lab.simulator.lxd import sizes
from metalshift_lab.simulator.lxd.server import Server

KEYS = re.compile(
    r"(agent|boot|cloud-init|cluster|environment|limits|linux|migration|nvidia|raw|security|snapshots|user|volatile)\..+"
)
KINDS = [
    "none",
    "nic",
    "disk",
    "unix-char",
    "unix-block",
    "unix-hotplug",
    "usb",
    "gpu",
    "infiniband",
    "proxy",
    "tpm",
    "pci",
]
SECUREBOOT = ("security.secureboot", "security.csm")
CORES = r"\d+|\d+(-\d+)?(,\d+(-\d+)?)*"


def wrong_config(server: Server, config: Mapping[str, Any]) -> str:
    """LXD's words; empty when all is well."""
    for key, value in config.items():
        gone = key in SECUREBOOT and not server.knows.knows_secureboot
        if not KEYS.fullmatch(key) or gone:
            return f"Unknown configuration key: {key}"
        if key == "limits.cpu" and value and not re.fullmatch(CORES, str(value)):
            return "Invalid CPU limit syntax"
        if key == "limits.memory" and value and not str(value).endswith("%"):
            try:
                sizes.parse(str(value))
            except ValueError as error:
                return str(error)
    return ""


def wrong_device(server: Server, devices: Mapping[str, Mapping[str, str]]) -> str:
    """Of what a profile, too, is held to: kinds, and networks."""
    for name, device in devices.items():
        said = f'Device validation failed for "{name}": Failed loading device "{name}": '
        if device.get("type") not in KINDS:
            return f"{said}Unsupported device type"
        network = device.get("network")
        if device["type"] == "nic" and network and not _is_managed(server, network):
            return f'{said}Failed to load network "{network}" for project "default": Network not found'
    return ""


def wrong_disk(server: Server, project: str, devices: Mapping[str, Mapping[str, str]]) -> str:
    """Of what only an instance is held to: a root disk, pools and volumes that are there."""
    disks = {name: device for name, device in devices.items() if device["type"] == "disk"}
    root = next((device for device in disks.values() if device.get("path") == "/"), None)
    if root is None or not root.get("pool"):
        return "Failed getting root disk: No root device could be found"
    if root["pool"] not in {pool.name for pool in server.pools}:
        return "Failed loading storage pool: Storage pool not found"
    for name, device in disks.items():
        known = (device.get("pool", ""), device.get("source", "")) in server.volumes(project)
        if device.get("pool") and device.get("source") and not known:
            words = "Failed loading custom volume: Storage volume not found"
            return f'Failed add validation for device "{name}": {words}'
    return ""


def missing_parent(server: Server, devices: Mapping[str, Mapping[str, str]]) -> str:
    """What an instance finds out when it starts."""
    for name, device in devices.items():
        parent = device.get("parent")
        if device["type"] == "nic" and parent and parent not in server.networks:
            return f'Failed to start device "{name}": Parent device "{parent}" doesn\'t exist'
    return ""


def _is_managed(server: Server, name: str) -> bool:
    return name in server.networks and server.networks[name].managed
