# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What users ask of machines: commission, deploy, release and so on, each with the states it is allowed in.

The status in an answer is that of before the power action: power comes after the commit.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from metalshift_lab.simulator import network, storage
from metalshift_lab.simulator.errors import BadRequest, Conflict, Forbidden, Invalid, Refusal, ServerError
from metalshift_lab.simulator.forms import Field, Form, Wrong, form_bool, listed, optional, string_bool, whole
from metalshift_lab.simulator.http import Request
from metalshift_lab.simulator.model import AllocType, BlockDevice, Machine, Partition, ResultType, ScriptStatus, Status
from metalshift_lab.simulator.state import State

COMMISSIONABLE = {
    Status.NEW,
    Status.FAILED_COMMISSIONING,
    Status.READY,
    Status.BROKEN,
    Status.FAILED_TESTING,
}
TESTABLE = {
    Status.ALLOCATED,
    Status.BROKEN,
    Status.DEPLOYED,
    Status.FAILED_COMMISSIONING,
    Status.FAILED_DEPLOYMENT,
    Status.FAILED_DISK_ERASING,
    Status.FAILED_ENTERING_RESCUE_MODE,
    Status.FAILED_EXITING_RESCUE_MODE,
    Status.FAILED_RELEASING,
    Status.FAILED_TESTING,
    Status.MISSING,
    Status.READY,
    Status.RESCUE_MODE,
}
RELEASABLE = {
    Status.ALLOCATED,
    Status.RESERVED,
    Status.BROKEN,
    Status.DEPLOYING,
    Status.DEPLOYED,
    Status.FAILED_DEPLOYMENT,
    Status.FAILED_DISK_ERASING,
    Status.FAILED_RELEASING,
    Status.FAILED_ENTERING_RESCUE_MODE,
    Status.FAILED_EXITING_RESCUE_MODE,
}
RELEASED = {Status.READY, Status.RELEASING}
RESCUABLE = {
    Status.NEW,
    Status.READY,
    Status.RESERVED,
    Status.ALLOCATED,
    Status.BROKEN,
    Status.DEPLOYED,
    Status.ENTERING_RESCUE_MODE,
    Status.FAILED_COMMISSIONING,
    Status.FAILED_DEPLOYMENT,
    Status.FAILED_RELEASING,
    Status.FAILED_DISK_ERASING,
    Status.FAILED_TESTING,
    Status.FAILED_ENTERING_RESCUE_MODE,
    Status.FAILED_EXITING_RESCUE_MODE,
    Status.RESCUE_MODE,
}
IN_RESCUE = {
    Status.RESCUE_MODE,
    Status.ENTERING_RESCUE_MODE,
    Status.FAILED_ENTERING_RESCUE_MODE,
    Status.FAILED_EXITING_RESCUE_MODE,
}
ERASED_AFTER = RELEASABLE - {Status.FAILED_RELEASING}
ABORTED = {
    Status.COMMISSIONING: ("User aborting node commissioning", "Aborted commissioning"),
    Status.DEPLOYING: ("User aborting deployment", "Aborted deployment"),
    Status.DISK_ERASING: ("User aborting disk erasing", "Aborted disk erasing"),
    Status.TESTING: ("User aborting node testing", "Aborted testing"),
}
BRIDGE_TYPES = ("ovs", "standard")
ANNOTATION_KEY = re.compile(r"[\w.-]+")
NO_ADDRESS = "Node has no address family in common with the server"
NO_DISK = "Specify a storage device to be able to deploy this node."
NO_ROOT = "Mount the root '/' filesystem to be able to deploy this node."
NO_BOOT = (
    "This node cannot be deployed because it needs a separate /boot partition.  "
    "Mount /boot on a device to be able to deploy this node."
)


def scripts_field(state: State, name: str, kind: ResultType) -> Field:
    """A comma-separated list of names or tags of scripts; "none" for no script at all."""

    def clean(value: str) -> list[str]:
        names = [n.strip() for n in value.split(",") if n.strip()]
        known = {s.name for s in state.scripts.where(type=kind)}
        known |= {t for s in state.scripts.where(type=kind) for t in s.tags} | {str(s.id) for s in state.scripts}
        if kind is not ResultType.COMMISSIONING or "none" in names:
            known.add("none")
        wrong = [n for n in names if n not in known]
        if wrong:
            raise Wrong(f"Select a valid choice. {wrong[0]} is not one of the available choices.")
        return names

    return Field(name, clean, empty=None)


