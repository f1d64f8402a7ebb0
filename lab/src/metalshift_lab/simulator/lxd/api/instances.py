# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/1.0/instances, which virtual-machines and containers are parts of"""

from __future__ import annotations

import re
import uuid
from datetime import datetime, timezone
from typing import Any

from metalshift_lab.simulator.lxd import sizes
from metalshift_lab.simulator.lxd.api.asked import (
    BAD_REQUEST,
    BROKEN,
    FORBIDDEN,
    NOT_FOUND,
    Answer,
    Asked,
    Refused,
    address,
    changed,
)
from metalshift_lab.simulator.lxd.api.devices import missing_parent, wrong_config, wrong_device, wrong_disk
from metalshift_lab.simulator.lxd.api.operations import Operation, stamp
from metalshift_lab.simulator.lxd.api.projects import require
from metalshift_lab.simulator.lxd.api.routing import ALIASES, resource
from metalshift_lab.simulator.lxd.instance import CONTAINER, FROZEN, RUNNING, STOPPED, VM, Instance
from metalshift_lab.simulator.lxd.server import Server

SOURCES = ("none", "image", "migration", "copy")
CODES = {STOPPED: 102, RUNNING: 103, FROZEN: 110}
ACTS = {
    "start": "Starting instance",
    "stop": "Stopping instance",
    "restart": "Restarting instance",
    "freeze": "Freezing instance",
    "unfreeze": "Unfreezing instance",
}
TOO_MANY_CORES = "Cannot allocate more CPUs than available"
MEMORY_STATE = dict.fromkeys(("usage", "usage_peak", "swap_usage", "swap_usage_peak"), 0)
COUNTERS = dict.fromkeys(("bytes_received", "bytes_sent", "packets_received", "packets_sent"), 0)


@resource("(?P<family>instances|virtual-machines|containers)")
class Instances:
    def get(self, asked: Asked, family: str) -> Answer:
        everywhere = asked.query.get("all-projects") == "true"
        if not everywhere and not asked.client.may_enter(asked.project):
            require(asked, asked.project)
        if everywhere and asked.client.restricted and not asked.server.knows.lists_all_projects_to_everybody:
            raise Refused(FORBIDDEN, asked.server.knows.restricted)
        found = {}
        for project, instance in asked.server.instances():
            here = asked.client.may_enter(project) if everywhere else project == asked.project
            if here and _chosen(asked, family, instance):
                where = address(family, instance.name, project=project)
                found[where] = document(asked.server, project, instance)
        return asked.listed(found)

    def post(self, asked: Asked, family: str) -> Operation:
        """What is wrong with it is found out in the background, for the most part."""
        require(asked, asked.project, "Failed loading project: Project not found")
        server, wish = asked.server, asked.wish
        kind = wish.get("type") or ALIASES.get(family) or CONTAINER
        name = wish.get("name") or f"instance-{uuid.uuid4().hex[:8]}"
        _check_wish(server, name, kind, wish)
        _check_limits(server, asked.project, kind, wish)
        made = Instance.asked(name, {**wish, "type": kind})

        def create() -> None:
            wrong = _wrong(server, asked.project, made)
            if wrong:
                raise Refused(BAD_REQUEST, f"Failed creating instance record: {wrong}")
            _fill(server, asked, made)
            server.create(asked.project, made)

        return _run(asked, made, "Creating instance", create)


@resource("(?P<family>instances|virtual-machines|containers)/{name}")
class OneInstance:
    def get(self, asked: Asked, family: str, name: str) -> Answer:
        found = _find(asked, name, family)
        return asked.tagged(document(asked.server, asked.project, found))

    def put(self, asked: Asked, family: str, name: str) -> Operation:
        found = _find(asked, name, family)
        asked.require_current(document(asked.server, asked.project, found))
        return _run(asked, found, "Updating instance", lambda: _change(asked, found, asked.wish))

    def patch(self, asked: Asked, family: str, name: str) -> Answer:
        """A trap of 5.0: the description that is not given is taken away."""
        found = _find(asked, name, family)
        asked.require_current(document(asked.server, asked.project, found))
        config = changed(found.config, asked.wish.get("config"), replace=False)
        devices = {**found.devices, **(asked.wish.get("devices") or {})}
        _change(asked, found, {**asked.wish, "config": config, "devices": devices})
        return Answer()

    def post(self, asked: Asked, family: str, name: str) -> Operation:
        found, wished = _find(asked, name, family), asked.name_wished()
        held = asked.server.projects[asked.project]

        def rename() -> None:
            if found.running:
                raise Refused(BAD_REQUEST, "Renaming of running instance not allowed")
            if wished in held:
                raise Refused(BAD_REQUEST, f'Name "{wished}" already in use')
            held[wished] = held.pop(name)
            found.name = wished

        return _run(asked, found, "Renaming instance", rename)

    def delete(self, asked: Asked, family: str, name: str) -> Operation:
        """Volumes of its own stay."""
        found = _find(asked, name, family)
        if found.running:
            raise Refused(BAD_REQUEST, "Instance is running")
        return _run(asked, found, "Deleting instance", lambda: _forget(asked, name))


