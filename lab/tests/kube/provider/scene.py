# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real API server and the real core of Cluster API, a MAAS, and the provider as a process between them."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any, TypeVar

import metalshift_lab
from metalshift_lab.authority import Authority
from metalshift_lab.kube.api import (
    CLUSTERS,
    CRDS,
    EVENTS,
    MAAS_CLUSTERS,
    MAAS_MACHINES,
    MACHINE_DEPLOYMENTS,
    MACHINES,
    NAMESPACES,
    NODES,
    SECRETS,
    Api,
    ApiError,
    Object,
    Resource,
)
from metalshift_lab.kube.bare import kinds_of
from metalshift_lab.kube.control_plane import NAMES, ControlPlane, Program
from metalshift_lab.kube.hosted_apis import SERVICE
from metalshift_lab.kube.keeper import Keeper, plain_environment
from metalshift_lab.ports import LOOPBACK, Ports
from metalshift_lab.programs import Programs
from metalshift_lab.simulator import Simulator
from metalshift_lab.simulator.model import Machine

PACKAGES = Path(metalshift_lab.__file__).resolve().parents[1]
TEMPLATES = Resource("infrastructure.cluster.x-k8s.io/v1beta1", "maasmachinetemplates")
CUSTOM_DNS = "spectrocloud.com/custom-dns-provided"
SPEED = 60
PATIENCE = 30
T = TypeVar("T")


def soon(look: Callable[[], T], within: float = PATIENCE) -> T:
    """What `look` gives as soon as it is true."""
    deadline = time.monotonic() + within
    while not (found := look()):
        assert time.monotonic() < deadline, f"still {found!r} after {within:.0f} s"
        time.sleep(0.05)
    return found


def lenient(crd: Object) -> Object:
    """As far as it matters here: whatever is written is kept."""
    if crd["spec"]["group"] != MAAS_MACHINES.group:
        return crd
    for version in crd["spec"]["versions"]:
        properties = version["schema"]["openAPIV3Schema"]["properties"]
        for part in {"spec", "status"} & properties.keys():
            properties[part] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return crd


@contextmanager
def running_plane(programs: Programs, folder: Path, changed: Callable[[Object], Object]) -> Iterator[ControlPlane]:
    ports = Ports()
    plane = ControlPlane(folder, programs, ports.take(), ports.node_ports)
    # It serves as the hosted API as well, which is reached under the name of its service.
    names = (*NAMES, SERVICE)
    plane.authority.server(SERVICE, names).write(plane.pki / "apiserver.crt", plane.pki / "apiserver.key")
    keeper = Keeper(folder, plain_environment())
    try:
        for program in plane.programs()[:2]:
            keeper.start(program)
        for crd in kinds_of(programs):
            plane.api.apply(CRDS, changed(crd))
        soon(lambda: all(_served(plane.api, each) for each in (MAAS_CLUSTERS, MAAS_MACHINES, TEMPLATES, MACHINES)))
        Authority(folder / "webhook", "webhook").server(LOOPBACK, [LOOPBACK]).write(
            folder / "tls.crt", folder / "tls.key"
        )
        keeper.start(_core(programs, plane, ports))
        yield plane
    finally:
        keeper.stop()


def _served(api: Api, resource: Resource) -> bool:
    try:
        api.list(resource)
    except ApiError:
        return False
    return True


def _core(programs: Programs, plane: ControlPlane, ports: Ports) -> Program:
    health = ports.take()
    command = (
        str(programs.capi_core_manager),
        f"--kubeconfig={plane.kubeconfig_file}",
        f"--webhook-cert-dir={plane.folder}",
        f"--webhook-port={ports.take()}",
        f"--health-addr={LOOPBACK}:{health}",
        f"--diagnostics-address={LOOPBACK}:{ports.take()}",
        "--insecure-diagnostics",
    )
    return Program("capi-core-manager", command, plane.folder, lambda: True)


