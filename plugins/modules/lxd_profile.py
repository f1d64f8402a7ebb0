#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Profiles of LXD."""

from __future__ import annotations

DOCUMENTATION = r"""
module: lxd_profile
short_description: Manage profiles of LXD
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Creates, changes and removes profiles, whose settings and devices instances take over.
extends_documentation_fragment:
  - metalshift.maas.attributes
  - metalshift.maas.attributes.actiongroup_lxd
  - metalshift.maas.lxd
  - metalshift.maas.lxd.alone
  - metalshift.maas.plan
options:
  name:
    description: The name of the profile, in O(lxd_project).
    type: str
    required: true
  description:
    description: What the profile is for. Kept as it is if not set.
    type: str
  config:
    description:
      - Settings of the profile, in the words of LXD. Booleans and numbers are written as LXD writes them.
      - Keys that are not named stay as they are. One with an empty value or null is unset.
      - Values of keys that hold passwords, tokens or user data are never shown.
    type: dict
  devices:
    description:
      - Devices of the profile by their names, each with its C(type) and its settings, in the words of LXD.
      - A device that is named is exactly as given. Devices that are not named stay as they are. One that is null is
        removed.
    type: dict
  purge_config:
    description:
      - Whether settings that O(config) does not name, and devices that O(devices) does not name, are removed. An option
        that is not given removes nothing.
    type: bool
    default: false
    aliases: [purge]
  state:
    description:
      - V(present) makes sure that the profile exists as described.
      - V(absent) removes it. A profile that an instance uses is not removed, and neither is C(default).
    type: str
    choices: [present, absent]
    default: present
seealso:
  - module: metalshift.maas.lxd_project
"""

EXAMPLES = r"""
- name: A disk and a bridge for all instances of the project
  metalshift.maas.lxd_profile:
    lxd_project: maas
    name: default
    devices:
      root:
        type: disk
        path: /
        pool: fast
      eth0:
        type: nic
        nictype: bridged
        parent: br0

- name: No profile of that name
  metalshift.maas.lxd_profile:
    name: spare
    state: absent
"""

RETURN = r"""
profile:
  description: The profile as it is now, or as it would be in check mode. Empty when it is absent.
  returned: success
  type: dict
  sample:
    name: default
    description: Default LXD profile for project maas
    config: {}
    devices: {"root": {"path": "/", "pool": "fast", "type": "disk"}}
    used_by: ["/1.0/instances/vm-1?project=maas"]
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
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.engine import NAMED_OPTIONS, LxdEngine
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.kinds import PROFILES
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.settings import SECRET

SPEC = Spec(
    options={**NAMED_OPTIONS, "devices": {"type": "dict"}},
    maas=False,
    lxd=True,
    secret_settings={"config": SECRET},
)


def converge(task: Task) -> Result:
    """Bring the profile to the wished state."""
    return run(LxdEngine(task, PROFILES), task)


def main() -> None:
    run_as_module(SPEC, converge, "lxd_profile")


if __name__ == "__main__":
    main()
