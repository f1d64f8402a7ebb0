# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values from outside as variables: a text that could be a template is marked, so that Ansible never takes it for one.

This plugin util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.utils.unsafe_proxy import wrap_var

try:
    # From 2.19 on, what is not trusted is shown as unsafe by ansible-inventory, plain words too.
    from ansible.template import trust_as_template
except ImportError:

    def trust_as_template(value: str) -> str:
        """Before, what is not marked as unsafe is trusted."""
        return value


def foreign(value: Any) -> Any:
    """The same value; a text with a brace in it is not a template, whatever it says."""
    if isinstance(value, Mapping):
        return {str(key): foreign(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [foreign(item) for item in value]
    if not isinstance(value, str):
        return value
    return wrap_var(value) if "{" in value else trust_as_template(value)
