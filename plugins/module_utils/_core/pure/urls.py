# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names in URLs, and the way through a proxy.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, quote, urlsplit

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import invalid

# What no name holds: separators of paths, control characters, halves of characters.
UNFIT = re.compile(r"[/\\\x00-\x1f\x7f\ud800-\udfff]")


def segment(name: str, what: str) -> str:
    """A name as one part of a path.

    Proxies and WSGI servers resolve dots and encoded slashes: `zones/..%2Fx/` may reach anything, and an empty or
    dotted name the whole collection.
    """
    if not name.strip(".") or name != name.strip() or UNFIT.search(name):
        # A text of several lines is some other option's, perhaps a key.
        shown = repr(name) if len(name.splitlines()) < 2 else "A text of several lines"
        raise invalid(f"{shown} cannot be the {what}.")
    return quote(name, safe="")


@dataclass(frozen=True)
class Proxy:
    """A proxy, and the environment variable that names it."""

    # May hold a user and a password.
    url: str = field(repr=False)
    variable: str

    def __str__(self) -> str:
        return f"the proxy {self.url.rpartition('@')[2].rpartition('/')[2]} of the environment variable {self.variable}"


def proxy_for(base: str, environment: Mapping[str, str]) -> Proxy | None:
    """The proxy that the environment asks for.

    Not asked of Python, because that asks macOS for its proxy settings, which crashes a forked process, and because the
    task's `environment` must count.
    """
    parts = urlsplit(base)
    named = _variable(f"{parts.scheme}_proxy", environment) or _variable("all_proxy", environment)
    no_proxy = _variable("no_proxy", environment)
    if not named or _goes_direct(parts, environment[no_proxy] if no_proxy else ""):
        return None
    return Proxy(environment[named].rstrip("/"), named)


def _variable(name: str, environment: Mapping[str, str]) -> str:
    """The variable that is set. Programs differ on the case; where both are set, they agree on the small one."""
    return next((each for each in (name, name.upper()) if environment.get(each)), "")


def _goes_direct(parts: SplitResult, no_proxy: str) -> bool:
    host = (parts.hostname or "").lower()
    port = parts.port or {"http": 80, "https": 443}[parts.scheme]
    for entry in no_proxy.lower().replace(",", " ").split():
        if entry == "*" or _in_network(host, entry):
            return True
        name, _colon, wanted_port = entry.rpartition(":") if re.search(r"[^:]:\d+$", entry) else (entry, "", "")
        name = name.strip("[]").lstrip("*").lstrip(".")
        if wanted_port and int(wanted_port) != port:
            continue
        if name and (host == name or host.endswith("." + name)):
            return True
    return False


def _in_network(host: str, entry: str) -> bool:
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        return False
