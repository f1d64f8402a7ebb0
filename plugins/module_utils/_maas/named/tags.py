# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tags, and the machines that carry them.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.contract import Outcome
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.names import did_you_mean
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan, Step
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.urls import segment
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines, lacking
from ansible_collections.metalshift.maas.plugins.module_utils._maas.named.engine import NamedEngine
from ansible_collections.metalshift.maas.plugins.module_utils._maas.named.objects import Found, NamedObjects

TAGS = NamedObjects(
    noun="tag",
    collection="tags/",
    item="tags/{}/",
    fields=("comment", "definition", "kernel_opts"),
    numbered=False,
    name_rule="A name has letters, digits, _ and -.",
)


@dataclass(frozen=True)
class Members:
    """The machines of a tag by system_id, with their hostnames: as they are, and as they shall be."""

    before: Mapping[str, str]
    after: Mapping[str, str]
    # Names that MAAS does not know yet; among `after` under themselves.
    unknown: Sequence[str] = ()

    @property
    def added(self) -> list[str]:
        return sorted(set(self.after) - set(self.before))

    @property
    def removed(self) -> list[str]:
        return sorted(set(self.before) - set(self.after))

    def steps(self, name: str) -> list[Step]:
        if not self.added and not self.removed:
            return []
        reason = [f"{len(self.added)} added"] * bool(self.added) + [f"{len(self.removed)} removed"] * bool(self.removed)
        before, after = ({"machines": sorted(side.values())} for side in (self.before, self.after))
        return [Step(TAGGING, f"machines of tag {name}", ", ".join(reason), before, after)]


@dataclass(frozen=True)
class TagState:
    """A tag, empty while it is absent, and its machines where the task says which."""

    tag: Found
    members: Members | None = None


TAGGING = "tag"


class TagEngine:
    """A tag and the machines that carry it."""

    def __init__(self, task: Task) -> None:
        self.maas, self.params, self.check = task.maas, task.params, task.check
        self.of_tag = NamedEngine(task, TAGS)

    def read(self) -> TagState:
        tag, machines = self.of_tag.read(), self.params["machines"]
        if machines is None or self.of_tag.removes:
            return TagState(tag)
        refuse_members_of_automatic(self.params["name"], self.params["definition"], tag)
        return TagState(tag, self._members(tag, machines))

    def plan(self, current: TagState) -> Plan:
        tagging = current.members.steps(self.params["name"]) if current.members else []
        return Plan([*self.of_tag.plan(current.tag).steps, *tagging])

    def predict(self, current: TagState, plan: Plan) -> TagState:
        tag = self.of_tag.predict(current.tag, _without_tagging(plan))
        return replace(current, tag={**tag, "predicted": True} if tag else {})

    def apply(self, current: TagState, plan: Plan) -> TagState:
        tag = self.of_tag.apply(current.tag, _without_tagging(plan))
        if current.members and any(step.verb == TAGGING for step in plan.steps):
            self._set_members(current.members)
        return replace(current, tag=tag)

    def result(self, current: TagState) -> Outcome:
        if current.members is None:
            return self.of_tag.result(current.tag)
        told = {**current.tag, "machines": sorted(current.members.after.values())}
        return Outcome({"tag": told}, [lacking(machine) for machine in current.members.unknown])

    @property
    def _path(self) -> str:
        return path_of(self.params["name"])

    def _members(self, tag: Found, wished: Sequence[str]) -> Members:
        """What the tag's machines are, and what they shall be when the wished ones carry it.

        In check mode an earlier task of the play may be the one that would have enlisted an unknown machine.
        """
        chosen, unknown = _chosen(self.maas, wished)
        if unknown and not self.check:
            raise Failure(
                "not_found",
                f"MAAS does not know {', '.join(unknown)}.",
                object=", ".join(unknown),
                hint="A machine is named by its hostname, FQDN, system_id or MAC address.",
            )
        chosen |= {name: name for name in unknown}
        before = _hostnames(self.maas.get(self._path, op="machines")) if tag else {}
        return Members(before, chosen if self.params["purge_machines"] else {**before, **chosen}, unknown)

    def _set_members(self, wish: Members) -> None:
        """One request, however many machines. MAAS ignores ids that it does not know: it counts what it matched."""
        form = {"add": wish.added, "remove": wish.removed}
        counted = change_machines(self.maas, self.params["name"], form)
        missing = len(wish.added) - int(counted.get("added", 0))
        if missing > 0:
            raise Failure(
                "conflict",
                f"{missing} of the machines for tag {self.params['name']} vanished from MAAS meanwhile.",
                object=self.of_tag.label,
                hint="Run the task again.",
            )


def _without_tagging(plan: Plan) -> Plan:
    return Plan([step for step in plan.steps if step.verb != TAGGING])


def refuse_members_of_automatic(name: str, definition: str | None, tag: Found) -> None:
    """MAAS accepts them and forgets them the next time that it evaluates the definition."""
    effective = tag.get("definition", "") if definition is None else definition.strip()
    if effective:
        raise invalid(
            f"Tag {name} has a definition, so MAAS itself chooses its machines, and machines cannot be given.",
            hint="Leave out machines, or make it a tag by hand with an empty definition.",
        )


def refuse_unknown(maas: Client, options: Mapping[str, Sequence[str]]) -> None:
    """Tags to look for machines with: MAAS itself ignores one that is not to be on them and that it does not know."""
    if not any(options.values()):
        return
    known = {tag["name"] for tag in maas.get("tags/")}
    missing = {option: [name for name in names if name not in known] for option, names in options.items()}
    fields = {option: [f"No such tag(s): {', '.join(map(repr, names))}."] for option, names in missing.items() if names}
    if fields:
        reason = "; ".join(f"{option}: {' '.join(texts)}" for option, texts in fields.items())
        asked = next(name for names in missing.values() for name in names)
        hint = did_you_mean(asked, known, "Check the spelling, or make it first.")
        raise Failure("rejected", f"Machines cannot be looked for: {reason}", reason=reason, fields=fields, hint=hint)


def _chosen(maas: Client, wished: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """The machines that are meant, and the names of those that MAAS does not know."""
    found = Machines(maas).find(wished) if wished else {}
    known = [machine for machine in found.values() if machine is not None]
    return _hostnames(known), [name for name, machine in found.items() if machine is None]


def _hostnames(machines: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    return {machine["system_id"]: str(machine["hostname"]) for machine in machines}


def path_of(tag: str) -> str:
    return f"tags/{segment(tag, 'name of a tag')}/"


def change_machines(maas: Client, tag: str, machines: Mapping[str, Sequence[str]]) -> Mapping[str, Any]:
    """Give a tag to the machines under `add`, take it from those under `remove`; how many of each MAAS knew."""
    counted: Mapping[str, Any] = maas.post(path_of(tag), machines, op="update_nodes", repeatable=True)
    return counted
