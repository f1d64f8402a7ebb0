# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines that join a real Kubernetes: the lab's own serves as the hosted one."""

from __future__ import annotations

import base64
import json
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml
from cryptography import x509

from caller import Caller
from metalshift_lab.authority import encoded, kubeconfig
from metalshift_lab.kube import maas as stocked
from metalshift_lab.kube.api import (
    CLUSTER_ROLE_BINDINGS,
    CONFIG_MAPS,
    CSRS,
    LEASES,
    NAMESPACES,
    NODES,
    SERVICE_ACCOUNTS,
    Api,
    ApiError,
    Object,
    of_name,
)
from metalshift_lab.kube.handle import Lab
from metalshift_lab.kube.kubelet import BOOTSTRAP_KUBECONFIG, CLIENT, LEASE_NAMESPACE, SERVING, TICK
from metalshift_lab.kube.machines import Machines
from metalshift_lab.kube.speed import Speed
from metalshift_lab.simulator import Simulator

NAMESPACE, ACCOUNT = "openshift-machine-config-operator", "node-bootstrapper"
BOOTSTRAP_USER = f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}"


def eventually(true: Callable[[], Any], seconds: float = 20) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < deadline, "it did not become true in time"
        time.sleep(0.05)
    return found


def made(api: Api, create: Callable[[], Object]) -> None:
    try:
        create()
    except ApiError as error:
        if error.status != 409:
            raise


@pytest.fixture(scope="module")
def user_data(lab: Lab) -> bytes:
    """As of a NodePool, with the payload beside it: a bootstrap user that may ask for certificates."""
    api = lab.api
    made(api, lambda: api.create(NAMESPACES, {"metadata": {"name": NAMESPACE}}))
    made(api, lambda: api.create(SERVICE_ACCOUNTS, {"metadata": {"name": ACCOUNT, "namespace": NAMESPACE}}))
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:node-bootstrapper"}
    subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}
    binding = {"metadata": {"name": "lab-node-bootstrapper"}, "roleRef": role, "subjects": [subject]}
    made(api, lambda: api.create(CLUSTER_ROLE_BINDINGS, binding))
    token = api.create(SERVICE_ACCOUNTS, {"spec": {}}, NAMESPACE, name=ACCOUNT, subresource="token")["status"]["token"]
    authority = eventually(lambda: api.get(CONFIG_MAPS, "kube-root-ca.crt", NAMESPACE))["data"]["ca.crt"]
    bootstrap = yaml.safe_dump(kubeconfig(api.server, authority.encode(), {"token": token})).encode()
    file = {"path": BOOTSTRAP_KUBECONFIG, "contents": {"source": data(bootstrap)}}
    payload = json.dumps({"ignition": {"version": "3.2.0"}, "storage": {"files": [file]}}).encode()
    return json.dumps({"ignition": {"version": "3.2.0", "config": {"merge": [{"source": data(payload)}]}}}).encode()


def data(content: bytes) -> str:
    return f"data:text/plain;base64,{encoded(content)}"


