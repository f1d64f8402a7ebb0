# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lifecycle's tables as reStructuredText: the documentation says what the code does because it is the same table.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.lifecycle_table import (
    COLUMNS,
    EFFECTS,
    TABLE,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.refusals import RECOVERY
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.spec import MachineOp
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import FACTS, Status

# The ends of requests that depend on what the machine was.
RETURNS: Mapping[MachineOp, str] = {
    MachineOp.ABORT: "New, Allocated, Failed disk erasing, or as before the test",
    MachineOp.TEST: "as before, or Ready if it was Broken, Missing, Retired or failed",
    MachineOp.OVERRIDE_FAILED_TESTING: "Deployed if it is installed, else Ready",
    MachineOp.EXIT_RESCUE_MODE: "as before rescue mode",
    MachineOp.MARK_FIXED: "Deployed if it was, else Ready",
}

PAGE = """\
.. SPDX-FileCopyrightText: 2026 The metalshift.maas authors
.. SPDX-License-Identifier: GPL-3.0-or-later

.. _ansible_collections.metalshift.maas.docsite.lifecycle_guide:

The lifecycle of a machine
==========================

These tables are what :ansplugin:`metalshift.maas.machine#module` goes by; this page is made from them.

Statuses
--------

Every machine has one of these statuses. A transitional one ends by itself, well or in its failed status; no other one
changes by waiting.

{statuses}
From a status to a state
------------------------

``state: present`` asks nothing of the status. For every other state this is what is done next, until nothing is left.
*Recover* means: only if ``recover`` names the status. What would end in a refusal is refused before anything is done.

{moves}
Recovering
----------

A failed status is left only if ``recover`` names it, and once a run. To release a machine whose deployment or release
failed is what ``state: ready`` and ``state: absent`` ask for anyway: that needs no ``recover``, unless it failed in the
same run.

{recoveries}
After a failed erasure the disks may still hold data. ``erase: true`` erases once more, and needs no ``recover`` with
``state: ready`` or ``state: absent``; ``erase: false`` accepts that the data stay. Without either nothing is done.

Requests
--------

{requests}"""


def page() -> str:
    """The guide, as it is in docs/docsite."""
    return PAGE.format(statuses=statuses(), moves=moves(), recoveries=recoveries(), requests=requests())


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
            _labels(effect.good) or RETURNS.get(op, "as before"),
            _labels(effect.bad),
        )
        for op, effect in EFFECTS.items()
    ]
    return _table(("Request", "Sent because", "Ends as", "Or badly as"), rows)


def _cell(cell: str) -> str:
    word, _ignored, rest = cell.partition(" ")
    if word == "recover":
        return f"*Recover*: ``{rest}``"
    return {"done": "done", "wait": "wait", "refuse": "refused"}.get(word, f"``{word}``")


def _label(status: Status | None) -> str:
    return status.label if status is not None else ""


def _labels(statuses: Iterable[Status | None]) -> str:
    return ", ".join(status.label if status is not None else "gone" for status in statuses)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in (head, *rows):
        lines += [f"   {'*' if index == 0 else ' '} - {cell}".rstrip() for index, cell in enumerate(row)]
    return "\n".join((*lines, ""))
