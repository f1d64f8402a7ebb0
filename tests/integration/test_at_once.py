# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same task several times at once, as plays for many hosts run it that forget `run_once`."""

from __future__ import annotations

import importlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task, carry_out
from metalshift_lab.simulator import Simulator

NODE = {"name": "node-9", "mac_addresses": ["52:54:00:00:99:01"]}
TASKS: list[tuple[str, dict[str, Any]]] = [
    ("zone", {"name": "az1", "description": "One"}),
    ("resource_pool", {"name": "web", "description": "One"}),
    ("tag", {"name": "fast", "comment": "One"}),
    ("dns_record", {"fqdn": "api.maas", "value": ["10.0.0.5", "10.0.0.6"]}),
    ("dns_record", {"fqdn": "api.maas", "type": "CNAME", "value": "www.maas."}),
    ("machine", {"machines": [NODE], "architecture": "amd64", "power_type": "manual", "state": "ready"}),
]


def run(sim: Simulator, module: str, **options: Any) -> dict[str, Any]:
    loaded = importlib.import_module(f"ansible_collections.metalshift.maas.plugins.modules.{module}")
    waiting = {"wait_sleep": 0.05, "wait_timeout": 20} if "wait" in loaded.SPEC.argument_spec else {}
    wanted = {"maas_endpoint": sim.url, "maas_api_key": sim.api_key, **waiting, **options}
    checked = ArgumentSpecValidator(loaded.SPEC.argument_spec).validate(wanted)
    assert not checked.error_messages
    return carry_out(loaded.converge, Task(checked.validated_parameters), module)


@pytest.mark.parametrize(("module", "options"), TASKS)
def test_all_come_to_the_same_end(sim: Simulator, module: str, options: dict[str, Any]) -> None:
    """Slow writes see to it that all have looked before the first one has written."""
    sim.auto(0.5)
    sim.fault("latency", method="POST", latency=300, hits=0)
    with ThreadPoolExecutor(4) as hosts:
        results = list(hosts.map(lambda _host: run(sim, module, **options), range(4)))
    assert [result.get("msg") for result in results] == [None] * 4
    assert not run(sim, module, **options)["changed"]


def test_records_that_were_made_twice_become_one(sim: Simulator) -> None:
    """MAAS lets the same text be at a name twice; the next run tidies up."""
    sim.fault("latency", method="POST", latency=300, hits=0)
    text = {"fqdn": "api.maas", "type": "TXT", "value": ["one", "two"]}
    with ThreadPoolExecutor(2) as hosts:
        results = list(hosts.map(lambda _host: run(sim, "dns_record", **text), range(2)))
    assert [result.get("msg") for result in results] == [None] * 2
    run(sim, "dns_record", **text)
    last = run(sim, "dns_record", **text)
    assert not last["changed"]
    assert last["dns_record"]["value"] == ["one", "two"]


def test_a_machine_is_deployed_once_by_all_runs_of_its_claim(sim: Simulator) -> None:
    sim.machine("node-1")
    sim.auto(0.5)
    sim.fault("latency", method="POST", latency=200, hits=0)
    wanted = {"machines": ["node-1"], "state": "deployed", "claim": "web", "annotations": {"team": "blue"}}
    with ThreadPoolExecutor(3) as hosts:
        results = list(hosts.map(lambda _host: run(sim, "machine", **wanted), range(3)))
    assert [result.get("msg") for result in results] == [None] * 3
    assert not run(sim, "machine", **wanted)["changed"]


def test_another_description_wins_over_the_one_that_came_first(sim: Simulator) -> None:
    sim.fault("latency", method="POST", latency=300, hits=0)
    with ThreadPoolExecutor(2) as hosts:
        results = list(hosts.map(lambda text: run(sim, "zone", name="az1", description=text), ("One", "Two")))
    assert [result["zone"]["description"] for result in results] == ["One", "Two"]


def test_a_name_that_another_machine_has_is_still_refused(sim: Simulator) -> None:
    sim.fault("latency", method="POST", latency=300, hits=0)
    macs = ("52:54:00:00:99:01", "52:54:00:00:99:02")
    hardware = {"architecture": "amd64", "power_type": "manual"}
    with ThreadPoolExecutor(2) as hosts:
        results = list(
            hosts.map(lambda mac: run(sim, "machine", machines=[{**NODE, "mac_addresses": [mac]}], **hardware), macs)
        )
    assert sorted("failure" in result for result in results) == [False, True]
    assert len(list(sim.state.machines)) == 1
