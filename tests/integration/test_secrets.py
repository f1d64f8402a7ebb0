# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Secrets that are given to machines are nowhere to be seen, however much is shown and whatever goes wrong."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

import pytest

from integration.harness import assert_no_secret, assert_no_secret_left, reach, run_playbook
from integration.test_runner import A_MODULE
from lab.simulator import Simulator

MACHINE = "metalshift.maas.machine"
POWER, LAUNCH, FILED = "pw-hunter2-bmc", "launch-code-0000", "filed-launch-code"
USER_DATA = f"#cloud-config\npassword: {LAUNCH}\n"
SECRETS = (POWER, LAUNCH, FILED, *(base64.b64encode(text.encode()).decode()[:16] for text in (USER_DATA, FILED)))

QUICK = {"wait_sleep": 0.05, "wait_timeout": 20}


def enlisted(name: str, mac: str, **more: Any) -> dict[str, Any]:
    power = {"power_address": "10.1.0.9", "power_user": "maas", "power_pass": POWER}
    return {
        "name": name,
        "mac_addresses": [mac],
        "architecture": "amd64",
        "power_type": "ipmi",
        "power_parameters": power,
        **more,
    }


TASKS: Mapping[str, Mapping[str, Any]] = {
    "a deployment": {
        "machines": [
            enlisted("node-1", "52:54:00:00:99:01", user_data=USER_DATA),
            enlisted("node-2", "52:54:00:00:99:02"),
        ],
        "state": "deployed",
        "user_data": f"#cloud-config\nother: {LAUNCH}\n",
        **QUICK,
    },
    "power that fails": {
        "machines": [enlisted("broken-1", "52:54:00:00:99:03")],
        "state": "deployed",
        "user_data": USER_DATA,
        **QUICK,
    },
    "power parameters in a text": {
        "machines": ["node-3"],
        "power_type": "ipmi",
        "mac_addresses": ["52:54:00:00:99:04"],
        "architecture": "amd64",
        "power_parameters": json.dumps({"power_address": "10.1.0.9", "power_pass": POWER}),
        **QUICK,
    },
    "a misspelt option": {"machines": [enlisted("node-4", "52:54:00:00:99:05", usr_data=USER_DATA)], **QUICK},
    "a misspelt option of the task": {"machines": ["node-4"], "pasword": POWER, "usr_data": USER_DATA},
    "machines in a text": {"machines": json.dumps([enlisted("node-5", "52:54:00:00:99:06")]), "state": "gone"},
    "power parameters that are no dictionary": {"machines": ["node-6"], "power_parameters": [POWER]},
    "user data that is a dictionary": {"machines": ["node-6"], "user_data": {"password": LAUNCH}, "state": "gone"},
    "both user data": {
        "machines": ["node-1"],
        "state": "deployed",
        "user_data": LAUNCH,
        "user_data_file": "/x",
    },
}


@pytest.fixture(params=[{}, A_MODULE], ids=["in-process", "as a module"])
def way(request: pytest.FixtureRequest) -> dict[str, Any]:
    way: dict[str, Any] = request.param
    return way


@pytest.mark.parametrize("check", [[], ["--check"]], ids=["for real", "check mode"])
def test_secrets_of_machines_are_nowhere(sim: Simulator, tmp_path, way, check, eavesdropped) -> None:
    sim.auto(0.2)
    run, given = tmp_path / "run", tmp_path / "given"
    run.mkdir()
    given.mkdir()
    (given / "tasks.json").write_text(json.dumps(TASKS))
    (given / "user_data").write_text(FILED)
    read = f"lookup('file', '{given}/tasks.json') | from_json"
    tasks: list[dict[str, Any]] = [
        {"name": name, MACHINE: f"{{{{ ({read})['{name}'] }}}}", "ignore_errors": True, "register": "said", **way}
        for name in TASKS
    ]
    from_file = {"machines": ["node-2"], "state": "deployed", "user_data_file": str(given / "user_data"), **QUICK}
    tasks += [
        {MACHINE: from_file, "ignore_errors": True, **way},
        {"ansible.builtin.set_fact": {"said": "{{ said }}", "cacheable": True}},
    ]
    files = {
        "ANSIBLE_CACHE_PLUGIN": "jsonfile",
        "ANSIBLE_CACHE_PLUGIN_CONNECTION": str(run / "facts"),
        "ANSIBLE_LOG_PATH": str(run / "log"),
    }
    played = run_playbook(run, tasks, "-vvvv", "--diff", *check, environment={**reach(sim), **files})
    said = [event["result"] for event in played.events]
    assert "Traceback" not in played.output
    assert len(said) == len(tasks)
    assert said[0]["changed"], said[0].get("msg")
    assert said[2]["changed"], said[2].get("msg")
    keys = sim.api_key.split(":")[1:]
    assert_no_secret(played.output + json.dumps(played.events) + "\n".join(eavesdropped), [*SECRETS, *keys])
    assert_no_secret_left(run, [*SECRETS, *keys])


def test_a_bmc_that_repeats_the_password_is_masked(sim: Simulator, tmp_path, way) -> None:
    sim.power_fault("power-on", f"ipmipower -u maas -p {POWER}: connection timeout")
    task = {"machines": [enlisted("node-1", "52:54:00:00:99:01")], "state": "deployed", **QUICK}
    (tmp_path / "given").mkdir()
    values = tmp_path / "given" / "task.json"
    values.write_text(json.dumps(task))
    (tmp_path / "run").mkdir()
    played = run_playbook(
        tmp_path / "run",
        [{MACHINE: f"{{{{ lookup('file', '{values}') | from_json }}}}", **way}],
        "-vvvv",
        environment=reach(sim),
    )
    sim.power_fault("power-on", "")
    assert played.status != 0
    assert "connection timeout" in played.output
    assert_no_secret(played.output + json.dumps(played.events), [POWER])


KUBECONFIG = (
    "apiVersion: v1\nclusters: []\nusers:\n- user:\n    token: tok-hunter2-kube\n    client-key-data: a2V5LWh1bnRlcjI\n"
)


def test_a_kubeconfig_that_is_given_as_text_is_nowhere(sim: Simulator, tmp_path, way) -> None:
    """Neither one that cannot be used, nor one that stands where a path is asked for."""
    given, run = tmp_path / "given", tmp_path / "run"
    given.mkdir()
    run.mkdir()
    (given / "text").write_text(KUBECONFIG)
    text = f"{{{{ lookup('file', '{given}/text') }}}}"
    tasks = [
        {"metalshift.maas.node_csr": {"name": "demo", **options}, "ignore_errors": True, **way}
        for options in ({"kubeconfig": text}, {"host": "https://x", "api_key": "t", "client_key": text})
    ]
    played = run_playbook(run, tasks, "-vvvv", environment=reach(sim))
    assert [event["result"]["failure"]["kind"] for event in played.events] == ["invalid", "invalid"], played.output
    secrets = ("tok-hunter2-kube", "a2V5LWh1bnRlcjI")
    assert_no_secret(played.output + json.dumps(played.events), secrets)
    assert_no_secret_left(run, secrets)
