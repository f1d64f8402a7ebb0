# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes wrong between MAAS's rack and an LXD, in the words of MAAS's driver."""

from __future__ import annotations


class Trouble(Exception):
    """A request to LXD that failed."""


class Unreachable(Trouble):
    """Nothing answers there."""


class NoSpace(Trouble):
    """No storage pool has room for a disk."""
