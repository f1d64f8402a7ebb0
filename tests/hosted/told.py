# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults, and the sentence in which each ends: what a wait says of it, whether it goes on, and what to do.

The documentation's table is made from this one, and tests compare it with what is said in a lab. In lines, `<...>`
stands for what differs each time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Goal = Literal["control_plane", "nodes", "complete", "gone"]
Verdict = Literal["wait", "grace", "stop"]


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"<[^>]+>", ".+", re.escape(text)))


#: Of the documentation.
WAYS: Mapping[Goal, str] = {
    "control_plane": "the control plane",
    "nodes": "its nodes",
    "complete": "the whole rollout",
    "gone": "its end",
}


@dataclass(frozen=True)
class Told:
    """What is said while a fault lasts, or when a manifest is spoilt.

    `do` is how its hint begins, `end` what is said when the wait ends, if that is more.
    """

    fault: str
    line: str
    verdict: Verdict = "wait"
    do: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    end: str = ""

    def is_said(self, line: str) -> bool:
        return _pattern(self.line).fullmatch(line) is not None

    def ends(self, line: str) -> bool:
        return _pattern(self.end or self.line).fullmatch(line) is not None

    def is_done(self, hint: str) -> bool:
        return bool(hint) == bool(self.do) and _pattern(self.do).match(hint) is not None

    def __str__(self) -> str:
        return "-".join((self.fault, *self.words.values())).replace(" ", "-")


REGISTRY = "The operator tries again by itself; look whether the management cluster reaches the registry."
PROVIDER_KEY = "Correct the API key in the credentials Secret"
RECREATE = "This cannot be changed later: delete the hosted cluster, and create it anew."
CREATE = "Create it"

#: Of what surrounds the operator. Each is begun before its hosted cluster is made.
AROUND = (
    Told("registry-down", "hosted cluster: the registry <address> cannot be reached", do=REGISTRY),
    Told(
        "registry-private",
        "hosted cluster: the registry does not accept the pull secret for <image>",
        "grace",
        "Give a pull secret with credentials for this registry.",
    ),
    Told(
        "release-gone",
        "hosted cluster: <image> is not in its registry",
        "grace",
        "Name a release image that exists",
        {"version": "4.20.53"},
    ),
    Told(
        "release-empty",
        "hosted cluster: the release image is no OpenShift release",
        "stop",
        "Set release.image to the image of a release",
        {"version": "4.20.54"},
    ),
    Told(
        "forbid",
        "hosted cluster: system:serviceaccount:hypershift:operator may not create hostedcontrolplanes",
        "grace",
        "Give the operator its rights back",
        {"kind": "HostedControlPlane", "verbs": "create"},
    ),
    Told(
        "deny",
        "hosted cluster: a policy of the management cluster refuses it: Not on a Friday.",
        "grace",
        "Change the policy",
        {"kind": "HostedControlPlane", "message": "Not on a Friday."},
    ),
    Told(
        "quota",
        "credentials for MAAS: quota <quota> of the control plane's namespace does not allow more",
        "grace",
        "Raise or remove this ResourceQuota.",
        {"resource": "secrets"},
    ),
)

#: Of a release that its control plane finds out about.
LACKING = Told(
    "release-incomplete",
    "release: lacks the images oauth-server",
    "stop",
    "Name a whole release image",
    {"version": "4.20.55", "lacks": "oauth-server"},
)

#: Of a hosted cluster's own manifests; the name is that of a way to spoil them.
SPOILT = (
    Told(
        "pull secret missing",
        'hosted cluster: Secret "<name>" with the pull secret is missing',
        "grace",
        CREATE,
    ),
    Told(
        "pull secret without its key",
        "hosted cluster: the Secret with the pull secret has no key .dockerconfigjson",
        "stop",
        "Put the JSON of the pull secret under this key.",
    ),
    Told(
        "Ignition by LoadBalancer",
        "services: Ignition is published by LoadBalancer, which the operators cannot do",
        "stop",
        "Publish Ignition by Route or NodePort.",
    ),
    Told(
        "encryption Secret without its key",
        "control plane: being created",
        "grace",
        'Look whether Secret "<name>" has the key "key"',
        end='control plane: the operator does not create it: Secret "<name>" lacks its key',
    ),
    Told(
        "encryption Secret missing",
        'hosted cluster: Secret "<name>" with the key that encrypts etcd is missing',
        "grace",
        "Bring back the Secret with this very key",
    ),
    Told(
        "credentials for MAAS missing",
        'credentials for MAAS: Secret "<name>" with the credentials for MAAS is missing',
        "grace",
        CREATE,
    ),
    Told(
        "credentials for MAAS without a key",
        "credentials for MAAS: the Secret with the credentials for MAAS has no key MAAS_API_KEY",
        "stop",
        "Add the key to the Secret",
    ),
    Told(
        "SSH key missing",
        'hosted cluster: Secret "<name>" with the SSH key is missing',
        "grace",
        CREATE,
    ),
    Told(
        "OAuthServer by Route",
        "configuration: OAuthServer is published by Route, and the management cluster has no Routes",
        "stop",
        "Publish it by NodePort or LoadBalancer.",
    ),
    Told(
        "networks that overlap",
        "configuration: MachineNetwork and ClusterNetwork overlap: <networks>",
        "stop",
        "Choose networks that do not overlap.",
    ),
    Told(
        "release too new",
        "release: 4.25.0 is too new: the newest possible is <version>",
        "stop",
        "Choose an older release, or upgrade the HyperShift operator first.",
    ),
    Told("paused", "hosted cluster: paused", "stop", "Un-pause it: paused: false."),
)

