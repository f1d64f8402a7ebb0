#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What hosted clusters leave behind."""

from __future__ import annotations

DOCUMENTATION = r"""
module: hosted_cluster_audit_info
short_description: Find what a hosted cluster has left behind
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Looks wherever a hosted cluster leaves something, and lists what is there with the reason. In MAAS these are
    machines, virtual machines, DNS records, reserved addresses and tags, in the management cluster namespaces, volumes,
    Secrets, ConfigMaps, node pools and cluster roles.
  - It can be run at any time. While the cluster is there, it finds what is wrong with it already, such as a MaasMachine
    that names somebody else's machine; what the cluster uses is no leak then.
  - It does not write anything, neither to Kubernetes nor to MAAS, and never shows what a Secret holds.
extends_documentation_fragment:
  - metalshift.maas.attributes.info
  - metalshift.maas.attributes.actiongroup_k8s
  - metalshift.maas.kubernetes
  - metalshift.maas.maas
options:
  name:
    description: The name of the hosted cluster, which may be gone.
    type: str
    required: true
  namespace:
    description: The namespace that its HostedCluster is, or was, in.
    type: str
    default: clusters
  noted:
    description:
      - What was noted of the cluster before. The result of M(metalshift.maas.hosted_cluster_info), the one of
        M(metalshift.maas.hosted_cluster) with C(state=absent), or a part of either.
      - Without it, machines are found by the marks that MAAS has of them, and what nothing else attributes to the
        cluster, such as reserved addresses, is not found.
    type: raw
  fail_on_leaks:
    description:
      - Whether to fail if something is left that should be gone.
      - What may be another's (C(verdict=suspect)), and what stays on purpose (C(verdict=kept)), is no reason to fail.
    type: bool
    default: false
seealso:
  - module: metalshift.maas.hosted_cluster
  - module: metalshift.maas.hosted_cluster_diagnosis_info
"""

EXAMPLES = r"""
- name: Take a cluster away
  metalshift.maas.hosted_cluster:
    name: demo
    state: absent
  register: gone

- name: Is anything left of it?
  metalshift.maas.hosted_cluster_audit_info:
    name: demo
    noted: "{{ gone.machines }}"
  register: audit

- name: Say so
  ansible.builtin.debug:
    msg: "{{ item.kind }} {{ item.object }}: {{ item.reason }}"
  loop: "{{ audit.leaks }}"
  loop_control:
    label: "{{ item.object }}"
"""

RETURN = r"""
leaks:
  description:
    - What is left.
    - C(verdict) is V(leak) for what should be gone, V(suspect) for what may be this cluster's without proof, and
      V(kept) for what stays on purpose. C(hint) is what to do.
  returned: always, if the management cluster could be read
  type: list
  elements: dict
  sample:
    - kind: volume
      object: PersistentVolume pvc-5f1c
      reason: "it holds etcd's data, Secrets among them (data-etcd-0), is Released, and its reclaim policy is Retain"
      hint: Delete it, and what is behind it in your storage, when nobody needs the data.
      verdict: leak
clean:
  description: Whether nothing is left that should be gone.
  returned: always, if the management cluster could be read
  type: bool
  sample: false
summary:
  description: How many of each kind are left, those that stay on purpose not counted.
  returned: always, if the management cluster could be read
  type: dict
  sample: {"machine": 0, "volume": 1}
unchecked:
  description: What could not be looked at, as sentences.
  returned: always, if the management cluster could be read
  type: list
  elements: str
  sample: []
"""

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.audit.leaks import leaks_in, summary
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.audit.state import gather
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module

SPEC = Spec(
    writes=False,
    kube=True,
    options={
        "name": {"type": "str", "required": True},
        "namespace": {"type": "str", "default": "clusters"},
        "noted": {"type": "raw"},
        "fail_on_leaks": {"type": "bool", "default": False},
    },
)


def converge(task: Task) -> Result:
    """List what is left of the cluster."""
    params = task.params
    remains = gather(task, params["namespace"], params["name"], params["noted"])
    found = leaks_in(remains)
    left = [leak for leak in found if leak.verdict == "leak"]
    failure = None
    if left and params["fail_on_leaks"]:
        told = "; ".join(f"{leak.kind} {leak.object}: {leak.reason}" for leak in left)
        failure = Failure(
            "failed_state",
            f"hosted_cluster {remains.label} has left {len(left)} behind: {told}.",
            object=remains.label,
            reason=told,
            hint=left[0].hint,
        )
    return Result(
        changed=False,
        values={
            "leaks": [leak.to_dict() for leak in found],
            "clean": not left,
            "summary": summary(found),
            "unchecked": list(remains.unchecked),
        },
        failure=failure,
    )


def main() -> None:
    run_as_module(SPEC, converge, "hosted_cluster_audit_info")


if __name__ == "__main__":
    main()
