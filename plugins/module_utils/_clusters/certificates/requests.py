# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The certificate requests of one hosted cluster, looked at once: the work of a task.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates.approval import (
    approve,
    in_maas,
    look,
    owners_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates.pure.judgement import CsrVerdict
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.listing import hosted_api, sight
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import PASSING, Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan, Step
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import CSRS, NODES
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines

if TYPE_CHECKING:
    from ansible_collections.metalshift.maas.plugins.module_utils._kube.client import Kube

UNREACHABLE_HINT = (
    "Look whether the control plane is available, and whether its address is reached from where this task runs; "
    "hosted_kubeconfig takes a kubeconfig with another one."
)


def converge_requests(task: Task) -> Result:
    """Approve what belongs to the machines of one hosted cluster, and list the rest with its reasons."""
    if task.params["max_age"] <= 0:
        raise invalid(f"max_age must be more than 0 seconds, not {task.params['max_age']}.")
    # What is wrong with the options for MAAS is said before anything is asked.
    machines = Machines(task.maas)
    seen = sight(task.kube, task.params["namespace"], task.params["name"], may_lack=task.check)
    if task.check and seen.cluster is None:
        # An earlier task of the play may be the one that would have made it.
        return _result(task, Plan(), [], [f"There is no hosted cluster {seen.label} yet."])
    _must_own_machines(seen)
    hosted = _hosted(task, seen)
    try:
        seen = replace(seen, nodes=hosted.list(NODES), requests=hosted.list(CSRS))
    except Failure as failure:
        raise _of_hosted_api(failure, seen, hosted) from None
    known = in_maas(machines, seen)
    verdicts = look(
        seen,
        known,
        owners_of(task, seen, machines) if known else (),
        max_age=task.params["max_age"],
        reissue=task.params["reissue"] or (),
    )
    plan = Plan([_step(verdict) for verdict in verdicts if verdict.approved])
    if not task.check:
        try:
            verdicts = approve(hosted, seen, verdicts)
        except Failure as failure:
            raise _of_hosted_api(failure, seen, hosted) from None
    return _result(task, plan, verdicts)


def _result(task: Task, plan: Plan, verdicts: Sequence[CsrVerdict], warnings: Sequence[str] = ()) -> Result:
    counting = [verdict for verdict in verdicts if not verdict.superseded]
    return Result(
        changed=any(verdict.approved for verdict in verdicts),
        values={
            "certificate_requests": [shown(verdict, predicted=task.check) for verdict in counting],
            "summary": {
                "approved": sum(verdict.approved for verdict in counting),
                "waiting": sum(verdict.passing for verdict in counting),
                "refused": sum(not verdict.approved and not verdict.passing for verdict in counting),
                "superseded": len(verdicts) - len(counting),
            },
        },
        plan=plan,
        warnings=warnings,
    )


def shown(verdict: CsrVerdict, predicted: bool = False) -> dict[str, Any]:
    """A verdict as results show it."""
    said = {**vars(verdict), "age": round(verdict.age), "passing": verdict.passing}
    return {**said, "predicted": True} if predicted and verdict.approved else said


def _must_own_machines(seen: ClusterSnapshot) -> None:
    if seen.cluster is None:
        raise Failure(
            "not_found",
            f"There is no hosted cluster {seen.label}.",
            object=seen.label,
            hint="Check its name and namespace.",
        )
    platform = (seen.cluster["spec"].get("platform") or {}).get("type")
    if platform != "MAAS":
        raise Failure(
            "unsupported",
            f"The hosted cluster {seen.label} is of the platform {platform}: nothing says which machines are its own.",
            object=seen.label,
            hint="Only clusters of the platform MAAS own machines.",
        )


def _hosted(task: Task, seen: ClusterSnapshot) -> Kube:
    from ansible_collections.metalshift.maas.plugins.module_utils._kube.client import Kube
    from ansible_collections.metalshift.maas.plugins.module_utils._kube.connection import Access

    given = task.params["hosted_kubeconfig"]
    if given:
        return task.joined(
            Kube(Access.from_params({"kubeconfig": given}, {}), clock=task.clock, deadline=task.deadline)
        )
    hosted = hosted_api(task, seen)
    if hosted is None:
        raise Failure(
            "failed_state",
            f"The hosted cluster {seen.label} has not published a kubeconfig yet.",
            object=seen.label,
            hint="Wait until its control plane is available.",
        )
    return hosted


def _of_hosted_api(failure: Failure, seen: ClusterSnapshot, hosted: Kube) -> Failure:
    """A failure that says whose API it is about."""
    return replace(
        failure,
        message=f"The API of the hosted cluster {seen.label} at {hosted.server} could not be asked: {failure.message}",
        object=seen.label,
        reason=failure.reason or failure.message,
        hint=UNREACHABLE_HINT if failure.kind in PASSING else failure.hint,
    )


def _step(verdict: CsrVerdict) -> Step:
    return Step(
        "approve",
        f"certificate request {verdict.name}",
        f"{verdict.kind}, {verdict.node}",
        {"approved": False},
        {"approved": True},
    )
