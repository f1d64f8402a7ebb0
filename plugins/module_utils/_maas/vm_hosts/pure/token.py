# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Trust tokens of LXD, as far as they can be read before they are used.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import base64
import json
from datetime import datetime, timezone
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import invalid

# What LXD gives as the end of a token without one.
NEVER = "0001-01-01"


def checked(token: str, now: datetime) -> str:
    """The token, if it is one and has not expired."""
    text = token.strip()
    content = _content(text)
    if not isinstance(content, dict) or not content.get("secret"):
        raise invalid(
            "token is not a trust token of LXD.",
            "Give what metalshift.maas.lxd_trust or `lxc config trust add` says; a trust password goes into password.",
        )
    end = _moment(str(content.get("expires_at") or ""))
    if end is not None and end < now:
        raise invalid(f"token expired on {end:%Y-%m-%d at %H:%M} UTC.", "Ask LXD for a new one.")
    return text


def server_fingerprint(token: str) -> str:
    """By what the LXD that issued a token is known; empty if the token does not say."""
    content = _content(token.strip())
    return str(content.get("fingerprint") or "") if isinstance(content, dict) else ""


def _content(text: str) -> Any:
    try:
        return json.loads(base64.b64decode(text, validate=True))
    except ValueError:
        return None


def _moment(text: str) -> datetime | None:
    if not text or text.startswith(NEVER):
        return None
    try:
        # Go writes nanoseconds and a Z, which Python 3.10 does not read.
        return datetime.strptime(text[:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
    except ValueError:
        return None
