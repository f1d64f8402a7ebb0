# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Links an interface to a subnet: looks who has the address, then sends what `links` decides.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.names import listed
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan, Step
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.unknown import UNKNOWN
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.pure import links
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.pure.links import (
    LinkAction,
    LinkOp,
    LinkSpec,
    LinksPlan,
    NetworkInterface,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.pure.occupancy import (
    AddressConflict,
    Holder,
    Occupancy,
    Subnet,
    Use,
    normal,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.reservations import REFUSED, Reservations
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.survey import AddressSurvey
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.errors import about
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Devices, Machines

Interface = Mapping[str, Any]


@dataclass(frozen=True)
class InterfacePlan:
    """What is to be done to one interface."""

    nic: NetworkInterface
    decision: LinksPlan
    wish: LinkSpec | None = None
    # The address is reserved by this user, and is released for the link.
    released: bool = False

    @property
    def plan(self) -> Plan:
        steps = list(self.decision.plan.steps)
        if self.released and self.wish:
            steps.insert(0, Step("delete", f"ip_reservation {self.wish.ip}", before={"ip": self.wish.ip}))
        return Plan(steps)

    @property
    def shown(self) -> dict[str, Any]:
        """The link as it will be; empty for none."""
        if self.wish is None:
            return {}
        fitting = next((link.shown for link in self.nic.links if self.wish.fits(link)), self.wish.shown)
        gateway = self.wish.gateway or any(move.gateway for move in self.decision.moves)
        return self.nic.shown({**fitting, "default_gateway": gateway or fitting["default_gateway"]})


def find(maas: Client, options: Mapping[str, Any], *, check: bool) -> NetworkInterface:
    """The interface that is meant. What need not exist, or would by now, is one without an id and without links."""
    name, interface = options["machine"] or options["device"], options["interface"]
    absent = options["state"] == "absent"
    nodes = Devices(maas) if options["device"] else Machines(maas)
    node = nodes.find([name])[name]
    if node is None and not absent and not check:
        raise Failure(
            "not_found",
            f"MAAS does not know the {'device' if options['device'] else 'machine'} {name}.",
            object=name,
            hint="Name it by its hostname, FQDN, system_id or MAC address.",
        )
    found = links.find_nic(node, interface) if node else None
    if node is not None and found is None and not absent:
        known = [str(one["name"]) for one in node.get("interface_set") or ()]
        raise Failure(
            "not_found",
            f"{node['hostname']} has no interface {interface}; it has {listed(known)}.",
            object=name,
            hint="Name one of these, or its MAC address.",
        )
    return NetworkInterface.of(node, found) if node and found else NetworkInterface(name, "", interface)


def wished(survey: AddressSurvey, options: Mapping[str, Any], nic: NetworkInterface) -> LinkSpec:
    """What the options ask for this interface."""
    ip = None if options["ip_address"] == UNKNOWN else options["ip_address"]
    subnet = subnet_of(survey, options["subnet"], ip, nic)
    return LinkSpec(
        mode=options["mode"],
        subnet=subnet,
        ip=links.static_address(ip, subnet),
        gateway=options["default_gateway"],
        purge=options["purge_links"],
        change_vlan=options["change_vlan"],
    )


def subnet_of(survey: AddressSurvey, spec: str | None, ip: str | None, nic: NetworkInterface) -> Subnet | None:
    """The subnet that is named, or the one that the address is in; on the interface's own VLAN, if it is on both."""
    if spec:
        return survey.subnet(spec)
    if not ip:
        return None
    address, networks = normal(ip, "ip_address"), Occupancy(survey.subnets)
    found = networks.subnet_of(address, nic.vlan) or networks.subnet_of(address)
    if found is None:
        raise Failure(
            "not_found",
            f"{address} cannot be given to {nic.label}: it is in no subnet that MAAS has.",
            object=address,
            hint="Create its subnet in MAAS, or correct it.",
        )
    return found


class Linking:
    """Foresees and makes links, each once, whatever becomes of the answers."""

    def __init__(self, maas: Client, survey: AddressSurvey) -> None:
        self._maas = maas
        self._survey = survey

    def foresee(
        self, nic: NetworkInterface, wish: LinkSpec, *, take_reserved: bool = False, known: Occupancy | None = None
    ) -> InterfacePlan:
        """Decide how the interface gets its link; refuse an address that somebody else has.

        Who makes many links gives what is `known` of all addresses, and so spares asking for each.
        """
        decision = links.decide(nic, wish)
        makes = any(move.op is LinkOp.LINK for move in decision.moves)
        released = (
            makes and bool(wish.ip) and _refuse_taken(nic, wish.ip, known or self._survey.of([wish.ip]), take_reserved)
        )
        return InterfacePlan(nic, decision, wish, released)

    def foresee_removal(self, nic: NetworkInterface, options: Mapping[str, Any]) -> InterfacePlan:
        """Decide which links go: those with the subnet and the address that are named, or all."""
        if options["ip_address"] == UNKNOWN:
            return InterfacePlan(nic, LinksPlan())
        subnet = self._survey.subnet(options["subnet"]) if options["subnet"] else None
        ip = links.static_address(options["ip_address"], subnet)
        return InterfacePlan(nic, links.decide_removal(nic, subnet, ip, options["purge_links"]))

    def carry_out(self, foreseen: InterfacePlan) -> dict[str, Any]:
        """Make the moves. The link as it is then; empty for none."""
        nic, now = foreseen.nic, None
        if foreseen.released and foreseen.wish:
            Reservations(self._maas, self._survey).release(foreseen.wish.ip)
        for move in foreseen.decision.moves:
            # A link that MAAS has dropped for the new one needs no request.
            if move.op is not LinkOp.UNLINK or now is None or move.link is None or move.link.id in _ids(now):
                now = self._send(nic, foreseen.wish, move)
        return self._told(foreseen, now)

    # -- sending --------------------------------------------------------------------------------------

    def _send(self, nic: NetworkInterface, wish: LinkSpec | None, move: LinkAction) -> Interface:
        try:
            # Making a gateway once more does no harm, and the interface does not tell of it.
            again = move.op is LinkOp.GATEWAY
            settled = None if again else self._settled(nic, wish, move)
            answer: Interface = self._maas.post(
                nic.path, _form(wish, move), op=move.op.value, settled=settled, repeatable=again
            )
        except Failure as failure:
            raise self._explained(nic, wish, move, failure) from failure
        return answer

    def _settled(
        self, nic: NetworkInterface, wish: LinkSpec | None, move: LinkAction
    ) -> Callable[[], Interface | None]:
        """How to find out whether a request took effect."""

        def look() -> Interface | None:
            found: Interface = self._maas.get(nic.path)
            return found if _took_effect(NetworkInterface.of({"system_id": nic.system_id}, found), wish, move) else None

        return look

    def _explained(self, nic: NetworkInterface, wish: LinkSpec | None, move: LinkAction, failure: Failure) -> Failure:
        """Who was faster, where MAAS only says that somebody was."""
        if move.op is LinkOp.LINK and wish is not None and wish.ip and failure.kind in REFUSED:
            obstacle = self._survey.of([wish.ip]).obstacle(wish.ip, lambda use: _has(nic, use))
            if obstacle is not None:
                return obstacle.failure(wish.ip, f"given to {nic.label}")
        return about(failure, nic.label, "linked")

    def _told(self, foreseen: InterfacePlan, now: Interface | None) -> dict[str, Any]:
        wish = foreseen.wish
        if wish is None or now is None:
            return foreseen.shown
        made = [link for link in map(links.Link.of, now.get("links") or ()) if wish.fits(link)]
        return {**foreseen.shown, **({"ip_address": made[0].ip or None} if made else {})}


def _refuse_taken(nic: NetworkInterface, ip: str, occupancy: Occupancy, take_reserved: bool) -> bool:
    """Whether the address is one that this user has reserved, and gives up for the link."""
    own = next((use for use in occupancy.users_of(ip) if use.own), None)
    other = occupancy.other_lease(nic.mac, ip) if nic.mac else None
    obstacle = occupancy.obstacle(ip, lambda use: use.own or _has(nic, use))
    if obstacle is None and own is not None:
        obstacle = _kept_back(nic, own, take_reserved)
    if obstacle is None and other is not None:
        text = f"not the one that DHCP keeps for {nic.mac}, which is {other.ip}"
        obstacle = AddressConflict(text, f"Use {other.ip}, or remove that reservation with ip_reservation, type: dhcp.")
    if obstacle is not None:
        raise obstacle.failure(ip, f"given to {nic.label}")
    return own is not None


def _has(nic: NetworkInterface, use: Use) -> bool:
    """Whether it is this very interface that has the address."""
    if use.holder is Holder.LEASE:
        return use.mac == nic.mac
    mine = (use.system_id, use.interface) == (nic.system_id, nic.name)
    return use.holder in (Holder.NODE, Holder.OBSERVED) and mine


def _kept_back(nic: NetworkInterface, own: Use, take_reserved: bool) -> AddressConflict | None:
    """Why an address that this user has reserved is not given up."""
    if not take_reserved:
        return AddressConflict(own.who, "Set take_reserved: true to release it for this link.")
    if any(name != nic.fqdn for name in own.names):
        # MAAS drops it with the reservation, and a run that dies there would forget it.
        return AddressConflict(own.who, "Remove that name with dns_record, and make it again after the link.")
    return None


def _form(wish: LinkSpec | None, move: LinkAction) -> dict[str, Any]:
    if move.op is LinkOp.UNLINK:
        return {"id": move.link.id if move.link else None}
    if move.op is LinkOp.GATEWAY or wish is None:
        return {"link_id": move.link.id if move.link else None}
    return {
        "mode": wish.mode.upper(),
        "subnet": wish.subnet.id if wish.subnet else None,
        "ip_address": wish.ip or None,
        "default_gateway": move.gateway or None,
        "force": move.alone or None,
    }


def _took_effect(now: NetworkInterface, wish: LinkSpec | None, move: LinkAction) -> bool:
    if move.op is LinkOp.UNLINK and move.link is not None:
        return all(link.id != move.link.id for link in now.links)
    return wish is not None and any(wish.fits(link) for link in now.links)


def _ids(interface: Interface) -> set[int]:
    return {link["id"] for link in interface.get("links") or ()}
