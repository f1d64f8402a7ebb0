# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificate requests of which one thing is forged, as a real API server takes them.

One API server stands for the management cluster and for the hosted one; the requests are made by those who they say
made them, for the API server writes that itself.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates import approval as approving
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates.pure.judgement import (
    BOOTSTRAP_GROUPS,
    BOOTSTRAP_USER,
    CLIENT,
    SERVING,
    CsrVerdict,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.listing import sight
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._kube.client import Kube
from ansible_collections.metalshift.maas.plugins.module_utils._kube.connection import Access
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure import kinds
from integration.arranging import client
from integration.harness import Outcome, run_task
from metalshift_lab.authority import encoded
from metalshift_lab.kube import examples
from metalshift_lab.kube.api import (
    CLUSTER_ROLE_BINDINGS,
    CRDS,
    CSRS,
    HOSTED_CLUSTERS,
    MAAS_MACHINES,
    MACHINES,
    NAMESPACES,
    NODES,
    SECRETS,
    Api,
    ApiError,
    Object,
    Resource,
)
from metalshift_lab.kube.bare import kinds_of
from metalshift_lab.kube.control_plane import ControlPlane
from metalshift_lab.kube.keeper import Keeper, plain_environment
from metalshift_lab.ports import Ports
from metalshift_lab.programs import Programs
from metalshift_lab.simulator import Simulator
from unit.kube.pem import signing_request

CLUSTER, NAMESPACE = "demo", "clusters"
PLACE = f"{NAMESPACE}-{CLUSTER}"
IMAGE = "ubuntu/noble"
USAGES = {CLIENT: ["digital signature", "client auth"], SERVING: ["digital signature", "server auth"]}
PATIENCE = 30.0


@dataclass
class Scene:
    """A hosted cluster on paper: what its operators would have written, with machines in a simulated MAAS."""

    plane: ControlPlane
    sim: Simulator
    names: list[str] = field(default_factory=list)

    @property
    def api(self) -> Api:
        return self.plane.api

    def cluster(self) -> None:
        for body in (NAMESPACE, PLACE):
            self.api.create(NAMESPACES, {"metadata": {"name": body}})
        cluster = examples.hosted_cluster(CLUSTER, "registry.example/release:4.20.8")[-1]
        self.api.create(HOSTED_CLUSTERS, cluster)
        kubeconfig = {"kubeconfig": encoded(json.dumps(self.plane.kubeconfig).encode())}
        secret = {"metadata": {"name": "demo-admin-kubeconfig", "namespace": NAMESPACE}, "data": kubeconfig}
        self.api.create(SECRETS, secret)
        host, _colon, port = self.plane.server.removeprefix("https://").partition(":")
        endpoint = {"host": host, "port": int(port)}
        status = {"status": {"kubeconfig": {"name": "demo-admin-kubeconfig"}, "controlPlaneEndpoint": endpoint}}
        self.api.patch(HOSTED_CLUSTERS, CLUSTER, NAMESPACE, status, subresource="status")
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:node-bootstrapper"}
        everybody = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:authenticated"}
        binding = {"metadata": {"name": "everybody-asks"}, "roleRef": role, "subjects": [everybody]}
        self.api.create(CLUSTER_ROLE_BINDINGS, binding)

    def machine(self, name: str, *, status: str = "Deployed", **more: Any) -> str:
        """A machine that MAAS has, and that the cluster names; returns its node's name."""
        system_id = self.sim.machine(name, status=status, zone="az1", **more).system_id
        self.named(name, f"maas:///az1/{system_id}")
        return f"{name}.maas"

    def named(self, name: str, provider_id: str) -> None:
        spec = {"image": IMAGE, "minCPU": 1, "minMemory": 1, "providerID": provider_id}
        kind = {"apiVersion": MAAS_MACHINES.api, "kind": "MaasMachine"}
        self.api.create(MAAS_MACHINES, {**kind, "metadata": self._placed(name), "spec": spec})
        reference = {**kind, "name": name, "namespace": PLACE}
        machine = {"clusterName": CLUSTER, "bootstrap": {"dataSecretName": "none"}, "infrastructureRef": reference}
        body = {"apiVersion": MACHINES.api, "kind": "Machine", "metadata": self._placed(name), "spec": machine}
        self.api.create(MACHINES, body)

    @staticmethod
    def _placed(name: str) -> Object:
        return {"name": name, "namespace": PLACE}

    def joined(self, name: str, *, provider_id: str = "", linked: bool = True) -> str:
        """A machine with its Node, as the provider and Cluster API leave them."""
        node = self.machine(name)
        named = provider_id or f"maas:///az1/{self.sim.find(name).system_id}"
        self.api.create(NODES, {"metadata": {"name": node}, "spec": {"providerID": named}})
        if linked:
            reference = {"status": {"nodeRef": {"apiVersion": "v1", "kind": "Node", "name": node}}}
            self.api.patch(MACHINES, name, PLACE, reference, subresource="status")
        return node

    def address(self, name: str) -> str:
        return str(self.sim.find(name).interfaces[0].links[0].ip)

    # -- requests -----------------------------------------------------------------------------------------------------

    def ask(
        self,
        name: str,
        request: str,
        signer: str,
        *,
        user: str,
        groups: list[str],
        usages: list[str] | None = None,
    ) -> None:
        """Make a request as that user; the API server writes down who it was."""
        somebody = {"impersonate_user": user, "impersonate_groups": groups}
        kube = Kube(Access.from_params({"kubeconfig": self.plane.kubeconfig, **somebody}, {}))
        spec = {"request": request, "signerName": signer, "usages": usages or USAGES.get(signer, USAGES[CLIENT])}
        kube.create(
            {"apiVersion": CSRS.api, "kind": "CertificateSigningRequest", "metadata": {"name": name}, "spec": spec}
        )
        self.names.append(name)

    def client(self, name: str, node: str, *, user: str = BOOTSTRAP_USER, **forged: Any) -> None:
        groups = forged.pop("groups", sorted(BOOTSTRAP_GROUPS))
        usages, signer = forged.pop("usages", None), forged.pop("signer", CLIENT)
        request = forged.pop("request", "") or signing_request(node, **forged)
        self.ask(name, request, signer, user=user, groups=groups, usages=usages)

    def server(self, name: str, node: str, *, user: str = "", **forged: Any) -> None:
        groups = forged.pop("groups", ["system:nodes", "system:authenticated"])
        usages = forged.pop("usages", None)
        names = forged.pop("names", [node])
        addresses = forged.pop("addresses", [self.address(node.partition(".")[0])])
        request = signing_request(node, names, addresses, **forged)
        self.ask(name, request, SERVING, user=user or f"system:node:{node}", groups=groups, usages=usages)

    def run(self, *, check: bool = False, **options: Any) -> Outcome:
        args = {"name": CLUSTER, "kubeconfig": str(self.plane.kubeconfig_file), **options}
        return run_task(self.sim, "node_csr", args, check=check)

    def look(self) -> tuple[Kube, ClusterSnapshot, list[CsrVerdict]]:
        """What a task sees at this moment and makes of it, before it approves anything."""
        kube = Kube(Access.from_params({"kubeconfig": self.plane.kubeconfig}, {}))
        seen = sight(kube, NAMESPACE, CLUSTER)
        seen = replace(seen, nodes=kube.list(kinds.NODES), requests=kube.list(kinds.CSRS))
        machines = {one["system_id"]: one for one in client(self.sim).get("machines/")}
        return kube, seen, approving.look(seen, machines)

    def conditions(self, name: str) -> list[str]:
        found = self.api.get(CSRS, name)
        assert found is not None
        return [str(one["type"]) for one in found.get("status", {}).get("conditions", [])]

    def certificate(self, name: str) -> str:
        """What the signer made of it; it takes a moment after the approval."""
        deadline = time.monotonic() + PATIENCE
        while True:
            found = self.api.get(CSRS, name) or {}
            if certificate := found.get("status", {}).get("certificate"):
                return str(certificate)
            assert time.monotonic() < deadline, found
            time.sleep(0.05)

    def forget(self) -> None:
        """Nothing is left of what a test has made."""
        for name in self.names:
            self.api.delete(CSRS, name)
        self.names.clear()
        for node in self.api.list(NODES):
            self.api.delete(NODES, node["metadata"]["name"])
        for resource in (MACHINES, MAAS_MACHINES):
            for body in self.api.list(resource, PLACE):
                self.api.delete(resource, body["metadata"]["name"], PLACE)
        self.sim.reset()


@contextmanager
def running(programs: Programs, folder: Path) -> Iterator[ControlPlane]:
    ports = Ports()
    plane = ControlPlane(folder, programs, ports.take(), ports.node_ports)
    keeper = Keeper(folder, plain_environment())
    try:
        for program in plane.programs():
            keeper.start(program)
        for crd in kinds_of(programs):
            plane.api.apply(CRDS, crd)
        for resource in (HOSTED_CLUSTERS, MAAS_MACHINES, MACHINES):
            _until_served(plane.api, resource)
        yield plane
    finally:
        keeper.stop()


def _until_served(api: Api, resource: Resource) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            api.list(resource)
            return
        except ApiError:
            assert time.monotonic() < deadline, f"{resource} is not served"
            time.sleep(0.05)


@pytest.fixture(scope="module")
def only_scene(programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with Simulator() as sim, running(programs, tmp_path_factory.mktemp("csr")) as plane:
        scene = Scene(plane, sim)
        scene.cluster()
        yield scene


@pytest.fixture
def scene(only_scene: Scene) -> Iterator[Scene]:
    yield only_scene
    only_scene.forget()


def by_name(outcome: Outcome) -> dict[str, dict[str, Any]]:
    assert not outcome.failed, outcome.msg
    return {one["name"]: one for one in outcome["certificate_requests"]}


# -- what belongs to the cluster ---------------------------------------------------------------------------------------


def test_a_node_gets_both_certificates_and_then_nothing_is_left(scene: Scene) -> None:
    node = scene.machine("worker-1")
    scene.client("first", node)
    foreseen = scene.run(check=True)
    assert foreseen.changed
    assert by_name(foreseen)["first"]["predicted"]
    assert scene.conditions("first") == []
    outcome = scene.run()
    assert outcome.changed
    assert outcome["summary"] == {"approved": 1, "waiting": 0, "refused": 0, "superseded": 0}
    assert by_name(outcome)["first"]["message"] == "It is that of the machine worker-1."
    assert outcome["diff"] == foreseen["diff"]
    assert scene.certificate("first")
    again = scene.run()
    assert (again.changed, again["certificate_requests"]) == (False, [])

    system_id = scene.sim.find("worker-1").system_id
    scene.server("second", node)
    waiting = by_name(scene.run())["second"]
    assert (waiting["reason"], waiting["passing"]) == ("no_node", True)
    scene.api.create(NODES, {"metadata": {"name": node}})
    assert by_name(scene.run())["second"]["reason"] == "node_not_linked"
    scene.api.patch(NODES, node, None, {"spec": {"providerID": f"maas:///az1/{system_id}"}})
    assert by_name(scene.run())["second"]["reason"] == "node_not_linked"
    reference = {"status": {"nodeRef": {"apiVersion": "v1", "kind": "Node", "name": node}}}
    scene.api.patch(MACHINES, "worker-1", PLACE, reference, subresource="status")
    assert by_name(scene.run())["second"]["approved"]
    assert scene.certificate("second")


def test_maas_is_asked_once_for_all_machines_and_not_at_all_for_nothing(scene: Scene) -> None:
    for number in range(3):
        scene.client(f"csr-{number}", scene.machine(f"worker-{number}"))
    scene.sim.requests.clear()
    assert scene.run()["summary"]["approved"] == 3
    assert [entry.method for entry in scene.sim.requests] == ["GET"]
    scene.sim.requests.clear()
    scene.run()
    assert not len(scene.sim.requests)


# -- one thing forged --------------------------------------------------------------------------------------------------

OTHERS = "system:serviceaccount:default:default"
FORGED_CLIENTS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "signer": ("signer", {"signer": "kubernetes.io/kube-apiserver-client"}),
    "foreign-signer": ("signer", {"signer": "example.com/nodes", "usages": ["client auth"]}),
    "user": ("requestor", {"user": OTHERS}),
    "node": ("requestor", {"user": "system:node:worker-1.maas", "groups": ["system:nodes"]}),
    "admin": ("requestor", {"user": "admin"}),
    "more-groups": ("groups", {"groups": [*sorted(BOOTSTRAP_GROUPS), "system:masters"]}),
    "other-groups": ("groups", {"groups": ["system:serviceaccounts", "system:authenticated"]}),
    "server-auth": ("usages", {"usages": ["digital signature", "client auth", "server auth"]}),
    "cert-sign": ("usages", {"usages": ["digital signature", "client auth", "cert sign"]}),
    "few-usages": ("usages", {"usages": ["client auth"]}),
    "encipherment": ("usages", {"usages": ["digital signature", "client auth", "key encipherment"]}),
    "organization": ("subject", {"organization": "system:masters"}),
    "organizations": ("subject", {"more_subject": [(x509.NameOID.ORGANIZATION_NAME, "system:masters")]}),
    "unit": ("subject", {"more_subject": [(x509.NameOID.ORGANIZATIONAL_UNIT_NAME, "x")]}),
    "common-name": ("subject", {"common_name": "system:admin"}),
    "common-names": ("subject", {"more_subject": [(x509.NameOID.COMMON_NAME, "system:admin")]}),
    "dns": ("names", {"names": ["worker-1.maas"]}),
    "address": ("names", {"addresses": ["10.0.0.1"]}),
    "mail": ("names", {"more_names": [x509.RFC822Name("a@example.com")]}),
    "authority": ("names", {"extensions": [x509.BasicConstraints(ca=True, path_length=None)]}),
    "unknown": ("unknown_machine", {"common_name": "system:node:worker-9.maas"}),
    "other-domain": ("unknown_machine", {"common_name": "system:node:worker-1.example.com"}),
    "capitals": ("unknown_machine", {"common_name": "system:node:WORKER-1.maas"}),
}


def test_a_client_of_which_one_thing_is_forged_is_refused(scene: Scene) -> None:
    """All at once, beside a right one: the right one is approved, and nothing else is touched."""
    node = scene.machine("worker-1")
    for name, (_reason, forged) in FORGED_CLIENTS.items():
        scene.client(f"forged-{name}", node, **forged)
    scene.client("right", node, with_rsa=True, usages=["digital signature", "client auth", "key encipherment"])
    outcome = scene.run()
    found = by_name(outcome)
    wrong = {name: reason for name, (reason, _forged) in FORGED_CLIENTS.items()}
    assert {name: found[f"forged-{name}"]["reason"] for name in wrong} == wrong
    assert [name for name, one in found.items() if one["approved"]] == ["right"]
    assert not any(scene.conditions(f"forged-{name}") for name in wrong)
    assert outcome["summary"] == {"approved": 1, "waiting": 3, "refused": len(wrong) - 3, "superseded": 0}
    # And they stay so when they are looked at again.
    again = scene.run()
    assert not again.changed
    assert by_name(again).keys() == {f"forged-{name}" for name in wrong}


FORGED_SERVERS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "other-node": ("requestor", {"user": "system:node:worker-2.maas"}),
    "bootstrap": ("requestor", {"user": BOOTSTRAP_USER, "groups": sorted(BOOTSTRAP_GROUPS)}),
    "no-node": ("groups", {"groups": ["system:authenticated"]}),
    "more-groups": ("groups", {"groups": ["system:nodes", "system:masters"]}),
    "client-auth": ("usages", {"usages": ["digital signature", "server auth", "client auth"]}),
    "organization": ("subject", {"organization": "system:masters"}),
    "no-names": ("names", {"names": [], "addresses": []}),
    "uri": ("names", {"more_names": [x509.UniformResourceIdentifier("spiffe://x")]}),
    "dns": ("dns_name", {"names": ["worker-1.maas", "kubernetes.default.svc"]}),
    "wildcard": ("dns_name", {"names": ["*.maas"]}),
    "neighbour": ("dns_name", {"names": ["worker-1.maas", "worker-2.maas"]}),
    "address": ("address", {"addresses": ["10.0.0.1"]}),
    "loopback": ("address", {"addresses": ["127.0.0.1"]}),
}


