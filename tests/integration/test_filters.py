# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters as playbooks use them."""

from __future__ import annotations

from pathlib import Path

import yaml

from ansible_collections.metalshift.maas.plugins.filter import (
    netplan_bridge,
    netplan_unmanaged,
    provider_id,
)
from integration.harness import reach, run_playbook
from metalshift_lab.simulator import Simulator


def test_the_examples_of_provider_id_run(sim: Simulator, tmp_path: Path) -> None:
    machine = sim.machine("worker-1", zone="az1")
    nodes = {"resources": [{"spec": {"providerID": f"maas:///az1/{machine.system_id}"}}]}
    empty = {"ansible.builtin.debug": {"msg": "{{ '' | metalshift.maas.provider_id }}"}, "ignore_errors": True}
    played = run_playbook(
        tmp_path, [*yaml.safe_load(provider_id.EXAMPLES), empty], environment=reach(sim), vars={"nodes": nodes}
    )
    assert played.status == 0, played.output
    one, found, failed = played.results
    assert one["ansible_facts"]["machine"] == {"zone": "az1", "system_id": "abc123", "kind": "maas"}
    assert [each["hostname"] for each in found["machines"]] == ["worker-1"]
    assert "The providerID is empty: nothing has linked the object to a machine yet." in failed["msg"]


def test_the_examples_for_networks_run(tmp_path: Path) -> None:
    examples = [yaml.safe_load(each.EXAMPLES)[0] for each in (netplan_bridge, netplan_unmanaged)]
    played = run_playbook(tmp_path, examples)
    assert played.status == 0, played.output
    bridge, unmanaged = played.results
    made = {name: yaml.safe_load(text)["network"] for name, text in bridge["msg"]["files"].items()}
    assert made["50-cloud-init.yaml"] == {"version": 2, "ethernets": {"eth0": {}}}
    assert made["90-br0.yaml"]["bridges"]["br0"]["dhcp4"] is True
    assert unmanaged["msg"] == ["the address 10.0.0.99/32"]
