# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosted clusters by hand: two on MAAS at once and one without a platform, from their manifests to nothing left."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from metalshift_lab.kube import journey as journey_module
from metalshift_lab.kube.api import (
    CONFIG_MAPS,
    CSRS,
    MAAS_MACHINES,
    NAMESPACES,
    NODES,
    SECRETS,
    SERVICE_ACCOUNTS,
    ApiError,
    Object,
    Resource,
    of_name,
)
from metalshift_lab.kube.examples import NAMESPACE
from metalshift_lab.kube.handle import Lab
from metalshift_lab.kube.journey import CLIENT, SERVING, Journey, condition, conditions
from metalshift_lab.kube.kinds import listable
from metalshift_lab.kube.provider.maas import Maas
from metalshift_lab.labs import LabError

CLUSTER_ROLES = Resource("rbac.authorization.k8s.io/v1", "clusterroles")
MAAS_TEMPLATES = Resource("infrastructure.cluster.x-k8s.io/v1beta1", "maasmachinetemplates")
OLDER = "v0.6.1-spectro-4.7.0"
# What HyperShift's own end-to-end tests expect of a pool that is at rest.
AT_REST = {
    **dict.fromkeys(
        (
            "Ready",
            "ValidReleaseImage",
            "ValidGeneratedPayload",
            "ValidMachineConfig",
            "ValidTuningConfig",
            "AllMachinesReady",
            "AllNodesHealthy",
            "ReconciliationActive",
            "ReachedIgnitionEndpoint",
            "UpdateManagementEnabled",
            "ValidArchPlatform",
        ),
        "True",
    ),
    **dict.fromkeys(("UpdatingVersion", "UpdatingConfig", "UpdatingPlatformMachineTemplate"), "False"),
}
CLUSTER_AT_REST = {
    **dict.fromkeys(
        (
            "Available",
            "InfrastructureReady",
            "KubeAPIServerAvailable",
            "IgnitionEndpointAvailable",
            "EtcdAvailable",
            "ValidReleaseInfo",
            "ValidConfiguration",
            "SupportedHostedCluster",
            "ClusterVersionSucceeding",
            "ClusterVersionAvailable",
            "ClusterVersionReleaseAccepted",
            "ReconciliationActive",
            "ReconciliationSucceeded",
            "ValidHostedControlPlaneConfiguration",
            "ValidReleaseImage",
            "PlatformCredentialsFound",
        ),
        "True",
    ),
    **dict.fromkeys(("Progressing", "Degraded", "ClusterVersionProgressing"), "False"),
    "ExternalDNSReachable": "Unknown",
}


class Silent:
    """A lab whose operator has missed something: its HostedCluster changes only when somebody touches it."""

    def __init__(self) -> None:
        self.version, self.api = 1, self

    def get(self, *_which: object) -> Object:
        return {"metadata": {"resourceVersion": str(self.version)}}

    def kubectl(self, *_arguments: str) -> None:
        self.version += 1

    def until(self, _what: str, holds: Callable[[], bool], _limit: float) -> None:
        for _turn in range(5):
            assert not holds()


def test_a_silent_operator_is_woken_and_it_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journey_module, "SILENCE", 0.0)
    lab: Any = Silent()
    asleep = Journey(lab, "asleep", tmp_path)
    asleep.until_available()
    assert lab.version == 3
    assert asleep.touches == ["asleep is available"] * 2


def of(wanted: dict[str, str], body: Object) -> dict[str, str]:
    """The conditions of the object that are looked at."""
    return {kind: status for kind, status in conditions(body).items() if kind in wanted}


def machines_of(journey: Journey) -> dict[str, str]:
    """Machines in MAAS that this cluster's MaasMachines name → their state."""
    named = {each["spec"].get("systemID") for each in journey.lab.api.list(MAAS_MACHINES, journey.namespace)}
    return {name: state for name, state in journey.lab.machines().items() if name in named}


def request_of(csr: Object) -> x509.CertificateSigningRequest:
    return x509.load_pem_x509_csr(base64.b64decode(csr["spec"]["request"]))


def node_of(csr: Object) -> str:
    """The user that the request is for."""
    (name,) = request_of(csr).subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
    return str(name.value)


