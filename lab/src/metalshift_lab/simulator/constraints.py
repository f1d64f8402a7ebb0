# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `allocate` and the filters of lists of nodes understand: one table, name by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from metalshift_lab.simulator import machine_forms
from metalshift_lab.simulator.errors import Invalid
from metalshift_lab.simulator.forms import Wrong, mac_address
from metalshift_lab.simulator.http import Params
from metalshift_lab.simulator.model import BlockDevice, Interface, Machine, Node, Status, Subnet
from metalshift_lab.simulator.state import State

GB = 1000**3
Values = list[str]
Clean = Callable[[State, Values], Any]
Test = Callable[[State, Machine, Any], bool]
Show = Callable[[Any], str]

ALLOCATE_OPTIONS = (
    "op",
    "agent_name",
    "comment",
    "dry_run",
    "verbose",
    "bridge_all",
    "bridge_type",
    "bridge_stp",
    "bridge_fd",
)


@dataclass(frozen=True)
class Constraint:
    """How values are read (`Wrong` for wrong ones), which machines match, and how MAAS repeats it in its errors."""

    clean: Clean
    test: Test
    show: Show = ",".join
    machines_only: bool = True


@dataclass(frozen=True)
class Size:
    """One disk of a storage constraint: label, gigabytes, tags."""

    label: str
    gigabytes: float
    tags: tuple[str, ...]


@dataclass(frozen=True)
class Nic:
    """One interface of an interfaces constraint."""

    label: str
    wanted: tuple[tuple[str, str], ...]


# -- reading values -------------------------------------------------------------------------------------------------


def words(_state: State, values: Values) -> Values:
    """Repeated keys, and commas within one."""
    return [w for v in values for w in re.split(r"[,\s]+", v) if w]


def raw(_state: State, values: Values) -> Values:
    return [v for v in values if v]


def names_of(table: str, noun: str, *, quoted: bool = False) -> Clean:
    """Names that must exist."""

    def clean(state: State, values: Values) -> Values:
        wanted = words(state, values)
        known = {row.name for row in getattr(state, table)}
        missing = sorted({name for name in wanted if name not in known})
        if missing:
            raise Wrong(f"No such {noun}(s): {', '.join(repr(m) if quoted else m for m in missing)}.")
        return wanted

    return clean


def number(message: str) -> Clean:
    def clean(_state: State, values: Values) -> float | None:
        if not values or not values[-1].strip():
            return None
        try:
            return float(values[-1])
        except ValueError:
            raise Wrong(message) from None

    return clean


def choices(options: Sequence[str]) -> Clean:
    def clean(_state: State, values: Values) -> Values:
        for value in raw(_state, values):
            if value not in options:
                raise Wrong(f"Select a valid choice. {value} is not one of the available choices.")
        return raw(_state, values)

    return clean


def architectures(state: State, values: Values) -> Values:
    known = machine_forms.architectures(state)
    out: list[str] = []
    for value in raw(state, values):
        matching = [a for a in known if a == value or a.split("/")[0] == value]
        if not matching:
            raise Wrong("Architecture not recognised.")
        out += matching
    return out


def macs(_state: State, values: Values) -> Values:
    return [mac_address(v) for v in values]


def subnets(state: State, values: Values) -> list[Subnet]:
    wanted = raw(state, values)
    found = [s for s in state.subnets if any(matches_subnet(s, w) for w in wanted)]
    if wanted and not found:
        raise Wrong("No matching subnets found.")
    return found


def matches_subnet(subnet: Subnet, specifier: str) -> bool:
    """id, CIDR, name, or "kind:value"."""
    kind, _ignored, value = specifier.partition(":")
    attributes: dict[str, Callable[[Subnet], Any]] = {
        "id": lambda s: s.id,
        "cidr": lambda s: s.cidr,
        "name": lambda s: s.name,
        "ip": lambda s: "",
        "fabric": lambda s: s.vlan.fabric.name,
        "vid": lambda s: s.vlan.vid,
        "vlan": lambda s: s.vlan.vid,
        "space": lambda s: s.vlan.space.name if s.vlan.space else "",
    }
    if value and kind in attributes:
        if kind == "ip":
            import ipaddress

            try:
                return ipaddress.ip_address(value) in ipaddress.ip_network(subnet.cidr)
            except ValueError:
                return False
        return str(attributes[kind](subnet)) == value
    return specifier in (str(subnet.id), subnet.cidr, subnet.name)


def vlans(state: State, values: Values) -> list[Any]:
    wanted = raw(state, values)
    found = [v for v in state.vlans if any(_matches_vlan(v, w) for w in wanted)]
    if wanted and not found:
        raise Wrong("No matching VLANs found.")
    return found


