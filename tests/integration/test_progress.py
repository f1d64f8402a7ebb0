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

from integration.harness import Played, begun, clean_environment, reach, run_playbook
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
    told = [line.strip() for line in lines(done) if "deployed" in line and not line.startswith("TASK")]
    assert any("2 deploying" in line for line in told), lines(done)
    assert "2/2 deployed" in told[-2], told
    assert told[-1].endswith("2 allocated and deployed"), told
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
    assert not [line for line in lines(again) if "/2 deployed" in line]


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


def told(played: Played) -> list[str]:
    """What tasks said while they worked."""
    return [line for line in played.stdout.splitlines() if line.startswith("    ")]


def test_a_line_names_its_host_or_its_item_where_there_are_several(sim: Simulator, tmp_path: Path) -> None:
    sim.auto(0.5)
    for name in ("node-1", "node-2"):
        sim.machine(name)
    deploy = {"machines": ["{{ inventory_hostname }}"], "state": "deployed", "wait_sleep": 0.1}
    release = {"machines": ["{{ item.name }}"], "state": "ready", "wait_sleep": 0.1}
    tasks = [
        {"metalshift.maas.machine": deploy, "delegate_to": "localhost"},
        {
            "metalshift.maas.machine": release,
            "delegate_to": "localhost",
            "run_once": True,
            "loop": [{"name": "node-1", "password": "item-s3cret"}, {"name": "node-2"}],
        },
    ]
    by_host = "node-1 ansible_connection=local\nnode-2 ansible_connection=local"
    played = run_playbook(tmp_path, tasks, hosts=by_host, environment=reach(sim), pattern="node-1:node-2")
    assert played.status == 0, played.output
    lines = told(played)
    for name in ("node-1", "node-2"):
        assert any(line.startswith(f"    [{name}] 0/1 deployed, 1 deploying") for line in lines), lines
        assert any(line.startswith(f"    [node-1] ({name}) 1/1 ready") for line in lines), lines
    assert not any("item-s3cret" in line for line in lines)


def test_each_machine_is_named_when_it_fails(sim: Simulator, tmp_path: Path) -> None:
    """Before the others are through, and once for all that fail for one reason."""
    names = [f"node-{number}" for number in range(1, 7)]
    for name in names:
        sim.machine(name, status="Deployed", owner="admin").locked = name in names[:4]
    sim.auto(1)
    task = {"machines": names, "state": "ready", "wait_sleep": 0.1}
    played = run_playbook(tmp_path, [{"metalshift.maas.machine": task}], environment=reach(sim))
    lines = told(played)
    assert lines[0] == "    failed: node-1, node-2 and 2 more: each cannot be made ready: it is locked.", played.output
    assert any(line.startswith("    2/6 ready, 4 failed, ") for line in lines[1:]), lines


def test_lines_fit_a_terminal_of_eighty_columns(sim: Simulator, tmp_path: Path) -> None:
    for name in ("node-1", "node-2", "node-3"):
        sim.machine(name, zone="az1", memory=1024)
    task = {"claim": "a-claim-with-a-long-name", "count": 9, "memory": "64GiB", "wait_sleep": 0.1}
    played = run_playbook(tmp_path, [{"metalshift.maas.machine_set": task}], environment=reach(sim))
    lines = told(played)
    assert " ".join(line.strip() for line in lines).startswith("0 of 9 machines; 9 short: "), played.output
    assert len(lines) > 1
    assert max(len(line) for line in lines) <= 80
