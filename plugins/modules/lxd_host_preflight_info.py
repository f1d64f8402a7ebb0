#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands in the way of an LXD host."""

from __future__ import annotations

DOCUMENTATION = r"""
module: lxd_host_preflight_info
short_description: Judge whether a machine can become an LXD host, or be taken back
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Judges facts that were read before, and asks nobody. The role P(metalshift.maas.lxd_host#role) reads them and calls
    this module.
  - Says everything that stands in the way at once, and what is to be done otherwise.
extends_documentation_fragment:
  - metalshift.maas.attributes.info
options:
  state:
    description:
      - V(present) judges whether the machine can become an LXD host.
      - V(absent) judges whether what the role made can be taken back, and what of it stays.
    type: str
    choices: [present, absent]
    default: present
  wanted:
    description:
      - What the machine is to be. These are variables of the role P(metalshift.maas.lxd_host#role) without the prefix
        C(lxd_host_), such as C(project), C(bridge) or C(storage_size); those that are left out are as by default.
      - A key that is none of them is refused.
    type: dict
    default: {}
  facts:
    description:
      - What was found there, as the role reads it, such as C(files), C(interfaces) and C(record).
        What is left out is taken for not there.
      - A key that is none of them is refused.
    type: dict
    required: true
  checks:
    description: The names of the checks to make. All of them if it is not set. They count for O(state=present).
    type: list
    elements: str
  fail:
    description: Whether the task fails when something is in the way.
    type: bool
    default: true
seealso:
  - module: metalshift.maas.lxd_info
"""

EXAMPLES = r"""
- name: How large is 80 percent of what is free?
  metalshift.maas.lxd_host_preflight_info:
    wanted:
      storage_driver: btrfs
      storage_size: 80%
    facts:
      host: kvm-1
      free: 500000000000
    checks: [storage size, free space]
  register: judged

- name: Say it
  ansible.builtin.debug:
    msg: "{{ judged.host.pool.config.size }}"
"""

RETURN = r"""
preflight:
  description: What was judged.
  returned: success
  type: dict
  contains:
    findings:
      description: The checks, each with its C(name), its C(status), which is C(ok) or C(failed), and what was C(found).
      type: list
      elements: dict
      sample: [{"name": "kvm", "status": "ok", "found": ""}]
    obstacles:
      description: What stands in the way, in sentences that say what to do.
      type: list
      elements: str
    found:
      description: What there is, in sentences.
      type: list
      elements: str
      sample: ["No LXD.", "Bridges: br0. MAAS knows br0."]
host:
  description:
    - What is to be done there, with sizes in bytes, limits, ratios of over-commit and rules of firewalls.
    - C(trust) is what earlier runs trusted in the project, each with the projects that it would keep without this one.
  returned: success
  type: dict
  sample:
    install: package
    pool: {"there": false, "config": {"size": "400000000000B"}, "wipes": []}
    project: {"there": false, "config": {"features.images": "true"}, "profile": true, "limits": [], "limits_gone": []}
removal:
  description:
    - With O(state=absent), what is taken back, what stays and for whom, and which lines of the record are forgotten
      then. Otherwise empty.
  returned: success
  type: dict
  sample:
    project: true
    shared: false
    stays: ["kvm-1 stays an LXD host: project team-b uses it."]
    left: ["project team-b"]
"""

from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module
from ansible_collections.metalshift.maas.plugins.module_utils._vms.lxd_host.pure import checks, removal
from ansible_collections.metalshift.maas.plugins.module_utils._vms.lxd_host.pure.facts import HostFacts
from ansible_collections.metalshift.maas.plugins.module_utils._vms.lxd_host.pure.host import Host
from ansible_collections.metalshift.maas.plugins.module_utils._vms.lxd_host.pure.spec import HostSpec

SPEC = Spec(
    options={
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        "wanted": {"type": "dict", "default": {}},
        "facts": {"type": "dict", "required": True},
        "checks": {"type": "list", "elements": "str"},
        "fail": {"type": "bool", "default": True},
    },
    maas=False,
    writes=False,
)


def converge(task: Task) -> Result:
    """Judge what was read."""
    params = task.params
    host = Host(HostSpec.from_params(params["wanted"]), HostFacts.from_params(params["facts"]))
    unknown = sorted({*(params["checks"] or ())} - {*checks.JUDGES})
    if unknown:
        raise invalid(f"checks has {', '.join(unknown)}; there are {', '.join(checks.JUDGES)}.")
    absent = params["state"] == "absent"
    findings = [] if absent else checks.judge(host, params["checks"] or ())
    obstacles = [removal.obstacle(host)] if absent else [each.says for each in findings]
    obstacles = [each for each in obstacles if each]
    values: dict[str, Any] = {
        "preflight": {
            "findings": [each.as_result() for each in findings],
            "obstacles": obstacles,
            "found": host.found,
        },
        "host": {**host.as_result(), "trust": [each.as_result() for each in removal.own_trust(host)]},
        "removal": {**removal.removal(host).as_result(), "left": removal.left(host)} if absent else {},
    }
    failure = _failure(host, obstacles, absent) if obstacles and params["fail"] else None
    return Result(changed=False, values=values, failure=failure)


def _failure(host: Host, obstacles: list[str], absent: bool) -> Failure:
    name = host.facts.host or host.spec.machine or "The machine"
    said = "" if absent else f"{name} cannot become an LXD host, and nothing was written: "
    return Failure("conflict", said + " ".join(obstacles), object=name, reason=obstacles[0])


def main() -> None:
    run_as_module(SPEC, converge, "lxd_host_preflight_info")


if __name__ == "__main__":
    main()
