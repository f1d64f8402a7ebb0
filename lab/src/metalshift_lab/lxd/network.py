# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A subnet that this machine does not know yet. LXD cannot find one where every address answers."""

from __future__ import annotations

import ipaddress
import json
import random
import secrets
import subprocess
from pathlib import Path

# Of 10.0.0.0/8, what home and cloud networks seldom use.
SUBNETS = [ipaddress.IPv4Network(f"10.{second}.{third}.0/24") for second in range(144, 176) for third in range(256)]


def free_subnet() -> ipaddress.IPv4Network:
    used = _known()
    candidates = random.sample(SUBNETS, len(SUBNETS))
    return next(each for each in candidates if not any(each.overlaps(other) for other in used))


def free_bridge(stem: str) -> str:
    """A name that no interface has, nor had a moment ago: who clears up after an LXD removes bridges by name."""
    names = (f"{stem}{secrets.token_hex(3)}" for _number in range(1000))
    return next(name for name in names if not Path(f"/sys/class/net/{name}").exists())


def _known() -> list[ipaddress.IPv4Network]:
    command = ["ip", "-json", "-4", "route", "show", "table", "all"]
    routes = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout or "[]")
    return [ipaddress.IPv4Network(route["dst"]) for route in routes if route["dst"] != "default"]