def test_a_server_of_which_one_thing_is_forged_is_refused(scene: Scene) -> None:
    """By the API server, which checks what nodes ask for, or else by us."""
    node = scene.joined("worker-1")
    scene.joined("worker-2")
    # What is asked after it may be forged; what was asked before it counts no more.
    scene.server("right", node)
    time.sleep(1.1)
    taken = []
    for name, (_reason, forged) in FORGED_SERVERS.items():
        # The API server itself refuses what a node may not ask for.
        with suppress(Failure):
            scene.server(f"forged-{name}", node, **forged)
            taken.append(name)
    assert {"dns", "address", "bootstrap", "client-auth"} <= set(taken)
    found = by_name(scene.run())
    assert {name: found[f"forged-{name}"]["reason"] for name in taken} == {
        name: FORGED_SERVERS[name][0] for name in taken
    }
    assert [name for name, one in found.items() if one["approved"]] == ["right"]
    assert not any(scene.conditions(f"forged-{name}") for name in taken)


def test_what_the_machine_is_decides_as_well(scene: Scene) -> None:
    """Right requests, of machines that are not as they should be."""
    scene.client("ready", scene.machine("ready-1", status="Ready"))
    scene.client("claimed", scene.machine("claimed-1", annotations={"metalshift_claim": "web"}))
    scene.client("of-others", scene.machine("others-1", annotations={"metalshift_cluster": "clusters/other"}))
    scene.client("image", scene.machine("image-1", distro_series="jammy"))
    scene.client("joined", scene.joined("joined-1"))
    scene.named("stale-1", "maas:///az1/zzzzzz")
    scene.client("stale", "stale-1.maas")
    twice = scene.machine("twice-1")
    scene.named("twice-2", f"maas:///az1/{scene.sim.find('twice-1').system_id}")
    scene.client("twice", twice)
    scene.sim.machine("free-1", status="Deployed")
    scene.client("not-named", "free-1.maas")
    scene.joined("linked-1", provider_id="maas:///az1/zzzzzz")
    scene.server("other-machine", "linked-1.maas")
    scene.joined("unlinked-1", linked=False)
    scene.server("unlinked", "unlinked-1.maas")
    outcome = scene.run()
    assert not outcome.changed
    assert {name: one["reason"] for name, one in by_name(outcome).items()} == {
        "ready": "not_deployed",
        "claimed": "held",
        "of-others": "held",
        "image": "held",
        "joined": "node_exists",
        "stale": "unknown_machine",
        "twice": "ambiguous",
        "not-named": "unknown_machine",
        "other-machine": "other_machine",
        "unlinked": "node_not_linked",
    }


