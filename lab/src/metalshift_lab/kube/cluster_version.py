# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cluster version operator reports of a rollout: pure functions of how old it is and which operators are up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any

from metalshift_lab.kube import times
from metalshift_lab.kube.api import Object

# Seconds that a rollout takes at least, and after which operators that are missing count as an error.
ROLLOUT, PATIENCE = 300.0, 900.0
STEP = 30.0
MANIFESTS = 597
SLOW = "over 30 minutes which is longer than expected"


class Needs(Enum):
    """The Ready nodes that an operator's workloads need."""

    NONE = "none"
    ONE = "one"
    # As many as the infrastructure's availability policy asks for.
    ENOUGH = "enough"


@dataclass(frozen=True)
class Operator:
    """A cluster operator, what it needs, and what it says while it has not got it."""

    name: str
    needs: Needs = Needs.NONE
    capability: str = ""
    reason: str = ""
    message: str = ""


OPERATORS = (
    Operator(
        "console",
        Needs.ENOUGH,
        "Console",
        "Deployment_InsufficientReplicas",
        "DeploymentAvailable: 0 replicas available for console deployment",
    ),
    Operator("csi-snapshot-controller", capability="CSISnapshot"),
    Operator("dns", Needs.ONE, "", "DNSUnavailable", 'DNS "default" is unavailable.'),
    Operator(
        "image-registry",
        Needs.ENOUGH,
        "ImageRegistry",
        "NoReplicasAvailable",
        "Available: The deployment does not have available replicas",
    ),
    Operator(
        "ingress",
        Needs.ENOUGH,
        "Ingress",
        "IngressUnavailable",
        'The "default" ingress controller reports Available=False: IngressControllerUnavailable: '
        "One or more status conditions indicate unavailable",
    ),
    Operator("insights", Needs.ONE, "Insights", "PeriodicGatherFailed", "The insights operator has no node to run on"),
    Operator("kube-apiserver"),
    Operator("kube-controller-manager"),
    Operator("kube-scheduler"),
    Operator(
        "kube-storage-version-migrator",
        Needs.ONE,
        "",
        "KubeStorageVersionMigrator_Deploying",
        "KubeStorageVersionMigratorAvailable: Waiting for Deployment",
    ),
    Operator(
        "monitoring",
        Needs.ENOUGH,
        "",
        "UpdatingPrometheusOperatorFailed",
        "UpdatingPrometheusOperator: waiting for Deployment to roll out",
    ),
    Operator("network", Needs.ONE, "", "Startup", "The network is starting up"),
    Operator("node-tuning", capability="NodeTuning"),
    Operator("openshift-apiserver"),
    Operator("openshift-controller-manager"),
    Operator("openshift-samples", capability="openshift-samples"),
    Operator("operator-lifecycle-manager", capability="OperatorLifecycleManager"),
    Operator("operator-lifecycle-manager-catalog", capability="OperatorLifecycleManager"),
    Operator("operator-lifecycle-manager-packageserver", capability="OperatorLifecycleManager"),
    Operator("service-ca", Needs.ONE, "", "_NoReplicas", "Available: deployment/service-ca has no available replicas"),
    Operator("storage", capability="Storage"),
)


@dataclass(frozen=True)
class Release:
    image: str
    version: str


@dataclass(frozen=True)
class Cluster:
    """What the operators of a hosted cluster find there, and which of them are held back."""

    ready_nodes: int
    enough_nodes: int
    #: Whether the routes of applications can be reached: a load balancer has an address, or none is asked for.
    reachable: bool = True
    disabled: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()

    def operators(self) -> list[Operator]:
        return [each for each in OPERATORS if each.capability not in self.disabled or not each.capability]

    def up(self, operator: Operator) -> bool:
        wanted = {Needs.NONE: 0, Needs.ONE: 1, Needs.ENOUGH: self.enough_nodes}[operator.needs]
        # The console is reached through the routes that ingress serves.
        lost = not self.reachable and operator.name in ("ingress", "console")
        return self.ready_nodes >= wanted and not lost and operator.name not in self.held

    def missing(self) -> list[str]:
        return [each.name for each in self.operators() if not self.up(each)]


@dataclass(frozen=True)
class Rollout:
    """How far a release is: its age in seconds of a real cluster, and the operators that are not up."""

    release: Release
    age: float
    missing: Sequence[str] = ()
    slow: bool = False
    not_upgradeable: str = ""
    channel: str = ""
    history: Sequence[Object] = field(default_factory=tuple)

    @property
    def finished(self) -> bool:
        return self.age >= ROLLOUT and not self.missing


def history(before: Sequence[Object], release: Release, finished: bool, now: datetime) -> list[Object]:
    """The releases that were applied, the newest first; only the newest can still be on its way."""
    head = before[0] if before else None
    if head is not None and head["image"] == release.image:
        if head["state"] == "Completed" or not finished:
            return list(before)
        return [{**head, "state": "Completed", "completionTime": times.stamp(now)}, *before[1:]]
    begun = {
        "image": release.image,
        "version": release.version,
        "state": "Partial",
        "startedTime": times.stamp(now),
        "completionTime": None,
        "verified": False,
    }
    ended = [{**entry, "completionTime": entry.get("completionTime") or times.stamp(now)} for entry in before]
    return [begun, *ended]


def age(entries: Sequence[Object], now: datetime) -> float:
    """Seconds since the newest release was begun."""
    started = times.parsed(entries[0]["startedTime"]) if entries else None
    return (now - started).total_seconds() if started else 0.0


