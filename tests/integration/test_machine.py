# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `machine` promises beyond what every module does."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.connection import ApiKey, MaasConnection
from integration.harness import Outcome, reach, run_playbook, run_task
from metalshift_lab.simulator import Simulator

SECRETS = ("bmc-secret-7", "user-data-secret")
BMC = {"power_address": "10.1.0.9", "power_user": "maas", "power_pass": "bmc-secret-7"}
NEW: Mapping[str, Any] = {
    "name": "node-9",
    "mac_addresses": ["52:54:00:00:99:01"],
    "architecture": "amd64",
    "power_type": "ipmi",
    "power_parameters": BMC,
}


@pytest.fixture(autouse=True)
def quick(sim: Simulator) -> None:
    """Transitions end at once, as far as a client can tell."""
    sim.auto(0.01)


def machine(sim: Simulator, *names: Any, **options: Any) -> Outcome:
    keywords = {name: options.pop(name) for name in ("check",) if name in options}
    waiting = {"wait_sleep": 0.02, "wait_timeout": 5}
    return run_task(sim, "machine", {"machines": list(names), **waiting, **options}, **keywords)


def failure(outcome: Outcome, place: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = outcome["machines"][place]["failure"]
    return found


# -- from state to state ------------------------------------------------------------------------------------------

WAYS = [
    ("New", "ready", "Ready"),
    ("New", "deployed", "Deployed"),
    ("Ready", "allocated", "Allocated"),
    ("Ready", "deployed", "Deployed"),
    ("Ready", "rescue", "Rescue mode"),
    ("Ready", "broken", "Broken"),
    ("Ready", "absent", ""),
    ("Allocated", "ready", "Ready"),
    ("Deployed", "ready", "Ready"),
    ("Deployed", "rescue", "Rescue mode"),
    ("Deployed", "broken", "Broken"),
    ("Deployed", "absent", ""),
    ("Deploying", "deployed", "Deployed"),
    ("Commissioning", "deployed", "Deployed"),
    ("Failed deployment", "ready", "Ready"),
]


@pytest.mark.parametrize(("status", "state", "end"), WAYS)
def test_it_gets_there_and_stays_there(sim: Simulator, status: str, state: str, end: str) -> None:
    sim.machine("node-1", status=status)
    sim.auto(0.01)
    foreseen = machine(sim, "node-1", state=state, check=True)
    assert not sim.requests.writes()
    came = machine(sim, "node-1", state=state)
    assert not came.failed, came.msg
    assert foreseen["machine"]["status_name"] == came["machine"]["status_name"] == (end or None)
    assert foreseen["diff"] == came["diff"]
    again = machine(sim, "node-1", state=state)
    assert not again.changed
    assert again["diff"] == []


def test_a_machine_in_a_failed_status_waits_for_a_word(sim: Simulator) -> None:
    sim.machine("node-1", status="Failed testing")
    refused = machine(sim, "node-1", state="deployed")
    assert failure(refused)["kind"] == "failed_state"
    assert not sim.requests.writes()
    assert not machine(sim, "node-1", state="deployed", recover=["failed_testing"]).failed


def test_a_failing_deployment_ends_the_wait_with_its_reasons(sim: Simulator) -> None:
    sim.machine("node-1")
    sim.fault("machine", hostname="node-1", action="deploy", reason="No root disk.")
    came = machine(sim, "node-1", state="deployed")
    assert "No root disk" in came.msg
    assert any("No root disk." in event for event in failure(came)["events"])
    assert came["summary"] == {"failed": 1}


ACTS = [
    ("Ready", "test", ["test"], "Ready"),
    ("Deployed", "test", ["test"], "Deployed"),
    ("Ready", "recommission", ["commission"], "Ready"),
    ("Deployed", "power_cycle", ["power_off", "power_on"], "Deployed"),
]


@pytest.mark.parametrize(("status", "act", "ops", "end"), ACTS)
def test_an_act_is_done_each_time(sim: Simulator, status: str, act: str, ops: list[str], end: str) -> None:
    sim.machine("node-1", status=status)
    for _run in range(2):
        sim.requests.clear()
        assert machine(sim, "node-1", act=act, check=True).changed
        came = machine(sim, "node-1", act=act)
        assert not came.failed, came.msg
        assert came.changed
        assert [entry.op for entry in sim.requests.writes()] == ops
        assert came["machine"]["status_name"] == end


@pytest.mark.parametrize(
    ("status", "end"), [("Commissioning", "New"), ("Deploying", "Allocated"), ("Disk erasing", "Failed disk erasing")]
)
def test_what_runs_is_aborted(sim: Simulator, status: str, end: str) -> None:
    sim.auto(0)
    sim.machine("node-1", status=status)
    came = machine(sim, "node-1", act="abort")
    assert came["machine"]["status_name"] == end


def test_without_waiting_fields_are_set_and_the_rest_goes_on_by_itself(sim: Simulator) -> None:
    sim.auto(0)
    sim.machine("node-1", status="Deployed")
    came = machine(sim, "node-1", state="ready", erase=True, description="x", wait=False)
    assert not came.failed
    assert came["machine"]["status_name"] == "Disk erasing"
    assert came["summary"] == {"disk_erasing": 1}
    assert sim.find("node-1").description == "x"


def test_without_waiting_check_mode_does_not_promise_the_end(sim: Simulator) -> None:
    sim.machine("node-1")
    sim.machine("node-2", status="Deployed")
    foreseen = machine(sim, "node-1", "node-2", state="deployed", wait=False, check=True)
    assert [one["status_name"] for one in foreseen["machines"]] == [None, "Deployed"]
    assert machine(sim, "node-1", state="deployed", check=True)["machine"]["status_name"] == "Deployed"


def test_a_machine_that_takes_too_long_fails_with_what_it_was_doing(sim: Simulator) -> None:
    sim.auto(0)
    sim.machine("node-1")
    came = machine(sim, "node-1", state="deployed", wait_timeout=0.1)
    assert failure(came)["kind"] == "timeout"
    assert "node-1 is not Deployed after" in came.msg
    assert came.changed


@pytest.mark.parametrize(("status", "word"), [("Failed deployment", "failed_deployment"), ("Broken", "broken")])
def test_what_recover_names_is_led_out_of_its_failure(sim: Simulator, status: str, word: str) -> None:
    sim.machine("node-1", status=status)
    assert failure(machine(sim, "node-1", state="deployed"))["kind"] == "failed_state"
    came = machine(sim, "node-1", state="deployed", recover=[word])
    assert came["machine"]["status_name"] == "Deployed"


def test_a_machine_whose_disks_were_not_erased_needs_a_word_about_its_data(sim: Simulator) -> None:
    sim.machine("node-1", status="Failed disk erasing")
    refused = machine(sim, "node-1", state="ready", recover=["failed_disk_erasing"])
    assert "its disks may still hold data" in refused.msg
    came = machine(sim, "node-1", state="ready", erase=True)
    assert came["machine"]["status_name"] == "Ready"


# -- many at once ------------------------------------------------------------------------------------------------


def test_one_bad_element_fails_alone_and_the_order_is_kept(sim: Simulator) -> None:
    for name in ("node-1", "node-2"):
        sim.machine(name)
    elements = [
        "node-2",
        "nobody",
        {"name": "node-1", "zone": "nowhere"},
        {"name": "node-1", "stat": "ready"},
        "node-1",
    ]
    came = machine(sim, *elements, state="allocated")
    assert came.failed
    assert [one["name"] for one in came["machines"]] == ["node-2", "nobody", "node-1", "node-1", "node-1"]
    assert [one.get("failed", False) for one in came["machines"]] == [False, True, True, True, True]
    assert came["summary"] == {"allocated": 1, "failed": 4}
    assert "3 of 5" not in came.msg


def test_an_element_overrides_the_task_and_completes_its_dicts(sim: Simulator) -> None:
    for name in ("node-1", "node-2"):
        sim.machine(name, zone="az1")
    sim.machine("other", zone="az2")
    own = {"name": "node-2", "zone": "az2", "power_parameters": {"power_address": "10.9.9.9"}}
    assert not machine(sim, "node-1", own, zone="az1", power_parameters={"power_user": "u"}).failed
    assert [sim.find(name).zone.name for name in ("node-1", "node-2")] == ["az1", "az2"]
    parameters = sim.find("node-2").power_parameters
    assert (parameters["power_address"], parameters["power_user"]) == ("10.9.9.9", "u")


def test_the_same_machine_under_two_names_is_refused_the_second_time(sim: Simulator) -> None:
    made = sim.machine("node-1")
    came = machine(sim, "node-1", made.system_id, description="x")
    assert failure(came, 1)["reason"] == f"{made.system_id} and node-1 are the same machine."


def test_a_tag_for_many_machines_is_one_request(sim: Simulator) -> None:
    names = [f"node-{number}" for number in range(1, 6)]
    for name in names:
        sim.machine(name, tags=["old"] if name == "node-1" else [])
    sim.machine("other", tags=["fast"])
    came = machine(sim, *names, tags=["fast"], purge_tags=True)
    assert [one["tag_names"] for one in came["machines"]] == [["fast"]] * 5
    assert len([entry for entry in sim.requests if entry.op == "update_nodes"]) == 2
    assert not machine(sim, *names, tags=["fast"], purge_tags=True).changed


# -- enlisting and adopting --------------------------------------------------------------------------------------


def test_what_maas_does_not_know_is_enlisted_and_goes_on_from_there(sim: Simulator) -> None:
    came = machine(sim, NEW, state="ready")
    assert not came.failed, came.msg
    assert came["machine"]["status_name"] == "Ready"
    posted = next(entry for entry in sim.requests.writes() if entry.path.endswith("machines/") and not entry.op)
    assert posted.params["commission"] == ["false"]
    assert not machine(sim, NEW, state="ready").changed


def test_a_machine_found_by_its_mac_address_gets_its_name(sim: Simulator) -> None:
    sim.machine("quick-fox", mac_addresses=["52:54:00:00:99:01"])
    came = machine(sim, NEW)
    assert came["machine"]["hostname"] == "node-9"
    assert not [entry for entry in sim.requests.writes() if entry.method == "POST"]


def test_an_enlisting_whose_answer_is_lost_is_found_again(sim: Simulator) -> None:
    sim.fault("error", status=500, method="POST", path="machines/$", op="", when="after")
    came = machine(sim, NEW)
    assert not came.failed, came.msg
    assert len([entry for entry in sim.requests.writes() if entry.method == "POST"]) == 1


def test_mac_addresses_of_another_machine_are_a_conflict(sim: Simulator) -> None:
    sim.machine("node-9")
    came = machine(sim, NEW)
    assert failure(came)["kind"] == "conflict"
    assert "without the MAC address 52:54:00:00:99:01" in came.msg


# -- what is held ------------------------------------------------------------------------------------------------

HOLDERS = [
    ({"annotations": {"metalshift_claim": "web"}}, "claim web holds it"),
    ({"annotations": {"metalshift_cluster": "prod", "metalshift_node_pool": "a"}}, "hosted cluster prod (node pool a)"),
    ({"owner": "MAAS"}, "another user of MAAS holds it"),
]


@pytest.mark.parametrize(("held", "says"), HOLDERS)
def test_what_others_hold_is_refused_unless_told(sim: Simulator, held: dict[str, Any], says: str) -> None:
    sim.machine("node-1", status="Deployed", **held)
    refused = machine(sim, "node-1", state="ready")
    assert says in refused.msg
    assert failure(refused)["kind"] == "claimed"
    assert not sim.requests.writes()
    assert not machine(sim, "node-1", state="ready", take_over=True).failed


HOSTED = {"metalshift_cluster": "clusters/prod", "metalshift_node_pool": "a"}
REPURPOSED: list[dict[str, Any]] = [
    {"state": "ready"},
    {"state": "absent"},
    {"state": "broken"},
    {"state": "rescue"},
    {"act": "test"},
    {"act": "power_cycle"},
    {"power": "off"},
    {"locked": True},
    {"hostname": "other"},
    {"zone": "az1"},
]


@pytest.mark.parametrize("options", REPURPOSED, ids=str)
def test_what_a_hosted_cluster_uses_is_left_to_it(sim: Simulator, options: dict[str, Any]) -> None:
    sim.machine("other-1", zone="az1")
    sim.machine("node-1", status="Deployed", annotations=HOSTED)
    for check in (True, False):
        refused = run_task(sim, "machine", {"machines": ["node-1"], **options}, check=check)
        assert "hosted cluster clusters/prod (node pool a) uses it" in refused.msg
        assert "scale its node pool down" in refused.msg
        assert "pause the cluster" in refused.msg
        assert failure(refused)["kind"] == "claimed"
    assert not sim.requests.writes()
    assert not machine(sim, "node-1", take_over=True, **options).failed


def test_the_guard_of_hosted_clusters_costs_no_request(sim: Simulator) -> None:
    """What MAAS lists of machines tells it."""
    for number in range(3):
        sim.machine(f"node-{number}", status="Deployed", annotations=HOSTED)
    names = [f"node-{number}" for number in range(3)]
    spent = []
    for take_over in (False, True):
        sim.requests.clear()
        run_task(sim, "machine", {"machines": names, "state": "ready", "take_over": take_over}, check=True)
        spent.append(len(sim.requests))
    assert spent[0] == spent[1]


def test_what_a_hosted_cluster_uses_may_be_described(sim: Simulator) -> None:
    sim.machine("node-1", status="Deployed", annotations=HOSTED)
    assert not machine(sim, "node-1", description="Row 4", annotations={"team": "blue"}).failed
    assert sim.find("node-1").annotations == {**HOSTED, "team": "blue"}


def test_a_claim_of_ones_own_is_no_obstacle_and_is_written_with_the_allocation(sim: Simulator) -> None:
    sim.machine("node-1")
    came = machine(sim, "node-1", state="allocated", claim="web", annotations={"team": "blue"})
    assert came["machine"]["claim"] == "web"
    assert sim.find("node-1").agent_name == "web"
    assert sim.find("node-1").annotations == {"metalshift_claim": "web", "team": "blue"}
    assert not machine(sim, "node-1", state="allocated", claim="web").changed
    assert not machine(sim, "node-1", state="ready", claim="web").failed


def test_a_locked_machine_is_changed_only_when_it_may_be_unlocked(sim: Simulator) -> None:
    sim.machine("node-1", status="Deployed")
    machine(sim, "node-1", locked=True)
    sim.requests.clear()
    refused = machine(sim, "node-1", description="x")
    assert "it is locked" in refused.msg
    assert not sim.requests.writes()
    assert not machine(sim, "node-1", description="x", locked=False).failed
    assert sim.find("node-1").description == "x"


# -- requests carry what the options say ---------------------------------------------------------------------------

FORMS = [
    (
        "Ready",
        {"state": "deployed", "osystem": "ubuntu", "distro_series": "jammy"},
        "deploy",
        "distro_series",
        "ubuntu/jammy",
    ),
    ("Ready", {"state": "deployed", "ephemeral_deploy": True}, "deploy", "ephemeral_deploy", "true"),
    ("Ready", {"state": "deployed", "comment": "why"}, "deploy", "comment", "why"),
    ("Deployed", {"state": "ready", "erase": False}, "release", "erase", "false"),
    ("Deployed", {"state": "ready", "quick_erase": True}, "release", "erase", "true"),
    ("Deployed", {"state": "ready", "force": True}, "release", "force", "true"),
    ("New", {"state": "ready", "testing_scripts": []}, "commission", "testing_scripts", "none"),
    ("New", {"state": "ready", "skip_bmc_config": True}, "commission", "skip_bmc_config", "true"),
    (
        "Ready",
        {"act": "test", "testing_scripts": ["smartctl-validate", "memtester"]},
        "test",
        "testing_scripts",
        "smartctl-validate,memtester",
    ),
]


@pytest.mark.parametrize(("status", "options", "op", "name", "value"), FORMS)
def test_options_become_parameters(
    sim: Simulator, status: str, options: dict[str, Any], op: str, name: str, value: str
) -> None:
    sim.machine("node-1", status=status)
    came = machine(sim, "node-1", **options)
    assert not came.failed, came.msg
    (entry,) = [entry for entry in sim.requests if entry.op == op]
    assert entry.params[name] == [value]


@pytest.mark.parametrize("how", ["user_data", "user_data_file"])
def test_user_data_arrives_encoded_and_is_never_shown(sim: Simulator, tmp_path: Path, how: str) -> None:
    text = "#cloud-config\npassword: user-data-secret\n"
    (tmp_path / "data").write_text(text)
    sim.machine("node-1")
    came = machine(sim, "node-1", state="deployed", **{how: text if how == "user_data" else str(tmp_path / "data")})
    assert sim.find("node-1").user_data == text.encode()
    _assert_no_secret(came)


def test_power_parameters_are_compared_and_never_shown(sim: Simulator) -> None:
    machine(sim, NEW)
    assert not machine(sim, NEW).changed
    other = {**NEW, "power_parameters": {**BMC, "power_user": "other"}}
    came = machine(sim, other)
    assert came.changed
    assert sim.find("node-9").power_parameters["power_user"] == "other"
    assert sim.find("node-9").power_parameters["power_pass"] == "bmc-secret-7"
    _assert_no_secret(came)
    _assert_no_secret(machine(sim, {**NEW, "bogus": 1}))
    _assert_no_secret(machine(sim, json.dumps(NEW)))
    _assert_no_secret(machine(sim, f"name=node-9 power_parameters={json.dumps(BMC)}"))
    _assert_no_secret(machine(sim, {"name": json.dumps(NEW)}))


def _assert_no_secret(outcome: Outcome) -> None:
    told = json.dumps(outcome.result) + "\n".join(outcome.screen.shown + outcome.screen.traced)
    assert not [secret for secret in SECRETS if secret in told]


# -- telling -----------------------------------------------------------------------------------------------------


def test_it_tells_what_is_going_on(sim: Simulator) -> None:
    sim.auto(0.1)
    for name in ("node-1", "node-2"):
        sim.machine(name)
    came = machine(sim, "node-1", "node-2", state="deployed")
    assert "0/2 deployed, 2 deploying" in came.screen.shown[0]
    assert "2/2 deployed" in came.screen.shown[-2]
    assert came.screen.shown[-1].endswith(" 2 allocated and deployed")


def test_a_plan_of_an_enlistment_has_all_that_is_set_in_one_hunk(sim: Simulator) -> None:
    foreseen = machine(
        sim,
        "node-9",
        mac_addresses=["52:54:00:00:99:01"],
        architecture="amd64",
        power_type="ipmi",
        power_parameters={"power_address": "10.1.0.9", "power_user": "maas", "power_pass": "bmc-secret"},
        zone="default",
        pool="default",
        tags=["fast"],
        state="ready",
        check=True,
    )
    assert [action["action"] for action in foreseen["plan"]] == ["enlist", "tag", "commission"]
    (hunk,) = foreseen["diff"]
    assert hunk["after"] == {
        "status": "Ready",
        "hostname": "node-9",
        "architecture": "amd64/generic",
        "mac_addresses": ["52:54:00:00:99:01"],
        "power_type": "ipmi",
        "power_parameters": "as given",
        "zone": "default",
        "pool": "default",
        "tags": ["fast"],
    }
    assert hunk["before"] == {"status": "absent", "tags": []}


def test_check_mode_ends_with_what_would_be_done(sim: Simulator) -> None:
    for name in ("node-1", "node-2", "node-3"):
        sim.machine(name)
    machine(sim, "node-3", state="allocated")
    told = machine(sim, "node-1", "node-2", "node-3", state="deployed", check=True).screen.shown
    assert told[-1].endswith(" to allocate and deploy 2, to deploy 1")
    assert machine(sim, "node-3", state="allocated", check=True).screen.shown == []


def test_another_release_than_the_deployed_one_is_a_warning(sim: Simulator) -> None:
    sim.machine("node-1", status="Deployed")
    came = machine(sim, "node-1", state="deployed", distro_series="jammy")
    assert not came.changed
    assert came["warnings"] == ["node-1 is deployed with ubuntu/noble, not with jammy, and stays so: release it first."]
    for same in ({"distro_series": "noble"}, {"distro_series": "ubuntu/noble"}, {}):
        assert "warnings" not in machine(sim, "node-1", state="deployed", **same)


@pytest.mark.parametrize("check", [True, False])
def test_another_architecture_of_a_deployed_machine_is_a_warning(sim: Simulator, check: bool) -> None:
    sim.machine("node-1", status="Deployed")
    sim.machine("node-2")
    came = machine(sim, "node-1", "node-2", architecture="arm64", check=check)
    assert came.changed
    assert came["warnings"] == [
        "node-1 is Deployed, and its architecture changes from amd64/generic to arm64/generic: "
        "the next deployment may fail."
    ]
    assert "warnings" not in machine(sim, "node-1", architecture="amd64" if check else "arm64", check=check)


def test_a_machine_named_by_its_system_id_is_told_with_its_hostname(sim: Simulator) -> None:
    labels = ["node-1", "node-2"]
    ids = [sim.machine(name).system_id for name in labels]
    foreseen = machine(sim, *ids, state="deployed", description="x", check=True)
    assert {step["object"] for step in foreseen["plan"]} == set(labels)
    assert [hunk["before_header"] for hunk in foreseen["diff"]] == labels
    for name in labels:
        sim.fault("machine", hostname=name, action="deploy")
    came = machine(sim, *ids, state="deployed", description="x")
    assert came["plan"] == foreseen["plan"]
    assert came.msg.startswith("2 of 2 machines failed (node-1 and node-2): each cannot be deployed:")
    assert [one["name"] for one in came["machines"]] == ids
    assert [one["failure"]["object"] for one in came["machines"]] == labels


def test_many_failed_machines_keep_the_names_of_the_task(sim: Simulator) -> None:
    ids = [sim.machine(f"node-{number}", status="Deployed").system_id for number in range(11)]
    machine(sim, *ids, locked=True)
    came = machine(sim, *ids, description="x")
    (group,) = came["failures"]
    assert group["machines"] == ids
    assert group["reason"].startswith("each ")


def test_full_results_hold_all_that_maas_says(sim: Simulator) -> None:
    sim.machine("node-1")
    assert "interface_set" not in machine(sim, "node-1")["machine"]
    assert "interface_set" in machine(sim, "node-1", full=True)["machine"]


def test_check_mode_accepts_what_an_earlier_task_would_have_made(sim: Simulator) -> None:
    sim.machine("node-1")
    came = machine(sim, "node-1", zone="az9", tags=["new"], check=True)
    assert not came.failed
    assert came["machine"]["zone"] == "az9"
    assert came["warnings"] == ["node-1: MAAS has no zone az9 yet.", "node-1: MAAS has no tag new yet."]
    came = machine(sim, "node-2", state="deployed", check=True)
    assert came["machine"]["status_name"] == "Deployed"
    assert came["warnings"] == ["MAAS does not know node-2 yet."]
    assert machine(sim, "node-2", state="deployed").failed


def test_the_documented_examples_run(sim: Simulator, tmp_path: Path) -> None:
    sim.machine("node-3", zone="az1")
    sim.fault("machine", hostname="node-1", action="deploy")
    (tmp_path / "cloud-config.yml.j2").write_text("#cloud-config\n")
    module = importlib.import_module("ansible_collections.metalshift.maas.plugins.modules.machine")
    tasks = [{**task, "ignore_errors": True} for task in yaml.safe_load(module.EXAMPLES)]
    defaults = {"metalshift.maas.machine": {"wait_sleep": 0.02, "wait_timeout": 20}}
    played = run_playbook(
        tmp_path, tasks, environment=reach(sim), module_defaults=defaults, vars={"bmc_password": SECRETS[0]}
    )
    assert played.status == 0, played.output
    assert [result["changed"] for result in played.results] == [True] * len(tasks)
    failed = ["failure" in result for result in played.results]
    assert failed == [False, True, False, False, False, False], played.output
    assert SECRETS[0] not in played.output


def test_a_renamed_machine_is_found_by_both_tasks_that_know_its_id(sim: Simulator) -> None:
    made = sim.machine("node-1")
    foreseen = machine(sim, made.system_id, hostname="node-7", check=True)
    came = machine(sim, made.system_id, hostname="node-7")
    assert foreseen["machine"]["fqdn"] == came["machine"]["fqdn"] == "node-7.maas"
    assert not machine(sim, made.system_id, hostname="node-7").changed


# -- who may not ------------------------------------------------------------------------------------------------


def test_a_plain_user_is_told_what_needs_an_administrator(sim: Simulator) -> None:
    sim.machine("node-1")
    key = plain_user(sim)
    refused = run_task(sim, "machine", {"machines": ["node-1"], "description": "x", "maas_api_key": key})
    assert failure(refused)["kind"] == "forbidden"
    assert "need an administrator" in refused.msg
    refused = run_task(sim, "machine", {"machines": ["node-1"], "power_parameters": BMC, "maas_api_key": key})
    assert "this key may not read power parameters" in refused.msg
    assert not run_task(sim, "machine", {"machines": ["node-1"], "state": "allocated", "maas_api_key": key}).failed


@pytest.mark.parametrize("check", [True, False])
def test_a_plain_user_is_told_that_there_may_be_more_than_is_seen(sim: Simulator, check: bool) -> None:
    """MAAS leaves out of its lists what others hold."""
    sim.machine("node-1", status="Deployed")
    reach = {"machines": ["node-1"], "maas_api_key": plain_user(sim)}
    unseen = "A key that is no administrator's does not see what other users hold."
    gone = run_task(sim, "machine", {**reach, "state": "absent"}, check=check)
    assert gone["warnings"] == [f"node-1 was not found. {unseen}"]
    if not check:
        assert unseen in run_task(sim, "machine", {**reach, "state": "deployed"}).msg
    assert "warnings" not in machine(sim, "node-2", state="absent", check=check)


def plain_user(sim: Simulator) -> str:
    form = {"username": "ann", "email": "ann@example.com", "password": "x", "is_superuser": 0}
    Client(MaasConnection(base=sim.url, key=ApiKey.parse(sim.api_key))).post("users/", form)
    return sim.key_of("ann")


@pytest.mark.parametrize("check", [True, False])
def test_what_maas_cannot_deploy_is_refused_once_for_all_machines(sim: Simulator, check: bool) -> None:
    for name in ("node-1", "node-2"):
        sim.machine(name)
    wished = {"machines": ["node-1", "node-2"], "state": "deployed", "distro_series": "nobel"}
    done = run_task(sim, "machine", wished, check=check)
    assert done.msg.startswith(
        "2 of 2 machines failed (node-1 and node-2): distro_series: nobel is not an image of this MAAS; it has "
    )
    assert done.msg.endswith("Did you mean ubuntu/noble?")
    assert done.msg.count("nobel") == 1
    assert not sim.requests.writes()


@pytest.mark.parametrize("user_data", [{"packages": ["sesame"]}, ["sesame"], 17, True])
def test_user_data_that_is_no_text_is_refused(sim: Simulator, user_data: object) -> None:
    sim.machine("node-1")
    done = run_task(sim, "machine", {"machines": ["node-1"], "state": "deployed", "user_data": user_data})
    assert "and not a text. Write a text block, as in `user_data: |`" in done.msg
    assert "sesame" not in str(done.result)
    inside = run_task(sim, "machine", {"machines": [{"name": "node-1", "user_data": user_data}], "state": "deployed"})
    assert "and not a text." in inside.msg
    assert "sesame" not in str(inside.result)
    assert not sim.requests.writes()


def test_another_kernel_than_the_one_asked_for_is_told(sim: Simulator) -> None:
    sim.machine("node-1")
    sim.auto(0.02)
    with sim.world.at_rest() as state:
        for image in state.boot_resources.where(name="ubuntu/noble"):
            if image.architecture.startswith("amd64"):
                image.kernels = ["ga-24.04"]
    wished = {"machines": ["node-1"], "state": "deployed", "distro_series": "noble", "hwe_kernel": "hwe-24.04"}
    for _run in range(2):
        done = run_task(sim, "machine", {**wished, "wait_sleep": 0.02})
        assert not done.failed
        assert done["warnings"] == [
            "node-1 is deployed with ga-24.04, not with hwe-24.04, and stays so: release it first."
        ]


@pytest.mark.parametrize(
    ("status", "wished"),
    [("Deployed", "allocated"), ("Failed deployment", "deployed"), ("Releasing failed", "deployed")],
)
def test_the_advice_of_a_refusal_works_word_for_word(sim: Simulator, status: str, wished: str) -> None:
    """A machine under a claim is given back only to who names it."""
    sim.machine("node-1", status=status, agent_name="web").annotations["metalshift_claim"] = "web"
    sim.auto(0.02)
    quick = {"machines": ["node-1"], "wait_sleep": 0.02}
    refused = run_task(sim, "machine", {**quick, "state": wished, "claim": "web"})
    assert "Release it with state: ready and claim: web" in refused.msg
    assert not run_task(sim, "machine", {**quick, "state": "ready", "claim": "web"}).failed
    assert sim.find("node-1").status.label == "Ready"


def test_a_machine_of_a_claim_is_refused_with_the_harmless_way(sim: Simulator) -> None:
    sim.machine("node-1", status="Deployed", agent_name="web").annotations["metalshift_claim"] = "web"
    refused = run_task(sim, "machine", {"machines": ["node-1"], "state": "ready"})
    assert (
        "claim web holds it. Scale that down or release it there, or set claim: web here to work under it"
        in refused.msg
    )


def test_a_machine_is_enlisted_by_ipmi_without_mac_addresses(sim: Simulator) -> None:
    sim.auto(0.02)
    wished = {
        "machines": ["node-1"],
        "state": "ready",
        "architecture": "amd64",
        "power_type": "ipmi",
        "power_parameters": {"power_address": "10.0.0.9"},
        "wait_sleep": 0.02,
    }
    done = run_task(sim, "machine", wished)
    assert (done.failed, done["summary"]) == (False, {"ready": 1}), done.msg
    assert not run_task(sim, "machine", wished).changed
    assert len(sim.find("node-1").interfaces) == 1


def test_a_misspelt_power_parameter_is_refused_by_its_name(sim: Simulator) -> None:
    sim.machine("node-1")
    done = run_task(sim, "machine", {"machines": ["node-1"], "power_parameters": {"power_pas": "sesame"}})
    assert "power_type ipmi has no parameter power_pas; it has " in done.msg
    assert "sesame" not in str(done.result)


def test_what_many_machines_fail_for_is_told_once_and_short(sim: Simulator) -> None:
    names = [f"node-{number}" for number in range(1, 101)]
    for name in names:
        sim.machine(name, status="Deployed", owner="admin").locked = name != "node-7"
    done = run_task(sim, "machine", {"machines": names, "state": "ready", "wait_sleep": 0.02}, diff=False)
    assert done.msg.startswith(
        "99 of 100 machines failed (node-1, node-2 and 97 more): each cannot be made ready: it is"
    )
    assert [row["failed"] for row in done["machines"] if row["name"] != "node-7"] == [True] * 99
    assert "failed" not in done["machines"][6]
    (group,) = done["failures"]
    assert (group["kind"], len(group["machines"])) == ("conflict", 99)
    (result,) = [json.dumps({key: value for key, value in done.result.items() if key not in ("invocation", "plan")})]
    assert len(result) < 20_000
    whole = run_task(sim, "machine", {"machines": names, "state": "ready", "full": True, "wait_sleep": 0.02})
    assert whole["machines"][0]["failure"]["kind"] == "conflict"
    assert "failures" not in whole


def test_a_machine_that_is_taken_in_the_same_moment_is_said_to_be(sim: Simulator) -> None:
    """MAAS only says that no machine of that id is available."""
    sim.machine("node-1")
    sim.fault("conflict", op="allocate", when="after", text="No machine with system ID abc available.")
    done = run_task(sim, "machine", {"machines": ["node-1"], "state": "allocated", "wait_sleep": 0.02})
    assert done.msg == (
        "node-1 cannot be allocated: it is Allocated and held by admin since a moment ago. "
        "Run the task again if it is still to be taken."
    )
    assert not run_task(sim, "machine", {"machines": ["node-1"], "state": "allocated"}).failed


def test_an_ipmi_machine_is_enlisted_by_its_bmc_alone(sim: Simulator) -> None:
    power = {"power_address": "10.9.9.1", "power_user": "maas", "power_pass": "s3cret"}
    wished = {"machines": ["node-1"], "power_type": "ipmi", "power_parameters": power}
    assert run_task(sim, "machine", wished)["summary"] == {"new": 1}
    assert not run_task(sim, "machine", wished).changed


def test_what_a_failed_recommissioning_needs_is_to_recover(sim: Simulator) -> None:
    sim.machine("node-1")
    sim.auto(0.02)
    sim.fault("machine", hostname="node-1", action="commission", times=1)
    done = run_task(sim, "machine", {"machines": ["node-1"], "act": "recommission", "wait_sleep": 0.02})
    assert "recover: [failed_commissioning] commissions it again" in done.msg
    again = {"machines": ["node-1"], "state": "ready", "recover": ["failed_commissioning"], "wait_sleep": 0.02}
    assert run_task(sim, "machine", again)["summary"] == {"ready": 1}
