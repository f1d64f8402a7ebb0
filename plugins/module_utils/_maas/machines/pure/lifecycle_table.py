# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lifecycle of a MAAS machine as a table, and what each request does to it.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.spec import MachineOp, Power, State
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import Status

# A cell is `done`, `wait`, a request, `recover REQUEST` (only for a status that the task's `recover` names)
# or `refuse WHY`. `present` asks nothing of the status: it has no column.
COLUMNS = (State.READY, State.ALLOCATED, State.DEPLOYED, State.RESCUE, State.BROKEN, State.ABSENT)
# fmt: off
TABLE: Mapping[Status, tuple[str, str, str, str, str, str]] = {
    Status.NEW:
        ("commission", "commission", "commission", "rescue_mode", "refuse unowned", "delete"),
    Status.COMMISSIONING:
        ("wait", "wait", "wait", "wait", "wait", "abort"),
    Status.FAILED_COMMISSIONING:
        ("recover commission", "recover commission", "recover commission", "rescue_mode", "mark_broken", "delete"),
    Status.MISSING:
        ("recover test", "recover test", "recover test", "rescue_mode", "mark_broken", "delete"),
    Status.READY:
        ("done", "allocate", "allocate", "rescue_mode", "allocate", "delete"),
    Status.RESERVED:
        ("release", "release", "release", "rescue_mode", "mark_broken", "release"),
    Status.DEPLOYED:
        ("release", "refuse deployed", "done", "rescue_mode", "mark_broken", "release"),
    Status.RETIRED:
        ("refuse retired", "refuse retired", "refuse retired", "rescue_mode", "mark_broken", "delete"),
    Status.BROKEN:
        ("recover release", "recover mark_fixed", "recover mark_fixed", "rescue_mode", "done", "delete"),
    Status.DEPLOYING:
        ("release", "refuse deploying", "wait", "wait", "mark_broken", "release"),
    Status.ALLOCATED:
        ("release", "done", "deploy", "rescue_mode", "mark_broken", "release"),
    Status.FAILED_DEPLOYMENT:
        ("release", "recover release", "recover release", "rescue_mode", "mark_broken", "release"),
    Status.RELEASING:
        ("wait", "wait", "wait", "wait", "wait", "wait"),
    Status.FAILED_RELEASING:
        ("release", "recover release", "recover release", "recover release", "mark_broken", "release"),
    Status.DISK_ERASING:
        ("wait", "wait", "wait", "wait", "wait", "wait"),
    Status.FAILED_DISK_ERASING:
        ("recover release", "recover release", "recover release", "rescue_mode", "mark_broken", "recover release"),
    Status.RESCUE_MODE:
        ("exit_rescue_mode", "exit_rescue_mode", "exit_rescue_mode", "done", "mark_broken", "exit_rescue_mode"),
    Status.ENTERING_RESCUE_MODE:
        ("wait", "wait", "wait", "wait", "wait", "wait"),
    Status.FAILED_ENTERING_RESCUE_MODE:
        ("recover exit_rescue_mode", "recover exit_rescue_mode", "recover exit_rescue_mode", "recover rescue_mode",
         "mark_broken", "delete"),
    Status.EXITING_RESCUE_MODE:
        ("wait", "wait", "wait", "wait", "wait", "wait"),
    # MAAS has no transition from here into rescue mode: the way leads out first.
    Status.FAILED_EXITING_RESCUE_MODE:
        ("recover exit_rescue_mode", "recover exit_rescue_mode", "recover exit_rescue_mode", "recover exit_rescue_mode",
         "mark_broken", "delete"),
    Status.TESTING:
        ("wait", "wait", "wait", "wait", "wait", "abort"),
    # Not releasable, and `commission` is refused: overriding the tests is the only way on.
    Status.FAILED_TESTING:
        ("recover override_failed_testing", "recover override_failed_testing", "recover override_failed_testing",
         "rescue_mode", "mark_broken", "delete"),
}
# fmt: on


@dataclass(frozen=True)
class Effect:
    """What a request does: why it is sent, the statuses on its way, and where it ends."""

    reason: str
    good: tuple[Status | None, ...] = ()
    via: tuple[Status, ...] = ()
    bad: tuple[Status, ...] = ()
    power: Power | None = None


