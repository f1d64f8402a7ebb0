# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machine that a providerID names, for templates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.provider_id import parse

DOCUMENTATION = r"""
name: provider_id
author:
  - The metalshift.maas authors (@metalshift)
version_added: 0.1.0
short_description: Read which machine of MAAS a providerID of Kubernetes names
description:
  - Nodes, Machines and MaasMachines name their machine in C(spec.providerID). This filter takes such a text apart.
  - The provider for MAAS writes C(maas:///ZONE/SYSTEM_ID). Read are also the older forms with two slashes, with the
    scheme C(maas-lxd), and without a zone.
  - Anything else, an empty text among it, is an error that says so in a sentence. A Node that nothing has linked to its
    machine yet, or one of a cluster of another platform, has no providerID.
positional: _input
options:
  _input:
    description: The providerID.
    type: str
    required: true
seealso:
  - module: metalshift.maas.machine_info
  - module: metalshift.maas.hosted_cluster_info
"""

EXAMPLES = r"""
- name: Which machine a node is
  ansible.builtin.set_fact:
    machine: "{{ node.spec.providerID | metalshift.maas.provider_id }}"
  vars:
    node:
      spec:
        providerID: maas:///az1/abc123
  # => {"zone": "az1", "system_id": "abc123", "kind": "maas"}

- name: The machines in MAAS behind all nodes of a cluster
  metalshift.maas.machine_info:
    machines: >-
      {{ nodes.resources | map(attribute='spec.providerID') | map('metalshift.maas.provider_id')
      | map(attribute='system_id') }}
"""

RETURN = r"""
_value:
  description: What the providerID names.
  type: dict
  contains:
    zone:
      description: The zone where the machine was when the provider took it. Empty in a form without one.
      type: str
    system_id:
      description: The machine.
      type: str
    kind:
      description: V(maas), or V(maas-lxd) where the text says that it is a virtual machine of LXD.
      type: str
  sample: {zone: az1, system_id: abc123, kind: maas}
"""


def provider_id(text: Any) -> dict[str, str]:
    """The zone, the system_id and the kind of machine in a providerID."""
    if not isinstance(text, str):
        raise AnsibleFilterError(f"metalshift.maas.provider_id takes a text, not a {type(text).__name__}.")
    try:
        return asdict(parse(text))
    except ValueError as error:
        raise AnsibleFilterError(f"metalshift.maas.provider_id: {error}") from None


class FilterModule:
    """The filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"provider_id": provider_id}