def _matches_vlan(vlan: Any, specifier: str) -> bool:
    kind, _ignored, value = specifier.partition(":")
    known = {"id": vlan.id, "vid": vlan.vid, "name": vlan.name, "fabric": vlan.fabric.name}
    if value and kind in known:
        return str(known[kind]) == value
    return specifier in (str(vlan.id), vlan.name, str(vlan.vid))


def storage(_state: State, values: Values) -> list[Size]:
    """label:gigabytes(tag,tag),…; label and tags are optional."""
    text = values[-1].strip() if values else ""
    out: list[Size] = []
    for item in re.findall(r"[^,(]+(?:\([^)]*\))?", text):
        match = re.fullmatch(r"\s*(?:([\w-]+):)?(\d+(?:\.\d+)?)(?:\(([^)]*)\))?\s*", item)
        if not match:
            raise Wrong(f'Malformed storage constraint, "{text}".')
        out.append(Size(match[1] or "", float(match[2]), tuple(t.strip() for t in (match[3] or "").split(",") if t)))
    return out


def interfaces(_state: State, values: Values) -> list[Nic]:
    """label:key=value,key=value;label:…"""
    text = values[-1].strip() if values else ""
    out: list[Nic] = []
    for item in (i for i in text.split(";") if i.strip()):
        label, colon, rest = item.partition(":")
        pairs = [tuple(p.split("=", 1)) for p in rest.split(",") if p]
        if not colon or not pairs or any(len(p) != 2 for p in pairs):
            required = "'<label>:<key>=<value>[,<key2>=<value2>[,...]]'"
            raise Wrong(f"Malformed constraint: '{item}' (required format: {required})")
        out.append(Nic(label.strip(), tuple((p[0].strip(), p[1].strip()) for p in pairs)))
    return out


# -- matching -------------------------------------------------------------------------------------------------------


def found_disks(machine: Machine, wanted: Iterable[Size]) -> dict[str, list[int]] | None:
    """The disks that serve a storage constraint, by label; the first constraint is for the boot disk."""
    free = [d for d in machine.disks if d.type == "physical"]
    boot = machine.boot_disk or (free[0] if free else None)
    out: dict[str, list[int]] = {}
    for index, size in enumerate(wanted):
        fitting = [d for d in free if d.size >= size.gigabytes * GB and set(size.tags) <= set(d.tags)]
        if index == 0 and boot is not None and size.label == "root":
            fitting = [d for d in fitting if d is boot]
        if not fitting:
            return None
        chosen: BlockDevice = min(fitting, key=lambda d: d.size)
        free.remove(chosen)
        if size.label:
            out.setdefault(size.label, []).append(chosen.id)
    return out


def found_nics(state: State, machine: Machine, wanted: Iterable[Nic]) -> dict[str, list[int]] | None:
    out: dict[str, list[int]] = {}
    for nic in wanted:
        fitting = [i.id for i in machine.interfaces if all(_nic_matches(state, i, k, v) for k, v in nic.wanted)]
        if not fitting:
            return None
        out[nic.label] = fitting
    return out


def _nic_matches(state: State, nic: Interface, key: str, value: str) -> bool:
    subnets_of = [a.subnet for a in nic.links if a.subnet is not None]
    if key in ("subnet", "subnet_cidr", "ip", "space", "fabric", "vid", "vlan"):
        prefix = {"subnet": "", "subnet_cidr": "cidr:"}.get(key, f"{key}:")
        if any(matches_subnet(s, f"{prefix}{value}") for s in subnets_of):
            return True
        if nic.vlan is None:
            return False
        by_vlan = {
            "fabric": nic.vlan.fabric.name,
            "vid": str(nic.vlan.vid),
            "vlan": str(nic.vlan.vid),
            "space": nic.vlan.space.name if nic.vlan.space else "",
        }
        return by_vlan.get(key) == value
    if key == "mode":
        return any(a.mode == value for a in nic.links)
    attributes: dict[str, Callable[[], bool]] = {
        "id": lambda: str(nic.id) == value,
        "name": lambda: nic.name == value,
        "mac": lambda: nic.mac_address == value.lower(),
        "type": lambda: nic.type == value,
        "tag": lambda: value in nic.tags,
        "fabric_class": lambda: nic.vlan is not None and nic.vlan.fabric.class_type == value,
        "hostname": lambda: nic.node.hostname == value,
    }
    return attributes[key]() if key in attributes else False


def _subnet_ids(machine: Machine) -> set[int]:
    return {a.subnet.id for i in machine.interfaces for a in i.links if a.subnet is not None}


def _vlan_ids(machine: Machine) -> set[int]:
    return {i.vlan.id for i in machine.interfaces if i.vlan is not None}


def _fabrics(machine: Machine) -> set[str]:
    known = [i.vlan.fabric for i in machine.interfaces if i.vlan is not None]
    return {f.name for f in known} | {str(f.id) for f in known}


