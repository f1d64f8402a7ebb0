# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a module that writes is going to do."""

from __future__ import annotations


class ModuleDocFragment:
    """Options of every module that changes something."""

    DOCUMENTATION = r"""
options:
  fail_on_change:
    description:
      - Whether the task fails, and changes nothing, if there is something to change. It looks as in check mode, and its
        RV(plan) says what it would do. The kind of the failure is C(drift).
      - For checks in CI of whether all is still as it was set up.
      - If not set, the environment variable E(METALSHIFT_FAIL_ON_CHANGE) is used, which sets it for all tasks of a run.
    type: bool
    default: false
"""
