#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""VM hosts of MAAS: their capacity, and the VMs on them."""

from __future__ import annotations

DOCUMENTATION = r"""
module: vm_host_info
short_description: Find VM hosts of MAAS, with their capacity and their VMs
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Lists VM hosts with what they have room for, over-commit applied, whether new VMs may be placed there, and what
    keeps MAAS from composing some.
  - A VM host must fit all filters that are given; of several values of one filter it must fit one, save for O(tags), of
    which it must have all.
  - It takes two requests, whatever the number of VM hosts, without O(gather).
extends_documentation_fragment:
  - metalshift.maas.attributes.info
  - metalshift.maas.attributes.actiongroup_maas
  - metalshift.maas.maas
options:
  names:
    description:
      - Names of VM hosts.
      - The task warns of those that MAAS does not know.
    type: list
    elements: str
  machines:
    description:
      - The machines that the VM hosts run on, each a hostname, FQDN, system_id or MAC address.
      - The task warns of those that MAAS does not know.
    type: list
    elements: str
  zones:
    description: Availability zones, by name.
    type: list
    elements: str
    aliases: [zone]
  pools:
    description: Resource pools, by name.
    type: list
    elements: str
    aliases: [pool]
  tags:
    description: Tags that the VM hosts have, all of them.
    type: list
    elements: str
  schedulable:
    description: Whether new VMs may be placed there.
    type: bool
  claim:
    description: The claim of a set of VMs. VM hosts that have none of them are left out.
    type: str
  gather:
    description:
      - What to tell beyond the usual.
      - V(virtual_machines) are the VMs, with who has them. It takes one request for each VM host.
      - V(parameters) say where the LXD is, its project, and the fingerprint of MAAS's certificate. They need the key of
        an administrator, and one request for each VM host.
    type: list
    elements: str
    choices: [virtual_machines, parameters]
    default: []
seealso:
  - module: metalshift.maas.vm_host
  - module: metalshift.maas.machine_info
"""

EXAMPLES = r"""
- name: Where is room for a VM with 8 cores?
  metalshift.maas.vm_host_info:
    zones: [az1, az2]
    schedulable: true
  register: found

- name: Say it
  ansible.builtin.debug:
    msg: "{{ found.vm_hosts | selectattr('capacity.cores.available', 'ge', 8) | map(attribute='name') | join(', ') }}"

- name: Which VMs are on a host, and whose are they?
  metalshift.maas.vm_host_info:
    names: [kvm1]
    gather: [virtual_machines]
"""

RETURN = r"""
vm_hosts:
  description:
    - The VM hosts, by name. The keys are those of RV(metalshift.maas.vm_host#module:vm_host); C(power_address),
      C(project) and C(certificate_fingerprint) are null unless V(parameters) are gathered.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: The name.
      type: str
      returned: always
    capacity:
      description:
        - Of C(cores), C(memory) in MiB and C(local_storage) in bytes, what the host has in C(total), what is C(used) by
          VMs of all projects, the C(limit) that over-commit allows, and what is C(available) of it.
      type: dict
      returned: always
    schedulable:
      description: Whether new VMs may be placed there. Null if MAAS does not show the machine under it.
      type: bool
      returned: always
    machine:
      description: The machine that it runs on.
      type: dict
      returned: always
    obstacles:
      description: What keeps MAAS from composing VMs there, in sentences, as far as MAAS can know.
      type: list
      elements: str
      returned: always
    virtual_machines:
      description: The VMs, with the claim, owner or hosted cluster that has them.
      type: list
      elements: dict
      returned: when gathered
  sample:
    - id: 3
      name: kvm1
      zone: az1
      pool: virtual
      tags: [control-plane, pod-console-logging]
      version: 5.21.3
      schedulable: true
      capacity:
        cores: {total: 16, used: 4, limit: 32, available: 28}
        memory: {total: 65536, used: 8192, limit: 65536, available: 57344}
        local_storage: {total: 500000000000, used: 40000000000, limit: 500000000000, available: 460000000000}
      obstacles: []
summary:
  description:
    - How many VM hosts there are, how many of them take new VMs and could be discovered, and the capacity of those that
      take new VMs together.
  returned: success
  type: dict
  sample:
    vm_hosts: 3
    schedulable: 2
    discovered: 3
    cores: {total: 32, used: 4, limit: 64, available: 60}
"""

from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.hosts import VMHosts
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.result import told
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.survey import (
    VMHostFilter,
    VMHostSurvey,
    summary,
)

LISTS = ("names", "machines", "tags")

SPEC = Spec(
    writes=False,
    options={
        **{name: {"type": "list", "elements": "str"} for name in LISTS},
        "zones": {"type": "list", "elements": "str", "aliases": ["zone"]},
        "pools": {"type": "list", "elements": "str", "aliases": ["pool"]},
        "schedulable": {"type": "bool"},
        "claim": {"type": "str"},
        "gather": {"type": "list", "elements": "str", "choices": ["virtual_machines", "parameters"], "default": []},
    },
)


def converge(task: Task) -> Result:
    """Find VM hosts and tell what is asked of them."""
    params = task.params
    machines = Machines(task.maas)
    survey = VMHostSurvey(VMHosts(task.maas), machines)
    under = machines.find(params["machines"]) if params["machines"] is not None else {}
    wanted = VMHostFilter(
        names=params["names"],
        system_ids={one["system_id"] for one in under.values() if one} if params["machines"] is not None else None,
        schedulable=params["schedulable"],
        ids=survey.hosts_with_claim(params["claim"]) if params["claim"] else None,
        zone=params["zones"] or (),
        pool=params["pools"] or (),
        tags=params["tags"] or (),
    )
    seen = survey.see(wanted, params["gather"])
    known = {one.known.host["name"] for one in seen}
    unknown = [name for name, machine in under.items() if machine is None]
    return Result(
        changed=False,
        values={"vm_hosts": [told(one.known, one.node, one.guests) for one in seen], "summary": summary(seen)},
        warnings=[f"MAAS does not know {name}." for name in unknown]
        + [f"MAAS has no such VM host {name}." for name in params["names"] or () if name not in known],
    )


def main() -> None:
    run_as_module(SPEC, converge, "vm_host_info")


if __name__ == "__main__":
    main()
