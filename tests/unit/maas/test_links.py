# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever links an interface has and whichever is wished: the requests lead there, also after a run that died."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.pure.links import (
    ADDRESSED,
    AUTO,
    DHCP,
    LINK_UP,
    STATIC,
    Link,
    LinkAction,
    LinkOp,
    LinkSpec,
    NetworkInterface,
    decide,
    decide_removal,
    find_nic,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.pure.occupancy import Subnet
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import Status

HERE = Subnet(1, "10.0.0.0/24", gateway="10.0.0.1", vlan=1)
BESIDE = Subnet(2, "10.0.1.0/24", gateway="10.0.1.1", vlan=1)
SIXTH = Subnet(3, "2001:db8::/64", gateway="2001:db8::1", vlan=1)
ELSEWHERE = Subnet(4, "10.0.2.0/24", gateway="10.0.2.1", vlan=2)
SUBNETS = (HERE, BESIDE, SIXTH, ELSEWHERE)
IPS = {1: ("10.0.0.5", "10.0.0.6"), 2: ("10.0.1.5",), 3: ("2001:db8::5",), 4: ("10.0.2.5",)}
# What MAAS chooses for a static link without a wish.
CHOSEN = {1: "10.0.0.99", 2: "10.0.1.99", 3: "2001:db8::99", 4: "10.0.2.99"}


@dataclass
class Maas:
    """MAAS as far as the links of one interface go."""

    nic: NetworkInterface
    last_id: int = 100

    def carry_out(self, wish: LinkSpec | None, moves: Sequence[LinkAction]) -> None:
        linked = False
        for move in moves:
            ids = {link.id for link in self.nic.links}
            if move.op is LinkOp.LINK:
                assert wish is not None
                self._link(wish, move)
                linked = True
            elif move.op is LinkOp.UNLINK and move.link and (move.link.id in ids or not linked):
                assert move.link.id in ids
                self._keep([link for link in self.nic.links if link.id != move.link.id])
            elif move.op is LinkOp.GATEWAY and move.link:
                assert move.link.id in ids
                self._make_gateway(move.link.id)

    def _link(self, wish: LinkSpec, move: LinkAction) -> None:
        subnet, vlan = wish.subnet, self.nic.vlan
        present = [] if move.alone or wish.mode == LINK_UP else self.nic.real
        if not move.alone:
            assert subnet is None or vlan in (None, subnet.vlan), "None found with id."
            assert wish.mode != LINK_UP or not self.nic.real, "Cannot configure interface to link up"
            assert wish.mode != DHCP or all(link.mode != DHCP for link in self.nic.links), "already set to DHCP"
        assert not wish.ip or all(link.ip != wish.ip for link in present), "IP address is already in use."
        families = {None, None if subnet is None else subnet.version}
        kept = [
            link
            for link in present
            if link.mode != DHCP or (link.subnet.version if link.subnet else None) not in families
        ]
        self.last_id += 1
        ip = (wish.ip or (CHOSEN[subnet.id] if subnet else "")) if wish.mode == STATIC else ""
        self.nic = replace(self.nic, vlan=subnet.vlan if subnet and (vlan is None or move.alone) else vlan)
        self._keep([*kept, Link(self.last_id, wish.mode, ip, subnet)])
        if move.gateway:
            self._make_gateway(self.last_id)

    def _keep(self, links: list[Link]) -> None:
        if not links and self.nic.vlan is not None:
            self.last_id += 1
            links = [Link(self.last_id, LINK_UP)]
        self.nic = replace(self.nic, links=tuple(links))

    def _make_gateway(self, id: int) -> None:
        chosen = next(link for link in self.nic.links if link.id == id)
        version = chosen.subnet.version if chosen.subnet else 0
        others = {link.id for link in self.nic.links if link.gateway and link.subnet and link.subnet.version != version}
        links = [replace(link, gateway=link.id in {id, *others}) for link in self.nic.links]
        self.nic = replace(self.nic, links=tuple(links))


