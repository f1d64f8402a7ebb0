# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""VM hosts: discovery, composition and what becomes of their machines."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from metalshift_lab.simulator import certificates, constraints, lifecycle, lxd, names, network, storage
from metalshift_lab.simulator.errors import BadRequest, NotFound, Refusal, ServerError, Unavailable
from metalshift_lab.simulator.forms import Field, Form, Wrong, among, choice, form_bool, integer
from metalshift_lab.simulator.http import Params, Request
from metalshift_lab.simulator.model import (
    VLAN,
    AllocType,
    BlockDevice,
    Domain,
    Interface,
    Machine,
    Node,
    Pool,
    ResultType,
    ScriptStatus,
    Status,
    Subnet,
    Tag,
    User,
    VirtualMachine,
    VMHost,
    Zone,
)
from metalshift_lab.simulator.state import State

CONSOLE_TAG, CONSOLE_OPTIONS = "pod-console-logging", "console=tty1 console=ttyS0"
VIRTUAL_TAG = "virtual"
MAAS_PROJECT = "maas"
CAPABILITIES = ["composable", "dynamic_local_storage", "over_commit", "storage_pools"]
CAPACITY_DELAY = 0.3  # seconds until the host's commissioning data have arrived
DEFAULT_CORES, DEFAULT_MEMORY, DEFAULT_STORAGE = 1, 2048, "root:8(local)"
NO_STORAGE_POOL = "Failed talking to pod: No storage pools exists.  Please create a storage pool in LXD."
NO_RACK = "Unable to start the VM host discovery process. No rack controllers connected."
NETWORKING = (
    "id", "fabric", "fabric_class", "ip", "mode", "name", "hostname", "subnet", "space", "subnet_cidr", "type", "vlan",
    "vid", "tag",
)  # fmt: skip
KNOWN_NETWORKING = {*NETWORKING, *(f"not_{name}" for name in NETWORKING if name not in ("mode", "type"))}


# -- where a VM host is ---------------------------------------------------------------------------------------------


def node_of(state: State, host: VMHost) -> Node | None:
    """The node a VM host runs on: known since its discovery, before that the one that has its address."""
    if host.host is not None:
        return host.host
    ip = lxd.endpoint(str(host.parameters.get("power_address", "")))[0]
    return next((a.interface.node for a in state.addresses if a.ip == ip and a.interface is not None), None)


def connect(state: State, host: VMHost) -> lxd.Host:
    """The host's LXD, or why MAAS cannot talk to it."""
    if not state.rack.connected:
        raise Unavailable(NO_RACK)
    if host.type != "lxd":
        raise Unavailable("Failed talking to pod: Failed to login to virsh console.")
    try:
        return lxd.connect(state, host.parameters)
    except lxd.Unreachable as error:
        raise Unavailable(f"Failed talking to pod: Pod {host.id}: {error}") from None
    except lxd.Trouble as error:
        raise Unavailable(f"Failed talking to pod: VM Host {host.id}: {error}") from None


def ensure_tag(state: State, name: str, kernel_opts: str = "") -> Tag:
    return state.tags.first(name=name) or state.tags.make(Tag, name=name, kernel_opts=kernel_opts)


# -- discovery ------------------------------------------------------------------------------------------------------


def discover(request: Request, host: VMHost) -> None:
    """Learn what the host has, import its VMs; cores and memory follow a moment later."""
    state = request.state
    server = connect(state, host)
    if not server.pools:
        raise Unavailable(NO_STORAGE_POOL)
    host.parameters.pop("password", None)
    _learn(host, server)
    _import(request, host, server)
    if host.host is None:
        host.host = _machine_under(state, host, server, request.user)
    state.engine.later(CAPACITY_DELAY, partial(_commission_host, state, host, server))


