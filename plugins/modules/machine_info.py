#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What MAAS knows of machines."""

from __future__ import annotations

DOCUMENTATION = r"""
module: machine_info
short_description: Read what MAAS knows of machines
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Finds machines and tells their state, hardware and addresses.
  - MAAS does the filtering. A machine must fit all filters that are given; of several values of one filter it must fit
    one, save for O(tags), of which it must have all.
  - Without a filter it lists all machines, which takes MAAS about ten seconds for each thousand.
extends_documentation_fragment:
  - metalshift.maas.attributes.info
  - metalshift.maas.attributes.actiongroup_maas
  - metalshift.maas.maas
options:
  machines:
    description:
      - Names of machines, each a hostname, FQDN, system_id or MAC address.
      - The task warns of those that MAAS does not know.
    type: list
    elements: str
  status:
    description: Statuses, in MAAS's own words in lower case, joined by underscores.
    type: list
    elements: str
    choices:
      - new
      - commissioning
      - failed_commissioning
      - missing
      - ready
      - reserved
      - deployed
      - retired
      - broken
      - deploying
      - allocated
      - failed_deployment
      - releasing
      - releasing_failed
      - disk_erasing
      - failed_disk_erasing
      - rescue_mode
      - entering_rescue_mode
      - failed_to_enter_rescue_mode
      - exiting_rescue_mode
      - failed_to_exit_rescue_mode
      - testing
      - failed_testing
  claim:
    description: The claim under which the machines are held.
    type: str
  owner:
    description: The user of MAAS who holds the machines.
    type: str
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
  domain:
    description: DNS domains, by name.
    type: list
    elements: str
  tags:
    description: Tags that the machines have, all of them.
    type: list
    elements: str
  not_tags:
    description: Tags that the machines do not have, none of them. One that MAAS does not know is an error.
    type: list
    elements: str
  architecture:
    description: Architectures, such as V(amd64/generic).
    type: list
    elements: str
    aliases: [arch]
  gather:
    description:
      - What to tell beyond the usual.
      - V(interfaces) are the network interfaces with their links, V(block_devices) the disks, both without a further
        request.
      - V(power_parameters) say how MAAS switches a machine, with all that may be secret hidden. They need the key of an
        administrator, and one request for a hundred machines.
      - V(events) are the newest twenty of a machine, V(results) the scripts that ran last and how they ended. Each
        takes one request for each machine.
    type: list
    elements: str
    choices: [interfaces, block_devices, power_parameters, events, results]
    default: []
  full:
    description: Whether results hold everything that MAAS says about a machine, some 9 kB each.
    type: bool
    default: false
seealso:
  - module: metalshift.maas.machine
  - module: metalshift.maas.machine_set
  - module: metalshift.maas.maas_info
"""

EXAMPLES = r"""
- name: Which machines are free in two zones?
  metalshift.maas.machine_info:
    status: [ready]
    zones: [az1, az2]
  register: free

- name: Enough for the next cluster
  ansible.builtin.assert:
    that: free.machines | length >= 3
    fail_msg: Only {{ free.machines | length }} machines are free.
  when: not ansible_check_mode

- name: What happened to the machines whose deployment failed?
  metalshift.maas.machine_info:
    status: [failed_deployment]
    gather: [events, results]

- name: The addresses of the machines of a claim
  metalshift.maas.machine_info:
    claim: web
    gather: [interfaces]
"""

