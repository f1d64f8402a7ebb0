# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The control plane of a hosted cluster: a second real Kubernetes, with the certificates made for it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from metalshift_lab.kube import audit, control_plane
from metalshift_lab.kube.api import CLAIMS, SERVICES, Api
from metalshift_lab.kube.hosted_apis import SERVICE
from metalshift_lab.kube.keeper import plain_environment
from metalshift_lab.kube.pods import NotYet, Pod, with_flags
from metalshift_lab.kube.runs import ProcessRun
from metalshift_lab.kube.serving import serves
from metalshift_lab.kube.surroundings import Surroundings
from metalshift_lab.ports import LOOPBACK
from metalshift_lab.processes import Process

# What OpenShift's build of the API server knows and the one of Kubernetes too, out of the file that it is given.
KEPT_ARGUMENTS = ("service-account-issuer", "service-cluster-ip-range", "api-audiences", "encryption-provider-config")
# Seconds of a real cluster: how long a node may be silent, and how often that is looked at.
NODE_GRACE, NODE_PERIOD = 40, 5
CONTROLLERS_OFF = ("--openshift-config", "--flex-volume-plugin-dir", "--pv-recycler-pod-template-filepath-nfs")


def folder(lab: Path, namespace: str) -> Path:
    """Where the data of a hosted cluster is; it is relative names that etcd wants, and it ends with the namespace."""
    where = lab / "hosted" / namespace
    where.mkdir(parents=True, exist_ok=True)
    return where


def etcd(around: Surroundings, pod: Pod) -> ProcessRun:
    """One member, on a socket instead of TLS: whoever may enter the folder may read it."""
    where = folder(around.lab, pod.namespace)
    _begin_volume(around.control_plane.api, pod, where)
    program = control_plane.etcd(around.binaries.etcd, where)
    (where / control_plane.ETCD_SOCKET).unlink(missing_ok=True)
    process = Process(
        # Its variables name TLS files and addresses, and contradict the flags.
        around.lab,
        f"{pod.namespace}.{pod.workload}",
        program.command,
        env=plain_environment(),
        cwd=where,
    )
    return ProcessRun(process, program.ready, around.ports)


def _begin_volume(api: Api, pod: Pod, where: Path) -> None:
    """Data belong to a claim: a cluster made again under its old name has a new one, and begins empty."""
    claim = api.get(CLAIMS, f"data-{pod.workload}-0", pod.namespace)
    identity, known = claim["metadata"]["uid"] if claim else "", where / "claim"
    if not known.exists() or known.read_text() != identity:
        shutil.rmtree(where / "etcd", ignore_errors=True)
        known.write_text(identity)


def api_server(around: Surroundings, pod: Pod) -> ProcessRun:
    """At the NodePort that the published kubeconfig names, or at a port that only the proxy knows."""
    where = folder(around.lab, pod.namespace)
    node_port = _node_port(around.control_plane.api, pod.namespace)
    given = json.loads(pod.file("/etc/kubernetes/config/config.json").read_text())["apiServerArguments"]
    kept = [f"--{name}={pod.local(value)}" for name in KEPT_ARGUMENTS for value in given.get(name, [])]
    certs = "/etc/kubernetes/certs"
    key = "/etc/kubernetes/secrets/svcacct-key"
    taken = [] if node_port else [around.ports.take()]
    port = node_port or taken[0]
    arguments = [
        f"--etcd-servers={control_plane.ETCD}",
        f"--bind-address={LOOPBACK}",
        f"--secure-port={port}",
        f"--advertise-address={LOOPBACK}",
        "--endpoint-reconciler-type=none",
        control_plane.END_WATCHES,
        f"--tls-cert-file={pod.file(f'{certs}/server/tls.crt')}",
        f"--tls-private-key-file={pod.file(f'{certs}/server/tls.key')}",
        # Inside the control plane it is known by other names, with a certificate of their own.
        *_private_names(pod, f"{certs}/server-private"),
        f"--client-ca-file={pod.file(f'{certs}/client-ca/ca.crt')}",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        "--allow-privileged",
        f"--service-account-key-file={pod.file(f'{key}/service-account.pub')}",
        f"--service-account-signing-key-file={pod.file(f'{key}/service-account.key')}",
        *audit.flags(around.lab, where),
        *kept,
    ]
    ready = f"https://{LOOPBACK}:{port}/readyz"
    program = around.binaries.kube_apiserver
    run = around.process(pod, program, arguments, lambda: serves(ready), *taken, cwd=where)
    around.hosted.serves_at(pod.namespace, port)
    return run


def controller_manager(around: Surroundings, pod: Pod) -> ProcessRun:
    """With the Deployment's arguments, but for what only OpenShift's build knows, and quicker about silent nodes."""
    port = around.ports.take()
    arguments = [
        part for part in pod.arguments if part != "kube-controller-manager" and not part.startswith(CONTROLLERS_OFF)
    ]
    arguments = with_flags(
        arguments,
        secure_port=str(port),
        bind_address=LOOPBACK,
        # A killed one would keep the lock; there is never a second.
        leader_elect="false",
        node_monitor_grace_period=f"{max(around.speed.seconds(NODE_GRACE), 5):.1f}s",
        node_monitor_period=f"{max(around.speed.seconds(NODE_PERIOD), 0.5):.1f}s",
    )
    ready = f"https://{LOOPBACK}:{port}/healthz"
    return around.process(pod, around.binaries.kube_controller_manager, arguments, lambda: serves(ready), port)


def _node_port(api: Api, namespace: str) -> int | None:
    service = api.get(SERVICES, SERVICE, namespace)
    if service is None:
        raise NotYet(f'service "{SERVICE}" not found')
    return next((port["nodePort"] for port in service["spec"]["ports"] if port.get("nodePort")), None)


def _private_names(pod: Pod, path: str) -> list[str]:
    certificate, key = pod.file(f"{path}/tls.crt"), pod.file(f"{path}/tls.key")
    return [f"--tls-sni-cert-key={certificate},{key}"] if certificate.exists() and key.exists() else []
