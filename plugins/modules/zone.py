#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Availability zones of MAAS."""

from __future__ import annotations

DOCUMENTATION = r"""
module: zone
short_description: Manage availability zones of MAAS
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Creates, changes and removes availability zones.
extends_documentation_fragment:
  - metalshift.maas.attributes
  - metalshift.maas.attributes.actiongroup_maas
  - metalshift.maas.maas
  - metalshift.maas.plan
options:
  name:
    description: The name of the zone.
    type: str
    required: true
  description:
    description: What the zone stands for. Kept as it is if not set.
    type: str
  state:
    description:
      - V(present) makes sure that the zone exists.
      - V(absent) removes it. MAAS moves the machines of a removed zone to its default zone, which cannot be removed.
        The task warns of how many machines that concerns, also in check mode.
    type: str
    choices: [present, absent]
    default: present
seealso:
  - module: metalshift.maas.maas_info
"""

EXAMPLES = r"""
- name: A zone for each fire compartment
  metalshift.maas.zone:
    name: "{{ item }}"
    description: Fire compartment {{ item }}
  loop: [az1, az2, az3]

- name: No zone of that name
  metalshift.maas.zone:
    name: az4
    state: absent
"""

RETURN = r"""
zone:
  description: The zone as it is now, or as it would be in check mode. Empty when it is absent.
  returned: success
  type: dict
  sample: {"id": 2, "name": "az1", "description": "Fire compartment az1"}
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
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.names import few
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


def may_be_removed(_maas: Client, found: Found) -> None:
    if found["name"] == "default":
        raise Failure(
            "conflict",
            "The default zone cannot be removed: it takes the machines of zones that are.",
            object="zone default",
            hint="Machines in it can be moved with the option zone of metalshift.maas.machine.",
        )


def moved_machines(maas: Client, found: Found) -> list[str]:
    """The warning that machines change their zone. Without an answer the zone can be removed all the same."""
    try:
        names = sorted(str(machine["hostname"]) for machine in Machines(maas).listed(zone=found["name"]))
    except Failure:
        return []
    if not names:
        return []
    machines = "1 machine" if len(names) == 1 else f"{len(names)} machines"
    return [f"Removing zone {found['name']} moves {machines} to the default zone: {few(names, 3)}."]


ZONES = NamedObjects(
    noun="zone",
    collection="zones/",
    item="zones/{}/",
    fields=("description",),
    may_be_removed=may_be_removed,
    removal_warnings=moved_machines,
    name_rule="A name has letters, digits, spaces, _ and -, and begins with a letter, a digit or _.",
)


def converge(task: Task) -> Result:
    """Bring the zone to the wished state."""
    return run(NamedEngine(task, ZONES), task)


def main() -> None:
    run_as_module(SPEC, converge, "zone")


if __name__ == "__main__":
    main()
