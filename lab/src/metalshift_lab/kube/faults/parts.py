# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of the stand-ins in the supervisor: each knows its own, and those of control planes come and go meanwhile."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar
from weakref import WeakKeyDictionary

from metalshift_lab.kube import cluster_version, machines
from metalshift_lab.kube.faults.fault import MUST, Effect, Fault, Words

if TYPE_CHECKING:
    from metalshift_lab.kube.supervisor import Supervisor

ANYWHERE = {"namespace": ".*"}


class Fallible(Protocol):
    """A part that can be told to go wrong."""

    def faults(self) -> dict[str, Callable[..., None]]:
        """Name → what begins it."""

    def heal(self) -> None:
        """End all of them."""


P = TypeVar("P", bound=Fallible)


@dataclass(frozen=True, eq=False)
class Standing:
    """What is wrong with parts of this kind, those that are there and those to come."""

    kind: str
    namespace: re.Pattern[str]
    fault: str
    words: Words

    def concerns(self, kind: str, namespace: str) -> bool:
        return self.kind == kind and self.namespace.fullmatch(namespace) is not None


class Parts:
    """The stand-ins that run now, by kind and namespace, and what is wrong with them."""

    def __init__(self) -> None:
        self._standing: list[Standing] = []
        self._known: WeakKeyDictionary[Fallible, tuple[str, str]] = WeakKeyDictionary()
        self._lock = threading.RLock()

    def join(self, part: P, kind: str, namespace: str = "") -> P:
        """A part that will be started; what stands of its kind and namespace goes for it too."""
        with self._lock:
            self._known[part] = kind, namespace
            self._break(part, self._standing)
        return part

    def begin(self, standing: Standing) -> None:
        with self._lock:
            for part in self._concerned(standing):
                part.faults()[standing.fault](**standing.words)
            self._standing.append(standing)

    def end(self, standing: Standing) -> None:
        """The part knows only how to be rid of all its faults: the others are told anew."""
        with self._lock:
            left = [each for each in self._standing if each is not standing]
            for part in self._concerned(standing):
                part.heal()
                self._break(part, left)
            # Only now: what fails before can be ended once more.
            self._standing = left

    def _break(self, part: Fallible, standing: Iterable[Standing]) -> None:
        for each in standing:
            if each.concerns(*self._known[part]):
                part.faults()[each.fault](**each.words)

    def _concerned(self, standing: Standing) -> list[Fallible]:
        return [part for part, (kind, namespace) in self._known.items() if standing.concerns(kind, namespace)]


def _nothing_wrong(_lab: Supervisor, _words: Words) -> None:
    """All words will do."""


def _a_release(lab: Supervisor, words: Words) -> None:
    """Asked only in the beginning: a release may go while the fault stands, which is then told anew."""
    known = lab.registry.versions
    if words["version"] not in known:
        raise ValueError(f"There is no release {words['version']}; there are {', '.join(known)}.")


def _an_operator(_lab: Supervisor, words: Words) -> None:
    """While no hosted cluster is there, nobody else would refuse it."""
    known = [each.name for each in cluster_version.OPERATORS]
    if words["operator"] not in known:
        raise ValueError(f"There is no cluster operator {words['operator']}; there are {', '.join(known)}.")


def _fault(
    kind: str,
    own: str,
    meaning: str,
    parameters: Mapping[str, str | None] | None = None,
    check: Callable[[Supervisor, Words], None] = _nothing_wrong,
) -> Fault:
    def begin(lab: Supervisor, words: Words) -> Effect:
        check(lab, words)
        namespace = words.get("namespace", "")
        told = {key: value for key, value in words.items() if key != "namespace"}
        standing = Standing(kind, re.compile(namespace), own, told)
        lab.parts.begin(standing)
        said = ", ".join(f"{key} {value}" for key, value in words.items() if value)
        return Effect(f"{meaning}{f' ({said})' if said else ''}", lambda: lab.parts.end(standing))

    return Fault(meaning, begin, parameters or {})


REGISTRY, IGNITION, VERSIONS, MACHINES = "registry", "ignition", "versions", "machines"

FAULTS = {
    "registry-down": _fault(REGISTRY, "down", "the registry of release images refuses connections"),
    "registry-private": _fault(REGISTRY, "unauthorized", "the registry requires credentials"),
    "release-gone": _fault(
        REGISTRY,
        "missing",
        "the release image of a version is removed from the registry (who has read it before caches it for hours)",
        {"version": MUST},
        _a_release,
    ),
    "release-empty": _fault(
        REGISTRY, "no-release", "the release image of a version does not contain a release", {"version": MUST}
    ),
    "release-incomplete": _fault(
        REGISTRY,
        "incomplete",
        "the registry has another release, in which a component is missing",
        {"version": MUST, "lacks": "oauth-server"},
    ),
    "no-payload": _fault(IGNITION, "no-payload", "no Ignition payload is generated", ANYWHERE),
    "bad-payload": _fault(
        IGNITION,
        "bad-payload",
        "Ignition payloads cannot be generated, and the NodePool says why",
        {**ANYWHERE, "because": "machine-config-operator process failed: exit status 255"},
    ),
    "broken-payload": _fault(IGNITION, "broken-payload", "the Ignition server fails with status 500", ANYWHERE),
    "incomplete": _fault(
        VERSIONS,
        "incomplete",
        "an operator in the hosted cluster does not become available, so the rollout does not complete",
        {**ANYWHERE, "operator": "ingress"},
        _an_operator,
    ),
    "failing-unknown": _fault(
        VERSIONS,
        "failing-unknown",
        "the cluster version operator reports Failing as Unknown, which freezes the status of the HostedCluster",
        ANYWHERE,
    ),
    "no-load-balancer": _fault(
        VERSIONS, "no-load-balancer", "Services of type LoadBalancer in the hosted cluster get no address", ANYWHERE
    ),
    "not-upgradeable": _fault(
        VERSIONS,
        "not-upgradeable",
        "the hosted cluster reports that it cannot be upgraded to the next minor release",
        {**ANYWHERE, "because": "Cluster operator ingress should not be upgraded"},
    ),
    "remaining-resources": _fault(
        VERSIONS,
        "remaining-resources",
        "a deletion that cleans up cloud resources finds some that cannot be deleted",
        {**ANYWHERE, "resources": "ingress-controllers,loadbalancers,persistent-volumes"},
    ),
    "degraded-nodes": _fault(
        VERSIONS,
        "degraded-nodes",
        "in-place upgrades of nodes do not finish",
        {**ANYWHERE, "because": "unexpected on-disk state validating against rendered-worker"},
    ),
    **{
        name: _fault(MACHINES, name, kind.meaning, {"hostname": "", **kind.defaults})
        for name, kind in machines.FAULTS.items()
    },
}
