# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each fault ends in its sentence: made in the lab, read as the collection reads it, and assessed."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import pairwise
from pathlib import Path

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.progress import (
    GRACE,
    SETTLE,
    Goal,
    Stop,
    assess,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import (
    ClusterSnapshot,
    control_plane_namespace,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.client import Kube
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    HOSTED_CLUSTERS,
    HOSTED_CONTROL_PLANES,
    MAAS_MACHINES,
    MACHINE_DEPLOYMENTS,
    MACHINE_SETS,
    MACHINES,
    NODE_POOLS,
    NODES,
    Object,
)
from hosted import told
from hosted.told import AROUND, ENDS, LACKING, LATE, LATER, ON_THE_WAY, PASSING, ROLLOUT, SPOILT, STAGES, UPGRADE, Told
from metalshift_lab.kube.examples import NAMESPACE, credentials, hosted_cluster
from metalshift_lab.kube.handle import Lab
from metalshift_lab.kube.journey import Journey
from metalshift_lab.kube.spoilt import LOAD_BALANCER, Manifests, release

#: An operator that failed tries again after ten seconds at the latest; a busy machine takes its own time.
PATIENCE = 150.0
CONTROL_PLANE = control_plane_namespace(NAMESPACE, LATE)
GUIDE = Path(__file__).parents[2] / "docs" / "docsite" / "rst" / "lab_faults_guide.rst"


@cache
def api(kubeconfig: str) -> Kube:
    return Kube.from_kubeconfig(kubeconfig)


def read(lab: Lab, name: str, namespace: str = NAMESPACE, hosted: Callable[[], str] | None = None) -> ClusterSnapshot:
    """The hosted cluster as it is now."""
    kube = api(lab.kubeconfig.read_text())
    plane = control_plane_namespace(namespace, name)
    pools = {pool["metadata"]["name"]: pool for pool in kube.list(NODE_POOLS, namespace)}
    nodes: list[Object] | None = None
    if hosted is not None:
        try:
            nodes = api(hosted()).list(NODES)
        except Exception:  # there is no kubeconfig yet, or nobody answers
            nodes = None
    return ClusterSnapshot(
        namespace,
        name,
        cluster=kube.get(HOSTED_CLUSTERS, name, namespace),
        control_plane=kube.get(HOSTED_CONTROL_PLANES, name, plane),
        pools={key: pool for key, pool in pools.items() if pool["spec"]["clusterName"] == name},
        machine_deployments=kube.list(MACHINE_DEPLOYMENTS, plane),
        machine_sets=kube.list(MACHINE_SETS, plane),
        machines=kube.list(MACHINES, plane),
        maas_machines=kube.list(MAAS_MACHINES, plane),
        nodes=nodes,
    )


def stop_after(seen: ClusterSnapshot, goal: Goal, seconds: float) -> Stop | None:
    """What ends a wait when all that is said now lasts so long."""
    topics = assess(seen, goal, 0.0, {}).lines
    return assess(seen, goal, seconds, dict.fromkeys(topics, 0.0)).stop


def must_tell(
    look: Callable[[], ClusterSnapshot], goal: Goal, fault: Told, meanwhile: Callable[[], object] = list
) -> None:
    """Look till the line of the fault is said, and becomes of the wait what is to.

    For a moment the fault before it is told too, or what is told is of a generation that the operator has not seen.
    """
    verdict = {"wait": (False, False), "grace": (False, True), "stop": (True, True)}[fault.verdict]
    began = time.monotonic()
    while True:
        meanwhile()
        seen = look()
        found = assess(seen, goal, 0.0, {})
        soon, late = stop_after(seen, goal, SETTLE), stop_after(seen, goal, GRACE)
        topic = next((topic for topic, line in found.lines.items() if fault.is_said(line)), None)
        is_its_own = late is None or fault.ends(late.text)
        if topic is not None and is_its_own and (soon is not None, late is not None) == verdict:
            break
        said = f"{fault}: lines {[*found.lines.values()]}; ends soon with {soon}, late with {late}"
        assert time.monotonic() < began + PATIENCE, said
        time.sleep(0.3)
    assert not found.reached
    assert fault.is_done(found.hints.get(topic, "")), (fault, found.hints)


# -- the manifests, and what surrounds the operator -----------------------------------------------------------------

SPOIL: dict[str, Callable[[Manifests], object]] = {
    "pull secret missing": lambda the: the.without("-pull-secret"),
    "pull secret without its key": lambda the: the.secret("-pull-secret").update(data={"wrong": "e30="}),
    "Ignition by LoadBalancer": lambda the: the.publish("Ignition", LOAD_BALANCER),
    "encryption Secret without its key": lambda the: the.secret("-etcd-encryption-key").update(data={"wrong": "e30="}),
    "encryption Secret missing": lambda the: the.without("-etcd-encryption-key"),
    "credentials for MAAS missing": lambda the: the.without(credentials("")),
    "credentials for MAAS without a key": lambda the: the.secret(credentials(""))["data"].pop("MAAS_API_KEY"),
    "SSH key missing": lambda the: the.without("-ssh-key"),
    "OAuthServer by Route": lambda the: the.publish("OAuthServer", {"type": "Route"}),
    "networks that overlap": lambda the: the.network(machineNetwork="10.132.0.0/16"),
    "release too new": release("4.25.0"),
    "paused": lambda the: the.spec.update(pausedUntil="true"),
}
BAD = "told"


def named(fault: Told) -> str:
    return re.sub(r"[^a-z]+", "-", fault.fault.lower())


@pytest.fixture(scope="module")
def spoilt(lab: Lab) -> Iterator[Lab]:
    """Nothing of their control planes runs: the operator's own passes are enough."""
    lab.fault("hold", namespace=f"{BAD}-.*", name=".*")
    lab.fault("release-incomplete", version="4.25.0", lacks="tools")
    bodies: list[Object] = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": BAD}}]
    for fault in SPOILT:
        manifests = Manifests(lab, hosted_cluster(named(fault), lab.release(), namespace=BAD))
        SPOIL[fault.fault](manifests)
        bodies += manifests.objects
    lab.apply(bodies)
    yield lab
    # They go while other tests run. What is held stays so, or all the programs of these clusters would start now.
    lab.kubectl("-n", BAD, "delete", "hostedclusters", "--all", "--wait=false")
    lab.heal("release-incomplete")


@pytest.mark.parametrize("fault", SPOILT, ids=named)
def test_what_is_spoilt_in_a_manifest_ends_in_its_sentence(spoilt: Lab, fault: Told) -> None:
    must_tell(lambda: read(spoilt, named(fault), BAD), "control_plane", fault)


def test_what_fails_around_the_operator_ends_in_its_sentence(spoilt: Lab) -> None:
    versions = {
        "registry-down": "4.20.51",
        "registry-private": "4.20.52",
        "release-gone": "4.20.53",
        "release-empty": "4.20.54",
    }
    for fault in AROUND:
        version = versions.get(fault.fault, "4.20.8")
        words = dict(fault.words)
        if version != "4.20.8" and fault.fault != "release-empty":
            spoilt.fault("release-incomplete", version=version, lacks="tools")
        if fault.fault == "quota":
            words["namespace"] = f"{BAD}-quota"
            spoilt.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"{BAD}-quota"}}])
        spoilt.fault(fault.fault, **words)
        spoilt.apply(hosted_cluster(named(fault), spoilt.release(version), namespace=BAD))
        must_tell(partial(read, spoilt, named(fault), BAD), "control_plane", fault)
        spoilt.heal(fault.fault)


