# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose a machine is that a MaasMachine names.

A provider ID can be stale: after a deployment that failed the provider gives the machine back and goes on naming it,
and by then it may be somebody else's. So a name alone is never a reason to release a machine.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.provider_id import parse
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import Object
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.holders import CLUSTER, claim_of
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import HELD, Status

# ours: it is this cluster's. foreign: it is certainly not. unsure: nothing proves it. leaving: on its way back.
# free: nobody holds it. gone: MAAS does not know it.
VERDICTS = ("ours", "foreign", "unsure", "leaving", "free", "gone")

DEPLOYED = "MachineDeployed"
FAILED = "MachineDeployFailed"
LEAVING = frozenset({Status.RELEASING, Status.DISK_ERASING})


@dataclass(frozen=True)
class MachineOwner:
    """A verdict out of VERDICTS, and why, as the end of a sentence."""

    verdict: str
    reason: str = ""


@dataclass(frozen=True)
class MachineNames:
    """How Kubernetes names a machine of MAAS."""

    maas_machine: Object
    # As NAMESPACE/NAME: the cluster that the MaasMachine belongs to.
    cluster: str
    # The Node of its Machine; empty without one.
    node: str = ""
    # Other MaasMachines that name the same machine, as NAMESPACE/NAME.
    rivals: Sequence[str] = ()

    @property
    def name(self) -> str:
        return str(self.maas_machine["metadata"]["name"])

    @property
    def spec(self) -> Mapping[str, Any]:
        return self.maas_machine.get("spec") or {}

    @property
    def status(self) -> Mapping[str, Any]:
        return self.maas_machine.get("status") or {}

    @property
    def deployment_failed(self) -> bool:
        conditions = self.status.get("conditions") or []
        return any(one["type"] == DEPLOYED and one.get("reason") == FAILED for one in conditions)


def zone_of(maas_machine: Object) -> str:
    """The zone that the provider took the machine from; empty if it does not say."""
    try:
        return parse(str((maas_machine.get("spec") or {}).get("providerID") or "")).zone
    except ValueError:
        return ""


def belonging(machine: Mapping[str, Any] | None, named: MachineNames, owners: Collection[str]) -> MachineOwner:
    """Whose the machine is now. `owners` are the users of MAAS in whose name the cluster's provider may act."""
    if machine is None:
        return MachineOwner("gone", "MAAS does not know it")
    status = Status(machine["status"])
    if status in LEAVING:
        return MachineOwner("leaving", f"it is {status.label} already")
    if status not in HELD or not machine.get("owner"):
        return MachineOwner("free", f"it is {status.label}, and nobody holds it")
    marked = marked_for(machine, named.cluster)
    if marked is not None:
        return marked
    for clue in CLUES:
        found = clue(machine, named, owners)
        if found is not None:
            return found
    return MachineOwner("ours", "all that is known of it fits")


def marked_for(machine: Mapping[str, Any], cluster: str) -> MachineOwner | None:
    """Whose a machine is by what MAAS has it marked with; None for one without a mark, and for one that is free."""
    if Status(machine["status"]) not in HELD or not machine.get("owner"):
        return None
    marked, claim = str((machine.get("workload_annotations") or {}).get(CLUSTER) or ""), claim_of(machine)
    if marked == cluster:
        return MachineOwner("ours", "MAAS has it marked as this cluster's")
    if marked:
        return MachineOwner("foreign", f"MAAS has it marked as a machine of hosted cluster {marked}")
    return MachineOwner("foreign", f"the claim {claim} holds it") if claim else None


# -- without a mark: what is known is compared ---------------------------------------------------------


def _owner(machine: Mapping[str, Any], _named: MachineNames, owners: Collection[str]) -> MachineOwner | None:
    owner = machine["owner"]
    if not owners or owner in owners:
        return None
    return MachineOwner("foreign", f"the MAAS user {owner} holds it, and not {' or '.join(sorted(owners))}")


def _image(machine: Mapping[str, Any], named: MachineNames, _owners: Collection[str]) -> MachineOwner | None:
    wished = str(named.spec.get("image") or "")
    if Status(machine["status"]) not in (Status.DEPLOYED, Status.DEPLOYING, Status.FAILED_DEPLOYMENT) or not wished:
        return None
    installed = f"{machine.get('osystem')}/{machine.get('distro_series')}"
    if wished in (installed, machine.get("distro_series")) or not machine.get("distro_series"):
        return None
    return MachineOwner("foreign", f"it runs {installed}, and {named.name} asks for {wished}")


def _hostname(machine: Mapping[str, Any], named: MachineNames, _owners: Collection[str]) -> MachineOwner | None:
    known_as = str(named.status.get("hostname") or "")
    if not known_as or known_as.partition(".")[0] == machine.get("hostname"):
        return None
    return MachineOwner("foreign", f"MAAS calls it {machine.get('hostname')}, and {named.name} {known_as}")


def _node(machine: Mapping[str, Any], named: MachineNames, _owners: Collection[str]) -> MachineOwner | None:
    if not named.node:
        return None
    if named.node.split(".")[0] == machine.get("hostname"):
        return MachineOwner("ours", f"it is the cluster's node {named.node}")
    return MachineOwner("foreign", f"MAAS calls it {machine.get('hostname')}, and the cluster's node is {named.node}")


def _rivals(_machine: Mapping[str, Any], named: MachineNames, _owners: Collection[str]) -> MachineOwner | None:
    if not named.rivals:
        return None
    return MachineOwner("unsure", f"MaasMachine {' and '.join(named.rivals)} names it as well")


def _failed(machine: Mapping[str, Any], named: MachineNames, _owners: Collection[str]) -> MachineOwner | None:
    """The provider gives back what it could not deploy. What it took instead is not Deployed before it says so."""
    if not named.deployment_failed or Status(machine["status"]) is not Status.DEPLOYED:
        return None
    return MachineOwner("unsure", f"the provider has given it back after a deployment that failed ({named.name})")


def _zone(machine: Mapping[str, Any], named: MachineNames, _owners: Collection[str]) -> MachineOwner | None:
    then, now = zone_of(named.maas_machine), str((machine.get("zone") or {}).get("name") or "")
    if not then or not now or then == now:
        return None
    return MachineOwner("unsure", f"it is in zone {now}, and the provider took it from {then}")


Clue = Callable[[Mapping[str, Any], MachineNames, Collection[str]], "MachineOwner | None"]

# The surest first: the first that says something decides.
CLUES: Sequence[Clue] = (_owner, _image, _hostname, _node, _rivals, _failed, _zone)
