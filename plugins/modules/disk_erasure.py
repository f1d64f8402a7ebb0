#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Erasing the disks of machines that are free."""

from __future__ import annotations

DOCUMENTATION = r"""
module: disk_erasure
short_description: Erase the disks of machines that somebody has given back
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - The MAAS provider of Cluster API releases machines without erasing them, so what a hosted cluster had on their disks
    is there for whoever gets them next. M(metalshift.maas.node_pool) and M(metalshift.maas.hosted_cluster) erase what
    they give back with O(metalshift.maas.node_pool#module:erase). For machines that were given back otherwise, this
    module claims those of the machines that are free, and gives them back with their disks erased.
  - Nothing is taken from anybody. A machine that somebody else was faster to take is left alone, and it is said who
    has it.
  - A run that was killed is repaired by running the task again with the same O(claim), which also takes up machines
    that the earlier run had begun with.
extends_documentation_fragment:
  - metalshift.maas.attributes
  - metalshift.maas.attributes.actiongroup_maas
  - metalshift.maas.wait
  - metalshift.maas.maas
  - metalshift.maas.plan
attributes:
  idempotent:
    support: none
    details:
      - Disks are erased whenever the task is run.
options:
  machines:
    description: The machines, by system_id, hostname, FQDN or MAC address.
    type: list
    elements: str
    required: true
  claim:
    description:
      - The claim under which the machines are while they are erased. MAAS keeps it as C(agent_name). A tag that is made
        of it says in MAAS which machines are still to be erased.
      - Two tasks at the same time need two claims.
    type: str
    default: erase
seealso:
  - module: metalshift.maas.machine
  - module: metalshift.maas.node_pool
"""

EXAMPLES = r"""
- name: Erase a machine that somebody has given back
  metalshift.maas.disk_erasure:
    machines: [node-4]
  register: erased

- name: Say what became of it
  ansible.builtin.debug:
    msg: "{{ erased.machines | items2dict('hostname', 'reason') }}"
"""

RETURN = r"""
machines:
  description:
    - The machines, each with its C(outcome) and the reason.
    - It is V(erased), V(taken) by somebody before it could be erased, V(gone) from MAAS, V(failed), or still V(leaving)
      whoever gave it back or V(erasing). In check mode it is null.
  returned: always, if MAAS could be reached
  type: list
  elements: dict
  sample:
    - system_id: abc123
      hostname: node-1
      outcome: erased
      reason: its disks were erased
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

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.erasure import (
    DiskErasure,
    MachineErasure,
)
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan, Step
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module
from ansible_collections.metalshift.maas.plugins.module_utils._core.wait import WAIT_OPTIONS, Patience
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines, address, lacking

SPEC = Spec(
    options={
        "machines": {"type": "list", "elements": "str", "required": True},
        "claim": {"type": "str", "default": "erase"},
        **WAIT_OPTIONS,
    },
    predictable=frozenset({"machines"}),
)


def converge(task: Task) -> Result:
    """Erase the named machines as far as they are free."""
    params = task.params
    erasing = DiskErasure(task, Patience.of(task), params["claim"])
    found = Machines(task.maas).find(params["machines"])
    unknown = [name for name, machine in found.items() if machine is None]
    if unknown and not task.check:
        raise Failure(
            "not_found",
            f"MAAS does not know {', '.join(unknown)}.",
            object=", ".join(unknown),
            hint="A machine is named by its system_id, hostname, FQDN or MAC address.",
        )
    wanted = {machine["system_id"]: machine for machine in (*found.values(), *erasing.remembered()) if machine}
    plan = Plan([Step("erase", address(machine)) for machine in wanted.values()])
    if task.check:
        ended = [MachineErasure(system_id, address(machine)) for system_id, machine in wanted.items()]
        # An earlier task of the play may be the one that would have made or chosen them.
        warnings = [lacking(name) for name in unknown]
        values = {"machines": [one.to_dict() for one in ended]}
        return Result(changed=bool(plan or unknown), values=values, plan=plan, warnings=warnings)
    erasing.remember(wanted)
    ended = erasing.erase(wanted.values(), wait=params["wait"])
    return Result(
        changed=erasing.changed,
        values={"machines": [one.to_dict() for one in ended]},
        plan=plan,
        failure=erasing.failure(ended) if params["wait"] else None,
        warnings=erasing.warnings(ended),
    )


def main() -> None:
    run_as_module(SPEC, converge, "disk_erasure")


if __name__ == "__main__":
    main()