@st.composite
def interfaces(draw: st.DrawFn) -> NetworkInterface:
    blank = NetworkInterface("node-1", "abcdef", "eth0", 7, mac="52:54:00:00:00:01", status=Status.READY)
    if draw(st.booleans()) and draw(st.booleans()):
        return draw(st.sampled_from([blank, replace(blank, vlan=1, links=(Link(1, LINK_UP),))]))
    links: list[Link] = []
    for id in range(1, draw(st.integers(1, 4)) + 1):
        subnet = draw(st.sampled_from([HERE, HERE, BESIDE, SIXTH]))
        mode = draw(st.sampled_from([STATIC, AUTO, DHCP]))
        if mode == DHCP and any(link.mode == DHCP for link in links):
            mode = AUTO
        free = [ip for ip in IPS[subnet.id] if ip not in {link.ip for link in links}]
        if mode == STATIC and not free:
            continue
        # An automatic link has its address from a deployment on, which may have failed.
        has_address = mode == STATIC or (mode == AUTO and free and draw(st.booleans()))
        links.append(Link(id, mode, free[0] if has_address else "", subnet))
    nic = replace(blank, vlan=1, links=tuple(links))
    addressed = [link for link in links if link.mode in ADDRESSED]
    if addressed and draw(st.booleans()):
        maas = Maas(nic)
        maas._make_gateway(draw(st.sampled_from(addressed)).id)
        nic = maas.nic
    return nic


@st.composite
def wishes(draw: st.DrawFn) -> LinkSpec:
    mode = draw(st.sampled_from([STATIC, STATIC, AUTO, DHCP, LINK_UP]))
    subnet = draw(st.sampled_from(SUBNETS)) if mode in ADDRESSED else None
    if mode == DHCP:
        subnet = draw(st.sampled_from([None, *SUBNETS]))
    ip = draw(st.sampled_from(["", *IPS[subnet.id]])) if mode == STATIC and subnet else ""
    gateway = mode in ADDRESSED and draw(st.booleans())
    return LinkSpec(mode, subnet, ip, gateway, purge=draw(st.booleans()), change_vlan=draw(st.booleans()))


@given(nic=interfaces(), wish=wishes(), dies_after=st.integers(0, 4))
def test_the_requests_lead_to_the_wish_also_after_a_run_that_died(
    nic: NetworkInterface, wish: LinkSpec, dies_after: int
) -> None:
    try:
        decision = decide(nic, wish)
    except Failure:
        assume(False)
        raise
    assert bool(decision.moves) == bool(decision.plan)
    maas = Maas(nic)
    maas.carry_out(wish, decision.moves[:dies_after])
    maas.carry_out(wish, decide(maas.nic, wish).moves)
    fitting = [link for link in maas.nic.links if wish.fits(link)]
    assert len(fitting) == 1
    assert not wish.gateway or fitting[0].gateway
    assert all(link is fitting[0] or not wish.replaces(link) for link in maas.nic.real)
    others = {link.id for link in maas.nic.real} - {fitting[0].id}
    moved = maas.nic.vlan != nic.vlan and nic.vlan is not None
    kept = {link.id for link in nic.real if not wish.replaces(link) and not wish.fits(link)}
    assert others == (set() if wish.purge or moved else kept)
    assert not decide(maas.nic, wish).moves


@given(nic=interfaces(), wish=wishes())
def test_the_plan_tells_of_every_link_that_goes(nic: NetworkInterface, wish: LinkSpec) -> None:
    try:
        decision = decide(nic, wish)
    except Failure:
        assume(False)
        raise
    maas = Maas(nic)
    maas.carry_out(wish, decision.moves)
    gone = {link.id for link in nic.real} - {link.id for link in maas.nic.real}
    ends = [step for step in decision.plan.steps if step.verb == "delete"]
    replaced = [step for step in decision.plan.steps if step.verb == "update" and step.reason != "default_gateway"]
    assert len(ends) + len(replaced) == len(gone)


@given(nic=interfaces(), wish=wishes())
def test_only_that_is_refused_which_maas_refuses_or_which_would_end_another_link(
    nic: NetworkInterface, wish: LinkSpec
) -> None:
    try:
        decide(nic, wish)
    except Failure:
        elsewhere = wish.subnet is ELSEWHERE and not wish.change_vlan
        ends = {LINK_UP: (STATIC, AUTO, DHCP)}.get(wish.mode, (DHCP,))
        ended = [link for link in nic.real if link.mode in ends and not wish.replaces(link)]
        assert elsewhere or (ended and not wish.purge)


@given(nic=interfaces(), subnet=st.none() | st.sampled_from(SUBNETS), purge=st.booleans())
def test_links_that_are_removed_are_gone_and_the_others_stay(
    nic: NetworkInterface, subnet: Subnet | None, purge: bool
) -> None:
    maas = Maas(nic)
    maas.carry_out(None, decide_removal(nic, subnet, "", purge).moves)
    stays = [] if purge or subnet is None else [link for link in nic.real if link.subnet != subnet]
    assert maas.nic.real == stays
    assert not decide_removal(maas.nic, subnet, "", purge).moves


READY = NetworkInterface(
    "node-1", "abcdef", "eth0", 7, vlan=1, links=(Link(1, AUTO, subnet=HERE),), status=Status.READY
)


