# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task wants of a VM host, what there is, and what is therefore to be done: plain data, no I/O.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan, Step
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts import cordon
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.hosts import VMHostDetails
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.keys import KeysSpec, Pair, same_key
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.lookup import VMHostIdentity
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.address import PORT, PROJECT
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.capacity import is_discovered, missing
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.fields import (
    CONSOLE_TAG,
    PLAIN,
    RATIOS,
    VMHostFields,
    changes,
    fields_of,
    predicted,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.guests import Guest
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.result import told
from ansible_collections.metalshift.maas.plugins.module_utils._vms.hosts.lxd_state import LxdView


@dataclass(frozen=True)
class VMHostSpec:
    """What a task wants of a VM host that shall be there."""

    fields: VMHostFields
    given: KeysSpec
    machine: str | None = None
    schedulable: bool | None = None
    imports: bool = False
    password: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> VMHostSpec:
        return cls(
            fields=VMHostFields.from_params(params),
            given=KeysSpec.from_params(params),
            imports=params["existing_vms"] == "import",
            **{name: params[name] for name in ("machine", "schedulable", "password", "token")},
        )

    def identity(self, under: Machine | None) -> VMHostIdentity:
        system_id = str(under["system_id"]) if under else None
        return VMHostIdentity(self.fields.name, self.fields.endpoint, self.fields.project, system_id)


@dataclass(frozen=True)
class VMHostState:
    """What there is: the VM host, the machine under it, the VMs on it."""

    identity: VMHostIdentity
    known: VMHostDetails | None
    node: Machine | None
    guests: Sequence[Guest] = ()
    warnings: Sequence[str] = ()
    # What its LXD says itself, if it could be asked.
    lxd: LxdView | None = None

    @property
    def told(self) -> dict[str, Any]:
        found = told(self.known or VMHostDetails({}, {}), self.node, self.guests)
        seen_by_lxd = self.lxd.obstacles(found["default_macvlan_mode"]) if self.lxd else []
        return {**found, "obstacles": list(dict.fromkeys([*found["obstacles"], *seen_by_lxd]))}


@dataclass(frozen=True)
class VMHostPlan:
    """What is to be done, as plain data. `fields` are those that a new VM host begins with."""

    label: str
    fields: VMHostFields
    registers: bool = False
    files: tuple[Path, Path] | None = None
    before: Mapping[str, Any] = field(default_factory=dict)
    differing: Mapping[str, Any] = field(default_factory=dict)
    renews_certificate: bool = False
    refreshes: str = ""
    opens: bool | None = None

    @property
    def plan(self) -> Plan:
        """In the order in which it is done."""
        steps = []
        if self.files:
            kept = {"certificate": str(self.files[0]), "key": str(self.files[1])}
            steps.append(Step("create", f"certificate for {self.label}", after=kept))
        if self.registers:
            steps.append(Step("create", self.label, after=self.asked))
        if self.differing:
            before: Mapping[str, Any] = {name: self.before.get(name) for name in self.differing}
            steps.append(Step("update", self.label, ", ".join(self.differing), before, self.differing))
        if self.renews_certificate:
            was, will = ({"certificate": words} for words in ("as before", "as given"))
            steps.append(Step("update", f"certificate of {self.label}", "it is another", was, will))
        if self.refreshes:
            steps.append(Step("refresh", self.label, self.refreshes))
        if self.opens is not None:
            verb = "open" if self.opens else "close"
            steps.append(Step(verb, self.label, "", {"schedulable": not self.opens}, {"schedulable": self.opens}))
        return Plan(steps)

    @property
    def asked(self) -> Mapping[str, Any]:
        """The fields that are set, as they shall be."""
        return _asked(self.fields) if self.registers else self.differing


def _asked(fields: VMHostFields) -> dict[str, Any]:
    asked = {name: getattr(fields, name) for name in (*PLAIN, "power_address", "project")}
    tags = {"tags": sorted({*(fields.tags or ()), CONSOLE_TAG})}
    return {**{name: value for name, value in asked.items() if value is not None}, **tags}


def decide(sight: VMHostState, wish: VMHostSpec, check: bool) -> VMHostPlan:
    """What is to be done. In check mode an earlier task of the play may be the one that would have registered it."""
    if sight.known is None:
        fields = begun(wish.fields, sight.node)
        if fields.power_address is None and not check:
            if sight.node is not None:
                raise without_address(sight.node)
            raise invalid(
                f"MAAS has no {sight.identity.shown}, and power_address is missing to register it.",
                "Give the address of its LXD, or the machine that it runs on.",
            )
        label = replace(sight.identity, name=fields.name or wish.machine, endpoint=fields.endpoint).shown
        decision = VMHostPlan(label, fields, registers=True, files=wish.given.files)
    else:
        decision = decide_on(sight.known, wish)
    return replace(decision, opens=_opens(sight, wish, decision.label))


def begun(fields: VMHostFields, under: Machine | None) -> VMHostFields:
    """What a new VM host begins with: in all that a task does not say, it is as the machine under it."""
    fields = replace(fields, project=fields.project or PROJECT)
    if under is None:
        return fields
    return replace(
        fields,
        zone=fields.zone or (under.get("zone") or {}).get("name"),
        pool=fields.pool or (under.get("pool") or {}).get("name"),
        name=fields.name or str(under["hostname"]),
        power_address=fields.power_address or _address(under),
    )


def _address(under: Machine) -> str | None:
    links = [link for nic in [under.get("boot_interface") or {}] for link in nic.get("links") or ()]
    addresses = [link["ip_address"] for link in links if link.get("ip_address")] or list(under["ip_addresses"] or ())
    if not addresses:
        return None
    return f"[{addresses[0]}]:{PORT}" if ":" in addresses[0] else f"{addresses[0]}:{PORT}"


def without_address(under: Machine) -> Failure:
    return Failure(
        "conflict",
        f"{under['hostname']} has no address in MAAS.",
        object=str(under["hostname"]),
        hint="Give the address of its LXD as power_address.",
    )


def decide_on(known: VMHostDetails, wish: VMHostSpec) -> VMHostPlan:
    before = fields_of(known.host, known.parameters)
    differing = changes(before, wish.fields)
    pool = differing.get("default_storage_pool")
    pools = [each.get("name") for each in known.host.get("storage_pools") or ()]
    unknown_pool = [f"MAAS does not know its storage pool {pool}"] if pool and pool not in pools else []
    return VMHostPlan(
        known.label,
        wish.fields,
        files=wish.given.files,
        before=before,
        differing=differing,
        renews_certificate=_renews(wish.given, known),
        refreshes="; ".join([*missing(known.host), *unknown_pool]),
    )


def _renews(given: KeysSpec, known: VMHostDetails) -> bool:
    """Whether MAAS is to use another certificate or key; a file with a key alone is that of a killed run."""
    if given.pair is not None:
        return is_another(given.pair, known)
    return bool(given.key) and not same_key(given.key, str(known.parameters.get("key")))


def is_another(pair: Pair, known: VMHostDetails) -> bool:
    return pair.fingerprint != known.fingerprint or not same_key(pair.key, str(known.parameters.get("key")))


def _opens(sight: VMHostState, wish: VMHostSpec, label: str) -> bool | None:
    """True to let new VMs come, False to keep them away, None when that is as it shall be."""
    if wish.schedulable is None:
        return None
    if sight.node is None:
        if sight.known is not None and is_discovered(sight.known.host):
            raise cordon.unknown_machine(label)
        return None if wish.schedulable else False
    if cordon.is_as_wished(sight.node, wish.schedulable):
        return None
    if wish.schedulable:
        cordon.refuse_in_session(label, sight.node)
    return wish.schedulable


def foreseen(sight: VMHostState, decision: VMHostPlan) -> dict[str, Any]:
    """A VM host as it would be: the same keys, unknown values null."""
    now = sight.told
    if sight.known is None:
        begins = {**dict.fromkeys(now), **predicted(decision.fields), "predicted": True}
        obstacles = sight.lxd.obstacles(decision.fields.default_macvlan_mode) if sight.lxd else None
        return {**begins, "schedulable": decision.opens, "obstacles": obstacles}
    if not decision.plan:
        return now
    unknown: set[str] = set()
    if decision.refreshes:
        unknown |= {"version", "architectures", "discovered", "storage_pools", "capacity", "machine", "obstacles"}
    if {*RATIOS} & {*decision.differing}:
        unknown.add("capacity")
    if "default_storage_pool" in decision.differing:
        unknown.add("storage_pools")
    if decision.renews_certificate:
        unknown.add("certificate_fingerprint")
    opened = {} if decision.opens is None else {"schedulable": decision.opens}
    return {**now, **dict.fromkeys(unknown), **decision.differing, **opened, "predicted": True}
