# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""MaasClusters: the API server's name, whether it answers, and the wait for machines before deletion."""

from __future__ import annotations

import threading

from metalshift_lab.kube.api import (
    CONFIG_MAPS,
    MAAS_CLUSTERS,
    MAAS_MACHINES,
    Api,
    ApiError,
    Object,
    Unreachable,
    of_name,
)
from metalshift_lab.kube.controller import Controller
from metalshift_lab.kube.provider import capi, dns, states
from metalshift_lab.kube.provider.conditions import V1BETA2, false, true
from metalshift_lab.kube.provider.draft import Draft
from metalshift_lab.kube.provider.hosted import Hosted, Offline
from metalshift_lab.kube.provider.maas import Maas, MaasError
from metalshift_lab.kube.provider.settings import Settings

FINALIZER = "maascluster.infrastructure.cluster.x-k8s.io"
NAME_READY = "LoadBalancerReady"
API_AVAILABLE = "APIServerAvailable"

#: Real seconds.
WAIT_FOR_MACHINES = 10
WAIT_FOR_NAME = 15
RETRY_LABEL = 30
#: Between two looks whether the hosted API answers; the lab does not ask faster than twice a second.
PROBE = 1
PROBE_AT_LEAST = 0.5
#: From then on the real one does not pause until the control plane is initialised: fifty looks a second as measured,
#: each with four requests to MAAS where the provider writes the names itself.
STORM = 0.02


class Pending(Exception):
    """DNS does not hold the running machines yet; the next event goes on."""


