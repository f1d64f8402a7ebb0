# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the module of the same name in the controller. All files here are the same."""

from __future__ import annotations

from ansible_collections.metalshift.maas.plugins.plugin_utils._runner import ActionModule, module_of

__all__ = ["ActionModule"]

module_of(__name__)
