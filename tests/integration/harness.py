# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run modules as Ansible does: one task in this process, or a true playbook in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.play_context import PlayContext
from ansible.playbook.task import Task
from ansible.plugins.loader import connection_loader
from ansible.template import Templar

from ansible_collections.metalshift.maas.plugins.filter.awx_survey import awx_survey
from ansible_collections.metalshift.maas.plugins.plugin_utils import _runner
from ansible_collections.metalshift.maas.plugins.plugin_utils._progress import MORE
from metalshift_lab.simulator import Simulator

ROOT = Path(__file__).resolve().parents[2]
# Its file is the documentation of an action plugin; see test_playbook_variables.py
ACTION_ONLY = {"playbook_variables"}
MODULES = sorted({path.stem for path in (ROOT / "plugins" / "modules").glob("[!_]*.py")} - ACTION_ONLY)
CALLBACKS = Path(__file__).parent / "callbacks"


@dataclass
class Screen:
    """What a task displays: lines for everybody, as they were before they were folded, and those for `-vvv`."""

    shown: list[str] = field(default_factory=list)
    traced: list[str] = field(default_factory=list)

    def display(self, line: str, *args: Any, **kwargs: Any) -> None:
        self.shown.append(line.replace(f"\n{MORE}", " "))

    def vvv(self, line: str, *args: Any, **kwargs: Any) -> None:
        self.traced.append(line)


@dataclass(frozen=True)
class Outcome:
    """The result of one task, and what was shown meanwhile."""

    result: dict[str, Any]
    screen: Screen

    def __getitem__(self, name: str) -> Any:
        return self.result[name]

    def __contains__(self, name: str) -> bool:
        return name in self.result

    @property
    def failed(self) -> bool:
        return bool(self.result.get("failed"))

    @property
    def changed(self) -> bool:
        return bool(self.result["changed"])

    @property
    def msg(self) -> str:
        return str(self.result.get("msg", ""))


def run_task(
    sim: Simulator | None,
    module: str,
    args: Mapping[str, Any] | None = None,
    *,
    check: bool = False,
    diff: bool = True,
    connect: bool = True,
    **keywords: Any,
) -> Outcome:
    """One task through its action plugin, in this process. `keywords` are the task's: environment, no_log, name..."""
    asks = _runner.module_of(module).SPEC.maas
    reach = {"maas_endpoint": sim.url, "maas_api_key": sim.api_key} if connect and sim and asks else {}
    loader = DataLoader()
    templar = Templar(loader=loader)
    definition = {f"metalshift.maas.{module}": {**reach, **(args or {})}, "check_mode": check, "diff": diff, **keywords}
    task = Task.load(definition, loader=loader)
    screen = Screen()
    action = _runner.ActionModule(
        task=task,
        connection=connection_loader.get("ansible.builtin.local", PlayContext()),
        play_context=PlayContext(),
        loader=loader,
        templar=templar,
        shared_loader_obj=None,
    )
    with mock.patch.object(_runner, "display", screen):
        result = action.run(task_vars={})
    # As it travels from the worker to the strategy and to the callbacks.
    return Outcome(json.loads(json.dumps(result)), screen)


# -- playbooks -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Played:
    """What a playbook said, printed and left behind."""

    status: int
    stdout: str
    stderr: str
    events: list[dict[str, Any]]
    folder: Path

    @property
    def results(self) -> list[dict[str, Any]]:
        """The results of the tasks, in order; of a loop, its items first."""
        return [event["result"] for event in self.events if event["result"] is not None]

    @property
    def output(self) -> str:
        return self.stdout + self.stderr


def reach(sim: Simulator) -> dict[str, str]:
    return {"MAAS_ENDPOINT": sim.url, "MAAS_API_KEY": sim.api_key}


