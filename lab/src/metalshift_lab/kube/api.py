# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small client of the Kubernetes API, for the stand-ins: JSON in, JSON out.

The product talks through the kubernetes package. A stand-in that did so too would share its faults, and pay for its
import in every process.
"""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import tempfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

Object = dict[str, Any]
Objects = list[Object]

MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"
TIMEOUT = 30
# A watch ends by itself after this long, so that a dead connection is noticed.
WATCH_SECONDS = 300


@dataclass(frozen=True)
class Resource:
    """A kind as the paths of the API name it."""

    api: str
    plural: str

    @property
    def group(self) -> str:
        return self.api.partition("/")[0] if "/" in self.api else ""

    def path(self, namespace: str | None = None, name: str | None = None, subresource: str = "") -> str:
        parts = ["apis" if "/" in self.api else "api", self.api]
        if namespace:
            parts += ["namespaces", quote(namespace, safe="")]
        parts.append(self.plural)
        parts += [quote(part, safe="") for part in (name, subresource) if part]
        return "/" + "/".join(parts)

    def __str__(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural


NAMESPACES = Resource("v1", "namespaces")
SECRETS = Resource("v1", "secrets")
CONFIG_MAPS = Resource("v1", "configmaps")
SERVICES = Resource("v1", "services")
SERVICE_ACCOUNTS = Resource("v1", "serviceaccounts")
PODS = Resource("v1", "pods")
NODES = Resource("v1", "nodes")
EVENTS = Resource("v1", "events")
ENDPOINTS = Resource("v1", "endpoints")
CLAIMS = Resource("v1", "persistentvolumeclaims")
QUOTAS = Resource("v1", "resourcequotas")
DEPLOYMENTS = Resource("apps/v1", "deployments")
STATEFUL_SETS = Resource("apps/v1", "statefulsets")
JOBS = Resource("batch/v1", "jobs")
LEASES = Resource("coordination.k8s.io/v1", "leases")
CSRS = Resource("certificates.k8s.io/v1", "certificatesigningrequests")
CLUSTER_ROLE_BINDINGS = Resource("rbac.authorization.k8s.io/v1", "clusterrolebindings")
CRDS = Resource("apiextensions.k8s.io/v1", "customresourcedefinitions")
HOSTED_CLUSTERS = Resource("hypershift.openshift.io/v1beta1", "hostedclusters")
NODE_POOLS = Resource("hypershift.openshift.io/v1beta1", "nodepools")
HOSTED_CONTROL_PLANES = Resource("hypershift.openshift.io/v1beta1", "hostedcontrolplanes")
CLUSTERS = Resource("cluster.x-k8s.io/v1beta1", "clusters")
MACHINES = Resource("cluster.x-k8s.io/v1beta1", "machines")
MACHINE_DEPLOYMENTS = Resource("cluster.x-k8s.io/v1beta1", "machinedeployments")
MAAS_CLUSTERS = Resource("infrastructure.cluster.x-k8s.io/v1beta1", "maasclusters")
MAAS_MACHINES = Resource("infrastructure.cluster.x-k8s.io/v1beta1", "maasmachines")


class ApiError(Exception):
    """The API answered with an error; `reason` is Kubernetes' own word (NotFound, Conflict, Forbidden, …)."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status, self.reason, self.message = status, reason, message


class Unreachable(Exception):
    """No answer came."""


