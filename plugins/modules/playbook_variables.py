# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The documentation of an action plugin."""

from __future__ import annotations

DOCUMENTATION = r"""
module: playbook_variables
author:
  - The metalshift.maas authors (@metalshift)
version_added: 0.1.0
short_description: Check the variables of a playbook
description:
  - Compares variables with argument specs as M(ansible.builtin.validate_argument_spec) does, and says in a sentence
    what is wrong, where that module returns the whole of the argument specs.
  - The playbooks of this collection begin with it.
attributes:
  check_mode:
    description: It writes nothing.
    support: full
  diff_mode:
    description: There is nothing to show.
    support: N/A
  platform:
    description: It runs where Ansible runs, as an action plugin only.
    platforms: posix
    support: full
options:
  spec:
    description: The file with the argument specs. Those of C(argument_specs.main.options) count.
    type: path
    required: true
seealso:
  - module: ansible.builtin.validate_argument_spec
"""

EXAMPLES = r"""
- name: Check the variables
  metalshift.maas.playbook_variables:
    spec: "{{ playbook_dir }}/argument_specs/my_playbook.yml"
"""

RETURN = r"""
msg:
  description: What is wrong, or that nothing is.
  type: str
  returned: always
  sample: hosted_openshift_name and hosted_openshift_release are needed.
"""
