# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is found on the way of a hosted cluster to its goal: one finding for each topic.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.meanings import Meaning, Verdict
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.table import (
    condition,
    meaning_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.fields import number, text
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import Object, ObjectKind


@dataclass(frozen=True)
class Finding:
    """What is to say about a topic, and in whose words it was found."""

    topic: str
    meaning: Meaning
    reason: str = ""
    # The end's own text, where the line that is shown meanwhile says less.
    final: str = ""
    # What would go on if it were touched.
    touch: tuple[ObjectKind, str] | None = None

    @property
    def line(self) -> str:
        return self.meaning.line

    @property
    def is_fine(self) -> bool:
        return self.meaning.verdict == "fine"

    def softened(self) -> Finding:
        """The same, and no reason to stop."""
        if self.meaning.verdict in ("fine", "wait"):
            return self
        return replace(self, meaning=replace(self.meaning, verdict="wait"))

    def called(self, subject: str) -> Finding:
        return replace(self, meaning=replace(self.meaning, subject=subject))


def finding(topic: str, subject: str, said: str, verdict: Verdict = "wait", hint: str = "") -> Finding:
    """One that no condition says."""
    return Finding(topic, Meaning(subject, said, verdict, hint))


def found(kind: str, body: Object | None, which: str, topic: str = "") -> Finding | None:
    """What the object's condition of this type says; None when it has none."""
    shown = condition(body, which)
    if body is None or shown is None:
        return None
    meaning = meaning_of(kind, shown, body)
    if is_stale(shown, body) and meaning.verdict in ("grace", "stop"):
        # It is about what the object was to be before: the operator has not looked at the change yet.
        meaning = replace(meaning, verdict="wait")
    words = ": ".join(
        filter(None, (f"{which}={text(shown, 'status')}/{text(shown, 'reason')}", text(shown, "message")))
    )
    return Finding(topic or which, meaning, words)


def is_stale(shown: Object, body: Object) -> bool:
    """Whether a condition was found before the object was changed."""
    seen = number(shown, "observedGeneration")
    return bool(seen) and seen < number(body, "metadata", "generation")
