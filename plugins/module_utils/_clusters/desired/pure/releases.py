# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Versions of OpenShift: which one a release image is, and whether it is older than what runs.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import Object
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.merge import at

# As in 4.20.8-x86_64 and 4.21.0-rc.2; what comes before a version is older than it.
VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:-(ec|fc|rc)\.(\d+))?(?![\d.])")
STAGES = ("ec", "fc", "rc", None)
NO_WAY_BACK = "OpenShift does not support a way back, and all nodes would be replaced or changed."

Order = tuple[int, int, int, int, int]


def order(version: str) -> Order | None:
    """What a version is compared by; None if it is none."""
    found = VERSION.match(version)
    if found is None:
        return None
    major, minor, patch, stage, number = found.groups()
    return int(major), int(minor), int(patch), STAGES.index(stage), int(number or 0)


def version_of(image: str, history: Sequence[Mapping[str, Any]] = ()) -> str:
    """The version of a release image, by what the cluster has noted of it or by its tag; empty if neither tells."""
    noted = next((str(entry.get("version") or "") for entry in history if image and entry.get("image") == image), "")
    tag = image.partition("@")[0].rpartition("/")[2].partition(":")[2]
    found = VERSION.match(tag)
    return noted or (found[0] if found else "")


def running(cluster: Object | None) -> str:
    """The newest version that an installed hosted cluster has, or is on its way to; empty before it is installed."""
    history = at(cluster or {}, ("status", "version", "history")) or []
    if not any(entry.get("state") == "Completed" for entry in history):
        return ""
    asked = version_of(str(at(cluster or {}, ("spec", "release", "image")) or ""), history)
    known = (str(history[0].get("version") or ""), asked)
    return max(filter(order, known), key=lambda version: order(version) or (), default="")


def is_older(image: str, than: str, history: Sequence[Mapping[str, Any]] = ()) -> bool:
    """Whether a release image is known to be older than a version."""
    one, other = order(version_of(image, history)), order(than)
    return one is not None and other is not None and one < other


def refuse_older(label: str, image: str, than: str, history: Sequence[Mapping[str, Any]] = ()) -> None:
    """Raise the failure for a release that would take a step back."""
    if is_older(image, than, history):
        raise Failure(
            "conflict",
            f"{label} has {than}, and release is {version_of(image, history)}, which is older. {NO_WAY_BACK}",
            object=label,
            reason="downgrade",
            hint="Correct release, or set allow_downgrade: true.",
        )
