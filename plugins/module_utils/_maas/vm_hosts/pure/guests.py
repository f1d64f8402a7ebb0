# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The VMs on a VM host, and who claims them.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.holders import (
    CLUSTER,
    claim_of,
    holder,
    is_hosted,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine

Note = Mapping[str, Any]

# So many VMs are named in one message; all of them are in the result.
MOST_NAMED = 5


@dataclass(frozen=True)
class Guest:
    """A VM as MAAS knows it: a machine, a note of what LXD has, or both."""

    machine: Machine | None
    note: Note | None
    # What it was allocated under, where MAAS was asked: it can be filtered for, but is not shown.
    agent_name: str = ""

    @property
    def name(self) -> str:
        return str((self.machine or {}).get("hostname") or (self.note or {}).get("identifier") or "")

    @property
    def claim(self) -> str:
        return claim_of(self.machine or {}) or self.agent_name

    @property
    def described(self) -> str:
        """Its name and who has it, in words."""
        owner = (self.machine or {}).get("owner")
        whose = holder(self.machine or {}) or (f"claim {self.claim}" if self.claim else "") or owner
        return f"{self.name} ({whose})" if whose else self.name

    @property
    def shown(self) -> dict[str, Any]:
        machine, note = self.machine or {}, self.note or {}
        plain = ("system_id", "hostname", "status_name", "power_state", "owner", "locked", "ip_addresses")
        cores = len(note.get("pinned_cores") or ()) or note.get("unpinned_cores")
        return {
            "name": note.get("identifier") or machine.get("hostname"),
            **{key: machine.get(key) for key in plain},
            "project": note.get("project"),
            "cores": cores if note else machine.get("cpu_count"),
            "pinned_cores": list(note.get("pinned_cores") or ()),
            "memory": note.get("memory") if note else machine.get("memory"),
            "zone": (machine.get("zone") or {}).get("name"),
            "pool": (machine.get("pool") or {}).get("name"),
            "claim": self.claim or None,
            "hosted_cluster": (machine.get("workload_annotations") or {}).get(CLUSTER),
        }


def guests(
    host: Mapping[str, Any],
    machines: Iterable[Machine],
    notes: Iterable[Note],
    claimed: Mapping[str, str] | None = None,
) -> list[Guest]:
    """The VMs of one host, by name: its machines, and what MAAS has noted of other projects on the same LXD.

    `claimed` are the claims that MAAS was asked about, by system_id.
    """
    own = {note["id"]: note for note in notes if note.get("bmc_id") == host["id"]}
    found = [
        Guest(machine, own.pop(machine.get("virtualmachine_id"), None), (claimed or {}).get(machine["system_id"], ""))
        for machine in machines
        if (machine.get("pod") or {}).get("id") == host["id"]
    ]
    return sorted([*found, *(Guest(None, note) for note in own.values())], key=lambda guest: guest.name)


def in_words(several: Sequence[Guest]) -> str:
    """How many VMs, and which."""
    named = ", ".join(guest.described for guest in several[:MOST_NAMED])
    more = f" and {len(several) - MOST_NAMED} more" if len(several) > MOST_NAMED else ""
    return f"{len(several)} VM{'' if len(several) == 1 else 's'}: {named}{more}"


def refuse_removal(label: str, project: str, found: Sequence[Guest], vms: str | None) -> None:
    """The Failure for a host that cannot go because of what is on it; `vms` says what shall become of them."""
    there = [guest for guest in found if guest.machine or (guest.note or {}).get("project") == project]
    if there and vms is None:
        raise Failure(
            "conflict",
            f"{label} cannot be removed: it has {in_words(there)}.",
            object=label,
            reason="MAAS would forget them with their host",
            hint="Set vms: delete to delete them in MAAS and LXD, or vms: keep to leave them in LXD, unknown to MAAS.",
        )
    hosted = [guest for guest in there if guest.machine and is_hosted(guest.machine)]
    if hosted:
        raise Failure(
            "claimed",
            f"{label} cannot be removed: hosted clusters use {in_words(hosted)}.",
            object=label,
            hint="Scale or remove the hosted clusters first; Cluster API makes anew what is taken from it.",
        )
    locked = [guest for guest in there if guest.machine and guest.machine.get("locked")]
    if locked:
        raise Failure(
            "conflict",
            f"{label} cannot be removed: locked are {in_words(locked)}.",
            object=label,
            hint="Unlock them with metalshift.maas.machine and locked: false.",
        )
