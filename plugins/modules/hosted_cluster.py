#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosted clusters of OpenShift on machines of MAAS."""

from __future__ import annotations

DOCUMENTATION = r"""
module: hosted_cluster
short_description: Create, change and remove hosted clusters
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Brings a HostedCluster of HyperShift to what the task says, with the Secrets that it needs. Its nodes are made with
    M(metalshift.maas.node_pool).
  - What the task does not mention stays as it is. Null in O(spec_overrides) takes a field away.
  - What cannot be changed is compared first. A task that would change it, or take it away, fails with the name of the
    field and both values, before anything is written. So does one that asks for what would only fail later, such as
    networks that overlap.
  - Fields are written by server-side apply under the name C(metalshift.maas), and not taken from somebody else. A
    conflict names who keeps the field, and O(take_over) takes it.
  - While a task waits, machines of the cluster get the annotations C(metalshift_cluster) and C(metalshift_node_pool) in
    MAAS as soon as they are held, until they are released. M(metalshift.maas.machine) and
    M(metalshift.maas.machine_set) leave such machines to the cluster. Machines that come when no task waits have no
    such annotations until the next task that does.
extends_documentation_fragment:
  - metalshift.maas.attributes
  - metalshift.maas.attributes.actiongroup_k8s
  - metalshift.maas.wait
  - metalshift.maas.kubernetes
  - metalshift.maas.maas
  - metalshift.maas.plan
options:
  name:
    description: The name of the hosted cluster.
    type: str
    required: true
  namespace:
    description: The namespace of the HostedCluster. It is made if it does not exist.
    type: str
    default: clusters
  state:
    description:
      - V(present) makes sure that the cluster is there, with what the task says.
      - V(absent) takes it away, its node pools first, and gives its machines back to MAAS. The Secrets that were made
        for it go last, but for the credentials of MAAS.
      - Of the control plane's namespace and of what is in it, V(absent) takes away what says that it is this cluster's.
        Two clusters such as C(clusters/prod-x) and C(clusters-prod/x) have one such namespace. What is the other's, or
        may be, is named and left alone.
    type: str
    choices: [present, absent]
    default: present
  platform:
    description:
      - V(maas) takes nodes from MAAS. It needs a build of HyperShift that has this platform.
      - V(none) makes a control plane only. Nobody makes nodes for it.
      - It cannot be changed. If not set, V(maas) for a new cluster.
    type: str
    choices: [maas, none]
  release:
    description: The release image, such as V(quay.io/openshift-release-dev/ocp-release:4.20.8-x86_64).
    type: str
  channel:
    description: The update channel, such as V(stable-4.20).
    type: str
  base_domain:
    description: The domain under which the cluster is, such as V(example.com). It cannot be changed.
    type: str
  base_domain_prefix:
    description: What stands before O(base_domain). If not set, the name of the cluster. It cannot be changed.
    type: str
  api_dns_name:
    description:
      - A name under which the API is reached as well. A second kubeconfig is published for it.
      - It must lead to the same address. This module makes no DNS record; M(metalshift.maas.dns_record) does.
    type: str
  cluster_network:
    description: The networks of pods, as CIDRs. If not set, V(10.132.0.0/14). They cannot be changed.
    type: list
    elements: str
  service_network:
    description: The networks of services, as CIDRs. If not set, V(172.31.0.0/16). They cannot be changed.
    type: list
    elements: str
  machine_network:
    description: The networks of the machines, as CIDRs. They cannot be changed.
    type: list
    elements: str
  network_type:
    description: The network plugin. If not set, V(OVNKubernetes).
    type: str
    choices: [OVNKubernetes, OpenShiftSDN, Calico, Other]
  services_address:
    description:
      - The address, or the name, at which machines reach the node ports of the management cluster.
      - All services are published there, unless O(services) says otherwise.
    type: str
  services:
    description:
      - How single services are published. It cannot be changed in a cluster that exists.
    type: list
    elements: dict
    suboptions:
      service:
        description: The service.
        type: str
        required: true
        choices: [APIServer, Ignition, Konnectivity, OAuthServer, OIDC]
      type:
        description:
          - How it is published. V(Ignition) and V(OAuthServer) cannot be published by V(LoadBalancer).
          - V(Route) needs a management cluster that has Routes.
        type: str
        choices: [NodePort, LoadBalancer, Route, None, S3]
        default: NodePort
      address:
        description: The address of a V(NodePort). If not set, O(services_address).
        type: str
      port:
        description: The number of the V(NodePort). If not set, Kubernetes chooses one.
        type: int
      hostname:
        description: The name of a V(Route) or V(LoadBalancer).
        type: str
  control_plane_availability:
    description:
      - Whether the control plane survives the loss of a node of the management cluster. If not set,
        V(HighlyAvailable). It cannot be changed.
    type: str
    choices: [HighlyAvailable, SingleReplica]
  infrastructure_availability:
    description: The same for what runs on the hosted cluster's own nodes. If not set, V(SingleReplica).
    type: str
    choices: [HighlyAvailable, SingleReplica]
  etcd_storage_class:
    description: The storage class of etcd's volumes. If not set, the default one. It cannot be changed.
    type: str
  etcd_storage_size:
    description: The size of each of etcd's volumes, such as V(16Gi). If not set, V(8Gi). It cannot be changed.
    type: str
  etcd_encryption:
    description:
      - Whether etcd holds Secrets encrypted. If not set, a new cluster is encrypted. It cannot be changed.
      - The key is made once, in the Secret C(NAME-etcd-encryption-key), and never written again. Keep a copy of it, for
        a backup of etcd cannot be read without it.
    type: bool
  etcd_encryption_secret:
    description:
      - A Secret of the same namespace with the encryption key under C(key), in place of one that is made.
      - It cannot be given to a cluster that is there and not encrypted.
    type: str
  fips:
    description: Whether nodes run in FIPS mode. It cannot be changed.
    type: bool
  infra_id:
    description: The name of the cluster's infrastructure. If not set, HyperShift makes one. It cannot be changed.
    type: str
  node_selector:
    description: Labels of the nodes of the management cluster on which the control plane runs.
    type: dict
  image_content_sources:
    description:
      - Mirrors of image registries.
      - Builds of HyperShift 4.19 and 4.20 with platform V(maas) then make no nodes, and the task warns.
    type: list
    elements: dict
    suboptions:
      source:
        description: The registry or repository that is mirrored.
        type: str
        required: true
      mirrors:
        description: Where it is mirrored to.
        type: list
        elements: str
        required: true
  pull_secret:
    description: The logins for image registries, as the JSON of a login file.
    type: json
  pull_secret_name:
    description:
      - A Secret of the same namespace that has them under C(.dockerconfigjson). It excludes O(pull_secret).
    type: str
  ssh_key:
    description: The public SSH key that is let in on every node. A change of it replaces the nodes one by one.
    type: str
  ssh_key_name:
    description:
      - A Secret of the same namespace that has it under C(id_rsa.pub). It excludes O(ssh_key).
    type: str
  trust_bundle:
    description: Certificates of authorities that the cluster is to trust, in PEM form.
    type: str
  trust_bundle_name:
    description:
      - A ConfigMap of the same namespace that has them under C(ca-bundle.crt). It excludes O(trust_bundle).
    type: str
  dns_domain:
    description: The DNS domain of MAAS in which the machines are. If not set, HyperShift takes V(maas.local).
    type: str
  zone:
    description: The availability zone of MAAS that is noted on the cluster. That of a node pool is what counts.
    type: str
  provider_maas_endpoint:
    description:
      - The URL at which the provider, within the management cluster, reaches MAAS. If not set, O(maas_endpoint) for a
        new cluster, and what it has for one that is there.
    type: str
  provider_maas_api_key:
    description:
      - The API key of the provider. If not set, O(maas_api_key) for a new cluster. One that is there keeps its key, and
        the task warns if that is another one.
      - It must be that of an administrator of MAAS, since MAAS lets nobody else do what the provider does before each
        deployment. The task asks MAAS whose it is before it writes it, and refuses that of a plain user.
      - Give it a MAAS user of its own, an administrator, so that it can be told whose a machine is. This does not keep
        the providers of other clusters from it, which are administrators as well.
      - A changed key is also given to the provider that runs already, which HyperShift does not do.
      - Once given, it is kept when a later task does not mention it.
    type: str
  credentials_secret:
    description:
      - A Secret of the same namespace with C(MAAS_ENDPOINT) and C(MAAS_API_KEY), in place of one that is made.
    type: str
  provider_image:
    description:
      - The image of Cluster API's provider for MAAS. The one that HyperShift was built with is too old for nodes to
        get their certificates.
      - It is refused if the operator was told another one, which would win.
    type: str
  control_plane_operator_image:
    description:
      - The image of HyperShift's control-plane operator, in place of that in the release.
      - A stock release of OpenShift has one that writes platform MAAS into the hosted cluster, which OpenShift refuses.
        The build of HyperShift for MAAS has one that does not.
      - The task warns when the cluster gets platform MAAS.
    type: str
  allow_plain_maas_user:
    description:
      - Whether the key of a user who is not an administrator of MAAS is given to the provider. This is for a MAAS that
        gets the rights of its users from elsewhere (RBAC).
      - With a plain user of MAAS, the provider takes and releases machines without end, and none is ever deployed.
    type: bool
    default: false
  allow_unfit_provider:
    description:
      - Whether the cluster is made even though the provider's version is known not to let nodes join.
      - O(approve_csrs) approves their certificates in spite of it while a task waits, but nobody renews them later.
    type: bool
    default: false
  operator_namespace:
    description: The namespace of HyperShift's operator.
    type: str
    default: hypershift
  paused:
    description:
      - Whether HyperShift leaves the cluster alone. It stays as it is if not set.
    type: bool
  labels:
    description: Labels of the HostedCluster. They take the place of those that an earlier task gave.
    type: dict
  annotations:
    description: Annotations of the HostedCluster. They take the place of those that an earlier task gave.
    type: dict
  spec_overrides:
    description:
      - What else is in the C(spec) of the HostedCluster. It is merged last, as RFC 7386 says, where null takes a field
        away.
      - Fields that the management cluster does not know are refused.
    type: dict
  allow_downgrade:
    description:
      - Whether O(release) may be older than the version that the cluster has, or is on its way to. OpenShift does not
        support that.
      - The version of a release is known by its tag, or by what the cluster has noted of its image.
    type: bool
    default: false
  take_over:
    description:
      - Fields that are taken from whoever keeps them, such as V(spec.release.image), as a conflict names them.
      - A name stands for all that is in it.
      - Everything else that somebody else keeps stays theirs, and is a conflict if the task asks for another value.
    type: list
    elements: str
    default: []
  wait_for:
    description:
      - What is waited for while O(wait=true).
      - V(control_plane) is an API that answers, as far as HyperShift can tell, with a kubeconfig for it.
      - V(ignition) is this, and the address at which machines get their configuration, before node pools need it.
      - V(nodes) are all nodes that the node pools ask for, Ready. Platform V(none) has none that could be waited for.
      - V(complete) is the rollout of the release with all its operators, which needs nodes.
      - What is paused is not waited for.
    type: str
    choices: [control_plane, ignition, nodes, complete]
    default: control_plane
  approve_csrs:
    description:
      - Whether requests for certificates are approved while the task waits, those that belong to machines of this
        cluster and no others, as M(metalshift.maas.node_csr) does.
      - Nodes are waited for until each has its serving certificate as well. Without it there are no logs and no shells
        of its pods, and nobody approves it later. A node whose request is refused ends the wait with the reason.
      - It needs access to MAAS.
    type: bool
    default: true
  force:
    description: With O(state=absent), whether finalizers that nobody removes are removed, after O(stall_timeout).
    type: bool
    default: false
  stall_timeout:
    description: How many seconds a removal may stand still before the task fails, or before O(force) acts.
    type: float
    default: 300.0
  drain:
    description: With O(state=absent), whether nodes are drained. If not set, they are not, for all of them go.
    type: bool
  erase:
    description: With O(state=absent), whether the disks of the machines are erased once they are given back.
    type: bool
  remove_credentials:
    description: With O(state=absent), whether the Secret with the credentials of MAAS goes as well, at the very end.
    type: bool
    default: false
  dns_names:
    description:
      - With O(state=absent), removes the names C(api), C(api-int) and C(*.apps) of the cluster from the DNS of MAAS,
        and the domains NAME.O(base_domain) and its C(apps) when nothing else is in them. They go when the node pools
        are gone, before the cluster itself goes.
      - MAAS keeps no owner with a name. A name is removed when it points at the cluster. When it is not known where the
        cluster is, it is removed if the HostedCluster is there and no other one has the same domain. Any other name
        stays, and is named with the reason. For a HostedCluster that was removed by other means, its addresses are
        needed here.
    type: dict
    suboptions:
      api_addresses:
        description: Where C(api) and C(api-int) may point beside the addresses that the HostedCluster has in it.
        type: list
        elements: str
      apps_addresses:
        description: Where C(*.apps) may point beside the addresses of the machines.
        type: list
        elements: str
notes:
  - A Secret that the task only names must exist before.
  - A task that gives up waiting pauses the MaasMachines whose deployment MAAS refuses, since the provider would take
    and release machines without end. The next task that waits continues them. What names a machine of somebody else is
    paused as well, and stays so.
seealso:
  - module: metalshift.maas.node_pool
  - module: metalshift.maas.node_csr
  - module: metalshift.maas.hosted_cluster_info
"""

