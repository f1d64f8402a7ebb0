# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What MAAS knows: one dataclass a noun.

Objects refer to each other directly, never by id; who deletes one removes it from its table and from what refers to it.
"""

from __future__ import annotations

import enum
import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

E = TypeVar("E", bound=enum.IntEnum)


def member(kind: type[E], number: int) -> E:
    """The member with this number (calling the labelled enums confuses type checkers)."""
    return next(m for m in kind if m == number)


class Status(enum.IntEnum):
    """MAAS's node statuses, with the names it shows."""

    label: str

    def __new__(cls, number: int, label: str) -> Status:
        status = int.__new__(cls, number)
        status._value_ = number
        status.label = label
        return status

    NEW = 0, "New"
    COMMISSIONING = 1, "Commissioning"
    FAILED_COMMISSIONING = 2, "Failed commissioning"
    MISSING = 3, "Missing"
    READY = 4, "Ready"
    RESERVED = 5, "Reserved"
    DEPLOYED = 6, "Deployed"
    RETIRED = 7, "Retired"
    BROKEN = 8, "Broken"
    DEPLOYING = 9, "Deploying"
    ALLOCATED = 10, "Allocated"
    FAILED_DEPLOYMENT = 11, "Failed deployment"
    RELEASING = 12, "Releasing"
    FAILED_RELEASING = 13, "Releasing failed"
    DISK_ERASING = 14, "Disk erasing"
    FAILED_DISK_ERASING = 15, "Failed disk erasing"
    RESCUE_MODE = 16, "Rescue mode"
    ENTERING_RESCUE_MODE = 17, "Entering rescue mode"
    FAILED_ENTERING_RESCUE_MODE = 18, "Failed to enter rescue mode"
    EXITING_RESCUE_MODE = 19, "Exiting rescue mode"
    FAILED_EXITING_RESCUE_MODE = 20, "Failed to exit rescue mode"
    TESTING = 21, "Testing"
    FAILED_TESTING = 22, "Failed testing"


class NodeType(enum.IntEnum):
    label: str

    def __new__(cls, number: int, label: str) -> NodeType:
        kind = int.__new__(cls, number)
        kind._value_ = number
        kind.label = label
        return kind

    MACHINE = 0, "Machine"
    DEVICE = 1, "Device"
    RACK_CONTROLLER = 2, "Rack controller"
    REGION_CONTROLLER = 3, "Region controller"
    REGION_AND_RACK_CONTROLLER = 4, "Region and rack controller"


class ScriptStatus(enum.IntEnum):
    label: str

    def __new__(cls, number: int, label: str) -> ScriptStatus:
        status = int.__new__(cls, number)
        status._value_ = number
        status.label = label
        return status

    UNKNOWN = -1, "Unknown"
    PENDING = 0, "Pending"
    RUNNING = 1, "Running"
    PASSED = 2, "Passed"
    FAILED = 3, "Failed"
    TIMEDOUT = 4, "Timed out"
    ABORTED = 5, "Aborted"
    DEGRADED = 6, "Degraded"
    INSTALLING = 7, "Installing dependencies"
    FAILED_INSTALLING = 8, "Failed installing dependencies"
    SKIPPED = 9, "Skipped"
    APPLYING_NETCONF = 10, "Applying custom network configuration"
    FAILED_APPLYING_NETCONF = 11, "Failed to apply custom network configuration"


class ResultType(enum.IntEnum):
    label: str

    def __new__(cls, number: int, label: str) -> ResultType:
        kind = int.__new__(cls, number)
        kind._value_ = number
        kind.label = label
        return kind

    COMMISSIONING = 0, "Commissioning"
    INSTALLATION = 1, "Installation"
    TESTING = 2, "Testing"
    RELEASE = 3, "Release"


class HardwareType(enum.IntEnum):
    label: str

    def __new__(cls, number: int, label: str) -> HardwareType:
        kind = int.__new__(cls, number)
        kind._value_ = number
        kind.label = label
        return kind

    NODE = 0, "Node"
    CPU = 1, "CPU"
    MEMORY = 2, "Memory"
    STORAGE = 3, "Storage"
    NETWORK = 4, "Network"
    GPU = 5, "GPU"