def test_a_machine_that_takes_too_long_needs_a_word(scene: Scene) -> None:
    scene.machine("worker-1")
    time.sleep(2.1)
    scene.client("late", "worker-1.maas")
    assert by_name(scene.run(max_age=0.5))["late"]["reason"] == "age"
    assert by_name(scene.run())["late"]["approved"]


def test_of_two_requests_of_a_node_the_newer_is_approved_and_the_older_is_a_number(scene: Scene) -> None:
    node = scene.machine("worker-1")
    scene.client("older", node)
    time.sleep(1.1)
    scene.client("newer", node)
    outcome = scene.run()
    assert {name: one["approved"] for name, one in by_name(outcome).items()} == {"newer": True}
    assert outcome["summary"] == {"approved": 1, "waiting": 0, "refused": 0, "superseded": 1}


# -- who asks often, and who asks for many -----------------------------------------------------------------------------


def test_a_cluster_that_is_locked_today_is_healed_by_one_run(scene: Scene) -> None:
    """Three nodes whose serving certificates nobody approved for a day, and a machine that has just booted."""
    nodes = [scene.joined(f"old-{number}") for number in range(3)]
    for number in range(39):
        for node in nodes:
            scene.server(f"{node.partition('.')[0]}-{number:02d}", node)
    time.sleep(1.1)
    for node in nodes:
        scene.server(f"{node.partition('.')[0]}-new", node)
    scene.client("new", scene.machine("new-1"))
    outcome = scene.run()
    newest = {f"old-{number}-new" for number in range(3)}
    assert {name for name, one in by_name(outcome).items() if one["approved"]} == newest | {"new"}
    assert outcome["summary"] == {"approved": 4, "waiting": 0, "refused": 0, "superseded": 3 * 39}
    assert all(scene.certificate(name) for name in newest | {"new"})
    again = scene.run()
    assert (again.changed, again["summary"]["superseded"], by_name(again)) == (False, 3 * 39, {})


