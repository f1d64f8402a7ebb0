# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""MaasMachines with which the provider does harm, and how they are paused and continued. Pure.

A deployment that MAAS refuses is tried again at once, without end: each try takes a machine of MAAS and gives it back,
and every second one is of a machine that was given back before, whoever has it by now. A pause ends that. A MaasMachine
that is paused is not deleted, so each pause that we made ends when its time has come.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.pool_progress import (
    is_not_ours,
    is_outdated,
    machines_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.table import (
    condition,
    meaning_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.pure.stuck_machines import ObjectPatch
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import (
    GIVEN_UP,
    MAAS_MACHINE_FINALIZER,
    NOT_OURS,
    PAUSED,
    maas_machine_name_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.provider_id import system_id_of
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.fields import at, text
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import MAAS_MACHINES, Object
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import is_deleted, name_of


def endless(seen: ClusterSnapshot, pools: Collection[str] = ()) -> list[Object]:
    """The MaasMachines of these node pools, or of all, whose deployment is refused and tried again without end."""
    chosen = [pool for name, pool in seen.pools.items() if not pools or name in pools]
    names = {maas_machine_name_of(machine) for pool in chosen for machine in machines_of(seen, pool)}
    return [body for body in seen.maas_machines if name_of(body) in names and _is_endless(body)]


def _is_endless(body: Object) -> bool:
    shown = condition(body, "MachineDeployed")
    if shown is None or is_deleted(body) or is_paused(body):
        return False
    meaning = meaning_of(MAAS_MACHINES.name, shown, body)
    return meaning.loops and meaning.verdict in ("grace", "stop")


def patches(seen: ClusterSnapshot) -> Iterator[ObjectPatch]:
    """What is to be done while a task waits."""
    machines = {maas_machine_name_of(machine): machine for machine in seen.machines}
    for body in seen.maas_machines:
        machine = machines.get(name_of(body))
        going = is_deleted(body) or is_deleted(machine)
        outdated = machine is not None and is_outdated(seen, machine, body)
        if is_not_ours(body):
            yield from _abandonments(body)
        elif is_given_up(body) and (going or not outdated):
            yield resumption(body, going)
        elif outdated and not going and _is_endless(body):
            yield pause(
                body, "paused, as MAAS refuses what it was made for and the provider would try again without end"
            )


def pause(body: Object, said: str = "") -> ObjectPatch:
    """End the tries; the next run continues them."""
    why = text(condition(body, "MachineDeployed"), "reason") or "refused"
    return _annotation(body, {PAUSED: "true", GIVEN_UP: why}, said)


def takeover(body: Object, whose: str) -> ObjectPatch:
    """Keep the provider from a machine that the MaasMachine names and somebody else has."""
    system_id = system_id_of(body)
    said = f"paused, as it names {system_id}, which is not this cluster's: {whose}"
    return _annotation(body, {PAUSED: "true", NOT_OURS: system_id, GIVEN_UP: None}, said)


def is_paused(body: Object) -> bool:
    return at(body, "metadata", "annotations", PAUSED) is not None


def is_given_up(body: Object) -> bool:
    """Whether we have paused it because its deployment was refused."""
    return is_paused(body) and at(body, "metadata", "annotations", GIVEN_UP) is not None


def resumption(body: Object, going: bool) -> ObjectPatch:
    """End our pause of a deployment that was refused."""
    said = "continued, so that it can go" if going else "continued: an earlier run had paused it when it gave up"
    patch = _annotation(body, {PAUSED: None, GIVEN_UP: None}, said)
    # The provider has given the machine back, and means to name it no more; whoever has it by now would lose it.
    metadata = {**patch.body["metadata"], "resourceVersion": text(body, "metadata", "resourceVersion")}
    return replace(patch, body={"metadata": metadata, "spec": {"providerID": None, "systemID": None}})


def _abandonments(body: Object) -> Iterator[ObjectPatch]:
    """One that names a machine of somebody else goes without the provider, which would release that machine."""
    finalizers = at(body, "metadata", "finalizers") or []
    if is_deleted(body) and MAAS_MACHINE_FINALIZER in finalizers:
        metadata = {
            "finalizers": [each for each in finalizers if each != MAAS_MACHINE_FINALIZER],
            "resourceVersion": text(body, "metadata", "resourceVersion"),
        }
        said = f"machine {name_of(body)}: let go without a release, as its machine is not this cluster's"
        yield ObjectPatch(MAAS_MACHINES, name_of(body), {"metadata": metadata}, said)


def _annotation(body: Object, annotations: dict[str, str | None], said: str) -> ObjectPatch:
    line = f"machine {name_of(body)}: {said}" if said else ""
    return ObjectPatch(MAAS_MACHINES, name_of(body), {"metadata": {"annotations": annotations}}, line)