# -- commissioning and testing --------------------------------------------------------------------------------------


def commission_form(request: Request, machine: Machine) -> Form:
    fields = [
        Field("enable_ssh", form_bool, empty=False),
        Field("skip_bmc_config", form_bool, empty=False),
        Field("skip_networking", form_bool, empty=False),
        Field("skip_storage", form_bool, empty=False),
        scripts_field(request.state, "commissioning_scripts", ResultType.COMMISSIONING),
        scripts_field(request.state, "testing_scripts", ResultType.TESTING),
    ]
    form = Form(request.data, fields)
    if machine.status not in COMMISSIONABLE:
        form.fail("__all__", "Commission is not available because of the current state of the node.")
    return form


def commission(
    request: Request,
    machine: Machine,
    scripts: Iterable[str] | None = None,
    tests: Iterable[str] | None = None,
    keep: Iterable[str] = (),
) -> None:
    """Start commissioning. When the machine cannot be switched on its status is what it was."""
    engine = request.state.engine
    before = machine.status
    machine.previous_status = before
    machine.owner = request.user
    engine.asked(machine, "User starting node commissioning", request.user)
    machine.kept_by_commissioning = set(keep)
    forget_configuration(request.state, machine)
    engine.start_scripts(machine, ResultType.COMMISSIONING, scripts)
    engine.start_scripts(machine, ResultType.TESTING, tests)
    engine.enter(machine, Status.COMMISSIONING)
    engine.say(machine, "Commissioning")

    def switch_on() -> None:
        try:
            engine.switch_on(machine)
        except Refusal:
            # Who asked for it still owns it, though nobody holds it.
            machine.power_state = "unknown"
            engine.enter(machine, before)
            raise

    request.after_commit(switch_on)


def commission_by(request: Request, machine: Machine, form: Form) -> None:
    """Commission as a checked form says."""
    keep = [what for what in ("networking", "storage") if form.get(f"skip_{what}")]
    commission(request, machine, form.get("commissioning_scripts"), form.get("testing_scripts"), keep)


def forget_configuration(state: State, machine: Machine) -> None:
    """Commissioning begins with bare disks and unconfigured NICs, unless it is told to keep them."""
    if "storage" not in machine.kept_by_commissioning:
        storage.clear(state, machine)
    if "networking" not in machine.kept_by_commissioning:
        unconfigure_network(state, machine)


def unconfigure_network(state: State, machine: Machine) -> None:
    for interface in [i for i in machine.interfaces if i.type != "physical"]:
        state.remove_interface(interface)
    for interface in machine.interfaces:
        for link in list(interface.links):
            state.remove_address(link)
    machine.gateway_links.clear()


def test(request: Request, machine: Machine) -> None:
    fields = [
        Field("enable_ssh", form_bool, empty=False),
        scripts_field(request.state, "testing_scripts", ResultType.TESTING),
    ]
    form = Form(request.data, fields)
    if machine.status not in TESTABLE:
        form.fail("__all__", "Test is not available because of the current state of the node.")
    form.finish()
    engine = request.state.engine
    before = machine.status
    machine.previous_status = before
    machine.owner = machine.owner or request.user
    engine.asked(machine, "User starting node testing", request.user)
    engine.start_scripts(machine, ResultType.TESTING, form.get("testing_scripts"))
    engine.enter(machine, Status.TESTING)
    engine.say(machine, "Testing")

    def switch_on() -> None:
        try:
            engine.switch_on(machine)
        except Refusal:
            engine.enter(machine, before)
            raise

    request.after_commit(switch_on)


def override_failed_testing(request: Request, machine: Machine) -> None:
    if machine.status is not Status.FAILED_TESTING:
        raise Conflict("Unable to override node status. Node is not in 'Failed testing' status.")
    engine = request.state.engine
    engine.asked(machine, "User overrode 'Failed testing' status", request.user, optional(request.data, "comment"))
    machine.error_description = ""
    deployed = bool(machine.osystem)
    machine.owner = machine.owner if deployed else None
    engine.enter(machine, Status.DEPLOYED if deployed else Status.READY)


# -- allocation -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AllocationOptions:
    agent_name: str
    comment: str
    bridge_all: bool
    bridge: dict[str, Any]


