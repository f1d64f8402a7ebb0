# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens to machines over time: transitions, power, script results.

Nothing advances by itself unless `auto` is set; then a transition is over after its duration of the simulator's
clock. There is no background thread: whoever looks at the state calls `tick` first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from metalshift_lab.simulator import network, storage
from metalshift_lab.simulator.errors import Refusal, ServerError, Unavailable
from metalshift_lab.simulator.faults import MachineFault, Stay
from metalshift_lab.simulator.model import (
    AllocType,
    Machine,
    ResultType,
    Script,
    ScriptResult,
    ScriptSet,
    ScriptStatus,
    Status,
    Subnet,
    User,
    VMHost,
)
from metalshift_lab.simulator.state import State

DEFAULT_ARCHITECTURE = "amd64/generic"
DEFAULT_CORES, DEFAULT_MEMORY, DEFAULT_DISK = 4, 8192, 250
GB = 1000**3
NIC_SPEED = 10000
NIC_VENDOR, NIC_PRODUCT, NIC_FIRMWARE = "Lab Networks", "10G Ethernet", "1.0"


@dataclass(frozen=True)
class Transition:
    """A status that ends by itself: the word for it in faults and durations, and what it becomes when it fails."""

    action: str
    failed: Status


TRANSITIONS = {
    Status.COMMISSIONING: Transition("commission", Status.FAILED_COMMISSIONING),
    Status.TESTING: Transition("test", Status.FAILED_TESTING),
    Status.DEPLOYING: Transition("deploy", Status.FAILED_DEPLOYMENT),
    Status.RELEASING: Transition("release", Status.FAILED_RELEASING),
    Status.DISK_ERASING: Transition("erase", Status.FAILED_DISK_ERASING),
    Status.ENTERING_RESCUE_MODE: Transition("rescue", Status.FAILED_ENTERING_RESCUE_MODE),
    Status.EXITING_RESCUE_MODE: Transition("rescue", Status.FAILED_EXITING_RESCUE_MODE),
}
ACTIONS = tuple(dict.fromkeys(t.action for t in TRANSITIONS.values()))
FAILURES = {
    "commission": "Node was unable to complete commissioning.",
    "test": "smartctl-validate failed on sda.",
    "deploy": "Installation failed (refer to the installation log for more information).",
    "release": "Node could not be released.",
    "erase": "Failed to erase disks.",
    "rescue": "Failed to boot into the rescue environment.",
}


class VirtualMachines(Protocol):
    """What the VM hosts do in the life of machines. An empty answer: the machine is not a VM of theirs."""

    def become_host(self, state: State, machine: Machine) -> None:
        """Make it a VM host, if it was deployed to be one."""

    def switch_vm(self, state: State, machine: Machine, on: bool) -> None: ...

    def vm_power_state(self, state: State, machine: Machine) -> str: ...

    def vm_hardware(self, state: State, machine: Machine) -> dict[str, Any]:
        """What commissioning finds in it."""

    def delete_vm(self, state: State, machine: Machine) -> None:
        """Delete the VM of a machine that is about to be deleted."""

    def forget_host(self, state: State, host: VMHost) -> None:
        """Forget a VM host and the machines on it."""


