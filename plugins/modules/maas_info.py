#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a MAAS is and has."""

from __future__ import annotations

DOCUMENTATION = r"""
module: maas_info
short_description: Tell what a MAAS is and what it has
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Reads the version of a MAAS, what it can do, who the API key belongs to, and what it has.
  - Each subset is one request.
extends_documentation_fragment:
  - metalshift.maas.attributes.info
  - metalshift.maas.attributes.actiongroup_maas
  - metalshift.maas.maas
options:
  gather:
    description:
      - What to read besides the version.
      - V(machines) counts the machines by their status. MAAS needs about ten seconds to list a thousand machines.
      - V(all) means everything but V(machines).
      - What this version of MAAS does not have, such as V(vm_hosts) after MAAS 3.8, is null.
    type: list
    elements: str
    choices:
      - all
      - boot_resources
      - dns_resources
      - domains
      - fabrics
      - machines
      - rack_controllers
      - resource_pools
      - spaces
      - subnets
      - tags
      - user
      - vm_hosts
      - zones
    default: [domains, resource_pools, subnets, tags, user, zones]
seealso:
  - module: metalshift.maas.machine_info
"""

EXAMPLES = r"""
- name: Look around
  metalshift.maas.maas_info:
  register: around

- name: Stop if the key is not an administrator's
  ansible.builtin.assert:
    that: around.maas.user.is_superuser

- name: How many machines are ready
  metalshift.maas.maas_info:
    gather: [machines]
  register: around

- name: Say it
  ansible.builtin.debug:
    msg: "{{ around.maas.machines.ready | default(0) }} machines are ready."
"""

RETURN = r"""
maas:
  description:
    - The MAAS, with a key for each subset that was read. The lists are as MAAS gives them.
  returned: success
  type: dict
  contains:
    version:
      description: The version.
      type: str
      sample: 3.6.5
    supported:
      description: Whether this collection is made for that version.
      type: bool
    abilities:
      description: What this version can do, of what differs between versions.
      type: dict
      sample: {"hardware sync": true, "reserved IP addresses": true}
    user:
      description: The user that the API key belongs to.
      type: dict
      sample: {"username": "admin", "email": "admin@example.com", "is_superuser": true}
    zones:
      description: The availability zones.
      type: list
      elements: dict
      sample: [{"id": 1, "name": "default", "description": ""}]
    resource_pools:
      description: The resource pools.
      type: list
      elements: dict
    tags:
      description: The tags.
      type: list
      elements: dict
    domains:
      description: The DNS domains.
      type: list
      elements: dict
    dns_resources:
      description: The names that somebody gave addresses or records, those of machines excepted.
      type: list
      elements: dict
    subnets:
      description: The subnets.
      type: list
      elements: dict
    spaces:
      description: The network spaces.
      type: list
      elements: dict
    fabrics:
      description: The fabrics with their VLANs.
      type: list
      elements: dict
    boot_resources:
      description: The operating systems that MAAS can install, and what it boots machines with.
      type: list
      elements: dict
    rack_controllers:
      description: The rack controllers. Only an administrator sees any.
      type: list
      elements: dict
    vm_hosts:
      description: The VM hosts.
      type: list
      elements: dict
    machines:
      description: How many machines are in which status, in the words of M(metalshift.maas.machine_info).
      type: dict
      sample: {"ready": 12, "deployed": 30, "failed_testing": 1}
"""

from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.parallel import each
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module
from ansible_collections.metalshift.maas.plugins.module_utils._maas.overview import SUBSETS, read
from ansible_collections.metalshift.maas.plugins.module_utils._maas.pure.capabilities import SINCE

DEFAULT = ["domains", "resource_pools", "subnets", "tags", "user", "zones"]

SPEC = Spec(
    writes=False,
    options={
        "gather": {"type": "list", "elements": "str", "choices": ["all", *sorted(SUBSETS)], "default": DEFAULT},
    },
)


def converge(task: Task) -> Result:
    """Tell what the MAAS is and has."""
    wished = set(task.params["gather"])
    if "all" in wished:
        wished |= {name for name, subset in SUBSETS.items() if not subset.expensive}
    able = task.maas.capabilities
    maas: dict[str, Any] = {
        "version": able.text,
        "supported": able.supported,
        "abilities": {ability: able.has(ability) for ability in SINCE},
    }
    for name, value in each(sorted(wished - {"all"}), lambda name: read(task.maas, name)):
        if isinstance(value, Failure):
            raise value
        maas[name] = value
    return Result(changed=False, values={"maas": maas}, warnings=[able.remark] if able.remark else [])


def main() -> None:
    run_as_module(SPEC, converge, "maas_info")


if __name__ == "__main__":
    main()
