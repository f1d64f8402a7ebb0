# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosted clusters as their operators leave them when they are stopped, on an API server that has nothing else."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hosted.play import played
from integration.harness import Outcome, Played, run_task
from metalshift_lab.kube import examples
from metalshift_lab.kube.api import (
    CLUSTERS,
    HOSTED_CLUSTERS,
    MAAS_CLUSTERS,
    MAAS_MACHINES,
    MACHINE_DEPLOYMENTS,
    MACHINES,
    NAMESPACES,
    NODE_POOLS,
    Api,
    ApiError,
    Object,
    Resource,
)
from metalshift_lab.simulator import Simulator
from metalshift_lab.simulator.model import Machine

RELEASE = "registry.example/release:4.20.8"
MACHINE_SETS = Resource("cluster.x-k8s.io/v1beta1", "machinesets")
CONFIG_MAPS = Resource("v1", "configmaps")
OF_CLUSTER, OF_POOL = "hypershift.openshift.io/cluster", "hypershift.openshift.io/nodePool"
CONTROL_PLANE = {"hypershift.openshift.io/hosted-control-plane": "true"}
# From below: what each has, and what is left of it without anybody who removes it.
LADDER = {
    "MaasMachine": (MAAS_MACHINES, "maasmachine.infrastructure.cluster.x-k8s.io"),
    "Machine": (MACHINES, "machine.cluster.x-k8s.io"),
    "MachineSet": (MACHINE_SETS, "cluster.x-k8s.io/machineset"),
    "MachineDeployment": (MACHINE_DEPLOYMENTS, "cluster.x-k8s.io/machinedeployment"),
    "MaasCluster": (MAAS_CLUSTERS, "maascluster.infrastructure.cluster.x-k8s.io"),
    "Cluster": (CLUSTERS, "cluster.cluster.x-k8s.io"),
    "NodePool": (NODE_POOLS, "hypershift.openshift.io/finalizer"),
    "HostedCluster": (HOSTED_CLUSTERS, "hypershift.openshift.io/finalizer"),
}
HASTE = {"wait_timeout": 60, "wait_sleep": 0.1, "stall_timeout": 1}