def _learn(host: VMHost, server: lxd.Host) -> None:
    host.version = server.version
    host.architectures = [server.architecture]
    host.capabilities = list(CAPABILITIES)
    host.local_storage = sum(p.total for p in server.pools)
    host.storage_pools = [{"name": p.name, "type": p.driver, "path": p.path, "total": p.total} for p in server.pools]
    host.default_storage_pool = host.default_storage_pool or server.pools[0].name


def become_host(state: State, machine: Machine) -> None:
    """A machine deployed to be a VM host reports in: LXD runs on it, and MAAS knows it as a VM host."""
    if not machine.install_kvm or any(h.host is machine for h in state.vm_hosts):
        return
    server = lxd.on_machine(state, machine)
    certificate, key = certificates.generate(state)
    server.login(certificate, server.password)
    ensure_tag(state, CONSOLE_TAG, CONSOLE_OPTIONS)
    host = state.vm_hosts.make(
        VMHost,
        name=machine.hostname,
        type="lxd",
        zone=machine.zone,
        pool=machine.pool or state.default_pool,
        parameters={
            "power_address": server.address,
            "project": MAAS_PROJECT,
            "certificate": certificate,
            "key": key,
        },
        tags=[CONSOLE_TAG],
        host=machine,
    )
    _learn(host, connect(state, host))
    state.engine.later(CAPACITY_DELAY, partial(_commission_host, state, host, server))


def _machine_under(state: State, host: VMHost, server: lxd.Host, user: User | None) -> Node:
    """The machine LXD runs on: one that MAAS has already, or a new, deployed one."""
    known = next((nic for mac in server.macs for nic in state.interfaces_by_mac(mac)), None)
    if known is not None:
        return known.node
    machine: Machine = state.add_node(
        Machine,
        hostname=_free_hostname(state, host.name),
        domain=state.default_domain,
        zone=host.zone,
        pool=host.pool,
        owner=user,
        architecture=server.architecture,
        dynamic=True,
        min_hwe_kernel=None,
    )
    nic = machine.boot_interface = state.add_interface(machine, name="eth0", mac_address=server.mac)
    nic.interface_speed = nic.link_speed = 1000
    subnet = network.best_subnet(state, server.ip)
    if subnet is not None:
        nic.vlan = subnet.vlan
        if not network.address_in_use(state, server.ip):
            state.add_address(alloc_type=AllocType.STICKY, ip=server.ip, subnet=subnet, interface=nic)
    state.engine.enter(machine, Status.DEPLOYED)
    return machine


def _free_hostname(state: State, wanted: str) -> str:
    try:
        name = names.hostname(wanted).split(".")[0]
    except Wrong:
        return ""
    return "" if state.node_by_hostname(name) else name


def _commission_host(state: State, host: VMHost, server: lxd.Host) -> None:
    """What LXD says of its hardware, read as commissioning data of the host."""
    if state.vm_hosts.find(host.id) is not host:
        return
    host.cores, host.cpu_speed, host.memory = server.cores, server.cpu_speed, server.memory
    machine = host.host
    if not isinstance(machine, Machine) or not machine.dynamic or machine.commissioning_set is not None:
        return
    machine.cpu_count, machine.cpu_speed, machine.memory = server.cores, server.cpu_speed, server.memory
    machine.numa_cores, machine.numa_memory = list(range(server.cores)), server.memory
    machine.hardware_uuid = state.new_uuid()
    machine.osystem, machine.distro_series = "ubuntu", "noble"
    machine.tags.append(ensure_tag(state, VIRTUAL_TAG))
    storage.add_disk(state, machine, host.local_storage)
    state.engine.start_scripts(machine, ResultType.COMMISSIONING)
    state.engine.conclude(machine.commissioning_set, ScriptStatus.PASSED)


