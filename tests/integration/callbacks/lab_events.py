# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes every result as a line of JSON, so that tests can read what a playbook did."""

from __future__ import annotations

import json
import os
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = r"""
name: lab_events
type: aggregate
short_description: Writes every result as a line of JSON
description: Writes every result as a line of JSON to the file that E(LAB_EVENTS) names.
"""


class CallbackModule(CallbackBase):  # type: ignore[misc]
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "lab_events"
    CALLBACK_NEEDS_ENABLED = True

    def _note(self, event: str, result: Any) -> None:
        raw = getattr(result, "_result", None) or getattr(result, "result", {})
        with open(os.environ["LAB_EVENTS"], "a", encoding="utf-8") as file:
            file.write(json.dumps({"event": event, "result": raw}, default=str) + "\n")

    def v2_runner_on_ok(self, result: Any) -> None:
        self._note("ok", result)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        self._note("failed", result)

    def v2_runner_item_on_ok(self, result: Any) -> None:
        self._note("item_ok", result)

    def v2_runner_item_on_failed(self, result: Any) -> None:
        self._note("item_failed", result)

    def v2_runner_on_unreachable(self, result: Any) -> None:
        self._note("unreachable", result)
