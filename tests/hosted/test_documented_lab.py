# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples of hosted clusters, in the guide and in the README of the role, do what is said of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hosted.play import play
from integration.documented import block, blocks, playbook
from integration.harness import Played
from metalshift_lab.kube.api import HOSTED_CLUSTERS
from metalshift_lab.kube.examples import NAMESPACE
from metalshift_lab.kube.handle import Lab

ROLE, GUIDE = "hosted_openshift/README.md 1", "hosted_clusters_guide.rst"
PULL_SECRET = json.dumps({"auths": {"registry.example": {"auth": "bGFiOmxhYg=="}}})
# What writes is run in check mode, and what needs a cluster says that there is none.
CHECKED = ("create_hosted_cluster", "scale_node_pool", "destroy_hosted_cluster")
LACKING = {"scale_node_pool": "has no node pool workers"}


def run_role(lab: Lab, folder: Path, *arguments: str) -> Played:
    return play(lab, folder, playbook(ROLE, folder), None, *arguments, environment={"RELEASE": lab.release()})


def test_the_example_of_the_role_can_be_foreseen(lab: Lab, tmp_path: Path) -> None:
    played = run_role(lab, tmp_path, "--check")
    assert played.status == 0, played.output[-3000:]
    assert lab.api.get(HOSTED_CLUSTERS, "demo", NAMESPACE) is None


@pytest.mark.thorough
def test_the_example_of_the_role_runs_as_it_stands(lab: Lab, tmp_path: Path) -> None:
    played = run_role(lab, tmp_path)
    assert played.status == 0, played.output[-3000:]
    assert (tmp_path / "demo.kubeconfig").exists()
    approved = play(lab, tmp_path, playbook(f"{GUIDE} 3", tmp_path), None)
    assert approved.status == 0, approved.output[-3000:]
    gone = play(
        lab,
        tmp_path,
        playbook(ROLE, tmp_path),
        {"hosted_openshift_state": "absent"},
        environment={"RELEASE": lab.release()},
    )
    assert gone.status == 0, gone.output[-3000:]


def commands() -> list[list[str]]:
    """The playbooks of the guide with their arguments."""
    lines = [line for name, text in blocks("shell") if name.startswith(GUIDE) for line in text.splitlines()]
    return [line.split()[1:] for line in lines if line.startswith("ansible-playbook ")]


@pytest.mark.parametrize("command", commands(), ids=lambda command: command[0].rpartition(".")[2])
def test_the_playbooks_of_the_guide_take_its_file_of_variables(lab: Lab, tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "demo.yml").write_text(block(f"{GUIDE} 1"))
    (tmp_path / "pull-secret.json").write_text(PULL_SECRET)
    name, *arguments = command
    name = name.rpartition(".")[2]
    here = ["-e", f"hosted_openshift_release={lab.release()}", *(["--check"] if name in CHECKED else [])]
    played = play(lab, tmp_path, f"metalshift.maas.{name}", None, *arguments, *here)
    assert (played.status != 0) == (name in LACKING), played.output[-3000:]
    assert LACKING.get(name, "") in re.sub(r"\s+", " ", played.output)


def test_the_tasks_of_the_guide_can_be_foreseen(lab: Lab, tmp_path: Path) -> None:
    given = {"release": lab.release(), "pull_secret": PULL_SECRET}
    played = play(lab, tmp_path, playbook(f"{GUIDE} 2", tmp_path), given, "--check")
    assert played.status == 0, played.output[-3000:]