def _classes(machine: Machine) -> set[str | None]:
    return {i.vlan.fabric.class_type for i in machine.interfaces if i.vlan is not None}


def _tags(machine: Machine) -> set[str]:
    return {t.name for t in machine.tags}


def one_of(value: Callable[[Machine], Any]) -> Test:
    return lambda _s, machine, wanted: value(machine) in wanted


def none_of(value: Callable[[Machine], Any]) -> Test:
    return lambda _s, machine, wanted: value(machine) not in wanted


def at_least(value: Callable[[Machine], float]) -> Test:
    return lambda _s, machine, wanted: wanted is None or value(machine) >= wanted


def _speed(machine: Machine) -> int:
    return max((i.interface_speed for i in machine.interfaces), default=0)


def _ids(rows: Iterable[Any]) -> str:
    return ",".join(str(r.id) for r in rows)


def _show_sizes(sizes: Iterable[Size]) -> str:
    out = []
    for size in sizes:
        label = f"{size.label}:" if size.label else ""
        tags = f"({','.join(size.tags)})" if size.tags else ""
        out.append(f"{label}{size.gigabytes:g}{tags}")
    return ",".join(out)


def _show_nics(nics: Iterable[Nic]) -> str:
    return ";".join(f"{n.label}:{','.join(f'{k}={v}' for k, v in n.wanted)}" for n in nics)


STATUS_WORDS = {status.name.lower(): status for status in Status}
POWER_STATES = ("on", "off", "unknown", "error")

COMMON: dict[str, Constraint] = {
    "arch": Constraint(architectures, one_of(lambda m: m.architecture)),
    "cpu_count": Constraint(number("Invalid CPU count: number required."), at_least(lambda m: m.cpu_count), str),
    "cpu_speed": Constraint(number("Invalid CPU speed: number required."), at_least(lambda m: m.cpu_speed), str),
    "mem": Constraint(number("Invalid memory: number of MiB required."), at_least(lambda m: m.memory), str),
    "link_speed": Constraint(number("Invalid link speed: number required."), at_least(_speed), str),
    "tags": Constraint(names_of("tags", "tag", quoted=True), lambda _s, m, w: set(w) <= _tags(m)),
    "not_tags": Constraint(words, lambda _s, m, w: not set(w) & _tags(m)),
    "zone": Constraint(names_of("zones", "zone"), one_of(lambda m: m.zone.name), machines_only=False),
    "not_in_zone": Constraint(names_of("zones", "zone"), none_of(lambda m: m.zone.name), machines_only=False),
    "pool": Constraint(names_of("pools", "pool"), one_of(lambda m: m.pool.name if m.pool else "")),
    "not_in_pool": Constraint(names_of("pools", "pool"), none_of(lambda m: m.pool.name if m.pool else "")),
    "pod": Constraint(raw, one_of(lambda m: m.pod.name if m.pod else "")),
    "not_pod": Constraint(raw, none_of(lambda m: m.pod.name if m.pod else "")),
    "pod_type": Constraint(raw, one_of(lambda m: m.pod.type if m.pod else "")),
    "not_pod_type": Constraint(raw, none_of(lambda m: m.pod.type if m.pod else "")),
    "subnets": Constraint(subnets, lambda _s, m, w: {x.id for x in w} <= _subnet_ids(m), _ids),
    "not_subnets": Constraint(subnets, lambda _s, m, w: not {x.id for x in w} & _subnet_ids(m), _ids),
    "vlans": Constraint(vlans, lambda _s, m, w: bool({x.id for x in w} & _vlan_ids(m)), _ids),
    "not_vlans": Constraint(vlans, lambda _s, m, w: not {x.id for x in w} & _vlan_ids(m), _ids),
    "fabrics": Constraint(raw, lambda _s, m, w: bool(set(w) & _fabrics(m))),
    "not_fabrics": Constraint(raw, lambda _s, m, w: not set(w) & _fabrics(m)),
    "fabric_classes": Constraint(raw, lambda _s, m, w: bool(set(w) & _classes(m))),
    "not_fabric_classes": Constraint(raw, lambda _s, m, w: not set(w) & _classes(m)),
    "storage": Constraint(storage, lambda _s, m, w: found_disks(m, w) is not None, _show_sizes),
    "interfaces": Constraint(interfaces, lambda s, m, w: found_nics(s, m, w) is not None, _show_nics),
    "owner": Constraint(raw, one_of(lambda m: m.owner.username if m.owner else ""), machines_only=False),
    "not_owner": Constraint(raw, none_of(lambda m: m.owner.username if m.owner else ""), machines_only=False),
    "power_state": Constraint(choices(POWER_STATES), one_of(lambda m: m.power_state)),
    "not_power_state": Constraint(choices(POWER_STATES), none_of(lambda m: m.power_state)),
}
DEPLOYMENT_TARGET = Constraint(
    choices(("disk", "memory")), one_of(lambda m: "memory" if m.ephemeral_deploy else "disk")
)


