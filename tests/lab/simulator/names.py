# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Host names and domains, checked as MAAS does."""

from __future__ import annotations

import re

from lab.simulator.forms import Wrong

LABEL = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?")


def hostname(value: str) -> str:
    if len(value) > 255:
        raise Wrong("Hostname is too long.  Maximum allowed is 255 characters.")
    host, *domain = value.split(".")
    if "_" in host:
        raise Wrong(f"Host label cannot contain underscore: {host!r}.")
    for label in (host, *domain):
        if not label:
            raise Wrong("Hostname contains empty name.")
        if len(label) > 63:
            raise Wrong(f"Name is too long: {label!r}.  Maximum allowed is 63 characters.")
        if label.startswith("-") or label.endswith("-"):
            raise Wrong(f"Name cannot start or end with hyphen: {label!r}.")
        if not LABEL.fullmatch(label.replace("_", "a")):
            raise Wrong(f"Name contains disallowed characters: {label!r}.")
    return value
