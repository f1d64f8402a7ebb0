# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""MAAS's JSON of the things in `model`.

Make one `Render` a request: what many objects share (zones, subnets, VLANs) is rendered once in it.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from metalshift_lab.simulator import storage
from metalshift_lab.simulator.model import (
    VLAN,
    AllocType,
    BlockDevice,
    CacheSet,
    Device,
    DNSData,
    DNSResource,
    Domain,
    Fabric,
    Filesystem,
    FilesystemGroup,
    HardwareType,
    Interface,
    IPRange,
    Machine,
    Node,
    Partition,
    Pool,
    ReservedIP,
    ScriptResult,
    ScriptSet,
    ScriptStatus,
    Space,
    StaticIP,
    StaticRoute,
    Subnet,
    Tag,
    UnknownInterface,
    User,
    Zone,
)
from metalshift_lab.simulator.state import State

URI = "/MAAS/api/2.0/"
JSON = dict[str, Any]
T = TypeVar("T")
V = TypeVar("V")

ALLOC_TYPE_NAMES = {
    AllocType.AUTO: "Automatic",
    AllocType.STICKY: "Static",
    AllocType.USER_RESERVED: "User reserved",
    AllocType.DHCP: "DHCP",
    AllocType.DISCOVERED: "Observed",
}
HARDWARE_INFO = (
    "system_vendor",
    "system_product",
    "system_family",
    "system_version",
    "system_sku",
    "system_serial",
    "cpu_model",
    "mainboard_vendor",
    "mainboard_product",
    "mainboard_serial",
    "mainboard_version",
    "mainboard_firmware_vendor",
    "mainboard_firmware_date",
    "mainboard_firmware_version",
    "chassis_vendor",
    "chassis_type",
    "chassis_serial",
    "chassis_version",
)
SERVICES = (
    "regiond", "syslog_region", "ntp_region", "proxy", "temporal", "temporal-worker", "bind9", "reverse_proxy",
    "ntp_rack", "agent", "dns_rack", "dhcpd", "syslog_rack", "http", "proxy_rack", "tftp", "rackd", "dhcpd6",
)  # fmt: skip
TESTS_OF = {
    "cpu": HardwareType.CPU,
    "memory": HardwareType.MEMORY,
    "storage": HardwareType.STORAGE,
    "network": HardwareType.NETWORK,
    "other": HardwareType.NODE,
}
PENDING_FIRST = (
    ScriptStatus.RUNNING,
    ScriptStatus.APPLYING_NETCONF,
    ScriptStatus.INSTALLING,
    ScriptStatus.PENDING,
    ScriptStatus.ABORTED,
    ScriptStatus.FAILED,
    ScriptStatus.FAILED_APPLYING_NETCONF,
    ScriptStatus.FAILED_INSTALLING,
    ScriptStatus.TIMEDOUT,
    ScriptStatus.DEGRADED,
    ScriptStatus.PASSED,
    ScriptStatus.SKIPPED,
)


def moment(value: datetime | None) -> str | None:
    """A time as MAAS writes it in JSON."""
    return value.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] if value else None


def overall(results: Iterable[ScriptResult]) -> ScriptStatus:
    """One status for many script results, as MAAS sums them up."""
    found = {r.status for r in results if not r.suppressed}
    return next((s for s in PENDING_FIRST if s in found), ScriptStatus.UNKNOWN)


