# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an API server with MAAS in HyperShift's kinds answers: a table of requests, each with its answer."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from metalshift_lab.kube import examples
from metalshift_lab.kube.api import (
    HOSTED_CLUSTERS,
    HOSTED_CONTROL_PLANES,
    MAAS_CLUSTERS,
    MAAS_MACHINES,
    NODE_POOLS,
    Object,
    Resource,
    of_name,
)

MAAS_MACHINE_TEMPLATES = Resource("infrastructure.cluster.x-k8s.io/v1beta1", "maasmachinetemplates")

RELEASE = "registry.example/ocp/release:4.20.8"
NOW = "2026-01-02T03:04:05Z"
LONG = "z" * 256
# In a wish: take the field away. In an answer: the field is not there.
ABSENT = None

Changes = Mapping[str, Any]
"""Dotted paths below an object, with what is to be there."""


@dataclass(frozen=True)
class Accepted:
    """The request passes, and this is what is kept of it."""

    kept: Changes


@dataclass(frozen=True)
class Refused:
    """The request does not pass; `says` is a part of the message."""

    says: str
    status: int = 422


@dataclass(frozen=True)
class Request:
    """A dry run: `create` or (server-side) `apply` a new object, or `change` one that is there, with a merge patch."""

    verb: Literal["create", "apply", "change"]
    resource: Resource
    body: Object
    strict: bool = False
    subresource: str = ""


@dataclass(frozen=True)
class Case:
    request: Request
    answer: Accepted | Refused
    # What the fork of HyperShift 4.20 answers, where upstream's kinds have moved on since
    fork: Accepted | Refused | None = None


@dataclass(frozen=True)
class Kind:
    """A valid object, and where such objects live."""

    resource: Resource
    example: Object

    def create(self, changes: Changes, *, strict: bool = False) -> Request:
        return Request("create", self.resource, changed(self.example, changes), strict)

    def apply(self, changes: Changes) -> Request:
        return Request("apply", self.resource, changed(self.example, changes))

    def change(self, changes: Changes, subresource: str = "") -> Request:
        return Request("change", self.resource, self._patch(changes), subresource=subresource)

    def report(self, changes: Changes) -> Request:
        return self.change(changes, "status")

    def _patch(self, changes: Changes) -> Object:
        patch: Object = {}
        for path, value in changes.items():
            holder, field = _place(patch, path)
            holder[field] = value
        return {"metadata": {"name": of_name(self.example)}, **patch}


def changed(body: Object, changes: Changes) -> Object:
    made = copy.deepcopy(body)
    for path, value in changes.items():
        holder, field = _place(made, path)
        holder[field] = value
        if value is ABSENT:
            del holder[field]
    return made


def found(body: Any, path: str) -> Any:
    """What is at the path, or ABSENT."""
    for step in path.split("."):
        if isinstance(body, list):
            body = body[int(step)] if int(step) < len(body) else ABSENT
        else:
            body = body.get(step, ABSENT) if isinstance(body, dict) else ABSENT
    return body


def _place(body: Any, path: str) -> tuple[Any, Any]:
    """Where the path ends: a dict or list, and the place in it."""
    *above, last = path.split(".")
    for step in above:
        body = body[int(step)] if isinstance(body, list) else body.setdefault(step, {})
    return body, int(last) if isinstance(body, list) else last


