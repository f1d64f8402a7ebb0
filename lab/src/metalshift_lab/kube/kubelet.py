# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kubelet of a machine: it asks for its certificates, makes its Node once, and keeps lease and status alive.

Left out: it runs no pods, serves nothing at its port, and does not renew certificates, which outlive every lab.
"""

from __future__ import annotations

import base64
import copy
import ipaddress
import logging
import math
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from metalshift_lab.authority import Pair, encoded
from metalshift_lab.kube import times
from metalshift_lab.kube.api import CSRS, LEASES, NODES, Api, ApiError, Object, Unreachable
from metalshift_lab.kube.speed import Speed

BOOTSTRAP_KUBECONFIG = "/etc/kubernetes/kubeconfig"
CLIENT, SERVING = "kubernetes.io/kube-apiserver-client-kubelet", "kubernetes.io/kubelet-serving"
# For a key that is not RSA.
USAGES = {CLIENT: ["digital signature", "client auth"], SERVING: ["digital signature", "server auth"]}
LEASE_NAMESPACE = "kube-node-lease"
ROLE_LABEL = "node-role.kubernetes.io/worker"
KUBELET_VERSION = "v1.33.6"  # OpenShift 4.20
RESERVED = 1150 * 1024  # KiB that pods may not have
STRATEGIC = "application/strategic-merge-patch+json"

# Seconds of real life, as the kubelet of Kubernetes 1.33 has them.
WAIT_FOR_CERTIFICATE = 15 * 60
ASK_AGAIN = (2, 4, 8, 16, 32)
LEASE = 40
HEARTBEAT = 10
REPORT = 5 * 60
REGISTRATION_PAUSES = (0.2, 0.4, 0.8, 1.6, 3.2, 7.0)
# However fast the lab: a hundred machines share two cores, and people approve at the speed of people.
LEAST_HEARTBEAT, LEAST_REPORT, LEAST_PAUSE, LEAST_WAIT, TICK = 1.0, 5.0, 0.5, 30.0, 0.5


@dataclass(frozen=True)
class Host:
    """The machine as its operating system sees it after booting."""

    name: str
    addresses: tuple[str, ...]
    cpu: int
    memory: int  # MiB
    disk: int  # bytes
    arch: str
    image: str
    machine_id: str
    system_uuid: str
    boot_id: str = field(default_factory=lambda: str(uuid.uuid4()))


@dataclass(frozen=True)
class Manners:
    """How this kubelet behaves now: faults change it while it runs."""

    asks: bool = True
    silent: bool = False
    network: bool = True  # whether its pod network ever comes up
    other_name: str = ""
    other_address: str = ""


@dataclass
class Disk:
    """What a deployment keeps over reboots."""

    files: dict[str, bytes] | None = None  # None: Ignition has not run yet
    node: str = ""
    client: Pair | None = None
    serving: Pair | None = None


# -- what is asked for and reported, as pure functions --------------------------------------------------------------


def bootstrap_kubeconfig(files: Mapping[str, bytes]) -> Object | None:
    """The kubeconfig that Ignition wrote, with the files it refers to taken in; None when it wrote none."""
    if BOOTSTRAP_KUBECONFIG not in files:
        return None
    config = yaml.safe_load(files[BOOTSTRAP_KUBECONFIG])
    entries = [each["cluster"] for each in config["clusters"]] + [each["user"] for each in config["users"]]
    for entry in entries:
        for name in ("certificate-authority", "client-certificate", "client-key"):
            if name in entry:
                entry[f"{name}-data"] = encoded(files[entry.pop(name)])
        if "tokenFile" in entry:
            entry["token"] = files[entry.pop("tokenFile")].decode().strip()
    return dict(config)


def own_kubeconfig(bootstrap: Object, client: Pair) -> Object:
    """The same cluster, as the node itself."""
    config = copy.deepcopy(bootstrap)
    user = {"client-certificate-data": encoded(client.certificate), "client-key-data": encoded(client.key)}
    for each in config["users"]:
        each["user"] = user
    return config


def signing_request(node: str, name: str = "", addresses: Sequence[str] = ()) -> tuple[bytes, bytes]:
    """A new key and the request for its certificate, both PEM: O=system:nodes, CN=system:node:NODE.

    With a name it is one for a server, which is reached under that name and the addresses.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    oid = x509.NameOID
    subject = [
        x509.NameAttribute(oid.ORGANIZATION_NAME, "system:nodes"),
        # The length that X.509 wants of a common name is more than Go minds, and less than long domains need.
        x509.NameAttribute(oid.COMMON_NAME, f"system:node:{node}", _validate=False),
    ]
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name(subject))
    if name:
        reached = [x509.DNSName(name), *(x509.IPAddress(ipaddress.ip_address(each)) for each in addresses)]
        builder = builder.add_extension(x509.SubjectAlternativeName(reached), critical=False)
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return pem, builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def labels(node: str, arch: str) -> dict[str, str]:
    """What a kubelet of OpenShift says of itself when it registers."""
    return {
        "beta.kubernetes.io/arch": arch,
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": arch,
        "kubernetes.io/hostname": node,
        "kubernetes.io/os": "linux",
        "node.openshift.io/os_id": "rhcos",
        ROLE_LABEL: "",
    }


