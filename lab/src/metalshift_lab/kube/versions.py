# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand-in for the hosted-cluster-config-operator and the cluster version operator of one hosted control plane.

It fills the hosted cluster with what the real ones put there and people read, lets releases roll out as its nodes
allow, and reports that on the management side. No operator of OpenShift runs: what is said of them is made up here.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping

from metalshift_lab.kube import cluster_version, hosted_objects, times
from metalshift_lab.kube.api import (
    CONFIG_MAPS,
    CRDS,
    DEPLOYMENTS,
    HOSTED_CONTROL_PLANES,
    MACHINES,
    NODES,
    SECRETS,
    SERVICES,
    Api,
    ApiError,
    Object,
    Resource,
    of_name,
)
from metalshift_lab.kube.cluster_version import Cluster, Release, Rollout
from metalshift_lab.kube.controller import Controller
from metalshift_lab.kube.hosted_objects import (
    CLUSTER_OPERATORS,
    CLUSTER_VERSIONS,
    INGRESS_CONTROLLERS,
    INGRESS_NAMESPACE,
    LOAD_BALANCER,
    ROUTER,
    Wanted,
)
from metalshift_lab.kube.in_place import InPlace
from metalshift_lab.kube.speed import Speed

CLEANUP = "hypershift.openshift.io/cleanup-cloud-resources"
NODE_POOL = "hypershift.openshift.io/nodePool"
TAINTS = "hypershift.openshift.io/nodePoolTaints"
SYNCED = "hypershift.openshift.io/labelsSynced"
MANAGED = "managed.hypershift.openshift.io."
WORKER = "node-role.kubernetes.io/worker"
MACHINE, MACHINE_NAMESPACE = "cluster.x-k8s.io/machine", "cluster.x-k8s.io/cluster-namespace"

MACHINE_CONFIG_SERVER = "machine-config-server"
CVO, HCCO = "cluster-version-operator", "hosted-cluster-config-operator"
KEY = "the hosted cluster"
# Where nobody lives: the address that the load balancer of a hosted cluster gives its router.
ROUTER_ADDRESS = "192.0.2.80"
# Seconds of a real cluster between looks at a rollout; and of ours when there is nothing to see.
ROLLING, RESTING = 30.0, 30.0
SOON, TAINTS_AGAIN = 0.5, 2.0

VersionOf = Callable[[str], "str | None"]


def tag(image: str) -> str | None:
    """The version in an image's name, when it has a tag at all."""
    last = image.rsplit("/", 1)[-1]
    return None if "@" in last else last.partition(":")[2] or None


class Faulty:
    """What is wrong with the hosted cluster, if anything."""

    def __init__(self) -> None:
        self.nothing()

    def nothing(self) -> None:
        self.held: frozenset[str] = frozenset()
        self.slow, self.no_load_balancer = False, False
        self.remaining, self.not_upgradeable, self.degraded = "", "", ""

    def hold(self, operator: str = "ingress") -> None:
        """A cluster operator does not become available, and the rollout not complete."""
        known = [each.name for each in cluster_version.OPERATORS]
        if operator not in known:
            raise ValueError(f"There is no cluster operator {operator}; there are {', '.join(known)}.")
        self.held |= {operator}

    def drag(self) -> None:
        """The cluster version operator does not know whether it is failing, which freezes the HostedCluster."""
        self.slow = True

    def lose_load_balancer(self) -> None:
        """Nobody in the hosted cluster gives a Service of type LoadBalancer an address."""
        self.no_load_balancer = True

    def refuse_upgrades(self, because: str = "Cluster operator ingress should not be upgraded") -> None:
        """The hosted cluster says that its next minor release is not for it."""
        self.not_upgradeable = because

    def degrade(self, because: str = "unexpected on-disk state validating against rendered-worker") -> None:
        """Nodes that are upgraded in place get stuck."""
        self.degraded = because

    def leave(self, resources: str = "ingress-controllers,loadbalancers,persistent-volumes") -> None:
        """A deletion that shall clean up finds resources that do not go."""
        self.remaining = resources