class Api:
    """One API server as one user. Threads may share it: each has its own connection."""

    def __init__(self, kubeconfig: Mapping[str, Any], *, proxy: str = "", timeout: float = TIMEOUT) -> None:
        """`proxy` is the URL of a CONNECT proxy; like Go's programs, nobody asks it for what is on this machine."""
        cluster, user = _current(kubeconfig)
        server = urlsplit(cluster["server"])
        self.server = cluster["server"]
        self._host, self._port = server.hostname or "", server.port or 443
        self._tls = _tls(cluster, user)
        self._headers = {"Authorization": f"Bearer {user['token']}"} if "token" in user else {}
        self._proxy = "" if self._host in ("localhost", "127.0.0.1", "::1") else proxy
        self._timeout = timeout
        self._connections = threading.local()

    # -- requests ---------------------------------------------------------------------------------------------------

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, Any] | None = None,
        content: str = "application/json",
        timeout: float | None = None,
    ) -> Any:
        """The answer's JSON; ApiError when it is an error, Unreachable when there is none."""
        target = f"{path}?{urlencode(query)}" if query else path
        data = None if body is None else json.dumps(body).encode()
        headers = {"Accept": "application/json", "Content-Type": content, **self._headers}
        fresh = False
        while True:
            connection, fresh = self._connection(timeout or self._timeout)
            try:
                connection.request(method, target, data, headers)
                response = connection.getresponse()
                text = response.read()
                break
            except (OSError, http.client.HTTPException) as error:
                self._forget()
                # A kept connection that the server has closed says nothing about this request: it was not read.
                if fresh or not isinstance(error, (http.client.RemoteDisconnected, BrokenPipeError, ConnectionError)):
                    raise Unreachable(f"{self.server}: {error or type(error).__name__}") from None
        return _decoded(response.status, text)

    def _connection(self, timeout: float) -> tuple[http.client.HTTPSConnection, bool]:
        kept = getattr(self._connections, "one", None)
        if kept is not None and kept.sock is not None:
            kept.sock.settimeout(timeout)
            return kept, False
        self._connections.one = self._connect(timeout)
        return self._connections.one, True

    def _connect(self, timeout: float) -> http.client.HTTPSConnection:
        if not self._proxy:
            return http.client.HTTPSConnection(self._host, self._port, timeout=timeout, context=self._tls)
        proxy = urlsplit(self._proxy)
        connection = http.client.HTTPSConnection(proxy.hostname or "", proxy.port, timeout=timeout, context=self._tls)
        user = base64.b64encode(f"{proxy.username or ''}:{proxy.password or ''}".encode()).decode()
        # The certificate is checked for the name behind the tunnel.
        connection.set_tunnel(self._host, self._port, {"Proxy-Authorization": f"Basic {user}"})
        return connection

    def _forget(self) -> None:
        kept = getattr(self._connections, "one", None)
        if kept is not None:
            kept.close()
        self._connections.one = None

    # -- objects ----------------------------------------------------------------------------------------------------

    def get(self, resource: Resource, name: str, namespace: str | None = None) -> Object | None:
        try:
            found: Object = self.request("GET", resource.path(namespace, name))
        except ApiError as error:
            if error.status == 404:
                return None
            raise
        return found

    def list(self, resource: Resource, namespace: str | None = None, *, labels: str = "") -> Objects:
        return self.listing(resource, namespace, labels=labels)[0]

    def listing(self, resource: Resource, namespace: str | None = None, *, labels: str = "") -> tuple[Objects, str]:
        """The objects, and the resource version from which a watch goes on."""
        query = {"labelSelector": labels} if labels else None
        answer = self.request("GET", resource.path(namespace), query=query)
        kind = str(answer.get("kind", "")).removesuffix("List")
        # The items of a list come without kind and version, which those who write them back need.
        typed = {"apiVersion": answer.get("apiVersion"), "kind": kind}
        return [{**typed, **item} for item in answer.get("items") or []], answer["metadata"]["resourceVersion"]

    def create(
        self, resource: Resource, body: Object, namespace: str | None = None, *, name: str = "", subresource: str = ""
    ) -> Object:
        """Create an object, or with name and subresource what belongs to one (a token, an eviction)."""
        made: Object = self.request("POST", resource.path(namespace or of_namespace(body), name, subresource), body)
        return made

    def replace(self, resource: Resource, body: Object, *, subresource: str = "") -> Object:
        made: Object = self.request("PUT", resource.path(of_namespace(body), of_name(body), subresource), body)
        return made

    def patch(
        self, resource: Resource, name: str, namespace: str | None, body: Object, *, subresource: str = ""
    ) -> Object:
        """A merge patch: null removes, lists are replaced."""
        made: Object = self.request("PATCH", resource.path(namespace, name, subresource), body, content=MERGE)
        return made

    def apply(self, resource: Resource, body: Object, *, manager: str = "metalshift-lab") -> Object:
        """Server-side apply, taking over fields that others wrote."""
        path = resource.path(of_namespace(body), of_name(body))
        made: Object = self.request(
            "PATCH", path, body, query={"fieldManager": manager, "force": "true"}, content=APPLY
        )
        return made

    def delete(self, resource: Resource, name: str, namespace: str | None = None) -> None:
        """Begin the deletion; what is not there is deleted already."""
        try:
            self.request("DELETE", resource.path(namespace, name))
        except ApiError as error:
            if error.status != 404:
                raise

    def watch(self, resource: Resource, namespace: str | None, version: str, *, labels: str = "") -> Watch:
        query = {"watch": "true", "resourceVersion": version, "timeoutSeconds": WATCH_SECONDS}
        if labels:
            query["labelSelector"] = labels
        connection = self._connect(WATCH_SECONDS + 30)
        return Watch(connection, f"{resource.path(namespace)}?{urlencode(query)}", self._headers)

    def healthy(self) -> bool:
        """Whether the server says that it is ready to serve."""
        try:
            self.request("GET", "/readyz", timeout=5)
        except (ApiError, Unreachable, ValueError):
            return False
        return True


