# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Links of interfaces to subnets: which requests, in which order, lead from those that are to the one that is wished.

Several links of one interface live side by side, so a new one comes before an old one goes. Where all others go, MAAS
does both in one request.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan, Step
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.pure.occupancy import (
    Subnet,
    normal,
    vlan_name,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import MAC
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import Status, StatusKind

STATIC, AUTO, DHCP, LINK_UP = "static", "auto", "dhcp", "link_up"
MODES = (STATIC, AUTO, DHCP, LINK_UP)
# The modes in which MAAS knows the address, and so the way out.
ADDRESSED = (STATIC, AUTO)

# Elsewhere MAAS refuses every change of the network.
CHANGEABLE = (Status.NEW, Status.READY, Status.ALLOCATED, Status.BROKEN)


# -- what is ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Link:
    """One link of an interface. LINK_UP stands for none: the interface is merely switched on."""

    id: int
    mode: str
    ip: str = ""
    subnet: Subnet | None = None
    gateway: bool = False

    @classmethod
    def of(cls, found: Mapping[str, Any], gateways: Iterable[int] = ()) -> Link:
        subnet = Subnet.of(found["subnet"]) if found.get("subnet") else None
        return cls(found["id"], found["mode"], found.get("ip_address") or "", subnet, found["id"] in set(gateways))

    @property
    def shown(self) -> dict[str, Any]:
        return _shown(self.mode, self.ip, self.subnet, self.gateway)


@dataclass(frozen=True)
class NetworkInterface:
    """An interface of a machine or device, and its links."""

    node: str
    system_id: str
    name: str
    id: int = 0
    fqdn: str = ""
    mac: str = ""
    vlan: int | None = None
    vlan_name: str = ""
    bond: str = ""
    links: Sequence[Link] = ()
    # A device has none.
    status: Status | None = None
    locked: bool = False

    @classmethod
    def of(cls, node: Mapping[str, Any], found: Mapping[str, Any]) -> NetworkInterface:
        vlan = found.get("vlan") or {}
        gateways = [one.get("link_id") for one in (node.get("default_gateways") or {}).values()]
        bonds = [one["name"] for one in node.get("interface_set") or () if one.get("type") == "bond"]
        return cls(
            node=str(node.get("hostname")),
            system_id=str(node["system_id"]),
            name=str(found["name"]),
            id=found["id"],
            fqdn=str(node.get("fqdn") or ""),
            mac=found.get("mac_address") or "",
            vlan=vlan.get("id"),
            vlan_name=vlan_name(vlan),
            bond=next((child for child in found.get("children") or () if child in bonds), ""),
            links=tuple(Link.of(link, [id for id in gateways if id is not None]) for link in found.get("links") or ()),
            status=Status(node["status"]) if "status" in node else None,
            locked=bool(node.get("locked")),
        )

    @property
    def label(self) -> str:
        return f"{self.name} of {self.node}"

    @property
    def real(self) -> list[Link]:
        return [link for link in self.links if link.mode != LINK_UP]

    @property
    def path(self) -> str:
        return f"nodes/{self.system_id}/interfaces/{self.id}/"

    def shown(self, link: Mapping[str, Any]) -> dict[str, Any]:
        """A link of this interface, as results show it."""
        return {
            "machine": self.node,
            "system_id": self.system_id or None,
            "interface": self.name,
            "mac_address": self.mac or None,
            **link,
        }


def find_nic(node: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    """The interface of that name or MAC address. A bond and its VLANs have the address of a physical one."""
    interfaces = node.get("interface_set") or ()
    mac = name.strip().lower().replace("-", ":")
    if not MAC.match(mac):
        return next((one for one in interfaces if one["name"] == name.strip()), None)
    fitting = [one for one in interfaces if str(one.get("mac_address")).lower() == mac]
    return next((one for one in fitting if one.get("type") == "physical"), fitting[0] if fitting else None)


# -- what is wished --------------------------------------------------------------------------------


@dataclass(frozen=True)
class LinkSpec:
    """The link that an interface shall have. Without an address, MAAS chooses one for a static link."""

    mode: str
    subnet: Subnet | None = None
    ip: str = ""
    gateway: bool = False
    purge: bool = False
    change_vlan: bool = False

    def fits(self, link: Link) -> bool:
        same_subnet = self.subnet is None or (link.subnet is not None and link.subnet.id == self.subnet.id)
        return link.mode == self.mode and same_subnet and (not self.ip or link.ip == self.ip)

    def replaces(self, link: Link) -> bool:
        """Whether it comes in the place of another link: there is one for a subnet, and one without."""
        if self.subnet is None:
            return link.mode == self.mode
        return link.subnet is not None and link.subnet.id == self.subnet.id

    @property
    def shown(self) -> dict[str, Any]:
        return _shown(self.mode, self.ip, self.subnet, self.gateway)


def _shown(mode: str, ip: str, subnet: Subnet | None, gateway: bool) -> dict[str, Any]:
    return {
        "mode": mode,
        "ip_address": ip or None,
        "subnet": subnet.cidr if subnet else None,
        "default_gateway": gateway,
    }


def check_options(options: Mapping[str, Any]) -> None:
    """Refuse what contradicts itself, before anything is asked."""
    mode, subnet, ip = options["mode"], options["subnet"], options["ip_address"]
    if options["state"] == "absent":
        if not subnet and not ip and not options["purge_links"]:
            raise invalid("state: absent needs subnet or ip_address.", "Set purge_links: true to remove all links.")
        return
    if mode in ADDRESSED and not subnet and not ip:
        raise invalid(f"mode: {mode} needs subnet{' or ip_address' if mode == STATIC else ''}.")
    if ip and mode != STATIC:
        raise invalid(f"mode: {mode} takes no ip_address.", "Use mode: static, or leave ip_address out.")
    if subnet and mode == LINK_UP:
        raise invalid("mode: link_up takes no subnet: it switches the interface on, without an address.")
    if options["default_gateway"] and mode not in ADDRESSED:
        raise invalid(f"mode: {mode} takes no default_gateway.", "MAAS has it for mode: static and mode: auto.")
    if options["device"] and (mode != STATIC or options["default_gateway"]):
        raise invalid("A device takes mode: static alone, without default_gateway: MAAS does not configure it.")


def static_address(ip: str | None, subnet: Subnet | None) -> str:
    """The address that is asked for, as MAAS writes it."""
    found = normal(ip, "ip_address") if ip else ""
    if found and subnet is not None and found not in subnet:
        raise invalid(f"{found} is not in {subnet.cidr}.", "Correct one of them, or leave subnet out.")
    return found


# -- deciding --------------------------------------------------------------------------------------


class LinkOp(Enum):
    """The requests that change links."""

    LINK = "link_subnet"
    UNLINK = "unlink_subnet"
    GATEWAY = "set_default_gateway"


@dataclass(frozen=True)
class LinkAction:
    """One request. `alone`: with it, all other links go."""

    op: LinkOp
    link: Link | None = None
    alone: bool = False
    gateway: bool = False


@dataclass(frozen=True)
class LinksPlan:
    """The moves in their order, and what they come to."""

    moves: Sequence[LinkAction] = ()
    plan: Plan = field(default_factory=Plan)


def decide(nic: NetworkInterface, wish: LinkSpec) -> LinksPlan:
    """How the interface comes to have the wished link."""
    fitting = next((link for link in nic.links if wish.fits(link)), None)
    others = [link for link in nic.real if link is not fitting]
    stale = [link for link in others if wish.replaces(link)]
    if fitting is not None:
        return _kept(nic, wish, fitting, others if wish.purge else stale)
    moved = wish.subnet is not None and nic.vlan not in (None, wish.subnet.vlan)
    going = others if wish.purge or moved else stale
    _refuse_change(nic)
    _refuse_link(nic, wish, [link for link in others if link not in going])
    gateway = wish.gateway or (wish.mode in ADDRESSED and any(link.gateway for link in stale))
    if moved or (going and len(going) == len(others)):
        moves = [LinkAction(LinkOp.LINK, alone=True, gateway=gateway)]
    else:
        # MAAS does not give an address twice, not even to the same interface.
        clashing = [link for link in going if wish.ip and link.ip == wish.ip]
        rest = [link for link in going if link not in clashing]
        moves = [*_unlinking(clashing), LinkAction(LinkOp.LINK, gateway=gateway), *_unlinking(rest)]
    return LinksPlan(moves, _plan_of_link(nic, {**wish.shown, "default_gateway": gateway}, stale, going))


def decide_removal(nic: NetworkInterface, subnet: Subnet | None, ip: str, purge: bool) -> LinksPlan:
    """How the interface comes to have no such link. The last one leaves a LINK_UP behind, which is none."""
    going = [
        link
        for link in nic.real
        if purge
        or ((subnet is None or (link.subnet is not None and link.subnet.id == subnet.id)) and (not ip or link.ip == ip))
    ]
    if going:
        _refuse_change(nic)
    return LinksPlan(_unlinking(going), Plan([_unlink_step(nic, link) for link in going]))


def _kept(nic: NetworkInterface, wish: LinkSpec, fitting: Link, going: Sequence[Link]) -> LinksPlan:
    """The link is there: others go, and it may become the way out."""
    moves, steps = _unlinking(going), [_unlink_step(nic, link) for link in going]
    if wish.gateway and not fitting.gateway:
        moves.append(LinkAction(LinkOp.GATEWAY, fitting))
        after = {**fitting.shown, "default_gateway": True}
        steps.append(Step("update", _label(nic), "default_gateway", fitting.shown, after))
    if moves:
        _refuse_change(nic)
        _refuse_gateway(nic, wish)
    return LinksPlan(moves, Plan(steps))


def _unlinking(links: Iterable[Link]) -> list[LinkAction]:
    return [LinkAction(LinkOp.UNLINK, link) for link in links]


def _plan_of_link(
    nic: NetworkInterface, after: Mapping[str, Any], stale: Sequence[Link], going: Sequence[Link]
) -> Plan:
    before = stale[0].shown if stale else {}
    changed = [name for name in after if before and after[name] != before[name]]
    link = Step("update" if stale else "create", _label(nic), ", ".join(changed), before, after)
    return Plan([link, *(_unlink_step(nic, one) for one in going if one not in stale[:1])])


def _unlink_step(nic: NetworkInterface, link: Link) -> Step:
    return Step("delete", _label(nic), before=link.shown)


def _label(nic: NetworkInterface) -> str:
    return f"interface_link {nic.node} {nic.name}"


# -- refusing --------------------------------------------------------------------------------------


def _refuse_change(nic: NetworkInterface) -> None:
    """Where MAAS lets nobody change the network of a machine."""
    if nic.locked:
        raise _cannot(nic, "the machine is locked", "Unlock it first with locked: false of the module machine.")
    if nic.bond:
        raise _cannot(nic, f"it is part of the bond {nic.bond}", f"Link {nic.bond} instead.")
    if nic.status is None or nic.status in CHANGEABLE:
        return
    hint = "Bring it to Ready first with the module machine."
    if nic.status is Status.DEPLOYED:
        hint = "Make links before a machine is deployed, or release it first with state: ready of the module machine."
    elif nic.status.kind is StatusKind.TRANSITIONAL:
        hint = "Wait until it is through."
    words = [status.label for status in CHANGEABLE]
    allowed = f"{', '.join(words[:-1])} or {words[-1]}"
    why = f"the machine is {nic.status.label}, and MAAS changes the network only of one that is {allowed}"
    raise _cannot(nic, why, hint)


def _refuse_gateway(nic: NetworkInterface, wish: LinkSpec) -> None:
    if wish.gateway and wish.subnet is not None and not wish.subnet.gateway:
        why = f"{wish.subnet.cidr} has no gateway that could be the default one"
        raise _cannot(nic, why, "Set the gateway of the subnet in MAAS, or leave default_gateway out.")


def _refuse_link(nic: NetworkInterface, wish: LinkSpec, staying: Sequence[Link]) -> None:
    """What MAAS refuses, and what it would do unasked."""
    _refuse_gateway(nic, wish)
    if wish.subnet is not None and nic.vlan not in (None, wish.subnet.vlan) and not wish.change_vlan:
        why = f"it is on the VLAN {nic.vlan_name}, and {wish.subnet.cidr} on {wish.subnet.vlan_name}"
        raise _cannot(nic, why, "Name a subnet of its VLAN, or set change_vlan: true if MAAS has it wrong.")
    displaced = [link for link in staying if _gives_way(link, wish)]
    if displaced:
        told = ", ".join(_told(link) for link in displaced)
        raise _cannot(nic, f"mode: {wish.mode} would end {told}", "Set purge_links: true if that may go.")


def _gives_way(link: Link, wish: LinkSpec) -> bool:
    """LINK_UP stands alone, and of DHCP there is one link, which goes for an address of the same IP version."""
    if wish.mode == LINK_UP:
        return True
    if link.mode != DHCP:
        return False
    return wish.mode == DHCP or None in (link.subnet, wish.subnet) or _version(link.subnet) == _version(wish.subnet)


def _version(subnet: Subnet | None) -> int:
    return subnet.version if subnet else 0


def _told(link: Link) -> str:
    where = link.ip or (link.subnet.cidr if link.subnet else "")
    return f"its {link.mode} link{f' ({where})' if where else ''}"


def _cannot(nic: NetworkInterface, why: str, hint: str) -> Failure:
    message = f"{nic.label} cannot be linked: {why}."
    return Failure("conflict", message, object=nic.label, reason=why, hint=hint)
