# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deployments of the lab start real processes; what is not the lab's own says that it runs."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from metalshift_lab.kube.api import (
    DEPLOYMENTS,
    JOBS,
    NAMESPACES,
    PODS,
    SECRETS,
    STATEFUL_SETS,
    Object,
    Resource,
    of_name,
)
from metalshift_lab.kube.handle import Lab
from metalshift_lab.kube.journey import condition
from metalshift_lab.kube.workloads import restart_pause
from metalshift_lab.ports import LOOPBACK

HYPERSHIFT, OPERATOR = "hypershift", "operator"
KINDS = {DEPLOYMENTS: "Deployment", STATEFUL_SETS: "StatefulSet", JOBS: "Job"}
QUIET = "--enable-ci-debug-output=false"


def bare(body: Object) -> Object:
    """As one would write it."""
    kept = {key: value for key, value in body["metadata"].items() if key in ("name", "namespace", "labels")}
    return {"apiVersion": body["apiVersion"], "kind": body["kind"], "metadata": kept, "spec": body["spec"]}


@dataclass(frozen=True)
class Operator:
    """The operator's Deployment, its process and its pod."""

    lab: Lab

    def body(self) -> Object:
        return self.lab.api.get(DEPLOYMENTS, OPERATOR, HYPERSHIFT) or {}

    def status(self) -> Object:
        found: Object = self.body().get("status", {})
        return found

    def pid(self) -> int:
        """0 when none runs."""
        process = self.lab.status()["processes"].get(f"{HYPERSHIFT}/{OPERATOR}", {})
        return int(process["pid"]) if process.get("state") == "running" else 0

    def deaths(self) -> list[str]:
        return [each for each in self.lab.status()["deaths"] if f" {HYPERSHIFT}/{OPERATOR} " in each]

    def pods(self) -> list[Object]:
        return self.lab.api.list(PODS, HYPERSHIFT, labels="name=operator")

    def kubectl(self, *arguments: str) -> str:
        return self.lab.kubectl("-n", HYPERSHIFT, *arguments)

    def until_ready(self) -> None:
        """As a user waits for it."""
        self.kubectl("rollout", "status", f"deployment/{OPERATOR}", "--timeout=60s")
        self.lab.until("it runs", self.pid)

    def until_runs_anew(self, before: int) -> int:
        self.lab.until("another process runs", lambda: self.pid() not in (0, before))
        self.until_ready()
        return self.pid()

    def change(self, container: Object) -> None:
        """Of its one container, by a strategic merge."""
        spec = {"template": {"spec": {"containers": [{"name": OPERATOR, **container}]}}}
        self.kubectl("patch", "deployment", OPERATOR, "-p", json.dumps({"spec": spec}))


@pytest.fixture
def operator(lab: Lab) -> Iterator[Operator]:
    """It runs, and is afterwards what it was before."""
    made = Operator(lab)
    made.until_ready()
    before = bare(made.body())
    yield made
    now = made.body()
    if not now:
        lab.api.create(DEPLOYMENTS, before)
    elif now["spec"] != before["spec"]:
        lab.api.replace(DEPLOYMENTS, {**now, "spec": before["spec"]})
    made.until_ready()


@pytest.fixture(scope="module")
def place(lab: Lab) -> Iterator[str]:
    """A namespace of nobody; each test has workloads of its own there."""
    name = f"workloads-{uuid.uuid4().hex[:8]}"
    lab.api.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    yield name
    lab.api.delete(NAMESPACES, name)
    lab.until(f"{name} is gone", lambda: lab.api.get(NAMESPACES, name) is None)


