# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why MAAS cannot talk to the LXD of a VM host, or make a VM there, from the text that it fails with.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure

# What MAAS puts before the driver's own words.
PREFIX = re.compile(r"^(Failed talking to pod: )?((VM Host|Pod) -?\w+: )*")
TRUST = "Let LXD trust it with metalshift.maas.lxd_trust, or give a token of that LXD."


@dataclass(frozen=True)
class DiscoveryReason:
    """Words of MAAS's text, and what they mean to a person."""

    words: str
    kind: str
    why: str
    hint: str


# In the order in which they are tried: a refused password also says "not authorized".
REASONS: Sequence[DiscoveryReason] = (
    DiscoveryReason(
        "No rack controllers",
        "unavailable",
        "no rack controller of MAAS is connected",
        "Start one, and run the task again.",
    ),
    DiscoveryReason(
        "no longer supported",
        "unsupported",
        "this LXD takes no password any more",
        "Let LXD trust the certificate with metalshift.maas.lxd_trust; whether a token works is up to MAAS's version.",
    ),
    DiscoveryReason(
        "Password authentication failed",
        "credentials",
        "LXD accepts neither the certificate nor the password or token",
        "A token is good once and may have expired; a password must be LXD's core.trust_password.",
    ),
    DiscoveryReason("not trusted", "credentials", "LXD does not trust the certificate{fingerprint}", TRUST),
    DiscoveryReason(
        "restricted|Forbidden|not authorized",
        "forbidden",
        "LXD trusts the certificate{fingerprint}, but not for the project {project}",
        "Name the project that the certificate is for, or change its projects with metalshift.maas.lxd_trust.",
    ),
    DiscoveryReason(
        "Failed to connect|Max retries|[Cc]onnection refused|timed out|No route to host",
        "unreachable",
        "MAAS's rack controllers do not reach an LXD at {address}",
        "Check the address, LXD's core.https_address, and firewalls between them.",
    ),
    DiscoveryReason(
        "Not enough space|Not enough storage space|[Nn]o space left",
        "capacity",
        "its storage pool has no room for it",
        "Make room there, or name another pool with disks; metalshift.maas.vm_host_info shows what there is.",
    ),
    DiscoveryReason(
        "already exists",
        "conflict",
        "LXD has a VM of that name already, which MAAS does not know",
        "Remove or rename it in LXD, or choose another hostname.",
    ),
    DiscoveryReason(
        "No storage pools",
        "capacity",
        "LXD has no storage pool, and VMs need one",
        "Make one with metalshift.maas.lxd_storage_pool.",
    ),
    DiscoveryReason(
        "Please upgrade your LXD",
        "unsupported",
        "this LXD is too old for MAAS",
        "MAAS needs the API extensions projects, virtual-machines and custom_block_volumes, as LXD 5.0 has them.",
    ),
    DiscoveryReason(
        "PEM|[Kk]ey and certificate|certificate and key",
        "rejected",
        "MAAS cannot use the certificate and key",
        "Give a certificate and the key that belongs to it, both in PEM and without a passphrase.",
    ),
)
UNKNOWN = DiscoveryReason(
    "", "unavailable", "MAAS cannot talk to its LXD: {text}", "Look at LXD's log, and run the task again."
)


def failure(label: str, text: str, *, address: str, project: str, fingerprint: str = "", status: int = 503) -> Failure:
    """The failure that the text of a refused refresh stands for."""
    said, reason = _read(text)
    return _as_failure(label, f"{label} cannot be used", said, reason, (address, project, fingerprint), status)


def uncomposed(name: str, host: str, text: str, *, address: str, project: str, fingerprint: str = "") -> Failure | None:
    """The failure that the text of a composition stands for that came to nothing; None for what is new to us."""
    said, reason = _read(text)
    if reason is UNKNOWN:
        return None
    what = f"{name} cannot be composed on {host}"
    return _as_failure(name, what, said, reason, (address, project, fingerprint), 503)


def _read(text: str) -> tuple[str, DiscoveryReason]:
    said = PREFIX.sub("", text).strip()
    return said, next((each for each in REASONS if re.search(each.words, said)), UNKNOWN)


def _as_failure(
    label: str, what: str, said: str, reason: DiscoveryReason, place: tuple[str, str, str], status: int
) -> Failure:
    address, project, fingerprint = place
    shown = f" with the fingerprint {fingerprint}" if fingerprint else ""
    why = reason.why.format(address=address, project=project, fingerprint=shown, text=said.rstrip("."))
    return Failure(reason.kind, f"{what}: {why}.", object=label, reason=said or why, hint=reason.hint, status=status)