def test_a_worker_that_asks_without_end_stops_no_other_machine(scene: Scene) -> None:
    noisy = scene.joined("noisy-1")
    for number in range(130):
        scene.server(f"noise-{number:03d}", noisy)
    scene.client("new", scene.machine("new-1"))
    assert by_name(scene.run())["new"]["approved"]
    assert scene.certificate("new")


def test_over_a_hundred_guesses_of_the_bootstrap_user_let_no_node_in(scene: Scene) -> None:
    """It is said who asks and what to do; a node that has joined is not kept from anything; and then it goes on."""
    scene.client("new", scene.machine("new-1"))
    scene.server("joined", scene.joined("joined-1"))
    guesses = [f"guess-{number:03d}" for number in range(110)]
    for name in guesses:
        scene.client(name, f"{name}.maas")
    found = by_name(scene.run())
    assert (found["new"]["approved"], found["new"]["reason"]) == (False, "flood")
    assert (
        "node-bootstrapper asks for 111 different nodes, 109 more than the cluster has machines."
        in found["new"]["message"]
    )
    assert "delete these requests: kubectl get csr --field-selector" in found["new"]["message"]
    assert found["joined"]["approved"]
    assert scene.conditions("new") == []
    for name in guesses:
        scene.api.delete(CSRS, name)
        scene.names.remove(name)
    assert by_name(scene.run())["new"]["approved"]