def _infrastructure(kind: str, spec: Object) -> Object:
    metadata = {"name": "demo", "namespace": examples.NAMESPACE}
    return {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": kind, "metadata": metadata, "spec": spec}


def _control_plane(cluster: Object) -> Object:
    """A HostedControlPlane with what the operator would copy from this HostedCluster."""
    same = ("dns", "platform", "pullSecret", "services", "sshKey", "infraID")
    own = {"releaseImage": RELEASE, "issuerURL": "https://kubernetes.default.svc", "etcd": _NO_SIZE}
    made = copy.deepcopy(cluster)
    made["kind"] = "HostedControlPlane"
    made["spec"] = {**{field: made["spec"][field] for field in same}, **own}
    return made


_EXAMPLE = examples.hosted_cluster("demo", RELEASE, infra_id="demo-abcde", dns_domain="maas.lab", zone="az1")[-1]
_ID = "11111111-2222-4333-8444-555555555555"
_CLUSTER = changed(
    _EXAMPLE, {"spec.etcd": ABSENT, "spec.networking": ABSENT, "spec.clusterID": _ID, "spec.fips": False}
)
_NO_SIZE = {"managementType": "Managed", "managed": {"storage": {"type": "PersistentVolume"}}}
_MACHINE = {"image": "custom/rhcos", "minCPU": 4, "minMemory": 8192}

CLUSTER = Kind(HOSTED_CLUSTERS, _CLUSTER)
_BARE = {
    "metadata.name": "bare",
    "spec.etcd": _NO_SIZE,
    "spec.infraID": ABSENT,
    "spec.clusterID": ABSENT,
    "spec.fips": ABSENT,
}
BARE = Kind(HOSTED_CLUSTERS, changed(_CLUSTER, _BARE))
CONTROL_PLANE = Kind(HOSTED_CONTROL_PLANES, _control_plane(_CLUSTER))
POOL = Kind(NODE_POOLS, examples.node_pool("demo", "demo", RELEASE))
MAAS_CLUSTER = Kind(MAAS_CLUSTERS, _infrastructure("MaasCluster", {"dnsDomain": "maas.lab"}))
MACHINE = Kind(MAAS_MACHINES, _infrastructure("MaasMachine", _MACHINE))
TEMPLATE = Kind(
    MAAS_MACHINE_TEMPLATES, _infrastructure("MaasMachineTemplate", {"template": {"spec": copy.deepcopy(_MACHINE)}})
)
KINDS = (CLUSTER, BARE, CONTROL_PLANE, POOL, MAAS_CLUSTER, MACHINE, TEMPLATE)

_NO_BLOCK = {"spec.platform": {"type": "MAAS"}}
_NONE = {"spec.platform": {"type": "None"}}
_CONDITION = {"type": "MachineDeployed", "status": "False", "lastTransitionTime": NOW}
_NODE_PORT = {"type": "NodePort", "nodePort": {"address": "127.0.0.1"}}
_PLATFORMS = '"AWS", "Azure", "IBMCloud", "KubeVirt", "Agent", "PowerVS", "None", "MAAS"'

CASES: dict[str, Case] = {
    # -- HostedCluster ----------------------------------------------------------------------------------------------
    "cluster: as in the examples, with all defaults": Case(
        CLUSTER.create({}),
        Accepted(
            {
                "spec.platform.maas": {
                    "identityRef": {"name": "demo-maas-credentials"},
                    "dnsDomain": "maas.lab",
                    "zone": "az1",
                },
                "spec.networking.clusterNetwork": [{"cidr": "10.132.0.0/14"}],
                "spec.networking.serviceNetwork": [{"cidr": "172.31.0.0/16"}],
                "spec.networking.networkType": "OVNKubernetes",
                "spec.networking.machineNetwork": ABSENT,
                "spec.etcd.managed.storage": {"type": "PersistentVolume", "persistentVolume": {"size": "8Gi"}},
                "spec.infrastructureAvailabilityPolicy": "SingleReplica",
                "spec.issuerURL": "https://kubernetes.default.svc",
                "spec.olmCatalogPlacement": "management",
            }
        ),
    ),
    "cluster: highly available by default": Case(
        CLUSTER.create({"spec.controllerAvailabilityPolicy": ABSENT}),
        Accepted({"spec.controllerAvailabilityPolicy": "HighlyAvailable"}),
    ),
    "cluster: platform None": Case(CLUSTER.create(_NONE), Accepted({"spec.platform": {"type": "None"}})),
    "cluster: type MAAS without its block": Case(
        CLUSTER.create(_NO_BLOCK), Accepted({"spec.platform": {"type": "MAAS"}})
    ),
    "cluster: block of MAAS beside type None": Case(
        CLUSTER.create({"spec.platform.type": "None"}), Accepted({"spec.platform.maas.zone": "az1"})
    ),
    "cluster: no type": Case(
        CLUSTER.create({"spec.platform.type": ABSENT}), Refused("spec.platform.type: Required value")
    ),
    "cluster: unknown type": Case(
        CLUSTER.create({"spec.platform.type": "Metal"}),
        Refused(f'spec.platform.type: Unsupported value: "Metal": supported values: {_PLATFORMS}'),
    ),
    "cluster: type in small letters": Case(
        CLUSTER.create({"spec.platform.type": "maas"}),
        Refused(f'spec.platform.type: Unsupported value: "maas": supported values: {_PLATFORMS}'),
    ),
    "cluster: no identityRef": Case(
        CLUSTER.create({"spec.platform.maas.identityRef": ABSENT}),
        Refused("spec.platform.maas.identityRef: Required value"),
    ),
    "cluster: no identityRef.name": Case(
        CLUSTER.create({"spec.platform.maas.identityRef": {}}),
        Refused("spec.platform.maas.identityRef.name: Required value"),
    ),
    "cluster: empty identityRef.name": Case(
        CLUSTER.create({"spec.platform.maas.identityRef.name": ""}),
        Accepted({"spec.platform.maas.identityRef.name": ""}),
    ),
    "cluster: identityRef as text": Case(
        CLUSTER.create({"spec.platform.maas.identityRef": "secret"}),
        Refused("spec.platform.maas.identityRef in body must be of type object"),
    ),
    "cluster: namespace of the Secret is dropped": Case(
        CLUSTER.create({"spec.platform.maas.identityRef.namespace": "other"}),
        Accepted({"spec.platform.maas.identityRef": {"name": "demo-maas-credentials"}}),
    ),
    "cluster: unknown fields are dropped": Case(
        CLUSTER.create({"spec.platform.maas.endpoint": "http://x", "spec.platform.maas.maasConfig": {"zone": "x"}}),
        Accepted({"spec.platform.maas.endpoint": ABSENT, "spec.platform.maas.maasConfig": ABSENT}),
    ),
    "cluster: unknown field, strictly": Case(
        CLUSTER.create({"spec.platform.maas.endpoint": "http://x"}, strict=True),
        Refused('strict decoding error: unknown field "spec.platform.maas.endpoint"', status=400),
    ),
    "cluster: unknown field, applied": Case(
        CLUSTER.apply({"spec.platform.maas.endpoint": "http://x"}),
        Refused(".spec.platform.maas.endpoint: field not declared in schema", status=500),
    ),
    "cluster: no identityRef, applied": Case(
        CLUSTER.apply({"spec.platform.maas.identityRef": ABSENT}),
        Refused("spec.platform.maas.identityRef: Required value"),
    ),
    "cluster: dnsDomain of 255 characters": Case(
        CLUSTER.create({"spec.platform.maas.dnsDomain": LONG[1:]}), Accepted({"spec.platform.maas.dnsDomain": LONG[1:]})
    ),
    "cluster: dnsDomain of 256 characters": Case(
        CLUSTER.create({"spec.platform.maas.dnsDomain": LONG}),
        Refused("spec.platform.maas.dnsDomain: Too long: may not be more than 255 bytes"),
    ),
    "cluster: empty dnsDomain": Case(
        CLUSTER.create({"spec.platform.maas.dnsDomain": ""}), Accepted({"spec.platform.maas.dnsDomain": ""})
    ),
    "cluster: zone of 256 characters": Case(
        CLUSTER.create({"spec.platform.maas.zone": LONG}),
        Refused("spec.platform.maas.zone: Too long: may not be more than 255 bytes"),
    ),
    "cluster: zone as a number": Case(
        CLUSTER.create({"spec.platform.maas.zone": 1}),
        Refused("spec.platform.maas.zone in body must be of type string"),
    ),
    "cluster: no release": Case(CLUSTER.create({"spec.release": ABSENT}), Refused("spec.release: Required value")),
    "cluster: no pull secret": Case(
        CLUSTER.create({"spec.pullSecret": ABSENT}), Refused("spec.pullSecret: Required value")
    ),
    "cluster: image with a space": Case(
        CLUSTER.create({"spec.release.image": "a b"}), Refused("Image must start with a word character")
    ),
    "cluster: three services": Case(
        CLUSTER.create({"spec.services": _CLUSTER["spec"]["services"][:3]}),
        Refused("spec.services in body should have at least 4 items or 3 for IBMCloud"),
    ),
    "cluster: NodePort without its block": Case(
        CLUSTER.create({"spec.services.0.servicePublishingStrategy": {"type": "NodePort"}}),
        Refused("nodePort is required when type is NodePort, and forbidden otherwise"),
    ),
    "cluster: Route with a block of NodePort": Case(
        CLUSTER.create({"spec.services.1.servicePublishingStrategy": {**_NODE_PORT, "type": "Route"}}),
        Refused("nodePort is required when type is NodePort, and forbidden otherwise"),
    ),
    "cluster: NodePort at no address": Case(
        CLUSTER.create({"spec.services.0.servicePublishingStrategy.nodePort.address": "a b"}),
        Refused("address must be a valid hostname, IPv4, or IPv6 address"),
    ),
    "cluster: unknown service": Case(
        CLUSTER.create({"spec.services.0.service": "Web"}), Refused('Unsupported value: "Web"')
    ),
    "cluster: network that is none": Case(
        CLUSTER.create({"spec.networking": {"clusterNetwork": [{"cidr": "10.0.0.0"}]}}),
        Refused("cidr must be a valid IPv4 or IPv6 CIDR notation"),
    ),
    "cluster: network that only looks like one": Case(
        CLUSTER.create({"spec.networking": {"clusterNetwork": [{"cidr": "10.0.0.0/99"}]}}),
        Accepted({"spec.networking.clusterNetwork.0.cidr": "10.0.0.0/99"}),
    ),
    "cluster: equal networks": Case(
        CLUSTER.create(
            {
                "spec.networking": {
                    "clusterNetwork": [{"cidr": "10.0.0.0/8"}],
                    "serviceNetwork": [{"cidr": "10.0.0.0/8"}],
                }
            }
        ),
        Refused("CIDR ranges in machineNetwork, clusterNetwork, and serviceNetwork must be unique and non-overlapping"),
    ),
    "cluster: base domain that is none": Case(
        CLUSTER.create({"spec.dns.baseDomain": "under_score"}), Refused("baseDomain must be a valid domain name")
    ),
    "cluster: infraID with capitals": Case(CLUSTER.create({"spec.infraID": "Demo"}), Refused("spec.infraID")),
    "cluster: pausedUntil in words": Case(
        CLUSTER.create({"spec.pausedUntil": "tomorrow"}),
        Refused("PausedUntil must be a date in RFC3339 format or 'True', 'true', 'False' or 'false'"),
    ),
    "cluster: OVN settings for another network": Case(
        CLUSTER.create(
            {
                "spec.networking": {"networkType": "Calico"},
                "spec.operatorConfiguration": {
                    "clusterNetworkOperator": {"ovnKubernetesConfig": {"ipv4": {"internalJoinSubnet": "100.99.0.0/16"}}}
                },
            }
        ),
        Refused("ovnKubernetesConfig is forbidden when networkType is not OVNKubernetes"),
    ),
    "cluster change: type": Case(CLUSTER.change({"spec.platform.type": "None"}), Refused("Type is immutable")),
    "cluster change: infraID": Case(CLUSTER.change({"spec.infraID": "other"}), Refused("infraID is immutable")),
    "cluster change: clusterID": Case(
        CLUSTER.change({"spec.clusterID": _ID.replace("1", "6")}), Refused("clusterID is immutable")
    ),
    "cluster change: infraID taken away": Case(
        CLUSTER.change({"spec.infraID": ABSENT}), Accepted({"spec.infraID": ABSENT})
    ),
    "cluster change: services": Case(
        CLUSTER.change({"spec.services": _CLUSTER["spec"]["services"][:4]}),
        Refused("Services is immutable. Changes might result in unpredictable and disruptive behavior."),
    ),
    "cluster change: network": Case(
        CLUSTER.change({"spec.networking.clusterNetwork": [{"cidr": "10.0.0.0/14"}]}),
        Refused("clusterNetwork is immutable and cannot be modified once set."),
    ),
    "cluster change: network of services": Case(
        CLUSTER.change({"spec.networking.serviceNetwork": [{"cidr": "10.96.0.0/16"}]}),
        Refused("serviceNetwork is immutable and cannot be modified once set."),
    ),
    "cluster change: network of machines, which was not given": Case(
        CLUSTER.change({"spec.networking.machineNetwork": [{"cidr": "192.0.2.0/24"}]}),
        Accepted({"spec.networking.machineNetwork": [{"cidr": "192.0.2.0/24"}]}),
    ),
    "cluster change: kind of network": Case(
        CLUSTER.change({"spec.networking.networkType": "Calico"}), Accepted({"spec.networking.networkType": "Calico"})
    ),
    "cluster change: fips": Case(CLUSTER.change({"spec.fips": True}), Refused("fips is immutable")),
    "cluster change: fips, which was not given": Case(BARE.change({"spec.fips": True}), Accepted({"spec.fips": True})),
    "cluster change: infraID and clusterID, which were not given": Case(
        BARE.change({"spec.infraID": "bare-abcde", "spec.clusterID": _ID}),
        Accepted({"spec.infraID": "bare-abcde", "spec.clusterID": _ID}),
    ),
    "cluster change: issuer": Case(
        CLUSTER.change({"spec.issuerURL": "https://other.example"}), Refused("issuerURL is immutable")
    ),
    "cluster change: catalogs": Case(
        CLUSTER.change({"spec.olmCatalogPlacement": "guest"}), Refused("OLMCatalogPlacement is immutable")
    ),
    "cluster change: class of etcd's storage": Case(
        CLUSTER.change({"spec.etcd.managed.storage.persistentVolume.storageClassName": "fast"}),
        Accepted({"spec.etcd.managed.storage.persistentVolume.storageClassName": "fast"}),
    ),
    "cluster change: encryption taken away": Case(
        CLUSTER.change({"spec.secretEncryption": ABSENT}), Accepted({"spec.secretEncryption": ABSENT})
    ),
    "cluster change: availability": Case(
        CLUSTER.change({"spec.controllerAvailabilityPolicy": "HighlyAvailable"}),
        Refused("ControllerAvailabilityPolicy is immutable"),
    ),
    "cluster change: size of etcd": Case(
        CLUSTER.change({"spec.etcd.managed.storage.persistentVolume.size": "16Gi"}),
        Refused("Etcd PV storage size is immutable"),
    ),
    "cluster: etcd that is given without a size has none": Case(BARE.create({}), Accepted({"spec.etcd": _NO_SIZE})),
    "cluster change: size of etcd that had none": Case(
        BARE.change({"spec.etcd.managed.storage.persistentVolume.size": "16Gi"}),
        Accepted({"spec.etcd.managed.storage.persistentVolume.size": "16Gi"}),
    ),
    "cluster change: base domain": Case(
        CLUSTER.change({"spec.dns.baseDomain": "other.example"}), Refused("baseDomain is immutable")
    ),
    "cluster change: credentials": Case(
        CLUSTER.change({"spec.platform.maas.identityRef.name": "other"}),
        Accepted({"spec.platform.maas.identityRef": {"name": "other"}}),
    ),
    "cluster change: dnsDomain": Case(
        CLUSTER.change({"spec.platform.maas.dnsDomain": "other.lab"}),
        Accepted({"spec.platform.maas.dnsDomain": "other.lab"}),
    ),
    "cluster change: zone taken away": Case(
        CLUSTER.change({"spec.platform.maas.zone": ABSENT}), Accepted({"spec.platform.maas.zone": ABSENT})
    ),
    "cluster change: block of MAAS taken away": Case(
        CLUSTER.change({"spec.platform.maas": ABSENT}), Accepted({"spec.platform": {"type": "MAAS"}})
    ),
    "cluster change: credentials taken away": Case(
        CLUSTER.change({"spec.platform.maas.identityRef": ABSENT}),
        Refused("spec.platform.maas.identityRef: Required value"),
    ),
    "cluster change: release": Case(
        CLUSTER.change({"spec.release.image": "registry.example/ocp/release:4.20.10"}),
        Accepted({"spec.release.image": "registry.example/ocp/release:4.20.10"}),
    ),
    "cluster report: condition without a status": Case(
        CLUSTER.report({"status.conditions": [{**_CONDITION, "status": "", "reason": "X", "message": ""}]}),
        Refused('status.conditions[0].status: Unsupported value: "": supported values: "True", "False", "Unknown"'),
    ),
    "cluster report: reason that is a sentence": Case(
        CLUSTER.report({"status.conditions": [{**_CONDITION, "reason": "Not one word", "message": ""}]}),
        Refused("conditions[0].reason in body should match"),
    ),
    "cluster report: configuration": Case(
        CLUSTER.report({"status.configuration": {"authentication": {}}}),
        Accepted({"status.configuration": {"authentication": {}}}),
        fork=Accepted({"status.configuration": ABSENT}),
    ),
    # -- HostedControlPlane -----------------------------------------------------------------------------------------
    "control plane: block of MAAS": Case(
        CONTROL_PLANE.create({}), Accepted({"spec.platform": _CLUSTER["spec"]["platform"]})
    ),
    "control plane: type MAAS without its block": Case(
        CONTROL_PLANE.create(_NO_BLOCK), Accepted({"spec.platform": {"type": "MAAS"}})
    ),
    "control plane: no identityRef": Case(
        CONTROL_PLANE.create({"spec.platform.maas.identityRef": ABSENT}),
        Refused("spec.platform.maas.identityRef: Required value"),
    ),
    "control plane: zone of 256 characters": Case(
        CONTROL_PLANE.create({"spec.platform.maas.zone": LONG}),
        Refused("spec.platform.maas.zone: Too long: may not be more than 255 bytes"),
    ),
    "control plane: unknown fields are dropped": Case(
        CONTROL_PLANE.create({"spec.platform.maas.image": "x"}), Accepted({"spec.platform.maas.image": ABSENT})
    ),
    "control plane: unknown type": Case(
        CONTROL_PLANE.create({"spec.platform.type": "Metal"}),
        Refused(f'spec.platform.type: Unsupported value: "Metal": supported values: {_PLATFORMS}'),
    ),
    "control plane change: type": Case(
        CONTROL_PLANE.change({"spec.platform.type": "None"}), Refused("Type is immutable")
    ),
    # -- NodePool ---------------------------------------------------------------------------------------------------
    "pool: as in the examples, with all defaults": Case(
        POOL.create({"spec.arch": ABSENT}),
        Accepted(
            {
                "spec.arch": "amd64",
                "spec.management.autoRepair": False,
                "spec.management.replace": {
                    "strategy": "RollingUpdate",
                    "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0},
                },
                "spec.platform.maas": {
                    "identityRef": {"name": "demo-maas-credentials"},
                    "image": examples.IMAGE,
                    "minCpu": 4,
                    "minMemory": 8192,
                },
            }
        ),
    ),
    "pool: every field of MAAS": Case(
        POOL.create(
            {
                "spec.platform.maas": {
                    "identityRef": {"name": "s"},
                    "image": "custom/rhcos",
                    "machineType": "big",
                    "minCpu": 1,
                    "minMemory": 1024,
                    "minDiskSize": 1,
                    "zone": "az1",
                    "failureDomain": "az2",
                    "resourcePool": "workers",
                    "tags": ["a"] * 10,
                    "lxd": {"enabled": True, "storagePool": "p", "network": "n"},
                    "staticIP": {"ip": "i", "cidr": "c", "gateway": "g", "nameservers": ["n"]},
                }
            },
            strict=True,
        ),
        Accepted({"spec.platform.maas.staticIP.nameservers": ["n"], "spec.platform.maas.tags": ["a"] * 10}),
    ),
    "pool: credentials only": Case(
        POOL.create({"spec.platform.maas": {"identityRef": {"name": "s"}}}),
        Accepted({"spec.platform.maas": {"identityRef": {"name": "s"}}}),
    ),
    "pool: type MAAS without its block": Case(POOL.create(_NO_BLOCK), Accepted({"spec.platform": {"type": "MAAS"}})),
    "pool: platform None": Case(POOL.create(_NONE), Accepted({"spec.platform": {"type": "None"}})),
    "pool: unknown type": Case(
        POOL.create({"spec.platform.type": "Metal"}),
        Refused(f'spec.platform.type: Unsupported value: "Metal": supported values: {_PLATFORMS}'),
    ),
    "pool: no identityRef": Case(
        POOL.create({"spec.platform.maas.identityRef": ABSENT}),
        Refused("spec.platform.maas.identityRef: Required value"),
    ),
    "pool: no identityRef.name": Case(
        POOL.create({"spec.platform.maas.identityRef": {}}),
        Refused("spec.platform.maas.identityRef.name: Required value"),
    ),
    "pool: minCpu 0": Case(
        POOL.create({"spec.platform.maas.minCpu": 0}),
        Refused("spec.platform.maas.minCpu in body should be greater than or equal to 1"),
    ),
    "pool: minCpu as text": Case(
        POOL.create({"spec.platform.maas.minCpu": "4"}),
        Refused("spec.platform.maas.minCpu in body must be of type integer"),
    ),
    "pool: minCpu with a fraction": Case(
        POOL.create({"spec.platform.maas.minCpu": 1.5}),
        Refused("spec.platform.maas.minCpu in body must be of type integer"),
    ),
    "pool: minCpu beyond 32 bits": Case(
        POOL.create({"spec.platform.maas.minCpu": 2**31}), Accepted({"spec.platform.maas.minCpu": 2**31})
    ),
    "pool: minMemory 1023": Case(
        POOL.create({"spec.platform.maas.minMemory": 1023}),
        Refused("spec.platform.maas.minMemory in body should be greater than or equal to 1024"),
    ),
    "pool: minMemory 1024": Case(
        POOL.create({"spec.platform.maas.minMemory": 1024}), Accepted({"spec.platform.maas.minMemory": 1024})
    ),
    "pool: minMemory with a unit": Case(
        POOL.create({"spec.platform.maas.minMemory": "8Gi"}),
        Refused("spec.platform.maas.minMemory in body must be of type integer"),
    ),
    "pool: minDiskSize 0": Case(
        POOL.create({"spec.platform.maas.minDiskSize": 0}),
        Refused("spec.platform.maas.minDiskSize in body should be greater than or equal to 1"),
    ),
    "pool: eleven tags": Case(
        POOL.create({"spec.platform.maas.tags": [str(number) for number in range(11)]}),
        Refused("spec.platform.maas.tags: Too many: 11: must have at most 10 items"),
    ),
    "pool: no tags": Case(POOL.create({"spec.platform.maas.tags": []}), Accepted({"spec.platform.maas.tags": []})),
    "pool: tags as text": Case(
        POOL.create({"spec.platform.maas.tags": "a,b"}),
        Refused("spec.platform.maas.tags in body must be of type array"),
    ),
    "pool: a number among the tags": Case(
        POOL.create({"spec.platform.maas.tags": ["a", 1]}),
        Refused("spec.platform.maas.tags[1] in body must be of type string"),
    ),
    **{
        f"pool: {field} of 256 characters": Case(
            POOL.create({f"spec.platform.maas.{field}": LONG}),
            Refused(f"spec.platform.maas.{field}: Too long: may not be more than 255 bytes"),
        )
        for field in (
            "failureDomain",
            "image",
            "lxd.network",
            "lxd.storagePool",
            "machineType",
            "resourcePool",
            "zone",
        )
    },
    "pool: empty image": Case(
        POOL.create({"spec.platform.maas.image": ""}), Accepted({"spec.platform.maas.image": ""})
    ),
    "pool: zone and failureDomain": Case(
        POOL.create({"spec.platform.maas.zone": "az1", "spec.platform.maas.failureDomain": "az2"}),
        Accepted({"spec.platform.maas.zone": "az1", "spec.platform.maas.failureDomain": "az2"}),
    ),
    "pool: lxd is off by default": Case(
        POOL.create({"spec.platform.maas.lxd": {}}), Accepted({"spec.platform.maas.lxd": {"enabled": False}})
    ),
    "pool: lxd.enabled as text": Case(
        POOL.create({"spec.platform.maas.lxd": {"enabled": "yes"}}),
        Refused("spec.platform.maas.lxd.enabled in body must be of type boolean"),
    ),
    "pool: a static address of any length": Case(
        POOL.create({"spec.platform.maas.staticIP": {"ip": LONG}}), Accepted({"spec.platform.maas.staticIP.ip": LONG})
    ),
    "pool: unknown fields are dropped": Case(
        POOL.create(
            {
                "spec.platform.maas.minCPU": 8,
                "spec.platform.maas.lxd": {"vmConfig": {}},
                "spec.platform.maas.staticIP": {"dns": "x"},
                "spec.platform.maas.dnsDomain": "x",
            }
        ),
        Accepted(
            {
                "spec.platform.maas.minCPU": ABSENT,
                "spec.platform.maas.minCpu": 4,
                "spec.platform.maas.lxd": {"enabled": False},
                "spec.platform.maas.staticIP": {},
                "spec.platform.maas.dnsDomain": ABSENT,
            }
        ),
    ),
    "pool: unknown field, strictly": Case(
        POOL.create({"spec.platform.maas.minCPU": 8}, strict=True),
        Refused('strict decoding error: unknown field "spec.platform.maas.minCPU"', status=400),
    ),
    "pool: arm64": Case(
        POOL.create({"spec.arch": "arm64"}),
        Refused("Setting Arch to arm64 is only supported for AWS, Azure, Agent and None"),
    ),
    "pool: arm64 on type MAAS without its block": Case(
        POOL.create({**_NO_BLOCK, "spec.arch": "arm64"}),
        Refused("Setting Arch to arm64 is only supported for AWS, Azure, Agent and None"),
    ),
    "pool: arm64 on platform None": Case(
        POOL.create({**_NONE, "spec.arch": "arm64"}), Accepted({"spec.arch": "arm64"})
    ),
    "pool: ppc64le": Case(POOL.create({"spec.arch": "ppc64le"}), Accepted({"spec.arch": "ppc64le"})),
    "pool: s390x": Case(
        POOL.create({"spec.arch": "s390x"}),
        Refused("s390x is only supported on KubeVirt platform"),
        fork=Refused('spec.arch: Unsupported value: "s390x"'),
    ),
    "pool: unknown arch": Case(
        POOL.create({"spec.arch": "x86_64"}),
        Refused('Unsupported value: "x86_64": supported values: "arm64", "amd64", "ppc64le", "s390x"'),
        fork=Refused('Unsupported value: "x86_64": supported values: "arm64", "amd64", "ppc64le"'),
    ),
    "pool: no cluster": Case(POOL.create({"spec.clusterName": ABSENT}), Refused("spec.clusterName: Required value")),
    "pool: no upgrade type": Case(
        POOL.create({"spec.management": {}}), Refused("spec.management.upgradeType: Required value")
    ),
    "pool: replicas and autoScaling": Case(
        POOL.create({"spec.autoScaling": {"min": 1, "max": 2}}),
        Refused("Both replicas or autoScaling should not be set"),
    ),
    "pool: autoScaling alone": Case(
        POOL.create({"spec.replicas": ABSENT, "spec.autoScaling": {"min": 1, "max": 2}}),
        Accepted({"spec.autoScaling": {"min": 1, "max": 2}, "spec.replicas": ABSENT}),
    ),
    "pool: more at least than at most": Case(
        POOL.create({"spec.replicas": ABSENT, "spec.autoScaling": {"min": 3, "max": 2}}),
        Refused("max must be equal or greater than min"),
    ),
    "pool: replicas -1": Case(
        POOL.create({"spec.replicas": -1}),
        Refused(".spec.replicas: Invalid value: -1: should be a non-negative integer"),
    ),
    "pool: no replicas": Case(POOL.create({"spec.replicas": ABSENT}), Accepted({"spec.replicas": ABSENT})),
    "pool: rolling update in strategy OnDelete": Case(
        POOL.create(
            {"spec.management.replace": {"strategy": "OnDelete", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}}
        ),
        Refused("The 'rollingUpdate' field can only be set when 'strategy' is 'RollingUpdate'"),
    ),
    "pool: inPlace for upgrade type Replace": Case(
        POOL.create({"spec.management.inPlace": {"maxUnavailable": 1}}),
        Refused("The 'inPlace' field can only be set when 'upgradeType' is 'InPlace'"),
    ),
    "pool change: type": Case(POOL.change({"spec.platform.type": "None"}), Refused("Type is immutable")),
    "pool change: cluster": Case(POOL.change({"spec.clusterName": "other"}), Refused("ClusterName is immutable")),
    "pool change: upgrade type": Case(
        POOL.change({"spec.management.upgradeType": "InPlace"}), Refused("UpgradeType is immutable")
    ),
    "pool change: arch": Case(POOL.change({"spec.arch": "ppc64le"}), Refused("Arch is immutable")),
    "pool change: replicas": Case(POOL.change({"spec.replicas": 3}), Accepted({"spec.replicas": 3})),
    "pool change: replicas by scale": Case(
        POOL.change({"spec.replicas": 5}, "scale"), Accepted({"kind": "Scale", "spec": {"replicas": 5}})
    ),
    "pool change: replicas taken away": Case(
        POOL.change({"spec.replicas": ABSENT}), Accepted({"spec.replicas": ABSENT})
    ),
    "pool change: from replicas to autoScaling": Case(
        POOL.change({"spec.replicas": ABSENT, "spec.autoScaling": {"min": 1, "max": 3}}),
        Accepted({"spec.replicas": ABSENT, "spec.autoScaling": {"min": 1, "max": 3}}),
    ),
    "pool change: lists are replaced as a whole": Case(
        POOL.change({"spec.platform.maas.tags": ["b"]}), Accepted({"spec.platform.maas.tags": ["b"]})
    ),
    "pool change: machines and credentials": Case(
        POOL.change({"spec.platform.maas": {"image": "other", "minCpu": 8, "identityRef": {"name": "other"}}}),
        Accepted(
            {
                "spec.platform.maas.image": "other",
                "spec.platform.maas.minCpu": 8,
                "spec.platform.maas.identityRef.name": "other",
            }
        ),
    ),
    "pool change: credentials taken away": Case(
        POOL.change({"spec.platform.maas.identityRef": ABSENT}),
        Refused("spec.platform.maas.identityRef: Required value"),
    ),
    # -- MaasCluster ------------------------------------------------------------------------------------------------
    "MaasCluster: a domain is enough": Case(MAAS_CLUSTER.create({}), Accepted({"spec": {"dnsDomain": "maas.lab"}})),
    "MaasCluster: every field": Case(
        MAAS_CLUSTER.create(
            {"spec.controlPlaneEndpoint": {"host": "h", "port": 1}, "spec.failureDomains": ["az1"]}, strict=True
        ),
        Accepted({"spec.controlPlaneEndpoint": {"host": "h", "port": 1}, "spec.failureDomains": ["az1"]}),
    ),
    "MaasCluster: no domain": Case(MAAS_CLUSTER.create({"spec": {}}), Refused("spec.dnsDomain: Required value")),
    "MaasCluster: no spec": Case(MAAS_CLUSTER.create({"spec": ABSENT}), Accepted({"spec": ABSENT})),
    "MaasCluster: empty domain": Case(
        MAAS_CLUSTER.create({"spec.dnsDomain": ""}),
        Refused("spec.dnsDomain in body should be at least 1 chars long"),
    ),
    "MaasCluster: endpoint without a port": Case(
        MAAS_CLUSTER.create({"spec.controlPlaneEndpoint": {"host": "h"}}),
        Refused("spec.controlPlaneEndpoint.port: Required value"),
    ),
    "MaasCluster: endpoint without a host": Case(
        MAAS_CLUSTER.create({"spec.controlPlaneEndpoint": {"port": 1}}),
        Refused("spec.controlPlaneEndpoint.host: Required value"),
    ),
    "MaasCluster: port as text": Case(
        MAAS_CLUSTER.create({"spec.controlPlaneEndpoint": {"host": "h", "port": "1"}}),
        Refused("spec.controlPlaneEndpoint.port in body must be of type integer"),
    ),
    "MaasCluster: hosts of LXD are dropped": Case(
        MAAS_CLUSTER.create({"spec.lxdConfig": {"enabled": True}}), Accepted({"spec": {"dnsDomain": "maas.lab"}})
    ),
    "MaasCluster change: domain": Case(
        MAAS_CLUSTER.change({"spec.dnsDomain": "other"}), Accepted({"spec.dnsDomain": "other"})
    ),
    "MaasCluster report: not ready by default": Case(
        MAAS_CLUSTER.report({"status.network": {"dnsName": "n"}}),
        Accepted({"status": {"ready": False, "network": {"dnsName": "n"}}}),
    ),
    "MaasCluster report: zones by name": Case(
        MAAS_CLUSTER.report({"status": {"failureDomains": {"az1": {"controlPlane": True, "attributes": {"a": "b"}}}}}),
        Accepted({"status.failureDomains": {"az1": {"controlPlane": True, "attributes": {"a": "b"}}}}),
    ),
    "MaasCluster report: zones as a list": Case(
        MAAS_CLUSTER.report({"status": {"failureDomains": [{"name": "az1"}]}}),
        Refused("failureDomains in body must be of type object"),
    ),
    "MaasCluster report: initialization is dropped": Case(
        MAAS_CLUSTER.report({"status": {"ready": True, "initialization": {"provisioned": True}}}),
        Accepted({"status": {"ready": True}}),
    ),
    "MaasCluster report: a status with the wish changes no wish": Case(
        MAAS_CLUSTER.report({"spec": {"dnsDomain": "other"}, "status": {"ready": True}}),
        Accepted({"spec.dnsDomain": "maas.lab", "status.ready": True}),
    ),
    # -- MaasMachine ------------------------------------------------------------------------------------------------
    "MaasMachine: the least that is needed": Case(MACHINE.create({}), Accepted({"spec": _MACHINE})),
    "MaasMachine: every field": Case(
        MACHINE.create(
            {
                "spec.failureDomain": "az1",
                "spec.resourcePool": "workers",
                "spec.tags": ["a"],
                "spec.systemID": "abc123",
                "spec.providerID": "maas:///az1/abc123",
            },
            strict=True,
        ),
        Accepted({"spec.tags": ["a"], "spec.providerID": "maas:///az1/abc123"}),
    ),
    "MaasMachine: nothing wished": Case(MACHINE.create({"spec": {}}), Refused("spec.minMemory: Required value")),
    "MaasMachine: empty image": Case(
        MACHINE.create({"spec.image": ""}), Refused("spec.image in body should be at least 1 chars long")
    ),
    "MaasMachine: any size": Case(
        MACHINE.create({"spec.minCPU": 0, "spec.minMemory": 0}), Accepted({"spec.minCPU": 0, "spec.minMemory": 0})
    ),
    "MaasMachine: less than no cores": Case(
        MACHINE.create({"spec.minCPU": -1}), Refused("spec.minCPU in body should be greater than or equal to 0")
    ),
    "MaasMachine: less than no memory": Case(
        MACHINE.create({"spec.minMemory": -1}), Refused("spec.minMemory in body should be greater than or equal to 0")
    ),
    "MaasMachine: names of HyperShift's fields": Case(
        MACHINE.create({"spec": {"image": "i", "minCpu": 1, "minMemoryInMB": 1}}),
        Refused("spec.minCPU: Required value"),
    ),
    "MaasMachine: fields of later providers are dropped": Case(
        MACHINE.create(
            {
                "spec.minDiskSize": 100,
                "spec.lxd": {"enabled": True},
                "spec.staticIP": {"ip": "192.0.2.1"},
                "spec.deployInMemory": True,
                "spec.parent": "abc123",
            }
        ),
        Accepted({"spec": _MACHINE}),
    ),
    "MaasMachine change: image and size": Case(
        MACHINE.change({"spec": {"image": "other", "minCPU": 8, "minMemory": 1}}), Accepted({"spec.image": "other"})
    ),
    "MaasMachine report: not ready by default": Case(
        MACHINE.report({"status": {"machineState": "Deploying"}}),
        Accepted({"status": {"ready": False, "machineState": "Deploying"}}),
    ),
    "MaasMachine report: every field": Case(
        MACHINE.report(
            {
                "status": {
                    "ready": True,
                    "machineState": "Deployed",
                    "machinePowered": True,
                    "hostname": "node01",
                    "dnsAttached": False,
                    "addresses": [
                        {"type": "InternalDNS", "address": "node01.maas"},
                        {"type": "InternalIP", "address": "192.0.2.1"},
                    ],
                    "failureReason": "R",
                    "failureMessage": "m",
                    "conditions": [{**_CONDITION, "severity": "Info", "reason": "MachineDeploying", "message": "m"}],
                }
            }
        ),
        Accepted({"status.conditions.0.severity": "Info", "status.addresses.1.address": "192.0.2.1"}),
    ),
    "MaasMachine report: addresses of another type": Case(
        MACHINE.report({"status": {"addresses": [{"type": "MAC", "address": "00:00:00:00:00:00"}]}}),
        Refused('status.addresses[0].type: Unsupported value: "MAC"'),
    ),
    "MaasMachine report: an empty address": Case(
        MACHINE.report({"status": {"addresses": [{"type": "Hostname", "address": ""}]}}),
        Refused("addresses[0].address in body should be at least 1 chars long"),
    ),
    "MaasMachine report: a condition without reason and message": Case(
        MACHINE.report({"status": {"conditions": [_CONDITION]}}), Accepted({"status.conditions": [_CONDITION]})
    ),
    "MaasMachine report: a condition with an empty message": Case(
        MACHINE.report({"status": {"conditions": [{**_CONDITION, "message": ""}]}}),
        Refused("conditions[0].message in body should be at least 1 chars long"),
    ),
    "MaasMachine report: a condition with an empty reason": Case(
        MACHINE.report({"status": {"conditions": [{**_CONDITION, "reason": ""}]}}),
        Refused("conditions[0].reason in body should be at least 1 chars long"),
    ),
    "MaasMachine report: a condition of any status": Case(
        MACHINE.report({"status": {"conditions": [{**_CONDITION, "status": "Perhaps"}]}}),
        Accepted({"status.conditions.0.status": "Perhaps"}),
    ),
    "MaasMachine report: a condition without a time": Case(
        MACHINE.report({"status": {"conditions": [{"type": "Ready", "status": "True"}]}}),
        Refused("status.conditions[0].lastTransitionTime: Required value"),
    ),
    "MaasMachine report: a condition at no time": Case(
        MACHINE.report({"status": {"conditions": [{**_CONDITION, "lastTransitionTime": "now"}]}}),
        Refused("conditions[0].lastTransitionTime in body must be of type date-time"),
    ),
    "MaasMachine report: a message that is too long": Case(
        MACHINE.report({"status": {"conditions": [{**_CONDITION, "message": "m" * 10241}]}}),
        Refused("status.conditions[0].message: Too long: may not be more than 10240 bytes"),
    ),
    "MaasMachine report: what a condition observed is dropped": Case(
        MACHINE.report({"status": {"conditions": [{**_CONDITION, "observedGeneration": 1}]}}),
        Accepted({"status.conditions": [_CONDITION]}),
    ),
    # -- MaasMachineTemplate ----------------------------------------------------------------------------------------
    "MaasMachineTemplate: the least that is needed": Case(
        TEMPLATE.create({}, strict=True), Accepted({"spec.template.spec": _MACHINE})
    ),
    "MaasMachineTemplate: no template": Case(TEMPLATE.create({"spec": {}}), Refused("spec.template: Required value")),
    "MaasMachineTemplate: no machine": Case(
        TEMPLATE.create({"spec.template": {}}), Refused("spec.template.spec: Required value")
    ),
    "MaasMachineTemplate: no image": Case(
        TEMPLATE.create({"spec.template.spec.image": ABSENT}), Refused("spec.template.spec.image: Required value")
    ),
    "MaasMachineTemplate: labels for machines are dropped": Case(
        TEMPLATE.create({"spec.template.metadata": {"labels": {"a": "b"}}}),
        Accepted({"spec.template": {"spec": _MACHINE}}),
    ),
    "MaasMachineTemplate: fields of later providers are dropped": Case(
        TEMPLATE.create({"spec.template.spec.minDiskSize": 100, "spec.template.spec.lxd": {}}),
        Accepted({"spec.template.spec": _MACHINE}),
    ),
    "MaasMachineTemplate change: image": Case(
        TEMPLATE.change({"spec.template.spec.image": "other"}), Accepted({"spec.template.spec.image": "other"})
    ),
    "MaasMachineTemplate report: a status is dropped": Case(
        TEMPLATE.report({"status": {"capacity": {"cpu": "4"}}}), Accepted({"status": ABSENT})
    ),
}
