# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the LXD of a VM host is.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid

PORT = 8443
# The project that MAAS itself makes for its VMs. Those in `default` are as a rule somebody's own.
PROJECT = "maas"


@dataclass(frozen=True)
class Endpoint:
    """Host and port, however a power address was written."""

    host: str
    port: int = PORT

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def endpoint(text: str, option: str = "power_address") -> Endpoint:
    """Where a power address points to: MAAS takes it with and without scheme and port."""
    address = text.strip()
    try:
        parts = urlsplit(address if "://" in address else f"https://{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, None
    if not host or parts is None or parts.scheme != "https" or parts.path.strip("/") or parts.username:
        raise invalid(
            f"{option} is not the address of an LXD: {text!r}.",
            "Write host, host:port or https://host:port; an IPv6 address stands in brackets.",
        )
    return Endpoint(host.lower(), port or PORT)


def known_endpoint(text: str) -> Endpoint | None:
    """As `endpoint`, of what MAAS has: it takes anything."""
    try:
        return endpoint(text)
    except Failure:
        return None