def command_line(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/cmdline").read_text().split("\0")


def environment(pid: int) -> dict[str, str]:
    entries = Path(f"/proc/{pid}/environ").read_text().split("\0")
    return {name: value for name, separator, value in (entry.partition("=") for entry in entries) if separator}


# -- the operator is a process --------------------------------------------------------------------------------------


def test_the_process_has_the_arguments_and_variables_of_its_deployment(operator: Operator) -> None:
    (pod,) = operator.pods()
    arguments, variables = command_line(operator.pid()), environment(operator.pid())
    assert {"run", f"--namespace={HYPERSHIFT}", f"--pod-name={of_name(pod)}", QUIET} <= set(arguments)
    assert variables["MY_NAMESPACE"] == HYPERSHIFT
    assert variables["METRICS_SET"] == "Telemetry"
    assert variables["HTTPS_PROXY"].startswith(f"http://{HYPERSHIFT}@{LOOPBACK}:")
    assert Path(variables["KUBECONFIG"]).stat().st_mode & 0o077 == 0
    assert condition(pod, "Ready")["status"] == "True"
    assert operator.status()["readyReplicas"] == 1


def test_the_process_is_replaced_when_its_deployment_changes(operator: Operator) -> None:
    before = operator.pid()
    arguments = operator.body()["spec"]["template"]["spec"]["containers"][0]["args"]
    louder = [QUIET.replace("false", "true") if each == QUIET else each for each in arguments]
    operator.change({"args": louder, "env": [{"name": "SEEN_BY_TESTS", "value": "changed"}]})
    after = operator.until_runs_anew(before)
    assert not Path(f"/proc/{before}").exists()
    assert QUIET not in command_line(after)
    assert QUIET.replace("false", "true") in command_line(after)
    assert environment(after)["SEEN_BY_TESTS"] == "changed"
    assert operator.status()["observedGeneration"] == operator.body()["metadata"]["generation"]

    operator.kubectl("rollout", "restart", f"deployment/{OPERATOR}")
    operator.until_runs_anew(after)
    assert len(operator.pods()) == 1


def test_at_scale_zero_nothing_runs(operator: Operator, lab: Lab) -> None:
    before = operator.pid()
    operator.kubectl("scale", f"deployment/{OPERATOR}", "--replicas=0")
    lab.until("it says that none is there", lambda: not operator.status().get("replicas"))
    assert operator.pid() == 0
    assert not Path(f"/proc/{before}").exists()
    assert not operator.status().get("readyReplicas")
    assert operator.pods() == []
    operator.kubectl("scale", f"deployment/{OPERATOR}", "--replicas=1")
    operator.until_runs_anew(before)


def test_the_process_ends_with_its_deployment_and_comes_with_it(operator: Operator, lab: Lab) -> None:
    before, body = operator.pid(), bare(operator.body())
    operator.kubectl("delete", "deployment", OPERATOR)
    lab.until("the process has ended", lambda: not Path(f"/proc/{before}").exists())
    lab.until("its pod is gone", lambda: operator.pods() == [])
    assert operator.pid() == 0
    lab.apply([body])
    operator.until_runs_anew(before)


@pytest.mark.parametrize("how", [(), ("--grace-period=0", "--force")], ids=["asked", "by force"])
def test_a_pod_deleted_by_hand_comes_back(operator: Operator, lab: Lab, how: tuple[str, ...]) -> None:
    deaths, before = operator.deaths(), operator.pid()
    (pod,) = operator.pods()
    operator.kubectl("delete", "pod", of_name(pod), *how)
    operator.until_runs_anew(before)
    assert of_name(pod) not in [of_name(each) for each in operator.pods()]
    assert not Path(f"/proc/{before}").exists()
    assert operator.deaths() == deaths, "whom somebody ends has not crashed"


def test_a_missing_secret_is_said_and_waited_for(operator: Operator, lab: Lab) -> None:
    before = operator.pid()
    operator.change({"envFrom": [{"secretRef": {"name": "comes-late"}}]})
    failure = lab.until("it says so", lambda: condition(operator.body(), "ReplicaFailure"))
    assert (failure["status"], failure["message"]) == ("True", 'secret "comes-late" not found')
    assert condition(operator.body(), "Available")["status"] == "False"
    assert operator.pid() == 0
    secret = {"metadata": {"name": "comes-late", "namespace": HYPERSHIFT}, "stringData": {"SAID_LATE": "here"}}
    lab.api.create(SECRETS, secret)
    try:
        assert environment(operator.until_runs_anew(before))["SAID_LATE"] == "here"
        assert condition(operator.body(), "ReplicaFailure") == {}
    finally:
        lab.api.delete(SECRETS, "comes-late", HYPERSHIFT)


# -- programs that do not start -------------------------------------------------------------------------------------


def an_operator(place: str, name: str, *arguments: str, **spec: Any) -> Object:
    return workload(DEPLOYMENTS, place, name, OPERATOR, ("/usr/bin/hypershift-operator", "run", *arguments), **spec)


def workload(
    resource: Resource, place: str, name: str, container: str = "main", command: tuple[str, ...] = (), **spec: Any
) -> Object:
    labels = {"app": name}
    whole = {"name": container, "image": "registry.example/etcd:1", "command": list(command)}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [whole], **spec}}
    kind: Object = {"selector": {"matchLabels": labels}, "replicas": 2, "template": template}
    if resource is JOBS:
        template["spec"]["restartPolicy"] = "Never"
        kind = {"template": template}
    metadata = {"name": name, "namespace": place}
    return {"apiVersion": resource.api, "kind": KINDS[resource], "metadata": metadata, "spec": kind}