@dataclass
class Engine:
    state: State
    vms: VirtualMachines
    auto: float = 0.0
    durations: dict[str, float] = field(default_factory=dict)  # by action, instead of `auto`
    machine_faults: list[MachineFault] = field(default_factory=list)
    stays: list[Stay] = field(default_factory=list)
    power_faults: dict[str, str] = field(default_factory=dict)  # "power-on" -> error text
    _due: dict[str, tuple[float, Machine, Status]] = field(default_factory=dict)
    _later: list[tuple[float, Callable[[], None]]] = field(default_factory=list)

    # -- time -------------------------------------------------------------------------------------------------------

    def set_auto(self, seconds: float, durations: dict[str, float] | None = None) -> None:
        """From now on every transition, also the running ones, ends after this time; 0: never."""
        unknown = set(durations or ()) - set(ACTIONS)
        if unknown:
            raise ValueError(f"There is no transition {', '.join(sorted(unknown))}; there are {', '.join(ACTIONS)}.")
        self.auto = seconds
        self.durations = dict(durations or {})
        self._due.clear()
        for machine in self.state.machines:
            self._plan(machine)

    def tick(self) -> None:
        """Finish what is due by now, in the order of the due times."""
        if not self._due and not self._later:
            return
        now = self.state.clock.time()
        ripe = [act for at, act in self._later if at <= now]
        self._later = [(at, act) for at, act in self._later if at > now]
        for act in ripe:
            act()
        due = sorted((d for d in self._due.values() if d[0] <= now), key=lambda d: d[0])
        for _ignored, machine, status in due:
            if machine.status is status and self._stays(machine):
                continue
            self._due.pop(machine.system_id, None)
            if machine.status is status and self.state.node_by_system_id(machine.system_id) is machine:
                self.finish(machine, boots=True)

    def _stays(self, machine: Machine) -> bool:
        """Whether it goes on with what it does, however long that has taken."""
        action = TRANSITIONS[machine.status].action
        return any(each.keeps(machine.hostname, action) for each in self.stays)

    def takes_time(self, action: str) -> bool:
        return self.durations.get(action, self.auto) > 0

    def later(self, seconds: float, act: Callable[[], None]) -> None:
        """What MAAS does in the background, whatever `auto` says."""
        self._later.append((self.state.clock.time() + seconds, act))

    def _plan(self, machine: Machine) -> None:
        transition = TRANSITIONS.get(machine.status)
        self._due.pop(machine.system_id, None)
        if transition is None:
            return
        seconds = self.durations.get(transition.action, self.auto)
        if seconds > 0:
            self._due[machine.system_id] = (self.state.clock.time() + seconds, machine, machine.status)

    # -- status -----------------------------------------------------------------------------------------------------

    def enter(self, machine: Machine, status: Status) -> None:
        """Set a status; the only way it is ever set."""
        machine.status = status
        machine.updated = self.state.now
        self._plan(machine)

    def say(
        self,
        machine: Machine,
        type: str,
        description: str = "",
        level: str = "INFO",
        user: User | None = None,
        action: str = "",
    ) -> None:
        """Log an event; the newest one of INFO or worse is the machine's status message."""
        self.state.log_event(machine, type, description, level, user.username if user else "")
        if level not in ("DEBUG", "AUDIT"):
            machine.status_message = f"{type} - {description}" if description else type
            machine.status_action = action

    def asked(self, machine: Machine, what: str, user: User | None, comment: str = "") -> None:
        """The event of a user's request."""
        who = f"({user.username})" if user else ""
        self.say(machine, what, f"{who} - {comment}" if comment else who, "DEBUG", user)

    def fail(self, machine: Machine, reason: str = "") -> None:
        """The running transition ends badly."""
        transition = TRANSITIONS[machine.status]
        reason = reason or FAILURES[transition.action]
        self.say(machine, "Marking node failed", reason, "ERROR", action="mark_failed")
        machine.error_description = reason
        ended = {
            "commission": (machine.commissioning_set, machine.testing_set),
            "test": (machine.testing_set,),
            "deploy": (machine.installation_set,),
            "erase": (machine.release_set,),
        }.get(transition.action, ())
        for script_set in ended:
            self.conclude(script_set, ScriptStatus.FAILED, reason)
        self.enter(machine, transition.failed)

    def finish(
        self,
        machine: Machine,
        *,
        fail: bool = False,
        reason: str = "",
        hardware: dict[str, Any] | None = None,
        boots: bool = False,
    ) -> None:
        """End the running transition as the machine's agent would. No effect without one.

        `boots`: the machine was really switched on for it, which a machine that cannot be does not survive.
        """
        if machine.status is Status.NEW:
            if not fail:
                self.finish_commissioning(machine, hardware)
            return
        transition = TRANSITIONS.get(machine.status)
        if transition is None:
            return
        for fault in self.machine_faults:
            if not fail and fault.takes(machine.hostname, transition.action):
                fail, reason = True, fault.reason
        if boots and not fail and machine.status is Status.DEPLOYING:
            try:
                self.switch_on(machine)
            except Refusal as refusal:
                fail, reason = True, refusal.text
        if fail:
            self.fail(machine, reason)
            return
        FINISH[machine.status](self, machine, hardware)

    # -- the ends of the transitions --------------------------------------------------------------------------------

    def finish_commissioning(self, machine: Machine, hardware: dict[str, Any] | None = None) -> None:
        if machine.commissioning_set is None:
            self.start_scripts(machine, ResultType.COMMISSIONING)
        if any(d.storage_pool for d in machine.disks):
            hardware = self.discover_virtual(machine, hardware)
        elif hardware is None and not machine.next_hardware:
            hardware = self.vms.vm_hardware(self.state, machine) or None
        self.discover(machine, hardware or machine.next_hardware)
        # Tests of disks run on those that commissioning found.
        asked = machine.testing_set.requested if machine.testing_set and machine.testing_set.results else None
        self.drop_scripts(machine.testing_set)
        self.start_scripts(machine, ResultType.TESTING, asked or None)
        for script_set in (machine.commissioning_set, machine.testing_set):
            self.conclude(script_set, ScriptStatus.PASSED)
        machine.owner = None
        self.enter(machine, Status.READY)
        self.say(machine, "Ready")

    def finish_testing(self, machine: Machine, _hardware: dict[str, Any] | None = None) -> None:
        self.conclude(machine.testing_set, ScriptStatus.PASSED)
        kept = (Status.DEPLOYED, Status.ALLOCATED, Status.BROKEN)
        back = machine.previous_status if machine.previous_status in kept else Status.READY
        if back is Status.READY:
            machine.owner = None
        self.enter(machine, back)
        self.say(machine, back.label)

    def finish_deployment(self, machine: Machine, _hardware: dict[str, Any] | None = None) -> None:
        self.conclude(machine.installation_set, ScriptStatus.PASSED)
        machine.netboot = False
        self.enter(machine, Status.DEPLOYED)
        self.say(machine, "Deployed")
        self.vms.become_host(self.state, machine)

    def finish_releasing(self, machine: Machine, _hardware: dict[str, Any] | None = None) -> None:
        self.released(machine)

    def finish_erasing(self, machine: Machine, _hardware: dict[str, Any] | None = None) -> None:
        self.conclude(machine.release_set, ScriptStatus.PASSED)
        ephemeral = machine.ephemeral_deploy
        self.clear_deployment(machine)
        # The one thing that it shows until the next deployment.
        machine.ephemeral_deploy = ephemeral
        with suppress(Refusal):
            self.power(machine, "power-off")
        self.released(machine)

    def finish_entering_rescue(self, machine: Machine, _hardware: dict[str, Any] | None = None) -> None:
        self.enter(machine, Status.RESCUE_MODE)

    def finish_exiting_rescue(self, machine: Machine, _hardware: dict[str, Any] | None = None) -> None:
        self.enter(machine, machine.previous_status)
        if machine.status in (Status.NEW, Status.READY):
            machine.owner = None
        self.say(machine, "Exited rescue mode")

    def released(self, machine: Machine) -> None:
        """The machine is nobody's again: Ready, or New when it was never commissioned; a composed one is deleted."""
        self.release_auto_ips(machine)
        machine.netboot = True
        machine.user_data = None
        machine.storage_acquired = False
        machine.owner = None
        machine.agent_name = ""
        machine.annotations.clear()
        results = machine.commissioning_set.results if machine.commissioning_set else []
        commissioned = bool(results) and all(r.status is ScriptStatus.PASSED for r in results)
        self.enter(machine, Status.READY if commissioned else Status.NEW)
        self.say(machine, "Released")
        if machine.dynamic:
            self.delete(machine)

    def clear_deployment(self, machine: Machine) -> None:
        """What a release forgets at once, and one that erases when the disks are erased."""
        machine.osystem = machine.distro_series = ""
        machine.hwe_kernel = None
        machine.netboot = True
        machine.ephemeral_deploy = machine.enable_hw_sync = False
        machine.sync_interval = None
        machine.user_data = None
        machine.storage_acquired = False

    def delete(self, machine: Machine) -> None:
        self.vms.delete_vm(self.state, machine)
        self.state.remove_node(machine)

    # -- hardware ---------------------------------------------------------------------------------------------------

    def discover_virtual(self, machine: Machine, hardware: dict[str, Any] | None) -> dict[str, Any] | None:
        """A VM, not commissioned before, keeps what it was composed with; who advances it by hand gives it disks."""
        if hardware is None:
            storage.flat_layout(self.state, machine)
            machine.kept_by_commissioning.add("storage")
            return None
        machine.cpu_speed = 0
        return {"cpu": machine.cpu_count, "memory": machine.memory, **hardware}

    def discover(self, machine: Machine, hardware: dict[str, Any]) -> None:
        """What commissioning writes: cores, memory, disks, NICs, and an AUTO link of the boot NIC.

        Without hardware given, cores and memory stay what they were, the disks are those it was built with (or one).
        """
        cores = int(hardware.get("cpu", machine.cpu_count or DEFAULT_CORES))
        machine.cpu_count, machine.numa_cores = cores, list(range(cores))
        machine.memory = machine.numa_memory = int(hardware.get("memory", machine.memory or DEFAULT_MEMORY))
        disks = hardware.get("disks") or machine.next_hardware.get("disks") or [DEFAULT_DISK]
        if "storage" not in machine.kept_by_commissioning or not machine.disks:
            storage.replace_disks(self.state, machine, [int(float(gb) * GB) for gb in disks])
        machine.hardware_info.update(hardware.get("info", {}))
        machine.architecture = machine.architecture or DEFAULT_ARCHITECTURE
        if not machine.interfaces:
            self.state.add_interface(machine, name="eth0", type="physical", mac_address=self.state.new_mac())
        for interface in machine.interfaces:
            if interface.type == "physical":
                interface.link_connected = True
                interface.interface_speed = interface.link_speed = NIC_SPEED
                interface.vendor, interface.product, interface.firmware_version = NIC_VENDOR, NIC_PRODUCT, NIC_FIRMWARE
        if not any(i.links for i in machine.interfaces):
            self.link_boot_nic(machine)

    def link_boot_nic(self, machine: Machine) -> None:
        """The boot NIC gets an AUTO link on the subnet machines boot from."""
        boot = machine.boot_interface or next(iter(machine.interfaces), None)
        machine.boot_interface = boot
        subnet = self.boot_subnet()
        if boot is not None and subnet is not None:
            for interface in machine.interfaces:
                if interface.type == "physical" and interface.vlan is None:
                    interface.vlan = subnet.vlan
                if interface is not boot:
                    network.ensure_link_up(self.state, interface)
            network.link(self.state, boot, "auto", subnet)

    def boot_subnet(self) -> Subnet | None:
        """The subnet machines boot from: the first of a VLAN with DHCP."""
        return next((s for s in self.state.subnets if s.vlan.dhcp_on and not s.cidr.startswith("127.")), None)

    # -- addresses --------------------------------------------------------------------------------------------------

    def claim_auto_ips(self, machine: Machine) -> None:
        """Every AUTO link gets an address; MAAS does it when a deployment starts."""
        for interface in machine.interfaces:
            network.claim_auto(self.state, interface)

    def release_auto_ips(self, machine: Machine) -> None:
        for interface in machine.interfaces:
            for link in interface.links:
                if link.alloc_type is AllocType.AUTO:
                    link.ip = None

    # -- power ------------------------------------------------------------------------------------------------------

    def can_be_controlled(self, machine: Machine) -> bool:
        return machine.power_type not in ("", "manual")

    def power(self, machine: Machine, action: str) -> None:
        """Carry out "power-on", "power-off" or "power-cycle"; a manual machine ignores them."""
        if not self.can_be_controlled(machine):
            return
        self.require_rack(machine)
        error = self.power_faults.get(action)
        if error:
            self.say(
                machine,
                "Failed to power on node" if action != "power-off" else "Failed to power off node",
                error,
                "ERROR",
            )
            raise ServerError(error)
        self.vms.switch_vm(self.state, machine, action != "power-off")
        machine.power_state = "off" if action == "power-off" else "on"
        self.say(machine, "Powering off" if action == "power-off" else "Powering on", level="DEBUG")

    def look(self, machine: Machine) -> None:
        """Ask the BMC. One that nobody has asked yet says off."""
        told = self.vms.vm_power_state(self.state, machine)
        machine.power_state = told or ("off" if machine.power_state == "unknown" else machine.power_state)

    def require_rack(self, machine: Machine) -> None:
        if not self.state.rack.connected:
            raise Unavailable(f"No rack controllers can access the BMC of node {machine.hostname}")

    def switch_on(self, machine: Machine) -> None:
        """On, or through off and on when it is on already: what starts a machine in another environment."""
        self.power(machine, "power-cycle" if machine.power_state == "on" else "power-on")

    # -- script results ---------------------------------------------------------------------------------------------

    def start_scripts(self, machine: Machine, kind: ResultType, names: Iterable[str] | None = None) -> ScriptSet:
        """A new script set of a machine with pending results: the named scripts, or those that run by default."""
        script_set = self.state.script_sets.make(
            ScriptSet, node=machine, type=kind, created=self.state.now, requested=list(names or ())
        )
        for script in self.chosen_scripts(kind, names):
            targets: list[Any] = [None]
            if script.hardware_type.name == "STORAGE" and script.type is ResultType.TESTING:
                targets = [d for d in machine.disks if d.type == "physical"] or [None]
            for disk in targets:
                script_set.results.append(
                    self.state.script_results.make(ScriptResult, name=script.name, script=script, disk=disk)
                )
        attribute = {
            ResultType.COMMISSIONING: "commissioning_set",
            ResultType.TESTING: "testing_set",
            ResultType.INSTALLATION: "installation_set",
            ResultType.RELEASE: "release_set",
        }[kind]
        if kind is ResultType.INSTALLATION:
            script_set.results.append(self.state.script_results.make(ScriptResult, name="/tmp/install.log"))
        setattr(machine, attribute, script_set)
        return script_set

    def chosen_scripts(self, kind: ResultType, names: Iterable[str] | None) -> list[Script]:
        scripts = list(self.state.scripts.where(type=kind))
        if names is None:
            wanted = {"commissioning"} if kind is ResultType.TESTING else set()
            return [s for s in scripts if wanted & set(s.tags)] if wanted else [s for s in scripts if s.default]
        asked = set(names)
        return [
            s
            for s in scripts
            if s.name in asked or asked & set(s.tags) or (kind is ResultType.COMMISSIONING and s.default)
        ]

    def conclude(self, script_set: ScriptSet | None, status: ScriptStatus, output: str = "") -> None:
        if script_set is None:
            return
        for result in script_set.results:
            if result.status in (ScriptStatus.PENDING, ScriptStatus.RUNNING):
                result.status = status
                result.exit_status = 0 if status is ScriptStatus.PASSED else 1
                result.started = result.started or self.state.now
                result.ended = self.state.now
                if output:
                    result.output = result.stdout = f"{output}\n".encode()

    def drop_scripts(self, script_set: ScriptSet | None) -> None:
        if script_set is not None:
            for result in script_set.results:
                self.state.script_results.discard(result)
            self.state.script_sets.discard(script_set)


FINISH: dict[Status, Callable[[Engine, Machine, dict[str, Any] | None], None]] = {
    Status.COMMISSIONING: Engine.finish_commissioning,
    Status.TESTING: Engine.finish_testing,
    Status.DEPLOYING: Engine.finish_deployment,
    Status.RELEASING: Engine.finish_releasing,
    Status.DISK_ERASING: Engine.finish_erasing,
    Status.ENTERING_RESCUE_MODE: Engine.finish_entering_rescue,
    Status.EXITING_RESCUE_MODE: Engine.finish_exiting_rescue,
}
