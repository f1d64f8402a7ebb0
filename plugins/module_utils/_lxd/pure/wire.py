# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One answer of LXD: its envelope, opened.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._http.pure.answer import Answer

# LXD has not begun what it answers so.
TOO_MANY = 429


@dataclass(frozen=True)
class LxdAnswer(Answer):
    """What LXD answered, or what kept it from coming."""

    body: Mapping[str, Any] = field(default_factory=dict)
    etag: str = ""

    @property
    def is_passing(self) -> bool:
        return super().is_passing or self.status == TOO_MANY

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