def nodes_by_machine(journey: Journey) -> dict[str, str]:
    """system_id → name of the node, as the nodes' provider ids have it."""
    nodes = journey.nodes()
    return {node["spec"]["providerID"].rpartition("/")[2]: node["metadata"]["name"] for node in nodes}


def _listed(lab: Lab, resource: Resource) -> list[Object]:
    """An API server that has read a kind for nobody yet says so with 429."""

    def found() -> list[list[Object]]:
        try:
            return [lab.api.list(resource)]
        except ApiError as error:
            if error.status != 429:
                raise
            return []

    (objects,) = lab.until(f"{resource} are listed", found)
    return list(objects)


def everything(lab: Lab) -> set[str]:
    """All objects of the management cluster, but for the accounts of what happened, and what MAAS knows by a name."""
    api = lab.api
    objects = {
        f"{resource} {each['metadata'].get('namespace', '')}/{of_name(each)}"
        for resource in listable(api)
        if resource.plural != "events"
        for each in _listed(lab, resource)
    }
    client = Maas(lab.facts["maas_url"], lab.facts["maas_api_key"])
    try:
        tags = {f"tag {each['name']}" for each in client.json("GET", "/tags/")}
        names = {f"DNS {each['fqdn']}" for each in client.json("GET", "/dnsresources/")}
        tagged = {
            f"{each['hostname']} has the tag {tag}"
            for each in client.json("GET", "/machines/")
            for tag in each["tag_names"]
        }
    finally:
        client.close()
    return objects | tags | names | tagged


@pytest.fixture(scope="module")
def before(lab: Lab) -> set[str]:
    return everything(lab)


@pytest.fixture(scope="module")
def travellers(lab: Lab, before: set[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Journey]]:
    """All three are created at once, the two on MAAS with two versions of the provider; what is left is deleted."""
    folder = tmp_path_factory.mktemp("kubeconfigs")
    made = {
        "first": Journey(lab, "first", folder),
        "second": Journey(lab, "second", folder, provider=OLDER),
        "alone": Journey(lab, "alone", folder, platform="None"),
    }
    for journey in made.values():
        journey.create()
    with ThreadPoolExecutor(len(made)) as pool:
        list(pool.map(Journey.until_available, made.values()))
    yield made
    for journey in made.values():
        journey.delete()
    for journey in made.values():
        journey.until_gone()


@pytest.fixture(scope="module")
def first(travellers: dict[str, Journey]) -> Journey:
    return travellers["first"]


def test_both_certificates_of_a_node_wait_for_approval(first: Journey, lab: Lab) -> None:
    """Nothing approves by itself: a node asks for one, joins with it, and asks for the other."""

    def asked(signer: str) -> list[Object]:
        return [each for each in first.hosted_api.list(CSRS) if each["spec"]["signerName"] == signer]

    def machines() -> dict[str, set[str]]:
        """Name of the node that each machine will be → its addresses, as Cluster API has them."""
        known = [each.get("status", {}).get("addresses", []) for each in first.machines()]
        return {
            name: {each["address"] for each in addresses if each["type"] == "InternalIP"}
            for addresses in known
            for name in {each["address"] for each in addresses if each["type"] == "InternalDNS"}
        }

    first.until("two client requests", lambda: len(asked(CLIENT)) == 2, 300)
    # A machine asks as soon as it has booted; the provider looks at it now and then.
    lab.until("both machines have addresses", lambda: len(machines()) == 2, 120)
    accounts = "system:serviceaccounts"
    namespace = "openshift-machine-config-operator"
    nodes = machines()
    for csr in asked(CLIENT):
        spec, request = csr["spec"], request_of(csr)
        assert spec["username"] == f"system:serviceaccount:{namespace}:node-bootstrapper"
        assert sorted(spec["groups"]) == ["system:authenticated", accounts, f"{accounts}:{namespace}"]
        assert spec["usages"] == ["digital signature", "client auth"]
        assert {each.rfc4514_string() for each in request.subject} == {"O=system:nodes", f"CN={node_of(csr)}"}
        assert not list(request.extensions)
    assert {node_of(each) for each in asked(CLIENT)} == {f"system:node:{name}" for name in nodes}
    assert first.nodes() == []
    assert not any(each.get("status", {}).get("conditions") for each in asked(CLIENT))
    assert len(first.approve()) == 2

    first.until("two serving requests", lambda: len(asked(SERVING)) == 2, 120)
    assert {node["metadata"]["name"] for node in first.nodes()} == {*nodes}
    for csr in asked(SERVING):
        spec, request, name = csr["spec"], request_of(csr), node_of(csr).removeprefix("system:node:")
        assert spec["username"] == f"system:node:{name}"
        assert sorted(spec["groups"]) == ["system:authenticated", "system:nodes"]
        assert spec["usages"] == ["digital signature", "server auth"]
        assert {each.rfc4514_string() for each in request.subject} == {"O=system:nodes", f"CN={node_of(csr)}"}
        sans = request.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        assert sans.get_values_for_type(x509.DNSName) == [name]
        assert {str(address) for address in sans.get_values_for_type(x509.IPAddress)} == nodes[name]
    assert {node_of(each) for each in asked(SERVING)} == {f"system:node:{name}" for name in nodes}
    first.approve()
    lab.until("both are signed", lambda: all(each["status"].get("certificate") for each in asked(SERVING)))


