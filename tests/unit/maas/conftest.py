# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from hypothesis import settings

# A loaded machine makes single examples slow; that is no property of the code.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
