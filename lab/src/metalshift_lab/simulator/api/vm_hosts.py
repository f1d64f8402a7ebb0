# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""vm-hosts/, its old name pods/, and vm-clusters/"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from metalshift_lab.simulator import certificates, vm_hosts
from metalshift_lab.simulator.errors import BadRequest, NotFound, ServerError, Unavailable
from metalshift_lab.simulator.forms import Field, Form, among, assign, choice, decimal, form_bool, mandatory
from metalshift_lab.simulator.http import NO_CONTENT, Params, Request
from metalshift_lab.simulator.model import VMHost
from metalshift_lab.simulator.render import Render
from metalshift_lab.simulator.routing import delete, get, post, put, resource
from metalshift_lab.simulator.state import State

MACVLAN_MODES = ("bridge", "passthru", "private", "vepa")
PARAMETERS = {
    "lxd": (
        Field("power_address", required=True),
        Field("project", required=True, empty="default"),
        Field("password"),
        Field("certificate"),
        Field("key"),
    ),
    "virsh": (Field("power_address", required=True), Field("power_pass")),
}
CHANGED_TYPE = "Cannot change the type of a pod. Delete and re-create the pod with a different type."


def tags(value: str) -> list[str]:
    return list(dict.fromkeys(tag.strip() for tag in value.split(",") if tag.strip()))


def host_form(request: Request, host: VMHost | None) -> Form:
    """Two rounds: the fields of every VM host, then, if they are fine, those of its type."""
    state = request.state
    pools = [p["name"] for p in host.storage_pools] if host else []
    fields = [
        Field("type", choice(list(PARAMETERS)), required=True),
        Field("name"),
        Field("tags", tags, empty=[]),
        Field("zone", among(lambda v: state.zones.first(name=v)), empty=None),
        Field("pool", among(lambda v: state.pools.first(name=v)), empty=None),
        Field("cpu_over_commit_ratio", decimal(0, 10), empty=None),
        Field("memory_over_commit_ratio", decimal(0, 10), empty=None),
        Field("default_storage_pool", among(lambda v: v if v in pools else None), empty=None),
        Field("default_macvlan_mode", choice(MACVLAN_MODES)),
    ]
    form = Form(request.data, fields, partial=host is not None)
    if host is not None and form.given("type") and form.cleaned["type"] != host.type:
        form.fail("type", CHANGED_TYPE)
    form.finish()
    form.cleaned["parameters"] = _parameters(request.data, host, host.type if host else form.cleaned["type"])
    return form


def _parameters(data: Params, host: VMHost | None, kind: str) -> dict[str, Any]:
    known = host.parameters if host else {"project": "default"} if kind == "lxd" else {}
    given = Params([*((k, v) for k, v in known.items() if k not in data), *data.pairs()])
    form = Form(given, PARAMETERS[kind])
    form.finish()
    return {name: value for name, value in form.cleaned.items() if value != ""}


@resource("vm-hosts/", "pods/", vm_hosts=True)
class VMHosts:
    @get()
    def list(self, request: Request) -> Any:
        return [_render(request.state, h) for h in request.state.vm_hosts]

    @post(admin=True)
    def create(self, request: Request) -> Any:
        """A failed discovery is no error: the host is made, and empty."""
        state = request.state
        cleaned = host_form(request, None).cleaned
        parameters = cleaned["parameters"]
        _check_certificate(state, cleaned["name"], cleaned["type"], parameters)
        host = state.vm_hosts.make(
            VMHost,
            name=cleaned["name"] or state.new_hostname(),
            type=cleaned["type"],
            zone=cleaned["zone"] or state.default_zone,
            pool=cleaned["pool"] or state.default_pool,
            parameters=parameters,
            tags=_with_console(state, cleaned["tags"]),
            default_macvlan_mode=cleaned["default_macvlan_mode"] or None,
        )
        _set_ratios(host, cleaned)
        with suppress(Unavailable):
            vm_hosts.discover(request, host)
        return _render(state, host)