class Clusters(Controller):
    expected = (ApiError, Unreachable, MaasError, Offline)

    def __init__(self, api: Api, settings: Settings, hosted: Hosted, version: str) -> None:
        super().__init__(api, "provider.clusters")
        self._settings, self._hosted = settings, hosted
        self.backoff = settings.backoff
        self._clusters, self._probed = capi.clusters(version), set[str]()
        namespace = settings.namespace if settings.behaviour.confined else ""
        self.watch(MAAS_CLUSTERS, namespace=namespace or None)
        self.watch(MAAS_MACHINES, namespace=namespace or None, key=self._of_control_plane_machine)
        self.watch(self._clusters, namespace=namespace or None, key=_of_cluster)

    def _of_control_plane_machine(self, body: Object) -> list[str]:
        if not capi.of_control_plane(body):
            return []
        namespace = body["metadata"]["namespace"]
        cluster = self.mirror(self._clusters).get(capi.label(body, capi.CLUSTER_NAME) or "", namespace)
        return _of_cluster(cluster) if cluster is not None else []

    # -- a pass -----------------------------------------------------------------------------------------------------

    def reconcile(self, key: str) -> float | None:
        namespace, name = key.split("/", 1)
        found = self.api.get(MAAS_CLUSTERS, name, namespace)
        if found is None:
            return None
        cluster = self._cluster_of(found)
        if cluster is None or capi.paused(cluster, found):
            return None
        contract = self._settings.behaviour.contract
        draft = Draft(self.api, MAAS_CLUSTERS, found, contract, (NAME_READY, API_AVAILABLE))
        zones = draft.spec.get("failureDomains", [])
        if zones and contract is V1BETA2:
            draft.status["failureDomains"] = [{"name": zone, "controlPlane": True} for zone in zones]
        elif zones:
            draft.status["failureDomains"] = {zone: {"controlPlane": True} for zone in zones}
        try:
            again = self._removed(draft, cluster) if draft.deleting else self._kept(draft, cluster)
        finally:
            draft.save()
        return again if again == STORM else self._settings.again(again)

    def _cluster_of(self, body: Object) -> Object | None:
        name = capi.owner(body, "Cluster")
        if name is None:
            self.log.debug("%s waits for the Cluster to become its owner", of_name(body))
            return None
        return self.mirror(self._clusters).get(name, body["metadata"]["namespace"])

    def _removed(self, draft: Draft, cluster: Object) -> float | None:
        left = capi.of_cluster(self.mirror(MAAS_MACHINES), draft.namespace, of_name(cluster))
        if left:
            self.log.info("%s waits until its MaasMachines are deleted: %d left", draft.name, len(left))
            return WAIT_FOR_MACHINES
        draft.let_go(FINALIZER)
        return None

    def _kept(self, draft: Draft, cluster: Object) -> float | None:
        if not draft.holds(FINALIZER):
            draft.hold(FINALIZER)
            return None
        behaviour = self._settings.behaviour
        maas = self._settings.maas()
        try:
            fqdn = self._named(draft, cluster, maas)
            if not fqdn:
                draft.mark(false(NAME_READY, "WaitForDNSName", "Info"))
                return WAIT_FOR_NAME
            draft.spec["controlPlaneEndpoint"] = {"host": fqdn, "port": dns.port(draft, cluster, behaviour)}
            draft.status["ready"] = True
            if behaviour.contract is V1BETA2:
                draft.status["initialization"] = {"provisioned": True}
            draft.mark(true(NAME_READY))
            self._attach(draft, cluster, maas)
        except Pending:
            return None
        finally:
            maas.close()
        return self._served(draft, cluster)

    def _served(self, draft: Draft, cluster: Object) -> float | None:
        self._probe(draft, cluster)
        if not self._hosted.online(cluster):
            draft.mark(false(API_AVAILABLE, "APIServerNotReady", "Warning"))
            return None
        draft.mark(true(API_AVAILABLE))
        if self._settings.storms and not capi.control_plane_ready(cluster):
            return STORM
        try:
            self._hosted.mark_ready(cluster)
        except (ApiError, Unreachable, Offline) as error:
            self.log.info("%s: kube-system of the hosted cluster was not labelled: %s", draft.name, error)
            return RETRY_LABEL
        return None

    # -- DNS --------------------------------------------------------------------------------------------------------

    def _named(self, draft: Draft, cluster: Object, maas: Maas) -> str:
        fqdn = dns.name(draft, cluster, self._settings.behaviour)
        if dns.custom(draft, self._settings.behaviour):
            return fqdn
        try:
            dns.Records(maas, fqdn).ensure()
        except MaasError as error:
            draft.mark(false(NAME_READY, "LoadBalancerFailed", "Error", str(error)))
            raise
        draft.status["network"]["dnsName"] = fqdn
        return fqdn

    def _attach(self, draft: Draft, cluster: Object, maas: Maas) -> None:
        """Write the addresses of the running machines of the control plane into DNS."""
        behaviour = self._settings.behaviour
        if dns.custom(draft, behaviour):
            return
        preferred = self._preferred(draft.namespace) if behaviour.preferred_subnets else []
        records = dns.Records(maas, draft.status["network"]["dnsName"])
        record = records.find()
        current = {str(each["ip"]) for each in record.get("ip_addresses", []) if each.get("ip")}
        running, pending = [], False
        for machine in capi.of_cluster(self.mirror(MAAS_MACHINES), draft.namespace, of_name(cluster)):
            if not capi.of_control_plane(machine):
                continue
            ip, up = dns.external_ip(machine, preferred), _running(machine)
            pending |= (ip in current) != up
            if up:
                running.append(ip)
        if not behaviour.careful_dns:
            records.write(running)
        elif set(running) != current and running:
            records.put(record, running)
        if pending:
            raise Pending

    def _preferred(self, namespace: str) -> list[str]:
        found = self.api.get(CONFIG_MAPS, "maas-preferred-subnet", namespace)
        subnets = (found or {}).get("data", {}).get("preferredSubnets", "")
        return [each.strip() for each in subnets.split(",") if each.strip()]

    # -- the hosted API ---------------------------------------------------------------------------------------------

    def _probe(self, draft: Draft, cluster: Object) -> None:
        """Ask the hosted API each second until it answers, and look again then. MAAS is not asked."""
        uid = cluster["metadata"]["uid"]
        if capi.control_plane_ready(cluster) or "deletionTimestamp" in cluster["metadata"] or uid in self._probed:
            return
        self._probed.add(uid)
        key = f"{draft.namespace}/{draft.name}"
        thread = threading.Thread(target=self._ask, args=(uid, of_name(cluster), key), daemon=True)
        thread.start()

    def _ask(self, uid: str, name: str, key: str) -> None:
        namespace = key.partition("/")[0]
        pause = max(self._settings.speed.seconds(PROBE), PROBE_AT_LEAST)
        while not self.ended.wait(pause):
            cluster = self.mirror(self._clusters).get(name, namespace)
            if cluster is None or self._hosted.online(cluster):
                break
        self._probed.discard(uid)
        self.agenda.add(key)


def _of_cluster(body: Object) -> list[str]:
    name = capi.infrastructure(body, "MaasCluster")
    return [f"{body['metadata']['namespace']}/{name}"] if name else []


def _running(machine: Object) -> bool:
    status = machine.get("status", {})
    alive = "deletionTimestamp" not in machine["metadata"] and status.get("machinePowered", False)
    return bool(alive and status.get("machineState") in states.RUNNING)