@resource("(?P<family>instances|virtual-machines|containers)/{name}/state")
class InstanceState:
    def get(self, asked: Asked, family: str, name: str) -> Answer:
        found = _find(asked, name, family)
        shape = asked.server.shape(asked.project, found)
        network = {
            nic.name: {"addresses": [], "counters": COUNTERS, "hwaddr": nic.mac, "mtu": 1500, "state": "up"}
            for nic in shape.nics
        }
        return Answer(
            {
                "status": found.status,
                "status_code": CODES[found.status],
                "disk": {"root": {"usage": 61440}} if found.running else None,
                "memory": MEMORY_STATE,
                "network": network if found.running else None,
                "pid": 1 if found.running else 0,
                "processes": -1 if found.running else 0,
                "cpu": {"usage": 0},
            }
        )

    def put(self, asked: Asked, family: str, name: str) -> Operation:
        found, action = _find(asked, name, family), asked.wish.get("action")
        if action not in ACTS:
            raise Refused(BAD_REQUEST, f"Unknown action: '{action}'")
        force = bool(asked.wish.get("force"))
        return _run(asked, found, ACTS[action], lambda: _act(asked, found, action, force))


# -- what is done -------------------------------------------------------------------------------------------------


def _run(asked: Asked, instance: Instance, description: str, act: Any) -> Operation:
    """A trap: it does not say in which project the instance is."""
    return asked.operations.run(description, act, instances=[address("instances", instance.name)])


def _act(asked: Asked, instance: Instance, action: str, force: bool) -> None:
    if action == "start":
        _start(asked, instance)
    elif not instance.running:
        raise Refused(BAD_REQUEST, "The instance is already stopped")
    elif action in ("stop", "restart"):
        if not force and not instance.listens:
            words = "Instance was not shutdown after timeout"
            raise Refused(BAD_REQUEST, f'Failed shutting down instance, status is "Running": {words}')
        instance.status = STOPPED if action == "stop" else RUNNING
    else:
        instance.status = FROZEN if action == "freeze" else RUNNING


def _start(asked: Asked, instance: Instance) -> None:
    if instance.running:
        raise Refused(BAD_REQUEST, "The instance is already running")
    shape = asked.server.shape(asked.project, instance)
    missing = missing_parent(asked.server, shape.devices) or asked.server.busy_port(shape.devices)
    if missing:
        raise Refused(BAD_REQUEST, missing)
    if shape.core_count > asked.server.cores:
        raise Refused(BAD_REQUEST, f"Failed to add CPUs: {TOO_MANY_CORES}")
    instance.switch(True)
    instance.last_used = asked.now().timestamp()


def _change(asked: Asked, instance: Instance, wish: dict[str, Any]) -> None:
    server, project = asked.server, asked.project
    wrong = wrong_config(server, wish.get("config") or {})
    if wrong:
        raise Refused(BROKEN, f"Invalid config: {wrong}")
    before = {disk.device: disk.size for disk in server.disks(project, instance)}
    trial = Instance.asked(instance.name, {"profiles": instance.profiles, **wish})
    for disk in server.disks(project, trial):
        if disk.size < before.get(disk.device, 0):
            words = "Block volumes cannot be shrunk: Cannot be shrunk"
            raise Refused(BROKEN, f'Failed to update device "{disk.device}": {words}')
    if instance.running:
        _check_running(server, project, instance, trial)
    instance.change(wish)


def _check_running(server: Server, project: str, now: Instance, wished: Instance) -> None:
    old, new = server.shape(project, now), server.shape(project, wished)
    if new.core_count > server.cores:
        raise Refused(BROKEN, f"Failed updating cpu limit: {TOO_MANY_CORES}")
    keys = [{key: value for key, value in each.config.items() if key.startswith("user.")} for each in (now, wished)]
    if now.kind == VM and keys[0] != keys[1]:
        # Of these, the guest would have to be told.
        raise Refused(BROKEN, "LXD VM agent isn't currently running")
    if new.memory > old.memory:
        words = "Cannot increase memory size beyond boot time size when VM is running"
        told = f"(Boot time size {old.memory}MiB, new size {new.memory}MiB)"
        raise Refused(BROKEN, f"Failed updating memory limit: {words} {told}")


