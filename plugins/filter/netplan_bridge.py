# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""netplan's files with a bridge."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.metalshift.maas.plugins.plugin_utils._netplan import bridge_plan

DOCUMENTATION = r"""
name: netplan_bridge
author:
  - The metalshift.maas authors (@metalshift)
version_added: 0.1.0
short_description: Change netplan's files so that a bridge takes over the addresses of a device
description:
  - The addresses, routes and name servers of an interface, bond or VLAN move to a bridge, of which it becomes the port.
  - What stays is written as it was, each scalar of the same kind. An unquoted MAC address stays one.
  - The role P(metalshift.maas.lxd_host#role) makes its bridge with it.
positional: _input, bridge, port
options:
  _input:
    description: The text of each file in C(/etc/netplan), by file name.
    type: dict
    required: true
  bridge:
    description: The name of the bridge.
    type: str
    required: true
  port:
    description: The device that becomes the port of the bridge.
    type: str
    required: true
  macaddress:
    description: The MAC address of the bridge.
    type: str
    default: ""
seealso:
  - plugin: metalshift.maas.netplan_unmanaged
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Show what netplan would have to be told
  ansible.builtin.debug:
    msg: "{{ files | metalshift.maas.netplan_bridge('br0', 'eth0') }}"
  vars:
    files:
      50-cloud-init.yaml: |
        network: {version: 2, ethernets: {eth0: {dhcp4: true}}}
"""

RETURN = r"""
_value:
  description: The files as they shall be, or why there are none.
  type: dict
  contains:
    files:
      description: The text of each file, by file name. Empty if there is a problem.
      type: dict
    bridge_file:
      description: Which of them has the bridge.
      type: str
    problem:
      description: Why the bridge cannot be made, in a sentence. Empty if it can.
      type: str
"""


def netplan_bridge(files: Any, bridge: str, port: str, macaddress: str = "") -> dict[str, Any]:
    """The files with the bridge."""
    if not isinstance(files, Mapping):
        raise AnsibleFilterError(
            f"metalshift.maas.netplan_bridge takes the texts of files by their names, not a {type(files).__name__}."
        )
    # Ansible's texts know where they come from, which YAML cannot write.
    texts = {str(name): str(text) for name, text in files.items()}
    return asdict(bridge_plan(texts, str(bridge), str(port), str(macaddress)))


class FilterModule:
    """The filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"netplan_bridge": netplan_bridge}
