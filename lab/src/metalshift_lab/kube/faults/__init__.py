# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults on demand: a table of what can go wrong in a lab, each with its parameters and its cure."""

from __future__ import annotations

from metalshift_lab.kube.faults.fault import Effect, Fault, Words
from metalshift_lab.kube.faults.parts import Parts
from metalshift_lab.kube.faults.table import FAULTS, Faults

__all__ = ["FAULTS", "Effect", "Fault", "Faults", "Parts", "Words"]
