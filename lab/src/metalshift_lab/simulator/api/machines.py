# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""machines/: listing, enlistment, allocation, bulk operations."""

from __future__ import annotations

from typing import Any

from metalshift_lab.simulator import lifecycle, machine_forms, vm_hosts
from metalshift_lab.simulator.constraints import ALLOCATE, ALLOCATE_OPTIONS, READ, Wish
from metalshift_lab.simulator.errors import BadRequest, Conflict, Forbidden
from metalshift_lab.simulator.forms import Field, Form, among, mandatory, string_bool
from metalshift_lab.simulator.http import Request
from metalshift_lab.simulator.model import Machine, ResultType, Status
from metalshift_lab.simulator.permissions import may_edit, visible
from metalshift_lab.simulator.render import Render
from metalshift_lab.simulator.routing import get, post, resource

OWNED = {Status.ALLOCATED, Status.RESERVED, Status.DEPLOYING, Status.DEPLOYED, Status.FAILED_DEPLOYMENT}


@resource("machines/")
class Machines:
    @get()
    def list(self, request: Request) -> Any:
        wish = Wish.read(request.state, request.query, READ)
        render = Render(request.state)
        return [render.machine(m) for m in wish.machines() if visible(request.me, m)]

    @get("is_registered", anonymous=True)
    def is_registered(self, request: Request) -> Any:
        """Without credentials New machines do not count."""
        mac = mandatory(request.query, "mac_address").lower()
        nodes = [i.node for i in request.state.interfaces_by_mac(mac)]
        return any(isinstance(n, Machine) and (request.user is not None or n.status is not Status.NEW) for n in nodes)

    @get("list_allocated")
    def list_allocated(self, request: Request) -> Any:
        render, wanted = Render(request.state), request.query.getlist("id")
        mine = (m for m in request.state.machines if m.owner is request.user and m.status in OWNED)
        return [render.machine(m) for m in mine if not wanted or m.system_id in wanted]

    @get("power_parameters", admin=True)
    def power_parameters(self, request: Request) -> Any:
        wanted = request.query.getlist("id")
        return {m.system_id: m.power_parameters for m in request.state.machines if not wanted or m.system_id in wanted}

    @post(anonymous=True)
    def create(self, request: Request) -> Any:
        commission = string_bool(request.data, "commission", True)
        deployed = string_bool(request.data, "deployed", False)
        form = machine_forms.read(request)
        machine = enlist(request, form.cleaned)
        machine_forms.apply(request.state, machine, form)
        if deployed and request.is_admin:
            machine.owner = request.user
            request.state.engine.start_scripts(machine, ResultType.COMMISSIONING)
            request.state.engine.enter(machine, Status.DEPLOYED)
        elif commission and request.is_admin:
            checked = lifecycle.commission_form(request, machine)
            if not checked.errors:  # MAAS keeps the machine and says nothing about wrong options
                lifecycle.commission_by(request, machine, checked)
        return Render(request.state).machine(machine)

    @post("allocate")
    def allocate(self, request: Request) -> Any:
        options = lifecycle.allocation_options(request)
        dry_run, verbose = (string_bool(request.data, name, False) for name in ("dry_run", "verbose"))
        wish = Wish.read(request.state, request.data, ALLOCATE, ALLOCATE_OPTIONS)
        machine = find(request, wish)
        if machine is None and not dry_run and "system_id" not in wish.cleaned:
            machine = vm_hosts.compose_on_demand(request, wish)
        if machine is None:
            raise Conflict(nothing(wish))
        if not dry_run:
            lifecycle.acquire(request, machine, options)
        answer = Render(request.state).machine(machine)
        answer["constraints_by_type"] = wish.by_type(machine, verbose=verbose)
        return answer

    @post("release")
    def release(self, request: Request) -> Any:
        machines = named(request)
        wish = lifecycle.release_form(request)
        denied = [m.system_id for m in machines if not allowed(request, m)]
        if denied:
            raise Forbidden(
                f"You don't have the required permission to release the following machine(s): {', '.join(denied)}."
            )
        stuck = [m for m in machines if m.status not in lifecycle.RELEASED | lifecycle.RELEASABLE]
        if stuck:
            states = ", ".join(f"{m.system_id} ('{m.status.label}')" for m in stuck)
            raise Conflict(f"Machine(s) cannot be released in their current state: {states}.")
        releasable = [m for m in machines if m.status in lifecycle.RELEASABLE]
        lifecycle.refuse_hosts(request.state, releasable, force=wish.force)
        for machine in releasable:
            lifecycle.release(request, machine, wish)
        return [m.system_id for m in releasable]

    @post("accept")
    def accept(self, request: Request) -> Any:
        machines = named(request)
        if not request.is_admin:
            ids = ", ".join(m.system_id for m in machines)
            raise Forbidden(f"You don't have the required permission to accept the following machine(s): {ids}.")
        return accepted(request, machines)

    @post("accept_all")
    def accept_all(self, request: Request) -> Any:
        machines = [m for m in request.state.machines if m.status is Status.NEW] if request.is_admin else []
        return accepted(request, machines)

    @post("set_zone", admin=True)
    def set_zone(self, request: Request) -> Any:
        return set_zone(request)