def test_two_hosted_clusters_get_their_nodes_at_once(travellers: dict[str, Journey], lab: Lab) -> None:
    for name in ("first", "second"):
        travellers[name].until_nodes(2)
    for name in ("first", "second"):
        journey = travellers[name]
        phases = {machine["status"]["phase"] for machine in journey.machines()}
        assert phases == {"Running"}
        assert sorted(machines_of(journey).values()) == ["Deployed", "Deployed"]
    assert set(machines_of(travellers["first"])).isdisjoint(machines_of(travellers["second"]))


def test_the_older_provider_gives_machines_no_internal_name(travellers: dict[str, Journey]) -> None:
    for machine in travellers["second"].machines():
        assert [each["type"] for each in machine["status"]["addresses"]] == ["ExternalDNS", "ExternalIP"]


def test_a_pool_at_rest_says_so(first: Journey) -> None:
    assert of(AT_REST, first.pool()) == AT_REST
    assert condition(first.pool(), "AllMachinesReady")["message"] == "All is well"
    assert first.pool()["status"]["version"] == "4.20.8"


def test_a_cluster_at_rest_says_so(first: Journey) -> None:
    first.until_rolled_out("4.20.8")
    first.lab.until("it is at rest", lambda: of(CLUSTER_AT_REST, first.cluster()) == CLUSTER_AT_REST, 30)


def test_the_published_kubeconfig_works_unchanged(first: Journey) -> None:
    assert "system:admin" in first.hosted_kubectl("auth", "whoami")
    assert first.hosted_kubectl("get", "nodes", "-o", "name").count("node/") == 2


def test_a_pool_grows_to_three_and_shrinks_again(first: Journey, lab: Lab) -> None:
    before = set(machines_of(first))
    first.scale(3)
    first.until_nodes(3)
    three = set(machines_of(first))
    assert len(three) == 3
    assert before < three
    first.scale(2)
    first.until_nodes(2)

    def freed() -> set[str]:
        return {lab.machines()[each] for each in three - set(machines_of(first))}

    lab.until("the one that it gave back is free", lambda: freed() == {"Ready"}, 60)


def switched_off(lab: Lab, system_id: str) -> None:
    lab.simulate("power", system_id=system_id, state="off")


def released(lab: Lab, system_id: str) -> None:
    client = Maas(lab.facts["maas_url"], lab.facts["maas_api_key"])
    client.machine(system_id).release()
    client.close()


