# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one has in a hosted cluster, in a few lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: hosted_cluster_summary
author:
  - The metalshift.maas authors (@metalshift)
version_added: 0.1.0
short_description: Say how a hosted cluster is reached and what it has
description:
  - Takes a cluster as M(metalshift.maas.hosted_cluster_info) returns it with C(gather=[machines, nodes]), and makes
    the lines that a person wants at the end of a playbook, and the same as data for the next one.
  - No secret is in it. It says where each is.
positional: _input, kubeconfig
options:
  _input:
    description: One of C(hosted_clusters).
    type: dict
    required: true
  kubeconfig:
    description: The file on this machine that has its kubeconfig, if there is one.
    type: str
    default: ''
"""

EXAMPLES = r"""
- name: Look at the cluster
  metalshift.maas.hosted_cluster_info:
    name: demo
    gather: [machines, nodes]
  register: found

- name: Say what there is
  ansible.builtin.debug:
    msg: "{{ (found.hosted_clusters | first | metalshift.maas.hosted_cluster_summary).lines }}"
"""

RETURN = r"""
_value:
  description: The lines, and the facts that they are made of.
  type: dict
  contains:
    lines:
      description: For people.
      type: list
      elements: str
    facts:
      description: >-
        For the next playbook, or the next node of a workflow: C(namespace), C(name), C(api), C(console), C(version),
        C(nodes_ready), C(nodes), C(kubeconfig), C(kubeconfig_secret) and C(kubeadmin_password_secret).
        What is not known is null.
      type: dict
"""


def hosted_cluster_summary(cluster: Any, kubeconfig: str = "") -> dict[str, Any]:
    """The lines, and the facts that they are made of."""
    if not isinstance(cluster, Mapping) or not {"namespace", "name", "node_pools"} <= cluster.keys():
        raise AnsibleFilterError(
            "metalshift.maas.hosted_cluster_summary takes one of the hosted_clusters of hosted_cluster_info."
        )
    machines = [machine for pool in cluster["node_pools"] for machine in pool.get("machines") or ()]
    nodes = [*filter(None, (machine.get("node") for machine in machines)), *(cluster.get("other_nodes") or ())]
    facts = {
        "namespace": cluster["namespace"],
        "name": cluster["name"],
        "api": cluster.get("endpoint"),
        "console": cluster.get("console"),
        "version": cluster.get("version"),
        "nodes_ready": sum(bool(node.get("ready")) for node in nodes),
        "nodes": len(nodes),
        "kubeconfig": kubeconfig or None,
        "kubeconfig_secret": cluster.get("kubeconfig_secret"),
        "kubeadmin_password_secret": cluster.get("kubeadmin_password_secret"),
    }
    return {"lines": _lines(facts), "facts": facts}


def _lines(facts: Mapping[str, Any]) -> list[str]:
    namespace = facts["namespace"]
    read = f"kubectl -n {namespace} get secret {{}} -o jsonpath='{{{{.data.{{}}}}}}' | base64 -d"
    kubeconfig = facts["kubeconfig"] or f"{facts['name']}.kubeconfig"
    rows = [
        ("cluster", f"{namespace}/{facts['name']}"),
        ("version", facts["version"] or "not complete yet"),
        ("API", facts["api"] or "not published yet"),
        ("console", facts["console"]),
        ("nodes", f"{facts['nodes_ready']} of {facts['nodes']} Ready"),
        (
            "kubeconfig",
            facts["kubeconfig"] or _said(read, facts["kubeconfig_secret"], "kubeconfig", f" > {kubeconfig}"),
        ),
        ("kubeadmin", _said(read, facts["kubeadmin_password_secret"], "password", "")),
        ("log in", f"export KUBECONFIG={kubeconfig}"),
    ]
    return [f"{name:<11}{value}" for name, value in rows if value]


def _said(read: str, secret: str | None, key: str, more: str) -> str | None:
    """In the management cluster; None while HyperShift has not written it."""
    return read.format(secret, key) + more if secret else None


class FilterModule:
    """The filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"hosted_cluster_summary": hosted_cluster_summary}
