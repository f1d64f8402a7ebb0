# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What others write is shown, and controls no terminal and prints no line of its own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan, Step
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.printable import LONGEST_LINE, line, texts
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, carry_out

EVIL = "a\x1b[2Jb\nfatal: [localhost]: FAILED!\r\x9b31m\u202ec\u2028d\x00\ud800"
SHOWN = r"a\x1b[2Jb\nfatal: [localhost]: FAILED!\r\x9b31m\u202ec\u2028d\x00\ud800"


def test_a_line_is_one_line_whatever_is_in_it() -> None:
    assert line(EVIL) == SHOWN
    assert line("grüße, 世界, 🚀 …\u00a0") == "grüße, 世界, 🚀 …\u00a0"


def test_a_line_has_an_end() -> None:
    assert line("x" * 1_000_000) == "x" * LONGEST_LINE + "…"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("one\ntwo\tthree\r\nfour", "one\ntwo\tthree\r\nfour"),
        ("over\rwritten \x1b]0;title\x07", r"over\rwritten \x1b]0;title\x07"),
        ({"a\x1b": ["b\x1b", 1, None, True, {"c": "d\x7f"}]}, {r"a\x1b": [r"b\x1b", 1, None, True, {"c": r"d\x7f"}]}),
    ],
)
def test_texts_of_several_lines_stay_so(given: Any, shown: Any) -> None:
    assert texts(given) == shown


def everything(_task: Task) -> Result:
    _task.say(EVIL)
    step = Step("update", EVIL, EVIL, before={"x": EVIL}, after={EVIL: "y"})
    failure = Failure("rejected", EVIL, EVIL, EVIL, EVIL, fields={EVIL: [EVIL]}, events=[EVIL])
    return Result(True, {"thing": {"name": EVIL}}, Plan([step]), failure, [EVIL])


def test_all_that_a_task_says_is_clean() -> None:
    lines: list[str] = []
    said = carry_out(everything, Task({}, say=lines.append, environment={}), "thing")
    assert lines == [SHOWN]
    assert said["warnings"] == [SHOWN]
    assert said["msg"] == f"{SHOWN}"
    assert said["diff"][0]["after_header"] == f"{SHOWN} (update: {SHOWN})"
    assert {*said["failure"]["fields"], *said["failure"]["events"]} == {SHOWN}
    assert not set(map(chr, (*range(32), 127, 0x9B, 0x202E, 0x2028, 0xD800))) & set(_all_texts(said)) - {"\n"}


def _all_texts(said: Any) -> str:
    """As JSON would escape what is left, the texts themselves."""
    if isinstance(said, dict):
        return "".join(_all_texts(part) for pair in said.items() for part in pair)
    if isinstance(said, list):
        return "".join(map(_all_texts, said))
    return said if isinstance(said, str) else json.dumps(said)
