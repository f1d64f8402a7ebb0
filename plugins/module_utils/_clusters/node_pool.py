# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bringing a node pool to what a task wishes.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.pool_machines import PoolMachines
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.teardown import remove_pool
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.objects import (
    DesiredObject,
    label_of,
    refuse_options_of_removal,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.pure import pool_manifest, secrets
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.pure.capability import (
    refuse_platform,
    refuse_unknown,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.pure.immutables import (
    NODE_POOL,
    refuse_changes,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.pure.releases import refuse_older
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.pure.results import node_pool_view
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.ownership.marks import Marker
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import (
    MADE_FOR_POOL,
    has_maas,
    is_paused,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.wait import wait_for
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan, Step
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task
from ansible_collections.metalshift.maas.plugins.module_utils._core.wait import Patience
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    CONFIG_MAPS,
    CRDS,
    HOSTED_CLUSTERS,
    NODE_POOLS,
    Object,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.merge import at
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import is_deleted
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.ownership import applied
from ansible_collections.metalshift.maas.plugins.module_utils._maas.pure.sizes import mebibytes, parse

CONFIG = "config"
RELEASE = ("spec", "release", "image")


class NodePoolRun:
    """One task on one node pool that is to be there."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.kube = task.kube
        self.params = {**task.params, "min_memory": _mebibytes(task.params["min_memory"])}
        self.namespace, self.name = task.params["namespace"], task.params["name"]
        self.label = label_of(NODE_POOLS, self.namespace, self.name)
        self.patience = Patience.of(task)
        self.warnings: list[str] = []

    def converge(self) -> Result:
        live = self.kube.get(NODE_POOLS, self.name, self.namespace)
        cluster = self._cluster(live)
        self._refuse(live, cluster)
        wish = self._wish(live, cluster)
        configs = list(self._configs(str(at(wish.wanted, ("spec", "clusterName")) or self.params["cluster"] or "")))
        todo = [*configs, wish]
        plan = Plan([step for each in todo if (step := each.step)])
        leaving = self._leaving(live)
        now = live or {}
        if wish.step:
            now = wish.wanted
            if not self._awaits_operator():
                self._refuse_incapable(wish, cluster)
                # Without its cluster, which an earlier task would make, the release of a pool may not be known.
                now = wish.tried(self.kube) if at(wish.wanted, RELEASE) else now
        if self.task.check:
            return self._result(Plan([*plan.steps, *(leaving.steps() if leaving else ())]), now, predicted=True)
        if leaving:
            leaving.note(changes=wish.step is not None)
        for each in todo:
            if each.step:
                now = each.carry_out(self.kube)
        return self._waited(plan, now if wish.step else live or {}, leaving)

    def _leaving(self, live: Object | None) -> PoolMachines | None:
        """The machines that the pool may give back, if it has any and the task says where MAAS is."""
        if live is None or pool_manifest.platform_of(self.params, live, None) != "MAAS":
            return None
        if not (self.params["erase"] or has_maas(self.task.params)):
            return None
        cluster = str(at(live, ("spec", "clusterName")))
        return PoolMachines(self.task, self.patience, self.namespace, cluster, self.name)

    def _waited(self, plan: Plan, body: Object, leaving: PoolMachines | None) -> Result:
        """Wait as the task says; whoever pauses a pool does not wait for it."""
        if not self.params["wait"] or is_paused(body.get("spec"), time.time()):
            return self._result(plan, body, leaving=leaving)
        cluster, goal = at(body, ("spec", "clusterName")), self.params["wait_for"]
        approve, marker = self.params["approve_csrs"], Marker(self.task)
        try:
            sight = wait_for(
                self.task,
                self.namespace,
                cluster,
                goal,
                pools=[self.name],
                approve=approve,
                marker=marker,
                patience=self.patience,
            )
        except Failure as failure:
            marked = marker.finish()
            self.warnings += marked.warnings
            return self._result(plan, body, leaving=leaving, failure=failure, marked=marked.changed)
        marked = marker.finish(sight)
        self.warnings += marked.warnings
        stuck = leaving.see_off(sight) if leaving else None
        view = sight.pools.get(self.name, body)
        return self._result(plan, view, leaving=leaving, failure=stuck, marked=marked.changed)

    def _result(
        self,
        plan: Plan,
        body: Object,
        *,
        predicted: bool = False,
        leaving: PoolMachines | None = None,
        failure: Failure | None = None,
        marked: bool = False,
    ) -> Result:
        view = node_pool_view(body, self.namespace, self.name, time.time())
        if predicted and plan:
            view["predicted"] = True
        changed = bool(plan) or marked or (leaving is not None and leaving.changed)
        machines = [one.to_dict() for one in leaving.gone] if leaving else []
        warnings = [*self.warnings, *(leaving.warnings if leaving else ())]
        values = {"node_pool": view, "machines": machines}
        return Result(changed, values, plan, failure, list(dict.fromkeys(warnings)))

    def _cluster(self, live: Object | None) -> Object | None:
        """The HostedCluster of the pool. In check mode it may be one that an earlier task would make."""
        name = at(live or {}, ("spec", "clusterName")) or self.params["cluster"]
        if not name:
            raise invalid(f"{self.label} does not exist, and to create it the task lacks cluster.")
        found = self.kube.get(HOSTED_CLUSTERS, name, self.namespace)
        if found is None and not self.task.check:
            label = label_of(HOSTED_CLUSTERS, self.namespace, name)
            raise Failure(
                "not_found",
                f"{self.label} needs {label}, which does not exist.",
                object=label,
                hint="Create it first, with metalshift.maas.hosted_cluster: HyperShift ignores a node pool without "
                "its cluster.",
            )
        return found

    # -- what is refused ---------------------------------------------------------------------------------------------

    def _refuse(self, live: Object | None, cluster: Object | None) -> None:
        refuse_options_of_removal(self.params, ("force",))
        pool_manifest.refuse_contradictions(self.params, live, cluster, self.label)
        if live is not None and is_deleted(live):
            raise Failure(
                "conflict",
                f"{self.label} is being deleted, and cannot be kept.",
                object=self.label,
                hint="Wait for its end with state: absent, then create it anew.",
            )
        if live is not None:
            pool_manifest.refuse_foreign_replicas(self.params, live, self.label)
        elif cluster is None and not self.params["release"] and not self.task.check:
            raise invalid(f"{self.label} does not exist, and to create it the task lacks release.")
        wanted = pool_manifest.platform_of({**self.params, "platform": None}, live, cluster)
        if cluster is not None and self.params["platform"] and self.params["platform"] != wanted.lower():
            raise invalid(f"{self.label} cannot be of platform {self.params['platform']}: its cluster is of {wanted}.")

    def _awaits_operator(self) -> bool:
        """Whether this is check mode, and HyperShift may be what an earlier task of the play installs."""
        waits = self.task.check and not self.kube.serves(NODE_POOLS)
        if waits:
            self.warnings.append(f"The cluster at {self.kube.server} does not know NodePools yet.")
        return waits

    def _refuse_incapable(self, wish: DesiredObject, cluster: Object | None) -> None:
        try:
            crd = self.kube.get(CRDS, NODE_POOLS.resource)
        except Failure as failure:
            if failure.kind != "forbidden":
                raise
            self.warnings.append("What the kind NodePool can do may not be read, so it was not checked.")
            return
        refuse_platform(pool_manifest.platform_of(self.params, wish.live, cluster), crd, "NodePool")
        refuse_unknown(crd or {}, wish.wanted, self.params["spec_overrides"], self.label)

    # -- what is wished ----------------------------------------------------------------------------------------------

    def _wish(self, live: Object | None, cluster: Object | None) -> DesiredObject:
        kept = applied(live) if live else {}
        wanted = pool_manifest.manifest(self.params, live, kept, cluster, self._config_names())
        if live is not None:
            refuse_changes(NODE_POOL, self.label, live, wanted, kept)
            asked = at(wanted, RELEASE)
            if asked and asked != at(live, RELEASE) and not self.params["allow_downgrade"]:
                refuse_older(self.label, str(asked), str(at(live, ("status", "version")) or ""))
        return DesiredObject(wanted, live, take_over=self.params["take_over"])

    def _config_names(self) -> list[str] | None:
        given = self.params["config"]
        return None if given is None else [self._config_name(each) for each in given]

    def _config_name(self, given: dict[str, Any]) -> str:
        made = given["content"] is not None
        return pool_manifest.config_name(self.name, given["name"]) if made else str(given["name"])

    def _configs(self, cluster: str) -> Iterator[DesiredObject]:
        """The ConfigMaps with configuration of nodes: made from text, or looked for by name."""
        for given in self.params["config"] or ():
            name = self._config_name(given)
            there = self.kube.get(CONFIG_MAPS, name, self.namespace)
            if given["content"] is not None:
                wanted = secrets.config_map(name, self.namespace, cluster, {CONFIG: given["content"]})
                wanted["metadata"]["labels"][MADE_FOR_POOL] = self.name
                yield DesiredObject(wanted, there)
            else:
                self._check_config(name, there)

    def _check_config(self, name: str, there: Object | None) -> None:
        label = label_of(CONFIG_MAPS, self.namespace, name)
        if there is None and self.task.check:
            self.warnings.append(f"{label} is not there yet: {self.label} will need it.")
        elif not at(there or {}, ("data", CONFIG)):
            missing = "does not exist" if there is None else f"has no {CONFIG}"
            raise Failure(
                "not_found",
                f"{self.label} needs {label}, which {missing}.",
                object=label,
                hint=f"Its {CONFIG} holds a manifest, such as a MachineConfig.",
            )


def _mebibytes(value: Any) -> int | None:
    return None if value is None else mebibytes(parse(value, "min_memory", "MiB"))


def converge_pool(task: Task) -> Result:
    """Bring the node pool that the task names to the wished state."""
    return _remove(task) if task.params["state"] == "absent" else NodePoolRun(task).converge()


def _remove(task: Task) -> Result:
    """The pool with its machines, then the ConfigMaps that were made for it."""
    namespace, name = task.params["namespace"], task.params["name"]
    made: Sequence[Object] = task.kube.list(CONFIG_MAPS, namespace, labels=f"{MADE_FOR_POOL}={name}")
    result = remove_pool(task)
    return result if not made else _and_configs(task, result, made)


def _and_configs(task: Task, result: Result, made: Sequence[Object]) -> Result:
    names = [each["metadata"]["name"] for each in made]
    namespace = task.params["namespace"]
    steps = [Step("delete", label_of(CONFIG_MAPS, namespace, name), "it was made for the pool") for name in names]
    result.plan = Plan([*result.plan.steps, *steps])
    result.changed = True
    if not task.check and result.failure is None:
        for name in names:
            task.kube.delete(CONFIG_MAPS, name, namespace)
    return result
