# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

WITHOUT = (
    "Without the programs the lab has no Kubernetes, Cluster API and HyperShift, so that hosted"
    " clusters cannot be tried; the simulated MAAS works without them."
)


class NoPrograms(Exception):
    """The real programs are not available here: why, in whole sentences, and what that means."""

    def __str__(self) -> str:
        return f"{super().__str__().rstrip('.')}. {WITHOUT}"
