# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""machines/: listing, enlistment, allocation, bulk operations."""

from __future__ import annotations

from typing import Any

from lab.simulator import lifecycle, machine_forms
from lab.simulator.forms import mandatory, string_bool
from lab.simulator.http import Request
from lab.simulator.model import Machine, ResultType, Status
from lab.simulator.permissions import visible
from lab.simulator.render import Render
from lab.simulator.routing import get, post, resource


@resource("machines/")
class Machines:
    @get()
    def list(self, request: Request) -> Any:
        render = Render(request.state)
        return [render.machine(m) for m in request.state.machines if visible(request.me, m)]

    @get("is_registered", anonymous=True)
    def is_registered(self, request: Request) -> Any:
        """Without credentials New machines do not count."""
        mac = mandatory(request.query, "mac_address").lower()
        nodes = [i.node for i in request.state.interfaces_by_mac(mac)]
        return any(isinstance(n, Machine) and (request.user is not None or n.status is not Status.NEW) for n in nodes)

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
            lifecycle.commission(request, machine)
        return Render(request.state).machine(machine)


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