@pytest.fixture
def lacking(lab: Lab) -> Iterator[str]:
    """The namespace of a hosted cluster of which only the control-plane-operator runs."""
    namespace = f"{BAD}lacking"
    lab.fault("hold", namespace=f"{namespace}-.*", name="(?!control-plane-operator).*")
    lab.fault(LACKING.fault, **LACKING.words)
    lab.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}])
    lab.apply(hosted_cluster("lacking", lab.release(LACKING.words["version"]), namespace=namespace))
    yield namespace
    lab.kubectl("-n", namespace, "delete", "hostedclusters", "--all", "--wait=false")
    lab.heal(LACKING.fault, **LACKING.words)


def test_a_release_that_lacks_something_ends_in_its_sentence(lab: Lab, lacking: str) -> None:
    must_tell(partial(read, lab, "lacking", lacking), "control_plane", LACKING)


# -- one hosted cluster from its first moment to its last -----------------------------------------------------------


def go_on(journey: Journey) -> None:
    """What a wait does besides looking: it approves, and touches what the operator has forgotten."""
    now = seen(journey)
    if now.nodes is not None:
        journey.approve()
    topics = assess(now, "nodes", 0.0, {}).lines
    for kind, name in assess(now, "nodes", SETTLE, dict.fromkeys(topics, 0.0)).touch:
        note = f"lab.example/touched={time.monotonic()}"
        namespace = CONTROL_PLANE if kind is MAAS_MACHINES else NAMESPACE
        journey.lab.kubectl("-n", namespace, "annotate", kind.resource, name, note, "--overwrite")


@pytest.fixture(scope="module")
def late(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journey]:
    """It begins at the first stage, and no machine may be on its way before its turn comes."""
    journey = Journey(lab, LATE, tmp_path_factory.mktemp("kubeconfigs"))
    lab.fault(STAGES[0].fault, namespace=CONTROL_PLANE, **STAGES[0].words)
    for fault in (ON_THE_WAY[0], *ROLLOUT[:1]):
        lab.fault(fault.fault, **fault.words)
    lab.fault("maas-full")
    journey.create(replicas=1)
    yield journey
    lab.heal()
    journey.delete()
    journey.until_gone()


def seen(journey: Journey) -> ClusterSnapshot:
    def kubeconfig() -> str:
        return journey.kubeconfig.read_text()

    return read(journey.lab, journey.name, hosted=kubeconfig)