BOND = {"name": "bond0", "type": "bond", "mac_address": "52:54:00:00:00:01"}
PHYSICAL = {"name": "eth0", "type": "physical", "mac_address": "52:54:00:00:00:01"}


@pytest.mark.parametrize(
    ("named", "found"),
    [("52-54-00-00-00-01", PHYSICAL), (" 52:54:00:00:00:01 ", PHYSICAL), ("bond0", BOND), ("eth1", None)],
)
def test_a_mac_address_means_the_physical_interface(named: str, found: object) -> None:
    """A bond has that of one of its own."""
    assert find_nic({"interface_set": [BOND, PHYSICAL]}, named) is found


def test_the_only_link_is_replaced_in_one_request() -> None:
    (move,) = decide(READY, LinkSpec(STATIC, HERE, "10.0.0.5")).moves
    assert (move.op, move.alone) == (LinkOp.LINK, True)


def test_beside_other_links_the_new_one_comes_before_the_old_one_goes() -> None:
    nic = replace(READY, links=(*READY.links, Link(2, AUTO, subnet=BESIDE)))
    moves = decide(nic, LinkSpec(STATIC, HERE, "10.0.0.5")).moves
    assert [(move.op, move.alone) for move in moves] == [(LinkOp.LINK, False), (LinkOp.UNLINK, False)]


def test_an_address_that_the_interface_has_already_is_freed_before_it_is_given_again() -> None:
    nic = replace(READY, links=(Link(1, AUTO, "10.0.0.5", HERE), Link(2, AUTO, subnet=BESIDE)))
    assert [move.op for move in decide(nic, LinkSpec(STATIC, HERE, "10.0.0.5")).moves] == [LinkOp.UNLINK, LinkOp.LINK]
    assert [move.op for move in decide(nic, LinkSpec(STATIC, HERE, "10.0.0.6")).moves] == [LinkOp.LINK, LinkOp.UNLINK]


@pytest.mark.parametrize(
    ("wish", "ends"),
    [
        (LinkSpec(LINK_UP), "its auto link (10.0.0.0/24), its dhcp link (10.0.1.0/24)"),
        (LinkSpec(STATIC, HERE), "its dhcp link (10.0.1.0/24)"),
        (LinkSpec(DHCP, HERE), "its dhcp link (10.0.1.0/24)"),
    ],
)
def test_a_link_that_maas_would_end_is_named(wish: LinkSpec, ends: str) -> None:
    nic = replace(READY, links=(Link(1, AUTO, subnet=HERE), Link(2, DHCP, subnet=BESIDE)))
    with pytest.raises(Failure) as failure:
        decide(nic, wish)
    assert failure.value.message == f"eth0 of node-1 cannot be linked: mode: {wish.mode} would end {ends}."
    (*_others, last) = decide(nic, replace(wish, purge=True)).moves
    assert (last.op, last.alone) == (LinkOp.LINK, True)


def test_an_address_of_another_ip_version_lives_beside_dhcp() -> None:
    nic = replace(READY, links=(Link(1, DHCP, subnet=HERE),))
    assert [(move.op, move.alone) for move in decide(nic, LinkSpec(AUTO, SIXTH)).moves] == [(LinkOp.LINK, False)]


def test_what_takes_the_place_of_the_default_gateway_becomes_it() -> None:
    nic = replace(READY, links=(replace(READY.links[0], gateway=True),))
    assert decide(nic, LinkSpec(STATIC, HERE, "10.0.0.5")).moves[0].gateway
    assert not decide(nic, LinkSpec(DHCP, HERE)).moves[0].gateway


@pytest.mark.parametrize(
    "status", [status for status in Status if status.label not in ("New", "Ready", "Allocated", "Broken")]
)
def test_in_a_state_where_maas_refuses_nothing_is_sent_unless_all_is_well(status: Status) -> None:
    nic = replace(READY, status=status)
    assert not decide(nic, LinkSpec(AUTO, HERE)).moves
    for refused in (lambda: decide(nic, LinkSpec(STATIC, HERE)), lambda: decide_removal(nic, HERE, "", False)):
        with pytest.raises(Failure) as failure:
            refused()
        assert f"the machine is {status.label}, and MAAS changes the network only" in failure.value.message


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"locked": True}, "the machine is locked"),
        ({"bond": "bond0"}, "it is part of the bond bond0"),
    ],
)
def test_what_else_is_in_the_way_of_a_link(change: dict[str, object], says: str) -> None:
    with pytest.raises(Failure) as failure:
        decide(replace(READY, **change), LinkSpec(STATIC, HERE))  # type: ignore[arg-type]
    assert says in failure.value.message