class Render:
    def __init__(self, state: State) -> None:
        self.state = state
        self._memo: dict[tuple[str, int], Any] = {}

    def _once(self, kind: str, thing: T, build: Callable[[T], V]) -> V:
        key = (kind, id(thing))
        found = self._memo.get(key)
        if found is None:
            found = self._memo[key] = build(thing)
        return found

    # -- small things -----------------------------------------------------------------------------------------------

    def user(self, user: User) -> JSON:
        return {
            "is_superuser": user.is_superuser,
            "username": user.username,
            "email": user.email,
            "is_local": True,
            "resource_uri": f"{URI}users/{user.username}/",
        }

    def zone(self, zone: Zone) -> JSON:
        return self._once(
            "zone",
            zone,
            lambda z: {
                "name": z.name,
                "description": z.description,
                "id": z.id,
                "resource_uri": f"{URI}zones/{z.name}/",
            },
        )

    def pool(self, pool: Pool) -> JSON:
        return self._once(
            "pool",
            pool,
            lambda p: {
                "name": p.name,
                "description": p.description,
                "id": p.id,
                "resource_uri": f"{URI}resourcepool/{p.id}/",
            },
        )

    def tag(self, tag: Tag) -> JSON:
        return {
            "name": tag.name,
            "definition": tag.definition,
            "comment": tag.comment,
            "kernel_opts": tag.kernel_opts,
            "resource_uri": f"{URI}tags/{tag.name}/",
        }

    def domain(self, domain: Domain) -> JSON:
        return self._once("domain", domain, self._domain)

    def _domain(self, domain: Domain) -> JSON:
        return {
            "authoritative": domain.authoritative,
            "ttl": domain.ttl,
            "is_default": domain is self.state.default_domain,
            "name": domain.name,
            "id": domain.id,
            "resource_record_count": self.record_count(domain),
            "resource_uri": f"{URI}domains/{domain.id}/",
        }

    def record_count(self, domain: Domain) -> int:
        addresses = sum(len(r.addresses) for r in self.state.dns_resources.where(domain=domain))
        return addresses + sum(1 for d in self.state.dns_data if d.resource.domain is domain)

    # -- networks ---------------------------------------------------------------------------------------------------

    def vlan(self, vlan: VLAN) -> JSON:
        return self._once(
            "vlan",
            vlan,
            lambda v: {
                "vid": v.vid,
                "mtu": v.mtu,
                "dhcp_on": v.dhcp_on,
                "external_dhcp": v.external_dhcp,
                "relay_vlan": self.vlan(v.relay_vlan) if v.relay_vlan else None,
                "name": self.vlan_name(v),
                "fabric": v.fabric.name,
                "fabric_id": v.fabric.id,
                "id": v.id,
                "primary_rack": v.primary_rack.system_id if v.primary_rack else None,
                "secondary_rack": v.secondary_rack.system_id if v.secondary_rack else None,
                "space": v.space.name if v.space else "undefined",
                "resource_uri": f"{URI}vlans/{v.id}/",
            },
        )

    def vlan_name(self, vlan: VLAN) -> str:
        if vlan is min(self.state.vlans.where(fabric=vlan.fabric), key=lambda v: v.id, default=None):
            return "untagged"
        return vlan.name or str(vlan.vid)

    def fabric(self, fabric: Fabric) -> JSON:
        return {
            "class_type": fabric.class_type,
            "id": fabric.id,
            "name": fabric.name,
            "vlans": [self.vlan(v) for v in self.state.vlans.where(fabric=fabric)],
            "resource_uri": f"{URI}fabrics/{fabric.id}/",
        }

    def space(self, space: Space) -> JSON:
        return {
            "name": space.name,
            "description": space.description,
            "id": space.id,
            "vlans": [self.vlan(v) for v in self.state.vlans.where(space=space)],
            "subnets": [self.subnet(s) for s in self.state.subnets if s.vlan.space is space],
            "resource_uri": f"{URI}spaces/{space.id}/",
        }

    def subnet(self, subnet: Subnet) -> JSON:
        return self._once(
            "subnet",
            subnet,
            lambda s: {
                "name": s.name,
                "description": s.description,
                "vlan": self.vlan(s.vlan),
                "cidr": s.cidr,
                "rdns_mode": s.rdns_mode,
                "gateway_ip": s.gateway_ip,
                "dns_servers": list(s.dns_servers),
                "allow_dns": s.allow_dns,
                "allow_proxy": s.allow_proxy,
                "active_discovery": s.active_discovery,
                "managed": s.managed,
                "disabled_boot_architectures": list(s.disabled_boot_architectures),
                "space": s.vlan.space.name if s.vlan.space else "undefined",
                "id": s.id,
                "resource_uri": f"{URI}subnets/{s.id}/",
            },
        )

    def undefined_space(self) -> JSON:
        """What is in no space."""
        return {
            "name": "undefined",
            "description": "Backward compatibility object to ensure objects not associated with a space can be found.",
            "id": -1,
            "vlans": [self.vlan(v) for v in self.state.vlans.where(space=None)],
            "subnets": [self.subnet(s) for s in self.state.subnets if s.vlan.space is None],
            "resource_uri": f"{URI}spaces/undefined/",
        }

    def static_route(self, route: StaticRoute) -> JSON:
        return {
            "source": self.subnet(route.source),
            "destination": self.subnet(route.destination),
            "gateway_ip": route.gateway_ip,
            "metric": route.metric,
            "id": route.id,
            "resource_uri": f"{URI}static-routes/{route.id}/",
        }

    def reserved_ip(self, found: ReservedIP) -> JSON:
        return {
            "ip": found.ip,
            "subnet": self.subnet(found.subnet),
            "mac_address": found.mac_address,
            "comment": found.comment,
            "id": found.id,
            "resource_uri": f"{URI}reservedips/{found.id}/",
        }

    def ip_address(self, address: StaticIP) -> JSON:
        interfaces: list[JSON] = []
        if address.interface is not None:
            interfaces = [self.interface(address.interface)]
        elif address.unknown_interface is not None:
            interfaces = [self.unknown_interface(address.unknown_interface)]
        return {
            "created": f"{moment(address.created)}Z",
            "ip": address.ip,
            "alloc_type": int(address.alloc_type),
            "alloc_type_name": ALLOC_TYPE_NAMES[address.alloc_type],
            "subnet": self.subnet(address.subnet) if address.subnet else None,
            "owner": self.user(address.user) if address.user else None,
            "interface_set": interfaces,
            "resource_uri": f"{URI}ipaddresses/",
        }

    def related_ip(self, address: StaticIP, *, user: bool, summary: bool) -> JSON:
        """An address in the list of its subnet."""
        created = address.created.strftime("%a, %d %b. %Y %H:%M:%S") if address.created else ""
        out: JSON = {
            "ip": address.ip,
            "alloc_type": int(address.alloc_type),
            "created": created,
            "updated": created,
        }
        if user and address.user is not None:
            out["user"] = address.user.username
        if summary and address.interface is not None:
            node = address.interface.node
            out["node_summary"] = {
                "system_id": node.system_id,
                "node_type": int(node.node_type),
                "fqdn": node.fqdn,
                "hostname": node.hostname,
                "is_container": node.parent is not None,
                "via": address.interface.name,
            }
        records = [r for r in self.state.dns_resources if address in r.addresses]
        if summary and records:
            out["dns_records"] = [{"id": r.id, "name": r.name, "domain": r.domain.name} for r in records]
        return out

    def dns_resource(self, found: DNSResource) -> JSON:
        return {
            "address_ttl": found.address_ttl,
            "fqdn": found.fqdn,
            "id": found.id,
            "ip_addresses": [self.ip_address(a) for a in found.addresses],
            "resource_records": [self.dns_data(d) for d in self.state.dns_data.where(resource=found)],
            "resource_uri": f"{URI}dnsresources/{found.id}/",
        }

    def dns_data(self, found: DNSData) -> JSON:
        return {
            "id": found.id,
            "fqdn": found.resource.fqdn,
            "ttl": found.ttl,
            "rrtype": found.rrtype,
            "rrdata": found.rrdata,
            "resource_uri": f"{URI}dnsresourcerecords/{found.id}/",
        }

    def ip_range(self, found: IPRange) -> JSON:
        return {
            "subnet": self.subnet(found.subnet),
            "type": found.type,
            "start_ip": found.start_ip,
            "end_ip": found.end_ip,
            "user": self.user(found.user) if found.user else None,
            "comment": found.comment,
            "id": found.id,
            "resource_uri": f"{URI}ipranges/{found.id}/",
        }

    def link(self, link: StaticIP) -> JSON:
        out: JSON = {"id": link.id, "mode": link.mode}
        if link.ip:
            out["ip_address"] = link.ip
        if link.subnet:
            out["subnet"] = self.subnet(link.subnet)
        return out

    def interface(self, interface: Interface) -> JSON:
        node = interface.node
        return {
            "id": interface.id,
            "name": interface.name,
            "type": interface.type,
            "enabled": interface.enabled,
            "mac_address": interface.mac_address,
            "vlan": self.vlan(interface.vlan) if interface.vlan else None,
            "links": [self.link(a) for a in interface.links],
            "tags": list(interface.tags),
            "params": dict(interface.params) if interface.params else {},
            "parents": sorted(p.name for p in interface.parents),
            "children": sorted(i.name for i in node.interfaces if interface in i.parents),
            "discovered": None,
            "effective_mtu": self.mtu(interface),
            "link_connected": interface.link_connected,
            "interface_speed": interface.interface_speed,
            "link_speed": interface.link_speed,
            "vendor": interface.vendor,
            "product": interface.product,
            "firmware_version": interface.firmware_version,
            "sriov_max_vf": interface.sriov_max_vf,
            "numa_node": interface.numa_node,
            "system_id": node.system_id,
            "resource_uri": f"{URI}nodes/{node.system_id}/interfaces/{interface.id}/",
        }

    def unknown_interface(self, interface: UnknownInterface) -> JSON:
        """What is known of a NIC that belongs to no node."""
        return {
            "id": interface.id,
            "name": "eth0",
            "type": "unknown",
            "enabled": True,
            "mac_address": interface.mac_address,
            "vlan": self.vlan(interface.vlan) if interface.vlan else None,
            "tags": [],
            "params": {},
            "parents": [],
            "children": [],
            "link_connected": True,
            "interface_speed": 0,
            "link_speed": 0,
            "vendor": None,
            "product": None,
            "firmware_version": None,
            "sriov_max_vf": 0,
            "numa_node": None,
        }

    def mtu(self, interface: Interface) -> int:
        if interface.params.get("mtu"):
            return int(interface.params["mtu"])
        if interface.vlan is not None:
            return interface.vlan.mtu
        return max((self.mtu(c) for c in interface.node.interfaces if interface in c.parents), default=1500)

    # -- storage ----------------------------------------------------------------------------------------------------

    def filesystem(self, filesystem: Filesystem | None) -> JSON | None:
        if filesystem is None:
            return None
        return {
            "fstype": filesystem.fstype,
            "label": filesystem.label,
            "uuid": filesystem.uuid,
            "mount_point": filesystem.mount_point,
            "mount_options": filesystem.mount_options,
        }

    def partition(self, partition: Partition) -> JSON:
        device = partition.device
        return {
            "uuid": partition.uuid,
            "size": partition.size,
            "bootable": partition.bootable,
            "tags": list(partition.tags),
            "filesystem": self.filesystem(storage.filesystem(partition)),
            "id": partition.id,
            "path": f"/dev/disk/by-dname/{device.name}-part{storage.number(partition)}",
            "type": "partition",
            "device_id": device.id,
            "used_for": storage.used_for(partition),
            "system_id": device.node.system_id,
            "resource_uri": f"{URI}nodes/{device.node.system_id}/blockdevices/{device.id}/partition/{partition.id}",
        }

    def disk(self, disk: BlockDevice) -> JSON:
        return self._once("disk", disk, self._disk)

    def _disk(self, disk: BlockDevice) -> JSON:
        physical = disk.type == "physical"
        out: JSON = {
            "id": disk.id,
            "name": disk.name,
            "type": disk.type,
            "path": f"/dev/disk/by-dname/{disk.name}",
            "id_path": disk.id_path,
            "model": disk.model if physical else None,
            "serial": disk.serial if physical else None,
            "size": disk.size,
            "block_size": disk.block_size,
            "used_size": storage.used_size(disk),
            "available_size": storage.available_size(disk),
            "used_for": storage.used_for(disk),
            "tags": list(disk.tags),
            "uuid": disk.uuid,
            "numa_node": disk.numa_node,
            "storage_pool": disk.storage_pool,
            "partition_table_type": disk.partition_table,
            "partitions": [self.partition(p) for p in disk.partitions],
            "filesystem": self.filesystem(storage.filesystem(disk)),
            "system_id": disk.node.system_id,
            "resource_uri": f"{URI}nodes/{disk.node.system_id}/blockdevices/{disk.id}/",
        }
        if physical:
            out["firmware_version"] = disk.firmware_version
        return out

    def storage_thing(self, thing: BlockDevice | Partition) -> JSON:
        return self.disk(thing) if isinstance(thing, BlockDevice) else self.partition(thing)

    def stub(self, thing: FilesystemGroup | CacheSet) -> JSON:
        """A volume group, RAID, bcache or cache set in its machine's document."""
        return {"system_id": thing.node.system_id, "id": thing.id, "__incomplete__": True}

    # -- nodes ------------------------------------------------------------------------------------------------------

    def node(self, node: Node) -> JSON:
        if isinstance(node, Machine):
            return self.machine(node)
        if isinstance(node, Device):
            return self.device(node)
        return self.controller(node)

    def node_stub(self, node: Node) -> JSON:
        """The short form of lists of nodes."""
        kind = "machines" if isinstance(node, Machine) else "devices" if isinstance(node, Device) else "rackcontrollers"
        return {
            "domain": self.domain(node.domain),
            "zone": self.zone(node.zone),
            "hostname": node.hostname,
            "system_id": node.system_id,
            "node_type": int(node.node_type),
            "node_type_name": node.node_type.label,
            "resource_uri": f"{URI}{kind}/{node.system_id}/",
        }

    def device(self, device: Device) -> JSON:
        return {
            "system_id": device.system_id,
            "hostname": device.hostname,
            "domain": self.domain(device.domain),
            "fqdn": device.fqdn,
            "address_ttl": device.address_ttl,
            "description": device.description,
            "zone": self.zone(device.zone),
            "owner": device.owner.username if device.owner else None,
            "owner_data": dict(device.annotations),
            "workload_annotations": dict(device.annotations),
            "parent": device.parent.system_id if device.parent else None,
            "tag_names": sorted(t.name for t in device.tags),
            "ip_addresses": ip_addresses(device),
            "interface_set": [self.interface(i) for i in device.interfaces],
            "node_type": int(device.node_type),
            "node_type_name": device.node_type.label,
            "resource_uri": f"{URI}devices/{device.system_id}/",
        }

    def machine(self, machine: Machine) -> JSON:
        release = self.state.release
        out = {name: field.value(self, machine) for name, field in MACHINE.items() if release >= field.since}
        return out | self._statuses(machine)

    def interfaces(self, machine: Machine) -> dict[int, JSON]:
        """By id, the same ones wherever they are in the machine's document."""
        return self._once("interfaces", machine, lambda m: {i.id: self.interface(i) for i in m.interfaces})

    def boot_interface(self, machine: Machine) -> JSON | None:
        found = machine.boot_interface or next(iter(machine.interfaces), None)
        return self.interfaces(machine).get(found.id) if found else None

    def boot_disk(self, machine: Machine) -> JSON | None:
        found = machine.boot_disk or next(iter(_disks(machine, "physical")), None)
        return self.disk(found) if found else None

    def _statuses(self, machine: Machine) -> JSON:
        commissioning = overall(machine.commissioning_set.results if machine.commissioning_set else ())
        tests = machine.testing_set.results if machine.testing_set else []
        found = {"commissioning_status": commissioning, "testing_status": overall(tests)}
        for name, kind in TESTS_OF.items():
            found[f"{name}_test_status"] = overall(
                r for r in tests if r.script is not None and r.script.hardware_type is kind
            )
        found["interface_test_status"] = overall(r for r in tests if r.interface is not None)
        out: JSON = {}
        for name, status in found.items():
            out[name], out[f"{name}_name"] = int(status), status.label
        return out

    def pod(self, machine: Machine) -> JSON | None:
        if machine.pod is None:
            return None
        return {"id": machine.pod.id, "name": machine.pod.name, "resource_uri": f"{URI}pods/{machine.pod.id}/"}

    def parent(self, machine: Machine) -> JSON | None:
        if machine.parent is None:
            return None
        system_id = machine.parent.system_id
        return {"system_id": system_id, "resource_uri": f"{URI}machines/{system_id}/", "__incomplete__": True}

    def default_gateways(self, machine: Machine) -> JSON:
        out = {}
        for family, name in ((4, "ipv4"), (6, "ipv6")):
            chosen = machine.gateway_links.get(family)
            if chosen is not None and chosen.subnet is not None and chosen.subnet.gateway_ip:
                out[name] = {"gateway_ip": chosen.subnet.gateway_ip, "link_id": chosen.id}
                continue
            guessed = (
                link.subnet.gateway_ip
                for interface in machine.interfaces
                for link in interface.links
                if link.subnet is not None
                and link.subnet.gateway_ip
                and ipaddress.ip_network(link.subnet.cidr).version == family
            )
            out[name] = {"gateway_ip": next(guessed, None), "link_id": None}
        return out

    def controller(self, node: Node, path: str = "rackcontrollers") -> JSON:
        """Nobody has commissioned the controller, so nothing is known of its hardware."""
        waiting = getattr(node, "commissioning_set", None)
        unknown, pending = ScriptStatus.UNKNOWN, ScriptStatus.PENDING
        statuses: JSON = {"commissioning_status": int(pending), "commissioning_status_name": pending.label}
        for name in ("testing", *(f"{kind}_test" for kind in (*TESTS_OF, "interface"))):
            statuses |= {f"{name}_status": int(unknown), f"{name}_status_name": unknown.label}
        out: JSON = {
            **self.node_stub(node),
            "fqdn": node.fqdn,
            "description": node.description,
            "version": self.state.version,
            "architecture": None,
            "cpu_count": 0,
            "cpu_speed": 0,
            "memory": 0,
            "swap_size": None,
            "osystem": "",
            "distro_series": "",
            "power_type": "",
            "power_state": "unknown",
            "status_action": None,
            "hardware_uuid": None,
            "hardware_info": dict.fromkeys(HARDWARE_INFO, "Unknown"),
            "tag_names": sorted(t.name for t in node.tags),
            "ip_addresses": ip_addresses(node),
            "interface_set": [self.interface(i) for i in node.interfaces],
            "service_set": [{"name": name, "status": "unknown", "status_info": ""} for name in SERVICES],
            "current_commissioning_result_id": waiting.id if waiting else None,
            "current_installation_result_id": None,
            "current_testing_result_id": None,
            "resource_uri": f"{URI}{path}/{node.system_id}/",
            **statuses,
        }
        if path == "regioncontrollers":
            del out["service_set"]
        return out

    def script_set(self, found: ScriptSet) -> JSON:
        status = overall(found.results)
        return {
            "id": found.id,
            "type": int(found.type),
            "type_name": found.type.label,
            "status": int(status),
            "status_name": status.label,
        }