class Scene:
    """One hosted cluster's namespace in that API server, with its own MAAS and its own provider.

    The hosted API is the same API server: its nodes are the hosted cluster's.
    """

    infra, name = "demo-x1", "demo"

    def __init__(self, plane: ControlPlane, sim: Simulator, folder: Path, namespace: str) -> None:
        self.api: Api = plane.api
        self.plane, self.sim, self.folder, self.namespace = plane, sim, folder, namespace
        self.providers: list[subprocess.Popen[bytes]] = []
        #: Of the machine that most tests have; nodes of all tests are in one API.
        self.host = f"{namespace}-n1"

    # -- the provider -----------------------------------------------------------------------------------------------

    def provider(self, version: str = "v4.9.5-spectro", **variables: str) -> subprocess.Popen[bytes]:
        """Start it. A variable that is empty is not there."""
        own = {
            "KUBECONFIG": str(self.plane.kubeconfig_file),
            "MAAS_ENDPOINT": self.sim.url,
            "MAAS_API_KEY": self.sim.api_key,
            "NAMESPACE": self.namespace,
            "LAB_SPEED": str(SPEED),
            "LAB_IMAGE": f"registry.example/cluster-api-provider-maas-controller:{version}",
            "PYTHONPATH": str(PACKAGES),
            **variables,
        }
        log = (self.folder / f"provider{len(self.providers)}.log").open("wb")
        arguments = ("--v=2", "--leader-elect=true", "--sync-period=15m", f"--namespace={self.namespace}")
        process = subprocess.Popen(
            [sys.executable, "-m", "metalshift_lab.kube.provider", *arguments],
            env=plain_environment({name: value for name, value in own.items() if value}),
            stderr=log,
            cwd=self.folder,
        )
        log.close()
        self.providers.append(process)
        return process

    def log(self) -> str:
        return "".join(file.read_text() for file in sorted(self.folder.glob("provider*.log")))

    def stop(self) -> None:
        """End the provider, and leave nothing behind that one of a later test would act on."""
        if self.api.get(CLUSTERS, self.infra, self.namespace) is not None:
            self.api.patch(CLUSTERS, self.infra, self.namespace, {"spec": {"paused": True}})
        for process in self.providers:
            if process.poll() is None:
                process.terminate()
                process.wait(30)

    # -- MAAS -------------------------------------------------------------------------------------------------------

    def machine(self, hostname: str = "", **values: Any) -> Machine:
        """A machine that fits, and that is on: MAAS's workflow switches on within seconds what it deploys."""
        wish = {"cpu": 4, "memory": 8192, "zone": "default", "power": "on", **values}
        return self.sim.machine(hostname or self.host, **wish)

    # -- objects ----------------------------------------------------------------------------------------------------

    def create(self, resource: Resource, kind: str, name: str, spec: Object | None = None, **more: Any) -> Object:
        metadata = {"name": name, "namespace": self.namespace, **more.pop("metadata", {})}
        body = {"apiVersion": resource.api, "kind": kind, "metadata": metadata, **more}
        return self.api.create(resource, body if spec is None else {**body, "spec": spec})

    def cluster(self, *, custom_dns: bool = True, host: str = "192.0.2.10", kubeconfig: bool = True) -> None:
        """What HyperShift makes of a HostedCluster, without the control plane."""
        annotations = {CUSTOM_DNS: "true"} if custom_dns else {}
        endpoint = {"controlPlaneEndpoint": {"host": host, "port": 30443}} if host and custom_dns else {}
        spec = {"dnsDomain": "maas", **endpoint}
        self.create(MAAS_CLUSTERS, "MaasCluster", self.name, spec, metadata={"annotations": annotations})
        reference = {"apiVersion": MAAS_CLUSTERS.api, "kind": "MaasCluster", "name": self.name}
        reference["namespace"] = self.namespace
        self.create(CLUSTERS, "Cluster", self.infra, {"infrastructureRef": reference})
        if kubeconfig:
            self.kubeconfig()

    def kubeconfig(self, server: str = "") -> None:
        kubeconfig = deepcopy(self.plane.kubeconfig)
        kubeconfig["clusters"][0]["cluster"]["server"] = server or self.plane.server
        config = json.dumps(kubeconfig).encode()
        self.secret(f"{self.infra}-kubeconfig", config, {"cluster.x-k8s.io/cluster-name": self.infra})

    def secret(self, name: str, value: bytes, labels: dict[str, str] | None = None) -> None:
        data = {"value": base64.b64encode(value).decode()}
        self.create(SECRETS, "Secret", name, data=data, metadata={"labels": labels or {}})

    def pool(self, replicas: int = 1, *, bootstrap: bytes | None = b'{"ignition":{}}', **spec: Any) -> None:
        """What HyperShift makes of a NodePool."""
        if bootstrap is not None:
            self.secret("user-data-workers", bootstrap)
        wish = {"minCPU": 2, "minMemory": 4096, "image": "custom/custom-img", **spec}
        self.create(TEMPLATES, "MaasMachineTemplate", "workers", {"template": {"spec": wish}})
        labels = {"cluster.x-k8s.io/cluster-name": self.infra, "resourcesName": "workers"}
        reference = {"apiVersion": TEMPLATES.api, "kind": "MaasMachineTemplate", "name": "workers"}
        machine = {
            "clusterName": self.infra,
            "version": "4.20.8",
            "bootstrap": {"dataSecretName": "user-data-workers"},
            "infrastructureRef": {**reference, "namespace": self.namespace},
            "nodeDeletionTimeout": "10s",
        }
        deployment = {
            "clusterName": self.infra,
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
            "template": {"metadata": {"labels": labels}, "spec": machine},
        }
        self.create(MACHINE_DEPLOYMENTS, "MachineDeployment", "workers", deployment)

    def control_plane_machine(self) -> None:
        """A Machine by itself that says to be of the control plane, with its MaasMachine."""
        self.secret("user-data-control-plane", b"{}")
        labels = {"cluster.x-k8s.io/cluster-name": self.infra, "cluster.x-k8s.io/control-plane": ""}
        wish = {"minCPU": 2, "minMemory": 4096, "image": "custom/custom-img"}
        self.create(MAAS_MACHINES, "MaasMachine", "control-plane", wish, metadata={"labels": labels})
        reference = {"apiVersion": MAAS_MACHINES.api, "kind": "MaasMachine", "name": "control-plane"}
        spec = {
            "clusterName": self.infra,
            "bootstrap": {"dataSecretName": "user-data-control-plane"},
            "infrastructureRef": {**reference, "namespace": self.namespace},
        }
        self.create(MACHINES, "Machine", "control-plane", spec, metadata={"labels": labels})

    def node(self, name: str) -> None:
        self.api.create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})

    # -- looking ----------------------------------------------------------------------------------------------------

    def maas_cluster(self) -> Object:
        found = self.api.get(MAAS_CLUSTERS, self.name, self.namespace)
        assert found is not None
        return found

    def maas_machines(self) -> list[Object]:
        return self.api.list(MAAS_MACHINES, self.namespace)

    def machines(self) -> list[Object]:
        return self.api.list(MACHINES, self.namespace)

    def maas_machine(self) -> Object:
        return soon(self.maas_machines)[0]

    def condition(self, body: Object, kind: str) -> Object:
        """The condition without its time."""
        found = [each for each in body.get("status", {}).get("conditions", []) if each["type"] == kind]
        return {key: value for key, value in (found or [{}])[0].items() if key not in ("type", "lastTransitionTime")}

    def deployed(self) -> Object:
        """The condition MachineDeployed of the only MaasMachine."""
        found = self.maas_machines()
        return self.condition(found[0], "MachineDeployed") if found else {}

    def reasons(self) -> set[str]:
        return {each["reason"] for each in self.api.list(EVENTS, self.namespace)}

    def calls(self) -> list[str]:
        """What MAAS was asked: METHOD path op."""
        found = [(each.method, each.path.removeprefix("/MAAS/api/2.0/"), each.op or "") for each in self.sim.requests]
        return [" ".join(filter(None, each)) for each in found]


@contextmanager
def running_scene(plane: ControlPlane, folder: Path) -> Iterator[Scene]:
    namespace = f"t-{os.urandom(4).hex()}"
    plane.api.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    with Simulator() as sim:
        scene = Scene(plane, sim, folder, namespace)
        try:
            yield scene
        finally:
            scene.stop()
            # pytest shows it with a test that failed
            print(scene.log())