# -- people ---------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class User:
    id: int
    username: str
    email: str
    password: str = field(default="", repr=False)
    is_superuser: bool = False


@dataclass(eq=False)
class Token:
    """An API key: consumer:key:secret."""

    id: int
    user: User
    name: str
    consumer: str
    key: str
    secret: str = field(repr=False)

    @property
    def api_key(self) -> str:
        return f"{self.consumer}:{self.key}:{self.secret}"


@dataclass(eq=False)
class SSHKey:
    id: int
    user: User
    key: str
    keysource: str = ""


# -- where machines stand -------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Zone:
    id: int
    name: str
    description: str = ""


@dataclass(eq=False)
class Pool:
    id: int
    name: str
    description: str = ""


@dataclass(eq=False)
class Tag:
    id: int
    name: str
    comment: str = ""
    definition: str = ""
    kernel_opts: str = ""


# -- names and networks ---------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Domain:
    id: int
    name: str
    authoritative: bool = True
    ttl: int | None = None


@dataclass(eq=False)
class DNSResource:
    id: int
    name: str
    domain: Domain
    address_ttl: int | None = None
    addresses: list[StaticIP] = field(default_factory=list)

    @property
    def fqdn(self) -> str:
        return self.domain.name if self.name == "@" else f"{self.name}.{self.domain.name}"


@dataclass(eq=False)
class DNSData:
    """A record that is not an address: CNAME, MX, TXT, ..."""

    id: int
    resource: DNSResource
    rrtype: str
    rrdata: str
    ttl: int | None = None


@dataclass(eq=False)
class Fabric:
    id: int
    name: str
    class_type: str | None = None
    description: str = ""


@dataclass(eq=False)
class Space:
    id: int
    name: str
    description: str = ""


@dataclass(eq=False)
class VLAN:
    id: int
    fabric: Fabric
    vid: int = 0
    name: str = ""
    description: str = ""
    mtu: int = 1500
    dhcp_on: bool = False
    external_dhcp: str | None = None
    primary_rack: Controller | None = None
    secondary_rack: Controller | None = None
    relay_vlan: VLAN | None = None
    space: Space | None = None


@dataclass(eq=False)
class Subnet:
    id: int
    cidr: str
    name: str
    vlan: VLAN
    description: str = ""
    gateway_ip: str | None = None
    dns_servers: list[str] = field(default_factory=list)
    rdns_mode: int = 2
    allow_dns: bool = True
    allow_proxy: bool = True
    active_discovery: bool = False
    managed: bool = True
    disabled_boot_architectures: list[str] = field(default_factory=list)


@dataclass(eq=False)
class StaticRoute:
    id: int
    source: Subnet
    destination: Subnet
    gateway_ip: str
    metric: int = 0


@dataclass(eq=False)
class IPRange:
    id: int
    subnet: Subnet
    type: str
    start_ip: str
    end_ip: str
    user: User | None = None
    comment: str = ""


@dataclass(eq=False)
class ReservedIP:
    """An address kept for a MAC (reservedips/, MAAS 3.6)."""

    id: int
    ip: str
    subnet: Subnet
    mac_address: str
    comment: str = ""
    created: datetime | None = None
    updated: datetime | None = None


class AllocType(enum.IntEnum):
    AUTO = 0
    STICKY = 1
    USER_RESERVED = 4
    DHCP = 5
    DISCOVERED = 6


@dataclass(eq=False)
class UnknownInterface:
    """A NIC of no node, known because an address was reserved for its MAC."""

    id: int
    mac_address: str
    vlan: VLAN | None = None


@dataclass(eq=False)
class StaticIP:
    """An address of MAAS; at an interface it is a link: auto, static, dhcp, or link_up (neither address nor subnet)."""

    id: int
    alloc_type: AllocType
    ip: str | None = None
    subnet: Subnet | None = None
    interface: Interface | None = None
    unknown_interface: UnknownInterface | None = None
    user: User | None = None
    created: datetime | None = None

    @property
    def mode(self) -> str:
        if self.alloc_type is AllocType.AUTO:
            return "auto"
        if self.alloc_type in (AllocType.DHCP, AllocType.DISCOVERED):
            return "dhcp"
        return "static" if self.ip else "link_up"


