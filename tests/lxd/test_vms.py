# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""VMs on a real LXD, which the simulated MAAS drives: both ways, whole lives, and runs that are killed."""

from __future__ import annotations

import secrets
import subprocess
import time
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from chaos.assassin import COMMITTED, Door
from chaos.runs import Run
from integration.arranging import client
from integration.harness import Outcome, run_task
from lxd.place import Place
from metalshift_lab.lxd.server import RealLxd
from metalshift_lab.simulator import Simulator

WAYS = ("maas", "lxd")
HOST = "kvm-host"
# As much as fits on a machine with two cores and little memory; the VMs are not booted.
SMALL = {"cores": 1, "memory": "1GiB", "disks": [{"size": "1GB"}, {"size": "1GB"}]}
QUICK = {"wait_sleep": 0.05, "wait_timeout": 120}
RATIO = 50.0
STATIC = [{"addresses": ["10.99.0.71-10.99.0.79"]}]


class RealHost:
    """One real LXD as a host for VMs, known to MAAS and reached by itself."""

    def __init__(self, sim: Simulator, lxd: RealLxd, project: str) -> None:
        self.sim, self.lxd, self.project = sim, lxd, project
        sim.real_lxd(lxd.endpoint)
        sim.auto(0.05)
        cards = lxd.local.get("/1.0/resources")["network"]["cards"]
        node = sim.machine(HOST, status="Deployed", zone="az1", mac_addresses=[cards[0]["ports"][0]["address"]])
        # MAAS attaches what it composes to what it knows.
        sim.state.add_interface(node, name=lxd.bridge, type="bridge", vlan=node.interfaces[0].vlan)
        pair = {"certificate": Path(lxd.client_cert).read_text(), "key": Path(lxd.client_key).read_text()}
        form = {"type": "lxd", "name": HOST, "power_address": lxd.endpoint, "project": project, **pair}
        made = client(sim).post("vm-hosts/", form)
        client(sim).put(f"vm-hosts/{made['id']}/", {"cpu_over_commit_ratio": 10, "memory_over_commit_ratio": 10})
        sim.forward(1)

    @cached_property
    def reach(self) -> dict[str, Any]:
        host = {"name": HOST, "endpoint": self.lxd.endpoint, "cpu_over_commit_ratio": RATIO}
        return {
            "lxd_hosts": [{**host, "memory_over_commit_ratio": RATIO}],
            "lxd_client_cert": self.lxd.client_cert,
            "lxd_client_key": self.lxd.client_key,
            "lxd_server_cert": self.lxd.server_cert,
            "lxd_project": self.project,
        }

    def options(self, via: str, args: Mapping[str, Any]) -> dict[str, Any]:
        given = {"via": via, **QUICK, **args}
        if via == "maas":
            return given
        nics = args.get("interfaces") or [{}]
        interfaces = [{**nic, "parent": self.lxd.bridge} for nic in nics]
        return {**given, **self.reach, **({"interfaces": interfaces} if args.get("state") != "absent" else {})}

    def run(self, module: str, via: str, check: bool = False, **args: Any) -> Outcome:
        came = run_task(self.sim, module, self.options(via, args), check=check)
        assert not came.failed, came.msg
        return came

    # -- what there is, past our own code ---------------------------------------------------------------------------

    @property
    def in_lxd(self) -> dict[str, str]:
        told = self.lxd.local.get(f"/1.0/instances?recursion=1&project={self.project}")
        return {each["name"]: each["status"] for each in told}

    @property
    def in_maas(self) -> dict[str, str]:
        return {each.hostname: each.status.label for each in self.sim.state.machines if each.hostname != HOST}

    @property
    def volumes(self) -> list[str]:
        return [
            each["name"]
            for each in self.lxd.local.get(f"/1.0/storage-pools/default/volumes?recursion=1&project={self.project}")
            if each["type"] == "custom"
        ]

    def clear(self) -> None:
        for name in self.in_lxd:
            if self.in_lxd[name] != "Stopped":
                body = {"action": "stop", "force": True, "timeout": 30}
                self.lxd.local("PUT", f"/1.0/instances/{name}/state?project={self.project}", body)
            self.lxd.local("DELETE", f"/1.0/instances/{name}?project={self.project}")
        for name in self.volumes:
            self.lxd.local("DELETE", f"/1.0/storage-pools/default/volumes/custom/{name}?project={self.project}")
        self.lxd.local("DELETE", f"/1.0/projects/{self.project}")


