# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a playbook has done so far, in one line."""

from __future__ import annotations

DOCUMENTATION = r"""
name: totals
author:
  - The metalshift.maas authors (@metalshift)
version_added: 0.1.0
short_description: Say in one line what a playbook has done so far
description:
  - Sums up what the tasks of this collection have done since ansible-playbook began, in all plays and for all hosts; in
    check mode what they would do. Each object counts once, with all that is done to it.
  - A task notes its plan when it ends well. One under C(async) does not, and no task of another collection does.
  - The last task of each playbook of this collection shows it.
options: {}
seealso:
  - module: metalshift.maas.machine_set
    description: The C(plan) of a result has the same for one task, with reasons and values.
"""

EXAMPLES = r"""
- name: Show the totals
  ansible.builtin.debug:
    msg: "{{ lookup('metalshift.maas.totals') }}"
"""

RETURN = r"""
_raw:
  description: >-
    One line, such as V(4 created, 2 erased and released), in check mode V(to create 4, to erase and release 2). Where
    there is nothing, V(nothing changed) or V(nothing to change).
  type: list
  elements: str
"""

from typing import Any

from ansible.plugins.lookup import LookupBase

from ansible_collections.metalshift.maas.plugins.plugin_utils._run_plan import noted


class LookupModule(LookupBase):  # type: ignore[misc]
    """The lookup."""

    def run(self, _terms: Any, variables: Any = None, **_options: Any) -> list[str]:
        check = bool((variables or {}).get("ansible_check_mode"))
        return [noted().totals(done=not check) or ("nothing to change" if check else "nothing changed")]
