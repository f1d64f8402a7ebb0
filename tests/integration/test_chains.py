# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check mode of tasks of which one names what another would have made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from integration.harness import Played, reach, run_playbook, run_task
from metalshift_lab.simulator import Simulator

pytestmark = pytest.mark.playbooks

Tasks = Sequence[Mapping[str, Any]]


def named(name: str, module: str, options: Mapping[str, Any], **keywords: Any) -> dict[str, Any]:
    return {"name": name, f"metalshift.maas.{module}": dict(options), **keywords}


def each(of: str, what: str) -> str:
    return f"{{{{ {of} | map(attribute='{what}') | flatten }}}}"


MACHINES: Tasks = [
    named("domain", "domain", {"name": "lab.example.com"}),
    named("zone", "zone", {"name": "az1"}),
    named("tag", "tag", {"name": "nvme"}),
    named(
        "enlist",
        "machine",
        {
            "machines": [{"name": "node-1", "mac_addresses": ["52:54:00:00:00:01"]}],
            "architecture": "amd64",
            "power_type": "manual",
            "zone": "az1",
            "tags": ["nvme"],
            "domain": "lab.example.com",
            "state": "ready",
        },
    ),
    named("set", "machine_set", {"claim": "shop", "count": 2, "tags": ["nvme"]}, register="shop"),
    named(
        "by hostname",
        "machine",
        {
            "machines": each("shop.machines", "hostname"),
            "claim": "shop",
            "annotations": {"service": "web"},
            "locked": True,
        },
    ),
    named(
        "by system_id",
        "machine",
        {"machines": each("shop.machines", "system_id"), "claim": "shop", "power": "on"},
    ),
    named("elements", "machine", {"machines": [{"name": "{{ shop.machines[0].hostname }}", "description": "first"}]}),
    named(
        "link",
        "interface_link",
        {"machine": "{{ item.hostname }}", "interface": "eth0", "mode": "auto", "subnet": "10.99.0.0/24"},
        loop="{{ shop.machines }}",
    ),
    named("tagged", "tag", {"name": "web", "machines": each("shop.machines", "hostname")}),
    named("erased", "disk_erasure", {"machines": each("shop.machines", "system_id")}),
    named("found", "machine_info", {"machines": each("shop.machines", "hostname")}),
    named("host", "vm_host", {"machine": "{{ shop.machines[0].hostname }}", "token": "secret"}),
    named("record", "dns_record", {"fqdn": "api.lab.example.com", "value": each("shop.machines", "ip_addresses")}),
    named("all back", "machine_set", {"claim": "shop", "state": "absent"}),
    named("no record", "dns_record", {"fqdn": "api.lab.example.com", "state": "absent"}),
]
VMS: Tasks = [
    named("zone", "zone", {"name": "az1"}),
    named("tag", "tag", {"name": "control-plane"}),
    named("host", "vm_host", {"name": "kvm1", "power_address": "10.99.0.30", "token": "secret"}),
    named("cordon", "vm_host", {"name": "kvm1", "schedulable": False}),
    named(
        "set",
        "vm_set",
        {"claim": "cp", "count": 3, "memory": "4GiB", "zone": "az1", "tags": ["control-plane"]},
        register="cp",
    ),
    named("one", "vm", {"hostname": "bastion", "memory": "2GiB"}, register="bastion"),
    named(
        "deployed",
        "machine",
        {"machines": "{{ [bastion.vm.hostname] + cp.vms | map(attribute='hostname') }}"},
    ),
    named("record", "dns_record", {"fqdn": "api.maas", "value": each("cp.vms", "ip_addresses")}),
    named("no set", "vm_set", {"claim": "cp", "state": "absent"}),
    named("no host", "vm_host", {"name": "kvm1", "state": "absent"}),
]


def nothing(_sim: Simulator) -> None:
    return


def ready_machines(sim: Simulator) -> None:
    sim.machines(3, zones=["az1"], tags=["nvme", "control-plane"])


GROUNDS: Sequence[Callable[[Simulator], None]] = (nothing, ready_machines)