@pytest.fixture
def host(sim: Simulator, lxd: Place) -> Iterator[RealHost]:
    if "qemu" not in lxd.real.drivers:
        pytest.skip("LXD has no virtual machines where there is no /dev/kvm.")
    host = RealHost(sim, lxd.real, lxd.name)
    yield host
    host.clear()


@pytest.mark.journey
@pytest.mark.parametrize("via", WAYS)
def test_the_life_of_a_vm(host: RealHost, via: str) -> None:
    wish = {"hostname": "web", **SMALL, "interfaces": [{"ip": "10.99.0.61"}]}
    foreseen = host.run("vm", via, check=True, **wish)
    assert (foreseen.changed, host.in_lxd) == (True, {})
    vm = host.run("vm", via, **wish)["vm"]
    assert (vm["vm_host"], vm["status_name"], vm["ip_addresses"]) == (HOST, "Ready", ["10.99.0.61"])
    assert (list(host.in_lxd), host.in_maas, len(host.volumes)) == (["web"], {"web": "Ready"}, 1)
    told = host.lxd.local.get(f"/1.0/instances/web?project={host.project}")
    assert (told["config"]["limits.cpu"], told["config"]["security.secureboot"]) == ("1", "false")
    assert host.lxd.bridge in (told["devices"]["eth0"].get("parent"), told["devices"]["eth0"].get("network"))
    assert not host.run("vm", via, **wish).changed
    assert host.run("vm", via, hostname="web", state="absent").changed
    assert not host.run("vm", via, hostname="web", state="absent").changed
    assert (host.in_lxd, host.in_maas, host.volumes) == ({}, {}, [])


@pytest.mark.parametrize("via", WAYS)
def test_a_vm_is_switched_by_maas(host: RealHost, via: str) -> None:
    host.run("vm", via, hostname="web", **SMALL)
    for state, power, status in (("allocated", "on", "Running"), ("allocated", "off", "Stopped")):
        args = {"machines": ["web"], "state": state, "power": power, **QUICK}
        came = run_task(host.sim, "machine", args)
        assert not came.failed, came.msg
        assert host.in_lxd == {"web": status}
    gone = host.run("vm", via, hostname="web", state="absent")
    assert gone.changed
    assert (host.in_lxd, host.in_maas, host.volumes) == ({}, {}, [])


def test_a_stopped_vm_gets_another_size(host: RealHost) -> None:
    host.run("vm", "lxd", hostname="web", **SMALL)
    wish = {"hostname": "web", "cores": 2, "memory": "1536MiB"}
    switch = {"machines": ["web"], "state": "allocated", **QUICK}
    assert not run_task(host.sim, "machine", {**switch, "power": "on"}).failed
    running = run_task(host.sim, "vm", host.options("lxd", wish))
    assert "which is changeable when it is stopped, and it runs." in running.msg
    assert not run_task(host.sim, "machine", {**switch, "power": "off"}).failed
    assert not run_task(host.sim, "machine", {"machines": ["web"], "state": "ready", **QUICK}).failed
    foreseen = host.run("vm", "lxd", check=True, **wish)
    came = host.run("vm", "lxd", **wish)
    assert (foreseen["diff"], came.changed) == (came["diff"], True)
    told = host.lxd.local.get(f"/1.0/instances/web?project={host.project}")
    assert (told["config"]["limits.cpu"], told["config"]["limits.memory"]) == ("2", "1536MiB")
    assert told["config"]["security.secureboot"] == "false"
    assert (came["vm"]["cpu_count"], came["vm"]["memory"], came["vm"]["status_name"]) == (2, 1536, "Ready")
    assert not host.run("vm", "lxd", **wish).changed


