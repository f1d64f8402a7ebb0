# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What others have done in MAAS before a task runs."""

from __future__ import annotations

from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.connection import ApiKey, MaasConnection
from metalshift_lab.simulator import Simulator


def client(sim: Simulator, key: str = "") -> Client:
    """The administrator's way to MAAS, or that of another user."""
    return Client(MaasConnection(base=sim.url, key=ApiKey.parse(key or sim.api_key)))


def plain_user(sim: Simulator) -> str:
    """The key of Bob, who is no administrator."""
    form = {"username": "bob", "password": "p", "email": "bob@example.com", "is_superuser": "0"}
    client(sim).post("users/", form)
    return sim.key_of("bob")


def reserve(sim: Simulator, *ips: str, key: str = "", **form: str) -> None:
    for ip in ips:
        client(sim, key).post("ipaddresses/", {"ip": ip, **form}, op="reserve")


def link(sim: Simulator, machine: str, interface: str, ip: str) -> None:
    path = f"nodes/{sim.find(machine).system_id}/interfaces/{interface}/"
    client(sim).post(path, {"mode": "static", "subnet": "10.99.0.0/24", "ip_address": ip}, op="link_subnet")
