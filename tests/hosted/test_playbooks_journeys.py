# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbooks, as users run them, from machines in MAAS to a hosted cluster and back."""

from __future__ import annotations

import json
import os
import re
import stat
from base64 import b64decode
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import ansible_runner
import pytest
import yaml

from hosted.play import play, variables
from hosted.record import PLACES, Record
from integration.harness import Played, assert_no_secret, assert_no_secret_left, passed_by_awx
from metalshift_lab.kube.api import CSRS, HOSTED_CLUSTERS, NODE_POOLS, NODES, SECRETS, Api, of_name
from metalshift_lab.kube.examples import NAMESPACE
from metalshift_lab.kube.handle import Lab
from metalshift_lab.kube.journey import CURRENT_PROVIDER, PROVIDER

CREATE = "metalshift.maas.create_hosted_cluster"
SCALE = "metalshift.maas.scale_node_pool"
DESTROY = "metalshift.maas.destroy_hosted_cluster"
LOGIN = "bGFiOnRoZS1zZWNyZXQtbG9naW4="
# Of a secret that is looked for in texts; and how many a cluster has: keys, passwords and logins.
SHORTEST, FEWEST_SECRETS = 8, 6


def wished(lab: Lab, name: str, folder: Path, replicas: int = 2, **more: Any) -> dict[str, Any]:
    pool = {"name": name, "replicas": replicas, "image": "custom/rhcos-4.20", "tags": ["worker"], "min_memory": "8GiB"}
    found = {
        "name": name,
        "release": lab.release(),
        "release_ca_cert": str(lab.folder / "pki" / "registry-ca.crt"),
        "base_domain": "lab.example",
        "pull_secret": json.dumps({"auths": {lab.facts["registry"]: {"auth": LOGIN}}}),
        "services_address": "127.0.0.1",
        "control_plane_availability": "SingleReplica",
        "provider_image": PROVIDER.format(version=CURRENT_PROVIDER),
        "kubeconfig": str(folder / f"{name}.kubeconfig"),
        "node_pools": [pool],
        "wait_timeout": 500,
        **more,
    }
    return {f"hosted_openshift_{key}": value for key, value in found.items()}


def recap(played: Played) -> dict[str, int]:
    """What the last line counts."""
    return {name: int(number) for name, number in re.findall(r"(\w+)=(\d+)", played.stdout.splitlines()[-2])}


def assert_wrote_nothing(lab: Lab, folder: Path, playbook: str, given: dict[str, Any]) -> list[str]:
    """By the records of all that could be written to; the server-side dry runs that it asked for."""
    record = Record.begun(lab)
    played = play(lab, folder, playbook, given, "--check", environment=record.environment)
    assert played.status == 0, played.output[-3000:]
    assert record.writes() == []
    return record.dry_runs()


def assert_certified(hosted: Api) -> None:
    """The run has left no node without a certificate, and no request to anybody."""
    served = {each["spec"]["username"] for each in hosted.list(CSRS) if each.get("status", {}).get("certificate")}
    assert {f"system:node:{of_name(node)}" for node in hosted.list(NODES)} <= served
    assert [of_name(each) for each in hosted.list(CSRS) if not each.get("status", {}).get("conditions")] == []


def secrets_of(lab: Lab, name: str, kubeconfig: Path) -> list[str]:
    """What nobody may see of a cluster: the keys in its Secrets, as they are there and as they are used."""
    (user,) = yaml.safe_load(kubeconfig.read_text())["users"]
    encoded = [user["user"]["client-key-data"]]
    for secret in ("kubeadmin-password", f"{name}-etcd-encryption-key"):
        for namespace in (NAMESPACE, f"{NAMESPACE}-{name}"):
            encoded += ((lab.api.get(SECRETS, secret, namespace) or {}).get("data") or {}).values()
    texts = [b64decode(value).decode(errors="ignore") for value in encoded]
    found = {LOGIN, lab.facts["maas_api_key"].rpartition(":")[2], *encoded, *texts}
    return sorted(each for each in found if len(each) > SHORTEST)


