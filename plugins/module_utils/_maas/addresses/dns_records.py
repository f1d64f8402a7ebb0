# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine of DNS records: all of one type at one name.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.contract import Outcome
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.unknown import UNKNOWN
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses import dns


@dataclass(frozen=True)
class RecordState:
    """A name, what MAAS has at it, and the records as results show them."""

    name: dns.Name
    present: dns.Present
    records: Mapping[str, Any]


class RecordEngine:
    """The records of one type at one name."""

    def __init__(self, task: Task) -> None:
        self.maas, self.params, self.check = task.maas, task.params, task.check
        self.removes = task.params["state"] == "absent"
        # In check mode, machines that are to be deployed have no addresses yet.
        values = task.params["value"] or ([UNKNOWN] if self.check and not self.removes else [])
        self.spec = dns.wished(task.params["type"], values, task.params["ttl"], may_be_empty=self.removes)

    def read(self) -> RecordState:
        fqdn, label, domain = (self.params[option] for option in ("fqdn", "name", "domain"))
        name = dns.locate(self.maas, fqdn, label, domain, may_lack=self.removes or self.check)
        if self.check and not self.removes:
            name = dns.in_domain_to_come(name, self.spec.type)
        return self._state(name, dns.read(self.maas, name))

    def plan(self, current: RecordState) -> Plan:
        return dns.plan(
            current.name, current.present, self.spec, remove=self.removes, purge=self.params["purge_records"]
        )

    def predict(self, current: RecordState, plan: Plan) -> RecordState:
        records = dns.predicted(current.present.records(self.spec.type), plan)
        return replace(current, records={**records, "predicted": True} if records else {})

    def apply(self, current: RecordState, plan: Plan) -> RecordState:
        if not plan:
            return current
        return self._state(current.name, dns.carry_out(self.maas, current.name, current.present, plan.steps))

    def result(self, current: RecordState) -> Outcome:
        name = current.name
        place = {"fqdn": name.fqdn, "name": name.label, "domain": name.domain, "type": self.spec.type}
        told = {**place, **current.records} if current.records else {}
        return Outcome({"dns_record": told}, [] if self.removes else dns.lacking(name, self.spec))

    def _state(self, name: dns.Name, present: dns.Present) -> RecordState:
        return RecordState(name, present, present.records(self.spec.type).shown)
