# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""As much BSON as `op=details` needs: an object of byte strings and nulls."""

from __future__ import annotations

import struct
from collections.abc import Mapping


def encode(values: Mapping[str, bytes | None]) -> bytes:
    body = b""
    for key, value in values.items():
        name = key.encode() + b"\0"
        if value is None:
            body += b"\x0a" + name
        else:
            body += b"\x05" + name + struct.pack("<iB", len(value), 0) + value
    return struct.pack("<i", len(body) + 5) + body + b"\0"
