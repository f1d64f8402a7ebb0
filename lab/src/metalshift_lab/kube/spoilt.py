# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifests of hosted clusters, spoilt in one thing each: applied together, looked at one by one."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from metalshift_lab.kube.api import Object
from metalshift_lab.kube.examples import hosted_cluster
from metalshift_lab.kube.handle import Lab
from metalshift_lab.kube.sights import Sight

#: The first thing that a pass of the operator does, and its words when it cannot do it.
FAILED = ("ReconciliationSucceeded", "False", "ReconciliationError")
PASSED = Sight("ReconciliationSucceeded", "True", "ReconciliatonSucceeded", "Reconciliation completed successfully")
LOAD_BALANCER = {"type": "LoadBalancer"}


@dataclass
class Manifests:
    """The objects of one hosted cluster, to be spoilt."""

    lab: Lab
    objects: list[Object]

    @property
    def cluster(self) -> Object:
        return self.objects[-1]

    @property
    def spec(self) -> Object:
        spec: Object = self.cluster["spec"]
        return spec

    def secret(self, suffix: str) -> Object:
        return next(each for each in self.objects if each["metadata"]["name"].endswith(suffix))

    def without(self, suffix: str) -> None:
        self.objects.remove(self.secret(suffix))

    def publish(self, service: str, how: Object) -> None:
        """Publish a service in another way."""
        for each in self.spec["services"]:
            if each["service"] == service:
                each["servicePublishingStrategy"] = how

    def network(self, **networks: str) -> None:
        self.spec["networking"].update({name: [{"cidr": cidr}] for name, cidr in networks.items()})

    def configure(self, **objects: Any) -> None:
        self.spec.setdefault("configuration", {}).update(objects)


def _nothing_else(_lab: Lab, _cluster: Object) -> bool:
    return True


@dataclass(frozen=True)
class Case:
    """What is spoilt, what the HostedCluster says then, and which conditions it never gets."""

    name: str
    spoil: Callable[[Manifests], object]
    sights: tuple[Sight, ...]
    never: tuple[str, ...] = ()
    beyond: Callable[[Lab, Object], bool] = _nothing_else


def release(version: str) -> Callable[[Manifests], object]:
    return lambda the: the.spec["release"].update(image=the.lab.release(version))


def failed(message: str) -> Sight:
    return Sight(*FAILED, message)


def secret(name: str, namespace: str, data: dict[str, str]) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": namespace},
        "data": {key: base64.b64encode(value.encode()).decode() for key, value in data.items()},
    }


def applied(lab: Lab, cases: Sequence[Case], namespace: str, *more: Object) -> Iterator[Lab]:
    """All of them at once, and what they refer to; the clusters are deleted in the end."""
    spoilt = [Manifests(lab, hosted_cluster(case.name, lab.release(), namespace=namespace)) for case in cases]
    for case, manifests in zip(cases, spoilt, strict=True):
        case.spoil(manifests)
    space: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    lab.apply([space, *more, *(body for manifests in spoilt for body in manifests.objects)])
    yield lab
    # They go while other tests run. What is held stays so, or all the programs of these clusters would start now.
    lab.kubectl("-n", namespace, "delete", "hostedclusters", "--all", "--wait=false")
    for fault in ("release-incomplete", "release-empty"):
        lab.heal(fault)
