# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task says while it works, as lines below its name.

This plugin util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

WIDTH = 80
INDENT, MORE = "    ", "      "
# What an item of a loop is known by. All of it may be long, and some of it a secret.
NAMES = ("name", "hostname", "machine", "key", "id")
LONGEST_ITEM = 30


def progress(text: str, host: str = "", item: str = "") -> str:
    """Lines that fit a terminal: what is said, with its host and its item where there are several."""
    whose = f"[{host}] " if host else ""
    whose += f"({item}) " if item else ""
    return textwrap.fill(
        whose + text,
        WIDTH,
        initial_indent=INDENT,
        subsequent_indent=MORE,
        break_long_words=False,
        break_on_hyphens=False,
    )


def host_of(task_vars: Mapping[str, Any]) -> str:
    """The host that a task is about, if it is about several."""
    hosts: Sequence[str] = task_vars.get("ansible_play_hosts_all") or ()
    return str(task_vars.get("inventory_hostname", "")) if len(hosts) > 1 else ""


def item_of(task_vars: Mapping[str, Any]) -> str:
    """What tells this item of a loop from the others, in a few words."""
    item = task_vars.get(str(task_vars.get("ansible_loop_var") or "item"))
    if isinstance(item, Mapping):
        item = next((item[name] for name in NAMES if isinstance(item.get(name), (str, int))), None)
    shown = str(item) if isinstance(item, (str, int)) else ""
    return shown if len(shown) <= LONGEST_ITEM else f"{shown[: LONGEST_ITEM - 1]}…"