def allocation_options(request: Request, *, bridge_all: bool = False) -> AllocationOptions:
    data = request.data
    bridge_all = string_bool(data, "bridge_all", bridge_all)
    stp, delay = string_bool(data, "bridge_stp", False), whole(data, "bridge_fd", 15)
    form = Form(data, [Field("bridge_type", listed("bridge_type", BRIDGE_TYPES, unformatted=True), empty="standard")])
    form.finish()
    bridge = {"bridge_type": form.get("bridge_type"), "bridge_stp": stp, "bridge_fd": delay}
    return AllocationOptions(optional(data, "agent_name"), optional(data, "comment"), bridge_all, bridge)


def acquire(request: Request, machine: Machine, options: AllocationOptions) -> None:
    engine = request.state.engine
    engine.asked(machine, "User acquiring node", request.user, options.comment)
    machine.previous_status = machine.status
    machine.owner = request.user
    machine.agent_name = options.agent_name
    machine.storage_acquired = True
    engine.enter(machine, Status.ALLOCATED)
    if options.bridge_all:
        bridge_all(request.state, machine, options.bridge)


def bridge_all(state: State, machine: Machine, params: dict[str, Any]) -> None:
    """A bridge over each configured interface that has none; they go with the release."""
    for nic in [i for i in machine.interfaces if i.links and i.type != "bridge"]:
        if any(nic in i.parents for i in machine.interfaces):
            continue
        made = state.add_interface(
            machine,
            name=f"br-{nic.name}"[:15],
            type="bridge",
            mac_address=nic.mac_address,
            vlan=nic.vlan,
            parents=[nic],
            params=dict(params),
            acquired=True,
            numa_node=None,
        )
        for link in list(nic.links):
            nic.links.remove(link)
            link.interface = made
            made.links.append(link)


def drop_acquired_bridges(state: State, machine: Machine) -> None:
    for bridge in [i for i in machine.interfaces if i.acquired]:
        for link in list(bridge.links):
            bridge.links.remove(link)
            link.interface = bridge.parents[0]
            bridge.parents[0].links.append(link)
        state.remove_interface(bridge)


# -- deployment -----------------------------------------------------------------------------------------------------


def series(state: State) -> list[str]:
    """os/release of everything that can be deployed."""
    found = {r.name if "/" in r.name else f"custom/{r.name}" for r in state.boot_resources}
    return sorted(found)


def find_series(state: State, value: str) -> tuple[str, str]:
    """("ubuntu", "noble") of "noble" or "ubuntu/noble"."""
    known = series(state)
    for name in known:
        system, release = name.split("/", 1)
        if value in (name, release):
            return system, release
    options = ", ".join(repr(n) for n in ["", *known])
    raise Invalid({"distro_series": [f"'{value}' is not a valid distro_series.  It should be one of: {options}."]})


def kernel(state: State, machine: Machine, system: str, release: str, asked: str) -> str:
    """The kernel that is deployed: what was asked if the release has it, else what it had, else the release's own."""
    if system != "ubuntu":
        return ""
    arch = machine.architecture.split("/")[0]
    images = state.boot_resources.where(name=f"{system}/{release}")
    known = [k for r in images if r.architecture.split("/")[0] == arch for k in r.kernels if k != "generic"]
    if asked in known:
        return asked
    if not asked and machine.hwe_kernel:
        return machine.hwe_kernel
    if machine.min_hwe_kernel in known:
        return machine.min_hwe_kernel
    return next(iter(known), "")


def deploy(request: Request, machine: Machine) -> None:
    state, data = request.state, request.data
    flags = {
        name: string_bool(data, name, False)
        for name in ("install_rackd", "install_kvm", "register_vmhost", "ephemeral_deploy", "enable_hw_sync")
    }
    crash_dump = string_bool(data, "enable_kernel_crash_dump", False) if state.release >= (3, 6) else False
    vm_host = flags["install_kvm"] or flags["register_vmhost"]
    options = allocation_options(request, bridge_all=vm_host)
    if machine.status not in (Status.READY, Status.ALLOCATED):
        raise Conflict(f"Can't deploy a machine that is in the '{machine.status.label}' state")
    if flags["install_rackd"]:
        request.require_admin("Only administrators can deploy rack controllers.")
    wanted = optional(data, "distro_series")
    system, release = find_series(state, wanted) if wanted else _default_series(state)
    check_deployable(machine, ephemeral=flags["ephemeral_deploy"])
    if machine.status is Status.READY:
        acquire(request, machine, options)
    elif options.bridge_all:
        bridge_all(state, machine, options.bridge)
    ephemeral = flags["ephemeral_deploy"]
    start_deployment(request, machine, system, release, optional(data, "hwe_kernel"), options.comment, ephemeral)
    machine.enable_hw_sync = flags["enable_hw_sync"]
    machine.sync_interval = 900 if flags["enable_hw_sync"] else None
    machine.enable_kernel_crash_dump = crash_dump or machine.enable_kernel_crash_dump
    machine.install_kvm = vm_host


