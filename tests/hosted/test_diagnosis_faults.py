# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of a lab with the real operators, and whose turn it is according to a diagnosis."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from hosted.play import run
from metalshift_lab.kube import examples
from metalshift_lab.kube.api import MAAS_MACHINES, NODE_POOLS, SECRETS
from metalshift_lab.kube.handle import Lab
from metalshift_lab.kube.journey import Journey

NAME = "patient"
SPACE = f"{examples.NAMESPACE}-{NAME}"
# Some programs are missed only after their lease has run out, and the machine may be busy.
PATIENCE = 150.0


@pytest.fixture(scope="module")
def patient(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journey]:
    """One cluster with a node, and all that it needs: each test makes it ill in its own way, and heals it."""
    journey = Journey(lab, NAME, tmp_path_factory.mktemp("kubeconfigs"))
    journey.create(replicas=1)
    journey.until_available(300)
    _until_asked(journey)
    journey.until_nodes(1, 400)
    yield journey
    lab.heal()
    journey.delete()
    journey.until_gone(300)


def _until_asked(journey: Journey) -> None:
    """Till machines are asked for. An operator that has overlooked the ignition server waits till it is touched."""
    touched = time.monotonic()

    def asked() -> bool:
        nonlocal touched
        if time.monotonic() - touched > 15:
            touched = time.monotonic()
            note = f"lab.example/touched={touched}"
            journey.lab.kubectl("-n", examples.NAMESPACE, "annotate", "nodepool", journey.name, note, "--overwrite")
        return bool(journey.machines())

    journey.lab.until("machines are asked for", asked, 200)


@pytest.fixture(autouse=True)
def healed(lab: Lab) -> Iterator[None]:
    yield
    lab.heal()


def diagnosed(lab: Lab, name: str = NAME, **options: Any) -> dict[str, Any]:
    """One diagnosis, of which not one request writes."""
    outcome = run(lab, "hosted_cluster_diagnosis_info", {"name": name, "leaks": False, **options})
    assert not outcome.failed, outcome.msg
    assert all("GET " in line for line in outcome.screen.traced)
    return outcome.result


def said(
    lab: Lab, object_: str, turn: str, words: str, name: str = NAME, each: Callable[[], object] = lambda: None
) -> dict[str, Any]:
    """The complaint about an object, as soon as it is this turn; AssertionError with the page if it does not come."""
    began = time.monotonic()
    while True:
        each()
        found = diagnosed(lab, name)
        fitting = [
            one
            for one in found["diagnosis"]
            if one["object"].startswith(object_) and one["turn"] == turn and words in one["what"]
        ]
        if fitting:
            assert fitting[0]["next_step"]
            return dict(fitting[0])
        if time.monotonic() - began > PATIENCE:
            raise AssertionError(f"Nobody says of {object_} that it is the turn of {turn}: {words}\n{found['page']}")
        time.sleep(0.5)


def test_of_a_cluster_that_is_well_nothing_is_said(patient: Journey, lab: Lab) -> None:
    found = lab.until("it is well", lambda: (one := diagnosed(lab)) and not one["diagnosis"] and one, 60)
    assert found["page"] == f"Hosted cluster clusters/{NAME} is available: nothing is wrong.\n"
    assert found["summary"] == {}


@dataclass(frozen=True)
class Ill:
    """A fault, and what is said of what."""

    fault: str
    turn: str
    object: str
    words: str
    parameters: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return "-".join([self.fault, *self.parameters.values()]).replace("/", "-")


ILLNESSES = [
    Ill(
        "hold",
        "operator",
        "Deployment hypershift/operator",
        "does not run",
        {"name": "operator", "namespace": "hypershift"},
    ),
    Ill(
        "hold",
        "operator",
        f"Deployment {SPACE}/control-plane-operator",
        "does not run",
        {"name": "control-plane-operator", "namespace": SPACE},
    ),
    Ill(
        "hold",
        "provider",
        f"Deployment {SPACE}/capi-provider",
        "does not run",
        {"name": "capi-provider", "namespace": SPACE},
    ),
    Ill(
        "hold",
        "provider",
        f"Deployment {SPACE}/cluster-api",
        "does not run",
        {"name": "cluster-api", "namespace": SPACE},
    ),
    Ill(
        "hold",
        "operator",
        f"Deployment {SPACE}/ignition-server",
        "does not run",
        {"name": "ignition-server", "namespace": SPACE},
    ),
    Ill(
        "pause",
        "provider",
        f"Deployment {SPACE}/capi-provider",
        "seems to run, and does not do anything",
        {"name": f"{SPACE}/capi-provider"},
    ),
    Ill(
        "pause",
        "user",
        f"HostedCluster clusters/{NAME}",
        "cannot be used from here",
        {"name": f"{SPACE}/kube-apiserver"},
    ),
    Ill(
        "incomplete",
        "operator",
        "ClusterOperator ingress",
        "is not available",
        {"namespace": SPACE, "operator": "ingress"},
    ),
    Ill("maas-down", "maas", "MAAS", "Could not read the machines from MAAS"),
    Ill("maas-key-revoked", "user", "MAAS", "Could not read the machines from MAAS"),
]


