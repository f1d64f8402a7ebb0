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
"""

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module
from ansible_collections.metalshift.maas.plugins.module_utils._maas.named import tags
from ansible_collections.metalshift.maas.plugins.module_utils._maas.named.engine import (
    carry_out_named,
    plan_named,
    predicted,
)

SPEC = Spec(
    options={
        "name": {"type": "str", "required": True},
        "comment": {"type": "str"},
        "definition": {"type": "str"},
        "kernel_opts": {"type": "str"},
        "machines": {"type": "list", "elements": "str"},
        "purge_machines": {"type": "bool", "default": False},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    }
)


def converge(task: Task) -> Result:
    """Bring the tag and the machines that carry it to the wished state."""
    name, machines = task.params["name"], task.params["machines"]
    found = tags.TAGS.find(task.maas, name)
    plan = plan_named(task, tags.TAGS, found)
    if machines is None or task.params["state"] == "absent":
        now = predicted(tags.TAGS, plan, found) if task.check else carry_out_named(task.maas, tags.TAGS, plan, found)
        return Result(changed=bool(plan), values={"tag": now}, plan=plan)

    tags.refuse_members_of_automatic(name, task.params["definition"], found)
    wish = tags.members(task.maas, name, found, machines, task.params["purge_machines"], check=task.check)
    tagging = wish.plan(name)
    if task.check:
        now = predicted(tags.TAGS, plan, found)
    else:
        now = carry_out_named(task.maas, tags.TAGS, plan, found)
        if tagging:
            tags.carry_members(task.maas, name, wish)
    whole = Plan([*plan.steps, *tagging.steps])
    now = {**now, "machines": sorted(wish.after.values()), **({"predicted": True} if task.check and whole else {})}
    warnings = [f"MAAS does not know {machine} yet." for machine in wish.unknown]
    return Result(changed=bool(whole), values={"tag": now}, plan=whole, warnings=warnings)


def main() -> None:
    run_as_module(SPEC, converge, "tag")


if __name__ == "__main__":
    main()