@dataclass(frozen=True)
class Stopped:
    """One hosted cluster, with finalizers that nobody removes."""

    api: Api
    namespace: str = "clusters"
    name: str = "shop"
    finalizers: bool = True
    # Where its services are.
    address: str = "127.0.0.1"

    @property
    def label(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def place(self) -> str:
        return f"{self.namespace}-{self.name.replace('.', '-')}"

    def namespaces(self) -> Stopped:
        """The namespaces of the cluster and of its control plane, the latter as HyperShift makes it."""
        for name, labels in ((self.namespace, {}), (self.place, CONTROL_PLANE)):
            if self.api.get(NAMESPACES, name) is None:
                metadata = {"name": name, "labels": labels}
                self.api.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
        return self

    def create(self, *machines: Machine, pool: str = "np", **of_pool: Any) -> Stopped:
        """All of it, with one node pool of these machines, or without any."""
        hosted = examples.hosted_cluster(self.name, RELEASE, "MAAS", self.address, namespace=self.namespace)[-1]
        hosted["metadata"]["finalizers"] = self._held("HostedCluster")
        self.api.create(HOSTED_CLUSTERS, hosted)
        infra = self.made("Cluster", f"{self.name}-x1", {}, annotations={OF_CLUSTER: self.label})
        notes = {OF_CLUSTER: self.label}
        self.made("MaasCluster", self.name, {"dnsDomain": "maas"}, infra, annotations=notes)
        return self.node_pool(pool, *machines, **of_pool) if pool else self

    def node_pool(self, pool: str, *machines: Machine, **of_pool: Any) -> Stopped:
        body = examples.node_pool(pool, self.name, RELEASE, namespace=self.namespace, replicas=len(machines))
        body["metadata"]["finalizers"] = self._held("NodePool")
        body["spec"].update(of_pool)
        self.api.create(NODE_POOLS, body)
        self.workers(pool, *machines)
        return self

    def workers(self, pool: str, *machines: Machine) -> None:
        """What Cluster API has of a pool."""
        infra = self.api.get(CLUSTERS, f"{self.name}-x1", self.place)
        notes = {OF_POOL: f"{self.namespace}/{pool}"}
        template = {"clusterName": f"{self.name}-x1", "bootstrap": {"dataSecretName": "user-data"}}
        template["infrastructureRef"] = {"kind": "MaasMachineTemplate", "name": pool, "apiVersion": MAAS_MACHINES.api}
        spec = {"clusterName": f"{self.name}-x1", "selector": {"matchLabels": {"a": pool}}}
        spec["template"] = {"metadata": {"labels": {"a": pool}}, "spec": template}
        deployment = self.made("MachineDeployment", pool, spec, infra, annotations=notes)
        machine_set = self.made("MachineSet", f"{pool}-s", spec, deployment, annotations=notes)
        for machine in machines:
            name = f"{pool}-s-{machine.hostname}"
            reference = {"kind": "MaasMachine", "name": name, "namespace": self.place, "apiVersion": MAAS_MACHINES.api}
            owner = self.made(
                "Machine", name, {**template, "infrastructureRef": reference}, machine_set, annotations=notes
            )
            image = f"{machine.osystem}/{machine.distro_series}" if machine.osystem else "ubuntu/noble"
            own = {"systemID": machine.system_id, "providerID": f"maas:///default/{machine.system_id}", "image": image}
            self.made("MaasMachine", name, {**own, "minCPU": 1, "minMemory": 1024}, owner, annotations=notes)

    def made(self, kind: str, name: str, spec: Object, owner: Object | None = None, **metadata: Any) -> Object:
        resource, _finalizer = LADDER[kind]
        whole = {"name": name, "namespace": self.place, "finalizers": self._held(kind), **metadata}
        if owner is not None:
            reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"]}
            whole["ownerReferences"] = [{**reference, "uid": owner["metadata"]["uid"]}]
        return self.api.create(resource, {"apiVersion": resource.api, "kind": kind, "metadata": whole, "spec": spec})

    def _held(self, kind: str) -> list[str]:
        return [LADDER[kind][1]] if self.finalizers else []


def remove(
    folder: Path,
    sim: Simulator,
    module: str = "hosted_cluster",
    *,
    namespace: str = "clusters",
    name: str = "shop",
    check: bool = False,
    **words: Any,
) -> Outcome:
    """Run the module that removes a cluster, or the pool `np` of it."""
    own = {"name": name} if module == "hosted_cluster" else {"name": "np", "cluster": name}
    args = {"kubeconfig": str(folder / "kubeconfig"), "state": "absent", "namespace": namespace, **own, **HASTE}
    return run_task(sim, module, {**args, **words}, check=check)


def destroy(folder: Path, sim: Simulator, *arguments: str, **given: Any) -> Played:
    """Run the playbook that destroys a cluster; `given` are variables without the role's prefix."""
    ways = {"K8S_AUTH_KUBECONFIG": str(folder / "kubeconfig"), "MAAS_ENDPOINT": sim.url, "MAAS_API_KEY": sim.api_key}
    variables = {f"hosted_openshift_{name}": value for name, value in given.items()}
    place = folder / "play"
    place.mkdir(exist_ok=True)
    return played(place, "metalshift.maas.destroy_hosted_cluster", variables, *arguments, environment=ways)


def left(api: Api, *namespaces: str) -> list[str]:
    """The kinds of the ladder that are left, of these namespaces if any is named."""
    return [kind for kind, (resource, _finalizer) in LADDER.items() if _in(api.list(resource), namespaces)]


def objects(api: Api, *namespaces: str) -> dict[str, bool]:
    """What there is, and whether it is being deleted."""
    found = [body for resource, _finalizer in LADDER.values() for body in _in(api.list(resource), namespaces)]
    return {f"{body['kind']} {body['metadata']['name']}": "deletionTimestamp" in body["metadata"] for body in found}


def until_served(api: Api) -> None:
    """A server that has just learnt of a kind refuses it for a moment."""
    deadline = time.monotonic() + 30
    for resource, _finalizer in LADDER.values():
        while True:
            try:
                api.list(resource)
                break
            except ApiError:
                assert time.monotonic() < deadline, f"{resource} is not served"
                time.sleep(0.1)


def sweep(api: Api) -> None:
    """Take all of it away again."""
    until_served(api)
    for resource, _finalizer in LADDER.values():
        for body in api.list(resource):
            name, namespace = body["metadata"]["name"], body["metadata"]["namespace"]
            api.patch(resource, name, namespace, {"metadata": {"finalizers": None}})
            if "deletionTimestamp" not in body["metadata"]:
                api.delete(resource, name, namespace)


def _in(bodies: Sequence[Object], namespaces: Sequence[str]) -> list[Object]:
    return [body for body in bodies if not namespaces or body["metadata"]["namespace"] in namespaces]