def test_a_deployment_of_a_machine_gets_one_client_certificate(scene: Scene) -> None:
    """Whoever has the bootstrap identity could become a machine that is on its way; the second one needs a word."""
    node = scene.machine("worker-1")
    scene.client("first", node)
    assert by_name(scene.run())["first"]["approved"]
    time.sleep(1.1)
    scene.client("second", node)
    refused = by_name(scene.run())["second"]
    assert (refused["approved"], refused["reason"]) == (False, "issued")
    assert "first has had a certificate for this deployment of the machine" in refused["message"]
    assert scene.conditions("second") == []
    assert by_name(scene.run(reissue=[node]))["second"]["approved"]
    assert scene.certificate("second")


@pytest.mark.parametrize("first", ["older", "newer"])
def test_two_tasks_at_the_same_moment_give_a_machine_one_certificate(scene: Scene, first: str) -> None:
    """The second request came between the looks of two tasks, and each would approve the newest that it knows of."""
    node = scene.machine("worker-1")
    scene.client("older", node)
    looks = {"older": scene.look()}
    time.sleep(1.1)
    scene.client("newer", node)
    looks["newer"] = scene.look()
    found = {}
    for name in (first, *looks.keys() - {first}):
        kube, seen, verdicts = looks[name]
        assert [one.name for one in verdicts if one.approved] == [name]
        found[name] = next(one for one in approving.approve(kube, seen, verdicts) if one.name == name)
    (second,) = looks.keys() - {first}
    assert (found[first].approved, found[second].approved, found[second].reason) == (True, False, "changed")
    assert (scene.conditions(first), scene.conditions(second)) == (["Approved"], [])
    assert not scene.run().changed


