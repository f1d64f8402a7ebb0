# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a hosted cluster's control plane and its rollout are.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.findings import (
    Finding,
    finding,
    found,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.hypershift import RECREATE
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.table import (
    FAILING,
    SUCCEEDING,
    condition,
    conditions_of,
    meaning_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.fields import at, number, objects, text
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import HOSTED_CLUSTERS, Object
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import is_deleted

KIND, PLANE = "HostedCluster", "HostedControlPlane"

#: What must be right before anything begins: said only when it is not.
CHECKS = (
    "ReconciliationActive",
    "SupportedHostedCluster",
    "ValidConfiguration",
    "ValidReleaseImage",
    "PlatformCredentialsFound",
    "ValidHostedControlPlaneConfiguration",
    "ValidReleaseInfo",
    "ExternalDNSReachable",
    "ClusterVersionReleaseAccepted",
    "Progressing",
    "ReconciliationSucceeded",
)
#: One after the other, each with the next one's beginning.
STAGES = ("InfrastructureReady", "EtcdAvailable", "KubeAPIServerAvailable", "Available")
#: The ways to publish a service that the operators can go.
WAYS = {"Ignition": ("Route", "NodePort"), "OAuthServer": ("Route", "NodePort")}
PUBLISHED = ("APIServer", "OAuthServer", "OIDC", "Konnectivity", "Ignition")

NOT_FOUND = "The hosted control plane is not found"
OPERATOR_HINT = "When this lasts: look whether the operator runs in namespace hypershift, and in its log."
STARTING_HINT = (
    "When this lasts: look at the pods control-plane-operator in the control plane's namespace; its image may "
    "not be there to pull."
)
OPERATORS_HINT = "In the hosted cluster, kubectl get clusteroperators says more."
FORGOTTEN_HINT = (
    "The operator has not looked again since; any change of the hosted cluster, even an annotation, makes it."
)
FROZEN_HINT = "What is said here comes from the HostedControlPlane, which goes on."
BALANCER_HINT = (
    "Install a load balancer in the hosted cluster (MetalLB), or set endpointPublishingStrategy of the "
    "IngressController openshift-ingress-operator/default to HostNetwork or NodePortService."
)


def is_true(body: Object | None, which: str) -> bool:
    return text(condition(body, which), "status") == "True"


def is_seen(cluster: Object | None) -> bool:
    """Whether the operator has looked at the HostedCluster as it is now."""
    shown = condition(cluster, "ReconciliationSucceeded")
    return shown is not None and number(shown, "observedGeneration") >= number(cluster, "metadata", "generation")


def is_frozen(sight: ClusterSnapshot) -> bool:
    """While its version operator does not know whether it fails, the HostedCluster's status cannot be written."""
    return text(condition(sight.control_plane, FAILING), "status") == "Unknown"


def serves(sight: ClusterSnapshot) -> bool:
    """Whether there is an API server with a kubeconfig."""
    known = (sight.control_plane, sight.cluster) if is_frozen(sight) else (sight.cluster,)
    return any(is_true(body, "Available") for body in known) and bool(kubeconfig(sight))


def kubeconfig(sight: ClusterSnapshot) -> str:
    return text(sight.cluster, "status", "kubeconfig", "name")


def ignites(sight: ClusterSnapshot) -> bool:
    """Whether it is known where machines get their configuration."""
    return bool(text(sight.cluster, "status", "ignitionEndpoint"))


def is_reached(sight: ClusterSnapshot) -> bool:
    """Whether the control plane is there as it is to be now."""
    cluster = sight.cluster
    return (
        cluster is not None
        and not is_deleted(cluster)
        and serves(sight)
        and is_seen(cluster)
        and is_true(cluster, "ReconciliationSucceeded")
        and _is_handed_over(cluster)
    )


def _is_handed_over(cluster: Object) -> bool:
    """Whether the control plane has been given the release: it is neither on its way, nor refused."""
    upgrade = found(KIND, cluster, "Progressing")
    return upgrade is None or upgrade.is_fine


def control_plane(sight: ClusterSnapshot) -> Iterator[Finding]:
    """What is wrong, and how far the stages are: those that are passed, and the one that it is at."""
    cluster = sight.cluster
    if cluster is None:
        yield finding("HostedCluster", "hosted cluster", "there is none", "grace", "Create it, or correct its name.")
        return
    if is_deleted(cluster):
        yield finding(
            "HostedCluster", "hosted cluster", "being deleted", "stop", "Wait till it is gone, and create it anew."
        )
        return
    wrong = list(_checks(cluster))
    yield from wrong
    if not is_seen(cluster):
        yield finding("operator", "hosted cluster", "waiting for the operator", hint=OPERATOR_HINT)
    elif not wrong:
        silent = _silence(sight, cluster)
        yield from [silent] if silent is not None else []
    if conditions_of(sight.control_plane):
        yield from _stages(sight, cluster)


def _checks(cluster: Object) -> Iterator[Finding]:
    """What several conditions say is said once."""
    said: list[str] = []
    for which in CHECKS:
        one = found(KIND, cluster, which)
        shown = condition(cluster, which)
        if one is None or one.is_fine or text(shown, "status") == "Unknown":
            continue
        message = text(shown, "message")
        if not any(earlier in message for earlier in said):
            yield one
        if message:
            said.append(message)


def _silence(sight: ClusterSnapshot, cluster: Object) -> Finding | None:
    """What the operator does not say: it has done all that it will do, or it does not say what it waits for."""
    if not is_true(cluster, "ReconciliationSucceeded") or is_true(cluster, "Available"):
        return None
    if condition(cluster, "ReconciliationActive") is None:
        return _unserved(cluster, "Ignition") or finding(
            "silence", "hosted cluster", "the operator does nothing, and does not say why", "grace", OPERATOR_HINT
        )
    if sight.control_plane is None and text(condition(cluster, "EtcdAvailable"), "message") == NOT_FOUND:
        return _not_created(cluster) if is_true(cluster, "PlatformCredentialsFound") else None
    if sight.control_plane is not None and not conditions_of(sight.control_plane):
        return finding(
            "silence",
            "control plane",
            "waiting for its operator to start",
            hint=STARTING_HINT,
        )
    if sight.control_plane is not None and not is_true(sight.control_plane, "InfrastructureReady"):
        return _unserved(cluster, "OAuthServer")
    return None


def _not_created(cluster: Object) -> Finding:
    """One pass of the operator makes it, unless a key of encryption is missing: then it says nothing."""
    one = finding("silence", "control plane", "being created", "grace", OPERATOR_HINT)
    secret = text(cluster, "spec", "secretEncryption", "aescbc", "activeKey", "name")
    if not secret:
        return Finding(one.topic, one.meaning, final="the operator does not create it, and does not say why")
    hint = f'Look whether Secret "{secret}" has the key "key" with 32 bytes; the operator goes on when it has.'
    shown = finding(one.topic, "control plane", "being created", "grace", hint)
    return Finding(one.topic, shown.meaning, final=f'the operator does not create it: Secret "{secret}" lacks its key')


def _unserved(cluster: Object, service: str) -> Finding | None:
    """A service that is published in a way that the operators cannot go, which they do not say."""
    ways = {
        text(each, "service"): text(each, "servicePublishingStrategy", "type")
        for each in objects(cluster, "spec", "services")
    }
    way = ways.get(service, "")
    if way in WAYS[service]:
        return None
    how = f"published by {way}" if way else "not published"
    hint = f"Publish {service} by {' or '.join(WAYS[service])}. {RECREATE}"
    return finding("silence", "services", f"{service} is {how}, which the operators cannot do", "stop", hint)


def _stages(sight: ClusterSnapshot, cluster: Object) -> Iterator[Finding]:
    """The HostedControlPlane knows it first; what it does not say, the HostedCluster does."""
    for which in STAGES:
        one = found(PLANE, sight.control_plane, which) or found(KIND, cluster, which)
        if one is None:
            return
        yield one
        if not one.is_fine:
            return
    yield from _identity(sight)
    if not kubeconfig(sight):
        yield finding("kubeconfig", "kubeconfig", "waiting for the operator to publish it")


def _identity(sight: ClusterSnapshot) -> Iterator[Finding]:
    """Before there is an API server, each provider of identities is said to be wrong."""
    one = found(PLANE, sight.control_plane, "ValidIDPConfiguration")
    if one is not None and not one.is_fine and kubeconfig(sight):
        yield one


def ignition(sight: ClusterSnapshot) -> Finding:
    """How far it is till machines can get their configuration.

    A pass of the operator that misses the server's address ends quietly, and nothing may begin the next one.
    """
    which, subject = "IgnitionEndpointAvailable", "ignition server"
    if ignites(sight):
        return finding(which, subject, "machines can get their configuration", "fine")
    one = found(KIND, sight.cluster, which) or finding(which, subject, "not started yet")
    if not one.is_fine:
        return one
    missed = finding(which, subject, "waiting for the operator to publish its address", hint=FORGOTTEN_HINT)
    return replace(missed, touch=(HOSTED_CLUSTERS, sight.name))


# -- the rollout ----------------------------------------------------------------------------------------------------


def is_complete(sight: ClusterSnapshot) -> bool:
    """Whether the newest entry of the history is the release that is asked for, and completed."""
    newest = _newest(sight)
    return text(newest, "state") == "Completed" and is_release(text(sight.cluster, "spec", "release", "image"), newest)


def is_release(image: str, entry: Object) -> bool:
    """Whether an entry of the history can be this image, which may be named by tag, and there by digest.

    Where neither the name nor the version tells, the operator does: Progressing is True till they are the same.
    """
    other = text(entry, "image")
    if image == other:
        return True
    digest, other_digest = image.partition("@")[2], other.partition("@")[2]
    if digest and other_digest:
        return digest == other_digest
    tag = image.partition("@")[0].rpartition("/")[2].partition(":")[2]
    version = text(entry, "version")
    if version and re.match(r"\d+\.\d+\.\d+", tag):
        return tag == version or tag.startswith(f"{version}-")
    return True


def rollout(sight: ClusterSnapshot, nodes: int | None) -> Iterator[Finding]:
    """How far the rollout is, with so many nodes Ready, and what it waits for."""
    newest = _newest(sight)
    version = text(newest, "version") or text(sight.cluster, "spec", "release", "image").rpartition("/")[2]
    if is_complete(sight):
        yield finding("rollout", "rollout", f"{version} is complete", "fine")
        return
    plane = sight.control_plane if condition(sight.control_plane, FAILING) else sight.cluster
    missing = _missing(plane)
    if nodes == 0 and missing:
        yield _without_nodes(sight, version)
        return
    wanted = 2 if text(sight.cluster, "spec", "infrastructureAvailabilityPolicy") == "HighlyAvailable" else 1
    if nodes is not None and nodes < wanted and missing:
        yield finding("rollout", "rollout", f"{version} needs {wanted} nodes that are Ready, and has {nodes}")
        return
    if missing:
        yield _waiting_for(sight, version, missing)
        return
    shown = condition(plane, "ClusterVersionProgressing")
    if shown is None:
        yield finding("rollout", "rollout", f"{version} has not begun")
        return
    meaning = meaning_of(KIND, shown, sight.cluster or {})
    said = re.sub(r"(\d+) %", lambda percent: f"{int(percent[1]) // 10 * 10} %", meaning.text)
    yield finding("rollout", "rollout", f"{version} has not begun" if meaning.verdict == "fine" else said)


def frozen(sight: ClusterSnapshot) -> Iterator[Finding]:
    """A status that stands still, as long as it matters."""
    if is_frozen(sight) and kubeconfig(sight):
        yield finding(
            "status", "hosted cluster", "its status stands still: slow operators confuse it", hint=FROZEN_HINT
        )


def _newest(sight: ClusterSnapshot) -> Object:
    """The newest entry of the history: the HostedCluster's is a copy, which may be late or stand still."""
    history = objects(sight.control_plane, "status", "versionStatus", "history")
    return next(iter(history or objects(sight.cluster, "status", "version", "history")), {})


def _missing(plane: Object | None) -> str:
    """The operators of the hosted cluster that are not available, as they are listed."""
    failing = condition(plane, FAILING) or condition(plane, SUCCEEDING)
    progressing = condition(plane, "ClusterVersionProgressing")
    for message in (text(failing, "message"), text(progressing, "message")):
        listed = re.search(
            r"Cluster operators? (.+?) (?:is|are) not available|waiting on (.+?)(?: over \d+ minutes.*)?$", message
        )
        if listed:
            return listed[1] or listed[2]
    return ""


def _without_nodes(sight: ClusterSnapshot, version: str) -> Finding:
    wanted = any(number(pool, "spec", "replicas") or at(pool, "spec", "autoScaling") for pool in sight.pools.values())
    if wanted:
        return finding("rollout", "rollout", f"{version} waits for nodes: none is Ready")
    hint = "Create a node pool with node_pool; most operators of the hosted cluster need a node to run on."
    return finding("rollout", "rollout", f"{version} waits for nodes, and no node pool asks for any", "grace", hint)


def _waiting_for(sight: ClusterSnapshot, version: str, missing: str) -> Finding:
    names: Sequence[str] = [name.strip() for name in missing.split(",")]
    few = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    # Each hosted cluster on MAAS begins with an IngressController of type LoadBalancerService.
    on_maas = text(sight.cluster, "spec", "platform", "type") == "MAAS"
    if on_maas and set(names) <= {"ingress", "console"} and "ingress" in names:
        said = f"{version} waits for {few}: ingress needs a load balancer in the hosted cluster"
        return finding("rollout", "rollout", said, hint=BALANCER_HINT)
    return finding("rollout", "rollout", f"{version} waits for {few}", hint=OPERATORS_HINT)