@pytest.mark.journey
def test_from_machines_to_a_cluster_and_back(new_lab: Callable[..., Lab], tmp_path: Path) -> None:
    lab = new_lab(machines=5)
    given = wished(lab, "trip", tmp_path, dns=True)
    kubeconfig = Path(given["hosted_openshift_kubeconfig"])
    end = {name: given[name] for name in given if name.split("_")[2] in ("name", "base", "dns", "kubeconfig")}
    # As jobs of AWX, whose surveys are made of the argument specs.
    given = {**passed_by_awx("create_hosted_cluster"), **given}
    end = {**passed_by_awx("destroy_hosted_cluster"), **end}
    assert_wrote_nothing(lab, tmp_path, CREATE, given)
    assert_wrote_nothing(lab, tmp_path, DESTROY, end)

    record = Record.begun(lab)
    made = play(lab, tmp_path, CREATE, given, "-vvvv", "--diff", environment=record.environment)
    assert made.status == 0, made.output[-4000:]
    assert {write.partition(": ")[0] for write in record.writes()} == set(PLACES), "the records have what is written"
    assert stat.S_IMODE(kubeconfig.stat().st_mode) == 0o600
    hosted = Api(yaml.safe_load(kubeconfig.read_text()))
    assert len(hosted.list(NODES)) == 2
    assert_certified(hosted)
    assert f"kubeconfig {kubeconfig}" in made.stdout
    assert "nodes      2 of 2 Ready" in made.stdout
    secrets = secrets_of(lab, "trip", kubeconfig)
    assert len(secrets) >= FEWEST_SECRETS
    assert_no_secret(made.output, secrets)
    assert_no_secret(json.dumps(made.results), secrets)

    again = play(lab, tmp_path, CREATE, given)
    assert (again.status, recap(again)["changed"]) == (0, 0), again.output[-4000:]
    pool = {
        **passed_by_awx("scale_node_pool"),
        "hosted_openshift_name": "trip",
        "hosted_openshift_pool": "trip",
        "hosted_openshift_wait_timeout": 400,
    }
    tried = []
    for playbook, wish in (
        (CREATE, given),
        (SCALE, {**pool, "hosted_openshift_replicas": 3}),
        (SCALE, {**pool, "hosted_openshift_replicas": 1, "hosted_openshift_erase": True}),
        (DESTROY, end),
        (DESTROY, {**end, "hosted_openshift_force": True}),
    ):
        tried += assert_wrote_nothing(lab, tmp_path, playbook, wish)
    assert tried, "what is foreseen of a change has been tried on the API"
    more = play(lab, tmp_path, SCALE, {**pool, "hosted_openshift_replicas": 3})
    assert more.status == 0, more.output[-4000:]
    assert_certified(hosted)
    assert len(hosted.list(NODES)) == 3
    too_many = play(lab, tmp_path, SCALE, {**pool, "hosted_openshift_replicas": 9})
    assert too_many.status != 0
    assert "6 machines asked for" in too_many.output
    fewer = play(lab, tmp_path, SCALE, {**pool, "hosted_openshift_replicas": 1, "hosted_openshift_erase": True})
    assert fewer.status == 0, fewer.output[-4000:]
    assert len(hosted.list(NODES)) == 1
    assert fewer.output.count("(erased): its disks were erased") == 2
    assert sorted(lab.machines().values()).count("Ready") == 4

    gone = play(lab, tmp_path, DESTROY, end)
    assert gone.status == 0, gone.output[-4000:]
    assert set(lab.machines().values()) == {"Ready"}
    assert lab.api.list(HOSTED_CLUSTERS, NAMESPACE) == []
    assert not kubeconfig.exists()
    (found,) = [result["leaks"] for result in gone.results if "leaks" in result]
    assert [leak for leak in found if leak["verdict"] == "leak"] == []
    twice = play(lab, tmp_path, DESTROY, end)
    assert (twice.status, recap(twice)["changed"]) == (0, 0), twice.output[-4000:]
    # The extra variables are the test's own.
    (tmp_path / "extra_vars.yml").unlink()
    os.truncate(tmp_path / "events.jsonl", 0)
    assert_no_secret_left(tmp_path / "local_temp", secrets)


@pytest.mark.thorough
def test_of_two_at_once_on_too_few_machines_one_stops_and_names_the_other(
    new_lab: Callable[..., Lab], tmp_path: Path
) -> None:
    lab = new_lab(machines=3)

    def create(name: str) -> Played:
        folder = tmp_path / name
        folder.mkdir()
        return play(lab, folder, CREATE, wished(lab, name, folder))

    with ThreadPoolExecutor() as both:
        played = dict(zip(("one", "two"), both.map(create, ("one", "two")), strict=True))
    (winner,) = [name for name in played if played[name].status == 0]
    (loser,) = [name for name in played if played[name].status != 0]
    said = played[loser].output
    assert "2 machines asked for" in said
    assert "1 available" in said or "0 available" in said
    assert f"clusters/{winner}" in said
    assert {of_name(each) for each in lab.api.list(NODE_POOLS, NAMESPACE)} == {winner}
    assert sorted(lab.machines().values()) == ["Deployed", "Deployed", "Ready"]


def test_they_run_under_ansible_runner_as_awx_runs_them(lab: Lab, tmp_path: Path) -> None:
    given = wished(lab, "surveyed", tmp_path)
    kept = ("name", "release", "base", "pull", "services", "node", "provider")
    extra = {name: value for name, value in given.items() if name.split("_")[2] in kept}
    done = ansible_runner.run(
        private_data_dir=str(tmp_path),
        playbook="metalshift.maas.preflight",
        extravars={**passed_by_awx("preflight"), **extra},
        envvars={**variables(lab), "ANSIBLE_COLLECTIONS_PATH": os.environ["ANSIBLE_COLLECTIONS_PATH"]},
        quiet=True,
    )
    assert done.status == "successful"
    tables = [
        event["event_data"]["res"]["preflight"]["table"]
        for event in done.events
        if "preflight" in event.get("event_data", {}).get("res", {})
    ]
    assert len(tables) == 1
    assert any("machines for surveyed" in line for line in tables[0])


def test_a_variable_of_the_wrong_type_is_refused_by_name(lab: Lab, tmp_path: Path) -> None:
    given = {"hosted_openshift_name": "any", "hosted_openshift_pool": "any", "hosted_openshift_replicas": "many"}
    played = play(lab, tmp_path, SCALE, given)
    assert played.status != 0
    assert "hosted_openshift_replicas" in played.output


def test_what_is_not_there_is_said_in_a_sentence(lab: Lab, tmp_path: Path) -> None:
    given = {"hosted_openshift_name": "nobody", "hosted_openshift_pool": "none", "hosted_openshift_replicas": 2}
    played = play(lab, tmp_path, SCALE, given)
    assert played.status != 0
    assert "There is no hosted cluster clusters/nobody." in played.output