def ip_addresses(node: Node) -> list[str]:
    return [link.ip for interface in node.interfaces for link in interface.links if link.ip]


# -- the document of a machine ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MachineField:
    """One field, and the first version of MAAS that has it."""

    value: Callable[[Render, Machine], Any]
    since: tuple[int, int] = (3, 0)


def _own(*names: str) -> dict[str, MachineField]:
    """Fields that are called as in `model`."""
    return {name: MachineField(partial(_attribute, name)) for name in names}


def _attribute(name: str, _render: Render, machine: Machine) -> Any:
    return getattr(machine, name)


def _id(found: ScriptSet | None) -> int | None:
    return found.id if found else None


def _disks(machine: Machine, kind: str) -> list[BlockDevice]:
    return [disk for disk in machine.disks if disk.type == kind]


def _groups(render: Render, machine: Machine, kind: str) -> list[JSON]:
    return [render.stub(group) for group in machine.groups if group.kind.startswith(kind)]


MACHINE: dict[str, MachineField] = {
    **_own("system_id", "hostname", "description"),
    "domain": MachineField(lambda render, m: render.domain(m.domain)),
    **_own("fqdn", "architecture", "cpu_count", "cpu_speed", "memory", "swap_size"),
    "storage": MachineField(lambda _render, m: round(sum(d.size for d in _disks(m, "physical")) / 1000**2, 1)),
    "status": MachineField(lambda _render, m: int(m.status)),
    "status_name": MachineField(lambda _render, m: m.status.label),
    **_own("status_action", "status_message"),
    "error_description": MachineField(lambda _render, m: m.error_description, since=(3, 5)),
    **_own("osystem", "distro_series", "hwe_kernel", "min_hwe_kernel", "netboot", "power_state", "power_type"),
    "owner": MachineField(lambda _render, m: m.owner.username if m.owner else None),
    "owner_data": MachineField(lambda _render, m: dict(m.annotations)),
    "workload_annotations": MachineField(lambda _render, m: dict(m.annotations)),
    "pool": MachineField(lambda render, m: render.pool(m.pool) if m.pool else None),
    "zone": MachineField(lambda render, m: render.zone(m.zone)),
    "pod": MachineField(lambda render, m: render.pod(m)),
    "virtualmachine_id": MachineField(lambda _render, m: m.virtual_machine_id),
    "parent": MachineField(lambda render, m: render.parent(m)),
    "tag_names": MachineField(lambda _render, m: sorted(tag.name for tag in m.tags)),
    "ip_addresses": MachineField(lambda _render, m: ip_addresses(m)),
    **_own("address_ttl"),
    "disable_ipv4": MachineField(lambda _render, _m: False),
    "default_gateways": MachineField(lambda render, m: render.default_gateways(m)),
    "boot_interface": MachineField(lambda render, m: render.boot_interface(m)),
    "interface_set": MachineField(lambda render, m: list(render.interfaces(m).values())),
    "boot_disk": MachineField(lambda render, m: render.boot_disk(m)),
    "blockdevice_set": MachineField(lambda render, m: [render.disk(d) for d in m.disks]),
    "physicalblockdevice_set": MachineField(lambda render, m: [render.disk(d) for d in _disks(m, "physical")]),
    "virtualblockdevice_set": MachineField(lambda render, m: [render.disk(d) for d in _disks(m, "virtual")]),
    "volume_groups": MachineField(lambda render, m: _groups(render, m, "lvm-vg")),
    "raids": MachineField(lambda render, m: _groups(render, m, "raid")),
    "bcaches": MachineField(lambda render, m: _groups(render, m, "bcache")),
    "cache_sets": MachineField(lambda render, m: [render.stub(cache) for cache in m.cache_sets]),
    "special_filesystems": MachineField(lambda render, m: [render.filesystem(f) for f in m.special_filesystems]),
    **_own("bios_boot_method", "hardware_uuid"),
    "hardware_info": MachineField(lambda _render, m: {k: m.hardware_info.get(k, "Unknown") for k in HARDWARE_INFO}),
    "numanode_set": MachineField(
        lambda _render, m: [
            {"index": 0, "memory": m.numa_memory, "cores": list(m.numa_cores), "hugepages_set": []},
        ]
    ),
    **_own("locked", "ephemeral_deploy", "enable_hw_sync"),
    "enable_kernel_crash_dump": MachineField(lambda _render, m: m.enable_kernel_crash_dump, since=(3, 6)),
    "is_dpu": MachineField(lambda _render, m: m.is_dpu, since=(3, 7)),
    **_own("sync_interval"),
    "last_sync": MachineField(lambda _render, m: moment(m.last_sync)),
    "next_sync": MachineField(lambda _render, _m: None),
    "node_type": MachineField(lambda _render, m: int(m.node_type)),
    "node_type_name": MachineField(lambda _render, m: m.node_type.label),
    "current_commissioning_result_id": MachineField(lambda _render, m: _id(m.commissioning_set)),
    "current_installation_result_id": MachineField(lambda _render, m: _id(m.installation_set)),
    "current_testing_result_id": MachineField(lambda _render, m: _id(m.testing_set)),
    "resource_uri": MachineField(lambda _render, m: f"{URI}machines/{m.system_id}/"),
}
