# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which VM a machine of MAAS is, where several hosts have one of its name.

A host that was lost and comes back brings its old VMs along, and a backup may have been restored elsewhere. What MAAS
says decides: the MAC addresses of the machine, and where MAAS switches it. Where that leaves a doubt, nobody guesses.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Copy:
    """A VM of a name on one host, or volumes that were left of one."""

    host: str
    macs: frozenset[str] = frozenset()
    claim: str = ""
    # Whether it proves to be what a run left: never started and made empty, or marked as being removed.
    half_made: bool = False
    # Where the VM itself is gone, the volumes that are its disks.
    disks: tuple[str, ...] = ()

    @property
    def is_vm(self) -> bool:
        return not self.disks


@dataclass(frozen=True)
class Home:
    """Where the VM of a machine is; empty if that is not known, and then with what is in doubt, in words."""

    host: str = ""
    doubt: str = ""


def home(name: str, macs: frozenset[str], copies: Sequence[Copy], switched_on: Callable[[], str]) -> Home:
    """The home of the machine with these MAC addresses.

    `switched_on` asks MAAS for the host on which it switches the machine under this name; empty if that is none of the
    task's hosts. It is asked only if the MAC addresses leave a question.
    """
    vms = [copy for copy in copies if copy.is_vm]
    same = [copy.host for copy in vms if copy.macs & macs]
    if len(same) == len(vms) == 1:
        return Home(same[0])
    switched = switched_on()
    differing = [copy.host for copy in vms if copy.macs and macs and not copy.macs & macs]
    if len(same) == 1 and switched not in differing:
        return Home(same[0])
    if len(same) != 1 and switched not in differing and (not same or switched in same):
        return Home(switched)
    if len(vms) == 1:
        return Home(doubt=f"{name}: MAAS switches it on {switched}, and the VM there has other MAC addresses")
    places = " and on ".join(sorted(copy.host for copy in vms))
    return Home(doubt=f"{name} is on {places}, and MAAS does not tell which of them it means")
