# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The statuses of a MAAS machine: what each is called, whether it lasts, and where it leads.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum


class StatusKind(Enum):
    STABLE = "stable"
    TRANSITIONAL = "transitional"
    FAILED = "failed"


class Status(IntEnum):
    """MAAS's numbers; the names are those by which MAAS filters (`GET machines/?status=failed_releasing`)."""

    NEW = 0
    COMMISSIONING = 1
    FAILED_COMMISSIONING = 2
    MISSING = 3
    READY = 4
    RESERVED = 5
    DEPLOYED = 6
    RETIRED = 7
    BROKEN = 8
    DEPLOYING = 9
    ALLOCATED = 10
    FAILED_DEPLOYMENT = 11
    RELEASING = 12
    FAILED_RELEASING = 13
    DISK_ERASING = 14
    FAILED_DISK_ERASING = 15
    RESCUE_MODE = 16
    ENTERING_RESCUE_MODE = 17
    FAILED_ENTERING_RESCUE_MODE = 18
    EXITING_RESCUE_MODE = 19
    FAILED_EXITING_RESCUE_MODE = 20
    TESTING = 21
    FAILED_TESTING = 22

    @property
    def label(self) -> str:
        """The `status_name` of MAAS: "Failed to enter rescue mode"."""
        return FACTS[self].label

    @property
    def word(self) -> str:
        """The label as options and summaries spell it: "failed_to_enter_rescue_mode"."""
        return self.label.lower().replace(" ", "_")

    @property
    def filter(self) -> str:
        """The word that `GET machines/?status=` wants: "failed_entering_rescue_mode"."""
        return self.name.lower()

    @property
    def kind(self) -> StatusKind:
        return FACTS[self].kind

    @property
    def leads_to(self) -> Status | None:
        """Where a transition ends when all goes well; None where it returns to the status before it."""
        return FACTS[self].leads_to

    @property
    def fails_as(self) -> Status | None:
        return FACTS[self].fails_as


@dataclass(frozen=True)
class Facts:
    label: str
    kind: StatusKind
    meaning: str
    leads_to: Status | None = None
    fails_as: Status | None = None


# fmt: off
FACTS: Mapping[Status, Facts] = {
    Status.NEW: Facts("New", StatusKind.STABLE, "Known, but its hardware is not."),
    Status.COMMISSIONING: Facts(
        "Commissioning", StatusKind.TRANSITIONAL, "Boots to discover and test its hardware.",
        Status.READY, Status.FAILED_COMMISSIONING),
    Status.FAILED_COMMISSIONING: Facts(
        "Failed commissioning", StatusKind.FAILED, "A commissioning script failed, or it never reported."),
    Status.MISSING: Facts("Missing", StatusKind.FAILED, "It could not be found any more."),
    Status.READY: Facts("Ready", StatusKind.STABLE, "Commissioned and free."),
    Status.RESERVED: Facts("Reserved", StatusKind.STABLE, "Kept for a user; only old versions of MAAS set it."),
    Status.DEPLOYED: Facts("Deployed", StatusKind.STABLE, "Runs the operating system that MAAS installed."),
    Status.RETIRED: Facts("Retired", StatusKind.STABLE, "Taken out of service."),
    Status.BROKEN: Facts("Broken", StatusKind.FAILED, "Somebody marked it as broken."),
    Status.DEPLOYING: Facts(
        "Deploying", StatusKind.TRANSITIONAL, "Installs an operating system.",
        Status.DEPLOYED, Status.FAILED_DEPLOYMENT),
    Status.ALLOCATED: Facts("Allocated", StatusKind.STABLE, "Held by a user, nothing installed."),
    Status.FAILED_DEPLOYMENT: Facts(
        "Failed deployment", StatusKind.FAILED, "The installation failed or never reported."),
    Status.RELEASING: Facts(
        "Releasing", StatusKind.TRANSITIONAL, "Powers off on its way to Ready.",
        Status.READY, Status.FAILED_RELEASING),
    Status.FAILED_RELEASING: Facts(
        "Releasing failed", StatusKind.FAILED, "It could not be powered off, or a release script failed."),
    Status.DISK_ERASING: Facts(
        "Disk erasing", StatusKind.TRANSITIONAL, "Erases its disks on its way to Ready.",
        Status.READY, Status.FAILED_DISK_ERASING),
    Status.FAILED_DISK_ERASING: Facts("Failed disk erasing", StatusKind.FAILED, "Its disks may still hold data."),
    Status.RESCUE_MODE: Facts("Rescue mode", StatusKind.STABLE, "Runs a system in memory for repair."),
    Status.ENTERING_RESCUE_MODE: Facts(
        "Entering rescue mode", StatusKind.TRANSITIONAL, "Boots the system for repair.",
        Status.RESCUE_MODE, Status.FAILED_ENTERING_RESCUE_MODE),
    Status.FAILED_ENTERING_RESCUE_MODE: Facts(
        "Failed to enter rescue mode", StatusKind.FAILED, "The system for repair did not boot."),
    Status.EXITING_RESCUE_MODE: Facts(
        "Exiting rescue mode", StatusKind.TRANSITIONAL, "Returns to what it was before rescue mode.",
        None, Status.FAILED_EXITING_RESCUE_MODE),
    Status.FAILED_EXITING_RESCUE_MODE: Facts(
        "Failed to exit rescue mode", StatusKind.FAILED, "It could not leave the system for repair."),
    Status.TESTING: Facts(
        "Testing", StatusKind.TRANSITIONAL, "Runs hardware tests, then returns to what it was.",
        None, Status.FAILED_TESTING),
    Status.FAILED_TESTING: Facts("Failed testing", StatusKind.FAILED, "A hardware test failed."),
}
# fmt: on

STATUS_OF_WORD: Mapping[str, Status] = {status.word: status for status in Status}

# What a user may name in `recover`.
RECOVERABLE: tuple[Status, ...] = tuple(status for status in Status if status.kind is StatusKind.FAILED)

# A user holds the machine: its owner and its claim count. Elsewhere the owner is only whoever started the transition.
HELD: frozenset[Status] = frozenset(
    {
        Status.RESERVED,
        Status.ALLOCATED,
        Status.DEPLOYING,
        Status.DEPLOYED,
        Status.FAILED_DEPLOYMENT,
        Status.FAILED_RELEASING,
        Status.FAILED_DISK_ERASING,
        Status.BROKEN,
        Status.RESCUE_MODE,
        Status.FAILED_ENTERING_RESCUE_MODE,
        Status.FAILED_EXITING_RESCUE_MODE,
    }
)
