# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is changed of a machine without moving it to another status.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class MachineChange:
    """A request that leaves the status as it is: fields by PUT, or an operation such as annotating."""

    verb: str
    form: Mapping[str, Any]
    before: Mapping[str, Any] = field(default_factory=dict)
    # What is shown of it, if that is not the form: power parameters hold secrets.
    after: Mapping[str, Any] = field(default_factory=dict)
    op: str = ""

    @property
    def shown(self) -> Mapping[str, Any]:
        return self.after or self.form


# The operation that writes workload annotations: those it is given, and no others.
ANNOTATE = "set_workload_annotations"


def annotation_change(annotations: Mapping[str, str], before: Mapping[str, Any] | None = None) -> MachineChange:
    """The change that gives a machine these annotations."""
    return MachineChange("annotate", annotations, before=before or {}, op=ANNOTATE)