class Scene:
    """A machine of a name that no other test has, and the cluster that it wants to join."""

    def __init__(self, api: Api, sim: Simulator, maas: Caller, user_data: bytes) -> None:
        self.api, self.sim, self.maas, self.user_data = api, sim, maas, user_data
        self.hostname = f"w{uuid.uuid4().hex[:8]}"
        self.node = f"{self.hostname}.maas"
        self.machines = Machines(sim, Speed(1000))
        stocked.stock(sim, 0)
        sim.machine(self.hostname, cpu=8, memory=32768)
        self.machines.start()

    def deploy(self) -> None:
        order = {"distro_series": stocked.IMAGE, "user_data": base64.b64encode(self.user_data).decode()}
        self.act("deploy", **order)
        self.sim.advance(self.hostname)

    def act(self, op: str, **words: str) -> None:
        answer = self.maas.op(self.hostname, op, **words)
        assert answer.ok, answer.text

    def end(self) -> None:
        self.machines.stop()
        self.api.delete(NODES, self.node)
        for csr in self.csrs(SERVING) + self.csrs(CLIENT):
            self.api.delete(CSRS, of_name(csr))

    def fault(self, name: str, /, **words: str) -> None:
        self.machines.faults()[name](hostname=f"^{self.hostname}$", **words)

    # -- what the cluster sees --------------------------------------------------------------------------------------

    def csrs(self, signer: str, node: str = "") -> list[Object]:
        """Requests of this machine's node, the oldest first."""
        found = [
            each
            for each in self.api.list(CSRS)
            if each["spec"]["signerName"] == signer and subject(each) == f"system:node:{node or self.node}"
        ]
        return sorted(found, key=lambda each: (each["metadata"]["creationTimestamp"], of_name(each)))

    def asked(self, signer: str, node: str = "") -> Object:
        """The request that waits for an answer."""
        found: Object = eventually(
            lambda: next((each for each in self.csrs(signer, node) if not each["status"].get("conditions")), None)
        )
        return found

    def decide(self, csr: Object, kind: str) -> None:
        csr["status"]["conditions"] = [
            {"type": kind, "status": "True", "reason": "ByTest", "message": "A test said so."}
        ]
        self.api.replace(CSRS, csr, subresource="approval")

    def join(self) -> None:
        """Deployed, with both certificates, and Ready."""
        self.deploy()
        for signer in (CLIENT, SERVING):
            self.decide(self.asked(signer), "Approved")
        eventually(lambda: self.ready() == "True" and self.csrs(SERVING)[-1]["status"].get("certificate"))
        # What the API server has, the machine has a look later.
        time.sleep(3 * TICK)

    def seen(self) -> Object | None:
        return self.api.get(NODES, self.node)

    def ready(self) -> str:
        conditions = ((self.seen() or {}).get("status") or {}).get("conditions") or []
        return next((str(each["status"]) for each in conditions if each["type"] == "Ready"), "")

    def renewed(self) -> str:
        lease = self.api.get(LEASES, self.node, LEASE_NAMESPACE)
        return str(lease["spec"]["renewTime"]) if lease else ""

    def beats(self) -> bool:
        """Whether the lease is renewed within the next seconds."""
        before = self.renewed()
        time.sleep(2.5)
        return self.renewed() != before


def request_of(csr: Object) -> x509.CertificateSigningRequest:
    return x509.load_pem_x509_csr(base64.b64decode(csr["spec"]["request"]))


def subject(csr: Object) -> str:
    names = request_of(csr).subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
    return str(names[0].value) if names else ""


def alternative_names(csr: Object) -> list[str]:
    names = request_of(csr).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return [*names.get_values_for_type(x509.DNSName), *map(str, names.get_values_for_type(x509.IPAddress))]


@pytest.fixture
def scene(lab: Lab, sim: Simulator, maas: Caller, user_data: bytes) -> Iterator[Scene]:
    running = Scene(lab.api, sim, maas, user_data)
    yield running
    running.end()


# -- joining --------------------------------------------------------------------------------------------------------


def test_a_machine_becomes_a_node(scene: Scene) -> None:
    scene.deploy()
    client = scene.asked(CLIENT)
    assert client["metadata"]["generateName"] == "csr-"
    assert client["spec"]["username"] == BOOTSTRAP_USER
    assert set(client["spec"]["groups"]) == {
        f"system:serviceaccounts:{NAMESPACE}",
        "system:serviceaccounts",
        "system:authenticated",
    }
    assert client["spec"]["usages"] == ["digital signature", "client auth"]
    assert request_of(client).subject.rfc4514_string() == f"CN=system:node:{scene.node},O=system:nodes"
    assert scene.seen() is None
    scene.decide(client, "Approved")

    serving = scene.asked(SERVING)
    assert serving["spec"]["username"] == f"system:node:{scene.node}"
    assert set(serving["spec"]["groups"]) == {"system:nodes", "system:authenticated"}
    assert serving["spec"]["usages"] == ["digital signature", "server auth"]
    address = scene.sim.find(scene.hostname).interfaces[0].links[0].ip
    assert alternative_names(serving) == [scene.node, address]
    eventually(lambda: scene.ready() == "True")
    scene.decide(serving, "Approved")
    eventually(lambda: scene.csrs(SERVING)[0]["status"].get("certificate"))

    node = scene.seen()
    assert node is not None
    told = {each["type"]: each["address"] for each in node["status"]["addresses"]}
    assert told == {"Hostname": scene.node, "InternalIP": address}
    assert node["metadata"]["labels"]["kubernetes.io/hostname"] == scene.node
    assert (node["status"]["capacity"]["cpu"], node["status"]["capacity"]["memory"]) == ("8", "32Gi")
    assert "providerID" not in node["spec"]
    assert scene.beats()


@pytest.mark.parametrize("signer", [CLIENT, SERVING])
def test_who_is_denied_asks_again(scene: Scene, signer: str) -> None:
    scene.deploy()
    if signer == SERVING:
        scene.decide(scene.asked(CLIENT), "Approved")
    denied = scene.asked(signer)
    scene.decide(denied, "Denied")
    assert of_name(scene.asked(signer)) != of_name(denied)


