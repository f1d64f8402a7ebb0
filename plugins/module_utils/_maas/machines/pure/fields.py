# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task says about a machine apart from its state, and how that differs from what MAAS has.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.unknown import UNKNOWN
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.holders import OURS
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.changes import MachineChange
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import MAC, Machine

# Fields by the name that options, forms and the machine's JSON share.
PLAIN = ("hostname", "description", "min_hwe_kernel", "power_type")
# In the JSON these are objects, in forms their names.
NAMED = ("zone", "pool", "domain")

# MAAS answers 500 to an annotation with another character in its key.
ANNOTATION = re.compile(r"^[A-Za-z0-9_.-]+$")
HOSTNAME = re.compile(r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", re.IGNORECASE)

# MAAS asks the BMC of these which machine it is; all others need an architecture and a MAC address to be enlisted.
TOLD_BY_BMC = frozenset({"ipmi"})


@dataclass(frozen=True)
class MachineFields:
    """The fields that a task sets; None or empty stands for: as it is."""

    hostname: str | None = None
    description: str | None = None
    min_hwe_kernel: str | None = None
    power_type: str | None = None
    architecture: str | None = None
    zone: str | None = None
    pool: str | None = None
    domain: str | None = None
    mac_addresses: Sequence[str] = ()
    power_parameters: Mapping[str, str | list[str]] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    tags: Sequence[str] | None = None
    purge_tags: bool = False

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> MachineFields:
        """The fields in a task's options; what no MAAS would take is a failure of kind `invalid`."""
        text = {name: params.get(name) for name in (*PLAIN, *NAMED)}
        if text["description"] is not None:
            # MAAS strips it: the final newline of YAML's `|` would be a change in every run.
            text["description"] = text["description"].strip()
        macs = [mac.strip().lower().replace("-", ":") for mac in params.get("mac_addresses") or ()]
        for mac in macs:
            if not MAC.match(mac):
                raise invalid(
                    f"mac_addresses holds {mac!r}, which is no MAC address.", "Give six pairs of hexadecimal digits."
                )
        if text["hostname"] is not None and not HOSTNAME.match(text["hostname"]):
            raise invalid(f"hostname: {text['hostname']!r} is no host name.", "Give letters, digits and hyphens only.")
        annotations = {str(key): _text(value) for key, value in (params.get("annotations") or {}).items()}
        for key in annotations:
            _check_annotation(key)
        power = params.get("power_parameters") or {}
        architecture = params.get("architecture")
        return cls(
            **text,
            architecture=architecture if not architecture or "/" in architecture else f"{architecture}/generic",
            mac_addresses=macs,
            power_parameters={str(key): _parameter(value) for key, value in power.items()},
            annotations=annotations,
            tags=params.get("tags"),
            purge_tags=bool(params.get("purge_tags")),
        )

    @property
    def can_be_enlisted(self) -> bool:
        if self.power_type in TOLD_BY_BMC:
            return bool(self.architecture or self.power_parameters)
        return bool(self.architecture and self.mac_addresses)

    def enlist_form(self) -> dict[str, Any]:
        """The form of POST machines/. Commissioning comes apart: its failure would hide that the machine exists."""
        form = {name: getattr(self, name) for name in (*PLAIN, *NAMED, "architecture")}
        return {
            **{name: value for name, value in form.items() if value is not None},
            "mac_addresses": list(self.mac_addresses),
            **_flat(self.power_parameters),
            "commission": False,
        }


def enlisted(wished: MachineFields) -> Machine:
    """A machine as it would be right after its enlisting, as far as the task says."""
    named_objects = {name: {"name": getattr(wished, name)} if getattr(wished, name) else None for name in NAMED}
    fqdn = f"{wished.hostname}.{wished.domain}" if wished.hostname and wished.domain else None
    return {
        "hostname": wished.hostname,
        "fqdn": fqdn,
        "description": wished.description or "",
        "min_hwe_kernel": wished.min_hwe_kernel or "",
        "architecture": wished.architecture,
        "power_type": wished.power_type,
        "interface_set": [{"mac_address": mac} for mac in wished.mac_addresses],
        "tag_names": [],
        "workload_annotations": {},
        "predicted": True,
        **named_objects,
    }


def named(wished: MachineFields, name: str) -> MachineFields:
    """What is wished of a machine that was not found under its name: that it gets it."""
    if name == UNKNOWN:
        return wished
    label, _dot, domain = name.partition(".")
    if MAC.match(name):
        mac = name.lower().replace("-", ":")
        macs = wished.mac_addresses if mac in wished.mac_addresses else (mac, *wished.mac_addresses)
        return replace(wished, mac_addresses=macs)
    return replace(wished, hostname=wished.hostname or label, domain=wished.domain or domain or None)


def field_changes(machine: Machine, wished: MachineFields, power_now: Mapping[str, Any]) -> list[MachineChange]:
    """The change of all fields that differ, in one request. `power_now` are the power parameters as MAAS has them."""
    before: dict[str, Any] = {name: machine.get(name) or "" for name in (*PLAIN, "architecture")}
    before.update({name: (machine.get(name) or {}).get("name", "") for name in NAMED})
    after = {name: getattr(wished, name) for name in before if getattr(wished, name) not in (None, before[name])}
    power = {key: value for key, value in wished.power_parameters.items() if not _same(power_now.get(key), value)}
    if not after and not power:
        return []
    shown_before, shown_after = {name: before[name] for name in after}, dict(after)
    if power:
        # Never shown, not even in part: which of them are secret depends on the power type.
        shown_before["power_parameters"] = dict.fromkeys(power, "as before")
        shown_after["power_parameters"] = dict.fromkeys(power, "as given")
    return [MachineChange("change", {**after, **_flat(power)}, before=shown_before, after=shown_after)]


def tag_changes(machine: Machine, wished: MachineFields, automatic: frozenset[str]) -> tuple[list[str], list[str]]:
    """The tags to add and to take away. Those that MAAS gives by a definition of its own stay."""
    if wished.tags is None:
        return [], []
    present = set(machine.get("tag_names") or ())
    added = sorted(set(wished.tags) - present)
    removed = sorted(present - set(wished.tags) - automatic) if wished.purge_tags else []
    return added, removed


def applied(
    machine: Machine, changes: Sequence[MachineChange], wished: MachineFields, automatic: frozenset[str]
) -> Machine:
    """A machine as it would be after changes."""
    then = dict(machine)
    for change in changes:
        for name, value in change.form.items():
            if name in NAMED:
                then[name] = {"name": value}
            elif not name.startswith("power_parameters"):
                then[name] = value
    if {"hostname", "domain"} & {name for change in changes for name in change.form}:
        domain = (then.get("domain") or {}).get("name")
        then["fqdn"] = f"{then['hostname']}.{domain}" if domain else None
    added, removed = tag_changes(machine, wished, automatic)
    if added or removed:
        then["tag_names"] = sorted((set(machine.get("tag_names") or ()) | set(added)) - set(removed))
    if changes or added or removed:
        then["predicted"] = True
    return then


def annotated(machine: Machine, annotations: Mapping[str, str]) -> Machine:
    """A machine as it would be with annotations; an empty value takes one away."""
    present = machine.get("workload_annotations") or {}
    then = {key: value for key, value in {**present, **annotations}.items() if value}
    return {**machine, "workload_annotations": then, "predicted": True} if then != present else machine


def mac_conflict(name: str, machine: Machine, wished: MachineFields) -> Failure | None:
    """MAC addresses name a machine; they cannot be given to one."""
    own = {str(link.get("mac_address")).lower() for link in machine.get("interface_set") or []}
    foreign = [mac for mac in wished.mac_addresses if mac not in own]
    if not foreign or not own:
        return None
    return Failure(
        "conflict",
        f"{name} is a machine without the MAC address {', '.join(foreign)}.",
        object=name,
        reason=f"it has {', '.join(sorted(own))}",
        hint="mac_addresses finds or enlists a machine: correct the list, or name the machine that has the address.",
    )


def unknown_names(known: Callable[[str], frozenset[str]], wished: MachineFields, machine: Machine) -> list[str]:
    """What a task names that MAAS does not have, in words. `known(noun)` is asked only for what would change."""
    unknown = []
    for noun in NAMED:
        value = getattr(wished, noun)
        if value and value != (machine.get(noun) or {}).get("name") and value not in known(noun):
            unknown.append(f"{noun} {value}")
    added, _removed = tag_changes(machine, wished, frozenset())
    unknown += [f"tag {tag}" for tag in added if tag not in known("tag")] if added else []
    return unknown


def _check_annotation(key: str) -> None:
    if key.startswith(OURS):
        raise invalid(
            f"annotations holds {key}, but keys that begin with {OURS} belong to this collection.",
            "Choose another key; claims are set by claim and by the module machine_set.",
        )
    if not ANNOTATION.match(key):
        raise invalid(
            f"annotations holds the key {key!r}, which MAAS does not take.",
            "Keys are made of letters, digits, hyphens, dots and underscores.",
        )


def _parameter(value: Any) -> str | list[str]:
    return [_text(one) for one in value] if isinstance(value, list) else _text(value)


def _same(known: Any, wished: str | list[str]) -> bool:
    """Whether a power parameter is as wished. Of several choices the order does not count."""
    if isinstance(wished, str):
        return _text(known) == wished
    chosen = known if isinstance(known, list) else _text(known).split(",")
    return sorted(filter(None, map(_text, chosen))) == sorted(wished)


def _flat(power_parameters: Mapping[str, str | list[str]]) -> dict[str, str | list[str]]:
    return {f"power_parameters_{key}": value for key, value in power_parameters.items()}


def _text(value: Any) -> str:
    """A value as MAAS keeps it: booleans in its own spelling."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
