# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lifecycle's tables as reStructuredText: the documentation says what the code does because it is the same table.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ansible_collections.metalshift.maas.plugins.module_utils._maas.lifecycle_table import COLUMNS, EFFECTS, TABLE
from ansible_collections.metalshift.maas.plugins.module_utils._maas.refusals import RECOVERY
from ansible_collections.metalshift.maas.plugins.module_utils._maas.statuses import FACTS, Status


def page() -> str:
    """All the tables, each under a sentence that says how to read it."""
    return "\n".join(
        (
            "A machine is in one of these statuses; a transitional one ends by itself, well or in its failed status.",
            "",
            statuses(),
            "``state: present`` asks nothing of the status. For every other state this is what is done next, until",
            "nothing is left to do. *Recover* means: only if ``recover`` names the status.",
            "",
            moves(),
            "What ``recover`` does, once for each status and run:",
            "",
            recoveries(),
            "Why each request is sent, and the statuses that end it:",
            "",
            requests(),
        )
    )


def statuses() -> str:
    rows = [
        (
            status.label,
            str(int(status)),
            facts.kind.value,
            _label(status.leads_to),
            _label(status.fails_as),
            facts.meaning,
        )
        for status, facts in FACTS.items()
    ]
    return _table(("Status", "Number", "Kind", "Leads to", "Or fails as", "Meaning"), rows)


def moves() -> str:
    rows = [(status.label, *map(_cell, cells)) for status, cells in TABLE.items()]
    return _table(("Status", *(f"``{state.value}``" for state in COLUMNS)), rows)


def recoveries() -> str:
    rows = [(f"``{status.word}``", f"{what[0].upper()}{what[1:]}.") for status, what in RECOVERY.items()]
    return _table(("``recover``", "What it does"), rows)


def requests() -> str:
    rows = [
        (
            f"``{op.value}``",
            f"{effect.reason[0].upper()}{effect.reason[1:]}.",
            _labels(effect.good),
            _labels(effect.bad),
        )
        for op, effect in EFFECTS.items()
    ]
    return _table(("Request", "Sent because", "Ends as", "Or badly as"), rows)


def _cell(cell: str) -> str:
    word, _, rest = cell.partition(" ")
    if word == "recover":
        return f"*Recover*: ``{rest}``"
    return {"done": "done", "wait": "wait", "refuse": "refused"}.get(word, f"``{word}``")


def _label(status: Status | None) -> str:
    return status.label if status is not None else ""


def _labels(statuses: Iterable[Status | None]) -> str:
    return ", ".join(status.label if status is not None else "gone" for status in statuses) or "as before"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in (head, *rows):
        lines += [f"   {'*' if index == 0 else ' '} - {cell}".rstrip() for index, cell in enumerate(row)]
    return "\n".join((*lines, ""))
