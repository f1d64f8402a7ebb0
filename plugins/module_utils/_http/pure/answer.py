# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What came back for a request, or what kept it from coming, and what that means for sending it again. Pure.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure

# What a date in Retry-After counts as: what MAAS says with a passing conflict, and what LXD needs to come back.
USUAL_RETRY_AFTER = 5.0

# The server is starting, ending, or behind a proxy: worth another attempt, but a write may have taken effect.
GATEWAYS = frozenset({502, 503, 504})


@dataclass(frozen=True)
class Answer:
    """What the answers of MAAS, LXD and Kubernetes have in common."""

    status: int = 0
    retry_after: float | None = None
    failure: Failure | None = None
    never_sent: bool = False
    # Of a failure: the next attempt may succeed.
    worth_repeating: bool = False

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def lost(self) -> bool:
        """Nobody said what became of the request."""
        return self.failure is not None and not self.never_sent

    @property
    def is_passing(self) -> bool:
        """Whether the next attempt may go better."""
        return self.worth_repeating if self.failure else self.status in GATEWAYS

    @property
    def in_doubt(self) -> bool:
        """Whether a write may have taken effect, although no answer says so."""
        return self.lost or self.status in GATEWAYS

    @property
    def is_final_word(self) -> bool:
        """Whether it came from the server itself, and not because the server could not be asked."""
        return not self.lost and self.status not in GATEWAYS


def seconds_of(header: str | None) -> float | None:
    """What Retry-After says; a date counts as the usual time."""
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        return USUAL_RETRY_AFTER
