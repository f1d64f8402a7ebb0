# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""machines/{system_id}/"""

from __future__ import annotations

from typing import Any

from lab.simulator import machine_forms
from lab.simulator.http import NO_CONTENT, Request
from lab.simulator.model import Machine
from lab.simulator.permissions import may_administer, may_see
from lab.simulator.render import Render
from lab.simulator.routing import delete, get, put, resource


@resource("machines/{system_id}/")
class MachineItem:
    @get()
    def read(self, request: Request, system_id: str) -> Any:
        machine = request.state.machine(system_id)
        may_see(request.me, machine)
        return Render(request.state).machine(machine)

    @put()
    def update(self, request: Request, system_id: str) -> Any:
        machine = administered(request, system_id)
        machine_forms.apply(request.state, machine, machine_forms.read(request, machine))
        return Render(request.state).machine(machine)

    @delete()
    def delete(self, request: Request, system_id: str) -> Any:
        request.state.remove_node(administered(request, system_id))
        return NO_CONTENT


def administered(request: Request, system_id: str) -> Machine:
    machine = request.state.machine(system_id)
    may_administer(request.me, machine)
    return machine
