# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifests that work in the lab: a hosted cluster with all that belongs to it, and its node pools."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from metalshift_lab.kube.api import Object
from metalshift_lab.kube.provider.versions import chosen

Platform = Literal["MAAS", "None"]

NAMESPACE = "clusters"
BASE_DOMAIN = "lab.example"
IMAGE = "custom/rhcos-4.20"
# Overrides the image of the MAAS provider, and with it the version that the lab's stand-in behaves as
PROVIDER_IMAGE = "hypershift.openshift.io/capi-provider-maas-image"
SERVICES = ("APIServer", "OAuthServer", "OIDC", "Konnectivity", "Ignition")

_LABELS = {"hypershift.openshift.io/safe-to-delete-with-cluster": "true"}
_SSH_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG1ldGFsc2hpZnQubWFhcyBsYWIsIG5vdCBmb3IgdXNl lab"


def image_for(provider: str) -> str:
    """The image of a node pool, as this version of the provider wants it: some take all that is said for the series."""
    splits = chosen({"LAB_PROVIDER": provider}).splits_images
    return IMAGE if splits else IMAGE.partition("/")[2]


def hosted_cluster(
    name: str,
    release: str,
    platform: Platform = "MAAS",
    address: str = "127.0.0.1",
    *,
    namespace: str = NAMESPACE,
    maas_endpoint: str = "http://127.0.0.1:5240/MAAS",
    maas_api_key: str = "consumer:token:secret",
    zone: str = "",
    dns_domain: str = "",
    infra_id: str = "",
    provider_image: str = "",
    annotations: Mapping[str, str] | None = None,
) -> list[Object]:
    """Namespace, Secrets and HostedCluster, in the order in which they are to be made.

    `address` is where machines reach the services of the control plane.
    """
    noted = {**(annotations or {}), **_given({PROVIDER_IMAGE: provider_image})}
    strategy = {"type": "NodePort", "nodePort": {"address": address}}
    spec = {
        "platform": _platform(
            platform, {"identityRef": {"name": credentials(name)}, "dnsDomain": dns_domain, "zone": zone}
        ),
        "release": {"image": release},
        "dns": {"baseDomain": BASE_DOMAIN},
        "etcd": {"managementType": "Managed", "managed": {"storage": {"type": "PersistentVolume"}}},
        "networking": {"networkType": "OVNKubernetes"},
        "controllerAvailabilityPolicy": "SingleReplica",
        "pullSecret": {"name": f"{name}-pull-secret"},
        "sshKey": {"name": f"{name}-ssh-key"},
        "secretEncryption": {"type": "aescbc", "aescbc": {"activeKey": {"name": f"{name}-etcd-encryption-key"}}},
        "services": [{"service": service, "servicePublishingStrategy": strategy} for service in SERVICES],
        **_given({"infraID": infra_id}),
    }
    cluster = _object("HostedCluster", name, namespace, spec=spec)
    if noted:
        cluster["metadata"]["annotations"] = noted
    keys = {"maas_endpoint": maas_endpoint, "maas_api_key": maas_api_key} if platform == "MAAS" else {}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}},
        *secrets(name, namespace=namespace, registry=release.partition("/")[0], **keys),
        cluster,
    ]


def node_pool(
    name: str,
    cluster: str,
    release: str,
    platform: Platform = "MAAS",
    *,
    namespace: str = NAMESPACE,
    replicas: int = 2,
    image: str = IMAGE,
    min_cpu: int = 4,
    min_memory: int = 8192,
    zone: str = "",
    resource_pool: str = "",
    tags: Sequence[str] = (),
    upgrade: Literal["Replace", "InPlace"] = "Replace",
    arch: str = "amd64",
    auto_repair: bool = False,
) -> Object:
    """A NodePool; all that speaks of machines is for platform MAAS."""
    machines = {
        "identityRef": {"name": credentials(cluster)},
        "image": image,
        "minCpu": min_cpu,
        "minMemory": min_memory,
        "zone": zone,
        "resourcePool": resource_pool,
        "tags": list(tags),
    }
    spec = {
        "clusterName": cluster,
        "arch": arch,
        "replicas": replicas,
        "release": {"image": release},
        "management": {"upgradeType": upgrade, "autoRepair": auto_repair},
        "platform": _platform(platform, machines),
    }
    return _object("NodePool", name, namespace, spec=spec)


def secrets(
    name: str,
    *,
    namespace: str = NAMESPACE,
    registry: str = "registry.example",
    maas_endpoint: str = "",
    maas_api_key: str = "",
) -> list[Object]:
    """What a hosted cluster refers to; without an endpoint, no credentials of MAAS."""
    login = base64.b64encode(b"lab:lab").decode()
    # The same at each call: with another key, what etcd holds could not be read any more
    encryption = hashlib.sha256(f"{namespace}/{name}".encode()).digest()
    made = [
        _secret(f"{name}-pull-secret", namespace, {".dockerconfigjson": _pull_secret(registry, login)}),
        _secret(f"{name}-ssh-key", namespace, {"id_rsa.pub": _SSH_KEY.encode()}),
        _secret(f"{name}-etcd-encryption-key", namespace, {"key": encryption}),
    ]
    if maas_endpoint:
        keys = {"MAAS_ENDPOINT": maas_endpoint.encode(), "MAAS_API_KEY": maas_api_key.encode()}
        made.append(_secret(credentials(name), namespace, keys))
    return made


def credentials(cluster: str) -> str:
    """The name of the Secret with the address of MAAS and a key for it."""
    return f"{cluster}-maas-credentials"


def _pull_secret(registry: str, login: str) -> bytes:
    return json.dumps({"auths": {registry: {"auth": login}}}).encode()


def _secret(name: str, namespace: str, data: Mapping[str, bytes]) -> Object:
    encoded = {key: base64.b64encode(value).decode() for key, value in data.items()}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": namespace, "labels": dict(_LABELS)},
        "type": "Opaque",
        "data": encoded,
    }


def _platform(platform: Platform, maas: Mapping[str, Any]) -> Object:
    return {"type": "MAAS", "maas": _given(maas)} if platform == "MAAS" else {"type": platform}


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value not in ("", [])}


def _object(kind: str, name: str, namespace: str, *, spec: Object) -> Object:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "hypershift.openshift.io/v1beta1", "kind": kind, "metadata": metadata, "spec": spec}
