#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Projects of LXD."""

from __future__ import annotations

DOCUMENTATION = r"""
module: lxd_project
short_description: Manage projects of LXD
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Creates, changes and removes projects.
  - A project has profiles of its own unless O(config) says otherwise. Its profile C(default) begins without devices;
    M(metalshift.maas.lxd_profile) gives it some.
extends_documentation_fragment:
  - metalshift.maas.attributes
  - metalshift.maas.attributes.actiongroup_lxd
  - metalshift.maas.lxd
  - metalshift.maas.lxd.alone
  - metalshift.maas.plan
options:
  name:
    description: The name of the project.
    type: str
    required: true
  description:
    description: What the project is for. Kept as it is if not set.
    type: str
  config:
    description:
      - Settings of the project, in the words of LXD, its C(features), C(limits) and C(restricted) keys among them.
        Booleans and numbers are written as LXD writes them.
      - Keys that are not named stay as they are. One with an empty value or null is unset.
      - LXD changes features of empty projects only.
    type: dict
  purge_config:
    description: Whether settings that O(config) does not name are unset. Features stay.
    type: bool
    default: false
    aliases: [purge]
  force:
    description:
      - Whether a project is removed with all that is in it. Needs LXD 6.6 or later.
      - Without it, only a project is removed that has nothing but its profile C(default).
    type: bool
    default: false
  state:
    description:
      - V(present) makes sure that the project exists as described.
      - V(absent) removes it.
    type: str
    choices: [present, absent]
    default: present
seealso:
  - module: metalshift.maas.lxd_profile
  - module: metalshift.maas.lxd_trust
"""

EXAMPLES = r"""
- name: A project for the virtual machines of MAAS
  metalshift.maas.lxd_project:
    name: maas
    description: Virtual machines of MAAS
    config:
      features.images: false
      limits.virtual-machines: 20

- name: No project of that name
  metalshift.maas.lxd_project:
    name: spare
    state: absent
"""

RETURN = r"""
project:
  description: The project as it is now, or as it would be in check mode. Empty when it is absent.
  returned: success
  type: dict
  sample:
    name: maas
    description: Virtual machines of MAAS
    config: {"features.images": "false", "features.profiles": "true", "limits.virtual-machines": "20"}
    used_by: ["/1.0/profiles/default?project=maas"]
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

from collections.abc import Mapping
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.contract import run
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.client import Lxd
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.engine import NAMED_OPTIONS, LxdEngine
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.kinds import (
    PROJECTS,
    LxdObjectSpec,
    in_the_way,
    to_be,
)
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.settings import SECRET, changed
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.users import listed

SPEC = Spec(
    options={**NAMED_OPTIONS, "force": {"type": "bool", "default": False}},
    maas=False,
    lxd=True,
    secret_settings={"config": SECRET},
)

# What settings need, by how their keys begin.
NEEDS = {
    "features.networks": "networks of projects",
    "limits.": "limits of projects",
    "restricted": "restrictions of projects",
}


def must_be_able(lxd: Lxd, wish: LxdObjectSpec, found: Mapping[str, Any] | None) -> None:
    """Raises the failure for settings that this LXD does not know, or does not change while the project is in use."""
    label = f"project {wish.name}"
    lxd.capabilities.require("projects", f"The {label}")
    for key in wish.config or {}:
        needed = next((ability for begin, ability in NEEDS.items() if key.startswith(begin)), "")
        if needed:
            lxd.capabilities.require(needed, f"{key} of the {label}")
    using = in_the_way(PROJECTS, found or {})
    if found and using:
        before, after = found.get("config") or {}, to_be(PROJECTS, wish, found)["config"]
        for key in changed(before, after):
            if key.startswith("features."):
                raise Failure(
                    "conflict",
                    f"{key} of the {label} is {before.get(key, 'not set')} and cannot become "
                    f"{after.get(key, 'unset')} while the project is in use: {listed(using)}.",
                    object=label,
                    reason="the project is not empty",
                    hint="Remove what is in it first, or make another project.",
                )


def converge(task: Task) -> Result:
    """Bring the project to the wished state."""
    forced = task.params["force"] and task.params["state"] == "absent"
    if forced:
        task.lxd.capabilities.require("removing a project with all that is in it", "force")
    return run(LxdEngine(task, PROJECTS, must_be_able=must_be_able, removal={"force": 1} if forced else None), task)


def main() -> None:
    run_as_module(SPEC, converge, "lxd_project")


if __name__ == "__main__":
    main()
