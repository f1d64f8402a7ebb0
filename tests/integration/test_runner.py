# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The in-process runner and the ordinary module under a true ansible-playbook: what an action must do by itself."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from integration.harness import Played, assert_no_secret, assert_no_secret_left, reach, run_playbook
from metalshift_lab.simulator import Simulator

ZONE = "metalshift.maas.zone"
# How a task is made to run as an ordinary module.
AS_MODULE: dict[str, dict[str, Any]] = {
    "in-process": {},
    "async": {"async": 60, "poll": 1},
    "become": {"become": True, "become_method": "su", "become_user": "root"},
}
RUNS_AS_ROOT = os.geteuid() == 0


# Only root becomes root without a password.
A_MODULE = AS_MODULE["become" if RUNS_AS_ROOT else "async"]


@pytest.fixture(params=AS_MODULE)
def every_way(request: pytest.FixtureRequest) -> dict[str, Any]:
    if request.param == "become" and not RUNS_AS_ROOT:
        pytest.skip("only root becomes root without a password")
    return AS_MODULE[request.param]


@pytest.fixture(params=[{}, A_MODULE], ids=["in-process", "as a module"])
def way(request: pytest.FixtureRequest) -> dict[str, Any]:
    way: dict[str, Any] = request.param
    return way


@pytest.fixture
def options(sim: Simulator) -> dict[str, str]:
    return {"maas_endpoint": sim.url, "maas_api_key": sim.api_key}


def zones(sim: Simulator) -> set[str]:
    return {zone.name for zone in sim.state.zones}


def assert_one_sentence(played: Played) -> str:
    assert played.status != 0
    assert "Traceback" not in played.output
    return str(played.results[-1]["msg"])


# -- the three ways --------------------------------------------------------------------------------


def test_a_task_does_the_same_in_process_as_a_module_and_become(sim, tmp_path, options, every_way):
    task = {ZONE: {**options, "name": "az1", "description": "d"}, **every_way}
    made, again = (run_playbook(tmp_path, [task], "--diff").results[-1] for _time in range(2))
    assert (made["changed"], again["changed"]) == (True, False)
    assert made["zone"]["description"] == "d"
    assert made["invocation"]["module_args"]["maas_api_key"] == "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"
    assert made["invocation"]["module_args"]["name"] == "az1"
    assert made["diff"][0]["after"] == {"name": "az1", "description": "d"}


def test_only_async_and_become_start_an_interpreter(sim, tmp_path, options, every_way):
    played = run_playbook(tmp_path, [{ZONE: {**options, "name": "az1"}, **every_way}], "-vvv")
    assert ("AnsiballZ" in played.output) == bool(every_way)


def test_check_mode_and_diff_are_the_same_on_every_way(sim, tmp_path, options, way):
    way = {key: value for key, value in way.items() if key not in ("async", "poll")}  # core refuses async in check mode
    played = run_playbook(tmp_path, [{ZONE: {**options, "name": "az1"}, **way}], "--check", "--diff")
    (result,) = played.results
    assert result["changed"]
    assert result["zone"]["predicted"]
    assert "zone az1 (create)" in played.stdout
    assert zones(sim) == {"default"}
    assert not sim.requests.writes()


def test_without_diff_none_is_given(sim, tmp_path, options, way):
    (*_others, result) = run_playbook(tmp_path, [{ZONE: {**options, "name": "az1"}, **way}]).results
    assert "diff" not in result


def test_a_failure_is_one_sentence_on_every_way(sim, tmp_path, options, way):
    played = run_playbook(tmp_path, [{ZONE: {**options, "name": "a!b"}, **way}])
    assert assert_one_sentence(played).startswith(
        "zone a!b cannot be created: MAAS refuses (name: Enter a valid value). A name has letters"
    )
    assert played.results[-1]["failure"]["fields"] == {"name": ["Enter a valid value."]}


def test_the_requests_of_a_task_are_seen_at_vvv_and_not_before(sim, tmp_path, options, way):
    task = {ZONE: {**options, "name": "az1"}, **way}
    assert "GET zones/az1/" not in run_playbook(tmp_path, [task], "-vv").output
    assert "GET zones/az1/ -> 200" in run_playbook(tmp_path, [task], "-vvv").output


def test_loops_give_a_result_for_each_item(sim, tmp_path, options, every_way):
    task = {ZONE: {**options, "name": "{{ item }}"}, "loop": ["az1", "az2", "az3"], "register": "made", **every_way}
    show = {"ansible.builtin.debug": {"msg": "{{ made.results | map(attribute='zone.name') | join(' ') }}"}}
    played = run_playbook(tmp_path, [task, show])
    assert played.results[-1]["msg"] == "az1 az2 az3"
    assert zones(sim) == {"default", "az1", "az2", "az3"}


def test_an_async_task_can_be_collected_later(sim, tmp_path, options):
    played = run_playbook(
        tmp_path,
        [
            {ZONE: {**options, "name": "az1"}, "async": 60, "poll": 0, "register": "job"},
            {
                "ansible.builtin.async_status": {"jid": "{{ job.ansible_job_id }}"},
                "register": "done",
                "until": "done.finished",
                "retries": 50,
                "delay": 0.2,
            },
        ],
    )
    assert played.status == 0, played.output
    assert played.results[-1]["zone"]["name"] == "az1"