class Watch:
    """Events of one kind, as (ADDED|MODIFIED|DELETED, object), till the server ends them or `close` is called."""

    def __init__(self, connection: http.client.HTTPSConnection, target: str, headers: Mapping[str, str]) -> None:
        self._connection, self._target, self._headers = connection, target, headers
        self._closed = False

    def __iter__(self) -> Iterator[tuple[str, Object]]:
        try:
            self._connection.connect()
            # Who closed it before there was a socket could not end it.
            if self._closed:
                return
            self._connection.request("GET", self._target, headers={"Accept": "application/json", **self._headers})
            response = self._connection.getresponse()
            if response.status != 200:
                _decoded(response.status, response.read())
            for line in response:
                event = json.loads(line)
                if event["type"] == "ERROR":
                    said = event["object"]
                    raise ApiError(said.get("code", 500), said.get("reason", ""), said.get("message", ""))
                yield event["type"], event["object"]
        except (OSError, ValueError, http.client.HTTPException, AttributeError) as error:
            # http.client loses its file object when another thread closes the connection.
            if not self._closed:
                raise Unreachable(str(error) or type(error).__name__) from None
        finally:
            self._connection.close()

    def close(self) -> None:
        self._closed = True
        socket = self._connection.sock
        if socket is not None:
            try:
                socket.shutdown(2)
            except OSError:
                socket.close()


def of_name(body: Object) -> str:
    return str(body["metadata"]["name"])


def of_namespace(body: Object) -> str | None:
    namespace: str | None = body.get("metadata", {}).get("namespace")
    return namespace


def _decoded(status: int, text: bytes) -> Any:
    try:
        answer = json.loads(text) if text else {}
    except ValueError:
        answer = text.decode(errors="replace")
    if status < 300:
        return answer
    if not isinstance(answer, dict):
        raise ApiError(status, "", str(answer).strip())
    raise ApiError(status, answer.get("reason", ""), answer.get("message", ""))


def _current(kubeconfig: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Cluster and user of the current context."""
    context = _named(kubeconfig, "contexts", kubeconfig["current-context"])["context"]
    cluster = _named(kubeconfig, "clusters", context["cluster"])["cluster"]
    return cluster, _named(kubeconfig, "users", context["user"])["user"]


def _named(kubeconfig: Mapping[str, Any], section: str, name: str) -> dict[str, Any]:
    entry: dict[str, Any] = next(entry for entry in kubeconfig[section] if entry["name"] == name)
    return entry


def _tls(cluster: Mapping[str, Any], user: Mapping[str, Any]) -> ssl.SSLContext:
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    context = ssl.create_default_context(cadata=authority)
    # Certificate authorities made by operators lack what RFC 5280 asks for beyond the signature.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if "client-certificate-data" in user:
        # ssl reads certificates from files only; this one exists for a moment, and for the owner alone.
        with tempfile.NamedTemporaryFile() as pair:
            pair.write(base64.b64decode(user["client-certificate-data"]) + b"\n")
            pair.write(base64.b64decode(user["client-key-data"]))
            pair.flush()
            context.load_cert_chain(pair.name)
    return context