class Versions:
    """The version reports of one hosted control plane, from `start` till `stop`, and again."""

    def __init__(
        self,
        api: Api,
        namespace: str,
        hosted_api: Callable[[], Api | None],
        speed: Speed,
        *,
        version_of: VersionOf = tag,
    ) -> None:
        self.name = f"versions {namespace}"
        self.faulty = Faulty()
        self._life = (api, namespace, hosted_api, speed, version_of, self.faulty)
        self._lock = threading.Lock()
        self._running: _Run | None = None

    def start(self) -> None:
        with self._lock:
            if self._running is None:
                self._running = _Run(*self._life)
                self._running.start()

    def stop(self) -> None:
        with self._lock:
            running, self._running = self._running, None
        if running is not None:
            running.stop()

    def faults(self) -> dict[str, Callable[..., None]]:
        named: dict[str, Callable[..., None]] = {
            "incomplete": self.faulty.hold,
            "failing-unknown": self.faulty.drag,
            "no-load-balancer": self.faulty.lose_load_balancer,
            "not-upgradeable": self.faulty.refuse_upgrades,
            "remaining-resources": self.faulty.leave,
            "degraded-nodes": self.faulty.degrade,
        }
        return {name: self._told(fault) for name, fault in named.items()}

    def heal(self) -> None:
        self._told(self.faulty.nothing)()

    def _told(self, change: Callable[..., None]) -> Callable[..., None]:
        def told(**options: str) -> None:
            change(**options)
            with self._lock:
                if self._running is not None:
                    self._running.agenda.add(KEY)

        return told


