# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in for scheduler, controllers and kubelet: Deployments, StatefulSets and Jobs run, or say that they do."""

from __future__ import annotations

import json
import re
import secrets
import threading
import time
from dataclasses import dataclass
from functools import partial

from metalshift_lab.kube import status
from metalshift_lab.kube.api import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    JOBS,
    LEASES,
    NAMESPACES,
    PODS,
    STATEFUL_SETS,
    Api,
    ApiError,
    Object,
    Unreachable,
    of_name,
    of_namespace,
)
from metalshift_lab.kube.claims import Claims
from metalshift_lab.kube.controller import Controller
from metalshift_lab.kube.pods import NODE, NotYet, forget, main_container, prepared, revision_of
from metalshift_lab.kube.recipes import Recipe, lock_of, recipe_for
from metalshift_lab.kube.runs import ProcessRun, Run
from metalshift_lab.kube.status import Standing
from metalshift_lab.kube.surroundings import Surroundings

# HyperShift labels the namespaces of hosted control planes with it.
HOSTED = "hypershift.openshift.io/hosted-control-plane"
KINDS = {"Deployment": DEPLOYMENTS, "StatefulSet": STATEFUL_SETS, "Job": JOBS}
# Seconds of a real cluster till a container whose image is there serves, and between restarts of one that crashes.
START, CRASH_FIRST, CRASH_MOST = 8, 10, 300
# A container that ran this long is not counted among those that crash.
STEADY = 600
# How long the next run of a program that was killed waits for the lock of the last.
LOCK = 60
LOOK_AGAIN = 0.25
# Of what a program said last, this much is shown.
SHORT = 240


@dataclass
class Place:
    """What is known of one workload between two looks at it."""

    revision: str = ""
    since: float = 0.0
    settled: str = ""
    run: Run | None = None
    pod: str = ""
    started: float = 0.0
    crashes: int = 0
    not_before: float = 0.0
    #: Its pod was deleted: that it ends is no crash.
    dismissed: bool = False


@dataclass(frozen=True)
class Hold:
    """Workloads whose pods do not run: NAMESPACE/NAME fits the pattern. Of silent ones nobody reports that either."""

    pattern: re.Pattern[str]
    silent: bool = False

    def fits(self, namespace: str, name: str) -> bool:
        return self.pattern.fullmatch(f"{namespace}/{name}") is not None


def confined(spec: Object) -> Object:
    """The pod as OpenShift's admission would let it in: HyperShift's namespaces demand the restricted profile."""
    limits = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "privileged": False}
    made = {**spec, "nodeName": NODE}
    for group in ("containers", "initContainers"):
        if group in spec:
            made[group] = [
                {**each, "securityContext": {**each.get("securityContext", {}), **limits}} for each in spec[group]
            ]
    wide = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    made["securityContext"] = {**spec.get("securityContext", {}), **wide}
    return made


def restart_pause(crashes: int) -> float:
    """Seconds of real life before a container that crashed so often before starts again, as a kubelet has it."""
    return min(CRASH_FIRST * 2.0 ** min(crashes - 1, 60), CRASH_MOST) if crashes else 0.0


def _key(kind: str, body: Object) -> list[str]:
    return [f"{kind}/{of_namespace(body)}/{of_name(body)}"]