def _import(request: Request, host: VMHost, server: lxd.Host) -> None:
    """Take note of all VMs; those of the host's project become machines, and are commissioned."""
    state = request.state
    present = {(project, each.name): each for project, each in server.instances() if each.kind == lxd.VM}
    noted = {(v.project, v.name): v for v in state.virtual_machines.where(host=host)}
    for key in noted.keys() - present.keys():
        gone = noted[key].machine
        state.virtual_machines.discard(noted[key])
        if gone is not None:
            state.remove_node(gone)
    for key, instance in present.items():
        project = key[0]
        note = noted.get(key) or _note(state, host, server, project, instance)
        shape = server.shape(project, instance)
        _resize(note, shape)
        if project != host.parameters["project"] or note.machine is not None:
            continue
        known = next((i.node for nic in shape.nics for i in state.interfaces_by_mac(nic.mac)), None)
        if isinstance(known, Machine):
            _attach(known, note)
            continue
        # MAAS counts the disks of what it imports twice.
        note.disks *= 2
        plan = Plan(hostname=_free_hostname(state, instance.name), zone=host.zone, pool=host.pool)
        machine = _make_machine(state, note, instance, server, plan)
        lifecycle.commission(request, machine)


def _note(state: State, host: VMHost, server: lxd.Host, project: str, instance: lxd.Instance) -> VirtualMachine:
    shape = server.shape(project, instance)
    return state.virtual_machines.make(
        VirtualMachine,
        host=host,
        project=project,
        name=instance.name,
        cores=shape.core_count,
        memory=shape.memory,
        disks=[(d.pool.name, d.size) for d in server.disks(project, instance)],
        pinned=shape.pinned,
        hugepages=shape.hugepages,
    )


def _resize(note: VirtualMachine, shape: lxd.Shape) -> None:
    """Somebody may have changed it in LXD."""
    note.cores, note.memory = shape.core_count, shape.memory
    note.pinned, note.hugepages = shape.pinned, shape.hugepages
    if note.machine is not None:
        note.machine.cpu_count, note.machine.memory = shape.core_count, shape.memory


def _attach(machine: Machine, note: VirtualMachine) -> None:
    note.machine = machine
    machine.pod = note.host
    machine.virtual_machine_id = note.id
    machine.power_type = "lxd"
    kept = ("power_address", "project", "certificate", "key")
    machine.power_parameters = {"instance_name": note.name, **{k: note.host.parameters[k] for k in kept}}


# -- machines of VMs ------------------------------------------------------------------------------------------------


@dataclass
class Link:
    """How a NIC is linked: what an interfaces constraint came to."""

    label: str
    vlan: VLAN | None
    subnet: Subnet | None = None
    mode: str = "auto"
    ip: str | None = None
    parent: Interface | None = None


@dataclass
class Plan:
    """What a new VM's machine is to be, beside what LXD says of the VM."""

    hostname: str
    zone: Zone
    pool: Pool
    domain: Domain | None = None
    dynamic: bool = False
    disk_tags: list[list[str]] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)


def _make_machine(state: State, note: VirtualMachine, instance: lxd.Instance, server: lxd.Host, plan: Plan) -> Machine:
    host = note.host
    shape = server.shape(note.project, instance)
    machine: Machine = state.add_node(
        Machine,
        hostname=plan.hostname,
        domain=plan.domain or state.default_domain,
        zone=plan.zone,
        pool=plan.pool,
        dynamic=plan.dynamic,
        architecture=server.architecture,
        cpu_count=shape.core_count,
        cpu_speed=server.cpu_speed,
        memory=shape.memory,
        numa_cores=list(range(shape.core_count)),
        numa_memory=shape.memory,
        parent=node_of(state, host),
        min_hwe_kernel=None,
        bios_boot_method="uefi",
        power_state="on" if instance.running else "off",
    )
    _attach(machine, note)
    machine.tags = [ensure_tag(state, name) for name in host.tags]
    links = {link.label: link for link in plan.links}
    for nic in shape.nics:
        interface = state.add_interface(machine, name=nic.name, mac_address=nic.mac)
        _link(state, interface, links.get(nic.name) or Link(nic.name, _default_vlan(state, host), mode=""))
    machine.boot_interface = machine.interfaces[0] if machine.interfaces else None
    for index, disk in enumerate(server.disks(note.project, instance)):
        machine.disks.append(
            state.disks.make(
                BlockDevice,
                node=machine,
                name=f"sd{chr(ord('a') + index)}",
                size=disk.size,
                model="QEMU HARDDISK",
                serial=f"lxd_{disk.device}",
                id_path=f"/dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_lxd_{disk.device}",
                storage_pool=disk.pool.name,
                tags=list(plan.disk_tags[index]) if index < len(plan.disk_tags) else [],
            )
        )
    return machine