HEALTHY = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
)
READY = ("Ready", "True", "KubeletReady", "kubelet is posting ready status")
NO_NETWORK = (
    "Ready",
    "False",
    "KubeletNotReady",
    "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin "
    "returns error: no CNI configuration file in /etc/kubernetes/cni/net.d/. Has your network provider started?",
)


def conditions(ready: bool, before: Iterable[Mapping[str, Any]], at: str) -> list[Object]:
    """The kubelet's own conditions; the time of a transition stays while the status does."""
    known = {each["type"]: each for each in before}
    return [
        {
            "type": kind,
            "status": status,
            "reason": reason,
            "message": message,
            "lastHeartbeatTime": at,
            "lastTransitionTime": known[kind]["lastTransitionTime"]
            if known.get(kind, {}).get("status") == status
            else at,
        }
        for kind, status, reason, message in (*HEALTHY, READY if ready else NO_NETWORK)
    ]


def quantity(kibibytes: int) -> str:
    """As the API server writes it, so that it is found unchanged: with the largest unit that leaves a whole number."""
    for unit in ("Ki", "Mi"):
        if kibibytes % 1024:
            return f"{kibibytes}{unit}"
        kibibytes //= 1024
    return f"{kibibytes}Gi"


def status(host: Host, node: str) -> Object:
    """What a Node tells of its machine, conditions aside."""
    memory, storage = host.memory * 1024, host.disk // 1024
    return {
        "addresses": [
            *({"type": "InternalIP", "address": each} for each in host.addresses),
            {"type": "Hostname", "address": node},
        ],
        "capacity": {
            "cpu": str(host.cpu),
            "memory": quantity(memory),
            "ephemeral-storage": quantity(storage),
            "pods": "250",
        },
        "allocatable": {
            "cpu": f"{host.cpu * 1000 - 500}m",
            "memory": quantity(max(memory - RESERVED, memory // 2)),
            "ephemeral-storage": quantity(storage * 9 // 10),
            "pods": "250",
        },
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "nodeInfo": {
            "architecture": host.arch,
            "bootID": host.boot_id,
            "containerRuntimeVersion": "cri-o://1.33.6",
            "kernelVersion": "5.14.0-570.62.1.el9_6.x86_64",
            "kubeProxyVersion": "",
            "kubeletVersion": KUBELET_VERSION,
            "machineID": host.machine_id,
            "operatingSystem": "linux",
            "osImage": f"A machine of the lab ({host.image})",
            "systemUUID": host.system_uuid,
        },
    }


def differs(wanted: Object, found: Mapping[str, Any]) -> bool:
    """Whether a Node's status says something else, times aside. What others wrote there does not count."""
    known = {each["type"]: each for each in found.get("conditions") or []}
    told = any(
        any(known.get(each["type"], {}).get(name) != each[name] for name in ("status", "reason", "message"))
        for each in wanted["conditions"]
    )
    plain = ("capacity", "allocatable", "nodeInfo")
    return (
        told
        or any({**(found.get(name) or {}), **wanted[name]} != found.get(name) for name in plain)
        or found.get("addresses") != wanted["addresses"]
    )


# -- certificates ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Wish:
    """Whom a certificate is for; a server's says under which name and addresses it is reached."""

    node: str
    name: str = ""
    addresses: tuple[str, ...] = ()


class Request:
    """A certificate asked for, and asked for again when it is denied, fails, vanishes or does not come in time."""

    def __init__(self, signer: str, speed: Speed, say: Callable[[str], None]) -> None:
        self.signer, self._speed, self._say = signer, speed, say
        self._wish: Wish | None = None
        self._name, self._key = "", b""
        self._until = self._not_before = 0.0
        self._failures = 0

    def step(self, api: Api, wish: Wish) -> Pair | None:
        """Look once; the pair when it is there."""
        if self._wish != wish:
            self._wish, self._name = wish, ""
        if not self._name:
            if time.monotonic() >= self._not_before:
                self._ask(api, wish)
            return None
        found = api.get(CSRS, self._name)
        trouble = self._trouble(found)
        if trouble:
            self._say(f"{self._name} {trouble}, so it asks again.")
            self._later()
            return None
        certificate = ((found or {}).get("status") or {}).get("certificate")
        return Pair(base64.b64decode(certificate), self._key) if certificate else None

    def _ask(self, api: Api, wish: Wish) -> None:
        self._key, request = signing_request(wish.node, wish.name, wish.addresses)
        body = {
            "apiVersion": CSRS.api,
            "kind": "CertificateSigningRequest",
            "metadata": {"generateName": "csr-"},
            "spec": {"request": encoded(request), "signerName": self.signer, "usages": USAGES[self.signer]},
        }
        try:
            self._name = api.create(CSRS, body)["metadata"]["name"]
        except (ApiError, Unreachable):
            self._later()
            raise
        self._until = time.monotonic() + max(self._speed.seconds(WAIT_FOR_CERTIFICATE), LEAST_WAIT)
        self._say(f"asks for a certificate of {self.signer} with {self._name}.")

    def _later(self) -> None:
        wait = ASK_AGAIN[min(self._failures, len(ASK_AGAIN) - 1)]
        self._name, self._failures = "", self._failures + 1
        self._not_before = time.monotonic() + max(self._speed.seconds(wait), LEAST_PAUSE)

    def _trouble(self, found: Object | None) -> str:
        if found is None:
            return "was deleted"
        told = {each["type"]: each for each in (found.get("status") or {}).get("conditions") or []}
        for kind in ("Denied", "Failed"):
            if kind in told:
                said = told[kind].get("message") or told[kind].get("reason", "")
                return f"is {kind} ({said})" if said else f"is {kind}"
        waiting = not (found.get("status") or {}).get("certificate")
        return "was not signed in time" if waiting and time.monotonic() > self._until else ""


# -- the kubelet ----------------------------------------------------------------------------------------------------


class Kubelet:
    """One run, from start to power off, which `pause` tells by an exception."""

    def __init__(
        self,
        host: Host,
        disk: Disk,
        bootstrap: Object,
        manners: Callable[[], Manners],
        pause: Callable[[float], None],
        speed: Speed,
        network_after: float,
        log: logging.Logger,
    ) -> None:
        self._host, self._disk, self._bootstrap, self._manners = host, disk, bootstrap, manners
        self._pause, self._speed, self._log = pause, speed, log
        self._network_after, self._network_at = network_after, math.inf
        self._requests = {kind: Request(kind, speed, self._say) for kind in (CLIENT, SERVING)}
        self._troubles: set[str] = set()
        self._reported, self._reported_ready = 0.0, False
        self._due = {"lease": 0.0, "status": 0.0}

    def run(self) -> None:
        if self._disk.client is None:
            self._become_node(Api(self._bootstrap))
        client = self._disk.client
        assert client is not None
        api = Api(own_kubeconfig(self._bootstrap, client))
        self._register(api)
        while True:
            if not self._manners().silent:
                self._attempt(lambda: self._beat(api))
            self._pause(TICK)

    def _say(self, text: str) -> None:
        self._log.info("%s %s", self._disk.node or self._host.name, text)

    def _trouble(self, text: str) -> None:
        """Say it once, till all is well again."""
        if text not in self._troubles:
            self._troubles.add(text)
            self._say(text)

    def _attempt(self, act: Callable[[], Any]) -> bool:
        """Do it; an API that refuses or is away is one line in the log."""
        try:
            act()
        except (ApiError, Unreachable) as error:
            self._trouble(f"was told: {error}")
            return False
        return True

    def _become_node(self, api: Api) -> None:
        """Wait for the client certificate; with it the name of the node is settled."""
        while self._disk.client is None:
            if self._manners().asks and not self._manners().silent:
                self._attempt(lambda: self._look_for_client(api))
            self._pause(TICK)

    def _look_for_client(self, api: Api) -> None:
        node = self._manners().other_name or self._host.name
        client = self._requests[CLIENT].step(api, Wish(node))
        if client is not None:
            self._disk.node, self._disk.client = node, client
            self._say("has its client certificate.")

    def _register(self, api: Api) -> None:
        """Make the Node, or take the one that is there; this happens at the start and never again."""
        tries = 0
        while self._manners().silent or not self._attempt(lambda: self._make_node(api)):
            wait = REGISTRATION_PAUSES[min(tries, len(REGISTRATION_PAUSES) - 1)]
            tries += 1
            self._pause(max(self._speed.seconds(wait), LEAST_PAUSE))
        # The network's own pods can come only now.
        self._network_at = time.monotonic() + self._network_after

    def _make_node(self, api: Api) -> None:
        node = self._disk.node
        told = labels(node, self._host.arch)
        body: Object = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": node,
                "labels": told,
                "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
            },
            "spec": {},
            "status": {**status(self._host, node), "conditions": conditions(self._ready, (), times.stamp(times.now()))},
        }
        existing = api.get(NODES, node)
        if existing is None:
            self._create(api, body)
            self._say("registered its Node.")
            return
        said = existing["metadata"].get("labels") or {}
        # What it is given beyond these counts when it registers, and is others' to change afterwards.
        own = {key: value for key, value in told.items() if key.startswith(("kubernetes.io/", "beta.kubernetes.io/"))}
        if any(said.get(key) != value for key, value in own.items()):
            api.patch(NODES, node, None, {"metadata": {"labels": own}})

    def _create(self, api: Api, body: Object) -> None:
        try:
            api.create(NODES, body)
            return
        except ApiError as error:
            if error.status != 403 or ROLE_LABEL not in error.message:
                raise
        # OpenShift's API server lets a kubelet say that it is a worker; NodeRestriction of Kubernetes itself does not.
        self._say(f"registers without the label {ROLE_LABEL}, which this API server refuses.")
        del body["metadata"]["labels"][ROLE_LABEL]
        api.create(NODES, body)

    @property
    def _ready(self) -> bool:
        return time.monotonic() >= self._network_at and self._manners().network

    def _beat(self, api: Api) -> None:
        """What is due now: lease, status, serving certificate."""
        every = max(self._speed.seconds(HEARTBEAT), LEAST_HEARTBEAT)
        if self._ready != self._reported_ready:
            self._due["status"] = 0.0
        for name, act in (("lease", self._renew), ("status", self._report)):
            if time.monotonic() >= self._due[name]:
                self._due[name] = time.monotonic() + every
                act(api)
        if self._disk.serving is None and self._manners().asks:
            self._look_for_serving(api)

    def _look_for_serving(self, api: Api) -> None:
        node, manners = self._disk.node, self._manners()
        addresses = (manners.other_address,) if manners.other_address else self._host.addresses
        self._disk.serving = self._requests[SERVING].step(api, Wish(node, manners.other_name or node, addresses))
        if self._disk.serving is not None:
            self._say("has its serving certificate.")

    def _renew(self, api: Api) -> None:
        node = self._disk.node
        try:
            api.patch(
                LEASES, node, LEASE_NAMESPACE, {"spec": {"renewTime": times.exact(times.now()), "holderIdentity": node}}
            )
        except ApiError as error:
            if error.status != 404:
                raise
            self._make_lease(api)

    def _make_lease(self, api: Api) -> None:
        """A lease belongs to its Node and goes with it; without a Node none is made."""
        found = api.get(NODES, self._disk.node)
        if found is None:
            return
        owner = {"apiVersion": "v1", "kind": "Node", "name": self._disk.node, "uid": found["metadata"]["uid"]}
        body = {
            "apiVersion": LEASES.api,
            "kind": "Lease",
            "metadata": {"name": self._disk.node, "namespace": LEASE_NAMESPACE, "ownerReferences": [owner]},
            "spec": {
                "holderIdentity": self._disk.node,
                "leaseDurationSeconds": math.ceil(max(self._speed.seconds(LEASE), 4 * LEAST_HEARTBEAT)),
                "renewTime": times.exact(times.now()),
            },
        }
        api.create(LEASES, body)

    def _report(self, api: Api) -> None:
        node = self._disk.node
        found = api.get(NODES, node)
        if found is None:
            self._trouble("has no Node any more; a kubelet makes it only when it starts.")
            return
        before, ready = found.get("status") or {}, self._ready
        wanted = {
            **status(self._host, node),
            "conditions": conditions(ready, before.get("conditions") or [], times.stamp(times.now())),
        }
        self._troubles.clear()
        changed = differs(wanted, before)
        if not changed and time.monotonic() < self._reported + max(self._speed.seconds(REPORT), LEAST_REPORT):
            return
        # Addresses are replaced as a whole, conditions merged with those of others by type.
        wanted["addresses"] = [{"$patch": "replace"}, *wanted["addresses"]]
        api.request("PATCH", NODES.path(None, node, "status"), {"status": wanted}, content=STRATEGIC)
        if ready != self._reported_ready:
            self._say("is ready." if ready else "has lost its pod network.")
        self._reported, self._reported_ready = time.monotonic(), ready