def test_who_lost_its_request_asks_again(scene: Scene) -> None:
    scene.deploy()
    lost = of_name(scene.asked(CLIENT))
    scene.api.delete(CSRS, lost)
    assert of_name(scene.asked(CLIENT)) != lost


# -- living ---------------------------------------------------------------------------------------------------------


def test_a_machine_that_is_switched_off_falls_silent_and_goes_on_later(scene: Scene) -> None:
    scene.join()
    scene.act("power_off")
    eventually(lambda: scene.machines.alive() == [])
    assert not scene.beats()
    scene.act("power_on")
    before = scene.renewed()
    eventually(lambda: scene.renewed() != before)
    assert (len(scene.csrs(CLIENT)), len(scene.csrs(SERVING))) == (1, 1)


def test_a_machine_that_is_deployed_again_has_no_certificate(scene: Scene) -> None:
    scene.join()
    scene.act("release")
    scene.sim.advance(scene.hostname)
    scene.deploy()
    scene.decide(scene.asked(CLIENT), "Approved")
    eventually(lambda: len(scene.csrs(SERVING)) == 2)
    assert len(scene.csrs(CLIENT)) == 2


def test_a_deleted_node_comes_back_with_a_restart_only(scene: Scene) -> None:
    scene.join()
    scene.api.delete(NODES, scene.node)
    time.sleep(2.5)
    assert scene.seen() is None
    scene.act("power_off")
    eventually(lambda: scene.machines.alive() == [])
    scene.act("power_on")
    eventually(scene.seen)


def test_what_others_say_of_a_node_stays(scene: Scene) -> None:
    scene.join()
    taints = [{"key": "dedicated", "value": "db", "effect": "NoSchedule"}]
    spec = {"providerID": "maas:///az1/abc123", "unschedulable": True, "taints": taints}
    scene.api.patch(NODES, scene.node, None, {"metadata": {"labels": {"example.com/rack": "7"}}, "spec": spec})
    scene.act("power_off")
    eventually(lambda: scene.machines.alive() == [])
    scene.act("power_on")
    before = scene.renewed()
    eventually(lambda: scene.renewed() != before)
    node = scene.seen()
    assert node is not None
    assert (node["spec"]["providerID"], node["spec"]["unschedulable"]) == ("maas:///az1/abc123", True)
    assert node["metadata"]["labels"]["example.com/rack"] == "7"
    assert taints[0] in node["spec"]["taints"]


# -- faults ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["never-boots", "never-asks"])
def test_a_machine_that_never_asks_can_be_healed(scene: Scene, fault: str) -> None:
    scene.fault(fault)
    scene.deploy()
    eventually(lambda: scene.machines.alive() == [scene.hostname])
    time.sleep(2)
    assert scene.csrs(CLIENT) == []
    scene.machines.heal(fault)
    assert scene.asked(CLIENT)


def test_a_machine_asks_with_another_s_name(scene: Scene) -> None:
    other = f"other-{scene.node}"
    scene.fault("other-name", name=other)
    scene.deploy()
    scene.asked(CLIENT, other)
    assert scene.csrs(CLIENT) == []
    scene.machines.heal("other-name")
    assert scene.asked(CLIENT)


def test_a_node_asks_with_another_s_name_and_address(scene: Scene) -> None:
    scene.deploy()
    client = scene.asked(CLIENT)
    scene.fault("other-address", address="192.0.2.9")
    scene.decide(client, "Approved")
    assert alternative_names(scene.asked(SERVING)) == [scene.node, "192.0.2.9"]
    scene.fault("other-name", name="other.maas")
    eventually(lambda: len(scene.csrs(SERVING)) == 2)
    assert sorted(alternative_names(each)[0] for each in scene.csrs(SERVING)) == sorted([scene.node, "other.maas"])


def test_a_node_without_its_network_is_not_ready(scene: Scene) -> None:
    scene.fault("never-ready")
    scene.deploy()
    scene.decide(scene.asked(CLIENT), "Approved")
    eventually(lambda: scene.ready() == "False")
    time.sleep(2)
    assert scene.ready() == "False"
    scene.machines.heal("never-ready")
    eventually(lambda: scene.ready() == "True")


def test_a_silent_kubelet_says_nothing_although_its_machine_is_on(scene: Scene) -> None:
    scene.join()
    scene.fault("silent")
    time.sleep(1)
    assert not scene.beats()
    assert scene.machines.alive() == [scene.hostname]
    scene.machines.heal()
    assert scene.beats()
