# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo ends well only when nothing is left of it."""

from __future__ import annotations

from typing import Any

import pytest

from demo.run import Story, what_is_left

KEPT = {"object": "Secret clusters/demo-maas-credentials", "verdict": "kept", "reason": "it outlives the cluster"}
LEAK = {"object": "node-1 (abc123)", "verdict": "leak", "reason": "no MaasMachine names it"}


@pytest.mark.parametrize(
    ("states", "audits", "wrong"),
    [
        (["Ready", "Ready"], [[KEPT]], []),
        (["Ready", "Deployed"], [[]], ["1 machines were not given back: Deployed."]),
        (["Ready"], [[KEPT, LEAK]], ["node-1 (abc123) is left: no MaasMachine names it."]),
        (["Ready"], [], ["Nobody has looked for what is left."]),
    ],
)
def test_what_is_left_is_told(states: list[str], audits: list[Any], wrong: list[str]) -> None:
    assert what_is_left(states, audits) == wrong


def test_the_story_keeps_what_audits_have_listed() -> None:
    story = Story()
    story.hear({"event": "runner_on_ok", "event_data": {"task_action": "any", "res": {"leaks": [LEAK]}}})
    assert story.audits == [[LEAK]]
