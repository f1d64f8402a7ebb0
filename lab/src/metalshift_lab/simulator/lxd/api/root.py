# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/1.0: what the server is, and its configuration."""

from __future__ import annotations

import random
import re
from typing import Any

from metalshift_lab.simulator.lxd.api.asked import BAD_REQUEST, Answer, Asked, Refused, changed
from metalshift_lab.simulator.lxd.api.routing import resource
from metalshift_lab.simulator.lxd.server import Server

PASSWORD = "core.trust_password"
# As far as the lab's clients set them.
KEYS = re.compile(
    r"(core\.(https_address|https_allowed_\w+|https_trusted_proxy|proxy_\w+|metrics_address|metrics_authentication|debug_address"
    r"|bgp_\w+|dns_address|remote_token_expiry|shutdown_timeout|trust_ca_certificates|trust_password|storage_buckets_address)"
    r"|cluster\.\w+|images\.(auto_update_cached|auto_update_interval|compression_algorithm|default_architecture"
    r"|remote_cache_expiry)|network\.ovn\.\w+|storage\.(backups|images)_volume|backups\.compression_algorithm"
    r"|candid\.[\w.]+|rbac\.[\w.]+|maas\.[\w.]+|loki\.[\w.]+|oidc\.[\w.]+|user\..+)"
)
NUMBERS = ("core.shutdown_timeout", "images.auto_update_interval", "images.remote_cache_expiry")
POOL_DRIVER_VERSIONS = {"btrfs": "6.2", "dir": "1", "lvm": "2.03.16", "zfs": "2.1.11"}


@resource("")
class Root:
    def get(self, asked: Asked) -> Answer:
        said = _public(asked.server)
        if not asked.client.trusted:
            return Answer({**said, "auth": "untrusted"})
        config = None if asked.client.restricted else _config(asked.server)
        return asked.tagged({"config": config, **said, "auth": "trusted", "environment": _environment(asked)})

    def put(self, asked: Asked) -> Answer:
        return self._change(asked, replace=True)

    def patch(self, asked: Asked) -> Answer:
        return self._change(asked, replace=False)

    def _change(self, asked: Asked, *, replace: bool) -> Answer:
        asked.require_unrestricted()
        server, given = asked.server, asked.wish.get("config") or {}
        for key, value in given.items():
            _check(server, key, str(value))
        server.config = changed(server.config, given, replace=replace)
        password = server.config.pop(PASSWORD, "")
        # What was read is no password.
        if (PASSWORD in given or replace) and given.get(PASSWORD) is not True:
            server.password = password
        return Answer()


@resource("resources")
class Resources:
    """The machine under it. Its cores are in one socket."""

    def get(self, asked: Asked) -> Answer:
        server = asked.server
        threads = {"numa_node": 0, "thread": 0, "online": True, "isolated": False}
        cores = [{"core": n, "die": 0, "threads": [{"id": n, **threads}]} for n in range(server.cores)]
        memory = {"hugepages_used": 0, "hugepages_total": 0, "used": 0, "total": server.memory * 1024**2}
        port = {"id": "eth0", "address": server.mac, "port": 0, "protocol": "ethernet", "link_detected": True}
        return Answer(
            {
                "cpu": {
                    "architecture": "x86_64",
                    "sockets": [{"socket": 0, "cores": cores, "frequency": server.cpu_speed}],
                    "total": server.cores,
                },
                "memory": {"nodes": [{"numa_node": 0, **memory}], "hugepages_size": 2097152, **memory},
                "gpu": {"cards": [], "total": 0},
                "network": {"cards": [{"driver": "virtio_net", "ports": [port], "numa_node": 0}], "total": 1},
                "storage": {"disks": [], "total": 0},
                "usb": {"devices": [], "total": 0},
                "pci": {"devices": [], "total": 0},
                "system": {"uuid": "", "vendor": "", "product": "", "type": "physical"},
            }
        )


def _public(server: Server) -> dict[str, Any]:
    return {
        "api_extensions": server.knows.extensions,
        "api_status": "stable",
        "api_version": "1.0",
        "auth": "",
        "public": False,
        "auth_methods": ["tls"],
    }


def _config(server: Server) -> dict[str, Any]:
    """A trap: a password reads as true."""
    config: dict[str, Any] = {"core.https_address": server.door.address, **server.config}
    return config | ({PASSWORD: True} if server.password and server.knows.takes_passwords else {})


def _environment(asked: Asked) -> dict[str, Any]:
    server = asked.server
    versions = {"lxc": "5.0.2", "qemu": "7.2.22"}
    # A trap: their order changes.
    drivers = random.sample(server.drivers, len(server.drivers))
    pools = sorted({pool.driver for pool in server.pools})
    return {
        "addresses": [server.door.address],
        "architectures": ["x86_64", "i686"],
        "certificate": server.door.certificate,
        "certificate_fingerprint": server.door.fingerprint,
        "driver": " | ".join(drivers),
        "driver_version": " | ".join(versions[driver] for driver in drivers),
        "firewall": "nftables",
        "kernel": "Linux",
        "kernel_architecture": "x86_64",
        "kernel_version": "6.8.0-31-generic",
        "os_name": "Ubuntu",
        "os_version": "24.04",
        "project": asked.project,
        "server": "lxd",
        "server_clustered": False,
        "server_event_mode": "full-mesh",
        "server_name": server.name,
        "server_pid": 1,
        "server_version": server.version,
        "storage": " | ".join(pools),
        "storage_version": " | ".join(POOL_DRIVER_VERSIONS.get(driver, "") for driver in pools),
        "storage_supported_drivers": [
            {"Name": name, "Version": POOL_DRIVER_VERSIONS.get(name, ""), "Remote": False}
            for name in server.pool_drivers
        ],
    }


def _check(server: Server, key: str, value: str) -> None:
    known = KEYS.fullmatch(key) and (key != PASSWORD or server.knows.takes_passwords)
    if not known:
        raise Refused(BAD_REQUEST, server.knows.unknown_key(key, value))
    if key in NUMBERS and value and not value.isdecimal():
        raise Refused(BAD_REQUEST, f"cannot set '{key}' to '{value}': invalid integer")
