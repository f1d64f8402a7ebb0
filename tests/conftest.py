# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible's loader must be the first to import a collection: it does not take over what Python found by itself."""

from __future__ import annotations

from ansible.plugins.loader import init_plugin_loader
from hypothesis import settings

init_plugin_loader()

# A loaded machine makes single examples slow; that is no property of the code.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

pytest_plugins = ("lab.fixtures",)