def test_a_program_that_crashes_is_started_again_and_counted(lab: Lab, place: str) -> None:
    lab.apply([an_operator(place, "broken", "--no-such-flag")])

    def deaths() -> list[str]:
        return [each for each in lab.status()["deaths"] if f" {place}/broken " in each]

    lab.until("it crashed three times", lambda: len(deaths()) >= 3)
    assert "ended with exit status 1" in deaths()[0]
    assert "no-such-flag" in deaths()[0]
    assert condition(lab.api.get(DEPLOYMENTS, "broken", place) or {}, "Available")["status"] == "False"
    lab.kubectl("-n", place, "delete", "deployment", "broken")
    lab.until("no pod is left", lambda: lab.api.list(PODS, place, labels="app=broken") == [])
    assert f"{place}/broken" not in lab.status()["processes"]


def test_a_missing_service_account_is_said_and_leaves_no_pods(lab: Lab, place: str) -> None:
    lab.apply([an_operator(place, "homeless", "--help", serviceAccountName="nobody")])

    def failure() -> Object:
        return condition(lab.api.get(DEPLOYMENTS, "homeless", place) or {}, "ReplicaFailure")

    assert lab.until("it says so", failure)["message"] == 'serviceaccounts "nobody" not found'
    assert len(lab.api.list(PODS, place, labels="app=homeless")) <= 1
    lab.kubectl("-n", place, "create", "serviceaccount", "nobody")
    lab.until(
        "it runs", lambda: any(f"{place}/homeless ended with exit status 0" in each for each in lab.status()["deaths"])
    )
    lab.kubectl("-n", place, "delete", "deployment", "homeless")


@pytest.mark.parametrize(
    ("crashes", "seconds"), [(0, 0), (1, 10), (2, 20), (3, 40), (5, 160), (6, 300), (7, 300), (5000, 300)]
)
def test_restarts_come_later_and_later(crashes: int, seconds: float) -> None:
    assert restart_pause(crashes) == seconds


# -- what is not the lab's own --------------------------------------------------------------------------------------

REACHED = {
    DEPLOYMENTS: {"replicas": 2, "readyReplicas": 2, "availableReplicas": 2, "updatedReplicas": 2},
    STATEFUL_SETS: {"replicas": 2, "readyReplicas": 2, "availableReplicas": 2, "updatedReplicas": 2},
    JOBS: {"succeeded": 1},
}


def reached(lab: Lab, resource: Resource, name: str, place: str) -> bool:
    status = (lab.api.get(resource, name, place) or {}).get("status", {})
    return {field: status.get(field) for field in REACHED[resource]} == REACHED[resource]


def test_foreign_workloads_reach_their_status_though_nothing_runs(lab: Lab, place: str) -> None:
    lab.apply([workload(resource, place, KINDS[resource].lower(), "etcd") for resource in KINDS])
    for resource, kind in KINDS.items():
        lab.until(f"the {kind} says so", partial(reached, lab, resource, kind.lower(), place))
    lab.kubectl("-n", place, "rollout", "status", "deployment/deployment", "statefulset/statefulset", "--timeout=20s")
    assert condition(lab.api.get(JOBS, "job", place) or {}, "Complete")["status"] == "True"
    assert lab.status()["processes"].keys().isdisjoint({f"{place}/{kind.lower()}" for kind in KINDS.values()})


def test_a_held_workload_runs_when_it_is_let_go(lab: Lab, place: str) -> None:
    said = lab.fault("hold", name="held-.*", namespace=place)
    try:
        assert f"hold: {said}" in lab.status()["faults"]
        lab.apply([workload(resource, place, f"held-{KINDS[resource].lower()}") for resource in KINDS])
        lab.apply([workload(DEPLOYMENTS, place, "free")])
        lab.until("the free one runs", lambda: reached(lab, DEPLOYMENTS, "free", place))
        assert not any(reached(lab, resource, f"held-{kind.lower()}", place) for resource, kind in KINDS.items())
        deployment = lab.api.get(DEPLOYMENTS, "held-deployment", place) or {}
        assert condition(deployment, "Available")["reason"] == "MinimumReplicasUnavailable"
    finally:
        lab.heal("hold", name="held-.*", namespace=place)
    for resource, kind in KINDS.items():
        lab.until(f"the {kind} runs", partial(reached, lab, resource, f"held-{kind.lower()}", place))
    assert f"hold: {said}" not in lab.status()["faults"]


def test_a_held_operator_is_stopped(operator: Operator, lab: Lab) -> None:
    before = operator.pid()
    lab.fault("hold", name=OPERATOR, namespace=HYPERSHIFT)
    try:
        lab.until("it is stopped", lambda: not Path(f"/proc/{before}").exists())
        lab.until("it says so", lambda: condition(operator.body(), "Available").get("status") == "False")
    finally:
        lab.heal("hold", name=OPERATOR)
    operator.until_runs_anew(before)
