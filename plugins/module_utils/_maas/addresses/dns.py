# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""DNS names and what they stand for.

MAAS keeps one resource a name, with its addresses and one time to live for them; each other record is an object of its
own.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.names import did_you_mean, listed
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan, Step
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.unknown import UNKNOWN
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client

ADDRESS_TYPES: Mapping[str, int] = {"A": 4, "AAAA": 6}
DATA_TYPES = ("CNAME", "MX", "NS", "SRV", "SSHFP", "TXT")
TYPES = (*ADDRESS_TYPES, *DATA_TYPES)

# A time to live of 0 stands for the domain's own, which MAAS writes as an empty one.
OF_THE_DOMAIN = 0


@dataclass(frozen=True)
class Name:
    """Where a record is: `www` in a domain, `@` for the domain itself."""

    label: str
    domain: str
    # None: MAAS does not have the domain.
    domain_id: int | None

    @property
    def fqdn(self) -> str:
        return self.domain if self.label == "@" else f"{self.label}.{self.domain}"

    @property
    def form(self) -> dict[str, Any]:
        """As MAAS wants it: a `fqdn` with underscores or wildcards would be cut at the wrong place."""
        return {"name": self.label, "domain": self.domain_id}


@dataclass(frozen=True)
class RecordSet:
    """All records of one type at one name."""

    type: str
    values: tuple[str, ...] = ()
    ttl: int | None = None
    # Whether an earlier task of the play is to make more values known.
    is_partial: bool = False

    @property
    def shown(self) -> dict[str, Any]:
        return {"value": list(self.values), "ttl": self.ttl} if self.values else {}


@dataclass
class DnsRecord:
    """One record that is not an address."""

    id: int
    type: str
    value: str
    ttl: int | None


@dataclass
class Present:
    """What MAAS has at one name."""

    id: int | None = None
    addresses: list[str] = field(default_factory=list)
    address_ttl: int | None = None
    entries: list[DnsRecord] = field(default_factory=list)

    def records(self, type: str) -> RecordSet:
        if type in ADDRESS_TYPES:
            values = [text for text in self.addresses if _version(text) == ADDRESS_TYPES[type]]
            return RecordSet(type, tuple(sorted(values)), self.address_ttl if self.addresses else None)
        entries = [entry for entry in self.entries if entry.type == type]
        ttls = {entry.ttl for entry in entries}
        return RecordSet(type, tuple(sorted(entry.value for entry in entries)), ttls.pop() if len(ttls) == 1 else None)

    @property
    def hollow(self) -> bool:
        """Whether nothing is left at the name: MAAS takes a machine's address back at its release, not the name."""
        return self.id is not None and not self.addresses and not self.entries

    @property
    def types(self) -> list[str]:
        return [type for type in TYPES if self.records(type).values]


# -- reading ---------------------------------------------------------------------------------------


def locate(maas: Client, fqdn: str | None, label: str | None, domain: str | None, *, may_lack: bool = False) -> Name:
    """The name that the options mean, in a domain that MAAS has, or `may_lack`."""
    domains: dict[str, dict[str, Any]] = {one["name"].lower(): one for one in maas.get("domains/")}
    if fqdn is not None:
        whole = fqdn.strip().rstrip(".").lower()
        fitting = [name for name in domains if whole == name or whole.endswith("." + name)]
        if not fitting and may_lack and "." in whole:
            first, _dot, rest = whole.partition(".")
            return Name(first, rest, None)
        if not fitting:
            raise _unknown_domain(f"of {fqdn}", fqdn, domains)
        domain = max(fitting, key=len)
        label = whole.removesuffix(domain).rstrip(".") or "@"
    elif domain is None:
        domain = next(name for name, one in domains.items() if one["is_default"])
    domain = domain.strip().rstrip(".").lower()
    if domain not in domains and may_lack:
        return Name(str(label).strip().lower(), domain, None)
    if domain not in domains:
        raise _unknown_domain(domain, domain, domains)
    label = str(label).strip().lower()
    if not re.fullmatch(r"@|(\*|[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*", label):
        raise invalid(f"{label!r} cannot be a name in the domain {domain}.")
    return Name(label, domains[domain]["name"], domains[domain]["id"])


def _unknown_domain(which: str, object: str, domains: Iterable[str]) -> Failure:
    known = list(domains)
    return Failure(
        "not_found",
        f"MAAS does not have the domain {which}; it has {listed(known)}.",
        object=object,
        hint=did_you_mean(which, known, "Create it with the module domain, or name one of these."),
    )


def in_domain_to_come(name: Name, type: str) -> Name:
    """In check mode: a name with addresses is one label, and an earlier task may be the one that makes its domain."""
    first, dot, rest = name.label.partition(".")
    return Name(first, f"{rest}.{name.domain}", None) if dot and type in ADDRESS_TYPES else name


