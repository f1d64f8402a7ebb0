# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables that a role does not have."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: unknown_variables
author:
  - The metalshift.maas authors (@metalshift)
version_added: 0.1.0
short_description: Name the variables that a role does not have
description:
  - Ansible ignores a variable that no role reads, such as one that is misspelt. The roles of this collection refuse
    variables that begin with their name and that they do not have.
positional: _input
options:
  _input:
    description: The names of variables.
    type: list
    elements: str
    required: true
  specs:
    description: The content of C(argument_specs) of the role, with all its entry points.
    type: dict
    required: true
  also:
    description: Further variables that there are, such as those of a playbook.
    type: list
    elements: str
    default: []
"""

EXAMPLES = r"""
- name: Fail if there are variables that the role does not have
  ansible.builtin.fail:
    msg: "{{ unknown }}"
  when: unknown != ''
  vars:
    unknown: >-
      {{ query('ansible.builtin.varnames', '^my_role_(?!_)')
         | metalshift.maas.unknown_variables((lookup('ansible.builtin.file', spec) | from_yaml).argument_specs) }}
    spec: "{{ role_path }}/meta/argument_specs.yml"
"""

RETURN = r"""
_value:
  description: A sentence for each variable that does not exist. Empty if all exist.
  type: str
  sample: There is no variable my_role_nmae. Did you mean my_role_name?
"""


def unknown_variables(names: Any, specs: Any, also: Any = ()) -> str:
    """A sentence for each name that is in no entry point."""
    if not isinstance(specs, Mapping) or not all(isinstance(entry, Mapping) for entry in specs.values()):
        raise AnsibleFilterError("The argument specs of a role are a dictionary of its entry points.")
    known = {str(name) for entry in specs.values() for name in entry.get("options") or {}} | {
        str(name) for name in also
    }
    # All of them begin alike, which says nothing of what was meant.
    first, last = min(known, default=""), max(known, default="")
    prefix = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), 0)
    by_rest = {name[prefix:]: name for name in known}
    return " ".join(_sentence(name, prefix, by_rest) for name in sorted({str(name) for name in names} - known))


def _sentence(name: str, prefix: int, by_rest: Mapping[str, str]) -> str:
    meant = difflib.get_close_matches(name[prefix:], by_rest, n=1, cutoff=0.7)
    return f"There is no variable {name}." + (f" Did you mean {by_rest[meant[0]]}?" if meant else "")


class FilterModule:
    """The filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"unknown_variables": unknown_variables}