class Workloads(Controller):
    """One for the management cluster. Real programs and stand-ins run; all others reach their status after a while."""

    workers = 6

    def __init__(self, api: Api, around: Surroundings) -> None:
        super().__init__(api, "workloads")
        self.around = around
        self.deaths: list[str] = []
        self.claims = Claims(api)
        self._places: dict[str, Place] = {}
        self._holds: list[Hold] = []
        for kind, resource in KINDS.items():
            self.watch(resource, key=partial(_key, kind))
        self.watch(PODS, key=partial(_key, "Pod"))
        self.watch(NAMESPACES, key=lambda body: [f"Namespace/{of_name(body)}/"])

    # -- what others may ask ----------------------------------------------------------------------------------------

    def hold(self, namespace: str, name: str, *, silent: bool = False) -> Hold:
        """Keep the pods of these workloads (regular expressions) from running; those that run are stopped."""
        hold = Hold(re.compile(f"(?:{namespace})/(?:{name})"), silent)
        self._holds = [*self._holds, hold]
        self._look_at_all()
        return hold

    def release(self, hold: Hold) -> None:
        """Hold them no more."""
        self._holds = [each for each in self._holds if each is not hold]
        self._look_at_all()

    def runs(self) -> dict[str, ProcessRun]:
        """The processes, as NAMESPACE/NAME of their workload."""
        return {
            key.partition("/")[2]: place.run
            for key, place in list(self._places.items())
            if isinstance(place.run, ProcessRun)
        }

    def _look_at_all(self, namespace: str | None = None) -> None:
        for kind, resource in KINDS.items():
            for body in self.mirror(resource).all(namespace):
                self.agenda.add(f"{kind}/{of_namespace(body)}/{of_name(body)}")

    # -- one look ---------------------------------------------------------------------------------------------------

    def reconcile(self, key: str) -> float | None:
        kind, namespace, name = key.split("/")
        if kind == "Pod":
            self._deleted_pod(namespace, name)
            return None
        if kind == "Namespace":
            self._namespace(namespace)
            return None
        body = self.mirror(KINDS[kind]).get(name, namespace)
        if body is None or body["metadata"].get("deletionTimestamp"):
            place = self._places.pop(key, None)
            if place is not None:
                self._end(place, namespace)
            return None
        if kind == "Job":
            return self._job(body)
        place = self._places.setdefault(key, Place())
        revision = revision_of(body["spec"]["template"])
        if revision != place.revision:
            place.revision, place.since, place.crashes, place.not_before = revision, time.monotonic(), 0, 0.0
        wanted = body["spec"].get("replicas", 1)
        holds = [hold for hold in self._holds if hold.fits(namespace, name)]
        volumes = body["kind"] != "StatefulSet" or wanted == 0 or self.claims.bound(body)
        if wanted == 0 or holds or not volumes:
            self._end(place, namespace)
            place.settled, place.since = "", time.monotonic()
            if not any(hold.silent for hold in holds):
                self._report(body, Standing(wanted, wanted, 0, revision))
            return None if volumes else LOOK_AGAIN
        hosted = self._is_hosted(namespace)
        recipe = recipe_for(main_container(body["spec"]["template"]), self.around, hosted=hosted)
        if recipe is None:
            return self._said_to_run(body, place, wanted)
        return self._run(key, body, place, recipe, wanted)

    def _said_to_run(self, body: Object, place: Place, wanted: int) -> float | None:
        """Pods of a new template take their time; those of the last one go on meanwhile, as in a rolling update."""
        missing = place.since + self.around.speed.seconds(START) - time.monotonic()
        if missing <= 0:
            place.settled = place.revision
        standing = Standing(
            wanted,
            wanted if place.settled == place.revision else 0,
            wanted if place.settled else 0,
            place.revision,
        )
        self._report(body, standing)
        return max(missing, LOOK_AGAIN) if missing > 0 else None

    def _run(self, key: str, body: Object, place: Place, recipe: Recipe, wanted: int) -> float | None:
        """A real program: as many processes as it takes to be one."""
        namespace = str(of_namespace(body))
        if place.run is not None and place.settled != place.revision:
            self._end(place, namespace)
        if place.run is not None and not place.run.alive:
            if place.dismissed:
                self._end(place, namespace)
            else:
                self._died(key, body, place, namespace)
        trouble = ""
        if place.run is None and time.monotonic() >= place.not_before:
            trouble = self._start(key, body, place, recipe)
        ready = place.run is not None and place.run.ready()
        self._report(body, Standing(wanted, wanted, wanted if ready else 0, place.revision, trouble))
        pod = self.api.get(PODS, place.pod, namespace) if place.pod and ready else None
        if pod is not None:
            self._tell_pod(namespace, pod, ready=True)
        return None if ready else LOOK_AGAIN

    def _start(self, key: str, body: Object, place: Place, recipe: Recipe) -> str:
        """Start it; what keeps it from starting is returned, and it is tried again."""
        namespace = str(of_namespace(body))
        name = of_name(body)
        stateful = body["kind"] == "StatefulSet"
        pod_name = f"{name}-0" if stateful else f"{name}-{place.revision}-{secrets.token_hex(3)[:5]}"
        folder = self.around.lab / "pods" / namespace / pod_name
        try:
            pod = prepared(self.api, body, pod_name, folder)
            place.pod = pod_name if self._made_pod(body, pod_name) else ""
            place.run = recipe(self.around, pod)
        except Exception as error:
            # What is missing may come; a namespace that ends refuses tokens and pods.
            forget(folder)
            self._end(place, namespace)
            if not isinstance(error, NotYet):
                raise
            place.not_before = time.monotonic() + LOOK_AGAIN
            return str(error)
        place.settled, place.started = place.revision, time.monotonic()
        if isinstance(place.run, ProcessRun):
            threading.Thread(target=self._await_end, args=(key, place.run), daemon=True).start()
        return ""

    def _await_end(self, key: str, run: ProcessRun) -> None:
        run.process.wait()
        self.agenda.add(key)

    def _died(self, key: str, body: Object, place: Place, namespace: str) -> None:
        """It ended by itself. Restarts come later and later, as a kubelet has it."""
        end = place.run.end if place.run else ""
        if time.monotonic() - place.started > self.around.speed.seconds(STEADY):
            place.crashes = 0
        pause = restart_pause(place.crashes)
        place.crashes += 1
        place.not_before = time.monotonic() + self.around.speed.seconds(pause)
        where = key.partition("/")[2]
        self.deaths.append(f"{time.strftime('%H:%M:%S')} {where} {end[:SHORT]}; it is started again")
        self.log.warning("%s %s", where, end)
        self._end(place, namespace)
        lock = lock_of(main_container(body["spec"]["template"]))
        if lock:
            timer = threading.Timer(self.around.speed.seconds(LOCK), self._unlock, (namespace, lock))
            timer.daemon = True
            timer.start()

    def _unlock(self, namespace: str, lock: str) -> None:
        """The dead cannot give their lock back; the minute that the next one would wait is shorter here."""
        try:
            self.api.patch(LEASES, lock, namespace, {"spec": {"holderIdentity": ""}})
        except (ApiError, Unreachable) as error:
            self.log.info("%s/%s stays locked: %s", namespace, lock, error)

    def _end(self, place: Place, namespace: str) -> None:
        run, place.run, place.dismissed = place.run, None, False
        if run is not None:
            run.stop()
        pod, place.pod = place.pod, ""
        if pod:
            forget(self.around.lab / "pods" / namespace / pod)
            self._delete_pod(namespace, pod)

    # -- Jobs, claims, pods -----------------------------------------------------------------------------------------

    def _job(self, body: Object) -> float | None:
        name, namespace = of_name(body), str(of_namespace(body))
        if body.get("status", {}).get("succeeded") or any(hold.fits(namespace, name) for hold in self._holds):
            return None
        if name == "featuregate-generator":
            self._feature_gate(body)
        self.api.patch(JOBS, name, namespace, {"status": status.job_done(body)}, subresource="status")
        return None

    def _feature_gate(self, body: Object) -> None:
        """What this Job computes and the control-plane-operator waits for: the feature gates of the release."""
        spec = body["spec"]["template"]["spec"]
        variables = [
            entry for each in (*spec["containers"], *spec.get("initContainers", [])) for entry in each.get("env", [])
        ]
        version = next((entry["value"] for entry in variables if entry["name"] == "PAYLOAD_VERSION"), "")
        gate = {
            "apiVersion": "config.openshift.io/v1",
            "kind": "FeatureGate",
            "metadata": {"name": "cluster"},
            "spec": {},
            "status": {"featureGates": [{"version": version, "enabled": [], "disabled": []}]},
        }
        config_map: Object = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": "feature-gate",
                "namespace": of_namespace(body),
                "annotations": {"hypershift.openshift.io/payload-version": version},
            },
            "data": {"feature-gate.yaml": json.dumps(gate)},
        }
        self.api.apply(CONFIG_MAPS, config_map)

    def _made_pod(self, body: Object, name: str) -> bool:
        """The pod as an object: programs look themselves up. False where the namespace does not let it in."""
        template = body["spec"]["template"]
        owner = {
            "apiVersion": body["apiVersion"],
            "kind": body["kind"],
            "name": of_name(body),
            "uid": body["metadata"]["uid"],
            "controller": True,
        }
        claims = body["spec"].get("volumeClaimTemplates", [])
        claimed = [
            {"name": of_name(each), "persistentVolumeClaim": {"claimName": f"{of_name(each)}-{name}"}}
            for each in claims
        ]
        pod: Object = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": of_namespace(body),
                "labels": template["metadata"].get("labels", {}),
                "annotations": template["metadata"].get("annotations", {}),
                "ownerReferences": [owner],
            },
            "spec": confined({**template["spec"], "volumes": [*template["spec"].get("volumes", []), *claimed]}),
        }
        self._delete_pod(str(of_namespace(body)), name)
        try:
            self._tell_pod(str(of_namespace(body)), self.api.create(PODS, pod), ready=False)
        except ApiError as error:
            self.log.info("the pod %s/%s is not shown: %s", of_namespace(body), name, error)
            return False
        return True

    def _tell_pod(self, namespace: str, pod: Object, *, ready: bool) -> None:
        """Its containers run from the start (programs read their image there); whether it is ready is seen later."""
        if pod.get("status", {}).get("containerStatuses", [{}])[0].get("ready") == ready:
            return
        since = pod.get("status", {}).get("startTime") or status.now()
        containers = [
            {
                "name": each["name"],
                "image": each["image"],
                "imageID": each["image"],
                "ready": ready,
                "restartCount": 0,
                "started": True,
                "state": {"running": {"startedAt": since}},
            }
            for each in pod["spec"]["containers"]
        ]
        kinds = {"PodScheduled": True, "Initialized": True, "ContainersReady": ready, "Ready": ready}
        wanted = [{"type": kind, "status": str(value)} for kind, value in kinds.items()]
        conditions = status.conditions(pod.get("status", {}).get("conditions", []), wanted)
        told = {"phase": "Running", "conditions": conditions, "containerStatuses": containers, "startTime": since}
        self.api.patch(PODS, of_name(pod), namespace, {"status": told}, subresource="status")

    def _namespace(self, name: str) -> None:
        """What is on the disk for a namespace goes with it: volumes, and the data of a hosted cluster."""
        if self.mirror(NAMESPACES).get(name) is None:
            self.around.hosted.forget(name)
            for where in (self.around.lab / "hosted", self.around.lab / "pods"):
                forget(where / name)
        else:
            # Whose namespace it is decides what its containers are.
            self._look_at_all(name)

    def _is_hosted(self, namespace: str) -> bool:
        found = self.mirror(NAMESPACES).get(namespace) or {"metadata": {}}
        return HOSTED in found["metadata"].get("labels", {})

    def _deleted_pod(self, namespace: str, name: str) -> None:
        """A pod that somebody deletes ends, and its workload starts another if it still wants one."""
        affected = {
            key: place
            for key, place in list(self._places.items())
            if place.pod == name and key.split("/")[1] == namespace
        }
        pod = self.mirror(PODS).get(name, namespace)
        if pod is None and affected:
            # By force it is gone at once; a StatefulSet's next one has the same name, and the mirror may not know it.
            pod = self.api.get(PODS, name, namespace)
        if pod is not None and not pod["metadata"].get("deletionTimestamp"):
            return
        for key, place in affected.items():
            run, place.dismissed = place.run, True
            if run is not None:
                run.stop()
            self.agenda.add(key)
        if pod is not None:
            self._delete_pod(namespace, name)

    def _delete_pod(self, namespace: str, name: str) -> None:
        # Nobody but a kubelet ends the grace period of a pod.
        try:
            self.api.request("DELETE", PODS.path(namespace, name), {"gracePeriodSeconds": 0})
        except ApiError as error:
            if error.status != 404:
                raise

    # -- status -----------------------------------------------------------------------------------------------------

    def _report(self, body: Object, standing: Standing) -> None:
        told = (status.stateful_set if body["kind"] == "StatefulSet" else status.deployment)(body, standing)
        if status.differs(body.get("status", {}), told):
            self.api.patch(
                KINDS[body["kind"]], of_name(body), of_namespace(body), {"status": told}, subresource="status"
            )

    def stop(self) -> None:
        """The lab ends: all programs are killed, and nothing is reported any more."""
        self.ended.set()
        self.agenda.end()
        for place in list(self._places.values()):
            if place.run is not None:
                place.run.kill()
        super().stop()
        # A worker may have been about to start one.
        for place in list(self._places.values()):
            if place.run is not None:
                place.run.kill()