LATE = "late"

#: Of one control plane, one after the other: each begins before the last one ends.
STAGES = (
    Told(
        "hold",
        "control plane: waiting for its operator to start",
        do="When this lasts: look at the pods control-plane-operator",
        words={"name": "control-plane-operator"},
    ),
    Told(
        "quota",
        "services: being published",
        do="When this lasts: the node port may be taken",
        words={"resource": "services"},
    ),
    Told("deny", "etcd: not started yet", words={"kind": "StatefulSet"}),
    Told(
        "no-volume",
        'etcd: volume data-etcd-0 is pending: there is no storage class "fast"',
        "grace",
        "Create the storage class",
        {"warning": 'storageclass.storage.k8s.io "fast" not found'},
    ),
    Told(
        "hold",
        "etcd: waiting for quorum",
        do="When this lasts: look at the volumes and pods of etcd",
        words={"name": "etcd"},
    ),
    Told("unreported", "API server: starting", words={"name": "kube-apiserver"}),
    Told(
        "hold",
        "API server: starting",
        do="When this lasts: look at the pods kube-apiserver",
        words={"name": "kube-apiserver"},
    ),
)

#: Of its machines on their way to be nodes. The first two stand from the beginning.
ON_THE_WAY = (
    Told(
        "no-payload",
        "node pool late: waiting for its ignition configuration",
        do="Look at the ignition server's log",
        words={"namespace": f"clusters-{LATE}"},
    ),
    Told(
        "bad-payload",
        "node pool late: its ignition configuration cannot be made: no disk",
        "grace",
        "Look at the ignition server's log",
        {"namespace": f"clusters-{LATE}", "because": "no disk"},
    ),
    Told("maas-full", "machine <name>: MAAS has no machine that fits", do="Free or add machines"),
    Told("maas-error", "machine <name>: MAAS answers with an error (503)", do="Look at MAAS", words={"op": "allocate"}),
    Told("maas-key-revoked", "machine <name>: MAAS does not accept the provider's API key", "grace", PROVIDER_KEY),
    Told("maas-down", "machine <name>: MAAS does not answer the provider", do="Look whether MAAS is up"),
    Told(
        "machine-fails",
        "machine <name>: the deployment failed in MAAS (Failed deployment), another try follows",
        do="Look at the machine's events in MAAS.",
        words={"action": "deploy"},
    ),
    Told("deploys-for-ever", "machine <name>: MAAS deploys it"),
    Told(
        "never-boots",
        "machine <name> (<host>): deployed, has not fetched its ignition configuration yet",
        do="When machines are deployed and this lasts",
    ),
    Told(
        "broken-payload",
        "machine <name> (<host>): deployed, has not fetched its ignition configuration yet",
        do="When machines are deployed and this lasts",
        words={"namespace": f"clusters-{LATE}"},
    ),
    Told(
        "never-asks",
        "machine <name> (<host>): deployed, waiting for its node to join",
        do="When this lasts: look at its console",
    ),
    Told(
        "never-ready",
        "machine <name> (<host>): its node is waiting for its pod network",
        do="When this lasts: look at the pods of openshift-ovn-kubernetes",
    ),
)

#: Of the rollout of a hosted cluster with a node, all at the same time.
ROLLOUT = (
    Told(
        "no-load-balancer",
        "rollout: 4.20.8 waits for console, ingress: ingress needs a load balancer in the hosted cluster",
        do="Install a load balancer in the hosted cluster (MetalLB)",
        words={"namespace": f"clusters-{LATE}"},
    ),
    Told(
        "incomplete",
        "rollout: 4.20.8 waits for console, dns, ingress",
        do="In the hosted cluster, kubectl get clusteroperators says more.",
        words={"namespace": f"clusters-{LATE}", "operator": "dns"},
    ),
    Told(
        "failing-unknown",
        "hosted cluster: its status stands still: slow operators confuse it",
        do="What is said here comes from the HostedControlPlane",
        words={"namespace": f"clusters-{LATE}"},
    ),
)

#: Of a hosted cluster that had all its nodes.
LATER = (
    Told(
        "silent",
        "machine <name> (<host>): its node is silent: its kubelet does not report any more",
        do="Look whether the machine is on",
    ),
    Told(
        "hold",
        "etcd: waiting for quorum",
        do="When this lasts: look at the volumes and pods of etcd",
        words={"name": "etcd"},
    ),
)