def run_playbook(
    folder: Path,
    tasks: Sequence[Mapping[str, Any]],
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    python: str = sys.executable,
    hosts: str = "",
    pattern: str = "",
    play_environment: Mapping[str, str] | None = None,
    **play: Any,
) -> Played:
    """A true ansible-playbook in a process of its own, on localhost or on the host that the line `hosts` defines.

    With several lines of hosts, `pattern` says which.
    """
    whole = {
        "hosts": pattern or hosts.partition(" ")[0] or "localhost",
        "gather_facts": False,
        "environment": dict(play_environment or {}),
        **play,
        "tasks": list(tasks),
    }
    playbook, inventory, events = folder / "play.yml", folder / "inventory.ini", folder / "events.jsonl"
    inventory.write_text(f"localhost ansible_connection=local ansible_python_interpreter={python}\n{hosts}\n")
    playbook.write_text(yaml.safe_dump([whole], sort_keys=False))
    events.unlink(missing_ok=True)
    done = subprocess.run(
        [str(Path(sys.executable).with_name("ansible-playbook")), "-i", str(inventory), str(playbook), *arguments],
        env={**clean_environment(folder), "LAB_EVENTS": str(events), **(environment or {})},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    lines = events.read_text().splitlines() if events.exists() else []
    return Played(done.returncode, done.stdout, done.stderr, [json.loads(line) for line in lines], folder)


def made_of_role(folder: Path, role: str, given: Sequence[Mapping[str, Any]], expression: str) -> list[Any]:
    """What an expression of the role is, with each of the given variables."""
    files = [str(ROOT / "roles" / role / part / "main.yml") for part in ("defaults", "vars")]
    tasks = [{"ansible.builtin.debug": {"msg": expression}, "vars": one} for one in given]
    played = run_playbook(folder, tasks, vars_files=files)
    assert played.status == 0, played.output
    return [result["msg"] for result in played.results if "msg" in result]


def begun(command: Sequence[str], folder: Path, variables: Mapping[str, str]) -> subprocess.Popen[str]:
    """A playbook that has begun, at the head of a group of processes that can be killed as one."""
    return subprocess.Popen(
        command,
        env=variables,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def kill_group(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGKILL)


def passed_by_awx(playbook: str) -> dict[str, Any]:
    """The extra variables that AWX gives a playbook unasked when its survey was made of its argument spec."""
    spec = yaml.safe_load((ROOT / "playbooks" / "argument_specs" / f"{playbook}.yml").read_text())
    questions = awx_survey(spec)["spec"]
    return {each["variable"]: each["default"] for each in questions if each.get("default") is not None}


def clean_environment(folder: Path) -> dict[str, str]:
    """This environment without what would reach another MAAS, and with all of Ansible's files in one folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAAS_", "ANSIBLE_"))}
    own = {
        "HOME": folder,
        "ANSIBLE_COLLECTIONS_PATH": os.environ.get("ANSIBLE_COLLECTIONS_PATH", ""),
        "ANSIBLE_LOCAL_TEMP": folder / "local_temp",
        "ANSIBLE_REMOTE_TEMP": folder / "remote_temp",
        "ANSIBLE_ASYNC_DIR": folder / "async",
        "ANSIBLE_INJECT_INVOCATION": "1",
        "ANSIBLE_CALLBACK_PLUGINS": CALLBACKS,
        "ANSIBLE_CALLBACKS_ENABLED": "lab_events",
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_LOCALHOST_WARNING": "0",
        "ANSIBLE_INVENTORY_UNPARSED_WARNING": "0",
    }
    return {**kept, **{name: str(value) for name, value in own.items()}}


def assert_no_secret(text: str, secrets: Sequence[str]) -> None:
    for secret in secrets:
        assert secret not in text, f"{secret} in {text[max(0, text.find(secret) - 300) : text.find(secret) + 100]}"


def assert_no_secret_left(folder: Path, secrets: Sequence[str]) -> None:
    """No file below the folder holds one of them."""
    for path in folder.rglob("*"):
        if path.is_file():
            assert_no_secret(path.read_text(errors="replace"), secrets)