def start_deployment(
    request: Request,
    machine: Machine,
    system: str,
    release: str,
    asked_kernel: str = "",
    comment: str = "",
    ephemeral: bool = False,
) -> None:
    state, engine = request.state, request.state.engine
    machine.osystem, machine.distro_series = system, release
    machine.hwe_kernel = kernel(state, machine, system, release, asked_kernel)
    network.check_leases(state, machine.interfaces)
    machine.user_data = decoded(optional(request.data, "user_data"))
    engine.asked(machine, "User starting deployment", request.user, comment)
    machine.ephemeral_deploy = ephemeral
    machine.installation_set = None
    if not ephemeral:
        engine.start_scripts(machine, ResultType.INSTALLATION)
    machine.previous_status = machine.status
    engine.enter(machine, Status.DEPLOYING)
    engine.say(machine, "Deploying")

    def start() -> None:
        # MAAS 3.6 leaves switching on to a workflow: its failure is no answer, it fails the deployment.
        engine.claim_auto_ips(machine)

    request.after_commit(start)


def _default_series(state: State) -> tuple[str, str]:
    return str(state.config.get("default_osystem", "ubuntu")), str(state.config.get("default_distro_series", "noble"))


def decoded(user_data: str) -> bytes | None:
    """MAAS does not mind what is no base64; whoever asked finds an empty file on the machine."""
    if not user_data:
        return None
    try:
        return base64.b64decode(user_data)
    except (binascii.Error, ValueError):
        return b""


def check_deployable(machine: Machine, *, ephemeral: bool) -> None:
    modes = [a.alloc_type for i in machine.interfaces for a in i.links if a.subnet is not None or a.ip]
    if not any(mode in (AllocType.AUTO, AllocType.STICKY, AllocType.USER_RESERVED) for mode in modes):
        raise BadRequest(NO_ADDRESS)
    issues = [] if ephemeral else storage_issues(machine)
    if issues:
        raise Invalid({"storage": issues})


def storage_issues(machine: Machine) -> list[str]:
    """Why the disks do not do for a deployment."""
    things: list[BlockDevice | Partition] = [*machine.disks, *(p for d in machine.disks for p in d.partitions)]
    mounts = {t.filesystem.mount_point for t in things if t.filesystem is not None}
    issues = []
    if not any(d.type == "physical" for d in machine.disks):
        issues.append(NO_DISK)
    if "/" not in mounts:
        issues.append(NO_ROOT)
    arch = machine.architecture.split("/")[0]
    if arch == "arm64" and machine.bios_boot_method != "uefi" and "/boot" not in mounts:
        issues.append(NO_BOOT)
    return issues


# -- release --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReleaseWish:
    erase: bool
    scripts: list[str] | None
    force: bool
    comment: str


def release_form(request: Request) -> ReleaseWish:
    """Any of the three erase options erases; they are Django booleans: "0" and "no" are true."""
    fields = [
        Field("erase", form_bool, empty=False),
        Field("secure_erase", form_bool, empty=False),
        Field("quick_erase", form_bool, empty=False),
        Field("force", form_bool, empty=False),
        Field("comment"),
        *([scripts_field(request.state, "scripts", ResultType.RELEASE)] if request.state.release >= (3, 5) else []),
    ]
    form = Form(request.data, fields)
    form.finish()
    always = bool(request.state.config.get("enable_disk_erasing_on_release"))
    erase = always or any(form.get(n) for n in ("erase", "secure_erase", "quick_erase"))
    return ReleaseWish(erase or bool(form.get("scripts")), form.get("scripts"), form.get("force"), form.get("comment"))