def test_a_machine_that_has_a_node_gets_no_certificate_for_another(scene: Scene) -> None:
    """Whatever its Node is called, and also in check mode, where nothing is asked again before it is approved."""
    scene.client("same", scene.joined("same-1"))
    long = scene.machine("short-1")
    system_id = scene.sim.find("short-1").system_id
    scene.api.create(NODES, {"metadata": {"name": "short-1"}, "spec": {"providerID": f"maas:///az1/{system_id}"}})
    scene.client("other-name", long)
    scene.client("gone", scene.joined("gone-1"))
    scene.api.delete(NODES, "gone-1.maas")
    for check in (True, False):
        reasons = {name: one["reason"] for name, one in by_name(scene.run(check=check)).items()}
        assert reasons == dict.fromkeys(("same", "other-name", "gone"), "node_exists")


def test_what_somebody_has_decided_is_not_touched(scene: Scene) -> None:
    scene.client("denied", scene.machine("worker-1"))
    body = scene.api.get(CSRS, "denied")
    assert body is not None
    body["status"]["conditions"] = [{"type": "Denied", "status": "True", "reason": "Hand", "message": "No."}]
    scene.api.replace(CSRS, body, subresource="approval")
    assert scene.run()["certificate_requests"] == []
    assert scene.conditions("denied") == ["Denied"]


