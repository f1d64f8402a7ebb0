# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The API servers of hosted clusters, as seen from the lab."""

from __future__ import annotations

import base64
import threading
from typing import Any

import yaml

from metalshift_lab.kube.api import SECRETS, Api
from metalshift_lab.ports import LOOPBACK

SERVICE = "kube-apiserver"
PORT = 6443


class HostedApis:
    """The API servers of hosted clusters: their ports, and clients with the rights of their administrators."""

    def __init__(self, management: Api) -> None:
        self._management = management
        self._ports: dict[str, int] = {}
        self._apis: dict[str, tuple[tuple[str, int], Api]] = {}
        self._lock = threading.Lock()

    def serves_at(self, namespace: str, port: int) -> None:
        with self._lock:
            self._ports[namespace] = port

    def forget(self, namespace: str) -> None:
        """The hosted cluster is gone; its port may be another's."""
        with self._lock:
            self._ports.pop(namespace, None)
            self._apis.pop(namespace, None)

    def port(self, namespace: str, host: str, port: int) -> int | None:
        """For the proxy: the port behind a service name of a namespace."""
        name, _dot, rest = host.partition(".")
        wanted = namespace if rest in ("", "svc") else rest.partition(".")[0]
        with self._lock:
            return self._ports.get(wanted) if (name, port) == (SERVICE, PORT) else None

    def api(self, namespace: str) -> Api | None:
        """As the administrator of the hosted cluster; None while there is no kubeconfig or no server."""
        secret = self._management.get(SECRETS, "admin-kubeconfig", namespace)
        with self._lock:
            port = self._ports.get(namespace)
            if secret is None or port is None:
                return None
            text = base64.b64decode(secret["data"]["kubeconfig"]).decode()
            known = self._apis.get(namespace)
            if known is None or known[0] != (text, port):
                known = self._apis[namespace] = ((text, port), Api(_at(load(text), port)))
            return known[1]


def load(kubeconfig: str) -> dict[str, Any]:
    """A kubeconfig from its text."""
    loaded: dict[str, Any] = yaml.safe_load(kubeconfig)
    return loaded


def _at(kubeconfig: dict[str, Any], port: int) -> dict[str, Any]:
    for cluster in kubeconfig["clusters"]:
        cluster["cluster"]["server"] = f"https://{LOOPBACK}:{port}"
    return kubeconfig
