# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The form of a machine, for enlistment and for updates."""

from __future__ import annotations

import re
from typing import Any

from metalshift_lab.simulator import names, power
from metalshift_lab.simulator.errors import ServerError
from metalshift_lab.simulator.forms import (
    REQUIRED,
    Field,
    Form,
    Wrong,
    among,
    choice,
    form_bool,
    integer,
    listed,
    mac_address,
)
from metalshift_lab.simulator.http import Request
from metalshift_lab.simulator.model import Domain, Machine, Node
from metalshift_lab.simulator.state import State

NO_NICS = "Can't set power type to manual without network interfaces"
SWAP_UNITS = {"": 1, "K": 1000, "M": 1000**2, "G": 1000**3, "T": 1000**4}


def architectures(state: State) -> list[str]:
    """Those that images for commissioning exist for."""
    found = {
        f"{r.architecture.split('/')[0]}/generic"
        for r in state.boot_resources
        if r.type == "Synced" and r.name.startswith("ubuntu/")
    }
    return sorted(found)


def kernels(state: State) -> list[str]:
    """Kernels that a machine may be held to at least."""
    found = {k for r in state.boot_resources for k in r.kernels if k.startswith(("ga-", "hwe-"))}
    return sorted(found)


def swap_size(value: str) -> int:
    match = re.fullmatch(r"(\d+)([KMGT]?)", value)
    if not match:
        raise Wrong(f"Invalid size for swap: {value}")
    return int(match[1]) * SWAP_UNITS[match[2]]


# MAAS asks such a BMC for the NICs and the architecture when it commissions the machine.
TOLD_BY_BMC = "ipmi"


def fields(state: State, *, update: bool, told_by_bmc: bool = False) -> list[Field]:
    def domain(value: str) -> Domain:
        found = state.domains.first(name=value) or state.domains.find(value)
        if found is None:
            raise Wrong(f"Unable to find domain {value}")
        return found

    def architecture(value: str) -> str:
        return str(listed("architecture", architectures(state))(value if "/" in value else f"{value}/generic"))

    return [
        Field("hostname", names.hostname),
        Field("domain", domain, empty=None),
        Field("architecture", architecture, required=not told_by_bmc),
        Field("description"),
        Field("zone", among(lambda v: state.zones.first(name=v)), empty=None),
        Field("pool", among(lambda v: state.pools.first(name=v)), empty=None),
        Field("min_hwe_kernel", listed("min_hwe_kernel", ["", *kernels(state)])),
        Field("power_type", choice(list(power.POWER_TYPES))),
        Field("swap_size", swap_size, empty=None),
        Field("disable_ipv4", form_bool, empty=False),
        Field("enable_kernel_crash_dump", form_bool, empty=False),
        *([Field("is_dpu", form_bool, empty=False)] if state.release >= (3, 7) else []),
        *([Field("cpu_count", integer(), empty=0), Field("memory", integer(), empty=0)] if update else []),
    ]


def read(request: Request, machine: Machine | None = None) -> Form:
    """A checked form; `cleaned` has "mac_addresses" and "power_parameters", too, where they apply."""
    state = request.state
    given = power.given(request.data)
    told_by_bmc = (request.data.get("power_type") or (machine.power_type if machine else "")) == TOLD_BY_BMC
    form = Form(
        request.data, fields(state, update=machine is not None, told_by_bmc=told_by_bmc), partial=machine is not None
    )
    if machine is None and not form.unbound:
        form.cleaned["mac_addresses"] = read_macs(request, form, required=not told_by_bmc)
    check_hostname(state, form, machine)
    if machine is not None and form.cleaned.get("hostname") == "":
        form.cleaned["hostname"] = state.new_hostname()
    _power(request, form, machine, given)
    form.finish()
    return form


def check_hostname(state: State, form: Form, machine: Node | None) -> None:
    wanted = form.cleaned.get("hostname")
    if not wanted:
        return
    host, _ignored, rest = wanted.partition(".")
    if rest:
        domain = state.domains.first(name=rest)
        if domain is not None and not form.cleaned.get("domain"):
            form.cleaned["domain"] = domain
    form.cleaned["hostname"] = host
    known = state.node_by_hostname(host)
    if known is not None and known is not machine:
        form.fail("hostname", "Node with this Hostname already exists.")


def read_macs(request: Request, form: Form, *, required: bool = True) -> list[str]:
    values = [v for v in request.data.getlist("mac_addresses") if v]
    if required and not values:
        form.fail("mac_addresses", REQUIRED)
    macs: list[str] = []
    for value in values:
        if "," in value:
            raise ServerError("'ValidationError' object has no attribute 'message'")
        try:
            macs.append(mac_address(value))
        except Wrong as wrong:
            form.fail("mac_addresses", *wrong.messages)
    for mac in macs:
        for interface in request.state.interfaces_by_mac(mac):
            form.fail("mac_addresses", f"MAC address {mac} already in use on {interface.node.hostname}.")
            break
    return macs


def _power(request: Request, form: Form, machine: Machine | None, given: dict[str, Any] | None) -> None:
    current = machine.power_type if machine else ""
    power_type = form.cleaned.get("power_type", current) or ""
    if "power_type" in form.errors or (machine is not None and given is None and power_type == current):
        return
    has_nics = (
        bool(machine.interfaces)
        if machine
        else bool(form.cleaned.get("mac_addresses")) and "mac_addresses" not in form.errors
    )
    if power_type == "manual" and not has_nics:
        form.fail("power_type", NO_NICS)
    before = machine.power_parameters if machine and power_type == current else {}
    skip = form_bool(request.data.get("power_parameters_skip_check", ""))
    values = {k: v for k, v in (given or {}).items() if k != "skip_check"}
    form.cleaned["power_parameters"] = power.clean(form, power_type, values, before, skip_check=skip)


def apply(state: State, machine: Machine, form: Form) -> None:
    """Write a checked form to a machine."""
    for name in (
        "architecture",
        "description",
        "min_hwe_kernel",
        "swap_size",
        "enable_kernel_crash_dump",
        "is_dpu",
        "cpu_count",
        "memory",
        "power_parameters",
    ):
        if name in form.cleaned:
            setattr(machine, name, form.cleaned[name])
    for name in ("domain", "zone", "pool"):
        if form.cleaned.get(name) is not None:
            setattr(machine, name, form.cleaned[name])
    if form.cleaned.get("hostname") and form.cleaned["hostname"] != machine.hostname:
        state.rename_node(machine, form.cleaned["hostname"])
    if "power_type" in form.cleaned and form.cleaned["power_type"] != machine.power_type:
        machine.power_type = form.cleaned["power_type"]
        machine.pod = None
    machine.updated = state.now