EXAMPLES = r"""
- name: A hosted cluster whose services are on the node ports of the management cluster
  metalshift.maas.hosted_cluster:
    name: demo
    release: quay.io/openshift-release-dev/ocp-release:4.20.8-x86_64
    base_domain: example.com
    services_address: 192.0.2.10
    etcd_storage_class: fast
    pull_secret: "{{ lookup('ansible.builtin.file', 'pull-secret.json') }}"
    ssh_key: "{{ lookup('ansible.builtin.file', 'id_ed25519.pub') }}"
    provider_image: registry.example.com/cluster-api-provider-maas-controller:v4.9.5-spectro

- name: The API behind a load balancer, and a name of its own
  metalshift.maas.hosted_cluster:
    name: shop
    release: quay.io/openshift-release-dev/ocp-release:4.20.8-x86_64
    base_domain: example.com
    api_dns_name: api.shop.example.com
    services_address: 192.0.2.10
    services:
      - service: APIServer
        type: LoadBalancer
    pull_secret_name: registry-logins
    provider_maas_endpoint: http://maas.example.com:5240/MAAS
    provider_maas_api_key: "{{ shop_maas_api_key }}"
    provider_image: registry.example.com/cluster-api-provider-maas-controller:v4.9.5-spectro
    spec_overrides:
      autoscaling:
        maxNodesTotal: 10

- name: Leave it alone for a while
  metalshift.maas.hosted_cluster:
    name: demo
    paused: true

- name: A control plane for nodes that are not from MAAS
  metalshift.maas.hosted_cluster:
    name: bare
    platform: none
    release: quay.io/openshift-release-dev/ocp-release:4.20.8-x86_64
    base_domain: example.com
    services_address: 192.0.2.10
    pull_secret_name: registry-logins

- name: Take the first one away, and give its machines back
  metalshift.maas.hosted_cluster:
    name: demo
    state: absent
"""

