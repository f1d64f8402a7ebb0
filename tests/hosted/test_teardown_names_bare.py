# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The names in MAAS of two hosted clusters with one name and base domain, in two namespaces: each keeps its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.connection import ApiKey, MaasConnection
from hosted.play import played
from hosted.stopped import Stopped, destroy, sweep
from integration.harness import run_task
from metalshift_lab.kube.api import HOSTED_CLUSTERS, Api
from metalshift_lab.kube.bare import api_server
from metalshift_lab.programs import Programs
from metalshift_lab.simulator import Simulator

DOMAIN = "one.lab.example"
NAMES = ("api", "api-int", "*")
HERE, THERE, ELSEWHERE = "10.99.0.101", "10.99.0.102", "10.99.0.103"
GIVEN = {"name": "one", "base_domain": "lab.example", "dns": True}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("management")


@pytest.fixture(scope="module")
def server(programs: Programs, folder: Path) -> Iterator[Api]:
    with api_server(programs, folder, kinds=True, controllers=True) as api:
        yield api


@pytest.fixture
def api(server: Api) -> Iterator[Api]:
    for namespace in ("clusters", "other"):
        Stopped(server, namespace, "one").namespaces()
    yield server
    sweep(server)


@pytest.fixture
def sim() -> Iterator[Simulator]:
    with Simulator() as simulator:
        yield simulator


def names(sim: Simulator, address: str) -> Client:
    """What a creation with these addresses has made."""
    client = Client(MaasConnection(base=sim.url, key=ApiKey.parse(sim.api_key)))
    for domain in (DOMAIN, f"apps.{DOMAIN}"):
        client.post("domains/", {"name": domain, "authoritative": "true"})
    for name in NAMES:
        domain = f"apps.{DOMAIN}" if name == "*" else DOMAIN
        client.post("dnsresources/", {"name": name, "domain": domain, "ip_addresses": address})
    return client


def known(client: Client) -> tuple[list[str], list[str]]:
    """The names and domains of the cluster that MAAS has."""
    records = [str(one["fqdn"]) for one in client.get("dnsresources/")]
    domains = [str(one["name"]) for one in client.get("domains/")]
    return sorted(one for one in records if DOMAIN in one), sorted(one for one in domains if DOMAIN in one)


ALL = ([f"*.apps.{DOMAIN}", f"api-int.{DOMAIN}", f"api.{DOMAIN}"], [f"apps.{DOMAIN}", DOMAIN])


def cluster(api: Api, namespace: str, address: str) -> None:
    """One that goes at once when it is deleted."""
    Stopped(api, namespace, "one", finalizers=False, address=address).create(pool="")


def test_whoever_goes_leaves_the_names_of_the_one_that_lives(api: Api, sim: Simulator, folder: Path) -> None:
    cluster(api, "clusters", HERE)
    cluster(api, "other", THERE)
    client = names(sim, HERE)
    gone = destroy(folder, sim, namespace="other", **GIVEN)
    assert gone.status == 0, gone.output
    assert [body["metadata"]["namespace"] for body in api.list(HOSTED_CLUSTERS)] == ["clusters"]
    assert known(client) == ALL
    told = " ".join(gone.output.split())
    assert (
        f"The name api.{DOMAIN} stays in MAAS: it points at {HERE}, and hosted cluster clusters/one has the same"
        in told
    )

    foreseen = destroy(folder, sim, "--check", "--diff", namespace="clusters", **GIVEN)
    assert f"dns_record api.{DOMAIN} A (delete)" in foreseen.output
    assert f"domain {DOMAIN} (delete: nothing else is in it)" in foreseen.output
    assert known(client) == ALL
    last = destroy(folder, sim, namespace="clusters", **GIVEN)
    assert last.status == 0, last.output
    assert known(client) == ([], [])


def removed(sim: Simulator, folder: Path, namespace: str, *, check: bool = False, **dns_names: Any) -> dict[str, bool]:
    args = {"kubeconfig": str(folder / "kubeconfig"), "namespace": namespace, "name": "one", "state": "absent"}
    args |= {"base_domain": "lab.example", "dns_names": dns_names, "wait_sleep": 0.1, "stall_timeout": 40}
    done = run_task(sim, "hosted_cluster", args, check=check)
    return {one["fqdn"]: one["removed"] for one in done["dns_names"]}


def test_the_one_that_its_names_point_at_takes_them_along(api: Api, sim: Simulator, folder: Path) -> None:
    """Its namesake has been created since, and has not written its own yet."""
    cluster(api, "clusters", HERE)
    cluster(api, "other", THERE)
    client = names(sim, HERE)
    assert removed(sim, folder, "clusters", check=True, apps_addresses=[HERE]) == dict.fromkeys(ALL[0], True)
    assert removed(sim, folder, "clusters", apps_addresses=[HERE]) == dict.fromkeys(ALL[0], True)
    # The domains are those of the other one as well.
    assert known(client) == ([], ALL[1])


def test_a_name_that_points_elsewhere_stays(api: Api, sim: Simulator, folder: Path) -> None:
    cluster(api, "clusters", HERE)
    client = names(sim, ELSEWHERE)
    found = removed(sim, folder, "clusters")
    assert {fqdn for fqdn, gone in found.items() if not gone} == {f"api.{DOMAIN}", f"api-int.{DOMAIN}"}
    assert known(client) == (ALL[0][1:], [DOMAIN])


