# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Secrets that are given to machines are nowhere to be seen, however much is shown and whatever goes wrong."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from integration.harness import assert_no_secret, assert_no_secret_left, reach, run_playbook
from integration.test_runner import A_MODULE
from integration.vm_hosts import Hosts
from metalshift_lab.authority import self_signed
from metalshift_lab.simulator import Simulator

pytestmark = pytest.mark.playbooks

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


# -- LXD and what runs on it -------------------------------------------------------------------------------------------

PASSWORD, WRONG, MEANT = "pw-hunter3-lxd", "pw-hunter4-lxd", "meant-for-another-option"
TOKEN_SECRET = "token-hunter5-lxd"


def lxd_tasks(hosts: Hosts, folder: Path) -> dict[str, tuple[str, dict[str, Any]]]:
    """By its name, a task's module and options: what is right, what is wrong, and what stands in the wrong place."""
    first = hosts.servers["kvm1"]
    pairs = {name: self_signed(name) for name in ("stranger", "other")}
    for name, pair in pairs.items():
        pair.write(folder / f"{name}.crt", folder / f"{name}.key")
    key, stranger, other = (
        path.read_text() for path in (Path(first.client_key), *(folder / f"{n}.key" for n in pairs))
    )
    stranger_cert = (folder / "stranger.crt").read_text()
    content = {"client_name": "maas", "secret": TOKEN_SECRET, "fingerprint": "0" * 64, "addresses": []}
    token = base64.b64encode(json.dumps(content).encode()).decode()
    own = {"maas_timeout": 10, **QUICK}
    via = {**hosts.reach("lxd"), **own, "lxd_client_key": key}
    lxd = {"lxd_endpoint": first.endpoint, "lxd_server_cert": first.server_cert}
    trusted = {**lxd, "lxd_client_cert": first.client_cert, "lxd_client_key": key}
    alone = {**lxd, "lxd_client_cert": stranger_cert, "lxd_client_key": stranger}
    host = {"power_address": "127.0.0.1:8449", **own}
    pair = {"certificate": stranger_cert, "key": stranger}
    return {
        "vm_host": ("vm_host", {"name": "kvm9", "password": PASSWORD, **host, **pair}),
        "vm_host again": ("vm_host", {"name": "kvm9", "zone": "az2", "password": PASSWORD, **host, **pair}),
        "vm_host asking LXD": ("vm_host", {"name": "kvm1", "server_cert": first.server_cert}),
        "wrong password of vm_host": (
            "vm_host",
            {**host, "name": "kvm8", "power_address": "127.0.0.1:8450", "password": WRONG, **pair},
        ),
        "wrong token of vm_host": (
            "vm_host",
            {**host, "name": "kvm8", "power_address": "127.0.0.1:8450", "token": token},
        ),
        "wrong key of vm_host": ("vm_host", {"name": "kvm9", **host, **pair, "key": other}),
        "wrong place in vm_host": ("vm_host", {"name": "kvm9", **host, "certificate": stranger, "key": stranger_cert}),
        "wrong option of vm_host": ("vm_host", {"name": "kvm9", "pasword": PASSWORD, "kee": stranger}),
        "vm": ("vm", {**via, "hostname": "web"}),
        "vm that changes": ("vm", {**via, "hostname": "web", "zone": "az2"}),
        "wrong key of vm": ("vm", {**via, "hostname": "web", "lxd_client_key": other}),
        "wrong place in vm": ("vm", {**via, "hostname": other}),
        "wrong option of vm": ("vm", {**via, "hostname": "web", "lxd_cleint_key": key}),
        "vm_set": ("vm_set", {**via, "claim": "cp", "count": 2}),
        "wrong key of vm_set": ("vm_set", {**via, "claim": "cp", "count": 2, "lxd_client_key": other}),
        "wrong certificate of vm_set": (
            "vm_set",
            {**via, "claim": "cp", "count": 2, "lxd_client_cert": stranger_cert, "lxd_client_key": stranger},
        ),
        "wrong place in vm_set": ("vm_set", {**via, "claim": other, "count": 2}),
        "lxd_trust": ("lxd_trust", {**alone, "password": PASSWORD}),
        "lxd_trust of another": ("lxd_trust", {**trusted, "certificate": (folder / "other.crt").read_text()}),
        "wrong password of lxd_trust": (
            "lxd_trust",
            {**alone, "password": WRONG, "name": "x", "lxd_client_key": other},
        ),
        "wrong token of lxd_trust": (
            "lxd_trust",
            {**lxd, "token": token, "lxd_client_cert": str(folder / "other.crt"), "lxd_client_key": stranger},
        ),
        "wrong place in lxd_trust": ("lxd_trust", {**trusted, "certificate": other}),
        "wrong option of lxd_trust": ("lxd_trust", {**alone, "passwd": MEANT, "pasword": PASSWORD}),
    }


# A module takes its time, and what differs is how its options and its result travel.
IN_A_MODULE = (
    "vm_host",
    "wrong option of vm_host",
    "wrong key of vm",
    "wrong place in vm_set",
    "wrong option of lxd_trust",
)
WAYS = {"in-process": ({}, []), "check mode": ({}, ["--check"]), "as a module": (A_MODULE, [])}


@pytest.mark.parametrize(("way", "check"), WAYS.values(), ids=WAYS)
def test_secrets_of_lxd_are_nowhere(sim: Simulator, tmp_path: Path, way, check, eavesdropped) -> None:
    hosts = Hosts.up(sim)
    sim.lxd(address="127.0.0.1:8449", password=PASSWORD)
    sim.lxd(address="127.0.0.1:8450", password="another")
    hosts.servers["kvm1"].password = PASSWORD
    given, run = tmp_path / "given", tmp_path / "run"
    given.mkdir()
    run.mkdir()
    tasks = {name: task for name, task in lxd_tasks(hosts, given).items() if not way or name in IN_A_MODULE}
    (given / "tasks.json").write_text(json.dumps({name: options for name, (_module, options) in tasks.items()}))
    read = f"lookup('file', '{given}/tasks.json') | from_json"
    playbook: list[dict[str, Any]] = [
        {
            "name": name,
            f"metalshift.maas.{module}": f"{{{{ ({read})['{name}'] }}}}",
            "ignore_errors": True,
            "register": "said",
            **way,
        }
        for name, (module, _options) in tasks.items()
    ]
    log = {"ANSIBLE_LOG_PATH": str(run / "log")}
    played = run_playbook(run, playbook, "-vvvv", "--diff", *check, environment={**reach(sim), **log})
    assert "Traceback" not in played.output
    results = dict(zip(tasks, played.results, strict=True))
    failed = {name for name, result in results.items() if "failure" in result}
    wrong = {name for name in tasks if name.startswith("wrong")}
    foreseeable = {"wrong password of vm_host", "wrong token of vm_host", "wrong token of lxd_trust"}
    assert failed - wrong == set(), {name: results[name]["msg"] for name in failed - wrong}
    assert wrong - failed <= (foreseeable if check else set())
    keys = [path.read_text().splitlines()[3] for path in given.glob("*.key")]
    kept = [host.parameters["key"].splitlines()[3] for host in sim.state.vm_hosts]
    secrets = [PASSWORD, WRONG, MEANT, TOKEN_SECRET, *keys, *kept, *sim.api_key.split(":")[1:]]
    secrets.append(base64.b64encode(b'"secret": "' + TOKEN_SECRET.encode()).decode()[:16])
    assert_no_secret(played.output + json.dumps(played.events) + "\n".join(eavesdropped), secrets)
    assert_no_secret_left(run, secrets)