def checked(sim: Simulator, folder: Path, tasks: Tasks) -> Played:
    sim.requests.clear()
    played = run_playbook(folder, tasks, "--check", "--diff", environment=reach(sim))
    assert played.status == 0, played.output
    assert not [request for request in sim.requests if request.method != "GET"]
    return played


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("tasks", [MACHINES, VMS], ids=["machines", "vms"])
def test_check_mode_goes_through_a_chain(
    sim: Simulator, tmp_path: Path, tasks: Tasks, ground: Callable[[Simulator], None]
) -> None:
    ground(sim)
    checked(sim, tmp_path, tasks)


def test_what_is_not_known_yet_is_null_and_said(sim: Simulator, tmp_path: Path) -> None:
    """As a survey or a template may pass it: null, and empty on ansible-core before 2.19."""
    for name in (None, ""):
        done = run_task(sim, "machine", {"machines": [name], "locked": True}, check=True)
        assert (done.changed, done["machine"]["name"], done["machine"]["predicted"]) == (True, None, True)
        assert done["warnings"] == ["A machine is not known yet: an earlier task chooses it."]
    done = run_task(sim, "dns_record", {"fqdn": "api.maas", "value": ["10.0.0.5", None]}, check=True)
    assert (done["dns_record"]["value"], done["dns_record"]["predicted"]) == (["10.0.0.5"], True)
    assert done["warnings"] == ["Values of api.maas are not known yet: an earlier task makes them."]
    done = run_task(sim, "interface_link", {"machine": None, "interface": "eth0", "mode": "dhcp"}, check=True)
    assert (done.changed, done["interface_link"]["machine"]) == (True, None)


@pytest.mark.parametrize(
    ("module", "options"),
    [
        ("machine", {"machines": [None]}),
        ("dns_record", {"fqdn": "api.maas", "value": [None]}),
        ("dns_record", {"fqdn": "api.maas", "value": []}),
        ("interface_link", {"machine": None, "interface": "eth0", "mode": "dhcp"}),
        ("vm_host", {"machine": None, "token": "secret"}),
        ("disk_erasure", {"machines": [None]}),
    ],
)
def test_a_run_refuses_what_is_not_known(sim: Simulator, module: str, options: dict[str, Any]) -> None:
    done = run_task(sim, module, options)
    assert done.failed
    assert not [request for request in sim.requests if request.method != "GET"]


def test_a_removal_of_values_that_are_not_known_foresees_none(sim: Simulator) -> None:
    record = {"fqdn": "api.maas", "value": ["10.0.0.5"]}
    run_task(sim, "dns_record", record)
    done = run_task(sim, "dns_record", {**record, "value": [None], "state": "absent"}, check=True)
    assert not done.changed
    assert run_task(sim, "dns_record", {**record, "state": "absent"}, check=True).changed


def test_what_a_deployment_has_to_precede_is_foreseen(sim: Simulator) -> None:
    sim.machine("node-1")
    done = run_task(sim, "machine", {"machines": ["node-1"], "locked": True, "annotations": {"a": "b"}}, check=True)
    assert (done["machine"]["locked"], done["machine"]["workload_annotations"]) == (True, {"a": "b"})
    assert "node-1 cannot be locked: it is Ready" in done["warnings"][0]
    assert run_task(sim, "machine", {"machines": ["node-1"], "locked": True}).failed
    # Not what no earlier task could mend.
    assert run_task(sim, "machine", {"machines": ["node-1"], "state": "ready", "locked": True}, check=True).failed


def test_vms_without_room_are_foreseen_and_not_made(sim: Simulator) -> None:
    options = {"claim": "cp", "count": 2, "memory": "1GiB"}
    done = run_task(sim, "vm_set", options, check=True)
    assert [(vm["hostname"], vm["vm_host"], vm["predicted"]) for vm in done["vms"]] == [
        ("cp-1", None, True),
        ("cp-2", None, True),
    ]
    assert done["warnings"] == ["2 of 2 VMs of the claim cp cannot be placed: there is no VM host."]
    assert run_task(sim, "vm_set", options)["failure"]["kind"] == "capacity"
    assert run_task(sim, "vm", {"hostname": "one", "memory": "1GiB"})["failure"]["kind"] == "capacity"
