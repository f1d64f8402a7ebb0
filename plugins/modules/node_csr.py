#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates for the nodes of a hosted cluster."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_csr
short_description: Approve the certificate requests of a hosted cluster's own machines
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - A machine that joins a hosted cluster asks for two certificates, one after the other. With the first it is a client
    of the cluster's API and makes its Node; with the second it serves logs and shells. This module approves exactly
    those requests that belong to machines which MAAS knows and this cluster owns.
  - A request is approved when all of it is what a kubelet sends. These are its signer, the user and the groups that
    made it, the usages of the key, the subject, and no extension beyond names.
  - The node that it is made out to must have the hostname or FQDN that MAAS has of a machine. MAAS must say that this
    machine is Deploying or Deployed and held by nobody else, and a MaasMachine of the cluster must name it.
  - For a client there must be no Node of that machine yet, and the request must have come within O(max_age) seconds
    after the Machine was made. A deployment of a machine gets one such certificate, for all machines share the identity
    with which they ask; see O(reissue). For a server the Node must be that of the machine, and MAAS must know every DNS
    name and address asked for.
  - A kubelet that gets no answer asks again every 15 minutes. Only the newest request of each node is approved or
    listed. The others are a number in RV(summary), and no reason to keep anything from anybody.
  - Everything else is listed with the reason why it was not approved. It is never approved and never denied.
  - M(metalshift.maas.hosted_cluster) and M(metalshift.maas.node_pool) do the same while they wait, until each node has
    both certificates. This module does not wait. A node asks for its second certificate only after it has got the
    first, so it takes two runs to bring up a node.
extends_documentation_fragment:
  - metalshift.maas.attributes
  - metalshift.maas.attributes.actiongroup_k8s
  - metalshift.maas.kubernetes
  - metalshift.maas.maas
  - metalshift.maas.plan
options:
  name:
    description: The name of the hosted cluster.
    type: str
    required: true
  namespace:
    description: The namespace of the hosted cluster.
    type: str
    default: clusters
  hosted_kubeconfig:
    description:
      - The kubeconfig of the hosted cluster, as a path, or as its content in a dictionary or as text. If not set, the
        one that the cluster publishes is used.
      - It helps where the address in the published one cannot be reached. Which machines are the cluster's is read from
        the management cluster in either case.
    type: raw
  max_age:
    description:
      - How many seconds after its Machine was made a machine may ask for its first certificate.
      - The default is that of OpenShift. Machines that are installed slowly, or in several attempts, may need more.
    type: float
    default: 7200.0
  reissue:
    description:
      - Nodes, by name, whose machine may have another client certificate though it has had one since it was deployed.
        Its first one may have been lost with its disk. Look that it is the machine itself that asks.
    type: list
    elements: str
requirements:
  - cryptography, which comes with ansible-core
notes:
  - Nodes renew the certificates with which they serve. Where HyperShift's own approver does not run, or does not know
    the addresses of machines, run this module regularly.
  - It needs the right to C(approve) for both signers of kubelets and to C(update)
    C(certificatesigningrequests/approval) in the hosted cluster. Where several requests of one machine wait, it also
    needs the right to C(patch) C(certificatesigningrequests). The kubeconfig that the cluster publishes has both.
seealso:
  - module: metalshift.maas.node_pool
  - module: metalshift.maas.hosted_cluster_info
"""

EXAMPLES = r"""
- name: The nodes of the cluster get their certificates
  metalshift.maas.node_csr:
    name: demo
  register: certificates

- name: What was not approved, and why
  ansible.builtin.debug:
    msg: "{{ item.name }} of {{ item.node or item.requestor }}: {{ item.message }}"
  loop: "{{ certificates.certificate_requests | rejectattr('approved') }}"
  loop_control:
    label: "{{ item.name }}"

- name: Where the address in the published kubeconfig cannot be reached
  metalshift.maas.node_csr:
    namespace: clusters
    name: demo
    hosted_kubeconfig: ~/demo.kubeconfig

- name: Machines that take half a day to be installed
  metalshift.maas.node_csr:
    name: demo
    max_age: 43200

- name: A machine that was installed anew by hand, and had lost its first certificate
  metalshift.maas.node_csr:
    name: demo
    reissue: [worker-4.maas]
