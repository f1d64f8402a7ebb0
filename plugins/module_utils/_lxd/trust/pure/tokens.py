# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One-time tokens of an LXD, which are operations that wait for somebody to come: what is in them, and which will do.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any

NEVER = "0001-01-01T00:00:00Z"
TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?(Z|[+-]\d\d:\d\d)")


@dataclass(frozen=True)
class Token:
    """A token that nobody has used yet."""

    id: str
    name: str
    restricted: bool
    projects: Sequence[str]
    issued_at: str
    # Empty: never.
    expires_at: str
    fingerprint: str
    addresses: Sequence[str]
    secret: str = field(repr=False)

    @classmethod
    def of(cls, operation: Mapping[str, Any]) -> Token | None:
        """The token that an operation of LXD is; None for one of another kind, or one that is used or revoked."""
        said = operation.get("metadata") or {}
        asked = said.get("request") or {}
        if operation.get("class") != "token" or operation.get("status") != "Running" or "name" not in asked:
            return None
        expires = str(said.get("expiresAt") or said.get("expires_at") or "")
        return cls(
            id=str(operation["id"]),
            name=str(asked["name"]),
            restricted=bool(asked.get("restricted")),
            projects=tuple(asked.get("projects") or ()),
            issued_at=str(operation.get("created_at") or ""),
            expires_at="" if expires.startswith("0001-") else expires,
            fingerprint=str(said.get("fingerprint") or ""),
            addresses=tuple(said.get("addresses") or ()),
            secret=str(said.get("secret") or ""),
        )

    @property
    def text(self) -> str:
        """What is given to whoever shall be trusted; LXD shows its parts alone."""
        parts = {
            "client_name": self.name,
            "fingerprint": self.fingerprint,
            "addresses": list(self.addresses),
            "secret": self.secret,
            "expires_at": self.expires_at or NEVER,
        }
        return base64.b64encode(json.dumps(parts, separators=(",", ":")).encode()).decode()

    def fits(self, restricted: bool | None, projects: Sequence[str] | None) -> bool:
        """Whether it gives the rights that are asked for; None: any."""
        return (restricted is None or restricted == self.restricted) and (
            projects is None or sorted(projects) == sorted(self.projects)
        )

    def is_valid(self, now: datetime, seconds: float = 0) -> bool:
        """Whether it will still be good after so many seconds."""
        end = moment(self.expires_at)
        return end is None or end > now + timedelta(seconds=seconds)

    @property
    def told(self) -> dict[str, Any]:
        """It, without what makes it one."""
        return {
            "name": self.name,
            "restricted": self.restricted,
            "projects": list(self.projects),
            "issued_at": self.issued_at,
            "expires_at": self.expires_at or None,
        }


def moment(text: str) -> datetime | None:
    """A time as LXD writes it, with nanoseconds; None if it is none."""
    match = TIME.fullmatch(text)
    if not match:
        return None
    whole, fraction, zone = match.groups()
    return datetime.fromisoformat(
        f"{whole}{(fraction or '')[:7].ljust(7, '0') if fraction else ''}{'+00:00' if zone == 'Z' else zone}"
    ).astimezone(timezone.utc)


def of_operations(answer: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Token]:
    """The tokens among the operations of an LXD, which lists them by their status."""
    found = [Token.of(operation) for operations in (answer or {}).values() for operation in operations]
    return sorted((token for token in found if token), key=lambda token: (token.name, token.issued_at))
