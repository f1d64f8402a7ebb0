# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machines of a MAAS as an inventory, read by the real ansible-inventory and ansible-playbook."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from integration.arranging import client
from integration.harness import clean_environment, reach, run_playbook, run_task
from metalshift_lab.simulator import Simulator


@pytest.fixture
def rack(sim: Simulator) -> Simulator:
    sim.auto(0.01)
    client(sim).post("zones/", {"name": "az1"})
    client(sim).post("tags/", {"name": "gpu-fast"})
    sim.machine("node-1", zone="az1", tags=["gpu-fast"])
    sim.machine("node-2")
    sim.machine("node-3", status="Broken")
    web = {"machines": ["node-1"], "state": "deployed", "claim": "web", "wait_sleep": 0.01}
    assert run_task(sim, "machine", web).changed
    sim.requests.clear()
    return sim


def listed(folder: Path, sim: Simulator, **options: Any) -> subprocess.CompletedProcess[str]:
    source = folder / "rack.maas.yml"
    source.write_text(yaml.safe_dump({"plugin": "metalshift.maas.machines", **options}))
    program = str(Path(sys.executable).with_name("ansible-inventory"))
    return subprocess.run(
        [program, "-i", str(source), "--list"],
        env={**clean_environment(folder), **reach(sim)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def inventory(folder: Path, sim: Simulator, **options: Any) -> dict[str, Any]:
    done = listed(folder, sim, **options)
    assert done.returncode == 0, done.stderr
    assert "WARN" not in done.stderr
    return dict(json.loads(done.stdout))


def variables(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return dict(found["_meta"]["hostvars"])


@pytest.mark.smoke
def test_machines_are_hosts_with_address_user_and_groups(tmp_path: Path, rack: Simulator) -> None:
    found = inventory(tmp_path, rack)
    one = variables(found)["node-1"]
    assert (one["ansible_user"], one["maas_claim"], one["maas_zone"]) == ("ubuntu", "web", "az1")
    assert one["ansible_host"] == one["maas_ip_addresses"][0]
    assert "ansible_user" not in variables(found)["node-2"]
    members = {name: group.get("hosts") for name, group in found.items()}
    for group in ("status_deployed", "tag_gpu_fast", "claim_web", "zone_az1"):
        assert members[group] == ["node-1"], group
    assert members["status_broken"] == ["node-3"]
    assert not rack.requests.writes()


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"status": ["ready"]}, {"node-2"}),
        ({"status": ["ready", "broken"], "zones": ["default"]}, {"node-2", "node-3"}),
        ({"tags": ["gpu-fast"]}, {"node-1"}),
        ({"not_tags": ["gpu-fast"]}, {"node-2", "node-3"}),
        ({"claim": "web"}, {"node-1"}),
        ({"hosted_cluster": "clusters/demo"}, set()),
    ],
)
def test_what_is_asked_for_is_listed(tmp_path: Path, rack: Simulator, options: Any, names: set[str]) -> None:
    assert set(variables(inventory(tmp_path, rack, **options))) == names


def test_machines_of_a_hosted_cluster_are_told_by_their_marks(tmp_path: Path, rack: Simulator) -> None:
    marks = {"metalshift_cluster": "clusters/demo", "metalshift_node_pool": "workers"}
    client(rack).post(f"machines/{rack.find('node-1').system_id}/", marks, op="set_workload_annotations")
    found = inventory(tmp_path, rack, hosted_cluster="clusters/demo")
    assert set(variables(found)) == {"node-1"}
    assert {"hosted_cluster_clusters_demo", "node_pool_workers"} <= set(found)


def test_names_addresses_and_users_are_chosen(tmp_path: Path, rack: Simulator) -> None:
    first = variables(inventory(tmp_path, rack, claim="web"))["node-1"]["ansible_host"]
    options = {
        "hostnames": ["fqdn"],
        "preferred_subnets": [f"{first}/32"],
        "users": {"ubuntu": "admin"},
        "prefix": "m_",
    }
    [(name, one)] = variables(inventory(tmp_path, rack, claim="web", **options)).items()
    assert (name, one["ansible_host"], one["ansible_user"]) == (one["m_fqdn"], first, "admin")


def test_what_ansible_constructs_is_constructed(tmp_path: Path, rack: Simulator) -> None:
    found = inventory(
        tmp_path,
        rack,
        strict=True,
        ready_groups=False,
        compose={"gigabytes": "maas_memory // 1024"},
        groups={"held": "maas_claim is not none"},
        keyed_groups=[{"key": "maas_architecture", "prefix": "arch"}],
    )
    assert isinstance(variables(found)["node-1"]["gigabytes"], int)
    assert found["held"]["hosts"] == ["node-1"]
    assert "arch_amd64_generic" in found
    assert "status_ready" not in found


def test_what_maas_says_is_never_a_template(tmp_path: Path, rack: Simulator) -> None:
    evil = "{{ lookup('ansible.builtin.pipe', 'touch " + str(tmp_path / "evil") + "') }}"
    rack.find("node-2").description = evil
    source = tmp_path / "rack.maas.yml"
    source.write_text(yaml.safe_dump({"plugin": "metalshift.maas.machines"}))
    show = {"ansible.builtin.debug": {"msg": "{{ hostvars['node-2'].maas_description }}"}}
    played = run_playbook(tmp_path, [show], "-i", str(source), environment=reach(rack))
    assert played.status == 0, played.output
    assert played.results[0]["msg"] == evil
    assert not (tmp_path / "evil").exists()


def test_a_cache_saves_the_requests(tmp_path: Path, rack: Simulator) -> None:
    kept = {"cache": True, "cache_plugin": "ansible.builtin.jsonfile", "cache_connection": str(tmp_path / "cache")}
    first = inventory(tmp_path, rack, **kept)
    assert len(rack.requests) == 2
    rack.requests.clear()
    assert inventory(tmp_path, rack, **kept) == first
    assert len(rack.requests) == 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"maas_api_key": "a:b:c"}, "maas_api_key"),
        ({"maas_endpoint": "http://127.0.0.1:9"}, "Connection refused"),
        ({"status": ["deployd"]}, "status: deployd is not a status of machines. Did you mean deployed?"),
        ({"preferred_subnets": ["10.0.0.1/24"]}, "preferred_subnets: 10.0.0.1/24 has host bits set."),
        ({"zones": ["az9"]}, "az9"),
        ({"not_tags": ["gpu-fats"]}, "not_tags: No such tag(s): 'gpu-fats'."),
    ],
)
def test_what_is_wrong_is_one_sentence(tmp_path: Path, rack: Simulator, options: Any, sentence: str) -> None:
    done = listed(tmp_path, rack, **options)
    assert sentence.lower() in " ".join(done.stderr.lower().split())
    assert "Traceback" not in done.stderr
    assert rack.api_key not in done.stdout + done.stderr


def test_a_maas_without_vm_hosts_has_machines(tmp_path: Path, rack: Simulator) -> None:
    rack.fault(method="GET", path="vm-hosts/", status=410, text="VM hosts are gone.", hits=0)
    assert "node-1" in variables(inventory(tmp_path, rack))
