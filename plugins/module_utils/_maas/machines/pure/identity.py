# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What identifies a machine.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from typing import Any

# A machine as MAAS's JSON has it.
Machine = dict[str, Any]

SYSTEM_ID = re.compile(r"^[a-z0-9]{6}$")
MAC = re.compile(r"^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$", re.IGNORECASE)