def test_a_client_that_is_restricted_to_the_project_can_do_it_all(host: RealHost, lxd: Place) -> None:
    host.run("vm", "maas", hostname="first", **SMALL)
    narrow = lxd.pair()
    body = "".join(Path(narrow["lxd_client_cert"]).read_text().splitlines()[1:-1])
    restricted = {"type": "client", "name": "narrow", "restricted": True, "projects": [host.project]}
    lxd.ask("POST", "certificates", {**restricted, "certificate": body})
    host.reach = {**host.reach, **narrow}
    made = host.run("vm", "lxd", hostname="web", **SMALL)
    assert made["vm"]["status_name"] == "Ready"
    host.run("vm", "lxd", hostname="web", state="absent")
    assert list(host.in_lxd) == ["first"]


def test_an_lxd_that_restarts_in_the_middle_is_waited_for(host: RealHost) -> None:
    """It leaves VMs without a disk when it is killed while it makes them."""
    wish = {"claim": "cp", "count": 3, **SMALL}
    outcomes: list[Outcome] = []
    run = Thread(target=lambda: outcomes.append(run_task(host.sim, "vm_set", host.options("lxd", wish))))
    run.start()
    for _look in range(600):
        if host.in_lxd:
            break
        time.sleep(0.05)
    host.lxd.kill()
    host.lxd.resume()
    run.join(180)
    (first,) = outcomes
    # MAAS reaches LXD as little while it starts, and does not wait for it.
    assert "on kvm-host" not in str(first.msg), first.msg
    host.run("vm_set", "lxd", **wish)
    assert (sorted(host.in_lxd), host.in_maas) == (NAMES[:3], dict.fromkeys(NAMES[:3], "Ready"))
    assert len(host.volumes) == 3
    host.run("vm_set", "lxd", claim="cp", state="absent")
    assert (host.in_lxd, host.in_maas, host.volumes) == ({}, {}, [])


# -- what LXD says of a VM host ----------------------------------------------------------------------------------------


def test_lxd_says_what_maas_does_not_know_of_it(host: RealHost, lxd: Place) -> None:
    host.run("vm", "lxd", hostname="mine", **SMALL)
    pair = {"certificate": lxd.real.client_cert, "key": lxd.real.client_key}
    there = {"power_address": lxd.real.endpoint, "project": host.project, "server_cert": lxd.real.server_cert, **QUICK}
    known = run_task(host.sim, "vm_host", {"name": HOST, **there, **pair})
    assert (known.failed, known.changed, known["vm_host"]["obstacles"]) == (False, False, []), known.msg
    client(host.sim).delete("vm-hosts/1/")
    refused = run_task(host.sim, "vm_host", {"name": HOST, **there, **pair})
    assert refused.msg.startswith(f"The project {host.project} has VMs already (mine), and MAAS would commission them")
    narrow = lxd.pair()
    body = "".join(Path(narrow["lxd_client_cert"]).read_text().splitlines()[1:-1])
    restricted = {"type": "client", "name": "narrow", "restricted": True, "projects": [host.project]}
    lxd.ask("POST", "certificates", {**restricted, "certificate": body})
    pair = {"certificate": narrow["lxd_client_cert"], "key": narrow["lxd_client_key"]}
    came = run_task(host.sim, "vm_host", {"name": HOST, **there, **pair, "project": "default"})
    assert came["failure"]["kind"] == "forbidden", came.msg
    assert f"for projects that are named ({host.project}), and default is not among them." in came.msg
    own = run_task(host.sim, "vm_host", {"name": HOST, **there, **pair}, check=True)
    assert "has VMs already (mine)" in own.msg
    assert not list(host.sim.state.vm_hosts)


# -- kills -------------------------------------------------------------------------------------------------------------

WISH = {"claim": "cp", "count": 5, **SMALL}
ABSENT = {"claim": "cp", "state": "absent"}
NAMES = [f"cp-{number}" for number in range(1, 6)]


