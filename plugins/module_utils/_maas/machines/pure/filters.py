# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What machines are looked for by: our options, and the parameters of MAAS's listing.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import STATUS_OF_WORD

# MAAS's name for each filter of ours.
FILTERS: Mapping[str, str] = {
    "claim": "agent_name",
    "owner": "owner",
    "zones": "zone",
    "pools": "pool",
    "domain": "domain",
    "tags": "tags",
    "not_tags": "not_tags",
    "architecture": "arch",
}


def query_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a listing, from options that are set; each status is one that there is."""
    query = {theirs: options[ours] for ours, theirs in FILTERS.items() if options.get(ours)}
    if options.get("status"):
        query["status"] = [STATUS_OF_WORD[word].filter for word in options["status"]]
    return query
