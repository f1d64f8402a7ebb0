# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Home-made release images: the few files and labels of a release that HyperShift reads, without anything to run."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import tarfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
CONFIG = "application/vnd.docker.container.image.v1+json"
LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"

RELEASES = "ocp/release"
OPERATOR = "lab/hypershift-operator"
REFERENCES = "release-manifests/image-references"
BOOT_IMAGES = "release-manifests/0000_50_installer_coreos-bootimages.yaml"

# The components of a release: the hypershift operator itself looks at hypershift, cluster-capi-controllers and
# haproxy-router, the control-plane operator at the others.
COMPONENTS = (
    "apiserver-network-proxy",
    "cli",
    "cluster-authentication-operator",
    "cluster-autoscaler",
    "cluster-capi-controllers",
    "cluster-config-api",
    "cluster-csi-snapshot-controller-operator",
    "cluster-dns-operator",
    "cluster-etcd-operator",
    "cluster-image-registry-operator",
    "cluster-ingress-operator",
    "cluster-machine-approver",
    "cluster-network-operator",
    "cluster-node-tuning-operator",
    "cluster-policy-controller",
    "cluster-storage-operator",
    "cluster-version-operator",
    "cloud-network-config-controller",
    "container-networking-plugins",
    "coredns",
    "csi-external-attacher",
    "csi-external-provisioner",
    "csi-external-resizer",
    "csi-external-snapshotter",
    "csi-livenessprobe",
    "csi-snapshot-controller",
    "deployer",
    "docker-builder",
    "docker-registry",
    "egress-router-cni",
    "etcd",
    "haproxy-router",
    "hyperkube",
    "hypershift",
    "kube-proxy",
    "kube-rbac-proxy",
    "machine-config-operator",
    "metallb-frr",
    "multus-admission-controller",
    "multus-cni",
    "multus-networkpolicy",
    "multus-route-override-cni",
    "multus-whereabouts-ipam-cni",
    "network-interface-bond-cni",
    "network-metrics-daemon",
    "networking-console-plugin",
    "network-tools",
    "oauth-apiserver",
    "oauth-server",
    "openshift-apiserver",
    "openshift-controller-manager",
    "openshift-state-metrics",
    "operator-lifecycle-manager",
    "operator-registry",
    "ovn-kubernetes",
    "pod",
    "prom-label-proxy",
    "route-controller-manager",
    "tools",
)
# The catalogs that the control-plane operator asks for by OpenShift's version.
CATALOGS = ("certified-operator", "community-operator", "redhat-marketplace", "redhat-operator")
# What the control-plane operator's image says that it can do; only the presence of a label counts.
ABILITIES = (
    "control-plane-operator-subcommands",
    "control-plane-operator-skips-haproxy",
    "ignition-server-healthz-handler",
    "control-plane-operator-manages-ignition-server",
    "control-plane-operator-manages.cluster-machine-approver",
    "control-plane-operator-manages.cluster-autoscaler",
    "control-plane-operator-manages.decompress-decode-config",
    "control-plane-operator-creates-aws-sg",
    "control-plane-operator-applies-management-kas-network-policy-label",
    "control-plane-pki-operator-signs-csrs",
    "control-plane-operator.v2-isdefault",
    "hosted-cluster-config-operator-reports-node-count",
    "control-plane-operator-supports-kas-custom-kubeconfig",
    "restricted-psa",
)
OPERATOR_LABELS = {f"io.openshift.hypershift.{ability}": "true" for ability in ABILITIES}

Tagged = tuple[str, str]


@dataclass(frozen=True)
class Image:
    """An image of one layer, as a registry keeps it."""

    config: bytes
    layer: bytes
    manifest: bytes

    @property
    def digest(self) -> str:
        return digest(self.manifest)

    @property
    def blobs(self) -> Iterator[bytes]:
        yield self.config
        yield self.layer


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def image(tagged: Tagged, files: Mapping[str, str] | None = None, labels: Mapping[str, str] | None = None) -> Image:
    """An image with these files. Its name is a label too, so that no two images are the same one."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as archive:
        for name, text in (files or {}).items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    layer = gzip.compress(raw.getvalue(), mtime=0)
    config = _json(
        {
            "architecture": "amd64",
            "os": "linux",
            "created": "2025-01-01T00:00:00Z",
            "config": {"Labels": {**(labels or {}), "lab.image": ":".join(tagged)}},
            "rootfs": {"type": "layers", "diff_ids": [digest(raw.getvalue())]},
            "history": [],
        }
    )
    manifest = _json(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": _descriptor(CONFIG, config),
            "layers": [_descriptor(LAYER, layer)],
        }
    )
    return Image(config, layer, manifest)


def release(host: str, version: str, lacks: Collection[str] = ()) -> dict[Tagged, Image]:
    """The release image of this version on that registry, with all the images that it lists."""
    minor = _minor(version)
    unknown = sorted(set(lacks) - set(COMPONENTS))
    if unknown:
        raise ValueError(f"A release has no component {', '.join(unknown)}.")
    kubernetes = f"1.{minor + 13}.5"
    images: dict[Tagged, Image] = {}
    for name in COMPONENTS:
        tagged = (f"ocp/{name}", version)
        images[tagged] = image(tagged, labels=OPERATOR_LABELS if name == "hypershift" else None)
    # The control-plane operator of a release that knows no platform MAAS, for who names it.
    stock = ("ocp/hypershift", f"{version}-stock")
    images[stock] = image(stock, labels=OPERATOR_LABELS)
    for name in CATALOGS:
        tagged = (f"redhat/{name}-index", f"v4.{minor}")
        images[tagged] = image(tagged)
    files = {REFERENCES: _references(host, version, kubernetes, images, lacks), BOOT_IMAGES: _boot_images(version)}
    images[RELEASES, version] = image((RELEASES, version), files, {"io.openshift.release": version})
    return images


def operator(tag: str) -> Image:
    """An operator's own image, which says what the control-plane operator in it can do."""
    return image((OPERATOR, tag), labels=OPERATOR_LABELS)


def _minor(version: str) -> int:
    found = re.fullmatch(r"4\.(\d+)\.\d+(-\S+)?", version)
    if not found:
        raise ValueError(f"A release of the lab is called like 4.20.8, not {version}.")
    return int(found[1])


def _references(
    host: str, version: str, kubernetes: str, images: Mapping[Tagged, Image], lacks: Collection[str]
) -> str:
    tags = [
        {
            "name": name,
            "from": {"kind": "DockerImage", "name": f"{host}/ocp/{name}@{images[f'ocp/{name}', version].digest}"},
            "annotations": {"io.openshift.build.versions": f"kubernetes={kubernetes}"},
        }
        for name in COMPONENTS
        if name not in lacks
    ]
    return json.dumps(
        {
            "kind": "ImageStream",
            "apiVersion": "image.openshift.io/v1",
            "metadata": {"name": version},
            "spec": {"lookupPolicy": {"local": False}, "tags": tags},
        }
    )


def _boot_images(version: str) -> str:
    stream = {"stream": "lab", "architectures": {"x86_64": {"artifacts": {}, "images": {}}}}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "coreos-bootimages"},
            "data": {"stream": json.dumps(stream), "releaseVersion": version},
        }
    )


def _descriptor(media: str, data: bytes) -> dict[str, object]:
    return {"mediaType": media, "size": len(data), "digest": digest(data)}


def _json(value: object) -> bytes:
    return json.dumps(value).encode()
