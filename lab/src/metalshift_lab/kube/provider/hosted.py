# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hosted cluster's API, as the Secret CLUSTER-kubeconfig says how to reach it."""

from __future__ import annotations

import base64
import threading

import yaml

from metalshift_lab.kube.api import (
    NAMESPACES,
    NODES,
    SECRETS,
    Api,
    ApiError,
    Object,
    Unreachable,
    of_name,
    of_namespace,
)
from metalshift_lab.kube.provider import states

_TIMEOUT = 10
_READY_LABEL = "cluster-api-maas/api-server-ready"


class Offline(Exception):
    """There is no way to the hosted API yet."""


class Hosted:
    def __init__(self, api: Api, proxy: str) -> None:
        self._api, self._proxy = api, proxy
        self._known: dict[str, tuple[str, Api]] = {}
        self._lock = threading.Lock()

    def client(self, cluster: Object) -> Api:
        name, namespace = f"{of_name(cluster)}-kubeconfig", of_namespace(cluster)
        secret = self._api.get(SECRETS, name, namespace)
        value = (secret or {}).get("data", {}).get("value")
        if secret is None or not value:
            raise Offline(f"the Secret {namespace}/{name} has no kubeconfig yet")
        version = f"{secret['metadata']['uid']}/{secret['metadata']['resourceVersion']}"
        key = f"{namespace}/{name}"
        with self._lock:
            known, client = self._known.get(key, ("", None))
            if client is None or known != version:
                try:
                    client = Api(yaml.safe_load(base64.b64decode(value)), proxy=self._proxy, timeout=_TIMEOUT)
                except (ValueError, LookupError, TypeError, OSError, StopIteration, yaml.YAMLError) as error:
                    raise Offline(f"the kubeconfig in the Secret {key} is of no use: {error}") from None
                self._known[key] = (version, client)
            return client

    def online(self, cluster: Object) -> bool:
        """Whether it lists nodes. A cluster that is being deleted counts as offline."""
        if "deletionTimestamp" in cluster["metadata"]:
            return False
        try:
            self.client(cluster).list(NODES)
        except (ApiError, Unreachable, Offline):
            return False
        return True

    def mark_ready(self, cluster: Object) -> None:
        """The label on kube-system by which others see that the API answers."""
        client = self.client(cluster)
        found = client.get(NAMESPACES, "kube-system")
        if found is not None and found["metadata"].get("labels", {}).get(_READY_LABEL) == "true":
            return
        client.patch(NAMESPACES, "kube-system", None, {"metadata": {"labels": {_READY_LABEL: "true"}}})

    def name_node(self, cluster: Object, hostname: str, provider_id: str) -> None:
        """Write the provider ID into the machine's node; Offline or ApiError if that is not possible."""
        client = self.client(cluster)
        nodes = {of_name(node): node for node in client.list(NODES)}
        found = states.node_name(nodes, hostname)
        if found is None:
            raise Offline(f"failed to find node for hostname {hostname}")
        if nodes[found]["spec"].get("providerID") != provider_id:
            client.patch(NODES, found, None, {"spec": {"providerID": provider_id}})