# -- what cannot be done -----------------------------------------------------------------------------------------------


def test_a_hosted_api_that_does_not_answer_is_a_clear_failure(scene: Scene) -> None:
    gone = json.loads(json.dumps(scene.plane.kubeconfig))
    gone["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:9"
    outcome = scene.run(hosted_kubeconfig=gone)
    assert outcome.failed
    assert "The API of the hosted cluster clusters/demo at https://127.0.0.1:9" in outcome.msg
    assert outcome["failure"]["kind"] == "unreachable"
    assert "hosted_kubeconfig" in outcome["failure"]["hint"]
    assert scene.plane.token not in json.dumps(outcome.result)


def test_a_cluster_that_is_not_there_is_said(scene: Scene) -> None:
    outcome = scene.run(name="nothing")
    assert outcome["failure"]["kind"] == "not_found"
    assert "There is no hosted cluster clusters/nothing." in outcome.msg


def test_a_cluster_without_machines_of_its_own_is_said(scene: Scene) -> None:
    scene.api.create(HOSTED_CLUSTERS, examples.hosted_cluster("bare", "registry.example/r:4.20.8", "None")[-1])
    outcome = scene.run(name="bare")
    assert outcome["failure"]["kind"] == "unsupported"
    assert "clusters/bare is of the platform None: nothing says which machines are its own." in outcome.msg


def test_a_cluster_that_has_no_kubeconfig_yet_is_said(scene: Scene) -> None:
    scene.api.create(HOSTED_CLUSTERS, examples.hosted_cluster("young", "registry.example/r:4.20.8")[-1])
    outcome = scene.run(name="young")
    assert outcome["failure"]["kind"] == "failed_state"
    assert "clusters/young has not published a kubeconfig yet. Wait until" in outcome.msg


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"max_age": 0}, "max_age must be more than 0 seconds, not 0.0."),
        ({"hosted_kubeconfig": "/nowhere/kubeconfig"}, "There is no kubeconfig at /nowhere/kubeconfig."),
        ({"hosted_kubeconfig": {"kind": "Config"}}, "The kubeconfig (the one given) cannot be used"),
    ],
)
def test_wrong_options_are_one_sentence(scene: Scene, options: dict[str, Any], says: str) -> None:
    outcome = scene.run(**options)
    assert outcome["failure"]["kind"] == "invalid"
    assert says in outcome.msg


def test_a_maas_that_does_not_answer_fails_the_task_and_approves_nothing(scene: Scene) -> None:
    scene.client("csr", scene.machine("worker-1"))
    outcome = scene.run(maas_endpoint="http://127.0.0.1:9/MAAS")
    assert outcome["failure"]["kind"] == "unreachable"
    assert scene.conditions("csr") == []


def test_who_may_not_approve_is_told(scene: Scene) -> None:
    """The requests are read, the machine is the cluster's, and the API says no."""
    scene.client("csr", scene.machine("worker-1"))
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "reads"}}
    rule = {"apiGroups": ["", "certificates.k8s.io"], "resources": ["*"], "verbs": ["get", "list"]}
    scene.api.apply(Resource("rbac.authorization.k8s.io/v1", "clusterroles"), {**role, "rules": [rule]})
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "reader"}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reads"}
    binding = {"apiVersion": CLUSTER_ROLE_BINDINGS.api, "kind": "ClusterRoleBinding", "metadata": {"name": "reads"}}
    scene.api.apply(CLUSTER_ROLE_BINDINGS, {**binding, "roleRef": reference, "subjects": [subject]})
    reader = scene.plane.authority.kubeconfig(scene.plane.server, "reader")
    outcome = scene.run(hosted_kubeconfig=reader)
    assert outcome["failure"]["kind"] == "forbidden"
    assert scene.conditions("csr") == []
