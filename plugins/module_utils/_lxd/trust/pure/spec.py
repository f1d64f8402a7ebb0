# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whom an LXD is to trust: what is asked, and what it comes to.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan, Step
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.trust.pure.tokens import Token

# As much of it as `lxc config trust list` shows.
PART = re.compile(r"[0-9a-f]{12,64}")
SHOWN = 12


@dataclass(frozen=True)
class TrustSpec:
    """A certificate, and the rights that it is to give. None means: as it is."""

    fingerprint: str
    # The certificate itself; empty if it is only named.
    base64: str = ""
    name: str | None = None
    restricted: bool | None = None
    projects: Sequence[str] | None = None

    @property
    def label(self) -> str:
        return f"certificate {self.fingerprint[:SHOWN]}"

    @property
    def rights(self) -> dict[str, Any]:
        """The fields that are asked for."""
        projects = None if self.projects is None else sorted(self.projects)
        asked = {"name": self.name, "restricted": self.restricted, "projects": projects}
        return {name: value for name, value in asked.items() if value is not None}


def rights(params: Mapping[str, Any]) -> tuple[bool | None, Sequence[str] | None]:
    """Whether to restrict, and to which projects: naming projects restricts to them, also if none are in the list."""
    restricted, given = params["restricted"], params["projects"]
    # LXD stumbles over a project that is named twice.
    projects = None if given is None else sorted(set(given))
    if projects and not all(name.strip() for name in projects):
        raise invalid("projects has an empty name.")
    if projects and restricted is False:
        raise invalid("projects and restricted: false contradict each other: what is not restricted sees all projects.")
    return (True if projects is not None and restricted is None else restricted), projects


def part_of_fingerprint(text: str) -> str:
    """A fingerprint, or as much of its beginning as LXD shows."""
    plain = text.strip().replace(":", "").lower()
    if not PART.fullmatch(plain):
        raise invalid(
            "fingerprint must be the SHA-256 fingerprint of a certificate, or its first 12 digits at least.",
            hint="metalshift.maas.lxd_info with gather: [trust] shows them.",
        )
    return plain


# -- certificates ----------------------------------------------------------------------------------


def to_change(wish: TrustSpec, found: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that are not as they are asked for."""
    present = _rights_of(found)
    return {name: value for name, value in wish.rights.items() if present.get(name) != value}


def plan(wish: TrustSpec, found: Mapping[str, Any] | None) -> Plan:
    if found is None:
        return Plan([Step("create", wish.label, after={"fingerprint": wish.fingerprint, **wish.rights})])
    differing = to_change(wish, found)
    if not differing:
        return Plan()
    before = _rights_of(found)
    return Plan([Step("update", wish.label, reason=", ".join(differing), before=before, after={**before, **differing})])


def plan_removal(wish: TrustSpec, found: Mapping[str, Any] | None) -> Plan:
    if found is None:
        return Plan()
    return Plan([Step("delete", wish.label, before={"fingerprint": found["fingerprint"], **_rights_of(found)})])


def predicted(wish: TrustSpec, found: Mapping[str, Any] | None) -> dict[str, Any]:
    """A certificate as it would be: the same keys, unknown values null."""
    new: dict[str, Any] = {"fingerprint": wish.fingerprint, "type": "client", "certificate": None, "name": None}
    return {**(found or {**new, "restricted": False, "projects": []}), **wish.rights, "predicted": True}


def _rights_of(found: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": found.get("name"),
        "restricted": bool(found.get("restricted")),
        "projects": sorted(found.get("projects") or []),
    }


def unknown(wish: TrustSpec, endpoint: str) -> Failure:
    return Failure(
        "not_found",
        f"LXD at {endpoint} does not know the {wish.label}.",
        object=wish.label,
        reason="only its fingerprint is given, and no such certificate is trusted",
        hint="Give the certificate itself.",
    )


def cut_off(wish: TrustSpec, endpoint: str) -> Failure:
    return Failure(
        "conflict",
        f"The {wish.label} cannot be removed: it is the one with which LXD at {endpoint} was asked to.",
        object=wish.label,
        reason="it is our own",
        hint="Use another one, or the socket of LXD on its machine.",
    )


# -- tokens ----------------------------------------------------------------------------------------


def sort_out(
    tokens: Sequence[Token], name: str, restricted: bool | None, projects: Sequence[str] | None, good: set[str]
) -> tuple[Token | None, list[Token]]:
    """The token of that name to keep, and those to revoke; `good` are those that are valid for long enough."""
    named = [token for token in tokens if token.name == name]
    kept = next((token for token in named if token.fits(restricted, projects) and token.id in good), None)
    return kept, [token for token in named if token is not kept]


def token_plan(name: str, kept: Token | None, unfit: Sequence[Token], asked: Mapping[str, Any] | None) -> Plan:
    """Revoke what does not fit, and issue what lacks; `asked` is None if there is to be none."""
    label = f"token {name}"
    steps = [Step("revoke", label, before=token.told) for token in unfit]
    if asked is not None and kept is None:
        steps.append(Step("issue", label, after={"name": name, **asked}))
    return Plan(steps)
