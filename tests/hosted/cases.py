# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the modules that write to Kubernetes are tested with: lives of objects, and what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Args = Mapping[str, Any]

SSH_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG1ldGFsc2hpZnQubWFhcyBsYWIsIG5vdCBmb3IgdXNl lab"
PULL_SECRET = '{"auths": {"registry.example": {"auth": "c2VzYW1lOm9wZW4tc2VzYW1l"}}}'
# Keys of an administrator of MAAS that tests give to the provider, in place of the task's own.
KEYS = (
    "own:key:for-the-provider",
    "another:key:for-the-provider",
    "old:key:sesame",
    "new:key:sesame",
    "one:two:open-sesame",
    "one:two:open-sesame-too",
)
RELEASE = "registry.example/ocp/release:4.20.8"
PROVIDER = "registry.example/cluster-api-provider-maas-controller:v4.9.5-spectro"
HASTE: Args = {"wait": False}

CLUSTER: Args = {
    "name": "demo",
    "release": RELEASE,
    "base_domain": "lab.example",
    "services_address": "127.0.0.1",
    "pull_secret": PULL_SECRET,
    "ssh_key": SSH_KEY,
    "provider_image": PROVIDER,
    **HASTE,
}
BARE: Args = {
    "name": "bare",
    "platform": "none",
    "release": RELEASE,
    "base_domain": "lab.example",
    "services_address": "127.0.0.1",
    "pull_secret": PULL_SECRET,
    **HASTE,
}
POOL: Args = {"name": "w", "cluster": "demo", "image": "custom/rhcos-4.20", "replicas": 2, **HASTE}


def config_map(name: str, value: str = "1") -> dict[str, Any]:
    metadata = {"name": name, "namespace": "clusters"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"key": value}}


@dataclass(frozen=True)
class Life:
    """One object's life: made, changed, removed. `before` are tasks that make what it needs.

    `change` and `delete` are None where there is no such thing. `ground` is what else must be there, and `spoilt` what
    others do before the change; both are functions of hosted/grounds.py. `{folder}` in a value is the test's folder.
    """

    module: str
    create: Args
    change: Args | None
    delete: Args | None
    name: str = ""
    before: Sequence[tuple[str, Args]] = ()
    noun: str = ""
    ground: str = ""
    spoilt: str = ""

    def __str__(self) -> str:
        return self.name or self.module


