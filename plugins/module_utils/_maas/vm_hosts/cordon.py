# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a VM host takes new VMs: kept in MAAS as tags of the machine under it, those of the Cluster API provider.

The provider passes over hosts with any of the two. Those of its own maintenance have a third one while it lasts.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.named.tags import TAGS, change_machines

NO_SCHEDULE, MAINTENANCE = "maas-lxd-host-noschedule", "maas-lxd-host-maintenance"
CLOSED: Mapping[str, str] = {
    NO_SCHEDULE: "no new VMs on this LXD host",
    MAINTENANCE: "this LXD host is being worked on",
}
# The provider's maintenance of a host, while it lasts.
SESSION = "maas-lxd-hcp-op-"


def is_open(node: Mapping[str, Any]) -> bool:
    """Whether new VMs may be placed on the host."""
    return not set(CLOSED) & set(node.get("tag_names") or ())


def is_as_wished(node: Mapping[str, Any], schedulable: bool | None) -> bool:
    tags = set(CLOSED) & set(node.get("tag_names") or ())
    return schedulable is None or (not tags if schedulable else tags == set(CLOSED))


def in_session(node: Mapping[str, Any]) -> str:
    """The tag of the provider's maintenance, while it lasts."""
    return next((str(tag) for tag in node.get("tag_names") or () if str(tag).startswith(SESSION)), "")


def unknown_machine(label: str) -> Failure:
    return Failure(
        "not_found",
        f"{label} cannot be closed or opened: MAAS does not show the machine that it runs on.",
        object=label,
        hint="Leave schedulable out.",
    )


def refuse_in_session(label: str, node: Mapping[str, Any]) -> None:
    """What the provider closed for its own work, only the provider opens."""
    session = in_session(node)
    if session:
        raise Failure(
            "claimed",
            f"{label} cannot be made schedulable: the Cluster API provider is emptying it ({session}).",
            object=label,
            hint=f"Wait until that is over; if it never ends, take the tag {session} off the machine.",
        )


def set_open(maas: Client, system_id: str, schedulable: bool) -> None:
    """Give the tags to a host's machine, or take them from it."""
    for tag, comment in CLOSED.items():
        found = TAGS.find(maas, tag)
        if found is None and schedulable:
            continue
        if found is None:
            TAGS.create(maas, {"name": tag, "comment": comment})
        change_machines(maas, tag, {"remove" if schedulable else "add": [system_id]})
