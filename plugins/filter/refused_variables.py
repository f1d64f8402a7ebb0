# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables that a role refuses: those that it does not have, and names and paths that are empty."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import empty_names, must_not_be_empty

DOCUMENTATION = r"""
name: refused_variables
author:
  - The metalshift.maas authors (@metalshift)
version_added: 0.1.0
short_description: Name the variables that a role refuses
description:
  - Ansible ignores a variable that no role reads, such as one that is misspelt. The roles of this collection refuse
    variables that begin with their name and that they do not have.
  - An empty text for a name or path is what surveys and templates make of none. It would stand for all names, or for
    the working directory, so the roles refuse it, unless it is the default in the argument specs.
positional: _input
options:
  _input:
    description: The variables, by name.
    type: dict
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
  may_be_empty:
    description: Variables whose empty text is none, such as those that are taken from the environment.
    type: list
    elements: str
    default: []
"""

EXAMPLES = r"""
- name: Fail if there are variables that the role does not have, or empty names
  ansible.builtin.fail:
    msg: "{{ refused }}"
  when: refused != ''
  vars:
    names: "{{ query('ansible.builtin.varnames', '^my_role_(?!_)') }}"
    refused: >-
      {{ dict(names | zip(query('ansible.builtin.vars', *names, default='undefined')))
         | metalshift.maas.refused_variables((lookup('ansible.builtin.file', spec) | from_yaml).argument_specs) }}
    spec: "{{ role_path }}/meta/argument_specs.yml"
"""

RETURN = r"""
_value:
  description: A sentence for each variable that does not exist, and one for the empty ones. Empty if all are fine.
  type: str
  sample: There is no variable my_role_nmae. Did you mean my_role_name?
"""


def refused_variables(variables: Any, specs: Any, also: Any = (), may_be_empty: Any = ()) -> str:
    """A sentence for each name that is in no entry point, and one for the names and paths that are empty."""
    if not isinstance(specs, Mapping) or not all(isinstance(entry, Mapping) for entry in specs.values()):
        raise AnsibleFilterError("The argument specs of a role are a dictionary of its entry points.")
    if not isinstance(variables, Mapping):
        raise AnsibleFilterError("The variables are a dictionary of their names and values.")
    options = {str(name): option for entry in specs.values() for name, option in (entry.get("options") or {}).items()}
    return " ".join([*_unknown(variables, {*options, *map(str, also)}), *_empty(variables, options, may_be_empty)])


def _empty(variables: Mapping[str, Any], options: Mapping[str, Any], may_be_empty: Any) -> tuple[str, ...]:
    looked_at = {name: option for name, option in options.items() if name not in may_be_empty}
    empty = tuple(empty_names(looked_at, variables))
    return must_not_be_empty(empty) if empty else ()


def _unknown(names: Iterable[str], known: set[str]) -> list[str]:
    # All of them begin alike, which says nothing of what was meant.
    first, last = min(known, default=""), max(known, default="")
    prefix = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), 0)
    by_rest = {name[prefix:]: name for name in known}
    return [_sentence(name, prefix, by_rest) for name in sorted({str(name) for name in names} - known)]


def _sentence(name: str, prefix: int, by_rest: Mapping[str, str]) -> str:
    meant = difflib.get_close_matches(name[prefix:], by_rest, n=1, cutoff=0.7)
    return f"There is no variable {name}." + (f" Did you mean {by_rest[meant[0]]}?" if meant else "")


class FilterModule:
    """The filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"refused_variables": refused_variables}
