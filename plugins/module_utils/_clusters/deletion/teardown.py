# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Taking away a hosted cluster, or one node pool of it, until its machines are Ready in MAAS.

Nothing is kept between runs. Which machines are concerned is read from the MaasMachines, and from marks in MAAS that
are written before anything is deleted: MAAS forgets a mark when the machine is released, so whatever still has it is
still the cluster's, however far an earlier run has come.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.pool_progress import is_not_ours
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.controllers import Controllers
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.dns_names import ClusterNames
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.erasure import (
    DiskErasure,
    claim_to_erase,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.kubernetes import (
    DeletionSpec,
    KubernetesDeletion,
    keeps_namespace,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.machines import (
    MachineReturn,
    NotedMachine,
    with_erasures,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.pure.blockers import DeletionState
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.ownership.pure.machine_owner import (
    MachineNames,
    MachineOwner,
    belonging,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pauses.pure.provider import takeover
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.preflight import rights
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import (
    KEEPS_NAMESPACE,
    MADE_FOR_CLUSTER,
    has_maas,
    maas_machine_name_of,
    node_name_of,
    pool_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.provider_id import system_id_of
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan, Step
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Options
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task
from ansible_collections.metalshift.maas.plugins.module_utils._core.wait import Patience
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    CLUSTERS,
    CONFIG_MAPS,
    HOSTED_CLUSTERS,
    MAAS_MACHINES,
    MACHINES,
    NODE_POOLS,
    SECRETS,
    Object,
    kind_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import (
    MANAGED_BY,
    MANAGER,
    name_of,
    title_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines, address
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine

# For both modules, and for hosted_cluster alone.
REMOVAL_OPTIONS: Options = {
    "force": {"type": "bool", "default": False},
    "stall_timeout": {"type": "float", "default": 300.0},
    "drain": {"type": "bool"},
    "erase": {"type": "bool"},
}
CREDENTIALS_OPTION: Options = {"remove_credentials": {"type": "bool", "default": False}}

MANAGED = f"{MANAGED_BY}={MANAGER},{MADE_FOR_CLUSTER}={{}}"


@dataclass
class Teardown:
    """One run."""

    task: Task
    wanted: DeletionSpec
    removed: list[str] = field(default_factory=list)
    noted: list[NotedMachine] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    changed: bool = False
    _concerns_maas: bool = False
    _names: ClusterNames | None = None

    def __post_init__(self) -> None:
        task = self.task
        self.patience = Patience.of(task)
        self.caretakers = Controllers(task, self.wanted.namespace, self.wanted.cluster)
        self.down = KubernetesDeletion(task, self.wanted, self.patience, self.caretakers)

    # -- the whole ------------------------------------------------------------------------------------------

    def converge(self) -> Result:
        scene = self._looked()
        self._refuse_shared()
        self._tell_of_the_rest()
        on_maas = self._concerns_maas = self._on_maas(scene)
        if self.wanted.pool:
            self._refuse_pause(scene)
        if on_maas:
            self._note(scene)
        mine = self._made_by_us()
        self._names = self._looked_up(scene)
        self.plan = self._planned(scene, mine)
        if self.task.check:
            return self._result(changed=bool(self.plan))
        self._prepare(scene)
        if not self.wanted.wait:
            self.down.ask((*scene.of(NODE_POOLS), *scene.of(HOSTED_CLUSTERS)))
            if scene.of(HOSTED_CLUSTERS) and mine:
                self.warnings.append("The Secrets stay: the cluster needs them until it is gone, and wait is false.")
            if self._names and self._names.steps():
                self.warnings.append("The names in MAAS stay: its node pools are not gone yet, and wait is false.")
            return self._result()
        try:
            # A run that is killed from here on leaves no name of which nothing says any more whose it is.
            self.down.take_down(scene, self._remove_names)
        except Failure as failure:
            return self._result(failure=self._with_machines(failure) if on_maas else failure)
        self._remove_names()
        stays = self._give_back() if on_maas else None
        if on_maas and self.wanted.erase:
            stays = self._erase() or stays
        for body in mine:
            self._drop(body)
        return self._result(failure=stays)

    def _result(self, *, changed: bool = False, failure: Failure | None = None) -> Result:
        self.task.trace_requests()
        names = self._names
        return Result(
            changed=changed or self.changed or self.down.changed or bool(names and names.changed),
            values={
                "node_pool" if self.wanted.pool else "hosted_cluster": {},
                "machines": [one.to_dict() for one in self.noted],
                "removed": self.removed,
                "forced": self.down.forced,
                **({"dns_names": [one.to_dict() for one in names.found]} if names else {}),
            },
            plan=self.plan,
            failure=failure,
            warnings=[*self.warnings, *(names.warnings if names else ())],
        )

    def _looked_up(self, scene: DeletionState) -> ClusterNames | None:
        """The names in MAAS, while the cluster says yet where it is."""
        if self.wanted.pool or self.task.params.get("dns_names") is None:
            return None
        machines = [*scene.of(MACHINES), *scene.of(MAAS_MACHINES)]
        names = ClusterNames(self.task, self.wanted.namespace, self.wanted.cluster, self.down.owner.cluster, machines)
        names.look()
        return names

    def _remove_names(self) -> None:
        if self._names:
            self._names.remove()

    def _on_maas(self, scene: DeletionState) -> bool:
        platforms = {
            str(((body.get("spec") or {}).get("platform") or {}).get("type") or "")
            for kind in (HOSTED_CLUSTERS, NODE_POOLS)
            for body in scene.of(kind)
        }
        return "MAAS" in platforms or bool(scene.of(MAAS_MACHINES)) or (not platforms and has_maas(self.task.params))

    # -- before anything is deleted -------------------------------------------------------------------------

    def _looked(self) -> DeletionState:
        """What is left; all that the user may not do is said at once."""
        try:
            return self.down.look()
        except Failure as failure:
            if failure.kind != "forbidden":
                raise
            asked = rights.questions(self.wanted.namespace, self.wanted.cluster, "destroy")
            lacking = [rights.in_words(one) for one in rights.refused(self.task.kube, asked)]
            if not lacking:
                raise
            raise Failure(
                "forbidden",
                f"{self.wanted.label} cannot be removed: this user of the management cluster may not "
                f"{', '.join(lacking)}.",
                object=self.wanted.label,
                reason=f"it may not {', '.join(lacking)}",
                hint="Bind a role with these rights to it.",
                status=failure.status,
            ) from None

    def _refuse_shared(self) -> None:
        """HyperShift deletes the control plane's namespace with everything in it, whoever's it is."""
        owner = self.down.owner
        if self.wanted.pool or owner.cluster is None or not owner.namesakes or keeps_namespace(owner.cluster):
            return
        others = " and ".join(owner.namesakes)
        raise Failure(
            "conflict",
            f"{self.wanted.label} is not removed, because its control plane and that of hosted cluster {others} are "
            f"in one namespace, {owner.place}, which HyperShift would delete with both of them.",
            object=self.wanted.label,
            reason=f"namespace {owner.place} is that of {others} as well",
            hint=f"Check namespace and name. If {owner.label} is to go, give it the annotation "
            f'{KEEPS_NAMESPACE}: "true", with which HyperShift leaves the namespace, and run the task again.',
        )

    def _tell_of_the_rest(self) -> None:
        """What has the name of something of this cluster's, and is left alone."""
        owner, not_ours = self.down.owner, self.down.not_ours
        if not_ours and owner.cluster is None:
            self.warnings.append(
                f"There is no hosted cluster {owner.label}. Namespace {owner.place} is left as it is: {not_ours}."
            )

    def _refuse_pause(self, scene: DeletionState) -> None:
        """A pool of a paused cluster stays for ever, and a cluster is not un-paused for one of its pools."""
        paused = [body for body in scene.of(CLUSTERS) if (body.get("spec") or {}).get("paused")]
        if paused and scene.of(NODE_POOLS):
            raise Failure(
                "conflict",
                f"{self.wanted.label} cannot go while the hosted cluster {self.wanted.owner} is paused: "
                "neither Cluster API nor the MAAS provider does anything then.",
                object=self.wanted.label,
                reason=f"{title_of(paused[0])} is paused",
                hint="Continue it first, with hosted_cluster and paused: false.",
            )

    def _note(self, scene: DeletionState) -> None:
        """Which machines are concerned, and whose each is."""
        machines = Machines(self.task.maas)
        named = self._named(scene)
        known = machines.read(named)
        owners = self.caretakers.owners(machines.me)
        for system_id, one in sorted(named.items()):
            machine = known.get(system_id) or machines.get(system_id)
            found = belonging(machine, one, owners)
            self.noted.append(
                NotedMachine.of(system_id, machine, pool_of(one.maas_machine).rpartition("/")[2], found, one.name)
            )
        for machine in MachineReturn.marked(machines, self.wanted.owner, self.wanted.pool):
            if machine["system_id"] not in named:
                why = MachineOwner("ours", "MAAS has it marked as this cluster's, and no MaasMachine names it")
                self.noted.append(NotedMachine.of(machine["system_id"], machine, "", why, ""))
        self._refuse_foreign()

    def _named(self, scene: DeletionState) -> dict[str, MachineNames]:
        """The MaasMachines by the machine that each names, with what else is known of it."""
        nodes = {maas_machine_name_of(body): node_name_of(body) for body in scene.of(MACHINES)}
        everywhere = self._all_maas_machines(scene)
        found = {}
        for body in scene.of(MAAS_MACHINES):
            system_id = system_id_of(body)
            rivals = [
                f"{one['metadata'].get('namespace')}/{name_of(one)}"
                for one in everywhere
                if system_id_of(one) == system_id and one["metadata"].get("uid") != body["metadata"].get("uid")
            ]
            if system_id:
                found[system_id] = MachineNames(body, self.wanted.owner, nodes.get(name_of(body), ""), tuple(rivals))
        return found

    def _all_maas_machines(self, scene: DeletionState) -> Sequence[Object]:
        try:
            return self.task.kube.list(MAAS_MACHINES)
        except Failure as failure:
            if failure.kind != "forbidden":
                raise
            return scene.of(MAAS_MACHINES)

    def _refuse_foreign(self) -> None:
        """The provider releases what a MaasMachine names, whoever holds it: that must not happen."""
        foreign = [one for one in self.noted if one.maas_machine and one.belonging.verdict in ("foreign", "unsure")]
        if not foreign or self.wanted.force:
            return
        told = "; ".join(f"{one.maas_machine} names {one.title}, but {one.belonging.reason}" for one in foreign)
        raise Failure(
            "claimed",
            f"{self.wanted.label} is not removed, because the MAAS provider would release a machine that is not, or "
            f"may not be, the cluster's: {told}.",
            object=self.wanted.label,
            reason=told,
            hint="Correct spec.providerID of that MaasMachine; or set force: true, which takes it out of the "
            "provider's hands and leaves the machine alone.",
        )

    def _made_by_us(self) -> list[Object]:
        """What the module hosted_cluster made besides the cluster; the credentials are needed until the very end."""
        if self.wanted.pool:
            return []
        selector = MANAGED.format(self.wanted.cluster)
        made = [
            body
            for kind in (SECRETS, CONFIG_MAPS)
            for body in self.task.kube.list(kind, self.wanted.namespace, labels=selector)
            # HyperShift gives its own Secrets the labels of the cluster; they go with their owner.
            if not body["metadata"].get("ownerReferences")
        ]
        credentials = f"{self.wanted.cluster}-maas-credentials"
        return [body for body in made if self.wanted.remove_credentials or name_of(body) != credentials]

    # -- planning -------------------------------------------------------------------------------------------

    def _planned(self, scene: DeletionState, mine: Sequence[Object]) -> Plan:
        steps = [
            Step(
                "continue",
                title_of(body),
                "what is paused cannot be deleted",
                _paused_until(body),
                {"pausedUntil": None},
            )
            for body in (*scene.of(HOSTED_CLUSTERS), *scene.of(NODE_POOLS))
            if _paused_until(body)
        ]
        steps += [Step("leave alone", one.title, one.belonging.reason) for one in self.noted if one.is_foreign]
        whole = (*scene.of(NODE_POOLS), *scene.of(HOSTED_CLUSTERS))
        steps += [Step("delete", title_of(body), before={"name": name_of(body)}) for body in whole]
        if whole and scene.place:
            steps.append(
                Step(
                    "delete",
                    title_of(scene.place),
                    "HyperShift deletes it, with all that is in it",
                    {"name": name_of(scene.place)},
                )
            )
        if not whole:
            left = self.down.left_over(scene)
            steps += [Step("delete", title_of(body), "it was left over", {"name": name_of(body)}) for body in left]
        steps += [
            Step("release", one.title, one.belonging.reason, {"status": one.status}, {"status": "Ready"})
            for one in self.noted
            if one.belonging.verdict == "ours" and (one.maas_machine or self.wanted.force or one.release_failed)
        ]
        if self.wanted.erase and self._concerns_maas:
            going = [one.title for one in self.noted if one.belonging.verdict == "ours"]
            steps += [Step("erase", title, "once it is given back") for title in going]
            known = {one.system_id for one in self.noted}
            left = [one for one in self._left_to_erase(self._erasing()) if one["system_id"] not in known]
            steps += [Step("erase", address(machine), "an earlier run did not come to it") for machine in left]
        steps += self._names.steps() if self._names else []
        steps += [Step("delete", title_of(body), "it was made for the cluster") for body in mine]
        return Plan(steps)

    # -- acting ---------------------------------------------------------------------------------------------

    def _prepare(self, scene: DeletionState) -> None:
        """Write down whose the machines are, and clear what would make a deletion hang."""
        for one in self.noted:
            if one.is_foreign and one.maas_machine:
                self._protect(scene, one)
        if self.noted:
            back = MachineReturn(self.task, self.patience, self.wanted.owner)
            self.noted = [back.mark(one) if one.belonging.verdict == "ours" else one for one in self.noted]
            self.changed = self.changed or back.changed
        ours = [one.system_id for one in self.noted if one.belonging.verdict == "ours"]
        if self.wanted.erase and ours:
            self._erasing().remember(ours)
        for body in (*scene.of(HOSTED_CLUSTERS), *scene.of(NODE_POOLS)):
            if _paused_until(body):
                self.down.patch(body, {"spec": {"pausedUntil": None}}, "continued")
        if not self.wanted.drain:
            for body in scene.of(MACHINES):
                self.down.skip_drain(body)

    def _protect(self, scene: DeletionState, one: NotedMachine) -> None:
        for body in scene.of(MAAS_MACHINES):
            if name_of(body) == one.maas_machine and not is_not_ours(body):
                said = (
                    f"taken out of the provider's hands, for {one.title} is not this cluster's: {one.belonging.reason}"
                )
                self.down.patch(body, takeover(body, one.belonging.reason).body, said)

    def _drop(self, body: Object) -> None:
        if self.task.kube.delete(kind_of(body), name_of(body), self.wanted.namespace, uid=body["metadata"]["uid"]):
            self.changed = True
            self.removed.append(title_of(body))

    # -- MAAS -----------------------------------------------------------------------------------------------

    def _give_back(self) -> Failure | None:
        """Wait in MAAS until every machine is free; what is still the cluster's is released, if the task says so."""
        back = MachineReturn(self.task, self.patience, self.wanted.owner, release=self.wanted.force)
        self.noted = back.until_free(self.noted)
        self.changed = self.changed or back.changed
        return back.failure(f"{self.wanted.label} is gone", self.noted)

    def _with_machines(self, failure: Failure) -> Failure:
        """The same with the machines that the cluster has in MAAS still: what named them may be gone by now."""
        if failure.kind not in ("timeout", "failed_state"):
            return failure
        try:
            self.noted = MachineReturn(self.task, self.patience, self.wanted.owner).outcomes(self.noted)
        except Failure:
            return failure
        held = [f"{one.title} ({one.reason})" for one in self.noted if one.outcome in ("held", "failed")]
        if not held:
            return failure
        return replace(failure, message=f"{failure.message} Not given back yet: {', '.join(held)}.")

    def _erasing(self) -> DiskErasure:
        return DiskErasure(self.task, self.patience, claim_to_erase(self.wanted.owner), self.wanted.owner)

    def _left_to_erase(self, erasing: DiskErasure) -> list[Machine]:
        """What is remembered, without the machines of pools that stay."""
        stays = self.task.kube.list(MAAS_MACHINES, self.wanted.place) if self.wanted.pool else ()
        named = {system_id_of(body) for body in stays if pool_of(body).rpartition("/")[2] != self.wanted.pool}
        return [machine for machine in erasing.remembered() if machine["system_id"] not in named]

    def _erase(self) -> Failure | None:
        """Erase what is free again, and what an earlier run did not come to."""
        erasing = self._erasing()
        ended = erasing.erase(self._left_to_erase(erasing))
        self.changed = self.changed or erasing.changed
        self.warnings += erasing.warnings(ended)
        self.noted = with_erasures(self.noted, ended)
        return erasing.failure(ended)


def _paused_until(body: Object) -> dict[str, Any]:
    value = (body.get("spec") or {}).get("pausedUntil")
    return {"pausedUntil": value} if value else {}


# -- what the modules call -------------------------------------------------------------------------------


def remove_cluster(task: Task) -> Result:
    """`hosted_cluster: state: absent`."""
    params = task.params
    wanted = _wanted(params, cluster=params["name"])
    # Its workloads go with it: draining would only move them from one node that goes to another.
    wanted = replace(wanted, drain=bool(params.get("drain")), remove_credentials=bool(params.get("remove_credentials")))
    return Teardown(task, wanted).converge()


def remove_pool(task: Task) -> Result:
    """`node_pool: state: absent`."""
    params = task.params
    found = task.kube.get(NODE_POOLS, params["name"], params["namespace"])
    cluster = str(((found or {}).get("spec") or {}).get("clusterName") or params.get("cluster") or "")
    if not cluster:
        # Without a pool, and without the name of its cluster, there is nowhere to look for what it left.
        return Result(changed=False, values={"node_pool": {}, "machines": [], "removed": [], "forced": []})
    return Teardown(task, _wanted(params, cluster=cluster, pool=params["name"])).converge()


def _wanted(params: Mapping[str, Any], *, cluster: str, pool: str = "") -> DeletionSpec:
    return DeletionSpec(
        namespace=params["namespace"],
        cluster=cluster,
        pool=pool,
        drain=params.get("drain") is not False,
        force=bool(params.get("force")),
        stall=float(params.get("stall_timeout") or 300.0),
        erase=bool(params.get("erase")),
        wait=bool(params["wait"]),
    )