LIVES = [
    Life(
        "hosted_cluster",
        create=CLUSTER,
        change={"name": "demo", "paused": True, "annotations": {"team": "blue"}, "channel": "stable-4.20", **HASTE},
        delete={"name": "demo", "state": "absent"},
    ),
    Life(
        "hosted_cluster",
        name="hosted_cluster with everything",
        create={
            **CLUSTER,
            "namespace": "tenants",
            "channel": "stable-4.20",
            "base_domain_prefix": "shop",
            "api_dns_name": "api.shop.lab.example",
            "cluster_network": ["10.128.0.0/14"],
            "service_network": ["172.30.0.0/16"],
            "machine_network": ["192.0.2.0/24"],
            "network_type": "OVNKubernetes",
            "services": [
                {"service": "APIServer", "type": "LoadBalancer", "hostname": "api.lab.example"},
                {"service": "Ignition", "address": "192.0.2.10", "port": 30999},
            ],
            "control_plane_availability": "SingleReplica",
            "infrastructure_availability": "HighlyAvailable",
            "etcd_storage_class": "fast",
            "etcd_storage_size": "16384Mi",
            "fips": True,
            "infra_id": "shop-1",
            "node_selector": {"role": "hosting"},
            "trust_bundle": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
            "dns_domain": "maas.lab.example",
            "zone": "az1",
            "provider_maas_api_key": "own:key:for-the-provider",
            "labels": {"tier": "gold"},
            "annotations": {"team": "blue"},
            "spec_overrides": {"autoscaling": {"maxNodesTotal": 10}},
            "paused": True,
        },
        change={
            "name": "demo",
            "namespace": "tenants",
            "paused": False,
            "labels": {"tier": "silver"},
            "provider_maas_api_key": "another:key:for-the-provider",
            "spec_overrides": {"autoscaling": None},
            **HASTE,
        },
        delete={"name": "demo", "namespace": "tenants", "state": "absent", "remove_credentials": True},
    ),
    Life(
        "hosted_cluster",
        name="hosted_cluster on platform none",
        create={**BARE, "etcd_encryption": False},
        change={"name": "bare", "release": "registry.example/ocp/release:4.20.9", **HASTE},
        delete={"name": "bare", "state": "absent"},
    ),
    Life(
        "node_pool",
        create=POOL,
        change={"name": "w", "replicas": 3, "node_drain_timeout": "90s", **HASTE},
        delete={"name": "w", "state": "absent"},
        before=[("hosted_cluster", CLUSTER)],
    ),
    Life(
        "node_pool",
        name="node_pool with everything",
        create={
            **POOL,
            "min_cpu": 8,
            "min_memory": "32GiB",
            "zone": "az1",
            "resource_pool": "openshift",
            "tags": ["worker", "nvme"],
            "release": RELEASE,
            "auto_repair": True,
            "node_startup_timeout": "90m",
            "unhealthy_timeout": 600,
            "max_surge": "0",
            "max_unavailable": "25%",
            "node_volume_detach_timeout": "1h30m",
            "node_deletion_timeout": "30s",
            "node_labels": {"rack": 7},
            "taints": [{"key": "gpu", "effect": "NoSchedule"}],
            "config": [{"name": "hugepages", "content": "kind: MachineConfig\n"}],
            "machine_type": "m1",
            "min_disk_size": 100,
            "lxd": {"enabled": False},
            "static_ip": {"ip": "192.0.2.7"},
            "allow_ignored": True,
            "labels": {"tier": "gold"},
            "paused": True,
        },
        change={
            "name": "w",
            "autoscaling": {"min": 1, "max": 4},
            "strategy": "OnDelete",
            "taints": [],
            "config": [{"name": "hugepages", "content": "kind: MachineConfig\nspec: {}\n"}],
            "paused": False,
            **HASTE,
        },
        delete={"name": "w", "state": "absent"},
        before=[("hosted_cluster", CLUSTER)],
    ),
    Life(
        "node_pool",
        name="node_pool that is upgraded in place",
        create={**POOL, "upgrade_type": "InPlace", "max_unavailable": "1", "replicas": None},
        change={"name": "w", "max_unavailable": "2", "replicas": 0, "arch": "amd64", "image": "custom/other", **HASTE},
        delete={"name": "w", "state": "absent"},
        before=[("hosted_cluster", CLUSTER)],
    ),
    Life(
        "hosted_cluster_kubeconfig",
        create={"name": "demo", "dest": "{folder}/kubeconfig"},
        change={"name": "demo", "dest": "{folder}/kubeconfig"},
        delete={"name": "demo", "dest": "{folder}/kubeconfig", "state": "absent"},
        before=[("hosted_cluster", CLUSTER)],
        noun="kubeconfig",
        ground="a_published_kubeconfig",
        spoilt="a_file_for_everybody",
    ),
    Life(
        "hosted_cluster_kubeconfig",
        name="hosted_cluster_kubeconfig beside others",
        create={"name": "demo", "dest": "{folder}/kubeconfig"},
        change={"name": "demo", "dest": "{folder}/kubeconfig", "merge": True},
        delete={"name": "demo", "dest": "{folder}/kubeconfig", "state": "absent"},
        before=[("hosted_cluster", CLUSTER)],
        noun="kubeconfig",
        ground="a_published_kubeconfig",
        spoilt="another_context",
    ),
    Life(
        "hosted_cluster_ingress",
        create={"name": "demo", "publish": "HostNetwork"},
        change={"name": "demo", "publish": "NodePort"},
        delete=None,
        before=[("hosted_cluster", CLUSTER)],
        noun="ingress_controller",
        ground="an_ingress_controller",
    ),
    Life(
        "kube_manifest",
        create={"name": "made", "namespace": "clusters", "objects": [config_map("a"), config_map("b")]},
        change={"name": "made", "namespace": "clusters", "objects": [config_map("a", "2"), config_map("c")]},
        delete={"name": "made", "namespace": "clusters", "state": "absent"},
        before=[("hosted_cluster", CLUSTER)],
        noun="objects",
    ),
    Life(
        "node_csr",
        create={"name": "demo"},
        change=None,
        delete=None,
        before=[("hosted_cluster", CLUSTER)],
        noun="certificate_requests",
        ground="a_kubelet_that_asks",
    ),
    Life(
        "cluster_api_pause",
        create={"name": "kvm1", "system_ids": ["abc123", "unknown"]},
        change={"name": "kvm1", "system_ids": ["abc123", "def456"]},
        delete={"name": "kvm1", "state": "absent"},
        noun="machines",
        ground="machines_of_cluster_api",
    ),
]
# Those that look, and write nothing.
LOOKING = {
    "hosted_cluster_audit_info",
    "hosted_cluster_diagnosis_info",
    "hosted_cluster_info",
    "hosted_cluster_preflight_info",
}