def test_a_control_plane_says_at_each_stage_what_it_waits_for(late: Journey) -> None:
    lab = late.lab
    must_tell(lambda: seen(late), "control_plane", STAGES[0])
    for before, stage in pairwise(STAGES):
        lab.fault(stage.fault, **{"namespace": CONTROL_PLANE, **stage.words})
        lab.heal(before.fault, **before.words)
        must_tell(lambda: seen(late), "control_plane", stage)
    lab.heal(STAGES[-1].fault, **STAGES[-1].words)
    lab.until("the control plane is reached", lambda: assess(seen(late), "control_plane", 0.0, {}).reached)


def test_machines_say_what_keeps_them_from_being_nodes(late: Journey) -> None:
    lab = late.lab
    for before, fault in zip((None, *ON_THE_WAY), ON_THE_WAY, strict=False):
        if before is not None:
            lab.fault(fault.fault, **fault.words)
            lab.heal(before.fault)
        must_tell(lambda: seen(late), "nodes", fault, partial(go_on, late))
    for fault in PASSING:
        lab.fault(fault.fault, **fault.words)
    lab.heal(ON_THE_WAY[-1].fault)
    ended: list[Stop] = []

    def arrived() -> bool:
        go_on(late)
        now = seen(late)
        stop = stop_after(now, "nodes", SETTLE)
        ended.extend([stop] if stop is not None else [])
        return assess(now, "nodes", 0.0, {}).reached

    lab.until("the nodes are reached", arrived, 120)
    assert not ended
    for fault in PASSING[:2]:
        lab.heal(fault.fault)


def test_a_rollout_says_what_it_waits_for(late: Journey) -> None:
    lab = late.lab
    must_tell(lambda: seen(late), "complete", ROLLOUT[0])
    for fault in ROLLOUT[1:]:
        lab.fault(fault.fault, **fault.words)
        must_tell(lambda: seen(late), "complete", fault)
    lab.heal()
    lab.until("the rollout is complete", lambda: assess(seen(late), "complete", 0.0, {}).reached)


@pytest.mark.thorough
def test_what_breaks_later_is_told_too(late: Journey) -> None:
    lab = late.lab
    lab.fault(LATER[0].fault, **LATER[0].words)
    must_tell(lambda: seen(late), "nodes", LATER[0])
    lab.heal()
    lab.fault(LATER[1].fault, namespace=CONTROL_PLANE, **LATER[1].words)
    must_tell(lambda: seen(late), "control_plane", LATER[1])
    lab.heal()
    lab.until("all is well again", lambda: assess(seen(late), "nodes", 0.0, {}).reached)


def test_an_upgrade_that_the_hosted_cluster_refuses_is_told(late: Journey) -> None:
    lab = late.lab
    lab.fault("release-incomplete", version="4.21.3", lacks="tools")
    lab.fault(UPGRADE.fault, **UPGRADE.words)
    lab.until(
        "it is said not to be upgradeable",
        lambda: "True" not in _status(late, "ClusterVersionUpgradeable"),
    )
    late.upgrade_control_plane("4.21.3")
    must_tell(lambda: seen(late), "control_plane", UPGRADE)
    late.upgrade_control_plane("4.20.8")
    lab.heal()
    lab.until("it is as it was", lambda: assess(seen(late), "complete", 0.0, {}).reached)


def _status(journey: Journey, which: str) -> list[str]:
    shown = journey.cluster()["status"]["conditions"]
    return [each["status"] for each in shown if each["type"] == which]


PLACES = {"NodePool": NAMESPACE}


def _begin(journey: Journey, fault: Told) -> dict[str, str]:
    """Begin a fault of the deletion; the words by which it is healed."""
    words = dict(fault.words)
    if fault.fault == "stuck":
        kind = words["kind"]
        one = {"NodePool": LATE, "HostedControlPlane": LATE, "ConfigMap": "kube-root-ca.crt"}.get(kind)
        words["namespace"] = PLACES.get(kind, CONTROL_PLANE)
        words["name"] = one or read(journey.lab, LATE).maas_machines[0]["metadata"]["name"]
    else:
        words["namespace"] = CONTROL_PLANE
    journey.lab.fault(fault.fault, **words)
    return words


def test_a_deletion_says_what_holds_it(late: Journey) -> None:
    lab = late.lab
    annotation = {"metadata": {"annotations": {"hypershift.openshift.io/cleanup-cloud-resources": "true"}}}
    lab.kubectl("-n", NAMESPACE, "patch", "hostedcluster", LATE, "--type=merge", "-p", json.dumps(annotation))
    words = [_begin(late, fault) for fault in ENDS]
    late.delete()
    for fault, of_fault in zip(ENDS, words, strict=True):
        must_tell(lambda: seen(late), "gone", fault)
        lab.heal(fault.fault, **of_fault)
    lab.until("all of it is gone", lambda: assess(seen(late), "gone", 0.0, {}).reached, 120)


# -- the table ------------------------------------------------------------------------------------------------------


def test_the_table_knows_each_fault_of_the_lab() -> None:
    known = {each.fault for _goal, rows in told.by_goal() for each in rows}
    assert known == set(re.findall(r"^   \* - ``([a-z-]+)``", GUIDE.read_text(), re.MULTILINE))
