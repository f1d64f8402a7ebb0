# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Host names and domains, checked as MAAS does."""

from __future__ import annotations

import re

from metalshift_lab.simulator.errors import ServerError
from metalshift_lab.simulator.forms import Wrong

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


SPECIAL = ("", "@", "*")
_LABEL = r"[a-zA-Z0-9](?:[-a-zA-Z0-9]{0,62}[a-zA-Z0-9])?"
_ZONE = rf"(?:{_LABEL}[.])*{_LABEL}[.]?"
_SERVICE = r"_[a-zA-Z0-9](?:[-a-zA-Z0-9]{0,62}[a-zA-Z0-9])?"


def is_label(value: str) -> bool:
    return re.fullmatch(_LABEL, value) is not None


def zone_name(value: str) -> str:
    """A domain name as targets of records and domains have it."""
    if len(value) > 255:
        raise Wrong("Domain name length cannot exceed 255 characters.")
    if not re.fullmatch(_ZONE, value):
        if re.sub(r"[a-zA-Z0-9.-]", "", value):
            raise Wrong("Domain name contains invalid characters.")
        raise Wrong(f"Invalid domain name: {value}.")
    return value


def domain(value: str) -> str:
    """The name of a domain; a trailing dot is dropped."""
    value = value.removesuffix(".")
    wrong: list[str] = []
    try:
        zone_name(value)
    except Wrong as refused:
        wrong += refused.messages
    for label in value.split("."):
        if not label:
            wrong.append("DNS name contains an empty label.")
        elif len(label) > 63:
            wrong.append(f"Label is too long: {label!r}.  Maximum allowed is 63 characters.")
        elif label.startswith("-") or label.endswith("-"):
            wrong.append(f"Label cannot start or end with hyphen: {label!r}.")
        elif not LABEL.fullmatch(label):
            wrong.append(f"Label contains disallowed characters: {label!r}.")
        else:
            continue
        break
    if wrong:
        raise Wrong(*wrong)
    return value


def separate(fqdn: str, domains: set[str], rrtype: str = "A") -> tuple[str | None, str | None]:
    """The label and the domain of a full name; service records have up to three labels."""
    if fqdn in SPECIAL:
        return fqdn, None
    if fqdn in domains:
        return "@", fqdn
    label = rf"{_SERVICE}.{_SERVICE}(?:.{_LABEL})?" if rrtype == "SRV" else _LABEL
    # Any character separates, as in MAAS: "a_b.example" is "a" in "b.example".
    match = re.fullmatch(rf"({label}).({_ZONE})", fqdn)
    if match is None:
        raise ServerError("cannot unpack non-iterable NoneType object")
    return match[1], match[2]
