# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""IP networks as firewalls write them."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: ip_networks
author:
  - The metalshift.maas authors (@metalshift)
version_added: 0.1.0
short_description: Write IP networks and addresses as firewalls do
description:
  - Gives each network its canonical text and its family, so that a rule can be found again in a firewall.
  - What is no network has an empty family. So has a network that is everything, since it limits nothing.
positional: _input
options:
  _input:
    description: Networks such as V(10.0.0.0/8), and single addresses.
    type: list
    elements: str
    required: true
"""

EXAMPLES = r"""
- name: Which networks are IPv6
  ansible.builtin.set_fact:
    networks: "{{ ['10.1.2.3/8', 'fd00::1'] | metalshift.maas.ip_networks | selectattr('family', 'eq', 'ipv6') }}"
"""

RETURN = r"""
_value:
  description: The networks, in the same order.
  type: list
  elements: dict
  contains:
    given:
      description: The text that was given.
      type: str
    network:
      description: Its canonical form. A single address has no prefix length.
      type: str
    family:
      description: V(ipv4) or V(ipv6). Empty for what is no network.
      type: str
  sample: [{given: 10.1.2.3/8, network: 10.0.0.0/8, family: ipv4}]
"""


def ip_networks(texts: Any) -> list[dict[str, str]]:
    """Canonical networks with their families."""
    if isinstance(texts, str) or not hasattr(texts, "__iter__"):
        raise AnsibleFilterError(f"metalshift.maas.ip_networks takes a list of texts, not a {type(texts).__name__}.")
    return [_network(str(text)) for text in texts]


def _network(text: str) -> dict[str, str]:
    try:
        network = ipaddress.ip_network(text.strip(), strict=False)
    except ValueError:
        return {"given": text, "network": "", "family": ""}
    single = network.prefixlen == network.max_prefixlen
    family = f"ipv{network.version}" if network.prefixlen else ""
    return {"given": text, "network": str(network.network_address if single else network), "family": family}


class FilterModule:
    """The filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"ip_networks": ip_networks}