# -- where options come from -----------------------------------------------------------------------


def test_environment_of_play_block_and_task_counts(sim, tmp_path, way):
    wrong = {"MAAS_ENDPOINT": "http://127.0.0.1:1", "MAAS_API_KEY": "a:b:c"}
    task = {ZONE: {"name": "az1"}, "environment": {"MAAS_ENDPOINT": "{{ where }}"}, **way}
    block = {"block": [task], "environment": {"MAAS_API_KEY": sim.api_key}}
    played = run_playbook(tmp_path, [block], environment=wrong, vars={"where": sim.url})
    assert played.status == 0, played.output
    assert zones(sim) == {"default", "az1"}


def test_environment_of_the_play_counts(sim, tmp_path, way):
    task = {ZONE: {"name": "az1"}, **way}
    assert run_playbook(tmp_path, [task], play_environment=reach(sim)).status == 0
    assert zones(sim) == {"default", "az1"}


def test_the_older_variable_of_the_endpoint_is_read_too(sim, tmp_path):
    variables = {"MAAS_API_URL": f"{sim.url}/api/2.0/", "MAAS_API_KEY": sim.api_key}
    assert run_playbook(tmp_path, [{ZONE: {"name": "az1"}}], environment=variables).status == 0


def test_an_option_counts_more_than_the_environment(sim, tmp_path, options, way):
    task = {ZONE: {**options, "name": "az1"}, "environment": {"MAAS_ENDPOINT": "http://127.0.0.1:1"}, **way}
    assert run_playbook(tmp_path, [task]).status == 0


def test_module_defaults_of_the_group_count(sim, tmp_path, options, way):
    play = {"module_defaults": {"group/metalshift.maas.maas": options}}
    played = run_playbook(tmp_path, [{ZONE: {"name": "az1"}, **way}], **play)
    assert played.status == 0, played.output
    assert zones(sim) == {"default", "az1"}


def test_short_names_work_with_the_collections_keyword(sim, tmp_path, options):
    played = run_playbook(tmp_path, [{"zone": {**options, "name": "az1"}}], "-vvv", collections=["metalshift.maas"])
    assert played.status == 0, played.output
    assert "AnsiballZ" not in played.output


def test_vaulted_values_are_decrypted(sim, tmp_path):
    password = tmp_path / "password"
    password.write_text("open sesame")
    vault = Path(sys.executable).with_name("ansible-vault")
    command = [str(vault), "encrypt_string", "--vault-password-file", str(password), sim.api_key]
    encrypted = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    values = tmp_path / "values.yml"
    values.write_text("key: " + encrypted)
    played = run_playbook(
        tmp_path,
        [{ZONE: {"maas_endpoint": sim.url, "maas_api_key": "{{ key }}", "name": "az1"}}],
        "-vvvv",
        "--vault-password-file",
        str(password),
        vars_files=[str(values)],
    )
    assert played.status == 0, played.output
    assert sim.api_key not in played.output


def test_delegation_to_localhost_runs_in_process(sim, tmp_path, options):
    task = {ZONE: {**options, "name": "az1"}, "delegate_to": "localhost"}
    played = run_playbook(tmp_path, [task], "-vvv", hosts="far ansible_host=203.0.113.1 ansible_connection=ssh")
    assert played.status == 0, played.output
    assert "AnsiballZ" not in played.output


# -- what comes back -------------------------------------------------------------------------------


def test_templates_in_values_from_maas_are_only_text(sim, tmp_path, options, way):
    run_playbook(tmp_path, [{ZONE: {**options, "name": "az1"}}])
    next(zone for zone in sim.state.zones if zone.name == "az1").description = "{{ 1 + 1 }} {{ lookup('pipe', 'id') }}"
    read = {ZONE: {**options, "name": "az1"}, "register": "read", **way}
    show = {"ansible.builtin.debug": {"msg": "{{ read.zone.description }}"}}
    keep = {"ansible.builtin.set_fact": {"kept": "{{ read.zone }}"}}
    again = {"ansible.builtin.debug": {"msg": "{{ kept.description }}"}}
    played = run_playbook(tmp_path, [read, show, keep, again])
    assert played.results[-1]["msg"] == "{{ 1 + 1 }} {{ lookup('pipe', 'id') }}"
    assert played.results[-3]["msg"] == "{{ 1 + 1 }} {{ lookup('pipe', 'id') }}"


def test_the_timeout_keyword_ends_a_task_that_waits(sim, tmp_path, options):
    slow = 40
    sim.latency(slow * 1000)
    began = time.monotonic()
    played = run_playbook(tmp_path, [{ZONE: {**options, "name": "az1"}, "timeout": 1}])
    sim.latency(0)
    assert played.status != 0
    assert re.search("time(out|d out| frame)", played.output, re.IGNORECASE)
    assert time.monotonic() - began < slow, "it waited for the answer"