#: Of an upgrade to the next minor release.
UPGRADE = Told(
    "not-upgradeable",
    "upgrade: the hosted cluster refuses the next minor release: <reason>",
    "stop",
    "Remove what keeps it from being upgraded",
)

RELEASED = "When this lasts: look whether capi-provider runs in the control plane's namespace"

#: Of a deletion, in the order in which it comes to them: all are begun before it.
ENDS = (
    Told("hold", "machine <name>: waiting for its release in MAAS", do=RELEASED, words={"name": "capi-provider"}),
    Told("stuck", "machine <name>: waiting for its release in MAAS", do=RELEASED, words={"kind": "MaasMachine"}),
    Told(
        "remaining-resources",
        "hosted cluster: removing ingress-controllers,loadbalancers",
        words={"resources": "ingress-controllers,loadbalancers"},
    ),
    Told(
        "stuck",
        "hosted cluster: waiting for its control plane to go",
        do="When this lasts: look whether control-plane-operator runs",
        words={"kind": "HostedControlPlane"},
    ),
    Told(
        "stuck",
        "hosted cluster: waiting for the rest of the control plane's namespace to go",
        do="When this lasts: kubectl describe namespace says what is left in it.",
        words={"kind": "ConfigMap"},
    ),
    Told(
        "stuck",
        "node pool late: being removed",
        do="When this lasts: look whether the operator runs",
        words={"kind": "NodePool"},
    ),
)

#: What makes all slower, or is over by itself: nothing is said of it, and no wait ends.
PASSING = (
    Told("maas-slow", "", words={"seconds": "1"}),
    Told("slow", "", words={"factor": "2"}),
    Told("kill", "", words={"name": f"clusters-{LATE}/cluster-api"}),
)


SILENT_API = "management API: not answering since <time>"

#: Of the management API, and of the watches on it; the wait goes on whatever becomes of it.
STANDS_STILL = Told("pause", "", words={"name": "etcd"})
DOWN = Told("down", SILENT_API, words={"name": "kube-apiserver"})
RESTARTS = Told("restart-api", SILENT_API)
EXPIRES = Told("watch-expiry", SILENT_API)
STUTTERS = Told("stutter", "")
MANAGEMENT = (STANDS_STILL, DOWN, RESTARTS, EXPIRES, STUTTERS)

#: Of a node in place, and of a request that nobody should approve, as the diagnosis has it.
STUCK = "Look at the log of machine-config-daemon"
WHO_ASKS = "Find out who asks. Nobody should approve it before that is known."

#: What is held to its line elsewhere, without the fault: the guide says so.
NOT_COMPARED = (
    Told("other-name", "certificate request <name> of <node>: not approved: <reason>", do=WHO_ASKS),
    Told(
        "other-address",
        "machine <name>: its node is Ready, its serving certificate is not approved: <reason>",
        "grace",
        "metalshift.maas.node_csr lists the certificate requests of nodes, and why each is not approved.",
    ),
    Told("degraded-nodes", "node pool <name>: a node cannot be upgraded in place: <reason>", "grace", STUCK),
    Told(
        "maas-key-plain",
        "machine <name>: the provider's user is not an administrator of MAAS, which each deployment needs",
        "grace",
        "Give the provider the API key of an administrator of MAAS",
    ),
    Told("provider-sleeps", ""),
    Told("provider-releases-twice", ""),
    Told("provider-storms", ""),
)


DOES_NOTHING = "nothing: it passes"
SAYS_ALL = "the line says it all"
#: What differs from one hosted cluster to another.
_OWN = re.compile(rf"\b{LATE}\b|\b\d+\.\d+\.\d+\b")


def documented() -> Iterator[Sequence[str]]:
    """The rows of the documentation: fault, way, line, what becomes of the wait, how the hint begins."""
    for goal, rows in by_goal():
        for each in rows:
            words = "".join(f" ``{key}={_general(value)}``" for key, value in _shown(each))
            line = f"``{_general(each.line)}``" if each.line else "nothing"
            do = each.do or (SAYS_ALL if each.line else DOES_NOTHING)
            yield f"``{each.fault}``{words}", WAYS[goal], line, each.verdict, do


def not_compared() -> Iterator[str]:
    """The faults whose rows no test compares with what is said in a lab."""
    return (f"``{each.fault}``" for each in NOT_COMPARED)


def _general(text: str) -> str:
    return _OWN.sub(lambda found: "<name>" if found[0] == LATE else "<version>", text)


def by_goal() -> Iterator[tuple[Goal, Sequence[Told]]]:
    yield "control_plane", (*AROUND, LACKING, *STAGES)
    yield "control_plane", (UPGRADE,)
    yield "nodes", (*ON_THE_WAY, *LATER, *PASSING)
    yield "complete", ROLLOUT
    yield "gone", ENDS
    yield "nodes", MANAGEMENT
    yield "nodes", NOT_COMPARED


def _shown(each: Told) -> Iterator[tuple[str, str]]:
    """The parameters that make a difference."""
    return ((key, value) for key, value in each.words.items() if key not in ("namespace", "version"))
