# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a machine cannot get what is wished, in words for whoever is woken by it.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.spec import (
    LifecycleFailure,
    MachineAct,
    MachineSpec,
    Power,
    Situation,
    State,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import Status

CANNOT_REACH: Mapping[State, str] = {
    State.PRESENT: "cannot be kept as it is",
    State.READY: "cannot be made ready",
    State.ALLOCATED: "cannot be allocated",
    State.DEPLOYED: "cannot be deployed",
    State.RESCUE: "cannot enter rescue mode",
    State.BROKEN: "cannot be marked as broken",
    State.ABSENT: "cannot be removed",
}
CANNOT_ACT: Mapping[MachineAct, str] = {
    MachineAct.TEST: "cannot be tested",
    MachineAct.RECOMMISSION: "cannot be commissioned again",
    MachineAct.POWER_CYCLE: "cannot be power cycled",
    MachineAct.ABORT: "cannot be aborted",
}


@dataclass(frozen=True)
class Text:
    """`why` and `hint` are filled in by `refuse`; {said} is what MAAS itself says."""

    kind: str
    why: str
    hint: str
    # Whether the machine only has to be deployed first.
    awaits_deployment: bool = False


TEXTS: Mapping[str, Text] = {
    "unknown": Text(
        "not_found",
        "MAAS does not know it",
        "Check the name, or give what enlisting needs: architecture, mac_addresses, power_type and power_parameters.",
    ),
    "removed": Text(
        "not_found",
        "somebody removed it from MAAS while this task worked on it",
        "Find out who did; a later run enlists it again if the task says what that needs.",
    ),
    "gone": Text(
        "not_found",
        "it was a virtual machine that MAAS had composed for one allocation, and its release removed it",
        "Compose it with the module vm, which keeps it.",
    ),
    "locked": Text(
        "conflict", "it is locked", "Set locked: false to unlock it first; whoever locked it meant it to stay as it is."
    ),
    "claimed": Text(
        "claimed",
        "{claim} holds it",
        "Scale that down or release it there{under}; take_over: true takes the machine from under it.",
    ),
    "hosted": Text(
        "claimed",
        "{claim} uses it, and Cluster API would only put another machine in its place",
        "To have it back, scale its node pool down with node_pool; to repair it, first pause the cluster with "
        "paused: true of hosted_cluster. take_over: true takes the machine from under it.",
    ),
    "owned": Text(
        "claimed",
        "another user of MAAS holds it",
        "Use that user's key, or set take_over: true if the machine may be taken from them.",
    ),
    "unowned": Text(
        "conflict",
        "it is {status}, and MAAS lets only a machine's owner mark it as broken, not even an administrator",
        "Bring it to Ready first with state: ready; a Ready machine is allocated and then marked.",
    ),
    "deployed": Text(
        "conflict",
        "it is Deployed, and only a release, which gives up what runs on it, leads from there to Allocated",
        "Release it with {ready} first if nothing on it is needed.",
    ),
    "deploying": Text(
        "conflict",
        "it is Deploying, and stopping that is not asked for",
        "Stop the deployment with act: abort; the machine is Allocated then.",
    ),
    "retired": Text(
        "conflict",
        "it is Retired, and MAAS has no request that undoes this",
        "Test it with act: test; a machine that passes becomes Ready.",
    ),
    "failed": Text(
        "failed_state",
        "it is {in_status}{said}",
        "{otherwise}llow it with recover: [{word}], which {recovery}.",
    ),
    "recovered": Text(
        "failed_state",
        "it is {in_status} again{said}, after this run had recovered it once",
        "Find the cause in its events and script results before the next attempt.",
    ),
    "unerased": Text(
        "failed_state",
        "it is {in_status}{said}, and its disks may still hold data",
        "Set erase: true to erase once more, or erase: false to accept that the data stay.",
    ),
    "act_failed": Text(
        "failed_state",
        "it ended in {status}{said}",
        "Look at its events and script results. {again}.",
    ),
    "stopped": Text(
        "conflict",
        "it is {status} again before it was through, so somebody stopped what this run had started",
        "Its events name the user; run the task again if it is still wanted.",
    ),
    "circle": Text(
        "conflict",
        "it is {status} again, and the same request was sent from there before",
        "Find out who else changes this machine; its events name the users.",
    ),
    "idle": Text(
        "conflict",
        "it is {status}, where nothing runs that could be stopped",
        "Only Commissioning, Testing, Deploying and Disk erasing can be aborted.",
    ),
    "not_commissionable": Text(
        "conflict",
        "it is {status}, and MAAS commissions only New, Ready, Broken and Failed commissioning machines",
        "Set state: ready as well to bring it to Ready first.",
    ),
    "not_lockable": Text(
        "conflict",
        "it is {status}, and MAAS locks only Deployed and Deploying machines",
        "Leave out locked, or set state: deployed.",
        awaits_deployment=True,
    ),
    "power_unknown": Text(
        "conflict",
        "MAAS does not know whether it is on",
        "Check its power type and parameters; with power_type manual nothing can switch it.",
    ),
    "power_free": Text(
        "conflict",
        "it is {status} and nobody holds it; MAAS powers on only machines that somebody holds",
        "Deploy it with state: deployed, or boot it for repair with state: rescue.",
        awaits_deployment=True,
    ),
    "power_allocated": Text(
        "conflict",
        "it is {status}, where MAAS takes a power-on for a deployment with default settings",
        "Deploy it with state: deployed, or leave out power.",
        awaits_deployment=True,
    ),
}

