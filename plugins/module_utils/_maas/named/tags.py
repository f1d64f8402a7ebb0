# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tags, and the machines that carry them.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan, Step
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.urls import segment
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines
from ansible_collections.metalshift.maas.plugins.module_utils._maas.named.objects import Found, NamedObjects

TAGS = NamedObjects(
    noun="tag",
    collection="tags/",
    item="tags/{}/",
    fields=("comment", "definition", "kernel_opts"),
    numbered=False,
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

    def plan(self, name: str) -> Plan:
        if not self.added and not self.removed:
            return Plan()
        reason = [f"{len(self.added)} added"] * bool(self.added) + [f"{len(self.removed)} removed"] * bool(self.removed)
        before, after = ({"machines": sorted(side.values())} for side in (self.before, self.after))
        return Plan([Step("tag", f"machines of tag {name}", ", ".join(reason), before, after)])


def members(
    maas: Client, name: str, found: Found | None, wished: Sequence[str], purge: bool, *, check: bool = False
) -> Members:
    """What the tag's machines are, and what they shall be when the wished ones carry it.

    In check mode an earlier task of the play may be the one that would have enlisted an unknown machine.
    """
    chosen, unknown = _chosen(maas, wished)
    if unknown and not check:
        raise Failure(
            "not_found",
            f"MAAS does not know {', '.join(unknown)}.",
            object=", ".join(unknown),
            hint="A machine is named by its hostname, FQDN, system_id or MAC address.",
        )
    chosen |= {name: name for name in unknown}
    before = _hostnames(maas.get(f"tags/{segment(name, 'name of a tag')}/", op="machines")) if found else {}
    return Members(before, chosen if purge else {**before, **chosen}, unknown)


def carry_members(maas: Client, name: str, wish: Members) -> None:
    """One request, however many machines. MAAS ignores ids that it does not know: it counts what it matched."""
    form = {"add": wish.added, "remove": wish.removed}
    counted = maas.post(f"tags/{segment(name, 'name of a tag')}/", form, op="update_nodes", repeatable=True)
    missing = len(wish.added) - int(counted.get("added", 0))
    if missing > 0:
        raise Failure(
            "conflict",
            f"{missing} of the machines for tag {name} vanished from MAAS meanwhile.",
            object=f"tag {name}",
            hint="Run the task again.",
        )


def refuse_members_of_automatic(name: str, definition: str | None, found: Mapping[str, Any] | None) -> None:
    """MAAS accepts them and forgets them the next time that it evaluates the definition."""
    effective = (found or {}).get("definition", "") if definition is None else definition.strip()
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
        raise Failure("rejected", f"MAAS cannot look for machines so: {reason}", reason=reason, fields=fields)


def _chosen(maas: Client, wished: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """The machines that are meant, and the names of those that MAAS does not know."""
    found = Machines(maas).find(wished) if wished else {}
    known = [machine for machine in found.values() if machine is not None]
    return _hostnames(known), [name for name, machine in found.items() if machine is None]


def _hostnames(machines: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    return {machine["system_id"]: str(machine["hostname"]) for machine in machines}
