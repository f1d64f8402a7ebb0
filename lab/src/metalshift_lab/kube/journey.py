# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A hosted cluster from its manifests to its end, by hand: what a user with kubectl alone would do and look at."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml

from metalshift_lab.kube import examples
from metalshift_lab.kube.api import (
    CSRS,
    HOSTED_CLUSTERS,
    MACHINES,
    NAMESPACES,
    NODE_POOLS,
    NODES,
    SECRETS,
    Api,
    Object,
    of_name,
)
from metalshift_lab.kube.handle import Lab
from metalshift_lab.kube.provider.versions import HOSTED
from metalshift_lab.labs import LabError

PROVIDER = "registry.example/cluster-api-provider-maas-controller:{version}"
CURRENT_PROVIDER = HOSTED[0]
CLIENT = "kubernetes.io/kube-apiserver-client-kubelet"
SERVING = "kubernetes.io/kubelet-serving"
# The operators of a lab do in seconds what they do at all.
SILENCE = 10.0


@dataclass(frozen=True)
class Journey:
    """One hosted cluster of a lab."""

    lab: Lab
    name: str
    folder: Path
    platform: Literal["MAAS", "None"] = "MAAS"
    provider: str = CURRENT_PROVIDER
    #: What was waited for whenever the operator had to be woken.
    touches: list[str] = field(default_factory=list, compare=False)

    @property
    def namespace(self) -> str:
        """Where its control plane runs."""
        return f"{examples.NAMESPACE}-{self.name}"

    # -- acts -------------------------------------------------------------------------------------------------------

    def create(self, *, replicas: int = 2, version: str = "4.20.8", **pool: Any) -> None:
        facts, release = self.lab.facts, self.lab.release(version)
        cluster = examples.hosted_cluster(
            self.name,
            release,
            self.platform,
            maas_endpoint=facts["maas_url"],
            maas_api_key=facts["maas_api_key"],
            provider_image=PROVIDER.format(version=self.provider) if self.platform == "MAAS" else "",
        )
        wish = {"image": examples.image_for(self.provider), **pool}
        nodes = examples.node_pool(self.name, self.name, release, self.platform, replicas=replicas, **wish)
        self.lab.apply([*cluster, nodes])

    def scale(self, replicas: int) -> None:
        self.lab.kubectl("-n", examples.NAMESPACE, "scale", f"nodepool/{self.name}", f"--replicas={replicas}")

    def upgrade_control_plane(self, version: str) -> None:
        self._patch("hostedcluster", {"spec": {"release": {"image": self.lab.release(version)}}})

    def upgrade_nodes(self, version: str) -> None:
        self._patch("nodepool", {"spec": {"release": {"image": self.lab.release(version)}}})

    def approve(self) -> list[str]:
        """Approve every certificate request that waits; their names."""
        waiting = [of_name(each) for each in self.hosted_api.list(CSRS) if not each.get("status", {}).get("conditions")]
        if waiting:
            self.hosted_kubectl("certificate", "approve", *waiting)
        return waiting

    def delete(self) -> None:
        for kind in ("nodepool", "hostedcluster"):
            self.lab.kubectl("-n", examples.NAMESPACE, "delete", kind, self.name, "--wait=false", "--ignore-not-found")

    def _patch(self, kind: str, body: Object) -> None:
        self.lab.kubectl("-n", examples.NAMESPACE, "patch", kind, self.name, "--type=merge", "-p", json.dumps(body))

    # -- looks ------------------------------------------------------------------------------------------------------

    def cluster(self) -> Object:
        return self.lab.api.get(HOSTED_CLUSTERS, self.name, examples.NAMESPACE) or {}

    def pool(self) -> Object:
        return self.lab.api.get(NODE_POOLS, self.name, examples.NAMESPACE) or {}

    def machines(self) -> list[Object]:
        return self.lab.api.list(MACHINES, self.namespace)

    def nodes(self) -> list[Object]:
        return self.hosted_api.list(NODES)

    @property
    def kubeconfig(self) -> Path:
        """The published one, unchanged, as a file."""
        secret = self.lab.api.get(SECRETS, f"{self.name}-admin-kubeconfig", examples.NAMESPACE) or {}
        file = self.folder / f"{self.name}.kubeconfig"
        file.write_bytes(base64.b64decode(secret["data"]["kubeconfig"]))
        file.chmod(0o600)
        return file

    @property
    def hosted_api(self) -> Api:
        return Api(yaml.safe_load(self.kubeconfig.read_text()))

    def hosted_kubectl(self, *arguments: str) -> str:
        return self.lab.kubectl(*arguments, kubeconfig=self.kubeconfig)

    # -- waits ------------------------------------------------------------------------------------------------------

    def until_available(self, limit: float = 300) -> None:
        def available() -> bool:
            cluster = self.cluster()
            published = cluster.get("status", {}).get("kubeconfig")
            return bool(published) and condition(cluster, "Available").get("status") == "True"

        self.until(f"{self.name} is available", available, limit)

    def until_nodes(self, count: int, limit: float = 300) -> None:
        """Approve what asks, till so many nodes are Ready and the pool says so."""

        def joined() -> bool:
            self.approve()
            ready = [node for node in self.nodes() if condition(node, "Ready").get("status") == "True"]
            return len(ready) == count == self.pool().get("status", {}).get("replicas") and self.settled()

        self.until(f"{self.name} has {count} nodes", joined, limit)

    def settled(self) -> bool:
        """Whether the node pool is where it is to be."""
        wanted = {"Ready": "True", "UpdatingVersion": "False", "UpdatingConfig": "False", "AllMachinesReady": "True"}
        pool = self.pool()
        return all(condition(pool, kind).get("status") == status for kind, status in wanted.items())

    def until_in_version(self, version: str, limit: float = 60) -> None:
        """Till the pool says that it has this version."""
        try:
            self.until(
                f"{self.name} is in {version}", lambda: self.pool().get("status", {}).get("version") == version, limit
            )
        except LabError as error:
            raise LabError(f"{error} Its pool: {json.dumps(self.pool().get('status'))}") from None

    def until(self, what: str, holds: Callable[[], bool], limit: float) -> None:
        """Till it holds; the HostedCluster is touched when neither it nor its pool has changed for a while.

        A pass of the operator that misses something in its cache ends quietly, and the next one comes with the next
        change of the HostedCluster.
        """
        seen, since = "", time.monotonic()

        def held() -> bool:
            nonlocal seen, since
            if holds():
                return True
            version = self._version()
            if version != seen:
                seen, since = version, time.monotonic()
            elif time.monotonic() - since >= SILENCE and self.cluster():
                self._patch("hostedcluster", {"metadata": {"annotations": {"lab.example/touched-at": version}}})
                self.touches.append(what)
            return False

        self.lab.until(what, held, limit)

    def _version(self) -> str:
        """Of the cluster and its pool: it changes with either."""
        bodies = (self.cluster(), self.pool())
        return "-".join(body.get("metadata", {}).get("resourceVersion", "") for body in bodies)

    def until_rolled_out(self, version: str, limit: float = 120) -> None:
        """Till the newest entry of the cluster's history is this version, and completed."""

        def newest() -> bool:
            history = self.cluster().get("status", {}).get("version", {}).get("history") or [{}]
            return (history[0].get("version"), history[0].get("state")) == (version, "Completed")

        self.lab.until(f"{self.name} has rolled out {version}", newest, limit)

    def until_gone(self, limit: float = 120) -> None:
        """Till neither the cluster nor its namespace is there."""

        def gone() -> bool:
            return not self.cluster() and self.lab.api.get(NAMESPACES, self.namespace) is None

        self.lab.until(f"{self.name} is gone", gone, limit)


def condition(body: Object, kind: str) -> Object:
    """A condition of an object; empty when it has none of this type."""
    found = body.get("status", {}).get("conditions", [])
    return next((entry for entry in found if entry["type"] == kind), {})


def conditions(body: Object) -> dict[str, str]:
    """Type → status of all conditions."""
    return {entry["type"]: entry["status"] for entry in body.get("status", {}).get("conditions", [])}
