# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machines of one MAAS: found by any of their names, read a hundred at a time, and shown in few keys.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, groups_as_result
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.names import MOST_LISTED
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.unknown import UNKNOWN
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.holders import claim_of
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.changes import ANNOTATE
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import (
    MAC,
    SYSTEM_ID,
    Machine,
)

# A URL of a hundred ids stays far below what proxies cut off.
IDS_PER_REQUEST = 100
EVENTS_SHOWN = 5


class Machines:
    """Finds and reads machines. MAAS makes some 8 queries for each machine it lists: never list all to find one."""

    collection = "machines/"

    def __init__(self, maas: Client) -> None:
        self._maas = maas

    # -- reading --------------------------------------------------------------------------------------

    def listed(self, **filters: Any) -> list[Machine]:
        """The machines that MAAS's own filters let through."""
        found: list[Machine] = self._maas.get(self.collection, filters)
        return found

    def read(self, system_ids: Iterable[str]) -> dict[str, Machine]:
        """Many machines, by id; those that are gone are missing."""
        found: dict[str, Machine] = {}
        for chunk in _chunks(sorted(set(system_ids)), IDS_PER_REQUEST):
            found.update((machine["system_id"], machine) for machine in self.listed(id=chunk))
        return found

    def get(self, system_id: str) -> Machine | None:
        """One machine, by id; None if MAAS does not know it."""
        try:
            found: Machine = self._maas.get(f"{self.collection}{system_id}/")
        except Failure as failure:
            if failure.kind == "not_found":
                return None
            raise
        return found

    def annotate(self, system_id: str, annotations: Mapping[str, str]) -> Machine:
        """Write these annotations; an empty one removes what it names. Others stay."""
        annotated: Machine = self._maas.post(
            f"{self.collection}{system_id}/", annotations, op=ANNOTATE, repeatable=True
        )
        return annotated

    def power_parameters(self, system_ids: Iterable[str]) -> dict[str, Mapping[str, Any]]:
        """Those of many machines, by id. Only administrators may read them: a Failure for others."""
        found: dict[str, Mapping[str, Any]] = {}
        for chunk in _chunks(sorted(set(system_ids)), IDS_PER_REQUEST):
            answer = self._maas.get(self.collection, {"id": chunk}, op="power_parameters")
            found.update({system_id: answer.get(system_id) or {} for system_id in chunk})
        return found

    def of_claim(self, claim: str) -> dict[str, Machine]:
        """The machines that were allocated under a claim, in one request."""
        return {machine["system_id"]: machine for machine in self.listed(agent_name=claim)}

    def find(self, names: Sequence[str]) -> dict[str, Machine | None]:
        """The machine that each name stands for: a system_id, hostname, FQDN or MAC address. One request for each kind.

        A name that fits several machines is a failure; one that fits none, or is not known yet, is None.
        """
        known_as = self.look_up(names)
        return {name: known_as(name) for name in names}

    def look_up(self, names: Iterable[str]) -> Callable[[str], Machine | None]:
        """As `find`, but the failure of one name comes only when it is asked for."""
        wanted = {name: name.strip().lower() for name in names if name != UNKNOWN}
        macs = {_mac(name) for name in wanted.values() if MAC.match(name)}
        # MAAS compares hostnames to the letter, and machines may have capitals in theirs.
        spelt = {*wanted.values(), *(name.strip() for name in wanted)}
        labels = {name.split(".")[0] for name in spelt if not MAC.match(name)}
        ids = {name for name in wanted.values() if SYSTEM_ID.match(name)}
        candidates: dict[str, Machine] = {}
        for filters in ({"mac_address": sorted(macs)}, {"hostname": sorted(labels)}, {"id": sorted(ids)}):
            for key, values in filters.items():
                for chunk in _chunks(values, IDS_PER_REQUEST):
                    candidates.update((machine["system_id"], machine) for machine in self.listed(**{key: chunk}))
        return lambda name: _only(name, wanted[name], list(candidates.values())) if name in wanted else None

    @cached_property
    def me(self) -> str:
        """The user that the API key belongs to."""
        return str(self._whoami["username"])

    @property
    def sees_all(self) -> bool:
        """Whether this user sees machines that others hold: a plain one is not even told that they exist."""
        return bool(self._whoami.get("is_superuser"))

    @cached_property
    def _whoami(self) -> dict[str, Any]:
        found: dict[str, Any] = self._maas.get("users/", op="whoami")
        return found

    # -- what explains a failure -----------------------------------------------------------------------

    def last_events(self, system_id: str) -> list[str]:
        """The newest events of a machine, oldest first; nothing if MAAS does not say."""
        try:
            answer = self._maas.get("events/", {"id": system_id, "limit": EVENTS_SHOWN}, op="query")
        except Failure:
            return []
        events = answer.get("events", []) if isinstance(answer, dict) else []
        return [_event(event) for event in reversed(events)]

    def failed_scripts(self, system_id: str) -> list[str]:
        """The scripts that failed on a machine in its latest runs. Their output is not shown: it may hold secrets."""
        try:
            results = self._maas.get(f"nodes/{system_id}/results/")
        except Failure:
            return []
        return [
            f"{script.get('name')} ({str(run.get('type_name', '')).lower()}): {script['status_name']}"
            for run in (results if isinstance(results, list) else [])
            for script in run.get("results", [])
            if "fail" in str(script.get("status_name", "")).lower()
        ]