@pytest.mark.parametrize("ill", ILLNESSES, ids=str)
def test_an_illness_is_told_with_whose_turn_it_is(patient: Journey, lab: Lab, ill: Ill) -> None:
    lab.fault(ill.fault, **ill.parameters)
    said(lab, ill.object, ill.turn, ill.words)


def test_a_pause_is_told(patient: Journey, lab: Lab) -> None:
    patch = ["-n", examples.NAMESPACE, "patch", "nodepool", NAME, "--type=merge", "-p"]
    lab.kubectl(*patch, '{"spec": {"pausedUntil": "true"}}')
    try:
        assert said(lab, f"NodePool clusters/{NAME}", "user", "is paused")["severity"] == "warning"
    finally:
        lab.kubectl(*patch, '{"spec": {"pausedUntil": null}}')


def test_a_machine_on_its_way_says_at_each_step_whose_turn_it_is(patient: Journey, lab: Lab) -> None:
    """From MAAS that has none to give, over deployments that fail, to a machine that boots and never joins."""
    machine = f"Machine {SPACE}/"

    def nudge() -> None:
        """The provider tries again at once when its object changes, and in a quarter of an hour when not."""
        for body in lab.api.list(MAAS_MACHINES, SPACE):
            name = body["metadata"]["name"]
            lab.kubectl(
                "-n", SPACE, "annotate", "maasmachine", name, f"lab.example/nudged={time.time()}", "--overwrite"
            )

    lab.fault("maas-full")
    patient.scale(2)
    assert said(lab, machine, "user", "MAAS has no machine that fits")["since"]
    lab.heal("maas-full")
    lab.fault("machine-fails", action="deploy")
    said(lab, machine, "maas", "MAAS", each=nudge)
    lab.fault("never-boots")
    lab.heal("machine-fails")
    said(lab, machine, "node", "deployed, ", each=nudge)
    patient.scale(1)


def test_a_finalizer_of_nobody_is_the_users_turn(patient: Journey, lab: Lab) -> None:
    body = examples.node_pool("stuck", NAME, lab.release(), replicas=0)
    lab.apply([body])
    lab.until("the pool is seen", lambda: (lab.api.get(NODE_POOLS, "stuck", "clusters") or {}).get("status"), 60)
    lab.fault("stuck", kind="nodepools", name="stuck", namespace="clusters")
    lab.kubectl("-n", "clusters", "delete", "nodepool", "stuck", "--wait=false")
    found = said(lab, "NodePool clusters/stuck", "user", "which nothing that this collection knows removes")
    assert found["severity"] == "error"


# -- clusters that never come so far -----------------------------------------------------------------------------------


@pytest.fixture
def beginner(lab: Lab, tmp_path: Any) -> Iterator[Callable[..., Journey]]:
    made: list[Journey] = []

    def begin(name: str) -> Journey:
        made.append(Journey(lab, name, tmp_path))
        made[-1].create(replicas=1)
        return made[-1]

    yield begin
    lab.heal()
    for journey in made:
        journey.delete()
    for journey in made:
        journey.until_gone(300)


@pytest.mark.thorough
def test_a_volume_that_does_not_come_is_the_users_turn(beginner: Callable[..., Journey], lab: Lab) -> None:
    lab.fault("no-volume", namespace="clusters-thirsty")
    beginner("thirsty")
    found = said(lab, "PersistentVolumeClaim clusters-thirsty/data-etcd-0", "user", "is pending", "thirsty")
    assert found["severity"] == "error"


def test_a_pull_secret_that_is_missing_is_the_users_turn(beginner: Callable[..., Journey], lab: Lab) -> None:
    lab.fault("hold", name="operator", namespace="hypershift")
    beginner("poor")
    lab.api.delete(SECRETS, "poor-pull-secret", "clusters")
    lab.heal("hold")
    found = said(
        lab, "HostedCluster clusters/poor", "user", 'Secret "poor-pull-secret" with the pull secret is missing', "poor"
    )
    assert "Create it" in found["next_step"]
