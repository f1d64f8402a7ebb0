# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A MAAS that needs no hardware: its REST API 2.0 with a state machine, a clock and faults on demand."""

from __future__ import annotations

from metalshift_lab.simulator.simulator import Simulator

__all__ = ["Simulator"]
