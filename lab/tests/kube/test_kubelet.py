# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json

import pytest
import yaml
from cryptography import x509

from metalshift_lab.authority import Pair, encoded, kubeconfig
from metalshift_lab.kube import kubelet
from metalshift_lab.kube.api import Object
from metalshift_lab.kube.kubelet import Host

HOST = Host(
    name="worker01.maas",
    addresses=("10.99.0.3", "fd00::3"),
    cpu=8,
    memory=32768,
    disk=500 * 1000**3,
    arch="amd64",
    image="custom/rhcos-4.20",
    machine_id="a" * 32,
    system_uuid="0",
)
EARLIER, LATER = "2026-01-01T00:00:00Z", "2026-01-01T00:05:00Z"


def asked(*names: str, node: str = "worker01.maas", name: str = "") -> x509.CertificateSigningRequest:
    return x509.load_pem_x509_csr(kubelet.signing_request(node, name, names)[1])


def test_a_client_asks_as_the_node_and_for_nothing_more() -> None:
    request = asked()
    assert request.subject.rfc4514_string() == "CN=system:node:worker01.maas,O=system:nodes"
    assert len(request.extensions) == 0


def test_a_server_names_its_node_and_addresses() -> None:
    request = asked("10.99.0.3", "fd00::3", name="worker01.maas")
    names = request.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["worker01.maas"]
    assert [str(each) for each in names.get_values_for_type(x509.IPAddress)] == ["10.99.0.3", "fd00::3"]


@pytest.mark.filterwarnings("ignore:Attribute's length")
def test_a_long_domain_is_no_obstacle() -> None:
    node = f"worker01.{'long.' * 20}example"
    assert f"CN=system:node:{node}" in asked(node=node).subject.rfc4514_string()


def test_usages_are_those_of_a_key_that_is_not_rsa() -> None:
    assert kubelet.USAGES == {
        "kubernetes.io/kube-apiserver-client-kubelet": ["digital signature", "client auth"],
        "kubernetes.io/kubelet-serving": ["digital signature", "server auth"],
    }


def test_the_kubeconfig_takes_in_the_files_it_names() -> None:
    config = {
        "current-context": "lab",
        "clusters": [{"name": "lab", "cluster": {"server": "https://127.0.0.1:6443", "certificate-authority": "/ca"}}],
        "users": [{"name": "lab", "user": {"client-certificate": "/crt", "client-key": "/key"}}],
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "lab"}}],
    }
    files = {"/ca": b"authority", "/crt": b"certificate", "/key": b"key"}
    found = kubelet.bootstrap_kubeconfig({**files, kubelet.BOOTSTRAP_KUBECONFIG: yaml.safe_dump(config).encode()})
    assert found is not None
    assert found["clusters"][0]["cluster"]["certificate-authority-data"] == encoded(b"authority")
    assert found["users"][0]["user"] == {
        "client-certificate-data": encoded(b"certificate"),
        "client-key-data": encoded(b"key"),
    }


def test_without_a_kubeconfig_there_is_no_cluster() -> None:
    assert kubelet.bootstrap_kubeconfig({"/etc/motd": b"welcome"}) is None


def test_the_node_s_own_kubeconfig_forgets_the_bootstrap_user() -> None:
    bootstrap = kubeconfig("https://127.0.0.1:6443", b"authority", {"token": "boot"})
    own = kubelet.own_kubeconfig(bootstrap, Pair(b"certificate", b"key"))
    assert "boot" not in json.dumps(own)
    assert own["clusters"] == bootstrap["clusters"]
    assert bootstrap["users"][0]["user"] == {"token": "boot"}


@pytest.mark.parametrize(
    ("kibibytes", "written"), [(1, "1Ki"), (1536, "1536Ki"), (3 * 1024, "3Mi"), (32 * 1024**2, "32Gi"), (0, "0Gi")]
)
def test_quantities_are_written_as_the_api_server_would(kibibytes: int, written: str) -> None:
    assert kubelet.quantity(kibibytes) == written


def test_a_transition_has_its_time_only_when_the_status_changes() -> None:
    first = kubelet.conditions(False, [], EARLIER)
    second = {each["type"]: each for each in kubelet.conditions(True, first, LATER)}
    assert {each["status"] for each in first} == {"False"}
    assert (second["Ready"]["status"], second["Ready"]["lastTransitionTime"]) == ("True", LATER)
    assert (second["PIDPressure"]["status"], second["PIDPressure"]["lastTransitionTime"]) == ("False", EARLIER)
    assert {each["lastHeartbeatTime"] for each in second.values()} == {LATER}


def test_a_node_says_its_addresses_and_size() -> None:
    told = kubelet.status(HOST, HOST.name)
    assert [(each["type"], each["address"]) for each in told["addresses"]] == [
        ("InternalIP", "10.99.0.3"),
        ("InternalIP", "fd00::3"),
        ("Hostname", "worker01.maas"),
    ]
    assert (told["capacity"]["cpu"], told["capacity"]["memory"]) == ("8", "32Gi")


def reported(at: str = EARLIER) -> Object:
    return {**kubelet.status(HOST, HOST.name), "conditions": kubelet.conditions(True, [], at)}


def test_what_others_added_is_no_difference() -> None:
    found = reported()
    found["capacity"]["example.com/gpu"] = "1"
    found["conditions"].append({"type": "NetworkUnavailable", "status": "False"})
    assert not kubelet.differs(reported(LATER), found)


@pytest.mark.parametrize("part", ["capacity", "addresses", "nodeInfo", "conditions"])
def test_what_is_lost_is_a_difference(part: str) -> None:
    found = reported()
    del found[part]
    assert kubelet.differs(reported(), found)


def test_a_node_that_others_declared_unknown_differs() -> None:
    found = reported()
    found["conditions"][-1]["status"] = "Unknown"
    assert kubelet.differs(reported(), found)
