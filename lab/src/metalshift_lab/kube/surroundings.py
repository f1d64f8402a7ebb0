# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the programs of a lab share, and what a pod's program is given instead of a pod's network."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from metalshift_lab.authority import write
from metalshift_lab.kube.api import SERVICE_ACCOUNTS, ApiError, Object
from metalshift_lab.kube.control_plane import ControlPlane
from metalshift_lab.kube.hosted_apis import HostedApis
from metalshift_lab.kube.keeper import plain_environment
from metalshift_lab.kube.pods import NotYet, Pod
from metalshift_lab.kube.proxy import Proxy
from metalshift_lab.kube.runs import Part, ProcessRun
from metalshift_lab.kube.speed import Speed
from metalshift_lab.ports import LOOPBACK, Ports
from metalshift_lab.processes import Process
from metalshift_lab.programs import Programs

TOKEN_SECONDS = 365 * 24 * 3600


@dataclass(frozen=True)
class Surroundings:
    """What the programs of a lab share."""

    lab: Path
    binaries: Programs
    control_plane: ControlPlane
    ports: Ports
    proxy: Proxy
    speed: Speed
    #: Variables that every program gets: the registry's certificate and what stands for public registries.
    env: Mapping[str, str]
    hosted: HostedApis
    #: Variables of the providers that are started from now on.
    provider: dict[str, str] = field(default_factory=dict)
    #: Container name → the stand-in for it, in a namespace.
    parts: Mapping[str, Callable[[str], Part]] = field(default_factory=dict)

    def environment(self, pod: Pod) -> dict[str, str]:
        """The container's variables, and instead of a pod's own network and token: a proxy and a kubeconfig."""
        given = {name: pod.local(value) for name, value in pod.env.items()}
        own = {
            "KUBECONFIG": str(self._kubeconfig(pod)),
            "HTTPS_PROXY": self.proxy.url(pod.namespace),
            "NO_PROXY": f"{LOOPBACK},localhost",
        }
        return plain_environment({**self.env, **given, **own})

    def _kubeconfig(self, pod: Pod) -> Path:
        """As the pod's ServiceAccount: what its roles forbid is forbidden here too."""
        api = self.control_plane.api
        body: Object = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": TOKEN_SECONDS},
        }
        try:
            made = api.create(SERVICE_ACCOUNTS, body, pod.namespace, name=pod.service_account, subresource="token")
        except ApiError as error:
            if error.status != 404:
                raise
            raise NotYet(error.message) from None
        file = self.folder(pod) / "kubeconfig"
        write(file, json.dumps(self.control_plane.as_user(made["status"]["token"])))
        return file

    def folder(self, pod: Pod) -> Path:
        return self.lab / "pods" / pod.namespace / pod.name

    def process(
        self,
        pod: Pod,
        program: Path,
        arguments: list[str],
        ready: Callable[[], bool],
        *taken: int,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> ProcessRun:
        """Start it. The ports that were taken for it are free again when it ends, or does not start."""
        name = f"{pod.namespace}.{pod.workload}"
        try:
            process = Process(
                self.lab,
                name,
                [program, *arguments],
                env={**self.environment(pod), **(env or {})},
                cwd=cwd or self.folder(pod),
            )
        except BaseException:
            self.ports.give_back(*taken)
            raise
        return ProcessRun(process, ready, self.ports, taken)
