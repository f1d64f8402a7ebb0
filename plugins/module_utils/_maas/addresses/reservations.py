# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reservations of addresses: those that a user holds, and those that DHCP keeps for a MAC address.

MAAS changes of a reservation nothing but its comment; all else is a new one in its place.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan, Step
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.pure.occupancy import (
    AddressConflict,
    Holder,
    Occupancy,
    Use,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.survey import AddressSurvey
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client

USER, DHCP = "user", "dhcp"
HOLDERS: Mapping[str, Holder] = {USER: Holder.USER, DHCP: Holder.LEASE}

# What MAAS refuses a request with when somebody else was faster, or when it knows more than it tells.
REFUSED = frozenset({"not_found", "rejected", "conflict", "forbidden"})
GONE: dict[str, Any] = {}


@dataclass(frozen=True)
class ReservationSpec:
    """What is wished of one address. What is empty stays as it is."""

    ip: str
    type: str = USER
    present: bool = True
    mac: str = ""
    hostname: str = ""
    comment: str | None = None
    replace: bool = False

    @property
    def label(self) -> str:
        return f"ip_reservation {self.ip}"


# -- deciding --------------------------------------------------------------------------------------


def shown(wish: ReservationSpec, use: Use | None, occupancy: Occupancy) -> dict[str, Any]:
    """A reservation as results show it."""
    subnet = occupancy.subnet_of(wish.ip)
    return {
        "ip": wish.ip,
        "type": wish.type,
        "subnet": subnet.cidr if use and subnet else None,
        "mac_address": (use.mac or None) if use else None,
        "names": list(use.names) if use else [],
        "comment": use.comment if use else None,
    }


def present(wish: ReservationSpec, occupancy: Occupancy) -> Use | None:
    """The reservation that there is of this kind: a user's counts only if it is this user's.

    To be removed, it must be for the MAC address that is named.
    """
    for use in occupancy.users_of(wish.ip):
        meant = wish.present or wish.mac in ("", use.mac)
        if use.holder is HOLDERS[wish.type] and (use.own or wish.type == DHCP) and meant:
            return use
    return None


def wished(wish: ReservationSpec, now: Use | None) -> Use | None:
    """The reservation as it shall be."""
    if not wish.present:
        return None
    base = now or Use(wish.ip, HOLDERS[wish.type], own=True)
    names = tuple(sorted({*base.names, wish.hostname})) if wish.hostname else base.names
    return replace(
        base, mac=wish.mac or base.mac, names=names, comment=base.comment if wish.comment is None else wish.comment
    )


def decide(wish: ReservationSpec, occupancy: Occupancy) -> Plan:
    """What is to be done; what cannot be done is refused here. A name that is missing is the business of DNS."""
    now = present(wish, occupancy)
    plan = _plan(wish, now, occupancy)
    if not wish.present:
        _refuse_removal(wish, occupancy)
    elif plan:
        _refuse(wish, now, occupancy)
    return plan


def _plan(wish: ReservationSpec, now: Use | None, occupancy: Occupancy) -> Plan:
    then = wished(wish, now)
    before, after = (shown(wish, use, occupancy) if use else {} for use in (now, then))
    if not before or not after:
        verb = "create" if after else "delete"
        return Plan([Step(verb, wish.label, before=before, after=after)] if before or after else [])
    differing = [name for name in ("mac_address", "comment") if before[name] != after[name]]
    verb = "replace" if "mac_address" in differing else "update"
    return Plan([Step(verb, wish.label, ", ".join(differing), before, after)] if differing else [])


def _refuse(wish: ReservationSpec, now: Use | None, occupancy: Occupancy) -> None:
    what = "reserved" if wish.type == USER else f"kept for {wish.mac}"
    obstacle = occupancy.obstacle(wish.ip, lambda use: use is now or _is_of(wish, use, occupancy))
    obstacle = obstacle or _fenced_off(wish, occupancy) or _other_mac(wish, now) or _mac_in_the_way(wish, occupancy)
    if obstacle is not None:
        raise obstacle.failure(wish.ip, what)


def _fenced_off(wish: ReservationSpec, occupancy: Occupancy) -> AddressConflict | None:
    """Out of a reserved range MAAS gives nothing to users: whoever reserved it gives them away without MAAS."""
    fence = next((one for one in occupancy.reserved_ranges if wish.type == USER and wish.ip in one), None)
    if fence is None:
        return None
    return AddressConflict(
        f"in the reserved range {fence.first} to {fence.last}, out of which MAAS gives to nobody",
        "It needs no reservation, or choose an address outside of that range.",
    )


def warning(wish: ReservationSpec, occupancy: Occupancy) -> str:
    """What a reservation is going to stand in the way of; empty for nothing."""
    subnets, subnet = occupancy.linked.get(wish.mac), occupancy.subnet_of(wish.ip)
    if not wish.present or wish.type != DHCP or subnets is None or subnet is None or subnet.id in subnets:
        return ""
    owner = occupancy.owners[wish.mac]
    return (
        f"{wish.ip} is kept for {wish.mac} of {owner.node} ({owner.interface}), which has no link to {subnet.cidr}: "
        f"MAAS does not deploy {owner.node} until it has one. Make it with interface_link."
    )


def _is_of(wish: ReservationSpec, use: Use, occupancy: Occupancy) -> bool:
    """Whether the very interface that DHCP shall give the address to has it already."""
    owner = occupancy.owners.get(wish.mac)
    return (
        wish.type == DHCP
        and owner is not None
        and use.holder in (Holder.NODE, Holder.OBSERVED)
        and (use.system_id, use.interface) == (owner.system_id, owner.interface)
    )


def _other_mac(wish: ReservationSpec, now: Use | None) -> AddressConflict | None:
    if now is None or not wish.mac or wish.mac == now.mac:
        return None
    lost = [name for name in now.names if name != wish.hostname]
    if wish.replace and lost:
        # MAAS drops them with the old reservation, and a run that dies there would forget them.
        return AddressConflict(f"known in DNS as {', '.join(lost)}", "Remove that name first with dns_record.")
    if wish.replace:
        return None
    text = now.who if now.mac else f"{now.who}, but for no MAC address"
    return AddressConflict(text, "Set replace: true to reserve it anew, or choose another address.")


def _mac_in_the_way(wish: ReservationSpec, occupancy: Occupancy) -> AddressConflict | None:
    """What MAAS has for the MAC address already."""
    if not wish.mac:
        return None
    owner = occupancy.owners.get(wish.mac)
    if wish.type == USER and owner is not None:
        text = f"meant for {wish.mac}, which belongs to {owner.node} ({owner.interface})"
        return AddressConflict(text, "Give it to that interface with interface_link, or use type: dhcp.")
    other = occupancy.other_lease(wish.mac, wish.ip)
    if other is None or (wish.type == DHCP and not _same_vlan(other.ip, wish.ip, occupancy)):
        return None
    text = f"meant for {wish.mac}, for which DHCP keeps {other.ip}"
    return AddressConflict(text, f"Remove the reservation of {other.ip} first.")


def _same_vlan(one: str, other: str, occupancy: Occupancy) -> bool:
    subnets = [occupancy.subnet_of(ip) for ip in (one, other)]
    return len({subnet.vlan for subnet in subnets if subnet}) == 1


def _refuse_removal(wish: ReservationSpec, occupancy: Occupancy) -> None:
    others = [use for use in occupancy.users_of(wish.ip) if use.holder is Holder.USER and not use.own]
    if wish.type == USER and others:
        raise AddressConflict(others[0].who, "Use that user's key.", "claimed").failure(wish.ip, "released")


# -- acting ----------------------------------------------------------------------------------------


class Reservations:
    """Makes and removes reservations, each once, whatever becomes of the answers."""

    def __init__(self, maas: Client, survey: AddressSurvey) -> None:
        self._maas = maas
        self._survey = survey

    def carry_out(self, wish: ReservationSpec, plan: Plan, occupancy: Occupancy) -> None:
        now = present(wish, occupancy)
        for step in plan.steps:
            if step.verb == "update" and now is not None:
                self._maas.put(f"reservedips/{now.id}/", {"comment": step.after["comment"]})
            if step.verb in ("replace", "delete") and now is not None:
                self._remove(now)
            if step.verb in ("replace", "create"):
                self._make(wish, step.after, occupancy)

    def release(self, ip: str) -> None:
        """Give back an address that this user has reserved; nothing if there is none."""
        released = self._own(ip)
        if released is not None:
            self._maas.post("ipaddresses/", {"ip": ip}, op="release", settled=lambda: self._gone(ip))

    def _remove(self, use: Use) -> None:
        if use.holder is Holder.LEASE:
            self._maas.delete(f"reservedips/{use.id}/")
        else:
            self.release(use.ip)

    def _make(self, wish: ReservationSpec, after: Mapping[str, Any], occupancy: Occupancy) -> None:
        made = self._lease if wish.type == DHCP else self._own
        try:
            self._send(wish, after, occupancy, lambda: made(wish.ip, wish.mac))
        except Failure as failure:
            # Another host of the play, or another run, may have made it since it was looked for.
            if failure.kind not in REFUSED or made(wish.ip, wish.mac) is None:
                raise self._explained(wish, failure) from failure

    def _send(
        self,
        wish: ReservationSpec,
        after: Mapping[str, Any],
        occupancy: Occupancy,
        settled: Callable[[], dict[str, Any] | None],
    ) -> None:
        if wish.type == USER:
            form = {"ip": wish.ip, "mac": wish.mac or None, "hostname": wish.hostname or None}
            self._maas.post("ipaddresses/", form, op="reserve", settled=settled)
            return
        subnet = occupancy.subnet_of(wish.ip)
        form = {"ip": wish.ip, "mac_address": wish.mac, "comment": after["comment"]}
        self._maas.post("reservedips/", {**form, "subnet": subnet.id if subnet else None}, settled=settled)

    def _explained(self, wish: ReservationSpec, failure: Failure) -> Failure:
        """Who was faster, where MAAS does not say it."""
        obstacle = self._survey.obstacle_now(wish.ip) if failure.kind in REFUSED else None
        return obstacle.failure(wish.ip, "reserved") if obstacle else failure

    def _own(self, ip: str, mac: str = "") -> dict[str, Any] | None:
        for found in self._survey.own(ip=ip):
            macs = {str(one.get("mac_address")) for one in found.get("interface_set") or ()}
            if not mac or mac in macs:
                return found
        return None

    def _lease(self, ip: str, mac: str) -> dict[str, Any] | None:
        found: list[dict[str, Any]] = self._maas.get("reservedips/")
        return next((one for one in found if (one["ip"], one["mac_address"]) == (ip, mac)), None)

    def _gone(self, ip: str) -> dict[str, Any] | None:
        return GONE if self._own(ip) is None else None
