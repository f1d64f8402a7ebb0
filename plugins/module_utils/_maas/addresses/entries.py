# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine of reservations: the addresses that one task names, and what it asks of each.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.metalshift.maas.plugins.module_utils._core.contract import Outcome
from ansible_collections.metalshift.maas.plugins.module_utils._core.parallel import each
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid, several
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan, Step
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Options, what_is_wrong
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses import dns, reservations
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.pure.occupancy import (
    Occupancy,
    listed,
    normal_mac,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.reservations import (
    DHCP,
    USER,
    ReservationSpec,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.survey import LEASES, AddressSurvey
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client

# They are of one address, so they cannot be the default of several.
OF_ONE_ADDRESS = ("mac_address", "hostname")
# What only one of the types has.
ONLY_OF: Mapping[str, str] = {"hostname": USER, "comment": DHCP}


@dataclass
class Naming:
    """The name in DNS that an address shall have."""

    name: dns.Name
    present: dns.Present
    plan: Plan


@dataclass(eq=False)
class AddressSpec:
    """One address that the task names."""

    wish: ReservationSpec
    plan: Plan = field(default_factory=Plan)
    naming: Naming | None = None
    then: Mapping[str, Any] = field(default_factory=dict)
    failure: Failure | None = None
    warnings: list[str] = field(default_factory=list)

    @property
    def steps(self) -> list[Step]:
        if self.failure:
            return []
        return [*self.plan.steps, *(self.naming.plan.steps if self.naming else ())]

    def read(self, maas: Client, check: bool) -> None:
        """Look where its name in DNS is, and what is there."""
        if self.wish.hostname:
            self.naming = _naming(maas, self.wish, check)
            self.warnings += dns.lacking(self.naming.name)
            self.wish = replace(self.wish, hostname=self.naming.name.fqdn)

    def decide(self, occupancy: Occupancy) -> None:
        """Decide what is to be done; raises the failure if that cannot be."""
        self.plan = reservations.decide(self.wish, occupancy)
        if any(step.verb != "update" for step in self.plan.steps):
            # MAAS makes the name in the same request.
            self.naming = None
        self.warnings += filter(None, [reservations.warning(self.wish, occupancy)])
        then = reservations.wished(self.wish, reservations.present(self.wish, occupancy))
        self.then = reservations.shown(self.wish, then, occupancy)

    @contextmanager
    def failing_alone(self, occupancy: Occupancy) -> Iterator[None]:
        """A failure in here is this entry's, and not the task's."""
        try:
            yield
        except Failure as failure:
            self.fail(failure, occupancy)

    def fail(self, failure: Failure, occupancy: Occupancy) -> None:
        self.failure = failure.about(self.wish.ip)
        self.then = reservations.shown(self.wish, reservations.present(self.wish, occupancy), occupancy)

    def carry_out(self, maas: Client, acting: reservations.Reservations, occupancy: Occupancy) -> None:
        acting.carry_out(self.wish, self.plan, occupancy)
        if self.naming:
            dns.carry_out(maas, self.naming.name, self.naming.present, self.naming.plan.steps)

    def result(self, predicted: bool) -> dict[str, Any]:
        changed = bool(self.steps)
        said = {**self.then, "changed": changed}
        if predicted and changed:
            said["predicted"] = True
        if self.failure:
            said.update(failed=True, failure=self.failure.to_dict())
        return said


# -- understanding ---------------------------------------------------------------------------------


def entries_of(params: Mapping[str, Any], options: Options) -> list[AddressSpec]:
    """An entry for each address, those of ranges included."""
    found: dict[str, AddressSpec] = {}
    for place, element in enumerate(params["addresses"], start=1):
        where = f"addresses[{place}]"
        own = _checked(element, options, where)
        for wish in _wishes({**params, **own}, where):
            if wish.ip in found:
                raise invalid(f"{wish.ip} is named twice.", "Name it once.")
            found[wish.ip] = AddressSpec(wish)
    alone = [name for name in OF_ONE_ADDRESS if params.get(name)]
    if len(found) > 1 and alone:
        raise invalid(
            f"{' and '.join(alone)} cannot hold for {len(found)} addresses.",
            "Give addresses as dicts, each with its own.",
        )
    _refuse_shared_macs([entry.wish for entry in found.values()])
    return list(found.values())


def _wishes(options: Mapping[str, Any], where: str) -> list[ReservationSpec]:
    ips = listed([options["ip_address"]], where)
    if len(ips) > 1 and any(options.get(name) for name in OF_ONE_ADDRESS):
        raise invalid(f"{where} is {len(ips)} addresses, which cannot share a mac_address or hostname.")
    for name, type in ONLY_OF.items():
        if options.get(name) is not None and options["type"] != type and options["state"] == "present":
            raise invalid(f"{where}: {name} needs type: {type}.", f"Leave {name} out.")
    if options["type"] == DHCP and options["state"] == "present" and not options.get("mac_address"):
        raise invalid(f"{where}: type: dhcp needs mac_address, to which DHCP shall give the address.")
    mac = normal_mac(options["mac_address"], f"{where}: mac_address") if options.get("mac_address") else ""
    return [
        ReservationSpec(
            ip=ip,
            type=options["type"],
            present=options["state"] == "present",
            mac=mac,
            hostname=(options.get("hostname") or "") if options["state"] == "present" else "",
            comment=options["comment"].strip() if options.get("comment") is not None else None,
            replace=options["replace"],
        )
        for ip in ips
    ]


def _refuse_shared_macs(wishes: Iterable[ReservationSpec]) -> None:
    """DHCP keeps one address for a MAC address; the second would fail when the first is made already."""
    first: dict[str, str] = {}
    for wish in wishes:
        if wish.type == DHCP and wish.present and first.setdefault(wish.mac, wish.ip) != wish.ip:
            raise invalid(f"{first[wish.mac]} and {wish.ip} cannot both be kept for {wish.mac}.")


def _checked(element: Any, options: Options, where: str) -> dict[str, Any]:
    """An element's own options: an address alone, or suboptions that Ansible's validator finds right."""
    if not isinstance(element, Mapping):
        return {"ip_address": str(element)}
    # Defaults are the task's.
    own = {name: {key: value for key, value in option.items() if key != "default"} for name, option in options.items()}
    address = {"ip_address": {"type": "str", "required": True, "aliases": ["ip"]}}
    found = ArgumentSpecValidator({**address, **own}).validate(dict(element))
    if found.error_messages:
        raise invalid(
            f"{where} is wrong: {what_is_wrong(found.errors)}.", "An element takes ip_address and the task's options."
        )
    return {name: value for name, value in found.validated_parameters.items() if value is not None}


# -- the engine ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AddressState:
    """Who has which address, and what is asked of each; `predicted` if nothing was done about it."""

    entries: Sequence[AddressSpec]
    occupancy: Occupancy
    predicted: bool = False


class AddressEngine:
    """The reservations of the addresses that a task names. Who fails does so alone."""

    def __init__(self, task: Task, options: Options) -> None:
        self.maas, self.survey, self.check = task.maas, AddressSurvey(task.maas), task.check
        self.entries = entries_of(task.params, options)

    def read(self) -> AddressState:
        wishes = [entry.wish for entry in self.entries]
        if any(wish.type == DHCP and wish.present for wish in wishes):
            self.maas.capabilities.require(LEASES, "type: dhcp")
        occupancy = self.survey.of([wish.ip for wish in wishes], [wish.mac for wish in wishes if wish.mac])
        for entry in self.entries:
            with entry.failing_alone(occupancy):
                entry.read(self.maas, self.check)
        return AddressState(self.entries, occupancy)

    def plan(self, current: AddressState) -> Plan:
        for entry in current.entries:
            if not entry.failure:
                with entry.failing_alone(current.occupancy):
                    entry.decide(current.occupancy)
        return Plan([step for entry in current.entries for step in entry.steps])

    def predict(self, current: AddressState, plan: Plan) -> AddressState:
        return replace(current, predicted=True)

    def apply(self, current: AddressState, plan: Plan) -> AddressState:
        """A few at a time."""
        acting = reservations.Reservations(self.maas, self.survey)
        todo = [entry for entry in current.entries if entry.steps]
        for entry, outcome in each(todo, lambda entry: entry.carry_out(self.maas, acting, current.occupancy)):
            if isinstance(outcome, Failure):
                entry.fail(outcome, current.occupancy)
        return current

    def result(self, current: AddressState) -> Outcome:
        entries = current.entries
        said = [entry.result(current.predicted) for entry in entries]
        words = ["failed" if entry.failure else "present" if entry.wish.present else "absent" for entry in entries]
        failures = {entry.wish.ip: entry.failure for entry in entries if entry.failure}
        return Outcome(
            {
                "ip_reservations": said,
                **({"ip_reservation": said[0]} if len(said) == 1 else {}),
                "summary": {word: words.count(word) for word in dict.fromkeys(words)},
            },
            list(dict.fromkeys(said for entry in entries if not entry.failure for said in entry.warnings)),
            several("addresses", failures, len(entries)) if failures else None,
        )


def _naming(maas: Client, wish: ReservationSpec, check: bool) -> Naming:
    """What makes a name stand for the address, beside all else that it stands for."""
    dotted = "." in wish.hostname.strip(".")
    name = dns.locate(maas, wish.hostname if dotted else None, None if dotted else wish.hostname, None, may_lack=check)
    if name.label in ("@", "*"):
        raise invalid(f"hostname cannot be {wish.hostname}.", "Make such a name with dns_record.")
    type = "AAAA" if ":" in wish.ip else "A"
    if check:
        name = dns.in_domain_to_come(name, type)
    found = dns.read(maas, name)
    values = tuple(sorted({*found.records(type).values, wish.ip}))
    return Naming(name, found, dns.plan(name, found, dns.RecordSet(type, values), remove=False, purge=False))