# No `good`: the end depends on the status before, see lifecycle._ends.
EFFECTS: Mapping[MachineOp, Effect] = {
    MachineOp.ENLIST: Effect("MAAS does not know it", (Status.NEW, Status.COMMISSIONING)),
    MachineOp.COMMISSION: Effect(
        "MAAS has to discover and test its hardware",
        (Status.READY,),
        (Status.COMMISSIONING, Status.TESTING),
        (Status.FAILED_COMMISSIONING, Status.FAILED_TESTING, Status.NEW, Status.BROKEN),
    ),
    MachineOp.ALLOCATE: Effect("it has to be held by this user", (Status.ALLOCATED,)),
    # Somebody may abort, release or mark it meanwhile; that is no reason to start again.
    MachineOp.DEPLOY: Effect(
        "an operating system is to be installed",
        (Status.DEPLOYED,),
        (Status.DEPLOYING,),
        (Status.FAILED_DEPLOYMENT, Status.ALLOCATED, Status.READY, Status.BROKEN),
    ),
    # A machine that was never commissioned ends New; a VM that `allocate` composed is removed.
    MachineOp.RELEASE: Effect(
        "it is held and has to be given back",
        (Status.READY, Status.NEW, None),
        (Status.RELEASING, Status.DISK_ERASING),
        (Status.FAILED_RELEASING, Status.FAILED_DISK_ERASING),
    ),
    MachineOp.ABORT: Effect("what runs has to be stopped"),
    MachineOp.TEST: Effect("its hardware is to be tested", (), (Status.TESTING,), (Status.FAILED_TESTING,)),
    MachineOp.OVERRIDE_FAILED_TESTING: Effect("its failed tests are accepted"),
    MachineOp.RESCUE_MODE: Effect(
        "it is to be repaired",
        (Status.RESCUE_MODE,),
        (Status.ENTERING_RESCUE_MODE,),
        (Status.FAILED_ENTERING_RESCUE_MODE,),
    ),
    MachineOp.EXIT_RESCUE_MODE: Effect(
        "it has to leave rescue mode", (), (Status.EXITING_RESCUE_MODE,), (Status.FAILED_EXITING_RESCUE_MODE,)
    ),
    MachineOp.MARK_BROKEN: Effect("nobody is to use it", (Status.BROKEN,)),
    MachineOp.MARK_FIXED: Effect("it was marked as broken"),
    MachineOp.LOCK: Effect("it is to be protected from changes"),
    MachineOp.UNLOCK: Effect("it is locked, and the task says locked: false"),
    MachineOp.POWER_ON: Effect("it is to be powered on", power=Power.ON),
    MachineOp.POWER_OFF: Effect("it is to be powered off", power=Power.OFF),
    MachineOp.DELETE: Effect("MAAS is to forget it", (None,)),
}

# None: it returns to what it was before.
ABORT_ENDS: Mapping[Status | None, Status | None] = {
    Status.COMMISSIONING: Status.NEW,
    Status.DEPLOYING: Status.ALLOCATED,
    Status.DISK_ERASING: Status.FAILED_DISK_ERASING,
    Status.TESTING: None,
}
COMMISSIONABLE = frozenset({Status.NEW, Status.FAILED_COMMISSIONING, Status.READY, Status.BROKEN})
# A passed test returns these to themselves, and every other status to Ready.
TEST_KEEPS = frozenset(
    {Status.NEW, Status.FAILED_COMMISSIONING, Status.READY, Status.RESERVED, Status.ALLOCATED, Status.DEPLOYED}
)

# What a request leaves the power at, for predictions.
POWER_AFTER: Mapping[MachineOp, Power] = {
    MachineOp.COMMISSION: Power.OFF,
    MachineOp.DEPLOY: Power.ON,
    MachineOp.RELEASE: Power.OFF,
    MachineOp.ABORT: Power.OFF,
    MachineOp.RESCUE_MODE: Power.ON,
    MachineOp.MARK_BROKEN: Power.OFF,
    MachineOp.POWER_ON: Power.ON,
    MachineOp.POWER_OFF: Power.OFF,
}
