# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a task waits."""

from __future__ import annotations


class ModuleDocFragment:
    """Options of modules that wait."""

    DOCUMENTATION = r"""
options:
  wait:
    description:
      - Whether the task waits until what it started has ended, well or badly.
      - V(false) ends the task after its requests. A later run goes on from where the objects are then.
    type: bool
    default: true
  wait_timeout:
    description:
      - How many seconds the task may wait, for all of its objects together.
      - What is not done by then has failed, with what it was doing; nothing is undone, and a later run goes on.
      - A request to MAAS that is under way then has 5 more seconds, one that writes 15, and none is repeated.
    type: float
    default: 3600.0
  wait_sleep:
    description:
      - The initial polling interval in seconds. It grows while nothing changes, or when MAAS takes long to answer.
    type: float
    default: 5.0
"""
