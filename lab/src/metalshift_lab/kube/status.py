# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The status that a cluster would report of its workloads: pure functions of what is known of their pods."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from metalshift_lab.kube.api import Object

Condition = dict[str, Any]


@dataclass(frozen=True)
class Standing:
    """The pods of a workload: how many are wanted, of the newest template, and available; and what is wrong."""

    wanted: int
    updated: int
    available: int
    revision: str
    trouble: str = ""

    @property
    def settled(self) -> bool:
        return self.updated == self.available == self.wanted


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def conditions(before: list[Condition], wanted: list[Condition]) -> list[Condition]:
    """The wanted conditions, each with the time since which its status is as it is."""
    known = {entry["type"]: entry for entry in before}
    result = []
    for entry in wanted:
        old = known.get(entry["type"], {})
        same = old.get("status") == entry["status"]
        result.append({**entry, "lastTransitionTime": old["lastTransitionTime"] if same else now()})
    return result


def deployment(body: Object, standing: Standing) -> Object:
    before = body.get("status", {})
    enough = standing.available >= standing.wanted
    available: Condition = {
        "type": "Available",
        "status": "True" if enough else "False",
        "reason": "MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable",
        "message": f"Deployment {'has' if enough else 'does not have'} minimum availability.",
    }
    name = f"{body['metadata']['name']}-{standing.revision}"
    verb = "has successfully progressed" if standing.settled else "is progressing"
    progressing: Condition = {
        "type": "Progressing",
        "status": "True",
        "reason": "NewReplicaSetAvailable" if standing.settled else "ReplicaSetUpdated",
        "message": f'ReplicaSet "{name}" {verb}.',
    }
    wanted = [available, progressing]
    if standing.trouble:
        failure = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": standing.trouble}
        wanted.append(failure)
    made = conditions(before.get("conditions", []), wanted)
    old = {entry["type"]: entry for entry in before.get("conditions", [])}
    for entry in made:
        known = old.get(entry["type"], {})
        same = all(known.get(field) == entry.get(field) for field in ("status", "reason", "message"))
        entry["lastUpdateTime"] = known["lastUpdateTime"] if same and "lastUpdateTime" in known else now()
    return {**_replicas(body, standing), "updatedReplicas": standing.updated, "conditions": made}


def stateful_set(body: Object, standing: Standing) -> Object:
    revision = f"{body['metadata']['name']}-{standing.revision}"
    current = body.get("status", {}).get("currentRevision") or revision
    return {
        **_replicas(body, standing),
        "updatedReplicas": standing.updated,
        "currentReplicas": standing.wanted,
        "currentRevision": revision if standing.settled else current,
        "updateRevision": revision,
    }


def _replicas(body: Object, standing: Standing) -> Object:
    return {
        "observedGeneration": body["metadata"]["generation"],
        "replicas": standing.wanted,
        "readyReplicas": standing.available,
        "availableReplicas": standing.available,
        **(
            {"unavailableReplicas": max(standing.wanted - standing.available, 0)}
            if body["kind"] == "Deployment"
            else {}
        ),
    }


def job_done(body: Object) -> Object:
    """A Job that has run once and succeeded."""
    wanted: list[Condition] = [
        {"type": kind, "status": "True", "reason": "CompletionsReached", "message": ""}
        for kind in ("SuccessCriteriaMet", "Complete")
    ]
    started = body.get("status", {}).get("startTime") or now()
    return {
        "succeeded": body["spec"].get("completions") or 1,
        "startTime": started,
        "completionTime": now(),
        "conditions": conditions([], wanted),
    }


def differs(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether writing `after` would change anything; what is zero need not be said."""
    return any((before.get(field) or None) != (value or None) for field, value in after.items())
