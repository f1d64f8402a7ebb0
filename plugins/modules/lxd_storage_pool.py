#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Storage pools of LXD."""

from __future__ import annotations

DOCUMENTATION = r"""
module: lxd_storage_pool
short_description: Manage storage pools of LXD
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Creates, changes and removes storage pools.
  - What LXD cannot change of a pool, which is its driver, its source and, in older versions, its size, is refused.
  - Not tried on a cluster, where LXD wants each member to be told first.
extends_documentation_fragment:
  - metalshift.maas.attributes
  - metalshift.maas.attributes.actiongroup_lxd
  - metalshift.maas.lxd
  - metalshift.maas.lxd.alone
  - metalshift.maas.plan
options:
  name:
    description: The name of the pool.
    type: str
    required: true
  driver:
    description:
      - What the pool is made of, such as V(dir), V(btrfs), V(zfs) or V(lvm). Required for a pool that is to be created.
      - M(metalshift.maas.lxd_info) tells which of them an LXD supports.
    type: str
  description:
    description: What the pool is for. Kept as it is if not set.
    type: str
  config:
    description:
      - Settings of the pool, in the words of LXD, such as C(source) and C(size). Booleans and numbers are written as
        LXD writes them.
      - Keys that are not named stay as they are. One with an empty value or null is unset.
    type: dict
  purge_config:
    description:
      - Whether settings that O(config) does not name are unset. Those that LXD made when it created the pool, such as
        C(source), stay.
    type: bool
    default: false
    aliases: [purge]
  state:
    description:
      - V(present) makes sure that the pool exists as described.
      - V(absent) removes it, with the copies of images that are in it. A pool that an instance, a volume or a profile
        uses is not removed.
    type: str
    choices: [present, absent]
    default: present
seealso:
  - module: metalshift.maas.lxd_info
"""

EXAMPLES = r"""
- name: A pool on a disk of its own
  metalshift.maas.lxd_storage_pool:
    name: fast
    driver: zfs
    config:
      source: /dev/nvme1n1
    description: For the disks of virtual machines

- name: No pool of that name
  metalshift.maas.lxd_storage_pool:
    name: spare
    state: absent
"""

RETURN = r"""
storage_pool:
  description: The pool as it is now, or as it would be in check mode. Empty when it is absent.
  returned: success
  type: dict
  sample:
    name: fast
    driver: zfs
    description: For the disks of virtual machines
    config: {"source": "fast", "volatile.initial_source": "/dev/nvme1n1", "zfs.pool_name": "fast"}
    status: Created
    locations: ["none"]
    used_by: ["/1.0/profiles/default"]
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
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.client import Lxd
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.engine import NAMED_OPTIONS, LxdEngine
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.overview import storage_drivers
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.kinds import POOLS, LxdObjectSpec
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.settings import SECRET

SPEC = Spec(
    options={**NAMED_OPTIONS, "driver": {"type": "str"}},
    maas=False,
    lxd=True,
    secret_settings={"config": SECRET},
)


def must_be_able(lxd: Lxd, wish: LxdObjectSpec, found: Mapping[str, Any] | None) -> None:
    """Raises the failure for a pool that this LXD cannot make."""
    if found is not None:
        return
    label = f"storage pool {wish.name}"
    if not wish.fixed:
        raise invalid(f"driver is missing: the {label} does not exist, and LXD must be told what to make it of.")
    able = storage_drivers(lxd.server.get("environment") or {})
    if able and wish.fixed not in able:
        raise Failure(
            "unsupported",
            f"The {label} cannot be made of {wish.fixed}: LXD at {lxd.connection.endpoint} supports {', '.join(able)}.",
            object=label,
            reason=f"the driver {wish.fixed} is not supported",
            hint="Take one of these, or install what the driver needs there and restart LXD.",
        )


def converge(task: Task) -> Result:
    """Bring the storage pool to the wished state."""
    return run(LxdEngine(task, POOLS, must_be_able=must_be_able), task)


def main() -> None:
    run_as_module(SPEC, converge, "lxd_storage_pool")


if __name__ == "__main__":
    main()
