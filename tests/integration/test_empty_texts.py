# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An empty text, as surveys and templates give for what nobody has answered, is no name and no path."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import MAY_BE_EMPTY
from ansible_collections.metalshift.maas.plugins.plugin_utils._runner import module_of
from integration.harness import MODULES, run_task
from metalshift_lab.simulator import Simulator


@pytest.mark.parametrize("module", MODULES)
def test_every_module_refuses_empty_names_and_paths(module: str) -> None:
    spec = module_of(module).SPEC
    for name, option in spec.options.items():
        if option.get("type") in ("path", "str") and name not in MAY_BE_EMPTY:
            with pytest.raises(Failure, match=f"{name} must not be empty") as refused:
                spec.require_texts({name: ""})
            assert refused.value.kind == "invalid"


def test_a_kubeconfig_is_never_the_working_directory(sim: Simulator) -> None:
    options: dict[str, Any] = {"name": "demo", "dest": "", "kubeconfig": "/nowhere", "state": "absent"}
    outcome = run_task(sim, "hosted_cluster_kubeconfig", options, connect=False)
    assert outcome.msg == "dest must not be empty. Leave out what is not to be set."


def test_nothing_is_asked_of_anybody(sim: Simulator) -> None:
    outcome = run_task(sim, "machine_set", {"claim": "", "count": 1})
    assert outcome["failure"]["kind"] == "invalid"
    assert outcome.msg.startswith("claim must not be empty.")
    assert not list(sim.requests)


@pytest.mark.parametrize("option", ["maas_endpoint", "maas_api_key", "maas_ca_cert"])
def test_an_empty_option_to_reach_maas_is_as_one_that_is_not_set(sim: Simulator, option: str) -> None:
    reached = {"MAAS_ENDPOINT": sim.url, "MAAS_API_KEY": sim.api_key}
    given = {"maas_endpoint": sim.url, "maas_api_key": sim.api_key, "maas_ca_cert": ""} | {option: ""}
    outcome = run_task(sim, "zone", {"name": "az1", **given}, connect=False, environment=reached)
    assert (outcome.failed, outcome.changed) == (False, True), outcome.msg


def test_suboptions_are_looked_at_too(sim: Simulator) -> None:
    outcome = run_task(sim, "vm", {"hostname": "web", "lxd_hosts": [{"name": "", "endpoint": "https://kvm1:8443"}]})
    assert outcome.msg.startswith("lxd_hosts: name must not be empty.")


def test_entries_of_their_own_are_looked_at_too(sim: Simulator) -> None:
    outcome = run_task(sim, "machine", {"machines": ["node-1", {"name": "node-2", "zone": ""}]})
    assert outcome.msg == "machines: zone must not be empty. Leave out what is not to be set."
    assert not sim.requests.writes()
