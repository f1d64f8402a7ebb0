# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task says while it waits, as AWX sees it: in the job events of ansible-runner."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import ansible_runner
import pytest
import yaml

from integration.harness import begun, clean_environment, reach, run_playbook
from metalshift_lab.simulator import Simulator

DEPLOY = {
    "name": "Deploy two machines",
    "metalshift.maas.machine": {
        "machines": ["node-1", "node-2"],
        "state": "deployed",
        "wait_sleep": 0.1,
        "wait_timeout": 30,
    },
}


@pytest.fixture
def runner(sim: Simulator, tmp_path: Path) -> Any:
    def run(task: dict[str, Any], verbosity: int = 0) -> Any:
        return ansible_runner.run(
            private_data_dir=str(tmp_path),
            playbook=[{"hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": [task]}],
            envvars={**reach(sim), "ANSIBLE_COLLECTIONS_PATH": os.environ["ANSIBLE_COLLECTIONS_PATH"]},
            inventory="localhost ansible_connection=local",
            verbosity=verbosity,
            quiet=True,
        )

    sim.auto(0.7)
    for name in ("node-1", "node-2"):
        sim.machine(name)
    return run


def lines(run: Any) -> list[str]:
    return [line.strip() for event in run.events for line in event["stdout"].splitlines()]


@pytest.mark.smoke
def test_progress_lines_are_job_events_in_the_order_of_what_happened(runner):
    done = runner(DEPLOY)
    assert done.status == "successful"
    told = [line for line in lines(done) if line.startswith("[Deploy two machines]")]
    assert any("2 deploying" in line for line in told), lines(done)
    assert "2/2 deployed" in told[-1], told
    order = [event["event"] for event in done.events]
    telling = [place for place, event in enumerate(done.events) if "deploying" in event["stdout"]]
    assert telling
    assert order.index("runner_on_start") < telling[0] <= telling[-1] < order.index("runner_on_ok")


@pytest.mark.parametrize("verbosity", [0, 4])
def test_nothing_is_told_under_no_log(runner, verbosity):
    done = runner({**DEPLOY, "no_log": True}, verbosity)
    assert done.status == "successful"
    assert not [line for line in lines(done) if "deploying" in line or "node-1" in line or "machines/" in line]


def test_a_task_that_waits_for_nothing_says_nothing(runner):
    runner(DEPLOY)
    again = runner(DEPLOY)
    assert not [line for line in lines(again) if line.startswith("[Deploy two machines]")]


def test_lines_reach_a_pipe_while_the_task_waits(sim: Simulator, tmp_path: Path) -> None:
    """As in the jobs of GitLab and Jenkins, and under nohup and tee."""
    sim.machine("node-1")
    sim.auto(0)
    task = {"metalshift.maas.machine": {"machines": ["node-1"], "state": "deployed", "wait_timeout": 20}}
    (tmp_path / "play.yml").write_text(yaml.safe_dump([{"hosts": "localhost", "gather_facts": False, "tasks": [task]}]))
    program = str(Path(sys.executable).with_name("ansible-playbook"))
    process = begun([program, "play.yml"], tmp_path, {**clean_environment(tmp_path), **reach(sim)})
    assert process.stdout
    for line in process.stdout:
        if "1 deploying" in line:
            sim.advance("node-1")
            break
    rest, _none = process.communicate(timeout=60)
    assert process.returncode == 0, rest


def test_a_maas_that_hangs_does_not_outlast_the_wait(sim: Simulator, tmp_path: Path) -> None:
    """A look at the end of a wait has five seconds, and not the minute that an answer may take."""
    sim.machine("node-1")
    sim.auto(0)
    sim.fault("latency", method="GET", path="machines/$", latency=20_000, hits=0, skip=2)
    task = {"machines": ["node-1"], "state": "deployed", "wait_timeout": 2, "wait_sleep": 0.2}
    played = run_playbook(tmp_path, [{"metalshift.maas.machine": task}], environment=reach(sim))
    assert played.results[0]["failure"]["kind"] == "timeout"
    silent = "MAAS does not answer (no answer within 5 seconds); it was last seen Deploying."
    assert played.results[0]["msg"].startswith(f"node-1 is not Deployed after 2s: {silent}"), played.output
