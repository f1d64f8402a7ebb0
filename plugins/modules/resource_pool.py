#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Resource pools of MAAS."""

from __future__ import annotations

DOCUMENTATION = r"""
module: resource_pool
short_description: Manage resource pools of MAAS
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Creates, changes and removes resource pools.
  - Every machine is in exactly one pool. M(metalshift.maas.machine) puts it there.
extends_documentation_fragment:
  - metalshift.maas.attributes
  - metalshift.maas.attributes.actiongroup_maas
  - metalshift.maas.maas
  - metalshift.maas.plan
options:
  name:
    description: The name of the pool.
    type: str
    required: true
  description:
    description: What the pool is for. Kept as it is if not set.
    type: str
  state:
    description:
      - V(present) makes sure that the pool exists.
      - V(absent) removes it. A pool with machines is not removed, and neither is the default pool.
    type: str
    choices: [present, absent]
    default: present
seealso:
  - module: metalshift.maas.machine
  - module: metalshift.maas.maas_info
"""

EXAMPLES = r"""
- name: A pool for the hosted clusters
  metalshift.maas.resource_pool:
    name: hosted
    description: Machines that hosted clusters may take

- name: No pool of that name
  metalshift.maas.resource_pool:
    name: spare
    state: absent
"""

RETURN = r"""
resource_pool:
  description: The pool as it is now, or as it would be in check mode. Empty when it is absent.
  returned: success
  type: dict
  sample: {"id": 3, "name": "hosted", "description": "Machines that hosted clusters may take"}
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
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines
from ansible_collections.metalshift.maas.plugins.module_utils._maas.named.engine import NamedEngine
from ansible_collections.metalshift.maas.plugins.module_utils._maas.named.objects import Found, NamedObjects

SPEC = Spec(
    options={
        "name": {"type": "str", "required": True},
        "description": {"type": "str"},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    }
)

DEFAULT_ID = 0
MOST_NAMED = 5


def may_be_removed(maas: Client, found: Found) -> None:
    label = f"resource pool {found['name']}"
    if found["id"] == DEFAULT_ID:
        raise Failure("conflict", f"The default {label} cannot be removed.", object=label)
    inside = sorted(machine["hostname"] for machine in Machines(maas).listed(pool=found["name"]))
    if inside:
        more = f" and {len(inside) - MOST_NAMED} more" if len(inside) > MOST_NAMED else ""
        raise Failure(
            "conflict",
            f"The {label} cannot be removed: {', '.join(inside[:MOST_NAMED])}{more} "
            f"{'is' if len(inside) == 1 else 'are'} in it.",
            object=label,
            hint="Move what is in it to another pool first, with the option pool of metalshift.maas.machine.",
        )


POOLS = NamedObjects(
    noun="resource_pool",
    collection="resourcepools/",
    item="resourcepool/{}/",
    fields=("description",),
    by_id=True,
    may_be_removed=may_be_removed,
    name_rule="A name has letters, digits, spaces, _ and -, and begins with a letter, a digit or _.",
)


def converge(task: Task) -> Result:
    """Bring the resource pool to the wished state."""
    return run(NamedEngine(task, POOLS), task)


def main() -> None:
    run_as_module(SPEC, converge, "resource_pool")


if __name__ == "__main__":
    main()