RETURN = r"""
machines:
  description: The machines, by host name.
  returned: success
  type: list
  elements: dict
  contains:
    system_id:
      description: MAAS's own name of the machine.
      type: str
      returned: always
    hostname:
      description: The host name; C(fqdn) is the name with its domain.
      type: str
      returned: always
    status_name:
      description: The status, as MAAS shows it. C(status_message) says more.
      type: str
      returned: always
    claim:
      description: The claim that the machine is marked with, if any.
      type: str
      returned: always
    ip_addresses:
      description: The machine's addresses.
      type: list
      elements: str
      returned: always
    interfaces:
      description: The network interfaces.
      type: list
      elements: dict
      returned: when gathered
    block_devices:
      description: The disks.
      type: list
      elements: dict
      returned: when gathered
    power_parameters:
      description: How MAAS switches the machine. What may be secret is V(HIDDEN).
      type: dict
      returned: when gathered
    events:
      description: The newest events, oldest first.
      type: list
      elements: dict
      returned: when gathered
    results:
      description: The scripts that ran last, and how they ended.
      type: list
      elements: dict
      returned: when gathered
  sample:
    - system_id: 4y3h7n
      hostname: node-1
      fqdn: node-1.maas
      status_name: Ready
      power_state: "off"
      zone: az1
      pool: default
      architecture: amd64/generic
      cpu_count: 8
      memory: 16384
      ip_addresses: []
      tag_names: [fast]
      claim:
summary:
  description: How many machines are in which status.
  returned: success
  type: dict
  sample: {deployed: 9, failed_testing: 1}
"""

from collections import Counter
from dataclasses import replace

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.unknown import UNKNOWN
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.details import Details
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines, lacking, shown
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.filters import FILTERS, query_of
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import Status
from ansible_collections.metalshift.maas.plugins.module_utils._maas.named.tags import refuse_unknown

GATHER = ["interfaces", "block_devices", "power_parameters", "events", "results"]

# Names by which other modules know the same.
ALSO = {"zones": {"aliases": ["zone"]}, "pools": {"aliases": ["pool"]}, "architecture": {"aliases": ["arch"]}}

SPEC = Spec(
    writes=False,
    options={
        "machines": {"type": "list", "elements": "str"},
        "status": {"type": "list", "elements": "str", "choices": [status.word for status in Status]},
        "claim": {"type": "str"},
        "owner": {"type": "str"},
        **{
            name: {"type": "list", "elements": "str", **ALSO.get(name, {})}
            for name in FILTERS
            if name not in ("claim", "owner")
        },
        "gather": {"type": "list", "elements": "str", "choices": GATHER, "default": []},
        "full": {"type": "bool", "default": False},
    },
    predictable=frozenset({"machines"}),
)


def converge(task: Task) -> Result:
    """Find machines and tell what is asked of them."""
    found, warnings = chosen(task)
    details = Details(task.maas).of(found, task.params["gather"])
    return Result(
        changed=False,
        values={
            "machines": [
                {**shown(machine, task.params["full"]), **details[machine["system_id"]]}
                for machine in sorted(found, key=lambda machine: str(machine["hostname"]))
            ],
            "summary": dict(sorted(Counter(word_of(machine) for machine in found).items())),
        },
        warnings=warnings,
    )


def chosen(task: Task) -> tuple[list[Machine], list[str]]:
    """The machines that fit, and what has to be said about those that do not."""
    machines = Machines(task.maas)
    filters = query_of(task.params)
    warnings: list[str] = []
    if task.params["machines"] is not None:
        named = machines.find(task.params["machines"])
        unknown = [name for name, machine in named.items() if machine is None]
        warnings = [lacking(name) if name == UNKNOWN else f"MAAS does not know {name}." for name in unknown]
        known = {machine["system_id"]: machine for machine in named.values() if machine is not None}
        if not filters or not known:
            return list(known.values()), warnings
        filters["id"] = sorted(known)
    try:
        refuse_unknown(task.maas, {"not_tags": filters.get("not_tags", ())})
        return machines.listed(**filters), warnings
    except Failure as failure:
        # In check mode a zone, pool or tag may be one that an earlier task would have made.
        if failure.kind != "rejected":
            raise
        if not task.check:
            said = f"No machine can be looked for so: {failure.reason}"
            raise replace(failure, message=said, hint="Check the spelling, or make it first.") from failure
        return [], [*warnings, f"MAAS does not have all of it yet: {failure.reason}"]


def word_of(machine: Machine) -> str:
    return str(machine["status_name"]).lower().replace(" ", "_")


def main() -> None:
    run_as_module(SPEC, converge, "machine_info")


if __name__ == "__main__":
    main()
