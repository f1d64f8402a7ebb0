# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One answer of LXD, as it came over the wire, and its envelope, opened.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure

# What LXD itself would need to come back; it says no time.
USUAL_RETRY_AFTER = 5.0


@dataclass(frozen=True)
class Reply:
    """What came over the wire, whole."""

    status: int
    # By their names in small letters.
    headers: Mapping[str, str]
    content: bytes

    @classmethod
    def of(cls, status: int, headers: Any, content: bytes) -> Reply:
        return cls(status, {name.lower(): value for name, value in headers.items()}, content)


class Transport(Protocol):
    """A way to an LXD. What keeps an answer from coming is raised as the library has it."""

    def send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: bytes | None,
        headers: Mapping[str, str],
        read_timeout: float,
    ) -> Reply: ...


@dataclass(frozen=True)
class LxdAnswer:
    """What came back, or what kept it from coming."""

    status: int = 0
    body: Mapping[str, Any] = field(default_factory=dict)
    etag: str = ""
    retry_after: float | None = None
    failure: Failure | None = None
    never_sent: bool = False
    worth_repeating: bool = False

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def lost(self) -> bool:
        """Nobody said what became of the request."""
        return self.failure is not None and not self.never_sent

    @property
    def metadata(self) -> Any:
        return self.body.get("metadata")

    @property
    def operation(self) -> Mapping[str, Any] | None:
        """What LXD began to do in the background; None when the answer is all there is."""
        if self.body.get("type") != "async":
            return None
        path = str(self.body.get("operation", "")).partition("?")[0]
        return {"id": path.rpartition("/")[2], **(self.metadata or {})}

    @property
    def error(self) -> str:
        """Why LXD does not want to, in its words."""
        return str(self.body.get("error") or "")


def opened(text: str) -> Mapping[str, Any] | None:
    """The envelope that LXD puts around everything; None if it is not LXD that speaks."""
    try:
        body = json.loads(text)
    except ValueError:
        return None
    return body if isinstance(body, Mapping) and body.get("type") in ("sync", "async", "error") else None


def as_seconds(header: str | None) -> float | None:
    """What Retry-After says; a date counts as the usual time."""
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        return USUAL_RETRY_AFTER