@resource("vm-hosts/{id}/", "pods/{id}/", vm_hosts=True)
class VMHostItem:
    @get()
    def read(self, request: Request, id: str) -> Any:
        host = request.state.vm_hosts.find(id)
        if host is None:
            raise NotFound("Not Found")
        return _render(request.state, host)

    @put(admin=True)
    def update(self, request: Request, id: str) -> Any:
        state = request.state
        host = state.vm_hosts.get(id)
        form = host_form(request, host)
        assign(host, form, ("parameters",))
        for name in ("name", "zone", "pool", "default_storage_pool"):
            if form.cleaned.get(name):
                setattr(host, name, form.cleaned[name])
        if "tags" in form.cleaned:
            host.tags = form.cleaned["tags"]
        host.tags = _with_console(state, host.tags)
        host.default_macvlan_mode = form.get("default_macvlan_mode", host.default_macvlan_mode or "")
        _set_ratios(host, form.cleaned)
        with suppress(Unavailable):
            vm_hosts.discover(request, host)
        return _render(state, host)

    @delete(admin=True)
    def delete(self, request: Request, id: str) -> Any:
        host = request.state.vm_hosts.get(id)
        vm_hosts.forget_host(request.state, host, decompose_all=form_bool(request.query.get("decompose", "")))
        return NO_CONTENT

    @get("parameters", admin=True)
    def parameters(self, request: Request, id: str) -> Any:
        return dict(request.state.vm_hosts.get(id).parameters)

    @post("refresh", admin=True)
    def refresh(self, request: Request, id: str) -> Any:
        host = request.state.vm_hosts.get(id)
        vm_hosts.discover(request, host)
        return _render(request.state, host)

    @post("compose", admin=True)
    def compose(self, request: Request, id: str) -> Any:
        host = request.state.vm_hosts.get(id)
        if "composable" not in host.capabilities:
            raise BadRequest("VM host does not support composability.")
        form = vm_hosts.compose_form(request.state, host, request.data)
        form.finish()
        machine = vm_hosts.compose(request, host, form)
        document = Render(request.state).node_stub(machine)
        return {name: document[name] for name in ("system_id", "resource_uri")}

    @post("add_tag", admin=True)
    def add_tag(self, request: Request, id: str) -> Any:
        host, tag = _host_and_tag(request, id)
        if tag not in host.tags:
            host.tags.append(tag)
        return _render(request.state, host)

    @post("remove_tag", admin=True)
    def remove_tag(self, request: Request, id: str) -> Any:
        host, tag = _host_and_tag(request, id)
        if tag in host.tags:
            host.tags.remove(tag)
        return _render(request.state, host)


def _host_and_tag(request: Request, id: str) -> tuple[VMHost, str]:
    tag = mandatory(request.data, "tag")
    if "," in tag:
        raise BadRequest('Tag may not contain a ",".')
    return request.state.vm_hosts.get(id), tag


def _with_console(state: State, wanted: list[str]) -> list[str]:
    """Every VM host has the tag that makes its VMs log to the console."""
    vm_hosts.ensure_tag(state, vm_hosts.CONSOLE_TAG, vm_hosts.CONSOLE_OPTIONS)
    return wanted if vm_hosts.CONSOLE_TAG in wanted else [*wanted, vm_hosts.CONSOLE_TAG]


def _set_ratios(host: VMHost, cleaned: dict[str, Any]) -> None:
    for name in ("cpu_over_commit_ratio", "memory_over_commit_ratio"):
        if cleaned.get(name) is not None:
            setattr(host, name, float(cleaned[name]))


def _check_certificate(state: State, name: str, kind: str, parameters: dict[str, Any]) -> None:
    """A certificate of MAAS's own unless one is given; with the same one a host can be registered only once."""
    if kind != "lxd":
        return
    if not parameters.get("certificate") and not parameters.get("key"):
        parameters["certificate"], parameters["key"] = certificates.generate(state)
        return
    identity = ("power_address", "project", "certificate", "key")
    for host in state.vm_hosts.where(type=kind):
        if all(host.parameters.get(k) == parameters.get(k) for k in identity):
            raise BadRequest(f"Pod {host.name} with type and parameters already exist.")
    if not certificates.valid(parameters.get("certificate", ""), parameters.get("key", "")):
        raise ServerError("Invalid PEM material")


def _render(state: State, host: VMHost) -> dict[str, Any]:
    render = Render(state)
    total = {"cores": host.cores, "memory": host.memory, "local_storage": host.local_storage}
    used = vm_hosts.usage(state, host)
    node = vm_hosts.node_of(state, host)
    return {
        "id": host.id,
        "name": host.name,
        "type": host.type,
        "version": host.version,
        "tags": list(host.tags),
        "architectures": list(host.architectures),
        "capabilities": list(host.capabilities),
        "total": total,
        "used": used,
        "available": {key: total[key] - used[key] for key in total},
        "zone": render.zone(host.zone),
        "pool": render.pool(host.pool),
        "cpu_over_commit_ratio": host.cpu_over_commit_ratio,
        "memory_over_commit_ratio": host.memory_over_commit_ratio,
        "default_macvlan_mode": host.default_macvlan_mode,
        "storage_pools": [_storage_pool(state, host, pool) for pool in host.storage_pools],
        "host": {"system_id": node.system_id if node else None, "__incomplete__": True},
        "resource_uri": f"/MAAS/api/2.0/vm-hosts/{host.id}/",
    }


def _storage_pool(state: State, host: VMHost, pool: dict[str, Any]) -> dict[str, Any]:
    noted = state.virtual_machines.where(host=host)
    used = sum(size for v in noted for name, size in v.disks if name == pool["name"])
    return {
        "id": pool["name"],
        **pool,
        "used": used,
        "available": pool["total"] - used,
        "default": pool["name"] == host.default_storage_pool,
    }


@resource("vm-clusters/", since=(3, 1), vm_hosts=True)
class VMClusters:
    """No LXD of the simulator is a cluster."""

    @get()
    def list(self, _request: Request) -> Any:
        return []


@resource("vm-clusters/{id}", since=(3, 1), vm_hosts=True)
class VMClusterItem:
    @get()
    def read(self, _request: Request, id: str) -> Any:
        raise NotFound("Not Found")

    @put(admin=True)
    def update(self, _request: Request, id: str) -> Any:
        raise NotFound.of("VMCluster")

    @delete(admin=True)
    def delete(self, _request: Request, id: str) -> Any:
        raise NotFound.of("VMCluster")
