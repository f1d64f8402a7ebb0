# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""rackcontrollers/ and regioncontrollers/: the simulator is one machine that is both"""

from __future__ import annotations

from typing import Any

from metalshift_lab.simulator import network, power
from metalshift_lab.simulator.constraints import READ, Wish
from metalshift_lab.simulator.errors import BadRequest, Forbidden, NotFound
from metalshift_lab.simulator.forms import Field, Form, Wrong, among, assign
from metalshift_lab.simulator.http import Request, text
from metalshift_lab.simulator.model import Controller, Domain
from metalshift_lab.simulator.render import Render
from metalshift_lab.simulator.routing import delete, get, post, put, resource
from metalshift_lab.simulator.state import State

# Power type -> what it is, whether it is a chassis, can be probed for machines, can be asked for the power state.
DRIVERS = {
    "apc": ("American Power Conversion (APC) PDU", True, False, True),
    "recs_box": ("Christmann RECS|Box Power Driver", True, True, True),
    "ucsm": ("Cisco UCS Manager", True, True, True),
    "dli": ("Digital Loggers, Inc. PDU", True, False, True),
    "eaton": ("Eaton PDU", True, False, True),
    "wedge": ("Facebook's Wedge", False, False, True),
    "mscm": ("HP Moonshot - iLO Chassis Manager", True, True, True),
    "moonshot": ("HP Moonshot - iLO4 (IPMI)", True, False, True),
    "hmc": ("IBM Hardware Management Console (HMC) for PowerPC", True, False, True),
    "hmcz": ("IBM Hardware Management Console (HMC) for Z", True, True, True),
    "ipmi": ("IPMI", False, False, True),
    "amt": ("Intel AMT", False, False, True),
    "lxd": ("LXD (virtual systems)", True, False, True),
    "manual": ("Manual", False, False, False),
    "msftocs": ("Microsoft OCS - Chassis Manager", True, True, True),
    "openbmc": ("OpenBMC Power Driver", False, False, True),
    "nova": ("OpenStack Nova", True, False, True),
    "proxmox": ("Proxmox", True, True, True),
    "raritan": ("Raritan PDU", True, False, True),
    "redfish": ("Redfish", True, False, True),
    "sm15k": ("SeaMicro 15000", True, True, True),
    "vmware": ("VMware", True, True, True),
    "virsh": ("Virsh (virtual systems)", True, True, True),
    "webhook": ("Webhook", False, False, True),
}
PODS = ("lxd", "virsh")
POD_DEFAULTS = {"cores": 1, "memory": 2048, "storage": 8}


def find(request: Request, system_id: str, noun: str) -> Controller:
    node = request.state.node_by_system_id(system_id)
    if not isinstance(node, Controller):
        raise NotFound.of(noun)
    if not request.is_admin:
        raise Forbidden("")
    return node


def controllers(request: Request) -> list[Controller]:
    """Plain users see none."""
    wish = Wish.read(request.state, request.query, READ)
    for_machines = any(wish.table[n].machines_only for n in wish.cleaned)
    if not request.is_admin or for_machines:
        return []
    return [n for n in wish.candidates() if isinstance(n, Controller) and wish.matches_node(n)]


def update(request: Request, controller: Controller) -> None:
    def domain(value: str) -> Domain:
        found = network.find_domain(request.state, value)
        if found is None:
            raise Wrong(f"Unable to find domain {value}")
        return found

    fields = [
        Field("description"),
        Field("domain", domain, empty=controller.domain),
        Field("zone", among(lambda v: request.state.zones.first(name=v)), empty=controller.zone),
    ]
    form = Form(request.data, fields, partial=True)
    form.finish()
    assign(controller, form, ("description", "domain", "zone"))
    controller.updated = request.state.now


def images_of(state: State) -> list[dict[str, Any]]:
    """What a rack has fetched: every image the region has."""
    found: dict[tuple[str, str], set[str]] = {}
    for image in state.boot_resources:
        name = image.name if "/" in image.name else f"custom/{image.name}"
        found.setdefault((name, image.architecture.split("/")[0]), set()).update(image.kernels)
    return [{"name": n, "architecture": a, "subarches": sorted(k)} for (n, a), k in sorted(found.items())]


