# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of the playbooks that are killed after one of their writes, and run again.

Between two writes a run has only looked, so that these are all states in which it can leave things.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import yaml

from hosted.doors import ANSWERED, COMMITTED, RECEIVED, Doors, doors
from hosted.play import run
from integration.harness import begun, clean_environment, kill_group
from metalshift_lab.kube.handle import Lab
from metalshift_lab.kube.serving import LOCAL

NAME = "killed"
CREATE, DESTROY = "metalshift.maas.create_hosted_cluster", "metalshift.maas.destroy_hosted_cluster"
SCALE = "metalshift.maas.scale_node_pool"
LONGEST = 300
# The write at which a run is killed, and what has become of it. `make kills` takes all of them.
SAMPLE_OF_CREATE = ((1, COMMITTED), (4, RECEIVED), (7, ANSWERED))
# After the pool is told to be smaller; before the free machine is claimed; after that; and before it is released.
SAMPLE_OF_SCALE = ((3, ANSWERED), (1, RECEIVED), (1, COMMITTED), (1, RECEIVED))
SAMPLE_OF_DESTROY = ((1, ANSWERED), (2, RECEIVED), (3, COMMITTED))
# Of an undisturbed creation.
FEWEST = 7
SMALLER = {"hosted_openshift_pool": "killed", "hosted_openshift_replicas": 1, "hosted_openshift_erase": True}


@dataclass(frozen=True)
class Company:
    """The way of playbooks into a lab, and what they are told."""

    lab: Lab
    doors: Doors
    folder: Path
    variables: Mapping[str, Any]

    def play(self, playbook: str, kill: tuple[int, str] | None = None) -> tuple[int, str]:
        """Run it to its end, or to the write at which it is killed; its status and what it said."""
        extra = self.folder / "extra_vars.yml"
        extra.write_text(yaml.safe_dump({**self.variables, **(SMALLER if playbook == SCALE else {})}))
        command = [str(Path(sys.executable).with_name("ansible-playbook")), playbook, "-e", f"@{extra}"]
        with begun(command, self.folder, {**clean_environment(self.folder), **self.doors.variables}) as process:
            if kill:
                self.doors.counter.kill(lambda: kill_group(process), *kill)
            else:
                self.doors.counter.spare()
            try:
                said, _none = process.communicate(timeout=LONGEST)
            except subprocess.TimeoutExpired:
                kill_group(process)
                said, _none = process.communicate()
                writes = self.doors.counter.writes
                raise AssertionError(
                    f"{playbook} did not come to {kill or 'its end'}: {writes} {said[-3000:]}"
                ) from None
        return process.returncode, said


@pytest.fixture
def company(lab: Lab, tmp_path: Path) -> Iterator[Company]:
    with doors(lab, tmp_path) as opened:
        yield Company(lab, opened, tmp_path, variables(lab, tmp_path))


def variables(lab: Lab, folder: Path) -> dict[str, Any]:
    facts = lab.facts
    return {
        "hosted_openshift_name": NAME,
        "hosted_openshift_release": lab.release("4.20.8"),
        "hosted_openshift_release_ca_cert": str(lab.folder / "pki" / "registry-ca.crt"),
        "hosted_openshift_base_domain": "lab.example",
        "hosted_openshift_dns": True,
        "hosted_openshift_pull_secret": {"auths": {facts["registry"]: {"auth": "bGFiOmxhYg=="}}},
        "hosted_openshift_services_address": "127.0.0.1",
        "hosted_openshift_control_plane_availability": "SingleReplica",
        "hosted_openshift_provider_image": "registry.example/cluster-api-provider-maas-controller:v4.9.5-spectro",
        "hosted_openshift_kubeconfig": str(folder / "killed.kubeconfig"),
        "hosted_openshift_node_pools": [
            {
                "name": "killed",
                "replicas": 2,
                "image": "custom/rhcos-4.20",
                "tags": ["worker"],
                "min_cpu": 4,
                "min_memory": "8GiB",
            }
        ],
    }


def whole(company: Company, playbook: str) -> str:
    status, said = company.play(playbook)
    assert status == 0, said[-3000:]
    return said


def killed(company: Company, playbook: str, kill: tuple[int, str]) -> None:
    status, said = company.play(playbook, kill)
    assert status == -signal.SIGKILL, f"{playbook} was to die at {kill}, and ended with {status}: {said[-2000:]}"


def machines_in_use(lab: Lab) -> set[str]:
    """The machines that the cluster's MaasMachines name."""
    tree = run(lab, "hosted_cluster_info", {"name": NAME})
    (cluster,) = tree["hosted_clusters"]
    return {machine["maas_machine"]["system_id"] for pool in cluster["node_pools"] for machine in pool["machines"]}


def erased(lab: Lab) -> list[str]:
    """The machines that MAAS was asked to erase, in that order."""
    with LOCAL.open(f"{lab.facts['maas_control_url']}/requests", timeout=30) as answer:
        asked = [each for each in json.load(answer) if each["op"] == "release" and each["status"] == 200]
    return [each["path"].split("/")[-2] for each in asked if each["params"].get("erase") == ["true"]]


def taken(lab: Lab) -> set[str]:
    """The machines that are not free, nor on their way to be."""
    return {name for name, state in lab.machines().items() if state not in ("Ready", "Releasing", "Disk erasing")}


def test_a_cluster_is_created_scaled_and_destroyed_however_often_runs_are_killed(company: Company) -> None:
    lab = company.lab
    before = taken(lab)
    for kill in SAMPLE_OF_CREATE:
        killed(company, CREATE, kill)
    whole(company, CREATE)
    had = machines_in_use(lab)
    assert len(had) == 2
    whole(company, CREATE)
    assert company.doors.counter.writes == [], "a run after the last had nothing to do"

    for kill in SAMPLE_OF_SCALE:
        killed(company, SCALE, kill)
    whole(company, SCALE)
    left = had - machines_in_use(lab)
    assert len(left) == 1
    assert erased(lab) == list(left)
    assert {lab.machines()[one] for one in left} == {"Ready"}
    whole(company, SCALE)
    assert company.doors.counter.writes == [], "a run after the last had nothing to do"

    for kill in SAMPLE_OF_DESTROY:
        killed(company, DESTROY, kill)
    whole(company, DESTROY)
    lab.until("no machine is taken that was not before", lambda: taken(lab) <= before)
    assert leaks(lab) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("when", [RECEIVED, COMMITTED, ANSWERED])
def test_a_kill_at_any_write_is_repaired_by_the_next_run(company: Company, when: str) -> None:
    """Each write of a creation and of a destruction in turn, until there is none of that number any more."""
    lab = company.lab
    before = taken(lab)
    for at in count(1):
        struck = [strike_and_repair(company, playbook, (at, when)) for playbook in (CREATE, DESTROY)]
        lab.until("no machine is taken that was not before", lambda: taken(lab) <= before)
        assert leaks(lab) == [], f"killed at write {at}, {when}"
        if not any(struck):
            break
    assert at > FEWEST, "the runs have more writes than that"


def strike_and_repair(company: Company, playbook: str, kill: tuple[int, str]) -> bool:
    """Whether the run came to that write and died; the next one ends well in any case."""
    status, said = company.play(playbook, kill)
    assert status in (-signal.SIGKILL, 0), said[-2000:]
    whole(company, playbook)
    return status != 0


def leaks(lab: Lab) -> list[Any]:
    audit = run(lab, "hosted_cluster_audit_info", {"name": NAME})
    return [leak for leak in audit["leaks"] if leak["verdict"] != "kept"]