@dataclass(eq=False)
class Interface:
    id: int
    node: Node
    name: str
    type: str = "physical"
    mac_address: str | None = None
    vlan: VLAN | None = None
    links: list[StaticIP] = field(default_factory=list)
    parents: list[Interface] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    params: dict[str, Any] = field(default_factory=dict)
    enabled: bool = True
    acquired: bool = False  # a bridge of an allocation: it goes with the release
    link_connected: bool = True
    interface_speed: int = 0
    link_speed: int = 0
    vendor: str | None = None
    product: str | None = None
    firmware_version: str | None = None
    sriov_max_vf: int = 0
    numa_node: int | None = 0


# -- storage --------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Filesystem:
    id: int
    fstype: str
    uuid: str
    label: str | None = ""
    mount_point: str | None = None
    mount_options: str | None = None


@dataclass(eq=False)
class Partition:
    id: int
    device: BlockDevice
    size: int
    uuid: str
    index: int = 0  # its number, where that does not follow from its place
    bootable: bool = False
    tags: list[str] = field(default_factory=list)
    filesystem: Filesystem | None = None
    group: FilesystemGroup | CacheSet | None = None


@dataclass(eq=False)
class BlockDevice:
    """A disk, or what a filesystem group offers as one (`type` "virtual")."""

    id: int
    node: Machine
    name: str
    size: int
    block_size: int = 512
    type: str = "physical"
    model: str = ""
    serial: str = ""
    id_path: str | None = None
    uuid: str | None = None
    tags: list[str] = field(default_factory=list)
    firmware_version: str | None = None
    numa_node: int | None = 0
    storage_pool: str | None = None
    partition_table: str | None = None
    partitions: list[Partition] = field(default_factory=list)
    filesystem: Filesystem | None = None
    group: FilesystemGroup | CacheSet | None = None  # what this device is a member of
    made_by: FilesystemGroup | None = None  # what a virtual device belongs to


@dataclass(eq=False)
class FilesystemGroup:
    """A volume group, RAID or bcache."""

    id: int
    node: Machine
    kind: str
    name: str
    uuid: str
    members: list[BlockDevice | Partition] = field(default_factory=list)
    spares: list[BlockDevice | Partition] = field(default_factory=list)
    cache_set: CacheSet | None = None
    cache_mode: str | None = None


@dataclass(eq=False)
class CacheSet:
    id: int
    node: Machine
    device: BlockDevice | Partition
    name: str = ""


# -- nodes ----------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Node:
    """What machines, devices and controllers have in common."""

    id: int
    system_id: str
    hostname: str
    domain: Domain
    zone: Zone
    node_type: NodeType = NodeType.MACHINE
    pool: Pool | None = None
    owner: User | None = None
    description: str = ""
    address_ttl: int | None = None
    interfaces: list[Interface] = field(default_factory=list)
    annotations: dict[str, str] = field(default_factory=dict)
    tags: list[Tag] = field(default_factory=list)
    parent: Node | None = None
    created: datetime | None = None
    updated: datetime | None = None

    @property
    def fqdn(self) -> str:
        return f"{self.hostname}.{self.domain.name}"


@dataclass(eq=False)
class Device(Node):
    node_type: NodeType = NodeType.DEVICE


@dataclass(eq=False)
class Controller(Node):
    node_type: NodeType = NodeType.REGION_AND_RACK_CONTROLLER
    connected: bool = True
    commissioning_set: ScriptSet | None = None