def _link(state: State, interface: Interface, wanted: Link) -> None:
    interface.vlan = wanted.vlan
    if wanted.mode in ("auto", "static") and wanted.subnet is not None:
        kind = AllocType.AUTO if wanted.mode == "auto" else AllocType.STICKY
        state.add_address(alloc_type=kind, ip=wanted.ip, subnet=wanted.subnet, interface=interface)
    elif wanted.mode == "dhcp":
        state.add_address(alloc_type=AllocType.DHCP, subnet=wanted.subnet, interface=interface)


def _default_vlan(state: State, host: VMHost) -> VLAN | None:
    """The host's network VMs are on unless they ask for another: one with DHCP."""
    nic = _default_interface(state, host)
    return nic.vlan if nic is not None else None


def _default_interface(state: State, host: VMHost) -> Interface | None:
    """The interface of the host with such a network; a bridge before any other."""
    node = node_of(state, host)
    nics = [i for i in node.interfaces if i.vlan is not None and has_dhcp(i.vlan)] if node is not None else []
    return min(nics, key=lambda i: i.type != "bridge", default=None)


def has_dhcp(vlan: VLAN) -> bool:
    return vlan.dhcp_on or (vlan.relay_vlan is not None and vlan.relay_vlan.dhcp_on)


# -- composing ------------------------------------------------------------------------------------------------------


def _interfaces(state: State, value: str) -> list[constraints.Nic]:
    nics = constraints.interfaces(state, [value])
    for nic in nics:
        for key, _ignored in nic.wanted:
            if key not in KNOWN_NETWORKING:
                raise Wrong(f"Unknown interfaces constraint: '{key}")  # MAAS, too, forgets the second quote
    return nics


def compose_form(state: State, host: VMHost, data: Params) -> Form:
    def hostname(value: str) -> str:
        wrong = [f'Node with hostname "{value}" already exists'] if state.node_by_hostname(value) else []
        try:
            names.hostname(value)
        except Wrong as invalid:
            wrong += invalid.messages
        if wrong:
            raise Wrong(*wrong)
        return value

    return Form(
        data,
        [
            Field("cores", integer(1, host.cores), empty=None),
            Field("pinned_cores", choice([str(n) for n in range(host.cores)]), many=True),
            Field("memory", integer(1024, host.memory), empty=None),
            Field("hugepages_backed", form_bool, empty=False),
            Field("architecture", choice(host.architectures), empty=None),
            Field("cpu_speed", integer(300, host.cpu_speed or None), empty=None),
            Field("hostname", hostname, empty=None),
            Field("domain", among(state.domains.find), empty=None),
            Field("zone", among(state.zones.find), empty=None),
            Field("pool", among(state.pools.find), empty=None),
            Field("storage", lambda v: constraints.storage(state, [v]), empty=None),
            Field("interfaces", partial(_interfaces, state), empty=None),
            Field("skip_commissioning", form_bool, empty=False),
        ],
    )


