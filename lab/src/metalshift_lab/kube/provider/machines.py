# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""MaasMachines: which of them to look at, and when again."""

from __future__ import annotations

from copy import deepcopy

from metalshift_lab.kube.api import MAAS_CLUSTERS, MAAS_MACHINES, Api, ApiError, Object, Unreachable, of_name
from metalshift_lab.kube.controller import Controller
from metalshift_lab.kube.provider import capi, states
from metalshift_lab.kube.provider.draft import Draft
from metalshift_lab.kube.provider.events import Recorder
from metalshift_lab.kube.provider.failures import Crashed, Missing
from metalshift_lab.kube.provider.hosted import Hosted
from metalshift_lab.kube.provider.look import Around, Look
from metalshift_lab.kube.provider.maas import MaasError
from metalshift_lab.kube.provider.settings import Settings
from metalshift_lab.kube.provider.texts import quoted


class Machines(Controller):
    expected = (ApiError, Unreachable, MaasError, Missing, Crashed)

    def __init__(self, api: Api, settings: Settings, hosted: Hosted, version: str) -> None:
        super().__init__(api, "provider.machines")
        self.workers = settings.concurrency
        self.backoff = settings.backoff
        self._settings = settings
        self._around = Around(settings, api, hosted, Recorder(api, "maasmachine-controller"), self.log)
        self.machines, self._clusters = capi.machines(version), capi.clusters(version)
        namespace = (settings.namespace if settings.behaviour.confined else "") or None
        self.watch(MAAS_MACHINES, namespace=namespace)
        self.watch(self.machines, namespace=namespace, key=_of_machine)
        self.watch(MAAS_CLUSTERS, namespace=namespace, key=self._of_maas_cluster)
        self.watch(self._clusters, namespace=namespace, key=self._of_cluster)

    def _of_maas_cluster(self, body: Object) -> list[str]:
        cluster = capi.owner(body, "Cluster")
        machines = capi.of_cluster(self.mirror(self.machines), body["metadata"]["namespace"], cluster or "")
        return [key for machine in machines for key in _of_machine(machine)]

    def _of_cluster(self, body: Object) -> list[str]:
        namespace = body["metadata"]["namespace"]
        found = capi.of_cluster(self.mirror(MAAS_MACHINES), namespace, of_name(body))
        return [f"{namespace}/{of_name(each)}" for each in found]

    def reconcile(self, key: str) -> float | None:
        namespace, name = key.split("/", 1)
        found = self.api.get(MAAS_MACHINES, name, namespace)
        if found is None:
            return None
        owner = capi.owner(found, "Machine")
        if owner is None:
            self.log.debug("%s waits for the Machine to become its owner", name)
            return None
        machine = self.mirror(self.machines).get(owner, namespace)
        if machine is None:
            raise Missing(f"Machine.cluster.x-k8s.io {quoted(owner)} not found")
        cluster = self.mirror(self._clusters).get(capi.label(machine, capi.CLUSTER_NAME) or "", namespace)
        if cluster is None or capi.paused(cluster, found):
            return None
        maas_cluster = self.mirror(MAAS_CLUSTERS).get(capi.infrastructure(cluster, "MaasCluster") or "", namespace)
        if maas_cluster is None:
            self.log.info("%s: its MaasCluster is not there yet", name)
            return None
        return self._passed(found, machine, cluster, maas_cluster)

    def _passed(self, found: Object, machine: Object, cluster: Object, maas_cluster: Object) -> float:
        contract = self._settings.behaviour.contract
        kinds = (states.DEPLOYED, states.DNS_ATTACHED) if capi.of_control_plane(machine) else (states.DEPLOYED,)
        draft = Draft(self.api, MAAS_MACHINES, found, contract, kinds)
        endpoint = Draft(self.api, MAAS_CLUSTERS, deepcopy(maas_cluster), contract, ())
        look = Look(self._around, draft, machine, cluster, endpoint)
        try:
            again = look.delete() if draft.deleting else look.keep()
        finally:
            look.close()
            draft.save()
        return self._settings.again(again)


def _of_machine(body: Object) -> list[str]:
    name = capi.infrastructure(body, "MaasMachine")
    return [f"{body['metadata']['namespace']}/{name}"] if name else []
