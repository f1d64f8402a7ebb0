# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said when a Python library is not where a task runs.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import socket
import sys

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure


def missing_library(missing: ImportError, *packages: str) -> Failure:
    """The failure for a library that is not there: where, and how to get it with what belongs to it."""
    name = (missing.name or str(missing)).split(".")[0].replace("_", "-")
    return Failure(
        "missing_library",
        f"The Python library {name} is missing on {socket.gethostname()} for {sys.executable}.",
        reason=f"{name} cannot be imported",
        hint=f"Install it there: {sys.executable} -m pip install {' '.join(packages)}.",
    )
