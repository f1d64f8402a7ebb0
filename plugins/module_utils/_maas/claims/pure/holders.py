# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who holds a machine: what its workload annotations say.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import invalid

# Annotations that begin so are this collection's own.
OURS = "metalshift_"
# The claim. agent_name, which holds it too, can be filtered for but is never shown.
CLAIM = "metalshift_claim"
CLUSTER = "metalshift_cluster"
NODE_POOL = "metalshift_node_pool"
# How a hosted cluster is spoken of as the holder of a machine.
HOSTED = "hosted cluster "

# More than any MAAS has: the plan for a mistyped number would fill the memory.
MOST = 10_000

# What `agent_name` takes, without what people mistype or cannot see.
CLAIM_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,254}")


def checked(claim: str) -> str:
    """The name of a claim, if it is one."""
    if not CLAIM_NAME.fullmatch(claim):
        raise invalid(
            f"{claim!r} cannot be a claim.",
            "Begin with a letter or digit and go on with letters, digits and . _ : / @ + -, up to 255 in all.",
        )
    return claim


def check_count(count: int, option: str = "count") -> None:
    """Refuse a number of machines that nobody can mean."""
    if not 0 <= count <= MOST:
        raise invalid(f"{option} must be at least 0 and at most {MOST}, not {count}.")


def claim_of(machine: Mapping[str, Any]) -> str:
    """The claim in a machine's annotation; empty without one."""
    return str((machine.get("workload_annotations") or {}).get(CLAIM, ""))


def holder(machine: Mapping[str, Any], claim: str = "") -> str:
    """Who but this task's own claim holds a machine, in words; empty when nobody does.

    A hosted cluster holds it under any claim: Cluster API would only deploy it again.
    """
    annotations = machine.get("workload_annotations") or {}
    cluster, node_pool = annotations.get(CLUSTER), annotations.get(NODE_POOL)
    if cluster:
        return f"{HOSTED}{cluster}" + (f" (node pool {node_pool})" if node_pool else "")
    other = claim_of(machine)
    return f"claim {other}" if other and other != claim else ""


def is_hosted(machine: Mapping[str, Any]) -> bool:
    """Whether a hosted cluster uses the machine."""
    return bool((machine.get("workload_annotations") or {}).get(CLUSTER))


def marked(claim: str) -> dict[str, str]:
    """The annotation that shows a claim to people, inventory and reclaim."""
    return {CLAIM: claim}
