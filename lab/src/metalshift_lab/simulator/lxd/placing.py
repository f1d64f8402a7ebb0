# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which storage pool a new disk goes to, as MAAS's driver decides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from metalshift_lab.simulator.lxd.troubles import NoSpace, Trouble

if TYPE_CHECKING:
    from metalshift_lab.simulator.lxd.server import StoragePool


def place(
    pools: Sequence[StoragePool],
    free: Callable[[StoragePool], int],
    size: int,
    tags: Sequence[str],
    default: str | None,
) -> StoragePool:
    """One its tags name, else the default one, else any with room."""
    named = [p for p in pools if p.name in tags]
    preferred = [p for p in pools if p.name == default]
    if default and not named and not preferred:
        raise Trouble(f"Default storage pool '{default}' doesn't exist.")
    candidates = named or preferred or pools
    found = next((p for p in candidates if size <= free(p)), None)
    if found is not None:
        return found
    what = "storage space on storage pools" if named else "storage space on any storage pools"
    if preferred and not named:
        what = "space in default storage pool"
    raise NoSpace(f"Not enough {what}: {', '.join(p.name for p in candidates)}")
