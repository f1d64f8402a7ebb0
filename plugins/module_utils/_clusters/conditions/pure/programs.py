# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the programs that a hosted cluster needs run, and why not.

A Deployment says how many pods are available. A program that has stopped in its tracks is still counted as available;
it does not renew its lease any more.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.table import condition
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.fields import at, number, objects, text
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import Object
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import name_of
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.times import seconds_of, stamp_of

# Leases are renewed every few seconds; a busy API server delays that.
LEASE_MARGIN = 15.0
# The lease that a program renews as long as it works, by the name of its Deployment.
LEASES: Mapping[str, str] = {
    "operator": "hypershift-operator-leader-elect",
    "control-plane-operator": "control-plane-operator-leader-elect",
    "cluster-api": "controller-leader-election-capi",
    "capi-provider": "controller-leader-election-capmaas",
}
# What pods wait for without anything being wrong.
BEGINNINGS = frozenset({"ContainerCreating", "PodInitializing"})


@dataclass(frozen=True)
class Outage:
    """A program that does not run, or does not go on."""

    kind: str
    name: str
    namespace: str
    # How it is, as a sentence goes on after its name.
    how: str
    since: str = ""
    # What its pods say; empty if they say nothing.
    why: str = ""
    # Somebody has told it not to run.
    wanted: bool = False

    @property
    def label(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


def outages(workloads: Sequence[Object], pods: Sequence[Object], leases: Sequence[Object]) -> Iterator[Outage]:
    """The Deployments and StatefulSets that do not run as they should.

    The newest of all leases is the clock by which the others are late: ours may go otherwise than the cluster's.
    """
    by_place = {(text(body, "metadata", "namespace"), name_of(body)): body for body in leases}
    newest = max((renewed for body in leases if (renewed := _renewed(body)) is not None), default=0.0)
    for body in workloads:
        asked = at(body, "spec", "replicas")
        replicas = asked if isinstance(asked, int) else 1
        there = number(body, "status", "availableReplicas")
        place = (str(body["kind"]), name_of(body), text(body, "metadata", "namespace"))
        since = _since(body)
        if replicas == 0:
            if name_of(body) in LEASES:
                yield Outage(*place, "is scaled to 0", since, wanted=True)
        elif there < replicas:
            how = "does not run" if there == 0 else f"has {there} of {replicas} pods"
            yield Outage(*place, how, since, _why(body, pods))
        else:
            silent = _silent_since(by_place.get((place[2], LEASES.get(place[1], ""))), newest)
            if silent is not None:
                yield Outage(*place, "seems to run, and does not do anything", stamp_of(silent))


def missing(name: str, namespace: str) -> Outage:
    return Outage("Deployment", name, namespace, "does not exist")


def _since(body: Object) -> str:
    shown = condition(body, "Available")
    if text(shown, "status") == "False":
        return text(shown, "lastTransitionTime")
    return "" if shown else text(body, "metadata", "creationTimestamp")


def _silent_since(lease: Object | None, newest: float) -> float | None:
    """When a program last renewed its lease, if that is too long ago. One that ended well has given its lease back."""
    renewed = _renewed(lease)
    if renewed is None or not text(lease, "spec", "holderIdentity"):
        return None
    return renewed if newest - renewed > number(lease, "spec", "leaseDurationSeconds") + LEASE_MARGIN else None


def _renewed(lease: Object | None) -> float | None:
    return seconds_of(at(lease, "spec", "renewTime"))


def _why(workload: Object, pods: Sequence[Object]) -> str:
    """What keeps its pods, in the words of the scheduler or of the kubelet."""
    own = [pod for pod in pods if _is_of(pod, workload)]
    for pod in own:
        scheduled = condition(pod, "PodScheduled")
        if text(scheduled, "status") == "False":
            return _said(scheduled)
        for container in (
            *objects(pod, "status", "initContainerStatuses"),
            *objects(pod, "status", "containerStatuses"),
        ):
            waiting = at(container, "state", "waiting")
            if text(waiting, "reason") not in ("", *BEGINNINGS):
                return _said(waiting)
            ended = at(container, "state", "terminated") or at(container, "lastState", "terminated")
            if number(ended, "exitCode"):
                return f"it ended with exit code {number(ended, 'exitCode')}"
    return "" if own else "it has no pods"


def _is_of(pod: Object, workload: Object) -> bool:
    """Names of a Deployment's pods end in two random words, those of a StatefulSet's in a number."""
    if text(pod, "metadata", "namespace") != text(workload, "metadata", "namespace"):
        return False
    own = name_of(pod).rpartition("-")[0]
    return name_of(workload) in (own, own.rpartition("-")[0])


def _said(words: object) -> str:
    return ": ".join(part for part in (text(words, "reason"), " ".join(text(words, "message").split())) if part)
