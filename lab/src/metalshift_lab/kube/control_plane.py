# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The management cluster: etcd, kube-apiserver and kube-controller-manager as processes."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from metalshift_lab.authority import Authority, kubeconfig, signing_key, write
from metalshift_lab.kube import audit
from metalshift_lab.kube.api import Api
from metalshift_lab.ports import LOOPBACK
from metalshift_lab.programs import Programs

# etcd has no login: on a port every user of the machine could read all Secrets. It takes relative names only.
ETCD_SOCKET = "etcd.sock:0"
ETCD = f"unix://{ETCD_SOCKET}"
PEER = "http://127.0.0.1:0"
ISSUER = "https://kubernetes.default.svc"
SERVICE_NETWORK = "10.96.0.0/16"
# An API server that is to end waits a minute for those who watch, unless it may send them away.
END_WATCHES = "--shutdown-watch-termination-grace-period=1s"
NAMES = (
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
    LOOPBACK,
    "10.96.0.1",
)
# Left out: csr-approving (nothing may approve by itself), deployment and job controllers (the kubelet stand-in
# reports their status), node-lifecycle (no machine of the management cluster is simulated).
CONTROLLERS = (
    "namespace-controller",
    "garbage-collector-controller",
    "serviceaccount-controller",
    "serviceaccount-token-controller",
    "root-ca-certificate-publisher-controller",
    "clusterrole-aggregation-controller",
    "resourcequota-controller",
    "persistentvolumeclaim-protection-controller",
    "certificatesigningrequest-signing-controller",
    "certificatesigningrequest-cleaner-controller",
)


@dataclass(frozen=True)
class Program:
    """What to run where, and how to see that it serves."""

    name: str
    command: tuple[str, ...]
    folder: Path
    ready: Callable[[], bool]


def etcd(binary: Path, folder: Path, name: str = "etcd") -> Program:
    """etcd on a socket in the folder."""
    socket = folder / ETCD_SOCKET
    command = (
        str(binary),
        "--name=lab",
        "--data-dir=etcd",
        "--unsafe-no-fsync",
        "--log-level=warn",
        f"--listen-client-urls={ETCD}",
        f"--advertise-client-urls={ETCD}",
        f"--listen-peer-urls={PEER}",
        f"--initial-advertise-peer-urls={PEER}",
        f"--initial-cluster=lab={PEER}",
    )
    return Program(name, command, folder, socket.exists)


class ControlPlane:
    """The management cluster's certificates, kubeconfigs and programs, in one folder."""

    def __init__(self, folder: Path, binaries: Programs, port: int, node_ports: str) -> None:
        self.folder, self.binaries, self.port = folder, binaries, port
        self.node_ports = node_ports
        self.server = f"https://{LOOPBACK}:{port}"
        self.pki = folder / "pki"
        self.authority = Authority(self.pki, "kubernetes-ca")
        self.token = self._made_tokens()
        self.kubeconfig_file = folder / "kubeconfig"
        user = {"token": self.token}
        self.kubeconfig = kubeconfig(self.server, self.authority.pem, user, name="admin")
        write(self.kubeconfig_file, json.dumps(self.kubeconfig, indent=1))
        manager = self.authority.kubeconfig(self.server, "system:kube-controller-manager")
        write(folder / "controller-manager.kubeconfig", json.dumps(manager))
        write(folder / audit.POLICY_FILE, json.dumps(audit.policy()))
        self.api = Api(self.kubeconfig)

    def _made_tokens(self) -> str:
        self.authority.server("kube-apiserver", NAMES).write(self.pki / "apiserver.crt", self.pki / "apiserver.key")
        private, public = signing_key()
        write(self.pki / "service-accounts.key", private)
        write(self.pki / "service-accounts.pub", public)
        token = secrets.token_urlsafe(24)
        write(self.pki / "tokens.csv", f'{token},admin,admin,"system:masters"\n')
        return token

    def programs(self) -> list[Program]:
        """In the order in which they are started."""
        return [etcd(self.binaries.etcd, self.folder), self._api_server(), self._controller_manager()]

    def as_user(self, token: str) -> dict[str, object]:
        """A kubeconfig for somebody with a token."""
        return kubeconfig(self.server, self.authority.pem, {"token": token})

    def _api_server(self) -> Program:
        pki = self.pki
        command = (
            str(self.binaries.kube_apiserver),
            f"--etcd-servers={ETCD}",
            f"--bind-address={LOOPBACK}",
            f"--secure-port={self.port}",
            f"--advertise-address={LOOPBACK}",
            "--endpoint-reconciler-type=none",
            END_WATCHES,
            f"--service-cluster-ip-range={SERVICE_NETWORK}",
            f"--service-node-port-range={self.node_ports}",
            f"--tls-cert-file={pki}/apiserver.crt",
            f"--tls-private-key-file={pki}/apiserver.key",
            f"--client-ca-file={self.authority.file}",
            f"--token-auth-file={pki}/tokens.csv",
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            "--allow-privileged",
            f"--service-account-issuer={ISSUER}",
            f"--service-account-key-file={pki}/service-accounts.pub",
            f"--service-account-signing-key-file={pki}/service-accounts.key",
            *audit.flags(self.folder, self.folder),
        )
        return Program("kube-apiserver", command, self.folder, self.api.healthy)

    def _controller_manager(self) -> Program:
        pki = self.pki
        command = (
            str(self.binaries.kube_controller_manager),
            f"--kubeconfig={self.folder}/controller-manager.kubeconfig",
            "--leader-elect=false",
            "--secure-port=0",
            # Without it the manager has its own few rights, looks alive, and does half of its work.
            "--use-service-account-credentials",
            f"--controllers={','.join(CONTROLLERS)}",
            f"--cluster-signing-cert-file={self.authority.file}",
            f"--cluster-signing-key-file={self.authority.key_file}",
            f"--root-ca-file={self.authority.file}",
            f"--service-account-private-key-file={pki}/service-accounts.key",
        )
        # It serves nothing; the default ServiceAccount is its first work to be seen.
        return Program("kube-controller-manager", command, self.folder, lambda: True)