"""

RETURN = r"""
certificate_requests:
  description:
    - The requests that nobody had approved or denied when the task began, the oldest first. Of a node that has asked
      several times it is the newest.
    - In check mode C(approved) says what would be approved, and C(predicted) is true there.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: The name of the request.
      type: str
    kind:
      description: V(client) or V(serving). Empty for the request of another signer.
      type: str
    signer:
      description: The signer that it is for.
      type: str
    node:
      description: The node that it is made out to, as far as that can be told.
      type: str
    machine:
      description: The cluster's Machine of that name.
      type: str
    system_id:
      description: That machine in MAAS.
      type: str
    requestor:
      description: The user who made it.
      type: str
    age:
      description: How many seconds ago it was made.
      type: int
    approved:
      description: Whether this run approved it.
      type: bool
    reason:
      description:
        - Why it was not approved, in a word. Empty for what was approved.
        - What is marked as passing may be gone at the next look.
        - >-
          V(signer) - It is for another signer than the two that sign for kubelets. Whoever runs that signer decides
          about it.
        - >-
          V(unreadable) - What it holds is no certificate request, or one that was not signed with the key that it is
          for.
        - >-
          V(requestor) - It was not made by the one who makes such a request: the bootstrap user for a client, the node
          itself for a server. A node that renews its certificate as a client is answered by the hosted cluster's own
          controller.
        - >-
          V(groups) - The requestor's groups are not exactly those of a kubelet.
        - >-
          V(usages) - It asks for more, or for other usages of the key than a kubelet needs.
        - >-
          V(subject) - It is not made out to O=system:nodes and CN=system:node: with a node's name, and nothing else.
        - >-
          V(names) - It asks for names or other extensions that such a certificate has not: none at all in that of a
          client, DNS names and IP addresses in that of a server.
        - >-
          V(unknown_machine) (passing) - No machine that MAAS has given to this cluster has that name. If that lasts,
          the node calls itself by another name than MAAS does.
        - >-
          V(ambiguous) (passing) - Several Machines of the cluster stand for the machine of that name, so that one of
          them names a machine that is not its own any more.
        - >-
          V(not_in_maas) - MAAS does not know the machine that the cluster names, or does not show it to this user.
        - >-
          V(held) - MAAS says that the machine is held by another user than the provider, under a claim, or for another
          cluster.
        - >-
          V(doubtful) (passing) - It is not certain that the machine is still this cluster's: another MaasMachine names
          it as well, its deployment has failed before, or it is in another zone now.
        - >-
          V(not_deployed) (passing) - MAAS says that the machine is neither Deploying nor Deployed.
        - >-
          V(leaving) - The cluster is giving the machine back.
        - >-
          V(issued) - This deployment of the machine has had a client certificate for another key. Kubernetes remembers
          that for an hour. When no Node has come of it by then, the next request is approved. O(reissue) approves it at
          once.
        - >-
          V(node_exists) - There is a Node of that machine already. It was made with an earlier certificate; delete the
          Node if the machine was installed anew.
        - >-
          V(age) - It was made more than O(max_age) seconds after the Machine that it belongs to. A machine that took so
          long needs a larger O(max_age).
        - >-
          V(no_node) (passing) - There is no Node of that name, and only a node serves.
        - >-
          V(node_not_linked) (passing) - Cluster API has not linked the Node to its Machine yet, which it does as soon
          as the provider for MAAS has written the Node's providerID.
        - >-
          V(other_machine) - The Node's providerID or the Machine's nodeRef names another one.
        - >-
          V(dns_name) - It asks for a DNS name that is not the machine's in MAAS.
        - >-
          V(address) - It asks for an IP address that MAAS does not know of the machine: a second network card, or a
          virtual address.
        - >-
          V(superseded) - Nobody waits for it any more: the same node has asked again since, its Node has gone, or it is
          from before the machine was given to the cluster. Such requests are counted, not listed. Kubernetes forgets
          them after a day.
        - >-
          V(flood) - The bootstrap user asks for over a hundred nodes more than there are machines, and no new node is
          let in until somebody has removed these requests. Or one node has had ten serving certificates within an hour;
          nothing is kept from other nodes then.
        - >-
          V(maas_unavailable) (passing) - MAAS could not be asked about the machine.
        - >-
          V(changed) (passing) - It was changed or removed at the same moment, by somebody else who answers requests for
          instance.
        - >-
          V(not_answered) (passing) - The hosted API did not take the approval.
      type: str
    message:
      description: The same as a sentence.
      type: str
    passing:
      description: Whether it may be approved by a later run without anybody's doing.
      type: bool
  sample:
    - name: csr-7x2kq
      kind: client
      signer: kubernetes.io/kube-apiserver-client-kubelet
      node: worker-1.maas
      machine: pool-abc12-x7k2p
      system_id: abc123
      requestor: system:serviceaccount:openshift-machine-config-operator:node-bootstrapper
      age: 12
      approved: true
      reason: ""
      message: It is that of the machine pool-abc12-x7k2p.
      passing: false
summary:
  description:
    - How many requests were C(approved), how many may be later (C(waiting)), and how many are C(refused). C(superseded)
      are those that nobody waits for any more, which are not listed.
  returned: success
  type: dict
  sample: {approved: 1, waiting: 0, refused: 0, superseded: 38}
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

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates.pure.judgement import MAX_AGE
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates.requests import converge_requests
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module

SPEC = Spec(
    kube=True,
    options={
        "name": {"type": "str", "required": True},
        "namespace": {"type": "str", "default": "clusters"},
        "hosted_kubeconfig": {"type": "raw"},
        "max_age": {"type": "float", "default": MAX_AGE},
        "reissue": {"type": "list", "elements": "str"},
    },
)


def converge(task: Task) -> Result:
    """Approve what belongs to the cluster's machines, and say why the rest does not."""
    return converge_requests(task)


def main() -> None:
    run_as_module(SPEC, converge, "node_csr")


if __name__ == "__main__":
    main()