def lacking(name: Name, wish: RecordSet | None = None) -> list[str]:
    """What a task in check mode says of a domain that is not there, and of values that are not known yet."""
    unknown = (
        [f"Values of {name.fqdn} are not known yet: an earlier task makes them."] if wish and wish.is_partial else []
    )
    return unknown if name.domain_id is not None else [f"MAAS does not have the domain {name.domain} yet.", *unknown]


def read(maas: Client, name: Name) -> Present:
    """What MAAS has at the name, those records excepted that it makes for machines."""
    if name.domain_id is None:
        return Present()
    where = {"domain": name.domain, "name": name.label}
    resources = maas.get("dnsresources/", where)
    entries = [
        DnsRecord(one["id"], one["rrtype"], one["rrdata"], one["ttl"]) for one in maas.get("dnsresourcerecords/", where)
    ]
    if not resources:
        return Present(entries=entries)
    (resource,) = resources
    addresses = [str(one["ip"]) for one in resource["ip_addresses"] or [] if one["ip"]]
    return Present(resource["id"], addresses, resource["address_ttl"], entries)


# -- deciding --------------------------------------------------------------------------------------


def wished(type: str, values: Sequence[str], ttl: int | None, *, may_be_empty: bool) -> RecordSet:
    """The values as MAAS keeps them; what it would answer with a 500 is said here."""
    tidy = sorted({NORMAL.get(type, _words)(type, value) for value in values if value != UNKNOWN})
    if not values and not may_be_empty:
        raise invalid("value must not be empty.", hint="To remove the records, set state: absent.")
    if type == "CNAME" and len(tidy) > 1:
        raise invalid("A name has only one CNAME, so value must have one element.")
    if ttl is not None and not OF_THE_DOMAIN <= ttl <= LONGEST_TTL:
        raise invalid(f"ttl must be between 0 and {LONGEST_TTL} seconds, not {ttl}.")
    return RecordSet(type, tuple(tidy), ttl, is_partial=UNKNOWN in values)


def refuse_label(name: Name, type: str) -> None:
    """What MAAS takes for other records only: a name with addresses is one host name in its domain."""
    if type in ADDRESS_TYPES and not re.fullmatch(r"@|\*|[a-z0-9]([a-z0-9-]*[a-z0-9])?", name.label):
        _first, dot, rest = name.label.partition(".")
        raise invalid(
            f"{name.label} in the domain {name.domain} cannot have addresses: "
            "for MAAS it must be one label of letters, digits and hyphens.",
            hint=f"Create the domain {rest}.{name.domain} in MAAS." if dot else "Choose another name.",
        )


def plan(name: Name, present: Present, wish: RecordSet, *, remove: bool, purge: bool) -> Plan:
    """First what has to go, then what has to come."""
    if not remove:
        refuse_label(name, wish.type)
    others = [type for type in present.types if type != wish.type]
    steps = [_removal(name, present.records(type)) for type in others] if purge else []
    now = present.records(wish.type)
    if wish.is_partial and not (remove and wish.values):
        return Plan(steps if remove else [*steps, _step_in_part(name, now, wish)])
    if remove:
        left = tuple(value for value in now.values if wish.values and value not in wish.values)
        target = RecordSet(wish.type, left, now.ttl)
    else:
        if not purge:
            _refuse_company(name, wish.type, others)
        target = RecordSet(wish.type, wish.values, now.ttl if wish.ttl is None else wish.ttl or None)
    if target.values == now.values and (target.ttl == now.ttl or not target.values):
        return Plan([*steps, _removal(name, now)] if remove and not wish.values and present.hollow else steps)
    if not target.values:
        return Plan([*steps, _removal(name, now)])
    verb = "update" if now.values else "create"
    what = [key for key in ("value", "ttl") if now.values and target.shown[key] != now.shown[key]]
    return Plan([*steps, Step(verb, _label(name, wish.type), ", ".join(what), now.shown, target.shown)])


def _step_in_part(name: Name, now: RecordSet, wish: RecordSet) -> Step:
    ttl = now.ttl if wish.ttl is None else wish.ttl or None
    after = {"value": list(wish.values), "ttl": ttl}
    return Step("update" if now.values else "create", _label(name, wish.type), "value", now.shown, after)


def predicted(now: RecordSet, plan: Plan) -> Mapping[str, Any]:
    """What would be shown of the records after the plan."""
    after = [step.after for step in plan.steps if step.object.endswith(f" {now.type}")]
    return after[-1] if after else now.shown


def _removal(name: Name, records: RecordSet) -> Step:
    return Step("delete", _label(name, records.type), before=records.shown)


