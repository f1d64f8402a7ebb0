# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where things are: the clone that is worked on, and the folder in the user's cache that holds all that is made."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tests" / "tools"
LOCKS = TOOLS / "locks"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "metalshift-maas"

# Two clones of one user share environments and downloads, but nothing that is made from their files.
CLONE = CACHE / "clones" / hashlib.sha256(os.fsencode(ROOT)).hexdigest()[:12]