RETURN = r"""
hosted_cluster:
  description:
    - The HostedCluster as it is now, or as it would be in check mode. Empty when it is absent.
    - What is not known yet is null. What check mode foresees carries C(predicted).
  returned: success
  type: dict
  contains:
    namespace:
      description: The namespace of the HostedCluster.
      type: str
      returned: when it is present
    name:
      description: The name of the HostedCluster.
      type: str
      returned: when it is present
    available:
      description: Whether its control plane is available.
      type: bool
      returned: when it is present
    paused:
      description: Whether HyperShift was told to leave it alone.
      type: bool
      returned: when it is present
    platform:
      description: The platform, V(MAAS) or V(None).
      type: str
      returned: when it is present
    release:
      description: The release image that is asked for.
      type: str
      returned: when it is present
    version:
      description: The newest version that was rolled out completely.
      type: str
      returned: when it is present
    endpoint:
      description: Host and port of its API.
      type: str
      returned: when it is present
    ignition_endpoint:
      description: Where machines get their configuration.
      type: str
      returned: when it is present
    kubeconfig_secret:
      description: The Secret with the administrator's kubeconfig, in the same namespace.
      type: str
      returned: when it is present
    kubeadmin_password_secret:
      description: The Secret with the password of the console's administrator, in the same namespace.
      type: str
      returned: when it is present
    infra_id:
      description: The name of the cluster's infrastructure.
      type: str
      returned: when it is present
    cluster_id:
      description: The UUID of the cluster.
      type: str
      returned: when it is present
    control_plane_namespace:
      description: Where its control plane runs.
      type: str
      returned: when it is present
    labels:
      description: The labels of the HostedCluster.
      type: dict
      returned: when it is present
    annotations:
      description: The annotations of the HostedCluster.
      type: dict
      returned: when it is present
    spec:
      description: The C(spec) of the HostedCluster.
      type: dict
      returned: when it is present
    conditions:
      description:
        - The conditions, as HyperShift writes them. M(metalshift.maas.hosted_cluster_info) says what they mean.
      type: list
      elements: dict
      returned: when it is present
  sample:
    namespace: clusters
    name: demo
    available: true
    platform: MAAS
    endpoint: 192.0.2.10:31712
machines:
  description: With O(state=absent), the machines of MAAS that the cluster had, and what became of each.
  returned: success, with O(state=absent)
  type: list
  elements: dict
removed:
  description: With O(state=absent), what this run asked to be removed.
  returned: success, with O(state=absent)
  type: list
  elements: str
dns_names:
  description: With O(dns_names), the names of the cluster that MAAS had, and why one stays.
  returned: success, with O(state=absent) and O(dns_names)
  type: list
  elements: dict
  contains:
    fqdn:
      description: The whole name.
      type: str
      sample: api.demo.example.com
    value:
      description: The addresses that it had.
      type: list
      elements: str
    removed:
      description: Whether it is removed, or would be in check mode.
      type: bool
    reason:
      description: Why it stays. Null if it does not.
      type: str
forced:
  description: With O(state=absent), what O(force) did.
  returned: success, with O(state=absent)
  type: list
  elements: str
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

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.dns_names import NAMES_OPTION
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.teardown import (
    CREDENTIALS_OPTION,
    REMOVAL_OPTIONS,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.hosted_cluster import converge_cluster
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Options, Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module
from ansible_collections.metalshift.maas.plugins.module_utils._core.wait import WAIT_OPTIONS

AVAILABILITY = {"type": "str", "choices": ["HighlyAvailable", "SingleReplica"]}

NETWORK: Options = {
    "cluster_network": {"type": "list", "elements": "str"},
    "service_network": {"type": "list", "elements": "str"},
    "machine_network": {"type": "list", "elements": "str"},
    "network_type": {"type": "str", "choices": ["OVNKubernetes", "OpenShiftSDN", "Calico", "Other"]},
    "services_address": {"type": "str"},
    "services": {
        "type": "list",
        "elements": "dict",
        "options": {
            "service": {
                "type": "str",
                "required": True,
                "choices": ["APIServer", "Ignition", "Konnectivity", "OAuthServer", "OIDC"],
            },
            "type": {
                "type": "str",
                "choices": ["NodePort", "LoadBalancer", "Route", "None", "S3"],
                "default": "NodePort",
            },
            "address": {"type": "str"},
            "port": {"type": "int"},
            "hostname": {"type": "str"},
        },
    },
}

CONTENT: Options = {
    "pull_secret": {"type": "json", "no_log": True},
    "pull_secret_name": {"type": "str", "no_log": False},
    "ssh_key": {"type": "str", "no_log": False},
    "ssh_key_name": {"type": "str", "no_log": False},
    "trust_bundle": {"type": "str"},
    "trust_bundle_name": {"type": "str"},
    "etcd_encryption": {"type": "bool"},
    "etcd_encryption_secret": {"type": "str", "no_log": False},
}

FOR_MAAS: Options = {
    "dns_domain": {"type": "str"},
    "zone": {"type": "str"},
    "provider_maas_endpoint": {"type": "str"},
    "provider_maas_api_key": {"type": "str", "no_log": True},
    "credentials_secret": {"type": "str", "no_log": False},
    "provider_image": {"type": "str"},
    "control_plane_operator_image": {"type": "str"},
    "allow_plain_maas_user": {"type": "bool", "default": False},
    "allow_unfit_provider": {"type": "bool", "default": False},
    "operator_namespace": {"type": "str", "default": "hypershift"},
}

SPEC = Spec(
    kube=True,
    options={
        "name": {"type": "str", "required": True},
        "namespace": {"type": "str", "default": "clusters"},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        "platform": {"type": "str", "choices": ["maas", "none"]},
        "release": {"type": "str"},
        "channel": {"type": "str"},
        "base_domain": {"type": "str"},
        "base_domain_prefix": {"type": "str"},
        "api_dns_name": {"type": "str"},
        **NETWORK,
        "control_plane_availability": AVAILABILITY,
        "infrastructure_availability": AVAILABILITY,
        "etcd_storage_class": {"type": "str"},
        "etcd_storage_size": {"type": "str"},
        "fips": {"type": "bool"},
        "infra_id": {"type": "str"},
        "node_selector": {"type": "dict"},
        "image_content_sources": {
            "type": "list",
            "elements": "dict",
            "options": {
                "source": {"type": "str", "required": True},
                "mirrors": {"type": "list", "elements": "str", "required": True},
            },
        },
        **CONTENT,
        **FOR_MAAS,
        "paused": {"type": "bool"},
        "labels": {"type": "dict"},
        "annotations": {"type": "dict"},
        "spec_overrides": {"type": "dict"},
        "take_over": {"type": "list", "elements": "str", "default": []},
        "allow_downgrade": {"type": "bool", "default": False},
        **WAIT_OPTIONS,
        "wait_for": {
            "type": "str",
            "choices": ["control_plane", "ignition", "nodes", "complete"],
            "default": "control_plane",
        },
        "approve_csrs": {"type": "bool", "default": True},
        **REMOVAL_OPTIONS,
        **CREDENTIALS_OPTION,
        **NAMES_OPTION,
    },
    mutually_exclusive=[
        ("credentials_secret", "provider_maas_endpoint"),
        ("credentials_secret", "provider_maas_api_key"),
        ("pull_secret", "pull_secret_name"),
        ("ssh_key", "ssh_key_name"),
        ("trust_bundle", "trust_bundle_name"),
    ],
)


def converge(task: Task) -> Result:
    """Bring the hosted cluster to the wished state."""
    return converge_cluster(task)


def main() -> None:
    run_as_module(SPEC, converge, "hosted_cluster")


if __name__ == "__main__":
    main()
