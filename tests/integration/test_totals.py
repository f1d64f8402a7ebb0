# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The line at the end of a playbook."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from integration.harness import ROOT, reach, run_playbook
from metalshift_lab.simulator import Simulator

pytestmark = [pytest.mark.playbooks, pytest.mark.smoke]

SHOW = {"ansible.builtin.debug": {"msg": "{{ lookup('metalshift.maas.totals') }}"}}
TASKS = [
    {"metalshift.maas.zone": {"name": "{{ item }}"}, "loop": ["az1", "az2"], "no_log": True},
    {"metalshift.maas.zone": {"name": "az2", "description": "second"}},
    {"metalshift.maas.machine_set": {"claim": "web", "count": 1, "state": "allocated"}},
    {"metalshift.maas.machine_set": {"claim": "web", "state": "absent", "erase": True, "wait_sleep": 0.05}},
    SHOW,
]


def shown(folder: Path, sim: Simulator, *arguments: str, **how: str) -> str:
    played = run_playbook(folder, TASKS, *arguments, environment={**reach(sim), **how})
    assert played.status == 0, played.output
    return str(played.results[-1]["msg"])


def test_a_playbook_ends_with_what_it_did(sim: Simulator, tmp_path: Path) -> None:
    sim.auto(0.1)
    sim.machine("node-1")
    assert shown(tmp_path, sim, "--check") == "to create 2, to allocate 1"
    assert shown(tmp_path, sim) == "1 created, 1 created and changed, 1 allocated and erased and released"
    assert shown(tmp_path, sim, "--check") == "to allocate 1"


def test_a_playbook_that_does_nothing_says_so(sim: Simulator, tmp_path: Path) -> None:
    for arguments, line in (([], "nothing changed"), (["--check"], "nothing to change")):
        played = run_playbook(tmp_path, [SHOW], *arguments, environment=reach(sim))
        assert played.results[-1]["msg"] == line


def test_drift_ends_a_run_when_the_environment_says_so(sim: Simulator, tmp_path: Path) -> None:
    played = run_playbook(tmp_path, TASKS, environment={**reach(sim), "METALSHIFT_FAIL_ON_CHANGE": "true"})
    assert played.status != 0
    assert sim.requests.writes() == []


@pytest.mark.parametrize("playbook", ["create_hosted_cluster", "destroy_hosted_cluster", "scale_node_pool", "lxd_hosts",
                                      "maintain_lxd_host"])  # fmt: skip
def test_each_playbook_that_writes_ends_with_its_totals(playbook: str) -> None:
    plays = yaml.safe_load((ROOT / "playbooks" / f"{playbook}.yml").read_text())
    assert plays[-1]["tasks"][-1]["ansible.builtin.debug"] == SHOW["ansible.builtin.debug"]