def release(request: Request, machine: Machine, wish: ReleaseWish) -> None:
    """Give a machine back, after `refuse_hosts`; with erasing it boots once more first."""
    state, engine = request.state, request.state.engine
    drop_hosted(state, machine)
    engine.asked(machine, "User releasing node", request.user, wish.comment)
    if wish.erase and machine.status in ERASED_AFTER:
        engine.asked(machine, "User erasing disk", request.user, wish.comment)
        before = machine.status
        machine.previous_status = before
        engine.start_scripts(machine, ResultType.RELEASE, wish.scripts or ["wipe-disks"])
        engine.enter(machine, Status.DISK_ERASING)
        request.after_commit(lambda: engine.switch_on(machine))
        return
    give_back(request, machine)


def give_back(request: Request, machine: Machine) -> None:
    """Release without erasing: at once when it is off or cannot be switched, else when it is off."""
    state, engine = request.state, request.state.engine
    drop_acquired_bridges(state, machine)
    engine.clear_deployment(machine)
    if machine.power_state == "off" or not engine.can_be_controlled(machine):
        engine.say(machine, "Releasing")
        engine.released(machine)
        return
    machine.previous_status = machine.status
    engine.enter(machine, Status.RELEASING)
    engine.say(machine, "Releasing")

    def switch_off() -> None:
        try:
            engine.power(machine, "power-off")
        except Refusal as refusal:
            engine.finish(machine, fail=True, reason=refusal.text)
            raise
        engine.release_auto_ips(machine)
        if machine.status is Status.RELEASING and not engine.takes_time("release"):
            engine.finish(machine)

    request.after_commit(switch_off)


def refuse_hosts(state: State, machines: Iterable[Machine], *, force: bool) -> None:
    """A machine that is a VM host is neither released nor deleted, unless by force."""
    wanted = list(machines)
    hosted = [] if force else [h.name for h in state.vm_hosts if h.host in wanted]
    if hosted:
        raise BadRequest(f"The following VM hosts must be removed first: {', '.join(hosted)}")


def drop_hosted(state: State, machine: Machine) -> None:
    """The VM hosts on a machine go with it."""
    for host in list(state.vm_hosts.where(host=machine)):
        state.engine.vms.forget_host(state, host)


def delete(request: Request, machine: Machine) -> None:
    refuse_hosts(request.state, [machine], force=string_bool(request.query, "force", False))
    drop_hosted(request.state, machine)
    request.state.engine.delete(machine)


# -- the rest -------------------------------------------------------------------------------------------------------


def abort(request: Request, machine: Machine, comment: str) -> None:
    """Stop what runs. The answer still shows it running: the status changes when the machine is off."""
    state, engine = request.state, request.state.engine
    if machine.status not in ABORTED:
        raise Conflict(f"Cannot abort in current state: node {machine.system_id} is in state {machine.status.label}.")
    aborted = machine.status
    asked, said = ABORTED[aborted]
    engine.asked(machine, asked, request.user, comment)
    engine.say(machine, said)
    if aborted is Status.COMMISSIONING:
        machine.owner = None

    def stopped() -> None:
        if aborted is Status.COMMISSIONING:
            for script_set in (machine.commissioning_set, machine.testing_set):
                engine.drop_scripts(script_set)
            machine.commissioning_set = machine.testing_set = None
            engine.enter(machine, Status.NEW)
        elif aborted is Status.TESTING:
            engine.conclude(machine.testing_set, ScriptStatus.ABORTED)
            engine.enter(machine, machine.previous_status)
            if machine.status is Status.READY:
                machine.owner = None
        elif aborted is Status.DEPLOYING:
            engine.conclude(machine.installation_set, ScriptStatus.ABORTED)
            engine.enter(machine, Status.ALLOCATED)
        else:
            engine.conclude(machine.release_set, ScriptStatus.ABORTED)
            engine.enter(machine, Status.FAILED_DISK_ERASING)

    def switch_off() -> None:
        engine.power(machine, "power-off")
        stopped()

    if engine.can_be_controlled(machine):
        request.after_commit(switch_off)
    else:
        stopped()
    machine.updated = state.now


def mark_broken(request: Request, machine: Machine, comment: str) -> None:
    if machine.owner is None:
        raise Forbidden("")
    engine = request.state.engine
    engine.asked(machine, "User marking node broken", request.user, comment)
    before = machine.status
    if before in RELEASABLE:
        give_back(request, machine)
    machine.previous_status = before if before is not Status.BROKEN else machine.previous_status
    machine.error_description = comment
    engine.enter(machine, Status.BROKEN)