@dataclass(frozen=True)
class Wrong:
    """Arguments that cannot be carried out, and words of the sentence that says so. `before` are tasks that succeed."""

    module: str
    args: Args
    says: str
    kind: str = "invalid"
    before: Sequence[tuple[str, Args]] = ()


THERE = [("hosted_cluster", CLUSTER)]
BOTH = [*THERE, ("node_pool", POOL)]

WRONG = [
    Wrong("hosted_cluster", {"name": "demo", **HASTE}, "to create it the task lacks release (the release image)"),
    Wrong(
        "hosted_cluster",
        {**CLUSTER, "force": True, "remove_credentials": True, "erase": True},
        "force and remove_credentials and erase are for state: absent, not for state: present.",
    ),
    Wrong("hosted_cluster", {**CLUSTER, "spec_overrides": {"sevices": []}}, "does not know it", "unsupported"),
    Wrong(
        "hosted_cluster",
        {**CLUSTER, "machine_network": ["10.132.0.0/16"]},
        "machine_network 10.132.0.0/16 and cluster_network 10.132.0.0/14 overlap",
    ),
    Wrong(
        "hosted_cluster",
        {**CLUSTER, "services": [{"service": "OAuthServer", "type": "Route"}]},
        "OAuthServer is published by a Route, and the management cluster has no Routes",
    ),
    Wrong(
        "hosted_cluster",
        {**CLUSTER, "provider_image": "registry.example/provider:v4.9.3-spectro"},
        "No node could join HostedCluster clusters/demo: the provider image registry.example/provider:v4.9.3-spectro",
        "unsupported",
    ),
    Wrong("hosted_cluster", {**CLUSTER, "provider_image": None}, "v0.6.1-spectro-4.7.0", "unsupported"),
    Wrong("hosted_cluster", {**CLUSTER, "provider_image": "x/provider:v0.9.0"}, "stand-alone line", "unsupported"),
    Wrong(
        "hosted_cluster",
        {**{key: value for key, value in CLUSTER.items() if key != "pull_secret"}, "pull_secret_name": "logins"},
        "needs Secret clusters/logins, which does not exist",
        "not_found",
    ),
    Wrong(
        "hosted_cluster",
        {**CLUSTER, "etcd_encryption_secret": "key"},
        "needs Secret clusters/key, which does not exist. It must hold key.",
        "not_found",
    ),
    Wrong("hosted_cluster", {**CLUSTER, "pull_secret_name": "x"}, "parameters are mutually exclusive: pull_secret|"),
    Wrong("hosted_cluster", {**CLUSTER, "ssh_key_name": "x"}, "parameters are mutually exclusive: ssh_key|"),
    Wrong("hosted_cluster", {**CLUSTER, "credentials_secret": "maas"}, "It must hold MAAS_ENDPOINT and", "not_found"),
    Wrong("hosted_cluster", {**CLUSTER, "release": "-x"}, "Image must start with a word character", "rejected"),
    Wrong("hosted_cluster", {**CLUSTER, "base_domain": "no domain"}, "must be a valid domain name", "rejected"),
    Wrong(
        "hosted_cluster",
        {"name": "demo", "base_domain": "other.example", "platform": "none", **HASTE},
        "spec.platform.type cannot be changed: it is MAAS, and None is asked for; spec.dns.baseDomain cannot be",
        "conflict",
        THERE,
    ),
    Wrong(
        "hosted_cluster",
        {"name": "demo", "services_address": "127.0.0.2", **HASTE},
        "spec.services cannot be changed",
        "conflict",
        THERE,
    ),
    Wrong(
        "hosted_cluster",
        {"name": "demo", "etcd_encryption": False, **HASTE},
        "what etcd holds cannot be encrypted otherwise than it is",
        "conflict",
        THERE,
    ),
    Wrong(
        "hosted_cluster",
        {"name": "demo", "spec_overrides": {"secretEncryption": None, "services": None}, **HASTE},
        "spec.secretEncryption.type cannot be changed: it is aescbc, and not set is asked for",
        "conflict",
        THERE,
    ),
    Wrong(
        "hosted_cluster",
        {"name": "bare", "etcd_encryption_secret": "key", **HASTE},
        "it is not encrypted, and etcd_encryption_secret: key is asked for",
        "conflict",
        [("hosted_cluster", {**BARE, "etcd_encryption": False})],
    ),
    Wrong(
        "hosted_cluster",
        {"name": "bare", "wait_for": "nodes"},
        "wait_for: nodes is not possible on platform none",
        before=[("hosted_cluster", BARE)],
    ),
    Wrong("cluster_api_pause", {"name": "kvm1"}, "state is present but all of the following are missing: system_ids"),
    Wrong("cluster_api_pause", {"name": "", "system_ids": ["abc123"]}, "name must not be empty."),
    Wrong("node_pool", {"name": "w", **HASTE}, "to create it the task lacks cluster"),
    Wrong("node_pool", POOL, "needs HostedCluster clusters/demo, which does not exist", "not_found"),
    Wrong("node_pool", {**POOL, "force": True}, "force is for state: absent", before=THERE),
    Wrong("node_pool", {**POOL, "image": None}, "image is missing", before=THERE),
    Wrong("node_pool", {**POOL, "machine_type": "m1"}, "machine_type would be accepted and ignored", before=THERE),
    Wrong("node_pool", {**POOL, "platform": "none", "image": None}, "its cluster is of MAAS", before=THERE),
    Wrong("node_pool", {**POOL, "node_drain_timeout": "soon"}, "node_drain_timeout cannot be 'soon'", before=THERE),
    Wrong("node_pool", {**POOL, "min_memory": "much"}, "min_memory cannot be 'much'", before=THERE),
    Wrong("node_pool", {**POOL, "config": [{"name": "x"}]}, "needs ConfigMap clusters/x", "not_found", THERE),
    Wrong(
        "node_pool",
        {**POOL, "taints": [{"key": "-", "effect": "NoSchedule"}]},
        "key must be a qualified name",
        "rejected",
        THERE,
    ),
    Wrong(
        "node_pool",
        {"name": "w", "cluster": "other", "upgrade_type": "InPlace", **HASTE},
        "spec.clusterName cannot be changed: it is demo, and other is asked for; spec.management.upgradeType cannot",
        "conflict",
        BOTH,
    ),
]
