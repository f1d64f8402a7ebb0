# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine that accepts and refuses requests as MAAS was seen to, written without a look at the lifecycle's table."""

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.spec import (
    OwnerKind,
    Power,
    Situation,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import Status

S = Status
ANY = frozenset(S)
UNTESTABLE = {
    S.COMMISSIONING,
    S.DEPLOYING,
    S.RELEASING,
    S.DISK_ERASING,
    S.ENTERING_RESCUE_MODE,
    S.EXITING_RESCUE_MODE,
    S.TESTING,
}
ACCEPTED_IN = {
    "commission": {S.NEW, S.FAILED_COMMISSIONING, S.READY, S.BROKEN},
    "allocate": {S.READY},
    "deploy": {S.READY, S.ALLOCATED},
    "release": {
        S.ALLOCATED,
        S.RESERVED,
        S.BROKEN,
        S.DEPLOYING,
        S.DEPLOYED,
        S.FAILED_DEPLOYMENT,
        S.FAILED_DISK_ERASING,
        S.FAILED_RELEASING,
    },
    "abort": {S.COMMISSIONING, S.DEPLOYING, S.DISK_ERASING, S.TESTING},
    "test": ANY - UNTESTABLE,
    "override_failed_testing": {S.FAILED_TESTING},
    "rescue_mode": ANY - UNTESTABLE - {S.RESCUE_MODE, S.FAILED_RELEASING, S.FAILED_EXITING_RESCUE_MODE},
    "exit_rescue_mode": {
        S.RESCUE_MODE,
        S.ENTERING_RESCUE_MODE,
        S.FAILED_ENTERING_RESCUE_MODE,
        S.FAILED_EXITING_RESCUE_MODE,
    },
    "mark_broken": ANY - {S.READY, S.NEW},
    "mark_fixed": {S.BROKEN},
    "lock": {S.DEPLOYED, S.DEPLOYING},
    "unlock": ANY,
    "power_on": ANY - {S.ALLOCATED, S.RESERVED},  # there it is taken for a deployment
    "power_off": ANY,
    "delete": ANY,
}
STARTS = {
    "commission": S.COMMISSIONING,
    "allocate": S.ALLOCATED,
    "deploy": S.DEPLOYING,
    "test": S.TESTING,
    "rescue_mode": S.ENTERING_RESCUE_MODE,
    "exit_rescue_mode": S.EXITING_RESCUE_MODE,
    "mark_broken": S.BROKEN,
}
ENDS = {
    S.COMMISSIONING: (S.READY, S.FAILED_COMMISSIONING),
    S.DEPLOYING: (S.DEPLOYED, S.FAILED_DEPLOYMENT),
    S.RELEASING: (S.READY, S.FAILED_RELEASING),
    S.DISK_ERASING: (S.READY, S.FAILED_DISK_ERASING),
    S.ENTERING_RESCUE_MODE: (S.RESCUE_MODE, S.FAILED_ENTERING_RESCUE_MODE),
    S.EXITING_RESCUE_MODE: (None, S.FAILED_EXITING_RESCUE_MODE),
    S.TESTING: (None, S.FAILED_TESTING),
}
TEST_RETURNS = {S.NEW, S.FAILED_COMMISSIONING, S.READY, S.RESERVED, S.ALLOCATED, S.DEPLOYED}
LEAVES_POWER = {
    "commission": Power.OFF,
    "deploy": Power.ON,
    "release": Power.OFF,
    "abort": Power.OFF,
    "rescue_mode": Power.ON,
    "mark_broken": Power.OFF,
    "power_on": Power.ON,
    "power_off": Power.OFF,
}
# MAAS does not remember these as what a machine was before.
PASSING = {
    S.TESTING,
    S.RESCUE_MODE,
    S.ENTERING_RESCUE_MODE,
    S.FAILED_ENTERING_RESCUE_MODE,
    S.EXITING_RESCUE_MODE,
    S.FAILED_EXITING_RESCUE_MODE,
}


class RefusedByMaas(Exception):
    pass


@dataclass
class ModelledMachine:
    status: Status | None
    owner: OwnerKind = OwnerKind.NONE
    locked: bool = False
    power: Power = Power.OFF
    before: Status = Status.READY
    installed: bool = False
    commissioned: bool = True
    composed: bool = False

    def do(self, op: str, params: dict[str, str]) -> None:
        if self.status not in ACCEPTED_IN[op]:
            raise RefusedByMaas(f"{op} in {self.status!r}")
        if self.locked is not (op == "unlock") and (self.locked or op == "unlock"):
            raise RefusedByMaas(f"{op} while locked={self.locked}")
        if op == "mark_broken" and self.owner is not OwnerKind.ME:
            raise RefusedByMaas("mark_broken of a machine that is not ours")
        if op == "power_on" and self.owner is OwnerKind.NONE:
            raise RefusedByMaas("power_on of a machine that nobody holds")
        self.power = LEAVES_POWER.get(op, self.power)
        getattr(self, f"_{op}", lambda _: None)(params)
        if op in STARTS:
            self._become(STARTS[op])

    def finish(self, well: bool) -> None:
        """The end of a running transition."""
        good, bad = ENDS[self.status]
        if not well:
            self._become(bad)
        elif self.status is S.TESTING:
            self._become(self.before if self.before in TEST_RETURNS else S.READY)
        elif self.status in (S.RELEASING, S.DISK_ERASING):
            self._become(None if self.composed else S.READY if self.commissioned else S.NEW)
        else:
            self.commissioned |= self.status is S.COMMISSIONING
            self._become(good or self.before)

    def seen(self, **facts: object) -> Situation:
        previous = S.DEPLOYED if self.installed else None
        return Situation("node-7", self.status, self.owner, self.locked, self.power, previous=previous, **facts)

    def _become(self, status: Status | None) -> None:
        if self.status not in PASSING:
            self.before = self.status
        self.status = status
        self.installed = status is S.DEPLOYED or (self.installed and status not in (S.NEW, S.READY, S.BROKEN))
        if status in (None, S.NEW, S.READY):
            self.owner = OwnerKind.NONE

    def _allocate(self, params: dict[str, str]) -> None:
        self.owner = OwnerKind.ME

    def _release(self, params: dict[str, str]) -> None:
        self._become(S.DISK_ERASING if params.get("erase") else S.RELEASING)

    def _abort(self, params: dict[str, str]) -> None:
        back = {S.COMMISSIONING: S.NEW, S.DEPLOYING: S.ALLOCATED, S.DISK_ERASING: S.FAILED_DISK_ERASING}
        self._become(back.get(self.status, self.before))

    def _override_failed_testing(self, params: dict[str, str]) -> None:
        self._become(S.DEPLOYED if self.installed else S.READY)

    def _mark_fixed(self, params: dict[str, str]) -> None:
        self._become(S.DEPLOYED if self.before is S.DEPLOYED else S.READY)

    def _lock(self, params: dict[str, str]) -> None:
        self.locked = True

    def _unlock(self, params: dict[str, str]) -> None:
        self.locked = False

    def _delete(self, params: dict[str, str]) -> None:
        self.status = None