def by_name(state: State, machine: Machine, wanted: Values) -> bool:
    return bool({machine.hostname, machine.fqdn} & set(wanted))


def by_status(_state: State, machine: Machine, wanted: Values) -> bool:
    return machine.status in {STATUS_WORDS[w] for w in wanted}


ALLOCATE: dict[str, Constraint] = {
    **COMMON,
    "name": Constraint(raw, by_name),
    "system_id": Constraint(raw, one_of(lambda m: m.system_id)),
    "devices": Constraint(raw, lambda _s, _m, w: not w),
}
READ: dict[str, Constraint] = {
    **COMMON,
    "id": Constraint(raw, one_of(lambda m: m.system_id), machines_only=False),
    "hostname": Constraint(raw, by_name, machines_only=False),
    "mac_address": Constraint(
        macs, lambda _s, m, w: any(i.mac_address in w for i in m.interfaces), machines_only=False
    ),
    "domain": Constraint(raw, one_of(lambda m: m.domain.name), machines_only=False),
    "agent_name": Constraint(raw, one_of(lambda m: m.agent_name)),
    "status": Constraint(choices(list(STATUS_WORDS)), by_status),
}


@dataclass
class Wish:
    """Checked constraints."""

    state: State
    table: dict[str, Constraint]
    cleaned: dict[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, Values]] = field(default_factory=list)

    @classmethod
    def read(cls, state: State, data: Params, table: dict[str, Constraint], options: Sequence[str] = ("op",)) -> Wish:
        if state.release >= (3, 5):
            table = {**table, "deployment_target": DEPLOYMENT_TARGET}
        wish = cls(state, table)
        errors: dict[str, list[str]] = {}
        for name, values in data.lists().items():
            if name != "op":
                wish.asked.append((name, values))
            if name in options:
                continue
            if name not in table:
                errors[name] = ["No such constraint."]
                continue
            try:
                cleaned = table[name].clean(state, values)
            except Wrong as wrong:
                errors[name] = wrong.messages
                continue
            if cleaned not in ([], None, ""):
                wish.cleaned[name] = cleaned
        if errors:
            raise Invalid(errors)
        return wish

    def matches(self, machine: Machine) -> bool:
        return all(self.table[name].test(self.state, machine, wanted) for name, wanted in self.cleaned.items())

    def matches_node(self, node: Node) -> bool:
        """For nodes that are no machines: only what all nodes have is asked."""
        return all(
            self.table[name].test(self.state, cast("Machine", node), wanted) for name, wanted in self.cleaned.items()
        )

    def described(self) -> str:
        """ "cpu_count=64.0 mem=4096.0": what MAAS made of the constraints."""
        return " ".join(f"{name}={self.table[name].show(self.cleaned[name])}" for name in sorted(self.cleaned))

    def candidates(self) -> Iterator[Node]:
        """The nodes that can match at all: looked up where a filter names them, all otherwise."""
        state = self.state
        if "id" in self.cleaned or "system_id" in self.cleaned:
            wanted = self.cleaned.get("id") or self.cleaned["system_id"]
            found = (state.node_by_system_id(s) for s in dict.fromkeys(wanted))
        elif "hostname" in self.cleaned or "name" in self.cleaned:
            wanted = self.cleaned.get("hostname") or self.cleaned["name"]
            found = (state.node_by_hostname(n.split(".")[0]) for n in dict.fromkeys(wanted))
        elif "mac_address" in self.cleaned:
            found = (i.node for mac in dict.fromkeys(self.cleaned["mac_address"]) for i in state.interfaces_by_mac(mac))
        else:
            found = (n for n in state.nodes)
        unique = {n.id: n for n in found if n is not None}
        return iter(unique[key] for key in sorted(unique))

    def machines(self) -> list[Machine]:
        return [m for m in self.candidates() if isinstance(m, Machine) and self.matches(m)]

    def by_type(self, machine: Machine, *, verbose: bool) -> dict[str, Any]:
        """`constraints_by_type`: which disks and NICs serve the labels."""
        out: dict[str, Any] = {}
        disks = found_disks(machine, self.cleaned["storage"]) if "storage" in self.cleaned else None
        nics = found_nics(self.state, machine, self.cleaned["interfaces"]) if "interfaces" in self.cleaned else None
        if disks is not None:
            out["storage"] = disks
        if nics is not None:
            out["interfaces"] = nics
        if verbose:
            labels = {str(i): label for label, found in (disks or {}).items() for i in found}
            out["verbose_storage"] = {str(machine.id): labels} if disks is not None else {}
            out["verbose_interfaces"] = {label: {str(machine.id): found} for label, found in (nics or {}).items()}
        return out