def test_a_module_for_maas_needs_nothing_but_python(sim, tmp_path, options):
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    task = {ZONE: {**options, "name": "az1"}, "async": 60, "poll": 1}
    played = run_playbook(tmp_path, [task], python=str(bare / "bin" / "python"))
    assert played.results[-1]["changed"], played.output
    assert "az1" in zones(sim)


def test_warnings_are_shown(sim, tmp_path, options):
    sim.set_version("3.8")
    next_one = {"metalshift.maas.maas_info": {**options, "gather": []}}
    assert "MAAS 3.8" not in run_playbook(tmp_path, [next_one]).output
    sim.state.version = "3.9.1"
    played = run_playbook(tmp_path, [next_one])
    sim.set_version("3.6")
    assert "This is MAAS 3.9.1; the collection is made for MAAS 3.3 to 3.8" in " ".join(played.output.split())


# -- secrets ---------------------------------------------------------------------------------------

KEY_PARTS = ("K0nsumer", "T0ken5", "S3cr3t5")
KEY = ":".join(KEY_PARTS)

LEAKY: dict[str, dict[str, Any]] = {
    "a key that is wrong": {"name": "az1", "maas_api_key": KEY},
    "a key in two pieces": {"name": "az1", "maas_api_key": KEY.replace(":", " ", 1)},
    "an unknown option beside it": {"name": "az1", "maas_api_key": KEY, "nmae": "x"},
    "a missing option beside it": {"maas_api_key": KEY},
    "a value that cannot be beside it": {"name": "az1", "maas_api_key": KEY, "state": "gone"},
    "a type that cannot be beside it": {"name": "az1", "maas_api_key": KEY, "maas_timeout": "soon"},
    "a misspelt option": {"name": "az1", "maas_api_kye": KEY},
    "a key that is a list": {"name": "az1", "maas_api_key": [KEY]},
    "a key that is a dictionary": {"name": "az1", "maas_api_key": {"key": KEY}},
    "a password in the endpoint": {
        "name": "az1",
        "maas_endpoint": f"http://u:{KEY_PARTS[2]}@maas",
        "maas_api_key": KEY,
    },
}


@pytest.mark.parametrize("loop", [False, True], ids=["alone", "in a loop"])
def test_what_fails_shows_no_secret(sim, tmp_path, loop):
    """Arguments come from a file: core prints the lines of a playbook around a task that fails."""
    values = tmp_path / "values.json"
    values.write_text(json.dumps({name: {"maas_endpoint": sim.url, **args} for name, args in LEAKY.items()}))
    how = {"ignore_errors": True, **({"loop": [1, 2]} if loop else {})}
    read = f"lookup('file', '{values}') | from_json"
    tasks = [{"name": name, ZONE: f"{{{{ ({read})['{name}'] }}}}", **how} for name in LEAKY]
    played = run_playbook(tmp_path, tasks, "-vvvv", "--diff")
    failed = [event for event in played.events if event["event"] == ("item_failed" if loop else "failed")]
    assert len(failed) == len(LEAKY) * (2 if loop else 1)
    assert all(event["result"]["failure"]["kind"] in ("invalid", "credentials") for event in failed)
    assert_no_secret(played.output + json.dumps(played.events), KEY_PARTS[1:])


def test_no_secret_is_in_any_file_or_fact_that_a_run_leaves(sim, tmp_path, every_way):
    secrets = tuple(sim.api_key.split(":")[1:])
    tasks = [
        {ZONE: {"name": "az1"}, "register": "made", **every_way},
        {"ansible.builtin.set_fact": {"made": "{{ made }}", "cacheable": True}},
    ]
    files = {
        "ANSIBLE_CACHE_PLUGIN": "jsonfile",
        "ANSIBLE_CACHE_PLUGIN_CONNECTION": str(tmp_path / "facts"),
        "ANSIBLE_LOG_PATH": str(tmp_path / "log"),
    }
    played = run_playbook(tmp_path, tasks, "-vvvv", environment={**reach(sim), **files})
    assert played.status == 0, played.output
    assert list((tmp_path / "facts").iterdir())
    assert_no_secret(played.output + json.dumps(played.events), secrets)
    assert_no_secret_left(tmp_path, secrets)


def test_no_secret_is_in_the_process_list(sim, tmp_path, every_way, eavesdropped, request):
    secrets = tuple(sim.api_key.split(":")[1:])
    sim.latency(300)
    played = run_playbook(tmp_path, [{ZONE: {"name": "az1"}, **every_way}], environment=reach(sim))
    sim.latency(0)
    assert played.status == 0, played.output
    assert_no_secret("\n".join(eavesdropped), secrets)


@pytest.mark.parametrize("verbosity", ["-v", "-vvvv"])
def test_nothing_is_shown_under_no_log(sim, tmp_path, options, way, verbosity):
    played = run_playbook(
        tmp_path,
        [{ZONE: {**options, "name": "az1", "description": "quiet please"}, "no_log": True, **way}],
        verbosity,
    )
    assert played.status == 0, played.output
    assert "quiet please" not in played.output
    assert "GET zones" not in played.output