def conditions(rollout: Rollout) -> list[Object]:
    """The conditions of a ClusterVersion, but for the times of their changes."""
    entries = rollout.history
    applied = next((entry["version"] for entry in entries if entry["state"] == "Completed"), "")
    release = rollout.release
    failing, progressing = _trouble(rollout)
    made = [
        _condition("Available", bool(applied), "", f"Done applying {applied}" if applied else ""),
        failing,
        progressing,
        _condition(
            "ReleaseAccepted",
            True,
            "PayloadLoaded",
            f'Payload loaded version="{release.version}" image="{release.image}" architecture="amd64"',
        ),
        _condition("ImplicitlyEnabledCapabilities", False, "AsExpected", "Capabilities match configured spec"),
        _updates(rollout),
    ]
    if rollout.not_upgradeable:
        made.append(_condition("Upgradeable", False, "ClusterOperatorsNotUpgradeable", rollout.not_upgradeable))
    return made


def _updates(rollout: Rollout) -> Object:
    if not rollout.channel:
        return _condition("RetrievedUpdates", False, "NoChannel", "The update channel has not been configured.")
    # The lab has no way out to where channels are served.
    said = "Unable to retrieve available updates: no route to the update service"
    return _condition("RetrievedUpdates", False, "RemoteFailed", said)


def _trouble(rollout: Rollout) -> tuple[Object, Object]:
    """Failing and Progressing, which tell the same story."""
    version, missing = rollout.release.version, list(rollout.missing)
    done = bool(rollout.history) and rollout.history[0]["state"] == "Completed"
    if rollout.slow:
        said = f"waiting on {', '.join(missing) or 'ingress'} {SLOW}"
        failing = {"type": "Failing", "status": "Unknown", "reason": "SlowClusterOperator", "message": said}
        return failing, _condition("Progressing", True, "SlowClusterOperator", f"{_working(rollout)}, {said}")
    fine = _condition("Failing", False, "", "")
    if done and not missing:
        return fine, _condition("Progressing", False, "", f"Cluster version is {version}")
    if done or (missing and rollout.age >= PATIENCE):
        reason, message, short = _not_available(missing)
        said = f"Error while reconciling {version}: {short}" if done else f"Unable to apply {version}: {short}"
        return _condition("Failing", True, reason, message), _condition("Progressing", not done, reason, said)
    waiting = f", waiting on {', '.join(missing)}" if missing and rollout.age >= ROLLOUT else ""
    return fine, _condition("Progressing", True, "", _working(rollout) + waiting)


def _working(rollout: Rollout) -> str:
    # In steps: each text is written to three objects, and read by operators.
    done = int(min(rollout.age // STEP * STEP / ROLLOUT, 0.98) * MANIFESTS)
    percent = done * 100 // MANIFESTS
    return f"Working towards {rollout.release.version}: {done} of {MANIFESTS} done ({percent}% complete)"


def _not_available(missing: Sequence[str]) -> tuple[str, str, str]:
    if len(missing) == 1:
        name = missing[0]
        said = f"Cluster operator {name} is not available"
        return "ClusterOperatorNotAvailable", said, f"the cluster operator {name} is not available"
    said = f"Cluster operators {', '.join(missing)} are not available"
    return "ClusterOperatorsNotAvailable", said, "some cluster operators are not available"


def _condition(kind: str, status: bool, reason: str, message: str) -> Object:
    """Without a reason when there is none, as the real one writes it."""
    made: Object = {"type": kind, "status": "True" if status else "False", "message": message}
    return {**made, "reason": reason} if reason else made


def operator_status(
    operator: Operator, cluster: Cluster, before: Mapping[str, Any], release: Release, rolled: bool
) -> Object:
    """The status of a ClusterOperator. Its version is that of the last release under which it was up."""
    up = cluster.up(operator)
    versions = before.get("versions") or []
    if up and rolled:
        versions = [{"name": "operator", "version": release.version}]
    was_up = bool(before.get("versions"))
    reason, message = ("AsExpected", "") if up else (operator.reason or "HeldBack", operator.message)
    said = [
        _condition("Available", up, reason, message),
        _condition("Progressing", not up, reason, message),
        _condition("Degraded", was_up and not up, reason, message),
        _condition("Upgradeable", True, "AsExpected", ""),
    ]
    return {"conditions": said, "versions": versions}


def rolled(operator: str, operators: Iterable[Operator], age: float) -> bool:
    """Operators take over a release one after the other."""
    names = [each.name for each in operators]
    return age >= ROLLOUT * (names.index(operator) + 1) / len(names)


def for_control_plane(reported: Iterable[Object]) -> list[Object]:
    """The conditions of a HostedControlPlane that are copied from those of the ClusterVersion."""
    known = {each["type"]: each for each in reported}
    made = []
    for kind in ("Failing", "ReleaseAccepted", "RetrievedUpdates", "Progressing", "Upgradeable", "Available"):
        found = known.get(kind)
        if found is not None:
            status, reason, message = found["status"], found.get("reason") or "FromClusterVersion", found["message"]
        else:
            # Only an obstacle to upgrades is ever reported; none of the others is ever left out for long.
            free = kind == "Upgradeable"
            status, reason = ("True", "FromClusterVersion") if free else ("Unknown", "StatusUnknown")
            message = "Condition not found in the CVO."
        made.append({"type": f"ClusterVersion{kind}", "status": status, "reason": reason, "message": message})
    return made


def merged(before: Sequence[Object], wanted: Iterable[Object], now: datetime, **more: Any) -> list[Object]:
    """The conditions with those wanted ones set; the time of a change stays while the status does."""
    result = {entry["type"]: entry for entry in before}
    for entry in wanted:
        old = result.get(entry["type"])
        same = old is not None and old["status"] == entry["status"]
        since = old["lastTransitionTime"] if same and old is not None else times.stamp(now)
        result[entry["type"]] = {**entry, **more, "lastTransitionTime": since}
    return list(result.values())