@pytest.mark.parametrize("via", WAYS)
def test_a_set_killed_five_times_is_completed_by_other_runs(host: RealHost, via: str) -> None:
    """Kills of requests to LXD itself are among those on the LXD in memory; these are between its operations."""
    with Door(host.sim) as door:
        reach = {"maas_endpoint": door.url, "maas_api_key": host.sim.api_key, "maas_timeout": 30}

        def begin(wish: Mapping[str, Any]) -> Run:
            return Run("vm_set", {**host.options(via, wish), **reach})

        def complete(wish: Mapping[str, Any]) -> None:
            result = begin(wish).end()
            assert result is not None
            assert not result.get("failed"), result["msg"]

        door.kill(lambda: None, 0, COMMITTED)
        complete(WISH)
        number = door.count
        complete(ABSENT)
        for at in sorted({1, number // 4, number // 2, 3 * number // 4, number - 1}):
            run = begin(WISH)
            door.kill(run.kill, at, COMMITTED)
            run.end()
            door.spare()
            complete(WISH)
            assert (sorted(host.in_lxd), sorted(host.in_maas), len(host.volumes)) == (NAMES, NAMES, 5), at
            complete(ABSENT)
            assert (host.in_lxd, host.in_maas, host.volumes) == ({}, {}, []), at


# -- a bridge that MAAS does not know ----------------------------------------------------------------------------------


@pytest.fixture
def port() -> Iterator[tuple[str, str]]:
    """A bridge on this machine, and an interface that is its port."""
    words = secrets.token_hex(3)
    bridge, port, far = (f"{kind}{words}" for kind in ("tbr", "tp", "tq"))
    commands = (
        f"ip link add {bridge} type bridge",
        f"ip link add {port} type veth peer name {far}",
        f"ip link set {port} master {bridge} up",
        f"ip link set {far} up",
        f"ip link set {bridge} up",
    )
    for command in commands:
        subprocess.run(command.split(), check=True)
    yield bridge, port
    subprocess.run(["ip", "link", "delete", port], check=True)
    subprocess.run(["ip", "link", "delete", bridge], check=True)


def test_vms_start_on_the_bridge_of_which_maas_knows_a_port(host: RealHost, lxd: Place, port: tuple[str, str]) -> None:
    """With a client that is restricted to the project, as the role lxd_host lets MAAS in."""
    bridge, known = port
    node = host.sim.find(HOST)
    for nic in list(node.interfaces):
        nic.name = known if nic.type == "physical" else nic.name
        if nic.type == "bridge":
            host.sim.state.remove_interface(nic)
    composed = run_task(host.sim, "vm_set", {"claim": "cp", "count": 1, **SMALL, "interfaces": STATIC, **QUICK})
    assert "Device or resource busy" in composed.msg, composed.result
    narrow = lxd.pair()
    body = "".join(Path(narrow["lxd_client_cert"]).read_text().splitlines()[1:-1])
    restricted = {"type": "client", "name": "narrow", "restricted": True, "projects": [host.project]}
    lxd.ask("POST", "certificates", {**restricted, "certificate": body})
    wish = {"claim": "cp", "count": 2, **SMALL, "interfaces": STATIC, "via": "lxd", **QUICK, **host.reach, **narrow}
    came = run_task(host.sim, "vm_set", wish)
    assert (came.failed, came["summary"]) == (False, {"ready": 2}), came.msg
    listed = host.lxd.local.get(f"/1.0/instances?recursion=1&project={host.project}")
    assert {each["devices"]["eth0"]["parent"] for each in listed} == {bridge}
    assert host.in_lxd == {"cp-1": "Running", "cp-2": "Running"}
    assert sorted(vm["ip_addresses"][0] for vm in came["vms"]) == ["10.99.0.71", "10.99.0.72"]
    assert not run_task(host.sim, "vm_set", wish).changed
    gone = run_task(host.sim, "vm_set", {**wish, "state": "absent"})
    assert (gone.failed, host.in_lxd, host.in_maas) == (False, {}, {}), gone.msg


# -- several VMs of one name -------------------------------------------------------------------------------------------


def test_of_two_vms_of_a_name_the_one_of_maas_is_taken_and_the_other_stays(host: RealHost, lxd: Place) -> None:
    """A host that was lost comes back: here another project of the LXD plays it."""
    other = f"{host.project}-old"
    lxd.ask("POST", "projects", {"name": other, "config": {"features.images": "true"}})
    old = {**host.reach["lxd_hosts"][0], "name": "old-host", "project": other}
    wish = host.options("lxd", {"claim": "cp", "count": 1, **SMALL, "tags": []})
    host.run("vm_set", "lxd", claim="cp", count=1, **SMALL)
    copy = {"type": "copy", "source": "cp-1", "project": host.project}
    query, devices = f"?project={other}", host.lxd.local.get(f"/1.0/instances/cp-1?project={host.project}")["devices"]
    # Neither its volume nor its name on the network can be had twice on one LXD.
    devices |= {"disk1": {"type": "none"}, "eth0": {"type": "none"}}
    body = {"name": "cp-1", "type": "virtual-machine", "source": copy, "devices": devices}
    state = f"/1.0/instances/cp-1/state?project={host.project}"
    try:
        # LXD copies no VM that runs.
        host.lxd.local("PUT", state, {"action": "stop", "force": True, "timeout": 30})
        host.lxd.local("POST", f"/1.0/instances{query}", body)
        host.lxd.local("PUT", state, {"action": "start", "timeout": 30})
        before = host.lxd.local.get(f"/1.0/instances/cp-1?project={host.project}")["config"]["volatile.uuid"]
        for order in ([old, wish["lxd_hosts"][0]], [wish["lxd_hosts"][0], old]):
            came = run_task(host.sim, "vm_set", {**wish, "lxd_hosts": order})
            assert (came.failed, came.changed, came["vms"][0]["vm_host"]) == (False, False, HOST), came.msg
            assert f"cp-1 is on old-host as well as on {HOST}" in came["warnings"][0]
        now = host.lxd.local.get(f"/1.0/instances/cp-1?project={host.project}")
        assert (now["config"]["volatile.uuid"], now["status"]) == (before, "Running")
        gone = run_task(host.sim, "vm_set", {**wish, "lxd_hosts": [old, wish["lxd_hosts"][0]], "state": "absent"})
        assert (gone.failed, host.in_lxd, host.in_maas) == (True, {}, {}), gone.msg
        assert [each["name"] for each in host.lxd.local.get(f"/1.0/instances{query}&recursion=1")] == ["cp-1"]
        assert "The VM on old-host is left alone." in gone.msg
        # What was made empty and never started is another matter.
        host.lxd.local("DELETE", f"/1.0/instances/cp-1{query}")
        host.run("vm_set", "lxd", claim="cp", count=1, **SMALL)
        empty = {"config": {"user.metalshift_claim": "cp"}, "source": {"type": "none"}, "devices": {}}
        root = {"root": {"type": "disk", "path": "/", "pool": "default", "size": "1GB"}}
        host.lxd.local("POST", f"/1.0/instances{query}", {**body, **empty, "devices": root})
        came = run_task(host.sim, "vm_set", {**wish, "lxd_hosts": [old, wish["lxd_hosts"][0]]})
        assert (came.failed, [one["vm_host"] for one in came["removed"]]) == (False, ["old-host"]), came.msg
        assert host.lxd.local.get(f"/1.0/instances{query}&recursion=1") == []
    finally:
        for name in [each["name"] for each in host.lxd.local.get(f"/1.0/instances{query}&recursion=1")]:
            host.lxd.local("DELETE", f"/1.0/instances/{name}{query}")
        host.lxd.local("DELETE", f"/1.0/projects/{other}")


# -- what is left of a VM that somebody removed ------------------------------------------------------------------------


def test_disks_of_a_vm_that_somebody_removed_stay(host: RealHost) -> None:
    host.run("vm_set", "lxd", claim="cp", count=1, **SMALL)
    state = f"/1.0/instances/cp-1/state?project={host.project}"
    if host.in_lxd["cp-1"] != "Stopped":
        host.lxd.local("PUT", state, {"action": "stop", "force": True, "timeout": 30})
    host.lxd.local("DELETE", f"/1.0/instances/cp-1?project={host.project}")
    kept = host.run("vm_set", "lxd", claim="cp", count=1, **SMALL)
    assert not kept.changed
    assert any("whose VM is gone. It is left alone." in text for text in kept["warnings"]), kept["warnings"]
    gone = run_task(host.sim, "vm_set", host.options("lxd", {"claim": "cp", "state": "absent"}))
    assert (gone.failed, "cp-1-disk1 on kvm-host is a disk of cp-1" in gone.msg) == (True, True), gone.msg
    assert (host.in_lxd, host.in_maas, host.volumes) == ({}, {}, ["cp-1-disk1"])
