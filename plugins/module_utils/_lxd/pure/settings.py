# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings as LXD keeps them, keys with texts: what is asked, what is so, what it comes to.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import invalid

Settings = dict[str, str]
# Whether what a key was wished to be is satisfied by what it is.
Alike = Callable[[str, str, Mapping[str, str]], bool]

# Keys whose values are secrets, or texts that often hold some; misspelt ones, too.
SECRET = re.compile(
    r"pas+(w|ph|$)|pwd|secret|credential|(^|[._-])token$|(^|[._-])(api|private)[._-]?key$|\.key$"
    r"|^(cloud-init|user)\.(user|vendor)-data$",
    re.IGNORECASE,
)
HIDDEN = "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"

# Keys whose values are sizes, which may be written in several ways.
SIZE = re.compile(r"(^|\.)size(\.state)?$|^limits\.(memory|disk)(\.pool\..+)?$")
# As LXD itself reads them.
IN_BYTES = re.compile(r"([0-9]+)(?:([kKMGTPE])(i?))?B?")
TRUE = frozenset({"true", "1", "yes", "on"})
FALSE = frozenset({"false", "0", "no", "off"})


def as_text(value: Any) -> str:
    """A value as LXD writes it; empty for what is to be unset."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def wished(option: str, given: Mapping[str, Any] | None) -> Settings | None:
    """What an option asks for; None if it was not given."""
    if given is None:
        return None
    for name, value in given.items():
        if isinstance(value, (Mapping, list)):
            raise invalid(f"{option}: {name} must be one value, and it is a {_called(value)}.")
        if not str(name).strip():
            raise invalid(f"{option} has a key without a name.")
    return {str(name): as_text(value) for name, value in given.items()}


def in_bytes(text: object) -> int:
    """A size as LXD writes it; 0 for what is none."""
    found = IN_BYTES.fullmatch(str(text).strip())
    if found is None:
        return 0
    number, prefix, binary = found.groups()
    power = "KMGTPE".index(prefix.upper()) + 1 if prefix else 0
    return int(number) * int((1024 if binary else 1000) ** power)


def alike(key: str, wish: str, found: str) -> bool:
    """Whether two values mean the same to LXD."""
    if wish == found:
        return True
    if SIZE.search(key) and in_bytes(wish):
        return in_bytes(wish) == in_bytes(found)
    for same in (TRUE, FALSE):
        # One of them must say so: 1 alone may be a number.
        if {wish.lower(), found.lower()} <= same and {wish.lower(), found.lower()} & {"true", "false"}:
            return True
    return False


def same_value(key: str, wish: str, settings: Mapping[str, str]) -> bool:
    return alike(key, wish, settings.get(key, ""))


def merged(
    found: Mapping[str, str],
    wish: Mapping[str, str] | None,
    *,
    purge: bool = False,
    kept: re.Pattern[str] | None = None,
    satisfied: Alike = same_value,
) -> Settings:
    """What the settings are to be.

    Keys that nobody named stay, unless `purge`; what LXD itself keeps there, `kept`, stays even then.
    """
    if wish is None:
        return dict(found)
    after = {key: value for key, value in found.items() if not purge or key in wish or (kept and kept.search(key))}
    for key, value in wish.items():
        if not value:
            after.pop(key, None)
        elif not satisfied(key, value, found):
            after[key] = value
    return after


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The keys that differ, sorted."""
    return sorted(key for key in {*before, *after} if before.get(key) != after.get(key))


def shown(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as they may be shown."""
    return {key: HIDDEN if is_secret(key, value) else value for key, value in settings.items()}


def is_secret(key: str, value: Any) -> bool:
    # Of a password, LXD itself tells no more than that there is one.
    return bool(SECRET.search(key)) and value not in (None, "", True, False)


def _called(value: Any) -> str:
    return "dict" if isinstance(value, Mapping) else "list"