def _label(name: Name, type: str) -> str:
    return f"dns_record {name.fqdn} {type}"


def _refuse_company(name: Name, type: str, others: Sequence[str]) -> None:
    """Of a CNAME and other records at one name, only one kind can be."""
    if (type == "CNAME" and others) or (type != "CNAME" and "CNAME" in others):
        raise Failure(
            "conflict",
            f"{name.fqdn} has a record of type {', '.join(others)}, and a CNAME must be alone at its name.",
            object=name.fqdn,
            hint="Remove what is there first, or set purge_records: true.",
        )


def _address(type: str, value: str) -> str:
    version = ADDRESS_TYPES[type]
    try:
        address = ipaddress.ip_address(value.strip())
    except ValueError:
        address = None
    if address is None or address.version != version:
        raise invalid(f"A record of type {type} needs IPv{version} addresses, and {value!r} is none.")
    return str(address)


def _text(_type: str, value: str) -> str:
    return _filled("TXT", value.strip())


def _words(type: str, value: str) -> str:
    return _filled(type, " ".join(value.split()))


def _filled(type: str, value: str) -> str:
    if not value:
        raise invalid(f"The value of a record of type {type} must not be empty.")
    return value


NORMAL: Mapping[str, Callable[[str, str], str]] = {"A": _address, "AAAA": _address, "TXT": _text}
LONGEST_TTL = 604800


def _version(address: str) -> int:
    return ipaddress.ip_address(address).version


# -- acting ----------------------------------------------------------------------------------------


def carry_out(maas: Client, name: Name, present: Present, steps: Sequence[Step]) -> Present:
    """Take the steps of a plan, and tell what is at the name then."""
    for step in steps:
        type = step.object.rpartition(" ")[2]
        target = RecordSet(type, tuple(step.after.get("value", ())), step.after.get("ttl"))
        (_set_addresses if type in ADDRESS_TYPES else _set_entries)(maas, name, present, target)
        present = read(maas, name)
    return present


def _set_addresses(maas: Client, name: Name, present: Present, target: RecordSet) -> None:
    kept = [text for text in present.addresses if _version(text) != ADDRESS_TYPES[target.type]]
    form: dict[str, Any] = {"ip_addresses": " ".join([*kept, *target.values])}
    if target.values and target.ttl != present.address_ttl:
        form["address_ttl"] = "" if target.ttl is None else target.ttl
    if present.id is None:
        try:
            maas.post("dnsresources/", {**name.form, **form}, settled=lambda: _with_addresses(read(maas, name), target))
        except Failure as failure:
            # Another host of the play, or another run, may have made the name since it was looked for.
            now = read(maas, name)
            if failure.kind != "rejected" or now.id is None:
                raise
            _set_addresses(maas, name, now, target)
    elif form["ip_addresses"] or present.entries:
        maas.put(f"dnsresources/{present.id}/", form)
    else:
        maas.delete(f"dnsresources/{present.id}/")


def _with_addresses(present: Present, target: RecordSet) -> Present | None:
    return present if present.records(target.type).values == target.values else None


def _set_entries(maas: Client, name: Name, present: Present, target: RecordSet) -> None:
    """Change in place what can be: a name that is to be changed is never without its records."""
    entries = [entry for entry in present.entries if entry.type == target.type]
    first = {entry.value: entry.id for entry in reversed(entries)}
    # MAAS lets the same record be made twice.
    stale = [entry for entry in entries if entry.value not in target.values or entry.id != first[entry.value]]
    missing = [value for value in target.values if value not in {entry.value for entry in entries}]
    ttl = "" if target.ttl is None else target.ttl
    for entry in entries:
        if entry not in stale and entry.ttl != target.ttl:
            maas.put(f"dnsresourcerecords/{entry.id}/", {"rrtype": entry.type, "rrdata": entry.value, "ttl": ttl})
    while stale and missing:
        form = {"rrtype": target.type, "rrdata": missing.pop(0), "ttl": ttl}
        maas.put(f"dnsresourcerecords/{stale.pop(0).id}/", form)
    for entry in stale:
        maas.delete(f"dnsresourcerecords/{entry.id}/")
    for value in missing:
        _add_entry(maas, name, {"rrtype": target.type, "rrdata": value, "ttl": target.ttl})


def _add_entry(maas: Client, name: Name, record: Mapping[str, Any]) -> None:
    def made() -> DnsRecord | None:
        entries = read(maas, name).entries
        return next((one for one in entries if (one.type, one.value) == (record["rrtype"], record["rrdata"])), None)

    try:
        maas.post("dnsresourcerecords/", {**name.form, **record}, settled=made)
    except Failure as failure:
        if failure.kind != "rejected" or made() is None:
            raise
