#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks of LXD."""

from __future__ import annotations

DOCUMENTATION = r"""
module: lxd_network
short_description: Manage networks of LXD
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Creates, changes and removes networks that LXD manages. Interfaces of the machine are left alone.
  - The type of a network cannot be changed, which is refused.
  - Not tried on a cluster, where LXD wants each member to be told first, and not with Open vSwitch or OVN.
extends_documentation_fragment:
  - metalshift.maas.attributes
  - metalshift.maas.attributes.actiongroup_lxd
  - metalshift.maas.lxd
  - metalshift.maas.lxd.alone
  - metalshift.maas.plan
options:
  name:
    description: The name of the network, which is that of its interface.
    type: str
    required: true
  type:
    description:
      - What the network is, such as V(bridge), V(macvlan), V(physical), V(sriov) or V(ovn).
      - A network that is to be created becomes a V(bridge) if it is not set.
    type: str
  description:
    description: What the network is for. Kept as it is if not set.
    type: str
  config:
    description:
      - Settings of the network, in the words of LXD, such as C(ipv4.address). Booleans and numbers are written as LXD
        writes them.
      - Keys that are not named stay as they are. One with an empty value or null is unset.
      - V(auto) for an address is fulfilled by whatever address LXD has chosen before.
    type: dict
  purge_config:
    description:
      - Whether settings that O(config) does not name are unset, the addresses that LXD has chosen among them.
    type: bool
    default: false
    aliases: [purge]
  state:
    description:
      - V(present) makes sure that the network exists as described.
      - V(absent) removes it. A network that an instance, a profile or another network uses is not removed. An interface
        of the machine that has the name stays.
    type: str
    choices: [present, absent]
    default: present
seealso:
  - module: metalshift.maas.lxd_info
"""

EXAMPLES = r"""
- name: A bridge of LXD's own, without addresses
  metalshift.maas.lxd_network:
    name: lxdbr1
    config:
      ipv4.address: none
      ipv6.address: none

- name: Networks of a project, in which nobody else's are seen
  metalshift.maas.lxd_network:
    lxd_project: team-blue
    name: blue
    config:
      ipv4.address: 10.60.0.1/24
      ipv4.nat: true
      ipv6.address: none

- name: No network of that name
  metalshift.maas.lxd_network:
    name: lxdbr1
    state: absent
"""

RETURN = r"""
network:
  description: The network as it is now, or as it would be in check mode. Empty when it is absent.
  returned: success
  type: dict
  sample:
    name: lxdbr1
    type: bridge
    description: ""
    config: {"ipv4.address": "none", "ipv6.address": "none"}
    managed: true
    status: Created
    locations: ["none"]
    used_by: []
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
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.kinds import NETWORKS, LxdObjectSpec, is_lxds
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.settings import SECRET

SPEC = Spec(
    options={**NAMED_OPTIONS, "type": {"type": "str"}},
    maas=False,
    lxd=True,
    secret_settings={"config": SECRET},
)

# What a type needs, of those that came late.
NEEDS = {
    "macvlan": "macvlan networks",
    "sriov": "SR-IOV networks",
    "ovn": "OVN networks",
    "physical": "physical networks",
}


def must_be_able(lxd: Lxd, wish: LxdObjectSpec, found: Mapping[str, Any] | None) -> None:
    """Raises the failure for a network that this LXD cannot make, or that is not its own."""
    label = f"network {wish.name}"
    if found is None and wish.fixed in NEEDS:
        lxd.capabilities.require(NEEDS[wish.fixed], f"The {label} of type {wish.fixed}")
    if found is not None and not is_lxds(found):
        raise Failure(
            "conflict",
            f"The {label} cannot be managed: it is an interface of the machine, of type {found.get('type')}.",
            object=label,
            reason="LXD does not manage it",
            hint="Choose another name. To give instances such an interface, name it in a device of a profile.",
        )


def converge(task: Task) -> Result:
    """Bring the network to the wished state."""
    return run(LxdEngine(task, NETWORKS, must_be_able=must_be_able), task)


def main() -> None:
    run_as_module(SPEC, converge, "lxd_network")


if __name__ == "__main__":
    main()
