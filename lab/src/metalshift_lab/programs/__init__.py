# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real programs of the lab: what they are built from, and how.

`programs()` has them all: the user's own (METALSHIFT_PROGRAMS, KUBEBUILDER_ASSETS), else those in the cache, else they
are built, once. `metalshift-lab build` does only that.
"""

from __future__ import annotations

from .build import Programs, figures, programs
from .errors import NoPrograms

__all__ = ["NoPrograms", "Programs", "figures", "programs"]
