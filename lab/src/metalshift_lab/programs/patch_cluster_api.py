# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's addition to Cluster API: its manager listens for webhooks on the loopback interface, as all of a lab does.

It has a flag for the port and none for the host, and without one it listens on every interface of the machine.
"""

from __future__ import annotations

from pathlib import Path

from .insertion import Insertion, insert

INSERTIONS = (
    Insertion(
        "cluster-api/main.go",
        after="Port:     webhookPort,",
        text='Host:     "127.0.0.1",',
    ),
)


def add(source: Path) -> None:
    """Put the addition into a folder that holds the copied module."""
    insert(source, INSERTIONS)
