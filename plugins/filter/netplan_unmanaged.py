# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What netplan does not know of a device."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.metalshift.maas.plugins.plugin_utils._netplan import unmanaged

DOCUMENTATION = r"""
name: netplan_unmanaged
author:
  - The metalshift.maas authors (@metalshift)
version_added: 0.1.0
short_description: Find the addresses and routes of a device that netplan does not know
description:
  - A virtual IP address or the routes of a Kubernetes network are put on a device by others. A change of the network
    with netplan would lose them.
  - What comes by DHCP or from a router is not among them. A file that is not YAML is, since it may know nothing.
positional: _input, device, addresses, routes
options:
  _input:
    description: The text of each file in C(/etc/netplan), by file name.
    type: dict
    required: true
  device:
    description: The device.
    type: str
    required: true
  addresses:
    description: What C(ip -json address show dev DEVICE) prints, as data.
    type: list
    elements: dict
    required: true
  routes:
    description: What C(ip -json route show table all dev DEVICE) prints, as data, with C(-4) and with C(-6).
    type: list
    elements: dict
    required: true
seealso:
  - plugin: metalshift.maas.netplan_bridge
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Show what others have put on eth0
  ansible.builtin.debug:
    msg: "{{ files | metalshift.maas.netplan_unmanaged('eth0', addresses, []) }}"
  vars:
    files:
      50-cloud-init.yaml: |
        network: {version: 2, ethernets: {eth0: {addresses: [10.0.0.5/24]}}}
    addresses:
      - addr_info:
          - {family: inet, local: 10.0.0.5, prefixlen: 24, scope: global}
          - {family: inet, local: 10.0.0.99, prefixlen: 32, scope: global}
  # => ["the address 10.0.0.99/32"]
"""

RETURN = r"""
_value:
  description: A few words for each address and route that netplan does not know.
  type: list
  elements: str
  sample: [the address 10.0.0.99/32, the route to 10.244.1.0/24 via 10.0.0.7 (bird)]
"""


def netplan_unmanaged(files: Any, device: str, addresses: Any, routes: Any) -> list[str]:
    """Addresses and routes that are not netplan's."""
    if not isinstance(files, Mapping):
        raise AnsibleFilterError(
            f"metalshift.maas.netplan_unmanaged takes the texts of files by their names, not a {type(files).__name__}."
        )
    try:
        return unmanaged({str(name): str(text) for name, text in files.items()}, str(device), addresses, routes)
    except ValueError as error:
        # What cannot be read may know nothing of it.
        return [str(error)]


class FilterModule:
    """The filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"netplan_unmanaged": netplan_unmanaged}
