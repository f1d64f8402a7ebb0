# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tasks of one run of ansible-playbook did, or would do: noted by each, summed up at the end.

Tasks run in processes of their own. What they share is the temporary folder of the run, which Ansible makes at its
start for its user alone, and removes at its end.

This plugin util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ansible import constants

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan, Step

FILE = "metalshift-maas-plan.jsonl"


def note(result: Mapping[str, Any]) -> None:
    """Add the plan of a task that did not fail. Values are left out: nobody needs them here."""
    actions = [] if result.get("failed") else result.get("plan") or []
    lines = [json.dumps(_noted(action)) + "\n" for action in actions]
    if lines:
        # Other tasks may be doing the same: a short write at the end of a file is never torn.
        with _file().open("a", encoding="utf-8") as file:
            file.write("".join(lines))


def noted() -> Plan:
    """What all tasks so far have noted."""
    try:
        lines = _file().read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return Plan()
    return Plan(list(_steps(map(json.loads, lines))))


def _steps(actions: Iterable[Mapping[str, Any]]) -> Iterable[Step]:
    for action in actions:
        yield Step(action["action"], action["object"], after={"erase": action["erase"]})


def _noted(action: Mapping[str, Any]) -> dict[str, Any]:
    after = action.get("after") or {}
    return {"action": action["action"], "object": action["object"], "erase": after.get("erase") is True}


def _file() -> Path:
    return Path(constants.DEFAULT_LOCAL_TMP) / FILE