def mark_fixed(request: Request, machine: Machine, comment: str) -> None:
    if machine.status is not Status.BROKEN:
        raise Conflict("Can't mark a non-broken node as 'Ready'.")
    engine = request.state.engine
    engine.asked(machine, "User marking node fixed", request.user, comment)
    machine.error_description = ""
    machine.osystem = machine.distro_series = ""
    machine.hwe_kernel = None
    machine.installation_set = None
    engine.enter(machine, Status.DEPLOYED if machine.previous_status is Status.DEPLOYED else Status.READY)


def lock(request: Request, machine: Machine, comment: str) -> None:
    if machine.status not in (Status.DEPLOYED, Status.DEPLOYING):
        raise Conflict("Can't lock, node is not deployed or deploying")
    if machine.locked:
        raise Conflict("Machine is already locked")
    request.state.engine.asked(machine, "User locking node", request.user, comment)
    machine.locked = True


def unlock(request: Request, machine: Machine, comment: str) -> None:
    if not machine.locked:
        raise Conflict("Machine is not locked")
    request.state.engine.asked(machine, "User unlocking node", request.user, comment)
    machine.locked = False


def rescue(request: Request, machine: Machine) -> None:
    engine = request.state.engine
    if machine.status not in RESCUABLE:
        raise Conflict(f"Invalid transition: {machine.status.label} -> {Status.ENTERING_RESCUE_MODE.label}.")
    engine.asked(machine, "User starting rescue mode", request.user)
    if machine.status not in IN_RESCUE:
        machine.previous_status = machine.status
    machine.owner = machine.owner or request.user
    engine.enter(machine, Status.ENTERING_RESCUE_MODE)
    engine.say(machine, "Entering rescue mode")
    request.after_commit(lambda: engine.switch_on(machine))


def exit_rescue(request: Request, machine: Machine) -> None:
    """Back to what it was: a deployed machine restarts, any other is switched off."""
    engine = request.state.engine
    if machine.status not in IN_RESCUE:
        raise Conflict(f"Invalid transition: {machine.status.label} -> {Status.EXITING_RESCUE_MODE.label}.")
    engine.asked(machine, "User exiting rescue mode", request.user)
    engine.enter(machine, Status.EXITING_RESCUE_MODE)

    def switch() -> None:
        try:
            if machine.previous_status is Status.DEPLOYED:
                engine.switch_on(machine)
            else:
                engine.power(machine, "power-off")
        except Refusal as refusal:
            engine.finish(machine, fail=True, reason=refusal.text)
            raise
        if engine.can_be_controlled(machine) and not engine.takes_time("rescue"):
            engine.finish(machine)

    request.after_commit(switch)


def power_on(request: Request, machine: Machine) -> None:
    """Switching on an Allocated machine deploys it."""
    state, engine = request.state, request.state.engine
    if machine.owner is None:
        raise Conflict("Can't start node: it hasn't been allocated.")
    if machine.status is Status.ALLOCATED:
        wanted = optional(request.data, "distro_series")
        found = find_series(state, wanted) if wanted else _default_series(state)
        check_deployable(machine, ephemeral=False)
        start_deployment(request, machine, *found, comment=optional(request.data, "comment"))
        return
    engine.asked(machine, "User powering on node", request.user, optional(request.data, "comment"))
    request.after_commit(lambda: engine.power(machine, "power-on"))


def power_off(request: Request, machine: Machine) -> bool:
    """Whether there is a power to switch off."""
    engine = request.state.engine
    engine.asked(machine, "User powering off node", request.user, optional(request.data, "comment"))
    if not engine.can_be_controlled(machine):
        return False
    request.after_commit(lambda: engine.power(machine, "power-off"))
    return True


def annotate(request: Request, machine: Machine) -> None:
    """An empty value removes a key."""
    if machine.owner is None:
        raise Conflict("Cannot set workload annotation: it hasn't been acquired.")
    values = {k: request.data.get(k) for k in request.data if k != "op"}
    for key in values:
        if not ANNOTATION_KEY.fullmatch(key):
            raise ServerError(f"Invalid character in key name: {key!r}")
    for key, value in values.items():
        if value in ("", None):
            machine.annotations.pop(key, None)
        else:
            machine.annotations[key] = value


def power_state(request: Request, machine: Machine) -> str:
    """What the BMC says."""
    engine = request.state.engine
    if not engine.can_be_controlled(machine):
        return "unknown"
    engine.require_rack(machine)
    engine.look(machine)
    return machine.power_state