class _Run(Controller):
    """One life of the operators, on the management side."""

    def __init__(
        self,
        api: Api,
        namespace: str,
        hosted_api: Callable[[], Api | None],
        speed: Speed,
        version_of: VersionOf,
        faulty: Faulty,
    ) -> None:
        super().__init__(api, f"versions {namespace}")
        self._namespace, self._hosted_api, self._speed = namespace, hosted_api, speed
        self._version_of, self._faulty = version_of, faulty
        self._inside: _Inside | None = None
        self._in_place = InPlace(api, namespace, hosted_api, speed, lambda: faulty.degraded)
        self._planes = self.watch(HOSTED_CONTROL_PLANES, namespace=namespace, key=lambda _body: [KEY])
        self._deployments = self.watch(DEPLOYMENTS, namespace=namespace, key=_of_deployment)

    def start(self) -> None:
        super().start()
        self._in_place.start()

    def stop(self) -> None:
        super().stop()
        self._in_place.stop()
        self._leave()

    def reconcile(self, key: str) -> float | None:
        plane = next(iter(self._planes.all(self._namespace)), None)
        if plane is None:
            self._leave()
            return None
        if "deletionTimestamp" in plane["metadata"]:
            return self._clean_up(plane)
        inside = self._enter()
        if inside is None:
            return SOON
        before = inside.version_status() or (plane.get("status", {}).get("versionStatus") or {})
        release = self._release(plane, before.get("history") or [])
        if release is None:
            return RESTING
        platform = self._platform()
        if platform == hosted_objects.REFUSED:
            self.log.error("the hosted cluster is not configured: %s", hosted_objects.REFUSAL)
        inside.furnish(self._furniture(plane, release, platform))
        inside.publish_router(self._faulty.no_load_balancer)
        return self._report(plane, inside, release, before.get("history") or [], platform)

    def _platform(self) -> str:
        """What the control-plane operator says that the hosted cluster is on."""
        return hosted_objects.platform_of(self.api.get(CONFIG_MAPS, MACHINE_CONFIG_SERVER, self._namespace))

    # -- the hosted side --------------------------------------------------------------------------------------------

    def _enter(self) -> _Inside | None:
        """The hosted cluster, when its API answers; a new one when its certificates have changed."""
        api = self._hosted_api()
        if api is None:
            return None
        if self._inside is None or self._inside.api is not api:
            self._leave()
            if not api.healthy():
                return None
            self._inside = _Inside(api, self.api, self.name, lambda: self.agenda.add(KEY))
            self._inside.prepare()
            self._inside.start()
        return self._inside if self._inside.ready else None

    def _leave(self) -> None:
        inside, self._inside = self._inside, None
        if inside is not None:
            inside.stop()

    def _furniture(self, plane: Object, release: Release, platform: str) -> Iterator[Wanted]:
        yield from hosted_objects.bootstrap_objects()
        yield from hosted_objects.namespaces()
        yield from hosted_objects.configuration(plane, platform)
        yield hosted_objects.installation(release.version)
        pulled = self.api.get(SECRETS, "pull-secret", self._namespace)
        if pulled is not None:
            yield from hosted_objects.pull_secrets(pulled["data"][".dockerconfigjson"])
        if not (plane["spec"].get("configuration") or {}).get("oauth"):
            yield hosted_objects.administrator()

    # -- the release ------------------------------------------------------------------------------------------------

    def _release(self, plane: Object, entries: list[Object]) -> Release | None:
        """What the running cluster version operator was told to roll out; None while none has run yet."""
        last = Release(entries[0]["image"], entries[0]["version"]) if entries else None
        deployment = self._deployments.get(CVO, self._namespace)
        if deployment is not None:
            if not _is_rolled_out(deployment):
                return last
            image = _environment(deployment).get("RELEASE_IMAGE", "")
        elif self._deployments.get(HCCO, self._namespace) is not None:
            return last
        else:
            # No control-plane operator has been here, so nobody has translated the image to its digest.
            image = plane["spec"]["releaseImage"]
        known = next((entry["version"] for entry in entries if entry["image"] == image), None)
        version = known or self._version_of(image) or self._told_version(plane)
        return Release(image, version) if version else last

    def _told_version(self, plane: Object) -> str | None:
        """What the control-plane operator found in the release, which has no version in its name."""
        told = _environment(self._deployments.get(HCCO, self._namespace) or {})
        fits = told.get("OPERATE_ON_RELEASE_IMAGE") == plane["spec"]["releaseImage"]
        return told.get("OPENSHIFT_RELEASE_VERSION") if fits else None

    def _report(self, plane: Object, inside: _Inside, release: Release, before: list[Object], platform: str) -> float:
        now = times.now()
        # Without an Infrastructure no operator of the hosted cluster comes to an end.
        stuck = {each.name for each in cluster_version.OPERATORS} if platform == hosted_objects.REFUSED else set()
        cluster = Cluster(
            ready_nodes=inside.ready_nodes(),
            enough_nodes=hosted_objects.replicas(plane),
            reachable=inside.reachable(),
            disabled=hosted_objects.disabled(plane),
            held=self._faulty.held | stuck,
        )
        entries = cluster_version.history(before, release, False, now)
        age = cluster_version.age(entries, now) * self._speed.factor
        for operator in cluster.operators():
            rolled = cluster_version.rolled(operator.name, cluster.operators(), age)
            inside.report_operator(operator, cluster, release, rolled)
        rollout = Rollout(
            release,
            age,
            missing=cluster.missing(),
            slow=self._faulty.slow,
            not_upgradeable=self._faulty.not_upgradeable,
            channel=plane["spec"].get("channel", ""),
        )
        entries = cluster_version.history(entries, release, rollout.finished and not rollout.slow, now)
        said = cluster_version.conditions(dataclasses.replace(rollout, history=entries))
        inside.report_version(hosted_objects.cluster_version(plane), release, entries, said)
        self._tell(plane, release, entries, said, len(inside.nodes()))
        settled = entries[0]["state"] == "Completed" and not rollout.missing
        return RESTING if settled else max(self._speed.seconds(ROLLING), SOON)

    def _tell(self, plane: Object, release: Release, entries: list[Object], said: list[Object], nodes: int) -> None:
        """Copy the ClusterVersion to the HostedControlPlane, whole: a patch would lose what must be null."""
        wanted = copy.deepcopy(plane)
        status = wanted.setdefault("status", {})
        status["versionStatus"] = {
            "desired": {"image": release.image, "version": release.version},
            "history": entries,
            "observedGeneration": 1,
            "availableUpdates": None,
        }
        status["version"], status["releaseImage"], status["nodeCount"] = release.version, release.image, nodes
        copied = cluster_version.for_control_plane(said)
        generation = plane["metadata"]["generation"]
        before = status.get("conditions", [])
        status["conditions"] = cluster_version.merged(before, copied, times.now(), observedGeneration=generation)
        self._write(plane, wanted)

    def _write(self, plane: Object, wanted: Object) -> None:
        if wanted["status"] != plane.get("status"):
            self.api.replace(HOSTED_CONTROL_PLANES, wanted, subresource="status")

    def _clean_up(self, plane: Object) -> float | None:
        """Say what is left in the hosted cluster, when the deletion shall wait for that."""
        if plane["metadata"].get("annotations", {}).get(CLEANUP) != "true":
            return None
        left = self._faulty.remaining
        wanted = copy.deepcopy(plane)
        condition = {
            "type": "CloudResourcesDestroyed",
            "status": "False" if left else "True",
            "reason": "RemainingCloudResources" if left else "CloudResourcesDestroyed",
            "message": f"Remaining resources: {left}" if left else "All guest resources destroyed",
        }
        status = wanted.setdefault("status", {})
        status["conditions"] = cluster_version.merged(status.get("conditions", []), [condition], times.now())
        self._write(plane, wanted)
        return None


