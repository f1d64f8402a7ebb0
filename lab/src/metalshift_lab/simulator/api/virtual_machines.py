# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""virtual-machines/: what MAAS has noted of the VMs on its VM hosts"""

from __future__ import annotations

from typing import Any

from metalshift_lab.simulator.http import Request
from metalshift_lab.simulator.model import VirtualMachine
from metalshift_lab.simulator.routing import get, resource


@resource("virtual-machines/", vm_hosts=True)
class VirtualMachines:
    @get()
    def list(self, request: Request) -> Any:
        return [_render(v) for v in request.state.virtual_machines]


@resource("virtual-machines/{id}/", vm_hosts=True)
class VirtualMachineItem:
    @get()
    def read(self, request: Request, id: str) -> Any:
        return _render(request.state.virtual_machines.get(id))


def _render(noted: VirtualMachine) -> dict[str, Any]:
    return {
        "id": noted.id,
        "identifier": noted.name,
        "project": noted.project,
        "pinned_cores": list(noted.pinned),
        "unpinned_cores": 0 if noted.pinned else noted.cores,
        "memory": noted.memory,
        "hugepages_backed": noted.hugepages,
        "machine_id": noted.machine.id if noted.machine else None,
        "bmc_id": noted.host.id,
        "resource_uri": f"/MAAS/api/2.0/virtual-machines/{noted.id}/",
    }
