# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations


class NoPrograms(Exception):
    """The real programs cannot be had here; the text is the whole message."""