# What `recover` does, by failed status; the documentation's list is made from it.
RECOVERY: Mapping[Status, str] = {
    Status.FAILED_COMMISSIONING: "commissions it again",
    Status.MISSING: "tests it and goes on from Ready if it passes",
    Status.BROKEN: "marks it as fixed (for state: ready, releases it)",
    Status.FAILED_DEPLOYMENT: "releases it and goes on from Ready",
    Status.FAILED_RELEASING: "releases it again and goes on from Ready",
    Status.FAILED_DISK_ERASING: "releases it again, with the erasure that erase says",
    Status.FAILED_ENTERING_RESCUE_MODE: "tries again, or leaves rescue mode if that is not wished",
    Status.FAILED_EXITING_RESCUE_MODE: "tries to leave rescue mode again",
    Status.FAILED_TESTING: "accepts the failed tests; to run them again, use act: test",
}


def refuse(why: str, now: Situation, wish: MachineSpec) -> LifecycleFailure:
    """The refusal of a wish, for a reason out of TEXTS."""
    text = TEXTS[why]
    status = now.status
    words = {
        "status": status.label if status is not None else "unknown",
        "word": status.word if status is not None else "",
        "claim": now.claim,
        "under": f", or set claim: {now.annotated} here to work under it" if now.annotated else "",
        "ready": _ready(now),
        "recovery": RECOVERY.get(status, "") if status is not None else "",
        "said": f" ({now.message.rstrip('.')})" if now.message else "",
        "in_status": _in_status(status),
        "otherwise": _otherwise(now, wish),
        "again": _again(now),
    }
    reason = f"{now.name} {_cannot(why, wish)}: {text.why.format(**words)}."
    return LifecycleFailure(reason, text.hint.format(**words), text.kind, text.awaits_deployment)


def _in_status(status: Status | None) -> str:
    if status is None:
        return "unknown"
    return status.label if status in (Status.BROKEN, Status.MISSING) else f"in {status.label}"


def _ready(now: Situation) -> str:
    """What gives a machine back: one under a claim only to who names that."""
    return "state: ready" + (f" and claim: {now.annotated}" if now.annotated else "")


def _again(now: Situation) -> str:
    """What does once more what has failed."""
    if now.status is not None and now.status in RECOVERY and now.status is not Status.FAILED_TESTING:
        return f"recover: [{now.status.word}] {RECOVERY[now.status]}"
    return "act: test runs the tests again"


def _otherwise(now: Situation, wish: MachineSpec) -> str:
    """The way that needs no `recover`, if there is one."""
    giving_back = wish.state in (State.READY, State.ABSENT)
    if now.status is Status.FAILED_DISK_ERASING and giving_back and not wish.erase:
        return "Set erase: true to erase once more, or a"
    if now.status in (Status.FAILED_DEPLOYMENT, Status.FAILED_RELEASING) and not giving_back:
        return f"Release it with {_ready(now)}, or a"
    return "A"


def _cannot(why: str, wish: MachineSpec) -> str:
    if why == "not_lockable":
        return "cannot be locked"
    if why in ("idle", "not_commissionable") and wish.act:
        return CANNOT_ACT[wish.act]
    if why == "act_failed" and wish.act:
        return f"did not pass act: {wish.act.value}"
    if why.startswith("power_"):
        if wish.act is MachineAct.POWER_CYCLE:
            return CANNOT_ACT[wish.act]
        return f"cannot be powered {'on' if wish.power is Power.ON else 'off'}"
    if wish.state is State.PRESENT:
        return CANNOT_ACT[wish.act] if wish.act else "cannot be changed"
    return CANNOT_REACH[wish.state]