def _fill(server: Server, asked: Asked, made: Instance) -> None:
    """What LXD itself adds."""
    made.created = asked.now().timestamp()
    made.config |= {
        "volatile.apply_template": "create",
        "volatile.cloud-init.instance-id": str(uuid.uuid4()),
        "volatile.uuid": str(uuid.uuid4()),
    }
    for name, device in server.shape(asked.project, made).devices.items():
        if device["type"] == "nic" and not device.get("hwaddr"):
            made.config[f"volatile.{name}.hwaddr"] = f"00:16:3e:{':'.join(re.findall('..', uuid.uuid4().hex[:6]))}"


def _forget(asked: Asked, name: str) -> None:
    del asked.server.projects[asked.project][name]


# -- what is wrong ------------------------------------------------------------------------------------------------


def _check_wish(server: Server, name: str, kind: str, wish: dict[str, Any]) -> None:
    """What LXD sees before it begins."""
    source = wish.get("source") or {}
    if source.get("type") not in SOURCES:
        raise Refused(BAD_REQUEST, f"Unknown source type {source.get('type', '')}")
    if source["type"] == "image" and source.get("alias") not in server.images:
        raise Refused(NOT_FOUND, "Image alias not found")
    if not re.fullmatch("[A-Za-z0-9-]+", name):
        words = "Name can only contain alphanumeric and hyphen characters"
        raise Refused(BAD_REQUEST, f"Invalid instance name: {words}")
    if kind not in (VM, CONTAINER):
        raise Refused(BAD_REQUEST, "Invalid instance type")
    if kind == VM and "qemu" not in server.drivers:
        raise Refused(BAD_REQUEST, f'Instance type "{kind}" is not supported on this server')


def _check_limits(server: Server, project: str, kind: str, wish: dict[str, Any]) -> None:
    """Those of the project, and its profiles."""
    about, known = server.about(project), server.profiles(project)
    for profile in wish.get("profiles") or ():
        if profile not in known:
            raise Refused(BROKEN, f'Requested profile "{profile}" doesn\'t exist')
    held = server.projects[project].values()
    most = about.config.get(f"limits.{kind}s")
    if most is not None and sum(each.kind == kind for each in held) >= int(most):
        raise Refused(BROKEN, f'Reached maximum number of instances of type "{kind}" in project "{project}"')
    memory = about.config.get("limits.memory")
    asked = (wish.get("config") or {}).get("limits.memory")
    if memory and asked:
        taken = sum(server.shape(project, each).memory for each in held) * sizes.MIB
        if taken + sizes.parse(asked) > sizes.parse(memory):
            words = f'Reached maximum aggregate value "{memory}" for "limits.memory" in project "{project}"'
            raise Refused(BROKEN, f"Failed checking if instance creation allowed: {words}")


def _wrong(server: Server, project: str, made: Instance) -> str:
    """What LXD finds while it creates the instance."""
    shape = server.shape(project, made)
    wrong = wrong_config(server, made.config)
    if wrong:
        return wrong
    if made.name in server.projects[project]:
        return 'Add instance info to the database: This "instances" entry already exists'
    device = wrong_device(server, shape.devices)
    wrong = f"Invalid devices: {device}" if device else wrong_disk(server, project, shape.devices)
    return f"Failed initialising instance: {wrong}" if wrong else ""


# -- what is told -------------------------------------------------------------------------------------------------


def _find(asked: Asked, name: str, family: str) -> Instance:
    if not asked.client.may_enter(asked.project):
        require(asked, asked.project)
    found = asked.server.projects.get(asked.project, {}).get(name)
    if found is None or ALIASES.get(family, found.kind) != found.kind:
        raise Refused(NOT_FOUND, "Instance not found")
    return found


def _chosen(asked: Asked, family: str, instance: Instance) -> bool:
    """By kind, and by the simplest of filters."""
    kind = ALIASES.get(family) or asked.query.get("instance-type") or instance.kind
    name = re.fullmatch(r"name eq (\S+)", str(asked.query.get("filter", "")))
    return instance.kind == kind and (name is None or instance.name == name[1])


def document(server: Server, project: str, instance: Instance) -> dict[str, Any]:
    shape = server.shape(project, instance)
    return {
        "architecture": instance.architecture,
        "config": dict(instance.config),
        "devices": {name: dict(device) for name, device in instance.devices.items()},
        "ephemeral": False,
        "profiles": list(instance.profiles),
        "stateful": False,
        "description": instance.description,
        "created_at": _moment(instance.created),
        "expanded_config": dict(shape.config),
        "expanded_devices": {name: dict(device) for name, device in shape.devices.items()},
        "name": instance.name,
        "status": instance.status,
        "status_code": CODES[instance.status],
        "last_used_at": _moment(instance.last_used),
        "location": "none",
        "type": instance.kind,
        "project": project,
    }


def _moment(seconds: float) -> str:
    return stamp(datetime.fromtimestamp(seconds, timezone.utc))
