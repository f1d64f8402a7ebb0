# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects keep Cluster API from a machine of MAAS, and which of them were paused for whose sake.

The provider redeploys a machine that it finds changed and switches on one that it finds off, unless its MaasMachine is
paused. A MachineHealthCheck replaces a Machine whose node is away, unless the Machine is paused. Both annotations stay:
the operator of HyperShift writes neither kind, and Cluster API passes on only what stands in its own templates.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import OF_CLUSTER, PAUSED, PAUSED_AS
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.provider_id import system_id_of
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Step
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.fields import at, text
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    MAAS_MACHINES,
    MACHINES,
    Object,
    ObjectKind,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import is_deleted, name_of


@dataclass(frozen=True)
class Part:
    """One of the objects that stand for a machine."""

    kind: ObjectKind
    body: Object

    @property
    def namespace(self) -> str:
        return text(self.body, "metadata", "namespace")

    @property
    def name(self) -> str:
        return name_of(self.body)

    @property
    def paused_as(self) -> str:
        """The name of our pause; empty without one."""
        return text(self.body, "metadata", "annotations", PAUSED_AS)

    @property
    def is_paused(self) -> bool:
        return at(self.body, "metadata", "annotations", PAUSED) is not None


@dataclass(frozen=True)
class ClusterApiMachine:
    """A machine of MAAS that Cluster API has, by the objects that stand for it."""

    system_id: str
    maas_machine: Part
    # None while Cluster API itself does not know the MaasMachine.
    machine: Part | None

    @property
    def parts(self) -> list[Part]:
        """That which replaces the machine is paused before that which switches it."""
        return [*([self.machine] if self.machine else []), self.maas_machine]

    @property
    def leaves(self) -> bool:
        """Whether Cluster API is giving it back already: a pause would only hold that up."""
        return any(is_deleted(part.body) for part in self.parts)

    def told(self, name: str) -> dict[str, Any]:
        """As results show it while it is paused as `name`, or by others."""
        return {
            "system_id": self.system_id,
            "namespace": self.maas_machine.namespace,
            "cluster": text(self.maas_machine.body, "metadata", "labels", OF_CLUSTER) or None,
            "machine": self.machine.name if self.machine else None,
            "maas_machine": self.maas_machine.name,
            "paused_by_others": all(part.is_paused and part.paused_as != name for part in self.parts),
        }


@dataclass(frozen=True)
class PausePatch:
    """The beginning or the end of the pause of one object."""

    part: Part
    annotations: Mapping[str, str | None]

    @property
    def body(self) -> dict[str, Any]:
        return {"metadata": {"annotations": dict(self.annotations)}}

    @property
    def step(self) -> Step:
        part, begins = self.part, self.annotations[PAUSED_AS] is not None
        label = f"{part.kind} {part.namespace}/{part.name}"
        return Step("pause" if begins else "continue", label, "", {"paused": not begins}, {"paused": begins})


def owned(
    maas_machines: Sequence[Object], machines: Sequence[Object], system_ids: Collection[str]
) -> list[ClusterApiMachine]:
    """Those of the machines that Cluster API has. A stale providerID may name one twice: then both are meant."""
    by_reference: dict[tuple[str, str], Object] = {}
    for body in machines:
        reference = at(body, "spec", "infrastructureRef") or {}
        if reference.get("kind") == MAAS_MACHINES.name:
            by_reference[text(body, "metadata", "namespace"), str(reference.get("name"))] = body
    found: dict[str, list[ClusterApiMachine]] = defaultdict(list)
    for body in maas_machines:
        system_id = system_id_of(body)
        if system_id in system_ids:
            own = by_reference.get((text(body, "metadata", "namespace"), name_of(body)))
            found[system_id].append(
                ClusterApiMachine(
                    system_id, Part(MAAS_MACHINES, body), Part(MACHINES, own) if own is not None else None
                )
            )
    return [one for system_id in sorted(found) for one in found[system_id]]


def beginnings(several: Sequence[ClusterApiMachine], name: str) -> list[PausePatch]:
    """What is to be paused. What others have paused stays theirs, so that the end of our pause does not end theirs."""
    annotations = {PAUSED: "true", PAUSED_AS: name}
    parts = [part for one in several if not one.leaves for part in one.parts]
    return [PausePatch(part, annotations) for part in parts if not part.is_paused]


def ends(maas_machines: Sequence[Object], machines: Sequence[Object], name: str) -> list[PausePatch]:
    """What we have paused under that name, in the order in which it may go on."""
    parts = [
        *(Part(MAAS_MACHINES, body) for body in maas_machines),
        *(Part(MACHINES, body) for body in machines),
    ]
    return [PausePatch(part, {PAUSED: None, PAUSED_AS: None}) for part in parts if part.paused_as == name]
