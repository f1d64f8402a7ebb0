# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What we write for platform none beside what HyperShift's own CLI renders: every difference has its reason."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.pure import (
    cluster_manifest,
    pool_manifest,
    secrets,
)
from ansible_collections.metalshift.maas.plugins.modules import hosted_cluster, node_pool
from hosted.cases import RELEASE, SSH_KEY
from metalshift_lab.kube.keeper import plain_environment
from metalshift_lab.programs import Programs

LOGINS = '{"auths":{"registry.example":{"auth":"ZHVtbXk6ZHVtbXk="}}}'
ADDRESS = "192.0.2.10"
CLUSTER = {
    "name": "demo",
    "platform": "none",
    "release": RELEASE,
    "base_domain": "lab.example",
    "services_address": ADDRESS,
    "control_plane_availability": "SingleReplica",
    "pull_secret": LOGINS,
    "ssh_key": SSH_KEY,
}
POOL = {"name": "demo", "cluster": "demo", "replicas": 2, "upgrade_type": "InPlace"}

OURS = "says whose it is, for removal and the leak audit"
CLIS = "is how the CLI finds what it made; we go by our own labels"
SERIALISED = "is only how Go writes an object; the API server drops it"
API_DEFAULT = "is the API's own default, left to it"

# Path, where only we or only the CLI have something, or both something else → why.
REASONS: Mapping[str, str] = {
    "Namespace clusters spec": SERIALISED,
    "Namespace clusters status": SERIALISED,
    **{
        f"Secret demo-{name} metadata.{field}": reason
        for name in ("pull-secret", "ssh-key", "etcd-encryption-key")
        for field, reason in {
            "labels.hypershift.openshift.io/safe-to-delete-with-cluster": CLIS,
            "labels.app.kubernetes.io/managed-by": OURS,
            "labels.metalshift.maas/hosted-cluster": OURS,
        }.items()
    },
    "Secret demo-pull-secret type": "is said, because server-side apply compares it; the API takes Opaque by default",
    "Secret demo-ssh-key type": "is said, because server-side apply compares it; the API takes Opaque by default",
    "Secret demo-pull-secret data..dockerconfigjson": "is the same JSON, in one fixed order and spacing",
    "Secret demo-ssh-key data.id_rsa.pub": "is the same key, without the newline at the end of its file",
    "Secret demo-etcd-encryption-key data.key": "is random",
    **{
        f"{kind} demo metadata.{field}": reason
        for kind in ("HostedCluster", "NodePool")
        for field, reason in {
            "labels.app.kubernetes.io/managed-by": OURS,
            "labels.metalshift.maas/hosted-cluster": OURS,
        }.items()
    },
    "HostedCluster demo spec.autoscaling": SERIALISED,
    "HostedCluster demo spec.capabilities": SERIALISED,
    "HostedCluster demo spec.configuration": SERIALISED,
    "HostedCluster demo spec.infraID": "is left to the operator, which makes one of the same form",
    "HostedCluster demo spec.networking.clusterNetwork": API_DEFAULT,
    "HostedCluster demo spec.networking.networkType": API_DEFAULT,
    "HostedCluster demo spec.networking.serviceNetwork": API_DEFAULT,
    "HostedCluster demo spec.olmCatalogPlacement": API_DEFAULT,
    "HostedCluster demo status.controlPlaneEndpoint.host": SERIALISED,
    "HostedCluster demo status.controlPlaneEndpoint.port": SERIALISED,
    "NodePool demo metadata.annotations.metalshift.maas/node-deletion-timeout": (
        "bounds how long the deletion of a Node is tried; a NodePool has no field for it"
    ),
    "NodePool demo spec.nodeDrainTimeout": "is bounded, so that an API that is gone does not hold a node for ever",
    "NodePool demo spec.nodeVolumeDetachTimeout": "is bounded, for the same reason",
    "NodePool demo status.replicas": SERIALISED,
}


def written() -> list[dict[str, Any]]:
    """What the modules apply for these options."""

    def options(module: Any, given: Mapping[str, Any]) -> dict[str, Any]:
        return {**{name: option.get("default") for name, option in module.SPEC.argument_spec.items()}, **given}

    cluster = cluster_manifest.manifest(options(hosted_cluster, CLUSTER), None, {})
    at = ("clusters", "demo")
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "clusters"}},
        secrets.pull_secret("demo-pull-secret", *at, LOGINS),
        secrets.ssh_key("demo-ssh-key", *at, SSH_KEY),
        secrets.encryption_key("demo-etcd-encryption-key", *at, b"k" * 32),
        cluster,
        pool_manifest.manifest(options(node_pool, POOL), None, {}, cluster, None),
    ]


@pytest.fixture(scope="module")
def rendered(programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What the CLI makes of the same wishes."""
    folder: Path = tmp_path_factory.mktemp("rendered")
    (folder / "logins.json").write_text(LOGINS)
    (folder / "key.pub").write_text(f"{SSH_KEY}\n")
    command = [
        *(str(programs.hypershift), "create", "cluster", "none", "--name=demo", "--namespace=clusters"),
        *("--pull-secret=logins.json", "--ssh-key=key.pub", "--base-domain=lab.example", f"--release-image={RELEASE}"),
        *(f"--external-api-server-address={ADDRESS}", "--node-pool-replicas=2", "--render", "--render-sensitive"),
    ]
    environment = {**plain_environment(), "HOME": str(folder)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=True)
    return [each for each in yaml.safe_load_all(done.stdout) if each]


def leaves(body: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    if isinstance(body, Mapping) and body:
        for name, value in body.items():
            yield from leaves(value, (*path, str(name)))
    else:
        yield ".".join(path), body


def table(objects: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        f"{body['kind']} {body['metadata']['name']} {path}": value for body in objects for path, value in leaves(body)
    }


def test_every_difference_from_the_cli_has_a_reason(rendered: list[dict[str, Any]]) -> None:
    ours, clis = table(written()), table(rendered)
    differing = {path for path in ours.keys() | clis.keys() if ours.get(path) != clis.get(path)}
    told = {path: (ours.get(path), clis.get(path)) for path in sorted(differing - REASONS.keys())}
    assert not told
    assert not REASONS.keys() - differing, "these are the same by now, and need no reason"


def test_the_objects_are_the_same(rendered: list[dict[str, Any]]) -> None:
    def named(objects: list[dict[str, Any]]) -> list[tuple[str, str]]:
        return [(body["kind"], body["metadata"]["name"]) for body in objects]

    assert named(written()) == named(rendered)