@dataclass(eq=False)
class Machine(Node):
    node_type: NodeType = NodeType.MACHINE
    status: Status = Status.NEW
    previous_status: Status = Status.NEW
    status_message: str | None = None
    status_action: str | None = None
    error_description: str = ""
    architecture: str = "amd64/generic"
    cpu_count: int = 0
    cpu_speed: int = 0
    memory: int = 0
    min_hwe_kernel: str | None = ""
    hwe_kernel: str | None = None
    osystem: str = ""
    distro_series: str = ""
    netboot: bool = True
    locked: bool = False
    ephemeral_deploy: bool = False
    enable_hw_sync: bool = False
    enable_kernel_crash_dump: bool = False
    is_dpu: bool = False
    install_kvm: bool = False  # the deployment asked for a VM host
    sync_interval: int | None = None
    last_sync: datetime | None = None
    power_type: str = ""
    power_parameters: dict[str, Any] = field(default_factory=dict, repr=False)
    power_state: str = "unknown"
    agent_name: str = ""
    user_data: bytes | None = field(default=None, repr=False)
    swap_size: int | None = None
    bios_boot_method: str | None = None
    hardware_uuid: str | None = None
    hardware_info: dict[str, str] = field(default_factory=dict)
    numa_cores: list[int] = field(default_factory=list)
    numa_memory: int = 0
    boot_interface: Interface | None = None
    boot_disk: BlockDevice | None = None
    disks: list[BlockDevice] = field(default_factory=list)
    groups: list[FilesystemGroup] = field(default_factory=list)
    cache_sets: list[CacheSet] = field(default_factory=list)
    special_filesystems: list[Filesystem] = field(default_factory=list)
    storage_acquired: bool = False  # an allocation copied the filesystems; they are shown while it lasts
    gateway_links: dict[int, StaticIP] = field(default_factory=dict)  # IP version -> link that is the default gateway
    dynamic: bool = False  # made by MAAS (composed by allocate): deleted when released
    pod: VMHost | None = None
    virtual_machine_id: int | None = None
    commissioning_set: ScriptSet | None = None
    testing_set: ScriptSet | None = None
    installation_set: ScriptSet | None = None
    release_set: ScriptSet | None = None
    kept_by_commissioning: set[str] = field(default_factory=set)  # "storage", "networking"
    next_hardware: dict[str, Any] = field(default_factory=dict)  # what commissioning will find, when a test has said so


# A machine in one of these shows the filesystems of its allocation, and none when there was no allocation.
ALLOCATED_STATUSES = frozenset(
    {
        Status.ALLOCATED,
        Status.DEPLOYING,
        Status.DEPLOYED,
        Status.FAILED_DEPLOYMENT,
        Status.RELEASING,
        Status.FAILED_RELEASING,
        Status.DISK_ERASING,
        Status.FAILED_DISK_ERASING,
        Status.RESCUE_MODE,
        Status.ENTERING_RESCUE_MODE,
        Status.FAILED_ENTERING_RESCUE_MODE,
        Status.EXITING_RESCUE_MODE,
        Status.FAILED_EXITING_RESCUE_MODE,
        Status.TESTING,
        Status.FAILED_TESTING,
    }
)

# -- scripts, results, events ---------------------------------------------------------------------------------------


@dataclass(eq=False)
class ScriptVersion:
    id: int
    content: str
    comment: str | None = None
    created: datetime | None = None


@dataclass(eq=False)
class Script:
    id: int
    name: str
    type: ResultType
    title: str = ""
    description: str = ""
    tags: list[str] = field(default_factory=list)
    hardware_type: HardwareType = HardwareType.NODE
    parallel: int = 0
    timeout: int = 0
    default: bool = False
    destructive: bool = False
    may_reboot: bool = False
    recommission: bool = False
    apply_configured_networking: bool = False
    for_hardware: list[str] = field(default_factory=list)
    packages: dict[str, Any] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    results: Any = field(default_factory=dict)
    history: list[ScriptVersion] = field(default_factory=list)


@dataclass(eq=False)
class ScriptResult:
    id: int
    name: str
    script: Script | None = None
    status: ScriptStatus = ScriptStatus.PENDING
    exit_status: int | None = None
    output: bytes = b""
    stdout: bytes = b""
    stderr: bytes = b""
    started: datetime | None = None
    ended: datetime | None = None
    disk: BlockDevice | None = None
    interface: Interface | None = None
    suppressed: bool = False


@dataclass(eq=False)
class ScriptSet:
    id: int
    node: Node
    type: ResultType
    results: list[ScriptResult] = field(default_factory=list)
    requested: list[str] = field(default_factory=list)
    created: datetime | None = None


