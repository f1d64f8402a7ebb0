# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What uses what: lists of addresses, as LXD has them in `used_by`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from metalshift_lab.simulator.lxd.api.asked import address
from metalshift_lab.simulator.lxd.server import Server


def of_project(server: Server, name: str) -> list[str]:
    """All that belongs to it."""
    about = server.about(name)
    found = [address("instances", instance, project=name) for instance in server.projects[name]]
    if about.has("profiles"):
        found += [address("profiles", profile, project=name) for profile in about.profiles]
    if about.has("storage.volumes"):
        found += [_volume(pool, volume, name) for pool, volume in about.volumes]
    if name == "default":
        found += [address("networks", each.name) for each in server.networks.values() if each.managed]
    return found


def of_profile(server: Server, project: str, name: str) -> list[str]:
    home = server.profiles(project)
    return [
        address("instances", instance.name, project=where)
        for where, instance in server.instances()
        if name in instance.profiles and server.profiles(where) is home
    ]


def of_pool(server: Server, name: str) -> list[str]:
    volumes = [
        _volume(pool, volume, project)
        for project in server.projects
        for pool, volume in server.about(project).volumes
        if pool == name
    ]
    return sorted([*_with_device(server, "disk", "pool", name), *volumes])


def of_network(server: Server, name: str) -> list[str]:
    """Instances name it as a network, or as an interface of the host."""
    return list(
        dict.fromkeys([*_with_device(server, "nic", "network", name), *_with_device(server, "nic", "parent", name)])
    )


def of_volume(server: Server, project: str, pool: str, name: str) -> list[str]:
    home = server.volumes(project)
    return [
        address("instances", instance.name, project=where)
        for where, instance in server.instances()
        if server.volumes(where) is home and _has(server.shape(where, instance).devices, pool=pool, source=name)
    ]


def _with_device(server: Server, kind: str, key: str, value: str) -> Iterator[str]:
    wanted = {"type": kind, key: value}
    for project in server.projects:
        for profile in server.about(project).profiles.values():
            if _has(profile.devices, **wanted):
                yield address("profiles", profile.name, project=project)
    for project, instance in server.instances():
        if _has(server.shape(project, instance).devices, **wanted):
            yield address("instances", instance.name, project=project)


def _has(devices: Any, **wanted: str) -> bool:
    return any(wanted.items() <= device.items() for device in devices.values())


def _volume(pool: str, name: str, project: str) -> str:
    return address("storage-pools", pool, "volumes", "custom", name, project=project)
