# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from caller import Caller
from metalshift_lab.kube import maas as stocked
from metalshift_lab.kube.machines import FAULTS, Faults, Machines, addresses, host_of
from metalshift_lab.kube.speed import Speed
from metalshift_lab.simulator import Simulator

JOINS_NOTHING = b'{"ignition": {"version": "3.2.0"}}'


def eventually(true: Callable[[], Any], seconds: float = 20) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < deadline, "it did not become true in time"
        time.sleep(0.05)
    return found


def deploy(sim: Simulator, maas: Caller, hostname: str, user_data: bytes = JOINS_NOTHING) -> None:
    """Deployed, and on."""
    order = {"distro_series": stocked.IMAGE, "user_data": base64.b64encode(user_data).decode()}
    answer = maas.op(hostname, "deploy", **order)
    assert answer.ok, answer.text
    sim.advance(hostname)


@pytest.fixture
def machines(sim: Simulator) -> Iterator[Machines]:
    stocked.stock(sim, 3)
    made = Machines(sim, Speed(1000))
    made.start()
    yield made
    made.stop()


# -- which machines run ---------------------------------------------------------------------------------------------


def test_only_deployed_machines_with_user_data_run(sim: Simulator, maas: Caller, machines: Machines) -> None:
    deploy(sim, maas, "worker01")
    deploy(sim, maas, "worker02", b"")
    eventually(lambda: machines.alive() == ["worker01"])
    time.sleep(0.5)
    assert machines.alive() == ["worker01"]


def test_a_machine_is_on_while_it_is_deployed(sim: Simulator, maas: Caller, machines: Machines) -> None:
    assert maas.op("worker01", "deploy", distro_series=stocked.IMAGE).ok
    eventually(lambda: sim.find("worker01").power_state == "on")
    assert sim.find("worker01").status.name == "DEPLOYING"
    assert machines.alive() == []


@pytest.mark.parametrize("act", ["power_off", "release", "rescue_mode", "mark_broken"])
def test_a_machine_that_is_taken_away_stops(sim: Simulator, maas: Caller, machines: Machines, act: str) -> None:
    deploy(sim, maas, "worker01")
    eventually(lambda: machines.alive() == ["worker01"])
    assert maas.op("worker01", act).ok
    eventually(lambda: machines.alive() == [])


@pytest.mark.parametrize(("away", "back"), [("power_off", "power_on"), ("rescue_mode", "exit_rescue_mode")])
def test_a_machine_that_comes_back_runs_again(
    sim: Simulator, maas: Caller, machines: Machines, away: str, back: str
) -> None:
    deploy(sim, maas, "worker01")
    eventually(lambda: machines.alive() == ["worker01"])
    assert maas.op("worker01", away).ok
    sim.advance("worker01")
    eventually(lambda: machines.alive() == [])
    assert maas.op("worker01", back).ok
    sim.advance("worker01")
    eventually(lambda: machines.alive() == ["worker01"])


def test_stopping_is_prompt_and_for_all(sim: Simulator, maas: Caller, machines: Machines) -> None:
    for hostname in ("worker01", "worker02", "worker03"):
        deploy(sim, maas, hostname)
    eventually(lambda: len(machines.alive()) == 3)
    begin = time.monotonic()
    machines.stop()
    machines.stop()
    assert (machines.alive(), time.monotonic() - begin < 2) == ([], True)


# -- what a machine is ----------------------------------------------------------------------------------------------


def test_a_host_has_the_name_and_addresses_of_maas(sim: Simulator, maas: Caller) -> None:
    stocked.stock(sim, 1)
    deploy(sim, maas, "worker01")
    machine = sim.find("worker01")
    host = host_of(machine)
    assert (host.name, host.cpu, host.memory, host.arch) == ("worker01.maas", 8, 32768, "amd64")
    assert list(host.addresses) == maas("GET", f"machines/{machine.system_id}/").json()["ip_addresses"]


def test_the_boot_interface_gives_the_address(sim: Simulator, maas: Caller) -> None:
    stocked.stock(sim, 0)
    sim.machine("many", nics=2)
    machine = sim.find("many")
    second = machine.interfaces[1]
    subnet = maas("GET", "subnets/").json()[0]
    order = {"mode": "STATIC", "subnet": subnet["id"], "ip_address": "10.99.0.77"}
    path = f"nodes/{machine.system_id}/interfaces/{second.id}/"
    assert maas("POST", f"{path}?op=unlink_subnet", {"id": second.links[0].id}).ok
    assert maas("POST", f"{path}?op=link_subnet", order).ok
    deploy(sim, maas, "many")
    assert machine.boot_interface is not None
    assert addresses(machine) == (machine.boot_interface.links[0].ip,)


# -- faults ---------------------------------------------------------------------------------------------------------


def test_every_fault_can_be_made_and_healed() -> None:
    faults = Faults()
    for name in FAULTS:
        faults.add(name, "^worker0[12]$")
        assert faults.find(name, "worker01")
        assert not faults.find(name, "worker03")
        faults.heal(name)
        assert not faults.find(name, "worker01")


def test_healing_takes_what_it_is_told() -> None:
    faults = Faults()
    faults.add("silent", "one")
    faults.add("silent", "two")
    faults.heal("silent", "one")
    assert (faults.find("silent", "one"), bool(faults.find("silent", "two"))) == (None, True)
    faults.heal()
    assert faults.find("silent", "two") is None


@pytest.mark.parametrize("values", [{"speed": "2"}, {"factor": "0"}, {"factor": "fast"}])
def test_faults_take_only_what_they_know(values: dict[str, str]) -> None:
    with pytest.raises(ValueError):
        Faults().add("slow", **values)


def test_manners_follow_the_faults() -> None:
    faults, impostor = Faults(), {"name": "worker09.maas"}
    faults.add("other-name", "worker", **impostor)
    faults.add("other-address", "worker", address="10.99.0.9")
    faults.add("never-ready", "worker")
    manners = faults.manners("worker01")
    assert (manners.other_name, manners.other_address, manners.network) == ("worker09.maas", "10.99.0.9", False)
    assert (manners.asks, manners.silent) == (True, False)