@dataclass(eq=False)
class Event:
    id: int
    type: str
    created: datetime
    level: str = "INFO"
    description: str = ""
    node: Node | None = None
    hostname: str = ""
    username: str = ""


@dataclass(eq=False)
class Notification:
    id: int
    message: str
    category: str = "error"
    ident: str | None = None
    user: User | None = None
    users: bool = False
    admins: bool = False
    context: dict[str, Any] = field(default_factory=dict)
    dismissable: bool = True
    dismissed_by: list[User] = field(default_factory=list)


# -- images, VM hosts, the rest -------------------------------------------------------------------------------------


@dataclass(eq=False)
class BootFile:
    id: int
    filename: str
    filetype: str
    size: int
    sha256: str
    received: int = 0
    digest: Any = field(default_factory=hashlib.sha256, repr=False)  # of what was received so far

    @property
    def complete(self) -> bool:
        return self.received >= self.size


@dataclass(eq=False)
class BootSet:
    id: int
    version: str
    label: str
    files: list[BootFile] = field(default_factory=list)


@dataclass(eq=False)
class BootResource:
    """`type` is "Synced" or "Uploaded"; `kernels` are the sub-architectures that deployments may ask for.

    `subarches` and `title` are what the API shows, if anything.
    """

    id: int
    type: str
    name: str
    architecture: str
    title: str | None = None
    subarches: str | None = None
    base_image: str = ""
    kernels: list[str] = field(default_factory=list)
    platform: str | None = None
    supported_platforms: str | None = None
    last_deployed: datetime | None = None
    sets: list[BootSet] = field(default_factory=list)


@dataclass(eq=False)
class BootSource:
    id: int
    url: str
    keyring_filename: str = ""
    keyring_data: bytes = b""
    created: datetime | None = None
    updated: datetime | None = None


@dataclass(eq=False)
class BootSourceSelection:
    id: int
    source: BootSource
    os: str
    release: str
    arches: list[str]
    subarches: list[str]
    labels: list[str]


@dataclass(eq=False)
class VMHost:
    id: int
    name: str
    type: str
    zone: Zone
    pool: Pool
    parameters: dict[str, Any] = field(default_factory=dict, repr=False)
    tags: list[str] = field(default_factory=list)
    version: str = ""
    architectures: list[str] = field(default_factory=list)
    capabilities: list[str] = field(default_factory=list)
    cores: int = 0
    cpu_speed: int = 0
    memory: int = 0
    local_storage: int = 0
    cpu_over_commit_ratio: float = 1.0
    memory_over_commit_ratio: float = 1.0
    default_macvlan_mode: str | None = None
    default_storage_pool: str = ""
    host: Node | None = None
    storage_pools: list[dict[str, Any]] = field(default_factory=list)


@dataclass(eq=False)
class VirtualMachine:
    """What MAAS has noted of a VM on a VM host; `machine` is None when it is in another project.

    `disks` are pairs of storage pool and size.
    """

    id: int
    host: VMHost
    project: str
    name: str
    cores: int
    memory: int
    disks: list[tuple[str, int]] = field(default_factory=list)
    pinned: list[int] = field(default_factory=list)
    hugepages: bool = False
    machine: Machine | None = None


@dataclass(eq=False)
class StoredFile:
    id: int
    filename: str
    content: bytes
    key: str
    owner: User | None = None


@dataclass(eq=False)
class DHCPSnippet:
    id: int
    name: str
    history: list[ScriptVersion] = field(default_factory=list)
    description: str = ""
    enabled: bool = True
    node: Node | None = None
    subnet: Subnet | None = None


@dataclass(eq=False)
class PackageRepository:
    id: int
    name: str
    url: str
    key: str = ""
    arches: list[str] = field(default_factory=list)
    distributions: list[str] = field(default_factory=list)
    disabled_pockets: list[str] = field(default_factory=list)
    disabled_components: list[str] = field(default_factory=list)
    components: list[str] = field(default_factory=list)
    disable_sources: bool = True
    enabled: bool = True
    default: bool = False
