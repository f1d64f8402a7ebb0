# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which workload becomes which process. A row says how a container is recognised, and what its program needs here.

What a pod's network gives (addresses of its own, service names, the registry's certificate) is replaced by ports on the
loopback interface, a proxy and variables. All else is what the Deployment says.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from metalshift_lab.kube import hosted
from metalshift_lab.kube.api import Object
from metalshift_lab.kube.pods import Pod, with_flags
from metalshift_lab.kube.runs import PartRun, Run
from metalshift_lab.kube.serving import serves
from metalshift_lab.kube.surroundings import Surroundings
from metalshift_lab.ports import LOOPBACK

PACKAGES = Path(__file__).resolve().parents[2]

# How the tag of a control-plane operator ends that is not the fork's.
STOCK = "stock"

Recipe = Callable[[Surroundings, Pod], Run]


def hypershift_operator(around: Surroundings, pod: Pod) -> Run:
    metrics = around.ports.take()
    arguments = with_flags(pod.arguments, metrics_addr=f"{LOOPBACK}:{metrics}")
    return around.process(
        pod,
        around.binaries.hypershift_operator,
        arguments,
        lambda: serves(f"http://{LOOPBACK}:{metrics}/metrics"),
        metrics,
    )


def control_plane_operator(around: Surroundings, pod: Pod) -> Run:
    metrics, health = around.ports.take(), around.ports.take()
    arguments = with_flags(
        pod.arguments, metrics_addr=f"{LOOPBACK}:{metrics}", health_probe_addr=f"{LOOPBACK}:{health}"
    )
    return around.process(
        pod,
        around.binaries.control_plane_operator,
        arguments,
        lambda: serves(f"http://{LOOPBACK}:{health}/readyz"),
        metrics,
        health,
        # It writes platform MAAS into the hosted cluster, as that of a release does that knows no such platform.
        env={"LAB_CONTROL_PLANE_OPERATOR": STOCK} if pod.image.endswith(f"-{STOCK}") else {},
    )


def cluster_api(around: Surroundings, pod: Pod) -> Run:
    webhook, health, diagnostics = (around.ports.take() for _number in range(3))
    arguments = with_flags(
        pod.arguments,
        webhook_port=str(webhook),
        webhook_cert_dir=str(pod.file("/tmp/k8s-webhook-server/serving-certs")),
        health_addr=f"{LOOPBACK}:{health}",
        diagnostics_address=f"{LOOPBACK}:{diagnostics}",
        insecure_diagnostics="true",
        # Out of a cluster it does not know in which namespace to hold its lock; there is never a second.
        leader_elect="false",
    )
    ready = f"http://{LOOPBACK}:{health}/readyz"
    return around.process(
        pod, around.binaries.capi_core_manager, arguments, lambda: serves(ready), webhook, health, diagnostics
    )


def provider(around: Surroundings, pod: Pod) -> Run:
    """The stand-in for the Cluster API provider for MAAS; its version is the tag of the image."""
    own = {
        "PYTHONPATH": str(PACKAGES),
        "PYTHONDONTWRITEBYTECODE": "1",
        "LAB_SPEED": f"{around.speed.factor:g}",
        "LAB_IMAGE": pod.image,
        **around.provider,
    }
    arguments = ["-m", "metalshift_lab.kube.provider", *pod.arguments]
    return around.process(pod, Path(sys.executable), arguments, lambda: True, env=own)


@dataclass(frozen=True)
class Row:
    """A container by its name, and where that says too little, by its program and first argument, or its image.

    Most are of a hosted control plane: elsewhere, a container of that name is somebody else's.
    """

    container: str
    recipe: Recipe
    program: str = ""
    first: str = ""
    image: str = ""
    #: The Lease that its program holds, where there is one.
    lock: str = ""
    hosted: bool = True

    def fits(self, container: Object, hosted: bool) -> bool:
        command = [*container.get("command", []), *container.get("args", [])]
        return (
            container["name"] == self.container
            and (hosted or not self.hosted)
            and (not self.program or (bool(command) and Path(command[0]).name == self.program))
            and (not self.first or self.first in command[1:2])
            and (not self.image or f"/{self.image}" in container["image"].partition("@")[0])
        )


ROWS = (
    Row(
        "operator",
        hypershift_operator,
        program="hypershift-operator",
        first="run",
        lock="hypershift-operator-leader-elect",
        hosted=False,
    ),
    Row(
        "control-plane-operator",
        control_plane_operator,
        program="control-plane-operator",
        first="run",
        lock="control-plane-operator-leader-elect",
    ),
    Row("manager", cluster_api, image="cluster-capi-controllers"),
    Row("maas-capi-controller", provider),
    Row("etcd", hosted.etcd, image="etcd"),
    Row("kube-apiserver", hosted.api_server, program="hyperkube", first="kube-apiserver"),
    Row("kube-controller-manager", hosted.controller_manager, program="hyperkube", first="kube-controller-manager"),
)


def recipe_for(container: Object, around: Surroundings, *, hosted: bool) -> Recipe | None:
    """None for what only says that it runs; `hosted` where its namespace is that of a hosted control plane."""
    for row in ROWS:
        if row.fits(container, hosted):
            return row.recipe
    part = around.parts.get(container["name"]) if hosted else None
    if part is None:
        return None
    return lambda _around, pod: PartRun(part(pod.namespace))


def lock_of(container: Object) -> str:
    """The Lease that the container's program holds; empty when it holds none."""
    return next((row.lock for row in ROWS if row.fits(container, hosted=True)), "")
