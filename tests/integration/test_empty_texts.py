# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An empty text, as surveys and templates give for what nobody has answered, is no name and no path."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._failure import Failure
from ansible_collections.metalshift.maas.plugins.plugin_utils._runner import module_of
from integration.harness import MODULES, run_task
from lab.simulator import Simulator


@pytest.mark.parametrize("module", MODULES)
def test_every_module_refuses_empty_names_and_paths(module: str) -> None:
    spec = module_of(module).SPEC
    for name, option in spec.options.items():
        kind, usual = option.get("type"), option.get("default")
        if kind == "path" or (kind == "str" and (option.get("required") or usual)):
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


def test_suboptions_are_looked_at_too(sim: Simulator) -> None:
    outcome = run_task(sim, "vm", {"hostname": "web", "lxd_hosts": [{"name": "", "endpoint": "https://kvm1:8443"}]})
    assert outcome.msg.startswith("lxd_hosts: name must not be empty.")
