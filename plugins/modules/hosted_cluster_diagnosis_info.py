#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with a hosted cluster, whose turn it is, and what to do next."""

from __future__ import annotations

DOCUMENTATION = r"""
module: hosted_cluster_diagnosis_info
short_description: Tell what is wrong with a hosted cluster, whose turn it is, and what to do next
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Looks at a hosted cluster where each of its parts says the truth about itself, and tells in one page what is wrong,
    since when, whose turn it is, and what to do next.
  - It looks at the programs that make the cluster and at what keeps them from running, at the volumes of etcd, at the
    conditions of the cluster and its node pools with what they mean, at each machine in the words of the provider and
    of MAAS, at certificate requests, nodes and operators of the hosted cluster, at what holds on to that which is being
    deleted, at the names of the cluster in the DNS of MAAS, and at machines that belong to nobody or to somebody else.
  - It does not write anything, neither to Kubernetes nor to MAAS, and does not fail because of what it finds. What it
    may not read, it says.
extends_documentation_fragment:
  - metalshift.maas.attributes.info
  - metalshift.maas.attributes.actiongroup_k8s
  - metalshift.maas.kubernetes
  - metalshift.maas.maas
options:
  name:
    description: The name of the hosted cluster. It may be one that does not exist any more.
    type: str
    required: true
  namespace:
    description: The namespace of the HostedCluster.
    type: str
    default: clusters
  leaks:
    description:
      - Whether to look for what belongs to nobody too, or to somebody else, as
        M(metalshift.maas.hosted_cluster_audit_info) does.
      - It takes a listing of all machines that are in use, for which MAAS needs about ten seconds for each thousand.
    type: bool
    default: true
  dns_names:
    description:
      - Says that the names C(api), C(api-int) and C(*.apps) of the cluster should be in the DNS of MAAS. Without it,
        they are compared if MAAS has their domains.
    type: dict
    suboptions:
      api_addresses:
        description: Where C(api) and C(api-int) may point beside the addresses that the HostedCluster has in it.
        type: list
        elements: str
      apps_addresses:
        description: Where C(*.apps) may point beside the addresses of the machines, such as a load balancer.
        type: list
        elements: str
  noted:
    description:
      - What was noted of the cluster before, as for M(metalshift.maas.hosted_cluster_audit_info). It tells
        what nothing else attributes to a cluster that is gone.
    type: raw
seealso:
  - module: metalshift.maas.hosted_cluster_info
  - module: metalshift.maas.hosted_cluster_audit_info
  - module: metalshift.maas.node_csr
"""

EXAMPLES = r"""
- name: What is wrong with it?
  metalshift.maas.hosted_cluster_diagnosis_info:
    name: demo
  register: demo

- name: Read the page
  ansible.builtin.debug:
    msg: "{{ demo.page.splitlines() }}"

- name: Stop if somebody has to do something
  ansible.builtin.assert:
    that: demo.diagnosis | selectattr('severity', 'equalto', 'error') | length == 0
    fail_msg: "{{ demo.diagnosis[0].what }} {{ demo.diagnosis[0].next_step }}"
  when: demo.diagnosis | length > 0
"""

RETURN = r"""
diagnosis:
  description: What is wrong or waited for, the most serious first, causes before their effects. Empty when all is well.
  returned: success
  type: list
  elements: dict
  contains:
    object:
      description: What it is about.
      type: str
      sample: Machine clusters-demo/workers-zj82r-gplh6
    what:
      description: What is wrong or waited for, as a sentence.
      type: str
    since:
      description: Since when, or null if nobody says.
      type: str
      sample: "2026-11-02T10:05:02Z"
    turn:
      description:
        - Whose turn it is. V(user) is a person, V(operator) HyperShift with all that runs in a hosted control plane,
          V(provider) Cluster API and its provider for MAAS, V(maas) MAAS or the machine that it has in hand, and
          V(node) the machine that boots and joins.
      type: str
      sample: maas
    next_step:
      description: What to do.
      type: str
    severity:
      description:
        - V(error) does not get better without somebody's doing, V(waiting) is on its way, V(warning) does no harm now
          and should not stay so, and V(note) is something that could not be looked at.
      type: str
      sample: error
page:
  description: The same for people, as one page of text.
  returned: success
  type: str
summary:
  description: How much is said of each severity.
  returned: success
  type: dict
  sample: {"error": 1, "waiting": 2}
"""

from collections import Counter

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.dns_names import NAMES_OPTION
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.diagnosis.evidence import evidence
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.diagnosis.report import diagnose, page
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module

SPEC = Spec(
    writes=False,
    kube=True,
    options={
        "name": {"type": "str", "required": True},
        "namespace": {"type": "str", "default": "clusters"},
        "leaks": {"type": "bool", "default": True},
        "noted": {"type": "raw"},
        **NAMES_OPTION,
    },
)


def converge(task: Task) -> Result:
    """Look at everything once, and tell what is wrong."""
    params = task.params
    found = evidence(task, params["namespace"], params["name"], leaks=params["leaks"], noted=params["noted"])
    told = diagnose(found)
    return Result(
        changed=False,
        values={
            "diagnosis": [one.to_dict() for one in told],
            "page": page(found, told),
            "summary": dict(Counter(one.severity for one in told)),
        },
    )


def main() -> None:
    run_as_module(SPEC, converge, "hosted_cluster_diagnosis_info")


if __name__ == "__main__":
    main()
