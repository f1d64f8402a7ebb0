# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machines that one task names: what it says of each, which it finds, what it does to them, what it tells.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.unknown import UNKNOWN
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Options, what_is_wrong
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.holders import (
    checked,
    holder,
    is_hosted,
    marked,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.errors import about
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.fleet import (
    Fleet,
    FleetMember,
    MachineTarget,
    annotating,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.images import uploaded_later
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines, lacking, shown
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.options import doubt_user_data, user_data
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.prediction import (
    forecast,
    forecast_deployed,
    steps_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure import forms
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.changes import MachineChange
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.fields import (
    MachineFields,
    annotated,
    applied,
    enlisted,
    field_changes,
    mac_conflict,
    named,
    tag_changes,
    unknown_names,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.refusals import refuse
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.spec import (
    Answer,
    LifecycleFailure,
    LifecyclePlan,
    LifecycleStep,
    MachineOp,
    MachineSpec,
    Situation,
    State,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.surroundings import Surroundings

# Dicts that an element completes instead of replacing: a shared user and password, an address of its own.
COMPLETED = ("power_parameters", "annotations")
NAME = re.compile(r"^[\w.:-]+$")
UNSEEN = "A key that is no administrator's does not see what other users hold."
# They belong to one machine, so they cannot be the default of several.
OF_ONE_MACHINE = ("hostname", "mac_addresses")
# What a hosted cluster finds a machine by.
IDENTITY = frozenset({"hostname", "domain", "zone"})


@dataclass(eq=False)
class NamedMachine:
    """One machine that the task names."""

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)
    wish: MachineSpec = field(default_factory=MachineSpec)
    wished: MachineFields = field(default_factory=MachineFields)
    forms: Mapping[MachineOp, Mapping[str, Any]] = field(default_factory=dict)
    machine: Machine | None = None
    failure: Failure | None = None
    changed: bool = False
    plan: LifecyclePlan | None = None
    changes: Sequence[MachineChange] = ()
    # The machine as it is at the end of the task, or as it would be.
    then: Machine = field(default_factory=dict)
    foreseen: bool = True
    warnings: list[str] = field(default_factory=list)
    # Where the name is a system_id: the hostname that the machine had when it was found.
    hostname: str = ""

    @classmethod
    def of(cls, element: Any, params: Mapping[str, Any], options: Options, where: str) -> NamedMachine:
        """The entry for one element of `machines`; with what is wrong with it as its failure."""
        given = str(element.get("name")) if isinstance(element, Mapping) else str(element)
        # What is no name may be anything, a dict as text with its secrets included: it is not repeated.
        name = given if NAME.match(given) or given == UNKNOWN else where
        try:
            own = _checked(element, options, where)
            entry = cls(name, _with_defaults(own, params, options))
            entry._understand()
        except Failure as failure:
            return cls(name, failure=failure.about(name))
        return entry

    def _understand(self) -> None:
        erase = forms.erasing(self.params)
        self.wish = replace(MachineSpec.from_params(self.params), erase=erase)
        self.forms = forms.forms_from_params(self.params, user_data(self.params))
        self.wished = MachineFields.from_params(self.params)
        if self.claim:
            checked(self.claim)

    @property
    def names(self) -> list[str]:
        """By what the machine may be found, the surest first."""
        return [self.name, *filter(None, [self.wished.hostname]), *self.wished.mac_addresses]

    @property
    def label(self) -> str:
        """What the machine is called in sentences and plans: a system_id alone says nothing to people."""
        return self.hostname or self.name

    @property
    def marks(self) -> list[str]:
        """What no other machine has: its system_id, or what it is to be enlisted with."""
        if self.machine is not None:
            return [str(self.machine["system_id"])]
        return [*filter(None, [self.wished.hostname]), *self.wished.mac_addresses]

    @property
    def claim(self) -> str:
        return self.params.get("claim") or ""

    @property
    def goal(self) -> MachineTarget:
        return MachineTarget(self.wish, self.forms, self.claim, self._adjust, can_enlist=self.wished.can_be_enlisted)

    @property
    def annotations(self) -> dict[str, str]:
        """With the claim's mark, if this run allocates: a machine that is held already has a claim or has none."""
        allocates = self.plan is not None and any(step.op is MachineOp.ALLOCATE for step in self.plan.steps)
        return {**self.wished.annotations, **(marked(self.claim) if self.claim and allocates else {})}

    def _adjust(self, machine: Machine, answer: Answer) -> Sequence[MachineChange]:
        if isinstance(answer, LifecycleStep) and answer.op is MachineOp.UNLOCK:
            return ()
        return [*self.changes, *annotating(self.annotations)(machine, answer)]

    # -- finding ----------------------------------------------------------------------------------------

    def adopt(self, machine: Machine | None, found_as: str) -> None:
        """Take over what exists under one of the names."""
        self.machine = machine
        if machine is None or found_as != self.name:
            self.wished = named(self.wished, self.name)
        if machine is not None:
            self.hostname = str(machine.get("hostname") or "") if self.name.lower() == machine["system_id"] else ""
            self.failure = mac_conflict(self.label, machine, self.wished)

    # -- deciding ----------------------------------------------------------------------------------------

    def foresee(self, around: Surroundings, me: str, wait: bool, check: bool) -> None:
        """Decide all that is to be done to the machine; its failure if that cannot be. Nothing is sent yet."""
        if self.failure:
            self.then = self.machine or {}
            return
        try:
            self._foresee(around, me, wait, check)
        except Failure as failure:
            self.failure = failure.about(self.label)
            self.then = self.machine or {}

    def doubt_absence(self) -> None:
        """Say that a machine which this user does not see may be somebody else's."""
        if self.machine is not None or self.changed:
            return
        if self.failure is not None and self.failure.kind == "not_found":
            self.failure = replace(self.failure, hint=f"{self.failure.hint} {UNSEEN}".strip())
        elif self.failure is None and self.wish.state is State.ABSENT:
            self.warnings.append(f"{self.name} was not found. {UNSEEN}")

    def _foresee(self, around: Surroundings, me: str, wait: bool, check: bool) -> None:
        goal = self.goal
        if check and self.machine is None and not goal.can_enlist and self.wish.state is not State.ABSENT:
            # An earlier task of the play may be the one that would have enlisted it.
            goal = replace(goal, can_enlist=True)
            self.warnings.append(lacking(self.name))
        self.plan, then = forecast(FleetMember(self.label, goal, self.machine), me, wait)
        if check and self._awaits_deployment(self.plan.end):
            self.plan, then = forecast_deployed(FleetMember(self.label, goal, self.machine), me, wait)
        if isinstance(self.plan.end, LifecycleFailure):
            # Carrying out sends nothing either, but asks MAAS for what explains it.
            raise self.plan.end.failure(self.label)
        if self.wish.state is State.ABSENT:
            self.then, self.changed = {}, bool(self.plan.steps)
            return
        if any(step.op is MachineOp.DEPLOY for step in self.plan.steps):
            self._check_deployment(around, check)
        base = self.machine if self.machine is not None else enlisted(self.wished)
        unknown = unknown_names(around.names, self.wished, base if self.machine is not None else {})
        if unknown and not check:
            raise Failure(
                "not_found",
                f"{self.label} cannot be changed: MAAS has no {' and no '.join(unknown)}.",
                hint="Check the spelling, or make it first.",
            )
        self.warnings += [f"{self.label}: MAAS has no {noun} yet." for noun in unknown]
        if self.machine is not None:
            self.changes = field_changes(self.machine, self.wished, around.power_parameters(self.machine, self.wished))
        self._check_lock(self.changes, around)
        self._check_identity(self.changes)
        self._check_architecture(self.changes)
        then = applied({**base, **then}, self.changes, self.wished, around.automatic_tags(self.wished))
        self.then = self._foresee_annotations(then, check)
        self.changed = bool(self.plan.steps) or bool(self.then.get("predicted"))
        self._check_drift()

    def _awaits_deployment(self, end: Answer) -> bool:
        """Whether an earlier task of the play may be the one that makes possible what is refused."""
        if not isinstance(end, LifecycleFailure) or self.wish.state is not State.PRESENT:
            return False
        if self.machine is not None and end.awaits_deployment:
            self.warnings.append(f"{end.reason} An earlier task has to deploy it.")
        return self.machine is None or end.awaits_deployment

    def _check_deployment(self, around: Surroundings, check: bool) -> None:
        """What would be found out only when the machine is held."""
        self.warnings += doubt_user_data(user_data(self.params))
        wrong = around.why_not_deployed(self.forms[MachineOp.DEPLOY])
        if wrong is None:
            return
        if not check or not uploaded_later(forms.operating_system(self.params)):
            raise wrong
        self.warnings.append(f"MAAS has no such image yet: {wrong.reason}.")

    def _foresee_annotations(self, then: Machine, check: bool) -> Machine:
        wanted = {key: value for key, value in self.annotations.items() if value}
        if wanted and not then.get("owner") and check and self.wish.state is State.PRESENT:
            if self.machine is not None:
                self.warnings.append(f"{self.label} is held by nobody: an earlier task has to allocate or deploy it.")
            return {**annotated(then, self.annotations), "predicted": True}
        if wanted and not then.get("owner"):
            raise Failure(
                "conflict",
                f"{self.label} cannot have annotations: MAAS keeps them only while somebody holds the machine.",
                hint="Set state: allocated or state: deployed, or use tags, which stay with a machine.",
            )
        return annotated(then, self.annotations) if then.get("owner") else then

    def _check_lock(self, changes: Sequence[MachineChange], around: Surroundings) -> None:
        if self.machine is None or not self.machine.get("locked") or self.wish.locked is False:
            return
        added, removed = tag_changes(self.machine, self.wished, around.automatic_tags(self.wished))
        present = self.machine.get("workload_annotations") or {}
        differing = [key for key, value in self.annotations.items() if str(present.get(key) or "") != value]
        if changes or added or removed or differing:
            raise refuse("locked", Situation.of(self.machine, ""), self.wish).failure(self.label)

    def _check_identity(self, changes: Sequence[MachineChange]) -> None:
        """A Node is found by its machine's name, and its providerID names the zone."""
        if self.machine is None or self.wish.take_over or not is_hosted(self.machine):
            return
        if any(IDENTITY.intersection(change.form) for change in changes):
            now = Situation.of(self.machine, "", claim=holder(self.machine))
            raise refuse("hosted", now, self.wish).failure(self.label)

    def _check_architecture(self, changes: Sequence[MachineChange]) -> None:
        """MAAS takes any architecture for a deployed machine, and fails only when it is deployed again."""
        if self.machine is None or self.machine.get("status_name") != "Deployed":
            return
        self.warnings += [
            f"{self.label} is Deployed, and its architecture changes from {change.before['architecture']} to "
            f"{change.after['architecture']}: the next deployment may fail."
            for change in changes
            if "architecture" in change.form
        ]

    def _check_drift(self) -> None:
        machine = self.machine or {}
        if self.wish.state is not State.DEPLOYED or machine.get("status_name") != "Deployed":
            return
        for present, asked in forms.deployed_otherwise(machine, self.forms[MachineOp.DEPLOY]):
            self.warnings.append(
                f"{self.label} is deployed with {present}, not with {asked}, and stays so: release it first."
            )

    @property
    def is_to_be_enlisted(self) -> bool:
        return self.plan is not None and bool(self.plan.steps) and self.plan.steps[0].op is MachineOp.ENLIST

    def came_to(self, member: FleetMember) -> None:
        """What became of the machine in a fleet."""
        self.machine, self.failure = member.machine, member.failure
        self.changed = self.changed or member.changed
        if member.failure is None and self.plan and any(step.op is MachineOp.DEPLOY for step in self.plan.steps):
            self._check_drift()

    def shown_steps(self, around: Surroundings) -> list[Any]:
        """The entry's part of the plan that diff shows."""
        if self.failure or self.plan is None:
            return []
        changes = list(self.changes)
        before = self.machine if self.machine is not None else {}
        if self.wish.state is not State.ABSENT:
            added, removed = tag_changes(before, self.wished, around.automatic_tags(self.wished))
            if added or removed:
                tags = sorted(before.get("tag_names") or ())
                after = sorted((set(tags) | set(added)) - set(removed))
                changes.append(MachineChange("tag", {"tags": after}, before={"tags": tags}))
            present = before.get("workload_annotations") or {}
            notes = {key: text for key, text in self.annotations.items() if str(present.get(key) or "") != text}
            if notes:
                changes.append(MachineChange("annotate", notes, before={key: present.get(key) for key in notes}))
        return steps_of(self.label, self.plan, changes, {**self.forms, MachineOp.ENLIST: self.wished.enlist_form()})

    # -- telling ------------------------------------------------------------------------------------------

    def result(self, full: bool) -> dict[str, Any]:
        """What the task tells of this machine."""
        said = {"name": self.name, **shown(self.then, full), "changed": self.changed}
        if self.foreseen and self.changed:
            said["predicted"] = True
        if self.failure:
            said.update(failed=True, failure=self.failure.to_dict())
        return said


def entries_of(params: Mapping[str, Any], options: Options) -> list[NamedMachine]:
    """An entry for each element of `machines`."""
    elements = params["machines"]
    alone = [name for name in OF_ONE_MACHINE if params.get(name)]
    if len(elements) > 1 and alone:
        raise invalid(
            f"{' and '.join(alone)} cannot hold for {len(elements)} machines.",
            "Give machines as dicts, each with its own.",
        )
    return [
        NamedMachine.of(element, params, options, f"machines[{place}]")
        for place, element in enumerate(elements, start=1)
    ]


def find(entries: Iterable[NamedMachine], machines: Machines) -> None:
    """Look up all machines that the entries name, with a request or two for all together."""
    sound = [entry for entry in entries if entry.failure is None]
    known_as = machines.look_up([name for entry in sound for name in entry.names])
    taken: dict[str, str] = {}
    for entry in sound:
        try:
            found = ((known_as(name), name) for name in entry.names)
            entry.adopt(*next(((machine, name) for machine, name in found if machine), (None, "")))
        except Failure as failure:
            entry.failure = failure
        if entry.failure is None:
            twins = [taken[mark] for mark in entry.marks if mark in taken]
            taken.update((mark, entry.name) for mark in entry.marks)
            if twins:
                same = entry.name == twins[0]
                entry.hostname = ""
                told = "is named twice" if same else f"and {twins[0]} are the same machine"
                entry.failure = invalid(f"{entry.name} {told}.", "Name it once.")


def carry_out(entries: Sequence[NamedMachine], around: Surroundings, fleet: Callable[[], Fleet]) -> None:
    """Do what was foreseen: enlist, tag, then change and drive each machine. `fleet` makes an empty one."""
    for entry in entries:
        entry.changed = False
    _enlist([entry for entry in entries if not entry.failure and entry.is_to_be_enlisted], fleet())
    send_tags(entries, around)
    # A refused machine comes along: nothing is sent for it, but the fleet asks MAAS why it is as it is.
    driven = [
        entry for entry in entries if not entry.failure or (entry.plan and isinstance(entry.plan.end, LifecycleFailure))
    ]
    members = [FleetMember(entry.label, replace(entry.goal, can_enlist=False), entry.machine) for entry in driven]
    fleet().drive(members)
    for entry, member in zip(driven, members, strict=True):
        entry.came_to(member)
    for entry in entries:
        entry.then, entry.foreseen = entry.machine or {}, False


def _enlist(entries: Sequence[NamedMachine], fleet: Fleet) -> None:
    """Make machines known to MAAS, and take up again what it did not take in the form."""
    forms_of = [{**entry.forms, MachineOp.ENLIST: entry.wished.enlist_form()} for entry in entries]
    members = [
        FleetMember(entry.name, MachineTarget(MachineSpec(), form, can_enlist=True))
        for entry, form in zip(entries, forms_of, strict=True)
    ]
    fleet.drive(members)
    for entry, member in zip(entries, members, strict=True):
        entry.came_to(member)
        if entry.machine is not None:
            entry.changes = field_changes(entry.machine, entry.wished, entry.wished.power_parameters)


def send_tags(entries: Iterable[NamedMachine], around: Surroundings) -> None:
    """Tag and untag: one request for each tag, however many machines get or lose it."""
    todo: dict[str, dict[str, list[NamedMachine]]] = {}
    for entry in entries:
        if entry.failure or entry.machine is None or entry.wish.state is State.ABSENT:
            continue
        added, removed = tag_changes(entry.machine, entry.wished, around.automatic_tags(entry.wished))
        for word, tags in (("add", added), ("remove", removed)):
            for tag in tags:
                todo.setdefault(tag, {}).setdefault(word, []).append(entry)
    for tag, changed in sorted(todo.items()):
        ids = {word: [entry.machine["system_id"] for entry in some if entry.machine] for word, some in changed.items()}
        try:
            around.update_tag(tag, ids)
        except Failure as failure:
            for entry in (entry for some in changed.values() for entry in some):
                entry.failure = about(failure, entry.label, f"tagged with {tag}")
            continue
        for word, some in changed.items():
            for entry in some:
                _retag(entry, tag, gone=word == "remove")


def _retag(entry: NamedMachine, tag: str, gone: bool) -> None:
    machine = entry.machine or {}
    tags = set(machine.get("tag_names") or ()) - {tag} | (set() if gone else {tag})
    entry.machine = {**machine, "tag_names": sorted(tags)}
    entry.changed = True


def _checked(element: Any, options: Options, where: str) -> dict[str, Any]:
    """An element's own options: a name alone, or suboptions that Ansible's validator finds right."""
    name = element.get("name") if isinstance(element, Mapping) else element
    if isinstance(name, (int, float)):
        # YAML reads 52:54:00:12:34:02 as a number to the base of 60.
        raise invalid(f"{where} is a number, {name}.", "Put quotes around MAC addresses and names of digits.")
    is_name = name is None or name == UNKNOWN or NAME.match(str(name))
    if element is None or not is_name:
        raise invalid(f"{where} is no name of a machine.", "Give a hostname, FQDN, system_id or MAC address.")
    if not isinstance(element, Mapping):
        return {"name": str(element)}
    spec = {name: {key: value for key, value in option.items() if key != "default"} for name, option in options.items()}
    spec["name"] = {"type": "str", "required": True}
    found = ArgumentSpecValidator(spec).validate(dict(element))
    if found.error_messages:
        whose = f" ({name})" if name else ""
        raise invalid(
            f"{where}{whose} is wrong: {what_is_wrong(found.errors)}.", "An element takes name and the task's options."
        )
    return {name: value for name, value in found.validated_parameters.items() if value is not None}


def _with_defaults(own: Mapping[str, Any], params: Mapping[str, Any], options: Options) -> dict[str, Any]:
    """An element's options, and for those that it does not set the task's."""
    merged = {name: own.get(name, params.get(name)) for name in options}
    for name in COMPLETED:
        if own.get(name) and params.get(name):
            merged[name] = {**params[name], **own[name]}
    return merged