class _Inside(Controller):
    """The hosted cluster: what is written there, and its nodes, which get the labels of their NodePool."""

    def __init__(self, api: Api, management: Api, name: str, changed: Callable[[], None]) -> None:
        super().__init__(api, f"{name} inside")
        self._management, self._changed = management, changed
        self._furnished: dict[str, str] = {}
        self._seen: object = None
        self._nodes = self.watch(NODES)
        self._versions = self.watch(CLUSTER_VERSIONS, key=_nothing)
        self._operators = self.watch(CLUSTER_OPERATORS, key=_nothing)
        self._routers = self.watch(INGRESS_CONTROLLERS, namespace="openshift-ingress-operator", key=_nothing)
        self._services = self.watch(SERVICES, namespace=INGRESS_NAMESPACE, key=_nothing)
        self._nodes.listen(lambda _body: self._look())
        self._routers.listen(lambda _body: changed())
        self._services.listen(lambda _body: changed())

    @property
    def ready(self) -> bool:
        return all(mirror.listed.is_set() for mirror in self._mirrors.values())

    def prepare(self) -> None:
        """The kinds come first: nothing can be watched before."""
        for kind in hosted_objects.KINDS:
            self._create(CRDS, kind.definition())

    def furnish(self, wanted: Iterable[Wanted]) -> None:
        """Write what is new or has changed since the last time."""
        for each in wanted:
            text = "" if each.once else json.dumps(each.body, sort_keys=True)
            if self._furnished.get(each.key) == text:
                continue
            if each.once:
                self._create(each.resource, each.body)
            else:
                self.api.apply(each.resource, each.body)
            self._furnished[each.key] = text

    def _create(self, resource: Resource, body: Object) -> None:
        try:
            self.api.create(resource, body)
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise

    # -- nodes ------------------------------------------------------------------------------------------------------

    def nodes(self) -> list[Object]:
        return self._nodes.all()

    def ready_nodes(self) -> int:
        return sum(map(_is_ready, self._nodes.all()))

    def _look(self) -> None:
        """Nodes report often; only what counts is passed on."""
        now = (len(self._nodes.all()), self.ready_nodes())
        if now != self._seen:
            self._seen = now
            self._changed()

    def reconcile(self, key: str) -> float | None:
        """Give a node what makes it a worker, and once Cluster API knows it the labels and taints of its NodePool."""
        node = self._nodes.get(key)
        if node is None:
            return None
        if WORKER not in node["metadata"].get("labels", {}):
            # OpenShift's API server lets kubelets set this label; that of Kubernetes itself refuses it.
            self.api.patch(NODES, key, None, {"metadata": {"labels": {WORKER: ""}}})
        marks = node["metadata"].get("annotations", {})
        if SYNCED in marks or not marks.get(MACHINE) or not marks.get(MACHINE_NAMESPACE):
            return None
        machine = self._management.get(MACHINES, marks[MACHINE], marks[MACHINE_NAMESPACE])
        pool = (machine or {"metadata": {}})["metadata"].get("annotations", {}).get(NODE_POOL)
        return self._join(node, machine, pool) if machine is not None and pool else None

    def _join(self, node: Object, machine: Object, pool: str) -> float | None:
        try:
            taints = json.loads(machine["metadata"]["annotations"].get(TAINTS, "")) or []
        except ValueError:
            self.log.info("the taints of the machine %s cannot be read yet", of_name(machine))
            return TAINTS_AGAIN
        labels = {**managed_labels(machine["metadata"].get("labels", {})), NODE_POOL: pool.rpartition("/")[2]}
        change: Object = {"metadata": {"annotations": {SYNCED: "true"}, "labels": labels}}
        if taints:
            # A patch replaces lists whole: somebody else's taint must not get lost.
            now = self.api.get(NODES, of_name(node)) or node
            change["metadata"]["resourceVersion"] = now["metadata"]["resourceVersion"]
            change["spec"] = {"taints": [*now["spec"].get("taints", []), *taints]}
        self.api.patch(NODES, of_name(node), None, change)
        return None

    # -- reports ----------------------------------------------------------------------------------------------------

    def version_status(self) -> Object:
        found = self._versions.get("version") or {}
        return found.get("status") or {}

    def report_version(self, body: Object, release: Release, entries: list[Object], said: list[Object]) -> None:
        before = self.version_status()
        status: Object = {
            "desired": {"image": release.image, "version": release.version},
            "history": entries,
            "observedGeneration": 1,
            "versionHash": "lab",
            "availableUpdates": None,
            "conditions": cluster_version.merged(before.get("conditions", []), said, times.now()),
        }
        # An obstacle to upgrades is not reported any more when there is none.
        types = {entry["type"] for entry in said}
        status["conditions"] = [entry for entry in status["conditions"] if entry["type"] in types]
        self._report(CLUSTER_VERSIONS, self._versions.get("version"), body, status)

    def report_operator(
        self, operator: cluster_version.Operator, cluster: Cluster, release: Release, rolled: bool
    ) -> None:
        known = self._operators.get(operator.name)
        before = (known or {}).get("status") or {}
        status = cluster_version.operator_status(operator, cluster, before, release, rolled)
        merged = cluster_version.merged(before.get("conditions", []), status["conditions"], times.now())
        wanted = {**before, **status, "conditions": merged}
        self._report(CLUSTER_OPERATORS, known, hosted_objects.cluster_operator(operator.name), wanted)

    def _report(self, resource: Resource, known: Object | None, body: Object, status: Object) -> None:
        # One that exists but is not in the mirror yet would be written over with what was thought up without it.
        if known is None:
            known = self.api.create(resource, body)
        elif known.get("spec") != body["spec"]:
            known = self.api.replace(resource, {**known, "spec": body["spec"]})
        if known.get("status") != status:
            self.api.replace(resource, {**known, "status": status}, subresource="status")

    # -- routes -----------------------------------------------------------------------------------------------------

    def _wants_load_balancer(self) -> bool:
        router = self._routers.get("default", "openshift-ingress-operator") or {}
        strategy = router.get("spec", {}).get("endpointPublishingStrategy") or {}
        return strategy.get("type") == LOAD_BALANCER

    def reachable(self) -> bool:
        if not self._wants_load_balancer():
            return True
        service = self._services.get(ROUTER, INGRESS_NAMESPACE) or {}
        return bool((service.get("status", {}).get("loadBalancer") or {}).get("ingress"))

    def publish_router(self, without_address: bool) -> None:
        """The router's Service, as its IngressController wants it, with an address from the cluster's load balancer."""
        service = self._services.get(ROUTER, INGRESS_NAMESPACE)
        if not self._wants_load_balancer():
            if service is not None:
                self.api.delete(SERVICES, ROUTER, INGRESS_NAMESPACE)
            return
        if service is None:
            self._create(SERVICES, hosted_objects.router_service())
        if not without_address and not self.reachable():
            status = {"status": {"loadBalancer": {"ingress": [{"ip": ROUTER_ADDRESS}]}}}
            self.api.patch(SERVICES, ROUTER, INGRESS_NAMESPACE, status, subresource="status")


def managed_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """The labels of a Machine that are meant for its Node."""
    return {key.removeprefix(MANAGED): value for key, value in labels.items() if key.startswith(MANAGED)}


def _is_ready(node: Object) -> bool:
    said = node.get("status", {}).get("conditions", [])
    return any(entry["type"] == "Ready" and entry["status"] == "True" for entry in said)


def _is_rolled_out(deployment: Object) -> bool:
    """Whether what the Deployment says is what runs."""
    status = deployment.get("status", {})
    current = status.get("observedGeneration", 0) >= deployment["metadata"]["generation"]
    return bool(current and status.get("updatedReplicas") and status.get("availableReplicas"))


def _environment(deployment: Object) -> dict[str, str]:
    """What the containers of a Deployment are told."""
    containers = deployment.get("spec", {}).get("template", {}).get("spec", {}).get("containers", [])
    return {each["name"]: each.get("value", "") for container in containers for each in container.get("env") or []}


def _of_deployment(deployment: Object) -> Iterable[str]:
    if of_name(deployment) in (CVO, HCCO):
        yield KEY


def _nothing(_body: Object) -> Iterable[str]:
    return ()