def test_a_name_of_a_cluster_that_is_not_there_stays(api: Api, sim: Simulator, folder: Path) -> None:
    """It may be the name of one that lives in another management cluster. Its address tells that it is not."""
    client = names(sim, HERE)
    assert removed(sim, folder, "clusters") == dict.fromkeys(ALL[0], False)
    assert known(client) == ALL
    assert removed(sim, folder, "clusters", api_addresses=[HERE]) == dict.fromkeys(ALL[0], True)
    assert known(client) == ([], [])
    assert removed(sim, folder, "clusters", api_addresses=[HERE]) == {}


def test_the_names_go_before_the_cluster_that_says_where_it_is(api: Api, sim: Simulator, folder: Path) -> None:
    """A run that does not come to its end leaves no name of which nothing says whose it is."""
    Stopped(api, "clusters", "one", address=HERE).create(pool="")
    client = names(sim, HERE)
    args = {"kubeconfig": str(folder / "kubeconfig"), "namespace": "clusters", "name": "one", "state": "absent"}
    hangs = run_task(sim, "hosted_cluster", {**args, "dns_names": {}, "wait_sleep": 0.1, "stall_timeout": 1})
    assert hangs["failure"]["kind"] == "failed_state"
    assert [body["metadata"]["name"] for body in api.list(HOSTED_CLUSTERS)] == ["one"]
    assert known(client) == ([], [])


# -- what a diagnosis says of them -------------------------------------------------------------------------------------


def said_of_names(sim: Simulator, folder: Path, **dns_names: Any) -> list[str]:
    args = {"kubeconfig": str(folder / "kubeconfig"), "name": "one", "leaks": False}
    wish = {"dns_names": dns_names} if dns_names else {}
    sim.requests.clear()
    done = run_task(sim, "hosted_cluster_diagnosis_info", {**args, **wish})
    assert not done.failed, done.msg
    assert not sim.requests.writes()
    return [one["what"] for one in done["diagnosis"] if DOMAIN in one["what"] or "base domain" in one["what"]]


def test_a_diagnosis_compares_the_names_in_maas(api: Api, sim: Simulator, folder: Path) -> None:
    cluster(api, "clusters", HERE)
    # MAAS may have nothing to do with the names of this cluster.
    assert said_of_names(sim, folder) == []
    lacks = f"MAAS has no domain {DOMAIN}, in which the cluster should have its names."
    assert said_of_names(sim, folder, api_addresses=[HERE]) == [lacks]
    client = names(sim, HERE)
    assert said_of_names(sim, folder) == []
    (api_name,) = [one for one in client.get("dnsresources/") if one["fqdn"] == f"api.{DOMAIN}"]
    client.put(f"dnsresources/{api_name['id']}/", {"ip_addresses": ELSEWHERE})
    elsewhere = f"The name api.{DOMAIN} points at {ELSEWHERE} in MAAS, and not at {HERE}, where the cluster is."
    assert said_of_names(sim, folder) == [elsewhere]
    assert said_of_names(sim, folder, api_addresses=[ELSEWHERE]) == []
    client.delete(f"dnsresources/{api_name['id']}/")
    assert said_of_names(sim, folder) == [f"MAAS has the domain of api.{DOMAIN}, and does not have that name."]
    # Of the applications it is known where they are when there are nodes, or when it is said.
    apps = f"The name *.apps.{DOMAIN} points at {HERE} in MAAS"
    assert any(one.startswith(apps) for one in said_of_names(sim, folder, apps_addresses=[THERE])) is False
    (star,) = [one for one in client.get("dnsresources/") if one["fqdn"].startswith("*")]
    client.put(f"dnsresources/{star['id']}/", {"ip_addresses": ELSEWHERE})
    found = said_of_names(sim, folder, apps_addresses=[THERE])
    assert any(f"*.apps.{DOMAIN} points at {ELSEWHERE} in MAAS" in one for one in found), found


def test_a_diagnosis_names_the_cluster_that_has_the_same_names(api: Api, sim: Simulator, folder: Path) -> None:
    cluster(api, "clusters", HERE)
    cluster(api, "other", THERE)
    names(sim, HERE)
    assert said_of_names(sim, folder) == [
        "Hosted cluster other/one has the same name and base domain, so both have the same names in DNS."
    ]


def test_a_maas_that_does_not_answer_is_said_once(api: Api, sim: Simulator, folder: Path) -> None:
    cluster(api, "clusters", HERE)
    args = {"kubeconfig": str(folder / "kubeconfig"), "name": "one", "maas_timeout": 1}
    sim.fault("error", status=503, hits=1000)
    told = run_task(sim, "hosted_cluster_diagnosis_info", args)["diagnosis"]
    assert len([one for one in told if "MAAS" in one["what"] and one["severity"] == "note"]) == 1, told


def test_the_playbook_says_where_the_names_should_be(api: Api, sim: Simulator, folder: Path, tmp_path: Path) -> None:
    cluster(api, "clusters", HERE)
    reach = {"MAAS_ENDPOINT": sim.url, "MAAS_API_KEY": sim.api_key, "K8S_AUTH_KUBECONFIG": str(folder / "kubeconfig")}
    whole = {"hosted_openshift_name": "one", "hosted_openshift_dns_api_addresses": [HERE]}
    lacks = f"MAAS has no domain {DOMAIN}, in which the cluster should have its names."
    for dns in (False, True):
        given = {**whole, "hosted_openshift_dns": dns}
        done = played(tmp_path, "metalshift.maas.diagnose", given, environment=reach, limit=100)
        assert (done.status, lacks in " ".join(done.output.split())) == (0, dns), done.output