@resource("rackcontrollers/")
class RackControllers:
    @get()
    def list(self, request: Request) -> Any:
        render = Render(request.state)
        return [render.controller(c) for c in controllers(request)]

    @get("describe_power_types")
    def describe_power_types(self, request: Request) -> Any:
        return [describe(name) for name in DRIVERS]

    @get("power_parameters")
    def power_parameters(self, request: Request) -> Any:
        request.require_admin()
        return {c.system_id: {} for c in controllers(request)}

    @post("import_boot_images", admin=True)
    def import_boot_images(self, _request: Request) -> Any:
        return text("Import of boot images started on all rack controllers", 202)


@resource("rackcontrollers/{system_id}/")
class RackControllerItem:
    @get()
    def read(self, request: Request, system_id: str) -> Any:
        return Render(request.state).controller(find(request, system_id, "RackController"))

    @put()
    def update(self, request: Request, system_id: str) -> Any:
        controller = find(request, system_id, "RackController")
        update(request, controller)
        return Render(request.state).controller(controller)

    @delete()
    def delete(self, request: Request, system_id: str) -> Any:
        controller = find(request, system_id, "RackController")
        served = [v for v in request.state.vlans if v.primary_rack is controller]
        vlans = ", ".join(f"{v.name or v.vid} on {v.fabric.name}" for v in served)
        raise BadRequest(
            f"Unable to delete '{controller.hostname}'; it is currently set as a primary rack controller on VLANs "
            f"{vlans} and no other rack controller can provide DHCP."
        )

    @get("power_parameters")
    def power_parameters(self, request: Request, system_id: str) -> Any:
        find(request, system_id, "RackController")
        return {}

    @get("list_boot_images")
    def list_boot_images(self, request: Request, system_id: str) -> Any:
        controller = find(request, system_id, "RackController")
        return {"connected": controller.connected, "images": images_of(request.state), "status": "synced"}

    @post("import_boot_images", admin=True)
    def import_boot_images(self, request: Request, system_id: str) -> Any:
        controller = find(request, system_id, "RackController")
        return text(f"Import of boot images started on {controller.hostname}", 202)


@resource("regioncontrollers/")
class RegionControllers:
    @get()
    def list(self, request: Request) -> Any:
        render = Render(request.state)
        return [render.controller(c, "regioncontrollers") for c in controllers(request)]


@resource("regioncontrollers/{system_id}/")
class RegionControllerItem:
    @get()
    def read(self, request: Request, system_id: str) -> Any:
        return Render(request.state).controller(find(request, system_id, "RegionController"), "regioncontrollers")

    @put()
    def update(self, request: Request, system_id: str) -> Any:
        controller = find(request, system_id, "RegionController")
        update(request, controller)
        return Render(request.state).controller(controller, "regioncontrollers")

    @delete()
    def delete(self, request: Request, system_id: str) -> Any:
        controller = find(request, system_id, "RegionController")
        raise BadRequest(f"Unable to delete '{controller.hostname}'; it is currently running.")


def describe(name: str) -> dict[str, Any]:
    description, chassis, can_probe, queryable = DRIVERS[name]
    out: dict[str, Any] = {
        "driver_type": "pod" if name in PODS else "power",
        "name": name,
        "description": description,
        "fields": [_field(p) for p in power.POWER_TYPES[name]],
        "missing_packages": [],
        "chassis": chassis,
        "can_probe": can_probe,
        "queryable": queryable,
    }
    if name in PODS:
        out["defaults"] = dict(POD_DEFAULTS)
    return out


def _field(parameter: power.Parameter) -> dict[str, Any]:
    kind = "password" if parameter.secret else "string"
    if parameter.choices:
        kind = "multiple_choice" if parameter.many else "choice"
    return {
        "name": parameter.name,
        "label": parameter.label,
        "required": parameter.required,
        "field_type": kind,
        "choices": [[c, c] for c in parameter.choices],
        "default": [parameter.default] if parameter.many else parameter.default,
        "scope": parameter.scope,
        "secret": parameter.secret,
    }