def compose(request: Request, host: VMHost, form: Form, *, on_demand: bool = False) -> Machine:
    """A new VM as a machine: commissioning, or Ready at once."""
    state, cleaned = request.state, form.cleaned
    cores, memory = cleaned["cores"] or DEFAULT_CORES, cleaned["memory"] or DEFAULT_MEMORY
    _check_over_commit(state, host, cores, memory)
    links = _links(state, host, cleaned["interfaces"] or [])
    server = connect(state, host)
    if not links and _default_vlan(state, host) is None:
        raise Unavailable("Failed talking to pod: No host network to attach VM interfaces to")
    hostname = cleaned["hostname"] or state.new_hostname()
    sizes = cleaned["storage"] or constraints.storage(state, [DEFAULT_STORAGE])
    instance = lxd.Instance(
        name=hostname,
        cores=cores,
        memory=memory,
        pinned=sorted(int(n) for n in cleaned["pinned_cores"]),
        hugepages=cleaned["hugepages_backed"],
        disks=_disks(host, server, sizes),
        nics=[
            _nic(state, server, each) for each in links or [Link("eth0", None, parent=_default_interface(state, host))]
        ],
    )
    try:
        server.create(host.parameters["project"], instance)
    except lxd.Trouble as error:
        raise Unavailable(f"Failed talking to pod: {error}") from None
    plan = Plan(
        hostname=hostname,
        zone=cleaned["zone"] or state.default_zone,
        pool=cleaned["pool"] or host.pool,
        domain=cleaned["domain"],
        dynamic=on_demand,
        disk_tags=[list(size.tags) for size in sizes],
        links=links,
    )
    note = _note(state, host, server, host.parameters["project"], instance)
    machine = _make_machine(state, note, instance, server, plan)
    if on_demand or cleaned["skip_commissioning"]:
        _ready(state, machine)
    else:
        lifecycle.commission(request, machine, keep=["networking"] if links else [])
    return machine


def _nic(state: State, server: lxd.Host, link: Link) -> lxd.Nic:
    """On the interface that MAAS knows, whatever became of it since: a bridge, or a macvlan on anything else."""
    parent = link.parent
    if parent is None:
        raise Unavailable("Failed talking to pod: No host network to attach VM interfaces to")
    return server.attached(link.label, state.new_mac(), parent.name, parent.type == "bridge")


def _disks(host: VMHost, server: lxd.Host, sizes: Iterable[constraints.Size]) -> list[lxd.Disk]:
    disks: list[lxd.Disk] = []
    for index, size in enumerate(sizes):
        wanted = int(size.gigabytes * constraints.GB)
        try:
            pool = server.place(wanted, list(size.tags), host.default_storage_pool)
        except lxd.NoSpace as error:
            raise ServerError(str(error)) from None
        except lxd.Trouble as error:
            raise Unavailable(f"Failed talking to pod: {error}") from None
        disks.append(lxd.Disk(f"disk{index}" if index else "root", pool, wanted))
    return disks


def _ready(state: State, machine: Machine) -> None:
    """What commissioning would have done that needs no boot."""
    storage.flat_layout(state, machine)
    nic = machine.boot_interface
    if nic is not None and not nic.links and nic.vlan is not None:
        subnet = next(iter(state.subnets.where(vlan=nic.vlan)), None)
        if subnet is not None:
            state.add_address(alloc_type=AllocType.AUTO, subnet=subnet, interface=nic)
    state.engine.enter(machine, Status.READY)


def _check_over_commit(state: State, host: VMHost, cores: int, memory: int) -> None:
    used = usage(state, host)
    wrong = [
        f"{what} overcommit ratio is {ratio} and there are {total - taken} available resources; {wanted} requested."
        for what, ratio, total, taken, wanted in (
            ("CPU", host.cpu_over_commit_ratio, host.cores, used["cores"], cores),
            ("Memory", host.memory_over_commit_ratio, host.memory, used["memory"], memory),
        )
        if taken + wanted > total * ratio
    ]
    if wrong:
        raise Unavailable(f"Unable to compose KVM instance in '{host.name}'. {''.join(wrong)}")


def usage(state: State, host: VMHost) -> dict[str, int]:
    noted = list(state.virtual_machines.where(host=host))
    return {
        "cores": sum(v.cores for v in noted),
        "memory": sum(v.memory for v in noted),
        "local_storage": sum(size for v in noted for _ignored, size in v.disks),
    }


