# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which class answers for which path below /1.0; its methods are those of HTTP."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from metalshift_lab.simulator.lxd.api.asked import NOT_FOUND, UNKNOWN, Refused

Class = TypeVar("Class", bound=type)
RESOURCES: list[tuple[re.Pattern[str], type]] = []
# LXD has three names for instances; the older two say of what kind they are.
ALIASES = {"virtual-machines": "virtual-machine", "containers": "container"}


def resource(path: str) -> Callable[[Class], Class]:
    """`projects/{name}` is handed its name."""
    pattern = re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path))

    def register(handler: Class) -> Class:
        RESOURCES.append((pattern, handler))
        return handler

    return register


def find(method: str, path: str) -> tuple[Callable[..., Any], dict[str, str]]:
    """What answers, and with which arguments; LXD says the same of an unknown path and an unknown method."""
    for pattern, handler in RESOURCES:
        match = pattern.fullmatch(path)
        if match and hasattr(handler, method.lower()):
            return getattr(handler(), method.lower()), match.groupdict()
    raise Refused(NOT_FOUND, UNKNOWN)
