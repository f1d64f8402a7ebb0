# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who uses an object, in words: LXD tells it in URLs.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import parse_qs, unquote, urlsplit

MOST_NAMED = 5

# What a part of a path holds, by its name.
NOUNS = {
    "instances": "instance",
    "containers": "instance",
    "virtual-machines": "instance",
    "profiles": "profile",
    "networks": "network",
    "network-acls": "network ACL",
    "network-zones": "network zone",
    "images": "image",
    "projects": "project",
    "storage-pools": "storage pool",
    "snapshots": "snapshot",
    "backups": "backup",
    "buckets": "bucket",
}
FINGERPRINT_SHOWN = 12


def in_words(url: str) -> str:
    """`/1.0/instances/vm-1?project=maas` as `instance vm-1 of project maas`."""
    address = urlsplit(url)
    parts = [unquote(part) for part in address.path.strip("/").split("/")[1:]]
    named = _named(parts)
    if not named:
        return url
    project = parse_qs(address.query).get("project", [""])[0]
    words = " of ".join(reversed(named))
    return f"{words} of project {project}" if project and project != "default" else words


def _named(parts: Sequence[str]) -> list[str]:
    """The objects on the way, the outermost first; none if a part is not known."""
    todo, named = list(parts), []
    while todo:
        kind = todo.pop(0)
        if kind == "volumes" and len(todo) >= 2:
            named.append(f"{todo.pop(0)} volume {todo.pop(0)}")
        elif kind in NOUNS and todo:
            name = todo.pop(0)
            named.append(f"{NOUNS[kind]} {name[:FINGERPRINT_SHOWN] if kind == 'images' else name}")
        else:
            return []
    return named


def listed(users: Iterable[str]) -> str:
    """Some of them, and how many more."""
    named = sorted(in_words(user) for user in users)
    more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    return f"{', '.join(named[:MOST_NAMED])}{more}"