@pytest.mark.parametrize("taken", [switched_off, released])
def test_a_machine_that_is_taken_away_goes_not_ready_and_comes_back(
    travellers: dict[str, Journey], lab: Lab, taken: Callable[[Lab, str], None]
) -> None:
    """The provider switches on again what it finds off, and deploys again what was released; till then the node is
    silent.
    """
    second = travellers["second"]
    system_id, node = next(iter(sorted(nodes_by_machine(second).items())))

    def ready() -> str:
        return str(condition(second.hosted_api.get(NODES, node) or {}, "Ready").get("status"))

    lab.fault("hold", name="capi-provider", namespace=second.namespace)
    taken(lab, system_id)
    lab.until("the node is unknown", lambda: ready() == "Unknown", 180)
    found = condition(second.hosted_api.get(NODES, node) or {}, "Ready")
    assert (found["reason"], found["message"]) == ("NodeStatusUnknown", "Kubelet stopped posting node status.")
    lab.heal("hold")
    second.until_nodes(2)


def test_a_pool_without_a_platform_gets_its_user_data_and_no_machines(travellers: dict[str, Journey]) -> None:
    alone = travellers["alone"]
    alone.until_in_version("4.20.8")
    names = [each["metadata"]["name"] for each in alone.lab.api.list(SECRETS, alone.namespace)]
    assert [name for name in names if name.startswith("user-data-alone-")]
    for kind in ("AllMachinesReady", "AllNodesHealthy"):
        found = condition(alone.pool(), kind)
        assert (found["status"], found["reason"], found["message"]) == ("False", "NotFound", "No Machines are created")
    assert "Ready" not in conditions(alone.pool())
    history = alone.cluster()["status"]["version"]["history"][0]
    assert history["state"] == "Partial", "without workers the rollout does not complete"


def test_an_upgrade_goes_through_the_control_plane_and_then_the_nodes(first: Journey) -> None:
    before = {each["metadata"]["name"] for each in first.machines()}
    template = [each["metadata"]["name"] for each in first.lab.api.list(MAAS_TEMPLATES, first.namespace)]
    first.upgrade_control_plane("4.20.10")
    first.until_rolled_out("4.20.10")
    states = [(entry["version"], entry["state"]) for entry in first.cluster()["status"]["version"]["history"]]
    assert states == [("4.20.10", "Completed"), ("4.20.8", "Completed")]
    assert first.pool()["status"]["version"] == "4.20.8", "node pools are not touched by it"

    first.upgrade_nodes("4.20.10")
    first.lab.until("the pool turns to it", lambda: conditions(first.pool())["UpdatingVersion"] == "True", 30)
    first.until_nodes(2)
    assert first.pool()["status"]["version"] == "4.20.10"
    assert before.isdisjoint(each["metadata"]["name"] for each in first.machines()), "every node was replaced"
    same = [each["metadata"]["name"] for each in first.lab.api.list(MAAS_TEMPLATES, first.namespace)]
    assert same == template, "a new release boots the same image"


def test_a_deleted_cluster_gives_its_machines_back_and_leaves_nothing(
    travellers: dict[str, Journey], lab: Lab, before: set[str]
) -> None:
    """But for what the user had made for it, and a role that all hosted clusters share."""
    for journey in travellers.values():
        journey.delete()
    for journey in travellers.values():
        journey.until_gone()
    lab.until("all machines are Ready", lambda: set(lab.machines().values()) == {"Ready"}, 60)
    secrets = {
        f"{SECRETS} {NAMESPACE}/{name}-{kind}"
        for name, journey in travellers.items()
        for kind in ("pull-secret", "ssh-key", "etcd-encryption-key", "maas-credentials")
        if kind != "maas-credentials" or journey.platform == "MAAS"
    }
    own = {f"{NAMESPACES} /{NAMESPACE}", f"{SERVICE_ACCOUNTS} {NAMESPACE}/default"}
    own |= {f"{CONFIG_MAPS} {NAMESPACE}/kube-root-ca.crt"}
    own |= {f"{CLUSTER_ROLES} /hypershift-cluster-api"}
    # The operator's own, which it writes some time after its start.
    own |= {f"{CONFIG_MAPS} hypershift/supported-versions"}
    with suppress(LabError):
        lab.until("nothing else is there", lambda: everything(lab) - before <= own | secrets, 60)
    assert everything(lab) - before - own == secrets
    assert [name for name in lab.status()["processes"] if name.startswith("clusters-")] == []
    assert not list((Path(lab.folder) / "hosted").glob("*/*"))
