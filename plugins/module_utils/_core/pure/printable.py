# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts as they may be shown. Names, conditions, requests and answers are written by others, and a terminal obeys.

A line break in a name prints a line of its own, perhaps one that Ansible prints; an escape clears the screen. What a
terminal would act upon is shown by its number instead.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# What controls a terminal, what breaks a line there, what turns the direction of writing, and what is no character.
CONTROLS = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
IN_TEXTS = re.compile(rf"[{CONTROLS}]|\r(?!\n)")
IN_LINES = re.compile(rf"[{CONTROLS}\t\n\r]")
# A line that says more is cut: what others write has no bound.
LONGEST_LINE = 4000


def line(text: str) -> str:
    """One line: a sentence, a name, what is said of progress."""
    shown = text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}…"
    return IN_LINES.sub(_escaped, shown)


def texts(value: Any) -> Any:
    """The same value, every text in it without what controls a terminal. Texts of several lines stay so."""
    if isinstance(value, str):
        return IN_TEXTS.sub(_escaped, value)
    if isinstance(value, Mapping):
        return {texts(name): texts(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [texts(inner) for inner in value]
    return value


def _escaped(found: re.Match[str]) -> str:
    return repr(found[0])[1:-1]