class Devices(Machines):
    """Finds and reads devices, in the same way."""

    collection = "devices/"


def lacking(name: str, noun: str = "machine") -> str:
    """What a task in check mode says of a machine that an earlier task of the play makes known, or chooses."""
    if name == UNKNOWN:
        return f"A {noun} is not known yet: an earlier task chooses it."
    return f"MAAS does not know {name} yet."


def address(machine: Mapping[str, Any]) -> str:
    return str(machine.get("hostname") or machine.get("system_id") or "")


# What people look for first, in the words of MAAS; `full: true` gives everything it says.
SHOWN = (
    "system_id",
    "hostname",
    "fqdn",
    "status_name",
    "status_message",
    "power_state",
    "power_type",
    "owner",
    "architecture",
    "cpu_count",
    "memory",
    "storage",
    "osystem",
    "distro_series",
    "hwe_kernel",
    "ip_addresses",
    "tag_names",
    "locked",
    "description",
    "workload_annotations",
)

LISTS = ("ip_addresses", "tag_names")


def shown(machine: Mapping[str, Any], full: bool = False) -> dict[str, Any]:
    """A machine as results show it: plain values, zone, pool and domain by name, its MAC addresses."""
    named = {noun: (machine.get(noun) or {}).get("name") for noun in ("zone", "pool", "domain")}
    extra = {
        "mac_addresses": [
            link["mac_address"] for link in machine.get("interface_set") or [] if link.get("mac_address")
        ],
        "claim": claim_of(machine) or None,
    }
    if full:
        return {**machine, **extra}
    # Of a machine that is predicted they may not be known: templates loop over them all the same.
    lists = {name: machine.get(name) or [] for name in LISTS}
    return {**{key: machine.get(key) for key in SHOWN}, **lists, **named, **extra}


# What a machine is known by, how it is, and whether it failed. Ansible prints all of a failed task's result in a line.
BRIEF = ("name", "hostname", "system_id", "status_name", "changed", "predicted")


def told_briefly(rows: Sequence[Mapping[str, Any]], failures: Mapping[str, Failure], full: bool) -> dict[str, Any]:
    """The machines of a task that failed for some: in a few words if they are many, with each reason once."""
    if full or not failures or len(rows) <= MOST_LISTED:
        return {"machines": list(rows)}
    brief = [
        {**{key: row[key] for key in BRIEF if key in row}, **({"failed": True} if row.get("failure") else {})}
        for row in rows
    ]
    return {"machines": brief, "failures": groups_as_result("machines", failures)}


def _only(name: str, key: str, candidates: Sequence[Machine]) -> Machine | None:
    fitting = [machine for machine in candidates if _is_named(machine, key)]
    by_id = [machine for machine in fitting if machine["system_id"] == key]
    if len(fitting) > 1 and len(by_id) != 1:
        ids = ", ".join(sorted(machine["system_id"] for machine in fitting))
        raise Failure(
            "invalid",
            f"{name} fits several machines ({ids}).",
            object=name,
            hint="Name the one you mean by its system_id.",
        )
    return next(iter(by_id or fitting), None)


def _is_named(machine: Machine, key: str) -> bool:
    names = {machine["system_id"], str(machine.get("hostname")).lower(), str(machine.get("fqdn")).lower()}
    macs = {str(link.get("mac_address")).lower() for link in machine.get("interface_set") or []}
    return key in names or _mac(key) in macs


def _mac(text: str) -> str:
    return text.lower().replace("-", ":")


def _chunks(items: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _event(event: Mapping[str, Any]) -> str:
    text = " - ".join(str(event[key]) for key in ("type", "description") if event.get(key))
    return f"{event.get('created', '')}: {text}".lstrip(": ")
