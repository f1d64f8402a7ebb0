#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tags of MAAS."""

from __future__ import annotations

DOCUMENTATION = r"""
module: tag
short_description: Manage tags of MAAS and the machines that carry them
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Creates, changes and removes tags.
  - Gives a tag to many machines in one request, or takes it away.
extends_documentation_fragment:
  - metalshift.maas.attributes
  - metalshift.maas.attributes.actiongroup_maas
  - metalshift.maas.maas
  - metalshift.maas.plan
options:
  name:
    description: The name of the tag.
    type: str
    required: true
  comment:
    description: What the tag means. Kept as it is if not set.
    type: str
  definition:
    description:
      - An XPath expression over what C(lshw) says of a machine. MAAS gives the tag to the machines that fit, and takes
        it from those that do not.
      - An empty text makes it a tag that is given by hand. Kept as it is if not set.
    type: str
  kernel_opts:
    description:
      - Options for the kernels that machines with this tag boot. Kept as they are if not set.
    type: str
  machines:
    description:
      - Machines that carry the tag, each by its hostname, FQDN, system_id or MAC address.
      - Other machines keep the tag, unless O(purge_machines=true).
      - Not together with a definition.
    type: list
    elements: str
  purge_machines:
    description: Whether the tag is taken from all machines that O(machines) does not name.
    type: bool
    default: false
  state:
    description:
      - V(present) makes sure that the tag exists.
      - V(absent) removes it, from all machines too.
    type: str
    choices: [present, absent]
    default: present
seealso:
  - module: metalshift.maas.machine
  - module: metalshift.maas.maas_info
"""

EXAMPLES = r"""
- name: Machines for storage, and no others
  metalshift.maas.tag:
    name: storage
    comment: Has a shelf of disks
    machines: [node-7, node-8, "52:54:00:12:34:56"]
    purge_machines: true

- name: Machines with a GPU, found by MAAS
  metalshift.maas.tag:
    name: gpu
    definition: //node[@class="display"]/vendor[contains(., "NVIDIA")]
    kernel_opts: intel_iommu=on

- name: No such tag
  metalshift.maas.tag:
    name: obsolete
    state: absent
"""

RETURN = r"""
tag:
  description:
    - The tag as it is now, or as it would be in check mode. Empty when it is absent.
    - Its C(machines) are the hostnames of those that carry it. They are listed only if O(machines) is set.
  returned: success
  type: dict
  sample:
    name: storage
    comment: Has a shelf of disks
    definition: ""
    kernel_opts: ""
    machines: [node-7, node-8]
plan:
  description:
    - What the task did, in check mode what it would do; one element an action, in their order. Empty if there is
      nothing to change. A task that failed may not have come to all of them.
    - Fields whose values are secret are left out or masked, and so are those that stay as they are.
  returned: always, but for wrong input
  type: list
  elements: dict
  contains:
    action:
      description: What is done, such as V(create), V(update), V(delete), V(enlist), V(deploy) or V(release).
      type: str
    object:
      description: To which object.
      type: str
    reason:
      description: Why. Empty if the task asks for just that.
      type: str
    before:
      description: The fields that change, as they are.
      type: dict
    after:
      description: The same fields as they will be; null where only the server knows it in advance.
      type: dict
"""

from ansible_collections.metalshift.maas.plugins.module_utils._core.contract import run
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module
from ansible_collections.metalshift.maas.plugins.module_utils._maas.named.tags import TagEngine

SPEC = Spec(
    options={
        "name": {"type": "str", "required": True},
        "comment": {"type": "str"},
        "definition": {"type": "str"},
        "kernel_opts": {"type": "str"},
        "machines": {"type": "list", "elements": "str"},
        "purge_machines": {"type": "bool", "default": False},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    },
    predictable=frozenset({"machines"}),
)


def converge(task: Task) -> Result:
    """Bring the tag and the machines that carry it to the wished state."""
    return run(TagEngine(task), task)


def main() -> None:
    run_as_module(SPEC, converge, "tag")


if __name__ == "__main__":
    main()