# -- interfaces constraints -----------------------------------------------------------------------------------------


def _links(state: State, host: VMHost, wanted: list[constraints.Nic]) -> list[Link]:
    """The host's networks that serve the constraints."""
    if not wanted:
        return []
    node = node_of(state, host)
    if node is None:
        raise BadRequest("Pod must be on a known host if interfaces are specified.")
    links = [_serving(state, node, nic) for nic in wanted]
    if not any(link.vlan is not None and has_dhcp(link.vlan) for link in links):
        raise BadRequest("MAAS DHCP must be enabled on at least one VLAN attached to the specified interfaces.")
    return links


def _serving(state: State, node: Node, nic: constraints.Nic) -> Link:
    matches = [_condition(state, key, value) for key, value in nic.wanted]
    fitting = [i for i in node.interfaces if i.vlan is not None and all(match(i) for match in matches)]
    if not fitting:
        raise BadRequest("This pod does not match the specified networks.")
    # Of several, MAAS takes a bridge, then a bond, then the newest.
    chosen = min(fitting, key=lambda i: ({"bridge": 0, "bond": 1}.get(i.type, 2), -i.id))
    values = dict(nic.wanted)
    link = Link(nic.label, chosen.vlan, mode=values.get("mode", "auto"), parent=chosen)
    named = [s for s in _subnets_named(state, values) if s.vlan is chosen.vlan]
    link.subnet = next(iter(named or state.subnets.where(vlan=chosen.vlan)), None)
    if "ip" in values:
        if network.address_in_use(state, values["ip"]):
            raise NotFound(f"The IP address {values['ip']} is already in use.")
        link.ip = values["ip"]
    return link


def _subnets_named(state: State, values: dict[str, str]) -> list[Subnet]:
    found: list[Subnet | None] = []
    if "subnet" in values:
        found.append(network.find_subnet(state, values["subnet"]))
    if "subnet_cidr" in values:
        found.append(network.find_subnet(state, f"cidr:{values['subnet_cidr']}"))
    if "ip" in values:
        found.append(network.best_subnet(state, values["ip"]))
    return [s for s in found if s is not None]


def _condition(state: State, key: str, value: str) -> Callable[[Interface], bool]:
    """Whether an interface of the host serves one key of a constraint; unknown objects are a 404."""
    if key.startswith("not_"):
        match = _condition(state, key.removeprefix("not_"), value)
        return lambda i: not match(i)
    if key == "space":
        space = network.known(network.find_space(state, value), "Space")
        return lambda i: i.vlan is not None and i.vlan.space is space
    if key == "fabric":
        fabric = network.known(network.find_fabric(state, value), "Fabric")
        return lambda i: i.vlan is not None and i.vlan.fabric is fabric
    if key == "subnet":
        subnet = network.known(network.find_subnet(state, value), "Subnet")
        return lambda i: i.vlan is subnet.vlan
    if key in ("subnet_cidr", "ip"):
        vlans = {s.vlan.id for s in _subnets_named(state, {key: value})}
        return lambda i: i.vlan is not None and i.vlan.id in vlans
    if key == "mode":
        return lambda _ignored: True
    attributes: dict[str, Callable[[Interface], Any]] = {
        "id": lambda i: str(i.id),
        "name": lambda i: i.name,
        "type": lambda i: i.type,
        "hostname": lambda i: i.node.hostname,
        "vid": lambda i: str(i.vlan.vid) if i.vlan else "",
        "vlan": lambda i: str(i.vlan.id) if i.vlan else "",
        "fabric_class": lambda i: i.vlan.fabric.class_type if i.vlan else None,
    }
    if key == "tag":
        return lambda i: value in i.tags
    return lambda i: bool(attributes[key](i) == value)


# -- VMs nobody asked for -------------------------------------------------------------------------------------------


