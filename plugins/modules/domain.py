#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""DNS domains of MAAS."""

from __future__ import annotations

DOCUMENTATION = r"""
module: domain
short_description: Manage DNS domains of MAAS
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Creates, changes and removes the DNS domains that MAAS serves.
  - Names with addresses are one label within their domain, so that V(api.demo.example.com) needs the domain
    V(demo.example.com). M(metalshift.maas.dns_record) makes the names.
extends_documentation_fragment:
  - metalshift.maas.attributes
  - metalshift.maas.attributes.actiongroup_maas
  - metalshift.maas.maas
  - metalshift.maas.plan
options:
  name:
    description: The name of the domain.
    type: str
    required: true
  authoritative:
    description: Whether MAAS answers for the domain. Kept as it is if not set; MAAS answers for new ones.
    type: bool
  ttl:
    description: How many seconds others may keep its records, unless a record says otherwise. Kept if not set.
    type: int
  is_default:
    description:
      - V(true) makes it the domain of new machines and of names without a domain. MAAS moves the machines of the domain
        that was the default before along with it. Kept as it is if not set.
      - V(false) is refused for the default domain, for MAAS always has one. Make another domain the default.
    type: bool
  state:
    description:
      - V(present) makes sure that the domain exists.
      - V(absent) removes it. A domain with records is not removed, and neither is the default domain.
    type: str
    choices: [present, absent]
    default: present
seealso:
  - module: metalshift.maas.dns_record
  - module: metalshift.maas.maas_info
"""

EXAMPLES = r"""
- name: The domains of a hosted cluster
  metalshift.maas.domain:
    name: "{{ item }}"
  loop: [demo.lab.example.com, apps.demo.lab.example.com]

- name: The domain of new machines
  metalshift.maas.domain:
    name: lab.example.com
    is_default: true

- name: No domain of that name
  metalshift.maas.domain:
    name: old.lab.example.com
    state: absent
"""

RETURN = r"""
domain:
  description: The domain as it is now, or as it would be in check mode. Empty when it is absent.
  returned: success
  type: dict
  sample: {"id": 3, "name": "demo.lab.example.com", "authoritative": true, "ttl": null, "resource_record_count": 0}
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
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan, Step
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.named.engine import NamedEngine
from ansible_collections.metalshift.maas.plugins.module_utils._maas.named.objects import Found, NamedObjects

SPEC = Spec(
    options={
        "name": {"type": "str", "required": True},
        "authoritative": {"type": "bool"},
        "ttl": {"type": "int"},
        "is_default": {"type": "bool"},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    }
)


MAKE_DEFAULT = "make default"


def may_be_removed(_maas: Client, found: Found) -> None:
    label = f"domain {found['name']}"
    if found.get("is_default"):
        raise Failure("conflict", f"The default {label} cannot be removed.", object=label)
    if number := found.get("resource_record_count"):
        raise Failure(
            "conflict",
            f"The {label} cannot be removed: it has {number} record{'' if number == 1 else 's'}.",
            object=label,
            hint="Remove them first, with metalshift.maas.dns_record, and move machines that are in it elsewhere.",
        )


DOMAINS = NamedObjects(
    noun="domain",
    collection="domains/",
    item="domains/{}/",
    fields=("authoritative", "ttl"),
    by_id=True,
    begins={"authoritative": True, "ttl": None, "is_default": False, "resource_record_count": 0},
    may_be_removed=may_be_removed,
)


class DomainEngine(NamedEngine):
    """A domain, and whether it is MAAS's default."""

    def plan(self, current: Found) -> Plan:
        return Plan([*super().plan(current).steps, *self._default(current)])

    def apply_one(self, current: Found, step: Step) -> Found:
        if step.verb != MAKE_DEFAULT:
            return super().apply_one(current, step)
        now: Found = self.maas.post(f"domains/{current['id']}/", op="set_default", repeatable=True)
        return now

    def _default(self, current: Found) -> list[Step]:
        wished, is_default = self.params["is_default"], bool(current.get("is_default"))
        if self.removes or wished in (None, is_default):
            return []
        if not wished:
            raise Failure(
                "conflict",
                f"The {self.label} is MAAS's default, and MAAS always has one.",
                object=self.label,
                hint="Make another domain the default, with is_default: true.",
            )
        return [Step(MAKE_DEFAULT, self.label, "", {"is_default": False}, {"is_default": True})]


def converge(task: Task) -> Result:
    """Bring the domain to the wished state."""
    return run(DomainEngine(task, DOMAINS), task)


def main() -> None:
    run_as_module(SPEC, converge, "domain")


if __name__ == "__main__":
    main()