def set_zone(request: Request) -> None:
    """Move nodes of any kind."""
    state = request.state
    form = Form(request.data, [Field("zone", among(lambda v: state.zones.first(name=v)), required=True)])
    wanted = request.data.getlist("nodes")
    nodes = [n for n in map(state.node_by_system_id, wanted) if n is not None]
    if len(nodes) != len(wanted):
        form.fail("system_id", "Some of the given system ids are invalid system ids.")
    form.finish()
    for node in nodes:
        node.zone = form.get("zone")


def find(request: Request, wish: Wish) -> Machine | None:
    """The cheapest free machine that matches: the fewest cores and the least memory."""
    free = [m for m in wish.machines() if m.status is Status.READY and allowed(request, m)]
    return min(free, key=lambda m: (m.cpu_count + m.memory / 1024, m.id), default=None)


def nothing(wish: Wish) -> str:
    """Why nothing was allocated."""
    if "system_id" in wish.cleaned:
        return f"No machine with system ID {wish.cleaned['system_id'][-1]} available."
    described = wish.described()
    if not described:
        return "No machine available."
    return f'No available machine matches constraints: {wish.asked!r} (resolved to "{described}")'


def named(request: Request) -> list[Machine]:
    """The machines of a bulk operation; all have to exist."""
    wanted = list(dict.fromkeys(request.data.getlist("machines")))
    nodes = [request.state.node_by_system_id(s) for s in wanted]
    machines = [n for n in nodes if isinstance(n, Machine)]
    if len(machines) != len(wanted):
        unknown = sorted(set(wanted) - {m.system_id for m in machines})
        raise BadRequest(f"Unknown machine(s): {', '.join(unknown)}.")
    return machines


def allowed(request: Request, machine: Machine) -> bool:
    try:
        may_edit(request.me, machine)
    except Forbidden:
        return False
    return True


def accepted(request: Request, machines: list[Machine]) -> Any:
    """New machines are commissioned; others have been accepted before."""
    new = [m for m in machines if m.status is Status.NEW]
    for machine in new:
        lifecycle.commission(request, machine)
    render = Render(request.state)
    return [render.machine(m) for m in new]


def enlist(request: Request, cleaned: dict[str, Any]) -> Machine:
    """A New machine with its NICs."""
    state = request.state
    machine: Machine = state.add_node(
        Machine,
        hostname=cleaned.get("hostname") or "",
        domain=cleaned.get("domain") or state.default_domain,
        zone=cleaned.get("zone") or state.default_zone,
        pool=cleaned.get("pool") or state.default_pool,
    )
    for index, mac in enumerate(cleaned["mac_addresses"]):
        state.add_interface(machine, name=f"eth{index}", mac_address=mac)
    machine.boot_interface = machine.interfaces[0] if machine.interfaces else None
    return machine