def compose_on_demand(request: Request, wish: constraints.Wish) -> Machine | None:
    """A VM for an allocation that no machine matches, on the first host that takes it; it is deleted when released."""
    wanted = wish.cleaned
    if "system_id" in wanted:
        return None
    asked = {"cores": wanted.get("cpu_count"), "memory": wanted.get("mem")}
    pairs = [(name, str(int(value))) for name, value in asked.items() if value]
    pairs += [("architecture", str(a)) for a in list(wanted.get("arch") or [])[:1]]
    given = dict(wish.asked)
    pairs += [(name, given[name][-1]) for name in ("storage", "interfaces") if given.get(name)]
    for host in request.state.vm_hosts:
        if not _eligible(host, wanted):
            continue
        form = compose_form(request.state, host, Params(pairs))
        if form.errors:
            continue
        try:
            return compose(request, host, form, on_demand=True)
        except Refusal:
            continue
    return None


def _eligible(host: VMHost, wanted: dict[str, Any]) -> bool:
    tags = set(host.tags)
    return (
        "composable" in host.capabilities
        and set(wanted.get("tags") or ()) <= tags
        and not (wanted.get("not_tags") and set(wanted["not_tags"]) <= tags)
        and (not wanted.get("pod") or host.name in wanted["pod"])
        and (not wanted.get("pod_type") or host.type in wanted["pod_type"])
        and host.name not in (wanted.get("not_pod") or ())
        and host.type not in (wanted.get("not_pod_type") or ())
    )


# -- power ----------------------------------------------------------------------------------------------------------


def _lxd_of(state: State, machine: Machine) -> tuple[lxd.Host, str, str] | None:
    """Where the VM of a machine is, its project and its name; None for what is not switched through LXD."""
    told = machine.power_parameters
    if machine.power_type != "lxd" or not told.get("instance_name"):
        return None
    return _tell(lxd.connect, state, told), told.get("project") or "default", told["instance_name"]


def switch_vm(state: State, machine: Machine, on: bool) -> None:
    """Switch the VM of a machine in LXD."""
    found = _lxd_of(state, machine)
    if found is not None:
        _tell(found[0].switch, *found[1:], on)


def vm_power_state(state: State, machine: Machine) -> str:
    """What LXD says of the VM; empty for a machine that is none."""
    found = _lxd_of(state, machine)
    if found is None:
        return ""
    return "on" if _tell(found[0].is_on, *found[1:]) else "off"


def vm_hardware(state: State, machine: Machine) -> dict[str, Any]:
    """What commissioning finds in a VM that was made in LXD and added as a machine; nothing for other machines."""
    found = _lxd_of(state, machine)
    if found is None:
        return {}
    server, project, name = found
    instance = next((each for where, each in server.instances() if (where, each.name) == (project, name)), None)
    if instance is None:
        return {}
    shape, disks = server.shape(project, instance), server.disks(project, instance)
    return {"cpu": shape.core_count, "memory": shape.memory, "disks": [disk.size / lxd.GB for disk in disks]}


def _tell(act: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return act(*arguments)
    except lxd.Trouble as error:
        raise ServerError(str(error)) from None


# -- going away -----------------------------------------------------------------------------------------------------


def delete_vm(state: State, machine: Machine) -> None:
    """Delete the VM of a machine in LXD, if it is one of a VM host."""
    if machine.pod is None:
        return
    server = connect(state, machine.pod)
    server.delete(str(machine.power_parameters.get("project")), str(machine.power_parameters.get("instance_name")))


def forget_host(state: State, host: VMHost, *, decompose_all: bool = False) -> None:
    """Forget a VM host, its machines, and the machine MAAS made for it; the VMs themselves only when told."""
    machines = [m for m in state.machines if m.pod is host]
    if decompose_all:
        for machine in machines:
            delete_vm(state, machine)
    for machine in machines:
        state.remove_node(machine)
    for note in list(state.virtual_machines.where(host=host)):
        state.virtual_machines.discard(note)
    state.vm_hosts.discard(host)
    if isinstance(host.host, Machine) and host.host.dynamic:
        state.remove_node(host.host)
