# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines of the simulator that come alive: what is Deployed and switched on boots, and joins its cluster.

All that a machine knows of a cluster is in its user data. From MAAS it has its name, addresses and hardware, as a real
one has from DHCP, DNS and itself. What a deployment has (Ignition's files, certificates) it keeps while it lasts, over
power off and rescue mode; the next deployment begins without it.
"""

from __future__ import annotations

import ipaddress
import logging
import math
import re
import threading
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from metalshift_lab.kube import first_boot, kubelet
from metalshift_lab.kube.kubelet import Disk, Host, Kubelet, Manners
from metalshift_lab.kube.speed import Speed
from metalshift_lab.simulator import Simulator
from metalshift_lab.simulator.errors import Refusal
from metalshift_lab.simulator.model import Machine, Status
from metalshift_lab.simulator.state import State

# Seconds of real life.
BOOT = 2 * 60
# On its first boot CoreOS moves to the release's own image and starts again.
FIRST_BOOT = 3 * 60
NETWORK = 60
# CoreOS leaves its emergency shell by itself, by booting again.
EMERGENCY = 5 * 60
LOOK = 0.2
STOPPING = 3.0


@dataclass(frozen=True)
class Kind:
    """What a fault does to the machines whose hostname matches, and what more can be said of it, with defaults."""

    meaning: str
    defaults: Mapping[str, str] = field(default_factory=dict)


FAULTS: Mapping[str, Kind] = {
    "never-boots": Kind("a deployed machine never boots"),
    "never-asks": Kind("a machine boots, but never requests a certificate"),
    "other-name": Kind("a machine requests certificates under the name of another one", {"name": "impostor.maas"}),
    "other-address": Kind(
        "a node requests its serving certificate for an address that is not its own", {"address": "192.0.2.66"}
    ),
    "never-ready": Kind("a node joins, but never becomes Ready: it has no pod network"),
    "silent": Kind("a kubelet stops reporting, although its machine is on"),
    "slow": Kind("a machine boots slower, by this factor", {"factor": "10"}),
}


class Off(Exception):
    """The machine was switched off, or given another task."""


@dataclass(frozen=True)
class Fault:
    name: str
    hostname: re.Pattern[str]
    values: Mapping[str, str]


class Faults:
    """What is wrong with which machines now."""

    def __init__(self) -> None:
        self._all: list[Fault] = []

    def add(self, which: str, /, hostname: str = "", **values: str) -> None:
        known = FAULTS[which].defaults
        unknown = sorted(set(values) - set(known))
        if unknown:
            may = ", ".join(["hostname", *known])
            raise ValueError(f"The fault {which} has no {', '.join(unknown)}; it has {may}.")
        if "factor" in values and not _is_above_zero(values["factor"]):
            raise ValueError(f"A machine is slower by a factor above 0, not {values['factor']}.")
        self._all = [*self._all, Fault(which, re.compile(hostname), {**known, **values})]

    def heal(self, name: str = "", hostname: str = "") -> None:
        """End the faults of this name and this very expression; without either, of all."""
        self._all = [
            each
            for each in self._all
            if (name and each.name != name) or (hostname and each.hostname.pattern != hostname)
        ]

    def find(self, name: str, hostname: str) -> Fault | None:
        return next((each for each in self._all if each.name == name and each.hostname.search(hostname)), None)

    def value(self, name: str, hostname: str, key: str, otherwise: str = "") -> str:
        found = self.find(name, hostname)
        return found.values[key] if found else otherwise

    def manners(self, hostname: str) -> Manners:
        return Manners(
            asks=self.find("never-asks", hostname) is None,
            silent=self.find("silent", hostname) is not None,
            network=self.find("never-ready", hostname) is None,
            other_name=self.value("other-name", hostname, "name"),
            other_address=self.value("other-address", hostname, "address"),
        )


@dataclass
class Deployment:
    """A machine with what was deployed on it."""

    hostname: str
    user_data: bytes
    host: Host
    disk: Disk = field(default_factory=Disk)
    life: Life | None = None


class Life:
    """From switching on to switching off, in a thread of its own: it mostly waits."""

    def __init__(self, deployment: Deployment, speed: Speed, faults: Faults, log: logging.Logger) -> None:
        self._deployment, self._speed, self._faults, self._log = deployment, speed, faults, log
        self._hostname, self._disk = deployment.hostname, deployment.disk
        self._off = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"machine {deployment.hostname}", daemon=True)
        self._thread.start()

    @property
    def on(self) -> bool:
        return not self._off.is_set()

    @property
    def over(self) -> bool:
        """Whether it is off and nothing of it goes on any more."""
        return not self.on and not self._thread.is_alive()

    def switch_off(self) -> None:
        self._off.set()

    def wait(self, seconds: float) -> None:
        self._thread.join(seconds)

    def _run(self) -> None:
        try:
            self._live()
        except Off:
            self._log.info("%s is off.", self._hostname)
        except Exception:  # one machine that breaks must not stop the others, and must not do it silently
            self._log.exception("%s broke down", self._hostname)

    def _live(self) -> None:
        while self._faults.find("never-boots", self._hostname):
            self._pause(LOOK)
        config = first_boot.of_user_data(self._deployment.user_data)
        self._pause(self._seconds(BOOT))
        if config is None:
            self._log.info("%s runs what it was given, which joins no cluster.", self._hostname)
            return
        while self._disk.files is None:
            self._first_boot(config)
        bootstrap = kubelet.bootstrap_kubeconfig(self._disk.files)
        if bootstrap is None:
            self._log.info("%s was given no %s, so it joins no cluster.", self._hostname, kubelet.BOOTSTRAP_KUBECONFIG)
            return
        Kubelet(
            host=self._deployment.host,
            disk=self._disk,
            bootstrap=bootstrap,
            manners=lambda: self._faults.manners(self._hostname),
            pause=self._pause,
            speed=self._speed,
            network_after=self._seconds(NETWORK),
            log=self._log,
        ).run()

    def _first_boot(self, config: first_boot.Config) -> None:
        ignition = first_boot.Ignition(self._pause, self._speed, self._log, self._hostname)
        try:
            files = ignition.run(config)
        except first_boot.Emergency as emergency:
            self._log.warning("%s stands in its emergency shell: %s", self._hostname, emergency)
            self._pause(self._seconds(EMERGENCY + BOOT))
            return
        self._pause(self._seconds(FIRST_BOOT))
        self._disk.files = files

    def _seconds(self, real: float) -> float:
        return self._speed.seconds(real) * float(self._faults.value("slow", self._hostname, "factor", "1"))

    def _pause(self, seconds: float) -> None:
        if self._off.wait(seconds):
            raise Off


class Machines:
    """All machines of a simulator: looks which of them run, and gives each of those a life."""

    name = "machines"

    def __init__(self, sim: Simulator, speed: Speed) -> None:
        self._sim, self._speed = sim, speed
        self._log = logging.getLogger("lab.machines")
        self._faults = Faults()
        self._deployments: dict[str, Deployment] = {}
        self._begun: set[str] = set()
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)

    def start(self) -> None:
        if not self._thread.is_alive():
            self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(STOPPING)
        lives = [each.life for each in self._deployments.values() if each.life]
        for life in lives:
            life.switch_off()
        for life in lives:
            # One that waits for an answer ends with the process.
            life.wait(STOPPING / len(lives))

    def faults(self) -> dict[str, Callable[..., None]]:
        """By name; each takes `hostname` (a regular expression, default all machines) and what `FAULTS` says of it."""

        def adder(name: str) -> Callable[..., None]:
            return lambda **values: self._faults.add(name, **values)

        return {name: adder(name) for name in FAULTS}

    def heal(self, name: str = "", hostname: str = "") -> None:
        """End the faults of this name, those given with this `hostname`, or all."""
        self._faults.heal(name, hostname)

    def alive(self) -> list[str]:
        """The hostnames of the machines that run now."""
        with self._lock:
            return sorted(each.hostname for each in self._deployments.values() if each.life and each.life.on)

    def _run(self) -> None:
        while not self._ended.wait(LOOK):
            try:
                self._look()
            except Exception:  # the machines go on whatever one look at them meets
                self._log.exception("A look at the machines failed")

    def _look(self) -> None:
        with self._sim.world.at_rest() as state:
            self._look_at(state)

    def _look_at(self, state: State) -> None:
        with self._lock:
            deployed = {machine.system_id: machine for machine in state.machines if machine.user_data}
            for system_id, deployment in list(self._deployments.items()):
                # The very same bytes: what is deployed again, be it equal, is another deployment.
                if system_id not in deployed or deployed[system_id].user_data is not deployment.user_data:
                    if deployment.life:
                        deployment.life.switch_off()
                    del self._deployments[system_id]
            for machine in deployed.values():
                self._switch(machine)
            deploying = [machine for machine in state.machines if machine.status is Status.DEPLOYING]
            for machine in deploying:
                if machine.system_id not in self._begun:
                    self._begin(machine)
            self._begun = {machine.system_id for machine in deploying}

    def _begin(self, machine: Machine) -> None:
        """Switch on what is to be deployed, as MAAS's workflow does some seconds after the answer."""
        if machine.power_state == "off":
            # One that cannot be switched on fails at the end of its deployment.
            with suppress(Refusal):
                self._sim.world.engine.power(machine, "power-on")

    def _switch(self, machine: Machine) -> None:
        deployment = self._deployments.get(machine.system_id)
        if not runs(machine):
            if deployment and deployment.life:
                deployment.life.switch_off()
            return
        if deployment is None:
            deployment = Deployment(machine.hostname, machine.user_data or b"", host_of(machine))
            self._deployments[machine.system_id] = deployment
        if deployment.life is None or deployment.life.over:
            # Its name is what the first boot wrote to the disk, whatever MAAS calls the machine by now.
            deployment.host = replace(host_of(machine), name=deployment.host.name)
            deployment.life = Life(deployment, self._speed, self._faults, self._log)


def _is_above_zero(text: str) -> bool:
    try:
        return 0 < float(text) < math.inf
    except ValueError:
        return False


def runs(machine: Machine) -> bool:
    """Whether what was deployed runs. Of a machine without power control nobody says that it is off."""
    return machine.status is Status.DEPLOYED and machine.power_state != "off"


def host_of(machine: Machine) -> Host:
    identity = uuid.uuid5(uuid.NAMESPACE_OID, machine.system_id)
    return Host(
        name=machine.fqdn.lower(),
        addresses=addresses(machine),
        cpu=machine.cpu_count,
        memory=machine.memory,
        disk=max((disk.size for disk in machine.disks), default=0),
        arch=machine.architecture.partition("/")[0],
        image=f"{machine.osystem}/{machine.distro_series}",
        machine_id=identity.hex,
        system_uuid=machine.hardware_uuid or str(identity),
    )


def addresses(machine: Machine) -> tuple[str, ...]:
    """Those of the kubelet: one of each IP version, of the interface it boots from if that has one."""
    boot = machine.boot_interface
    others = [each for each in machine.interfaces if each is not boot]
    found = [link.ip for each in ([boot] if boot else []) + others for link in each.links if link.ip]
    return tuple({ipaddress.ip_address(ip).version: ip for ip in reversed(found)}.values())
